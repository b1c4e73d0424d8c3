"""Lists of a run, some at a time -> the values of its queries, and the counts of all its items."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.conventions import LabelledMeasure
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, order_ids
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lists import Discount, ExposureCounts, ItemLists, ListCollections


@dataclass(frozen=True, eq=False)
class RunValues:
    """The values of a run. queries: those that count, in order. missing: those of them that the run
    lacks.

    values: (queries,) by each measure of a list. exposures: of all lists. is_retrieved: (items,)
    whether any list has the item.
    """

    queries: tuple[str, ...]
    missing: list[str]
    values: list[Floats]
    exposures: ExposureCounts
    is_retrieved: Bools

    @classmethod
    def of(
        cls,
        blocks: Iterable[ItemLists],
        attributes: ItemAttributes,
        measures: Sequence[LabelledMeasure],
    ) -> "RunValues":
        """Measures the lists of some queries at a time, of which nothing is kept but values and
        counts.

        Where there are judgments, their queries count; one that the run lacks has an empty list.
        """
        per_list = [
            labelled.measure for labelled in measures if labelled.measure.entry.view is ItemLists
        ]
        collection_measures = [
            labelled.measure
            for labelled in measures
            if labelled.measure.entry.view is ListCollections
        ]
        exposures = ExposureCounts(attributes, map(_exposure_of, collection_measures))
        is_retrieved = np.zeros(len(attributes.items), dtype=np.bool_)
        queries, parts = _Queries(attributes), [list[Floats]() for _ in per_list]
        for block in queries.counted(blocks):
            for measure, blocks_of_measure in zip(per_list, parts, strict=True):
                blocks_of_measure.append(np.array(measure(block), dtype=np.float64))
            exposures.add(block)
            is_retrieved[block.codes[(block.codes >= 0) & (block.codes < len(is_retrieved))]] = True
        names, order = queries.ordered()
        # One measure at a time, so that no two copies of all values are in memory.
        values = [np.concatenate(parts.pop(0))[order] for _ in per_list]
        return cls(names, queries.missing, values, exposures, is_retrieved)


class _Queries:
    """The queries that count. missing: those that the run lacks. With judgments, none of the run's
    ids is kept.
    """

    def __init__(self, attributes: ItemAttributes) -> None:
        self._attributes = attributes
        self._names = list[str]()
        self._rows = list[Ints]()
        self.missing = list[str]()

    def counted(self, blocks: Iterable[ItemLists]) -> Iterator[ItemLists]:
        """The lists, and behind them those of judged queries that the run lacks."""
        grades = self._attributes.grades
        if grades is None:
            for block in blocks:
                self._names += block.queries
                yield block
            return
        lacking = np.ones(len(grades.index), dtype=np.bool_)
        for block in blocks:
            self._rows.append(block.rows_of(grades))
            lacking[self._rows[-1]] = False
            yield block
        self._rows.append(np.flatnonzero(lacking))
        self._names = list(grades.index)
        self.missing = [self._names[row] for row in self._rows[-1].tolist()]
        if self.missing:
            yield ItemLists(
                tuple(self.missing),
                np.full((len(self.missing), 1), -1, dtype=np.int64),
                self._attributes,
            )

    def ordered(self) -> tuple[tuple[str, ...], Ints]:
        """The queries in the order of their ids, and the permutation of their values."""
        if self._attributes.grades is None:
            order = order_ids(self._names)
            return tuple(map(self._names.__getitem__, order.tolist())), order
        return tuple(self._names), np.argsort(np.concatenate(self._rows))


def _exposure_of(measure: Measure) -> tuple[int | None, Discount]:
    """The cut-off and the discount of a measure of all lists."""
    return measure.cutoff, measure.parameters.get("discount", "none")
