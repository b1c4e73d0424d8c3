"""Ways to show a result to whoever holds it in Python, one file per way. Here stands what they read of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rankwell.core.tables.values import Values
from rankwell.report import Row


class Result(Protocol):
    """The part of a result that is displayed."""

    @property
    def summary(self) -> Sequence[Any]:
        """The rows of the summary."""
        ...

    @property
    def values(self) -> Sequence[Values]:
        """The values of single queries."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Notes on the result."""
        ...

    @property
    def interval_notes(self) -> Sequence[str]:
        """The undefined values of the summary."""
        ...

    @property
    def query_attributes(self) -> Sequence[Row]:
        """Further columns of rows of single queries."""
        ...

    @property
    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Tables besides the summary."""
        ...

    def describe(self) -> dict[str, Any]:
        """The rules."""
        ...
