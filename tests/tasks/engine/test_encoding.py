"""Queries that are encoded when they are asked: their vectors, a time of their own, and what is
refused.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import rankwell as rw
from rankwell.errors import BadUsage
from rankwell.tasks.engine import inputs
from rankwell.tasks.engine.task import render, write_records

ITEMS = {f"d{row}": f"{'river ' * (row % 5)}{'hill ' * (row % 7)}lake" for row in range(30)}
QUERIES = {f"q{row}": f"{'river ' * (row % 3)}{'hill ' * (row % 4)}lake" for row in range(12)}
SLOW = 0.005


class Counts:
    """An encoder that counts words, and takes its time for each text."""

    dimensions = 3

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.ends: list[float] = []

    def fit(self, texts: Sequence[str]) -> "Counts":
        return self

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls.append([*texts])
        time.sleep(SLOW)
        self.ends.append(time.perf_counter())
        return np.array(
            [[text.split().count(word) for word in ("river", "hill", "lake")] for text in texts],
            dtype=np.float32,
        )

    def describe(self) -> dict[str, Any]:
        return {}


class Nearest:
    """The items of the largest dot product, the first of equal ones; it keeps the vectors that it
    was asked.
    """

    def __init__(self) -> None:
        self.asked: list[list[float]] = []

    def index(self, ids: Sequence[str], vectors: Any) -> None:
        self._ids, self._vectors = ids, vectors.tolist()

    def similarity_search(self, vector: Any, top_k: int) -> list[str]:
        self.asked.append(vector.tolist())
        scores = [
            sum(x * y for x, y in zip(own, vector.tolist(), strict=True)) for own in self._vectors
        ]
        return [
            self._ids[row]
            for row in sorted(range(len(scores)), key=lambda row: -scores[row])[:top_k]
        ]


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counts = Counts()
    monkeypatch.setattr(inputs, "load_encoder", lambda model: counts)
    return counts


@pytest.mark.parametrize("rate", [None, 400.0])
def test_a_query_is_encoded_before_it_is_sent_in_a_time_of_its_own(
    encoder: Counts, rate: float | None, tmp_path: Path
):
    engine, judged = Nearest(), {query: {"d1": 1} for query in QUERIES}

    result = rw.evaluate_engine(
        engine,
        QUERIES,
        documents=ITEMS,
        qrels=judged,
        encoder="slow",
        depth=5,
        rounds=2,
        warm_up=0,
        rate=rate,
    )
    measured = result.measured
    _, timings, _ = write_records(measured, tmp_path)

    expected = {
        tuple(text.split().count(word) for word in ("river", "hill", "lake"))
        for text in QUERIES.values()
    }
    assert {tuple(vector) for vector in engine.asked} == expected
    assert len(engine.asked) == 2 * len(QUERIES)
    # All items at once; each query alone: for the exact results, to be warm, and in every round.
    assert sorted(map(len, encoder.calls)) == [1] * (12 + 10 + 2 * 12) + [30]
    spans = [
        (each.sent if each.planned is None else each.planned, each.done)
        for batch in measured.by_setting[0].batches()
        for each in batch.requests
    ]
    assert not [end for end in encoder.ends for start, done in spans if start < end <= done]
    assert result.tables["settings"][0]["encoding (ms)"] >= 1000 * SLOW
    assert result.describe()["encoder"] == "slow"
    found = duckdb.sql(f"SELECT encoding FROM '{timings}'").fetchall()
    assert len(found) == 24
    assert min(found)[0] >= SLOW


def test_without_an_encoder_there_is_no_such_column(tmp_path: Path):
    result = rw.evaluate_engine(
        lambda query, k: ["d1"], QUERIES, qrels={"q1": {"d1": 1}}, measures="RR", rounds=1
    )
    _, timings, _ = write_records(result.measured, tmp_path)

    assert "encoding" not in render(result, "table")
    assert "encoding" not in duckdb.sql(f"SELECT * FROM '{timings}'").columns


def test_an_encoder_is_fitted_to_the_items_and_finds_them_by_their_texts():
    itself = {item: {item: 1} for item in ITEMS}

    result = rw.evaluate_engine(
        Nearest(),
        ITEMS,
        documents=ITEMS,
        qrels=itself,
        measures="RR",
        encoder="tfidf-svd:3",
        depth=5,
        rounds=1,
    )

    assert result["RR"] == 1.0


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        (
            "sqlite-fts5",
            {"queries": QUERIES, "documents": ITEMS},
            "sqlite-fts5 takes texts, not vectors",
        ),
        (
            lambda query, k: [],
            {"queries": QUERIES, "documents": ITEMS, "option": {"takes": "text"}},
            "takes texts, not vectors",
        ),
        (
            Nearest(),
            {"queries": QUERIES, "query_vectors": np.eye(12), "documents": ITEMS},
            "replaces query_vectors",
        ),
        (Nearest(), {"query_vectors": np.eye(3)}, "needs the texts of the queries; give queries"),
        (Nearest(), {"queries": QUERIES}, "is fitted to the texts of the items; give documents"),
    ],
)
def test_an_encoder_that_has_no_use_is_refused(engine: Any, options: dict[str, Any], message: str):
    with pytest.raises(BadUsage, match=message):
        rw.evaluate_engine(engine, **options, encoder="tfidf-svd:3")
