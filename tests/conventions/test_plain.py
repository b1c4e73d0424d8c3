"""The plain convention is the default of every task, and says nothing about itself."""

import numpy as np
import pytest

import rankwell as rw
from rankwell.conventions import CONVENTIONS, convention_names, find_convention
from rankwell.results import Results

EYE = np.eye(12)
LABELS = {
    "": ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"),
    "crossmodal": ("R@1", "R@5", "R@10", "MedR", "MnR"),
    "images": ("P@1", "mAP"),
    "keywords": ("nDCG@5", "P@5", "R@5"),
    "qa": ("recall@10", "MRR@10"),
}


def runs(**options: str) -> Results:
    return rw.evaluate({"q": {"d": 1}}, {"mine": {"q": ["d"]}}, "RR", **options)


def crossmodal(**options: str) -> Results:
    return rw.evaluate_crossmodal(EYE, **options)


def embeddings(**options: str) -> Results:
    return rw.evaluate_embeddings(EYE, {"b": EYE}, "Overlap@1", k=1, **options)


def images(**options: str) -> Results:
    return rw.evaluate_images(scores=EYE, qrels="diagonal", **options)


@pytest.mark.parametrize("evaluate", [runs, crossmodal, embeddings, images])
def test_the_plain_convention_is_the_default_and_makes_no_remark(evaluate):
    default, named = evaluate(), evaluate(convention="rankwell")

    assert default.rules["convention"] == "rankwell"
    assert default.summary == named.summary
    assert not [finding for finding in default.findings if "convention" in finding]


@pytest.mark.parametrize("task", LABELS)
def test_each_task_has_the_plain_measures_of_its_field(task: str):
    plain = find_convention("rankwell", task)

    assert (plain.name, plain.defaults) == ("rankwell", LABELS[task])


def test_they_are_a_file_of_the_task():
    own = [name for name in CONVENTIONS if "/" in name]

    assert own == ["rankwell/crossmodal", "rankwell/images", "rankwell/keywords", "rankwell/qa"]


def test_a_task_without_plain_measures_of_its_own_has_those_of_rankings():
    assert find_convention("rankwell", "rag") is CONVENTIONS["rankwell"]


def test_text_video_search_counts_a_tie_by_its_expected_value():
    summary = rw.evaluate_crossmodal(np.zeros((10, 10)), intervals="none").summary

    means = {(row["label"], row["unit"]): row["mean"] for row in summary}
    assert means == pytest.approx(
        {
            ("R@1", "percent"): 10,
            ("R@5", "percent"): 50,
            ("R@10", "percent"): 100,
            ("MedR", "rank"): 5.5,
            ("MnR", "rank"): 5.5,
        }
    )


def test_a_users_file_changes_what_the_task_means_by_it(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('base = "rankwell"\nunit = "share"\n')

    changed = find_convention(str(own), "crossmodal")

    assert (changed.defaults, changed.unit) == (LABELS["crossmodal"], "share")
    assert find_convention(str(own)).defaults == LABELS[""]


@pytest.mark.parametrize("name", ["rankwell/keywords", "rankwell/qa"])
def test_what_a_convention_is_in_a_task_has_no_name_of_its_own(name: str):
    assert name in CONVENTIONS.builtin_names
    assert name not in convention_names()
    with pytest.raises(rw.RankwellError, match=f"unknown convention '{name}'"):
        find_convention(name, "images")


def test_every_explanation_is_a_clause():
    for convention in map(CONVENTIONS.__getitem__, CONVENTIONS.builtin_names):
        assert convention.title.strip(".") == convention.title != "", convention.name
