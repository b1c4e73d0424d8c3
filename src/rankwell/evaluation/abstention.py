"""Whether the scores of a run know how good its lists are: confidences of single queries, and rows
of nAUC, AURC and others.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, NamedTuple, Self, cast, get_args

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.figures import FIGURES
from rankwell.core.tables import Floats, Values
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadUsage, UnknownName, flag
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
        if len(scores):
            confidence[row] = _confidence(scores, kind)
    return empty_last(confidence)


def empty_last(confidence: Floats) -> Floats:
    """The confidences with a lower one than all others in place of NaN, that of a query without
    items.
    """
    empty = np.isnan(confidence)
    return np.where(
        empty, np.nextafter(0.0 if empty.all() else confidence[~empty].min(), -np.inf), confidence
    )


def _confidence(scores: Floats, kind: Confidence) -> float:
    if kind == "std":
        return float(np.std(scores))
    first, *lower_scores = np.sort(scores)[:-3:-1].tolist()
    return first if kind == "max" else first - (lower_scores or [first])[0]


@dataclass(frozen=True)
class AbstentionRules:
    """Choices of the figures. area: of the precision-recall curve. resamples: 0 for no
    intervals.
    """

    convention: Convention
    resamples: int
    seed: int
    area: Area = "step"

    @classmethod
    def of(cls, convention: Convention, intervals: str, seed: int, area: Area = "step") -> Self:
        """The choices under a rule of intervals: resamples for those of the bootstrap."""
        return cls(convention, 10_000 if intervals.startswith("bootstrap") else 0, seed, area)


class AbstentionRows(NamedTuple):
    """Summary rows of whole collections, the definitions of their measures, notes on measures
    without them, and the points of risk-coverage curves by run and AURC.
    """

    rows: list[dict[str, Any]]
    definitions: dict[str, dict[str, str]]
    notes: list[str]
    curves: list[dict[str, Any]]

    def extend(self, addition: "AbstentionRows") -> None:
        """Adds those of another run."""
        self.rows.extend(addition.rows)
        self.definitions.update(addition.definitions)
        self.notes.extend(addition.notes)
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
    abstention = AbstentionRows([], {}, [], [])
    for labelled_measure, values in measured:
        entry, counted = labelled_measure.measure.entry, values.counted
        if entry.better != "higher" or values.summary != "mean" or not counted.any():
            abstention.notes.append(
                f"no nAUC or AURC of {labelled_measure.label}: both are of means of values of "
                "which "
                "higher is better"
            )
            continue
        queries = list(compress(values.queries, counted.tolist()))
        shares, highest = (
            values.values[counted] / rules.convention.shows(entry.unit)[0],
            entry.bounds[1],
        )
        is_answer = _is_answer(labelled_measure, shares, abstention.notes)
        for kind in dict.fromkeys(kinds):
            confidence = confidence_of(queries, kind)
            for name, figure in _abstention_figures(
                shares, confidence, highest, rules, is_answer=is_answer
            ).items():
                area = _AREAS[rules.area] if name == "AUPRC" else ""
                exact = f"{name}({area}of='{values.measure}',confidence='{kind}')"
                cells = (
                    figure.value,
                    None,
                    *(figure.interval or (None, None)),
                    len(queries),
                    "score",
                )
                row = SummaryRow.of(
                    values.run, exact, f"{name} {labelled_measure.label} {kind}", *cells
                )
                abstention.rows.append(row | {"ceiling": figure.ceiling, "chance": figure.chance})
                abstention.definitions[exact] = _definition(
                    name, values.measure, kind, highest, rules.area
                )
                if name == "AURC":
                    points = risk_coverage(highest - shares, confidence)
                    curve = {
                        "run": values.run,
                        "measure": exact,
                        "of": labelled_measure.label,
                        "confidence": kind,
                        "points": points,
                    }
                    abstention.curves.append(curve)
    return abstention


def _is_answer(labelled_measure: LabelledMeasure, shares: Floats, notes: list[str]) -> bool:
    """Whether the values say which queries are answered; noted where those of tied items lie
    between 0 and 1.
    """
    if labelled_measure.measure.name != "Success" and (
        labelled_measure.measure.name,
        labelled_measure.measure.cutoff,
    ) != ("P", 1):
        return False
    if is_definite := bool(np.isin(shares, (0.0, 1.0)).all()):
        return is_definite
    notes.append(
        f"no AUROC, AUPRC or EP of {labelled_measure.label}: tied queries are answered in part; "
        "name a "
        "tie rule with a definite order"
    )
    return False


def _abstention_figures(
    shares: Floats, confidence: Floats, highest: float, rules: AbstentionRules, *, is_answer: bool
) -> dict[str, AbstentionFigure]:
    resampling = {"resamples": rules.resamples, "seed": rules.seed}
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


def _definition(
    name: str, measure: str, kind: Confidence, highest: float, area: Area
) -> dict[str, str]:
    figure = FIGURES[name]
    definition = figure.definition(
        measure=measure,
        by=f"by the {_WORDS[kind]} of each query",
        highest=f"{highest:g}",
        area="average precision" if area == "step" else "trapezoids, from precision 1 on",
    )
    return {
        "definition": definition,
        "better": figure.better,
        "summary": "mean",
        "source": figure.source,
    }
