"""Records: the one reader of tables with named columns and of lists of objects, with the place of
every value.

A table is CSV, also with semicolons, tabs or bars; JSON, JSON lines or Parquet; a data frame; or a
list of mappings. A blank line, a line of empty cells and lines before the header that begin with
`#` are no rows. Between tabs a quotation mark is a character as any other.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType, TypeVar, cast, get_type_hints

import numpy as np

from rankwell.data.matrices import MAGIC, read_only_npy
from rankwell.data.tables import Floats, id_text, is_missing
from rankwell.documents import (
    DelimitedRow,
    PlainRows,
    advice_on_cells,
    delimited_rows,
    delimiter_of,
    parse_json,
    read_json,
    refuse_wide,
    repeated_name,
    unique_keys,
    without_comments,
)
from rankwell.errors import (
    BadInput,
    BadLine,
    BadScore,
    DuplicateItem,
    NothingToEvaluate,
    kind_of,
    missing_column,
)
from rankwell.errors import shown as shown_value
from rankwell.io.formats import FORMATS, SURE, Place, Request, Texts, file_format, scored
from rankwell.store import Head, Source, decode_id, naming, split_lines

RowT = TypeVar("RowT")
Id = NewType("Id", str)
"""The type of a field that holds an id: a string that is not empty, on one line, or an integer."""
Where = tuple[int | str, ...]
"""The keys and positions that lead to a value: `("data", 0, "title")`. In lines and tables the
first is the record.
"""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_HALF = re.compile("[\ud800-\udfff]")
_OPENED = re.compile(rb"\s*[{\[]")
_LINES = re.compile(rb"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")
"""The beginning of JSON lines, whose second object need not wait for the first error."""

_LINES_SUFFIXES = (".jsonl", ".ndjson")
"""The ends of names by which an object on a line of its own is a row, not a document."""

HEADER = -1
"""The place of the first row of a table."""

MISSING: Any = object()
"""The value of a missing key."""

MOST_START = 1 << 62
"""An integer beyond every position in a text, which 64 bits hold."""


def column(*aliases: str, **default: Any) -> Any:
    """A field of a row that goes by other names, too; `default` as for `dataclasses.field`."""
    return field(metadata={"aliases": aliases}, **default)


class Range(NamedTuple):
    """The numbers that a column may hold."""

    above: float = -math.inf
    """The least, which a number may not be itself."""
    least: float = -math.inf
    most: float = math.inf
    words: str = "a finite number"
    """The range in words, for messages."""
    is_integer: bool = False
    """Whether all are integers."""


@dataclass(frozen=True)
class Content:
    """A document in memory."""

    name: str
    form: Literal["json", "lines", "table", "python"]
    value: Any
    """Any JSON value; of lines and tables a list of objects, of tables of text nothing, of columns
    in memory a list by name.
    """
    line_numbers: Sequence[int] = ()
    """The number of the line of each record of lines, from 1."""
    header: tuple[str, ...] = ()
    """The first row of a table, as it is written."""
    marked: bool = False
    """Whether the file begins with a byte order mark."""
    texts: Sequence[DelimitedRow] = ()
    """The rows of a table of text, the header first."""
    problem: BadInput | None = None
    """The error on a wrong row or header; not raised yet, because the file may be no table."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The names that a column goes by, in the order of preference, by what it holds."""

    @cached_property
    def prefix(self) -> Where:
        """The place of the records: in `data` where the document is an object with such a list,
        else at the top.
        """
        value = self.value
        return ("data",) if isinstance(value, dict) and isinstance(value.get("data"), list) else ()

    @cached_property
    def records(self) -> list[Any]:
        """The objects of a list, of lines or of a table; a single object is one record."""
        if self.is_text:
            return [
                dict(zip(self.names, row.fields, strict=False))
                for row in islice(self.texts, 1, None)
            ]
        value = self.value["data"] if self.prefix else self.value
        return value if isinstance(value, list) else [value]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first fifty records."""
        return frozenset(
            key for record in self.records[:50] if isinstance(record, dict) for key in record
        )

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, or the keys of all records."""
        if self.is_text:
            return [name.strip() for name in self.header]
        if self.has_columns:
            return list(self.value)
        return list(dict.fromkeys(key for record in self.checked_records() for key in record.value))

    @property
    def is_text(self) -> bool:
        """Whether this is a table whose cells are texts, as in CSV."""
        return self.form == "table" and bool(self.header) and self.value is None

    @property
    def has_columns(self) -> bool:
        """Whether this is a mapping of columns."""
        return self.form == "table" and isinstance(self.value, dict)

    def column(self, name: str) -> list[Any]:
        """The cells of a column; None where a record has no such key. Raises BadInput as
        `checked_records`.
        """
        if self.has_columns:
            return self.value[name]
        if not self.is_text or self.problem is not None:
            return [record.value.get(name) for record in self.checked_records()]
        at = self.names.index(name)
        if isinstance(self.texts, PlainRows):
            return self.texts.column(at)[1:]
        return [row.fields[at] for row in self.texts[1:]]

    def checked_records(self) -> Iterator["Record"]:
        """Every record. Raises BadInput for one that is not an object, and for a table's wrong
        row.
        """
        if self.problem is not None:
            raise self.problem
        prefix = self.prefix
        is_list = self.is_text or isinstance(self.value, list) or bool(prefix)
        for row, record in enumerate(self.records):
            where = (*prefix, row) if is_list else ()
            yield (
                Record(self, record, where)
                if type(record) is dict
                else self.record(record, where, "an object")
            )

    def record(self, value: Any, where: Where, expected: str) -> "Record":
        """The object at a place. Raises BadInput for anything else."""
        # Asking for a plain dict first saves the slow question.
        if not isinstance(value, (dict, Mapping)):
            raise self.wrong(where, value, expected)
        return Record(self, value, where)

    @cached_property
    def features(self) -> frozenset[str]:
        """The features by which forms of documents are recognised: the `key`s of the first records,
        `key[]` where its first value is a list, `*.key` of the values of an object, `form=table`,
        `[]` or `{}` for a list or an object, `no-header`.
        """
        value = self.value
        first: dict[str, Any] = {}
        for record in self.records[:50]:
            if isinstance(record, dict):
                first |= {key: cell for key, cell in record.items() if first.get(key) is None}
        inner = list(value.values())[:20] if isinstance(value, dict) else []
        features = {*first, *(f"{key}[]" for key, cell in first.items() if isinstance(cell, list))}
        inner = [member for member in inner if isinstance(member, Mapping)]
        features |= {f"*.{key}" for member in inner for key in member}
        features.add(f"form={self.form}")
        if self.is_text or isinstance(value, (list, dict)):
            features.add("{}" if isinstance(value, dict) else "[]")
        if len(self.header) == 2 and self.header[1][:1] == "[":
            features.add("no-header")
        return frozenset(features)

    def place(self, where: Where) -> str:
        """The file and the path inside it, for messages: `gold.json: data[0].title`, `gold.jsonl:3:
        title`, `gold.csv:3, column 'title'`.
        """
        if self.form not in ("lines", "table") or not where:
            return f"{self.name}: {path(where) or 'the document'}"
        row, below = int(where[0]), where[1:]
        begin = f"{self.name}: row {row + 1}"
        if self.is_text:
            begin = f"{self.name}:{self.texts[row + 1].line}"
        elif self.line_numbers:
            begin = f"{self.name}:{self.line_numbers[row]}"
        if self.form == "table" and below:
            return f"{begin}, column {below[0]!r}{path(below[1:])}"
        return f"{begin}: {path(below)}" if below else begin

    def wrong(
        self, where: Where, value: Any, expected: str, keys: Collection[str] = ()
    ) -> BadInput:
        """The error for a value of another kind than expected, and for a column that a table lacks.
        keys: those that are there in place of a missing one.
        """
        if value is MISSING and self.header and where[1] not in self.names:
            return self.missing({where[1]: where[1:]})
        found = f", found are {', '.join(map(repr, keys))[:200]}" if keys else ""
        return BadInput(f"{self.place(where)} {shown(value)}{found}; expected {expected}.")

    def integer(self, value: Any, where: Where, expected: str = "an integer") -> int:
        """An integer, -1 where there is none; tables hold it as text or with a point."""
        if type(value) is int and abs(value) < MOST_START:
            return value
        if is_missing(value):
            return -1
        if isinstance(value, float) and value.is_integer() and abs(value) < MOST_START:
            return int(value)
        if (
            self.form == "table"
            and isinstance(value, str)
            and re.fullmatch(r"-?\d{1,18}(\.0*)?|", value)
        ):
            return int(value.partition(".")[0]) if value else -1
        raise self.wrong(where, value, expected)

    def rows(self, kind: type[RowT]) -> Iterator[tuple["Record", RowT]]:
        """Every record with its row, as a dataclass whose fields declare the columns.

        A field's name, or one of the `aliases` in its metadata, names the column, whatever its
        case; a field without a default is a column that must be there. Its type says how the cell
        is read: `str` as text, empty where there is nothing; `Id`, `list` and `bool`.
        Raises BadInput for a missing column and for a cell of another type.
        """
        records = list(self.checked_records())
        spelt = {name.strip().casefold(): name for name in reversed(self.names)}
        hints = get_type_hints(kind)
        readers: dict[str, tuple[str, Callable[[Record, str], Any]]] = {}
        for declared in fields(kind):  # pyright: ignore[reportArgumentType] - a dataclass
            words = (declared.name, *declared.metadata.get("aliases", ()))
            name = next((spelt[word] for word in words if word in spelt), None)
            if name is not None:
                readers[declared.name] = name, _READERS[hints[declared.name]]
            elif declared.default is NO_DEFAULT and records:
                raise self.missing({declared.name: words})
        for record in records:
            cells = {field: read(record, name) for field, (name, read) in readers.items()}
            yield record, kind(**cells)

    def find(self, holds: str, **choices: str) -> str | None:
        """The column that holds something: the chosen one, else that with the first of its usual
        names.

        Raises BadInput for a chosen column that is not there, and for two columns of one name.
        """
        if holds in choices:
            return self.existing_column(choices[holds])
        for word in self.words[holds]:
            same_names = [
                name for name in self.names if re.sub(r"[\s_-]", "", name.lower()) == word
            ]
            if len(same_names) > 1:
                raise BadInput(
                    f"{self.name}: columns {same_names[0]!r} and {same_names[1]!r} mean the same; "
                    "rename or drop one of them."
                )
            if same_names:
                return same_names[0]
        return None

    def need(self, holds: str, option: str = "", **choices: str) -> str:
        """The column that holds something. Raises BadInput where there is none, with the option
        that would name it.
        """
        name = self.find(holds, **choices)
        if name is None:
            raise self.missing({holds: self.words[holds]}, option)
        return name

    def existing_column(self, column: str) -> str:
        """The column of this name. Raises BadInput that lists those that are there."""
        if column not in self.names:
            raise self.missing(column)
        return column

    def missing(self, wanted: Any, option: str = "") -> BadInput:
        """The error for a column that is not there, as `missing_column`."""
        return missing_column(wanted, self.names, option, self.name)

    def all_ids(self, column: str) -> list[str | None]:
        """The ids of a column; None where there is none."""
        cells = self.column(column)
        return [(cell if type(cell) is str else id_text(cell)) or None for cell in cells]

    def ids(self, column: str) -> list[str]:
        """The ids of a column. Raises BadInput for the first row without one."""
        ids = self.all_ids(column)
        if None in ids or not _are_lines("".join(map(str, ids)), is_text=self.is_text):
            row = next(
                row
                for row, name in enumerate(ids)
                if name is None or not _are_lines(name, is_text=self.is_text)
            )
            raise BadInput(
                self.wrong_cell(column, row, "an id, a string on one line or an integer")
            )
        return cast("list[str]", ids)

    def numbers(self, column: str, within: Range) -> Floats:
        """The numbers of a column. Raises BadScore for the first row without one in the range."""
        cells = self.column(column)
        read = _number
        if self.is_text:
            # Python reads 1_000 as a thousand, and Arabic digits.
            text = "".join(cells)
            read = _parse_number if "_" in text or not text.isascii() else float
        try:
            numbers = np.array(list(map(read, cells)), dtype=np.float64)
        except ValueError:
            numbers = np.array(list(map(_parse_number, cells)), dtype=np.float64)
        with np.errstate(invalid="ignore"):
            fits = (
                np.isfinite(numbers)
                & (numbers > within.above)
                & (numbers >= within.least)
                & (numbers <= within.most)
            )
            fits &= (numbers == np.rint(numbers)) | (not within.is_integer)
        if not fits.all():
            raise BadScore(self.wrong_cell(column, int(np.flatnonzero(~fits)[0]), within.words))
        return numbers

    def wrong_cell(self, column: str, row: int, expected: str) -> str:
        """The message on a cell."""
        cell = self.column(column)[row]
        text = "nothing" if cell is None or cell == "" else shown_value(cell)
        return f"{self.place((row, column))}: {text}; expected {expected}. Correct or drop the row."


