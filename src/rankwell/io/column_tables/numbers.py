"""One column of a table as numbers."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadInput, BadScore
from rankwell.io import Request
from rankwell.io.column_tables.dialects import Dialect
from rankwell.io.column_tables.session import connected, on_disk
from rankwell.io.column_tables.table import Table
from rankwell.store import Head, Source


def sniff_numbers(head: Head, dialect: Dialect) -> float:
    """How surely a file is a table of this kind. Text tables say little of themselves, so that a list of numbers goes first."""
    names = dialect.names(head)
    if not names:
        return 0.0
    if dialect.name in ("parquet", "jsonl"):
        return 0.49
    return 0.2 + 0.1 * (len(names) > 1) + 0.05 * head.name.lower().endswith(dialect.suffixes)


def read_numbers(source: Source, request: Request, *, dialect: Dialect) -> Floats:
    """The named column, or the only one, in the order of the rows.

    Raises BadInput where it is not there, or is not named though there are several; BadScore for the first row without a number.
    """
    with on_disk(source, lines=bool(dialect.delimiters)) as path, connected() as session:
        table = Table(session, source, path, dialect)
        names = list(table.types)
        listed = ", ".join(map(repr, names))
        if request.part and request.part not in names:
            raise BadInput(f"no column {request.part!r}; found are {listed}.")
        if not request.part and len(names) != 1:
            raise BadInput(f"{len(names)} columns; name one, as in {source.name}:{names[-1]}; found are {listed}.")
        chosen = request.part or names[0]
        found = table.run(f"SELECT {table.number(chosen)} AS number FROM {table.source}").fetchnumpy()["number"]
    # DuckDB masks what is NULL; a column that is all NULL has a type of its own.
    numbers = np.ma.filled(np.ma.asarray(found).astype(np.float64), np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise BadScore(f"{source.name}: row {int(wrong[0]) + 1}, column {chosen!r}: no finite number; mend or drop the row.")
    return numbers
