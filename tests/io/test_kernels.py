"""The plain reader of runs against a reader of dictionaries and loops, however a file is written
and cut into blocks.
"""

import gzip
import io
import math
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwell._native import native
from rankwell.data.rankings import Hits
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine, BadScore, DuplicateItem
from rankwell.io.reader import lines as plain
from rankwell.io.reader import scan
from rankwell.io.reader.lines import MSMARCO_RUN, TREC_RUN, Layout, ReadOptions, read_rows
from rankwell.store import Source

TIES = ("id-desc", "id-asc", "input")


class Memory(Source):
    """A source whose bytes are in memory, so that a test need not write a file for every
    example.
    """

    def __init__(self, content: bytes) -> None:
        self.name, self.file, self._piped = "run", None, content


# The oracle: dictionaries, loops and Python's own float.


def rows_of(
    content: bytes, layout: Layout = TREC_RUN, *, comments: bool = False
) -> dict[bytes, list[tuple[bytes, float]]]:
    found: dict[bytes, list[tuple[bytes, float]]] = {}
    for line in content.split(b"\n"):
        fields = line.split()
        if not fields or (comments and fields[0].startswith(b"#")):
            continue
        score = float(fields[layout.value]) * (-1 if layout.by_rank else 1)
        found.setdefault(fields[layout.query], []).append((fields[layout.item], score))
    return found


def ordered(rows: Sequence[tuple[bytes, float]], ties: str) -> list[tuple[bytes, float]]:
    if ties == "input":
        return sorted(rows, key=lambda row: -row[1])
    by_id = sorted(rows, key=lambda row: row[0], reverse=ties == "id-desc")
    return sorted(by_id, key=lambda row: -row[1])


def expected(
    content: bytes, truth: dict[str, dict[str, float]], *, ties: str, single: bool, keep: int
) -> dict[str, Any]:
    known = {query.encode("utf-8", "surrogateescape"): graded for query, graded in truth.items()}
    counts, retrieved, top = {}, {}, {}
    unknown = {}
    for query, rows in rows_of(content).items():
        name = query.decode("utf-8", "surrogateescape")
        if query not in known:
            unknown[name] = len(rows)
            continue
        if single:
            rows = [(item, struct.unpack("f", struct.pack("f", score))[0]) for item, score in rows]
        retrieved[name] = len(rows)
        final = ordered(rows, ties)
        if keep:
            top[name] = [
                (item.decode("utf-8", "surrogateescape"), score) for item, score in final[:keep]
            ]
        for item, score in rows:
            text = item.decode("utf-8", "surrogateescape")
            if text in known[query]:
                above = sum(other > score for _, other in rows)
                tied = sum(other == score for _, other in rows)
                counts[name, text] = (score, above, tied, final.index((item, score)) - above)
    return {"counts": counts, "retrieved": retrieved, "unknown": unknown, "top": top}


def described(hits: Hits, judgments: Judgments) -> dict[str, Any]:
    counts = {}
    for query, row, score, above, tied, before in zip(
        hits.query.tolist(),
        hits.row.tolist(),
        hits.score.tolist(),
        hits.above.tolist(),
        hits.tied.tolist(),
        hits.before.tolist(),
        strict=True,
    ):
        counts[judgments.queries[query], judgments.items[row]] = (score, above, tied, before)
    top: dict[str, list[tuple[str, float]]] = {}
    if hits.top is not None:
        for query, start, stop in zip(
            hits.top.queries, hits.top.offsets[:-1], hits.top.offsets[1:], strict=True
        ):
            top[query] = list(
                zip(hits.top.items[start:stop], hits.top.scores[start:stop].tolist(), strict=True)
            )
    present = [
        query
        for query, there in zip(judgments.queries, hits.has_ranking.tolist(), strict=True)
        if there
    ]
    retrieved = {query: int(hits.n_retrieved[judgments.index[query]]) for query in present}
    return {"counts": counts, "retrieved": retrieved, "unknown": dict(hits.unknown), "top": top}


def scanned(
    content: bytes, truth: dict[str, dict[str, float]], *, size: int = 1 << 20, **reading: Any
) -> Hits:
    layout = reading.pop("layout", TREC_RUN)
    return plain.scan(
        Memory(content), Judgments.from_dict(truth), layout, ReadOptions(**reading), block_size=size
    )


