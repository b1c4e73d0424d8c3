"""What people type is answered by what they mean: `rankwell/data/everyday.toml`."""

import re
import tomllib
from importlib.resources import files

import pytest

import rankwell as rw
from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import arguments_of
from rankwell.data.registry import parse_measure
from rankwell.errors import BadUsage, UnknownName
from regression.running import in_process

NAMES = tomllib.loads(files("rankwell.data").joinpath("everyday.toml").read_text("utf-8"))
FIRST_WORDS = {words[0] for words in command_summaries()}


def lines_of(text: str) -> list[list[str]]:
    """The command lines in quotes, without `rankwell`."""
    quoted = re.findall(r"[`']([a-z][^`']*)[`']", text)
    return [line.removeprefix("rankwell ").split() for line in quoted]


@pytest.mark.parametrize("word", NAMES["commands"])
def test_a_word_for_a_command_is_answered_by_commands(word: str):
    meaning = NAMES["commands"][word]

    assert word not in FIRST_WORDS
    assert word == word.lower().replace("_", "-")
    assert lines_of(meaning)
    for line in lines_of(meaning):
        assert line[0] in FIRST_WORDS
        if line != ["judge"]:
            words = find_command(line)
            assert words == tuple(line[: len(words)])
        for text in line[line.index("-m") + 1 :] if "-m" in line else ():
            assert parse_measure(text)
    with pytest.raises(BadUsage, match=re.escape(f"; did you mean {meaning}?")):
        find_command([word, "x"])


@pytest.mark.parametrize("word", NAMES["measures"])
def test_a_word_for_a_measure_is_answered_by_the_measure(word: str):
    meaning = NAMES["measures"][word]
    phrase = word.replace("-", " ").capitalize()

    # It works as it is typed: with a cut-off where it needs one, and without where it takes none.
    name = parse_measure(meaning).name
    with_cutoff = name if parse_measure(meaning).entry.cutoff_parameter is None else f"{name}@7"
    for text, answer in ((phrase, meaning), (f"{phrase}@7", with_cutoff)):
        assert parse_measure(answer).name == name
        with pytest.raises(UnknownName, match=re.escape(f"did you mean '{answer}'")):
            rw.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, text)
        assert name in [measure.name for measure in rw.explain(text).meanings]


@pytest.mark.parametrize(
    ("text", "answer"),
    [("mean-rank@5", "MnR"), ("hit-rate@k", "Success@10"), ("MnRR@5", "MnR"), ("ndgc@x", "nDCG")],
)
def test_a_cut_off_that_a_measure_cannot_have_is_not_suggested(text: str, answer: str):
    with pytest.raises(UnknownName, match=f"did you mean .*'{answer}'"):
        parse_measure(text)


@pytest.mark.parametrize("word", NAMES["commands"])
def test_a_command_is_answered_with_a_measure_that_works_at_any_cut_off(word: str):
    for cutoff in ("5", "k"):
        with pytest.raises(BadUsage) as caught:
            find_command([f"{word}@{cutoff}", "x"])
        for line in lines_of(str(caught.value).partition("did you mean")[2]):
            for text in line[line.index("-m") + 1 :] if "-m" in line else ():
                assert parse_measure(text)


@pytest.mark.parametrize("word", NAMES["instead"])
def test_a_measure_that_is_not_there_is_answered_by_what_is(word: str):
    meaning = NAMES["instead"][word]

    for line in lines_of(meaning):
        words = find_command(line)
        flags = {flag for known in arguments_of(command_function(words)) for flag in known.words}
        assert {part for part in line if part.startswith("--")} <= flags
    with pytest.raises(UnknownName, match=re.escape(meaning)):
        rw.explain(word)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hit rate", "Success@10"),
        ("top-k accuracy", "Success@10"),
        ("recall at k", "R@10"),
        ("hit rate@5", "Success@5"),
        ("mean reciprocal rank@5", "RR@5"),
    ],
)
def test_a_measure_that_needs_a_cut_off_is_named_with_one(text: str, answer: str):
    with pytest.raises(UnknownName, match=f"did you mean '{answer}'"):
        rw.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, text)


@pytest.mark.parametrize(
    ("word", "measure"),
    [
        ("hitrate", "Success@10"),
        ("hit-rate", "Success@10"),
        ("average precision", "AP"),
        ("hit-rate@5", "Success@5"),
        ("average precision@5", "AP@5"),
        ("mean-rank@5", "MnR"),
    ],
)
def test_a_measure_that_is_typed_as_a_command_is_answered_by_what_prints_it(
    word: str, measure: str
):
    meaning = f"'evaluate QRELS RUN -m {measure}' or 'explain {measure}'"

    assert parse_measure(measure)

    with pytest.raises(BadUsage, match=re.escape(f"; did you mean {meaning}?")):
        find_command([word])
    code, _, err = in_process([word])
    assert (code, f"did you mean {meaning}?" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(("word", "measure"), [("ndcg@5", "nDCG@5"), ("recall@20", "R@20")])
def test_the_command_for_a_measure_keeps_its_cut_off(word: str, measure: str):
    with pytest.raises(BadUsage, match=f"did you mean 'evaluate QRELS RUN -m {measure}'"):
        find_command([word])


def test_what_is_neither_is_answered_by_the_commands():
    with pytest.raises(BadUsage, match="; known are "):
        find_command(["frobnicate"])


@pytest.mark.parametrize(
    ("word", "command"),
    [("video", "'crossmodal' (text–video)"), ("answers", "'qa'"), ("judge plan", "'judge plan'")],
)
def test_a_command_that_is_to_be_explained_is_named(word: str, command: str):
    with pytest.raises(UnknownName, match=re.escape(f"did you mean the command {command}")):
        rw.explain(word)


MISSPELT = {"ndgc@10": "nDCG@10", "NDGC@5": "nDCG@5", "ndcgg@10": "nDCG@10", "ndgc": "nDCG"}


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_measure_is_answered_with_its_cutoff(text: str):
    with pytest.raises(UnknownName, match=f"did you mean '{MISSPELT[text]}'"):
        parse_measure(text)


def test_a_misspelt_everyday_word_is_answered_as_well():
    with pytest.raises(BadUsage, match="did you mean 'crossmodal'"):
        find_command(["vidoe", "x"])


def test_an_explanation_quotes_what_was_typed():
    assert str(rw.explain("mean reciprocal rank")).startswith("mean reciprocal rank means one")
    with pytest.raises(BadUsage) as caught:
        rw.explain("no such measure")
    assert "@10" not in str(caught.value)


def test_a_word_of_a_convention_keeps_its_meaning():
    assert "AnswerEM" in [measure.name for measure in rw.explain("em").meanings]
    assert any("kilt" in where for places in rw.explain("em").meanings.values() for where in places)


def test_a_word_of_the_convention_is_no_everyday_word():
    found = rw.evaluate(
        {"q": {"d": 1}}, {"run": {"q": {"d": 1.0}}}, "hit_rate@1", convention="ranx"
    )

    assert [row.label for row in found.summary] == ["hit_rate@1"]
