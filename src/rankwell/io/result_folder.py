"""Folders that `-o` wrote, by any protocol: values of single queries, rules, columns of the
queries, the summary.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, get_args

import numpy as np

from rankwell.data.catalogue import PERFORMANCE, result_kind
from rankwell.data.columns import parquet, quoted, sql_text
from rankwell.data.registry import Better
from rankwell.data.tables import Summary, Unit, ValueRows, Values, first_repeated
from rankwell.documents import read_json
from rankwell.errors import BadInput, count_of, missing_column, shown
from rankwell.io import connected, undamaged
from rankwell.stats import SUMMARY_COLUMNS
from rankwell.store import Source, is_draft, refuse_draft, remote_url
from rankwell.threads import in_threads

PER_QUERY, QUERIES, DETAILS, ITEMS = (
    "per_query.parquet",
    "queries.parquet",
    "details.parquet",
    "items.parquet",
)
MANIFEST, SUMMARY = "manifest.json", "summary.json"
AGAIN = "run the command again"
PER_QUERY_TYPES = {name: "DOUBLE" if name == "value" else "VARCHAR" for name in ValueRows.columns}
DETAIL_TYPES = {
    **dict.fromkeys(("run", "query", "item"), "VARCHAR"),
    "rank": "BIGINT",
    **dict.fromkeys(("score", "grade"), "DOUBLE"),
    **dict.fromkeys(("state", "detail"), "VARCHAR"),
}
ITEM_TYPES = {
    **dict.fromkeys(("item", "of", "text", "thumbnail"), "VARCHAR"),
    **dict.fromkeys(("width", "height"), "BIGINT"),
    "problem": "VARCHAR",
}
_TYPES: dict[str, dict[str, str]] = {
    PER_QUERY: {**PER_QUERY_TYPES, "weight": "DOUBLE"},
    QUERIES: dict.fromkeys(("query", "text"), "VARCHAR"),
    DETAILS: DETAIL_TYPES,
    ITEMS: ITEM_TYPES,
}
"""DuckDB's types of the columns of rankwell's own tables."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ResultFolder:
    """The content of a folder of results, without the differences that a comparison added.

    place: the folder as it was named.
    values: values of single queries for each run and measure, in order of first appearance.
    row_attributes: the columns of each element of `values` that distinguish it from others of its
        measure (`direction`).
    rules: every choice that decided a value, by name; empty without a manifest.
    better: measure -> the direction of better values, where the rules state it.
    inputs: name of an input -> its content hash.
    attributes: name -> query -> text, for the other columns of the queries.
    protocol: the kind of result.
    files: name of a file -> its digest, which is checked whenever the file is read; None without a
        manifest that states digests.
    digits: the decimals of scores that were asked for.
    """

    place: Path
    values: tuple[Values, ...]
    row_attributes: tuple[Mapping[str, Any], ...]
    rules: Mapping[str, Any]
    better: Mapping[str, Better]
    inputs: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, str]]
    protocol: str = "runs"
    files: Mapping[str, str] | None = None
    digits: int | None = None

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of its runs, in order."""
        return tuple(dict.fromkeys(run_values.run for run_values in self.values))

    @property
    def source(self) -> Source:
        """The file of its values."""
        return Source(self.place / PER_QUERY)

    def details_by_run(self, condition: str) -> Iterator[dict[str, list[Any]]]:
        """The columns of details.parquet, of the rows that a condition in SQL selects, those of one
        run after the other; none where there is no such file.
        """
        if not self.has(DETAILS):
            return
        for run in self.runs:
            yield read_table(self.place / DETAILS, f"{condition} AND run = {sql_text(run)}")
        self.check(DETAILS)

    def has(self, name: str) -> bool:
        """Whether a file is its own and there."""
        return (self.files is None or name in self.files) and (self.place / name).is_file()

    def check(self, name: str) -> None:
        """Raises BadInput where a file has not the digest that the manifest states."""
        if self.files is not None:
            check_files(self.place, {name: self.files[name]})

    def table(self, name: str) -> dict[str, list[Any]]:
        """The columns of a file as they are, none where there is no such file."""
        if not self.has(name):
            return {}
        table = read_table(self.place / name)
        self.check(name)
        return table


def values_behind(
    row: Mapping[str, Any], values: Sequence[Values], row_attributes: Sequence[Mapping[str, Any]]
) -> Values | None:
    """The values of single queries that a row of the summary sums up; None for the figure of a
    whole collection.

    row_attributes: of each element of `values`, as in `ResultFolder`.
    """
    for query_values, fact in zip(values, row_attributes, strict=True):
        if (query_values.run, query_values.measure) == (row["run"], row["measure"]) and all(
            row.get(name) == value for name, value in fact.items()
        ):
            return query_values
    return None


def is_result_folder(place: str | Path) -> bool:
    """Whether a place is a folder with values of single queries."""
    return (Path(place) / PER_QUERY).is_file()


def other_place(place: str | Path) -> str:
    """The message on a place that is not a folder of results: what it is, and what to name."""
    if (url := remote_url(place)) is not None:
        return (
            f"{url} is an address, and results are read from folders of this machine; copy the "
            "folder here, and name the copy."
        )
    folder = Path(place)
    if below := folders_below(folder):
        problem = (
            f"{place} has results in {count_of(len(below), 'folder')} below it, such as {below[0]}"
        )
        return f"{problem}; name one of these, or several to compare them."
    manifest = read_manifest(folder)
    if manifest is not None and manifest.files and PER_QUERY not in manifest.files:
        problem = (
            f"{place} has tables, such as {next(iter(manifest.files))}, and no values of single "
            "queries"
        )
        return f"{problem}; name a folder of results with values of single queries."
    lack = f"has no {PER_QUERY}" if folder.is_dir() else "is not a folder"
    return f"{place} {lack}; name a folder that a command wrote with -o."


def folders_below(folder: Path) -> list[Path]:
    """The folders of results in a folder or in its folders, sorted."""
    files = (path for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{PER_QUERY}"))
    return [path.parent for path in sorted(files) if not is_draft(path)]


def read_results(place: str | Path, *, replaced: tuple[str, ...] = ()) -> ResultFolder:
    """The results in a folder. Raises BadInput naming any other folder, and a file that is not what
    the manifest states.

    replaced: beginnings of the names of files that are about to be replaced, so that their content
    does not matter.
    """
    folder = Path(place)
    refuse_draft(folder)
    if not is_result_folder(folder):
        raise BadInput(other_place(place))
    manifest = read_manifest(folder)
    rules, inputs, protocol = (
        ({}, {}, "runs") if manifest is None else _rules(folder, manifest.content)
    )
    files = None if manifest is None or not manifest.files else manifest.files
    if files is not None and PER_QUERY not in files:
        raise BadInput(
            f"{folder / MANIFEST} does not list {PER_QUERY}; run the command again that wrote it."
        )
    values, row_attributes = _values(folder / PER_QUERY, _stated(rules, "summary", Summary))
    has_queries = (files is None or QUERIES in files) and (folder / QUERIES).is_file()
    attributes = _attributes(folder / QUERIES) if has_queries else {}
    # Another process may have written the folder in the meantime, so that this comes last.
    present_files = {
        name: digest
        for name, digest in (files or {}).items()
        if not name.startswith(replaced) and (folder / name).exists()
    }
    check_files(folder, present_files)
    return ResultFolder(
        place=folder,
        values=values,
        row_attributes=row_attributes,
        rules=rules,
        better=stated_directions(rules),
        inputs=inputs,
        attributes=attributes,
        protocol=protocol,
        files=files,
        digits=None if manifest is None else manifest.content.get("digits"),
    )


def stated_directions(rules: Mapping[str, Any]) -> dict[str, Better]:
    """The direction of better values of each measure for which the rules of a result state one."""
    return _stated(rules, "better", Better)


def _stated(rules: Mapping[str, Any], name: str, words: Any) -> dict[str, Any]:
    """What rules state of measures under a name, where it is one of these words."""
    measures: Mapping[str, Any] = rules.get("measures") or {}
    return {
        measure: fact[name]
        for measure, fact in measures.items()
        if isinstance(fact, Mapping) and fact.get(name) in get_args(words)
    }


class Manifest(NamedTuple):
    """The manifest of a folder of results.

    content: the object in manifest.json.
    files: file of the result -> its digest.
    pending_files: file -> the digest of the content that is being written in its place. An
        interrupted process leaves these entries behind.
    """

    content: Mapping[str, Any]
    files: Mapping[str, str]
    pending_files: Mapping[str, str]

    @property
    def is_own(self) -> bool:
        """Whether it has the form of rankwell's own."""
        return self.content.get("unfinished") is True or (
            isinstance(self.content.get("schema_version"), int)
            and isinstance(self.content.get("inputs"), Mapping)
        )


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None where it has none. Raises BadInput where it is something
    else.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    content = _checked(
        read_json(Source(path), "a manifest of results", finite=True), dict, path, "$"
    )
    return Manifest(content, _digests(content, "files", path), _digests(content, "written", path))


