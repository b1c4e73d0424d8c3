"""Blocks of whole lines to fields: one separator between two fields takes the fast way, any other white space is tidied first."""

from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import BadInput, BadLine, BadScore
from rankwell.io.reader.decimals import parse
from rankwell.io.reader.reading import Layout, Reading
from rankwell.io.reader.spans import Bytes, Spans, Text

_BLANK, _TAB, _NEWLINE, _RETURN, _HASH = b" \t\n\r#"
# What C's isspace holds for white space, and so trec_eval.
_WHITE = np.isin(np.arange(256), list(b" \t\n\v\f\r"))
_SHOWN = 60


class Fault(Exception):
    """A line that cannot be read; the line is counted from 1 within its block."""

    def __init__(self, kind: type[BadInput], line: int, text: str) -> None:
        self.kind, self.line, self.text = kind, line, text

    def named(self, name: str, lines_before: int) -> BadInput:
        """The error for the user."""
        return self.kind(f"{name}:{lines_before + self.line}: {self.text}")


class Fields(NamedTuple):
    """What one block says: a row per line that says something.

    text: the lines, tidied where they had to be. ends: (rows, fields) where in it each field ends.
    size: lines of the block, empty ones included. numbers: (rows,) of lines within the block, from 1; None where every line is a
    row.
    """

    text: Text
    ends: Ints
    size: int
    numbers: Ints | None
    query: Spans
    item: Spans
    score: Floats

    def field(self, field: int) -> Spans:
        """One field of every row."""
        return _field(self.text, self.ends, field)

    def line(self, row: int) -> int:
        """The number of a row's line within the block, from 1."""
        return row + 1 if self.numbers is None else int(self.numbers[row])

    def line_starts(self, block: Text) -> Ints:
        """(rows,) where in the block each row's line begins."""
        starts = np.concatenate([[0], np.flatnonzero(block.content == _NEWLINE) + 1]).astype(np.int64)
        return starts[:-1] if self.numbers is None else starts[self.numbers - 1]


