"""Cells as parts: the files of one process with every executor, after every interruption, and the
same errors of cells.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankwell
from benches import RUNS_ALONE, make_bench
from rankwell import cli
from rankwell.comparison.parts.cells import PlacedCells
from rankwell.errors import BadInput, BadUsage, Unfinished, UnknownName
from rankwell.reporting import charts
from rankwell.runtime.parts import KINDS
from rankwell.runtime.parts.execution import compute_part
from ray_cluster import part_workers_of, wait_for

DRAW = charts.draw_all
"""The bench with the first data set alone."""


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(autouse=True, scope="module")
def no_pictures() -> Iterator[None]:
    """Charts are most of the time, and none of what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rankwell.reporting.charts.draw_all",
            lambda specs: [charts.Picture(b"", "") for _ in specs],
        )
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a bench of all protocols, evaluated into `one`; not to be changed."""
    file = make_bench(tmp_path_factory.mktemp("bench") / "inputs")
    assert not rankwell.bench(file, file.parent.parent / "one").failed
    return file


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The file of a bench with two cells, evaluated into `one`."""
    file = make_bench(tmp_path / "inputs", RUNS_ALONE)
    rankwell.bench(file, tmp_path / "one")
    return file


def content(folder: Path) -> dict[str, Any]:
    """The files of results; of costs, which are measured, only that they are there."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
            if path.name == "manifest.json":
                listed = json.loads(path.read_bytes())
                listed["files"] = {
                    name: name if name == "performance.json" else each
                    for name, each in listed["files"].items()
                }
                found[path.relative_to(folder).as_posix()] = json.dumps(listed)
            if path.name == "performance.json":
                found[path.relative_to(folder).as_posix()] = sorted(json.loads(path.read_bytes()))
    return found


def typed(*arguments: Any) -> tuple[int, str, str]:
    """What a user sees who types this: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr("sys.argv", ["rankwell", *map(str, arguments)])
        code = cli.main()
    return code, out.getvalue(), err.getvalue()


# ---- the bytes of one process
# ---------------------------------------------------------------------------------------------


def test_cells_as_parts_give_the_files_of_one_process(whole: Path, tmp_path: Path):
    result = rankwell.bench(whole, tmp_path / "parts", executor="here", work=str(tmp_path / "work"))

    assert not result.failed
    assert content(tmp_path / "parts") == content(whole.parent.parent / "one")
    assert len(list((tmp_path / "work").glob("part-*.tar"))) == len(result.cells) == 12
    assert KINDS["cells"].name == "cells"


def test_processes_give_the_files_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Other processes draw their charts.
    monkeypatch.setattr("rankwell.reporting.charts.draw_all", DRAW)
    file = make_bench(tmp_path / "inputs", RUNS_ALONE + "[table]\npages = true\n")
    rankwell.bench(file, tmp_path / "one")

    rankwell.bench(file, tmp_path / "parts", executor="processes:2")

    assert content(tmp_path / "parts") == content(tmp_path / "one")


