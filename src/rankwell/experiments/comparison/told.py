"""What a comparison says: a row per difference, sentences, and notes on what is left out or too small."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.core.tables.values import Values
from rankwell.experiments.comparison.pairing import Board, Pair, World
from rankwell.experiments.comparison.rankings import Order
from rankwell.experiments.comparison.testing import Column, Figures, Method
from rankwell.stats import MIN_QUERIES
from rankwell.stats.verdicts import Family, MeasuredDifference, leader, verdict

FEW = 50
"""Below so many queries bootstrap intervals cover less than they say (docs/statistics.md), and groups are called small."""

_MOST_SENTENCES = 3
Row = dict[str, Any]


def named(column: Column, *, several: bool) -> str:
    """The name of a difference as a measure; with whom, where there are several to compare with."""
    inner = f"{column.board.measure},against={column.pair.against!r}" if several else column.board.measure
    return f"Difference({inner})"


def difference_values(queries: tuple[str, ...], column: Column, *, several: bool) -> Values:
    """The differences of single queries as values of the run."""
    board = column.board
    label = f"Difference({board.label})" + (f" against {column.pair.against}" if several else "")
    return Values(
        run=column.pair.run,
        measure=named(column, several=several),
        label=label,
        unit=board.unit,
        summary="mean",
        queries=queries,
        values=column.differences,
    )


def difference_row(column: Column, found: Figures, method: Method, *, several: bool) -> Row:
    """The columns of a summary row, then what only a difference has."""
    board, (low, high) = column.board, found.interval or (None, None)
    one, other = found.means or (None, None)
    row: Row = {
        "run": column.pair.run,
        "measure": named(column, several=several),
        "label": f"Difference({board.label})" + (f" against {column.pair.against}" if several else ""),
        "mean": found.mean,
        "sd": found.sd,
        "ci_low": low,
        "ci_high": high,
        "n": found.n,
        "unit": board.unit,
        **board.facts,
        "against": column.pair.against,
        "of": board.measure,
        **({"group": column.group} if column.group else {}),
        "mean_run": one,
        "mean_against": other,
        "p": found.p,
        "p_adjusted": found.p_adjusted,
        "decisive": decisive(found, method),
        "better": board.better,
        "effect_size": found.effect,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "detectable": found.detectable,
        "queries_needed": found.needed,
    }
    return row if found.clusters is None else {**row, "clusters": found.clusters}


def decisive(found: Figures, method: Method) -> bool:
    """Whether the adjusted p-value is at most the level."""
    return found.p_adjusted is not None and found.p_adjusted <= method.alpha


def notes_on(
    columns: Sequence[Column], figures: Sequence[Figures], groups: Sequence[Column], parts: Sequence[Figures]
) -> list[str]:
    """What is left out, and what is too small to say much."""
    lone: dict[tuple[Pair, int], list[str]] = {}
    for column in columns:
        lone.setdefault((column.pair, column.board.lone(column.pair)), []).append(column.board.label)
    notes: list[str] = []
    for (pair, n), labels in lone.items():
        if n:
            what = f"{', '.join(dict.fromkeys(labels))}: {n} {'query counts' if n == 1 else 'queries count'} for one only"
            notes.append(f"{what} of {pair.run} and {pair.against}, and {'is' if n == 1 else 'are'} left out")
    sizes = [each.n if each.clusters is None else each.clusters for each in figures]
    if figures and min(sizes) < MIN_QUERIES:
        unit = "queries" if figures[0].clusters is None else "clusters"
        notes.append(f"no interval below {MIN_QUERIES} {unit} (here {min(sizes)})")
    small = {column.group: each.n for column, each in zip(groups, parts, strict=True) if each.n < FEW}
    if small:
        listed = ", ".join(f"{name} (n = {n})" for name, n in list(small.items())[:6])
        more = f" and {len(small) - 6} more" if len(small) > 6 else ""
        notes.append(
            f"small groups, below {FEW} queries, whose intervals are too narrow and whose tests find little: {listed}{more}"
        )
    return notes


def sentences(
    world: World,
    pairs: Sequence[Pair],
    columns: Sequence[Column],
    figures: Sequence[Figures],
    groups: Sequence[Column],
    parts: Sequence[Figures],
    method: Method,
) -> list[str]:
    """A verdict per pair by the first measure; of many pairs one on the leader, and those of the best systems."""
    family = _family(world, pairs, len(columns), method)
    shown = _by_pair(world, columns, figures, method)
    of_groups = _by_pair(world, groups, parts, method)
    first = world.boards[0]
    order = _order(first) if len(pairs) > _MOST_SENTENCES else []
    told: list[str] = []
    if order and len(pairs) == len(first.runs) * (len(first.runs) - 1) // 2:
        best = order[0][0]
        own = {pair: found for pair, found in shown.items() if best in pair}
        unclear = [run for run, _ in order[1:] if not next(each[0] for pair, each in own.items() if run in pair).decisive]
        second = next(each[0] for pair, each in own.items() if order[1][0] in pair)
        return [leader(order, unclear, second, family)]
    for pair, (found, *others) in shown.items():
        own = [each for each in of_groups.get(pair, []) if each.measure == found.measure]
        told.append(verdict(found, others, own, family=family, few=FEW))
    return told


def _order(board: Board) -> list[tuple[str, float]]:
    scores = Order("", board, np.ones(len(board.values), dtype=np.bool_)).scores
    if np.isnan(scores).any():
        return []
    return [(board.runs[place], float(board.sign * scores[place])) for place in np.argsort(-scores, kind="stable").tolist()]


def _family(world: World, pairs: Sequence[Pair], tests: int, method: Method) -> Family:
    boards, count = len(world.boards), len(pairs)
    of_boards = f"over {boards} measures" if boards > 1 else ""
    of_pairs = f"over {count} pairs" if count > 1 else ""
    described = f"over {count} pairs × {boards} measures" if of_boards and of_pairs else of_boards or of_pairs
    if method.correction == "tukey":
        described = f"over {len(world.runs)} systems"
    return Family(method.correction, tests, described, method.level, method.power)


def _by_pair(
    world: World, columns: Sequence[Column], figures: Sequence[Figures], method: Method
) -> dict[Pair, list[MeasuredDifference]]:
    """What was found of each pair, in the order of the measures."""
    found: dict[Pair, list[MeasuredDifference]] = {}
    alike = [board.label for board in world.boards]
    for column, each in zip(columns, figures, strict=True):
        board = column.board
        facts = ", ".join(f"{name} {value}" for name, value in board.facts.items() if value is not None)
        word = board.label if alike.count(board.label) == 1 or not facts else f"{board.label} ({facts})"
        found.setdefault(column.pair, []).append(
            MeasuredDifference(
                run=column.pair.run,
                against=column.pair.against,
                measure=word,
                unit=board.unit,
                better=board.better,
                difference=each.mean,
                interval=each.interval,
                p=each.p_adjusted,
                n=each.n,
                decisive=decisive(each, method),
                detectable=each.detectable,
                part=column.group,
            )
        )
    return found
