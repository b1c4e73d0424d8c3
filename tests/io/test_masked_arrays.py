import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadScore
from rankwell.integrations.sklearn import RankingMetric
from rankwell.io.formats import read_texts


def _masked(*shape: int) -> Any:
    table = np.ma.array(np.random.default_rng(0).random(shape) + 0.1)
    table[(1, 0)[: len(shape)]] = np.ma.masked
    return table


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda table: rw.evaluate_crossmodal(table), "row 1, column 0"),
        (lambda table: rw.evaluate_crossmodal(list(table)), "row 1, column 0"),
        (lambda table: rw.eval_q2m(table, [[0], [1], [2]]), "row 1, column 0"),
        (
            lambda table: rw.evaluate_crossmodal(
                table.filled(0.5), [np.ma.array([0, 1], mask=[0, 1]), [1], [2]]
            ),
            "row 0: None names no item",
        ),
        (
            lambda table: rw.knn(queries=table, items=table.filled(1.0), neighbours=1),
            "row 1, column 0",
        ),
        (
            lambda table: rw.evaluate_embeddings(table.filled(1.0), {"candidate": table}, k=1),
            "row 1, column 0",
        ),
        (lambda table: rw.Ranking.from_rows(["q"] * 3, list("abc"), table[:, 0]), "row 1"),
        (lambda table: rw.Judgments.from_rows(["q"] * 3, list("abc"), table[:, 0]), "row 1"),
        (
            lambda table: rw.evaluate(
                {"q": {"a": 1}}, {"q": dict(zip("abc", table[:, 0], strict=True))}
            ),
            "item 'b': the score is masked",
        ),
        (
            lambda table: RankingMetric("nDCG@2")(table, table.filled(0.5)),
            "y_true is masked in row 1, column 0",
        ),
        (
            lambda table: RankingMetric("nDCG@2")(table.filled(0.5), table),
            "y_score is masked in row 1, column 0",
        ),
    ],
)
def test_a_masked_entry_is_refused_with_its_place(call: Any, place: str):
    with pytest.raises((BadInput, BadScore), match=re.escape(place)):
        call(_masked(3, 3))


def test_an_array_without_a_masked_entry_is_an_array_as_any():
    scores = np.random.default_rng(0).random((3, 3))

    assert str(rw.evaluate_crossmodal(np.ma.array(scores))) == str(rw.evaluate_crossmodal(scores))


def test_missing_cells_of_frames_are_neither_texts_nor_attributes():
    cells = {"text": pd.array(["x", None], dtype="string"), "n": pd.array([None, 1], dtype="Int64")}
    frame = pd.DataFrame({"id": ["a", "b"], **cells, "day": pd.to_datetime(["2020-01-01", None])})

    found = read_texts(frame)

    assert found.texts == {"a": "x", "b": ""}
    assert [sorted(each) for each in found.attributes.values()] == [["day"], ["n"]]
