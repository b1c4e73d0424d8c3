"""Lines of a run to fields, and the plain reader of whole runs, with the results of the compiled
one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import floor, isfinite, nan
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rankwell._native import native
from rankwell.data.columns import repeated_item
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.errors import KEEP_ONE, BadInput, BadLine, BadScore, DuplicateItem
from rankwell.store import decode_id
from rankwell.store.places import changed

if TYPE_CHECKING:
    from rankwell.data.rankings import Hits
    from rankwell.data.tables import Floats, Ints, Judgments, TieRule
    from rankwell.store import Source

# Called with the bytes done and the bytes in all; the latter is 0 where it is unknown, as for
# compressed files.
Progress = Callable[[int, int], None]

SLACK = bytes(80)
"""Room that the compiled readers need behind a text."""
# The fields of so many bytes stay in the processor's cache: larger blocks take half as long again.
BLOCK = 1 << 17
_SHOWN = 60

Result = TypeVar("Result")


class Layout(NamedTuple):
    """The fields of a line, separated by white space; their positions count from 0.

    name: the name of such a line in messages.
    form: the fields in words, `query Q0 item rank score tag`.
    fields: number of fields.
    query, item: positions of the ids.
    value: position of the score; of the rank where `by_rank` is true.
    by_rank: whether items are ordered by rank; the negative rank is then their score.
    """

    name: str
    form: str
    fields: int
    query: int
    item: int
    value: int
    by_rank: bool = False


TREC_RUN = Layout("TREC run", "query Q0 item rank score tag", fields=6, query=0, item=2, value=4)
MSMARCO_RUN = Layout(
    "MS MARCO run", "query item rank", fields=3, query=0, item=1, value=2, by_rank=True
)
_TREC_RANK = 3


class ReadOptions(NamedTuple):
    """Options of reading a run.

    ties: the order of items of equal score.
    single_precision: whether scores are first rounded to 32 bits, as in trec_eval 9.
    keep: number of first items of each query, judged or not, to return as well; 0 for none.
    comments: whether lines that begin with `#` are skipped, as in trec_eval 10.
    trailing: whether further fields after the last one of the layout are skipped, as in trec_eval;
        otherwise they are an error.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    trailing: bool = False


class RunRows(NamedTuple):
    """A run row by row, in the order of its file.

    queries, items: (rows,) ids.
    scores: (rows,) scores, or grades where the file holds judgments; the negative rank where it has
        no scores.
    ranks: (rows,) ranks; NaN where a line has no rank that is a number.
    lines: (rows,) numbers of the lines, from 1.
    """

    queries: list[str]
    items: list[str]
    scores: Floats
    ranks: Floats
    lines: Ints

    def keyed_lines(self) -> Iterator[tuple[tuple[str, str], int]]:
        """Query and item of each row, with its line."""
        return zip(zip(self.queries, self.items, strict=True), self.lines.tolist(), strict=True)


class Unreadable(Exception):
    """Some line of a block is not one of the layout; `bad_line` names the first."""


class Fields(NamedTuple):
    """The rows of a block, which are its lines with content.

    pieces: the fields of all rows, one row after the other, with a newline after each row.
    width: number of pieces in a row, the newline included.
    scores: (rows,) scores; the negative rank where the layout has ranks.
    lines: (rows,) numbers of the lines in the block, from 1.
    """

    pieces: list[bytes]
    width: int
    scores: list[float]
    lines: Sequence[int]

    def column(self, field: int) -> list[bytes]:
        """One field of each row."""
        return self.pieces[field :: self.width]

    def ids(self, field: int) -> list[str]:
        """The ids in one field of each row."""
        return decode_id(b"\n".join(self.column(field))).split("\n") if self.pieces else []


def read_blocks(
    source: Source,
    layout: Layout,
    options: ReadOptions,
    read: Callable[[bytes, Layout, ReadOptions], Result],
    *,
    size: int = BLOCK,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Result]]:
    """The result of `read`, which may raise Unreadable, for each block of whole lines, and the
    number of lines before it.
    """
    total = 0 if source.path is None else source.path.stat().st_size
    done = lines = 0
    with source.open() as stream:
        while block := stream.read(size):
            block += stream.readline()
            try:
                yield lines, read(block, layout, options)
            except Unreadable:
                raise bad_line(source, layout, options, done + 1) from None
            lines += block.count(b"\n")
            done += len(block)
            if progress is not None:
                progress(done, total)