class Record(NamedTuple):
    """An object inside a document. Its values are checked as they are read, and errors name their
    place.
    """

    content: Content
    value: Mapping[str, Any]
    where: Where

    @property
    def place(self) -> str:
        """The file and the line or the path of the object, for messages."""
        return self.content.place(self.where)

    def key(self, *names: str) -> str | None:
        """The first of several names for the same that the object has."""
        for name in names:
            if name in self.value:
                return name
        return None

    def wrong(self, expected: str, *below: int | str) -> BadInput:
        """The error for the value below some keys, which is not as expected."""
        value: Any = self.value
        keys: Collection[str] = ()
        for key in below:
            keys = () if isinstance(key, int) or key in value else value.keys()
            value = value[key] if isinstance(key, int) else value.get(key, MISSING)
        return self.content.wrong((*self.where, *below), value, expected, keys)

    def text(self, key: str, otherwise: str | None = None) -> str:
        """A text below a key; `otherwise` stands for a missing one, without it that is an error."""
        value = self.value.get(key)
        if isinstance(value, str):
            return value
        if otherwise is not None and value is None:
            return otherwise
        raise self.wrong("a string", key)

    def text_or_null(self, key: str) -> str | None:
        """A text below a key, or the null that stands for none; a key that is not there is an
        error, as it may be misspelt.
        """
        value = self.value.get(key, MISSING)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong("a string or null", key)

    def cell(self, key: str) -> str:
        """The text, number or truth value below a key as text; empty where there is nothing."""
        value = self.value.get(key)
        if isinstance(value, str):
            return value
        if is_missing(value):
            return ""
        if isinstance(value, (Mapping, list, tuple)):
            raise self.wrong("a string or a number", key)
        return str(value)

    def items(self, key: str) -> list[Any]:
        """The list below a key; what is missing, null or an empty text is an empty list."""
        value = self.value.get(key)
        if isinstance(value, list):
            return value
        if value is None or value == "":
            return []
        raise self.wrong("a list", key)

    def members(self, key: str) -> list[Any]:
        """The list below a key, which must be there; a tuple is one, too."""
        value = self.value.get(key)
        if not isinstance(value, (list, tuple)):
            raise self.wrong("a list", key)
        return list(value)

    def truth(self, key: str) -> bool:
        """A truth value below a key."""
        value = self.value.get(key)
        if not isinstance(value, bool):
            raise self.wrong("true or false", key)
        return value

    def objects(self, key: str, expected: str) -> Iterator["Record"]:
        """The objects in the list below a key."""
        for index, member in enumerate(self.items(key)):
            yield self.content.record(member, (*self.where, key, index), expected)

    def integer(self, key: str, expected: str = "an integer") -> int:
        """An integer below a key, -1 where there is none."""
        return self.content.integer(self.value.get(key), (*self.where, key), expected)

    def number(self, key: str) -> float:
        """A finite number below a key, also written as a text, as DPR writes its scores; NaN where
        there is none.
        """
        value = self.value.get(key)
        if type(value) is float and math.isfinite(value):
            return value
        if value is None or value == "":
            return math.nan
        number = _parse_number(value) if isinstance(value, str) else _number(value)
        if number is not None and math.isfinite(number):
            return number
        if self.content.form in ("table", "python") and str(value).lower() == "nan":
            return math.nan
        raise self.wrong("a finite number", key)

    def id(self, key: str = "id") -> str | None:
        """An id: a string as it is, an integer as a string, None where there is none."""
        value = self.value.get(key)
        if isinstance(value, str):
            if self.content.form == "table" and "\n" in value:
                raise self.wrong("an id on one line (is a quotation mark left open?)", key)
            return value or None
        if value is None or type(value) is int:
            return None if value is None else str(value)
        raise self.wrong("an id, a string or an integer", key)

    def required_id(self, key: str = "id") -> str:
        """An id, which must be there."""
        name = self.id(key)
        if name is None and self.value.get(key) != "":
            raise self.wrong("a string or an integer", key)
        return name or ""


