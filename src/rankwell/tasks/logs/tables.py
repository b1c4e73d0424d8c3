"""Tables with named columns, as logs, policies, models and clicks are: ids and numbers, checked;
errors name the row.
"""

import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.core.tables.columns import id_text
from rankwell.errors import BadInput, BadScore, NothingToEvaluate, kind_of, shown

WORDS: dict[str, tuple[str, ...]] = {
    "query": (
        "query",
        "queryid",
        "qid",
        "round",
        "roundid",
        "slate",
        "slateid",
        "session",
        "sessionid",
        "impression",
        "impressionid",
    ),
    "user": (
        "user",
        "userid",
        "visitor",
        "visitorid",
        "customer",
        "customerid",
        "member",
        "memberid",
        "device",
        "deviceid",
    ),
    "list": ("list", "listid", "query", "queryid", "qid"),
    "impression": ("impression", "impressionid"),
    "item": ("item", "itemid", "action", "arm", "docno", "docid", "doc"),
    "position": ("position", "slot", "rank"),
    "reward": ("reward", "click", "clicks", "clicked"),
    "propensity": ("propensity", "propensityscore", "pscore"),
    "probability": ("probability", "prob", "propensity", "propensityscore", "pscore"),
    "estimate": ("estimate", "estimatedreward", "expectedreward", "prediction", "reward"),
}
"""Content of a column -> the names that it goes by, in the order of preference."""


class Range(NamedTuple):
    """The numbers that a column may hold. above: the least, which it may not be itself. whole:
    integers. words: for messages.
    """

    above: float = -math.inf
    least: float = -math.inf
    most: float = math.inf
    words: str = "a finite number"
    whole: bool = False


FINITE = Range()
PROPENSITY = Range(above=1e-300, most=1, words="a probability above 0, at most 1")
CLICKED = Range(
    least=0, most=1, words="1 for a clicked item or 0 for one that was only shown", whole=True
)
PROBABILITY = Range(least=0, most=1, words="a probability from 0 to 1")


class NamedColumns(NamedTuple):
    """A table. cell: (column, row) -> what is written there. all_ids, all_numbers: column ->
    values, None or NaN for others.
    """

    name: str
    names: tuple[str, ...]
    cell: Callable[[str, int], Any]
    all_ids: Callable[[str], Sequence[str | None]]
    all_numbers: Callable[[str], Floats]

    def find(self, what: str, chosen: Mapping[str, str]) -> str | None:
        """The column that holds something: the chosen one, else that with the first of its usual
        names.

        Raises BadInput for a chosen column that is not there, and for two columns of one name.
        """
        if what in chosen:
            return self.known(chosen[what])
        for word in WORDS[what]:
            named = [name for name in self.names if re.sub(r"[\s_-]", "", name.lower()) == word]
            if len(named) > 1:
                raise BadInput(
                    f"{self.name}: columns {named[0]!r} and {named[1]!r} mean the same; "
                    "rename or drop one of them."
                )
            if named:
                return named[0]
        return None

    def need(self, what: str, chosen: Mapping[str, str], advice: str) -> str:
        """The column that holds something. Raises BadInput with the advice where there is none."""
        found = self.find(what, chosen)
        if found is None:
            words = ", ".join(WORDS[what])
            raise BadInput(
                f"{self.name}: no column for the {what} ({words}); found are {self.listed}; "
                f"{advice}."
            )
        return found

    def known(self, column: str) -> str:
        """The column of this name. Raises BadInput that lists those that are there."""
        if column not in self.names:
            raise BadInput(f"{self.name}: no column {column!r}; found are {self.listed}.")
        return column

    @property
    def listed(self) -> str:
        """The names of the columns, for messages."""
        return ", ".join(map(repr, self.names)) or "none"

    def ids(self, column: str) -> list[str]:
        """The ids of a column. Raises BadInput for the first row without one."""
        found = self.all_ids(column)
        if None in found:
            raise BadInput(
                self.wrong(column, list(found).index(None), "an id, a string or an integer")
            )
        return [each for each in found if each is not None]

    def numbers(self, column: str, within: Range) -> Floats:
        """The numbers of a column. Raises BadScore for the first row without one in the range."""
        found = self.all_numbers(column)
        with np.errstate(invalid="ignore"):
            fits = (
                np.isfinite(found)
                & (found > within.above)
                & (found >= within.least)
                & (found <= within.most)
            )
            fits &= (found == np.rint(found)) | (not within.whole)
        if not fits.all():
            raise BadScore(self.wrong(column, int(np.flatnonzero(~fits)[0]), within.words))
        return found

    def wrong(self, column: str, row: int, expected: str) -> str:
        """The message on a cell."""
        value = self.cell(column, row)
        what = "nothing" if value is None or value == "" else shown(value)
        return (
            f"{self.name}: row {row + 1}, column {column!r}: {what}; expected {expected}. Correct "
            "or drop the row."
        )


@contextmanager
def opened_columns(place: Any, name: str) -> Generator[NamedColumns]:
    """The table of a file (CSV, TSV, Parquet, JSON lines), or of a mapping column -> values. name:
    of what is not a file.

    Raises BadInput for a file that is not such a table and for columns of different lengths,
    NothingToEvaluate without rows.
    """
    if isinstance(place, Mapping):
        yield _of_mapping(place, name)
        return
    if not isinstance(place, (str, Path)):
        raise BadInput(
            f"{name}: {kind_of(place)}; expected a file, or a mapping of column names to "
            "their values."
        )
    # DuckDB takes long to import, and columns in Python do not need it.
    from rankwell.io.column_tables.cells import opened_cells

    with opened_cells(place) as cells:
        if not cells.n:
            raise NothingToEvaluate(f"{cells.name}: the table has no rows.")
        yield NamedColumns(cells.name, cells.names, cells.cell, cells.ids, cells.numbers)


def _of_mapping(columns: Mapping[Any, Any], name: str) -> NamedColumns:
    for column, values in columns.items():
        if (
            not isinstance(column, str)
            or isinstance(values, (str, bytes))
            or not hasattr(values, "__len__")
        ):
            raise BadInput(
                f"{name}: column {shown(column)} holds {kind_of(values)}; expected names of "
                "columns, each with a list."
            )
    found = {column: list(values) for column, values in columns.items()}
    sizes = {column: len(values) for column, values in found.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{column!r} {size}" for column, size in sizes.items())
        raise BadInput(
            f"{name}: the columns have different lengths ({listed}); expected a value per row "
            "in each."
        )
    if not any(sizes.values()):
        raise NothingToEvaluate(f"{name}: the table has no rows.")

    def _ids(column: str) -> list[str | None]:
        return [id_text(value) or None for value in found[column]]

    def _numbers(column: str) -> Floats:
        return np.array([_number(value) for value in found[column]], dtype=np.float64)

    return NamedColumns(name, tuple(found), lambda column, row: found[column][row], _ids, _numbers)


def _number(value: object) -> float:
    """The number, NaN for what is none and for one beyond float64."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.number)):
        return math.nan
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except (OverflowError, TypeError, ValueError):
        return math.nan