def fields_of(block: bytes, layout: Layout, options: ReadOptions) -> Fields:
    """The rows of a block of whole lines. Raises Unreadable, also for a score that is not a finite
    number, underscores included.
    """
    text = block if block.endswith(b"\n") else block + b"\n"
    n, width = text.count(b"\n"), layout.fields + 1
    spaced = text.replace(b"\r\n", b"\n").replace(b"\t", b" ").replace(b"\n", b" \n ")
    pieces = spaced.split(b" ")[:-1]
    lines = range(1, n + 1)
    # Two blanks are an empty field; other white space may separate fields, too.
    if (
        len(pieces) != n * width
        or pieces[layout.fields :: width].count(b"\n") != n
        or not pieces[0]
        or any(mark in spaced for mark in (b"  ", b"\r", b"\v", b"\f"))
        or (options.comments and b"#" in text)
    ):
        pieces, lines = list[bytes](), (numbered := list[int]())
        for line, fields in enumerate(map(bytes.split, text.split(b"\n")), 1):
            if fields and not (options.comments and fields[0].startswith(b"#")):
                n_fields = len(fields[: layout.fields] if options.trailing else fields)
                if n_fields != layout.fields:
                    raise Unreadable
                pieces += (*fields[: layout.fields], b"\n")
                numbered.append(line)
    texts = pieces[layout.value :: width]
    try:
        numbers = list(map(float, texts))
    except ValueError:
        raise Unreadable from None
    if not all(map(isfinite, numbers)) or (
        b"_" in text and any(b"_" in number for number in texts)
    ):
        raise Unreadable
    if layout.by_rank:
        if any(number < 0 or number != floor(number) for number in numbers):
            raise Unreadable
        numbers = [-number for number in numbers]
    return Fields(pieces, width, numbers, lines)


def bad_line(source: Source, layout: Layout, options: ReadOptions, place: int = 0) -> BadInput:
    """The error for the first line that ends at this place of the content or behind it and cannot
    be read.

    Where all can be read now, another program has changed the file.
    """
    for number, line in _lines_from(source, place):
        try:
            fields_of(line, layout, options)
        except Unreadable:
            return _explained(f"{source.name}:{number}", line, layout, options)
    return changed(source.name)


def _explained(where: str, line: bytes, layout: Layout, options: ReadOptions) -> BadInput:
    row, excerpt = line.split(), shorten(line)
    width = len(row)
    if line.startswith(b"#"):
        return BadLine(f"{where}: {excerpt} {COMMENT}")
    if width < layout.fields if options.trailing else width != layout.fields:
        advice = (
            "is this a qrels file?"
            if not layout.by_rank and width == 4
            else "a tag is one word: write it without blanks."
            if layout is TREC_RUN and width > layout.fields
            else "correct or remove the line."
        )
        n_fields = f"{width} field{'' if width == 1 else 's'} in {excerpt}"
        return BadLine(
            f"{where}: {n_fields}, a {layout.name} line has {layout.fields} ({layout.form}); "
            f"{advice}"
        )
    wanted = (
        "rank is an integer such as 7"
        if layout.by_rank
        else "score is a finite number such as 12.5"
    )
    problem = f"the {wanted.partition(' ')[0]} is {shorten(row[layout.value])} in {excerpt}"
    return BadScore(f"{where}: {problem}; a {wanted}: correct the line ({layout.form}).")


COMMENT = "is a comment, which trec_eval 10 alone skips; remove the line."
"""The end of the error for a line that begins with `#`."""


def shorten(text: bytes) -> str:
    """Bytes of a line for a message: quoted, on one line, not long."""
    decoded = text.strip().decode("utf-8", "backslashreplace")
    return repr(decoded if len(decoded) <= _SHOWN else decoded[: _SHOWN - 1] + "…")


def duplicate(
    source: Source, layout: Layout, options: ReadOptions, place: int
) -> DuplicateItem | None:
    """The error for the line that ends at this place of the content, if an earlier one has its
    query and item.
    """
    _, line = next(_lines_from(source, place), (0, b""))
    try:
        fields = fields_of(line, layout, options)
    except Unreadable:
        raise changed(source.name) from None
    pairs = set(zip(fields.column(layout.query), fields.column(layout.item), strict=True))
    keys = (
        ((decode_id(query), decode_id(item)), before + number)
        for before, block in read_blocks(source, layout, options, fields_of)
        for query, item, number in zip(
            block.column(layout.query), block.column(layout.item), block.lines, strict=True
        )
        if (query, item) in pairs
    )
    return repeated(source.name, "lists", keys)


def _lines_from(source: Source, place: int) -> Iterator[tuple[int, bytes]]:
    """The number, from 1, and the text of each line that ends at a place of the content or behind
    it.
    """
    end = 0
    with source.open() as stream:
        for number, line in enumerate(stream, 1):
            end += len(line)
            # Places count a newline behind every line, also behind the last one of a file without.
            if end >= place or not line.endswith(b"\n"):
                yield number, line