_READERS: dict[Any, Callable[[Record, str], Any]] = {
    str: Record.cell,
    Id: Record.required_id,
    list[Any]: Record.members,
    bool: Record.truth,
}


def load_columns(place: Any, name: str, words: Mapping[str, Sequence[str]]) -> Content:
    """The content of a table, to be read by columns: a place that `load` reads, or a mapping
    column -> values.

    name: the name in messages of a table that is not a file. words: as in `Content`.

    Raises BadInput for columns of different lengths, NothingToEvaluate without rows.
    """
    if isinstance(place, Mapping):
        columns = _columns_of_mapping(place, name)
        content, is_empty = Content(name, "table", columns), not any(columns.values())
    else:
        content = load(place, name, utf8=True)
        is_empty = len(content.texts) < 2 and not content.records
    if is_empty:
        raise NothingToEvaluate(f"{content.name}: the table has no rows.")
    if content.problem is not None:
        raise content.problem
    return replace(content, words=words)


def _columns_of_mapping(columns: Mapping[Any, Any], name: str) -> dict[str, list[Any]]:
    for column, values in columns.items():
        if (
            not isinstance(column, str)
            or isinstance(values, (str, bytes))
            or not hasattr(values, "__len__")
        ):
            raise BadInput(
                f"{name}: column {shown_value(column)} holds {kind_of(values)}; expected names of "
                "columns, each with a list."
            )
    cells = {column: list(values) for column, values in columns.items()}
    sizes = {column: len(values) for column, values in cells.items()}
    if len(set(sizes.values())) > 1:
        size_list = ", ".join(f"{column!r} {size}" for column, size in sizes.items())
        raise BadInput(
            f"{name}: the columns have different lengths ({size_list}); expected a value per row "
            "in each."
        )
    return cells


