"""The content of a file of questions or answers, be it JSON, JSON lines, CSV, TSV or Parquet, with
the place of each value.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankwell.core.tables.arrays import is_missing
from rankwell.core.tables.columns import refuse_wide, repeated_name
from rankwell.delimited import TAB, delimited_rows
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, BadLine, DuplicateItem, kind_of
from rankwell.io.formats import FORMATS, Request
from rankwell.store import Head, Source, decode_id, naming

Where = tuple[int | str, ...]
"""The keys and positions that lead to a value: `("data", 0, "title")`. In lines and tables the
first is the record.
"""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_]\w*")


HEADER = -1
"""The place of the first row of a table."""

MISSING: Any = object()
"""The value of a missing key."""

MOST_START = 1 << 62
"""An integer beyond every position in a text, which 64 bits hold."""


@dataclass(frozen=True)
class Content:
    """A document in memory. value: any JSON value; for lines and tables a list of objects. numbers:
    of the lines, from 1.

    problem: the message on a wrong row or header; no error yet, because the file may be no table at
    all.
    """

    name: str
    form: Literal["json", "lines", "table", "python"]
    value: Any
    numbers: tuple[int, ...] = ()
    header: tuple[str, ...] = ()
    marked: bool = False
    problem: str = ""

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
        value = self.value["data"] if self.prefix else self.value
        return value if isinstance(value, list) else [value]

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first fifty records."""
        return frozenset(
            key for record in self.records[:50] if isinstance(record, dict) for key in record
        )

    def each(self) -> Iterator["Record"]:
        """Every record. Raises BadInput for one that is not an object."""
        prefix, listed = self.prefix, isinstance(self.value, list) or bool(self.prefix)
        for row, record in enumerate(self.records):
            where: Where = (*prefix, row) if listed else ()
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
        """The features by which formats are recognised, in the words of `has`."""
        value = self.value
        first: dict[str, Any] = {}
        for record in self.records[:50]:
            first |= (
                {key: each for key, each in record.items() if first.get(key) is None}
                if isinstance(record, dict)
                else {}
            )
        inner = list(value.values())[:20] if isinstance(value, dict) else []
        found = {*first, *(f"{key}[]" for key, each in first.items() if isinstance(each, list))}
        found |= {f"*.{key}" for each in inner if isinstance(each, Mapping) for key in each}
        found |= {
            f"form={self.form}",
            "[]" if isinstance(value, list) else "{}" if isinstance(value, dict) else "",
        }
        return frozenset(
            found
            | ({"no-header"} if len(self.header) == 2 and self.header[1][:1] == "[" else set())
        )

    def place(self, where: Where) -> str:
        """The file and the path inside it, for messages: `gold.json: data[0].title`, `gold.jsonl:3:
        title`.
        """
        if self.form in ("lines", "table") and where:
            row, rest = int(where[0]), path(where[1:])
            begin = (
                f"{self.name}:{self.numbers[row]}"
                if self.form == "lines"
                else f"{self.name}: row {row + 1}"
            )
            if self.form == "table" and len(where) > 1:
                return f"{begin}, column {where[1]!r}{path(where[2:])}"
            return f"{begin}: {rest}" if rest else begin
        return f"{self.name}: {path(where) or 'the document'}"

    def wrong(self, where: Where, value: Any, expected: str) -> BadInput:
        """The error for a value of another kind than expected."""
        return BadInput(f"{self.place(where)} {shown(value)}; expected {expected}.")

    def whole(self, value: Any, where: Where, expected: str = "an integer") -> int:
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


