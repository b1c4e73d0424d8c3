"""Annotation tables: a row per clip, keywords in a column per group or in one column; and text queries with their keywords."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rankwell.errors import BadInput, BadLine, DuplicateItem
from rankwell.io import FORMATS, Request
from rankwell.store import Head, Source, decode_id
from rankwell.tasks.clips.annotations import Annotations, Row, Schema
from rankwell.tasks.clips.vocabulary import fold, group_key

_IDS = ("slice_id", "clip_id", "video_id", "clip", "id", "video")
_QUERY_IDS = ("query_id", "qid", "id", "_id", "slice_id")
_TEXTS = ("text", "query", "query_text")
_ONE_COLUMN = ("keywords", "keyword", "labels", "tags")
_USUAL = ("object_type", "actor_behavior", "spatial_relation", "ego_behavior", "scene_type")
_NOTHING = ("", "nan", "none", "null", "<na>", "nat")
_DELIMITERS = (",", ";", "\t", "|")


class TextQuery(NamedTuple):
    """A text that somebody searches with. keywords: what it means, as `Annotations.find` reads it; None where nobody says."""

    id: str
    text: str
    keywords: tuple[str, ...] | None = None


class _Record(NamedTuple):
    """A row of a table, and where it stands, for messages."""

    place: str
    cells: Mapping[str, Any]


def read_annotations(place: Any, *, schema: Schema | None = None, groups: Sequence[str] = ()) -> Annotations:
    """The clips of a table with their keywords.

    place: CSV (also with `;`, `|` or tabs), JSON lines, a JSON list or Parquet, `.gz` and `.zst` too, `-`; any data frame; or a
    mapping clip -> group -> labels. The clip's id is in `slice_id` (or clip_id, video_id, clip, id, video). Keywords are in
    columns of the schema's groups or of ALFA's (with `pv_` or without it), with commas inside a cell or as lists, or all in one
    column `keywords`, where a label goes to the one group that declares it; `group: label` says it. groups: further columns
    that hold keywords. Other columns become attributes, which a note names.
    Spaces, quotes and case do not matter; an empty cell, `nan`, `none` and `null` are no keyword.
    Raises BadInput for a table without clips, without an id or without a column of keywords; DuplicateItem for a clip that comes
    twice; BadLine for a line with another number of fields than the header.
    """
    if isinstance(place, Annotations):
        return place
    if isinstance(place, Mapping):
        return _of_mapping(place, schema)
    name, records = _records(place)
    if not records:
        raise BadInput(f"{name} annotates no clip; a row per clip is wanted, as {_IDS[0]},{','.join(_USUAL[:2])}.")
    columns = list(dict.fromkeys(column for record in records for column in record.cells))
    owner = _column(columns, _IDS)
    if owner is None:
        raise BadInput(f"{name}: no column for the clips' ids ({', '.join(_IDS)}); found are {', '.join(map(repr, columns))}.")
    chosen = _group_columns(name, [column for column in columns if column != owner], schema, groups)
    others = [column for column in columns if column != owner and column not in chosen]
    rows = [_row(record, owner, chosen, others, schema) for record in records]
    try:
        table = Annotations.from_rows(rows, groups=list(dict.fromkeys(chosen.values())), schema=schema)
    except DuplicateItem as error:
        raise DuplicateItem(f"{name}: {error}") from error
    told = f"{name}: not read as keywords: {', '.join(map(repr, others))}"
    return replace(table, notes=(*([told] if others else []), *table.notes))


def read_text_queries(place: Any) -> list[TextQuery]:
    """Text queries in the order of their file, with the keywords that somebody gave them, if any.

    place: a file with a text per line; a table (CSV, TSV, JSON lines, a JSON list, Parquet) with a column `text` or `query`, and
    perhaps `id` and `keywords`; a mapping id -> text; or a list of texts. Without ids they go by their position, from 0.
    Keywords are `bicyclist, entering ego path`, `group: label; group: label, label`, a list of labels or of [group, label], or
    an object group -> labels. Raises BadInput for a file without a text, DuplicateItem for an id that comes twice.
    """
    if isinstance(place, Mapping):
        listed = [_Record("", {"id": key, "text": text}) for key, text in place.items()]
    elif isinstance(place, (list, tuple)):
        listed = [
            _Record(f"query {row}", each if isinstance(each, Mapping) else {"text": each}) for row, each in enumerate(place)
        ]
    else:
        listed = _query_records(place)
    name = str(place) if isinstance(place, str) or hasattr(place, "__fspath__") else "the queries"
    found: dict[str, TextQuery] = {}
    for row, record in enumerate(listed):
        columns = list(record.cells)
        owner, column = _column(columns, _QUERY_IDS), _column(columns, _TEXTS)
        text = None if column is None else record.cells[column]
        if not isinstance(text, str) or not text.strip():
            raise BadInput(
                f"{name}: {record.place or f'row {row + 1}'} has no text ({', '.join(_TEXTS)}); every query needs one."
            )
        key = str(row) if owner is None or record.cells[owner] is None else str(record.cells[owner])
        if key in found:
            raise DuplicateItem(f"{name}: the query {key!r} comes twice; give each query an id of its own.")
        given = _column(columns, _ONE_COLUMN)
        value = None if given is None else record.cells[given]
        found[key] = TextQuery(key, text.strip(), None if value is None else tuple(_told(value)))
    if not found:
        raise BadInput(f"{name} holds no query; a text per query is wanted.")
    return list(found.values())


def _query_records(place: Any) -> list[_Record]:
    if isinstance(place, str) or hasattr(place, "__fspath__"):
        source = Source(place)
        head = Head.of(source)
        first = head.lines[0].decode("utf-8", "replace") if head.lines else ""
        is_table = head.raw.startswith((b"PAR1", b"[", b"{")) or _column(_split_header(first)[1], _TEXTS) is not None
        if not is_table:
            lines = decode_id(source.read()).splitlines()
            return [_Record(f"line {row}", {"text": line}) for row, line in enumerate(lines, 1) if line.strip()]
    return _records(place)[1]


def _told(value: Any) -> Iterable[str]:
    """The keywords that a cell of a query names, each as `label` or `group: label`."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return _labels(value)
    if isinstance(value, Mapping):
        return [f"{group}: {label}" for group, labels in value.items() for label in _labels(labels)]
    if isinstance(value, str):
        parts = [part.partition(":") for part in value.split(";")]
        told = [(group.strip(), _labels(rest if colon else group), bool(colon)) for group, colon, rest in parts]
        return [f"{group}: {label}" if named else label for group, labels, named in told for label in labels]
    if isinstance(value, (list, tuple)):
        return [f"{each[0]}: {each[1]}" if isinstance(each, (list, tuple)) and len(each) == 2 else str(each) for each in value]
    return _labels(value)