def same_bytes(one: Hits, other: Hits) -> bool:
    columns = ("query", "row", "score", "above", "tied", "before", "n_retrieved", "has_ranking")
    arrays = all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in columns)
    return arrays and list(one.unknown.items()) == list(other.unknown.items())


# Generated files.

SEPARATORS = (b" ", b" ", b" ", b"\t", b"  ", b" \t ", b"\v", b"\f", b"\r")
SCORE_FORMS = (
    lambda value: b"%.6f" % value,
    lambda value: b"%.1f" % value,
    lambda value: repr(value).encode(),
    lambda value: b"%d" % value,
    lambda value: b"%.3e" % value,
    lambda value: b"%+.2f" % value,
    lambda value: b"%.17g" % value,
)
ITEM_FORMS = (
    lambda number: b"%d" % number,
    lambda number: b"D%07d" % number,
    lambda number: b"clueweb09-en%04d-%02d-%05d" % (number % 7, number % 3, number),
    lambda number: "Öffnung-é%d".encode() % number,
    lambda number: b"\xff\xfe\x01%d" % number,
    lambda number: b"x" * (number % 40) + b"%d" % number,
    lambda number: b"a.b#%d" % number,
)


def awkward(seed: int) -> tuple[bytes, dict[str, dict[str, float]]]:
    """A run of up to 400 lines and its judgments: forms, white space, order of lines and ties drawn
    at random.
    """
    rng = random.Random(seed)
    item_form, score_form = rng.choice(ITEM_FORMS), rng.choice(SCORE_FORMS)
    names = rng.choice(
        (
            [b"1", b"2", b"10", b"x"],
            [b"301", b"302", b"303", b"304"],
            [b"long-query-name-%d" % n for n in range(9)],
        )
    )
    regular, distinct = rng.random() < 0.4, rng.choice((3, 20, 10**6))
    lines, truth = [], {}
    for name in names:
        depth = rng.choice((1, 2, 7, 60))
        items = rng.sample(range(200), depth)
        for rank, number in enumerate(items, 1):
            fields = [
                name,
                b"Q0",
                item_form(number),
                b"%d" % rank,
                score_form(rng.randrange(distinct) / 7 - 1),
                b"tag",
            ]
            between = [b" "] * 5 if regular else [rng.choice(SEPARATORS) for _ in range(5)]
            line = b"".join(field + gap for field, gap in zip(fields, [*between, b""], strict=True))
            if not regular and rng.random() < 0.2:
                line = rng.choice((b" ", b"\t ")) + line + rng.choice((b" ", b"\r", b""))
            lines.append(line)
            if not regular and rng.random() < 0.05:
                lines.append(rng.choice((b"", b"  ", b"\r")))
        if rng.random() < 0.8:
            judged = rng.sample(range(200), 30)
            truth[name.decode()] = {
                item_form(number).decode("utf-8", "surrogateescape"): 1.0 for number in judged
            }
    truth["absent"] = {"d": 1.0}
    if rng.random() < 0.4:
        rng.shuffle(lines)
    return b"\n".join(lines) + rng.choice((b"\n", b"", b"\n\n")), truth


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    size=st.sampled_from((64, 100, 257, 1024, 1 << 20)),
    ties=st.sampled_from(TIES),
    single=st.booleans(),
    keep=st.sampled_from((0, 1, 5, 100)),
)
def test_any_file_gives_what_dictionaries_and_loops_give(
    seed: int, size: int, ties: str, single: bool, keep: int
):
    content, truth = awkward(seed)

    hits = scanned(content, truth, size=size, ties=ties, single_precision=single, keep=keep)

    wanted = expected(content, truth, ties=ties, single=single, keep=keep)
    assert described(hits, Judgments.from_dict(truth)) == wanted


@pytest.mark.parametrize("seed", range(12))
def test_block_size_does_not_change_a_byte(seed: int):
    content, truth = awkward(1000 + seed)

    whole = scanned(content, truth)

    for size in (64, 90, 333, 4096):
        assert same_bytes(whole, scanned(content, truth, size=size))


def test_an_item_is_counted_among_its_query_only():
    content = b"1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n2 Q0 a 1 9.0 t\n"

    hits = scanned(content, {"1": {"a": 1, "b": 0}, "2": {"b": 1}})

    assert hits.query.tolist() == [0, 0]
    assert hits.above.tolist() == [0, 1]
    assert hits.n_retrieved.tolist() == [2, 1]


