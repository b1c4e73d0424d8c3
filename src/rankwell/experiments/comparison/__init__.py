"""Values of two systems or more -> paired differences with intervals and tests, verdicts in words, and the order of systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.registry import Better
from rankwell.core.tables import Bools, Ints, sort_ids
from rankwell.core.tables.values import Values
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.evaluation.results import Results
from rankwell.experiments.comparison.pairing import Board, Facts, Pair, World, choose_boards, choose_pairs, in_order, side_by_side
from rankwell.experiments.comparison.rankings import Order, borda_rows, order_rows, rank_differences, system_rows
from rankwell.experiments.comparison.testing import Column, Correction, Method, Test, judge
from rankwell.experiments.comparison.told import Row, difference_row, difference_values, notes_on, sentences
from rankwell.stats import Intervals
from rankwell.store import Source

__all__ = ["Attribute", "Correction", "Method", "Origin", "Test", "compare_values"]

_MOST_VALUES = 12


class Attribute(NamedTuple):
    """What is known of queries under one name, such as their type: query -> text. A query that is not in it has none."""

    name: str
    of: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where values come from, for the rules and the folder of a comparison; see `Results`. better: which values are better."""

    rules: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: Sequence[str] = ()
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    details: Mapping[str, Sequence[Any]] | None = None
    items: Mapping[str, Sequence[Any]] | None = None
    queries: Mapping[str, Sequence[Any]] | None = None
    better: Mapping[str, Better] = field(default_factory=dict[str, Better])
    protocol: str = "runs"


def compare_values(
    values: Sequence[Values],
    *,
    facts: Sequence[Facts] = (),
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    test: Test = "randomisation",
    correction: Correction = "holm",
    group: Attribute | None = None,
    cluster: Attribute | None = None,
    intervals: Intervals = "bootstrap",
    level: float = 0.95,
    power: float = 0.8,
    resamples: int = 10_000,
    seed: int = 0,
    origin: Origin | None = None,
) -> Results:
    """Which of two systems or more is better, on the queries that count for both of a pair.

    values: one element per run and measure; the first measure is the one that verdicts are about. facts: for each element what
    tells it from others of its measure (`direction`). baseline: the run that all others are held against; by default the first of
    two, and all pairs of more. measures: only these. group: an attribute of queries, each of whose values is judged alone, all of
    them being one family of tests. cluster: queries with the same value are drawn and flipped together.
    level: of intervals; 1 - level is that of the tests. power: of the differences that are called detectable.
    The same values and seed give the same bytes, in any order of queries. Raises BadUsage, UnknownName and BadInput for what
    cannot be compared, NothingToEvaluate where no two runs share a counted query.
    """
    method = Method(
        test=test,
        correction=correction,
        intervals=intervals,
        level=level,
        power=power,
        resamples=resamples,
        seed=seed,
        clustered=cluster is not None,
    )
    origin = origin or Origin()
    told = [dict(fact) for fact in facts] or [{} for _ in values]
    world = side_by_side(values, told, origin.better)
    world = choose_boards(world, measures) if measures else world
    clusters = None if cluster is None else _numbered(world, cluster)
    kept = [(in_order(each), fact) for each, fact in zip(values, told, strict=True) if _is_compared(each, fact, world.boards)]
    rules = dict(origin.rules) | {name: each.name for name, each in (("group", group), ("cluster", cluster)) if each}
    return _compared(world, choose_pairs(world.runs, baseline), method, clusters, group, kept, replace(origin, rules=rules))


def _compared(
    world: World,
    pairs: Sequence[Pair],
    method: Method,
    clusters: Ints | None,
    group: Attribute | None,
    own: Sequence[tuple[Values, dict[str, Any]]],
    origin: Origin,
) -> Results:
    every = np.ones(len(world.queries), dtype=np.bool_)
    columns = _columns(world.boards, pairs, every)
    parts = [] if group is None else _parts(world, pairs, group)
    if all(np.isnan(each.differences).all() for each in columns):
        raise NothingToEvaluate(
            f"no query counts for two of {', '.join(map(repr, world.runs))}; compare runs over the same queries."
        )
    figures, of_parts = judge(columns, method, clusters), judge(parts, method, clusters)
    several = len({pair.against for pair in pairs}) > 1
    rows = [difference_row(*each, method, several=several) for each in zip(columns, figures, strict=True)]
    group_rows = [difference_row(*each, method, several=several) for each in zip(parts, of_parts, strict=True)]
    notes = [*origin.notes, *world.notes, *notes_on(columns, figures, parts, of_parts)]
    ranked = len(world.runs) > 2
    blank: dict[str, Any] = dict.fromkeys(name for _, fact in own for name in fact)
    verdicts = sentences(world, pairs, columns, figures, parts, of_parts, method)
    tables: dict[str, list[Row]] = {
        "verdicts": [{"text": text} for text in verdicts],
        "groups": list(group_rows),
        "systems": list(system_rows(world.boards, columns, figures, method.alpha) if ranked else ()),
        "orders": list(order_rows(*_orders(world, parts)) if ranked else ()),
        "borda": list(borda_rows(world.runs, world.boards) if ranked and len(world.boards) > 1 else ()),
        "mean_ranks": list(rank_differences(world.boards, method.level) if ranked else ()),
    }
    baseline = None if several else pairs[0].against
    return Results(
        values=(*(each for each, _ in own), *(difference_values(world.queries, each, several=several) for each in columns)),
        summarised=len(own),
        aggregates=tuple(rows),
        rules=_rules(origin, method, baseline, tables["mean_ranks"]),
        notes=tuple(dict.fromkeys(notes)),
        row_attributes=(
            *(blank | fact | {"against": None} for _, fact in own),
            *(blank | dict(each.board.facts) | {"against": each.pair.against} for each in columns),
        ),
        query_columns=(*blank, "against"),
        sources=origin.sources,
        details=origin.details,
        queries=origin.queries,
        items=origin.items,
        task=origin.protocol,
        intervals=method.intervals,
        seed=method.seed,
        tables={name: rows for name, rows in tables.items() if rows},
        objects={
            "method": method,
            "baseline": baseline,
            "differences": tuple(rows),
            "verdicts": tuple(verdicts),
            **{name: tuple(tables[name]) for name in ("groups", "systems", "orders", "borda", "mean_ranks")},
        },
    )


