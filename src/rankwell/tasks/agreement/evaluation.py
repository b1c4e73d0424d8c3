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
from rankwell.core.arithmetic import own_arithmetic
from rankwell.core.exact import exact_mean
from rankwell.core.figures import FIGURES
from rankwell.core.options import cutoffs, takes_options
from rankwell.core.registry import parse_measure
from rankwell.core.tables import Floats, Unit, sort_ids
from rankwell.core.tables.columns import refuse_unused_columns
from rankwell.core.views.judged import JudgedRankings
from rankwell.core.views.ranking_pairs import RankingPairs, chance_level
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.details import Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.io import files as io
from rankwell.io.mapping import ranking_pairs
from rankwell.neighbours import TopK
from rankwell.parts.options import PartOptions, PartOutcome
from rankwell.parts.tables import ObjectEmbeddings
from rankwell.results import Results
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
    found = agreement_results(
        reference, candidates, options, parts, spectrum=spectrum, details=details, progress=progress
    )
    return found.finished()


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
    named = inputs.named_models(reference, candidates)
    if is_run(next(iter(named.values()))):
        if parts.is_used:
            raise BadUsage(
                "parts need embeddings; runs are compared in one piece: leave "
                f"{flag('--executor')} out."
            )
        return PartOutcome(_of_runs(RunAgreement(named, options, rules, ks), named, options, ks))
    refuse_unused_columns(options.columns, "run", "a run")
    if options.labels is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--labels"))
    models, notes = inputs.read_models(named, options, in_parts=parts.is_used, sized=parts.dry_run)
    quick = options.intervals == "none"
    spectrum = not quick if spectrum is None else spectrum
    # The panel needs all vectors; those of objects are read once there is a result.
    is_late = parts.dry_run or (
        not options.ceiling and any(isinstance(each.items, ObjectEmbeddings) for each in models)
    )
    panel = VectorPanel([], ()) if is_late else inputs.check_vectors(models, spectrum=spectrum)
    sample = Sample.draw(models[0].items.names(), options, sized=parts.dry_run)
    plans = inputs.requested_measures(options, rules, ks, sample)
    # A source that prints no margin need not wait for one.
    cut = cuts_gold(rules)
    depth = max([max(ks), *(each.gold_depth for each in plans)]) + (
        0 if cut and quick else _MARGIN_DEPTH
    )
    if options.ceiling and not parts.dry_run:
        models.append(models[0].in_half_precision())
    known, depth = None, min(depth, sample.most_candidates)
    if parts.is_used:
        exact = any(each.measure.entry.view is RankingPairs for each in plans)
        outcome = neighbours_in_parts(
            models, named, sample, (depth, max(ks)), exact=exact, parts=parts, progress=progress
        )
        if outcome.result is None:
            return outcome
        known = outcome.result
        panel = inputs.check_vectors(models, spectrum=spectrum) if is_late else panel
    lists = ReferenceLists(
        sample,
        models[0],
        max(ks),
        depth,
        known=known,
        progress=progress_of(progress, models[0].name),
    )
    evaluation = _AgreementEvaluation(options, ks, rules, lists, plans)
    whole = options.measures is None and not cut
    for each in models[1:]:
        evaluation.add(each, whole=whole, progress=progress_of(progress, each.name))
    if not (cut and quick):
        evaluation.add_reference(rows=whole)
    if options.labels is not None:
        words = inputs.bare_words(rules.defaults) if cut else ["nDCG", "P", "R", "AP", "RR"]
        evaluation.judge(
            options.labels, plan_measures(words, ks, rules.words, None, JudgedRankings)
        )
    chosen = {"rows": "matched by position"} if notes else {}
    if sample.requested > len(sample.items):
        notes.append(
            f"{options.samples} samples were requested and there are {len(sample.items)} "
            "items: all are queries"
        )
    notes = [*rules.unnamed(options), *rules.notes, *panel.warnings, *notes]
    return PartOutcome(evaluation.results(panel, named, chosen, notes, details=details))


