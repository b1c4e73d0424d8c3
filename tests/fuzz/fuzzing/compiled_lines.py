"""Mutated and random runs and judgments through the compiled readers and the others.

What the one makes of a file must be what the other makes of it, to the last bit and the last word
of an error. A file for which that was not so belongs into tests/reader_seeds/, where the tests read
it ever after. Judgments and options are drawn from the bytes of a file, so that these are all that
must be kept. Runs end in .run there, judgments in .qrels: TREC's, and BEIR's, which DuckDB reads
otherwise.
"""

import hashlib
import random
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from rankwell._native import native
from rankwell.data.rankings import Hits
from rankwell.data.tables import TIE_RULES, Judgments
from rankwell.errors import RankwellError
from rankwell.io import reader
from rankwell.io.formats import FORMATS, Aspects, Request
from rankwell.io.reader import Scan, read_judged_rows
from rankwell.io.reader import lines as plain
from rankwell.io.reader.lines import MSMARCO_RUN, TREC_RUN, Layout, ReadOptions
from rankwell.store import Source, decode_id

SEEDS = Path(__file__).resolve().parents[2] / "reader_seeds"
LARGEST = 20_000
PIECES = (
    *(
        b" ",
        b"  ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"\v",
        b"\f",
        b"\x00",
        b"\x1c",
        b"\xff",
        b"#",
        b"\n#",
        b"\n\n",
        b"Q0",
    ),
    *(
        b"-",
        b"+",
        b".",
        b"e",
        b"E",
        b"_",
        b"inf",
        b"nan",
        b"0x1p3",
        b"e-5",
        b"e+300",
        b"e-400",
        b"-0.0",
        b"1e999",
        b"0" * 30,
    ),
    *(
        b"9007199254740993",
        b"123456789012345678",
        b"0.1",
        b"1e22",
        b"1e23",
        b".5",
        b"5.",
        b"\xef\xbb\xbf",
        b"\xc3\xa9",
        b"9" * 400,
    ),
)

HEADER = b"query-id\tcorpus-id\tscore\n"
WHITE = (b"\t", b"  ", b" \t ", b"\v", b"\f ", b"\r", b" \r", b"\t\t")


class Case(NamedTuple):
    """The settings of a reader. part: the size from which a part of the file has a thread of its
    own.
    """

    truth: dict[str, dict[str, float]]
    layout: Layout
    reading: ReadOptions
    block: int
    part: int
    threads: int


def case_of(content: bytes, other: Layout | None = None) -> Case:
    """Judgments and options for a file, the same for the same bytes. other: its layout, where it is
    not drawn.
    """
    rng = random.Random(hashlib.sha256(content).digest())
    layout = MSMARCO_RUN if rng.random() < 0.1 else TREC_RUN
    layout = other or layout
    truth: dict[str, dict[str, float]] = {"absent": {"d": 1.0}}
    share = rng.choice((0.02, 0.3, 1.0))
    for line in content.split(b"\n"):
        fields = line.split()
        if len(fields) > max(layout.query, layout.item) and rng.random() < share:
            truth.setdefault(decode_id(fields[layout.query]), {})[
                decode_id(fields[layout.item])
            ] = 1.0
    reading = ReadOptions(
        ties=rng.choice(TIE_RULES),
        single_precision=rng.random() < 0.3,
        keep=rng.choice((0, 0, 0, 1, 10)),
        comments=rng.random() < 0.3,
        trailing=rng.random() < 0.3,
    )
    return Case(
        truth,
        layout,
        reading,
        rng.choice((64, 300, 1 << 18)),
        rng.choice((50, 1000, 1 << 20)),
        rng.choice((1, 2, 3)),
    )


def _of_columns(content: bytes) -> Layout:
    """A layout of six columns in which any three are the query, the item and a number."""
    rng = random.Random(hashlib.sha256(b"columns" + content).digest())
    query, item, value = rng.choice(
        [each for each in permutations(range(6), 3) if each[2] in (3, 4)]
    )
    return Layout(
        "run",
        "six columns",
        fields=6,
        query=query,
        item=item,
        value=value,
        by_rank=rng.random() < 0.1,
    )


def _compiled(
    source: Source, judgments: Judgments, layout: Layout, options: ReadOptions, **others: Any
) -> Hits | None:
    return Scan(source, judgments, layout, options, **others).hits(judgments)


def outcome(read: Any, source: Source, case: Case, **options: Any) -> Any:
    """The hits in plain values, or the error."""
    try:
        hits: Hits = read(
            source, Judgments.from_dict(case.truth), case.layout, case.reading, **options
        )
    except RankwellError as error:
        return type(error).__name__, str(error)
    names = ("query", "row", "score", "above", "tied", "before", "n_retrieved", "has_ranking")
    top = hits.top and (
        hits.top.queries,
        hits.top.offsets.tolist(),
        list(hits.top.items),
        hits.top.scores.tobytes(),
    )
    return *(getattr(hits, name).tobytes() for name in names), tuple(hits.unknown.items()), top


def compare(content: bytes, path: Path) -> tuple[str, bool]:
    """The kind of outcome of a file, and whether both readers agree about it, also in other
    columns.
    """
    path.write_bytes(content)
    kind, agree = _compared(Source(path), case_of(content))
    return kind, agree and _compared(Source(path), case_of(content, _of_columns(content)))[1]


