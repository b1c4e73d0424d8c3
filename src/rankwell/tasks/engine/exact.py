"""Exact results, and the recall of an engine's lists: by ids, and by distance, where ties at place
k count.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.similarity import Metric, score_pairs
from rankwell.data.columns import NOTHING, refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.formats import read_ranking
from rankwell.tasks.engine.findings import exact_lists_tied, other_items
from rankwell.tasks.engine.inputs import RetrieveInputs, filter_option
from rankwell.tasks.engine.measuring import Measurement
from rankwell.tasks.engine.options import EngineOptions
from rankwell.vectors.neighbours import search

_FEW = 0.01
"""The share of unknown ids above which there is a finding."""


class ExactList(NamedTuple):
    """The exact results of a query.

    items: the first k items; fewer where a filter admits fewer.
    tied: other items with the score of the last, where the exact results come from a run.
    least: score of the last item, where scores of other items can be computed; None elsewhere.
    """

    items: tuple[str, ...]
    tied: frozenset[str] = frozenset()
    least: float | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact results of every query.

    source: the origin of the exact results, for findings and rules.
    lists: (queries,) exact results of each query.
    scorer: function that returns the scores of items for a query, -inf for an item that cannot be a
        result; None where unknown.
    run_items: ids of all results of a run, also beyond k; empty for other sources.
    findings: findings of the reader of a run.
    """

    source: str
    lists: Sequence[ExactList]
    scorer: Callable[[int, Sequence[str]], Floats] | None = None
    run_items: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def recalls(self, lists: Mapping[int, Sequence[str]]) -> dict[str, Floats]:
        """The shares of the exact results that the lists have, (queries,), by `distance` and by
        `ids`; NaN for a query without any.
        """
        by_distance, by_ids = (np.full(len(self.lists), np.nan) for _ in range(2))
        for query, exact in enumerate(self.lists):
            if exact.items:
                returned = dict.fromkeys(lists.get(query, ()))
                other_items = [item for item in returned if item not in exact.items]
                hits, most = len(returned) - len(other_items), len(exact.items)
                by_ids[query] = min(hits, most) / most
                by_distance[query] = min(hits + self._tied(query, exact, other_items), most) / most
        return {"distance": by_distance, "ids": by_ids}

    def _tied(self, query: int, exact: ExactList, other_items: Sequence[str]) -> int:
        """Number of other items that are as near as the last of the exact results."""
        if self.scorer is None or exact.least is None:
            return sum(item in exact.tied for item in other_items)
        return int(np.count_nonzero(self.scorer(query, other_items) >= exact.least))


def check_truth(options: EngineOptions) -> None:
    """Raises BadUsage for columns of a run where no run is the truth."""
    if options.truth is None or options.truth_word:
        refuse_unused_columns(options.columns, "run", f"a run as {flag('--truth')}")


def read_truth(measured: Measurement) -> Truth | None:
    """The exact results that a call names, or those of its vectors; None where there are none."""
    inputs, options, traits = measured.inputs, measured.options, measured.traits
    if options.truth_word == "none":
        return None
    if options.truth_word == "engine":
        lists = [
            ExactList(tuple(measured.exact_lists[query]))
            for query in range(len(inputs.queries.ids))
        ]
        _check_length(lists, inputs, options.depth, "the engine's exact mode")
        return Truth("the engine's exact mode", lists)
    if options.truth is not None:
        return _from_run(options.truth, inputs, options)
    has_vectors = (
        inputs.queries.vectors is not None
        and inputs.items is not None
        and inputs.items.vectors is not None
    )
    # An object has no metric. Vectors that an encoder made are not the user's wish for exact
    # results.
    unknown = traits.metric is None and options.item_vectors is None
    if traits.kind != "vector" or not has_vectors or unknown:
        if options.recall is not None:
            raise BadUsage(
                f"{flag('--recall')} needs exact results: give {flag('--item-vectors')} and "
                f"{flag('--query-vectors')}, or {flag('--truth')}."
            )
        return None
    if traits.metric is None:
        raise BadUsage(
            f"{traits.name} does not state its metric; give {flag('--truth')}, a run of "
            "`rankwell knn --metric …`, or none."
        )
    return _from_vectors(inputs, options.depth, traits.metric)  # pyright: ignore[reportArgumentType]


