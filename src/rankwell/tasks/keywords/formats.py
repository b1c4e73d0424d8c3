"""Files of this task: annotation tables, text queries with their keywords, and declared keywords in
JSON.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import odd_entries, reading_choice
from rankwell.data.options import Table, own_arithmetic
from rankwell.data.tables import is_missing
from rankwell.documents import (
    delimited_rows,
    delimiter_of,
    parse_json,
    read_json,
    refuse_wide,
    unique_keys,
)
from rankwell.errors import BadInput, DuplicateItem, count_of, first_of, flag, kind_of
from rankwell.io.formats import Place
from rankwell.io.records import Content, Record, load
from rankwell.store import Head, Source, decode_id, naming, split_lines
from rankwell.tasks.keywords.annotations import (
    Annotations,
    Keyword,
    Keywords,
    Row,
    Schema,
    Vocabulary,
    fold,
    group_key,
)

_IDS = ("slice_id", "clip_id", "video_id", "clip", "id", "video")
_QUERY_IDS = ("query_id", "qid", "id", "_id", "slice_id")
_TEXTS = ("text", "query", "query_text")
_ONE_COLUMN = ("keywords", "keyword", "labels", "tags")
_EXCLUDED = ("excluded", "excluded_keywords")
_USUAL = ("object_type", "actor_behavior", "spatial_relation", "ego_behavior", "scene_type")
_NOTHING = ("", "nan", "none", "null", "<na>", "nat")
_MOST_ROWS = 20
"""Rows that one message names."""


class TextQuery(NamedTuple):
    """A text query.

    id: the id in its file, else its position, from 0.
    text: the text without blanks around it.
    keywords: texts of the required keywords, which `Annotations.find` reads; None without a column
        of keywords.
    excluded: texts of the keywords that no relevant clip has; empty without such a column.
    """

    id: str
    text: str
    keywords: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()


@own_arithmetic
def read_annotations(
    place: Table | Annotations, *, schema: Schema | Place | None = None, groups: Sequence[str] = ()
) -> Annotations:
    """Reads clips and their keywords from a table.

    The clip's id is in `slice_id` (or clip_id, video_id, clip, id, video). Keywords are in columns
    of the schema's groups or of ALFA's (with `pv_` or without it), with commas inside a cell or as
    lists, or all in one column `keywords`, as a label that one group declares, or as `group:
    label`. Other columns become attributes, which a note names. Spaces, quotes and case do not
    matter; an empty cell, `nan`, `none` and `null` are not keywords.
    Raises BadInput for a table without clips, without an id or without a column of keywords,
    DuplicateItem for a clip that is listed twice, BadLine for a line with another number of fields
    than the header.

    Parameters
    ----------
    place
        CSV (also with `;`, `|` or tabs), JSON lines, a JSON list or Parquet, `.gz` and `.zst` too,
        `-`; any data frame; or a mapping clip -> group -> labels.
    schema
        The declared keywords, or their file.
    groups
        Further columns of keywords.

    >>> import rankwell as rw
    >>> clips = rw.read_annotations({"c1": {"weather": ["rain"]}, "c2": {"weather": ["sun"]}})
    >>> clips.clips, [keyword.label for keyword in clips.keywords]
    (('c1', 'c2'), ['rain', 'sun'])
    """
    if isinstance(place, Annotations):
        return place
    schema = schema if schema is None or isinstance(schema, Schema) else read_schema(schema)
    if isinstance(place, Mapping):
        return _of_mapping(place, schema)
    content = load(place, "annotations")
    name, records, columns = content.name, list(content.checked_records()), content.names
    if not records:
        raise BadInput(
            f"{name} annotates no clip; expected a row per clip, such as "
            f"{_IDS[0]},{','.join(_USUAL[:2])}."
        )
    with naming(name):
        refuse_wide(len(columns))
    owner = _column(columns, _IDS)
    if owner is None:
        raise content.missing({"clip's id": _IDS})
    columns = [column for column in columns if column != owner]
    group_of_column = _group_columns(content, columns, schema, groups)
    attributes = [column for column in columns if column not in group_of_column]
    rows: list[Row] = []
    for record in records:
        cells, labels = record.value, dict[str, list[str]]()
        clip = cells.get(owner)
        is_id = isinstance(clip, (str, int)) and not isinstance(clip, bool)
        clip = str(clip).strip() if is_id else ""
        if not clip or "\n" in clip:
            raise record.wrong("the clip's id, a string or an integer", owner)
        for column, group in group_of_column.items():
            is_single = group_key(column) in _ONE_COLUMN
            for text in _labels(cells.get(column)):
                label_group, label = _placed(text, group, schema) if is_single else (group, text)
                labels.setdefault(label_group, []).append(label)
        rows.append(
            Row(
                clip,
                labels,
                {
                    column: str(cell)
                    for column in attributes
                    if not is_missing(cell := cells.get(column)) and cell != ""
                },
            )
        )
    try:
        table = Annotations.from_rows(
            rows, groups=list(dict.fromkeys(group_of_column.values())), schema=schema
        )
    except BadInput as error:
        raise type(error)(f"{name}: {error}") from error
    findings: list[Finding] = []
    if attributes:
        columns = ", ".join(map(repr, attributes))
        findings.append(reading_choice(f"not read as keywords: {columns}", name))
    # Declared labels are as they should be.
    undeclared = table.keywords if schema is None else table.undeclared
    odd = [keyword.label for keyword in undeclared if {";", "|"} & {*keyword.label}]
    if odd:
        counted = count_of(len(odd), "keyword has", "keywords have")
        problem = (
            f"{counted} ';' or '|' inside, such as {odd[0]!r}; write commas between the keywords "
            "of a cell"
        )
        findings.append(odd_entries(problem, name))
    return replace(table, findings=(*findings, *table.findings))


def read_text_queries(place: Any) -> list[TextQuery]:
    """Text queries in the order of their file, with their keywords where the file has them.

    place: a file with a text per line; a table with a column `text` or `query`, and perhaps `id`,
    `keywords` and `excluded`; a mapping id -> text; or a list of texts. Without ids their positions
    are the ids, from 0. Keywords, required or excluded, are `bicyclist, entering ego path`, `group:
    label; group: label, label`, a list, or an object group -> labels. Raises BadInput, which names
    every row whose text has no word, and DuplicateItem.
    """
    queries, wordless = find_text_queries(place)
    if wordless:
        rows = first_of(wordless, _MOST_ROWS)
        raise BadInput(f"{rows}: the text has no word; write one, or leave the query out.")
    return queries


def find_text_queries(place: Any) -> tuple[list[TextQuery], list[str]]:
    """The text queries of `read_text_queries`, and the places of the rows whose text has no
    word.
    """
    content = _queries(place)
    name, query_of, wordless = content.name, dict[str, TextQuery](), list[str]()
    for row, record in enumerate(content.checked_records()):
        column, text = _cell(record, _TEXTS)
        if column is None and content.header:
            raise content.missing({"text": _TEXTS})
        if not isinstance(text, str) or not fold(text):
            reason = f" ({text!r})" if text else ""
            if column is None:
                reason = f" (no column {', '.join(_TEXTS)})"
            wordless.append(f"{record.place}{reason}")
            continue
        _, key = _cell(record, _QUERY_IDS)
        key = str(row if key is None else key)
        if key in query_of:
            raise DuplicateItem(
                f"{name}: the query {key!r} is listed twice; give each query an id of its own."
            )
        (labelled, required), (unwanted, excluded) = (
            _cell(record, words) for words in (_ONE_COLUMN, _EXCLUDED)
        )
        if labelled is None and unwanted is not None:
            raise BadInput(
                f"{name} has a column {unwanted!r}, and no column keywords says what queries "
                "require; add one."
            )
        query_of[key] = TextQuery(
            key,
            text.strip(),
            None if required is None else tuple(_labels_of_query(required)),
            () if excluded is None else tuple(_labels_of_query(excluded)),
        )
    if not query_of and not wordless:
        raise BadInput(f"{name} has no query; expected one text per query.")
    return list(query_of.values()), wordless


def _cell(record: Record, words: Sequence[str]) -> tuple[str | None, Any]:
    """The column with the name that is earliest among the words, and its cell."""
    column = _column(list(record.value), words)
    return column, None if column is None else record.value[column]


def _queries(data: Any) -> Content:
    """The rows of a table of queries, or of a text per line."""
    if isinstance(data, Mapping):
        data = [{"id": key, "text": text} for key, text in data.items()]
    if isinstance(data, (list, tuple)):
        rows = [row if isinstance(row, Mapping) else {"text": row} for row in data]
        return Content("the queries", "table", rows)
    if isinstance(data, (str, Path)):
        source = Source(data)
        head = Head.of(source)
        head.refuse_foreign()
        if not head.raw.startswith((b"PAR1", b"[", b"{")):
            first = next((line for line in split_lines(head.text) if line.strip()), "")
            names = delimited_rows(first, source.name, delimiter_of(first))[:1]
            if not names or _column(names[0].fields, _TEXTS) is None:
                lines = enumerate(split_lines(decode_id(source.read())), 1)
                texts = {number: {"text": line} for number, line in lines if line.strip()}
                return Content(source.name, "lines", list(texts.values()), list(texts))
    return load(data, "queries")


def _labels_of_query(value: Any) -> Iterable[str]:
    """The keywords in a cell of a query, each as `label` or `group: label`."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = parse_json(value, "the cell")
        except BadInput:
            return _labels(value)
    if isinstance(value, str):
        return [
            f"{group[0].strip()}: {label}" if group else label
            for part in value.split(";")
            for *group, names in [part.split(":", 1)]
            for label in _labels(names)
        ]
    if isinstance(value, Mapping):
        return [f"{group}: {label}" for group, labels in value.items() for label in _labels(labels)]
    if isinstance(value, (list, tuple)):
        return [
            f"{label[0]}: {label[1]}"
            if isinstance(label, (list, tuple)) and len(label) == 2
            else str(label)
            for label in value
        ]
    return _labels(value)


