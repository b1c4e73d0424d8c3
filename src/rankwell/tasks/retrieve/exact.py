"""Exact results, and the recall of an engine's lists: by ids, and by distance, where ties at place
k count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.kernels.similarity import Metric, score_pairs
from rankwell.core.tables import Floats
from rankwell.core.tables.columns import NOTHING, refuse_unused_columns
from rankwell.errors import BadInput, BadUsage, count_of, flag
from rankwell.io.files import read_ranking
from rankwell.neighbours import search
from rankwell.tasks.retrieve.inputs import RetrieveInputs, Things
from rankwell.tasks.retrieve.measuring import Measurement
from rankwell.tasks.retrieve.options import RetrieveOptions

_FEW = 0.01
"""The share of unknown ids above which a note says so."""


class ExactList(NamedTuple):
    """The exact results of a query: the first k, and their scores; those of others tied with the
    last are in `tied`.
    """

    items: tuple[str, ...]
    tied: frozenset[str] = frozenset()
    least: float | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact results of every query. source: where they are from. scorer: scores of other items;
    None where unknown.

    listed: the ids of all results of a run, those of k and those beyond. notes: of its reader.
    """

    source: str
    lists: Sequence[ExactList]
    scorer: "Scorer | None" = None
    listed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def recall(self, lists: Mapping[int, Sequence[str]], *, by: str) -> Floats:
        """(queries,) the share of the exact results that a list has; NaN for a query without any.
        by: `ids` or `distance`.
        """
        found = np.full(len(self.lists), np.nan)
        for query, exact in enumerate(self.lists):
            if exact.items:
                returned = dict.fromkeys(lists.get(query, ()))
                hits = sum(item in exact.items for item in returned)
                if by == "distance":
                    hits += self._tied(
                        query, exact, [item for item in returned if item not in exact.items]
                    )
                found[query] = min(hits, len(exact.items)) / len(exact.items)
        return found

    def _tied(self, query: int, exact: ExactList, others: Sequence[str]) -> int:
        """Number of other items that are as near as the last of the exact results."""
        known = sum(item in exact.tied for item in others)
        if self.scorer is None or exact.least is None or not others:
            return known
        return int(np.count_nonzero(self.scorer.scores(query, others) >= exact.least))


@dataclass(frozen=True, eq=False)
class Scorer:
    """Exact scores of items; an unknown item, or one that the filter excludes, has none."""

    queries: Things
    items: Things
    metric: Metric
    allowed: Sequence[frozenset[str] | None]
    rows: Mapping[str, int]

    def scores(self, query: int, items: Sequence[str]) -> Floats:
        """(items,) the scores under a query, -inf for items that cannot be a result."""
        found, allowed = np.full(len(items), -np.inf), self.allowed[query]
        known = [
            place
            for place, item in enumerate(items)
            if item in self.rows and (allowed is None or item in allowed)
        ]
        if known:
            rows = np.array([self.rows[items[place]] for place in known], dtype=np.int64)
            one = np.full(len(rows), query, dtype=np.int64)
            found[known] = score_pairs(
                _vectors(self.queries), _vectors(self.items), one, rows, self.metric
            )
        return found


def check_truth(options: RetrieveOptions) -> None:
    """Raises BadUsage for columns of a run where no run is the truth."""
    if options.truth is None or (
        isinstance(options.truth, str) and options.truth in ("none", "engine")
    ):
        refuse_unused_columns(options.columns, "run", f"a run as {flag('--truth')}")


def read_truth(measured: Measurement) -> Truth | None:
    """The exact results that a call names, or those of its vectors; None where there are none."""
    inputs, options, traits = measured.inputs, measured.options, measured.traits
    word = options.truth if isinstance(options.truth, str) else ""
    if word == "none":
        return None
    if word == "engine":
        lists = [
            ExactList(tuple(measured.exact[query])) for query in range(len(inputs.queries.ids))
        ]
        _check_length(lists, inputs, options.k, "the engine's exact mode")
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
            "`rankwell search --metric …`, or none."
        )
    return _from_vectors(inputs, options.k, traits.metric)  # pyright: ignore[reportArgumentType]


