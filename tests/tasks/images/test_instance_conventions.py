"""Conventions of instance search against their own scripts, rewritten: the same lists, the same
figures.
"""

import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from make import own_convention
from oracles import instances as by_hand
from rankwell.conventions import CONVENTIONS, choose_measures
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.results import Results
from rankwell.tasks.images.images import ImageEntry, Images, Marks
from rankwell.tasks.images.task import evaluate_images

NAMES = [name for name in CONVENTIONS if "images" in CONVENTIONS[name].tasks]


def shown(result: Results) -> dict[str, dict[str, float]]:
    """label -> query -> value, of queries that count."""
    rows = [row for row in result.per_query() if row["value"] is not None]
    return {
        label: {row["query"]: row["value"] for row in rows if row["label"] == label}
        for label in {r["label"] for r in rows}
    }


def test_all_sources_of_the_issue_are_there() -> None:
    assert set(NAMES) == {
        "rankwell/images",
        "thesis",
        "thesis-code",
        "oxford",
        "revisited-E",
        "revisited-M",
        "revisited-H",
        "gldv2",
        "market1501",
        "torchreid",
        "sop",
        "vpr",
    }


def test_what_each_source_means_by_its_words() -> None:
    def meant(name: str) -> dict[str, str]:
        return {
            asked.label: str(asked.measure) for asked in choose_measures(None, CONVENTIONS[name])
        }

    trapezoid = "AP(area='trapezoid')"
    assert meant("thesis") == {
        "MP@1": "P@1",
        "MAP": "AP",
        "MAP-trapezoid": trapezoid,
        "P_q@10": "P@10",
    }
    assert meant("thesis-code") == {"MP@1": "P@1", "MAP": trapezoid}
    assert (
        meant("oxford")["mAP"]
        == meant("revisited-H")["mAP"]
        == meant("market1501")["mAP"]
        == trapezoid
    )
    assert meant("torchreid")["mAP"] == "AP"
    assert meant("gldv2") == {"mAP@100": "AP(denom='min')@100"}
    assert (
        meant("sop")["Recall@10"]
        == meant("vpr")["recall@10"]
        == meant("market1501")["CMC@10"]
        == "Success@10"
    )


# ---- one world with labels, cameras, junk and queries without a right reference
# ------------------------------------------