def shorten(text: bytes) -> str:
    """Bytes of a line for a message: quoted, on one line, not long."""
    shown = text.strip().decode("utf-8", "backslashreplace")
    return repr(shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…")


def read_fields(block: Text, layout: Layout, reading: Reading) -> Fields:
    """The rows of a block that ends with a newline. Raises Fault for the first line that is not one of this layout."""
    content, numbers, text = block.content, None, block
    has_comments = reading.comments and bool((content == _HASH).any())
    ends = None if has_comments else _field_ends(content, layout)
    if ends is None and not has_comments and (content == _RETURN).any():
        text = Text.of(content.tobytes().replace(b"\r\n", b"\n"))
        ends = _field_ends(text.content, layout)
    if ends is None:
        tidied, numbers = _tidy(content, has_comments)
        tidied, ends = _of_width(tidied, numbers, layout, reading, content)
        text = Text.of(tidied)
    spans = _field(text, ends, layout.value)
    score, bad = parse(spans)
    size = int(np.count_nonzero(content == _NEWLINE)) if numbers is not None else len(ends)
    fields = Fields(text, ends, size, numbers, _field(text, ends, layout.query), _field(text, ends, layout.item), score)
    if layout.score is None:
        bad = np.union1d(bad, np.flatnonzero((score != np.floor(score)) | (score < 0)))
        fields = fields._replace(score=-score)
    if len(bad):
        row = int(bad[0])
        raise _bad_score(spans.bytes_of(row), fields.line(row), content, layout)
    return fields


def _field(text: Text, ends: Ints, field: int) -> Spans:
    stop = ends[:, field]
    start = np.empty(len(stop), dtype=np.int64)
    if field:
        np.add(ends[:, field - 1], 1, out=start)
    else:
        start[:1] = 0
        np.add(ends[:-1, -1], 1, out=start[1:])
    return Spans(text, start, stop)


def _field_ends(content: Bytes, layout: Layout) -> Ints | None:
    """(rows, fields) where each field ends, if one blank or tab stands between two fields and nothing else is white."""
    places = np.flatnonzero(content <= _BLANK)
    rows, rest = divmod(len(places), layout.fields)
    if rest or not rows:
        return None
    kinds = content.take(places)
    separators = np.count_nonzero(kinds == _BLANK)
    if separators < rows * (layout.fields - 1):
        separators += np.count_nonzero(kinds == _TAB)
    if separators != rows * (layout.fields - 1) or not (kinds[layout.fields - 1 :: layout.fields] == _NEWLINE).all():
        return None
    if places[0] == 0 or int((places[1:] - places[:-1]).min(initial=2)) < 2:
        return None
    return places.reshape(rows, layout.fields)


def _tidy(content: Bytes, has_comments: bool) -> tuple[Bytes, Ints]:
    """The content with one blank between fields and none elsewhere, without empty lines; and the numbers of the lines left."""
    white = _WHITE.take(content)
    newline = content == _NEWLINE
    # Of each run of blanks the first stays, unless a line begins with it.
    kept = ~white | newline
    kept[1:] |= ~white[:-1]
    white, content = white[kept], content[kept]
    content = np.where(white & (content != _NEWLINE), np.uint8(_BLANK), content)
    trails = np.zeros(len(content), dtype=np.bool_)
    trails[:-1] = (content[:-1] == _BLANK) & (content[1:] == _NEWLINE) & white[:-1]
    content = content[~trails]
    ends = np.flatnonzero(content == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    dropped = starts == ends
    if has_comments:
        dropped |= content[starts] == _HASH
    if dropped.any():
        content = content[np.repeat(~dropped, ends - starts + 1)]
    return content, np.flatnonzero(~dropped) + 1


def _of_width(tidied: Bytes, numbers: Ints, layout: Layout, reading: Reading, content: Bytes) -> tuple[Bytes, Ints]:
    """The tidied lines and (rows, fields) where each field ends. Raises Fault for the first line without the layout's fields."""
    places = np.flatnonzero((tidied == _BLANK) | (tidied == _NEWLINE))
    last = np.flatnonzero(tidied[places] == _NEWLINE)
    widths = np.diff(last, prepend=-1)
    odd = np.flatnonzero(widths < layout.fields if reading.trailing else widths != layout.fields)
    if len(odd):
        line = int(numbers[odd[0]])
        raise _bad_width(int(widths[odd[0]]), line, content, layout)
    if (widths > layout.fields).any():
        kept = np.ones(len(tidied), dtype=np.bool_)
        for row in np.flatnonzero(widths > layout.fields).tolist():
            kept[places[last[row] - widths[row] + layout.fields] : places[last[row]]] = False
        tidied = tidied[kept]
        places = np.flatnonzero((tidied == _BLANK) | (tidied == _NEWLINE))
    return tidied, places.reshape(-1, layout.fields)


def _line_text(content: Bytes, number: int) -> bytes:
    ends = np.flatnonzero(content == _NEWLINE)
    start = 0 if number == 1 else int(ends[number - 2]) + 1
    return content[start : int(ends[number - 1])].tobytes()


def _bad_width(width: int, line: int, content: Bytes, layout: Layout) -> Fault:
    advice = "is this a qrels file?" if layout.score is not None and width == 4 else "correct or remove the line."
    found = f"{width} field{'' if width == 1 else 's'} in {shorten(_line_text(content, line))}"
    return Fault(BadLine, line, f"{found}, a {layout.name} line has {layout.fields} ({layout.form}); {advice}")


def _bad_score(text: bytes, line: int, content: Bytes, layout: Layout) -> Fault:
    wanted = "score is a finite number such as 12.5" if layout.score is not None else "rank is a whole number such as 7"
    place = f"in {shorten(_line_text(content, line))}"
    what = wanted.partition(" ")[0]
    return Fault(BadScore, line, f"the {what} is {shorten(text)} {place}; a {wanted}: correct the line ({layout.form}).")
