"""The contract of files and data in memory: an object of another kind ends in an error of rankwell,
which says what it is.
"""

import inspect
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import rankwell
from contracts.test_public_names import CALLS, FUNCTIONS
from rankwell.errors import RankwellError

WRONG: dict[str, Any] = {
    "switch": False,
    "number": 1.5,
    "object": object(),
    "frame": pandas.DataFrame({"a": [1]}),
    "polars frame": polars.DataFrame({"a": [1]}),
    "mapping": {"a": 1},
    "set": {"a", "b"},
    "list": [None],
    "array": np.ones(()),
}
INPUTS = [
    (name, parameter.name)
    for name in FUNCTIONS
    for parameter in inspect.signature(getattr(rankwell, name)).parameters.values()
    if "Path" in str(parameter.annotation)
]


def call_with(function: Any, changed: dict[str, Any], *arguments: Any, **named: Any) -> Any:
    """Calls a function with some arguments replaced."""
    signature = inspect.signature(function)
    bound = signature.bind_partial(*arguments, **named)
    for name, value in changed.items():
        is_several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        bound.arguments[name] = (value,) if is_several else value
    return function(*bound.args, **bound.kwargs)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("name", "parameter"), INPUTS)
def test_another_kind_of_object_is_refused_in_words_or_read(
    name: str, parameter: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    function, changed = getattr(rankwell, name), {parameter: WRONG[kind]}
    calls: list[int] = []

    def changed_call(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return call_with(function, changed, *given, **named)

    monkeypatch.setattr(rankwell, name, changed_call)

    with suppress(RankwellError):
        CALLS[name](tmp_path)

    assert calls


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("evaluate_images", {"item_ids": False}, "ids cannot be read from a boolean; give a file"),
        ("evaluate_images", {"item_ids": WRONG["frame"]}, "ids cannot be read from a DataFrame"),
        ("evaluate_images", {"clusters": WRONG["frame"]}, "clusters is a DataFrame; expected kmea"),
        ("evaluate_images", {"clusters": [None]}, "clusters is nothing; expected kmeans, the path"),
        ("evaluate_crossmodal", {"item_ids": False}, "ids cannot be read from a boolean; give a f"),
        ("evaluate_crossmodal", {"query_ids": np.ones(())}, "ids cannot be read from a number; gi"),
        ("evaluate_crossmodal", {"queries": 5}, "texts cannot be read from an integer; give a fil"),
        ("evaluate_crossmodal", {"qrels": np.ones(())}, "positives cannot be taken from an ndarra"),
        (
            "evaluate_keywords",
            {"annotations": {"a": {"type": ["x"]}}, "schema": {"type": ["x"]}},
            "expected a path, found a mapping",
        ),
        ("evaluate_keywords", {"columns": 5}, "columns is 5; expected a mapping or a string"),
        ("evaluate_engine", {"queries": {"q": 5}}, "give a path, a mapping id -> text, a data fra"),
        ("evaluate_engine", {"option": 5}, "option is 5; expected a mapping or a list of NAME="),
        ("evaluate_engine", {"sweep": [5]}, "sweep is [5]; expected a mapping or a list of NAME"),
        ("evaluate_beyond", {"documents": 1.5}, "ids cannot be read from a number; give a file or"),
        ("evaluate_embeddings", {"exclude_group": 5}, "labels cannot be read from an integer; gi"),
        ("read_images", {"queries": 5}, "expected a path, found an integer"),
        ("write_run", {"path": 5}, "expected a path, found an integer"),
    ],
)
def test_the_message_says_what_is_given_and_what_to_give(
    name: str,
    changed: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    function = getattr(rankwell, name)
    monkeypatch.setattr(
        rankwell, name, lambda *given, **named: call_with(function, changed, *given, **named)
    )

    with pytest.raises(RankwellError, match=re.escape(message)):
        CALLS[name](tmp_path)


def test_texts_are_rows_as_well():
    rows = [{"id": "q", "text": "a", "lang": "de"}]

    found = rankwell.evaluate_engine(
        lambda query, k: ["d"][:k], rows, qrels={"q": {"d": 1}}, measures="RR", rounds=1
    )

    assert found["RR"] == 1.0


@pytest.mark.parametrize("form", [list, pandas.DataFrame])
def test_captions_are_rows_as_well(form: Any):
    rows = [{"id": "0", "text": "a dog"}, {"id": "1", "text": "a dog"}]

    as_list = rankwell.evaluate_crossmodal(np.eye(2), queries=["a dog", "a dog"])
    as_rows = rankwell.evaluate_crossmodal(np.eye(2), queries=form(rows))

    ceilings = [row["ceiling"] for row in as_list.summary]
    assert ceilings[0] == 50.0
    assert [row["ceiling"] for row in as_rows.summary] == ceilings


def test_items_of_a_catalogue_may_be_numbers():
    found = rankwell.evaluate_beyond({"q": [1]}, "ItemCoverage@1", documents=[1, 2])

    assert found["ItemCoverage@1"] == 0.5


SIDE = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]])


def neighbours(labels: Any) -> list[list[int]]:
    found = rankwell.knn(
        items=SIDE, queries=SIDE, neighbours=2, exclude_group=labels, query_groups=labels
    )
    return found.positions.tolist()


def test_labels_that_are_missing_exclude_nothing():
    nan = float("nan")

    assert neighbours(["1", nan, nan, "2"]) == neighbours(["1", None, None, "2"])
    assert neighbours(["1", "", "", "2"]) == neighbours(["1", None, None, "2"])
    assert neighbours([1, 1, 2, 2]) == neighbours(["1", "1", "2", "2"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"0": "g", "1": "g", "2": "h", "3": "h"}, "labels cannot be read from a mapping"),
        ({"a", "b", "c", "d"}, "labels cannot be read from a set"),
        (polars.DataFrame({"a": [1, 2, 3, 4]}), "labels cannot be read from a DataFrame"),
        ([1.0, 2.0, 1.0, 2.0], "row 0 has '1.0', a number; expected an id"),
    ],
)
def test_labels_of_another_kind_are_refused(labels: Any, message: str):
    with pytest.raises(RankwellError, match=re.escape(message)):
        neighbours(labels)


def test_numbers_for_weights_come_in_any_list_of_them():
    runs = [{"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 0.2, "b": 0.9}}]

    whole = rankwell.fuse(runs, method="combsum", weights=[0.25, 0.75])
    of_array = rankwell.fuse(runs, method="combsum", weights=np.array([0.25, 0.75]))

    assert of_array.scores.tolist() == whole.scores.tolist()
    with pytest.raises(RankwellError, match="expected a list of numbers"):
        rankwell.fuse(runs, method="combsum", weights=np.array(0.3))


def test_measures_come_in_an_array_and_a_number_is_none():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}

    assert rankwell.evaluate(qrels, run, np.array(["AP", "RR"])) is not None
    with pytest.raises(RankwellError):
        rankwell.evaluate(qrels, run, 0)


def test_an_array_is_no_choice():
    with pytest.raises(RankwellError, match="unjudged: there is no"):
        rankwell.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, unjudged=np.array(["skip", "skip"]))
