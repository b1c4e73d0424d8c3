"""Bounds under unjudged items, and whether the scores of a run know how good its lists are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    no_abstention_figures,
    only_relevant_items_judged,
    unjudged_in_top,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking
from rankwell.data.registry import FIGURES, Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Values,
    exact_mean,
    format_value,
    positions_by_id,
    sum_by,
)
from rankwell.errors import BadUsage, UnknownName, flag
from rankwell.evaluation.details import DetailColumns
from rankwell.evaluation.judged import JudgedRun, LinearMeasure
from rankwell.stats import SummaryRow
from rankwell.stats.abstention import (
    AbstentionFigure,
    Area,
    auprc,
    aurc,
    auroc,
    extended_precision,
    nauc,
    risk_coverage,
)

_SPREAD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
DEFINITE = ("id-desc", "id-asc", "input", "error")
"""Tie rules that leave every item one rank."""


def is_reciprocal(measure: Measure) -> bool:
    """Whether it is RR with a cut-off, over judged and unjudged items."""
    return (
        measure.name == "RR"
        and measure.cutoff is not None
        and not measure.parameters["judged_only"]
    )


def most_possible(measure: Measure, view: JudgedRankings) -> Floats | None:
    """Value of each query if all its unjudged items had the highest grade; None for a measure
    without bounds.

    The least value is the one under the rule that an unjudged item is not relevant. view: in one
    definite order.
    """
    k = measure.cutoff
    judged = view.is_judged & view.within(k)
    if is_reciprocal(measure):
        bare = judged & ~view.relevant(measure.parameters["rel"])
        # Judged items without relevance that begin a list: those whose rank is their number among
        # them.
        begins = bare & (view.count_so_far(bare) == view.ranks)
        best_rank = view.sum_rows(begins) + 1
        return np.where(best_rank <= view.list_length(k), 1 / best_rank, 0.0)
    linear = LinearMeasure.of(measure)
    if linear is None or k is None:
        return None
    cumulative_weights = np.concatenate([np.zeros(1), np.cumsum(linear.weights)])
    judged_weights = np.where(judged, linear.weights[np.minimum(view.ranks, k) - 1], 0.0)
    return measure(view) + np.maximum(
        cumulative_weights[view.list_length(k)] - view.sum_rows(judged_weights), 0.0
    )


def unjudged_bounds(
    run: JudgedRun, measures: Iterable[LabelledMeasure], counted: Bools, convention: Convention
) -> list[Finding]:
    """A finding on the bounds of a run's means by all measures that have some, none where its first
    places are judged; where only relevant items are judged, one that says so.

    counted: (queries,) those in the means.
    """
    if run.ties not in DEFINITE or not counted.any():
        return []
    view, bounds_by_cutoff, lowest = run.resolved, dict[int, list[str]](), 0.0
    for measure, label in measures:
        most, k = most_possible(measure, view), measure.cutoff
        if most is None or k is None or measure.entry.summary != "mean":
            continue
        scale, unit = convention.shows(measure.entry.unit)
        low, high = (exact_mean(values[counted]) * scale for values in (measure(view), most))
        if high - low > 1e-12:
            lowest = max(lowest, measure.parameters.get("rel") or 0.0)
            tail_note = f" (without what lies beyond rank {k})" if measure.name == "RBP" else ""
            bounds_by_cutoff.setdefault(k, []).append(
                f"{label} is between {format_value(low, unit)} and "
                f"{format_value(high, unit)}{tail_note}"
            )
    if not bounds_by_cutoff:
        return []
    if ((view.judged_grades > 0) & (view.judged_grades >= lowest)).all():
        return [only_relevant_items_judged()]
    unjudged = {k: _unjudged_within(view, k) for k in bounds_by_cutoff}
    parts = [
        f"{', '.join(words)}: {_share(view, k, unjudged[k], counted)} of its first {k} are unjudged"
        for k, words in bounds_by_cutoff.items()
    ]
    concerned = counted & (unjudged[max(unjudged)] > 0)
    queries = list(compress(view.queries, concerned.tolist()))
    return [unjudged_in_top(run.name, "; ".join(parts), queries)]


def _unjudged_within(view: JudgedRankings, k: int) -> Floats:
    """Number of unjudged items among the first k of each query."""
    return view.list_length(k) - view.sum_rows(view.is_judged & view.within(k))


def _share(view: JudgedRankings, k: int, unjudged: Floats, counted: Bools) -> str:
    share = 100 * unjudged[counted].sum() / view.list_length(k)[counted].sum()
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


class UnjudgedItems:
    """The unjudged items among the first `depth` of each query, by run, in 13 bytes each."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._queries: dict[str, int] = {}
        self._runs: dict[str, list[RankedItems]] = {}

    @classmethod
    def of(cls, depth: int, columns: Mapping[str, Any]) -> "UnjudgedItems":
        """Those among the rows of details, by their columns run, query, item, rank and state; none
        where there is no column.
        """
        items = cls(depth)
        if isinstance(columns, DetailColumns):
            for run, rows in columns.by_run("query", "item", "rank", "state"):
                items.add_run(run, rows)
        else:
            items.add(columns)
        return items

    def add(
        self, columns: Mapping[str, Any], renamed: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Adds those among rows of details. renamed: the names of runs here, where they differ."""
        run = np.asarray(columns.get("run", ()), dtype=object)
        # The rows of a run stand together.
        edges = [0, *(np.flatnonzero(run[1:] != run[:-1]) + 1).tolist(), len(run)]
        for start, end in pairwise(edges) if len(run) else ():
            self.add_run(
                renamed.get(run[start], run[start]),
                {name: cells[start:end] for name, cells in columns.items()},
            )

    def add_run(self, run: str, columns: Mapping[str, Any]) -> None:
        """Adds those among rows of details of one run: the columns query, item, rank and state."""
        rank = np.asarray(columns["rank"], dtype=np.float64)  # None is NaN.
        rows = np.flatnonzero(
            (np.asarray(columns["state"], dtype=object) == "unjudged") & (rank <= self.depth)
        )
        queries, items = (
            np.asarray(columns[name], dtype=object)[rows].tolist() for name in ("query", "item")
        )
        query = [self._queries.setdefault(query_id, len(self._queries)) for query_id in queries]
        # Two items of a query would count as one if their ids had one hash, of 2⁶⁴.
        item = np.fromiter(map(hash, items), dtype=np.int64, count=len(items))
        self._runs.setdefault(run, []).append(
            RankedItems(np.array(query, dtype=np.int32), item, rank[rows].astype(np.uint8))
        )

    def ranked(self, queries: Sequence[str]) -> Callable[[str, int], "RankedItems"]:
        """The rows of a run down to a rank, with the places of queries among these; without other
        queries.
        """
        index = positions_by_id(queries)
        numbers = np.array([index.get(query, -1) for query in self._queries], dtype=np.int64)

        def _of(run: str, k: int) -> RankedItems:
            parts = self._runs.get(run) or [RankedItems(*np.zeros((3, 0), dtype=np.int64))]
            query, item, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
            owner = numbers[query]
            rows = np.flatnonzero((owner >= 0) & (rank <= k))
            # One number for a query and an item.
            pair = item[rows] + owner[rows] * _SPREAD
            return RankedItems(owner[rows], pair, rank[rows].astype(np.int64))

        return _of


class RankedItems(NamedTuple):
    """Unjudged items as numbers.

    query, pair, rank: (rows,) the query, the number of the query and item together, and the rank.
    """

    query: NDArray[Any]
    pair: Ints
    rank: NDArray[Any]


def difference_bounds(
    measure: Measure,
    items: Callable[[str, int], RankedItems],
    runs: tuple[str, str],
    values: tuple[Floats, Floats],
) -> tuple[Floats, Floats] | None:
    """Least and greatest difference of the first run less the second, per query; None for a measure
    without bounds.

    items: of a run down to a rank. values: (queries,) of both runs with unjudged items as not
    relevant, NaN where a query does not count.
    """
    k = measure.cutoff
    if k is None:
        return None
    first, second = (items(run, k) for run in runs)
    if is_reciprocal(measure):
        return -_most_reciprocal(second, first, values[1], values[0]), _most_reciprocal(
            first, second, values[0], values[1]
        )
    linear = LinearMeasure.of(measure)
    if linear is None:
        return None
    # An item of both lists has one grade, so that its two weights are added before their sign
    # decides.
    pairs, pair_index = np.unique(np.concatenate([first.pair, second.pair]), return_inverse=True)
    weights = np.concatenate([linear.weights[first.rank - 1], -linear.weights[second.rank - 1]])
    net = sum_by(pair_index, weights, len(pairs))
    owner = np.zeros(len(pairs), dtype=np.int64)
    owner[pair_index] = np.concatenate([first.query, second.query])
    low, high = (
        values[0] - values[1] + sum_by(owner, end(net, 0), len(values[0]))
        for end in (np.minimum, np.maximum)
    )
    return low, high


def _most_reciprocal(
    run_items: RankedItems, against_items: RankedItems, value: Floats, against: Floats
) -> Floats:
    """Greatest difference of the reciprocal ranks of each query: one unjudged item is relevant, or
    none is, in both lists alike.
    """
    most = value - against
    first_rank = np.divide(1.0, value, out=np.full(len(value), np.inf), where=value > 0)
    # Behind its first relevant item an unjudged one adds nothing to the list, and may add to the
    # other.
    candidates = np.flatnonzero(run_items.rank < first_rank[run_items.query] - 0.5)
    gain_against = np.zeros(len(candidates))
    _, in_run, in_against = np.intersect1d(
        run_items.pair[candidates], against_items.pair, assume_unique=True, return_indices=True
    )
    gain_against[in_run] = 1 / against_items.rank[in_against]
    owner = run_items.query[candidates]
    np.maximum.at(
        most, owner, 1 / run_items.rank[candidates] - np.maximum(gain_against, against[owner])
    )
    return most


Confidence = Literal["max", "std", "diff1"]


def confidence_kinds(
    confidence: Any, kinds: Sequence[Confidence] = get_args(Confidence)
) -> list[Confidence]:
    """The kinds of confidence of a name or of several. Raises UnknownName for any other."""
    names = [confidence] if isinstance(confidence, str) else confidence or []
    if not isinstance(names, (list, tuple)):
        raise BadUsage(
            f"{flag('--confidence', confidence)}; expected a name or a list of names, of "
            f"{', '.join(kinds)}."
        )
    for name in names:
        if name not in kinds:
            raise UnknownName(
                f"{flag('--confidence', name)} names no confidence; known are {', '.join(kinds)}."
            )
    return cast("list[Confidence]", list(names))


def confidences(
    ranking: Ranking, queries: Sequence[str], kind: Confidence, *, exclude_self: bool = False
) -> Floats:
    """The confidence of each query: the highest score of its items, the deviation of its scores, or
    the gap between the highest two.

    std divides by the number of items; diff1 of a single item is 0. A query without items has a
    lower confidence than all others. exclude_self: leaves out the item whose id is the query's own.
    Source: Gisserot-Boukhlef and others 2024; MTEB 2.26.24, retrieval_metrics.py,
    confidence_scores.
    """
    confidence = np.full(len(queries), np.nan)
    for row, query in enumerate(queries):
        rows = ranking.rows_of(query)
        scores = ranking.scores[rows]
        if exclude_self:
            scores = scores[[item != query for item in ranking.items[rows]]]
        if len(scores) and kind == "std":
            confidence[row] = np.std(scores)
        elif len(scores):
            first, *lower_scores = np.sort(scores)[:-3:-1].tolist()
            confidence[row] = first if kind == "max" else first - (lower_scores or [first])[0]
    return empty_last(confidence)


def empty_last(confidence: Floats) -> Floats:
    """The confidences with a lower one than all others in place of NaN, that of a query without
    items.
    """
    empty = np.isnan(confidence)
    return np.where(
        empty, np.nextafter(0.0 if empty.all() else confidence[~empty].min(), -np.inf), confidence
    )


@dataclass(frozen=True)
class AbstentionRules:
    """Choices that the figures of abstention depend on.

    convention: the convention whose unit the values have; they are converted to shares.
    intervals: the kind of interval in the summary; where it is a bootstrap, the figures have
        bootstrap intervals too.
    seed: decides the draw of the resamples.
    area: the rule for the area below the precision-recall curve.
    """

    convention: Convention
    intervals: str
    seed: int
    area: Area = "step"


class AbstentionRows(NamedTuple):
    """Figures of abstention, in the form that results have.

    rows: summary rows of whole collections, with `ceiling` and `chance`.
    definitions: exact name of a figure -> its definition, with direction and source.
    findings: findings on measures without such figures.
    curves: the points of the risk-coverage curve for each run and AURC.
    """

    rows: list[dict[str, Any]]
    definitions: dict[str, dict[str, str]]
    findings: list[Finding]
    curves: list[dict[str, Any]]

    def extend(self, addition: "AbstentionRows") -> None:
        """Adds those of another run."""
        self.rows.extend(addition.rows)
        self.definitions.update(addition.definitions)
        self.findings.extend(addition.findings)
        self.curves.extend(addition.curves)


def abstention_rows(
    confidence_of: Callable[[Sequence[str], Confidence], Floats],
    kinds: Sequence[Confidence],
    measured: Iterable[tuple[LabelledMeasure, Values]],
    rules: AbstentionRules,
) -> AbstentionRows:
    """The rows of one run: nAUC and AURC of each of its measures by each kind of confidence; of
    Success and P@1 the areas under the ROC and the precision-recall curve of the answered queries,
    and extended precision, too.

    confidence_of: gives the confidences of queries. measured: measures with their values in the
    convention's unit.
    Only means of values that are better when they are higher have these figures; AURC needs a
    highest value as well, as its loss is that value minus the query's.
    """
    rows, definitions, findings, curves = abstention = AbstentionRows([], {}, [], [])
    for labelled, values in measured:
        measure, label = labelled
        entry, counted = measure.entry, values.counted
        if entry.better != "higher" or values.summary != "mean" or not counted.any():
            reason = "both are of means of values of which higher is better"
            findings.append(no_abstention_figures("nAUC or AURC", label, reason))
            continue
        queries, highest = list(compress(values.queries, counted.tolist())), entry.bounds[1]
        shares = values.values[counted] / rules.convention.shows(entry.unit)[0]
        is_answer = _is_answer(labelled, shares, findings)
        for kind in dict.fromkeys(kinds):
            confidence = confidence_of(queries, kind)
            for name, estimate in _abstention_figures(
                shares, confidence, highest, rules, is_answer=is_answer
            ).items():
                area = _AREAS[rules.area] if name == "AUPRC" else ""
                exact = f"{name}({area}of='{values.measure}',confidence='{kind}')"
                row = SummaryRow.of(
                    values.run,
                    exact,
                    f"{name} {label} {kind}",
                    estimate.value,
                    None,
                    *(estimate.interval or (None, None)),
                    len(queries),
                    "score",
                )
                rows.append(row | {"ceiling": estimate.ceiling, "chance": estimate.chance})
                collection_figure = FIGURES[name]
                definitions[exact] = {
                    "definition": collection_figure.definition(
                        measure=values.measure,
                        by=f"by the {_WORDS[kind]} of each query",
                        highest=f"{highest:g}",
                        area=_AREA_WORDS[rules.area],
                    ),
                    "better": collection_figure.better,
                    "summary": "mean",
                    "source": collection_figure.source,
                }
                if name == "AURC":
                    curves.append(
                        {
                            "run": values.run,
                            "measure": exact,
                            "of": label,
                            "confidence": kind,
                            "points": risk_coverage(highest - shares, confidence),
                        }
                    )
    return abstention


def _is_answer(labelled: LabelledMeasure, shares: Floats, findings: list[Finding]) -> bool:
    """Whether the values say which queries are answered; a finding where those of tied items lie
    between 0 and 1.
    """
    measure, label = labelled
    if measure.name != "Success" and (measure.name, measure.cutoff) != ("P", 1):
        return False
    is_definite = bool(np.isin(shares, (0.0, 1.0)).all())
    if not is_definite:
        reason = "tied queries are answered in part; name a tie rule with a definite order"
        findings.append(no_abstention_figures("AUROC, AUPRC or EP", label, reason))
    return is_definite


def _abstention_figures(
    shares: Floats, confidence: Floats, highest: float, rules: AbstentionRules, *, is_answer: bool
) -> dict[str, AbstentionFigure]:
    resamples = 10_000 if rules.intervals.startswith("bootstrap") else 0
    resampling = {"resamples": resamples, "seed": rules.seed}
    figures = {"nAUC": nauc(shares, confidence, **resampling)}
    if np.isfinite(highest):
        figures["AURC"] = aurc(highest - shares, confidence, **resampling)
    if is_answer:
        figures["AUROC"] = auroc(shares, confidence, **resampling)
        figures["AUPRC"] = auprc(shares, confidence, area=rules.area, **resampling)
        figures["EP"] = extended_precision(shares, confidence)
    return figures


_WORDS = {
    "max": "highest score",
    "std": "standard deviation of the scores",
    "diff1": "gap between the two highest scores",
}
_AREAS: dict[Area, str] = {"step": "", "trapezoid": "area='trapezoid',"}
_AREA_WORDS: dict[Area, str] = {
    "step": "average precision",
    "trapezoid": "trapezoids, from precision 1 on",
}