class Record(NamedTuple):
    """An object inside a document. Its values are checked as they are read, and errors name their
    place.
    """

    content: Content
    value: Mapping[str, Any]
    where: Where

    def key(self, *names: str) -> str | None:
        """The first of several names for the same that the object has."""
        for name in names:
            if name in self.value:
                return name
        return None

    def wrong(self, expected: str, *below: int | str) -> BadInput:
        """The error for the value below some keys, which is not as expected."""
        value: Any = self.value
        for key in below:
            value = value[key] if isinstance(key, int) else value.get(key, MISSING)
        return self.content.wrong((*self.where, *below), value, expected)

    def text(self, key: str, otherwise: str | None = None) -> str:
        """A text below a key; `otherwise` stands for a missing one, without it that is an error."""
        value = self.value.get(key)
        if isinstance(value, str):
            return value
        if otherwise is not None and value is None:
            return otherwise
        raise self.wrong("a string", key)

    def text_or_null(self, key: str, expected: str = "a string or null") -> str | None:
        """A text below a key, or the null that stands for none; a key that is not there is an
        error, as it may be misspelt.
        """
        value = self.value.get(key, MISSING)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong(expected, key)

    def items(self, key: str) -> list[Any]:
        """The list below a key; what is missing, null or an empty text is an empty list."""
        value = self.value.get(key)
        if isinstance(value, list):
            return value
        if value is None or value == "":
            return []
        raise self.wrong("a list", key)

    def objects(self, key: str, expected: str) -> Iterator["Record"]:
        """The objects in the list below a key."""
        for index, each in enumerate(self.items(key)):
            yield self.content.record(each, (*self.where, key, index), expected)

    def whole(self, key: str, expected: str = "an integer") -> int:
        """An integer below a key, -1 where there is none."""
        return self.content.whole(self.value.get(key), (*self.where, key), expected)

    def number(self, key: str) -> float:
        """A finite number below a key, also written as a text, as DPR writes its scores; NaN where
        there is none.
        """
        value = self.value.get(key)
        if type(value) is float and math.isfinite(value):
            return value
        if value is None or value == "":
            return math.nan
        try:
            found = (
                float(value)
                if isinstance(value, (int, float, str)) and not isinstance(value, bool)
                else math.nan
            )
        except (ValueError, OverflowError):
            found = math.nan
        if math.isfinite(found) and "_" not in str(value):
            return found
        if self.content.form in ("table", "python") and str(value).lower() == "nan":
            return math.nan
        raise self.wrong("a finite number", key)

    def id(self, key: str = "id") -> str | None:
        """An id: a string as it is, an integer as a string, None where there is none."""
        value = self.value.get(key)
        if isinstance(value, str):
            return value or None
        if value is None or type(value) is int:
            return None if value is None else str(value)
        raise self.wrong("an id, a string or an integer", key)


def has(*patterns: str, sure: float = 0.95) -> Callable[[Content], float]:
    """The confidence `sure` for a document with the features of any pattern, else 0.

    A pattern is a list of features: `key` (of the first records), `key[]` (its first value is a
    list), `*.key` (of the values
    of an object), `a|b` (either), `!a` (absent), `form=table`, `[]` and `{}` (a list, an object),
    `no-header`.
    """
    every = [[word.split("|") for word in pattern.split()] for pattern in patterns]

    def _fits(content: Content) -> float:
        known = content.features
        met = [
            all(
                any((word[0] == "!") != (word.lstrip("!") in known) for word in words)
                for words in pattern
            )
            for pattern in every
        ]
        return sure if any(met) else 0.0

    return _fits


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


def load(place: Any) -> Content:
    """The document in a path, `-`, a mapping, a list of records or any data frame. Raises BadInput
    for anything else.
    """
    if not isinstance(place, (str, Path, Source)):
        return _of_python(place)
    source = place if isinstance(place, Source) else Source(place)
    head = Head.of(source)
    head.refuse_foreign()
    if head.raw.startswith(b"PAR1"):
        rows: list[Any] = FORMATS["parquet records"].read(source, Request())
        return Content(source.name, "table", rows, header=tuple(rows[0]) if rows else ())
    text = decode_id(source.read())
    if text.lstrip()[:1] not in ("{", "["):
        return _table(source, text)
    try:
        return Content(
            source.name,
            "json",
            parse_json(text, source.name, pairs=unique_keys),
            marked=source.marked,
        )
    except DuplicateItem:
        _refuse_repeated_id(text, source.name)
        raise
    except BadInput as problem:
        error = problem.__cause__
        if not isinstance(error, json.JSONDecodeError):
            raise
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            return _lines(source, text)
        near = text[max(error.pos - 20, 0) : error.pos + 20]
        inside = path(_path_at(text, error.pos)) or "the document"
        why = error.msg.removesuffix(" at")
        what = f"{source.name}:{error.lineno}: {inside}: {near!r}: {why} at column {error.colno}"
        raise BadInput(f"{what}; is the file whole?") from error