def _are_lines(text: str, *, is_text: bool) -> bool:
    """Whether a text is UTF-8, and in a table of text on one line."""
    return text.isprintable() or (not (is_text and "\n" in text) and _HALF.search(text) is None)


def _parse_number(text: str) -> float | None:
    """The number that a text holds; None for any other text."""
    try:
        # Python reads 1_000 as a thousand, and Arabic digits; no other reader of numbers does.
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _number(value: object) -> float:
    """The number, NaN for what is none and for one beyond float64."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.number, Decimal)):
        return math.nan
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except (OverflowError, TypeError, ValueError):
        return math.nan


def path(where: Where) -> str:
    """The text of a path: `data[0].paragraphs[3].title`."""
    parts = [
        f"[{key}]"
        if isinstance(key, int)
        else f".{key}"
        if _PLAIN.fullmatch(key)
        else f"[{json.dumps(key, ensure_ascii=False)}]"
        for key in where
    ]
    return "".join(parts).removeprefix(".")


def shown(value: Any) -> str:
    """A value for messages: `is "x"`, `is a list`, `is missing`."""
    if value is MISSING:
        return "is missing"
    if isinstance(value, (dict, list)):
        return f"is {'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        text = repr(value)
    return f"is {text[:40]}{'…' if len(text) > 40 else ''}"


def load(
    place: Any, expected: str = "a list of records", *, zeros: bool = False, utf8: bool = False
) -> Content:
    """The document in a path, `-`, a mapping, a list of records or any data frame.

    expected: the content, for messages. zeros: whether a text may have zero bytes. utf8: whether
    bytes that are not UTF-8 are refused, which else are kept as in `decode_id`. Raises BadInput for
    anything else.
    """
    if not isinstance(place, (str, Path, Source)):
        return _content_of_python(place, expected)
    source = place if isinstance(place, Source) else Source(place)
    head = Head.of(source)
    head.refuse_foreign(binary=zeros)
    if head.raw.startswith(b"PAR1"):
        rows = FORMATS["parquet records"].read(source, Request())
        return Content(source.name, "table", rows, header=tuple(rows[0]) if rows else ())
    raw = source.read()
    if utf8:
        _refuse_other_encoding(raw, source.name)
    if _OPENED.match(raw) is None:
        return _content_of_table(source, decode_id(raw))
    is_named_lines = source.name.removesuffix(".gz").removesuffix(".zst").endswith(_LINES_SUFFIXES)
    if _LINES.match(raw) or (
        is_named_lines and raw.lstrip().startswith(b"{") and b"\n" not in raw.strip()
    ):
        return _content_of_lines(source, raw)
    text = decode_id(raw)
    try:
        value = parse_json(text, source.name, pairs=unique_keys)
        return Content(source.name, "json", value, marked=source.marked)
    except DuplicateItem:
        _refuse_repeated_id(text, source.name)
        raise
    except BadInput as problem:
        error = problem.__cause__
        if not isinstance(error, json.JSONDecodeError):
            raise
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            return _content_of_lines(source, raw)
        near = text[max(error.pos - 20, 0) : error.pos + 20]
        inside = path(_path_at(text, error.pos)) or "the document"
        reason = error.msg.removesuffix(" at")
        raise BadInput(
            f"{source.name}:{error.lineno}: {inside}: {near!r}: {reason} at column {error.colno}; "
            "is the file whole?"
        ) from error


def _refuse_other_encoding(raw: bytes, name: str) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadLine(f"{name}:{line} is not UTF-8; save the table as CSV UTF-8.") from error


def _content_of_lines(source: Source, raw: bytes) -> Content:
    records, numbers = list[Any](), list[int]()
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        record = parse_json(
            line, source.name, "a JSON object per line", line=number, pairs=unique_keys
        )
        if not isinstance(record, dict):
            raise BadLine(
                f"{source.name}:{number}: {decode_id(line)[:60]!r}; expected a JSON object per "
                "line."
            )
        records.append(record)
        numbers.append(number)
    return Content(source.name, "lines", records, numbers, marked=source.marked)


def _content_of_table(source: Source, text: str) -> Content:
    """The rows of a table with a header, all values as text; long passages make long cells."""
    text = without_comments(text)
    delimiter = delimiter_of(text)
    try:
        rows = PlainRows.of(text, delimiter) or delimited_rows(text, source.name, delimiter)
    except BadLine as error:
        raise BadLine(f"{error} Expected JSON, CSV, TSV or Parquet.") from error
    header = rows[0].fields if rows else []
    names, problem = [name.strip() for name in header], None
    with naming(source.name):
        refuse_wide(len(names))
    if twice := repeated_name(list(filter(None, names))):
        problem = BadInput(
            f"{source.name}: two columns are named {twice!r}; rename or drop one of them."
        )
    ragged = None
    if not isinstance(rows, PlainRows):
        ragged = next((row for row in rows if len(row.fields) != len(names)), None)
    if ragged is not None:
        beginning = delimiter.join(ragged.fields)[:60]
        problem = BadLine(
            f"{source.name}:{ragged.line}: {beginning!r} has {len(ragged.fields)} fields, the "
            f"header {len(names)}; {advice_on_cells(delimiter)}."
        )
    return Content(
        source.name,
        "table",
        None,
        header=tuple(header),
        marked=source.marked,
        texts=rows,
        problem=problem,
    )


def _content_of_python(thing: Any, expected: str) -> Content:
    if isinstance(thing, Mapping):
        return Content("the mapping", "python", dict(thing))
    if isinstance(thing, (list, tuple)):
        return Content("the list", "python", list(thing))
    if hasattr(thing, "to_list"):
        return Content(f"the {type(thing).__name__}", "python", thing.to_list())
    import narwhals as nw

    try:
        frame = nw.from_native(thing, eager_only=True)
    except TypeError as error:
        raise BadInput(
            f"{expected} cannot be read from {kind_of(thing)}; expected a path, a mapping, a list "
            "of records or a data frame."
        ) from error
    rows = [
        {key: _plain(value) for key, value in row.items()} for row in frame.iter_rows(named=True)
    ]
    return Content(f"the {type(thing).__name__}", "table", rows, header=tuple(frame.columns))


def _refuse_repeated_id(text: str, name: str) -> None:
    """Raises DuplicateItem for a key that appears twice in the outermost object, with both
    places.
    """
    try:
        pairs: list[tuple[str, Any]] = parse_json(text, name, pairs=list)
    except BadInput:
        return  # several documents, one a line
    first_entries: dict[str, int] = {}
    for position, (key, _) in enumerate(pairs if text.lstrip().startswith("{") else (), 1):
        if first_entries.setdefault(key, position) != position:
            raise DuplicateItem(
                f"{name}: the id {key!r} appears twice, as entries {first_entries[key]} and "
                f"{position}; keep one of them."
            )


def _path_at(text: str, stop: int) -> Where:
    """The path of the innermost value that is begun, and not ended, at a place of a broken
    document.
    """
    stack: list[int | str] = []
    last = ""
    for token in _TOKEN.finditer(text, 0, stop):
        mark = token[0]
        if mark in "{[":
            stack.append("" if mark == "{" else 0)
        elif mark in "}]":
            if stack:
                stack.pop()
        elif mark == "," and stack:
            top = stack[-1]
            stack[-1] = top + 1 if isinstance(top, int) else ""
        elif mark == ":" and stack:
            stack[-1] = last
        last = mark[1:-1]
    return tuple(key for key in stack if key != "")


def _plain(value: Any) -> Any:
    """The value of a data frame's cell as in JSON: arrays are lists, and NaN is null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return None if is_missing(value) else value