def _from_vectors(inputs: RetrieveInputs, k: int, metric: Metric) -> Truth:
    """The nearest vectors, among the items that a query's filter admits."""
    queries, items = inputs.queries, inputs.items
    assert items is not None  # noqa: S101 - the caller has looked
    query_vectors, item_vectors = np.asarray(queries.vectors), np.asarray(items.vectors)
    columns = [
        np.array(items.column(field, filter_option(field)), dtype=object)
        for field in inputs.filters
    ]
    groups: dict[tuple[str, ...], list[int]] = {}
    for query in range(len(queries.ids)):
        values = tuple(values[query] for values in inputs.filters.values())
        groups.setdefault(values, []).append(query)
    lists: dict[int, ExactList] = {}
    rows_of_query: dict[int, Mapping[str, int]] = {}
    for values, group_queries in groups.items():
        is_admitted = np.ones(len(items.ids), dtype=np.bool_)
        for column, value in zip(columns, values, strict=True):
            is_admitted &= column == value
        rows = np.flatnonzero(is_admitted)
        row_of_item = {items.ids[row]: row for row in map(int, rows)}
        for query in group_queries:
            rows_of_query[query] = row_of_item
        if not len(rows):
            lists |= dict.fromkeys(group_queries, ExactList(()))
            continue
        neighbours = search(query_vectors[group_queries], item_vectors[rows], k=k, metric=metric)
        for query, positions, scores in zip(
            group_queries, neighbours.positions, neighbours.scores, strict=True
        ):
            nearest = positions[positions >= 0]
            names = tuple(items.ids[row] for row in map(int, rows[nearest]))
            lists[query] = ExactList(names, least=float(scores[len(names) - 1]))

    def _scores(query: int, names: Sequence[str]) -> Floats:
        rows = rows_of_query[query]
        scores = np.full(len(names), -np.inf)
        known_places = [position for position, field in enumerate(names) if field in rows]
        if known_places:
            item_rows = np.array([rows[names[position]] for position in known_places])
            query_rows = np.full(len(item_rows), query)
            scores[known_places] = score_pairs(
                query_vectors, item_vectors, query_rows, item_rows, metric
            )
        return scores

    ordered = [lists[query] for query in range(len(queries.ids))]
    return Truth(f"exact search, {metric}", ordered, _scores)


def _from_run(run: Any, inputs: RetrieveInputs, options: EngineOptions) -> Truth:
    """The first k of a run, by its scores; items tied with the last of them count as well."""
    findings, k = list[Finding](), options.depth
    ranking = read_ranking(run, columns=options.columns, findings=findings)
    lists, n_cut = list[ExactList](), 0
    for query in inputs.queries.ids:
        query_rows = ranking.rows_of(query)
        items, scores = list(ranking.items[query_rows]), ranking.scores[query_rows]
        if NOTHING in items:
            raise BadInput(
                f"{run}: query {query!r} has the item {NOTHING}, which stands for none; "
                "search for fewer items."
            )
        order = np.argsort(-scores, kind="stable").tolist()
        least = float(scores[order[k - 1]]) if len(order) >= k else None
        tied = frozenset(
            items[row] for row in order[k:] if least is not None and scores[row] == least
        )
        n_cut += len(order) == k > 1 and scores[order[-2]] == least
        lists.append(ExactList(tuple(items[row] for row in order[:k]), tied))
    if n_cut:
        findings.append(exact_lists_tied(str(run), n_cut, k))
    _check_length(lists, inputs, k, str(run))
    return Truth(str(run), lists, run_items=frozenset(ranking.items), findings=tuple(findings))


def findings_on_ids(
    truth: Truth, lists: Sequence[Mapping[int, Sequence[str]]], measured: Measurement
) -> Iterator[Finding]:
    """The findings on ids that the exact results do not know, and on an index of another number of
    items.

    lists: by setting those of every query. Raises BadInput where the engine's ids and those of the
    exact results never meet.
    """
    items, name = measured.inputs.items, measured.traits.name
    if measured.options.truth_word == "engine":
        return
    exact_items: Collection[str] = truth.run_items if items is None else frozenset(items.ids)
    returned = dict.fromkeys(
        item for setting in lists for items_of_query in setting.values() for item in items_of_query
    )
    unknown = [item for item in returned if item not in exact_items]
    if returned and len(unknown) == len(returned):
        first = (exact.items[0] for exact in truth.lists if exact.items)
        example = next(first, next(iter(exact_items), None))
        correction = "them with the engine's ids"
        if items is not None and items.texts is None:
            correction = (
                f"{flag('--documents')} with the ids of the rows of {flag('--item-vectors')}"
            )
        raise BadInput(
            f"{name} returned no item of the exact results ({truth.source}): it returned "
            f"{unknown[0]!r}, they have {example!r}. Give {correction}, or "
            f"{flag('--truth', 'none')}."
        )
    if items is None:
        # A run holds the nearest items alone, so that an item beyond them is only wrong.
        return
    if len(unknown) > _FEW * len(returned):
        yield other_items(
            name,
            f"{len(unknown)} of the {len(returned)} items that it returned are unknown to the "
            f"exact results, such as {unknown[0]!r}; each of them lowers the recall",
        )
    for number in dict.fromkeys(index.get("items") for index in measured.traits.described):
        if isinstance(number, int) and number != len(items.ids):
            yield other_items(
                name,
                f"it has {number:,} items, the exact results are those of {len(items.ids):,}; the "
                "recall compares both",
            )


def _check_length(lists: Sequence[ExactList], inputs: RetrieveInputs, k: int, source: str) -> None:
    """Raises BadInput where a query has fewer exact results than there can be."""
    most = k if inputs.items is None else min(k, len(inputs.items.ids))
    for query, exact in zip(inputs.queries.ids, lists, strict=True):
        if len(exact.items) < most and not inputs.filters:
            raise BadInput(
                f"{source}: query {query!r} has {len(exact.items)} exact results for k = {k}; "
                f"expected {most}: search for at least as many, over all queries."
            )
