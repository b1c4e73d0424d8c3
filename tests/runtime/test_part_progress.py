"""The progress of parts on one line of a terminal: how many are done, and how much of the work that
is.
"""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from benches import RUNS_ALONE, make_bench
from commanding import with_fields
from rankwell.cli import main
from rankwell.cli.commands.encode import encode
from rankwell.cli.commands.knn import knn
from rankwell.data.catalogue import command_function
from rankwell.runtime.parts.execution import share
from rankwell.tasks.crossmodal.task import crossmodal
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards


class Notes:
    """Progress that keeps what it is shown."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int, int, str]] = []

    def __call__(self, name: str, done: int, total: int, /) -> None:
        self.noted(name, done, total, "")

    def noted(self, name: str, done: int, total: int, note: str, /) -> None:
        self.lines.append((name, done, total, note))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for name, rows in (("base", 300), ("queries", 40)):
        np.save(f"{name}.npy", random.normal(size=(rows, 4)).astype(np.float32))
    Path("positives.json").write_text(json.dumps([[query] for query in range(40)]))
    Path("texts.jsonl").write_text(
        "".join(f'{{"_id": "{row}", "text": "a word{row % 9}"}}\n' for row in range(250))
    )
    write_judgments(Path("qrels.txt"))
    write_shards(Path("run"), ".parquet", scattered(rows_of()))
    return tmp_path


JOBS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "products": (knn, ("base.npy", "queries.npy"), {"output": Path("found.hdf5"), "neighbours": 3}),
    "products, ranks": (
        crossmodal.command(),
        (),
        {"query_vectors": "queries.npy", "item_vectors": "base.npy", "qrels": "positives.json"},
    ),
    "texts": (
        encode,
        ("texts.jsonl",),
        {"output": Path("v.npy"), "encoder": "tfidf-svd:2", "fit": "texts.jsonl", "batch_size": 1},
    ),
    "bytes": (command_function(("evaluate",)), ("qrels.txt", "run"), {"measures": ["RR"]}),
}
COSTS = {"products": "products", "texts": "texts", "bytes": "bytes read"}


@pytest.mark.parametrize("job", JOBS)
def test_the_work_of_all_parts_is_what_a_dry_run_says(folder: Path, job: str):
    command, places, options = JOBS[job]
    unit = job.partition(",")[0]
    dry = with_fields(command)(*places, **options, shards=3, dry_run=True).text
    costs = dict(re.split(r"\s{2,}", line) for line in dry.splitlines())
    notes = Notes()

    with_fields(command)(*places, **options, shards=3, executor="here", progress=notes)

    total = 0
    for name in {name for name, *_ in notes.lines} & {"parts", "second round"}:
        own = [line for line in notes.lines if line[0] == name]
        assert (own[0][1], own[-1][1]) == (0, own[-1][2])
        found = re.fullmatch(rf"(\d+) of (\d+) {unit}|([\d.]+) of ([\d.]+) k {unit}|", own[-1][3])
        assert found is not None, own[-1][3]
        assert (found[1], found[3]) == (found[2], found[4])
        total += int(found[1] or 0) + round(1000 * float(found[3] or 0))
    assert total == pytest.approx(int(costs[COSTS[unit]].replace(",", "")), rel=0.006)


def test_a_bench_shows_the_bytes_that_its_cells_read(tmp_path: Path):
    bench, notes = make_bench(tmp_path / "inputs", RUNS_ALONE), Notes()
    sizes = {
        path.stem: path.stat().st_size
        for path in (tmp_path / "inputs").rglob("*")
        if path.suffix in (".run", ".txt")
    }
    total = sizes["low"] + sizes["high"] + 2 * sizes["qrels"]

    rankwell.bench(
        bench, tmp_path / "out", executor="here", work=str(tmp_path / "work"), progress=notes
    )

    last = [note for name, done, _, note in notes.lines if (name, done) == ("parts", 2)][-1]
    assert last == f"{share(total, total, 'bytes')} of inputs"


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("width", "shown"),
    [(45, "parts 3/3 12.0 of 12.0 k products"), (80, "━ 0:00:00 12.0 of 12.0 k products")],
)
def test_a_terminal_shows_one_line_that_fits_and_a_file_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, width: int, shown: str
):
    screens = Screen(), io.StringIO()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    # Only work of a second is shown.
    times = iter(range(10_000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(times)))
    words = [
        "rankwell",
        "knn",
        "base.npy",
        "queries.npy",
        "--overwrite",
        "--neighbours",
        "3",
        "-o",
        "found.run",
        "--shards",
        "3",
    ]
    monkeypatch.setattr("sys.argv", words)

    for screen in screens:
        monkeypatch.setattr("sys.stderr", screen)
        assert main() == 0

    lines = [
        line
        for line in re.split(
            r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screens[0].getvalue())
        )
        if "parts" in line
    ]
    assert lines
    assert all(len(line) <= width for line in lines)
    assert shown in lines[-1]
    assert "parts" not in screens[1].getvalue()