def _from_vectors(inputs: RetrieveInputs, k: int, metric: Metric) -> Truth:
    """The nearest vectors, among the items that a query's filter admits."""
    queries, items = inputs.queries, inputs.items
    assert items is not None  # noqa: S101 - the caller has looked
    rows = {item: row for row, item in enumerate(items.ids)}
    columns = {
        name: np.array(
            items.column(name, f"{flag('--filter', name='filters')} {name}"), dtype=object
        )
        for name in inputs.filters
    }
    groups: dict[tuple[str, ...], list[int]] = {}
    for query in range(len(queries.ids)):
        groups.setdefault(tuple(values[query] for values in inputs.filters.values()), []).append(
            query
        )
    lists: dict[int, ExactList] = {}
    allowed: list[frozenset[str] | None] = [None] * len(queries.ids)
    for values, mine in groups.items():
        admitted = np.ones(len(items.ids), dtype=np.bool_)
        for column, value in zip(columns.values(), values, strict=True):
            admitted &= column == value
        chosen = np.flatnonzero(admitted)
        if columns:
            admissible = frozenset(items.ids[row] for row in map(int, chosen))
            for query in mine:
                allowed[query] = admissible
        if not len(chosen):
            lists |= dict.fromkeys(mine, ExactList(()))
            continue
        found = search(_vectors(queries)[mine], _vectors(items)[chosen], k=k, metric=metric)
        for place, query in enumerate(mine):
            kept = found.positions[place][found.positions[place] >= 0]
            scores = found.scores[place][: len(kept)]
            names = [items.ids[row] for row in map(int, chosen[kept])]
            lists[query] = ExactList(tuple(names), least=float(scores[-1]))
    ordered = [lists[query] for query in range(len(queries.ids))]
    return Truth(f"exact search, {metric}", ordered, Scorer(queries, items, metric, allowed, rows))


def _from_run(place: Any, inputs: RetrieveInputs, options: RetrieveOptions) -> Truth:
    """The first k of a run, by its scores; items tied with the last of them count as well."""
    notes, k = list[str](), options.k
    ranking = read_ranking(place, columns=options.columns, notes=notes)
    lists, n_cut = list[ExactList](), 0
    for query in inputs.queries.ids:
        own = ranking.rows_of(query)
        items, scores = list(ranking.items[own]), ranking.scores[own]
        if NOTHING in items:
            raise BadInput(
                f"{place}: query {query!r} has the item {NOTHING}, which stands for none; "
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
        what = f"{place}: {count_of(n_cut, 'list ends', 'lists end')} in a tie at rank {k}"
        notes.append(
            f"{what}, and items that tie beyond it would count as wrong; search for more than {k}"
        )
    _check_length(lists, inputs, k, str(place))
    return Truth(str(place), lists, listed=frozenset(ranking.items), notes=tuple(notes))


def notes_on_ids(
    truth: Truth, lists: Sequence[Mapping[int, Sequence[str]]], measured: Measurement
) -> Iterator[str]:
    """Notes on ids that the exact results do not know, and on an index of another number of items.

    lists: by setting those of every query. Raises BadInput where the engine's ids and those of the
    exact results never meet.
    """
    items, name = measured.inputs.items, measured.traits.name
    if isinstance(measured.options.truth, str) and measured.options.truth == "engine":
        return
    known: Collection[str] = truth.listed if items is None else frozenset(items.ids)
    returned = dict.fromkeys(item for setting in lists for own in setting.values() for item in own)
    unknown = [item for item in returned if item not in known]
    if returned and len(unknown) == len(returned):
        example = next(
            (each.items[0] for each in truth.lists if each.items), next(iter(known), None)
        )
        what = (
            f"{name} returned no item of the exact results ({truth.source}): it returned "
            f"{unknown[0]!r}, they have {example!r}"
        )
        names = items is not None and items.texts is None
        rows = (
            f"{flag('--items')} with the ids of the rows of {flag('--item-vectors')}"
            if names
            else "them with the engine's ids"
        )
        raise BadInput(f"{what}. Give {rows}, or {flag('--truth', 'none')}.")
    if items is None:
        # A run holds the nearest items alone, so that an item beyond them is only wrong.
        return
    if len(unknown) > _FEW * len(returned):
        yield (
            f"{name}: {len(unknown)} of the {len(returned)} items that it returned are "
            "unknown to the exact results, such as "
            f"{unknown[0]!r}; each of them lowers the recall"
        )
    for number in dict.fromkeys(each.get("items") for each in measured.traits.described):
        if isinstance(number, int) and number != len(items.ids):
            yield (
                f"{name} has {number:,} items, the exact results are those of {len(items.ids):,}; "
                "the recall compares both"
            )


def _check_length(lists: Sequence[ExactList], inputs: RetrieveInputs, k: int, source: str) -> None:
    """Raises BadInput where a query has fewer exact results than there can be."""
    most = k if inputs.items is None else min(k, len(inputs.items.ids))
    for query, exact in zip(inputs.queries.ids, lists, strict=True):
        if len(exact.items) < most and not inputs.filters:
            what = f"{source}: query {query!r} has {len(exact.items)} exact results for k = {k}"
            raise BadInput(
                f"{what}; expected {most}: search for at least as many, over all queries."
            )


def _vectors(things: Things) -> Any:
    return things.vectors
