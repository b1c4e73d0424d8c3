"""Tables as data frames, which `report/` makes as those of results."""

from typing import Any

from rankwell.core.catalogue import DISPLAYS


class Framed:
    """The data frames of a table that has columns."""

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns by name, each with a cell per row."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas data frame with the columns of `to_columns`; a query without rows is not in it.
        Raises MissingExtra.
        """
        return DISPLAYS["pandas"](self, "")

    def to_polars(self) -> Any:
        """A Polars data frame with the columns of `to_columns`; a query without rows is not in it.
        Raises MissingExtra.
        """
        return DISPLAYS["polars"](self, "")
