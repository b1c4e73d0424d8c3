"""Columns of a table one by one: its ids, its numbers, and the text of a cell for messages."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadInput
from rankwell.io.column_tables.dialects import CSV, JSONL, PAR1, PARQUET, TSV
from rankwell.io.column_tables.table import ColumnTable, opened_table
from rankwell.io.formats import choose_format
from rankwell.store import Head, Source, naming


class TableCells(NamedTuple):
    """An open table of a file. name: the file's."""

    name: str
    table: ColumnTable

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.types)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.table.run(f"SELECT count(*) FROM {self.table.source}")[0][0]

    def cell(self, column: str, row: int) -> Any:
        """The content of a cell. row: from 0."""
        return self.table.run(
            f"SELECT {self.table.column(column)} FROM {self.table.source} LIMIT 1 OFFSET {row}"
        )[0][0]

    def ids(self, column: str) -> Sequence[str | None]:
        """The strings and integers of a column as strings; None for anything else."""
        return self.table.ids(column)

    def numbers(self, column: str) -> Floats:
        """The numbers of a column; NaN for anything else."""
        found = self.table.run(
            f"SELECT {self.table.number(column)} AS value FROM {self.table.source}", columns=True
        )["value"]
        self.table.refuse_lost(len(found))
        # DuckDB masks what is NULL; a column that is all NULL has a type of its own.
        return np.ma.filled(np.ma.asarray(found).astype(np.float64), np.nan)


@contextmanager
def opened_cells(place: str | Path) -> Generator[TableCells]:
    """The table in a file: CSV, TSV, Parquet or JSON lines. Raises BadInput for any other file."""
    source = Source(place)
    head = Head.of(source)
    if not head.raw.startswith(PAR1):
        head.refuse_foreign()
    form = choose_format(head, "column", None, "").name
    dialect = {each.name: each for each in (CSV, TSV, PARQUET, JSONL)}.get(form)
    if dialect is None:
        raise BadInput(
            f"{source.name}: {head.seen}; expected a table with named columns: CSV, TSV, "
            "Parquet or JSON lines."
        )
    with naming(source.name), opened_table(source, dialect) as table:
        yield TableCells(source.name, table)