def empty_file(source: Source, layout: Layout) -> BadInput:
    """The error for a file without lines."""
    return BadInput(
        f"{source.name}: there is no line in it; a {layout.name} has lines of {layout.form}."
    )


def read_rows(
    source: Source,
    options: ReadOptions,
    layout: Layout = TREC_RUN,
    *,
    progress: Progress | None = None,
) -> RunRows:
    """Every row of a run; of the options `comments` and `trailing` have an effect. Raises BadLine,
    BadScore and BadInput.
    """
    import numpy as np

    queries, items = list[str](), list[str]()
    scores, ranks = list[bytes](), list[bytes]()
    numbers: list[Ints] = []
    for before, rows in read_blocks(source, layout, options, _rows, progress=progress):
        queries += rows[0]
        items += rows[1]
        length = 8 * len(rows[0])
        scores.append(rows[2][:length])
        ranks.append(rows[3][:length])
        numbers.append(np.frombuffer(rows[4][:length], dtype=np.int64) + before)
    if not queries:
        raise empty_file(source, layout)
    return RunRows(
        queries,
        items,
        np.frombuffer(b"".join(scores)),
        np.frombuffer(b"".join(ranks)),
        np.concatenate(numbers),
    )


def _rows(
    block: bytes, layout: Layout, options: ReadOptions
) -> tuple[list[str], list[str], bytes, bytes, bytes]:
    """Queries, items, and as bytes scores, ranks and numbers of lines from 1 in the block. Raises
    Unreadable.
    """
    if native.library is not None and layout is TREC_RUN:
        text = block if block.endswith(b"\n") else block + b"\n"
        rows = native.library.reader_rows(
            text + SLACK, len(text), options.comments, options.trailing
        )
        if rows is None:
            raise Unreadable
        return rows
    fields = fields_of(block, layout, options)
    ranks = map(_rank, fields.column(_TREC_RANK if layout is TREC_RUN else layout.value))
    return (
        fields.ids(layout.query),
        fields.ids(layout.item),
        array("d", fields.scores).tobytes(),
        array("d", ranks).tobytes(),
        array("q", fields.lines).tobytes(),
    )


def _rank(text: bytes) -> float:
    try:
        rank = nan if b"_" in text else float(text)
    except ValueError:
        return nan
    return rank if isfinite(rank) else nan


def repeated(
    name: str, verb: str, keys: Iterable[tuple[tuple[str, ...], int]]
) -> DuplicateItem | None:
    """The error for the first line with an earlier one's key, which begins with the query and ends
    with the item, or None.
    """
    first_lines: dict[tuple[str, ...], int] = {}
    for key, number in keys:
        if (first := first_lines.setdefault(key, number)) != number:
            problem = (
                f"query {key[0]!r} {verb} item {key[-1]!r} twice, in lines {first} and {number}"
            )
            order = ", or correct the order of the columns" if key[-1] in ("Q0", "0") else ""
            if verb == "lists":
                return repeated_item(f"{name}:{number}: {problem}", key[-1], order)
            return DuplicateItem(f"{name}:{number}: {problem}; {KEEP_ONE}{order}.")
    return None


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    options: ReadOptions,
    *,
    progress: Progress | None = None,
    block_size: int = BLOCK,
) -> Hits:
    """The hits of a run file, whose rows are all in memory. Raises as `rankwell.io.reader.scan`
    does.
    """
    import numpy as np

    queries, items, scores, lines = list[str](), list[str](), list[float](), list[int]()
    for before, fields in read_blocks(
        source, layout, options, fields_of, size=block_size, progress=progress
    ):
        queries += fields.ids(layout.query)
        items += fields.ids(layout.item)
        scores += fields.scores
        lines += [before + line for line in fields.lines]
    if not queries:
        raise empty_file(source, layout)
    judged = judgments.flat
    rows = queries, items, scores
    try:
        ranking = Ranking.from_rows(*rows)
    except DuplicateItem:
        keys = zip(zip(queries, items, strict=True), lines, strict=True)
        judged_keys = ((key, line) for key, line in keys if key[0] in judged.index)
        if (error := repeated(source.name, "lists", judged_keys)) is not None:
            raise error from None
        ranking = Ranking.from_rows(*rows, repeated=True)
    hits = hits_of_ranking(
        ranking,
        judged,
        ties=options.ties,
        single_precision=options.single_precision,
        keep=options.keep,
    )
    # In the order of the compiled reader.
    order = np.argsort(hits.row)
    columns = ("query", "row", "score", "above", "tied", "before")
    return replace(hits, **{name: getattr(hits, name)[order] for name in columns})
