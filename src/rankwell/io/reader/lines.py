"""Lines of a run to fields, and the error for the first line of a file that cannot be read."""

from __future__ import annotations

from math import floor, isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rankwell.errors import BadInput, BadLine, BadScore, DuplicateItem
from rankwell.store import decode_id

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from rankwell.io.reader import Layout, Progress, ReadOptions
    from rankwell.store import Source

# The fields of so many bytes stay in the processor's cache: larger blocks take half as long again.
BLOCK = 1 << 17
_SHOWN = 60

Result = TypeVar("Result")


class Unreadable(Exception):
    """Some line of a block is not one of the layout; `bad_line` names the first."""


class Fields(NamedTuple):
    """The rows of a block: lines with content. pieces: the fields of one row after the other, a newline behind each row.

    scores: (rows,). lines: (rows,) the numbers of the lines from 1 in the block.
    """

    pieces: list[bytes]
    width: int
    scores: list[float]
    lines: Sequence[int]

    def column(self, field: int) -> list[bytes]:
        """(rows,) one field."""
        return self.pieces[field : -1 : self.width + 1]


def read_fields(
    source: Source, layout: Layout, options: ReadOptions, *, size: int = BLOCK, progress: Progress | None = None
) -> Iterator[tuple[int, Fields]]:
    """The fields of one block after the other, and the number of lines before each. Raises BadLine or BadScore."""
    return read_blocks(source, layout, options, lambda block: fields_of(block, layout, options), size=size, progress=progress)


def read_blocks(
    source: Source,
    layout: Layout,
    options: ReadOptions,
    read: Callable[[bytes], Result],
    *,
    size: int = BLOCK,
    progress: Progress | None = None,
) -> Iterator[tuple[int, Result]]:
    """The result of `read` for one block of whole lines after the other, and the number of lines before each.

    read: raises Unreadable for a block with a line of another form. Raises BadLine or BadScore for the first such line.
    """
    total = 0 if source.path is None else source.path.stat().st_size
    done = lines = 0
    with source.open() as stream:
        while block := stream.read(size):
            block += stream.readline()
            try:
                yield lines, read(block)
            except Unreadable:
                raise bad_line(source, layout, options, done + 1) from None
            lines += block.count(b"\n")
            done += len(block)
            if progress is not None:
                progress(done, total)


def fields_of(block: bytes, layout: Layout, options: ReadOptions) -> Fields:
    """The rows of a block of whole lines. Raises Unreadable."""
    text = block if block.endswith(b"\n") else block + b"\n"
    pieces = None if options.comments and b"#" in text else _split(text, layout.fields)
    lines: Sequence[int] = range(1, text.count(b"\n") + 1)
    if pieces is None:
        text, lines = _tidied(text, layout, options)
        pieces = _split(text, layout.fields) or [b""]
    return Fields(pieces, layout.fields, _numbers(pieces[layout.value : -1 : layout.fields + 1], text, layout), lines)


def _split(text: bytes, width: int) -> list[bytes] | None:
    """The fields of all rows, a newline behind each, and an empty one at the end; None unless single blanks or tabs separate."""
    spaced = text.replace(b"\r\n", b"\n").replace(b"\t", b" ").replace(b"\n", b" \n ")
    pieces = spaced.split(b" ")
    ends = pieces[width :: width + 1]
    regular = len(pieces) == len(ends) * (width + 1) + 1 and ends.count(b"\n") == len(ends) == text.count(b"\n")
    # Two blanks are an empty field, also at the beginning or the end of a line; other white space may separate fields, too.
    return pieces if regular and pieces[0] and not any(each in spaced for each in (b"  ", b"\r", b"\v", b"\f")) else None


def _tidied(text: bytes, layout: Layout, options: ReadOptions) -> tuple[bytes, list[int]]:
    """The rows with one blank between their fields, and the numbers of their lines. Raises Unreadable."""
    rows, lines = list[bytes](), list[int]()
    for line, fields in enumerate(map(bytes.split, text.split(b"\n")), 1):
        if fields and not (options.comments and fields[0].startswith(b"#")):
            if len(fields) < layout.fields or (len(fields) > layout.fields and not options.trailing):
                raise Unreadable
            rows.append(b" ".join(fields[: layout.fields]) + b"\n")
            lines.append(line)
    return b"".join(rows), lines