def _digests(content: Mapping[str, Any], name: str, path: Path) -> dict[str, str]:
    """The files with their digests under a name of a manifest. Raises BadInput for anything else,
    and for files elsewhere.
    """
    digests: dict[str, Any] = _checked(content.get(name, {}), dict, path, name)
    for file, digest in digests.items():
        _checked(digest, str, path, f"{name}.{shown(file)}")
        if not _is_inside(file):
            raise BadInput(
                f"{path}: {name} lists {shown(file)}, which is not a file of this folder."
            )
    return digests


def _is_inside(name: str) -> bool:
    """Whether a name stays in its folder."""
    return (
        bool(name)
        and not PurePosixPath(name).is_absolute()
        and not {"..", ""} & set(name.split("/"))
        and "\0" not in name
    )


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raises BadInput for the first file of a folder that is not there or does not have its
    digest.
    """

    def _is_right(name: str) -> bool:
        return (folder / name).is_file() and digest_of(folder / name) == files[name]

    wrong = next(
        (
            name
            for name, right in zip(files, in_threads(_is_right, list(files)), strict=True)
            if not right
        ),
        None,
    )
    if wrong is not None:
        problem = "is not the file that" if (folder / wrong).exists() else "is missing, which"
        raise BadInput(
            f"{folder / wrong} {problem} {MANIFEST} lists; run the command again that wrote the "
            "folder."
        )


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, as in the manifest."""
    import hashlib

    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _rules(
    folder: Path, manifest: Mapping[str, Any]
) -> tuple[Mapping[str, Any], dict[str, str], str]:
    """The rules, the hashes of the inputs and the kind of result. Raises BadInput where the
    manifest holds something else.
    """
    path = folder / MANIFEST
    if manifest.get("unfinished"):
        raise BadInput(
            f"{folder} holds a result that was not written to its end; run the command again "
            "that wrote it."
        )
    rules = _checked(manifest.get("rules") or {}, dict, path, "rules")
    inputs = _checked(manifest.get("inputs") or {}, dict, path, "inputs")
    for name, value in rules.items():
        _checked(value, _RULES.get(name, object), path, f"rules.{name}")
    for name in ("schema_version", "digits"):
        _checked(manifest.get(name, 0), int, path, name)
    digests = {
        name: str(fact.get("digest", "")) for name, fact in inputs.items() if isinstance(fact, dict)
    }
    return rules, digests, _checked(manifest.get("protocol", "runs"), str, path, "protocol")


