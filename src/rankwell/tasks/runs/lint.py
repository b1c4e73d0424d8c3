"""Whether a score can mean anything: what the same items in random order, one list for all queries
and another order of ties would score, and what judgments and candidates leave to tell apart.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.conventions import LabelledMeasure
from rankwell.data.findings import Finding
from rankwell.data.findings.evaluation import recall_of_retrieved
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Judgments,
    exact_mean,
    exact_sd,
    position_in_segment,
    segment_offsets,
)
from rankwell.evaluation.judged import JudgedRun, ideal, ideal_if_shared
from rankwell.tasks.runs.findings import (
    judged_for_other_runs,
    low_ceiling,
    no_better_than_shuffled,
    order_hardly_matters,
    same_item_relevant,
    ties_decide_score,
)

_ENOUGH = 10
"""The least number of queries for a statement about most of them, as for an interval."""
_DEEP = 1_000
_TOP = 10
_POOLED = 0.95
"""The share of judged items among the first ones of a run that was in a pool."""
_BY_TIES = 0.02
"""The least difference of means that is worth a word: 50 topics hardly resolve less (Voorhees and
Buckley 2002).
"""
_NEAR = 0.9
"""Where a random order reaches this share of the best one, systems differ in the rest alone."""


class LintedRun(NamedTuple):
    """What of a run is kept until all of them have been read.

    name: the name of the run.
    hits: its judged items.
    candidates: (queries of the judgments,) a number that is the same for the same items in any
        order.
    """

    name: str
    hits: Hits
    candidates: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, hits: Hits, ranking: Ranking, judgments: Judgments) -> "LintedRun":
        """The parts of a run."""
        hashes = np.fromiter(map(hash, ranking.items), dtype=np.int64, count=len(ranking.items))
        sums = np.concatenate([[0], np.cumsum(hashes)])[ranking.offsets]
        by_query = dict(zip(ranking.queries, np.diff(sums).tolist(), strict=True))
        candidates = [by_query.get(query, 0) for query in judgments.queries]
        return cls(name, hits, np.array(candidates, dtype=np.int64))

    @property
    def key(self) -> tuple[bytes, ...]:
        """The same for runs that are copies, as far as they are judged."""
        return self.candidates.tobytes(), self.hits.row.tobytes(), self.hits.above.tobytes()

    def shuffled(self, judgments: Judgments) -> JudgedRankings:
        """The view of the same items, all of which are tied."""
        hits = self.hits
        counts = np.bincount(hits.query, minlength=len(judgments.queries))
        none = np.zeros(len(hits.row), dtype=np.int64)
        tied = hits.n_retrieved[hits.query]
        before = position_in_segment(segment_offsets(counts))
        tied_hits = replace(
            hits, score=none.astype(np.float64), above=none, tied=tied, before=before
        )
        return JudgedRankings.join(judgments, tied_hits)


def lint_judgments(
    judgments: Judgments, measures: Sequence[LabelledMeasure], rel: float
) -> Iterator[Finding]:
    """The findings on measures that no ranking can bring near 1, and on an item that is relevant to
    most queries.
    """
    n_real = np.bincount(judgments.query_of_row, minlength=len(judgments.queries))
    perfect = ideal(judgments, np.maximum(n_real, _DEEP))
    has_relevant = perfect.n_relevant(rel) > 0
    n = int(has_relevant.sum())
    for measure, label in measures:
        ceilings = measure(perfect)
        low = has_relevant & (ceilings <= 0.5)
        if n and (ceiling := exact_mean(ceilings[has_relevant])) <= 0.5:
            yield low_ceiling(label, ceiling, list(compress(judgments.queries, low.tolist())))
    counts = Counter(compress(judgments.items, (judgments.grades >= rel).tolist()))
    item, most = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    if n >= _ENOUGH and 2 * most >= n:
        one_list = np.zeros(len(judgments.queries), dtype=np.int64)
        shared = ideal_if_shared(judgments, one_list, np.maximum(n_real, _DEEP))
        measure, label = measures[0]
        score = exact_mean(measure(shared)[has_relevant])
        yield same_item_relevant(item, most, n, label, score)


def lint_runs(
    judgments: Judgments,
    runs: Sequence[LintedRun],
    measures: Sequence[LabelledMeasure],
    rel: float,
    ties: str,
) -> Iterator[Finding]:
    """The findings on what runs can show: by their order, their ties, their candidates, and the
    items that were judged.
    """
    shuffled = [run.shuffled(judgments) for run in runs]
    for run, random in zip(runs, shuffled, strict=True):
        yield from _on_order(run, judgments, random, measures, rel, ties)
    is_given = _given_candidates(judgments, runs)
    if is_given.any():
        yield from _on_candidates(shuffled[0], is_given, measures, rel)
    yield from _on_pool(judgments, runs, is_given, measures, rel)


def _on_order(
    run: LintedRun,
    judgments: Judgments,
    random: JudgedRankings,
    measures: Sequence[LabelledMeasure],
    rel: float,
    ties: str,
) -> Iterator[Finding]:
    view = JudgedRankings.join(judgments, run.hits)
    in_order, in_ties = (JudgedRun(name="", view=view, ties=rule) for rule in (ties, "expected"))
    counted = view.n_relevant(rel) > 0
    beside = dict[str, tuple[float, float]]()
    n_orders = 0
    for measure, label in measures:
        if measure.entry.expected is None or not counted.any():
            continue
        values, chance = in_ties.evaluate(measure).values, _random_values(measure, random)
        if in_order.has_ties:
            named = exact_mean(in_order.evaluate(measure).values[counted])
            mean = exact_mean(values[counted])
            if abs(named - mean) >= _BY_TIES:
                yield ties_decide_score(run.name, label, named, mean)
        best, worst = (measure(random.resolve(rule)) for rule in ("optimistic", "pessimistic"))
        decided = counted & (best > worst)
        n = int(decided.sum())
        if n < _ENOUGH:
            continue
        n_orders += 1
        gain = values[decided] - chance[decided]
        if exact_mean(gain) <= 2 * exact_sd(gain) / n**0.5:
            beside[label] = exact_mean(values[decided]), exact_mean(chance[decided])
    # One measure by which the order is better shows that it is.
    if beside and len(beside) == n_orders:
        label, means = next(iter(beside.items()))
        yield no_better_than_shuffled(run.name, list(beside), label, *means)


def _random_values(measure: Measure, random: JudgedRankings) -> Floats:
    return measure.entry.expected(random, **dict(measure.arguments))  # pyright: ignore[reportOptionalCall]


def _given_candidates(judgments: Judgments, runs: Sequence[LintedRun]) -> Bools:
    """Whether systems only order the items of a query that they are given: (queries,). All of
    different runs have the same ones, or exactly the judged ones.
    """
    n_judged = np.bincount(judgments.query_of_row, minlength=len(judgments.queries))
    different = list({run.key: run for run in runs}.values())
    first = different[0]
    alike = np.full(len(judgments.queries), len(different) > 1)
    exact = n_judged > 1
    for run in different:
        lengths = run.hits.n_retrieved
        found = np.bincount(run.hits.query, minlength=len(n_judged))
        alike &= (run.candidates == first.candidates) & (lengths > 1)
        exact &= (lengths == n_judged) & (found == n_judged)
    return alike | exact


def _on_candidates(
    random: JudgedRankings, is_given: Bools, measures: Sequence[LabelledMeasure], rel: float
) -> Iterator[Finding]:
    has_relevant = random.n_relevant(rel) > 0
    labels, undecided = list[str](), np.zeros(len(is_given), dtype=np.bool_)
    for measure, label in measures:
        if measure.entry.expected is None:
            continue
        best = measure(random.resolve("optimistic"))
        is_near = is_given & has_relevant & (_random_values(measure, random) >= _NEAR * best)
        if 2 * is_near.sum() >= has_relevant.sum() > 0:
            labels.append(label)
            undecided |= is_near
    if labels:
        queries = list(compress(random.queries, undecided.tolist()))
        yield order_hardly_matters(labels, queries, int(has_relevant.sum()))


def _on_pool(
    judgments: Judgments,
    runs: Sequence[LintedRun],
    is_given: Bools,
    measures: Sequence[LabelledMeasure],
    rel: float,
) -> Iterator[Finding]:
    """The findings on judgments of what these runs, or one of them, retrieved."""
    n_other = int((judgments.grades < rel).sum())
    if 10 * n_other < len(judgments.grades):
        # What is not relevant is not listed, so that nothing shows which items were judged.
        return
    shares = dict[str, float]()
    for run in runs:
        hits = run.hits
        n_first = int(np.minimum(hits.n_retrieved, _TOP).sum())
        shares[run.name] = int((hits.above + hits.before < _TOP).sum()) / max(n_first, 1)
    judged_run = max(shares, key=lambda name: shares[name])
    if shares[judged_run] < _POOLED:
        return
    retrieved = np.unique(np.concatenate([run.hits.row for run in runs]))
    labels = [label for measure, label in measures if measure.name in ("R", "AP")]
    if labels and len(retrieved) == len(judgments.grades) and not is_given.all():
        what = "what these runs retrieved: each judged item is in one of them, as in a pool of them"
        yield recall_of_retrieved("", labels, what)
    for name, share in shares.items():
        if share <= 0.5:
            yield judged_for_other_runs(name, share, judged_run, shares[judged_run], _TOP)
