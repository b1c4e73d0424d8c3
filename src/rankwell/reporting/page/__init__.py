"""The page: one HTML file that opens from disk; here are its source and what its files share.
docs/reference/results.md describes its data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.catalogue import ResultKind, result_kind
from rankwell.data.findings import Finding
from rankwell.data.options import shown_digits
from rankwell.data.registry import Better
from rankwell.data.tables import Floats, Values
from rankwell.reporting import Row, Rules

NAME = "report.html"

MOST_QUERIES, MOST_RESULTS, MOST_RELEVANT = 500, 20, 200
"""Number of queries with lists, of results in each list, and of relevant items beyond them."""

SNIPPET = 300
"""Number of characters of an item's text that are shown."""

_DIGITS, _DECIMALS = 7, 5


Facts = dict[str, Any]
"""An object of the page's data; docs/reference/results.md describes them."""


class PageFolder(NamedTuple):
    """A folder of results, as a page reads it.

    path: path of the folder.
    names: run of the folder -> its name on the page.
    attributes: attribute of queries -> its name on the page, for attributes that are renamed.
    """

    path: Path
    names: Mapping[str, str]
    attributes: Mapping[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class PageSource:
    """The data that a page is written from.

    title: the heading of the page.
    protocol: the kind of result, which decides the view of the page.
    values: values of single queries, without differences.
    row_attributes: further columns of each element of `values` (`direction`).
    rows: the summary, differences included.
    folders: the folders that hold the lists, texts and pictures.
    verdicts: sentences, of which the first is the headline.
    pair: the two runs that the page compares; the first is subtracted from the second.
    failures: rows with the number of queries that each stage failed, and why.
    groups: rows of differences in groups of queries.
    settings: rows with the parameters of runs that are settings of an engine, and the settings
        chosen among them.
    unanswered: rows of the queries without an answer.
    findings: findings on the results, without repetition.
    rules: the choices that decided numbers, those of a folder or of a comparison of several.
    inputs: name of an input -> its content hash.
    better: measure -> the direction of better values; the definition has it for measures that are
        absent.
    texts: item -> its text.
    query_texts: columns of further attributes of queries, as in queries.parquet.
    pictures: function that returns the `data:` addresses for ids of items, without items that have
        no picture; None for no further pictures.
    seed: decides the draw of the queries with lists, where not all lists fit.
    """

    title: str
    protocol: str
    values: Sequence[Values]
    row_attributes: Sequence[Row]
    rows: Sequence[Row]
    folders: Sequence[PageFolder]
    verdicts: Sequence[str] = ()
    pair: tuple[str, str] | None = None
    failures: Sequence[Row] = ()
    groups: Sequence[Row] = ()
    settings: Sequence[Row]
    unanswered: Sequence[Row]
    findings: Sequence[Finding] = ()
    rules: Rules = field(default_factory=dict[str, Any])
    inputs: Mapping[str, str]
    better: Mapping[str, Better]
    texts: Mapping[str, str]
    query_texts: Mapping[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    pictures: Callable[[Sequence[str]], Mapping[str, str]] | None
    seed: int

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, in order."""
        return tuple(dict.fromkeys(column.run for column in self.values))

    @property
    def own_rows(self) -> list[Row]:
        """The rows of runs themselves, without differences and changes against another run."""
        return [row for row in self.rows if row.get("against") is None]

    @property
    def kind(self) -> ResultKind:
        """The kind of the results."""
        return result_kind(self.protocol)

    @property
    def is_keyed(self) -> bool:
        """Whether results have a key of right answers, so that no other item is unjudged."""
        return self.kind.is_keyed or bool(self.rules.get("key"))

    @cached_property
    def query_columns(self) -> tuple[str, ...]:
        """The columns that distinguish rows of one measure (`direction`)."""
        return tuple(
            dict.fromkeys(name for attributes in self.row_attributes for name in attributes)
        )


def rounded(values: Floats) -> Floats:
    """The numbers to 7 significant digits, and to 5 decimals at least, as a page holds them; NaN
    stays, as do those from 1e9 on, and all numbers of a page with decimals of its own.

    Those that have become a tie of the 2, 3 or 4 decimals that are printed stay in full, so that
    nothing is rounded twice.
    """
    if shown_digits() is not None:
        return values
    size = np.abs(values)
    is_scalable = np.isfinite(values) & (size > 1e-15) & (size < 1e9)
    powers = np.maximum(
        _DIGITS - 1 - np.floor(np.log10(np.where(is_scalable, size, 1.0))).astype(np.int64),
        _DECIMALS,
    )
    # A power of ten is exact up to 22, so that dividing an integer by it gives the nearest number
    # to the short decimal.
    power = 10.0**powers
    short = np.where(is_scalable, np.rint(values * power) / power, values)
    ties = np.abs(np.abs(short[..., None] * [200.0, 2_000.0, 20_000.0]) % 2 - 1) < 1e-6
    return np.where(ties.any(axis=-1), values, short)


def cells(values: Floats) -> list[Any]:
    """The numbers for JSON, integers without a point; NaN is null. Lists of lists for arrays of
    more dimensions.
    """
    short = rounded(values)
    is_integer = (short == np.rint(short)) & (np.abs(short) < 2**53)
    ready = short.astype(object)
    ready[is_integer] = short[is_integer].astype(np.int64).astype(object)
    ready[~np.isfinite(short)] = None
    return ready.tolist()
