"""Embeddings of a reference and of candidates -> values: how many of the reference's neighbours
each candidate finds.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isnan
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell.conventions import Convention, LabelledMeasure, check_views, find_convention
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import cutoffs, own_arithmetic, takes_options
from rankwell.data.ranking_pairs import RankingPairs, chance_level
from rankwell.data.registry import FIGURES, parse_measure
from rankwell.data.tables import Floats, Unit, exact_mean, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.details import Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.io import formats as io
from rankwell.io.mapping import ranking_pairs
from rankwell.results import Results
from rankwell.runtime.parts.options import PartOptions, PartOutcome
from rankwell.runtime.parts.tables import ObjectEmbeddings
from rankwell.stats import SummaryRow
from rankwell.store import sources_of
from rankwell.tasks.agreement import inputs
from rankwell.tasks.agreement.changes import notes_on_changes, relative_changes_of
from rankwell.tasks.agreement.in_parts import neighbours_in_parts
from rankwell.tasks.agreement.inputs import (
    MeasurePlan,
    Model,
    ReferenceLists,
    Sample,
    cuts_gold,
    plan_measures,
)
from rankwell.tasks.agreement.measures.agreement_space import margin
from rankwell.tasks.agreement.options import AgreementOptions, AgreementPartOptions
from rankwell.tasks.agreement.runs import RunAgreement, is_run
from rankwell.tasks.agreement.vectors import Representation, VectorPanel, hubness, linear_cka
from rankwell.vectors.neighbours import TopK

_MARGIN_DEPTH = 100
"""Depth of the reference's lists, for the margin, beyond the last place that a measure reads."""
_ALIGNED_ITEMS = 10_000
"""Kernel alignment is of so many evenly spaced items at most: its bias is gone there, and its cost
grows with the items.
"""
_CHANGES_NOTE = "relative changes have a bootstrap interval only"
ListOfIds = Sequence[Hashable] | Mapping[Any, float]  # the keys of a Mapping are invariant


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AgreementResults(Results):
    """Results of models beside a reference.

    reference, candidates: their names. panel: the figures of the vectors of each model. convention:
    whose rules hold. sample: the items that are queries. pairs: candidate -> its lists beside those
    of the reference.
    """

    reference: str
    candidates: tuple[str, ...]
    panel: VectorPanel
    convention: Convention
    sample: Sample
    pairs: Mapping[str, RankingPairs]

    @property
    def changes(self) -> Sequence[Mapping[str, Any]]:
        """The relative differences of the second candidate and later ones from the first."""
        return self.tables["changes"]


