"""Interleaved lists and the clicks on them -> a comparison of the two runs, impression by
impression.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from rankwell.core.options import Doc, takes_options
from rankwell.core.tables import Values, sort_ids
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, DuplicateItem, NothingToEvaluate, kind_of, shown
from rankwell.experiments.comparison.data import Attribute, ComparisonOptions, Origin, Test
from rankwell.io.records import load_columns
from rankwell.results import ComparisonResults, compare_values
from rankwell.stats import Intervals
from rankwell.store import Source, sources_of
from rankwell.tasks.logs.credit import Credit, credit
from rankwell.tasks.logs.interleaving import MARKS, METHODS, InterleavedList, Method
from rankwell.tasks.logs.measures.interleaving import CREDIT, WINS
from rankwell.tasks.logs.tables import CLICKED, WORDS


@dataclass(frozen=True, kw_only=True)
class InterleavingTestOptions:
    """The choices of the test of clicks on interleaved lists."""

    test: Annotated[
        Test | None,
        Doc(
            "The sign test of wins against losses (by default where each query has one "
            "impression), sign flips at random (by default otherwise), Student's t, "
            "Wilcoxon's signed ranks, or the studentised bootstrap; all two-sided."
        ),
    ] = None
    cluster: Annotated[
        bool,
        Doc(
            "Impressions of one query are drawn and flipped together; without it they "
            "count as independent."
        ),
    ] = True
    intervals: Annotated[
        Intervals,
        Doc(
            "Intervals of the differences: `bootstrap-t` (Bonett and Price's where each "
            "impression is won, tied or lost, else the studentised bootstrap), "
            "`bootstrap` (percentiles), Student's `t`, or none."
        ),
    ] = "bootstrap-t"
    level: Annotated[float, Doc("Of the intervals; tests are at 1 less this.")] = 0.95
    resamples: Annotated[int, Doc("Of the bootstrap and of the tests that draw.")] = 10_000
    seed: Annotated[int, Doc("Seed of everything that is drawn.")] = 0


class Impression(NamedTuple):
    """A list as it was shown once. clicks: places in it, from 0."""

    name: str
    shown: InterleavedList
    clicks: tuple[int, ...]


@takes_options(InterleavingTestOptions)
def evaluate_interleaving(
    lists: Any, clicks: Any, *, options: InterleavingTestOptions
) -> ComparisonResults:
    """The comparison of two runs by the clicks on lists that interleave them: wins and credit of
    each, differences and test.

    lists: the file that `rankwell interleave` writes, or what `interleave` returns. clicks: a table
    (or a mapping column -> values) of the list (or query) and the item of each click; a column
    `click` distinguishes clicked items from others that were shown, and a column `impression`
    several showings of one list. options: the fields of `InterleavingTestOptions`.
    `Wins` is 1 for an impression in which a run has more credit, 1/2 for a tie, 0 else; the mean of
    the first run less 1/2 is the Δ of Chapelle, Joachims, Radlinski and Yue 2012. Lists without a
    row in the clicks do not count.
    Raises BadInput for bad rows and for clicks on items that were not shown, NothingToEvaluate
    where none of the lists was shown.

    >>> import rankwell as rw
    >>> lists = rw.interleave({"q": ["a", "b"]}, {"q": ["b", "a"]}, names=("old", "new"))
    >>> rw.evaluate_interleaving(
    ...     lists, {"query": ["q"], "item": ["a"]}, intervals="none"
    ... ).differences[0]["n"]
    1
    """
    known = read_lists(lists)
    found, notes = read_impressions(clicks, known)
    credited = [credit(each.shown, each.clicks) for each in found]
    runs, method = found[0].shown.runs, found[0].shown.method
    queries = Counter(each.shown.query for each in found)
    clustered = options.cluster and len(queries) < len(found)
    test: Test = options.test or ("randomisation" if clustered else "sign")
    cluster = (
        Attribute("query", {each.name: each.shown.query for each in found}) if clustered else None
    )
    if len(queries) < len(found) and not clustered:
        notes.append(f"{len(found)} impressions of {len(queries)} queries count as independent")
    unclicked = sum(not each.clicks for each in found)
    tied = sum(each.wins == 0.5 for each in credited)
    notes.append(
        f"{tied} of {len(found)} impressions are ties, {unclicked} of them without a click"
    )
    named = ("test", "cluster")
    return compare_values(
        _values(found, credited, runs),
        options=ComparisonOptions(
            test=test, **{name: each for name, each in vars(options).items() if name not in named}
        ),
        cluster=cluster,
        origin=Origin(
            rules={
                "method": method,
                "counts": {
                    run: {"impressions": len(found), "queries": len(queries)} for run in runs
                },
            },
            notes=notes,
            sources=sources_of({"lists": lists, "clicks": clicks}),
            better={each.name: each.better for each in (WINS, CREDIT)},
            protocol="logs",
        ),
    )


def _values(
    found: Sequence[Impression], credited: Sequence[Credit], runs: tuple[str, str]
) -> list[Values]:
    """The wins and the credit of both runs."""
    names = tuple(each.name for each in found)
    wins = np.array([each.wins for each in credited])
    both = {
        runs[0]: (wins, [each.first for each in credited]),
        runs[1]: (1 - wins, [each.second for each in credited]),
    }
    return [
        Values(run, name, name, unit, "mean", names, np.array(column, dtype=np.float64))
        for run, columns in both.items()
        for name, unit, column in zip(("Wins", "Credit"), ("share", "score"), columns, strict=True)
    ]


def read_impressions(
    clicks: Any, known: Mapping[str, InterleavedList]
) -> tuple[list[Impression], list[str]]:
    """The impressions in the order of their names, and notes. Raises BadInput for rows of unknown
    lists and items.
    """
    table = load_columns(clicks, "the clicks", WORDS)
    name = table.need("list", {}, "rename it to one of the names")
    item = table.need("item", {}, "rename it to one of the names")
    reward, impression = table.find("reward", {}), table.find("impression", {})
    lists, items = table.ids(name), table.ids(item)
    shows = None if impression is None else table.ids(impression)
    clicked = (
        np.ones(len(lists), dtype=np.bool_)
        if reward is None
        else table.numbers(reward, CLICKED) == 1
    )
    found: dict[tuple[str, str], set[int]] = {}
    for row, (listed, each) in enumerate(zip(lists, items, strict=True)):
        if listed not in known:
            raise BadInput(
                table.wrong(
                    name,
                    row,
                    f"the name of one of the {len(known)} lists, such as {next(iter(known))!r}",
                )
            )
        if each not in known[listed].items:
            raise BadInput(table.wrong(item, row, f"an item of the list {listed!r}"))
        places = found.setdefault((listed, "" if shows is None else shows[row]), set())
        if clicked[row]:
            places.add(known[listed].items.index(each))
    if not found:
        raise NothingToEvaluate("none of the lists was shown.")
    named = {
        listed if shows is None else f"{listed}/{each}": (listed, places)
        for (listed, each), places in found.items()
    }
    if len(named) < len(found):
        raise DuplicateItem(
            "two impressions have one name, as 'a/b' of list 'a' and 'b' of list 'a/b'; "
            "rename the lists."
        )
    missing = len(known) - len({listed for listed, _ in found})
    notes = (
        [f"{missing} of {len(known)} lists have no row in the clicks and do not count"]
        if missing
        else []
    )
    order = sort_ids(named)
    return [
        Impression(each, known[named[each][0]], tuple(sorted(named[each][1]))) for each in order
    ], notes


def read_lists(place: Any) -> dict[str, InterleavedList]:
    """The lists by name, all of the same runs and made by one method. Raises BadInput and
    DuplicateItem.
    """
    found: dict[str, InterleavedList] = {}
    first: InterleavedList | None = None
    for where, each in _given(place):
        first = first or each
        if (each.runs, each.method) != (first.runs, first.method):
            what = (
                f"{each.method} of {' and '.join(each.runs)}, others are {first.method} of "
                f"{' and '.join(first.runs)}"
            )
            raise BadInput(f"{where}: {what}; expected lists of one call.")
        if each.name in found:
            raise DuplicateItem(f"{where}: the list {each.name!r} appears twice; keep one of them.")
        found[each.name] = each
    if not found:
        raise NothingToEvaluate(
            "there is no interleaved list; write some by `rankwell interleave`."
        )
    return found


def _given(place: Any) -> Iterator[tuple[str, InterleavedList]]:
    if not isinstance(place, (str, Path, Sequence)):
        raise BadInput(
            f"the lists: {kind_of(place)}; expected a file, or what `interleave` returned."
        )
    if not isinstance(place, (str, Path)):
        for number, each in enumerate(place):
            if not isinstance(each, InterleavedList):
                raise BadInput(
                    f"the lists: item {number} is {shown(each)}; expected a list that "
                    "`interleave` returned."
                )
            yield f"the lists: item {number}", each
        return
    source = Source(place)
    for number, line in enumerate(source.read().split(b"\n"), 1):
        if line.strip():
            value = parse_json(
                line, source.name, "a JSON object per line", line=number, pairs=unique_keys
            )
            yield f"{source.name}:{number}", _list(value, f"{source.name}:{number}")


def _list(value: Any, where: str) -> InterleavedList:
    """The list of a line. Raises BadInput."""

    def _wrong(key: str, expected: str) -> BadInput:
        found = f"is {shown(value[key])}" if key in value else "is missing"
        return BadInput(
            f"{where}: {key} {found}; expected {expected}. `rankwell interleave` writes such lists."
        )

    def _texts(key: str, expected: str) -> tuple[str, ...]:
        listed = value.get(key)
        if (
            not isinstance(listed, list)
            or not all(isinstance(each, str) for each in listed)
            or len(set(listed)) < len(listed)
        ):
            raise _wrong(key, expected)
        return tuple(listed)

    if not isinstance(value, Mapping):
        raise BadInput(f"{where}: {shown(value)}; expected a JSON object.")
    for key in ("list", "query"):
        if not isinstance(value.get(key), str):
            raise _wrong(key, "a string")
    method: Method | None = next((each for each in METHODS if each == value.get("method")), None)
    if method is None:
        raise _wrong("method", f"one of {', '.join(METHODS)}")
    runs, items, key = (
        _texts("runs", "two names"),
        _texts("items", "different items"),
        MARKS[method],
    )
    if len(runs) != 2:
        raise _wrong("runs", "two names")
    marks = value.get(key)
    if (
        not isinstance(marks, list)
        or len(marks) != len(items)
        or not all(_is_mark(each, method) for each in marks)
    ):
        raise _wrong(key, f"one of each of the {len(items)} items")
    return InterleavedList(
        value["list"], value["query"], method, (runs[0], runs[1]), items, tuple(map(_frozen, marks))
    )


def _frozen(mark: Any) -> Any:
    return tuple(mark) if isinstance(mark, list) else mark


def _is_mark(mark: Any, method: Method) -> bool:
    """Whether this is what a method notes of an item."""
    if method == "balanced":
        ranks = mark if isinstance(mark, list) and len(mark) == 2 else []
        fits = [
            each is None or (isinstance(each, int) and not isinstance(each, bool) and each > 0)
            for each in ranks
        ]
        return bool(ranks) and all(fits) and ranks != [None, None]
    if isinstance(mark, bool) or not isinstance(mark, (int, float)) or not math.isfinite(mark):
        return False
    return {"team-draft": mark in (0, 1), "probabilistic": 0 <= mark <= 1, "optimised": True}[
        method
    ]
