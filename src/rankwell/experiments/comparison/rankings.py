"""Several systems in order: by each measure and in each group of queries, how alike the orders are, and what they add up to."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.experiments.comparison.pairing import Board
from rankwell.experiments.comparison.testing import Column, Figures
from rankwell.stats.correlation import kendall_tau
from rankwell.stats.significance_letters import significance_letters
from rankwell.stats.system_rankings import (
    Friedman,
    borda_points,
    connected_groups,
    descending_ranks,
    friedman,
    rank_biased_overlap,
    tau_ap,
)

Row = dict[str, Any]


class Order(NamedTuple):
    """What orders systems: a board over some queries. name: as it is printed."""

    name: str
    board: Board
    rows: Bools

    @property
    def scores(self) -> Floats:
        """(runs,) the mean of each run over the queries that count for all runs, the higher the better; NaN without such."""
        board = self.board
        rows = self.rows & ~np.isnan(board.values).any(axis=1)
        if not rows.any():
            return np.full(len(board.runs), np.nan)
        if board.weights is None:
            return board.sign * board.values[rows].mean(axis=0)
        own = board.weights[rows]
        return board.sign * (board.values[rows] * own).sum(axis=0) / own.sum(axis=0)


def system_rows(boards: Sequence[Board], columns: Sequence[Column], figures: Sequence[Figures], alpha: float) -> list[Row]:
    """A row for every run and measure: its mean, its rank by it, its mean rank over queries, and its letters.

    Two runs share a letter where no decisive difference was found; letters are None where not every pair was compared.
    """
    rows: list[Row] = []
    for board in boards:
        every = np.ones(len(board.values), dtype=np.bool_)
        scores = Order("", board, every).scores
        if np.isnan(scores).any():
            continue
        ranks, blocks = descending_ranks(scores), friedman_of(board, round(1 - alpha, 12))
        letters = _letters(board, columns, figures, scores, alpha)
        for place, run in enumerate(board.runs):
            rows.append(
                {
                    "run": run,
                    "measure": board.measure,
                    **board.facts,
                    "mean": float(board.sign * scores[place]),
                    "rank": float(ranks[place]),
                    "mean_rank": None if blocks is None else float(blocks.ranks[place]),
                    "letters": None if letters is None else letters[place],
                    "unit": board.unit,
                }
            )
    return rows


def _letters(
    board: Board, columns: Sequence[Column], figures: Sequence[Figures], scores: Floats, alpha: float
) -> list[str] | None:
    apart = np.zeros((len(board.runs), len(board.runs)), dtype=np.bool_)
    compared = 0
    for column, each in zip(columns, figures, strict=True):
        if column.board is board:
            one, other = (board.runs.index(run) for run in column.pair)
            apart[one, other] = apart[other, one] = each.p_adjusted is not None and each.p_adjusted <= alpha
            compared += 1
    if compared < len(board.runs) * (len(board.runs) - 1) // 2:
        return None
    order = sorted(range(len(board.runs)), key=lambda run: (-scores[run], run))
    return significance_letters(apart, order)


def friedman_of(board: Board, level: float) -> Friedman | None:
    """Mean ranks over the queries that count for all runs."""
    rows = ~np.isnan(board.values).any(axis=1)
    return friedman(board.sign * np.round(board.values[rows], 12), level=level)


def rank_differences(boards: Sequence[Board], level: float) -> list[Row]:
    """For each measure what a critical-difference diagram shows: mean ranks, the difference that matters, groups within it."""
    rows: list[Row] = []
    for board in boards:
        found = friedman_of(board, level)
        if found is None:
            continue
        groups = connected_groups(found.ranks.tolist(), found.critical_difference)
        rows.append(
            {
                "measure": board.measure,
                "label": board.label,
                **board.facts,
                "queries": int((~np.isnan(board.values).any(axis=1)).sum()),
                "chi_square": found.chi_square,
                "p": found.p,
                "critical_difference": found.critical_difference,
                "mean_ranks": dict(zip(board.runs, found.ranks.tolist(), strict=True)),
                "not_told_apart": [[board.runs[system] for system in group] for group in groups],
            }
        )
    return rows


def order_rows(orders: Sequence[Order], groups: Sequence[Order]) -> list[Row]:
    """How alike each two orders of the same systems are, and the first of them and the order in each group.

    tau_ap and rbo look from the first of two, and are None with tied systems.
    """
    rows: list[Row] = []
    for first, second in [*combinations(orders, 2), *((orders[0], group) for group in groups)]:
        shared = [run for run in first.board.runs if run in second.board.runs]
        one = first.scores[[first.board.runs.index(run) for run in shared]]
        other = second.scores[[second.board.runs.index(run) for run in shared]]
        if len(shared) < 3 or np.isnan(one).any() or np.isnan(other).any():
            continue
        one, other = np.round(one, 12), np.round(other, 12)
        row = {"first": first.name, "second": second.name, "tau": kendall_tau(one, other)}
        rows.append({**row, "tau_ap": tau_ap(one, other), "rbo": rank_biased_overlap(one, other), "systems": len(shared)})
    return rows


def borda_rows(runs: Sequence[str], boards: Sequence[Board]) -> list[Row]:
    """The Borda points of every run over all measures as tasks, best first, with the rank that they make."""
    table = np.full((len(boards), len(runs)), np.nan)
    for place, board in enumerate(boards):
        scores = Order("", board, np.ones(len(board.values), dtype=np.bool_)).scores
        for run, score in zip(board.runs, np.round(scores, 12).tolist(), strict=True):
            table[place, runs.index(run)] = score
    points = borda_points(table)
    ranks = descending_ranks(points)
    rows = [
        {"run": run, "points": float(points[place]), "rank": float(ranks[place]), "tasks": len(boards)}
        for place, run in enumerate(runs)
    ]
    return sorted(rows, key=lambda row: row["rank"])
