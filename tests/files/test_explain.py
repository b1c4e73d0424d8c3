"""`rankwell explain`: conventions, the list of measures, and what is refused."""

import json

import pytest

import rankwell as rw
from rankwell.conventions import CONVENTIONS
from rankwell.data.registry import FIGURES, MEASURES
from rankwell.errors import UnknownName
from regression.running import in_process


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_a_convention_is_explained_by_its_source_its_rules_and_all_its_words(name: str):
    convention = CONVENTIONS[name]

    text = rw.explain(name).entries["convention"]
    # A plain name explains what the convention is in single tasks as well.
    text = text.partition("\n\nrankwell   (")[0]

    assert convention.title in text
    assert f"  source: {convention.source}" in text
    for words in (convention.words, *convention.words_of_parts.values()):
        for word, measure in words.items():
            assert f"    {word}: {measure}\n" in text
    assert all(f"  * {note}" in text for note in convention.notes)
    assert (f"    ties: {convention.ties}" in text) == (convention.ties != "id-desc")
    averaged = f"    average-over: {convention.average_over}"
    assert (averaged in text) == (convention.average_over != "judged")
    assert ("    unit: percent" in text) == (convention.unit == "percent")
    rules = text.partition("  measures by default:")[0]
    assert "True" not in rules
    assert "False" not in rules


def test_a_name_that_is_nearly_that_of_a_convention_is_answered_with_it():
    with pytest.raises(UnknownName, match="unknown name 'ranxx'; did you mean 'ranx'"):
        rw.explain("ranxx")


def test_a_function_and_a_path_are_no_convention():
    assert rw.explain("AP").entries == {}


def test_the_list_has_every_measure_and_every_figure_of_a_collection():
    code, out, err = in_process(["explain", "-f", "json"])
    _, table, aside = in_process(["explain"])

    assert (code, err) == (0, "")
    names = [row["name"] for row in json.loads(out)["rows"]]
    assert names == [*MEASURES, *FIGURES]
    assert all(name in table for name in names)
    assert "`rankwell explain NAME` says more about each." in aside


@pytest.mark.parametrize(
    ("words", "message"),
    [(["AP", "-f", "json"], "--format is for the list of measures; leave it out, or AP.")],
)
def test_what_does_not_go_together_is_refused(words: list[str], message: str):
    code, out, err = in_process(["explain", *words])

    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
