"""Text files and tables that are valid in an unusual way are read as they are; two readings of one
file are an error.
"""

import csv
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rankwell.errors import BadInput
from rankwell.io import formats as files
from rankwell.io import matrices
from rankwell.io import records as columns
from rankwell.store import Head, Source

QRELS = "1 0 a 1\n2 0 b 1\n"
LONG = 5 << 20


def evaluate(
    folder: Path, name: str, content: str, *words: str, **settings: str
) -> "subprocess.CompletedProcess[str]":
    """`rankwell evaluate` of a run under judgments of a and b, in a process of its own."""
    (folder / "qrels").write_text(QRELS)
    (folder / name).write_text(content, encoding="utf-8", newline="")
    command = [
        sys.executable,
        "-m",
        "rankwell",
        "evaluate",
        "qrels",
        name,
        "-m",
        "RR",
        "--format",
        "csv",
        *words,
    ]
    settings = {**os.environ, **settings}
    return subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, text=True, timeout=100, check=False
    )


def ranks(done: "subprocess.CompletedProcess[str]") -> float:
    assert done.returncode == 0, done.stderr[-800:]
    return float(next(csv.DictReader(io.StringIO(done.stdout)))["mean"])


def table(*rows: str, delimiter: str = ",", first: str = "") -> str:
    lines = ["query,docno,score", "1,a,2", "2,c,1", *rows, "2,b,0.5"]
    return first + "".join(line.replace(",", delimiter) + "\n" for line in lines)


@pytest.mark.parametrize("kernel", ["native", "numpy"])
@pytest.mark.parametrize(
    "line",
    [
        f"2 Q0 {'x' * LONG} 1 1 t",
        f"2 Q0 c 1 1 {'x' * LONG}",
        f"2 Q0 c {' ' * LONG} 1 1 t",
        f"{'9' * LONG} Q0 c 1 1 t",
    ],
    ids=["item", "tag", "blanks", "query"],
)
def test_a_line_of_five_mebibytes_is_read_by_both_readers(
    tmp_path: Path, line: str, kernel: str
) -> None:
    content = f"1 Q0 a 1 3 t\n{line}\n2 Q0 b 2 0.5 t\n"
    expected = 1.0 if line.startswith("9") else 0.75

    done = evaluate(tmp_path, "long.run", content, RANKWELL_KERNEL=kernel)

    assert ranks(done) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("blank.csv", table(first="\n \n")),
        ("comment.csv", table(first="# made by a tool\n")),
        ("return.tsv", table("2,d\re,0.1", delimiter="\t")),
        ("return.csv", table('2,"d\re",0.1')),
        (
            "wide.csv",
            table()
            .replace("score", "score," + "x" * 140_000)
            .replace("\n", ",y\n")
            .replace("x,y\n", "x\n"),
        ),
        (
            "cell.csv",
            table()
            .replace("score", "score,text")
            .replace("\n", "," + "y" * 140_000 + "\n")
            .replace("text,", "text"),
        ),
        (
            "separator.jsonl",
            '{"query":"1","docno":"a","score":1}\n{"query":"2","docno":"\u2028","score":1}\n'
            '{"query":"2","docno":"b","score":0}\n',
        ),
    ],
)
def test_an_unusual_table_is_read(tmp_path: Path, name: str, content: str) -> None:
    assert ranks(evaluate(tmp_path, name, content)) == 0.75


