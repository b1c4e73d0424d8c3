"""Conventions: every word leads to a measure, every rule to a choice that exists."""

from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import rankwell as rw
from rankwell.conventions import CONVENTIONS, Rules, choose_measures
from rankwell.data.registry import parse_measure
from rankwell.data.tables import TIE_RULES
from rankwell.errors import BadUsage, UnknownName
from rankwell.tasks.crossmodal.conventions import CaptionConvention
from rankwell.tasks.embeddings.conventions import AgreementConvention
from rankwell.tasks.images.conventions import InstanceConvention
from rankwell.tasks.keywords.conventions import ClipConvention
from rankwell.tasks.qa.conventions import AnswerConvention
from rankwell.tasks.rag.conventions import RagConvention


@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_every_word_and_default_of_a_convention_is_a_measure(name: str):
    entry = CONVENTIONS[name]

    for word in entry.words:
        assert _parses(word, entry.words) or _parses(f"{word}@5", entry.words), word
    assert choose_measures(None, entry)
    assert entry.ties in TIE_RULES
    assert entry.source
    assert entry.title


OWN = {
    "embeddings": AgreementConvention(),
    "qa": AnswerConvention(()),
    "crossmodal": CaptionConvention(),
    "images": InstanceConvention(),
    "keywords": ClipConvention(),
    "rag": RagConvention(),
}


@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_every_field_of_a_convention_has_a_value_of_its_type(name: str):
    entry = CONVENTIONS[name]

    assert _wrong_fields(entry) == []
    assert entry.tasks.keys() <= OWN.keys()
    assert [_wrong_fields(entry.rules_of(task, usual)) for task, usual in OWN.items()] == [
        []
    ] * len(OWN)


def _wrong_fields(entry: Any) -> list[str]:
    hints = get_type_hints(type(entry))
    return [field for field, value in entry._asdict().items() if not _fits(value, hints[field])]


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind is Literal:
        return value in parts
    if kind in (Union, UnionType):
        return any(_fits(value, each) for each in parts)
    if kind is tuple:
        return isinstance(value, tuple) and all(_fits(each, parts[0]) for each in value)
    if kind is Mapping:
        return isinstance(value, dict) and all(
            _fits(name, parts[0]) and _fits(each, parts[1]) for name, each in value.items()
        )
    return _wrong_fields(value) == [] if hasattr(hint, "_fields") else isinstance(value, hint)


def _parses(text: str, words: Mapping[str, str]) -> bool:
    try:
        parse_measure(text, words)
    except BadUsage:
        return False
    return True


def test_an_unknown_convention_names_the_nearest():
    with pytest.raises(UnknownName, match="trec_eval9"):
        CONVENTIONS["trec_eval"]


def test_what_the_user_says_goes_before_the_convention():
    rules = Rules.resolve(
        "beir",
        ties="id-asc",
        average_over="judged",
        no_relevant=None,
        unjudged="nonrelevant",
        exclude_self=False,
    )

    assert (rules.ties, rules.average_over, rules.exclude_self, rules.no_relevant) == (
        "id-asc",
        "judged",
        False,
        "empty",
    )


def test_the_label_is_the_word_and_the_measure_the_exact_name():
    result = rw.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, ["map@10"], convention="st", intervals="none"
    )

    assert (result.values[0].label, result.values[0].measure) == ("map@10", "AP(denom='min')@10")


def test_single_precision_makes_close_scores_tie():
    truth, run = {"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}}

    double = rw.evaluate(truth, run, "RR", intervals="none").values[0].values[0]
    single = (
        rw.evaluate(truth, run, "RR", convention="trec_eval9", intervals="none").values[0].values[0]
    )
    tenth = (
        rw.evaluate(truth, run, "RR", convention="trec_eval10", intervals="none")
        .values[0]
        .values[0]
    )

    assert (double, single, tenth) == (1.0, 0.5, 1.0)


def test_ranx_writes_the_persistence_of_rbp_where_others_write_a_cut_off():
    assert str(parse_measure("rbp.95", CONVENTIONS["ranx"].words)) == "RBP(p=0.95)"


def test_ranx_averages_its_hits():
    truth, run = {"a": {"x": 1}, "b": {"y": 1}}, {"a": {"x": 1.0}, "b": {"z": 1.0}}

    [ours] = rw.evaluate(truth, run, "NumRet(rel=1)", intervals="none").summary
    [theirs] = rw.evaluate(truth, run, "hits", convention="ranx", intervals="none").summary

    assert (ours.mean, theirs.mean) == (1.0, 0.5)
