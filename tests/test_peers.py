"""The recorded comparison with pinned libraries: no value differs, and every method of fusion and normalisation is in it."""

import json
from pathlib import Path

from peers_pinned import VERSIONS
from rankwell.transforms.fusion import METHODS, NORMALISATIONS

RECORDED = json.loads((Path(__file__).parent / "golden" / "peers.json").read_text(encoding="utf-8"))


def measures_of(library: str) -> set[str]:
    return {row["measure"] for row in RECORDED["rows"] if row["library"] == library}


def test_no_value_differs_from_a_library():
    assert [row for row in RECORDED["rows"] if row["different"] or not row["values"]] == []
    assert {row["library"] for row in RECORDED["rows"]} == set(VERSIONS)


def test_the_versions_are_those_that_are_installed():
    assert RECORDED["versions"] == VERSIONS
    assert all(version[0].isdigit() or len(version) == 40 for version in VERSIONS.values()), VERSIONS


def test_every_fusion_method_and_normalisation_is_compared_with_ranx():
    compared = measures_of("ranx")

    assert [name for name in METHODS if not any(each.split(",")[0].split(" ")[0] == name for each in compared)] == []
    assert [name for name in NORMALISATIONS if f"combsum {name}" not in compared] == []
