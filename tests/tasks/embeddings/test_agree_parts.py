"""Models compared in parts: the result of one process, however the tables are cut."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from oracles.neighbours import neighbours
from rankwell.errors import BadScore, BadUsage, Unfinished
from rankwell.results import Results
from rankwell.runtime.parts.execution import compute_part
from rankwell.tasks.embeddings.task import embeddings

ITEMS = 120


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Small whole numbers, so that many scores tie, and copies far apart."""
    for seed, (name, dimensions) in enumerate([("big", 6), ("small", 4), ("other", 5)]):
        vectors = (
            np.random.default_rng(seed).integers(1, 5, size=(ITEMS, dimensions)).astype(np.float32)
        )
        vectors[-15:] = vectors[:15]
        np.save(tmp_path / f"{name}.npy", vectors)
    return tmp_path


def compared(files: Path, **options: Any) -> Results:
    given = {"samples": 30, "k": "1,5", **options}
    return rankwell.evaluate_embeddings(
        str(files / "big.npy"), [str(files / "small.npy"), str(files / "other.npy")], **given
    )


def all_of(result: Results) -> str:
    """All that a result says."""
    details = {name: list(column) for name, column in (result.details or {}).items()}
    return repr(
        [
            result.summary,
            list(result.per_query()),
            result.findings,
            result.describe(),
            result.changes,
            details,
        ]
    )


def marks(metric: str, shards: int) -> list[pytest.MarkDecorator]:
    """250 parts of every metric take minutes."""
    if shards == 250 and metric != "cosine":
        return [pytest.mark.slow, pytest.mark.server]
    return [pytest.mark.slow] if shards != 7 or metric == "dot" else []


@pytest.mark.parametrize(
    ("metric", "shards"),
    [
        pytest.param(metric, shards, marks=marks(metric, shards))
        for metric in ("cosine", "dot", "l2")
        for shards in (1, 2, 7, 31, 250)
    ],
)
def test_shards_give_the_result_of_one_process_with_ties_and_copies_across_them(
    files: Path, metric: Any, shards: int
):
    found = compared(files, metric=metric, details=True, shards=shards, work=str(files / "work"))

    assert all_of(found) == all_of(compared(files, metric=metric, details=True))


def test_labels_the_whole_sample_and_half_precision_give_the_result_of_one_process(files: Path):
    labels = [None if row % 7 == 0 else str(row % 5) for row in range(ITEMS)]
    options = {
        "exclude_group": labels,
        "samples": "all",
        "ceiling": True,
        "details": True,
        "k": "1,30",
    }

    assert all_of(compared(files, **options, shards=7)) == all_of(compared(files, **options))


def test_a_model_in_another_order_is_matched_by_its_ids(files: Path):
    order = np.random.default_rng(9).permutation(ITEMS)
    np.save(files / "small.npy", np.load(files / "small.npy")[order])
    for name, rows in (("big", range(ITEMS)), ("small", order.tolist()), ("other", range(ITEMS))):
        (files / f"{name}.ids.txt").write_text("".join(f"item-{row}\n" for row in rows))

    assert all_of(compared(files, shards=7, details=True)) == all_of(compared(files, details=True))


def test_neighbours_in_parts_are_those_of_exact_arithmetic(files: Path):
    found = compared(files, metric="dot", shards=7)

    (pairs, *_) = found.pairs.values()
    vectors = np.load(files / "small.npy").astype(int).tolist()
    rows: list[int] = found.sample.rows.tolist()
    best = neighbours([vectors[row] for row in rows], vectors, ITEMS, "dot")
    expected = [
        [item for item, _ in each if item != row][:5] for row, each in zip(rows, best, strict=True)
    ]
    assert pairs.candidate.items.reshape(len(rows), -1).tolist() == expected


def test_an_array_is_submitted_for_the_lists_and_then_for_the_ranks(files: Path):
    options = {"executor": "array", "work": str(files / "work"), "shards": 2}
    for folder, parts in (("work", 6), ("work/second", 8)):
        with pytest.raises(Unfinished, match=rf"{parts} parts"):
            compared(files, **options)
        for index in range(parts):
            compute_part(files / folder, index)

    assert all_of(compared(files, **options)) == all_of(compared(files))


def test_a_dry_run_prints_the_costs_and_reads_no_vectors(files: Path):
    vectors = np.load(files / "small.npy")
    vectors[:] = np.nan
    np.save(files / "small.npy", vectors)

    output = with_fields(embeddings.command())(
        str(files / "small.npy"), reference=str(files / "big.npy"), dry_run=True, shards=3
    )

    costs = dict(line.rsplit(None, 1) for line in output.text.splitlines())
    assert (costs["parts"], costs["parts of a second round"], output.exit_code) == ("6", "6", 0)


def test_bad_vectors_and_runs_are_refused_before_any_work(files: Path):
    (files / "a.run").write_text("q Q0 d 1 1 a\n")
    with pytest.raises(BadUsage, match="runs are compared in one piece"):
        rankwell.evaluate_embeddings(
            str(files / "a.run"), {"b": str(files / "a.run")}, executor="here"
        )
    vectors = np.load(files / "small.npy")
    vectors[ITEMS - 1, 2] = np.nan
    np.save(files / "small.npy", vectors)
    with pytest.raises(BadScore, match=rf"small: row {ITEMS - 1}, column 2: nan"):
        compared(files, shards=7, work=str(files / "work"))

    assert not (files / "work").exists()
