"""Ways to show a result to whoever holds it in Python, one file per way. Here stands what they read of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rankwell.core.tables.values import Values
from rankwell.report import Row


class Result(Protocol):
    """What is shown of a result."""

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
        """What is to be said of it."""
        ...

    @property
    def interval_notes(self) -> Sequence[str]:
        """What the summary leaves undefined."""
        ...

    @property
    def query_attributes(self) -> Sequence[Row]:
        """What rows of single queries say besides."""
        ...

    @property
    def tables(self) -> Mapping[str, Sequence[Row]]:
        """What there is besides the summary."""
        ...

    def describe(self) -> dict[str, Any]:
        """The rules."""
        ...
