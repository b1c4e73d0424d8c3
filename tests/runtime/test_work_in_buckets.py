"""Every command whose work folder is in a bucket: the bytes of one process, in two rounds, after a
kill, and with damage.
"""

import errno
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from buckets import SECRET, Bucket
from part_jobs import JOBS, files, typed
from rankwell.errors import Unfinished
from rankwell.results import Results
from rankwell.runtime.parts import WorkPlace, place_of
from rankwell.runtime.parts.execution import compute_part
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from rankwell.store import remote

WORK = "s3://bucket/work"
ROUNDS = ("crossmodal", "embeddings", "evaluate")
"""Jobs of two rounds."""
some_rounds = pytest.mark.parametrize(
    "job", [pytest.param("crossmodal", marks=pytest.mark.slow), "evaluate"]
)


class Job:
    """A command with a work folder in the bucket. words: as they are typed."""

    def __init__(self, words: list[str]) -> None:
        self.words = [*(word.format("two") for word in words), "--work", WORK]

    def __call__(self, *more: str) -> tuple[int, str, str]:
        return typed(*self.words, *more)


Start = Callable[[str], Job]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, list[str]]]:
    """A folder with the inputs of a job and its result by one process, `one`, and the words of its
    command.
    """
    made: dict[str, tuple[Path, list[str]]] = {}

    def _begun(job: str) -> tuple[Path, list[str]]:
        if job not in made:
            folder = tmp_path_factory.mktemp(job)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                words = [*JOBS[job](), *(["--intervals", "none"] if job in ROUNDS else [])]
                words = [
                    "2" if word == "3" and words[at - 1] == "--shards" else word
                    for at, word in enumerate(words)
                ]
                shards = words.index("--shards") if "--shards" in words else len(words)
                assert (
                    typed(
                        *(word.format("one") for word in [*words[:shards], *words[shards + 2 :]])
                    )[0]
                    == 0
                )
            made[job] = folder, words
        return made[job]

    return _begun