_WITHOUT_COLUMNS = ("npy", "lines", "json")


def read_numbers(place: Place, *, column: str = "") -> Floats:
    """The numbers in a file, in order, as float64: (n,).

    place: text with one number a line, a JSON list, an `.npy` array of shape (n,) or (n, 1), CSV,
    TSV, JSON lines or Parquet, all but Parquet also .gz and .zst; `-` is standard input. column:
    the table's, which may be left out where there is only one. Raises BadInput that names file and
    place for anything but a number, and BadScore where one is not finite.
    """
    source = Source(place)
    head = Head.of(source)
    if not head.raw.startswith(MAGIC):
        head.refuse_foreign()
    likely = [
        entry
        for _, entry in scored(head, "numbers")
        if not (column and entry.name in _WITHOUT_COLUMNS)
    ]
    if not likely:
        expected = "a table with that column" if column else "one number a line, or a table,"
        raise BadInput(f"{head.name}:1: {head.excerpt}; expected {expected}.")
    with naming(source.name):
        numbers = likely[0].read(source, Request(part=column))
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            raise BadScore(
                f"row {wrong[0]} (from 0) is {numbers[wrong[0]]}; expected finite numbers. Correct "
                "it, or drop the pair on both sides."
            )
    return numbers


@file_format("npy", "numbers", sniff=lambda head: 0.49 * head.raw.startswith(MAGIC))
def read_array(source: Source, request: Request) -> Floats:  # noqa: ARG001 - an array has no options
    """The numbers of an `.npy` array with one dimension, or with one column; nothing pickled is
    opened.
    """
    with source.open() as stream:
        array = read_only_npy(stream)
    if array.dtype.kind not in "fiub" or array.size != len(array if array.ndim else [0]):
        raise BadInput(
            f"an array of {array.dtype} of shape {array.shape}; expected a single column of "
            "numbers."
        )
    return array.reshape(-1).astype(np.float64)


