"""Tables with named columns: CSV, TSV, Parquet and JSON lines, through DuckDB; a folder that loads
its parts. Those of BEIR: qrels with the header `query-id corpus-id score`, and texts as JSON lines
with `_id`, `title` and `text`; Quepid's ratings, `query,docid,rating`: a query is its text.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwell._native import native
from rankwell.data.columns import (
    Holds,
    Repeats,
    chosen_columns,
    parquet,
    repeated_item,
    sql_text,
    unwritable,
)
from rankwell.data.options import ColumnChoice
from rankwell.data.rankings import Hits, Ranking, SharedCounts, SharedQueries
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, shown
from rankwell.io import connected, reader, undamaged
from rankwell.io.column_tables.dialects import (
    CSV,
    JSONL,
    PAR1,
    PARQUET,
    TSV,
    Dialect,
    has_runs,
    on_disk,
)
from rankwell.io.column_tables.numeric import (
    read_column,
    read_numbers,
    read_records,
    read_scores,
    read_vectors,
    sniff_column,
    sniff_numbers,
    sniff_scores,
    sniff_vectors,
)
from rankwell.io.column_tables.table import ColumnTable, opened, opened_table
from rankwell.io.formats import Cuts, ReadWarnings, Request, Texts, file_format, written_lists
from rankwell.io.reader import Irregular, ListScan, NumberedLists, count_columns
from rankwell.store import Head, Source, naming


def find_hits(source: Source, judgments: Judgments, request: Request, *, dialect: Dialect) -> Hits:
    """The hits of a run in a table: counted as it comes by; where that is not possible, sorted by
    query; else row by row.
    """
    with opened(source, dialect, "run", request) as (table, columns):
        if (hits := _hits_of_stream(table, table.rows(columns), judgments, request)) is not None:
            n_rows = int(hits.n_retrieved.sum()) + sum(hits.unknown.values())
            table.refuse_lost(n_rows, columns.owner, columns.item)
            return hits
        table.load(columns)
        ordered = "SELECT owner, item, value FROM r ORDER BY owner, rowid"
        if (hits := _hits_of_stream(table, ordered, judgments, request)) is not None:
            return hits
        _refuse_duplicates(table, judgments)
        return request.hits(_ranking_of(table, repeated=True), judgments)


def count_rows(
    source: Source,
    judgments: Judgments,
    shared: SharedQueries,
    request: Request,
    *,
    dialect: Dialect,
) -> SharedCounts | None:
    """The rows of shared queries in a table, counted as they come by; None where that is not
    possible.
    """
    if native.library is None:
        return None
    with opened(source, dialect, "run", request) as (table, columns):
        stream = table.stream(table.rows(columns))
        return None if stream is None else count_columns(stream, judgments, shared, request.options)


def _hits_of_stream(
    table: ColumnTable, sql: str, judgments: Judgments, request: Request
) -> Hits | None:
    """The hits of rows that the compiled reader counts one by one; None where it cannot, and
    another way reports the reason.
    """
    if native.library is None or (stream := table.stream(sql)) is None:
        return None
    return reader.scan_columns(stream, judgments, request.options)


def read_lists(
    sources: Sequence[Source], items: Sequence[str], request: Request, *, dialect: Dialect
) -> Iterator[NumberedLists]:
    """The first items of every query of a run in tables, some queries at a time. Raises
    Irregular.
    """
    lists = ListScan(items, None, request.options._replace(comments=False, trailing=False))
    for source in sources:
        with opened(source, dialect, "run", request) as (table, columns):
            if not table.is_unbroken or (stream := table.stream(table.rows(columns))) is None:
                raise Irregular
            yield from lists.take(stream)


def _ranking_of(table: ColumnTable, *, repeated: bool) -> Ranking:
    run_columns = table.run("SELECT owner, item, value FROM r ORDER BY rowid", columns=True)
    return Ranking.from_rows(
        run_columns["owner"].tolist(),
        run_columns["item"].tolist(),
        run_columns["value"],
        repeated=repeated,
    )


def _refuse_duplicates(table: ColumnTable, judgments: Judgments) -> None:
    """Raises DuplicateItem for the first item that repeats an earlier one of its query, where the
    query is judged.
    """
    repeated = table.run(
        "SELECT owner, item, rows[1], rows[2] FROM (SELECT owner, item, "
        "list_sort(list(rowid)) AS rows "
        "FROM r GROUP BY owner, item HAVING count(*) > 1) ORDER BY rows[2]"
    )
    for query, item, first, second in repeated:
        if query in judgments.index:
            raise repeated_item(
                f"{table.name}: query {query!r} lists item {item!r} twice, in rows {first + 1} "
                f"and {second + 1}",
                item,
            )


def _drop_duplicates(table: ColumnTable, duplicates: Repeats) -> None:
    """Leaves the first or the best of each item of a query in the table `r`, in its place."""
    if duplicates in ("first", "best"):
        better = "value DESC, " if duplicates == "best" else ""
        is_first = f"row_number() OVER (PARTITION BY owner, item ORDER BY {better}spot) = 1"
        # DuckDB 2.0 fails on windows ordered by rowid itself, so the place becomes a column first.
        table.run("CREATE TEMP TABLE placed AS SELECT rowid AS spot, * FROM r")
        table.run("DROP TABLE r")
        table.run(
            f"CREATE TEMP TABLE r AS SELECT * EXCLUDE spot FROM placed QUALIFY {is_first} ORDER "
            "BY spot"
        )


def read_run(source: Source, request: Request, *, dialect: Dialect) -> Ranking:
    """The ranking in a table with columns for query, item and score, or else distance or rank;
    others do not matter.
    """
    with opened(source, dialect, "run", request) as (table, columns):
        table.load(columns)
        if request.oddities is not None:
            twice = table.run(
                "SELECT DISTINCT owner FROM (SELECT owner FROM r GROUP BY owner, item HAVING "
                "count(*) > 1)"
            )
            request.oddities.duplicated.update(owner for (owner,) in twice)
            if columns.rank and not columns.by_rank:
                climbs = (
                    "SELECT owner, value > lag(value) OVER (PARTITION BY owner ORDER BY place, "
                    "value DESC) AS up FROM r"
                )
                odd = table.run(f"SELECT DISTINCT owner FROM ({climbs}) WHERE up")
                request.oddities.contradicting.update(owner for (owner,) in odd)
        _drop_duplicates(table, request.duplicates)
        return _ranking_of(table, repeated=request.duplicates == "keep")


def run_places(place: str | Path) -> list[str]:
    """The places `FILE:RUN` of the runs in a Parquet file whose column `run` names several.

    They come in the order of their first rows; of any other place it is the only one.
    """
    path, itself = Path(place), [str(place)]
    if (
        not path.name.lower().endswith(PARQUET.suffixes)
        or not path.is_file()
        or not Head.of(Source(path)).raw.startswith(PAR1)
    ):
        return itself
    with naming(str(place)), opened_table(Source(path), PARQUET) as table:
        if not has_runs(table.types):
            return itself
        run_rows = (
            f"SELECT {table.column('run')} AS run, file_row_number AS row FROM "
            f"{parquet(path, numbered=True)}"
        )
        run_names = (
            f"SELECT run FROM ({run_rows}) WHERE run IS NOT NULL GROUP BY run ORDER BY min(row)"
        )
        runs = table.run(run_names)
    return [f"{place}:{name}" for (name,) in runs] if len(runs) > 1 else itself


def first_rows(
    source: Source, form: str, n: int, run: str, columns: ColumnChoice | None
) -> list[tuple[str, str, float | None, float]]:
    """Query, item, rank and score of the first rows of a run in a table; ranks are None where
    scores have none beside them.

    run: the one of several in the table. columns: those that were chosen.
    """
    dialect = {table_dialect.name: table_dialect for table_dialect in (CSV, TSV, PARQUET, JSONL)}[
        form
    ]
    odd = ReadWarnings(set(), set())
    request = Request(part=run, columns=chosen_columns(columns, "run"), oddities=odd)
    with opened(source, dialect, "run", request) as (table, run_columns):
        rank = (
            table.number(run_columns.rank)
            if run_columns.rank and not run_columns.by_rank
            else "NULL"
        )
        ranks = table.run(f"SELECT {rank} FROM {table.source} LIMIT {n}")
        rows = table.run(f"{table.rows(run_columns)} LIMIT {n}")
    return [
        (query, item, rank, score)
        for (query, item, score), (rank,) in zip(rows, ranks, strict=True)
    ]


def read_judgments(source: Source, request: Request, *, dialect: Dialect) -> Judgments:
    """The judgments in a table with columns for query, item and grade, and aspect where groups or
    intents are requested.
    """
    with opened(source, dialect, "judgments", request) as (table, columns):
        table.load(columns, by_text=request.by_text)
        if request.duplicates != "error" and columns.aspect:
            raise BadInput(
                "repeated items cannot be dropped from judgments with groups or intents; "
                "clean the table."
            )
        _drop_duplicates(table, request.duplicates)
        aspect = ", aspect" if columns.aspect else ""
        judged_columns = table.run(
            f"SELECT owner, item, value{aspect} FROM r ORDER BY rowid", columns=True
        )
    aspects = judged_columns["aspect"].tolist() if columns.aspect else None
    return Judgments.from_rows(
        judged_columns["owner"].tolist(),
        judged_columns["item"].tolist(),
        judged_columns["value"],
        aspects=aspects,
    )


def read_texts(source: Source, request: Request, *, dialect: Dialect) -> Texts:
    """Texts by id; every other column becomes an attribute where it has a value.

    The part of a place `FILE:COLUMN` is the column of texts. Raises BadInput for a repeated id.
    """
    request = replace(request, columns={"text": request.part} if request.part else {})
    with opened(source, dialect, "texts", request) as (table, columns):
        attribute_names = (
            []
            if request.ids_only
            else [name for name in table.types if name not in (columns.owner, columns.value)]
        )
        cast = "->>'$'" if dialect.name == "jsonl" else "::VARCHAR"
        attribute_columns = [table.column(name) + cast for name in attribute_names]
        content = (
            "''"
            if request.ids_only
            else table.column(columns.value) + cast * (dialect.name == "jsonl")
        )
        rows = table.run(
            f"SELECT {table.id(columns.owner)}, {', '.join([content, *attribute_columns])} FROM "
            f"{table.source}"
        )
        table.refuse_lost(len(rows), columns.owner)
    texts, attributes = dict[str, str](), dict[str, dict[str, str]]()
    for number, (name, value, *cells) in enumerate(rows, 1):
        if not name or name in texts:
            problem = f"the id {name!r}, which an earlier row has" if name else "no id"
            raise BadInput(
                f"{source.name}: row {number} has {problem}; every text needs its own id."
            )
        texts[name] = value or ""
        attributes[name] = {
            key: cell for key, cell in zip(attribute_names, cells, strict=True) if cell is not None
        }
    return Texts(texts, attributes)


def write_run(ranking: Ranking, path: Path, *, dialect: Dialect) -> None:
    """Writes columns query, item and score."""
    _write({"item": ranking.items, "score": ranking.scores}, ranking, path, dialect)


def write_judgments(judgments: Judgments, path: Path, *, dialect: Dialect) -> None:
    """Writes columns query, item and grade, integers without a point, and aspect where there are
    any.
    """
    grades = judgments.grades
    is_whole = bool((grades == np.floor(grades)).all() and (np.abs(grades) < 1 << 53).all())
    columns = {"item": judgments.items, "grade": grades.astype(np.int64) if is_whole else grades}
    if judgments.aspects is not None:
        columns["aspect"] = judgments.aspects
    _write(columns, judgments, path, dialect)


def _write(
    columns: dict[str, Any], table: Ranking | Judgments, path: Path, dialect: Dialect
) -> None:
    counts = np.diff(table.offsets)
    queries = np.repeat(np.array(table.queries, dtype=object), counts)
    filled = {"query": queries, **columns}
    for name, column in filled.items():
        if not isinstance(column, np.ndarray) or column.dtype == object:
            filled[name] = np.array(column, dtype=object)
            _refuse_unwritable(filled[name], name, dialect)
    import duckdb

    with connected() as session:
        session.register("filled", filled)
        try:
            session.execute(
                f"COPY (SELECT * FROM filled) TO {sql_text(path)} ({dialect.copy}, "
                "USE_TMP_FILE false)"
            )
        except duckdb.IOException as error:
            raise unwritable(f"the {dialect.name} file", error) from error


def _refuse_unwritable(ids: Any, name: str, dialect: Dialect) -> None:
    broken = {"tsv": "\t\n\r", "csv": "\n"}.get(dialect.name, "")
    for id_text in ids:
        if not id_text or not id_text.isascii():
            try:
                id_text.encode("utf-8")
            except UnicodeEncodeError:
                raise BadInput(
                    f"the {name} {id_text!r} has bytes that are not UTF-8; {dialect.name} cannot "
                    "hold it, TREC can."
                ) from None
            if not id_text:
                raise BadInput(
                    f"a {name} is the empty text; {dialect.name} cannot hold it, JSON can."
                )
        if any(mark in id_text for mark in broken):
            problem = "a tab or the end of a line" if dialect is TSV else "the end of a line"
            raise BadInput(
                f"the {name} {id_text!r} has {problem}; {dialect.name} cannot hold it, JSON can."
            )


def row_group_cuts(source: Source, offsets: Sequence[int]) -> Cuts:
    """Ranges of whole row groups of a Parquet file."""
    with on_disk(source) as path, connected() as session, undamaged(f"{source.name}: "):
        groups = session.execute(
            "SELECT any_value(row_group_num_rows), sum(total_compressed_size) "
            f"FROM parquet_metadata({sql_text(path)}) GROUP BY row_group_id ORDER BY row_group_id"
        ).fetchall()
    rows, ends = (
        np.cumsum(np.array([0, *row_group_sizes], dtype=np.int64))
        for row_group_sizes in (zip(*groups, strict=True) if groups else ([], []))
    )
    return Cuts(
        rows[np.minimum(np.searchsorted(ends, offsets), len(groups))].tolist(), int(rows[-1])
    )


def _register(dialect: Dialect) -> None:
    def _bind(function: Any) -> Any:
        return partial(function, dialect=dialect)

    def _sniff_as(holds: Holds) -> Any:
        return partial(dialect.sniff, holds=holds)

    name, suffixes = dialect.name, dialect.suffixes
    file_format(
        name,
        "run",
        sniff=_sniff_as("run"),
        has_parts=dialect is PARQUET,
        has_columns=True,
        write=_bind(write_run),
        suffixes=suffixes,
        cut=row_group_cuts if dialect is PARQUET else None,
        find_hits=_bind(find_hits),
        count_shared=_bind(count_rows),
        lists=_bind(read_lists),
    )(_bind(read_run))
    file_format(
        name,
        "judgments",
        sniff=_sniff_as("judgments"),
        has_columns=True,
        write=_bind(write_judgments),
        suffixes=suffixes,
    )(_bind(read_judgments))
    file_format(name, "texts", sniff=_sniff_as("texts"), has_parts=True)(_bind(read_texts))
    file_format(name, "column", sniff=_bind(sniff_column), has_parts=True)(_bind(read_column))
    file_format(name, "numbers", sniff=_bind(sniff_numbers))(_bind(read_numbers))


for _dialect in (CSV, TSV, PARQUET, JSONL):
    _register(_dialect)
for _dialect in (CSV, TSV, PARQUET):
    file_format(
        _dialect.name,
        "scores",
        sniff=partial(sniff_scores, dialect=_dialect),
        has_parts=_dialect is PARQUET,
    )(partial(read_scores, dialect=_dialect))
file_format("parquet", "embeddings", magic=PAR1, sniff=sniff_vectors, has_parts=True)(read_vectors)
file_format("parquet", "records")(read_records)


_BEIR_HEADER = b"query-id\tcorpus-id\tscore\n"


def _sniff_beir(head: Head) -> float:
    if not head.fields or head.lines[0] + b"\n" != _BEIR_HEADER:
        return 0.0
    return 0.99 * all(
        re.fullmatch(rb"-?\d+", line.rpartition(b"\t")[2].strip()) for line in head.lines[1:20]
    )


def _sniff_beir_texts(head: Head) -> float:
    keys = all(re.search(rf'"{key}"\s*:', head.text) for key in ("_id", "text"))
    return 0.99 if head.text.startswith("{") and keys else 0.0


@file_format("beir", "judgments", sniff=_sniff_beir, base_format="tsv")
def read_beir_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in `qrels/test.tsv`. Source: Thakur et al. 2021, BEIR."""
    if (
        request.duplicates == "error"
        and request.aspects == "none"
        and (judged_rows := reader.read_judged_rows(source, header=_BEIR_HEADER))
    ):
        return judged_rows.table()
    return read_judgments(source, request, dialect=TSV)