def test_a_query_that_returns_after_another_is_one_query():
    content = b"1 Q0 a 1 3.0 t\n2 Q0 a 1 9.0 t\n1 Q0 b 2 4.0 t\n"

    hits = scanned(content, {"1": {"a": 1}})

    assert hits.above.tolist() == [1]
    assert hits.n_retrieved.tolist() == [2]
    assert dict(hits.unknown) == {"2": 1}


def test_ties_are_broken_by_bytes_and_not_by_code_points():
    low, high = "\uffee".encode(), "\U00010000".encode()
    content = b"".join(b"1 Q0 %s 1 2.5 t\n" % item for item in (low, high, b"z"))

    hits = scanned(content, {"1": {low.decode(): 1, high.decode(): 1, "z": 1}})

    judgments = Judgments.from_dict({"1": {low.decode(): 1, high.decode(): 1, "z": 1}})
    before = {
        judgments.items[row]: place
        for row, place in zip(hits.row.tolist(), hits.before.tolist(), strict=True)
    }
    assert before == {high.decode(): 0, low.decode(): 1, "z": 2}


def test_zero_and_minus_zero_are_tied():
    hits = scanned(b"1 Q0 a 1 0.0 t\n1 Q0 b 2 -0.0 t\n", {"1": {"a": 1}})

    assert (hits.tied.tolist(), hits.before.tolist()) == ([2], [1])


def test_single_precision_makes_ties_of_scores_that_differ_in_the_ninth_digit():
    content = b"1 Q0 a 1 12.3456791 t\n1 Q0 b 2 12.3456790 t\n"

    assert scanned(content, {"1": {"b": 1}}).above.tolist() == [1]
    hits = scanned(content, {"1": {"b": 1}}, single_precision=True)
    assert (hits.above.tolist(), hits.tied.tolist()) == ([0], [2])


# White space, comments, columns.


@pytest.mark.parametrize(
    "content",
    [
        b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n",
        b"1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t1.5\tt\n",
        b"1 Q0 a\t1  2.5 \t t\r\n  1 Q0 b 2 1.5 t\r\n",
        b"\n\n1 Q0 a 1 2.5 t\n \t \n1 Q0 b 2 1.5 t",
        b"1\x0bQ0\x0ca 1 2.5 t \n1 Q0 b 2 1.5 t\x0c\n",
    ],
)
def test_any_white_space_separates(content: bytes):
    hits = scanned(content, {"1": {"b": 1}})

    assert (hits.above.tolist(), hits.n_retrieved.tolist(), hits.score.tolist()) == (
        [1],
        [2],
        [1.5],
    )


def test_comment_lines_are_ignored_where_comments_are_allowed():
    content = b"# made by x\n1 Q0 a 1 2.5 t\n  # more\n1 Q0 b#1 2 1.5 t\n"

    hits = scanned(content, {"1": {"b#1": 1}}, comments=True)

    assert (hits.above.tolist(), hits.n_retrieved.tolist()) == ([1], [2])


def test_a_line_that_begins_with_a_hash_is_an_ordinary_line_otherwise():
    hits = scanned(b"#1 Q0 a 1 2.5 t\n", {"#1": {"a": 1}})

    assert hits.n_retrieved.tolist() == [1]


def test_fields_behind_the_tag_are_skipped_only_on_request():
    content = b"1 Q0 a 1 2.5 my run\n1 Q0 b 2 1.5 t\n"

    assert scanned(content, {"1": {"b": 1}}, trailing=True).above.tolist() == [1]
    with pytest.raises(BadLine, match=r"run:1: 7 fields"):
        scanned(content, {"1": {"b": 1}})


def test_control_characters_are_part_of_an_id():
    hits = scanned(b"1 Q0 a\x00\x01b 1 2.5 t\n", {"1": {"a\x00\x01b": 1}})

    assert hits.row.tolist() == [0]


def test_an_ms_marco_run_is_ordered_by_its_rank():
    hits = scanned(b"1\tb\t2\n1\ta\t1\n", {"1": {"b": 1}}, layout=MSMARCO_RUN)

    assert (hits.above.tolist(), hits.score.tolist()) == ([1], [-2.0])


def test_the_rank_of_an_ms_marco_run_is_an_integer():
    with pytest.raises(
        BadScore, match=r"run:2: the rank is '2.5' in '1\\tb\\t2.5'; a rank is an integer"
    ):
        scanned(b"1\ta\t1\n1\tb\t2.5\n", {"1": {"b": 1}}, layout=MSMARCO_RUN)


