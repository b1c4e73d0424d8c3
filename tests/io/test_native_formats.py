"""The compiled readers of judgments and of tables give what the others give, to the last bit and
the last word of an error.
"""

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from fuzzing import compiled_lines as fuzz_reader
from rankwell._native import native
from rankwell.data.rankings import Hits
from rankwell.data.tables import Judgments
from rankwell.errors import RankwellError
from rankwell.io import formats as io
from rankwell.io import reader
from rankwell.io.formats import Request
from rankwell.io.reader import Scan, read_judged_rows, scan_columns
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.io.trec import read_judgments
from rankwell.store import Source

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)


def both(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> tuple[Any, Any]:
    """What comes out with the kernel and without it, errors included."""

    def outcome() -> Any:
        try:
            return work()
        except RankwellError as error:
            return type(error), str(error)

    compiled = outcome()
    with monkeypatch.context() as patch:
        patch.setattr(native, "library", None)
        return compiled, outcome()


def written(folder: Path, content: bytes, name: str = "qrels") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


# Judgments


QRELS = {
    "usual": b"1 0 b 1\n1 0 a 0\n2 0 a 3\n",
    "tabs, as MS MARCO has them": b"1185869\t0\t0\t1\n1185868\t0\t16\t1\n2\t0\t3\t1\n",
    "any white space": b"2 0 b 1\r\n 1\t0  z\t-1 \r\n\n1 Q0 a 2.5\r\n   \n2\x0b0\x0ca +3e0",
    "no last newline": b"1 0 a 1\n1 0 b 2",
    "scattered queries": b"2 0 a 1\n1 0 a 1\n2 0 b 1\n1 0 b 1\n2 0 A 1\n",
    "ids of any bytes": "q\xa01 0 文書 1\n".encode()
    + b"\xff 0 \xe6 1\n\xff 0 #x 0\nq 0 a\x00b 1\n",
    "ids that begin alike": b"1 0 aaaaaaaa 1\n1 0 aaaaaaaaa 1\n1 0 aaaaaaaab 1\n1 0 aaaaaaa "
    b"0\n12345678 0 a "
    b"1\n123456789 0 a 1\n",
    "comments": b"#x 0 a 1\n# a comment of several words\n #x 0 b 1\n1 0 #b 1\n#",
    "a byte order mark": b"\xef\xbb\xbf1 0 a 1\n",
    "numbers": b"".join(
        b"1 0 d%d %s\n" % (row, text)
        for row, text in enumerate(
            [
                b"-0",
                b"1.",
                b".5",
                b"1e-3",
                b"00012",
                b"9007199254740993",
                b"0.1",
                b"1e22",
                b"123456789.123456789",
            ]
        )
    ),
    "numbers that only Python reads": b"1 0 a 12345678901234567890123\n1 0 b 1e300\n",
    "under aspects": b"1 g b 1\n1 h b 0\n1 g a 1\n2 h a 1\n",
    "twice": b"\n1 0 b 1\n1 0 a 0\n\n1 9 b 0\n",
    "twice, the same": b"1 0 b 1\n2 0 b 1\n1 0 b 1\n",
    "a run": b"1 0 a 1\n\n1 Q0 d 1 0.5 tag\n",
    "too few": b"1 0 a\n",
    "cut off": b"1 0 a 1\n1 0",
    "text": b"1 0 a 1\n1 0 b one\n",
    "nan": b"1 0 a nan\n",
    "infinite": b"1 0 a 1\n1 0 b 1e999\n",
    "underscores": b"1 0 a 1_0\n",
    "nothing": b"",
    "blank": b"\n \n",
}


@pytest.mark.parametrize("what", QRELS)
@pytest.mark.parametrize("aspects", [False, True])
@pytest.mark.parametrize("comments", [False, True])
def test_qrels_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, aspects: bool, comments: bool
) -> None:
    source = Source(written(tmp_path, QRELS[what]))

    request = Request(aspects="groups" if aspects else "none", comments=comments)

    native, plain = both(monkeypatch, lambda: fuzz_reader.judged(read_judgments(source, request)))

    assert native == plain


