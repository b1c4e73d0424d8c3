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

from rankwell.comparison.data import Attribute, ComparisonOptions, Origin, Test
from rankwell.data.options import Doc, takes_options
from rankwell.data.tables import Values, sort_ids
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, DuplicateItem, NothingToEvaluate, kind_of, shown
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
    lists_by_name = read_lists(lists)
    impressions, notes = read_impressions(clicks, lists_by_name)
    credited = [credit(impression.shown, impression.clicks) for impression in impressions]
    runs, method = impressions[0].shown.runs, impressions[0].shown.method
    queries = Counter(impression.shown.query for impression in impressions)
    clustered = options.cluster and len(queries) < len(impressions)
    test: Test = options.test or ("randomisation" if clustered else "sign")
    cluster = (
        Attribute("query", {impression.name: impression.shown.query for impression in impressions})
        if clustered
        else None
    )
    if len(queries) < len(impressions) and not clustered:
        notes.append(
            f"{len(impressions)} impressions of {len(queries)} queries count as independent"
        )
    unclicked = sum(not impression.clicks for impression in impressions)
    tied = sum(impression_credit.wins == 0.5 for impression_credit in credited)
    notes.append(
        f"{tied} of {len(impressions)} impressions are ties, {unclicked} of them without a click"
    )
    own_names = ("test", "cluster")
    return compare_values(
        _values(impressions, credited, runs),
        options=ComparisonOptions(
            test=test,
            **{name: value for name, value in vars(options).items() if name not in own_names},
        ),
        cluster=cluster,
        origin=Origin(
            rules={
                "method": method,
                "counts": {
                    run: {"impressions": len(impressions), "queries": len(queries)} for run in runs
                },
            },
            notes=notes,
            sources=sources_of({"lists": lists, "clicks": clicks}),
            better={figure.name: figure.better for figure in (WINS, CREDIT)},
            protocol="logs",
        ),
    )


def _values(
    impressions: Sequence[Impression], credited: Sequence[Credit], runs: tuple[str, str]
) -> list[Values]:
    """The wins and the credit of both runs."""
    names = tuple(impression.name for impression in impressions)
    wins = np.array([impression_credit.wins for impression_credit in credited])
    columns_by_run = {
        runs[0]: (wins, [impression_credit.first for impression_credit in credited]),
        runs[1]: (1 - wins, [impression_credit.second for impression_credit in credited]),
    }
    return [
        Values(run, name, name, unit, "mean", names, np.array(column, dtype=np.float64))
        for run, columns in columns_by_run.items()
        for name, unit, column in zip(("Wins", "Credit"), ("share", "score"), columns, strict=True)
    ]


