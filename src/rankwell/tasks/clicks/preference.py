"""Interleaved lists and the clicks on them -> a comparison of the two runs, impression by
impression.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from rankwell.comparison.data import Attribute, ComparisonOptions, DifferenceOptions, Origin, Test
from rankwell.data.findings import Finding
from rankwell.data.options import Doc, takes_options
from rankwell.data.tables import Values, sort_ids
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, DuplicateItem, NothingToEvaluate, kind_of, shown
from rankwell.io.records import load_columns
from rankwell.results import ComparisonResults, compare_values
from rankwell.store import Source, sources_of
from rankwell.tasks.clicks.findings import impressions_tied, lists_not_shown
from rankwell.tasks.clicks.inputs import CLICKED, WORDS
from rankwell.tasks.clicks.interleaving import MARKS, METHODS, InterleavedList, Method
from rankwell.tasks.clicks.measures.interleaving import CREDIT, WINS


@dataclass(frozen=True, kw_only=True)
class InterleavingTestOptions(DifferenceOptions):
    """The choices of the test of clicks on interleaved lists."""

    test: Annotated[
        Test | None,
        Doc(
            "The sign test of wins against losses (by default where each query has one "
            "impression), sign flips at random (by default otherwise), Student's t, "
            "Wilcoxon's signed ranks, or the studentised bootstrap; all two-sided."
        ),
    ] = None


class Credit(NamedTuple):
    """The credit that clicks give to two interleaved runs.

    first, second: the credit of each run.
    wins: the probability that the first run has more credit, a tie counting as half.
    """

    first: float
    second: float
    wins: float

    @classmethod
    def of(cls, first: float, second: float) -> "Credit":
        """The credit where the winner is certain; differences by rounding are ties."""
        off = first - second
        certain = 0.5 if abs(off) <= 1e-12 * max(abs(first), abs(second), 1.0) else float(off > 0)
        return cls(first, second, certain)


class Impression(NamedTuple):
    """One display of a list.

    name: name of the list, or of list and impression where the clicks name one.
    shown: the list.
    clicks: clicked positions in the list, from 0, ascending; empty where nothing was clicked.
    """

    name: str
    shown: InterleavedList
    clicks: tuple[int, ...]


@takes_options(InterleavingTestOptions)
def evaluate_interleaving(
    lists: Any, clicks: Any, *, options: InterleavingTestOptions
) -> ComparisonResults:
    """The comparison of two runs by the clicks on lists that interleave them: wins and credit of
    each, differences and test.

    lists: the file that `rankwell clicks interleave` writes, or what `interleave` returns. clicks:
    a table (or a mapping column -> values) of the list (or query) and the item of each click; a
    column `click` distinguishes clicked items from others that were shown, and a column
    `impression` several showings of one list. options: the fields of `InterleavingTestOptions`.
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
    impressions, findings = read_impressions(clicks, lists_by_name)
    credited = [credit(impression.shown, impression.clicks) for impression in impressions]
    runs, method = impressions[0].shown.runs, impressions[0].shown.method
    queries = Counter(impression.shown.query for impression in impressions)
    clustered = len(queries) < len(impressions)
    test: Test = options.test or ("randomisation" if clustered else "sign")
    cluster = (
        Attribute("query", {impression.name: impression.shown.query for impression in impressions})
        if clustered
        else None
    )
    unclicked = sum(not impression.clicks for impression in impressions)
    tied = sum(impression_credit.wins == 0.5 for impression_credit in credited)
    if tied:
        findings.append(impressions_tied(tied, len(impressions), unclicked))
    choices: dict[str, Any] = {**vars(options), "test": test}
    return compare_values(
        _values(impressions, credited, runs),
        options=ComparisonOptions(**choices),
        cluster=cluster,
        origin=Origin(
            rules={
                "method": method,
                "counts": {
                    run: {"impressions": len(impressions), "queries": len(queries)} for run in runs
                },
            },
            findings=findings,
            sources=sources_of({"lists": lists, "clicks": clicks}),
            better={figure.name: figure.better for figure in (WINS, CREDIT)},
            task="clicks",
        ),
    )