@pytest.mark.parametrize("seed", range(40))
def test_any_judgments_are_read_alike_or_left(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    content, other = fuzz_reader.made_judgments(rng), fuzz_reader.made_judgments(rng)

    kind, agree = fuzz_reader.compare_judgments(content, tmp_path / "qrels")
    assert agree
    assert kind.startswith("judged") or content.startswith(fuzz_reader.HEADER)
    for _ in range(20):
        assert fuzz_reader.compare_judgments(
            fuzz_reader.mutated(rng, content, other), tmp_path / "qrels"
        )[1]


@pytest.mark.parametrize(
    "path", sorted(fuzz_reader.SEEDS.glob("*.qrels")), ids=lambda path: path.stem
)
def test_judgments_that_fuzzing_left_are_read_alike(path: Path, tmp_path: Path) -> None:
    assert fuzz_reader.compare_judgments(path.read_bytes(), tmp_path / "qrels")[1]


def test_many_judgments_are_read_alike_from_a_file_and_from_a_compressed_one(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    rows = [
        (rng.randrange(900), f"d{item}", rng.randrange(3))
        for item in rng.sample(range(10**6), 20_000)
    ]
    content = "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows).encode()
    wanted = Judgments.from_rows(
        [str(query) for query, _, _ in rows],
        [item for _, item, _ in rows],
        [row[2] for row in rows],
    )

    for name, raw in (("qrels", content), ("qrels.gz", gzip.compress(content))):
        found = read_judged_rows(Source(written(tmp_path, raw, name)))
        assert found is not None
        assert fuzz_reader.judged(found.table()) == fuzz_reader.judged(wanted)


BEIR = {
    "usual": (b"1\tb\t1\n1\ta\t0\n2\ta\t2\n", True),
    "blanks within ids": (b"a query\tb c\t1\n a\tb \t2\n", True),
    "below zero, and no last newline": (b"1\ta\t-1\n1\tb\t12", True),
    "other alphabets, and marks of comments": ("é\t文書\t1\n#1\t#a\t1\n".encode(), True),
    "quotes": (b'1\t"a"\t1\n1\tb""c\t1\n', False),
    "a quoted tab": (b'1\t"a\tb"\t1\n', False),
    "carriage returns": (b"1\ta\t1\r\n1\tb\t1\r\n", False),
    "bytes that are not UTF-8": (b"1\t\xff\t1\n", False),
    "an empty line": (b"1\ta\t1\n\n1\tb\t1\n", False),
    "an empty id": (b"1\t\t1\n", False),
    "no grade": (b"1\ta\t\n", False),
    "too few fields": (b"1\ta\t1\n1\tb\n", False),
    "too many fields": (b"1\ta\t1\n1\tb\t1\t1\n", False),
    "a word for a grade": (b"1\ta\tone\n", False),
    "decimals": (b"1\ta\t1.5\n1\tb\t1e1\n", False),
    "zeros below zero": (b"1\ta\t-0\n1\tb\t007\n", False),
    "twice": (b"1\ta\t1\n1\tb\t1\n1\ta\t0\n", False),
    "no row": (b"", False),
    "a NUL": (b"1\ta\x00b\t1\n", False),
}


@pytest.mark.parametrize("what", BEIR)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_beir_judgments_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, mark: bytes
) -> None:
    content, here = BEIR[what]
    path = written(tmp_path, mark + fuzz_reader.HEADER + content, "test.tsv")

    compiled, plain = both(
        monkeypatch, lambda: fuzz_reader.judged(io.read_judgments(path, format="beir"))
    )

    assert compiled == plain
    assert (read_judged_rows(Source(path), header=fuzz_reader.HEADER) is not None) == here


def test_the_kernel_refuses_a_buffer_without_room_behind() -> None:
    with pytest.raises(ValueError, match="too small"):
        native.library.reader_judgments(bytearray(b"1 0 a 1\n"), 0, 8, False, False, False)
    with pytest.raises(ValueError, match="tabs are combined with aspects"):
        native.library.reader_judgments(bytearray(200), 0, 8, True, False, True)


# Runs


def plain_hits(hits: Hits) -> Any:
    """The hits by the row of the judgments, in plain values."""
    order = np.argsort(hits.row)
    columns = [
        getattr(hits, name)[order].tobytes()
        for name in ("query", "row", "score", "above", "tied", "before")
    ]
    top = hits.top and (
        hits.top.queries,
        hits.top.offsets.tolist(),
        list(hits.top.items),
        hits.top.scores.tobytes(),
    )
    return *columns, hits.n_retrieved.tobytes(), hits.has_ranking.tobytes(), dict(hits.unknown), top


@pytest.mark.parametrize(
    "content",
    [
        b"1\ta\t1\n1\tb\t2\n2\ta\t1\n",
        b"1\tb\t2\r\n1\ta\t1\r\n3\ta\t1",
        b"1 a 1\n2 a 1\n1 b 2\n",
        b"1\ta\t1\n1\ta\t2\n",
        b"1\ta\t1\n1\tb\tx\n",
        b"1\ta\t1\n1\tb\n",
        b"1\ta\t1\n1\tb\t1.5\n",
    ],
)
def test_ms_marco_runs_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    path, truth = (
        written(tmp_path, content, "run.tsv"),
        Judgments.from_dict({"1": {"a": 1, "b": 1}, "2": {"a": 1}}),
    )

    compiled, plain = both(
        monkeypatch, lambda: plain_hits(io.find_hits(path, truth, format="msmarco").hits)
    )

    assert compiled == plain


def table_of(folder: Path, select: str, suffix: str) -> Path:
    path = folder / f"run.{suffix}"
    forms = {
        "parquet": "FORMAT parquet, ROW_GROUP_SIZE 2048",
        "csv": "FORMAT csv, HEADER",
        "jsonl": "FORMAT json",
    }
    with duckdb.connect(":memory:") as session:
        session.execute(f"COPY ({select}) TO '{path}' ({forms[suffix]})")
    return path


# 5,000 rows of 50 queries: more than one batch, with ties of all sizes and ids of all lengths.
ROWS = (
    "SELECT 'q' || lpad((i // 100)::VARCHAR, 3, '0') AS qid, repeat('d', i % 23) || (i * 7919 "
    "% 100)::VARCHAR AS docno, "
    "(i * 31 % 40) / 8.0 AS score FROM range(5000) t(i) ORDER BY i"
)
# Whether the compiled reader takes the rows as they come; None where it takes them once they are
# sorted.
TABLES: dict[str, tuple[str, bool | None]] = {
    "usual": (ROWS, True),
    "whole numbers as ids": (
        ROWS.replace("'q' || lpad((i // 100)::VARCHAR, 3, '0')", "i // 100"),
        True,
    ),
    "scores of 32 bits": (ROWS.replace("(i * 31 % 40) / 8.0", "(sin(i) * 1e3)::FLOAT"), True),
    "ranks": (ROWS.replace("(i * 31 % 40) / 8.0 AS score", "i % 100 + 1 AS rank"), True),
    "large and small scores": (
        ROWS.replace("(i * 31 % 40) / 8.0", "(i % 9 - 4) * 10.0::DOUBLE ** (i % 60 - 30)"),
        True,
    ),
    "other alphabets": (ROWS.replace("repeat('d'", "repeat('é'"), True),
    "scattered": (ROWS.replace("i // 100", "i % 50").replace("i * 7919 % 100", "i * 7919"), None),
    "one query twice": (ROWS.replace("i // 100", "i // 100 % 49"), None),
    "an item twice": (
        ROWS.replace("i % 23", "5").replace("i * 7919 % 100", "i * 7919 % 99"),
        False,
    ),
    "no id": (
        ROWS.replace("repeat('d'", "CASE WHEN i = 4321 THEN NULL ELSE '' END || repeat('d'"),
        False,
    ),
    "no query": (
        ROWS.replace("'q' ||", "CASE WHEN i = 4321 THEN NULL ELSE '' END || 'q' ||"),
        False,
    ),
    "no score": (ROWS.replace("(i * 31 % 40) / 8.0", "CASE WHEN i != 77 THEN i / 8.0 END"), False),
    "no finite score": (
        ROWS.replace("(i * 31 % 40) / 8.0", "CASE WHEN i = 77 THEN 'nan'::DOUBLE ELSE i / 8.0 END"),
        False,
    ),
    "no row": (ROWS.replace("range(5000)", "range(0)"), False),
}


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize(
    "suffix",
    ["parquet", *(pytest.param(text, marks=pytest.mark.slow) for text in ("csv", "jsonl"))],
)
def test_tables_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, suffix: str
) -> None:
    select, here = TABLES[what]
    path = table_of(tmp_path, select, suffix)
    with duckdb.connect(":memory:") as session:
        judged = session.execute(
            f"SELECT qid::VARCHAR, docno, 1 FROM ({select}) WHERE hash(qid, docno) % 3 = 0"
        ).fetchall()
    truth: dict[str, dict[str, float]] = {"absent": {"d": 1.0}, "q001": {}, "1": {}}
    for query, item, grade in judged:
        if query is not None and item is not None and query not in ("q003", "3"):
            truth.setdefault(query, {})[item] = grade
    judgments = Judgments.from_dict(truth)
    taken: list[bool] = []

    original = reader.scan_columns

    def scan(*arguments: Any) -> Hits | None:
        found = original(*arguments)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(reader, "scan_columns", scan)
    # Text is turned into columns by DuckDB, so that one way to read it will do.
    for ties in ("id-desc", "id-asc", "input") if suffix == "parquet" else ("id-desc",):
        for single, keep in ((False, 0), (True, 7)):
            options: Any = {"ties": ties, "single_precision": single, "keep": keep}
            found, plain = both(
                monkeypatch,
                lambda options=options: plain_hits(io.find_hits(path, judgments, **options).hits),
            )
            assert found == plain, (ties, single)
    if suffix == "parquet":
        assert set(taken) == ({False, True} if here is None else {here})