def test_a_comment_before_the_header_leaves_the_header_a_header(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("# a comment\nid,text\n1,one\n2,two\n")

    assert files.read_texts(tmp_path / "texts.csv").texts == {"1": "one", "2": "two"}


def test_scores_with_a_header_above_64_kibibytes_are_read(tmp_path: Path) -> None:
    items = [f"item{number:0126d}" for number in range(600)]
    rows = [f"q{row}," + ",".join(str(row + number) for number in range(600)) for row in range(2)]
    (tmp_path / "scores.csv").write_text("\n".join(["query," + ",".join(items), *rows]) + "\n")

    found = matrices.read_scores(tmp_path / "scores.csv")

    assert found.matrix.shape == (2, 600)
    assert list(found.item_ids or ()) == items


def test_items_whose_names_differ_in_case_alone_are_two_columns(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("query,aB,Ab\nq,1.5,2\nr,3,4\n")

    found = matrices.read_scores(tmp_path / "scores.csv")

    assert list(found.item_ids or ()) == ["aB", "Ab"]
    assert found.matrix.tolist() == [[1.5, 2], [3, 4]]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_two_scores_that_differ_in_case_are_an_error(tmp_path: Path, kind: str) -> None:
    place = tmp_path / f"two.{kind}"
    cells = {"query": ["1", "2"], "docno": ["a", "b"], "Score": [1.0, 2.0], "score": [2.0, 1.0]}
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(cells), place)
    else:
        rows = list(zip(*cells.values(), strict=True))
        lines = [",".join(map(str, row)) for row in (cells, *rows)]
        place.write_text(
            "\n".join(
                lines
                if kind == "csv"
                else [json.dumps(dict(zip(cells, row, strict=True))) for row in rows]
            )
        )

    with pytest.raises(BadInput, match="'Score' and 'score' mean the same"):
        files.read_ranking(place)


def test_booleans_are_not_scores(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    predictions = {
        "mteb_model_meta": {},
        "default": {"test": {"1": {"a": True}, "2": {"b": False}}},
    }
    frame = pandas.DataFrame(
        {"query": ["1"], "docno": ["a"], "score": np.array([np.True_], dtype=object)}
    )

    done = evaluate(tmp_path, "mteb.json", json.dumps(predictions))

    assert (done.returncode, "True (a boolean)" in done.stderr) == (2, True)
    with pytest.raises(BadInput, match="True"):
        files.read_ranking(frame)


def test_only_line_ends_separate_numbers(tmp_path: Path) -> None:
    (tmp_path / "numbers").write_text("1\n2\f\r\n3", encoding="utf-8", newline="")
    (tmp_path / "joined").write_text("0\n1\f2\n3\u20284\n", encoding="utf-8", newline="")

    assert columns.read_numbers(tmp_path / "numbers").tolist() == [1, 2, 3]
    with pytest.raises(BadInput, match=r"joined:2: '1\\x0c2'"):
        columns.read_numbers(tmp_path / "joined")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize("name", ["big.csv", "big.parquet", "big.jsonl"])
def test_a_full_disk_ends_a_conversion_in_one_sentence(tmp_path: Path, name: str) -> None:
    import resource

    rng = np.random.default_rng(0)
    (tmp_path / "big.run").write_text(
        "".join(f"q Q0 {rng.bytes(9).hex()} 1 {rng.random()!r} t\n" for _ in range(20_000))
    )

    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "convert", "big.run", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr[-800:]
    assert [each.name for each in tmp_path.iterdir()] == ["big.run"]


def _state(word: int) -> int:
    """The hash of the old kernel behind the first of two words of eight bytes."""
    state = ((16 * 0x9E3779B97F4A7C15 ^ word) * 0xC2B2AE3D27D4EB4F) % 2**64
    return state ^ state >> 32


def test_ids_made_to_share_slots_take_no_longer_than_others(tmp_path: Path) -> None:
    # Numbers of which the hash of 5a950af keeps the lower 24 bits equal: its last steps, backwards.
    rng = np.random.default_rng(0)
    crafted, plain = list[bytes](), list[bytes]()
    golden, odd = pow(0x9E3779B97F4A7C15, -1, 2**64), pow(0xC2B2AE3D27D4EB4F, -1, 2**64)
    while len(crafted) < 40_000:
        first, high = (
            int.from_bytes(b"%08x" % len(plain), "little"),
            int(rng.integers(0, 2**40)) << 24,
        )
        hashed = ((high ^ high >> 32) * golden) % 2**64
        second = (((hashed ^ hashed >> 32) * odd) % 2**64) ^ _state(first)
        ids = first.to_bytes(8, "little") + second.to_bytes(8, "little")
        plain.append(b"%016x" % len(plain))
        if min(ids) > 0x20:
            crafted.append(ids)
    seconds = list[float]()
    for ids in (crafted, plain[:40_000]):
        (tmp_path / "run").write_bytes(
            b"".join(b"1 Q0 %b 1 %d t\n" % (each, row) for row, each in enumerate(ids))
        )
        start = time.process_time()
        found = files.find_hits(
            tmp_path / "run", files.read_judgments({"1": {"a": 1}}), format="trec"
        )
        seconds.append(time.process_time() - start)
        assert found.hits.n_retrieved.tolist() == [40_000]

    assert seconds[0] < 5 * seconds[1] + 0.1


def test_no_output_depends_on_the_seed_of_the_hash(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{query} Q0 {item} 1 {rng.integers(5)} t" for query in range(9) for item in "abcdefgh"
    ]
    content = "\n".join(rng.permutation(lines))

    outputs = {
        evaluate(tmp_path, "run", content, "--per-query", PYTHONHASHSEED=seed).stdout
        for seed in ("0", "1", "77")
    }

    assert len(outputs) == 1
    assert outputs != {""}


@pytest.mark.parametrize("length", [70_000, 2_000_000])
def test_a_long_text_may_be_the_first(tmp_path: Path, length: int):
    file = tmp_path / "corpus.jsonl"
    file.write_text(
        "".join(
            json.dumps({"_id": name, "text": "x" * n}) + "\n"
            for name, n in (("a", length), ("b", 2))
        )
    )

    assert {name: len(text) for name, text in files.read_texts(file).texts.items()} == {
        "a": length,
        "b": 2,
    }


@pytest.mark.parametrize("form", ["{}\n{}\n", "[{}, {}]"])
@pytest.mark.parametrize(
    "keys", [("id", "text"), ("text", "id"), ("title", "_id", "text"), ("docid", "url", "body")]
)
def test_a_long_text_may_be_anywhere_in_the_first_object(
    tmp_path: Path, keys: tuple[str, ...], form: str
):
    file = tmp_path / "documents.jsonl"
    rows = [{key: name if "id" in key else "x" * 70_000 for key in keys} for name in "ab"]
    file.write_text(form.format(*map(json.dumps, rows)))

    assert set(files.read_texts(file).texts) == {"a", "b"}
    assert files.read_column(f"{file}:{keys[1]}") == [row[keys[1]] for row in rows]


def test_judgments_may_have_a_long_text_in_the_first_object(tmp_path: Path):
    file = tmp_path / "judgments.jsonl"
    rows = [{"passage": "x" * 700_000, "query": "q", "item": item, "grade": 1} for item in "ab"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert files.read_judgments(file).to_dict() == {"q": {"a": 1.0, "b": 1.0}}


def test_an_object_that_never_ends_is_read_no_further_than_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rankwell.store.places._LONGEST_OBJECT", 1 << 17)
    file = tmp_path / "documents.jsonl"
    file.write_text('{"text": "' + "x" * 2_000_000 + '", "id": "a"}\n')
    head = Head.of(Source(file))

    assert head.with_record is head
    with pytest.raises(
        BadInput,
        match=r"documents\.jsonl:1: .*the first object of JSON is not complete, or longer than 32 "
        r"MiB",
    ):
        files.read_texts(file)