@takes_options(AgreementPartOptions, "measures")
def agree(
    reference: Any,
    candidates: Any,
    *,
    options: AgreementPartOptions,
    spectrum: bool | None = None,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> AgreementResults:
    """Measures to what extent candidates find the neighbours that a reference finds, for a sample
    of items among all items.

    Runs are compared list by list, at every query of the reference: whatever `read_ranking` takes.
    reference: whatever `read_embeddings` takes, or `NAME=PATH`. candidates: one such thing, a list
    of them, or a mapping
    name -> thing; rows belong together by id where both sides have ids, else by position. options:
    the fields of `AgreementOptions`, as keywords or as one; measures may follow the candidates.
    spectrum: the effective rank in the panel; None leaves it out without intervals, when time
    matters. details: keep the lists and the queries for a folder of results. executor, work and
    what belongs to them: neighbours are sought in parts, with the same result, see docs/scale.md.
    Of the result, `reference` and `candidates` are names, `panel` describes the vectors, `sample`
    the queries, `pairs` has the lists of each candidate beside the reference's, and `changes` the
    relative change of each mean against the first candidate. Raises BadInput for vectors that are
    not finite, or zero under cosine, and tables that do not match; BadUsage for cut-offs that the
    items do not allow and for names that are used twice; NothingToEvaluate where the labels judge
    none of the queries.
    """
    # `AgreementOptions` will do, too.
    parts = options if isinstance(options, PartOptions) else PartOptions()  # pyright: ignore[reportUnnecessaryIsInstance]
    return agreement_results(
        reference, candidates, options, parts, spectrum=spectrum, details=details, progress=progress
    ).finished()


def agreement_results(
    reference: Any,
    candidates: Any,
    options: AgreementOptions,
    parts: PartOptions,
    *,
    spectrum: bool | None = None,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> PartOutcome:
    """The results of `agree`, or what to show where its parts are not all computed."""
    rules, ks = inputs.convention_of(options), tuple(sorted(set(cutoffs(options.k))))
    models_by_name = inputs.named_models(reference, candidates)
    if is_run(next(iter(models_by_name.values()))):
        if parts.is_used:
            raise BadUsage(
                "parts need embeddings; runs are compared in one piece: leave "
                f"{flag('--executor')} out."
            )
        lists = RunAgreement(models_by_name, options, rules, ks)
        return PartOutcome(_of_runs(lists, models_by_name, options, ks))
    refuse_unused_columns(options.columns, "run", "a run")
    if options.labels is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--labels"))
    models, notes = inputs.read_models(
        models_by_name, options, in_parts=parts.is_used, sized=parts.dry_run
    )
    quick = options.intervals == "none"
    spectrum = not quick if spectrum is None else spectrum
    # The panel needs all vectors; those of objects are read once there is a result.
    is_late = parts.dry_run or (
        not options.ceiling and any(isinstance(model.items, ObjectEmbeddings) for model in models)
    )
    panel = VectorPanel([], ()) if is_late else inputs.check_vectors(models, spectrum=spectrum)
    sample = Sample.draw(models[0].items.names(), options, sized=parts.dry_run)
    plans = inputs.requested_measures(options, rules, ks, sample)
    cut, deepest = cuts_gold(rules), max(ks)
    # A source that prints no margin need not wait for one.
    without_margin = cut and quick
    depth = max(deepest, *(plan.gold_depth for plan in plans))
    depth = min(depth + _MARGIN_DEPTH * (not without_margin), sample.most_candidates)
    if options.ceiling and not parts.dry_run:
        models.append(models[0].in_half_precision())
    # Measures of judged lists need no ranks beyond the lists.
    exact = any(plan.measure.entry.view is RankingPairs for plan in plans)
    earlier = None
    if parts.is_used:
        outcome = neighbours_in_parts(
            models,
            models_by_name,
            sample,
            (depth, deepest),
            exact=exact,
            parts=parts,
            progress=progress,
        )
        if outcome.result is None:
            return outcome
        earlier = outcome.result
        panel = inputs.check_vectors(models, spectrum=spectrum) if is_late else panel
    lists = ReferenceLists(
        sample,
        models[0],
        deepest,
        depth,
        earlier=earlier,
        progress=progress_of(progress, models[0].name),
    )
    evaluation = _AgreementEvaluation(options, ks, rules, lists, plans)
    has_aggregates = options.measures is None and not cut
    for model in models[1:]:
        pairs, top = lists.compare(model, exact=exact, progress=progress_of(progress, model.name))
        evaluation.add(model, pairs, top, aggregates=has_aggregates)
    if not without_margin:
        evaluation.add_reference(rows=has_aggregates)
    if options.labels is not None:
        words = inputs.bare_words(rules.defaults) if cut else ["nDCG", "P", "R", "AP", "RR"]
        evaluation.judge(
            options.labels, plan_measures(words, ks, rules.words, None, [JudgedRankings])
        )
    matching = {"rows": "matched by position"} if notes else {}
    if sample.requested > len(sample.items):
        notes.append(
            f"{options.samples} samples were requested and there are {len(sample.items)} "
            "items: all are queries"
        )
    notes = [*rules.unnamed(options), *rules.notes, *panel.warnings, *notes]
    return PartOutcome(evaluation.results(panel, models_by_name, matching, notes, details=details))


def _of_runs(
    lists: RunAgreement, runs: Mapping[str, Any], options: AgreementOptions, ks: Sequence[int]
) -> AgreementResults:
    """The results of runs beside a reference run."""
    changes = relative_changes_of(lists.builder, lists.candidates, options.intervals, options.seed)
    fields = lists.fields(ks)
    fields["notes"] = [*fields["notes"], *notes_on_changes(changes, options.intervals)]
    return lists.builder.results(
        AgreementResults,
        **fields,
        tables={"changes": changes},
        sources=sources_of(runs),
        intervals=options.intervals,
        seed=options.seed,
        task="agreement",
    )


@own_arithmetic
def compare_lists(
    reference: ListOfIds,
    candidate: ListOfIds,
    measure: str,
    *,
    gold_depth: int | None = None,
    convention: str = "scholar-stream",
) -> float:
    """The value of a measure on a candidate's list, with the first items of the reference's list as
    the truth.

    reference, candidate: ids from first to last, or item -> similarity. measure: a name, or a word
    of the convention: Recall@k, NDCG@k, MRR@k and MAP@k are those of the paper recommender.
    gold_depth: how many first items of the reference are relevant; the cut-off where the convention
    says so, else all of them. Raises BadUsage for a measure of something else than lists.

    >>> compare_lists([7, 23, 156, 89, 42], [7, 89, 12, 23, 99], "Recall@5")
    0.6
    >>> round(compare_lists([7, 23, 156], [7, 99, 23, 156, 12], "NDCG@5", gold_depth=3), 3)
    0.906
    >>> compare_lists([7, 23, 156, 89, 42], [99, 7, 23], "MRR@5")
    0.5
    >>> round(compare_lists([7, 23, 156, 89, 42], [7, 99, 23, 156, 12], "MAP@5"), 3)
    0.806
    """
    rules = find_convention(convention, "agreement")
    requested = parse_measure(measure, rules.words)
    pairs = ranking_pairs(reference, candidate)
    if requested.entry.view is RankingPairs:
        return float(requested(pairs)[0])
    check_views([requested], RankingPairs, JudgedRankings)
    depth = gold_depth or (requested.cutoff if cuts_gold(rules) else None)
    return float(requested(pairs.judged(depth))[0])


class _AgreementEvaluation:
    """The models measured so far."""

    def __init__(
        self,
        options: AgreementOptions,
        ks: Sequence[int],
        convention: Convention,
        lists: ReferenceLists,
        plans: Sequence[MeasurePlan],
    ) -> None:
        self._options, self._lists, self._plans, self._ks = options, lists, plans, ks
        self._deepest = max(ks)
        self._tops: dict[str, TopK] = {lists.model.name: lists.top}
        self._vectors: Representation | None = None
        self._chances: dict[tuple[str, bytes], Floats] = {}
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.pairs: dict[str, RankingPairs] = {}
        self.definitions: dict[str, dict[str, str]] = {}
        self.margins: dict[int, float | None] = {}

    def add(self, candidate: Model, pairs: RankingPairs, top: TopK, *, aggregates: bool) -> None:
        """Measures one candidate. aggregates: adds those of all its vectors."""
        self.pairs[candidate.name], self._tops[candidate.name] = pairs, top
        judged = cache(pairs.judged)
        for plan in self._plans:
            # The chance level is the same for all candidates whose lists are as long.
            key = plan.exact, pairs.candidate.offsets.tobytes()
            if key not in self._chances:
                self._chances[key] = chance_level(
                    plan.measure, pairs, gold_depth=plan.gold_depth, gains=plan.gains
                )
            values = plan.measure(
                pairs
                if plan.measure.entry.view is RankingPairs
                else judged(plan.gold_depth, plan.gains)
            )
            self._keep(candidate.name, plan, values, self._chances[key])
        if aggregates:
            self._add_alignment(candidate)
            self._add_hubs(candidate.name)

    def add_reference(self, *, rows: bool) -> None:
        """Adds the margin of the reference's lists, and rows of it and of their hubs."""
        pairs, name = next(iter(self.pairs.values())), self._lists.model.name
        for k in self._ks:
            near = margin(pairs, k=k, eps=self._options.eps)
            self.margins[k] = None if np.isnan(near).all() else float(np.nanmedian(near))
        if rows:
            for plan in plan_measures([f"Margin(eps={self._options.eps!r})"], self._ks, {}, None):
                self._keep(name, plan, plan.measure(pairs))
            self._add_hubs(name)

    def judge(self, labels: Any, plans: Sequence[MeasurePlan]) -> None:
        """Measures the reference and every candidate against judgments of some of the queries."""
        judgments = io.find_judgments(labels, qrels_columns=self._options.qrels_columns)
        flat, names = judgments.table.flat, self._lists.sample.names
        notes = self.builder.notes
        notes += judgments.notes
        row_of = {query: row for row, query in enumerate(flat.queries)}
        judged = np.flatnonzero([name in row_of for name in names])
        if not len(judged):
            raise NothingToEvaluate(
                f"the labels judge {len(row_of)} queries, none of them among the {len(names)} "
                f"sampled items (as {names[0]!r}); their queries are ids of the embeddings."
            )
        if len(judged) < len(names):
            notes.append(
                f"{len(judged)} of {len(names)} sampled queries have labels; measures against "
                "labels count these"
            )
        lacking = sort_ids(set(flat.items) - set(self._lists.sample.items))
        if lacking:
            notes.append(
                f"{len(lacking)} judged items are not among the embeddings, first {lacking[0]!r}; "
                "they count as relevant items that nothing retrieves"
            )
        queries = [names[query] for query in judged.tolist()]
        flat = flat.with_junk({query: [query] for query in queries})
        rows = np.array([row_of[query] for query in queries], dtype=np.int64)
        for run, top in self._tops.items():
            first = slice(self._deepest)
            short = replace(top, positions=top.positions[:, first], scores=top.scores[:, first])
            hits = io.find_hits(short.ranking(), flat, ties="input").hits
            view = JudgedRankings.join(flat, hits).resolve("input").take(rows)
            for plan in plans:
                values = np.full(len(names), np.nan)
                values[judged] = plan.measure(view)
                exact = inputs.with_parameter(plan.exact, "truth='labels'")
                self._keep(run, plan._replace(exact=exact, label=f"{plan.label} (labels)"), values)

    def _keep(
        self, run: str, plan: MeasurePlan, values: Floats, chance: Floats | None = None
    ) -> None:
        defined = np.zeros(0) if chance is None else chance[~np.isnan(chance)]
        level = exact_mean(defined) if len(defined) else None
        self.builder.keep(
            run, plan.measure, plan.label, self._lists.sample.names, values, name=plan.exact
        )
        self.builder.row_attributes.append({"k": plan.measure.cutoff, "chance": level})
        self.definitions[plan.exact] = plan.definition

    def _add_alignment(self, candidate: Model) -> None:
        n, name = self._lists.model.items.n, candidate.name
        size = min(n, _ALIGNED_ITEMS)
        rows = slice(None) if size == n else np.arange(size, dtype=np.int64) * n // size
        self._vectors = self._vectors or Representation(self._lists.model.items.vectors[rows])
        cka = linear_cka(self._vectors, Representation(candidate.items.vectors[rows]))
        self._aggregate(name, "CKA", cka.linear, size)
        self._aggregate(name, "CKA(kind='debiased')", cka.debiased, size, chance=0.0)

    def _add_hubs(self, name: str) -> None:
        k, queries = self._deepest, len(self._lists.sample.rows)
        hubs = hubness(self._tops[name].positions, len(self._lists.sample.items), k=k)
        self._aggregate(name, f"Hubness@{k}", hubs.skewness, queries, k)
        self._aggregate(name, f"Hubness(kind='largest')@{k}", hubs.largest, queries, k, "count")
        self._aggregate(name, f"Hubness(kind='never')@{k}", hubs.never, queries, k, "share")

    def _aggregate(
        self,
        run: str,
        name: str,
        value: float,
        n: int,
        k: int | None = None,
        unit: Unit = "score",
        chance: float | None = None,
    ) -> None:
        mean = None if np.isnan(value) else float(value)
        row = SummaryRow.of(run, name, name, mean, None, None, None, n, unit)
        self.aggregates.append(row | {"k": k, "chance": chance})
        figure = FIGURES[name.partition("@")[0]]
        self.definitions[name] = {
            "definition": figure.text,
            "better": figure.better,
            "summary": "mean",
            "source": figure.source,
        }

    def results(
        self,
        panel: VectorPanel,
        models: Mapping[str, Any],
        matching: Mapping[str, Any],
        notes: Sequence[str],
        *,
        details: bool,
    ) -> AgreementResults:
        """The results of all models. matching: the rule by which rows belong together."""
        builder, sample, depth = self.builder, self._lists.sample, self._deepest
        candidates = tuple(models)[1:]
        intervals, seed = self._options.intervals, self._options.seed
        changes = relative_changes_of(builder, candidates, intervals, seed)
        return builder.results(
            AgreementResults,
            # Intervals, seed and version stand before the panel.
            rules={
                **self._rules(matching),
                "intervals": intervals,
                "seed": seed,
                "version": __version__,
                "panel": panel.rows,
            },
            measures=[LabelledMeasure(plan.measure, plan.label) for plan in self._plans],
            notes=[*notes, *builder.notes, *notes_on_changes(changes, intervals)],
            aggregates=tuple(self.aggregates),
            details=_detail_columns(self.pairs, sample.items, depth) if details else None,
            queries=self._query_columns(depth) if details else None,
            tables={"changes": changes},
            reference=self._lists.model.name,
            candidates=candidates,
            panel=panel,
            convention=builder.convention,
            sample=sample,
            pairs=self.pairs,
            sources=sources_of(models),
            intervals=intervals,
            seed=seed,
            check=lambda result: [_CHANGES_NOTE] if intervals == "t" and result.changes else [],
            task="agreement",
        )

    def _rules(self, matching: Mapping[str, Any]) -> dict[str, Any]:
        """Every choice that decided a number."""
        sample, rules = self._lists.sample, self.builder.convention
        n, queries = len(sample.items), len(sample.rows)
        least, most = int(sample.n_candidates.min()), int(sample.n_candidates.max())
        margins = " ".join(
            f"{k}:{'–' if value is None else f'{value:g}'}" for k, value in self.margins.items()
        )
        return {
            "convention": rules.name,
            "reference": self._lists.model.name,
            "queries": f"{queries} of {n}",
            "candidates": most if least == most else f"{least} to {most}",
            "sampling": "all" if queries == n else "RandomState.choice",
            "exclude": "self" if sample.labels is None else "self and same label",
            "k": ",".join(map(str, self._ks)),
            "gold_depth": self._options.gold_depth or ("k" if cuts_gold(rules) else self._deepest),
            "metric": self._options.metric,
            **matching,
            **({"eps": self._options.eps} if self.margins else {}),
            **({"cka_items": min(n, _ALIGNED_ITEMS)} if "CKA" in self.definitions else {}),
            "ties": "position",
            **({"margin": margins} if margins else {}),
            "sd": "population" if rules.population_sd else "sample",
            "measures": self.definitions,
        }

    def _query_columns(self, depth: int) -> dict[str, Sequence[Any]]:
        """The columns of queries.parquet: the sampled items, rows and labels, and how certain the
        reference's lists end.
        """
        sample, pairs = self._lists.sample, next(iter(self.pairs.values()))
        rows: list[int] = sample.rows.tolist()
        columns: dict[str, Sequence[Any]] = {
            "query": sample.names,
            "text": [None] * len(rows),
            "position": rows,
        }
        if sample.labels is not None:
            columns["label"] = [sample.labels[row] for row in rows]
        last, after = (
            pairs.reference.score_at(np.full(len(rows), rank, dtype=np.int64))
            for rank in (depth, depth + 1)
        )
        if not np.isnan(last - after).all():
            columns["margin"] = [None if isnan(gap) else gap for gap in (last - after).tolist()]
        if self.margins:
            near: list[float] = margin(pairs, k=depth, eps=self._options.eps).tolist()
            columns["near_cut"] = [None if isnan(n) else int(n) for n in near]
        return columns


def _detail_columns(
    pairs_of_run: Mapping[str, RankingPairs], items: Sequence[str], depth: int
) -> Mapping[str, list[Any]]:
    """The columns of details.parquet: the candidates' lists, then the reference's first items that
    they lack.

    `margin`: the similarity under the reference less that of its last relevant item (EverMind-AI
    2026, EverOS issue 332).
    """
    parts: list[tuple[str, Details, list[str]]] = []
    for run, pairs in pairs_of_run.items():
        first, second = pairs.reference, pairs.candidate
        lacking = first.within(depth) & ~(
            (first.other_ranks > 0) & (first.other_ranks <= second.lengths[first.query_of_row])
        )
        last = first.score_at(np.full(len(pairs.queries), depth, dtype=np.int64))
        ranks = (second.ranks, second.other_ranks), (first.other_ranks, first.ranks)
        scores = (second.scores, second.other_scores), (first.other_scores, first.scores)
        sides = ((second, second.within(None)), (first, lacking))
        for (side, rows), of_rank, of_score in zip(sides, ranks, scores, strict=True):
            rank, reference_rank = (column[rows] for column in of_rank)
            score, reference_score = (column[rows] for column in of_score)
            owner = side.query_of_row[rows]
            near = (reference_rank > 0) & (reference_rank <= depth)
            positions: list[int] = side.items[rows].tolist()
            details = Details(
                query=[pairs.queries[query] for query in owner.tolist()],
                item=[items[position] for position in positions],
                rank=np.where(rank == 0, np.nan, rank),
                score=score,
                grade=near.astype(np.float64),
                state=["relevant" if is_near else "nonrelevant" for is_near in near.tolist()],
            )
            cells = (reference_rank, reference_score, reference_score - last[owner])
            lines = zip(*(column.tolist() for column in cells), strict=True)
            parts.append((run, details, [_detail(*line) for line in lines]))
    return detail_columns(parts)


def _detail(rank: int, *similarities: float) -> str:
    score, gap = (None if isnan(value) else value for value in similarities)
    return json.dumps({"reference_rank": rank or None, "reference_score": score, "margin": gap})
