"""Judgments and runs that are already Python mappings: query -> item -> grade or score."""

from collections.abc import Mapping

import numpy as np

from rankwell.errors import BadScore
from rankwell.tables import Bools, Floats, Ints, encode_id
from rankwell.tables.hits import Hits
from rankwell.tables.judgments import Judgments
from rankwell.tables.order import Counts, TieRule, count
from rankwell.views.judged import JudgedRankings


def judged_rankings(
    judgments: Mapping[str, Mapping[str, float]] | Judgments, run: Mapping[str, Mapping[str, float]], *, ties: TieRule = "id-desc"
) -> JudgedRankings:
    """The judged rankings of a run under a truth, both given as mappings query -> item -> number."""
    truth = judgments if isinstance(judgments, Judgments) else Judgments.from_dict(judgments)
    return JudgedRankings.join(truth.flat, find_hits(run, truth.flat, ties=ties)).resolve(ties)


def find_hits(
    run: Mapping[str, Mapping[str, float]], judgments: Judgments, *, ties: TieRule = "id-desc", single_precision: bool = False
) -> Hits:
    """The hits of a mapping query -> item -> score; only judged items are looked up, the rest is counted.

    Raises BadScore for a score that is NaN or infinite.
    """
    found: list[tuple[Ints, Ints, Floats, Counts]] = []
    retrieved = np.zeros(len(judgments.queries), dtype=np.int64)
    present: Bools = np.zeros(len(judgments.queries), dtype=np.bool_)
    bounds = judgments.offsets.tolist()
    for position, query in enumerate(judgments.queries):
        scored = run.get(query)
        if scored is None:
            continue
        present[position], retrieved[position] = True, len(scored)
        scores = _scores(query, scored, single_precision)
        rows = [row for row in range(bounds[position], bounds[position + 1]) if judgments.items[row] in scored]
        if rows:
            own = np.array([scored[judgments.items[row]] for row in rows], dtype=np.float64)
            if single_precision:
                own = own.astype(np.float32).astype(np.float64)
            counts = _count(scored, scores, own, [judgments.items[row] for row in rows], ties)
            found.append((np.full(len(rows), position), np.array(rows, dtype=np.int64), own, counts))
    known = judgments.index
    return Hits(
        query=_join([query for query, _, _, _ in found], np.int64),
        row=_join([row for _, row, _, _ in found], np.int64),
        score=_join([score for _, _, score, _ in found], np.float64),
        above=_join([counts.above for _, _, _, counts in found], np.int64),
        tied=_join([counts.tied for _, _, _, counts in found], np.int64),
        before=_join([counts.before for _, _, _, counts in found], np.int64),
        retrieved=retrieved,
        present=present,
        unknown={query: len(scored) for query, scored in run.items() if query not in known},
    )


def _join(parts: list[Ints] | list[Floats], kind: type) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def _scores(query: str, scored: Mapping[str, float], single_precision: bool) -> Floats:
    scores = np.fromiter(scored.values(), dtype=np.float64, count=len(scored))
    if not np.isfinite(scores).all():
        item = list(scored)[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise BadScore(f"query {query!r}, item {item!r}: the score is {scored[item]}; scores are finite numbers.")
    return scores.astype(np.float32).astype(np.float64) if single_precision else scores


def _count(scored: Mapping[str, float], scores: Floats, own: Floats, items: list[str], ties: TieRule) -> Counts:
    above = np.count_nonzero(scores[None, :] > own[:, None], axis=1)
    tied = np.count_nonzero(scores[None, :] == own[:, None], axis=1)
    if not (tied > 1).any():
        return Counts(above, tied, np.zeros(len(own), dtype=np.int64))
    names = list(scored)
    place = {name: position for position, name in enumerate(names)}
    asked = np.array([place[item] for item in items], dtype=np.int64)
    order = np.argsort(asked)
    counts = count(scores, np.array([0, len(scores)]), asked[order], lambda row: encode_id(names[row]), ties)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return Counts(counts.above[back], counts.tied[back], counts.before[back])
