"""The hits of a run in a table: DuckDB joins and counts, the tie rule is that of every other reader."""

import numpy as np

from rankwell.core.kernels import native
from rankwell.core.tables import Ints, offsets_of
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import Columns, Repeats
from rankwell.core.tables.ranking import Hits
from rankwell.errors import DuplicateItem
from rankwell.io import Request
from rankwell.io.column_tables.table import Table
from rankwell.io.reader.reading import ReadOptions
from rankwell.io.reader.rows import Rows, hits_of_rows


def hits_of_stream(table: Table, columns: Columns, judgments: Judgments, request: Request) -> Hits | None:
    """The hits of a table that is counted as it comes by; None where it cannot be, and the other way will tell why."""
    if native.library is None or request.duplicates != "error" or (stream := table.stream(columns)) is None:
        return None
    reading = ReadOptions(ties=request.ties, single_precision=request.single_precision, keep=request.keep)
    from rankwell.io.reader import native_columns

    return native_columns.scan(stream, judgments, reading)


def hits_of_table(table: Table, judgments: Judgments, request: Request) -> Hits:
    """The hits of the loaded table `r`. Raises DuplicateItem."""
    sizes: dict[str, int] = dict(table.run("SELECT owner, count(*) FROM r GROUP BY owner ORDER BY owner").fetchall())
    _register_truth(table, judgments, sizes)
    found = table.run(
        "SELECT r.rowid AS row, code, value, hash(item) AS print FROM r JOIN known ON r.owner = known.owner"
    ).fetchnumpy()
    # Joins return rows in any order: every column goes back to the order of the file, then together with its query.
    total = int(found["row"].max()) + 1 if len(found["row"]) else 0
    code = _scatter(found["row"], found["code"], total, -1)
    known = np.flatnonzero(code >= 0)
    if (np.diff(code[known]) < 0).any():
        known = known[np.argsort(code[known], kind="stable")]
    scores = _scatter(found["row"], found["value"], total, 0.0)[known]
    _refuse_duplicates(table, _scatter(found["row"], found["print"], total, 0)[known], code[known])
    place = np.zeros(total, dtype=np.int64)
    place[known] = np.arange(len(known))
    judged = table.run(
        "SELECT r.rowid AS row, truth.row AS judged FROM r JOIN known ON r.owner = known.owner "
        "JOIN truth ON truth.code = known.code AND truth.item = r.item"
    ).fetchnumpy()
    asked = place[judged["row"]]
    order = np.argsort(asked)

    def _ids(rows: Ints) -> list[str]:
        wanted = known[rows]
        table.session.register("wanted", {"row": wanted, "spot": np.arange(len(wanted))})
        names = table.run("SELECT spot, item FROM wanted JOIN r ON r.rowid = wanted.row").fetchnumpy()
        return _scatter(names["spot"], names["item"], len(wanted), None).tolist()

    rows = Rows(
        offsets=offsets_of(np.bincount(code[known], minlength=len(judgments.queries)).astype(np.int64)),
        scores=scores,
        asked=asked[order],
        judged=judged["judged"][order].astype(np.int64),
        ids=_ids,
        unknown={query: size for query, size in sizes.items() if query not in judgments.index},
    )
    return hits_of_rows(rows, judgments, ties=request.ties, single_precision=request.single_precision, keep=request.keep)


def _scatter(rows: np.ndarray, values: np.ndarray, total: int, missing: object) -> np.ndarray:
    """(total,) each value at its row."""
    result = np.full(total, missing, dtype=values.dtype)
    result[rows] = values
    return result


def _register_truth(table: Table, judgments: Judgments, present: dict[str, int]) -> None:
    """Makes the tables `known` of queries that both sides have and `truth` of their judged items."""
    codes = [code for code, query in enumerate(judgments.queries) if query in present]
    bounds = judgments.offsets.tolist()
    # An id with bytes that are not UTF-8 is in no such table, and DuckDB would not take it.
    rows = [row for code in codes for row in range(bounds[code], bounds[code + 1]) if _is_utf8(judgments.items[row])]
    owners = np.array([judgments.queries[code] for code in codes], dtype=object)
    table.session.register("known_rows", {"owner": owners, "code": np.array(codes, dtype=np.int64)})
    truth = {
        "code": judgments.query_of_row[rows],
        "item": np.array([judgments.items[row] for row in rows], dtype=object),
        "row": np.array(rows, dtype=np.int64),
    }
    table.session.register("truth_rows", truth)
    for name in ("known", "truth"):
        table.run(f"CREATE TEMP TABLE {name} AS SELECT * FROM {name}_rows")


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refuse_duplicates(table: Table, prints: np.ndarray, code: Ints) -> None:
    """Raises DuplicateItem; hash values only say where to look, the items themselves are compared."""
    mixed = prints * np.uint64(0x9E3779B97F4A7C15) + code.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed.sort()
    if (mixed[1:] == mixed[:-1]).any():
        refuse_duplicates(table, " JOIN known ON r.owner = known.owner")


def refuse_duplicates(table: Table, only: str = "") -> None:
    """Raises DuplicateItem for the item that is the first to come again in its query."""
    found = table.run(
        "SELECT owner, item, rows[1], rows[2] FROM (SELECT r.owner AS owner, item, list_sort(list(r.rowid)) AS rows "
        f"FROM r{only} GROUP BY r.owner, item HAVING count(*) > 1) ORDER BY rows[2] LIMIT 1"
    ).fetchone()
    if found is not None:
        query, item, first, second = found
        what = f"{table.name}: query {query!r} lists item {item!r} twice, in rows {first + 1} and {second + 1}"
        raise DuplicateItem(f"{what}; keep one of them, or say which to keep (first, best).")


def drop_duplicates(table: Table, duplicates: Repeats) -> None:
    """Leaves the first or the best of each item of a query in the table `r`, in its place."""
    if duplicates in ("first", "best"):
        better = "value DESC, " if duplicates == "best" else ""
        chosen = f"row_number() OVER (PARTITION BY owner, item ORDER BY {better}spot) = 1"
        # DuckDB 2.0 fails on windows ordered by rowid itself, so the place becomes a column first.
        table.run("CREATE TEMP TABLE placed AS SELECT rowid AS spot, * FROM r")
        table.run("DROP TABLE r")
        table.run(f"CREATE TEMP TABLE r AS SELECT * EXCLUDE spot FROM placed QUALIFY {chosen} ORDER BY spot")
