"""A real full disk in the middle of work in parts: one sentence, nothing half-written, and with
more space the same bytes.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from part_jobs import benched
from rankwell.cli import main
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards

PAGE = 4096


class Disk:
    """A file system of its own in memory, of as many bytes as the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, size: int, *words: str) -> None:
        """Mounts it, or with the word `remount` gives it another size. Skips the test where that is
        not permitted.
        """
        options = ",".join([*words, f"size={size}"])
        self.folder.mkdir(exist_ok=True)
        try:
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)],
                capture_output=True,
                encoding="utf-8",
            )
        except FileNotFoundError:
            pytest.skip("there is no mount here")
        if done.returncode:
            pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.chdir(tmp_path)
    found = Disk(tmp_path / "disk")
    yield found
    if found.folder.is_mount():
        subprocess.run(["umount", str(found.folder)], check=True, capture_output=True)


def searched() -> list[str]:
    random = np.random.default_rng(0)
    np.save("base.npy", random.integers(-9, 9, size=(3000, 8)).astype(np.float32))
    np.save("queries.npy", random.normal(size=(200, 8)).astype(np.float32))
    return [
        "knn",
        "base.npy",
        "queries.npy",
        "--neighbours",
        "50",
        "--metric",
        "l2",
        "--shards",
        "7",
        "-o",
        "{}/found.hdf5",
    ]


def captioned() -> list[str]:
    random = np.random.default_rng(1)
    np.save("captions.npy", random.integers(1, 4, size=(400, 5)).astype(np.float32))
    np.save("videos.npy", random.integers(1, 4, size=(80, 5)).astype(np.float32))
    Path("positives.json").write_text(json.dumps([[caption % 80] for caption in range(400)]))
    tables = [
        "--query-vectors",
        "captions.npy",
        "--item-vectors",
        "videos.npy",
        "--qrels",
        "positives.json",
    ]
    return [
        "crossmodal",
        *tables,
        "--direction",
        "t2v,v2t,v2t-videos",
        "--shards",
        "3",
        "-o",
        "{}/found",
    ]


def agreed() -> list[str]:
    random = np.random.default_rng(2)
    for name, dimensions in (("big", 6), ("small", 4)):
        np.save(f"{name}.npy", random.integers(1, 9, size=(600, dimensions)).astype(np.float32))
    return [
        "embeddings",
        "--reference",
        "big.npy",
        "small.npy",
        "--samples",
        "300",
        "-k",
        "10",
        "--shards",
        "3",
        "-o",
        "{}/found",
    ]


def evaluated() -> list[str]:
    write_judgments(Path("qrels.txt"))
    write_shards(Path("run"), ".run", scattered(rows_of()))
    return ["evaluate", "qrels.txt", "run", "-m", "nDCG@10", "--shards", "7", "-o", "{}/found"]


def encoded() -> list[str]:
    Path("texts.jsonl").write_text(
        "".join(
            f'{{"_id": "{row}", "text": "a word{row % 61} word{row % 47}"}}\n' for row in range(250)
        )
    )
    model = ["--encoder", "tfidf-svd:40", "--fit", "texts.jsonl", "--batch-size", "1"]
    return ["encode", "texts.jsonl", *model, "--shards", "7", "-o", "{}/found.npy"]


JOBS: dict[str, Callable[[], list[str]]] = {
    "knn": searched,
    "crossmodal": captioned,
    "embeddings": agreed,
    "evaluate": evaluated,
    "encode": encoded,
    "bench": benched,
}


def run(words: list[str], output: str, work: Path, *more: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sys.argv",
            ["rankwell", *(word.format(output) for word in words), "--work", str(work), *more],
        )
        return main()


def content(folder: str) -> dict[str, bytes]:
    """The files of an output by their names."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def done(work: Path) -> dict[str, int]:
    """The parts that are whole in all rounds, each with the number of its file."""
    folders = [work, *(path.parent for path in work.glob("second/plan.json"))]
    return {
        f"{folder.name} {index}": (folder / record["file"]).stat().st_ino
        for folder in folders
        if (folder / "plan.json").exists()
        for index, record in WorkFolder(folder, read_plan(folder)).states().done.items()
    }


def used(work: Path) -> int:
    return sum(-(-path.stat().st_size // PAGE) * PAGE for path in work.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize(
    "job",
    [
        pytest.param(
            job, marks=pytest.mark.server if job in ("crossmodal", "embeddings", "bench") else []
        )
        for job in JOBS
    ],
)
def test_work_goes_on_when_there_is_space_again(
    disk: Disk, capsys: pytest.CaptureFixture[str], job: str
):
    words = JOBS[job]()
    assert run(words, "one", Path("work")) == 0
    capsys.readouterr()
    disk.mount(used(Path("work")) * 6 // 10)
    work = disk.folder / "work"

    code, error = run(words, "two", work), capsys.readouterr().err
    before, outputs = done(work), content("two")
    drafts = [path.name for path in work.rglob("*draft*")]
    disk.mount(64 << 20, "remount")
    again = run(words, "two", work)
    after = done(work)

    assert (code, again) == (2, 0), error
    assert error.splitlines()[-1].startswith("rankwell: ")
    assert "No space left on device; free some space, and run the command again." in error
    assert len(error.splitlines()) == 1
    assert not outputs
    assert not drafts
    assert before
    assert len(before) < len(after)
    assert {part: after[part] for part in before} == before
    assert content("two") == content("one")


@pytest.mark.slow
@pytest.mark.parametrize("job", ["knn", "crossmodal"])
def test_a_disk_without_room_for_the_plan_is_one_sentence_and_stays_as_it_was(
    disk: Disk, capsys: pytest.CaptureFixture[str], job: str
):
    words = JOBS[job]()
    disk.mount(PAGE)
    (disk.folder / "other").write_bytes(b"x" * PAGE)

    code, error = run(words, "two", disk.folder / "work"), capsys.readouterr().err

    assert code == 2
    assert error.startswith(f"rankwell: {disk.folder}")
    assert error.endswith("No space left on device; free some space, and run the command again.\n")
    assert [path.name for path in disk.folder.rglob("*") if path.is_file()] == ["other"]


@pytest.mark.slow
@pytest.mark.server
def test_a_full_disk_ends_the_processes_of_a_search(disk: Disk):
    words = searched()
    assert run(words, "one", Path("work")) == 0
    disk.mount(used(Path("work")) * 6 // 10)
    every = [word.format("two") for word in words]
    command = [
        sys.executable,
        "-m",
        "rankwell",
        *every,
        "--work",
        str(disk.folder / "work"),
        "--executor",
        "processes:2",
    ]

    full = subprocess.run(command, capture_output=True, encoding="utf-8")
    before = done(disk.folder / "work")
    disk.mount(64 << 20, "remount")
    again = subprocess.run(command, capture_output=True, encoding="utf-8")

    assert (full.returncode, again.returncode) == (2, 0), full.stderr + again.stderr
    assert "No space left on device; free some space" in full.stderr
    assert before.items() <= done(disk.folder / "work").items()
    assert content("two") == content("one")
