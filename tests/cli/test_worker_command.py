"""`rankwell worker`: an element of an array finds its number, does its part, and says what is wrong
in one sentence.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from rankwell.cli import main
from rankwell.cli.commands.knn import knn
from rankwell.cli.commands.worker import worker
from rankwell.errors import Unfinished
from rankwell.processes import start_command

VARIABLES = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*VARIABLES, "RANKWELL_PART_OFFSET", "RANKWELL_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    np.save("base.npy", np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32))
    np.save("queries.npy", np.ones((3, 4), dtype=np.float32))
    assert again(tmp_path) == 0
    return tmp_path / "work"


def again(folder: Path, *, overwrite: tuple[str, ...] = ()) -> int:
    """The exit code of the command that wrote the plan."""
    places = str(folder / "base.npy"), str(folder / "queries.npy")
    run = with_fields(knn)
    return run(
        *places,
        neighbours=5,
        output=folder / "found.run",
        executor="array",
        work=str(folder / "work"),
        shards=9,
    ).exit_code


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", "worker", *words])
    return main()


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_number_comes_from_the_job(work: Path, monkeypatch: pytest.MonkeyPatch, variable: str):
    monkeypatch.setenv(variable, "4")

    assert run(monkeypatch, str(work)) == 0

    assert json.loads((work / "part-00004.json").read_text())["part"] == 4


def test_an_offset_is_added_and_a_given_number_counts_alone(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "2")
    monkeypatch.setenv("RANKWELL_PART_OFFSET", "5")

    worker(str(work))
    worker(str(work), 1)

    assert sorted(path.name for path in work.glob("part-*.npy")) == [
        "part-00001.npy",
        "part-00007.npy",
    ]


def test_an_array_ends_with_the_same_command(work: Path):
    for index in (0, 1, 2, 4, 5, 8):
        worker(str(work), index)
    assert again(work.parent) == 5
    assert not (work.parent / "found.run").exists()
    assert "missing  3,6-7\n" in worker(str(work), status=True).text

    for index in (3, 6, 7):
        worker(str(work), index)

    assert again(work.parent) == 0
    assert len((work.parent / "found.run").read_text().splitlines()) == 15


def test_the_status_lists_what_failed_with_its_error_and_what_is_damaged(
    work: Path, monkeypatch: pytest.MonkeyPatch
):
    worker(str(work), 0)
    worker(str(work), 1)
    (work / "part-00001.npy").write_bytes(b"")
    (work.parent / "base.npy").touch()
    assert run(monkeypatch, str(work), "2") == 2

    lines = worker(str(work), status=True).text.splitlines()

    assert lines[:2] == ["parts    9", "done     1"]
    assert [line.partition(":")[0] for line in lines[2:4]] == ["failed   2", "damaged  1"]
    assert "has changed since the plan was written" in lines[2]
    assert "part-00001.npy has 0 bytes, its record says 368" in lines[3]
    assert lines[4] == "missing  1-8"


def test_the_status_counts_the_second_round(tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "runs").mkdir()
    for number, item in enumerate("abc"):
        (tmp_path / "runs" / f"{number}.run").write_text(f"q Q0 {item} 1 {number} t\n")
    given = {"executor": "array", "work": str(tmp_path / "work"), "shards": 3}
    for index in range(3):
        with pytest.raises(Unfinished):
            rankwell.evaluate(tmp_path / "qrels.txt", str(tmp_path / "runs"), **given)
        worker(str(tmp_path / "work"), index)
        assert "second  " not in worker(str(tmp_path / "work"), status=True).text
    with pytest.raises(Unfinished):
        rankwell.evaluate(tmp_path / "qrels.txt", str(tmp_path / "runs"), **given)
    worker(str(tmp_path / "work" / "second"), 1)

    assert worker(str(tmp_path / "work"), status=True).text.endswith(
        "work/second: 1 of 3 done, missing 0,2\n"
    )


def test_several_parts_are_computed_one_after_the_other(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    capsys.readouterr()

    assert run(monkeypatch, str(work), "4", "1") == 0

    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" of ")[0] for line in lines] == ["part 4", "part 1"]
    assert "missing  0,2-3,5-8\n" in worker(str(work), status=True).text


def test_a_process_of_a_driver_leaves_its_error_to_it(work: Path):
    (work.parent / "base.npy").touch()

    with start_command(["worker", str(work), "3", "4"], {}) as process:
        code = process.wait()

    note = json.loads((work / "part-00003.failed.json").read_text())
    assert (code, note["kind"]) == (2, "BadInput")
    assert "has changed since the plan was written" in note["error"]
    assert not (work / "part-00004.failed.json").exists()


@pytest.mark.parametrize(
    ("environment", "words", "message"),
    [
        ({}, ["work"], "the index of a part is missing, and no array job sets SLURM_ARRAY_TASK_ID"),
        ({"SLURM_ARRAY_TASK_ID": "x"}, ["work"], "SLURM_ARRAY_TASK_ID is 'x'; expected an integer"),
        (
            {"SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "2"},
            ["work"],
            "SLURM_ARRAY_TASK_ID is 1 and JOB_COMPLETION_INDEX",
        ),
        ({}, ["work", "9"], "part 9 is outside the plan of work; its parts are 0 to 8"),
        ({}, ["work", "1", "--status"], "--status shows all parts"),
        ({}, ["work", "--status", "--bench", "x.toml"], "--bench has no effect with --status"),
        ({}, ["work", "1", "--threads", "0"], "--threads '0': expected a positive integer"),
        (
            {},
            ["nowhere", "1"],
            "nowhere is not a work folder: it has no plan.json; name the folder that --work made",
        ),
        ({}, ["nowhere"], "nowhere is not a work folder: it has no plan.json"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_exit_code_2(
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    environment,
    words,
    message,
):
    capsys.readouterr()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert run(monkeypatch, *words) == 2

    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not list(work.glob("part-*"))
