"""Values of several runs side by side: one board per measure, with a row per query and a column per run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.registry import Better, parse_measure, suggest
from rankwell.core.tables import Bools, Floats, order_ids, sort_ids
from rankwell.core.tables.values import Unit, Values
from rankwell.errors import BadInput, BadUsage, UnknownName

_DECIMALS = 12
Facts = Mapping[str, Any]


class Pair(NamedTuple):
    """Whose values less whose."""

    run: str
    against: str


@dataclass(frozen=True, eq=False)
class Board:
    """What all runs say by one measure.

    values: (queries, runs) NaN where a query is not counted, or the run has no value. weights: the same, None for plain means.
    better: which values are the better ones. facts: what tells it from others of the same measure (`direction`).
    """

    measure: str
    label: str
    unit: Unit
    better: Better
    facts: Facts
    runs: tuple[str, ...]
    values: Floats
    weights: Floats | None = None

    @property
    def sign(self) -> int:
        """-1 where lower values are better, else 1."""
        return -1 if self.better == "lower" else 1

    def column(self, run: str) -> Floats:
        """(queries,) the values of a run."""
        return self.values[:, self.runs.index(run)]

    def differences(self, pair: Pair) -> Floats:
        """(queries,) the run's value less the other's, NaN unless both count; a rounding error is no difference."""
        return np.round(self.column(pair.run) - self.column(pair.against), _DECIMALS)

    def shared_weights(self, pair: Pair) -> Floats | None:
        """(queries,) the weights of a pair's differences; None for a plain mean."""
        return None if self.weights is None else self.weights[:, self.runs.index(pair.run)]

    def lone(self, pair: Pair) -> int:
        """How many queries count for one of the two only."""
        one, other = np.isnan(self.column(pair.run)), np.isnan(self.column(pair.against))
        return int(np.count_nonzero(one != other))

    def of(self, rows: Bools) -> "Board":
        """The board with some of the queries; the others do not count."""
        kept = np.where(rows[:, None], self.values, np.nan)
        return Board(self.measure, self.label, self.unit, self.better, self.facts, self.runs, kept, self.weights)


class World(NamedTuple):
    """All boards over the same queries, in the order of their ids; every run in order; what there is to say of them."""

    queries: tuple[str, ...]
    runs: tuple[str, ...]
    boards: tuple[Board, ...]
    notes: tuple[str, ...]


def side_by_side(values: Sequence[Values], facts: Sequence[Facts], better: Mapping[str, Better]) -> World:
    """The boards of every measure that two runs or more have, in the order of first sight.

    Raises BadUsage for fewer than two runs, BadInput where a run has a measure twice or no two runs share one.
    """
    runs = tuple(dict.fromkeys(each.run for each in values))
    if len(runs) < 2:
        raise BadUsage(f"{_listed(runs) or 'nothing'} alone is compared with nothing; give two runs or more.")
    queries = sort_ids({query for each in values for query in each.queries})
    place = {query: at for at, query in enumerate(queries)}
    grouped: dict[tuple[str, tuple[tuple[str, Any], ...]], dict[str, Values]] = {}
    for each, fact in zip(values, facts or [{}] * len(values), strict=True):
        own = grouped.setdefault((each.measure, tuple(fact.items())), {})
        if each.run in own:
            raise BadInput(f"run {each.run!r} has {each.measure} twice; name runs apart, as in first=DIR second=DIR.")
        own[each.run] = each
    notes: list[str] = []
    boards: list[Board] = []
    for (measure, fact), own in grouped.items():
        if len(own) < 2:
            notes.append(f"{measure}: only {next(iter(own))} has it, so that there is nothing to compare")
            continue
        absent = [run for run in runs if run not in own]
        if absent:
            notes.append(f"{measure}: {_listed(absent)} {'has' if len(absent) == 1 else 'have'} no values")
        boards.append(_board(own, dict(fact), place, better, notes))
    if not boards:
        raise BadInput(f"{_listed(runs)} have no measure in common; evaluate them by the same measures.")
    return World(tuple(queries), runs, tuple(boards), tuple(dict.fromkeys(notes)))


def in_order(values: Values) -> Values:
    """The same values in the order of their queries' ids, so that sums and resamples do not depend on the order of rows."""
    order = order_ids(values.queries)
    weights = None if values.weights is None else values.weights[order]
    queries = tuple(values.queries[place] for place in order.tolist())
    return replace(values, queries=queries, values=values.values[order], weights=weights)


def _board(
    own: Mapping[str, Values], facts: Facts, place: Mapping[str, int], better: Mapping[str, Better], notes: list[str]
) -> Board:
    first = next(iter(own.values()))
    if len({each.unit for each in own.values()}) > 1:
        units = ", ".join(f"{run} {each.unit}" for run, each in own.items())
        raise BadInput(f"{first.measure} has different units ({units}); evaluate all runs by one convention.")
    table = np.full((len(place), len(own)), np.nan)
    weights = np.full(table.shape, np.nan)
    for column, each in enumerate(own.values()):
        rows = [place[query] for query in each.queries]
        table[rows, column] = each.values
        weights[rows, column] = 1.0 if each.weights is None else each.weights
    if first.summary != "mean":
        notes.append(f"{first.measure} sums queries up by their {first.summary}; differences are compared by the mean of queries")
    weighted = any(each.weights is not None for each in own.values())
    both = ~np.isnan(table).any(axis=1)
    if weighted and (weights[both] != weights[both][:, :1]).any():
        notes.append(f"{first.measure}: a query weighs differently in the runs; differences are compared by the plain mean")
        weighted = False
    return Board(
        measure=first.measure,
        label=first.label,
        unit=first.unit,
        better=better.get(first.measure) or _known_better(first, notes),
        facts=facts,
        runs=tuple(own),
        values=table,
        weights=weights if weighted else None,
    )


def _known_better(values: Values, notes: list[str]) -> Better:
    """Which values of a measure are the better ones: as the measure says, else by its unit."""
    try:
        return parse_measure(values.measure).entry.better
    except BadUsage:
        better: Better = "lower" if values.unit == "rank" else "higher"
        notes.append(f"{values.measure} does not say which values are better; {better} ones are taken for it")
        return better


def choose_boards(world: World, names: Sequence[str]) -> World:
    """The world with the boards of these measures only, in this order. Raises UnknownName for one that there is not."""
    chosen: list[Board] = []
    for name in names:
        wanted = {name, _exact(name)}
        found = [board for board in world.boards if board.measure in wanted or board.label == name]
        if not found:
            known = list(dict.fromkeys(board.measure for board in world.boards))
            raise UnknownName(f"no measure {name!r} in these results; {suggest(name, known)}")
        chosen += [board for board in found if board not in chosen]
    return world._replace(boards=tuple(chosen))


def _exact(name: str) -> str:
    try:
        return str(parse_measure(name))
    except BadUsage:
        return name


def choose_pairs(runs: Sequence[str], baseline: str | None) -> tuple[Pair, ...]:
    """Every run against the baseline; where none is named, the second of two against the first, and all pairs of more.

    Raises UnknownName for a baseline that is no run.
    """
    if baseline is not None:
        if baseline not in runs:
            raise UnknownName(f"no run is called {baseline!r}; {suggest(baseline, runs)}")
        return tuple(Pair(run, baseline) for run in runs if run != baseline)
    return tuple(Pair(runs[later], runs[place]) for place in range(len(runs)) for later in range(place + 1, len(runs)))


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
