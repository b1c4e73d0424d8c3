"""The recorded comparison with pinned libraries: no value differs, and every method of fusion and
normalisation is in it.
"""

import json
from pathlib import Path
from random import Random

import pytest

from peers_apart import PEERS, Peer, library
from peers_pinned import VERSIONS
from rankwell.comparison.fusion import METHODS, NORMALISATIONS
from rankwell.errors import MissingExtra

SLOW = ("make_answer_texts:haystack", "make_answer_texts:rouge")
RECORDED = json.loads((Path(__file__).parent / "golden" / "peers.json").read_text(encoding="utf-8"))


def measures_of(library: str) -> set[str]:
    return {row["measure"] for row in RECORDED["rows"] if row["library"] == library}


def test_no_value_differs_from_a_library():
    assert [row for row in RECORDED["rows"] if row["different"] or not row["values"]] == []
    assert {row["library"] for row in RECORDED["rows"]} == set(VERSIONS)


def test_the_versions_are_those_that_are_installed():
    assert RECORDED["versions"] == VERSIONS
    assert all(version[0].isdigit() for version in VERSIONS.values()), VERSIONS


@pytest.mark.parametrize(
    "peer",
    [
        pytest.param(each, id=each.script, marks=[pytest.mark.slow] if each.script in SLOW else [])
        for each in PEERS
    ],
)
def test_rankwell_measures_a_drawn_case_under_the_recorded_names(peer: Peer):
    if "haystack" in peer.script:
        pytest.importorskip("sentence_transformers")
    try:
        values = peer.ours(peer.drawn(Random(1)))
    except MissingExtra as error:
        pytest.skip(str(error))

    assert set(values) <= measures_of(library(peer))
    assert all(value is not None for value in values.values())


def test_every_fusion_method_and_normalisation_is_compared_with_ranx():
    compared = measures_of("ranx")

    assert [
        name
        for name in METHODS
        if not any(each.split(",")[0].split(" ")[0] == name for each in compared)
    ] == []
    assert [name for name in NORMALISATIONS if f"combsum {name}" not in compared] == []
