"""Two rankings -> one list that mixes them, with what is needed to credit the clicks on it to
either.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

import numpy as np

from rankwell.data.catalogue import suggest
from rankwell.data.findings import Finding
from rankwell.data.options import Doc, check_value, named_parameters, takes_options
from rankwell.data.rankings import Ranking, arrange
from rankwell.data.tables import Floats, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate, UnknownName, flag
from rankwell.evaluation.options import RunFileOptions, Seed
from rankwell.io.formats import read_ranking
from rankwell.stats.samples import balanced_mixture
from rankwell.store import encode_id
from rankwell.tasks.clicks.findings import lists_interleaved_short, queries_not_interleaved

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
            "`team-draft` (by default): the runs take turns, in random order in each "
            "round; `balanced`: both runs' first items in turn; `probabilistic(tau=3)`: each "
            "item from a random run, drawn with probabilities proportional to 1 / rank^tau; "
            "`optimised(credit=inverse)`: the distribution over lists that is unbiased and most "
            "sensitive, where a click is worth 1 / rank in the first run less 1 / rank in the "
            "second, or (`credit=linear`) the difference of ranks.",
            is_common=True,
        ),
    ] = "team-draft"
    depth: Annotated[int, Doc("Number of items of a list; fewer where a run has fewer.")] = 10
    lists: Annotated[
        int,
        Doc(
            "Number of lists drawn for each query, named QUERY#1, QUERY#2, … where there "
            "are several."
        ),
    ] = 1
    seed: Seed = 0

    def check(self) -> None:
        """Raises BadUsage for numbers out of range."""
        if self.depth < 1 or self.lists < 1:
            raise BadUsage(
                f"depth is {self.depth}, lists {self.lists}; expected positive integers."
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
    """An interleaved list that was shown, or can be.

    name: name of the list.
    query: id of the query that it answers.
    method: the method of interleaving.
    runs: names of the runs of the two rankings.
    items: ids of the items, in the order shown.
    marks: a mark for each item, by the method. balanced: the item's ranks in both rankings, None
        where a ranking lacks it. team-draft: the run that added it, 0 or 1. probabilistic: the
        probability that the first run added it, given the list. optimised: the credit of a click on
        it for the first run less that for the second.
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
        for number in range(1, options.lists + 1):
            # The same for a query whatever other queries there are.
            text = encode_id(f"{options.seed}\0{method}\0{number}\0{query}")
            seed = int.from_bytes(hashlib.sha256(text).digest(), "big")
            items, marks = draw(np.random.Generator(np.random.PCG64(seed)))
            name = query if options.lists == 1 else f"{query}#{number}"
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
    ranks = [{item: rank for rank, item in enumerate(ranking, 1)} for ranking in (a, b)]
    return items, [(ranks[0].get(item), ranks[1].get(item)) for item in items]


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
    ranks = [{item: rank for rank, item in enumerate(ranking, 1)} for ranking in (a, b)]
    beyond = len(a) + 1
    pairs = {item: (ranks[0].get(item, beyond), ranks[1].get(item, beyond)) for item in {*a, *b}}
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
    first: Any,
    second: Any,
    *,
    options: InterleavingOptions,
    names: tuple[str, str] = ("first", "second"),
) -> list[InterleavedList]:
    """Lists that mix two runs, for each query that both have: balanced, team-draft, probabilistic
    or optimised interleaving.

    first, second: runs in any form (a file, a mapping query -> item -> score or query -> list, a
    data frame). options: the fields of `InterleavingOptions`. names: of the runs. Clicks on the
    lists go to `evaluate_interleaving`. The same query has the same lists whatever other queries
    there are, and in whatever order.
    Raises NothingToEvaluate where the runs share no query, BadUsage for numbers out of range.

    >>> import rankwell as rw
    >>> (found,) = rw.interleave({"q": ["a", "b"]}, {"q": ["a", "c"]}, method="balanced")
    >>> found.items[0], found.marks[0]
    ('a', (1, 1))
    """
    if len(set(names)) < 2:
        raise BadUsage(f"names={names!r}; expected two different names.")
    return interleave_files(dict(zip(names, (first, second), strict=True)), options)[0]