def _compared(source: Source, case: Case) -> tuple[str, bool]:
    with mock.patch.object(reader, "_PART", case.part):
        found = outcome(_compiled, source, case, block_size=case.block, threads=case.threads)
    wanted = outcome(plain.scan, source, case)
    error = (
        wanted[0]
        if len(wanted) == 2
        else f"{len(wanted[0]) > 8} {wanted[3] != wanted[5]} {len(wanted[8]) > 0}"
    )
    options = f"{case.reading.ties} {case.reading.keep > 0} {case.part < 99}"
    return f"read {error} {case.layout.fields}/ {options}", found == wanted


def judged(table: Judgments) -> tuple[Any, ...]:
    """Judgments in plain values."""
    aspects = None if table.aspects is None else list(table.aspects)
    return (
        table.queries,
        table.offsets.tobytes(),
        list(table.items),
        table.grades.tobytes(),
        aspects,
    )


def compare_judgments(content: bytes, path: Path) -> tuple[str, bool]:
    """As `compare`, for judgments: the kernel against the format's own reader."""
    rng = random.Random(hashlib.sha256(content).digest())
    tabs = content.startswith(HEADER)
    aspects: Aspects = "groups" if rng.random() < 0.3 and not tabs else "none"
    comments = rng.random() < 0.3 and not tabs
    path.write_bytes(content)
    source = Source(path)
    found = read_judged_rows(
        source, header=HEADER if tabs else b"", comments=comments, aspects=aspects != "none"
    )
    kind = f"{'left' if found is None else 'judged'} {tabs} {aspects} {comments}/"
    if found is None:
        return kind, True
    library, native.library = native.library, None
    try:
        format_name = "tsv judgments" if tabs else "trec judgments"
        wanted = FORMATS[format_name].read(source, Request(comments=comments, aspects=aspects))
    except RankwellError:
        return kind, False
    finally:
        native.library = library
    return kind, judged(found.table()) == judged(wanted)


def made_judgments(rng: random.Random) -> bytes:
    """Judgments of some queries, in the form of TREC or BEIR."""
    rows, tabs = list[bytes](), rng.random() < 0.15
    for query in rng.sample(range(100), rng.randint(1, 8)):
        for item in rng.sample(range(60), rng.choice((1, 5, 20))):
            grade = str(rng.randint(-1, 3)) if rng.random() < 0.9 else repr(rng.uniform(-1, 3))
            fields = [b"%d" % query, b"%d" % rng.randint(0, 1), b"d%d" % item, grade.encode()]
            rows.append(b"\t".join(fields[::2] + fields[3:]) if tabs else b" ".join(fields))
    if rng.random() < 0.5:
        rng.shuffle(rows)
    return HEADER * tabs + b"\n".join(rows) + b"\n" * (rng.random() < 0.9)


def made(rng: random.Random) -> bytes:
    """A run of some queries: regular or not, with many ties or none, in order or out of it."""
    rows = list[bytes]()
    digits, depth = rng.choice((1, 3, 6, 17)), rng.choice((1, 5, 40))
    for query in rng.sample(range(100), rng.randint(1, 8)):
        for item in rng.sample(range(60), depth):
            fields = (
                b"%d" % query,
                b"Q0",
                b"d%d" % item,
                b"%d" % item,
                f"{rng.uniform(-2, 30):.{digits}f}".encode(),
                b"tag",
            )
            rows.append(b" ".join(fields))
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return b"\n".join(rows) + b"\n"


def mutated(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """The content with a few things changed."""
    text = bytearray(content)
    for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
        place = rng.randint(0, len(text))
        stop = min(len(text), place + rng.choice((1, 1, 3, 50)))
        # Most changes of a byte make an error; those of white space, numbers and the order of lines
        # make other runs.
        what = rng.choice((0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 8, 9, 9, 9))
        if what == 0:
            text[place:stop] = b""
        elif what == 1:
            text[place:place] = rng.choice(PIECES)
        elif what == 2:
            text[place:stop] = rng.choice(PIECES)
        elif what == 3:
            text[place:stop] = rng.randbytes(stop - place)
        elif what == 4:
            text[place:place] = text[stop : stop + rng.choice((10, 100, 1000))]
        elif what == 5:
            lines = bytes(text).split(b"\n")
            lines.insert(rng.randint(0, len(lines)), rng.choice(lines))
            text = bytearray(b"\n".join(lines))
        elif what == 6:
            lines = bytes(text).split(b"\n")
            one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            text = bytearray(b"\n".join(lines))
        elif what == 8:
            blank = text.find(b" ", place)
            text[blank : blank + (blank >= 0)] = rng.choice(WHITE)
        elif what == 9:
            text = _with_score(rng, text, place)
        else:
            text[place:] = other[rng.randint(0, len(other)) :]
    return bytes(text[:LARGEST])


def _with_score(rng: random.Random, text: bytearray, place: int) -> bytearray:
    """The text with another score in the line behind a place."""
    start = text.find(b"\n", place) + 1
    fields = bytes(text[start:]).partition(b"\n")[0].split(b" ")
    if len(fields) == 6:
        length = len(b" ".join(fields))
        forms = "{:.17g}", "{:.12e}", "{:.0f}", "{:+.8f}", "{:.25f}", "{:e}"
        fields[4] = rng.choice(
            (
                rng.choice(forms).format(rng.uniform(-1, 1) * 10 ** rng.randint(-30, 30)).encode(),
                fields[3],
            )
        )
        text[start : start + length] = b" ".join(fields)
    return text
