"""Columns in parts, of which only those that are being read are in memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class Joined:
    """A column that is made of parts. sizes: the number of rows of each. part: the rows of one by
    its place, made when read.
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
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_one_part, (self[:],)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> NDArray[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
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
