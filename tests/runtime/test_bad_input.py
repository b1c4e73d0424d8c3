"""Bad input of work in parts, one table for all kinds: what is wrong, the exit code and the
sentence; nothing is half-written.
"""

import contextlib
import errno
import json
import os
import platform
import re
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import rankwell
from part_jobs import JOBS, ROWS, files, typed


class Room:
    """A folder with the inputs of a job, its finished work and its output, which every case gets
    anew.
    """

    def __init__(self, folder: Path, job: str) -> None:
        self.folder, self._saved = folder, folder.with_name(f"{folder.name}-saved")
        folder.mkdir()
        with contextlib.chdir(folder):
            self.words = self._words = JOBS[job]()
            code, error = self.run("one")
        assert code == 0, error
        shutil.copytree(folder, self._saved)

    def renew(self) -> None:
        """Everything as it was, times included, which plans know."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._saved, self.folder)
        self.words = list(self._words)

    def run(self, output: str, *more: str) -> tuple[int, str]:
        """The job's command: exit code, and standard error."""
        return typed(*(word.format(output) for word in self.words), "--work", "work", *more)[::2]

    @property
    def suffix(self) -> str:
        """That of files of parts."""
        return next(
            path.suffix for path in Path("work").glob("part-00001.*") if path.suffix != ".json"
        )

    @property
    def parts(self) -> int:
        """Number of parts."""
        return json.loads(Path("work/plan.json").read_text())["parts"]

    @property
    def part(self) -> Path:
        """The file of part 1."""
        return Path(f"work/part-00001{self.suffix}")


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Room]:
    made: dict[str, Room] = {}

    def _room(job: str) -> Room:
        if job not in made:
            made[job] = Room(tmp_path_factory.mktemp("bad") / job, job)
        made[job].renew()
        return made[job]

    return _room


@pytest.fixture
def room(rooms: Callable[[str], Room], job: str, monkeypatch: pytest.MonkeyPatch) -> Room:
    found = rooms(job)
    monkeypatch.chdir(found.folder)
    return found


def expect_one_sentence(code: int, error: str, sentence: str) -> None:
    """Exit code 2, the sentence alone, no output, and no unfinished file."""
    assert code == 2, error
    assert re.search(sentence, error), error
    assert len(error.splitlines()) == 1
    assert error.startswith("rankwell: ")
    assert not Path("two").exists() or not files("two")
    assert not [path for path in Path().rglob(".*") if path.is_file()]