def test_columns_of_another_kind_are_left(tmp_path: Path) -> None:
    judgments, path = Judgments.from_dict({"q": {"d": 1.0}}), str(tmp_path / "x.parquet")
    for select, here in (
        ("SELECT 'q' AS a, 'd' AS b, 1.0::DOUBLE AS c", True),
        ("SELECT 'q' AS a, 'd' AS b, 1.0::FLOAT AS c", False),
        ("SELECT 1 AS a, 'd' AS b, 1.0::DOUBLE AS c", False),
        ("SELECT 'q' AS a, 'd' AS b, 1.0::DOUBLE AS c, 2 AS d", False),
        ("SELECT 'q' AS a, 'd' AS b, [1.0] AS c", False),
        ("SELECT 'q' AS a, '' AS b, 1.0::DOUBLE AS c", False),
        (
            f"SELECT a, b, sum(c) FROM (SELECT 'q' AS a, 'd' AS b, error('no {path}')::DOUBLE "
            "AS c) GROUP BY a, b",
            False,
        ),
    ):
        with duckdb.connect(":memory:") as session:
            try:
                stream = session.sql(select).__arrow_c_stream__()
            except duckdb.Error:
                continue
            assert (scan_columns(stream, judgments, ReadOptions()) is not None) == here, select