class People:
    """References and queries by camera, with junk, and scores without ties."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.references = [
            (f"r{n:02}", random.choice(["a", "b", "c", "d", "-1", "0"]), random.choice("123"))
            for n in range(40)
        ]
        self.queries = [
            (f"q{n}", random.choice(["a", "b", "c", "d", "gone"]), random.choice("123"))
            for n in range(9)
        ]
        self.queries.append(("qgone", "gone", "1"))
        pictures = [
            ImageEntry(name, label, "reference", camera=camera)
            for name, label, camera in self.references
        ]
        pictures += [
            ImageEntry(name, label, "query", camera=camera) for name, label, camera in self.queries
        ]
        self.images = Images.from_entries(pictures)
        self.scores = (
            np.random.default_rng(seed).permutation(400).reshape(10, 40).astype(np.float32)
        )

    def evaluate(self, convention: str, **options: Any) -> Results:
        return evaluate_images(
            self.images,
            scores=self.scores,
            query_ids=[name for name, _, _ in self.queries],
            item_ids=[name for name, _, _ in self.references],
            convention=convention,
            intervals="none",
            **options,
        )

    def lists(
        self, mark: Callable[[tuple[str, str, str], tuple[str, str, str]], str]
    ) -> dict[str, list[str]]:
        """query -> marks of the references from best to worst."""
        found = {}
        for row, query in enumerate(self.queries):
            order = sorted(range(40), key=lambda column: -self.scores[row, column])
            found[query[0]] = [mark(query, self.references[column]) for column in order]
        return found


def by_person(query: tuple[str, str, str], reference: tuple[str, str, str]) -> str:
    if reference[1] == "-1" or (query[1], query[2]) == (reference[1], reference[2]):
        return "junk"
    return "right" if query[1] == reference[1] else "wrong"


def by_label(query: tuple[str, str, str], reference: tuple[str, str, str]) -> str:
    return "right" if query[1] == reference[1] else "wrong"


@pytest.mark.parametrize("seed", range(5))
def test_market1501_takes_out_the_same_camera_and_counts_a_query_without_a_right_reference_as_0(
    seed: int,
) -> None:
    world = People(seed)
    found = shown(world.evaluate("market1501"))

    for query, marks in world.lists(by_person).items():
        right = marks.count("right")
        assert found["mAP"][query] == pytest.approx(
            by_hand.revisited_ap(marks, right) if right else 0.0, abs=1e-12
        )
        for k in (1, 5, 10):
            assert found[f"CMC@{k}"][query] == by_hand.hit(marks, k)


@pytest.mark.parametrize("seed", range(5))
def test_torchreid_has_plain_ap_and_leaves_out_a_query_without_a_right_reference(seed: int) -> None:
    world = People(seed)
    found = shown(world.evaluate("torchreid"))
    expected = {query: marks for query, marks in world.lists(by_person).items() if "right" in marks}

    assert found["mAP"] == pytest.approx(
        {q: by_hand.plain_ap(m, m.count("right")) for q, m in expected.items()}, abs=1e-12
    )
    assert found["CMC@5"] == {query: by_hand.hit(marks, 5) for query, marks in expected.items()}


@pytest.mark.parametrize("convention", ["sop", "vpr"])
def test_recall_of_metric_learning_and_of_places_is_a_hit_rate_with_misses_counted(
    convention: str,
) -> None:
    world = People(3)
    found = shown(world.evaluate(convention))
    label = "Recall" if convention == "sop" else "recall"

    for query, marks in world.lists(by_label).items():
        assert found[f"{label}@1"][query] == 100 * by_hand.hit(marks, 1)
        assert found[f"{label}@10"][query] == 100 * by_hand.hit(marks, 10)
    assert found[f"{label}@10"]["qgone"] == 0


def test_gldv2_divides_by_a_hundred_at_most_and_refuses_a_query_without_a_right_reference() -> None:
    world = People(4)
    with pytest.raises(BadInput, match="no_relevant='skip'"):
        world.evaluate("gldv2")

    found = shown(world.evaluate(own_convention("gldv2", "images", absent="filter")))
    for query, marks in world.lists(by_label).items():
        if "right" in marks:
            assert found["mAP@100"][query] == pytest.approx(
                by_hand.landmarks_ap(marks, marks.count("right")), abs=1e-12
            )


def test_more_than_a_hundred_right_references_are_divided_by_a_hundred() -> None:
    pictures = [ImageEntry(f"r{n:03}", "a", "reference") for n in range(150)] + [
        ImageEntry("q", "a", "query")
    ]
    result = evaluate_images(
        Images.from_entries(pictures),
        scores=np.arange(150.0)[None, :],
        query_ids=["q"],
        item_ids=[f"r{n:03}" for n in range(150)],
        convention="gldv2",
        intervals="none",
    )

    assert result.summary[0]["mean"] == 1.0


def test_the_thesis_leaves_out_queries_of_absent_instances_and_counts_them() -> None:
    world = People(5)
    result = world.evaluate("thesis")
    absent = [name for name, label, _ in world.queries if label == "gone"]

    assert result.rules["filtered"] == {"queries_of_absent_instances": len(absent)}
    assert not set(absent) & set(shown(result)["MP@1"])
    assert any(
        re.search(rf"\b{len(absent)} quer(y of an|ies of) absent instance", note)
        for note in result.findings
    )
    assert set(absent) <= set(
        shown(world.evaluate(own_convention("thesis", "images", absent="keep")))["MP@1"]
    )


# ---- easy, hard and junk
# -------------------------------------------------------------------------------------------------


def landmarks(seed: int) -> tuple[Images, np.ndarray, dict[str, dict[str, str]]]:
    """Images with marks, scores, and query -> reference -> kind."""
    random = Random(seed)
    references, queries = [f"r{n:02}" for n in range(30)], [f"q{n}" for n in range(6)]
    kinds = {
        query: {name: random.choice(["easy", "hard", "junk", "", "", ""]) for name in references}
        for query in queries
    }
    kinds["q5"] = dict.fromkeys(references, "") | {"r03": "hard", "r04": "junk"}
    marks = {
        query: Marks(
            *(
                tuple(name for name in references if mine[name] == kind)
                for kind in ("easy", "hard", "junk")
            )
        )
        for query, mine in kinds.items()
    }
    pictures = [ImageEntry(name, None, "reference") for name in references] + [
        ImageEntry(name, None, "query") for name in queries
    ]
    scores = np.random.default_rng(seed).permutation(180).reshape(6, 30).astype(np.float64)
    return Images.from_entries(pictures, marks=marks), scores, kinds


RIGHT = {"revisited-E": {"easy"}, "revisited-M": {"easy", "hard"}, "revisited-H": {"hard"}}


@pytest.mark.parametrize("convention", RIGHT)
@pytest.mark.parametrize("seed", range(3))
def test_revisited_judges_a_level_and_takes_out_the_others(convention: str, seed: int) -> None:
    images, scores, kinds = landmarks(seed)
    references = [f"r{n:02}" for n in range(30)]
    result = evaluate_images(
        images,
        scores=scores,
        query_ids=list(kinds),
        item_ids=references,
        convention=convention,
        intervals="none",
    )
    found = shown(result)

    for row, (query, mine) in enumerate(kinds.items()):
        order = sorted(references, key=lambda name, row=row: -scores[row, references.index(name)])
        marks = [
            "right" if mine[name] in RIGHT[convention] else "junk" if mine[name] else "wrong"
            for name in order
        ]
        right = marks.count("right")
        if not right:
            assert query not in found["mAP"]
            continue
        assert found["mAP"][query] == pytest.approx(
            100 * by_hand.revisited_ap(marks, right), abs=1e-10
        )
        for k in (1, 5, 10):
            assert found[f"mP@{k}"][query] == pytest.approx(
                100 * by_hand.revisited_precision(marks, k), abs=1e-10
            )
    assert ("q5" in found["mAP"]) == (convention != "revisited-E")


def test_a_level_needs_a_ground_truth_that_has_levels() -> None:
    with pytest.raises(BadUsage, match="level easy needs a ground truth"):
        People(1).evaluate("revisited-E")


def test_nothing_right_for_any_query_is_nothing_to_evaluate() -> None:
    pictures = [ImageEntry("r", "a", "reference"), ImageEntry("q", "b", "query")]
    with pytest.raises(NothingToEvaluate, match="none of the 1 queries has a right reference"):
        evaluate_images(
            Images.from_entries(pictures),
            scores=np.ones((1, 1)),
            query_ids=["q"],
            item_ids=["r"],
            convention="vpr",
        )


# ---- ties
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("expected", 100 / 3),
        ("input", 0.0),
        ("input-desc", 100.0),
        ("optimistic", 100.0),
        ("pessimistic", 0.0),
        ("id-asc", 0.0),
    ],
)
def test_a_tie_at_the_top_goes_as_the_rule_says(ties: str, expected: float) -> None:
    pictures = [
        ImageEntry(name, label, "reference") for name, label in (("a", "x"), ("b", "x"), ("c", "y"))
    ]
    images = Images.from_entries([*pictures, ImageEntry("q", "y", "query")])
    result = evaluate_images(
        images,
        scores=np.ones((1, 3)),
        query_ids=["q"],
        item_ids=["a", "b", "c"],
        ties=ties,
        measures="P@1",
        intervals="none",
    )

    assert result.summary[0]["mean"] == pytest.approx(expected)
    assert result.rules["counts"]["scores"]["queries_best_relevant_tied"] == 1
