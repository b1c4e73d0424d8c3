"""Files that others write while they are read: a result is refused, or its values and its digest
are of the same bytes.
"""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from rankwell._native import native
from rankwell.errors import BadInput
from rankwell.io.reader.lines import TREC_RUN, ReadOptions, bad_line, duplicate
from rankwell.store import Source, reading, replacing, run_files
from regression.running import in_process

QUERIES, DEPTH = 400, 100
TIMES = 50


def _run(place: int) -> bytes:
    """A run whose every query has its relevant item at a place."""
    lines = [
        f"q{query} Q0 {'d' if rank == place else f'x{rank}'} {rank} {200 - rank} t\n"
        for query in range(QUERIES)
        for rank in range(1, DEPTH + 1)
    ]
    return "".join(lines).encode()


RUNS = {_run(1): 1.0, _run(4): 0.25}
QRELS = {f"q{query}": {"d": 1} for query in range(QUERIES)}


def _in_place(path: Path, content: bytes) -> None:
    """Cuts a file and writes it anew, piece by piece."""
    with path.open("r+b", buffering=0) as stream:
        stream.truncate(0)
        for start in range(0, len(content), 1 << 16):
            stream.write(content[start : start + (1 << 16)])


def _by_rename(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(content)
    other.replace(path)


def _outcome(path: Path) -> tuple[str, float] | None:
    """The digest and the value of a run; None where it is refused."""
    try:
        result = rw.evaluate(QRELS, {"run": path}, "RR")
        return result.manifest()["inputs"]["run"]["digest"], result["RR"]
    except BadInput:
        return None


@pytest.mark.parametrize("overwrite", [_in_place, _by_rename])
def test_of_50_timed_overwrites_each_is_refused_or_value_and_digest_are_of_the_same_bytes(
    overwrite: Callable[[Path, bytes], None], tmp_path: Path
):
    path = tmp_path / "run"
    first, second = RUNS
    right = {
        ("sha256:" + hashlib.sha256(content).hexdigest(), value) for content, value in RUNS.items()
    }
    path.write_bytes(first)
    durations = list[float]()
    for _ in range(3):
        begin = time.perf_counter()
        assert _outcome(path) in right
        durations.append(time.perf_counter() - begin)
    outcomes = list[tuple[str, float] | None]()

    for number in range(TIMES):
        path.write_bytes(first)
        writer = threading.Timer(1.2 * min(durations) * number / TIMES, overwrite, (path, second))
        writer.start()
        outcomes.append(_outcome(path))
        writer.join()

    assert [each for each in outcomes if each is not None and each not in right] == []
    assert None in outcomes


def test_a_line_that_another_program_has_corrected_is_a_change(tmp_path: Path):
    path = tmp_path / "run"
    path.write_bytes(_run(1))

    for error in (
        bad_line(Source(path), TREC_RUN, ReadOptions(), 1),
        bad_line(Source(path), TREC_RUN, ReadOptions(), 1 << 40),
    ):
        assert str(error).endswith(
            "run changed while it was read; run this again once nothing writes to it."
        )
    path.write_bytes(b"q Q0\n")
    with pytest.raises(BadInput, match="run changed while it was read"):
        duplicate(Source(path), TREC_RUN, ReadOptions(), 1)


@pytest.mark.parametrize("overwrite", [_in_place, _by_rename])
def test_a_digest_is_of_the_bytes_that_a_command_first_saw(
    overwrite: Callable[[Path, bytes], None], tmp_path: Path
):
    path = tmp_path / "run"
    path.write_bytes(b"one")

    with reading():
        seen = Source(path)
        overwrite(path, b"two")

        for source in (seen, Source(path)):
            with pytest.raises(BadInput, match="run changed while it was read"):
                source.digest()
    assert Source(path).digest() == "sha256:" + hashlib.sha256(b"two").hexdigest()


def test_an_older_time_does_not_hide_a_change(tmp_path: Path):
    path = tmp_path / "run"
    path.write_bytes(b"one")
    status = path.stat()
    with reading():
        source = Source(path)
        path.write_bytes(b"two")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

        with pytest.raises(BadInput, match="changed while it was read"):
            source.refuse_changed()


def test_what_a_command_itself_has_written_has_not_changed(tmp_path: Path):
    path = tmp_path / "out"
    path.write_bytes(b"one")
    with reading():
        Source(path)
        with replacing(path) as draft:
            draft.write_bytes(b"two")

        assert Source(path).digest() == "sha256:" + hashlib.sha256(b"two").hexdigest()


def test_a_run_that_is_cut_while_a_bench_evaluates_it_has_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\n")
    Path("s.run").write_text("q1 Q0 d1 1 2.0 r\n")
    Path("b.toml").write_text(
        '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = '
        '"{system}.run"\n[[system]]\nname = "s"\n'
    )
    from rankwell.comparison import bench

    def _changed(*given: object) -> str:
        Path("s.run").write_text("q1 Q0 d2 1 2.0 r\n")
        return evaluated(*given)  # pyright: ignore[reportArgumentType]

    evaluated = bench.evaluate_cell
    monkeypatch.setattr(bench, "evaluate_cell", _changed)

    code, _, said = in_process(["bench", "b.toml", "-o", "out"])

    assert code != 0
    assert "s.run changed while it was read" in said
    assert not list(Path("out").rglob("cell.json"))


def test_a_picture_that_changes_while_it_is_encoded_is_not_kept(tmp_path: Path):
    images = pytest.importorskip("PIL.Image")
    from rankwell.vectors.encoders import load_image_encoder
    from rankwell.vectors.encoders.runs import encode_images

    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for shade, path in enumerate(paths, 1):
        images.new("L", (8, 8), 60 * shade).save(path)

    def changing(batch: list[Path]) -> np.ndarray:
        images.new("L", (8, 8), 200).save(paths[1])
        return np.ones((len(batch), 4))

    with pytest.raises(BadInput, match=r"b\.png changed while it was read"):
        encode_images(["a", "b"], paths, load_image_encoder(changing))


@pytest.mark.skipif(
    native.library is None or os.name != "posix",
    reason="the compiled kernel names the file, on POSIX",
)
def test_a_file_that_is_cut_while_it_is_mapped_ends_with_a_sentence(tmp_path: Path):
    script = (
        "import os, pathlib, numpy as np\n"
        "from rankwell.data.matrices import map_npy\n"
        "vectors = map_npy(pathlib.Path('big.npy'))\n"
        "os.truncate('big.npy', 5000)\n"
        "print(vectors.sum())\n"
    )
    np.save(tmp_path / "big.npy", np.ones((20_000, 64), dtype=np.float32))

    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (found.returncode, found.stdout) == (2, "")
    assert (
        found.stderr
        == "rankwell: big.npy was cut short while it was read; run this again once nothing "
        "writes to it.\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_maps_of_others_keep_their_signal(tmp_path: Path):
    script = (
        "import mmap, os, pathlib, numpy as np\n"
        "from rankwell.data.matrices import map_npy\n"
        "np.save('a.npy', np.eye(3)); map_npy(pathlib.Path('a.npy'))\n"
        "pathlib.Path('b').write_bytes(bytes(100000))\n"
        "stream = open('b', 'r+b'); other = mmap.mmap(stream.fileno(), 0); os.truncate('b', "
        "0); print(other[50000])\n"
    )

    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False
    )

    assert found.returncode == -signal.SIGBUS


DRAFTS = (
    ".run.0123abcd-4194303.a_b0cdef",
    ".run.tsv.0123abcd-4194303.a_b0cdef.tsv",
    ".draft-0123abcd-12-89abcdef",
)


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_is_not_an_input(name: str, tmp_path: Path):
    (tmp_path / name).write_text("q1 Q0 d1 1 2.0 r\n")

    with pytest.raises(BadInput, match="is a draft of rankwell"):
        rw.evaluate({"q1": {"d1": 1}}, tmp_path / name, "RR")


def test_a_draft_of_today_has_such_a_name(tmp_path: Path):
    with replacing(tmp_path / "run.tsv") as draft:
        draft.write_text("q1 Q0 d1 1 2.0 r\n")
        copy = draft.with_name(draft.name.replace(f"-{os.getpid()}.", "-4194303."))
        copy.write_bytes(draft.read_bytes())

        assert Source(draft).read() == b"q1 Q0 d1 1 2.0 r\n"
        with pytest.raises(BadInput, match="is a draft of rankwell"):
            Source(copy)


def test_the_draft_of_a_folder_is_neither_a_result_nor_a_run(tmp_path: Path):
    rw.evaluate({"q1": {"d1": 1}}, {"run": {"q1": {"d1": 1.0}}}, "RR").save(
        tmp_path / "out", charts=False
    )
    (tmp_path / "out").rename(tmp_path / ".rankwell-draft")

    draft = str(tmp_path / ".rankwell-draft")

    for words in (["report", draft], ["compare", draft, draft], ["gate", draft, "-r", "RR >= 0"]):
        code, _, said = in_process(words)
        assert code == 2
        assert "is a draft of rankwell" in said
    code, _, said = in_process(["report", str(tmp_path)])
    assert code == 2
    assert ".rankwell-draft" not in said
    with pytest.raises(BadInput, match="is a draft of rankwell"):
        run_files(tmp_path / ".rankwell-draft")


def test_a_draft_in_a_folder_of_runs_is_left_out(tmp_path: Path):
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "a.run").write_text("q1 Q0 d1 1 2.0 r\n")
    (tmp_path / "shards" / ".b.run.0123abcd-4194303.a_b0cdef.run").write_text("q1 Q0")

    assert run_files(tmp_path / "shards") == [f"{tmp_path}/shards/a.run"]
    assert rw.evaluate({"q1": {"d1": 1}}, tmp_path / "shards", "RR")["RR"] == 1


def test_a_bench_does_not_propose_a_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\n")
    Path(".s.run.0123abcd-4194303.a_b0cdef.run").write_text("q1 Q0 d1 1 2.0 r\n")
    Path("b.toml").write_text(
        '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = '
        '".{system}.run.0123abcd-1.a_b0cdef.run"\n'
        '[[system]]\nname = "s"\n'
    )

    code, _, said = in_process(["bench", "b.toml", "-o", "out"])

    assert code == 2
    assert "make it first" in said