def credit(interleaved: InterleavedList, clicks: Sequence[int]) -> Credit:
    """The credit of clicks on a list. clicks: places in it, from 0, each once.

    balanced: the clicked items among the first j of each ranking, where j is the better of the two
    ranks of the lowest click. team-draft: the clicked items of each team. probabilistic: the
    expected number of clicks on items of each run, and the probability of having more, over all
    teams that may have made the list. optimised: the sums of credit above and below 0.
    """
    marks = [interleaved.marks[position] for position in sorted(clicks)]
    if not marks:
        return Credit(0.0, 0.0, 0.5)
    if interleaved.method == "balanced":
        depth = min(rank for rank in marks[-1] if rank is not None)
        first, second = (
            sum(ranks[side] is not None and ranks[side] <= depth for ranks in marks)
            for side in (0, 1)
        )
        return Credit.of(float(first), float(second))
    if interleaved.method == "team-draft":
        return Credit.of(float(marks.count(0)), float(marks.count(1)))
    if interleaved.method == "optimised":
        return Credit.of(
            sum(item_credit for item_credit in marks if item_credit > 0),
            -sum(item_credit for item_credit in marks if item_credit < 0),
        )
    return _over_teams(marks)


def _over_teams(shares: Sequence[float]) -> Credit:
    """The credit where each clicked item is the first run's with a probability of its own, whatever
    the others.
    """
    # The distribution of the number of clicks on the first run's items.
    chances = [1.0]
    for share in shares:
        chances = [
            (chances[n] * (1 - share) if n < len(chances) else 0.0)
            + (chances[n - 1] * share if n else 0.0)
            for n in range(len(chances) + 1)
        ]
    n = len(shares)
    more = sum(chance for count, chance in enumerate(chances) if 2 * count > n)
    tied = chances[n // 2] if n % 2 == 0 else 0.0
    return Credit(sum(shares), n - sum(shares), more + tied / 2)


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
) -> tuple[list[Impression], list[Finding]]:
    """The impressions in the order of their names, and findings. Raises BadInput for rows of
    unknown lists and items.
    """
    table = load_columns(clicks, "the clicks", WORDS)
    name, item = (table.need(content) for content in ("list", "item"))
    reward, impression = table.find("reward"), table.find("impression")
    lists, items = table.ids(name), table.ids(item)
    shows = [""] * len(lists) if impression is None else table.ids(impression)
    clicked = [1.0] * len(lists) if reward is None else table.numbers(reward, CLICKED).tolist()
    clicked_places: dict[tuple[str, str], set[int]] = {}
    for row, (list_name, item_id, show, is_clicked) in enumerate(
        zip(lists, items, shows, clicked, strict=True)
    ):
        if list_name not in lists_by_name:
            expected = (
                f"the name of one of the {len(lists_by_name)} lists, such as "
                f"{next(iter(lists_by_name))!r}"
            )
            raise BadInput(table.wrong_cell(name, row, expected))
        items_of_list = lists_by_name[list_name].items
        if item_id not in items_of_list:
            raise BadInput(table.wrong_cell(item, row, f"an item of the list {list_name!r}"))
        places = clicked_places.setdefault((list_name, show), set())
        if is_clicked:
            places.add(items_of_list.index(item_id))
    if not clicked_places:
        raise NothingToEvaluate("none of the lists was shown.")
    impressions = {
        list_name if impression is None else f"{list_name}/{show}": (list_name, places)
        for (list_name, show), places in clicked_places.items()
    }
    if len(impressions) < len(clicked_places):
        raise DuplicateItem(
            "two impressions have one name, as 'a/b' of list 'a' and 'b' of list 'a/b'; "
            "rename the lists."
        )
    missing = len(lists_by_name) - len({list_name for list_name, _ in clicked_places})
    findings = [lists_not_shown(missing, len(lists_by_name))] if missing else []
    return [
        Impression(impression_name, lists_by_name[list_name], tuple(sorted(places)))
        for impression_name in sort_ids(impressions)
        for list_name, places in [impressions[impression_name]]
    ], findings