@file_format("beir", "texts", sniff=_sniff_beir_texts, has_parts=True)
def read_beir_texts(source: Source, request: Request) -> Texts:
    """The texts in `queries.jsonl` or `corpus.jsonl`; `title` and all else in a line are
    attributes.
    """
    return read_texts(source, request, dialect=JSONL)


_QUEPID_HEADER = ("query", "docid", "rating")
_RATING = re.compile(r",[^,\n]*, *[-+.\d][-+.\deE]*\r?\n")
"""The end of a line of ratings, and of no text."""


def _sniff_quepid(head: Head) -> float:
    return 0.95 * bool(re.match(rb'"?query"?,"?docid"?,"?rating"?\r?\n', head.raw))


def _write_quepid(table: Judgments, path: Path) -> None:
    lists = written_lists(table, "Quepid's ratings")
    rows = ((query, item, grade) for query, pairs in lists for item, grade in pairs)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_QUEPID_HEADER)
        writer.writerows(rows)


@file_format(
    "quepid", "judgments", sniff=_sniff_quepid, write=_write_quepid, base_format="csv", by_text=True
)
def read_quepid_judgments(source: Source, request: Request) -> Judgments:
    """The ratings that Quepid exports and imports; queries go by their texts. Source: Quepid 8,
    Export Ratings, CSV.

    Raises BadInput for a query in which a rating stands: a quotation mark that is not closed takes
    in the lines behind it.
    """
    table = read_judgments(
        source, replace(request, columns={"grade": _QUEPID_HEADER[-1]}, by_text=True), dialect=CSV
    )
    for query in table.queries:
        if _RATING.search(query):
            raise BadInput(
                f"{source.name}: the query {shown(query)} holds a rating, as where a quotation "
                "mark is not closed; close or remove the mark."
            )
    return table
