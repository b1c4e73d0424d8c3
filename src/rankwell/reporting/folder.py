"""Result folders, the output of `-o`: everything that a comparison, a page or another tool needs
later.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell.data.columns import parquet, quoted, sql_text, unwritable
from rankwell.data.findings import Finding
from rankwell.data.frames import Column, Joined, number_column, text_column
from rankwell.data.tables import Values, is_number
from rankwell.errors import BadInput, missing_column
from rankwell.io import connected
from rankwell.io.result_folder import (
    DETAIL_TYPES,
    DETAILS,
    ITEM_TYPES,
    ITEMS,
    PER_QUERY,
    PER_QUERY_TYPES,
    QUERIES,
)
from rankwell.reporting import OUTPUTS, Document, Row, Rules, plain
from rankwell.reporting.charts import CHARTS, ChartData, write_charts
from rankwell.reporting.drafts import drafting, publish
from rankwell.store import Source, replacing, write_text

if TYPE_CHECKING:
    import duckdb

    from rankwell.evaluation.results import ResultData

_ROWS = 4 * 122_880
"""Rows of a table in memory: groups of DuckDB's, so that the parts of a file do not change its
bytes.
"""
_FORM = "FORMAT parquet, COMPRESSION {}, USE_TMP_FILE false"
Columns = Mapping[str, Column]


@dataclass(frozen=True, eq=False, kw_only=True)
class FolderContent:
    """The content of a result folder, the output of `-o`.

    summary: rows of summary.csv and summary.json.
    values: the values of per_query.parquet, with the columns run, query, measure, label, value
        (null where a query is not counted), unit, and weight where queries have different weights
        in a mean.
    rules: every choice that decided a number, with the definitions of measures, as in summary.json.
    findings: the findings of summary.json.
    manifest: the content of manifest.json, without the digests of the files.
    row_attributes: further columns of per_query.parquet (`direction`), one mapping for each element
        of `values` or none at all.
    details: columns of `DETAIL_TYPES`; a missing rank, score or grade is NaN or None.
    queries: the columns `query`, `text` and any others.
    items: columns of `ITEM_TYPES` as far as they are known, with a row for each item that has a
        text or a picture. `of` is the run or the direction that the item belongs to, None for all;
        `thumbnail` is a `data:` address; `problem` is the reason why there is none.
    tables: further rows by name, for JSON alone.
    """

    summary: Sequence[Row]
    values: Sequence[Values]
    rules: Rules
    findings: Sequence[Finding]
    manifest: Mapping[str, Any]
    row_attributes: Sequence[Row] = ()
    details: Columns | None = None
    queries: Columns | None = None
    items: Columns | None = None
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])


def write_result(
    result: "ResultData",
    directory: Path,
    *,
    charts: bool = True,
    others: Sequence[Path] = (),
    **changes: Any,
) -> list[Path]:
    """Writes the folder of a result; `changes` are fields of its content with other values. See
    `write_folder`.
    """
    content = FolderContent(
        summary=result.summary,
        values=result.values,
        rules=result.describe(),
        findings=result.findings,
        manifest=result.manifest(),
        row_attributes=result.query_attributes,
        details=result.details,
        queries=result.queries,
        items=result.items,
    )
    content, inputs = replace(content, **changes), result.sources.values()
    return write_folder(directory, content, charts=charts, others=others, inputs=inputs)


def write_folder(
    directory: Path,
    content: FolderContent,
    *,
    charts: bool = True,
    others: Sequence[Path] = (),
    inputs: Iterable[Source] = (),
) -> list[Path]:
    """Writes a result folder, made if need be, and returns the paths of its files; the same content
    gives the same bytes.

    charts: whether to write every registered chart that has something to draw. others: files that
    the caller has written into the draft of the folder. inputs: what was read. Raises BadInput for
    columns missing or of unequal length, and as `drafting`.
    """
    with drafting(directory, inputs) as draft:
        document = Document(
            content.summary, rules=content.rules, findings=content.findings, tables=content.tables
        )
        texts = {f"summary.{form}": OUTPUTS[form](document) for form in ("csv", "json")}
        for name, written in texts.items():
            write_text(draft / name, written)
        tables = _tables(content)
        for name, (columns, types) in tables.items():
            write_parquet(draft / name, columns, types)
        paths = [draft / name for name in (*texts, *tables)]
        if charts:
            data = ChartData(content.summary, content.values, content.rules, content.row_attributes)
            specs = {name: spec for name in CHARTS if (spec := CHARTS[name](data)) is not None}
            paths += write_charts(draft, specs)
        return publish(directory, content.manifest, [*paths, *others])


def _tables(content: FolderContent) -> dict[str, tuple[Columns, Mapping[str, str]]]:
    """The tables of a folder by the names of their files: columns, and the types of those that are
    written.
    """
    tables = {PER_QUERY: per_query_columns(content.values, content.row_attributes)}
    details = getattr(content.details, "arrays", content.details)
    if details is not None:
        tables[DETAILS] = {"detail": [None] * _height(details), **details}, DETAIL_TYPES
    if content.items is not None and (n := _height(content.items)):
        tables[ITEMS] = {**{name: [None] * n for name in ITEM_TYPES}, **content.items}, ITEM_TYPES
    if content.queries is not None:
        tables[QUERIES] = _query_table(content.queries)
    return tables


def write_parquet(path: Path, columns: Columns, types: Mapping[str, str]) -> None:
    """Writes columns as a Parquet file, whole or not at all, with DuckDB's name of each column's
    type.

    None, NaN and masked entries become null; what is not UTF-8 is escaped. Raises BadInput where a
    column of `types` is missing, the columns differ in length, or the disk is full.
    """
    import duckdb

    for name in types:
        if name not in columns:
            raise missing_column(name, columns, place=path.name)
    sizes = {name: len(columns[name]) for name in types}
    if len(set(sizes.values())) > 1:
        raise BadInput(f"{path.name}: the columns differ in length: {sizes}.")
    with connected(threads=1) as base, replacing(path) as draft:
        try:
            _copy(base, columns, types, draft)
        except duckdb.IOException as error:
            raise unwritable(path.name, error) from error


def _copy(
    base: "duckdb.DuckDBPyConnection", columns: Columns, types: Mapping[str, str], target: Path
) -> None:
    """Writes columns as a Parquet file, by way of parts beside it where they have many rows."""
    n = len(columns[next(iter(types))])
    picked = ", ".join(
        f"CAST({_source(name, kind)} AS {kind}) AS {quoted(name)}" for name, kind in types.items()
    )

    def _write(rows: slice, part_path: Path, compression: str) -> None:
        read = {
            name: text_column if kind == "VARCHAR" else number_column
            for name, kind in types.items()
        }
        base.register("columns", {name: read[name](columns[name][rows]) for name in types})
        base.execute(
            f"COPY (SELECT {picked} FROM columns) TO {sql_text(part_path)} "  # noqa: S608
            f"({_FORM.format(compression)})"
        )
        base.unregister("columns")

    if n <= _ROWS:
        _write(slice(None), target, "zstd")
        return
    with TemporaryDirectory(dir=target.parent, prefix=target.name) as folder:
        parts = {start: Path(folder, f"{start}.parquet") for start in range(0, n, _ROWS)}
        for start, part in parts.items():
            _write(slice(start, start + _ROWS), part, "snappy")
        union = " UNION ALL ".join(f"SELECT * FROM {parquet(part)}" for part in parts.values())  # noqa: S608
        base.execute(f"COPY ({union}) TO {sql_text(target)} ({_FORM.format('zstd')})")


def _source(name: str, kind: str) -> str:
    return (
        quoted(name) if kind in ("VARCHAR", "BOOLEAN") else f"nullif({quoted(name)}, 'nan'::DOUBLE)"
    )


def per_query_columns(
    values: Sequence[Values], row_attributes: Sequence[Row]
) -> tuple[Columns, Mapping[str, str]]:
    """The columns of per_query.parquet with DuckDB's names of their types; values are NaN where a
    query is not counted.
    """
    repeated = ("run", "measure", "label", "unit")
    # A difference is computed whenever it is read, and so are its values once more when they are
    # written.
    heads = [
        ([getattr(column, name) for name in repeated], column.queries, column.weights is not None)
        for column in values
    ]
    sizes = [len(queries) for _, queries, _ in heads]
    columns: dict[str, Column] = {
        name: Joined.repeated([cells[index] for cells, *_ in heads], sizes)
        for index, name in enumerate(repeated)
    }
    columns["query"] = Joined(sizes, lambda index: heads[index][1])
    columns["value"] = Joined(sizes, lambda index: values[index].values)
    types = dict(PER_QUERY_TYPES)
    if any(weighs for *_, weighs in heads):
        types["weight"] = "DOUBLE"
        bare = np.broadcast_to(np.nan, max(sizes))
        columns["weight"] = Joined(
            sizes,
            lambda index: (
                bare[: sizes[index]] if (weights := values[index].weights) is None else weights
            ),
        )
    for name in row_attributes[0] if row_attributes else ():
        cells = [attributes[name] for attributes in row_attributes]
        types[name] = "VARCHAR" if any(isinstance(cell, str) for cell in cells) else "DOUBLE"
        text_cells = (
            cells
            if types[name] == "DOUBLE"
            else [None if cell is None else str(cell) for cell in cells]
        )
        columns[name] = Joined.repeated(text_cells, sizes)
    return columns, types


def _height(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def _query_table(columns: Columns) -> tuple[Columns, Mapping[str, str]]:
    """The columns with their types: numbers where all cells are, else text; other values are
    written as JSON.
    """
    table: dict[str, Column] = {"text": [None] * _height(columns), **columns}
    types = {"query": "VARCHAR", "text": "VARCHAR"}
    for name in [name for name in columns if name not in types]:
        column = columns[name]
        cells: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
        present_cells = [cell for cell in cells if cell is not None]
        if present_cells and all(map(is_number, present_cells)):
            types[name], table[name] = "DOUBLE", cells
        else:
            texts = [
                cell if cell is None or isinstance(cell, str) else json.dumps(plain(cell))
                for cell in cells
            ]
            types[name], table[name] = "VARCHAR", texts
    return table, types
