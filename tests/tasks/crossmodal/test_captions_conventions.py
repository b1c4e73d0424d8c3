"""Conventions of text-video and image-caption retrieval: what their words mean in each direction,
and how they differ.
"""

from collections.abc import Mapping
from typing import get_args

import pytest

from rankwell.conventions import CONVENTIONS, Convention, choose_measures
from rankwell.data.registry import parse_measure
from rankwell.data.tables import TIE_RULES
from rankwell.files.explanations import meanings
from rankwell.tasks.crossmodal.conventions import (
    Aggregate,
    CaptionConvention,
    CaptionTies,
    VideoToText,
)

NAMES = [name for name in CONVENTIONS if "crossmodal" in CONVENTIONS[name].tasks]
DIRECTIONS = ("t2v", "v2t")


def options_of(name: str) -> CaptionConvention:
    return CONVENTIONS[name].rules_of("crossmodal", CaptionConvention())


def own_words(name: str, side: str) -> Mapping[str, str]:
    return CONVENTIONS[name].words_of_parts.get(side, {})


def meaning(name: str, side: str, word: str) -> str:
    return str(parse_measure(word, {**CONVENTIONS[name].words, **own_words(name, side)}))


def test_all_seven_sources_are_there() -> None:
    assert set(NAMES) == {
        "rankwell/crossmodal",
        "hgr",
        "mmt",
        "frozen",
        "clip4clip",
        "clip4clip-multi",
        "vse",
        "lavis",
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_source_has_rules_for_both_directions_and_reports_hits_of_the_best_positive_in_percent(
    name: str,
) -> None:
    entry: Convention = CONVENTIONS[name]
    rules = {
        *TIE_RULES,
        *(rule for each in get_args(CaptionTies) for rule in get_args(each) or (each,)),
    }

    for side in DIRECTIONS:
        assert getattr(options_of(name), side) in rules
        assert meaning(name, side, "R@5") == "Success@5"
        assert meaning(name, side, "R@50") == "Success@50"
        for word in own_words(name, side):
            parse_measure(word, own_words(name, side))
    assert entry.unit == "percent"
    assert options_of(name).protocol in get_args(VideoToText)
    aggregates = options_of(name).aggregates
    assert bool(aggregates) == (name != "rankwell/crossmodal")
    assert set(aggregates) <= set(get_args(Aggregate))


@pytest.mark.parametrize("name", NAMES)
def test_the_labels_are_those_that_papers_print(name: str) -> None:
    labels = [asked.label for asked in choose_measures(None, CONVENTIONS[name])]

    assert labels[:3] == ["R@1", "R@5", "R@10"]
    assert set(labels[3:]) <= {"R@50", "MedR", "MnR"}


def test_medians_differ_by_source_and_direction() -> None:
    medians = {(name, side): meaning(name, side, "MedR") for name in NAMES for side in DIRECTIONS}

    assert {key for key, measure in medians.items() if measure == "MedRFloor"} == {
        ("vse", "t2v"),
        ("vse", "v2t"),
    }
    assert {key for key, measure in medians.items() if measure == "MedRLow"} == {
        ("clip4clip-multi", "t2v")
    }
    assert set(medians.values()) == {"MedR", "MedRFloor", "MedRLow"}


def test_ties_differ_by_source_and_direction() -> None:
    ties = {name: tuple(getattr(options_of(name), side) for side in DIRECTIONS) for name in NAMES}

    assert ties == {
        "rankwell/crossmodal": ("expected", "expected"),
        "hgr": ("input", "input"),
        "mmt": ("averaged", "averaged"),
        "frozen": ("optimistic", "averaged"),
        "clip4clip": ("multiplied", "multiplied"),
        "clip4clip-multi": ("input", "multiplied"),
        "vse": ("input-desc", "input-desc"),
        "lavis": ("input-desc", "input-desc"),
    }


def test_only_clip4clip_ranks_a_video_among_videos() -> None:
    among_videos = {name for name in NAMES if options_of(name).protocol == "among-videos"}

    assert among_videos == {"clip4clip", "clip4clip-multi"}


def test_a_query_without_positives_counts_as_a_miss_where_the_source_has_it_so() -> None:
    policies = {name: CONVENTIONS[name].no_relevant for name in NAMES}

    assert {name for name, rule in policies.items() if rule == "empty"} == {
        "hgr",
        "lavis",
        "rankwell/crossmodal",
    }
    assert {name for name, rule in policies.items() if rule == "skip"} == {
        "mmt",
        "frozen",
        "clip4clip-multi",
    }
    assert {name for name, rule in policies.items() if rule == "error"} == {"clip4clip", "vse"}


def test_recall_at_k_by_itself_is_the_share_of_all_positives_and_not_a_hit() -> None:
    assert str(parse_measure("R@5")) == "R@5"
    assert str(parse_measure("R@5", CONVENTIONS["hgr"].words)) == "Success@5"


def test_a_word_that_means_something_else_in_one_direction_is_explained_with_it() -> None:
    found = {str(measure): where for measure, where in meanings("MedR").items()}

    assert found["MedRLow"] == ["--convention clip4clip-multi, t2v"]
    assert found["MedRFloor"] == ["--convention vse"]
    assert found["MedR"] == ["default"]