def read_impressions(
    clicks: Any, lists_by_name: Mapping[str, InterleavedList]
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
    clicked_places: dict[tuple[str, str], set[int]] = {}
    for row, (list_name, item_id) in enumerate(zip(lists, items, strict=True)):
        if list_name not in lists_by_name:
            raise BadInput(
                table.wrong(
                    name,
                    row,
                    f"the name of one of the {len(lists_by_name)} lists, such as "
                    f"{next(iter(lists_by_name))!r}",
                )
            )
        if item_id not in lists_by_name[list_name].items:
            raise BadInput(table.wrong(item, row, f"an item of the list {list_name!r}"))
        clicks_of_list = clicked_places.setdefault(
            (list_name, "" if shows is None else shows[row]), set()
        )
        if clicked[row]:
            clicks_of_list.add(lists_by_name[list_name].items.index(item_id))
    if not clicked_places:
        raise NothingToEvaluate("none of the lists was shown.")
    by_name = {
        list_name if shows is None else f"{list_name}/{impression_id}": (list_name, clicks_of_list)
        for (list_name, impression_id), clicks_of_list in clicked_places.items()
    }
    if len(by_name) < len(clicked_places):
        raise DuplicateItem(
            "two impressions have one name, as 'a/b' of list 'a' and 'b' of list 'a/b'; "
            "rename the lists."
        )
    missing = len(lists_by_name) - len({list_name for list_name, _ in clicked_places})
    notes = (
        [f"{missing} of {len(lists_by_name)} lists have no row in the clicks and do not count"]
        if missing
        else []
    )
    order = sort_ids(by_name)
    return [
        Impression(name, lists_by_name[by_name[name][0]], tuple(sorted(by_name[name][1])))
        for name in order
    ], notes


def read_lists(place: Any) -> dict[str, InterleavedList]:
    """The lists by name, all of the same runs and made by one method. Raises BadInput and
    DuplicateItem.
    """
    lists: dict[str, InterleavedList] = {}
    first: InterleavedList | None = None
    for where, interleaved in _given(place):
        first = first or interleaved
        if (interleaved.runs, interleaved.method) != (first.runs, first.method):
            difference = (
                f"{interleaved.method} of {' and '.join(interleaved.runs)}, others are "
                f"{first.method} of {' and '.join(first.runs)}"
            )
            raise BadInput(f"{where}: {difference}; expected lists of one call.")
        if interleaved.name in lists:
            raise DuplicateItem(
                f"{where}: the list {interleaved.name!r} appears twice; keep one of them."
            )
        lists[interleaved.name] = interleaved
    if not lists:
        raise NothingToEvaluate(
            "there is no interleaved list; write some by `rankwell interleave`."
        )
    return lists


def _given(lists: Any) -> Iterator[tuple[str, InterleavedList]]:
    if not isinstance(lists, (str, Path, Sequence)):
        raise BadInput(
            f"the lists: {kind_of(lists)}; expected a file, or what `interleave` returned."
        )
    if not isinstance(lists, (str, Path)):
        for number, interleaved in enumerate(lists):
            if not isinstance(interleaved, InterleavedList):
                raise BadInput(
                    f"the lists: item {number} is {shown(interleaved)}; expected a list that "
                    "`interleave` returned."
                )
            yield f"the lists: item {number}", interleaved
        return
    source = Source(lists)
    for number, line in enumerate(source.read().split(b"\n"), 1):
        if line.strip():
            value = parse_json(
                line, source.name, "a JSON object per line", line=number, pairs=unique_keys
            )
            yield f"{source.name}:{number}", _list(value, f"{source.name}:{number}")


def _list(value: Any, where: str) -> InterleavedList:
    """The list of a line. Raises BadInput."""

    def _wrong(key: str, expected: str) -> BadInput:
        problem = f"is {shown(value[key])}" if key in value else "is missing"
        return BadInput(
            f"{where}: {key} {problem}; expected {expected}. `rankwell interleave` writes such "
            "lists."
        )

    def _texts(key: str, expected: str) -> tuple[str, ...]:
        texts = value.get(key)
        if (
            not isinstance(texts, list)
            or not all(isinstance(text, str) for text in texts)
            or len(set(texts)) < len(texts)
        ):
            raise _wrong(key, expected)
        return tuple(texts)

    if not isinstance(value, Mapping):
        raise BadInput(f"{where}: {shown(value)}; expected a JSON object.")
    for key in ("list", "query"):
        if not isinstance(value.get(key), str):
            raise _wrong(key, "a string")
    method: Method | None = next((name for name in METHODS if name == value.get("method")), None)
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
        or not all(_is_mark(mark, method) for mark in marks)
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
            rank is None or (isinstance(rank, int) and not isinstance(rank, bool) and rank > 0)
            for rank in ranks
        ]
        return bool(ranks) and all(fits) and ranks != [None, None]
    if isinstance(mark, bool) or not isinstance(mark, (int, float)) or not math.isfinite(mark):
        return False
    return {"team-draft": mark in (0, 1), "probabilistic": 0 <= mark <= 1, "optimised": True}[
        method
    ]