def test_a_stream_is_read_once(tmp_path: Path) -> None:
    judgments = Judgments.from_dict({"q": {"d": 1.0}})
    with duckdb.connect(":memory:") as session:
        stream = session.sql("SELECT 'q' AS a, 'd' AS b, 1.0::DOUBLE AS c").__arrow_c_stream__()
        assert scan_columns(stream, judgments, ReadOptions()) is not None
        assert scan_columns(stream, judgments, ReadOptions()) is None
    with pytest.raises(ValueError, match="PyCapsule"):
        scan_columns(native.library.reader_table((), [], np.array([0])), judgments, ReadOptions())


def test_slices_and_wide_offsets_of_arrow_are_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    judgments = Judgments.from_dict({"q": {"d3": 1.0, "d7": 2.0}, "p": {"d1": 1.0}})
    kinds = (arrow.string(), arrow.large_string())
    names, items, scores = (
        ["p"] * 5 + ["q"] * 10,
        [f"d{row}" for row in range(15)],
        [float(row % 4) for row in range(15)],
    )
    lines = [
        f"{query} Q0 {item} 1 {score} t\n"
        for query, item, score in zip(names, items, scores, strict=True)
    ]
    wanted = Scan(
        Source(written(tmp_path, "".join(lines[1:9]).encode())), judgments, TREC_RUN, ReadOptions()
    ).hits(judgments)
    assert wanted is not None
    for kind in kinds:
        table = arrow.table(
            {
                "q": arrow.array(names, kind),
                "d": arrow.array(items, kind),
                "s": arrow.array(scores, arrow.float64()),
            }
        )
        found = scan_columns(table.slice(1, 8).__arrow_c_stream__(), judgments, ReadOptions())
        assert found is not None
        assert plain_hits(found) == plain_hits(wanted)