@pytest.fixture
def start(
    s3: Bucket,
    begun: Callable[[str], tuple[Path, list[str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Start:
    """Copies the inputs of a job here."""

    def _start(job: str) -> Job:
        folder, words = begun(job)
        shutil.copytree(folder, tmp_path / job)
        monkeypatch.chdir(tmp_path / job)
        return Job(words)

    return _start


def second() -> WorkPlace:
    return place_of(WORK).inside("second")


def arrays() -> list[str]:
    return sorted(place_of(WORK).inside(".arrays").listing())


def parts(place: WorkPlace) -> int:
    return read_plan(place).parts


def compute_all(place: WorkPlace) -> None:
    for index in range(parts(place)):
        compute_part(place.name, index)


# ---- the bytes of one process
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", [job for job in JOBS if job != "knn"])
def test_a_work_folder_in_a_bucket_gives_the_bytes_of_one_process_and_holds_no_credential(
    s3: Bucket, start: Start, job: str
):
    run = start(job)

    code, _, error = run()

    assert code == 0, error
    assert files("two") == files("one")
    places = [
        place_of(WORK),
        *([second(), place_of(WORK).inside(".arrays")] if job in ROUNDS else []),
    ]
    assert all(place.listing() for place in places)
    written = b"".join(
        place.file(name).read_bytes() for place in places for name in place.listing()
    )
    assert SECRET.encode() not in written
    assert b"id-of-the-test" not in written
    status = typed("worker", WORK, "--status")[1]
    assert "missing  none\n" in status
    assert (
        (f"second   {WORK}/second: {parts(second())} of" in status)
        if job in ROUNDS
        else "/second" not in status
    )


def test_judgments_runs_and_parts_may_all_be_in_one_bucket(s3: Bucket, start: Start):
    start("evaluate")
    s3.put("qrels.txt", Path("qrels.txt").read_bytes())
    for path in Path("run").iterdir():
        s3.put(f"run/{path.name}", path.read_bytes())

    def _evaluate(work: str, **options: str) -> Results:
        measures = ["RR", "nDCG@10"]
        return rankwell.evaluate(
            "s3://bucket/qrels.txt", "s3://bucket/run/", measures, work=work, shards=3, **options
        )

    with pytest.raises(Unfinished) as planned:
        _evaluate(WORK, executor="array")
    with pytest.raises(Unfinished) as beside:
        _evaluate("work", executor="array")
    found = _evaluate(WORK)

    for each, is_folder in ((planned, False), (beside, True)):
        manifest = str(each.value).partition("# Kubernetes\n")[2]
        assert ("workingDir: /data" in manifest, "volumes: [" in manifest) == (is_folder, is_folder)
        assert (
            "envFrom: [{secretRef: {name: bucket, optional: true}}]" in manifest
        ) is not is_folder
    assert found.summary == rankwell.evaluate("qrels.txt", "run", ["RR", "nDCG@10"]).summary
    assert arrays()


def test_embeddings_that_can_only_be_read_whole_are_copied_into_the_bucket(
    s3: Bucket, start: Start
):
    start("crossmodal")
    np.savez("videos.npz", np.load("videos.npy"))
    given: dict[str, Any] = {
        "query_vectors": "captions.npy",
        "qrels": "positives.json",
        "direction": "t2v",
    }

    found = rankwell.evaluate_crossmodal(item_vectors="videos.npz", work=WORK, shards=3, **given)

    alone = rankwell.evaluate_crossmodal(item_vectors="videos.npy", **given)
    assert [*found.per_query()] == [*alone.per_query()]
    tables = read_plan(WORK).options["tables"]
    assert tables["gallery"][0].startswith(f"{WORK}/.arrays/")


# ---- two rounds
# --------------------------------------------------------------------------------------------------


@some_rounds
def test_an_array_through_a_bucket_is_submitted_twice(s3: Bucket, start: Start, job: str):
    run = start(job)

    code, planned, _ = run("--executor", "array")
    assert (code, f"rankwell worker {WORK} --threads" in planned) == (0, True)
    compute_all(place_of(WORK))
    code, between, notes = run("--executor", "array")
    assert (code, f"rankwell worker {WORK}/second --threads" in between) == (5, True)
    assert (
        f"{WORK}/second: {parts(second())} of {parts(second())} parts are missing"
        in notes.replace("\n", " ")
    )
    compute_all(second())

    assert run("--executor", "array")[0] == 0
    assert files("two") == files("one")


@some_rounds
def test_damaged_parts_of_both_rounds_are_made_again_and_no_others_and_foreign_ones_refused(
    s3: Bucket, start: Start, job: str
):
    run = start(job)
    run()
    whole: dict[tuple[str, str], bytes] = {}
    for place in (place_of(WORK), second()):
        (name,) = (each for each in place.listing("part-00001.") if not each.endswith(".json"))
        whole[place.name, name] = content = place.file(name).read_bytes()
        place.replace(name, content[:-1] + bytes([content[-1] ^ 1]))
    second().remove("part-00000.json")
    s3.puts.clear()

    assert run()[0] == 0

    assert files("two") == files("one")
    assert {each: place_of(each[0]).file(each[1]).read_bytes() for each in whole} == whole
    put = {name.rpartition(".")[0] for name in s3.puts}
    assert put == {"work/part-00001", "work/second/part-00001", "work/second/part-00000"}

    second().replace("part-00001.json", place_of(WORK).read("part-00001.json") or b"")
    code, _, error = run()
    assert code == 2
    assert (
        f"{WORK}/second/part-00001.json is part 1 of another plan; remove it and part-00001."
        in error.replace("\n", " ")
    )


def test_other_work_is_refused_and_leaves_no_array(s3: Bucket, start: Start):
    run = start("crossmodal")
    run("--executor", "array")
    before = arrays()

    code, _, error = run("--ties", "id-asc")

    assert code == 2
    assert f"{WORK} holds the plan of other work: " in error
    assert arrays() == before


def test_an_array_of_the_bucket_that_has_changed_is_refused_by_parts(s3: Bucket, start: Start):
    run = start("crossmodal")
    run("--executor", "array")
    # Without the compiled library there is an array for each input.
    for name in arrays():
        place_of(WORK).inside(".arrays").replace(name, b"x")

    code, _, error = typed("worker", WORK, "0")

    assert code == 2
    message = error.replace("\n", " ")
    assert re.search(rf"{WORK}/\.arrays/\S+ has changed since the plan was written", message)


@pytest.mark.parametrize("job", ["crossmodal", "encode"])
def test_no_space_for_drafts_of_a_bucket_is_one_sentence(
    s3: Bucket, start: Start, monkeypatch: pytest.MonkeyPatch, job: str
):
    def _full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    run = start(job)
    with monkeypatch.context() as patch:
        patch.setattr("rankwell.runtime.parts.write_draft", _full)
        code, _, error = run()

    assert code == 2
    assert error.replace("\n", " ").endswith(
        "No space left on device; free some space, and run the command again. "
    )
    assert run()[0] == 0
    assert files("two") == files("one")


# ---- services that overwrite
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", ["embeddings", "evaluate", "encode"])
def test_a_service_that_overwrites_names_parts_of_both_rounds_by_their_content(
    s3: Bucket, start: Start, monkeypatch: pytest.MonkeyPatch, job: str
):
    put = remote.put
    monkeypatch.setattr(remote, "put", lambda url, content, is_new=False: put(url, content))
    run = start(job)

    assert run()[0] == 0
    assert files("two") == files("one")
    place = second() if job in ROUNDS else place_of(WORK)
    assert read_plan(place).puts == "unique"
    record = json.loads(
        place.read(next(name for name in place.listing("part-00000.") if name.endswith(".json")))
        or b""
    )
    content = place.file(record["file"]).read_bytes() + b"x"
    other = f"part-00000.0123456789abcdef{Path(record['file']).suffix}"
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    place.replace(other, content)
    changed = {**record, "file": other, "bytes": len(content), "digest": digest}
    place.replace("part-00000.0123456789abcdef.json", json.dumps(changed).encode())

    code, _, error = run("--overwrite") if job == "encode" else run()

    assert code == 2
    assert "are one part with two digests" in error.replace("\n", " ")


# ---- kills and failures
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "executor", "part", "later"),
    [
        ("crossmodal", "processes:2", "part-00001", "part-00007"),
        ("evaluate", "here", "second/part-00000", "second/part-00001"),
    ],
)
def test_a_killed_command_goes_on_with_the_parts_in_the_bucket(
    s3: Bucket, start: Start, job: str, executor: str, part: str, later: str
):
    run = start(job)
    line = [sys.executable, "-m", "rankwell", *run.words, "--executor", executor]
    driver = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    s3.on_put = lambda name: driver.kill() if name == f"work/{part}.json" else None
    assert driver.wait(timeout=60) != 0
    s3.on_put = lambda _: None
    s3.puts.clear()

    code, _, error = run()

    assert code == 0, error
    assert files("two") == files("one")
    assert f"work/{part}.json" not in s3.puts
    assert f"work/{later}.json" in s3.puts


def test_the_failure_of_a_part_of_the_second_round_is_noted_in_the_bucket(
    s3: Bucket, start: Start, monkeypatch: pytest.MonkeyPatch
):
    run = start("crossmodal")
    run("--executor", "array")
    compute_all(place_of(WORK))
    run("--executor", "array")
    with monkeypatch.context() as patch:
        patch.setattr(
            "rankwell.runtime.parts.comparing.count_pairs",
            lambda *_, **__: (_ for _ in ()).throw(MemoryError()),
        )
        code, _, error = typed("worker", f"{WORK}/second", "1")

    status = typed("worker", f"{WORK}/second", "--status")[1]

    assert code == 2
    assert "part 1 needs more memory" in error
    assert "failed   1: part 1 needs more memory" in status
    assert "missing  0-1\n" in status
    assert "part 1 failed: part 1 needs more memory" in run("--executor", "array")[2].replace(
        "\n", " "
    )


def test_a_cell_that_failed_is_forgotten_in_the_bucket_and_tried_again(
    s3: Bucket, start: Start, monkeypatch: pytest.MonkeyPatch
):
    run = start("bench")
    with monkeypatch.context() as patch:
        patch.setattr("rankwell.comparison.parts.cells.evaluate_cell", lambda *_: "no luck")
        failed = run()
    names = sorted(place_of(WORK).listing())

    assert "no luck" in failed[2]
    assert names == ["plan.json"]
    assert run()[0] == 0
    assert files("two") == files("one")
    assert WorkFolder(WORK, read_plan(WORK)).missing() == {}
