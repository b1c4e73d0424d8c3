"""Sources and atomic files."""

import gzip
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from rankwell import store
from rankwell.errors import BadInput, BadUsage
from rankwell.store import Cache, Source, replacing, write_text


def test_gzip_and_zstd_are_recognised_by_content_whatever_the_name(tmp_path: Path):
    for name, content in {
        "a.txt": b"plain",
        "b.txt": gzip.compress(b"plain"),
        "c.txt": zstandard.compress(b"plain"),
    }.items():
        (tmp_path / name).write_bytes(content)

        assert Source(tmp_path / name).read() == b"plain"


def test_several_compressed_members_read_as_one(tmp_path: Path):
    (tmp_path / "a").write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    (tmp_path / "b").write_bytes(zstandard.compress(b"one ") + zstandard.compress(b"two"))

    assert Source(tmp_path / "a").read() == Source(tmp_path / "b").read() == b"one two"


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_data_that_ends_early_is_an_error_that_names_the_file(tmp_path: Path, compress):
    path = tmp_path / "cut.run"
    path.write_bytes(compress(bytes(range(256)) * 500)[:-9])

    with pytest.raises(BadInput, match=r"cut\.run.*ends early"):
        Source(path).read()


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    with pytest.raises(BadInput, match="no such file"):
        Source(tmp_path / "absent")
    with pytest.raises(BadInput, match="is a folder"):
        Source(tmp_path)


def test_standard_input_can_be_looked_at_and_then_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(b"q Q0 d 1 2 t\n")))
    )
    source = Source("-")

    assert source.head(3) == b"q Q"
    assert source.read() == b"q Q0 d 1 2 t\n"
    assert (source.name, source.stem, source.path) == ("standard input", "stdin", None)


def test_the_stem_loses_one_suffix_beside_that_of_the_compression(tmp_path: Path):
    for name, stem in {
        "bm25.run.gz": "bm25",
        "bm25.v2.run": "bm25.v2",
        "plain": "plain",
        ".hidden": ".hidden",
    }.items():
        (tmp_path / name).write_bytes(b"")

        assert Source(tmp_path / name).stem == stem


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tmp_path: Path):
    path = tmp_path / "out.txt"
    write_text(path, "old")

    def fail() -> None:
        with replacing(path) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_cache_returns_what_was_kept_by_the_same_maker_and_versions_and_nothing_else(
    tmp_path: Path,
):
    cache = Cache(tmp_path, {"model": "a"}, {"pillow": "1"})
    cache.put("sha256:0123", b"vectors")
    cache.put("sha256:4567", b"others")
    first, second = (
        path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path.suffix != ".json"
    )

    assert (
        cache.get("sha256:0123")
        == Cache(tmp_path, {"model": "a"}, {"pillow": "1"}).get("sha256:0123")
        == b"vectors"
    )
    assert Cache(tmp_path, {"model": "b"}, {"pillow": "1"}).get("sha256:0123") is None
    assert Cache(tmp_path, {"model": "a"}, {"pillow": "2"}).get("sha256:0123") is None
    first.write_bytes(second.read_bytes())
    assert cache.get("sha256:0123") is None
    second.write_bytes(second.read_bytes()[:-1])
    assert cache.get("sha256:4567") is None


@pytest.mark.skipif(sys.platform == "win32", reason="drafts name no process there")
def test_the_draft_of_a_killed_process_goes_with_the_next_file_and_that_of_a_living_one_stays(
    tmp_path: Path,
):
    script = """
import os, signal, sys, time
from pathlib import Path
from rankwell.store import replacing

with replacing(Path("a.txt")) as draft:
    print(draft.name, flush=True)
    time.sleep(600)
"""
    line = [sys.executable, "-c", script]
    with (
        subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as killed,
        subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as living,
    ):
        drafts = [
            each.stdout.readline().strip() for each in (killed, living) if each.stdout is not None
        ]
        killed.kill()
        killed.wait()
        write_text(tmp_path / "a.txt", "text")
        assert {path.name for path in tmp_path.iterdir()} == {"a.txt", drafts[1]}
        living.kill()


def test_where_files_are_kept_a_draft_is_written_by_a_block_within_its_own(tmp_path: Path):
    (tmp_path / "mine").write_text("mine")
    token = store.KEEPING.set(True)
    try:
        with replacing(tmp_path / "new") as draft:
            write_text(draft, "one")
        with pytest.raises(BadUsage, match="exists with different content"):
            write_text(tmp_path / "mine", "other")
        write_text(tmp_path / "mine", "mine")
    finally:
        store.KEEPING.reset(token)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "new": "one",
        "mine": "mine",
    }
