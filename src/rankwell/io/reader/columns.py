"""The columns of lines without a header: the readings that a file allows, and those that its data
exclude.

The place of an argument says whether a file is judgments or a run. A column holds items where no
query lists one twice, scores or ranks where all are numbers, and grades where none is above what
people or machines grade by.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from rankwell.data.columns import known_columns, may_choose, place_of
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.reader.lines import Layout, shorten
from rankwell.store import decode_id

if TYPE_CHECKING:
    from rankwell.data.tables import Floats
    from rankwell.store import Head, Source

Position = Literal["run", "judgments"]
_LARGEST_GRADE = 1e6
"""No scale of grades goes so far; seconds since 1970 do."""
_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
SNIFFED = 300
"""Lines by which a format is recognised; others are looked at when the file is read."""
_MOST_ROWS = 1 << 20
_MOST_SHOWN = 3
_DELIMITERS = (b"\t", b"::", b",", b";", b"|")
"""The separators of fields, besides any white space."""


def number_of(field: bytes) -> float | None:
    """A finite number; None for anything else."""
    number = float(field) if _NUMBER.fullmatch(field) else nan
    return number if isfinite(number) else None


class ColumnRoles(NamedTuple):
    """A reading of the columns of a line, which are numbered from 1.

    query, item: numbers of the columns of ids.
    number: number of the column with the score, rank or grade.
    value: what that column holds: score, rank or grade.
    """

    query: int
    item: int
    number: int
    value: str

    def option(self, holds: Position) -> str:
        """The option that chooses this reading."""
        return option_of(
            holds, {"query": str(self.query), "item": str(self.item), self.value: str(self.number)}
        )

    def sentence(self, fields: Sequence[bytes], holds: Position) -> str:
        """The reading of one line in words, and the option that chooses it."""
        query, item, number = (
            decode_id(fields[column - 1])[:40] for column in (self.query, self.item, self.number)
        )
        option = f" ({self.option(holds)})" if may_choose(holds) else ""
        return f"query {query!r}, item {item!r}, {self.value} {number}{option}"


_SCORES_OR_RANKS = (ColumnRoles(1, 2, 3, "score"), ColumnRoles(1, 2, 3, "rank"))


def option_of(holds: str, columns: Mapping[str, str] | None = None) -> str:
    """The option that chooses columns, with its value where columns are given, as it is written
    where it is read.
    """
    text = ",".join(f"{key}={name}" for key, name in (columns or {}).items())
    return flag("--columns" if holds == "run" else "--qrels-columns", text)


def layout_of(choice: Mapping[str, str], width: int) -> Layout:
    """The layout of lines of so many fields between white space. choice: the number of each column,
    from 1.
    """
    field_names = [str(number) for number in range(1, width + 1)]
    for key, column_number in choice.items():
        field_names[int(column_number) - 1] = key
    value = choice.get("rank") or choice["score"]
    query, item, number = (
        int(column_number) - 1 for column_number in (choice["query"], choice["item"], value)
    )
    return Layout(
        "run", " ".join(field_names), width, query, item, number, by_rank="rank" in choice
    )


SCORED = {"query": "1", "item": "2", "score": "3"}
"""The columns of lines `query item score`."""
GRADED = {"query": "1", "item": "2", "grade": "3"}
"""The columns of lines `query item grade`."""


class _Column:
    """The evidence on one column."""

    def __init__(self) -> None:
        self.numbers, self.most, self.first = True, 0.0, b""
        self.varies, self.repeats, self.has_fractions, self.has_points = False, False, False, False


class Evidence:
    """The evidence of rows on their columns, of which the first is the query."""

    def __init__(self, width: int) -> None:
        self.columns, self._seen = (
            [_Column() for _ in range(width)],
            [set[tuple[bytes, bytes]]() for _ in range(width)],
        )
        self.rows, self._queries, self._sizes = 0, set[bytes](), Counter[tuple[int, bytes]]()
        self.counting = [True] * width
        """Whether the numbers of a column are 1, 2, 3, … in the order of the rows, for every query
        so far.
        """

    def add(self, fields: Sequence[bytes]) -> None:
        """One more row."""
        self.rows += 1
        self._queries.add(fields[0])
        for index, (column, field) in enumerate(zip(self.columns, fields, strict=True)):
            if self.rows == 1:
                column.first = field
            column.varies |= field != column.first
            number = number_of(field) if column.numbers else None
            if number is not None:
                column.has_points |= not field.isdigit()
                column.most = max(column.most, abs(number))
                column.has_fractions |= number % 1 != 0
            else:
                column.numbers = False
            if index and not column.repeats:
                pair = fields[0], field
                column.repeats = pair in self._seen[index]
                self._seen[index].add(pair)
            if index and self.counting[index]:
                self._sizes[index, fields[0]] += 1
                self.counting[index] = number == self._sizes[index, fields[0]]

    def lists_items(self, place: int) -> bool:
        """Whether a column may be the item: no query has one twice, and not all queries the
        same.
        """
        column = self.columns[place]
        if (
            column.repeats
            or column.first in (b"0", b"Q0")
            or (column.numbers and column.has_fractions)
        ):
            return False
        return (column.varies or self.rows == 1) and not self._counts(place)

    def _counts(self, place: int) -> bool:
        """Whether a column counts the rows of its query."""
        return self.counting[place] and self.rows > len(self._queries)

    def readings(self, holds: Position) -> list[ColumnRoles]:
        """The readings that the rows allow, the usual ones first; unusual places of items only
        where no other one fits.
        """
        later_columns, most = (
            range(1, len(self.columns)),
            _LARGEST_GRADE if holds == "judgments" else inf,
        )
        numbers = [
            column
            for column in later_columns
            if self.columns[column].numbers and self.columns[column].most <= most
        ]
        items = [column for column in later_columns if self.lists_items(column)]
        pairs = [
            (item, number) for item in items if item <= 2 for number in numbers if number > item
        ]
        if not pairs and numbers:
            pairs = [
                (item, numbers[bisect(numbers, item)]) for item in items if item < numbers[-1]
            ][:1]
            pairs = pairs or [(item, numbers[0]) for item in items if item > numbers[0]][:1]
        kinds = {
            column: ("grade",) if holds == "judgments" else self._kinds(column)
            for column in numbers
        }
        return [
            ColumnRoles(1, item + 1, number + 1, kind)
            for item, number in pairs
            for kind in kinds[number]
        ]

    def _kinds(self, place: int) -> tuple[str, ...]:
        """The kinds of numbers of a run: integers that count the rows of a query are ranks; 1.0,
        2.0, … may be scores, too.
        """
        counted = ("score", "rank") if self.columns[place].has_points else ("rank",)
        return counted if self._counts(place) else ("score",)

    def times(self) -> str:
        """A sentence on a column of numbers above any grade; "" where there is none."""
        number_columns = (
            (number, column.most)
            for number, column in enumerate(self.columns[1:], 2)
            if column.numbers
        )
        return next(
            (
                f"column {number} has {most:.15g}, as no scale of grades"
                for number, most in number_columns
                if most > _LARGEST_GRADE
            ),
            "",
        )


def evidence_of(rows: Iterable[Sequence[bytes]], width: int) -> Evidence:
    """The evidence of the first rows of a file; those of another number of fields are left to its
    reader.
    """
    evidence = Evidence(width)
    for fields in islice((row for row in rows if len(row) == width), _MOST_ROWS):
        evidence.add(fields)
    return evidence


def refuse_readings(
    head: Head, holds: Position, readings: Sequence[ColumnRoles], reason: str = ""
) -> NoReturn:
    """Raises BadInput that shows the readings of the first line, and the option that chooses
    one.
    """
    line = head.lines[0]
    fields = line.strip().split(delimiter_of(head))
    where = f"{head.name}:{head.skipped + 1}: {shorten(line)}"
    if not readings:
        example = ColumnRoles(1, 2, 3, "grade" if holds == "judgments" else "score").option(holds)
        problem = f"{where}: {reason or 'no reading of its columns fits'}"
        also = f", or say which they are with {example}" if may_choose(holds) else ""
        raise BadInput(f"{problem}; name them in a first line{also}.")
    advice = "say {}" if may_choose(holds) else "name the columns in a first line"
    choices = " or as ".join(reading.sentence(fields, holds) for reading in readings[:_MOST_SHOWN])
    if len(readings) == 1:
        reason = reason or f"{len(fields)} columns without a header may be anything"
        raise BadInput(f"{where}: {reason}; if this is {choices}, {advice.format('so')}.")
    reason = f"; {reason}" if reason else ""
    raise BadInput(
        f"{where} can be read as {choices}{reason}; nothing in the file excludes either: "
        f"{advice.format('which')}."
    )


def delimiter_of(head: Head) -> bytes | None:
    """The separator of the fields of lines without a header; None for any white space."""
    if len({len(line.split()) for line in head.lines[:200]} - {1}) == 1:
        return None
    return separator_of(head)


def separator_of(head: Head) -> bytes | None:
    """The mark between fields that the first lines have equally often; None for text in another
    form.
    """
    lines = head.lines[:200]
    if head.text.startswith(("{", "[", "<")):
        return None
    consistent = (
        delimiter
        for delimiter in _DELIMITERS
        if len(counts := {line.count(delimiter) for line in lines}) == 1 and counts != {0}
    )
    return next(consistent, None)


def _names(fields: Sequence[bytes]) -> list[str]:
    """The fields of a line as names of columns."""
    return [decode_id(field).strip('"') for field in fields]


def refuse_columns(head: Head, holds: Position, *, exchanged: bool) -> None:
    """Raises BadInput for lines of three columns or more without a header, which shows what they
    may be; not for prose.

    exchanged: whether they have the form of TREC's lines of the other kind: a run has six fields,
    and qrels have 0.
    """
    refuse_returns(head)
    delimiter, lines = delimiter_of(head), head.lines[:200]
    rows = [line.strip().split(delimiter) for line in lines]
    width = len(rows[0]) if rows else 0
    names = _names(rows[0]) if rows else []
    if (
        width < 3
        or any(len(row) != width for row in rows)
        or head.text.startswith(("{", "[", "<"))
        or known_columns(names) > 1
    ):
        return
    is_trec = holds == "run" and width > 6 and {row[1] for row in rows} <= {b"Q0", b"0"}
    if is_trec and all(number_of(field) is not None for row in rows for field in row[3:5]):
        raise BadInput(
            f"{head.name}:{head.skipped + 1}: {shorten(lines[0])}: a TREC run with spaces in its "
            "tag; write the tag as one word."
        )
    if exchanged and (holds == "judgments" or all(row[1] == b"0" for row in rows)):
        return
    if any(_NUMBER.fullmatch(field) for field in rows[-1]):
        from rankwell.documents import refuse_wide

        refuse_wide(width)
        evidence = evidence_of(rows, width)
        readings, reason = (
            evidence.readings(holds),
            evidence.times() if holds == "judgments" else "",
        )
        if (
            holds == "judgments"
            and width == 5
            and [(reading.item, reading.number) for reading in readings] == [(4, 5)]
        ):
            reason = reason or "five columns are those of a file of preferences, or any others"
        if readings or reason:
            refuse_readings(head, holds, readings, reason)


def refuse_returns(head: Head, *, is_lines: bool = True) -> None:
    """Raises BadInput for lines that end in carriage returns alone, which would be one line.
    is_lines: whether the format has lines; JSON may be of lines as well.
    """
    returns = head.raw.rstrip(b"\r")
    if b"\n" not in returns and (b"\r" if is_lines else b"}\r{") in returns:
        raise BadInput(
            f"{head.name}: its lines end in carriage returns alone; write them with line feeds."
        )


def refuse_missing(head: Head, holds: str, choice: Mapping[str, str]) -> None:
    """Raises BadUsage for a chosen column that the first line does not have."""
    line = head.lines[0] if head.lines else b""
    width = len(line.strip().split(delimiter_of(head)))
    odd = next((name for name in choice.values() if not 0 < place_of(name) <= width), None)
    if odd is not None:
        raise BadUsage(
            f"{option_of(holds, choice)}: there is no column {odd!r} in "
            f"{head.name}:{head.skipped + 1}: {shorten(line)}, which has {width}; columns count "
            "from 1."
        )


class Separation(NamedTuple):
    """How a file separates its columns, where columns are chosen.

    format: name of the format that reads them.
    delimiter: the delimiter; None for any white space.
    width: number of columns.
    """

    format: Literal["csv", "tsv", "headerless"]
    delimiter: bytes | None
    width: int


def separation_of(head: Head, choice: Mapping[str, str]) -> Separation | None:
    """The separation of the chosen columns of lines; None where there are no such columns."""
    for delimiter in (*_DELIMITERS, None):
        rows = [line.strip().split(delimiter) for line in head.lines[:200]]
        width = len(rows[0]) if rows else 0
        has_names = has_header(rows[0], choice) if rows else False
        if width < len(choice) or not _holds(rows, choice, has_names=has_names):
            continue
        plain = all(len(line.split()) == width for line in head.lines[:200])
        if delimiter in (b"\t", b"::", None) and not has_names and (plain or delimiter != b"\t"):
            return Separation("headerless", None if delimiter == b"\t" else delimiter, width)
        if delimiter is not None and delimiter != b"::":
            return Separation("tsv" if delimiter == b"\t" else "csv", delimiter, width)
    return None


def _holds(rows: Sequence[Sequence[bytes]], choice: Mapping[str, str], *, has_names: bool) -> bool:
    """Whether rows have the chosen columns."""
    names = _names(rows[0]) if has_names else []
    return all(name in names or 0 < place_of(name) <= len(rows[0]) for name in choice.values())


def has_header(first: Sequence[bytes], choice: Mapping[str, str]) -> bool:
    """Whether the first line names the chosen columns: one is chosen by its name, or has no number
    where there should be one.
    """
    if any(not place_of(name) for name in choice.values()):
        return True
    value = choice.get("score") or choice.get("rank") or choice.get("grade")
    value_index = place_of(value) - 1 if value else len(first)
    names = _names(first)
    return known_columns(names) > 1 or (
        value_index < len(first) and _NUMBER.fullmatch(first[value_index].strip(b'" ')) is None
    )


class RunOrder:
    """The order of the numbers of a run's lines `query item number`, which shows whether they are
    scores or ranks.

    Ranks count the rows of their query. Scores fall, or have a fraction or a sign, or integers
    repeat or lack some from 0 on.
    """

    def __init__(self) -> None:
        self.counts, self._signed, self._repeats = True, False, False
        self._falling = self._rising = 0
        # The last number of each query, its rows, its lowest and its highest number.
        self._lasts: dict[bytes, tuple[float, int, float, float]] = {}
        self._seen = dict[bytes, set[float]]()

    def add(self, query: bytes, number: float) -> None:
        """One more row."""
        before, n, low, high = self._lasts.get(query, (number, 0, number, number))
        self._falling += number < before
        self._rising += number > before
        self.counts &= number == n + 1
        self._signed |= number != number // 1 or number < 0
        earlier_numbers = self._seen.setdefault(query, set())
        self._repeats |= number in earlier_numbers
        earlier_numbers.add(number)
        self._lasts[query] = number, n + 1, min(low, number), max(high, number)

    @property
    def is_decided(self) -> bool:
        """Whether no later row can make the numbers ranks, or distances."""
        return self._signed and self._falling > 0

    @property
    def kind(self) -> Literal["ranks", "scores", "either", "rising"]:
        """The kind of the numbers: `rising` ones may be ranks with gaps, distances, or scores with
        the worst first.
        """
        if self.counts:
            return "ranks"
        if not self._rising:
            return "scores"
        if not self._falling:
            return "rising"
        if self._signed:
            return "scores"
        # Ranks of lists that stand one behind the other repeat as well, but they rise.
        gaps = any(low == 0 for _, _, low, _ in self._lasts.values()) and any(
            low or high != n - 1 for _, n, low, high in self._lasts.values()
        )
        return "scores" if (self._repeats or gaps) and self._rising <= self._falling else "either"


def order_of(rows: Iterable[tuple[bytes, bytes]]) -> RunOrder:
    """The order of the numbers of rows of a query and a number each, as far as is needed."""
    order = RunOrder()
    for query, number in islice(rows, _MOST_ROWS):
        order.add(query, float(number))
        if order.is_decided:
            break
    return order


def are_ordered(ranks: Iterable[tuple[str | bytes, float]]) -> bool:
    """Whether ranks, each behind its query, count the rows of each query."""
    counts: dict[str | bytes, int] = {}
    for query, rank in ranks:
        counts[query] = counts.get(query, 0) + 1
        if rank != counts[query]:
            return False
    return True


def are_numbers(rows: Iterable[Sequence[bytes]], place: int) -> bool:
    """Whether all rows have a number in a field."""
    return all(_NUMBER.fullmatch(fields[place]) for fields in rows)


def pairs_of(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Query and number of lines `query item number`; a line of another form is left to the
    reader.
    """
    for _, line in source.lines():
        fields = line.split()
        if len(fields) == 3 and _NUMBER.fullmatch(fields[2]):
            yield fields[0], fields[2]


