"""Whether the scores of a run know how good its lists are: confidences of single queries, and rows of nAUC and AURC."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.tables import Floats, Values
from rankwell.core.tables.ranking import Ranking
from rankwell.stats import SummaryRow
from rankwell.stats.abstention import aurc, nauc

Confidence = Literal["max", "std", "diff1"]


def confidences(ranking: Ranking, queries: Sequence[str], kind: Confidence, *, exclude_self: bool = False) -> Floats:
    """(queries,) the highest score of each query's items, the deviation of all its scores, or the gap between the highest two.

    std divides by the number of items; diff1 of a single item is 0. A query without items has a lower confidence than all others.
    exclude_self: leaves out the item whose id is the query's own.
    Source: Gisserot-Boukhlef and others 2024; MTEB 2.26.24, retrieval_metrics.py, confidence_scores.
    """
    found = np.full(len(queries), np.nan)
    for place, query in enumerate(queries):
        rows = ranking.rows_of(query)
        scores = ranking.scores[rows]
        if exclude_self:
            scores = scores[[item != query for item in ranking.items[rows]]]
        if len(scores):
            found[place] = _confidence(scores, kind)
    empty = np.isnan(found)
    found[empty] = np.nextafter(0.0 if empty.all() else found[~empty].min(), -np.inf)
    return found


def _confidence(scores: Floats, kind: Confidence) -> float:
    if kind == "std":
        return float(np.std(scores))
    first, *others = np.sort(scores)[:-3:-1].tolist()
    return first if kind == "max" else first - (others or [first])[0]


class AbstentionRows(NamedTuple):
    """Summary rows of whole collections, the definitions of their measures, and notes on measures without them."""

    rows: list[dict[str, Any]]
    definitions: dict[str, dict[str, str]]
    notes: list[str]


def abstention_rows(
    confidence_of: Callable[[Sequence[str], Confidence], Floats],
    kinds: Sequence[Confidence],
    measured: Iterable[tuple[LabelledMeasure, Values]],
    *,
    convention: Convention,
    resamples: int,
    seed: int,
) -> AbstentionRows:
    """The rows of one run: nAUC and AURC of each of its measures by each kind of confidence.

    confidence_of: gives the confidences of queries. measured: measures with their values in the convention's unit.
    Only means of values that are better when they are higher have these figures; AURC needs a highest value as well, as its loss
    is that value minus the query's.
    """
    found = AbstentionRows([], {}, [])
    for each, values in measured:
        entry, counted = each.measure.entry, values.counted
        if entry.better != "higher" or values.summary != "mean" or not counted.any():
            found.notes.append(f"no nAUC or AURC of {each.label}: both are of means of values of which higher is better")
            continue
        queries = list(compress(values.queries, counted.tolist()))
        shares, highest = values.values[counted] / convention.shows(entry.unit)[0], entry.bounds[1]
        for kind in dict.fromkeys(kinds):
            confidence = confidence_of(queries, kind)
            both = {"nAUC": nauc(shares, confidence, resamples=resamples, seed=seed)}
            if np.isfinite(highest):
                both["AURC"] = aurc(highest - shares, confidence, resamples=resamples, seed=seed)
            for name, figure in both.items():
                exact = f"{name}(of='{values.measure}',confidence='{kind}')"
                cells = (figure.value, None, *(figure.interval or (None, None)), len(queries), "score")
                row = SummaryRow.of(values.run, exact, f"{name} {each.label} {kind}", *cells)
                found.rows.append(row | {"ceiling": figure.ceiling, "chance": figure.chance})
                found.definitions[exact] = _definition(name, values.measure, kind, highest)
    return found


_WORDS = {"max": "highest score", "std": "standard deviation of the scores", "diff1": "gap between the two highest scores"}


def _definition(name: str, measure: str, kind: Confidence, highest: float) -> dict[str, str]:
    by = f"by the {_WORDS[kind]} of each query"
    definition, better, source = {
        "nAUC": (
            f"Normalised area under the curve of mean {measure} over rates of abstention 0, 0.1, …, 0.9 {by}.",
            "higher",
            "Gisserot-Boukhlef and others 2024, Towards trustworthy reranking; MTEB 2.26.24, nauc",
        ),
        "AURC": (
            f"Area under the risk-coverage curve of the loss {highest:g} - {measure} {by}.",
            "lower",
            "Geifman, Uziel and El-Yaniv 2019, Bias-reduced uncertainty estimation for deep neural classifiers",
        ),
    }[name]
    return {"definition": definition, "better": better, "summary": "mean", "source": source}