def _numbers(texts: list[bytes], text: bytes, layout: Layout) -> list[float]:
    """The scores of rows. Raises Unreadable for what is not a finite number, underscores included."""
    try:
        numbers = list(map(float, texts))
    except ValueError:
        raise Unreadable from None
    if not all(map(isfinite, numbers)) or (b"_" in text and any(b"_" in each for each in texts)):
        raise Unreadable
    if layout.score is not None:
        return numbers
    if any(number < 0 or number != floor(number) for number in numbers):
        raise Unreadable
    return [-number for number in numbers]


def bad_line(source: Source, layout: Layout, options: ReadOptions, place: int = 0) -> BadInput:
    """The error for the first line that ends at this place of the content or behind it and cannot be read."""
    for number, line in _lines_from(source, place):
        try:
            fields_of(line, layout, options)
        except Unreadable:
            return _explained(f"{source.name}:{number}", line, layout, options)
    raise AssertionError(f"{source.name}: every line can be read")


def _explained(where: str, line: bytes, layout: Layout, options: ReadOptions) -> BadInput:
    row, shown = line.split(), _shorten(line)
    width = len(row)
    if width < layout.fields if options.trailing else width != layout.fields:
        advice = "is this a qrels file?" if layout.score is not None and width == 4 else "correct or remove the line."
        found = f"{width} field{'' if width == 1 else 's'} in {shown}"
        return BadLine(f"{where}: {found}, a {layout.name} line has {layout.fields} ({layout.form}); {advice}")
    wanted = "score is a finite number such as 12.5" if layout.score is not None else "rank is an integer such as 7"
    what = f"the {wanted.partition(' ')[0]} is {_shorten(row[layout.value])} in {shown}"
    return BadScore(f"{where}: {what}; a {wanted}: correct the line ({layout.form}).")


def _shorten(text: bytes) -> str:
    """Bytes of a line for a message: quoted, on one line, not long."""
    shown = text.strip().decode("utf-8", "backslashreplace")
    return repr(shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…")


def duplicate(source: Source, layout: Layout, options: ReadOptions, place: int) -> DuplicateItem | None:
    """The error for the line that ends at this place of the content, if an earlier one has its query and item."""
    _, line = next(_lines_from(source, place))
    fields = fields_of(line, layout, options)
    return first_duplicate(
        source, layout, options, set(zip(fields.column(layout.query), fields.column(layout.item), strict=True))
    )


def _lines_from(source: Source, place: int) -> Iterator[tuple[int, bytes]]:
    """The number, from 1, and the text of each line that ends at a place of the content or behind it."""
    end = 0
    with source.open() as stream:
        for number, line in enumerate(stream, 1):
            end += len(line)
            # Places count a newline behind every line, also behind the last one of a file without.
            if end >= place or not line.endswith(b"\n"):
                yield number, line


def first_duplicate(
    source: Source, layout: Layout, options: ReadOptions, pairs: Container[tuple[bytes, bytes]]
) -> DuplicateItem | None:
    """The error for the first line that repeats one of these pairs of query and item; None where none does."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for before, fields in read_fields(source, layout, options):
        named = zip(fields.column(layout.query), fields.column(layout.item), strict=True)
        for pair, line in zip(named, fields.lines, strict=True):
            if pair in pairs and (first := seen.setdefault(pair, before + line)) < before + line:
                (query, item), number = map(decode_id, pair), before + line
                return DuplicateItem(
                    f"{source.name}:{number}: query {query!r} lists item {item!r} twice, in lines {first} and {number}; "
                    "keep one of them."
                )
    return None


def empty_file(source: Source, layout: Layout) -> BadInput:
    """The error for a file without lines."""
    return BadInput(f"{source.name}: there is no line in it; a {layout.name} has lines of {layout.form}.")