def _records(place: Any) -> tuple[str, list[_Record]]:
    """The rows of a table of any kind, and what it is called in messages."""
    if not (isinstance(place, (str, Source)) or hasattr(place, "__fspath__")):
        return "the table", _of_frame(place)
    source = place if isinstance(place, Source) else Source(place)
    head = Head.of(source)
    head.refuse_foreign()
    if head.raw.startswith(b"PAR1"):
        rows: list[dict[str, Any]] = FORMATS["parquet records"].read(source, Request())
        return source.name, [_Record(f"row {row}", cells) for row, cells in enumerate(rows, 1)]
    text = decode_id(source.read())
    if text.lstrip()[:1] in ("{", "["):
        return source.name, _of_json(source.name, text)
    return source.name, _of_lines(source.name, text)


def _of_frame(frame: Any) -> list[_Record]:
    import narwhals as nw

    try:
        table: Any = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        what = f"annotations cannot be read from a {type(frame).__name__}"
        raise BadInput(f"{what}; give a path, a data frame or a mapping clip -> group -> labels.") from error
    return [_Record(f"row {row}", cells) for row, cells in enumerate(table.iter_rows(named=True), 1)]


def _of_json(name: str, text: str) -> list[_Record]:
    """The objects of JSON lines or of a JSON list."""
    try:
        if text.lstrip().startswith("["):
            listed: Any = json.loads(text)
            found = [(f"$[{row}]", each) for row, each in enumerate(listed)]
        else:
            lines = [(f"line {number}", line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
            found = [(place, json.loads(line)) for place, line in lines]
    except ValueError as error:
        raise BadInput(f"{name}: {error}; an object per line, or a list of objects, is wanted.") from error
    for place, each in found:
        if not isinstance(each, dict):
            raise BadInput(f"{name}: {place} is a {type(each).__name__}; an object with a value per column is wanted.")
    return [_Record(place, each) for place, each in found]


def _split_header(line: str) -> tuple[str, list[str]]:
    """What stands between the fields, and the names of the columns: the split that makes most columns, commas first."""
    split = {each: [name.strip().strip("'\"") for name in next(csv.reader([line], delimiter=each), [])] for each in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda each: len(split[each]))
    return delimiter, split[delimiter]


def _of_lines(name: str, text: str) -> list[_Record]:
    """The rows of a delimited table; quotes may stand after a space."""
    lines = list(io.StringIO(text, newline=""))
    if not lines:
        return []
    delimiter, columns = _split_header(lines[0].rstrip("\r\n"))
    double = next((column for column in columns if columns.count(column) > 1), None)
    if double is not None:
        raise BadInput(f"{name}: two columns are called {double!r}; rename or drop one of them.")
    reader = csv.reader(io.StringIO("".join(lines[1:]), newline=""), delimiter=delimiter, skipinitialspace=True)
    found: list[_Record] = []
    last = 1
    for fields in _fields(name, reader):
        first, last = last + 1, reader.line_num + 1
        if last > first or last == len(lines):
            _refuse_open_quote(f"{name}:{first}", lines[first - 1 : last], delimiter)
        if len(fields) > len(columns) or (len(fields) < len(columns) and "".join(fields).strip()):
            where = f"{name}:{reader.line_num + 1}: {delimiter.join(fields)[:60]!r}"
            raise BadLine(f"{where} has {len(fields)} fields, the header {len(columns)}; put cells with commas in quotes.")
        if "".join(fields).strip():
            found.append(_Record(f"line {reader.line_num + 1}", dict(zip(columns, fields, strict=True))))
    return found


def _fields(name: str, reader: Any) -> Iterator[list[str]]:
    """The rows of a reader. Raises BadLine where it gives up, as on a quote that swallows the rest of a long file."""
    try:
        yield from reader
    except csv.Error as error:
        raise BadLine(f"{name}:{reader.line_num + 1}: {error}; is a quote not closed before this line?") from error


def _refuse_open_quote(where: str, lines: Sequence[str], delimiter: str) -> None:
    """Raises BadLine where a quote is not closed, or only by the next cell's, so that it swallows cells and lines."""
    try:
        list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        if len(lines) > 1 or "unexpected end" in str(error):
            shown = lines[0].strip()[:60]
            raise BadLine(f"{where}: {shown!r} has a quote that is not closed on its line; close it, or leave it out.") from error


def _column(found: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that goes by the earliest of the words."""
    plain = {group_key(name): name for name in reversed(found)}
    return next((plain[word] for word in words if word in plain), None)


def _group_columns(name: str, columns: list[str], schema: Schema | None, groups: Sequence[str]) -> dict[str, str]:
    """column -> the group that it holds; a single column of keywords holds the group of its own name."""
    declared = {_bare(group): group for group in schema.vocabulary.groups} if schema is not None else {}
    wanted = {_bare(group) for group in groups}
    found: dict[str, str] = {}
    seen: dict[str, str] = {}
    for column in columns:
        bare = _bare(column)
        double = seen.setdefault(group_key(column), column)
        if bare in declared:
            found[column] = declared[bare]
        elif bare in wanted or group_key(column) in _ONE_COLUMN or (schema is None and bare in _USUAL):
            found[column] = column.strip()
        if column in found and double != column:
            raise BadInput(f"{name}: the columns {double!r} and {column!r} read the same; rename or drop one of them.")
    if not found:
        known = ", ".join(schema.vocabulary.groups) if schema is not None else ", ".join((*_USUAL, _ONE_COLUMN[0]))
        listed = ", ".join(map(repr, columns)) or "none"
        what = f"{name}: no column of keywords ({known}); found are {listed}"
        raise BadInput(f"{what}; name those that hold keywords (--groups), or declare them (--schema).")
    return found


def _bare(group: str) -> str:
    return group_key(group).removeprefix("pv_")


def _row(record: _Record, owner: str, chosen: Mapping[str, str], others: Sequence[str], schema: Schema | None) -> Row:
    value = record.cells.get(owner)
    clip = str(value).strip().strip("'\"") if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if not clip:
        raise BadInput(f"{record.place}, column {owner!r}: {value!r} where a clip's id belongs, text or a whole number; mend it.")
    labels: dict[str, list[str]] = {}
    for column, group in chosen.items():
        texts = _labels(record.cells.get(column))
        if group_key(column) in _ONE_COLUMN:
            for each in texts:
                own, label = _placed(each, group, schema)
                labels.setdefault(own, []).append(label)
        else:
            labels.setdefault(group, []).extend(texts)
    told = {column: str(record.cells[column]) for column in others if record.cells.get(column) not in (None, "")}
    return Row(clip, labels, told)


def _placed(text: str, otherwise: str, schema: Schema | None) -> tuple[str, str]:
    """The group and the label of a text of a single column: as it says, or where alone it is declared."""
    group, colon, label = text.partition(":")
    if schema is None:
        return (group.strip(), label.strip()) if colon and label.strip() else (otherwise, text)
    named = [each for each in schema.vocabulary.groups if _bare(each) == _bare(group)]
    if colon and named:
        return named[0], label.strip()
    words = fold(text)
    own = {entry.group for entry in schema.vocabulary.entries if fold(entry.label) == words}
    own = own or {entry.group for alias, meant in schema.vocabulary.aliases.items() if fold(alias) == words for entry in meant}
    return (own.pop(), text) if len(own) == 1 else (otherwise, text)


def _labels(cell: Any) -> list[str]:
    """The labels in a cell: a text with commas between them, or a list."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return []
    if not isinstance(cell, str) and isinstance(cell, Iterable):
        parts: list[str] = [str(each) for each in cell if each is not None]
    else:
        text = str(cell).strip()
        text = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
        parts = next(csv.reader([" ".join(text.split())], skipinitialspace=True), [])
    cleaned = [part.strip().strip("'\"“”‘’").strip() for part in parts]
    return [part for part in cleaned if part.casefold() not in _NOTHING]


def _of_mapping(table: Mapping[Any, Any], schema: Schema | None) -> Annotations:
    if not table:
        raise BadInput("the mapping annotates no clip; clip -> group -> labels is wanted.")
    rows: list[Row] = []
    for clip, labels in table.items():
        if not isinstance(labels, Mapping):
            raise BadInput(f"clip {clip!r} has a {type(labels).__name__}; a mapping group -> labels is wanted.")
        groups: Mapping[Any, Any] = labels
        rows.append(Row(str(clip), {str(group): _labels(cell) for group, cell in groups.items()}))
    return Annotations.from_rows(rows, schema=schema)