@file_format(
    "lines",
    "numbers",
    sniff=lambda head: (
        0.1 if _parse_number("".join(map(decode_id, head.lines[:1]))) is None else 0.45
    ),
)
def read_number_lines(source: Source, request: Request) -> Floats:  # noqa: ARG001 - lines have no options
    """One number a line; empty lines are allowed at the end only, where they cannot shift a row
    against the other side.
    """
    with source.open() as stream:
        lines = split_lines(stream.read().decode("utf-8", "replace"))
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = [_parse_number(line) for line in lines]
    for row, number in enumerate(numbers):
        if number is None or not np.isfinite(number):
            kind = BadScore if number is not None else BadLine
            hint = "; name a table's column as in table.csv:score" if row == 0 else ""
            raise kind(
                f"{source.name}:{row + 1}: {lines[row][:60]!r}; expected a finite number{hint}."
            )
    return np.array(numbers, dtype=np.float64)


@file_format("json", "numbers", sniff=lambda head: 0.4 * head.text.startswith("["))
def read_number_list(source: Source, request: Request) -> Floats:  # noqa: ARG001 - a list has no options
    """The numbers of a JSON list."""
    values = _list(source, "numbers")
    for row, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f"row {row} (from 0) is {json.dumps(value)[:60]}; expected a number.")
    return np.array(values, dtype=np.float64)