def settle_run(source: Source, head: Head) -> None:
    """Raises BadInput where the numbers of lines `query item number` may be ranks as well as
    scores.
    """
    order = order_of(pairs_of(source))
    if order.kind in ("scores", "ranks"):
        return
    reason = "they rise in every query" if order.kind == "rising" else ""
    refuse_readings(head, "run", _SCORES_OR_RANKS, reason)


def settle_ranks(source: Source, head: Head) -> None:
    """Raises BadInput where the numbers of lines `query item number` do not count the lines of each
    query.
    """
    if not are_ordered((query, float(number)) for query, number in pairs_of(source)):
        refuse_readings(head, "run", _SCORES_OR_RANKS)


def settle_qrels(source: Source, head: Head) -> None:
    """Raises BadInput where lines of four fields are not certainly `query 0 item grade`."""
    rows = [fields for fields in (line.split() for line in head.lines) if len(fields) == 4]
    second = {fields[1] for fields in rows}
    if (
        second <= {b"0", b"Q0"}
        or not (are_numbers(rows, 2) and are_numbers(rows, 3))
        or (len(second) == 1 and len(rows) > 1)
        or (evidence_of(rows, 4).columns[1].repeats and all(fields[2].isdigit() for fields in rows))
    ):
        return
    evidence = evidence_of((line.split() for _, line in source.lines()), 4)
    if not evidence.columns[2].numbers or (
        evidence.columns[1].repeats and not evidence.columns[2].has_fractions
    ):
        return
    readings = evidence.readings("judgments")
    if [(reading.item, reading.number) for reading in readings] != [(3, 4)]:
        refuse_readings(head, "judgments", readings, evidence.times())


def refuse_repeated(head: Head) -> None:
    """Raises BadInput where a column that repeats within a query is taken for the item, and another
    one may be it.
    """
    rows = [line.split() for line in head.lines]
    width = len(rows[0])
    evidence = evidence_of(rows, width)
    usual = 1 if width == 3 else 2
    readings, second = evidence.readings("judgments"), evidence.columns[1]
    # Texts after zeros are items that are judged twice: the zeros are TREC's iterations.
    is_trec = width == 4 and second.numbers and not second.most and not evidence.columns[2].numbers
    if readings and not is_trec and not evidence.lists_items(usual):
        refuse_readings(
            head,
            "judgments",
            readings,
            f"column {usual + 1} repeats within a query, so that it is not the item",
        )


def refuse_large_grades(name: str, grades: Sequence[float] | Floats) -> None:
    """Raises BadInput for a number above any scale of grades."""
    import numpy as np  # which the reader of runs does without

    if (most := float(np.abs(grades).max(initial=0.0))) > _LARGEST_GRADE:
        example = ColumnRoles(1, 2, 3, "grade").option("judgments")
        raise BadInput(
            f"{name}: {most:.15g} is above any scale of grades; is it a time? Say which columns "
            f"are query, item and grade, as in {example}."
        )
