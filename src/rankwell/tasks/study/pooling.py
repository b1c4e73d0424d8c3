"""Runs to a pool: the first items of each query, their permanent numbers and sizes, the order of
judging, batches.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rankwell.data.options import ColumnChoice
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Floats, Ints, Judgments, order_ids, sort_ids
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, shown
from rankwell.evaluation.bounds import is_reciprocal
from rankwell.evaluation.judged import LinearMeasure
from rankwell.io import formats as io
from rankwell.reporting.options import Progress
from rankwell.stats.samples import permanent_numbers, prior_relevance, priorities, sampling_sizes
from rankwell.store import encode_id
from rankwell.tasks.study.batches import finished_batches
from rankwell.tasks.study.folder import Study, StudyPool
from rankwell.tasks.study.options import Design

_DEEP = {"AP": 100, "R": 100}
"""Measures whose recall base needs a deep pool, with the least depth."""
_LEAST_BATCH, _MOST_BATCH = 100, 500


def study_measure(text: str, grades: Sequence[float]) -> Measure:
    """The measure of a study, with the highest grade of its scale where the measure needs one.
    Raises BadUsage.
    """
    top = max(grades)
    name, at, cut = text.partition("@")
    measure = parse_measure(f"SDCG(max_rel={top:g}){at}{cut}" if name.lower() == "sdcg" else text)
    if (
        measure.name == "RBP"
        and measure.parameters["rel"] is None
        and measure.parameters["scale"] == "grade"
    ):
        measure = measure.with_parameters(scale="max", max_rel=top)
    rel = measure.parameters.get("rel")
    if rel is not None and not 0 < rel <= top:
        raise BadUsage(
            f"{measure}: no grade of the scale is {rel:g} or more; grades are "
            f"{', '.join(f'{g:g}' for g in grades)}."
        )
    return measure


def design_of(measure: Measure, drawn: int | None) -> Design:
    """The design that a measure allows. Raises BadUsage for one that sampled items do not
    estimate.
    """
    if drawn is not None:
        return "queries"
    if is_reciprocal(measure):
        return "reading"
    if LinearMeasure.of(measure) is not None:
        return "items"
    linear = "P, SDCG or RBP with a cut-off, RR with a cut-off"
    raise BadUsage(
        f"{measure} cannot be estimated from sampled items; draw whole queries (--by queries "
        f"N), or choose {linear}."
    )


def pool_depth(measure: Measure, depth: int | None, design: Design) -> int:
    """The number of first ranks that are pooled. Raises BadUsage where it does not suit the
    measure.
    """
    cutoff = measure.cutoff
    n_ranks = depth or cutoff
    if n_ranks is None:
        raise BadUsage(
            f"{measure} looks at whole rankings; say with --depth how many ranks are pooled."
        )
    if cutoff is not None and n_ranks < cutoff:
        raise BadUsage(
            f"--depth {n_ranks}: {measure} looks at {cutoff} ranks; pool at least so many."
        )
    if design == "queries":
        refuse_shallow(measure, n_ranks)
    return n_ranks


def refuse_shallow(measure: Measure, depth: int) -> None:
    """Raises BadUsage for a measure whose recall base needs a deeper pool."""
    least = _DEEP.get(measure.name, 0)
    if depth < least:
        raise BadUsage(
            f"{measure} needs all relevant items; pool a study with at least {least} ranks: "
            f"--depth {least}."
        )


@dataclass(frozen=True, eq=False)
class PooledRanks:
    """The first ranks of all runs. queries, names: ids of queries and of items, in the order of
    their bytes.

    query, item: (items,) indices into them, ascending. ranks: (items, runs), 0 where a run lacks
    it. earlier: (items,) the row of each item in the pool of the earlier rounds, -1 for a new one.
    notes: of the readers of the runs.
    """

    queries: tuple[str, ...]
    names: list[str]
    query: Ints
    item: Ints
    ranks: Ints
    earlier: Ints
    notes: tuple[str, ...] = ()


def pooled_ranks(
    runs: Sequence[str],
    known_queries: Sequence[str],
    depth: int,
    *,
    columns: ColumnChoice | None = None,
    earlier: StudyPool | None = None,
    progress: Progress = None,
) -> PooledRanks:
    """The union of the first `depth` items of the runs, behind the ranks of an earlier pool over
    the same queries.

    known: the ids of the queries, sorted where there is an earlier pool. columns: those of the
    runs. Queries that no run has are left out.
    Raises BadInput for a query of a run that is not known, and for ids that are not UTF-8;
    NothingToEvaluate for empty runs.
    """
    queries = sort_ids(known_queries)
    judgments = Judgments(
        tuple(queries), np.zeros(len(queries) + 1, dtype=np.int64), [], np.zeros(0)
    )
    # Each new item gets the next number.
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    parts = (
        list[_Ranked]()
        if earlier is None
        else [_Ranked.of(earlier.query, earlier.item.tolist(), earlier.ranks, numbers)]
    )
    notes = list[str]()
    for run in runs:
        report = None if progress is None else partial(progress, run)
        read = io.find_hits(run, judgments, keep=depth, columns=columns, progress=report)
        notes += read.notes
        top = _first_items(run, read.hits, is_new=earlier is None)
        rank = np.arange(1, len(top.items) + 1) - top.offsets[top.query_of_row]
        owner = np.array([judgments.index[query] for query in top.queries], dtype=np.int64)
        parts.append(_Ranked.of(owner[top.query_of_row], top.items, rank[:, None], numbers))
    if not numbers:
        raise NothingToEvaluate("the runs have no items; there is nothing to pool.")
    order, names = order_ids(list(numbers)), list(numbers)
    new_number = np.empty(len(names), dtype=np.int64)
    new_number[order] = np.arange(len(names))
    keys = [part.query * len(names) + new_number[part.item] for part in parts]
    pool = np.sort(np.concatenate(keys), kind="stable")  # fast, as every part is nearly sorted
    pool = pool[np.diff(pool, prepend=-1) > 0]
    ranks, column = np.zeros((len(pool), sum(part.n_runs for part in parts)), dtype=np.int64), 0
    for key, part in zip(keys, parts, strict=True):
        ranks[np.searchsorted(pool, key), column : column + part.n_runs] = part.ranks
        column += part.n_runs
    before = np.full(len(pool), -1, dtype=np.int64)
    if earlier is not None:
        before[np.searchsorted(pool, keys[0])] = np.arange(len(keys[0]))
    owner, item = np.divmod(pool, len(names))
    is_first = np.diff(owner, prepend=-1) > 0
    pooled_queries, ids = (
        tuple(queries[query] for query in owner[is_first].tolist()),
        [names[item] for item in order.tolist()],
    )
    _refuse_bytes(pooled_queries, ids)
    return PooledRanks(
        pooled_queries,
        ids,
        np.cumsum(is_first) - 1,
        item,
        ranks,
        before,
        tuple(dict.fromkeys(notes)),
    )


class _Ranked(NamedTuple):
    """Rows of one source: the index of the query, the number of the item, and the ranks in its
    runs, (rows, runs).
    """

    query: Ints
    item: Ints
    ranks: Ints

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return self.ranks.shape[1]

    @classmethod
    def of(
        cls, query: Ints, items: Sequence[str], ranks: Ints, numbers: dict[str, int]
    ) -> "_Ranked":
        """The rows with the items by their numbers, of which new ones get the next."""
        return cls(
            query,
            np.fromiter(map(numbers.__getitem__, items), dtype=np.int64, count=len(items)),
            ranks,
        )


def _first_items(run: str, hits: Hits, *, is_new: bool) -> Ranking:
    """The first items of each query of a run. Raises BadInput for an unknown query."""
    if hits.unknown:
        advice = (
            "add it to the file of --query-texts"
            if is_new
            else "take it out of the run, or pool a study of its own"
        )
        raise BadInput(
            f"{run}: query {shown(min(hits.unknown))} "
            f"{'has no text' if is_new else 'is not of this study'}; {advice}."
        )
    if hits.top is None:
        raise NothingToEvaluate(f"{run} has no items.")
    return hits.top


def _refuse_bytes(queries: Sequence[str], items: Sequence[str]) -> None:
    """Raises BadInput for an id with bytes that are not UTF-8, which no table of a study holds."""
    for name in (*queries, *items):
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadInput(
                f"the id {shown(name)} is not UTF-8, and a study cannot hold it; rename it in "
                "every file."
            ) from error


def rank_weights(measure: Measure, ranks: Ints) -> Floats:
    """(items, runs) the weight of each item in the measure of each run; 1 for a measure that is not
    linear.
    """
    linear = LinearMeasure.of(measure)
    if linear is None:
        return (ranks > 0).astype(np.float64)
    return np.concatenate(
        [
            np.zeros(1),
            linear.weights,
            np.zeros(max(int(ranks.max(initial=0)) - len(linear.weights), 0)),
        ]
    )[ranks]


def default_batch(queries: int) -> int:
    """The number of items in a batch: three per query, within 100 and 500."""
    return min(_MOST_BATCH, max(_LEAST_BATCH, 3 * queries))


@dataclass(frozen=True, eq=False)
class EarlierRounds:
    """The earlier rounds of the items of a pool: (items,) those that need no judgment any more, and
    (items, rounds) sizes and batches.
    """

    answered: Bools
    sizes: Floats
    batches: Ints

    @classmethod
    def of(cls, study: Study, answered: Bools, rows: Ints) -> "EarlierRounds":
        """Those of a study. answered: of its pool. rows: (items,) the row of each item in that
        pool, -1 for a new one.

        Batches that are not finished end with their round. Later rounds judge some of their items,
        too; a batch that they happened to finish would make every chance of an item too high.
        """
        pool, is_old = study.pool, rows >= 0
        batches = pool.batches.copy()
        for number, column in enumerate(batches.T, 1):
            column[column >= finished_batches(study, answered, number)] = -1
        return cls(
            is_old & answered[rows],
            np.where(is_old[:, None], pool.sizes[rows], 0.0),
            np.where(is_old[:, None], batches[rows], -1),
        )


def order_pool(
    ranked: PooledRanks, study: Study, earlier: EarlierRounds | None = None
) -> StudyPool:
    """The pool in the order of asking, with the sizes and batches of the new round behind those of
    earlier ones.
    """
    names, n_items = [encode_id(query) for query in ranked.queries], len(ranked.item)
    if earlier is None:
        earlier = EarlierRounds(
            np.zeros(n_items, dtype=np.bool_),
            np.zeros((n_items, 0)),
            np.zeros((n_items, 0), dtype=np.int64),
        )
    u = permanent_numbers(
        study.seed, names, list(map(encode_id, ranked.names)), rows=[ranked.query, ranked.item]
    )
    best = np.where(ranked.ranks > 0, ranked.ranks, np.iinfo(np.int64).max).min(axis=1)
    prior = prior_relevance(best, (ranked.ranks.min(axis=1) > 0))
    if study.design == "items":
        weights = rank_weights(study.parsed_measure, ranked.ranks)
        sizes = sampling_sizes(weights, prior, for_means=study.purpose == "means")
        keys = (priorities(u, sizes),)
    else:
        # Whole queries are drawn by a permanent number of their own; within one the order of items
        # is that of their numbers.
        draw_order = np.argsort(np.argsort(permanent_numbers(study.seed, names), kind="stable"))
        drawn = len(names) if study.drawn is None else study.drawn
        sizes = (draw_order[ranked.query] < drawn).astype(np.float64)
        keys = (u, draw_order[ranked.query].astype(np.float64), -sizes)
    # Rows are in the order of their ids already, which breaks ties.
    order = np.lexsort(keys)
    batches = _batches(order, sizes, earlier.answered, ranked.query, study)
    return StudyPool(
        query=ranked.query[order],
        item=np.array(ranked.names, dtype=object)[ranked.item][order],
        u=u[order],
        prior=prior[order],
        sizes=np.column_stack([earlier.sizes, sizes])[order],
        batches=np.column_stack([earlier.batches, batches])[order],
        ranks=ranked.ranks[order],
    )


def _batches(order: Ints, sizes: Floats, answered: Bools, query: Ints, study: Study) -> Ints:
    """(items,) the number of each item's batch, of so many items to ask; whole queries stay
    together; -1 where never asked.
    """
    drawn_rows = order[sizes[order] > 0]
    batches = np.full(len(order), -1, dtype=np.int64)
    if study.design == "reading":
        return batches
    before = np.cumsum(~answered[drawn_rows]) - ~answered[drawn_rows]
    if study.design == "queries" and len(drawn_rows):
        first = np.flatnonzero(np.diff(query[drawn_rows], prepend=-1))
        before = np.repeat(before[first], np.diff([*first.tolist(), len(drawn_rows)]))
    number = before // study.batch
    batches[drawn_rows] = np.unique(number, return_inverse=True)[1]
    return batches


def same_everywhere(ranks: Ints) -> bool:
    """Whether all runs have the same first items in the same order."""
    return bool((ranks == ranks[:, :1]).all())