def _column(columns: Sequence[str], words: Sequence[str]) -> str | None:
    """The column with the name that is earliest among the words."""
    plain = {group_key(name): name for name in reversed(columns)}
    return next((plain[word] for word in words if word in plain), None)


def _group_columns(
    content: Content, columns: list[str], schema: Schema | None, groups: Sequence[str]
) -> dict[str, str]:
    """column -> its group; a single column of keywords is the group of its own name."""
    declared = {} if schema is None else {_bare(group): group for group in schema.vocabulary.groups}
    expected = {_bare(group) for group in groups} | (set(_USUAL) if schema is None else set())
    group_of_column: dict[str, str] = {}
    first_columns: dict[str, str] = {}
    for column in columns:
        bare, key = _bare(column), group_key(column)
        double = first_columns.setdefault(key, column)
        if bare in declared:
            group_of_column[column] = declared[bare]
        elif bare in expected or key in _ONE_COLUMN:
            group_of_column[column] = column.strip()
        if column in group_of_column and double != column:
            raise BadInput(
                f"{content.name}: the columns {double!r} and {column!r} read the same; rename or "
                "drop one of them."
            )
    if not group_of_column:
        expected_columns = (*_USUAL, _ONE_COLUMN[0]) if schema is None else schema.vocabulary.groups
        raise content.missing(
            {"keywords": expected_columns}, f"{flag('--keyword-groups')} or {flag('--schema')}"
        )
    return group_of_column


