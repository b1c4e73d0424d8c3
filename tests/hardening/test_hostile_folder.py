"""Nothing in the working directory is imported, by no command and no process that it starts, and
outputs are as elsewhere.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import rankwell
from contracts.test_tasks import TASKS
from hardening.hostile_folder import (
    CONSOLE,
    SAFE_MODULE,
    WORK,
    make_hostile,
    outputs,
    smallest_of,
    write_work,
)
from rankwell.data.catalogue import command_summaries
from rankwell.startup import SAFE_PATH
from regression import cases

DAILY = {"a measure of a file", "an executor, processes"}
VOLATILE = {
    "an engine in a process": ("out/run.parquet",),
    "an executor, ray": ("found.run",),
    "engine": ("out/run.parquet",),
}
"""The files to compare of commands of which others hold times."""


def marked(names: Sequence[str], daily: set[str]) -> list[object]:
    return [
        pytest.param(name, marks=[] if name in daily else [pytest.mark.slow], id=name)
        for name in names
    ]


def compared(
    tmp_path: Path,
    write: Callable[[Path], Sequence[str]],
    by: Sequence[str],
    names: Sequence[str] = (),
) -> dict[str, bytes]:
    """What lines give in a hostile folder, after it is compared with a clean one. names: of files
    to compare, () for all.
    """
    found: list[dict[str, bytes]] = []
    for kind in ("clean", "hostile"):
        folder = tmp_path / kind / "data"
        folder.mkdir(parents=True)
        lines = write(folder)
        if kind == "hostile":
            make_hostile(folder, tmp_path / "marks")
        found.append(outputs(folder, lines, by=by))
    clean, hostile = (
        {name: each[name] for name in names or each if not name.startswith("work/")}
        for each in found
    )
    assert hostile == clean
    return hostile


@pytest.mark.parametrize("by", [CONSOLE, SAFE_MODULE], ids=["console", "module"])
@pytest.mark.parametrize("task", marked(sorted(TASKS), {"runs"}))
def test_the_smallest_command_of_a_task_imports_nothing_beside_its_data(
    task: str, by: Sequence[str], tmp_path: Path
):
    names = VOLATILE.get(task, ())

    assert compared(
        tmp_path,
        lambda folder: [smallest_of(task, folder) + (" -o out" if names else "")],
        by,
        names,
    )
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("by", [CONSOLE, SAFE_MODULE], ids=["console", "module"])
@pytest.mark.parametrize("work", marked([*WORK], DAILY))
def test_processes_that_a_command_starts_import_nothing_beside_its_data(
    work: str, by: Sequence[str], tmp_path: Path
):
    if "ray" in work:
        pytest.importorskip("ray")

    def _write(folder: Path) -> Sequence[str]:
        write_work(folder)
        return WORK[work]

    assert compared(tmp_path, _write, by, VOLATILE.get(work, ()))
    assert not (tmp_path / "marks").exists()


COMMANDS = [" ".join(words) for words in command_summaries()]
ONLY_HELP = {command for command in COMMANDS if command.startswith("demo ")} | {"judge label"}
"""Commands that take long or serve a page."""


@pytest.fixture(scope="module")
def regression_folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The inputs of the regression cases in a clean folder and in a hostile one."""
    clean, hostile = (tmp_path_factory.mktemp(kind) / "data" for kind in ("clean", "hostile"))
    clean.mkdir()
    cases.build(clean)
    shutil.copytree(clean, hostile, symlinks=True)
    make_hostile(hostile, hostile.parent / "marks")
    return clean, hostile


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_nothing_beside_its_data(
    command: str, regression_folders: tuple[Path, Path]
):
    clean, hostile = regression_folders
    named = (
        line.partition("\n")[0] for line in cases.LINES.values() if line.startswith(f"{command} ")
    )
    words = shlex.split(
        f"{command} --help" if command in ONLY_HELP else next(named, f"{command} --help")
    )

    here, there = (
        subprocess.run(
            [*CONSOLE, *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        for folder in (clean, hostile)
    )

    varying = re.compile(
        rb"[\d.]+ (ms|s)\b|"
        + b"|".join(re.escape(os.fsencode(folder)) for folder in regression_folders)
    )
    assert (there.returncode, varying.sub(b"", there.stderr)) == (
        here.returncode,
        varying.sub(b"", here.stderr),
    )
    assert not (hostile.parent / "marks").exists()


def test_the_marks_are_left_where_something_is_imported(tmp_path: Path):
    make_hostile(tmp_path, tmp_path / "marks")
    environment = {name: value for name, value in os.environ.items() if name != SAFE_PATH}

    subprocess.run(
        [sys.executable, "-c", "import random, struct"], cwd=tmp_path, env=environment, check=False
    )

    assert {"random", "struct"} <= set((tmp_path / "marks").read_text().split())


def test_python_m_finds_rankwell_alone_in_the_working_directory(tmp_path: Path):
    folder = tmp_path / "data"
    folder.mkdir()
    make_hostile(folder, tmp_path / "marks")
    (folder / "rankwell").rename(folder / "other")
    (
        folder / "runpy.py"
    ).unlink()  # what Python itself imports to run a module comes before rankwell
    line = smallest_of("runs", folder)

    outputs(folder, [line], by=(sys.executable, "-m", "rankwell"))

    assert not (tmp_path / "marks").exists()


SCRIPT = """
import rankwell as rw

if __name__ == "__main__":
    rw.knn(items="base.npy", queries="queries.npy", neighbours=3, executor="processes:2", shards=3)
    rw.bench("b.toml", output="out", executor="processes:2")
    rw.evaluate_engine("./my_engine.py:search", {"q1": "one"}, qrels={"q1": {"d1": 1}}, measures="RR", rounds=1)
"""  # noqa: E501


@pytest.mark.slow
def test_processes_of_a_script_elsewhere_import_nothing_from_the_working_directory(tmp_path: Path):
    folder = tmp_path / "data"
    folder.mkdir()
    write_work(folder)
    make_hostile(folder, tmp_path / "marks")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    root = str(Path(rankwell.__file__).resolve().parents[1])

    subprocess.run(
        [sys.executable, "../script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        check=True,
    )

    assert not (tmp_path / "marks").exists()