def _refuse_repeated_id(text: str, name: str) -> None:
    """Raises DuplicateItem for a key that appears twice in the outermost object, with both
    places.
    """
    try:
        found: list[tuple[str, Any]] = parse_json(text, name, pairs=list)
    except BadInput:
        return  # several documents, one a line
    seen: dict[str, int] = {}
    for position, (key, _) in enumerate(found if text.lstrip().startswith("{") else (), 1):
        if seen.setdefault(key, position) != position:
            what = f"{name}: the id {key!r} appears twice, as entries {seen[key]} and {position}"
            raise DuplicateItem(f"{what}; keep one of them.")


def _path_at(text: str, stop: int) -> Where:
    """The path of the innermost value that is begun, and not ended, at a place of a broken
    document.
    """
    stack: list[int | str] = []
    last = ""
    for token in _TOKEN.finditer(text, 0, stop):
        what = token[0]
        if what in "{[":
            stack.append("" if what == "{" else 0)
        elif what in "}]":
            if stack:
                stack.pop()
        elif what == "," and stack:
            top = stack[-1]
            stack[-1] = top + 1 if isinstance(top, int) else ""
        elif what == ":" and stack:
            stack[-1] = last
        last = what[1:-1]
    return tuple(key for key in stack if key != "")


def _lines(source: Source, text: str) -> Content:
    records, numbers = list[Any](), list[int]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        record = parse_json(
            line, source.name, "a JSON object per line", line=number, pairs=unique_keys
        )
        if not isinstance(record, dict):
            raise BadLine(
                f"{source.name}:{number}: {line[:60]!r}; expected a JSON object per line."
            )
        records.append(record)
        numbers.append(number)
    return Content(source.name, "lines", records, tuple(numbers), marked=source.marked)


def _table(source: Source, text: str) -> Content:
    """The rows of a table with a header, all values as text; long passages make long cells."""
    first = text.lstrip("\n\r").partition("\n")[0]
    delimiter = TAB if TAB in first else ";" if first.count(";") > first.count(",") else ","
    try:
        rows = [row.fields for row in delimited_rows(text, source.name, delimiter)]
    except BadLine as error:
        raise BadInput(f"{error} Expected JSON, CSV, TSV or Parquet.") from error
    header = rows[0] if rows else []
    ragged = next((number for number, row in enumerate(rows) if len(row) != len(header)), 0)
    with naming(source.name):
        refuse_wide(len(header))
    twice = repeated_name(list(filter(None, header)))
    problem = (
        f"{source.name}: two columns are named {twice!r}; rename or drop one of them."
        if twice
        else ""
    )
    if ragged:
        problem = (
            f"{source.name}: row {ragged} has {len(rows[ragged])} fields, the header has "
            f"{len(header)}; correct the row."
        )
    records = [dict(zip(header, row, strict=False)) for row in rows[1:]]
    return Content(source.name, "table", records, (), tuple(header), source.marked, problem)


def _of_python(thing: Any) -> Content:
    if isinstance(thing, Mapping):
        return Content("the mapping", "python", dict(thing))
    if isinstance(thing, (list, tuple)):
        return Content("the list", "python", list(thing))
    if hasattr(thing, "to_list"):
        return Content(f"the {type(thing).__name__}", "python", thing.to_list())
    import narwhals as nw

    try:
        frame: Any = nw.from_native(thing, eager_only=True)
    except TypeError as error:
        what = f"questions and answers cannot be read from {kind_of(thing)}"
        raise BadInput(
            f"{what}; expected a path, a mapping, a list of records or a data frame."
        ) from error
    rows = [
        {key: _plain(value) for key, value in row.items()} for row in frame.iter_rows(named=True)
    ]
    return Content(f"the {type(thing).__name__}", "table", rows, header=tuple(frame.columns))


def _plain(value: Any) -> Any:
    """The value of a data frame's cell as in JSON: arrays are lists, and NaN is null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return None if is_missing(value) else value