def test_an_array_evaluates_and_the_same_command_goes_on(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words = (
        "bench",
        whole,
        "-o",
        "parts",
        "--executor",
        "array",
        "--work",
        "work",
        "--memory",
        "1G",
    )
    code, out, err = typed(*words)
    assert (code, "work has the plan of 12 parts" in err) == (0, True)
    assert "sbatch --array=0-11 --cpus-per-task=" in out
    assert "--mem=2048M" in out
    assert not (tmp_path / "parts").exists()

    for index in {*range(12)} - {3, 8}:
        assert typed("worker", "work", index)[0] == 0
    code, out, err = typed(*words)
    assert (code, "2 of 12 parts are missing: 3,8" in err) == (5, True)
    assert "sbatch --array=3,8 " in out
    with pytest.raises(
        Unfinished, match=r"2 of 12 parts are missing: 3,8(.|\n)*sbatch --array=3,8 "
    ):
        rankwell.bench(whole, "parts", executor="array", work="work", memory="1G")

    for index in (3, 8):
        compute_part(tmp_path / "work", index)
    assert typed(*words)[0] == 0
    assert content(tmp_path / "parts") == content(whole.parent.parent / "one")


def bench_with_code(folder: Path) -> Path:
    """A bench of one cell, whose measure is code of a file beside it."""
    folder.mkdir()
    (folder / "qrels").write_text("q1 0 d1 1\n")
    (folder / "run").write_text("q1 Q0 d1 1 2.0 r\n")
    (folder / "my_measures.py").write_text(
        "def named_by_a_bench(view):\n    return view.n_relevant(1)\n"
    )
    file = folder / "b.toml"
    file.write_text(
        "[[dataset]]\nname = 'd'\ncommand = 'evaluate'\nqrels = 'qrels'\nruns = 'run'\n"
        "measure = ['./my_measures.py:named_by_a_bench']\n[[system]]\nname = 's'\n"
    )
    return file


def test_a_part_runs_code_only_where_its_own_command_line_names_the_bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = bench_with_code(tmp_path / "inputs")
    monkeypatch.chdir(tmp_path)
    words = ("bench", file, "-o", "parts", "--executor", "array", "--work", "work")

    assert f"rankwell worker work --bench {file} --threads" in typed(*words)[1]
    code, _, err = typed("worker", "work", 0)
    assert code == 2
    assert (
        "'./my_measures.py:named_by_a_bench' is code: the plan in work names it; repeat that "
        "file, --bench " in err
    )
    assert typed("worker", "work", 0, "--bench", file.with_name("other.toml"))[0] == 2
    assert typed(*words)[0] == 5

    assert typed("worker", "work", 0, "--bench", "inputs/b.toml")[0] == 0
    assert typed(*words)[0] == 0
    assert "named_by_a_bench" in (tmp_path / "parts" / "d" / "s" / "summary.csv").read_text()


def test_a_part_of_other_work_takes_no_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.save("base.npy", np.eye(4, dtype=np.float32))
    typed(
        "knn",
        "base.npy",
        "base.npy",
        "--neighbours",
        "2",
        "-o",
        "found.run",
        "--executor",
        "array",
        "--work",
        "work",
    )

    assert (
        "the plan in work names no experiment file; leave it out."
        in typed("worker", "work", 0, "--bench", "b.toml")[2]
    )
    assert typed("worker", "work", 0)[0] == 0


@pytest.mark.parametrize("executor", ["here", "processes:2"])
def test_executors_run_the_code_that_a_bench_names_and_its_bytes_count(
    tmp_path: Path, executor: str
):
    file = bench_with_code(tmp_path / "inputs")

    assert not rankwell.bench(file, tmp_path / "parts", executor=executor).failed
    (file.parent / "my_measures.py").write_text(
        "def named_by_a_bench(view):\n    return view.n_relevant(1) / 2\n"
    )
    again = rankwell.bench(file, tmp_path / "parts", executor=executor)

    assert [each.status for each in again.cells] == ["done"]
    assert [each.plan.why for each in again.cells] == [("input changed: my_measures.py",)]


@pytest.mark.slow
@pytest.mark.server
def test_ray_gives_the_files_of_one_process(tmp_path: Path):
    pytest.importorskip("ray")
    file = make_bench(tmp_path / "inputs", RUNS_ALONE)
    line = [sys.executable, "-m", "rankwell", "bench", str(file), "-o"]
    subprocess.run([*line, str(tmp_path / "one")], check=True, capture_output=True)

    # Ray reads its environment when it is imported.
    words = ["--executor", "ray", "--memory", "64M", "--work", str(tmp_path / "work")]
    done = subprocess.run(
        [*line, str(tmp_path / "parts"), *words], capture_output=True, encoding="utf-8"
    )

    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "parts") == content(tmp_path / "one")


# ---- interruptions
# --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="kills a process by its number")
def test_a_killed_worker_costs_its_part(tmp_path: Path):
    file, work = make_bench(tmp_path / "inputs", RUNS_ALONE), tmp_path / "work"
    line = [sys.executable, "-m", "rankwell", "bench", str(file), "-o"]
    driver = subprocess.Popen(
        [*line, str(tmp_path / "parts"), "--executor", "processes:2", "--work", str(work)],
        stderr=subprocess.PIPE,
    )
    os.kill(wait_for(lambda: part_workers_of(driver.pid))[0], signal.SIGKILL)
    _, error = driver.communicate(timeout=240)

    assert driver.returncode == 0, error.decode()
    subprocess.run([*line, str(tmp_path / "one")], check=True, capture_output=True)
    assert content(tmp_path / "parts") == content(tmp_path / "one")