def read_lists(place: Any) -> dict[str, InterleavedList]:
    """The lists by name, all of the same runs and made by one method. Raises BadInput and
    DuplicateItem.
    """
    lists: dict[str, InterleavedList] = {}
    for where, interleaved in _placed_lists(place):
        first = next(iter(lists.values()), interleaved)
        if (interleaved.runs, interleaved.method) != (first.runs, first.method):
            raise BadInput(
                f"{where}: {interleaved.method} of {' and '.join(interleaved.runs)}, others are "
                f"{first.method} of {' and '.join(first.runs)}; expected lists of one call."
            )
        if interleaved.name in lists:
            raise DuplicateItem(
                f"{where}: the list {interleaved.name!r} appears twice; keep one of them."
            )
        lists[interleaved.name] = interleaved
    if not lists:
        raise NothingToEvaluate(
            "there is no interleaved list; write some by `rankwell clicks interleave`."
        )
    return lists


def _placed_lists(lists: Any) -> Iterator[tuple[str, InterleavedList]]:
    """The lists, each with its place. Raises BadInput for anything else."""
    if isinstance(lists, (str, Path)):
        source = Source(lists)
        for number, line in enumerate(source.read().split(b"\n"), 1):
            if line.strip():
                value = parse_json(
                    line, source.name, "a JSON object per line", line=number, pairs=unique_keys
                )
                yield f"{source.name}:{number}", _list(value, f"{source.name}:{number}")
        return
    if not isinstance(lists, Sequence):
        raise BadInput(
            f"the lists: {kind_of(lists)}; expected a file, or what `interleave` returned."
        )
    for number, interleaved in enumerate(lists):
        if not isinstance(interleaved, InterleavedList):
            raise BadInput(
                f"the lists: item {number} is {shown(interleaved)}; expected a list that "
                "`interleave` returned."
            )
        yield f"the lists: item {number}", interleaved


def _list(value: Any, where: str) -> InterleavedList:
    """The list of a line. Raises BadInput."""
    if not isinstance(value, Mapping):
        raise BadInput(f"{where}: {shown(value)}; expected a JSON object.")

    def _checked(key: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        if not fits(value.get(key)):
            found = ", ".join(map(repr, value))[:200]
            problem = (
                f"is {shown(value[key])}" if key in value else f"is missing, found are {found}"
            )
            raise BadInput(
                f"{where}: {key} {problem}; expected {expected}. `rankwell clicks interleave` "
                "writes such lists."
            )
        return value[key]

    name, query = (
        _checked(key, "a string", lambda text: isinstance(text, str)) for key in ("list", "query")
    )
    method: Method = _checked(
        "method", f"one of {', '.join(METHODS)}", lambda word: word in METHODS
    )
    first, second = _checked(
        "runs", "two names", lambda names: _are_different(names) and len(names) == 2
    )
    items = _checked("items", "different items", _are_different)
    marks = _checked(
        MARKS[method],
        f"one of each of the {len(items)} items",
        lambda marks: (
            isinstance(marks, list)
            and len(marks) == len(items)
            and all(_is_mark(mark, method) for mark in marks)
        ),
    )
    frozen = (tuple(mark) if isinstance(mark, list) else mark for mark in marks)
    return InterleavedList(name, query, method, (first, second), tuple(items), tuple(frozen))


def _are_different(texts: Any) -> bool:
    """Whether this is a list of texts of which no two are the same."""
    return (
        isinstance(texts, list)
        and all(isinstance(text, str) for text in texts)
        and len(set(texts)) == len(texts)
    )


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
