"""Two commands on one work folder at once, in a folder and in a bucket: both finish with the same
bytes, and nothing of either is lost.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import rankwell
from part_jobs import JOBS, files, typed
from rankwell.comparison.parts.cells import PlacedCells
from rankwell.runtime.parts import WorkPlace, place_of, plans
from rankwell.runtime.parts.execution import PartArrays, compute_part
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from rankwell.runtime.parts.vectors import MOST_MERGED, PartGrid, merged_blocks

WORK = {"folder": "work", "bucket": "s3://bucket/work"}


def begun(job: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The words of a job for an output, whose result by one process is in `one`."""
    monkeypatch.chdir(folder)
    words = JOBS[job]()
    shards = words.index("--shards") if "--shards" in words else len(words)
    alone = [*words[:shards], *words[shards + 2 :]]
    assert typed(*(word.format("one") for word in alone))[0] == 0
    return lambda output, *more: [*(word.format(output) for word in words), *more]


@pytest.mark.parametrize("place", WORK)
@pytest.mark.parametrize(
    "job",
    [
        job if job in ("evaluate", "bench") else pytest.param(job, marks=pytest.mark.slow)
        for job in JOBS
    ],
)
def test_two_commands_at_once_finish_with_the_same_bytes(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    job: str,
    place: str,
):
    if place == "bucket":
        request.getfixturevalue("s3")
    words = begun(job, tmp_path, monkeypatch)
    work = WORK[place]

    drivers = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "rankwell"),
                *words(output, "--work", work, "--executor", executor),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for output, executor in (("two", "processes:2"), ("three", "here"))
    ]
    errors = [driver.communicate(timeout=240)[1] for driver in drivers]

    assert [driver.returncode for driver in drivers] == [0, 0], errors
    assert files("two") == files("three") == files("one")
    done = WorkFolder(work, read_plan(work))
    assert not done.missing()
    if place == "folder":
        left = [path.name for path in Path("work").rglob("*") if path.name.startswith(".draft")]
        assert not left
        assert not list(Path("work").rglob(".rankwell.lock"))


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a search, planned and not begun."""
    monkeypatch.chdir(tmp_path)
    np.save("base.npy", np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32))
    with pytest.raises(rankwell.Unfinished):
        search(executor="array")
    return tmp_path


def search(work: str = "work", **options: str) -> bytes:
    result = rankwell.knn(
        queries="base.npy", items="base.npy", neighbours=4, shards=3, work=work, **options
    )
    return result.positions.tobytes() + result.scores.tobytes()


def test_a_plan_that_another_command_has_just_put_is_that_of_both(
    base: Path, monkeypatch: pytest.MonkeyPatch
):
    expected = search()
    probe = plans.probe

    def _late(place: WorkPlace) -> object:
        if not Path("other/plan.json").exists():
            with monkeypatch.context() as patch:
                patch.setattr(plans, "probe", probe)
                search("other")
        return probe(place)

    monkeypatch.setattr(plans, "probe", _late)

    assert search("other") == expected


def test_a_part_that_another_command_computes_meanwhile_stays(base: Path):
    """One command has put the part and not yet its record; another computes it as well."""
    compute_part("work", 1)
    record, part = Path("work/part-00001.json"), Path("work/part-00001.npy")
    number, content = part.stat().st_ino, record.read_bytes()
    record.unlink()

    compute_part("work", 1)
    again = json.loads(record.read_bytes())

    assert part.stat().st_ino == number
    assert again["digest"] == json.loads(content)["digest"]


@pytest.mark.parametrize("name", ["part-00001.npy", "part-00001.json"])
def test_what_is_damaged_is_replaced_and_never_missing(
    base: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    expected = search()
    part = Path("work/part-00001.npy")
    whole = part.read_bytes()
    Path("work", name).write_bytes(Path("work", name).read_bytes()[:-9])

    def _remove(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(WorkFolder, "discard", _remove)

    assert search() == expected
    assert part.read_bytes() == whole


def test_a_process_whose_part_another_one_has_finished_takes_that(base: Path):
    work = WorkFolder("work", read_plan("work"))
    plan = read_plan("work")
    content = plan.kind_of_part.part(plan.part_inputs, 2)
    compute_part("work", 2)
    before = Path("work/part-00002.json").read_bytes()

    record = work.keep(2, content, 1.0, 1.0)

    assert record["digest"] == json.loads(before)["digest"]
    assert Path("work/part-00002.json").read_bytes() == before


def test_two_merges_at_once_write_drafts_of_their_own(tmp_path: Path):
    shards = MOST_MERGED + 2
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{shard}.npy" for shard in range(shards)]
    for shard, path in enumerate(paths):
        positions = np.tile(np.arange(2) + 2 * shard, (3, 1))
        scores = -np.sort(-rng.normal(size=(3, 2)), axis=1)
        np.save(path, np.stack([positions, scores.view(np.int64)]))
    grid = PartGrid([0, 3], [*range(0, 2 * shards + 1, 2)])
    blocks = partial(merged_blocks, grid, paths, tmp_path, 5)

    first, second = blocks(), blocks()
    one, two = next(first), next(second)
    assert [*first] == [*second] == []

    assert one.positions.tobytes() == two.positions.tobytes()
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_an_array_that_two_commands_put_at_once_keeps_its_time(
    base: Path, monkeypatch: pytest.MonkeyPatch
):
    values = np.arange(9)
    address = PartArrays(place_of("work")).keep(values)
    before = Path(address).stat().st_mtime_ns
    os.utime(address, ns=(before - 10**9, before - 10**9))
    other = PartArrays(place_of("work"))
    # The other command has looked before there was an array.
    monkeypatch.setattr(type(other._place), "size", lambda *_: None)

    assert other.keep(values) == address
    assert Path(address).stat().st_mtime_ns == before - 10**9
    other.forget()
    assert Path(address).exists()


def test_a_cell_that_failed_may_be_removed_by_another_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words = [word.format("{}") for word in JOBS["bench"]()]
    monkeypatch.setattr("rankwell.comparison.parts.cells.evaluate_cell", lambda *_: "no luck")
    forget, removed = PlacedCells.forget_failed, list[str]()

    def _forget(cells: PlacedCells) -> None:
        if not removed:
            removed.append("other")
            code, _, error = typed(*(word.format("other") for word in words), "--work", "work")
            assert "no luck" in error, code
        forget(cells)

    monkeypatch.setattr(PlacedCells, "forget_failed", _forget)

    code, _, error = typed(*(word.format("out") for word in words), "--work", "work")

    assert "no luck" in error, code
    assert sorted(path.name for path in Path("work").iterdir()) == ["plan.json"]
    assert files("out").keys() == files("other").keys()
