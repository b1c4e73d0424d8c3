"""Agreement of runs: to what extent each lists, query by query, what a reference run lists; there
are no judgments.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.registry import measure_names
from rankwell.core.tables.arrays import MAGIC
from rankwell.core.tables.ranking import Ranking
from rankwell.core.views.ranking_pairs import RankingPairs
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.results import ResultsBuilder
from rankwell.io import files as io
from rankwell.io.formats import scored
from rankwell.io.mapping import ranking_pairs
from rankwell.parts.vectors import rows_of
from rankwell.store import Head, Source, exists, remote_url
from rankwell.tasks.agreement.inputs import (
    MeasurePlan,
    Sample,
    bare_words,
    cuts_gold,
    plan_measures,
)
from rankwell.tasks.agreement.options import AgreementOptions
from rankwell.tasks.agreement.vectors import VectorPanel

_OF_VECTORS = ("samples", "metric", "ids", "exclude", "labels", "qrels_columns", "ceiling", "eps")


def is_run(place: Any) -> bool:
    """Whether a place or an object holds a run, and not vectors."""
    if isinstance(place, Mapping):
        first: Any = next(iter(place.values()), None)
        inner: Any = first[0] if isinstance(first, (list, tuple)) and first else None
        return isinstance(first, Mapping) or isinstance(inner, (str, list, tuple))
    if not isinstance(place, (str, Path)):
        return isinstance(place, Ranking)
    if not exists(place) or Path(place).is_dir():
        return False
    if (url := remote_url(place)) is not None:
        with suppress(BadInput, BadUsage):
            rows_of(url)
            return False
    head = Head.of(Source(place))
    if head.raw.startswith(MAGIC) or b"\0" in head.raw[:8]:
        return False
    run, vectors = (
        max((sure for sure, _ in scored(head, holds)), default=0) for holds in ("run", "embeddings")
    )
    return run > vectors


class RunAgreement:
    """The lists of a reference run and of candidates, for the queries of the reference."""

    def __init__(
        self,
        named: Mapping[str, Any],
        options: AgreementOptions,
        rules: Convention,
        ks: Sequence[int],
    ) -> None:
        self.name, *self.candidates = named
        usual = {each.name: each.default for each in fields(options)}
        unused = next((name for name in _OF_VECTORS if getattr(options, name) != usual[name]), None)
        if unused is not None:
            given = flag(unused, getattr(options, unused))
            raise BadUsage(f"{given} applies to vectors, and {self.name} is a run; leave it out.")
        self.builder, self.notes = ResultsBuilder(rules), [*rules.unnamed(options), *rules.notes]
        texts = measure_names(options.measures) or (
            bare_words(rules.defaults)
            if cuts_gold(rules)
            else [f"{name}@{k}" for k in ks for name in ("Overlap", "Jaccard", "RBO")]
        )
        self.gold_depth = options.gold_depth or (None if cuts_gold(rules) else max(ks))
        self.plans: tuple[MeasurePlan, ...] = plan_measures(texts, ks, rules.words, self.gold_depth)
        self.tables = {
            name: io.read_ranking(place, columns=options.columns, notes=self.notes)
            for name, place in named.items()
        }
        self.queries = self.tables[self.name].queries
        self.pairs = {name: self._beside(name) for name in self.candidates}

    def _beside(self, name: str) -> RankingPairs:
        """Measures a candidate. Raises NothingToEvaluate where it shares no query with the
        reference.
        """
        table = self.tables[name]
        there = sum(query in table.index for query in self.queries)
        if not there:
            example = (
                f"{self.name} has queries like {next(iter(self.queries), '')!r}, {name} like "
                f"{next(iter(table.queries), '')!r}"
            )
            raise NothingToEvaluate(
                f"{name} and {self.name} have no query in common ({example}); are these runs "
                "of one data set?"
            )
        if there < len(self.queries):
            self.notes.append(
                f"{name} lacks {len(self.queries) - there} of {len(self.queries)} queries, "
                "which share nothing"
            )
        if there < len(table.queries):
            self.notes.append(
                f"{name} has {len(table.queries) - there} queries that {self.name} lacks; "
                "they are ignored"
            )
        own = table.to_dict()
        pairs = ranking_pairs(
            self.tables[self.name].to_dict(), {query: own.get(query, {}) for query in self.queries}
        )
        for each in self.plans:
            view = (
                pairs
                if each.measure.entry.view is RankingPairs
                else pairs.judged(each.gold_depth, each.gains)
            )
            self.builder.keep(
                name, each.measure, each.label, pairs.queries, each.measure(view), name=each.exact
            )
            self.builder.row_attributes.append({"k": each.measure.cutoff})
        return pairs

    def fields(self, ks: Sequence[int]) -> dict[str, Any]:
        """The fields of the results that only runs decide."""
        return {
            "rules": {
                "convention": self.builder.convention.name,
                "reference": self.name,
                "queries": len(self.queries),
                "k": ",".join(map(str, ks)),
                "gold_depth": self.gold_depth or "k",
                "ties": "id-desc",
                "sd": "population" if self.builder.convention.population_sd else "sample",
                "measures": {each.exact: each.definition for each in self.plans},
            },
            "measures": [LabelledMeasure(each.measure, each.label) for each in self.plans],
            "notes": self.notes,
            "reference": self.name,
            "candidates": tuple(self.candidates),
            "panel": VectorPanel([], ()),
            "convention": self.builder.convention,
            "sample": Sample(np.arange(len(self.queries)), self.queries, None, len(self.queries)),
            "pairs": self.pairs,
        }