def _bare(group: str) -> str:
    return group_key(group).removeprefix("pv_")


def _placed(text: str, otherwise: str, schema: Schema | None) -> tuple[str, str]:
    """The group and the label of a text of a single column: as written, or the only group that
    declares it.
    """
    group, colon, label = text.partition(":")
    if schema is None:
        return (group.strip(), label.strip()) if colon and label.strip() else (otherwise, text)
    vocabulary, words = schema.vocabulary, fold(text)
    named_groups = [name for name in vocabulary.groups if _bare(name) == _bare(group)]
    if colon and named_groups:
        return named_groups[0], label.strip()
    owners = {entry.group for entry in vocabulary.entries if fold(entry.label) == words} or {
        entry.group
        for alias, meant in vocabulary.aliases.items()
        if fold(alias) == words
        for entry in meant
    }
    return (owners.pop(), text) if len(owners) == 1 else (otherwise, text)


def _labels(cell: Any) -> list[str]:
    """The labels in a cell: a text separated by commas, or a list."""
    if is_missing(cell):
        return []
    if not isinstance(cell, str) and isinstance(cell, Iterable):
        parts: list[str] = [str(label) for label in cell if label is not None]
    else:
        text = str(cell).strip()
        text = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
        text = " ".join(text.split())
        try:
            parts = next(csv.reader([text], skipinitialspace=True, strict=True), [])
        except csv.Error:  # quotes that do not pair are characters
            parts = text.split(",")
    cleaned = [part.strip().strip("'\"“”‘’").strip() for part in parts]
    return [part for part in cleaned if part.casefold() not in _NOTHING]