class _Each(NamedTuple):
    """The form of a list or an object whose members all have the same form.

    kind: `list` or `dict`.
    member: the form of each member, as in `_RULES`.
    size: number of members; None for any.
    """

    kind: type
    member: Any
    size: int | None = None


_NUMBER = (int, float)
_NONE = type(None)
_PAIR = _Each(list, _NUMBER, size=2)
_WEIGHTS = {"by": str, "unit": str, "grades": _PAIR, "means": _Each(dict, _PAIR)}
_RULES: dict[str, Any] = {
    "counts": _Each(dict, _Each(dict, [_Each(dict, _NUMBER), _NUMBER])),
    "measures": dict,
    "grade_weights": _Each(dict, _WEIGHTS),
    "level": _NUMBER,
    "mean_ranks": [_NONE, _Each(list, {"mean_ranks": _Each(dict, _NUMBER)})],
}
_KINDS: dict[Any, str] = {
    str: "a string",
    int: "an integer",
    _NUMBER: "a finite number",
    dict: "an object",
    list: "a list",
}


def _checked(value: Any, form: Any, path: Path, where: str) -> Any:
    """The value. Raises BadInput, naming file and place, for one of another form; a truth value is
    not a number.

    form: kinds as of `isinstance`, `_Each`, an object key -> form, which may have other keys, or a
    list of forms, any of which will do.
    """
    forms = form if isinstance(form, list) else [form]
    kinds = [dict if isinstance(one, dict) else getattr(one, "kind", one) for one in forms]
    content: Any = value  # whose kind is known by its form
    is_odd = isinstance(value, float) and not isfinite(value)
    for one, kind in zip(forms, kinds, strict=True):
        if not isinstance(value, kind) or is_odd:
            continue
        if isinstance(value, bool) and kind in (int, _NUMBER):
            continue
        if isinstance(one, dict):
            for key, part in one.items():
                _checked(content.get(key), part, path, f"{where}.{key}")
        if isinstance(one, _Each):
            if one.size not in (None, len(content)):
                continue
            for key, member in content.items() if kind is dict else enumerate(content):
                _checked(member, one.member, path, f"{where}[{key!r}]")
        return value
    expected = _KINDS.get(kinds[-1], "another kind of value")
    if size := getattr(forms[-1], "size", None):
        expected += f" of {size}"
    raise BadInput(
        f"{path}: {where} is {shown(value)}; expected {expected}. Run the command again that "
        "wrote it."
    )


