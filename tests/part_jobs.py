"""A command of each kind of work in parts, with small inputs of its own, and what a user sees who
types it.
"""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches import RUNS_ALONE, make_bench
from rankwell.cli import main
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards

ROWS = 90


def vectors(rows: int, dimensions: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(1, 9, size=(rows, dimensions)).astype(np.float32)


def write_vectors(folder: str, rows: int, dimensions: int) -> None:
    """A table in three shards with ids."""
    Path(folder).mkdir()
    whole = vectors(rows, dimensions, rows)
    for shard in range(3):
        some = slice(rows * shard // 3, rows * (shard + 1) // 3)
        np.save(f"{folder}/part-{shard}.npy", whole[some])
        ids = "".join(f"{folder}-{row}\n" for row in range(some.start, some.stop))
        Path(f"{folder}/part-{shard}.ids.txt").write_text(ids)


def searched() -> list[str]:
    write_vectors("base", ROWS, 4)
    np.save("queries.npy", vectors(5, 4, 1))
    return [
        "knn",
        "base",
        "queries.npy",
        "--neighbours",
        "4",
        "-o",
        "{}/found.run",
        "--shards",
        "3",
    ]


def captioned() -> list[str]:
    np.save("captions.npy", vectors(60, 5, 2))
    np.save("videos.npy", vectors(20, 5, 3))
    Path("positives.json").write_text(json.dumps([[caption % 20] for caption in range(60)]))
    tables = [
        "--query-vectors",
        "captions.npy",
        "--item-vectors",
        "videos.npy",
        "--qrels",
        "positives.json",
    ]
    return ["crossmodal", *tables, "--direction", "t2v", "-o", "{}/found", "--shards", "3"]


def agreed() -> list[str]:
    np.save("big.npy", vectors(ROWS, 5, 4))
    np.save("small.npy", vectors(ROWS, 4, 5))
    return [
        "embeddings",
        "--reference",
        "big.npy",
        "small.npy",
        "--samples",
        "20",
        "-k",
        "3",
        "-o",
        "{}/found",
        "--shards",
        "3",
    ]


def evaluated() -> list[str]:
    write_judgments(Path("qrels.txt"))
    write_shards(Path("run"), ".run", scattered(rows_of()), 3)
    return ["evaluate", "qrels.txt", "run", "-m", "RR", "-o", "{}/found", "--shards", "3"]


def encoded() -> list[str]:
    texts = "".join(
        f'{{"_id": "{row}", "text": "a word{row % 61} word{row % 47}"}}\n' for row in range(90)
    )
    Path("texts.jsonl").write_text(texts)
    model = ["--encoder", "tfidf-svd:4", "--fit", "texts.jsonl", "--batch-size", "1"]
    return ["encode", "texts.jsonl", *model, "-o", "{}/found.npy", "--shards", "3"]


def benched() -> list[str]:
    return ["bench", str(make_bench(Path("inputs"), RUNS_ALONE)), "-o", "{}/found"]


JOBS: dict[str, Callable[[], list[str]]] = {
    "knn": searched,
    "crossmodal": captioned,
    "embeddings": agreed,
    "evaluate": evaluated,
    "encode": encoded,
    "bench": benched,
}
"""What writes the inputs into the working directory, and returns the words of the command, with {}
for the output's folder.
"""


def typed(*words: str) -> tuple[int, str, str]:
    """What a user sees who types this: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr("sys.argv", ["rankwell", *words])
        code = main()
    return code, out.getvalue(), err.getvalue()


def files(folder: str) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }
