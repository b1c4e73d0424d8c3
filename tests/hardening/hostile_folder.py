"""A folder of data with files of the names of modules, each of which leaves a mark where it is
imported; and commands in it.
"""

import importlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tasks.runs import smallest as runs

_MODULES = (
    "random",
    "numpy",
    "struct",
    "sitecustomize",
    "usercustomize",
    "duckdb",
    "torch",
    "json",
    "ray",
    "vl_convert",
    "runpy",
)
_PACKAGES = ("rankwell", "multiprocessing")
CONSOLE = (str(Path(sys.executable).with_name("rankwell")),)
SAFE_MODULE = (sys.executable, "-P", "-m", "rankwell")

MEASURE = "def first(view):\n    return view.first_rank(view.relevant(1)) == 1\n"
ENGINE = "def search(query, k):\n    return ['d1', 'd2'][:k]\n"
BENCH = """
[[dataset]]
name = "d"
command = "evaluate"
qrels = "qrels"
runs = "{system}"
measure = ["RR", "./my_measures.py:first"]
[[system]]
name = "run"
[[system]]
name = "other"
"""


def make_hostile(folder: Path, marks: Path) -> None:
    """Writes modules that mark that they were imported."""
    for name in _MODULES:
        (folder / f"{name}.py").write_text(_mark(name, marks), encoding="utf-8")
    for name in _PACKAGES:
        (folder / name).mkdir()
        for file in ("__init__.py", "__main__.py"):
            (folder / name / file).write_text(_mark(f"{name}/{file}", marks), encoding="utf-8")


def _mark(name: str, marks: Path) -> str:
    return f"with open({str(marks)!r}, 'a') as marks:\n    marks.write({name + chr(10)!r})\n"


def smallest_of(task: str, folder: Path) -> str:
    """The smallest command of a task, whose inputs are written."""
    smallest = importlib.import_module(f"tasks.{task}.smallest")
    smallest.write(folder)
    return smallest.COMMAND


def write_work(folder: Path) -> None:
    """Writes the inputs of `WORK`."""
    runs.write(folder)
    (folder / "other").write_bytes((folder / "run").read_bytes().replace(b"2.0", b"0.5"))
    (folder / "my_measures.py").write_text(MEASURE, encoding="utf-8")
    (folder / "my_engine.py").write_text(ENGINE, encoding="utf-8")
    (folder / "b.toml").write_text(BENCH, encoding="utf-8")
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n", encoding="utf-8")
    vectors = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
    np.save(folder / "base.npy", vectors)
    np.save(folder / "queries.npy", vectors[:5])


_SEARCH = "knn base.npy queries.npy --neighbours 3 --shards 3 -o found.run"
WORK = {
    "a measure of a file": ["evaluate qrels run -m ./my_measures.py:first"],
    "an executor, here": [f"{_SEARCH} --executor here"],
    "an executor, processes": [f"{_SEARCH} --executor processes:2"],
    "an executor, array": [
        f"{_SEARCH} --executor array --work work",
        *(f"worker work {number}" for number in range(3)),
        f"{_SEARCH} --executor array --work work",
    ],
    "an executor, ray": [f"{_SEARCH} --executor ray --work work"],
    "a bench by processes": ["bench b.toml -o out --executor processes:2 -f csv"],
    "a bench by an executor": ["bench b.toml -o out --executor processes:2 -f csv"],
    "an engine in a process": [
        "engine run ./my_engine.py:search --queries queries.tsv --qrels qrels -m RR --rounds 1 "
        "-o out"
    ],
    "an engine that is checked": ["engine check ./my_engine.py:search -f json"],
    "charts and a page": ["compare qrels run other -o out"],
}
"""Command lines that start processes, or run code of a file, by what they do."""


def outputs(
    folder: Path,
    lines: Sequence[str],
    *,
    by: Sequence[str] = CONSOLE,
    codes: Sequence[int] = (0, 5),
) -> dict[str, bytes]:
    """What command lines in a folder print, and the files that they write, by name. They must end
    with one of the codes.
    """
    before = {path for path in folder.rglob("*") if path.is_file()}
    # What the user's own PYTHONPATH names is imported: the tests' is none.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    } | {"RANKWELL_THREADS": "2"}
    found: dict[str, bytes] = {}
    for number, line in enumerate(lines):
        done = subprocess.run(
            [*by, *shlex.split(line)], cwd=folder, env=environment, capture_output=True, check=False
        )
        assert done.returncode in codes, (line, done.stderr.decode())
        found[f"standard output of {number}"] = done.stdout
    new = [path for path in folder.rglob("*") if path.is_file() and path not in before]
    return found | {path.relative_to(folder).as_posix(): path.read_bytes() for path in new}
