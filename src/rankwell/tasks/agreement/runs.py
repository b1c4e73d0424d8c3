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
from rankwell.data.arrays import MAGIC
from rankwell.data.ranking_pairs import RankingPairs
from rankwell.data.rankings import Ranking
from rankwell.data.registry import measure_names
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.results import ResultsBuilder
from rankwell.io import formats as io
from rankwell.io.formats import scored
from rankwell.io.mapping import ranking_pairs
from rankwell.runtime.parts.vectors import rows_of
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


def is_run(data: Any) -> bool:
    """Whether a place or an object holds a run, and not vectors."""
    if isinstance(data, Mapping):
        first: Any = next(iter(data.values()), None)
        inner: Any = first[0] if isinstance(first, (list, tuple)) and first else None
        return isinstance(first, Mapping) or isinstance(inner, (str, list, tuple))
    if not isinstance(data, (str, Path)):
        return isinstance(data, Ranking)
    if not exists(data) or Path(data).is_dir():
        return False
    if (url := remote_url(data)) is not None:
        with suppress(BadInput, BadUsage):
            rows_of(url)
            return False
    head = Head.of(Source(data))
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
        runs: Mapping[str, Any],
        options: AgreementOptions,
        rules: Convention,
        ks: Sequence[int],
    ) -> None:
        self.name, *self.candidates = runs
        defaults = {option.name: option.default for option in fields(options)}
        for name in _OF_VECTORS:
            value = getattr(options, name)
            if value != defaults[name]:
                raise BadUsage(
                    f"{flag(name, value)} applies to vectors, and {self.name} is a run; leave it "
                    "out."
                )
        self.builder, self.notes = ResultsBuilder(rules), [*rules.unnamed(options), *rules.notes]
        cut, texts = cuts_gold(rules), measure_names(options.measures)
        if not texts and cut:
            texts = bare_words(rules.defaults)
        elif not texts:
            texts = [f"{name}@{k}" for k in ks for name in ("Overlap", "Jaccard", "RBO")]
        self.gold_depth = options.gold_depth or (None if cut else max(ks))
        self.plans: tuple[MeasurePlan, ...] = plan_measures(texts, ks, rules.words, self.gold_depth)
        self.tables = {
            name: io.read_ranking(run, columns=options.columns, notes=self.notes)
            for name, run in runs.items()
        }
        self.queries = self.tables[self.name].queries
        self.pairs = {name: self._measured(name) for name in self.candidates}

    def _measured(self, name: str) -> RankingPairs:
        """The lists of a candidate beside the reference's, whose values are kept. Raises
        NothingToEvaluate where they share no query.
        """
        table = self.tables[name]
        shared = sum(query in table.index for query in self.queries)
        if not shared:
            raise NothingToEvaluate(
                f"{name} and {self.name} have no query in common ({self.name} has queries like "
                f"{next(iter(self.queries), '')!r}, {name} like {next(iter(table.queries), '')!r}"
                "); are these runs of one data set?"
            )
        if shared < len(self.queries):
            self.notes.append(
                f"{name} lacks {len(self.queries) - shared} of {len(self.queries)} queries, "
                "which share nothing"
            )
        if shared < len(table.queries):
            self.notes.append(
                f"{name} has {len(table.queries) - shared} queries that {self.name} lacks; "
                "they are ignored"
            )
        lists = table.to_dict()
        pairs = ranking_pairs(
            self.tables[self.name].to_dict(),
            {query: lists.get(query, {}) for query in self.queries},
        )
        for plan in self.plans:
            is_pair = plan.measure.entry.view is RankingPairs
            view = pairs if is_pair else pairs.judged(plan.gold_depth, plan.gains)
            self.builder.keep(
                name, plan.measure, plan.label, pairs.queries, plan.measure(view), name=plan.exact
            )
            self.builder.row_attributes.append({"k": plan.measure.cutoff})
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
                "measures": {plan.exact: plan.definition for plan in self.plans},
            },
            "measures": [LabelledMeasure(plan.measure, plan.label) for plan in self.plans],
            "notes": self.notes,
            "reference": self.name,
            "candidates": tuple(self.candidates),
            "panel": VectorPanel([], ()),
            "convention": self.builder.convention,
            "sample": Sample(np.arange(len(self.queries)), self.queries, None, len(self.queries)),
            "pairs": self.pairs,
        }
