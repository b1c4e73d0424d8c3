"""Live engines: whatever they are and return, it becomes ids in order with their similarities."""

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from rankwell.engines.objects import EngineObject, EngineResult
from rankwell.errors import BadInput, BadUsage


class Row(NamedTuple):
    slice_id: str
    similarity: float


def engine(results: Any, method: str = "search") -> Any:
    return SimpleNamespace(**{method: lambda query, k: results})


@pytest.mark.parametrize(
    "results",
    [
        [
            SimpleNamespace(slice_id="a", similarity=0.5),
            SimpleNamespace(slice_id="b", similarity=0.25),
        ],
        [{"slice_id": "a", "similarity": 0.5}, {"slice_id": "b", "similarity": np.float32(0.25)}],
        [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.25}],
        [{"id": "a", "similarity_score": 0.5}, SimpleNamespace(id="b", similarity_score=0.25)],
        [("a", 0.5), ["b", 0.25]],
        (Row(name, score) for name, score in (("a", 0.5), ("b", 0.25))),
    ],
)
def test_results_of_every_form_read_alike(results: Any):
    assert EngineObject.of(engine(results)).ask("q", 5) == [
        EngineResult("a", 0.5),
        EngineResult("b", 0.25),
    ]


def test_distances_are_lower_for_better_items_and_similarities_go_before_them():
    results = [
        {"id": "a", "distance": 0.0},
        {"id": "b", "distance": 1.5},
        {"id": "c", "distance": 1.5, "score": 0.5},
    ]

    found = EngineObject.of(engine(results)).ask("q", 5)

    assert found == [
        EngineResult("a", 0.0, is_distance=True),
        EngineResult("b", -1.5, is_distance=True),
        EngineResult("c", 0.5),
    ]
    assert math.copysign(1, found[0].similarity) == 1


def test_ids_alone_have_no_similarity():
    found = EngineObject.of(engine(["a", 7, b"c", np.int64(9)])).ask("q", 5)

    assert [each.item for each in found] == ["a", "7", "c", "9"]
    assert all(math.isnan(each.similarity) for each in found)
    assert math.isnan(EngineObject.of(engine([("a", None)])).ask("q", 5)[0].similarity)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "returned nothing"),
        ("abc", "a string"),
        ([{"name": "a"}], "result 1"),
        ([("a", 1, 2)], "3 parts"),
        ([("a", "high")], "similarity 'high'"),
        ([("a", float("nan"))], "similarity nan"),
        ([{"id": ""}], "the id ''"),
    ],
)
def test_what_cannot_be_read_is_named(results: Any, message: str):
    with pytest.raises(BadInput, match=message):
        EngineObject.of(engine(results)).ask("q", 5)


def test_the_method_goes_by_the_mode():
    both = SimpleNamespace(
        search_by_text=lambda query, top_k: ["text"],
        search=lambda query, k: ["id"],
        similarity_search=lambda vector, top_k: ["vector"],
    )

    assert EngineObject.of(both).ask("q", 1)[0].item == "text"
    assert EngineObject.of(both, ("vector", "id")).caller.by == "similarity_search"
    assert EngineObject.of(engine(["a"]), ("vector", "id")).caller.by == "search"
    with pytest.raises(BadUsage, match=r"search_by_text\(…, top_k\) or search\(…, k\)"):
        EngineObject.of(SimpleNamespace())


class Engine:
    def search_by_text(self, query: str, top_k: int) -> list[str]:
        return [query] * top_k


@pytest.mark.parametrize("made", [Engine, Engine(), lambda: Engine()])
def test_a_class_an_object_and_a_function_that_makes_one_serve_alike(made: Callable[[], Any]):
    assert [each.item for each in EngineObject.of(made).ask("q", 2)] == ["q", "q"]


def test_an_engine_is_loaded_by_name_and_a_broken_one_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine_of_test.py").write_text(
        "class Needy:\n    def __init__(self, path): ...\n    def search(self, q, k): ...\n"
        "def search(query, k):\n    return [query]\n"
        "class Plain:\n    def search(self, query, k):\n        return ['x']\n"
        "ready = Plain()\n"
    )

    assert EngineObject.of("./engine_of_test.py:search").ask("q", 1)[0].item == "q"
    assert EngineObject.of("./engine_of_test.py:ready").ask("q", 1)[0].item == "x"
    with pytest.raises(BadUsage, match="cannot be made without arguments"):
        EngineObject.of("./engine_of_test.py:Needy")
