"""Paired differences -> intervals, p-values, effect sizes: every column of a comparison by one method."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints
from rankwell.errors import BadUsage
from rankwell.experiments.comparison.pairing import Board, Pair
from rankwell.stats import MIN_QUERIES, Intervals, check_level
from rankwell.stats.detectable import minimal_detectable_difference, queries_needed
from rankwell.stats.effect_sizes import cohen_dz
from rankwell.stats.multiple_comparisons import benjamini_hochberg, holm
from rankwell.stats.paired_bootstrap import Bootstrapped, Differences, cluster_sums, paired_bootstrap
from rankwell.stats.paired_randomisation import max_t, paired_randomisation
from rankwell.stats.paired_t import PairedT, paired_t
from rankwell.stats.sign import sign_test
from rankwell.stats.tukey_hsd import randomised_tukey_hsd
from rankwell.stats.wilcoxon import wilcoxon

Test = Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"]
Correction = Literal["holm", "bh", "max-t", "tukey", "none"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """How differences are judged. level: of intervals, and 1 - level that of the tests. power: of the detectable difference.

    Raises BadUsage for what does not go together, and for numbers that cannot be.
    """

    test: Test = "randomisation"
    correction: Correction = "holm"
    intervals: Intervals = "bootstrap"
    level: float = 0.95
    power: float = 0.8
    resamples: int = 10_000
    seed: int = 0
    clustered: bool = False

    def __post_init__(self) -> None:
        check_level(self.level)
        if not self.alpha < self.power < 1:
            raise BadUsage(f"the power is {self.power}; it lies between {self.alpha:g} and 1, as 0.8 does.")
        if self.resamples < 1 or self.seed < 0:
            raise BadUsage(f"resamples={self.resamples}, seed={self.seed}: resamples are whole numbers from 1, seeds from 0.")
        if self.correction == "max-t" and self.test != "randomisation":
            raise BadUsage(f"max-T comes from sign flips; choose --test randomisation, or holm or bh for the {self.test} test.")
        if self.clustered and (self.test in ("wilcoxon", "sign") or self.correction == "tukey"):
            what = "Tukey's test" if self.correction == "tukey" else f"the {self.test} test"
            raise BadUsage(
                f"{what} takes queries for independent; with clusters choose randomisation, t or bootstrap, with holm."
            )

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return round(1 - self.level, 12)


class Column(NamedTuple):
    """What is judged: a pair on a board, over the chosen queries. group: their name, where they are not all."""

    board: Board
    pair: Pair
    rows: Bools
    group: str = ""

    @property
    def differences(self) -> Floats:
        """(queries,) NaN where a query does not count here."""
        return np.where(self.rows, self.board.differences(self.pair), np.nan)


class Figures(NamedTuple):
    """What is known of a column; None where there are too few queries for it.

    mean: of run less against; means: of each alone over the same queries. wins, ties, losses: of the run, by what is better.
    detectable: the difference that the test would find with the method's power. needed: the queries to find one as was seen.
    """

    mean: float | None
    means: tuple[float, float] | None
    sd: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_adjusted: float | None
    effect: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    needed: int | None
    n: int
    clusters: int | None


def judge(columns: Sequence[Column], method: Method, clusters: Ints | None) -> list[Figures]:
    """The figures of every column, their p-values adjusted for all of them together.

    clusters: (queries,) the number of each query's cluster, None where queries are independent.
    """
    if not columns:
        return []
    whole = [each.differences for each in columns]
    added = [_added(each, values, clusters) for each, values in zip(columns, whole, strict=True)]
    boot = _boot(added, method)
    p = _p_values(whole, added, boot, method)
    adjusted = _adjusted(columns, whole, p, method, clusters)
    rows = zip(columns, whole, added, boot, p, adjusted, strict=True)
    return [_figures(method, clusters is not None, *row) for row in rows]


def _added(column: Column, differences: Floats, clusters: Ints | None) -> Differences:
    """The differences that count, added up by cluster where there are clusters."""
    kept = ~np.isnan(differences)
    weights = column.board.shared_weights(column.pair)
    own = None if weights is None else weights[kept]
    if clusters is not None:
        return cluster_sums(differences[kept], clusters[kept], own)
    return Differences(differences[kept]) if own is None else Differences(differences[kept] * own, own)


def _boot(added: Sequence[Differences], method: Method) -> list[Bootstrapped]:
    if method.intervals != "bootstrap" and method.test != "bootstrap":
        return [Bootstrapped(None, None)] * len(added)
    sized = [each if _weighs(each) else Differences(np.zeros(0)) for each in added]
    test = method.test == "bootstrap"
    return paired_bootstrap(sized, test=test, resamples=method.resamples, seed=method.seed, level=method.level)


def _weighs(each: Differences) -> bool:
    return len(each.sums) > 0 and (each.sizes is None or bool(each.sizes.any()))


def _p_values(
    whole: Sequence[Floats], added: Sequence[Differences], boot: Sequence[Bootstrapped], method: Method
) -> list[float | None]:
    if method.test == "randomisation":
        pairs = [(np.zeros(len(each.sums)), each.sums) for each in added]
        return [each.p for each in paired_randomisation(pairs, resamples=method.resamples, seed=method.seed)]
    if method.test == "bootstrap":
        return [each.p for each in boot]
    if method.test == "t":
        return [None if found is None else found.p for found in (_t(each) for each in added)]
    counted = [values[~np.isnan(values)] for values in whole]
    tested = [wilcoxon(each).p if method.test == "wilcoxon" else sign_test(each).p for each in counted]
    return [p if len(each) else None for p, each in zip(tested, counted, strict=True)]


def _t(each: Differences) -> PairedT | None:
    return paired_t(each.sums, each.sizes) if _weighs(each) else None


def _adjusted(
    columns: Sequence[Column],
    whole: Sequence[Floats],
    p: Sequence[float | None],
    method: Method,
    clusters: Ints | None,
) -> list[float | None]:
    if method.correction == "tukey":
        return _tukey(columns, method)
    if method.correction == "max-t":
        # A query's or cluster's sign is one and the same in all columns.
        table = [_aligned(each, values, clusters) for each, values in zip(columns, whole, strict=True)]
        found = max_t(np.column_stack(table), resamples=method.resamples, seed=method.seed)
        return [None if math.isnan(each) else each for each in found.tolist()]
    known = [each for each in p if each is not None]
    adjust = {"holm": holm, "bh": benjamini_hochberg, "none": list}[method.correction]
    found = iter(adjust(known))
    return [None if each is None else next(found) for each in p]


def _aligned(column: Column, differences: Floats, clusters: Ints | None) -> Floats:
    """(queries,) or (clusters,) what a column adds up, at the same place in every column; NaN where nothing counts."""
    weights = column.board.shared_weights(column.pair)
    table = differences if weights is None else differences * weights
    if clusters is None:
        return table
    counted = ~np.isnan(table)
    size = int(clusters.max()) + 1
    sums = np.bincount(clusters[counted], weights=table[counted], minlength=size)
    return np.where(np.bincount(clusters[counted], minlength=size) > 0, sums, np.nan)


def _tukey(columns: Sequence[Column], method: Method) -> list[float | None]:
    """The p-values over all systems of each board and group, over the queries that count for all of them."""
    done: dict[tuple[int, str], Floats | None] = {}
    found: list[float | None] = []
    for each in columns:
        key = (id(each.board), each.group)
        if key not in done:
            if each.board.weights is not None:
                raise BadUsage(f"{each.board.measure} is a weighted mean, which Tukey's test cannot compare; choose holm.")
            rows = each.rows & ~np.isnan(each.board.values).any(axis=1)
            table = np.round(each.board.values[rows], 12)
            done[key] = randomised_tukey_hsd(table, resamples=method.resamples, seed=method.seed)[1] if rows.any() else None
        p = done[key]
        runs = each.board.runs
        found.append(None if p is None else float(p[runs.index(each.pair.run), runs.index(each.pair.against)]))
    return found


def _figures(
    method: Method,
    clustered: bool,
    column: Column,
    differences: Floats,
    added: Differences,
    boot: Bootstrapped,
    p: float | None,
    adjusted: float | None,
) -> Figures:
    kept = ~np.isnan(differences)
    own, n = differences[kept], int(kept.sum())
    weighs = _weighs(added)
    student = _t(added)
    interval = boot.interval if method.intervals == "bootstrap" else None
    units = len(added.sums)
    if method.intervals == "t" and student is not None and units >= MIN_QUERIES:
        interval = student.interval(method.level)
    mean = added.mean if weighs else None
    # The spread of one query's (or cluster's) difference that gives the mean its error.
    spread = None if student is None else student.error * math.sqrt(units)
    options = {"alpha": method.alpha, "power": method.power}
    wins, losses = np.count_nonzero(own * column.board.sign > 0), np.count_nonzero(own * column.board.sign < 0)
    return Figures(
        mean=mean,
        means=_means(column, kept) if weighs else None,
        sd=float(own.std(ddof=1)) if n > 1 else None,
        interval=interval,
        p=p,
        p_adjusted=adjusted,
        effect=cohen_dz(own),
        wins=int(wins),
        ties=n - int(wins) - int(losses),
        losses=int(losses),
        detectable=minimal_detectable_difference(spread, units, **options) if spread else None,
        needed=queries_needed(mean, spread, **options) if spread and mean else None,
        n=n,
        clusters=units if clustered else None,
    )


def _means(column: Column, kept: Bools) -> tuple[float, float]:
    weights = column.board.shared_weights(column.pair)
    own = np.ones(int(kept.sum())) if weights is None else weights[kept]
    one, other = (float((column.board.column(run)[kept] * own).sum() / own.sum()) for run in column.pair)
    return one, other
