"""The rows of a Parquet file as they are, lists and objects in cells included."""

from typing import Any

from rankwell.core.tables.names import parquet
from rankwell.errors import BadInput
from rankwell.io import Request
from rankwell.io.column_tables.session import connected, first_line, on_disk
from rankwell.store import Source


def read_records(source: Source, request: Request) -> list[dict[str, Any]]:  # noqa: ARG001 - rows leave nothing to ask for
    """Every row as an object column -> value, in order. Raises BadInput for a damaged file."""
    import duckdb

    try:
        with on_disk(source, lines=False) as path, connected() as session:
            found = session.execute(f"SELECT * FROM {parquet(path)}")
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    except duckdb.Error as error:
        raise BadInput(
            f"{source.name}: the Parquet data is damaged or ends early ({first_line(error)}); fetch it again."
        ) from error
