"""The tables of result folders, joined to the page's queries and runs: what is known of queries,
and what lists hold.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.columns import parquet
from rankwell.data.tables import Bools, Floats, Ints, positions_by_id
from rankwell.io import undamaged
from rankwell.io.result_folder import (
    AGAIN,
    DETAIL_TYPES,
    DETAILS,
    QUERIES,
    column_types,
    read_table,
)
from rankwell.reporting.page import MOST_RELEVANT, MOST_RESULTS, PageFolder, cells

PART = "direction"
"""The attribute that distinguishes two queries of one id: a column of queries.parquet, a word in
the details of results.
"""

NEAR = 10
"""Number of first results that are checked for judgments."""


class Overview(NamedTuple):
    """Properties of the lists of each run and query, in arrays of (runs, queries).

    cut: the cut-off that `tied` is about; None where no measure has one.
    has_rows: whether there is any row.
    retrieved: whether any row has a rank.
    n_relevant: number of relevant items.
    first_rank: rank of the first relevant item; NaN where there is none.
    n_near: number of items among the first 10.
    n_unjudged: number of unjudged items among the first 10.
    tied: whether items of different grades share the score at the cut-off, on both of its sides.
    """

    cut: int | None
    has_rows: Bools
    retrieved: Bools
    n_relevant: Ints
    first_rank: Floats
    n_near: Ints
    n_unjudged: Ints
    tied: Bools


class Tables:
    """The tables of all folders; a query is its id and its part (`t2v`), the empty text where ids
    distinguish queries.
    """

    def __init__(self, folders: Sequence[PageFolder], runs: Sequence[str], session: Any) -> None:
        self._folders, self._runs, self._session = folders, runs, session
        self._lists = {
            index: path
            for index, folder in enumerate(folders)
            if (path := folder.path / DETAILS).is_file()
        }
        self._shape = (len(runs), 0)

    def columns(self, name: str) -> list[dict[str, list[Any]]]:
        """The columns of each folder's table of this name, none where it has none, with runs and
        attributes called as here.
        """
        tables: list[dict[str, list[Any]]] = []
        for folder in self._folders:
            path = folder.path / name
            table = read_table(path) if path.is_file() else {}
            if "of" in table:
                table["of"] = [folder.names.get(run, run) for run in table["of"]]
            if name == QUERIES:
                table = {
                    folder.attributes.get(column, column): cells for column, cells in table.items()
                }
            tables.append(table)
        return tables

    def join(self, queries: Sequence[tuple[str, str]]) -> bool:
        """Joins the lists to the page's queries; False where no folder has any."""
        if not self._lists:
            return False
        for path in self._lists.values():
            column_types(path)
        self._shape = (len(self._runs), len(queries))
        run_index = positions_by_id(self._runs)
        run_rows = [
            (index, old, run_index[new])
            for index, folder in enumerate(self._folders)
            for old, new in folder.names.items()
            if new in run_index
        ]
        query_rows = [(*query_key, position) for position, query_key in enumerate(queries)]
        self._register("runs_here", ("folder", "run", "place"), run_rows, texts=("run",))
        self._register(
            "queries_here", ("query", "part", "place"), query_rows, texts=("query", "part")
        )
        same_part = (
            f" AND q.part = coalesce(json_extract_string(d.detail, '$.{PART}'), '')"
            if any(part for _, part in queries)
            else ""
        )
        parts = " UNION ALL ".join(
            f"SELECT {index} AS folder, {', '.join(DETAIL_TYPES)}, file_row_number AS line "
            f"FROM {parquet(path, numbered=True)}"
            for index, path in self._lists.items()
        )
        with undamaged(f"{self._files}: ", AGAIN):
            self._session.execute(
                "CREATE TEMP VIEW lists AS SELECT q.place AS query, r.place AS run, d.item, "
                "CAST(d.rank AS DOUBLE) AS rank, "
                f"d.score, d.grade, d.state, d.detail, d.line FROM ({parts}) d "
                "JOIN runs_here r ON r.folder = d.folder AND r.run = d.run JOIN queries_here "
                f"q ON q.query = d.query{same_part}"
            )
        return True

    def overview(self, cut: int | None) -> Overview:
        """The properties of all lists; `cut` is the rank behind which ties are looked for, None for
        no such place.
        """
        edge = "NULL" if cut is None else f"max(score) FILTER (rank = {cut})"
        below = "NULL" if cut is None else f"max(score) FILTER (rank = {cut + 1})"
        graded = "CASE WHEN state = 'relevant' THEN grade ELSE 0 END"
        # A tie of items of one grade decides nothing.
        ties = (
            f"SELECT query, run, TRUE AS tied FROM lists JOIN (SELECT query, run, {edge} AS "
            "edge FROM lists GROUP BY query, run "
            f"HAVING {edge} = {below}) USING (query, run) WHERE rank IS NOT NULL AND score = edge "
            f"GROUP BY query, run HAVING min({graded}) < max({graded})"
        )
        counts = self._numpy(
            f"WITH ties AS ({ties}) SELECT query, run, count(*) FILTER (state = 'relevant') "
            "AS n_relevant, "
            "min(rank) FILTER (state = 'relevant') AS first_rank, "
            f"count(*) FILTER (rank <= {NEAR}) AS n_near, count(*) FILTER (state = 'unjudged' "
            f"AND rank <= {NEAR}) AS n_unjudged, "
            "count(rank) > 0 AS retrieved, coalesce(bool_or(tied), FALSE) AS tied "
            "FROM lists LEFT JOIN ties USING (query, run) GROUP BY query, run"
        )
        positions = (counts["run"].astype(np.int64), counts["query"].astype(np.int64))
        overview = Overview(
            cut,
            *(
                np.zeros(self._shape, dtype=kind)
                for kind in (bool, bool, int, float, int, int, bool)
            ),
        )
        overview.first_rank[:] = np.nan
        overview.has_rows[positions] = True
        for name in ("retrieved", "n_relevant", "n_near", "n_unjudged", "tied"):
            getattr(overview, name)[positions] = counts[name]
        overview.first_rank[positions] = _floats(counts["first_rank"])
        return overview

    def lists_of(self, queries: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        """Rows of query, run, item, state, detail, rank, score, grade, in the order of query, run
        and rank.

        They are the first results of these queries, every relevant item, and junk among the first;
        what was not found is last.
        """
        self._register("chosen", ("query",), [(query,) for query in queries])
        columns = self._numpy(
            f"SELECT {', '.join(DETAIL_TYPES)} FROM lists SEMI JOIN chosen USING (query) "
            f"WHERE rank <= {MOST_RESULTS} OR state = 'relevant' OR (state = 'junk' AND score "
            "IS NOT NULL) "
            f"QUALIFY coalesce(rank, {MOST_RESULTS + 1}) <= {MOST_RESULTS} OR row_number() OVER "
            f"(PARTITION BY query, run, state, coalesce(rank, {MOST_RESULTS + 1}) <= "
            f"{MOST_RESULTS} "
            f"ORDER BY rank NULLS LAST, item) <= {MOST_RELEVANT} "
            "ORDER BY query, run, rank NULLS LAST, item, line"
        )
        text_columns = [
            columns[name].tolist() for name in ("query", "run", "item", "state", "detail")
        ]
        return zip(
            *text_columns,
            *(cells(_floats(columns[name])) for name in ("rank", "score", "grade")),
            strict=True,
        )

    def _register(
        self,
        name: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        texts: Sequence[str] = (),
    ) -> None:
        """Makes a table of rows of integers, and of texts in the columns `texts`."""
        kinds = {column: object if column in texts else np.int64 for column in columns}
        ready = {
            column: np.array([row[index] for row in rows], dtype=kinds[column])
            for index, column in enumerate(columns)
        }
        self._session.register(f"{name}_columns", ready)
        self._session.execute(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM {name}_columns"
        )
        self._session.unregister(f"{name}_columns")

    def _numpy(self, sql: str) -> dict[str, Any]:
        with undamaged(f"{self._files}: ", AGAIN):
            return self._session.execute(sql).fetchnumpy()

    @property
    def _files(self) -> str:
        return ", ".join(map(str, self._lists.values()))


def _floats(column: Any) -> Floats:
    return np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)