# Mistakes.


def with_line(bad: bytes, at: int, lines: int = 60) -> bytes:
    """A run with a bad line at a given place, a blank one before it."""
    good = [b"%d Q0 d%d %d %.6f tag" % (n // 10, n, n, 90 - n) for n in range(lines)]
    good[at - 1] = bad
    good[3] = b""
    return b"\n".join(good) + b"\n"


@pytest.mark.parametrize("size", [64, 200, 1 << 20])
@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (
            b"5 0 d 1",
            BadLine,
            r"run:47: 4 fields in '5 0 d 1', a TREC run line has 6 \(query Q0 item .*is this "
            r"a qrels file\?",
        ),
        (
            b"5 Q0 d 1 2.5",
            BadLine,
            r"run:47: 5 fields in '5 Q0 d 1 2.5', a TREC run line has 6 .*correct",
        ),
        (b"5 Q0 d 1 2.5 t u", BadLine, r"run:47: 7 fields"),
        (b"word", BadLine, r"run:47: 1 field in 'word'"),
        (
            b"5 Q0 d 1 high t",
            BadScore,
            r"run:47: the score is 'high' in '5 Q0 d 1 high t'; a score is a finite number",
        ),
        (b"5 Q0 d 1 nan t", BadScore, r"run:47: the score is 'nan'"),
        (b"5 Q0 d 1 -inf t", BadScore, r"run:47: the score is '-inf'"),
        (b"5 Q0 d 1 1e999 t", BadScore, r"run:47: the score is '1e999'"),
        (b"5 Q0 d 1 0x1p3 t", BadScore, r"run:47: the score is '0x1p3'"),
        (b"5 Q0 d 1 1_000 t", BadScore, r"run:47: the score is '1_000'"),
        (b"5 Q0 d 1 1.2.3 t", BadScore, r"run:47: the score is '1.2.3'"),
        (b"5 Q0 d 1 . t", BadScore, r"run:47: the score is '.'"),
        (b"5 Q0 d 1 \xff\xfe t", BadScore, r"run:47: the score is '\\\\xff\\\\xfe'"),
    ],
)
def test_a_line_that_is_none_is_named_with_its_number(
    bad: bytes, error: type[BadInput], text: str, size: int
):
    for truth in ({str(n): {"d1": 1.0} for n in range(9)}, {"99": {"d1": 1.0}}):
        with pytest.raises(error, match=text):
            scanned(with_line(bad, 47), truth, size=size)


def test_a_long_line_is_shown_in_part():
    with pytest.raises(BadLine) as caught:
        scanned(b"x" * 5000 + b"\n", {"1": {"a": 1}})

    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("size", [64, 200, 1 << 20])
@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("item", [b"d41", b"d-judged"])
def test_an_item_listed_twice_is_refused_with_both_lines(item: bytes, scattered: bool, size: int):
    content = with_line(b"4 Q0 %s 9 1.0 t" % item, 42).replace(b"4 Q0 d44 44", b"4 Q0 %s 44" % item)
    content += b"0 Q0 z 1 1.0 t\n" if scattered else b""
    truth = {str(n): {"d-judged": 1.0} for n in range(9)}

    with pytest.raises(
        DuplicateItem,
        match=rf"run:45: query '4' lists item '{item.decode()}' twice, in lines 42 and 45;",
    ):
        scanned(content, truth, size=size)


def test_of_several_duplicates_the_one_that_ends_first_is_named():
    rows = [(b"1", b"a"), (b"1", b"b"), (b"1", b"b"), (b"1", b"a"), (b"2", b"c"), (b"2", b"c")]
    content = b"".join(b"%s Q0 %s 1 1.5 t\n" % row for row in rows)

    for late in (b"", b"1 Q0 z 1 1.0 t\n"):
        with pytest.raises(DuplicateItem, match=r"item 'b' twice, in lines 2 and 3"):
            scanned(content + late, {"1": {"x": 1}, "2": {"x": 1}})


def test_one_item_in_two_queries_is_not_a_duplicate():
    hits = scanned(b"1 Q0 a 1 1.5 t\n2 Q0 a 1 1.5 t\n", {"1": {"a": 1}, "2": {"a": 1}})

    assert hits.tied.tolist() == [1, 1]


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\n"])
def test_a_file_without_a_line_is_refused(content: bytes):
    with pytest.raises(
        BadInput, match=r"run: there is no line in it; a TREC run has lines of query Q0"
    ):
        scanned(content, {"1": {"a": 1}})


