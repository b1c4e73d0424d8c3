"""Ranges of the rows of a Parquet file of vectors, local or remote: only the columns and row groups
that have them are read.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.tables.columns import parquet, quoted, sql_text
from rankwell.core.tables.matrices import Vectors, as_real, item_ids
from rankwell.errors import BadInput
from rankwell.io import connected, remote_tables, undamaged
from rankwell.io.column_tables.dialects import glimpse_of
from rankwell.io.column_tables.numeric import fill, id_column, vector_column
from rankwell.io.column_tables.plain_files import plain_path
from rankwell.store import naming, remote_url

_IDS_AT_ONCE = 1 << 16


class ParquetVectors:
    """The vectors of a Parquet file and their ids. breaks: the first row of each row group, and the
    end.

    Raises BadInput for a damaged file, and for vectors of several lengths as far as the file's
    metadata show them.
    """

    def __init__(self, place: str, part: str) -> None:
        self._path_or_url = place
        with self._opened() as (session, name):
            types, names, _ = glimpse_of(session, name)
            vector_name = vector_column(types, part, Path(place).stem)
            self._name, self._column, ids = (
                vector_name,
                quoted(names[vector_name]),
                id_column(types),
            )
            self._ids = None if ids is None else quoted(names[ids])
            lengths = session.execute(
                "SELECT row_group_id, row_group_num_rows, num_values FROM "
                f"parquet_metadata({sql_text(name)}) WHERE path_in_schema LIKE ? || ', %' "
                "ESCAPE '\\' ORDER BY 1",
                [vector_name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")],
            ).fetchall()
            none = session.execute(
                f"SELECT unnest({self._column}) AS number FROM {parquet(name)} LIMIT 0"
            ).fetchnumpy()["number"]
        rows, values = (sum(row_group[at] for row_group in lengths) for at in (1, 2))
        if rows and values % rows:
            raise BadInput(
                f"{place}, column {vector_name!r}: {values} numbers in {rows} rows; vectors have "
                "one length."
            )
        self.dtype = as_real(np.asarray(none)[:, None]).dtype
        self.shape = (rows, values // max(rows, 1))
        self.breaks = [
            0,
            *np.cumsum([row_group[1] for row_group in lengths], dtype=np.int64).tolist(),
        ]

    @property
    def has_ids(self) -> bool:
        """Whether there is a column of ids."""
        return self._ids is not None

    @contextmanager
    def _opened(self) -> Generator[tuple[Any, Path | str]]:
        """A session, and the name of the file in it."""
        with naming(self._path_or_url), undamaged(f"{self._path_or_url}: "), connected() as session:
            if url := remote_url(self._path_or_url):
                from rankwell.store.file_system import file_name

                remote_tables()
                yield session, file_name(url)
                return
            with plain_path(Path(self._path_or_url)) as path:
                yield session, path

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in memory. Raises BadInput that names the first row without a
        vector of that length.
        """
        vectors: Vectors = np.empty((stop - start, self.shape[1]), dtype=self.dtype)
        ends = [row for row in self.breaks if start < row < stop]
        with self._opened() as (session, name):
            for first, end in zip([start, *ends], [*ends, stop], strict=True):
                # In memory first, so that no byte is read twice.
                row_range = f"file_row_number >= {first} AND file_row_number < {end}"
                rows = (
                    f"SELECT file_row_number, {self._column} AS vector FROM "
                    f"{parquet(name, numbered=True)} WHERE {row_range}"
                )
                session.execute(f"CREATE OR REPLACE TEMP TABLE piece AS {rows}")
                row_range = fill(
                    session, "piece", self._name, "vector", first=first, dimension=self.shape[1]
                )
                vectors[first - start : end - start] = as_real(row_range)
        return vectors

    def ids(self, start: int = 0) -> Iterator[str]:
        """The ids from a row on. Raises BadInput that names the first row without one."""
        with self._opened() as (session, name):
            table = parquet(name, numbered=True)
            id_rows = session.execute(
                f"SELECT {self._ids} FROM {table} WHERE file_row_number >= {start}"
            )
            while piece := id_rows.fetchmany(_IDS_AT_ONCE):
                yield from item_ids(value for (value,) in piece)
