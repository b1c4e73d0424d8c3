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
    given: Any, known: Sequence[Confidence] = get_args(Confidence)
) -> list[Confidence]:
    """The named kinds of confidence, of one name or of several. Raises UnknownName for another
    one.
    """
    named = [given] if isinstance(given, str) else given or []
    if not isinstance(named, (list, tuple)):
        raise BadUsage(
            f"{flag('--confidence', given)}; expected a name or a list of names, of "
            f"{', '.join(known)}."
        )
    for each in named:
        if each not in known:
            raise UnknownName(
                f"{flag('--confidence', each)} names no confidence; known are {', '.join(known)}."
            )
    return cast("list[Confidence]", list(named))


def confidences(
    ranking: Ranking, queries: Sequence[str], kind: Confidence, *, exclude_self: bool = False
) -> Floats:
    """(queries,) the highest score of each query's items, the deviation of all its scores, or the
    gap between the highest two.

    std divides by the number of items; diff1 of a single item is 0. A query without items has a
    lower confidence than all others. exclude_self: leaves out the item whose id is the query's own.
    Source: Gisserot-Boukhlef and others 2024; MTEB 2.26.24, retrieval_metrics.py,
    confidence_scores.
    """
    found = np.full(len(queries), np.nan)
    for place, query in enumerate(queries):
        rows = ranking.rows_of(query)
        scores = ranking.scores[rows]
        if exclude_self:
            scores = scores[[item != query for item in ranking.items[rows]]]
        if len(scores):
            found[place] = _confidence(scores, kind)
    return empty_last(found)


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
    first, *others = np.sort(scores)[:-3:-1].tolist()
    return first if kind == "max" else first - (others or [first])[0]


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

    def extend(self, other: "AbstentionRows") -> None:
        """Adds those of another run."""
        self.definitions.update(other.definitions)
        for mine, own in (
            (self.rows, other.rows),
            (self.notes, other.notes),
            (self.curves, other.curves),
        ):
            mine += own  # pyright: ignore[reportOperatorIssue]


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
    found = AbstentionRows([], {}, [], [])
    for each, values in measured:
        entry, counted = each.measure.entry, values.counted
        if entry.better != "higher" or values.summary != "mean" or not counted.any():
            found.notes.append(
                f"no nAUC or AURC of {each.label}: both are of means of values of which "
                "higher is better"
            )
            continue
        queries = list(compress(values.queries, counted.tolist()))
        shares, highest = (
            values.values[counted] / rules.convention.shows(entry.unit)[0],
            entry.bounds[1],
        )
        is_answer = _is_answer(each, shares, found.notes)
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
                row = SummaryRow.of(values.run, exact, f"{name} {each.label} {kind}", *cells)
                found.rows.append(row | {"ceiling": figure.ceiling, "chance": figure.chance})
                found.definitions[exact] = _definition(
                    name, values.measure, kind, highest, rules.area
                )
                if name == "AURC":
                    points = risk_coverage(highest - shares, confidence)
                    curve = {
                        "run": values.run,
                        "measure": exact,
                        "of": each.label,
                        "confidence": kind,
                        "points": points,
                    }
                    found.curves.append(curve)
    return found


def _is_answer(each: LabelledMeasure, shares: Floats, notes: list[str]) -> bool:
    """Whether the values say which queries are answered; noted where those of tied items lie
    between 0 and 1.
    """
    if each.measure.name != "Success" and (each.measure.name, each.measure.cutoff) != ("P", 1):
        return False
    if whole := bool(np.isin(shares, (0.0, 1.0)).all()):
        return whole
    notes.append(
        f"no AUROC, AUPRC or EP of {each.label}: tied queries are answered in part; name a "
        "tie rule with a definite order"
    )
    return False


def _abstention_figures(
    shares: Floats, confidence: Floats, highest: float, rules: AbstentionRules, *, is_answer: bool
) -> dict[str, AbstentionFigure]:
    drawn = {"resamples": rules.resamples, "seed": rules.seed}
    found = {"nAUC": nauc(shares, confidence, **drawn)}
    if np.isfinite(highest):
        found["AURC"] = aurc(highest - shares, confidence, **drawn)
    if is_answer:
        found["AUROC"] = auroc(shares, confidence, **drawn)
        found["AUPRC"] = auprc(shares, confidence, area=rules.area, **drawn)
        found["EP"] = extended_precision(shares, confidence)
    return found


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
