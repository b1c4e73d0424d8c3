"""Formats, one subject a file: bytes to tables and back, `files` in any of them; and the one place
that opens DuckDB.
"""

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput


@cache
def _database(threads: int | None) -> Any:
    """One for all files; opening one takes longer than reading a small file."""
    import atexit
    import tempfile

    import duckdb

    # What is open when Python takes modules apart, DuckDB reports on standard error.
    atexit.register(_database.cache_clear)
    safe: dict[str, Any] = {
        "preserve_insertion_order": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        # With a sample, DuckDB guesses the type of text columns from their first cells.
        "pandas_analyze_sample": 0,
        # With statistics, DuckDB decides `id = ''` by the bounds that a Parquet file states, which
        # may be wrong.
        "disabled_optimizers": "statistics_propagation",
        # DuckDB makes the folder where it has to spill, and removes it.
        "temp_directory": str(Path(tempfile.gettempdir(), f"rankwell-{os.urandom(8).hex()}")),
    }
    return duckdb.connect(
        ":memory:", config=safe if threads is None else {**safe, "threads": threads}
    )


def connected(threads: int | None = None) -> Any:
    """A session in memory that keeps the order of rows, reaches no network and spills into the
    system's folder.

    Its temporary tables are its own, and end with it. threads: one writes the same bytes on every
    machine.
    """
    import duckdb

    quiet = "SET enable_progress_bar = false"
    session = _database(threads).cursor()
    try:
        session.execute(quiet)
    except duckdb.FatalException:
        # A file that breaks DuckDB ends its database; the next file has a new one.
        _database.cache_clear()
        remote_tables.cache_clear()
        session = _database(threads).cursor()
        session.execute(quiet)
    return session


@cache
def remote_tables() -> bool:
    """Lets DuckDB read objects of remote places by the names that `store.remote.file_name`
    gives them.
    """
    from rankwell.store.remote import remote_files

    _database(None).register_filesystem(remote_files())
    return True


@contextmanager
def undamaged(prefix: str = "", advice: str = "fetch it again") -> Generator[None]:
    """Raises BadInput, beginning with the place, where Parquet data is damaged."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if "rankwell.store.remote" in sys.modules:
            from rankwell.store.remote import failure

            if (reason := failure()) is not None:
                raise reason from error
        raise BadInput(
            f"{prefix}the Parquet data is damaged or ends early ({first_line(error)}); {advice}."
        ) from error


def first_line(message: Exception | str) -> str:
    """The first line of a message, without its explanations; of an error that ended DuckDB's
    database, the first line of that.
    """
    original = re.search(r'^Original error: "(.*)', str(message), re.MULTILINE)
    return (original[1].rstrip('"') if original else str(message)).split("\n")[0]
