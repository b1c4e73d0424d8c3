"""Interleaving: two rankings -> one list that mixes them; and from clicks on such lists, which of
the two users prefer.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

import numpy as np

from rankwell.comparison.data import Attribute, ComparisonOptions, DifferenceOptions, Origin, Test
from rankwell.data.catalogue import suggest
from rankwell.data.findings import Finding
from rankwell.data.options import Doc, Place, Table, check_value, named_parameters, takes_options
from rankwell.data.rankings import Ranking, arrange
from rankwell.data.tables import Floats, Values, sort_ids
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import (
    BadInput,
    BadUsage,
    DuplicateItem,
    NothingToEvaluate,
    UnknownName,
    flag,
    kind_of,
    shown,
)
from rankwell.evaluation.options import RunFileOptions, Seed
from rankwell.io.formats import read_ranking
from rankwell.io.records import load_columns
from rankwell.results import ComparisonResults, compare_values
from rankwell.stats.samples import balanced_mixture
from rankwell.store import Source, encode_id, sources_of
from rankwell.tasks.clicks.findings import (
    impressions_tied,
    lists_interleaved_short,
    lists_not_shown,
    queries_not_interleaved,
)
from rankwell.tasks.clicks.inputs import CLICKED, WORDS
from rankwell.tasks.clicks.measures.interleaving import CREDIT, WINS

Method = Literal["balanced", "team-draft", "probabilistic", "optimised"]
Ranks = tuple[int | None, int | None]
CreditFunction = Literal["inverse", "linear"]
METHODS: tuple[Method, ...] = get_args(Method)
_PARAMETERS: dict[Method, dict[str, Parameter]] = {
    "probabilistic": {
        "tau": Parameter("tau", Parameter.KEYWORD_ONLY, default=3.0, annotation=float)
    },
    "optimised": {
        "credit": Parameter(
            "credit", Parameter.KEYWORD_ONLY, default="inverse", annotation=CreditFunction
        )
    },
}
"""The parameters of the methods that have some."""
MARKS: dict[Method, str] = {
    "balanced": "ranks",
    "team-draft": "teams",
    "probabilistic": "probabilities",
    "optimised": "credits",
}
"""The name of what a method notes of each item."""
_MOST_LISTS = 4096
"""So many lists that optimised interleaving may choose from are the most for a query."""


@dataclass(frozen=True, kw_only=True)
class InterleavingOptions(RunFileOptions):
    """The choices of interleaving."""

    method: Annotated[
        str,
        Doc(
            "`team-draft` (the default): the runs take turns, in random order in each round; "
            "`balanced`: the top items of both runs alternate; `probabilistic(tau=3)`: each item "
            "is from a random run, drawn with probability proportional to 1 / rank^tau; "
            "`optimised(credit=inverse)`: the most sensitive unbiased distribution over lists, "
            "where a click is worth 1 / rank in the first run minus 1 / rank in the second, or "
            "(`credit=linear`) the difference in ranks.",
            is_common=True,
        ),
    ] = "team-draft"
    depth: Annotated[int, Doc("Number of items in a list; fewer if a run has fewer.")] = 10
    samples: Annotated[
        int, Doc("Number of lists drawn for each query; several are named QUERY#1, QUERY#2, …")
    ] = 1
    seed: Seed = 0

    def check(self) -> None:
        """Raises BadUsage for numbers out of range."""
        if self.depth < 1 or self.samples < 1:
            raise BadUsage(
                f"depth is {self.depth}, samples {self.samples}; expected positive integers."
            )


def parse_method(text: str) -> tuple[Method, dict[str, Any]]:
    """The method that a text names, and its parameters. Raises UnknownName, BadUsage."""

    def _of(name: str) -> Mapping[str, Any]:
        if name not in METHODS:
            raise UnknownName(f"unknown method {name!r}; {suggest(name, METHODS)}")
        return {name: parameter.default for name, parameter in _PARAMETERS.get(name, {}).items()}

    name, values = named_parameters(text, _of, "method", "probabilistic(tau=2)")
    method = cast("Method", name)
    for parameter, value in values.items():
        values[parameter] = check_value(method, _PARAMETERS[method][parameter], value, text)
    if not 0 <= values.get("tau", 0) <= 20:
        raise BadUsage(f"tau in {text!r}: expected a number from 0 to 20, such as 3.")
    return method, values


class InterleavedList(NamedTuple):
    """An interleaved list that was or can be shown, as `interleave` makes it.

    name: name of the list.
    query: id of the query that it answers.
    method: the method of interleaving.
    runs: names of the runs of the two rankings.
    items: ids of the items, in the order shown.
    marks: a mark for each item, by the method. balanced: the item's ranks in both rankings, None
        where a ranking lacks it. team-draft: the run that added it, 0 or 1. probabilistic: the
        probability that the first run added it, given the list. optimised: the credit of a click on
        it for the first run minus that for the second.

    >>> import rankwell as rw
    >>> shown = rw.InterleavedList("q", "q", "team-draft", ("a", "b"), ("d1", "d2"), (0, 1))
    >>> clicks = {"query": ["q"], "item": ["d2"]}
    >>> rw.evaluate_interleaving([shown], clicks).differences[0]["mean"]
    1.0
    """

    name: str
    query: str
    method: Method
    runs: tuple[str, str]
    items: tuple[str, ...]
    marks: tuple[Any, ...]

    def line(self) -> str:
        """A line of JSON, with its end."""
        value = {
            "list": self.name,
            "query": self.query,
            "method": self.method,
            "runs": list(self.runs),
            "items": list(self.items),
        }
        return json.dumps(value | {MARKS[self.method]: list(self.marks)}, ensure_ascii=False) + "\n"


def _final_lists(ranking: Ranking) -> dict[str, list[str]]:
    """The items of each query from first to last, tied ones in descending order of their ids."""
    lists: dict[str, list[str]] = {}
    for query in ranking.queries:
        query_rows = ranking.rows_of(query)
        items = list(ranking.items[query_rows])
        order = arrange(
            ranking.scores[query_rows], lambda row, items=items: encode_id(items[row]), "id-desc"
        )
        lists[query] = [items[row] for row in order.tolist()]
    return lists


def interleave_files(
    runs: Mapping[str, Any], options: InterleavingOptions
) -> tuple[list[InterleavedList], list[Finding]]:
    """The lists that mix two runs by name, for every query that both have, in the order of ids, and
    findings on the others.

    Raises NothingToEvaluate where they share no query with an item in each.
    """
    options.check()
    method, parameters = parse_method(options.method)
    findings: list[Finding] = []
    first_lists, second_lists = (
        _final_lists(
            read_ranking(
                run,
                format=options.run_format,
                duplicates=options.duplicates,
                columns=options.columns,
                findings=findings,
            )
        )
        for run in runs.values()
    )
    first, second = runs
    shared = [
        query
        for query in sort_ids(first_lists.keys() & second_lists.keys())
        if first_lists[query] and second_lists[query]
    ]
    if not shared:
        raise NothingToEvaluate(
            f"{first} and {second} have no query in common; are the ids of queries the same?"
        )
    lone = len(first_lists.keys() | second_lists.keys()) - len(shared)
    if lone:
        findings.append(queries_not_interleaved(lone))
    lengths = {
        query: min(options.depth, len(first_lists[query]), len(second_lists[query]))
        for query in shared
    }
    short = [query for query, length in lengths.items() if length < options.depth]
    if short:
        findings.append(lists_interleaved_short(options.depth, short))
    interleaved: list[InterleavedList] = []
    for query, length in lengths.items():
        draw = _drawer(query, first_lists[query], second_lists[query], length, method, parameters)
        for number in range(1, options.samples + 1):
            # The same for a query whatever other queries there are.
            text = encode_id(f"{options.seed}\0{method}\0{number}\0{query}")
            seed = int.from_bytes(hashlib.sha256(text).digest(), "big")
            items, marks = draw(np.random.Generator(np.random.PCG64(seed)))
            name = query if options.samples == 1 else f"{query}#{number}"
            interleaved.append(
                InterleavedList(name, query, method, (first, second), tuple(items), tuple(marks))
            )
    return interleaved, findings


def _drawer(
    query: str,
    a: Sequence[str],
    b: Sequence[str],
    length: int,
    method: Method,
    parameters: Mapping[str, Any],
) -> Callable[[np.random.Generator], tuple[list[str], list[Any]]]:
    """What draws a list of a query, with a mark of each item."""
    if method == "balanced":
        return lambda random: balanced(a, b, length, first=int(random.integers(2)))
    if method == "team-draft":
        return lambda random: team_draft(a, b, length, random)
    if method == "probabilistic":
        return lambda random: probabilistic(a, b, length, random, **parameters)
    lists = optimised(a[:length], b[:length], **parameters)
    if lists is None:
        raise BadUsage(
            f"query {query!r}: no distribution over lists of {length} items is unbiased with this "
            f"credit; choose another credit, or another {flag('--method')}."
        )
    return lists.draw


def balanced(
    a: Sequence[str], b: Sequence[str], length: int, *, first: int
) -> tuple[list[str], list[tuple[int | None, int | None]]]:
    """Both rankings' items in turn, each once. first: 0 or 1, the one that begins. Marks: the ranks
    in both.

    Every beginning of the list consists of the first items of both rankings. Source: Joachims 2003,
    Evaluating retrieval performance using clickthrough data; Radlinski, Kurup and Joachims 2008,
    algorithm 1.
    """
    items: list[str] = []
    next_ranks = [0, 0]
    while len(items) < length:
        turn = int(next_ranks[0] > next_ranks[1]) if next_ranks[0] != next_ranks[1] else first
        item = (a, b)[turn][next_ranks[turn]]
        next_ranks[turn] += 1
        if item not in items:
            items.append(item)
    ranks, second_ranks = _ranks_by_item(a), _ranks_by_item(b)
    return items, [(ranks.get(item), second_ranks.get(item)) for item in items]


def _ranks_by_item(ranking: Sequence[str]) -> dict[str, int]:
    return {item: rank for rank, item in enumerate(ranking, 1)}


def team_draft(
    a: Sequence[str], b: Sequence[str], length: int, random: np.random.Generator
) -> tuple[list[str], list[int]]:
    """The ranking with the smaller team, by a coin where teams are equal, adds its first item that
    is not there. Marks: the team.

    Source: Radlinski, Kurup and Joachims 2008, How does clickthrough data reflect retrieval
    quality?, algorithm 2.
    """
    items, teams = list[str](), list[int]()
    while len(items) < length:
        sizes = teams.count(0), teams.count(1)
        team = int(random.integers(2)) if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])
        items.append(next(item for item in (a, b)[team] if item not in items))
        teams.append(team)
    return items, teams


def probabilistic(
    a: Sequence[str],
    b: Sequence[str],
    length: int,
    random: np.random.Generator,
    *,
    tau: float = 3.0,
) -> tuple[list[str], list[float]]:
    """Each item comes from either ranking with probability 1/2, drawn by 1 / rank^tau among those
    that are not there yet.

    Marks: the probability that the first ranking added the item, given the list, which does not
    depend on the other items' teams. Source: Hofmann, Whiteson and de Rijke 2011, A probabilistic
    method for inferring preferences from clicks.
    """
    left = [{item: rank**-tau for rank, item in enumerate(ranking, 1)} for ranking in (a, b)]
    items, shares = list[str](), list[float]()
    while len(items) < length:
        source = left[int(random.integers(2))]
        weights = np.array(list(source.values()))
        position = int(
            np.searchsorted(np.cumsum(weights), random.random() * weights.sum(), side="right")
        )
        item = list(source)[min(position, len(weights) - 1)]
        chances = [weight_of.get(item, 0.0) / sum(weight_of.values()) for weight_of in left]
        items.append(item)
        shares.append(chances[0] / sum(chances))
        for weights_left in left:
            weights_left.pop(item, None)
    return items, shares


class OptimisedLists(NamedTuple):
    """The lists that optimised interleaving draws from.

    item_lists: the items of each list, in order.
    credits: (lists, length) credit of a click on each item, above 0 for the first run.
    probabilities: (lists,) probability of drawing each list; their sum is 1.
    """

    item_lists: list[tuple[str, ...]]
    credits: Floats
    probabilities: Floats

    def draw(self, random: np.random.Generator) -> tuple[list[str], list[float]]:
        """One of the lists and the credits of its items."""
        number = int(np.searchsorted(np.cumsum(self.probabilities), random.random(), side="right"))
        number = min(number, int(np.flatnonzero(self.probabilities)[-1]))
        return list(self.item_lists[number]), self.credits[number].tolist()


def optimised(
    a: Sequence[str], b: Sequence[str], *, credit: CreditFunction = "inverse"
) -> OptimisedLists | None:
    """The unbiased distribution over lists with the largest sensitivity; None where none is
    unbiased.

    a, b: of one length. The lists are those whose every beginning consists of first items of both.
    Unbiased: at each rank the mean credit is 0, so that clicks at random prefer neither.
    Sensitivity: (1 - w_0) times the entropy of w_a / (w_a + w_b), where w_a, w_b and w_0 are the
    shares of attention, 1 / rank, on items with a credit above, below and of 0.
    Source: Radlinski and Craswell 2013, Optimized interleaving for online retrieval evaluation,
    equations 5 to 15.
    """
    lists = allowed_lists(a, b)
    ranks, second_ranks = _ranks_by_item(a), _ranks_by_item(b)
    beyond = len(a) + 1
    pairs = {item: (ranks.get(item, beyond), second_ranks.get(item, beyond)) for item in {*a, *b}}
    worth = {
        item: 1 / first_rank - 1 / second_rank
        if credit == "inverse"
        else float(second_rank - first_rank)
        for item, (first_rank, second_rank) in pairs.items()
    }
    table = np.array([[worth[item] for item in items] for items in lists])
    attention = 1 / np.arange(1, len(a) + 1)
    attention /= attention.sum()
    won, lost = ((table * sign > 0) @ attention for sign in (1, -1))
    probabilities = balanced_mixture((won + lost) * _entropy(won, lost), table)
    return None if probabilities is None else OptimisedLists(lists, table, probabilities)


def _entropy(won: Floats, lost: Floats) -> Floats:
    """The entropy in bits of won / (won + lost); 0 where either is 0."""
    total = np.maximum(won + lost, 1e-300)
    shares = np.stack([won, lost]) / total
    return -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=0)


def allowed_lists(a: Sequence[str], b: Sequence[str]) -> list[tuple[str, ...]]:
    """The lists that take, at each rank, the first item of either ranking that is not there yet.
    Raises BadUsage for too many.
    """
    lists: list[tuple[str, ...]] = [()]
    for _ in range(len(a)):
        longer = [
            (*items, next(item for item in side if item not in items))
            for items in lists
            for side in (a, b)
        ]
        lists = list(dict.fromkeys(longer))
        if len(lists) > _MOST_LISTS:
            raise BadUsage(
                f"optimised interleaving would choose from more than {_MOST_LISTS} lists; expected "
                "fewer items, as by -k 10."
            )
    return lists


@takes_options(InterleavingOptions)
def interleave(
    first: Table | Ranking,
    second: Table | Ranking,
    *,
    options: InterleavingOptions,
    names: tuple[str, str] = ("first", "second"),
) -> list[InterleavedList]:
    """Interleaves two runs into lists to show to users: balanced, team-draft, probabilistic or
    optimised.

    Only queries in both runs get lists. The lists of a query do not depend on other queries. Give
    the clicks on them to `evaluate_interleaving`.
    Raises NothingToEvaluate where the runs share no query, BadUsage for numbers out of range and
    equal names, UnknownName for a method that does not exist, BadInput, BadScore and DuplicateItem
    for runs with such rows.

    Parameters
    ----------
    first
        A run in any form: a file, a mapping query -> item -> score or query -> list, a data frame.
    second
        The other run.
    names
        Names of the runs.

    >>> import rankwell as rw
    >>> (found,) = rw.interleave({"q": ["a", "b"]}, {"q": ["a", "c"]}, method="balanced")
    >>> found.items[0], found.marks[0]
    ('a', (1, 1))
    """
    if len(set(names)) < 2:
        raise BadUsage(f"names={names!r}; expected two different names.")
    return interleave_files(dict(zip(names, (first, second), strict=True)), options)[0]


@dataclass(frozen=True, kw_only=True)
class InterleavingTestOptions(DifferenceOptions):
    """The choices of the test of clicks on interleaved lists."""

    test: Annotated[
        Test | None,
        Doc(
            "Two-sided test: the sign test of wins against losses (the default if each query has "
            "one impression), random sign flips (the default otherwise), Student's t, Wilcoxon's "
            "signed-rank test, or the studentised bootstrap."
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
    lists: Place | Sequence[InterleavedList], clicks: Table, *, options: InterleavingTestOptions
) -> ComparisonResults:
    """Compares two runs by the clicks on lists that interleave them.

    `Wins` is 1 for an impression in which a run gets more credit, 1/2 for a tie, otherwise 0. The
    mean of the first run minus 1/2 is the Δ of the source. Lists without a row in the clicks do not
    count.
    Returns wins and credit of each run, their differences and a test.
    Raises BadInput for bad rows, and for clicks on items that were not shown, NothingToEvaluate
    where none of the lists was shown.
    Source: Chapelle, Joachims, Radlinski and Yue 2012, Large-scale validation and analysis of
    interleaved search evaluation.

    Parameters
    ----------
    lists
        The file that `rankwell clicks interleave` writes, or what `interleave` returns.
    clicks
        A table, or a mapping column -> values, of the list (or query) and the item of each click. A
        column `click` distinguishes clicked items from others that were shown, and a column
        `impression` repeated showings of one list.

    >>> import rankwell as rw
    >>> lists = rw.interleave({"q": ["a", "b"]}, {"q": ["b", "a"]}, names=("old", "new"))
    >>> clicks = {"query": ["q"], "item": ["a"]}
    >>> rw.evaluate_interleaving(lists, clicks, intervals="none").differences[0]["n"]
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
