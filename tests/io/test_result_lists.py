"""Results as engines return them, in files and in Python: with any common name for id and score,
and in lists per query.
"""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rankwell
from rankwell.errors import BadInput, BadScore, DuplicateItem

SCORES = {"q1": {"d3": 0.75, "d1": 0.5, "d2": 0.25}, "q2": {"d3": 2.0}}
ITEMS = ("id", "slice_id", "clip_id", "docno", "node_id")
NUMBERS = ("score", "similarity", "similarity_score", "sim")


def records(item: str, number: str, sign: float = 1.0) -> dict[str, list[dict[str, Any]]]:
    return {
        query: [{"title": "t", item: name, number: sign * score} for name, score in items.items()]
        for query, items in SCORES.items()
    }


def files(folder: Path, lists: dict[str, list[Any]]) -> dict[str, Path]:
    """The same lists in every form of file that has a place for them."""
    objects = [{"query_id": query, "results": results} for query, results in lists.items()]
    paths = {
        name: folder / name
        for name in (
            "lists.json",
            "objects.json",
            "objects.jsonl",
            "rows.json",
            "rows.jsonl",
            "rows.csv",
        )
    }
    paths["lists.json"].write_text(json.dumps(lists))
    paths["objects.json"].write_text(json.dumps(objects))
    paths["objects.jsonl"].write_text("".join(json.dumps(each) + "\n" for each in objects))
    rows = [{"query_id": query, **each} for query, results in lists.items() for each in results]
    paths["rows.json"].write_text(json.dumps(rows))
    paths["rows.jsonl"].write_text("".join(json.dumps(each) + "\n" for each in rows))
    with paths["rows.csv"].open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return paths


@pytest.mark.parametrize(
    ("item", "number"),
    [*((item, "score") for item in ITEMS), *(("id", number) for number in NUMBERS[1:])],
)
def test_results_are_read_whatever_they_call_id_and_score(tmp_path: Path, item: str, number: str):
    lists = records(item, number)
    for place in (lists, *files(tmp_path, lists).values()):
        assert rankwell.read_ranking(place).to_dict() == SCORES


def test_the_smallest_distance_ranks_first_and_its_direction_is_noted(tmp_path: Path):
    lists = records("slice_id", "distance", sign=-1.0)
    frame = pd.DataFrame(
        [{"query": query, **each} for query, results in lists.items() for each in results]
    )
    for place in (lists, frame, *files(tmp_path, lists).values()):
        notes: list[str] = []
        ranking = rankwell.read_ranking(place, findings=notes)

        assert ranking.to_dict() == SCORES
        assert len(notes) == 1
        assert "'distance' is a distance: the smallest ranks first" in notes[0]


def test_results_without_numbers_are_ranked_as_they_are_listed():
    notes: list[str] = []
    ranking = rankwell.read_ranking(
        {"q": [{"id": "b", "distance": None}, {"id": "a", "distance": None}]}, findings=notes
    )

    assert ranking.to_dict() == {"q": {"b": -1.0, "a": -2.0}}
    assert notes == []


def test_a_distance_beside_a_score_is_not_read():
    both = {
        "q": [
            {"id": "a", "score": 1.0, "distance": 5.0},
            {"id": "b", "score": 2.0, "distance": 9.0},
        ]
    }
    notes: list[str] = []
    assert rankwell.read_ranking(both, findings=notes).to_dict() == {"q": {"b": 2.0, "a": 1.0}}
    assert notes == []


@pytest.mark.parametrize(
    "listed",
    [
        ["d3", "d1"],
        [{"id": "d3"}, {"id": "d1"}],
        [{"id": "d3", "rank": 1}, {"id": "d1", "rank": 2}],
    ],
)
def test_results_without_scores_are_in_the_order_of_the_list_or_of_their_ranks(
    tmp_path: Path, listed: list[Any]
):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"q": listed}))
    for place in (path, {"q": listed}):
        assert list(rankwell.read_ranking(place).items) == ["d3", "d1"]


def test_a_json_file_of_lists_holds_judgments_too(tmp_path: Path):
    path = tmp_path / "relevant.json"
    path.write_text(json.dumps({"q1": ["d1", "d2"], "q2": [["d3", 2]]}))
    assert rankwell.read_judgments(path).to_dict() == {
        "q1": {"d1": 1.0, "d2": 1.0},
        "q2": {"d3": 2.0},
    }


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            '{"q": [{"title": "a"}]}',
            BadInput,
            "query 'q' has the result {'title': 'a'}; expected an id",
        ),
        (
            '{"q": [{"id": "a", "score": "high"}]}',
            BadScore,
            "query 'q', item 'a': the score is 'high'",
        ),
        (
            '{"q": [{"id": "a", "distance": "near"}]}',
            BadScore,
            "query 'q', item 'a': the score is 'near'",
        ),
        ('{"q": [{"id": "a", "score": true}]}', BadScore, "query 'q', item 'a': the score is True"),
        (
            '{"q": [{"id": "a", "score": 1}, {"id": "b"}]}',
            BadScore,
            "query 'q', item 'b': the score is None",
        ),
        (
            '{"q": [{"id": "a", "id": "b", "score": 1}]}',
            DuplicateItem,
            r"\$\['q'\]\[0\] has the key 'id' twice",
        ),
        ('{"q": [["a", true]]}', BadScore, r"\$\['q'\]\[0\] is \['a', True\]"),
        (
            '[{"query_id": "q", "results": [{"id": "a", "score": 1}, {"id": "a", "score": 2}]}]',
            DuplicateItem,
            "lists item 'a' twice",
        ),
        (
            '[{"query_id": "q", "results": []}, {"query_id": "q", "results": []}]',
            DuplicateItem,
            r"\[1\]: query 'q' appears twice",
        ),
        (
            '{"query_id": "q", "results": [1]}\n{"results": [2]}\n',
            BadInput,
            ':2 .*expected {"query_id": …',
        ),
    ],
)
def test_lists_that_make_no_ranking_are_refused_with_their_place(
    tmp_path: Path, text: str, kind: type[Exception], message: str
):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(kind, match=message):
        rankwell.read_ranking(path)
