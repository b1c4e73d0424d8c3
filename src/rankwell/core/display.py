"""Displays of results in a notebook or on request, found by name in `report/`, which results do not
import.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType, MethodType
from typing import Any

from rankwell.core.arithmetic import own_arithmetic
from rankwell.core.catalogue import DISPLAYS, Catalogue

display = partial(DISPLAYS.register, entry_of=own_arithmetic)
"""Registers a function of a result as the display of this name."""

STEPS: Catalogue[Callable[..., Any]] = Catalogue("workflow", "step")
"""The steps that follow results, found by name in `workflow/`: compare, gate, save, report."""


class Step:
    """A method that `workflow/` has under the same name; its module is imported when the method is
    first used.
    """

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, result: Any, _: type | None = None) -> Callable[..., Any]:
        step = own_arithmetic(STEPS[self._name])
        return step if result is None else MethodType(step, result)


class Heading(str):
    """The name of a column that tables show as it is, such as the name of a measure."""

    __slots__ = ()


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which a notebook draws without any further package;
    `altair.Chart.from_dict` loads it.
    """

    @property
    def mime(self) -> str:
        """The type by which notebooks know it: that of its version of Vega-Lite."""
        version = str(self["$schema"]).rpartition("/v")[2].partition(".")[0]
        return f"application/vnd.vegalite.v{version}+json"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The specification, and a drawing for notebooks that know another version or none."""
        parts = {
            "text/plain": lambda: f"<Chart {self['title']['text']!r}, a Vega-Lite specification>",
            "image/svg+xml": lambda: DISPLAYS["svg"](self),
            self.mime: lambda: dict(self),
        }
        return _requested(parts, include, exclude)


class Displayable:
    """The interface of all results for display."""

    tables: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({})
    """Further rows by name."""

    def chart(self, name: str | None = None) -> Chart:
        """A chart as a Vega-Lite specification: `intervals`, `per_query`, and of a comparison
        `differences` and `deltas`.

        name: by default the main one. A notebook draws it; `altair.Chart.from_dict` loads it.
        Raises UnknownName for another name, BadUsage where this result has nothing to draw in it.
        """
        return DISPLAYS["chart"](self, name)

    def to_columns(self, table: str = "summary") -> dict[str, list[Any]]:
        """The columns of the `summary`, of the values `per_query`, or of one of `tables`. Undefined
        is None.

        Raises UnknownName for another table.
        """
        return DISPLAYS["columns"](self, table)

    def to_pandas(self, table: str = "summary") -> Any:
        """A pandas data frame in long form: the `summary`, the values `per_query`, or one of
        `tables`. Undefined is NaN.

        Raises UnknownName for another table, MissingExtra without pandas.
        """
        return DISPLAYS["pandas"](self, table)

    def to_polars(self, table: str = "summary") -> Any:
        """A Polars data frame in long form: the `summary`, the values `per_query`, or one of
        `tables`. Undefined is null.

        Raises UnknownName for another table, MissingExtra without Polars.
        """
        return DISPLAYS["polars"](self, table)

    def _repr_html_(self) -> str:
        """The tables with the line of rules, for notebooks."""
        return DISPLAYS["html"](self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Text, the tables, and the main chart where there is one."""
        parts: dict[str, Callable[[], Any]] = {
            "text/plain": lambda: repr(self),
            "text/html": self._repr_html_,
        }
        main: Chart | None = DISPLAYS["main chart"](self)
        if main is not None:
            parts[main.mime] = lambda: dict(main)
        return _requested(parts, include, exclude)


def _requested(
    parts: Mapping[str, Callable[[], Any]], include: Any, exclude: Any
) -> dict[str, Any]:
    """The parts that a notebook requests, by type of content: all or those included, without those
    excluded.
    """
    names = (
        name
        for name in parts
        if (not include or name in include) and (not exclude or name not in exclude)
    )
    return {name: parts[name]() for name in names}