def _of_mapping(table: Mapping[Any, Any], schema: Schema | None) -> Annotations:
    if not table:
        raise BadInput("the mapping annotates no clip; expected clip -> group -> labels.")
    rows: list[Row] = []
    for clip, labels in table.items():
        if not isinstance(labels, Mapping):
            raise BadInput(
                f"clip {clip!r} has {kind_of(labels)}; expected a mapping group -> labels."
            )
        rows.append(Row(str(clip), {str(group): _labels(cell) for group, cell in labels.items()}))
    return Annotations.from_rows(rows, schema=schema)


# Declared keywords

_FORM = (
    'expected {"group": ["label", {"label": "sedan", "aliases": ["saloon"], "parent": "small '
    'vehicle"}]}'
)


@own_arithmetic
def read_schema(place: Place) -> Schema:
    """Reads declared keywords from a JSON file `{group: [label, …]}`.

    A label may be an object with `label`, `aliases` (other texts for it) and `parent` (the wider
    label of its group that it implies). `rankwell keywords check` lists aliases that read like
    another label.
    Raises BadInput for another form, a label that is listed twice, a parent that is not a label of
    the group, and a cycle of parents.

    Parameters
    ----------
    place
        The file.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "schema.json")
    ...     _ = file.write_text('{"weather": ["rain", "sun"]}')
    ...     [keyword.label for keyword in rw.read_schema(file).vocabulary.entries]
    ['rain', 'sun']
    """
    source = Source(place)
    declared = read_json(source, _FORM.removeprefix("expected "), pairs=unique_keys)
    with naming(source.name):
        return _schema(declared)


def _schema(declared: Any) -> Schema:
    if not isinstance(declared, dict) or not declared:
        raise BadInput(f"$ is {_seen(declared)}; {_FORM}.")
    entries: list[Keyword] = []
    aliases: dict[str, Keywords] = {}
    wider: dict[Keyword, str] = {}
    for group, labels in declared.items():
        if not isinstance(labels, list):
            raise BadInput(f"$[{group!r}] is {_seen(labels)}; {_FORM}.")
        for number, declaration in enumerate(labels):
            where = f"$[{group!r}][{number}]"
            cells = {"label": declaration} if isinstance(declaration, str) else declaration
            if (
                not isinstance(cells, dict)
                or not isinstance(cells.get("label"), str)
                or cells.keys() - {"label", "aliases", "parent"}
            ):
                raise BadInput(f"{where} is {_seen(cells)}; {_FORM}.")
            texts, parent = cells.get("aliases", []), cells.get("parent")
            if not isinstance(texts, list) or not all(isinstance(alias, str) for alias in texts):
                raise BadInput(f"{where}['aliases'] is {_seen(texts)}; expected a list of strings.")
            if parent is not None and not isinstance(parent, str):
                raise BadInput(
                    f"{where}['parent'] is {_seen(parent)}; expected a label of the same group."
                )
            entry = Keyword(group, cells["label"].strip())
            entries.append(entry)
            for alias in texts:
                aliases[alias] = (*aliases.get(alias, ()), entry)
            if parent is not None:
                wider[entry] = parent
    vocabulary, parents = Vocabulary(tuple(entries), aliases), dict[Keyword, Keyword]()
    for entry, label in wider.items():
        parents[entry] = Keyword(entry.group, label.strip())
        if parents[entry] not in vocabulary.entries:
            raise BadInput(
                f"the parent {label!r} of {entry.label!r} is not a label of {entry.group!r}; "
                "declare it there."
            )
    for entry in parents:
        chain = [entry]
        while (above := parents.get(chain[-1])) is not None:
            if above in chain:
                raise BadInput(
                    f"the parents of {entry.label!r} in the group {entry.group!r} form a "
                    "cycle; remove one."
                )
            chain.append(above)
    return Schema(vocabulary, parents)


def _seen(thing: Any) -> str:
    text = repr(thing)
    return f"{text[:40]}{'…' if len(text) > 40 else ''} ({kind_of(thing)})"