def _values(
    path: Path, summaries: Mapping[str, Summary]
) -> tuple[tuple[Values, ...], tuple[dict[str, Any], ...]]:
    """The values with the row attributes that distinguish those of one measure, in the order of
    first appearance.
    """
    names = column_types(path)
    for name in ValueRows.columns:
        if name not in names:
            raise missing_column(name, names, place=str(path))
    extra_names = [name for name in names if name not in (*_TYPES[PER_QUERY], "against")]
    for name in extra_names:
        if not _SINGLE.fullmatch(names[name]):
            raise BadInput(
                f"{path}: column {name!r} holds {names[name]}; expected texts or numbers. Run the "
                "command again."
            )
    keys = ", ".join(map(quoted, ("run", "measure", "label", "unit", *extra_names)))
    weight = ", list(weight ORDER BY file_row_number)" if "weight" in names else ""
    condition = 'WHERE "against" IS NULL' if "against" in names else ""
    lists = f"list(query ORDER BY file_row_number), list(value ORDER BY file_row_number){weight}"
    sql = (
        f"SELECT {keys}, {lists} FROM {parquet(path, numbered=True)} {condition} GROUP BY {keys} "  # noqa: S608
        "ORDER "
        "BY min(file_row_number)"
    )
    values: list[Values] = []
    row_attributes: list[dict[str, Any]] = []
    width = 4 + len(extra_names)
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row in _single_rows(path, sql):
        run, measure, label, unit = row[:4]
        queries, numbers, *weights = row[width:]
        if None in (run, measure, label) or None in queries:
            raise BadInput(
                f"{path}: a row of {measure} has no run, no label or no query. Run the "
                "command again that wrote it."
            )
        if unit not in get_args(Unit):
            raise BadInput(
                f"{path}: {measure} has the unit {unit!r}; known are {', '.join(get_args(Unit))}."
            )
        if twice := first_repeated(queries):
            raise BadInput(
                f"{path}: run {run!r} has query {twice[0]!r} twice by {measure}; every query has "
                "one value."
            )
        # None becomes NaN.
        column, weight_column = np.array(numbers, dtype=np.float64), None
        if weights and set(weights[0]) != {None}:
            weight_column = np.array(weights[0], dtype=np.float64)
            weight_column[np.isnan(weight_column)] = 0.0
        summary = "mean" if weight_column is not None else summaries.get(measure, "mean")
        queries = shared.setdefault(tuple(queries), tuple(queries))
        values.append(Values(run, measure, label, unit, summary, queries, column, weight_column))
        row_attributes.append(
            {
                name: cell
                for name, cell in zip(extra_names, row[4:width], strict=True)
                if cell is not None
            }
        )
    return tuple(values), tuple(row_attributes)


def _attributes(path: Path) -> dict[str, dict[str, str]]:
    columns = read_table(path)
    if "query" not in columns:
        raise missing_column("query", columns, place=str(path))
    return query_attributes(columns)


def query_attributes(columns: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, str]]:
    """The columns of queries except for their texts and pictures: name -> query -> its cell as
    text. Undefined cells, None or NaN, are left out.
    """
    attributes = {
        name: {
            query: f"{cell:.12g}" if isinstance(cell, float) else str(cell)
            for query, cell in zip(columns["query"], cells, strict=True)
            if cell is not None and cell == cell
        }
        for name, cells in columns.items()
        if name not in ("query", "text", "picture_item")
    }
    return {name: cells for name, cells in attributes.items() if cells}


def read_table(path: Path, condition: str = "true") -> dict[str, list[Any]]:
    """The columns of a table as they are, in the order of its rows. Raises BadInput for a damaged
    file, naming it.
    """
    names = column_types(path)
    selection = (
        f"{', '.join(map(quoted, names))} FROM {parquet(path, numbered=True)} WHERE {condition}"
    )
    rows = _select(path, f"SELECT {selection} ORDER BY file_row_number")
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


_SINGLE = re.compile(r"VARCHAR|BOOLEAN|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE")
_NUMBERS = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL.*")