def test_the_same_call_goes_on_where_a_killed_one_had_placed_cells(runs: Path, tmp_path: Path):
    def stop(name: str, done: int, total: int) -> None:
        if name == "cells" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rankwell.bench(runs, tmp_path / "parts", work=str(tmp_path / "work"), progress=stop)
    assert [path.parent.name for path in (tmp_path / "parts").rglob("cell.json")] == ["low"]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("part-*")}

    assert (
        rankwell.bench(runs, tmp_path / "parts", work=str(tmp_path / "work")).status
        == "1 of 2 cells evaluated"
    )

    assert {
        path.name: path.stat().st_mtime_ns for path in (tmp_path / "work").glob("part-*")
    } == before
    assert content(tmp_path / "parts") == content(tmp_path / "one")


def test_a_damaged_part_is_made_again(runs: Path, tmp_path: Path):
    rankwell.bench(runs, tmp_path / "first", work=str(tmp_path / "work"))
    whole = (tmp_path / "work/part-00001.tar").read_bytes()
    (tmp_path / "work/part-00001.tar").write_bytes(whole[:-512])

    rankwell.bench(runs, tmp_path / "parts", work=str(tmp_path / "work"))

    assert (tmp_path / "work/part-00001.tar").read_bytes() == whole
    assert content(tmp_path / "parts") == content(tmp_path / "one")


def test_cells_that_are_done_need_no_parts(runs: Path, tmp_path: Path):
    assert (
        rankwell.bench(runs, tmp_path / "one", executor="array", work=str(tmp_path / "work")).status
        == "0 of 2 cells evaluated"
    )

    assert not (tmp_path / "work").exists()


def test_a_cell_replaces_the_result_of_another_recipe_and_leaves_files_of_others(
    runs: Path, tmp_path: Path
):
    (runs.parent / "runs/low.run").write_bytes(
        (runs.parent / "runs/high.run").read_bytes().replace(b"q00 ", b"q01 ", 1)
    )
    (tmp_path / "one/runs/low/own.txt").write_text("mine")
    shutil.copytree(tmp_path / "one", tmp_path / "parts")
    first = rankwell.bench(runs, tmp_path / "one")

    second = rankwell.bench(runs, tmp_path / "parts", work=str(tmp_path / "work"))

    assert (
        [each.status for each in first.cells]
        == [each.status for each in second.cells]
        == ["failed", "kept"]
    )
    (runs.parent / "runs/low.run").write_bytes(
        (runs.parent / "runs/high.run").read_bytes().replace(b"q00 ", b"q99 ")
    )
    rankwell.bench(runs, tmp_path / "one")
    rankwell.bench(runs, tmp_path / "parts", work=str(tmp_path / "other"))
    assert content(tmp_path / "parts") == content(tmp_path / "one")
    assert (tmp_path / "parts/runs/low/own.txt").read_text() == "mine"


# ---- errors
# --------------------------------------------------------------------------------------------------


def test_a_cell_that_fails_is_named_and_tried_again(runs: Path, tmp_path: Path):
    (runs.parent / "runs" / "low.run").write_text("q00 Q0 d0 1 nan x\n")
    shutil.copytree(tmp_path / "one", tmp_path / "parts")
    one = rankwell.bench(runs, tmp_path / "one", overwrite=True)
    words = (
        "bench",
        runs,
        "-o",
        tmp_path / "parts",
        "--overwrite",
        "--executor",
        "here",
        "--work",
        tmp_path / "work",
    )

    code, out, err = typed(*words)

    assert (code, "runs/low failed: runs/low.run:1: " in err) == (2, True)
    assert one.failed[0].error.startswith("runs/low.run:1: ")
    assert content(tmp_path / "parts") == content(tmp_path / "one")
    # The part of the other cell stays.
    assert [path.name for path in (tmp_path / "work").glob("*.tar")] == ["part-00001.tar"]
    assert typed(*words)[:2] == (code, out)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"executor": "heer"}, UnknownName, "did you mean 'here'"),
        ({"executor": "array"}, BadUsage, "needs work: a folder that all machines see"),
        ({"memory": "much"}, BadUsage, "expected a size such as 500M or 8G"),
    ],
)
def test_options_of_parts_that_make_no_sense_are_refused(
    runs: Path, tmp_path: Path, options: Any, kind: Any, message: str
):
    with pytest.raises(kind, match=message):
        rankwell.bench(runs, tmp_path / "parts", **options)

    assert not (tmp_path / "parts").exists()