def _of_runs(
    lists: RunAgreement, named: Mapping[str, Any], options: AgreementOptions, ks: Sequence[int]
) -> AgreementResults:
    """The results of runs beside a reference run."""
    changes = relative_changes_of(lists.builder, lists.candidates, options.intervals, options.seed)
    fields = lists.fields(ks)
    fields["notes"] = [*fields["notes"], *notes_on_changes(changes, options.intervals)]
    return lists.builder.results(
        AgreementResults,
        **fields,
        tables={"changes": changes},
        sources=sources_of(named),
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
        self._options, self._lists, self._plans, self._ks, self._deepest = (
            options,
            lists,
            plans,
            ks,
            max(ks),
        )
        self._tops: dict[str, TopK] = {lists.model.name: lists.top}
        self._vectors: Representation | None = None
        self._chances: dict[tuple[str, bytes], Floats] = {}
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.pairs: dict[str, RankingPairs] = {}
        self.definitions: dict[str, dict[str, str]] = {}
        self.margins: dict[int, float | None] = {}

    def add(
        self, candidate: Model, *, whole: bool, progress: Callable[[int, int], None] | None
    ) -> None:
        """Measures one candidate. whole: adds the aggregates of all its vectors."""
        # Measures of judged lists need no ranks beyond the lists.
        exact = any(each.measure.entry.view is RankingPairs for each in self._plans)
        pairs, self._tops[candidate.name] = self._lists.beside(
            candidate, exact=exact, progress=progress
        )
        self.pairs[candidate.name] = pairs
        judged = cache(pairs.judged)
        for each in self._plans:
            view = (
                pairs
                if each.measure.entry.view is RankingPairs
                else judged(each.gold_depth, each.gains)
            )
            # The chance level is the same for all candidates whose lists are as long.
            key = each.exact, pairs.candidate.offsets.tobytes()
            if key not in self._chances:
                self._chances[key] = chance_level(
                    each.measure, pairs, gold_depth=each.gold_depth, gains=each.gains
                )
            self._keep(candidate.name, each, each.measure(view), self._chances[key])
        if whole:
            self._add_alignment(candidate)
            self._add_hubs(candidate.name)

    def add_reference(self, *, rows: bool) -> None:
        """Adds the margin of the reference's lists, and rows of it and of their hubs."""
        pairs, name = next(iter(self.pairs.values())), self._lists.model.name
        for k in self._ks:
            near = margin(pairs, k=k, eps=self._options.eps)
            self.margins[k] = None if np.isnan(near).all() else float(np.nanmedian(near))
        if rows:
            for each in plan_measures([f"Margin(eps={self._options.eps!r})"], self._ks, {}, None):
                self._keep(name, each, each.measure(pairs))
            self._add_hubs(name)

    def judge(self, labels: Any, plans: Sequence[MeasurePlan]) -> None:
        """Measures the reference and every candidate against judgments of some of the queries."""
        found = io.find_judgments(labels, qrels_columns=self._options.qrels_columns)
        flat = found.table.flat
        known = {query: row for row, query in enumerate(flat.queries)}
        names, notes = self._lists.sample.names, self.builder.notes
        notes += found.notes
        rows = [known.get(name, -1) for name in names]
        there = np.flatnonzero(np.array(rows) >= 0)
        if not len(there):
            what = (
                f"the labels judge {len(known)} queries, none of them among the {len(names)} "
                "sampled items"
            )
            raise NothingToEvaluate(
                f"{what} (as {names[0]!r}); their queries are ids of the embeddings."
            )
        if len(there) < len(names):
            notes.append(
                f"{len(there)} of {len(names)} sampled queries have labels; measures against "
                "labels count these"
            )
        lacking = sort_ids(set(flat.items) - set(self._lists.sample.items))
        if lacking:
            what = f"{len(lacking)} judged items are not among the embeddings, first {lacking[0]!r}"
            notes.append(f"{what}; they count as relevant items that nothing retrieves")
        flat = flat.with_junk({names[place]: [names[place]] for place in there.tolist()})
        taken = np.array(rows, dtype=np.int64)[there]
        for run, top in self._tops.items():
            short = replace(
                top,
                positions=top.positions[:, : self._deepest],
                scores=top.scores[:, : self._deepest],
            )
            hits = io.find_hits(short.ranking(), flat, ties="input").hits
            view = JudgedRankings.join(flat, hits).resolve("input").take(taken)
            for each in plans:
                values = np.full(len(names), np.nan)
                values[there] = each.measure(view)
                exact = inputs.with_parameter(each.exact, "truth='labels'")
                self._keep(run, each._replace(exact=exact, label=f"{each.label} (labels)"), values)

    def _keep(
        self, run: str, each: MeasurePlan, values: Floats, chance: Floats | None = None
    ) -> None:
        known = np.zeros(0) if chance is None else chance[~np.isnan(chance)]
        level = exact_mean(known) if len(known) else None
        self.builder.keep(
            run, each.measure, each.label, self._lists.sample.names, values, name=each.exact
        )
        self.builder.row_attributes.append({"k": each.measure.cutoff, "chance": level})
        self.definitions[each.exact] = each.definition

    def _add_alignment(self, candidate: Model) -> None:
        n = self._lists.model.items.n
        rows = (
            np.arange(_ALIGNED_ITEMS, dtype=np.int64) * n // _ALIGNED_ITEMS
            if n > _ALIGNED_ITEMS
            else slice(None)
        )
        self._vectors = self._vectors or Representation(self._lists.model.items.vectors[rows])
        cka = linear_cka(self._vectors, Representation(candidate.items.vectors[rows]))
        self._aggregate(candidate.name, "CKA", cka.linear, min(n, _ALIGNED_ITEMS))
        self._aggregate(
            candidate.name, "CKA(kind='debiased')", cka.debiased, min(n, _ALIGNED_ITEMS), chance=0.0
        )

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
        row = SummaryRow.of(
            run, name, name, None if np.isnan(value) else float(value), None, None, None, n, unit
        )
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
        named: Mapping[str, Any],
        chosen: Mapping[str, Any],
        notes: Sequence[str],
        *,
        details: bool,
    ) -> AgreementResults:
        """The results of all models, which are `named`. chosen: further options that decided a
        number.
        """
        builder, sample, depth, candidates = (
            self.builder,
            self._lists.sample,
            self._deepest,
            tuple(named)[1:],
        )
        intervals, seed = self._options.intervals, self._options.seed
        changes = relative_changes_of(builder, candidates, intervals, seed)
        return builder.results(
            AgreementResults,
            # Intervals, seed and version stand before the panel.
            rules={
                **self._rules(chosen),
                "intervals": intervals,
                "seed": seed,
                "version": __version__,
                "panel": panel.rows,
            },
            measures=[LabelledMeasure(each.measure, each.label) for each in self._plans],
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
            sources=sources_of(named),
            intervals=intervals,
            seed=seed,
            check=lambda result: [_CHANGES_NOTE] if intervals == "t" and result.changes else [],
            task="agreement",
        )

    def _rules(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
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
            **chosen,
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
        for side, chosen, ranks, scores in (
            (
                second,
                second.within(None),
                (second.ranks, second.other_ranks),
                (second.scores, second.other_scores),
            ),
            (first, lacking, (first.other_ranks, first.ranks), (first.other_scores, first.scores)),
        ):
            (rank, place), (score, known) = (
                (column[chosen] for column in ranks),
                (column[chosen] for column in scores),
            )
            owner, near = side.query_of_row[chosen], (place > 0) & (place <= depth)
            listed: list[int] = side.items[chosen].tolist()
            found = Details(
                query=[pairs.queries[row] for row in owner.tolist()],
                item=[items[row] for row in listed],
                rank=np.where(rank == 0, np.nan, rank),
                score=score,
                grade=near.astype(np.float64),
                state=["relevant" if each else "nonrelevant" for each in near.tolist()],
            )
            rows = zip(place.tolist(), known.tolist(), (known - last[owner]).tolist(), strict=True)
            parts.append((run, found, [_detail(*each) for each in rows]))
    return detail_columns(parts)


def _detail(place: int, *similarities: float) -> str:
    score, gap = (None if isnan(each) else each for each in similarities)
    return json.dumps({"reference_rank": place or None, "reference_score": score, "margin": gap})