def _rules(origin: Origin, method: Method, baseline: str | None, mean_ranks: Sequence[Row]) -> dict[str, Any]:
    """The rules of the evaluation where there was one, and of the comparison; intervals, seed and version keep their places."""
    return {
        **origin.rules,
        **dict.fromkeys(("intervals", "seed", "version")),
        "test": method.test,
        "correction": method.correction,
        "level": method.level,
        "power": method.power,
        "resamples": method.resamples,
        "baseline": baseline or "none",
        "mean_ranks": list(mean_ranks),
    }


def _is_compared(values: Values, fact: Facts, boards: Sequence[Board]) -> bool:
    return any(board.measure == values.measure and board.facts == fact for board in boards)


def _columns(boards: Sequence[Board], pairs: Sequence[Pair], rows: Bools, name: str = "") -> list[Column]:
    """Every pair on every board that both are on."""
    return [Column(board, pair, rows, name) for pair in pairs for board in boards if set(pair) <= set(board.runs)]


def _parts(world: World, pairs: Sequence[Pair], group: Attribute) -> list[Column]:
    """The columns of every group of the queries, groups in the order of their names."""
    told = _in_ranges([group.of.get(query) for query in world.queries])
    if not any(told):
        raise BadInput(f"no query has a value of {group.name!r}; name another attribute to group by.")
    columns: list[Column] = []
    for text in _ordered({each for each in told if each}):
        rows = np.array([each == text for each in told])
        columns += _columns(
            world.boards,
            pairs,
            rows,
            f"{group.name} {text}" if text.startswith(("at most ", "above ")) else f"{group.name} = {text}",
        )
    without = np.array([not each for each in told])
    return columns + (_columns(world.boards, pairs, without, f"{group.name} not given") if without.any() else [])


def _in_ranges(texts: Sequence[str | None]) -> list[str | None]:
    """The values as they are; of many different numbers, which quarter of all each belongs to."""
    known = {text for text in texts if text}
    numbers = {text: number for text in known if (number := _number(text)) is not None}
    if len(known) <= _MOST_VALUES or len(numbers) < len(known):
        return list(texts)
    values = [numbers[text] for text in texts if text]
    edges = np.unique(np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")).tolist()
    words: dict[str, str] = {}
    for text in known:
        place = int(np.searchsorted(edges[1:-1], numbers[text], side="left"))
        words[text] = f"at most {edges[1]:g}" if place == 0 else f"above {edges[place]:g} to {edges[place + 1]:g}"
    return [words[text] if text else None for text in texts]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _ordered(texts: set[str]) -> list[str]:
    """Numbers and ranges by size, other texts by their bytes."""
    ranges = {text: _number(text.removeprefix("above ").split(" to ")[0]) for text in texts}
    if all(number is not None or text.startswith("at most ") for text, number in ranges.items()):
        return sorted(texts, key=lambda text: -np.inf if (number := ranges[text]) is None else number)
    return sort_ids(texts)


def _numbered(world: World, cluster: Attribute) -> Ints:
    """(queries,) the number of each query's cluster. Raises BadInput for a query that is in none."""
    bare = next((query for query in world.queries if not cluster.of.get(query)), None)
    if bare is not None:
        raise BadInput(f"query {bare!r} has no value of {cluster.name!r}; every query belongs to a cluster.")
    names = {name: at for at, name in enumerate(sort_ids({cluster.of[query] for query in world.queries}))}
    return np.array([names[cluster.of[query]] for query in world.queries], dtype=np.int64)


def _orders(world: World, parts: Sequence[Column]) -> tuple[list[Order], list[Order]]:
    """By every measure over all queries; and by the first measure in every group."""
    every = np.ones(len(world.queries), dtype=np.bool_)
    labels = [board.label for board in world.boards]
    orders = [
        Order(board.label if labels.count(board.label) == 1 else f"{board.label} {dict(board.facts)}", board, every)
        for board in world.boards
    ]
    groups = {each.group: each.rows for each in parts}
    return orders, [Order(f"{labels[0]}, {name}", world.boards[0], rows) for name, rows in groups.items()]