def column_types(path: Path) -> dict[str, str]:
    """The columns of a table with their types. Raises BadInput where one of rankwell's has another
    type.
    """
    types = {row[0]: row[1] for row in _select(path, f"DESCRIBE SELECT * FROM {parquet(path)}")}  # noqa: S608
    for name, own_type in _TYPES.get(path.name, {}).items():
        stored_type, is_text = types.get(name, own_type), own_type == "VARCHAR"
        if stored_type != own_type if is_text else not _NUMBERS.fullmatch(stored_type):
            raise BadInput(
                f"{path}: column {name!r} holds {stored_type}; expected "
                f"{'texts' if is_text else 'numbers'}. Run the command again."
            )
    return types


def _single_rows(path: Path, sql: str) -> Iterator[tuple[Any, ...]]:
    """The rows, one in memory at a time."""
    with undamaged(f"{path}: ", AGAIN), connected() as session:
        cursor = session.execute(sql)
        while row := cursor.fetchone():
            yield row


def _select(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with undamaged(f"{path}: ", AGAIN), connected() as session:
        return session.execute(sql).fetchall()


_GROUP_COLUMNS = (*SUMMARY_COLUMNS, "group", "against", "better", "p_adjusted", "decisive")
_OPTIONAL_NUMBERS = (
    "mean",
    "sd",
    "ci_low",
    "ci_high",
    "mean_run",
    "mean_against",
    "p",
    "p_adjusted",
    "ceiling",
    "chance",
)
_COLUMN_KINDS: dict[str, Any] = {
    **dict.fromkeys(("run", "measure", "label", "unit", "group"), str),
    **dict.fromkeys(("against", "of", "better"), (str, type(None))),
    **dict.fromkeys(_OPTIONAL_NUMBERS, (int, float, type(None))),
    **{"n": int, "questions": int, "text": str, "tried": list, "choices": list, "values": dict},
}


def read_summary(folder: ResultFolder) -> list[dict[str, Any]]:
    """The rows of summary.json, as they were written. Raises BadInput where it is missing or holds
    something else.
    """
    path = folder.place / SUMMARY
    return _rows(_json_object(folder, SUMMARY, "rows", list)["rows"], path, "rows", SUMMARY_COLUMNS)


def _rows(rows: list[Any], path: Path, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a table in JSON. Raises BadInput for one that lacks a column, or has another kind
    of value in it.
    """
    for number, row in enumerate(rows, 1):
        missing = next(
            (
                column_name
                for column_name in columns
                if not isinstance(row, dict) or column_name not in row
            ),
            None,
        )
        if missing is not None:
            raise BadInput(
                f"{path}: row {number} of {name} has no {missing!r}; expected a folder that a "
                "command wrote with -o."
            )
        for column, value in row.items():
            _checked(
                value,
                _COLUMN_KINDS.get(column, object),
                path,
                f"{name}[{number - 1}].{shown(column)}",
            )
    return rows


_FURTHER = {"groups": _GROUP_COLUMNS, "verdicts": ("text",)}


def read_further(folder: ResultFolder) -> dict[str, list[Any]]:
    """The further lists of summary.json, by name: `findings`, and the tables that a command had
    besides (`verdicts`, `groups`).
    """
    path = folder.place / SUMMARY
    summary = _json_object(folder, SUMMARY, "rows", list)
    tables = {
        name: table for name, table in summary.items() if name != "rows" and isinstance(table, list)
    }
    for name, columns in {**_FURTHER, **result_kind(folder.protocol).tables}.items():
        _rows(tables.get(name, []), path, name, columns)
    return tables


def read_performance(folder: ResultFolder) -> Mapping[str, Any]:
    """The content of the file on what runs and the machine took; empty where the file is missing.
    Raises BadInput for other content.
    """
    path = folder.place / PERFORMANCE
    if not folder.has(PERFORMANCE):
        return {}
    performance = _json_object(folder, PERFORMANCE, "runs", dict)
    for run, figures in {**performance["runs"], "machine": performance.get("machine", {})}.items():
        _checked(figures, dict, path, shown(run))
    return performance


def _json_object(folder: ResultFolder, name: str, key: str, kind: type) -> dict[str, Any]:
    """The JSON object of a file. Raises BadInput where it has not this kind of value under the
    key.
    """
    path = folder.place / name
    if not folder.has(name) or not path.is_file():
        raise BadInput(
            f"{path.parent}: no {path.name}; expected a folder that a command wrote with -o."
        )
    content = read_json(Source(path), finite=True)
    folder.check(name)
    if not isinstance(content, dict) or not isinstance(content.get(key), kind):
        raise BadInput(f"{path}: no {key!r}; expected a folder that a command wrote with -o.")
    return content
