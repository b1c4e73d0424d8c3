"""Columns as tables show them: in parts, of which one is in memory, and as data frames."""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwell.errors import needing


class Heading(str):
    """The name of a column that tables show as it is, such as the name of a measure."""

    __slots__ = ()


class Joined:
    """A column that is made of parts.

    sizes: number of rows of each part.
    part: position of a part -> its rows, made when they are read.
    """

    def __init__(
        self, sizes: Sequence[int], part: Callable[[int], Sequence[Any] | NDArray[Any]]
    ) -> None:
        self._edges, self._part = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), part

    @classmethod
    def repeated(cls, cells: Sequence[Any], sizes: Sequence[int]) -> "Joined":
        """A column of texts, each repeated."""
        return cls(
            sizes,
            lambda place: np.broadcast_to(np.array([cells[place]], dtype=object), sizes[place]),
        )

    def __len__(self) -> int:
        return int(self._edges[-1])

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:].tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_one_part, (self[:],)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            row = range(len(self))[index]
            return self[row : row + 1][0]
        rows = range(len(self))[index]
        first = int(np.searchsorted(self._edges, rows.start, side="right")) - 1
        parts: list[NDArray[Any]] = []
        for number in range(first, int(np.searchsorted(self._edges, rows.stop, side="left"))):
            start = int(self._edges[number])
            cells = self._part(number)[max(0, rows.start - start) : rows.stop - start]
            parts.append(cells if isinstance(cells, np.ndarray) else np.array(cells, dtype=object))
        column = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0)
        return column[:: rows.step]


def _in_one_part(cells: NDArray[Any]) -> Joined:
    """A column as pickle restores it: its parts were made by functions that it cannot write."""
    return Joined([len(cells)], lambda _: cells)


Column = Sequence[Any] | np.ndarray | Joined
Kind = Literal["float", "int", "bool", "text", "nothing"]
FrameColumns = Mapping[str, tuple[Kind, np.ndarray]]
"""The kind and the cells of each column: NaN in floats and None in others where undefined;
`nothing` has no cell.
"""
_POLARS_TYPES: Mapping[Kind, str] = {
    "float": "Float64",
    "int": "Int64",
    "bool": "Boolean",
    "text": "String",
    "nothing": "Null",
}


class Framed:
    """The data frames of a table that has columns."""

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns by name, each with a cell per row."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas data frame with the columns of `to_columns`; a query without rows is not in it.
        Raises MissingExtra.
        """
        return pandas_frame(self._frame_columns())

    def to_polars(self) -> Any:
        """A Polars data frame with the columns of `to_columns`; a query without rows is not in it.
        Raises MissingExtra.
        """
        return polars_frame(self._frame_columns())

    def _frame_columns(self) -> FrameColumns:
        return {
            name: frame_column("float" if name in ("score", "grade") else "text", cells)
            for name, cells in self.to_columns().items()
        }


def frame_column(kind: Kind, cells: Any) -> tuple[Kind, np.ndarray]:
    """A column of a data frame. kind: what its cells are."""
    if kind == "float":
        return kind, number_column(cells)
    if kind == "text":
        return kind, text_column([None if cell is None else str(cell) for cell in cells])
    return kind, np.array(cells, dtype=object)


def text_column(column: Column) -> np.ndarray:
    """The column as objects; what UTF-8 cannot hold is escaped."""
    cells: Any = column[:] if isinstance(column, Joined) else column
    texts: Sequence[Any] = cells.tolist() if isinstance(cells, np.ndarray) else cells
    try:
        if not all(map(str.isascii, filter(None, texts))):
            # Most rows share their texts, and each is looked at once.
            "".join({*texts} - {None}).encode()
    except UnicodeEncodeError:
        cells = [
            None if text is None else text.encode("utf-8", "backslashreplace").decode()
            for text in texts
        ]
    return (
        cells
        if isinstance(cells, np.ndarray)
        else np.fromiter(cells, dtype=object, count=len(cells))
    )


def number_column(column: Column) -> np.ndarray:
    """The column as numbers, NaN for None."""
    column = column[:] if isinstance(column, Joined) else column
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    return np.array(column, dtype=np.float64)


def pandas_frame(columns: FrameColumns) -> Any:
    """A pandas data frame; undefined numbers are NaN. Raises MissingExtra without pandas."""
    pandas = _package("pandas")
    series = {
        name: pandas.Series(_without_gaps(kind, cells)) for name, (kind, cells) in columns.items()
    }
    return pandas.DataFrame(series)


def polars_frame(columns: FrameColumns) -> Any:
    """A Polars data frame; undefined cells are null. Raises MissingExtra without Polars."""
    polars = _package("polars")
    series = [
        polars.Series(
            name,
            cells if kind == "float" else cells.tolist(),
            dtype=getattr(polars, _POLARS_TYPES[kind]),
            nan_to_null=kind == "float",
        )
        for name, (kind, cells) in columns.items()
    ]
    return polars.DataFrame(series)


def _package(name: str) -> Any:
    with needing(f"this data frame is made by {name}, which is not installed: pip install {name}."):
        return importlib.import_module(name)


def _without_gaps(kind: Kind, cells: np.ndarray) -> np.ndarray:
    """The column for pandas, which has integers and booleans without gaps only."""
    if kind not in ("int", "bool"):
        return cells
    if None in cells.tolist():
        return number_column(cells) if kind == "int" else cells
    return cells.astype(np.int64 if kind == "int" else np.bool_)