def test_a_dry_run_refuses_what_the_run_would_refuse(runs: Path):
    for words, message in (
        (["--executor", "nonsense"], "nonsense"),
        (["--gpus", "1"], "uses the GPUs that it sees"),
        (["--executor", "here", "--memory", "1G"], "leave it out"),
    ):
        code, out, err = typed("bench", runs, "--dry-run", *words)
        assert (code, out) == (2, "")
        assert message in err


@pytest.fixture
def planned(runs: Path, tmp_path: Path) -> Path:
    """A work folder with the plan of one of two cells."""
    with pytest.raises(Unfinished):
        rankwell.bench(
            runs, tmp_path / "parts", executor="array", work=str(tmp_path / "work"), only=["*/low"]
        )
    return tmp_path / "work"


def test_a_plan_of_other_work_is_refused_with_what_differs(
    runs: Path, planned: Path, tmp_path: Path
):
    low = runs.parent / "runs/low.run"
    for options, message in (
        (
            {},
            r"work has no part for runs/high, which is to be evaluated now; name another work "
            r"folder",
        ),
        (
            {"only": ["runs/low"]},
            r"holds the plan of other work: only was \['\*/low'\], is \['runs/low'\]",
        ),
        (
            {"only": ["*/low"], "overwrite": True},
            r"holds the plan of other work: overwrite was False, is True",
        ),
    ):
        with pytest.raises(BadUsage, match=message):
            rankwell.bench(runs, tmp_path / "parts", work=str(planned), **options)
    low.write_bytes(low.read_bytes().replace(b"q00 ", b"q99 "))

    with pytest.raises(
        BadUsage,
        match=r"plan of other work: runs/low: input changed: runs/low\.run; name another work "
        r"folder",
    ):
        rankwell.bench(runs, tmp_path / "parts", work=str(planned), only=["*/low"])
    with pytest.raises(
        BadInput, match=r"low\.run has changed since the plan was written \(modified"
    ):
        compute_part(planned, 0)


def test_a_part_finds_what_its_files_do_not_show(runs: Path, planned: Path):
    low, plan = runs.parent / "runs/low.run", json.loads((planned / "plan.json").read_bytes())
    times = low.stat()
    low.write_bytes(low.read_bytes().replace(b"q00 ", b"q99 "))
    os.utime(low, ns=(times.st_atime_ns, plan["inputs"]["runs/low.run"]["modified"]))

    with pytest.raises(
        BadInput,
        match=r"runs/low: input changed: runs/low\.run since the plan was written; restore it",
    ):
        compute_part(planned, 0)


def test_an_archive_that_is_not_a_result_is_refused(tmp_path: Path, runs: Path):
    planned = rankwell.bench(runs, tmp_path / "one", only=["*/low"]).cells[0].plan
    for names in (["../outside"], ["manifest.json", "../outside"], ["manifest.json"]):
        file = tmp_path / "part-00000.tar"
        listed = json.dumps({"files": dict.fromkeys(["../outside"], "")}).encode()
        with tarfile.open(file, "w") as archive:
            for name in names:
                entry = tarfile.TarInfo(name)
                entry.size = len(listed)
                archive.addfile(entry, io.BytesIO(listed))
        with pytest.raises(BadInput, match=r"part-00000\.tar is not the result of a cell"):
            list(PlacedCells({planned.cell.name: file}, {}, tmp_path).evaluate([planned], None))
        assert (planned.folder / "cell.json").exists()
    file.write_bytes(b"no archive")
    with pytest.raises(BadInput, match="is not the result of a cell"):
        list(PlacedCells({planned.cell.name: file}, {}, tmp_path).evaluate([planned], None))
