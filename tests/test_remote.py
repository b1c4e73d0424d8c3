"""Remote places and folders of shards: the same bytes as local files, by ranges, or one clear
error, whatever the server does.
"""

import io
import json
import sys

import numpy as np
import pytest

from buckets import SECRET, bucket
from hub import hub
from rankwell.cli import main
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem
from rankwell.io.formats import read_ranking
from rankwell.io.matrices import read_embeddings
from rankwell.store import Source, remote, sources_of, split_part
from rankwell.store import remote as services

VECTORS = np.random.default_rng(31).standard_normal((3000, 8)).astype(np.float32)


@pytest.fixture
def s3(monkeypatch):
    with bucket(monkeypatch) as found:
        yield found


def npy(vectors) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vectors)
    return stream.getvalue()


def fbin(vectors) -> bytes:
    return np.array(vectors.shape, dtype="<u4").tobytes() + vectors.astype("<f4").tobytes()


def fvecs(vectors) -> bytes:
    return b"".join(np.int32(len(row)).tobytes() + row.astype("<f4").tobytes() for row in vectors)


@pytest.mark.parametrize(("suffix", "write"), [("npy", npy), ("fbin", fbin), ("fvecs", fvecs)])
def test_vectors_are_read_by_ranges_and_once(suffix, write, s3, monkeypatch):
    monkeypatch.setattr(remote, "_RANGE", 10_000)
    content = write(VECTORS)
    place = s3.put(f"deep/base.{suffix}", content)

    found = read_embeddings(place)

    assert found.vectors.tobytes() == VECTORS.tobytes()
    assert read_embeddings(place).n == 3000
    assert all(asked is not None and asked.startswith("bytes=") for _, asked, _ in s3.reads)
    assert len(s3.reads) == -(-len(content) // 10_000)
    assert s3.bytes_read(f"deep/base.{suffix}") == len(content)


def test_parquet_and_runs_are_read_as_from_disk(s3, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    duckdb.sql(
        "SELECT 'q' || i // 3 AS query, 'd' || i AS item, 1.0 / (1 + i) AS score FROM range(9) t(i)"
    ).write_parquet(str(tmp_path / "a.parquet"))
    place = s3.put("runs/a.parquet", (tmp_path / "a.parquet").read_bytes())
    text = s3.put("runs/b.run", b"q0 Q0 d1 1 2.0 t\nq0 Q0 d2 2 1.0 t\n")

    assert read_ranking(place).to_dict() == read_ranking(tmp_path / "a.parquet").to_dict()
    assert read_ranking(text).to_dict() == {"q0": {"d1": 2.0, "d2": 1.0}}


def test_ids_beside_an_object_are_read_and_parts_of_it_named(s3):
    s3.put("base.npy", npy(VECTORS[:2]))
    s3.put("base.ids.txt", b"one\ntwo\n")
    stream = io.BytesIO()
    np.savez(stream, train=VECTORS[:3], test=VECTORS[3:5])
    place = s3.put("data.npz", stream.getvalue())

    assert read_embeddings("s3://bucket/base.npy").ids == ["one", "two"]
    assert read_embeddings(f"{place}:test").n == 2
    assert split_part("s3://bucket/base.npy") == ("s3://bucket/base.npy", "")
    assert sources_of({"base": place})["base"].digest() == Source(place).digest()


def test_the_command_searches_a_remote_folder_with_the_bytes_of_a_local_file(
    s3, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    np.save("base.npy", VECTORS)
    np.save("queries.npy", VECTORS[:20])
    # Ten follows two as bytes of names go: the order is that of the listing, whatever the numbers.
    for name, rows in (
        ("part-1", slice(0, 1000)),
        ("part-10", slice(1000, 1700)),
        ("part-2", slice(1700, 3000)),
    ):
        s3.put(f"gallery/{name}.npy", npy(VECTORS[rows]))
    s3.put("gallery/_SUCCESS", b"")
    queries = s3.put("queries.npy", npy(VECTORS[:20]))

    for base, asked, output in (
        ("base.npy", "queries.npy", "a.run"),
        ("s3://bucket/gallery/", queries, "b.run"),
    ):
        monkeypatch.setattr(
            sys, "argv", ["rankwell", "knn", base, asked, "--neighbours", "5", "-o", output]
        )
        assert main() == 0

    assert (tmp_path / "a.run").read_bytes() == (tmp_path / "b.run").read_bytes()
    assert (
        sum(size for name, _, size in s3.reads if name.startswith("/bucket/gallery/part-"))
        <= 1.05 * VECTORS.nbytes + 400
    )


def test_the_command_evaluates_a_remote_run(s3, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q0 0 d1 1\n")
    place = s3.put("runs/b.run", b"q0 Q0 d1 1 2.0 t\nq0 Q0 d2 2 1.0 t\n")
    monkeypatch.setattr(
        sys,
        "argv",
        ["rankwell", "evaluate", "qrels.txt", place, "-m", "RR", "-o", "results", "--verbose"],
    )

    assert main() == 0
    assert "1.0000" in capsys.readouterr().out
    written = b"".join(
        path.read_bytes() for path in (tmp_path / "results").rglob("*") if path.is_file()
    )
    assert SECRET.encode() not in written
    assert b"id-of-the-test" not in written


def test_a_remote_folder_is_one_run(s3, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q0 0 d1 1\n")
    for name, row in (("b", "q0 Q0 d1 1 2.0 t\n"), ("a", "q0 Q0 d2 2 2.5 t\n"), ("_SUCCESS", "")):
        s3.put(f"runs/{name}", row.encode())
    monkeypatch.setattr(
        sys,
        "argv",
        [
            *("rankwell", "evaluate", "qrels.txt", "s3://bucket/runs/", "-m", "RR"),
            *("-o", "results", "--verbose"),
        ],
    )

    assert main() == 0
    assert "0.5000" in capsys.readouterr().out
    inputs = json.loads((tmp_path / "results" / "manifest.json").read_text())["inputs"]
    assert {name: each["file"] for name, each in inputs.items()} == {
        "judgments": "qrels.txt",
        "runs/a": "s3://bucket/runs/a",
        "runs/b": "s3://bucket/runs/b",
    }


@pytest.mark.parametrize("mode", ["drop", "truncate", "busy", "delay"])
def test_a_server_that_fails_now_and_then_gives_the_right_bytes(mode, s3, monkeypatch):
    monkeypatch.setattr(remote, "_RANGE", 30_000)
    monkeypatch.setattr(services, "_SECONDS", 1)
    place = s3.put("base.npy", npy(VECTORS))
    s3.mode, s3.times = mode, 3

    assert read_embeddings(place).vectors.tobytes() == VECTORS.tobytes()


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("drop", "s3://bucket/base.npy cannot be read ("),
        ("truncate", "the answer ended early, after 4 attempts"),
        (
            "busy",
            "s3://bucket/base.npy cannot be read (the server answers with status 503, after 4 "
            "attempts)",
        ),
        ("whole", "answers a request for a range with the whole object"),
        (
            "expired",
            "the request is refused (status 400); check the name, the region and the "
            "credentials in the environment",
        ),
        ("denied", "access is refused; check the credentials in the environment"),
    ],
)
def test_a_server_that_always_fails_is_one_clear_error_without_credentials(
    mode, says, s3, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(remote, "_RANGE", 30_000)
    place = s3.put("base.npy", npy(VECTORS))
    s3.mode = mode
    output = tmp_path / "out.run"
    monkeypatch.setattr(
        sys, "argv", ["rankwell", "knn", place, place, "--neighbours", "5", "-o", str(output)]
    )

    assert main() == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert SECRET not in said
    assert not output.exists()


def test_an_object_that_changes_while_it_is_read_is_an_error(s3, monkeypatch):
    monkeypatch.setattr(remote, "_RANGE", 30_000)
    place = s3.put("base.npy", npy(VECTORS))
    seen = remote.look(place)
    s3.put("base.npy", npy(VECTORS + 1))

    with pytest.raises(BadInput, match=r"s3://bucket/base.npy has changed while it was read"):
        remote.read_range(seen, 0, 100)
    with pytest.raises(BadInput, match="has changed"):
        read_embeddings(place)
    remote.forget()
    assert read_embeddings(place).vectors.tobytes() == (VECTORS + 1).tobytes()


def test_wrong_addresses_and_missing_objects_are_named(s3):
    with pytest.raises(BadInput, match=r"s3://bucket/none.npy: there is no such object"):
        read_embeddings("s3://bucket/none.npy")
    with pytest.raises(BadInput, match="there is no such object"):
        read_embeddings("s3://bucket/none/")
    with pytest.raises(BadUsage, match="credentials come from the environment") as caught:
        read_embeddings(f"s3://key:{SECRET}@bucket/base.npy")
    assert SECRET not in str(caught.value)


def test_a_server_that_is_not_there_is_named_as_such(s3, monkeypatch):
    place = s3.put("base.npy", npy(VECTORS[:2]))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    remote.forget()

    with pytest.raises(BadInput, match=r"cannot be read \(no connection, after 4 attempts\)"):
        read_embeddings(place)


def test_a_missing_library_names_its_extra(monkeypatch, capsys, tmp_path):
    remote.forget()
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.setattr(
        sys,
        "argv",
        ["rankwell", "knn", "s3://b/x.npy", "s3://b/y.npy", "-o", str(tmp_path / "x.run")],
    )

    assert main() == 2
    assert "pip install 'rankwell[remote]'" in capsys.readouterr().err


def test_the_hub_is_read_through_its_file_system(monkeypatch):
    with hub(monkeypatch) as data:
        place = data.put("base.npy", npy(VECTORS[:50]))
        seen = remote.look(place)
        assert read_embeddings(place).vectors.tobytes() == VECTORS[:50].tobytes()
        assert [size for _, size in data.reads] == [len(npy(VECTORS[:50]))]
        data.put("base.npy", npy(VECTORS[50:100]))
        with pytest.raises(BadInput, match="has changed"):
            remote.read_range(seen, 0, 10)


def write(folder, **shards):
    folder.mkdir()
    for name, vectors in shards.items():
        np.save(folder / f"{name}.npy", vectors)
    return folder


def test_shards_are_one_table_in_order_of_their_names(tmp_path):
    folder = write(tmp_path / "g", a=VECTORS[:10], c=VECTORS[10:12], b=VECTORS[:0])
    found = read_embeddings(folder)

    assert found.vectors.tobytes() == VECTORS[:12].tobytes()
    assert found.place(11) == f"row 11, row 1 of {folder}/c.npy"
    for name, ids in (("a", range(10)), ("b", ()), ("c", ("x", "y"))):
        (folder / f"{name}.ids.json").write_text(str([f"{each}" for each in ids]).replace("'", '"'))
    assert read_embeddings(folder).ids == [*map(str, range(10)), "x", "y"]
    assert read_embeddings(folder, ids=False).ids is None
    names = ["base/a.npy", "base/b.npy", "base/c.npy"]
    assert list(sources_of({"base": folder})) == [*names, *(f"{name} ids" for name in names)]


def test_shards_that_differ_are_named(tmp_path):
    with pytest.raises(BadInput, match=r"b.npy has 4 dimensions, .*a.npy 8"):
        read_embeddings(write(tmp_path / "1", a=VECTORS, b=VECTORS[:, :4]))
    with pytest.raises(BadInput, match=r"b.npy has float64 numbers, .*a.npy float32"):
        read_embeddings(write(tmp_path / "2", a=VECTORS, b=VECTORS.astype(np.float64)))
    folder = write(tmp_path / "3", a=VECTORS[:2], b=VECTORS[:2])
    (folder / "a.ids.txt").write_text("x\ny\n")
    with pytest.raises(BadInput, match=r"a.npy has ids and .*b.npy none"):
        read_embeddings(folder)
    (folder / "b.ids.txt").write_text("z\nx\n")
    with pytest.raises(DuplicateItem, match=r"id 'x' appears in .*a.npy and in .*b.npy"):
        read_embeddings(folder)
    (folder / "notes.docx").write_text("x")
    with pytest.raises(BadInput, match=r"notes.docx is neither a shard"):
        read_embeddings(folder)
    with pytest.raises(BadInput, match="no vector"):
        read_embeddings(write(tmp_path / "4", a=VECTORS[:0], b=VECTORS[:0]))


def test_nan_in_the_last_shard_names_the_file_and_the_row_of_the_whole(
    tmp_path, monkeypatch, capsys
):
    bad = VECTORS[:100].copy()
    bad[40, 3] = np.nan
    folder = write(tmp_path / "g", a=VECTORS[:1000], b=VECTORS[:500], c=bad)
    np.save(tmp_path / "q.npy", VECTORS[:5])

    with pytest.raises(BadScore, match=r"row 1540, row 40 of .*c.npy, column 3: nan"):
        read_embeddings(folder)
    monkeypatch.setattr(
        sys,
        "argv",
        ["rankwell", "knn", str(folder), str(tmp_path / "q.npy"), "-o", str(tmp_path / "x.run")],
    )
    assert main() == 2
    assert "row 1540, row 40 of" in capsys.readouterr().err
    assert not (tmp_path / "x.run").exists()