def test_a_damaged_archive_is_an_error_with_its_name(tmp_path: Path):
    whole = gzip.compress(b"".join(b"1 Q0 d%d 1 %d.5 t\n" % (n, -n) for n in range(50_000)))
    path = tmp_path / "run.gz"
    path.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(BadInput, match=r"run\.gz"):
        scan(Source(path), Judgments.from_dict({"1": {"d1": 1}}), TREC_RUN, ReadOptions())


# Sources and progress.


def test_a_compressed_file_gives_the_same_hits(tmp_path: Path):
    content, truth = awkward(5)
    plain, packed = tmp_path / "run.txt", tmp_path / "run.txt.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    judgments = Judgments.from_dict(truth)

    one, other = (
        scan(Source(path), judgments, TREC_RUN, ReadOptions()) for path in (plain, packed)
    )

    assert same_bytes(one, other)


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "sys.stdin",
        io.TextIOWrapper(io.BytesIO(b"1 Q0 a 1 2.5 t\n2 Q0 a 1 1.5 t\n1 Q0 b 1 3.5 t\n")),
    )

    hits = scan(Source("-"), Judgments.from_dict({"1": {"a": 1}}), TREC_RUN, ReadOptions())

    assert hits.above.tolist() == [1]


def test_progress_reaches_the_size_of_the_file(tmp_path: Path):
    path = tmp_path / "run.txt"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 1.5 t\n" % (n // 10, n) for n in range(1000)))
    told: list[tuple[int, int]] = []

    plain.scan(
        Source(path),
        Judgments.from_dict({"1": {"a": 1}}),
        TREC_RUN,
        ReadOptions(),
        block_size=1000,
        progress=lambda done, total: told.append((done, total)),
    )

    size = path.stat().st_size
    assert told == sorted(told)
    assert told[-1] == (size, size)
    assert len(told) > 5


@pytest.mark.parametrize("seed", range(40))
def test_every_row_is_the_same_without_the_compiled_kernel(
    monkeypatch: pytest.MonkeyPatch, seed: int
):
    content = (
        awkward(seed)[0]
        + (b"", b"\n#8 Q0 a 1_0 1e3 t u", b"\n8 Q0 a -0x1 1e999 t", b"\n8 Q0 a 1 1_0 t\n8 Q0 a")[
            seed % 4
        ]
    )

    def read() -> object:
        try:
            columns = read_rows(
                Memory(content), ReadOptions(comments=seed % 3 == 0, trailing=seed % 5 == 0)
            )
        except BadInput as error:
            return type(error), str(error)
        return columns.queries, columns.items, *(each.tobytes() for each in columns[2:])

    compiled = read()
    monkeypatch.setattr(native, "library", None)
    assert read() == compiled


def test_every_row_is_available_with_its_line():
    columns = read_rows(Memory(b"2 Q0 a 1 2.5 t\n\n1 Q0 b x 1.5 t\n"), ReadOptions())

    assert (columns.queries, columns.items) == (["2", "1"], ["a", "b"])
    assert columns.scores.tolist() == [2.5, 1.5]
    assert columns.lines.tolist() == [1, 3]
    assert columns.ranks[0] == 1
    assert math.isnan(columns.ranks[1])


def test_of_several_mistakes_the_first_line_is_named_whatever_is_wrong_with_it():
    content = b"1 Q0 a 1 2.5 t\n1 Q0 a 1 2.5 t\n1 Q0 b 1 high t\n1 Q0 c 1 2.5\n"

    with pytest.raises(BadScore, match="run:3: "):
        scanned(content, {"1": {"a": 1}})


@pytest.mark.parametrize(
    ("ties", "expected"), [("id-desc", ["c", "b", "a", "d"]), ("id-asc", ["a", "b", "c", "d"])]
)
def test_scores_beyond_single_precision_are_tied(ties, expected, tmp_path):
    (tmp_path / "run").write_text(
        "1 Q0 b 1 1e300 t\n1 Q0 c 2 1e301 t\n1 Q0 a 3 1e302 t\n1 Q0 d 4 1.0 t\n"
    )
    reading = ReadOptions(ties=ties, single_precision=True, keep=4)

    hits = plain.scan(
        Source(tmp_path / "run"), Judgments.from_dict({"1": {"b": 1}}), TREC_RUN, reading
    )

    assert list(hits.top.items) == expected
