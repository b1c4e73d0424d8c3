"""Tables with named columns: CSV, TSV, Parquet and JSON lines, through DuckDB; a folder that loads its parts."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import quoted, sql_text
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput
from rankwell.io import Request, Texts, file_format
from rankwell.io.column_tables.dialects import CSV, JSONL, PARQUET, TSV, Dialect
from rankwell.io.column_tables.hits import drop_duplicates, hits_of_stream, hits_of_table
from rankwell.io.column_tables.numbers import read_numbers, sniff_numbers
from rankwell.io.column_tables.records import read_records
from rankwell.io.column_tables.scores import read_scores, sniff_scores
from rankwell.io.column_tables.session import connected
from rankwell.io.column_tables.table import opened
from rankwell.io.column_tables.vectors import read_column, read_vectors, sniff_column, sniff_vectors
from rankwell.store import Head, Source


def find_hits(source: Source, judgments: Judgments, request: Request, *, dialect: Dialect) -> Hits:
    """The hits of a run in a table: counted row by row, or in DuckDB, which only the judged rows leave with their ids then."""
    with opened(source, dialect, "run") as (table, columns):
        found = hits_of_stream(table, columns, judgments, request)
        if found is not None:
            return found
        table.load(columns)
        return hits_of_table(table, judgments, request)


def read_run(source: Source, request: Request, *, dialect: Dialect) -> Ranking:
    """The ranking in a table with columns for query, item and score, or rank where there is no score; others do not matter."""
    with opened(source, dialect, "run") as (table, columns):
        table.load(columns)
        if request.warnings is not None:
            twice = table.run("SELECT DISTINCT owner FROM (SELECT owner FROM r GROUP BY owner, item HAVING count(*) > 1)")
            request.warnings.duplicated.update(owner for (owner,) in twice.fetchall())
            if columns.rank and not columns.by_rank:
                climbs = "SELECT owner, value > lag(value) OVER (PARTITION BY owner ORDER BY place, value DESC) AS up FROM r"
                odd = table.run(f"SELECT DISTINCT owner FROM ({climbs}) WHERE up").fetchall()
                request.warnings.contradicting.update(owner for (owner,) in odd)
        drop_duplicates(table, request.duplicates)
        found = table.run("SELECT owner, item, value FROM r ORDER BY rowid").fetchnumpy()
    repeated = request.duplicates == "keep"
    return Ranking.from_rows(found["owner"].tolist(), found["item"].tolist(), found["value"], repeated=repeated)


def read_judgments(source: Source, request: Request, *, dialect: Dialect) -> Judgments:
    """The judgments in a table with columns for query, item and grade, and aspect where groups or intents are asked for."""
    with opened(source, dialect, "judgments", aspects=request.aspects != "none") as (table, columns):
        table.load(columns)
        if request.duplicates != "error" and columns.aspect:
            raise BadInput("repeated items cannot be dropped from judgments with groups or intents; clean the table.")
        drop_duplicates(table, request.duplicates)
        aspect = ", aspect" if columns.aspect else ""
        found = table.run(f"SELECT owner, item, value{aspect} FROM r ORDER BY rowid").fetchnumpy()
    aspects = found["aspect"].tolist() if columns.aspect else None
    return Judgments.from_rows(found["owner"].tolist(), found["item"].tolist(), found["value"], aspects=aspects)


def read_texts(source: Source, request: Request, *, dialect: Dialect) -> Texts:
    """Texts by id; every other column becomes an attribute where it has a value. Raises BadInput for an id that comes twice."""
    with opened(source, dialect, "texts") as (table, columns):
        others = [] if request.ids_only else [name for name in table.types if name not in (columns.owner, columns.value)]
        shown = [f"{quoted(name)}->>'$'" if table.types[name] == "JSON" else quoted(name) + "::VARCHAR" for name in others]
        told = (
            "''" if request.ids_only else f"{quoted(columns.value)}" + ("->>'$'" if table.types[columns.value] == "JSON" else "")
        )
        rows = table.run(f"SELECT {table.id(columns.owner)}, {', '.join([told, *shown])} FROM {table.source}").fetchall()
    texts, attributes = dict[str, str](), dict[str, dict[str, str]]()
    for number, (name, value, *rest) in enumerate(rows, 1):
        if name is None or name in texts:
            what = "no id" if name is None else f"the id {name!r}, which an earlier row has"
            raise BadInput(f"{source.name}: row {number} has {what}; every text needs its own id.")
        texts[name] = value or ""
        attributes[name] = {key: each for key, each in zip(others, rest, strict=True) if each is not None}
    return Texts(texts, attributes)


def write_run(ranking: Ranking, path: Path, *, dialect: Dialect) -> None:
    """Writes columns query, item and score."""
    _write({"item": ranking.items, "score": ranking.scores}, ranking, path, dialect)


def write_judgments(judgments: Judgments, path: Path, *, dialect: Dialect) -> None:
    """Writes columns query, item and grade, whole numbers without a point, and aspect where there are any."""
    grades = judgments.grades
    whole = bool((grades == np.floor(grades)).all() and (np.abs(grades) < 1 << 53).all())
    columns: dict[str, Any] = {"item": judgments.items, "grade": grades.astype(np.int64) if whole else grades}
    if judgments.aspects is not None:
        columns["aspect"] = judgments.aspects
    _write(columns, judgments, path, dialect)


def _write(columns: dict[str, Any], table: Ranking | Judgments, path: Path, dialect: Dialect) -> None:
    counts = np.diff(table.offsets)
    queries = np.repeat(np.array(table.queries, dtype=object), counts)
    filled = {"query": queries, **columns}
    for name, column in filled.items():
        if not isinstance(column, np.ndarray) or column.dtype == object:
            filled[name] = np.array(column, dtype=object)
            _refuse_unwritable(filled[name], name, dialect)
    with connected() as session:
        session.register("filled", filled)
        session.execute(f"COPY (SELECT * FROM filled) TO {sql_text(path)} ({dialect.copy})")


def _refuse_unwritable(ids: Any, name: str, dialect: Dialect) -> None:
    for each in ids:
        if not each or not each.isascii():
            try:
                each.encode("utf-8")
            except UnicodeEncodeError:
                raise BadInput(
                    f"the {name} {each!r} has bytes that are not UTF-8; {dialect.name} cannot hold it, TREC can."
                ) from None
            if not each:
                raise BadInput(f"a {name} is the empty text; {dialect.name} cannot hold it, JSON can.")


def _register(dialect: Dialect) -> None:
    def _bind(function: Any) -> Any:
        return partial(function, dialect=dialect)

    def _sniff_as(holds: Any) -> Any:
        def _sniff(head: Head) -> float:
            return dialect.sniff(head, holds)

        return _sniff

    name, suffixes = dialect.name, dialect.suffixes
    run = file_format(name, "run", sniff=_sniff_as("run"), find_hits=_bind(find_hits), write=_bind(write_run), suffixes=suffixes)
    run(_bind(read_run))
    judged = file_format(name, "judgments", sniff=_sniff_as("judgments"), write=_bind(write_judgments), suffixes=suffixes)
    judged(_bind(read_judgments))
    file_format(name, "texts", sniff=_sniff_as("texts"))(_bind(read_texts))
    file_format(name, "column", sniff=_bind(sniff_column), parts=True)(_bind(read_column))
    file_format(name, "numbers", sniff=_bind(sniff_numbers))(_bind(read_numbers))


for _dialect in (CSV, TSV, PARQUET, JSONL):
    _register(_dialect)
for _dialect in (CSV, TSV, PARQUET):
    file_format(_dialect.name, "scores", sniff=partial(sniff_scores, dialect=_dialect), parts=_dialect is PARQUET)(
        partial(read_scores, dialect=_dialect)
    )
file_format("parquet", "embeddings", sniff=sniff_vectors, parts=True)(read_vectors)
file_format("parquet", "records")(read_records)