def _sniff_lines(head: Head) -> float:
    """Sure of lines that no table and no list begins with, in a file of no other suffix."""
    plain = (
        head.lines
        and not re.search(rb"""[,;|\t"\[{]|PAR1""", head.lines[0])
        and Path(head.name).suffix in ("", ".txt")
    )
    return SURE if plain else 0.3 if head.lines else 0.0


@file_format("lines", "column", sniff=_sniff_lines, suffixes=(".txt",))
def read_lines(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - lines have no options
    """The lines of a text file without their ends; an empty line is an empty text."""
    with source.open() as stream:
        return [decode_id(line.rstrip(b"\r\n")) for line in stream]


@file_format(
    "json", "column", sniff=lambda head: 0.6 * head.text.startswith("["), suffixes=(".json",)
)
def read_list(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - a list has no options
    """The strings and integers of a JSON list."""
    return list(map(id_text, _list(source, "strings or integers")))


def _list(source: Source, members: str) -> list[Any]:
    json_list = read_json(source, f"a JSON list of {members}")
    if not isinstance(json_list, list):
        raise BadInput(f"{source.name}: {kind_of(json_list)}; expected a list of {members}.")
    return cast("list[Any]", json_list)


def _sniff_texts(head: Head) -> float:
    """Less certain than any table: a file of lines is recognised by its name alone."""
    return (
        0.4 if head.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".txt") else 0.0
    )


@file_format("lines", "texts", sniff=_sniff_texts)
def read_texts(source: Source, request: Request) -> Texts:
    """A text per line, its id the position of the line, from 0."""
    lines = read_lines(source, request)
    return Texts(
        {str(row): line or "" for row, line in enumerate(lines)},
        {str(row): {} for row in range(len(lines))},
    )