def jobs(*marks: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Search every day, the others with these marks: most of what is tested is the same code."""
    return pytest.mark.parametrize(
        "job", [pytest.param(job, marks=[] if job == "knn" else marks) for job in JOBS]
    )


every_job, every_job_in_full = jobs(pytest.mark.slow), jobs(pytest.mark.slow, pytest.mark.server)


# ---- parts that are not what they were: made again, or listed as missing
# ---------------------------------------------------


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def without_record(room: Room) -> None:
    room.part.with_suffix(".json").unlink()


DAMAGE: dict[str, tuple[Callable[[Room], object], str]] = {
    "missing": (lambda room: room.part.unlink(), r"part-00001\S+ is missing"),
    "empty": (
        lambda room: room.part.write_bytes(b""),
        r"part-00001\S+ has 0 bytes, its record says \d+",
    ),
    "shortened": (
        lambda room: os.truncate(room.part, 100),
        r"part-00001\S+ has 100 bytes, its record says \d+",
    ),
    "changed": (lambda room: flip(room.part), r"part-00001\S+ is not what its record says"),
    "renamed": (lambda room: room.part.rename("part-00001"), r"part-00001\S+ is missing"),
    "without record": (without_record, ""),
    "half a record": (
        lambda room: os.truncate(room.part.with_suffix(".json"), 30),
        r"part-00001\.json is damaged",
    ),
    "changed, without record": (lambda room: (flip(room.part), without_record(room)), ""),
}


@every_job_in_full
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_listed_for_an_array(room: Room, damage: str):
    breaks, why = DAMAGE[damage]
    breaks(room)

    code, error = room.run("two", "--executor", "array")

    assert code == 5, error
    assert re.search(
        rf"1 of {room.parts} parts is missing: 1; submit it, then run this command again", error
    )
    assert not why or re.search(f"part 1 is damaged: {why}", error), error
    assert not Path("two").exists()


@every_job_in_full
@pytest.mark.parametrize(
    "damage",
    [pytest.param(each, marks=[] if each == "changed" else pytest.mark.slow) for each in DAMAGE],
)
def test_a_damaged_part_is_made_again(room: Room, damage: str):
    DAMAGE[damage][0](room)
    names = sorted(path.name for path in Path("work").iterdir() if path.name.startswith("part-"))

    code, error = room.run("two")

    assert code == 0, error
    assert files("two") == files("one")
    assert (
        len(names)
        <= len([path for path in Path("work").iterdir() if path.name.startswith("part-")])
        == 2 * room.parts
    )


# ---- work folders that are not those of the command
# ------------------------------------------------------------------------


def foreign(room: Room) -> None:
    """A part of another plan of as many parts."""
    record = json.loads(room.part.with_suffix(".json").read_text())
    room.part.with_suffix(".json").write_text(json.dumps({**record, "plan": "0123456789abcdef"}))


def other_number(_: Room) -> None:
    Path("work/part-00001.json").write_bytes(Path("work/part-00000.json").read_bytes())


def other_version(_: Room) -> None:
    plan = Path("work/plan.json")
    plan.write_text(
        plan.read_text().replace(f'"rankwell": "{rankwell.__version__}"', '"rankwell": "9.9"')
    )


def touched(_: Room) -> None:
    """An input of every job with another time."""
    path = next(
        path
        for path in sorted(Path().rglob("*"))
        if path.suffix in (".npy", ".txt", ".jsonl") and "one" not in path.parts
    )
    os.utime(path, ns=(1, 1))


class Refused(NamedTuple):
    """A row of the table. breaks: how. sentence: that is expected."""

    breaks: Callable[[Room], object]
    sentence: str


FOLDERS: dict[str, Refused] = {
    "a foreign part": Refused(
        foreign, r"work/part-00001\.json is part 1 of another plan; remove it and part-00001"
    ),
    "the record of another part": Refused(
        other_number, r"work/part-00001\.json is the record of part 0; remove it"
    ),
    "a part beyond the plan": Refused(
        lambda room: Path(f"work/part-00077{room.suffix}").write_bytes(b"x"),
        r"part-00077\.\w+ is not a part of this plan",
    ),
    "a part by another name": Refused(
        lambda room: room.part.rename(f"work/part-1{room.suffix}"),
        r"part-1\.\w+ is not a part of this plan",
    ),
    "a damaged plan": Refused(lambda _: os.truncate("work/plan.json", 40), r"plan\.json"),
    "an empty plan": Refused(lambda _: os.truncate("work/plan.json", 0), r"plan\.json"),
    "a plan of another version": Refused(
        other_version, r"the plan is of rankwell 9\.9, this is .*; install the same version"
    ),
    "no plan, but other files": Refused(
        lambda _: Path("work/plan.json").unlink(), r"work has no plan, but other files"
    ),
    "an input that has changed": Refused(
        touched, r" has changed \(modified|since the plan was written"
    ),
}


@every_job_in_full
@pytest.mark.parametrize("case", FOLDERS)
@pytest.mark.parametrize("executor", ["here", "array"])
def test_a_folder_of_other_work_is_one_sentence_and_stays_as_it_was(
    room: Room, case: str, executor: str
):
    FOLDERS[case].breaks(room)
    before = files("work")

    code, error = room.run("two", "--executor", executor)

    expect_one_sentence(code, error, FOLDERS[case].sentence)
    assert files("work") == before


@every_job
def test_an_index_outside_the_plan_is_one_sentence(room: Room):
    before = files("work")

    for index in (room.parts, 10**9):
        code, _, error = typed("worker", "work", str(index))
        expect_one_sentence(
            code,
            error,
            rf"part {index} is outside the plan of work; its parts are 0 to {room.parts - 1}\.",
        )

    assert files("work") == before


@every_job
def test_no_space_is_one_sentence_and_what_is_done_stays(
    room: Room, monkeypatch: pytest.MonkeyPatch
):
    without_record(room)
    kept = {
        name: content
        for name, content in files("work").items()
        if not name.startswith("part-00001")
    }

    def _full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("rankwell.runtime.parts.write_draft", _full)
        code, error = room.run("two")
    left = files("work")
    status = typed("worker", "work", "--status")[1]

    expect_one_sentence(
        code, error, "work: No space left on device; free some space, and run the command again"
    )
    assert {
        name: content for name, content in left.items() if not name.startswith("part-00001")
    } == kept
    assert "work: No space left on device; free some space" in status.splitlines()[2]
    assert "missing  1\n" in status
    assert room.run("two")[0] == 0
    assert files("two") == files("one")


# ---- inputs that no part can use
# -------------------------------------------------------------------------------------------


def save(name: str, change: Callable[[Any], Any]) -> None:
    np.save(name, change(np.load(name)))


def put(row: int, value: float) -> Callable[[Any], Any]:
    def _change(table: Any) -> Any:
        table[row] = value
        return table

    return _change


def all_empty(_: Room) -> None:
    for shard in range(3):
        save(f"base/part-{shard}.npy", lambda table: table[:0])
        Path(f"base/part-{shard}.ids.txt").write_text("")


def append(name: str, text: str) -> None:
    with Path(name).open("a") as stream:
        stream.write(text)


def judged_twice(_: Room) -> None:
    """A judged item of a query that the first file has, in the last one as well."""
    judged = {tuple(line.split()[:3:2]) for line in Path("qrels.txt").read_text().splitlines()}
    lines = Path("run/part-000.run").read_text().splitlines()
    append(
        "run/part-002.run",
        next(line for line in lines if tuple(line.split()[:3:2]) in judged) + "\n",
    )


INPUTS: dict[tuple[str, str], Refused] = {
    ("knn", "a shard of other dimensions"): Refused(
        lambda _: save("base/part-2.npy", lambda table: table[:, :3]),
        r"base/part-2\.npy has 3 dimensions, .*base/part-0\.npy 4",
    ),
    ("knn", "a shard of other numbers"): Refused(
        lambda _: save("base/part-2.npy", lambda table: table.astype(np.float64)),
        r"base/part-2\.npy has float64 numbers, .*base/part-0\.npy float32",
    ),
    ("knn", "an id in two shards"): Refused(
        lambda _: Path("base/part-2.ids.txt").write_text(
            "base-3\n" + "".join(f"base-{row}\n" for row in range(61, 90))
        ),
        r"id 'base-3' appears in .*base/part-0\.ids\.txt and in .*base/part-2\.ids\.txt",
    ),
    ("knn", "ids for some shards"): Refused(
        lambda _: Path("base/part-1.ids.txt").unlink(),
        r"base/part-0\.npy has ids and .*base/part-1\.npy none",
    ),
    ("knn", "NaN in the last shard"): Refused(
        lambda _: save("base/part-2.npy", put(29, np.nan)),
        r"row 89, row 29 of .*base/part-2\.npy.*: number 0 is nan",
    ),
    ("knn", "shards that are all empty"): Refused(
        all_empty, r"base: there is no vector in it; expected at least one"
    ),
    ("knn", "queries of other dimensions"): Refused(
        lambda _: save("queries.npy", lambda table: table[:, :3]),
        r"the queries have 3 dimensions, the items 4",
    ),
    ("knn", "a shard cut in the middle"): Refused(
        lambda _: os.truncate("base/part-2.npy", 200), r"base/part-2\.npy"
    ),
    ("crossmodal", "NaN in the last shard"): Refused(
        lambda _: save("videos.npy", put(19, np.nan)),
        r"item vectors, .*videos\.npy, row 19: number 0 is nan",
    ),
    ("crossmodal", "tables of other dimensions"): Refused(
        lambda _: save("videos.npy", lambda table: table[:, :4]),
        r"the queries have 5 dimensions, the items 4",
    ),
    ("crossmodal", "a zero vector"): Refused(
        lambda _: save("captions.npy", put(59, 0)),
        r"query vectors, .*captions\.npy, row 59: the vector is zero",
    ),
    ("embeddings", "NaN in the last row"): Refused(
        lambda _: save("small.npy", put(ROWS - 1, np.nan)), r"small: row 89, column 0: nan"
    ),
    ("embeddings", "models of other items"): Refused(
        lambda _: save("small.npy", lambda table: table[:80]), r"big has 90 vectors, small has 80"
    ),
    ("embeddings", "a zero vector"): Refused(
        lambda _: save("big.npy", put(7, 0)), r"big: 1 vector is zero, the first in row 7"
    ),
    ("evaluate", "a judged item twice in two files"): Refused(
        judged_twice, r"run/part-002\.run.*run/part-000\.run|run/part-000\.run.*run/part-002\.run"
    ),
    ("evaluate", "NaN in the last file"): Refused(
        lambda _: append("run/part-002.run", "q3 Q0 d1 1 nan tag\n"), r"run/part-002\.run.*nan"
    ),
    ("evaluate", "an empty file"): Refused(
        lambda _: os.truncate("run/part-001.run", 0), r"run/part-001\.run.* empty"
    ),
    ("evaluate", "a file of another format"): Refused(
        lambda _: Path("run/part-001.run").write_text("query,item,score\nq3,d1,1\n"),
        r"run/part-001\.run",
    ),
    ("encode", "an id twice"): Refused(
        lambda _: append("texts.jsonl", '{"_id": "3", "text": "x"}\n'), r"texts\.jsonl.*'3'"
    ),
    ("encode", "no text"): Refused(lambda _: os.truncate("texts.jsonl", 0), r"texts\.jsonl"),
    ("encode", "a line that is no text"): Refused(
        lambda _: append("texts.jsonl", "x\n"), r"texts\.jsonl:91: "
    ),
    ("bench", "a run that is gone"): Refused(
        lambda _: next(Path("inputs").rglob("*.run")).unlink(), r"\.run"
    ),
    ("bench", "an unknown key"): Refused(
        lambda _: append("inputs/bench.toml", "\n[surprise]\n"), r"surprise"
    ),
}


@pytest.mark.parametrize(("job", "case"), INPUTS)
@pytest.mark.parametrize(
    "executor", ["here", pytest.param("processes:2", marks=(pytest.mark.slow, pytest.mark.server))]
)
def test_inputs_that_no_part_can_use_are_one_sentence(
    room: Room, job: str, case: str, executor: str
):
    shutil.rmtree("work")
    INPUTS[job, case].breaks(room)

    code, error = room.run("two", "--executor", executor)

    expect_one_sentence(code, error, INPUTS[job, case].sentence)
    assert not Path("work/plan.json").exists() or not list(Path("work").rglob("*.npy.*"))


@pytest.mark.parametrize(
    ("job", "more", "sentence"),
    [
        ("knn", ["--neighbours", "0"], r"k is 0; a search is for one item or more|--neighbours.*0"),
        ("knn", ["--shards", "0"], r"--shards 0; expected an integer from 1 to 1000000"),
        (
            "knn",
            ["--memory", "10"],
            r"--memory 10: a vector takes \d+ bytes, a query with its list \d+, each of one "
            r"half; give \d+ or more",
        ),
        ("knn", ["--memory", ""], r"--memory '': expected a size such as 500M or 8G"),
        (
            "encode",
            ["--memory", "1G"],
            r"--memory 1G: parts of .* same size .* the executor here reserves none; leave it out",
        ),
        (
            "encode",
            ["--memory", "1G", "--executor", "processes"],
            r"the executor processes reserves none; leave it out",
        ),
        ("knn", ["--executor", ""], r"unknown executor ''"),
        (
            "knn",
            ["--device", "cpu"],
            r"--device cpu: the backend numpy uses processors; name --backend torch",
        ),
        ("knn", ["--memory", "much"], r"--memory 'much': expected a size such as 500M or 8G"),
        ("knn", ["--executor", "proceses"], r"did you mean 'processes'"),
        (
            "knn",
            ["--executor", "processes:0"],
            r"expected a positive integer after the colon, as in processes:4",
        ),
        ("crossmodal", ["--shards", "0"], r"--shards 0; expected an integer from 1 to 1000000"),
        ("embeddings", ["--shards", "0"], r"--shards 0; expected an integer from 1 to 1000000"),
        ("evaluate", ["--shards", "0"], r"--shards 0; expected a positive integer"),
        ("encode", ["--shards", "0"], r"--shards 0; expected an integer from 1 to 1000000"),
    ],
)
def test_options_that_no_work_has_are_one_sentence(
    room: Room, job: str, more: list[str], sentence: str
):
    shutil.rmtree("work")
    room.words = [
        word
        for at, word in enumerate(room.words)
        if not {*room.words[max(0, at - 1) : at + 1]} & {more[0]}
    ]

    code, error = room.run("two", *more)

    expect_one_sentence(code, error, sentence)
    assert not Path("work").exists()


@pytest.mark.parametrize("job", ["knn", "crossmodal", "embeddings", "evaluate", "bench"])
def test_a_dry_run_shows_the_costs_and_that_the_output_would_be_refused(room: Room, job: str):
    words = [word.format("two") for word in room.words]
    output = Path(words[words.index("-o") + 1])
    output.parent.mkdir()
    if output.suffix:
        output.write_text("my own")
    else:
        output.mkdir()
        (output / "mine.txt").write_text("my own")
    before = files("two")

    code, shown, error = typed(*words, "--dry-run")
    refused, refusal = typed(*words)[::2]

    assert (code, refused) == (0, 2)
    assert shown.startswith("cell " if job == "bench" else "parts ")
    message = refusal.removeprefix("rankwell: ").split("Try `")[0].strip()
    assert f"without --dry-run this is refused: {message}\n" in error
    assert "refused" not in typed(*words, "--dry-run", "--overwrite")[2]
    assert files("two") == before


@pytest.mark.parametrize("job", ["encode"])
def test_a_dry_run_of_an_encoding_says_what_becomes_of_vectors_that_are_there(room: Room, job: str):
    Path("two").mkdir()
    Path("two/found.manifest.json").write_text("{}")

    code, shown, error = typed(*(word.format("two") for word in room.words), "--dry-run")
    assert (code, shown.startswith("parts ")) == (0, True)
    assert "without --dry-run this is refused: two/found.manifest.json exists" in error

    code, shown, error = typed(*(word.format("one") for word in room.words), "--dry-run")
    assert (code, shown.startswith("parts ")) == (0, True)
    assert (
        "one/found.npy is there: without --dry-run this encodes nothing where it was made "
        "from these texts" in error
    )


@pytest.mark.parametrize("job", ["knn"])
@pytest.mark.parametrize("k", [25, 35, 200])
def test_k_beyond_a_shard_and_beyond_all_gives_the_bytes_of_one_process(
    room: Room, job: str, k: int
):
    shutil.rmtree("work")
    room.words[room.words.index("--neighbours") + 1] = str(k)
    alone = [word for word in room.words if word not in ("--shards", "3")]

    assert room.run("two") == (
        0,
        typed(*(word.format("three") for word in alone))[2].replace("three", "two"),
    )

    assert files("two") == files("three")


@pytest.mark.parametrize("job", ["knn"])
def test_one_empty_shard_is_allowed(room: Room, job: str):
    shutil.rmtree("work")
    save("base/part-1.npy", lambda table: table[:0])
    Path("base/part-1.ids.txt").unlink()
    Path("base/part-1.ids.json").write_text("[]")

    assert room.run("two")[0] == 0
    assert "base-40" not in Path("two/found.run").read_text()


# ---- machines and services
# -------------------------------------------------------------------------------------------------


@every_job_in_full
def test_a_ray_cluster_that_cannot_be_reached_is_one_sentence(room: Room):
    pytest.importorskip("ray")
    without_record(room)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    code, error = room.run("two", "--executor", f"ray:127.0.0.1:{port}")

    expect_one_sentence(
        code,
        error,
        rf"--executor ray:127\.0\.0\.1:{port}: the cluster cannot be joined \(.*; check the "
        r"address",
    )


class TaskUnschedulableError(Exception):
    """What Ray raises for a call on a node that is gone."""


class ClusterOfOtherVersion(SimpleNamespace):
    """What the executor uses of Ray, with three nodes of one machine: one is lost, one has another
    rankwell.
    """

    __version__ = "2.60"
    job_config = SimpleNamespace(JobConfig=SimpleNamespace)

    def is_initialized(self) -> bool:
        return False

    def init(self, **_: Any) -> None: ...

    def shutdown(self) -> None: ...

    def nodes(self) -> list[dict[str, Any]]:
        node = {
            "Alive": True,
            "NodeManagerHostname": "node-1",
            "Resources": {"CPU": 8, "memory": 1 << 40},
        }
        return [*({**node, "NodeID": name} for name in ("lost", "old", "new")), {"Alive": False}]

    def remote(self, _: object) -> Any:
        return self

    def options(self, *, scheduling_strategy: str, **_: Any) -> Any:
        return SimpleNamespace(remote=lambda name, argument: (name, argument, scheduling_strategy))

    def get(self, reference: Any, timeout: float) -> str:
        name, argument, node = reference
        assert (name, argument) == ("rankwell.runtime.executors.ray:versions", "")
        if node == "lost":
            raise TaskUnschedulableError
        version = rankwell.__version__ if node == "new" else "0.0.1"
        return json.dumps({"python": platform.python_version(), "ray": "2.60", "rankwell": version})


@every_job_in_full
def test_another_version_on_a_node_is_one_sentence(room: Room, monkeypatch: pytest.MonkeyPatch):
    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
    exceptions = SimpleNamespace(TaskUnschedulableError=TaskUnschedulableError)
    modules = {
        "ray": ClusterOfOtherVersion(),
        "ray.exceptions": exceptions,
        "ray.util": strategies,
        "ray.util.scheduling_strategies": strategies,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    without_record(room)

    code, error = room.run("two", "--executor", "ray:auto")

    sentence = (
        rf"the node node-1 has rankwell 0\.0\.1, this machine {rankwell.__version__}; install the "
        r"same versions everywhere"
    )
    expect_one_sentence(code, error, sentence)
