"""Answers of an engine -> results: quality by any measure, recall against exact search, costs, and
choices among settings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.comparison.fusion.trials import only_queries
from rankwell.conventions import LabelledMeasure, check_views, choose_measures, find_convention
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import takes_options
from rankwell.data.rankings import Hits, Ranking, hits_of_ranking
from rankwell.data.registry import measure_names
from rankwell.data.tables import Bools, Floats, Judgments, Values, exact_mean, exact_sd, figure
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, flag
from rankwell.evaluation import results
from rankwell.evaluation.bounds import run_notes
from rankwell.evaluation.details import COMPLETE, Details, detail_columns, details_of
from rankwell.evaluation.judged import JudgedRun, RunInput, hide_own_items, with_negative_grades
from rankwell.evaluation.notations import Gauge
from rankwell.evaluation.results import (
    DETAIL_DEPTH,
    ResultsBuilder,
    counted_queries,
    lowest_relevant,
    mistake_notes,
    summary_of,
)
from rankwell.io.formats import find_judgments, judgments_file, read_judgments
from rankwell.results import Results
from rankwell.stats import SummaryRow, check_intervals, figure_of
from rankwell.stats.bounded_means import interval
from rankwell.store import sources_of, unchanged
from rankwell.tasks.retrieve.comparison import SettingsChosen, recall_names
from rankwell.tasks.retrieve.costs import (
    COSTS,
    SettingCosts,
    costs_of,
    few_requests,
    figure_definitions,
    label_of,
    load_notes,
)
from rankwell.tasks.retrieve.encoding import check_encoder
from rankwell.tasks.retrieve.exact import Truth, check_truth, notes_on_ids, read_truth
from rankwell.tasks.retrieve.inputs import RetrieveInputs, item_columns, query_columns, read_inputs
from rankwell.tasks.retrieve.journal import Journal
from rankwell.tasks.retrieve.measuring import Measurement, Progress, measure
from rankwell.tasks.retrieve.options import RetrieveOptions
from rankwell.tasks.retrieve.settings import chosen_family

_SHARE, _MILLISECONDS = "share", "ms"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EngineResults(Results):
    """Results of a search engine. measured: its answers with their times."""

    measured: Measurement


@takes_options(RetrieveOptions, "queries")
def retrieve(
    engine: Any, *, options: RetrieveOptions, progress: Progress | None = None
) -> EngineResults:
    """Asks a search engine, and judges what it returns: quality, recall against exact search,
    latency, throughput, index.

    engine: a name of `rankwell engines`, an address, `./FILE.py:OBJECT`, a file of a request, or a
    Python object. options: the fields of `RetrieveOptions`, as keywords or as one; the queries may
    follow the engine. In Python texts are mappings id -> text or lists, vectors arrays, option,
    build and sweep mappings, too (`sweep={"ef_search": [10, 40]}`).
    Engines that are named by a text work in a process of their own: a script that calls this keeps
    its own work below
    `if __name__ == "__main__":`. Raises BadInput, BadUsage, UnknownName, EngineFailed where queries
    fail.

    >>> import rankwell as rw
    >>> docs = {"a": "command line parsing", "b": "event scheduler"}
    >>> result = rw.retrieve(
    ...     lambda query, k: ["a", "b"][:k],
    ...     {"q": "parse"},
    ...     qrels={"q": {"a": 1}},
    ...     measures="RR",
    ...     rounds=1,
    ... )
    >>> result["RR"]
    1.0
    """
    return retrieve_into(engine, options, None, progress)[0]


def retrieve_into(
    engine: Any, options: RetrieveOptions, folder: Path | None, progress: Progress | None
) -> tuple[EngineResults, Measurement, Journal]:
    """The results with what they are made of. folder: where a call that was interrupted goes on."""
    check_intervals(options.intervals, options.seed)
    check_encoder(chosen_family(engine, options), options.encoder)
    evaluation = RetrieveEvaluation(read_inputs(options), options, engine)
    measured, journal = measure(engine, evaluation.inputs, options, folder, progress)
    return evaluation.results(measured), measured, journal


@dataclass(eq=False)
class RetrieveEvaluation:
    """The evaluation of one engine. What can be read is read before anything is asked."""

    inputs: RetrieveInputs
    options: RetrieveOptions
    engine: Any

    def __post_init__(self) -> None:
        self.convention = find_convention(self.options.convention)
        self.notes: list[str] = []
        names = measure_names(self.options.measures)
        check_truth(self.options)
        if names and self.options.qrels is None:
            raise BadUsage(f"-m {names[0]} needs judgments; give {flag('--qrels')}.")
        self.measures: tuple[LabelledMeasure, ...] = ()
        self.judgments: Judgments | None = None
        self._all_judgments: Judgments | None = None
        if self.options.qrels is None:
            refuse_unused_columns(self.options.qrels_columns, "judgments", flag("--qrels"))
        else:
            self.measures = choose_measures(names, self.convention)
            check_views((labelled.measure for labelled in self.measures), JudgedRankings)
            self.judgments = self._read_judgments()

    def _read_judgments(self) -> Judgments:
        file = judgments_file(self.options.qrels)
        read_result = find_judgments(file, qrels_columns=self.options.qrels_columns)
        judgments = read_result.table.flat
        file_notes = [] if file is self.options.qrels else [f"judgments: {file}"]
        self.notes += [*self.convention.notes, *file_notes, *read_result.notes]
        asked_queries = set(self.inputs.queries.ids)
        judged_queries = [query for query in judgments.queries if query in asked_queries]
        if not judged_queries:
            first = (judgments.queries[:1], self.inputs.queries.ids[:1])
            example = f" (judged: {first[0][0]!r}, asked: {first[1][0]!r})" if all(first) else ""
            raise NothingToEvaluate(
                f"no query is judged: the ids of queries and judgments differ{example}."
            )
        if len(judged_queries) < len(judgments.queries):
            count = count_of(
                len(judgments.queries) - len(judged_queries),
                "judged query is",
                "judged queries are",
            )
            self.notes.append(f"{count} not among the queries, and not counted")
        if len(judged_queries) < len(asked_queries):
            count = count_of(len(asked_queries) - len(judged_queries), "query is", "queries are")
            self.notes.append(f"{count} not judged: asked, but not counted in measures of quality")
        counted = only_queries(judgments, judged_queries)
        if self.convention.exclude_self:
            judgments, _ = hide_own_items(judgments)
            counted, own_items = hide_own_items(counted)
            self.notes += own_items
        self._all_judgments = judgments
        return counted

    def results(self, measured: Measurement) -> EngineResults:
        """The results of everything that was asked."""
        truth = read_truth(measured)
        names = [run_name(measured, setting) for setting in range(len(measured.settings.settings))]
        builder, parts = (
            ResultsBuilder(self.convention, keep_uncounted=False),
            list[tuple[str, Details, None]](),
        )
        raw = [self._lists(measured, setting, names[setting]) for setting in range(len(names))]
        about_ids = [] if truth is None else [*truth.notes, *notes_on_ids(truth, raw, measured)]
        for number, name in enumerate(names):
            parts += self._judge(builder, measured, number, name, truth)
        quality = len(builder.values)
        recalls = (
            {}
            if truth is None
            else {by: [truth.recall(lists, by=by) for lists in raw] for by in ("distance", "ids")}
        )
        costs = [costs_of(measured, setting, name) for setting, name in enumerate(names)]
        values = [
            *builder.values,
            *self._recall_values(names, recalls),
            *self._latency_values(measured, names),
        ]
        choices = SettingsChosen(self.measures, measured, names, builder.values, recalls, costs)
        deep = [
            labelled.label
            for labelled in self.measures
            if (labelled.measure.cutoff or 0) > self.options.k
        ]
        if deep:
            self.notes.append(
                f"{', '.join(deep)}: -k {self.options.k} gives the engine fewer places than "
                "that; raise it"
            )
        notes = [
            *self.notes,
            *builder.notes,
            *about_ids,
            *self._list_notes(measured, names, raw, truth),
            *_plan_notes(measured, names),
        ]
        notes += [
            *(note for setting_costs in costs for note in setting_costs.notes),
            *few_requests(measured, costs),
            *load_notes(measured, costs),
        ]
        return EngineResults(
            measured=measured,
            values=tuple(values),
            measures=self.measures,
            summarised=quality,
            aggregates=(*self._recall_rows(names, recalls), *_cost_rows(measured, names, costs)),
            rules=self._rules(measured, builder, truth, recalls, choices),
            notes=tuple(dict.fromkeys(notes)),
            sources=unchanged(sources_of({name: getattr(self.options, name) for name in _FILES})),
            details=detail_columns(
                iter(parts), states=None if self.judgments is not None else COMPLETE
            )
            if parts
            else None,
            queries=query_columns(self.inputs),
            items=item_columns(self.inputs),
            tables=_tables(measured, names, choices),
            intervals=self.options.intervals,
            seed=self.options.seed,
            task="retrieve",
            population_sd=self.convention.population_sd,
        )

    def _lists(self, measured: Measurement, setting: int, name: str) -> dict[int, list[str]]:
        """The ids of every answer, an item once. Raises BadInput for an item that is returned
        twice, unless that is allowed.
        """
        lists: dict[int, list[str]] = {}
        for query, request in measured.lists(setting).items():
            lists[query] = list(dict.fromkeys(request.ids))
            if (
                len(lists[query]) < len(request.ids)
                and self.options.duplicates == "error"
                and not self.options.collapse
            ):
                twice = next(item for item in request.ids if list(request.ids).count(item) > 1)
                where = f"{name}: query {self.inputs.queries.ids[query]!r}"
                raise BadInput(
                    f"{where} returned item {twice!r} twice; {flag('--duplicates', 'first')} "
                    "keeps the first of both."
                )
        return lists

    def ranking(self, measured: Measurement, setting: int) -> Ranking:
        """The lists of a setting in the engine's order; its scores where they never rise, else
        places from the last.
        """
        queries, items, scores = list[str](), list[str](), list[float]()
        for query, request in sorted(measured.lists(setting).items()):
            item_scores: dict[str, float] = {}
            numbers = (
                [nan] * len(request.ids)
                if request.scores is None
                else [float(score) for score in request.scores]
            )
            falls = all(
                score >= following_score for score, following_score in pairwise(numbers)
            ) and all(map(isfinite, numbers))
            for rank, (item, score) in enumerate(zip(request.ids, numbers, strict=True)):
                item_scores.setdefault(
                    self.inputs.collapse.get(item, item),
                    score if falls else float(len(request.ids) - rank),
                )
            queries += [self.inputs.queries.ids[query]] * len(item_scores)
            items += item_scores
            scores += item_scores.values()
        return Ranking.from_rows(queries, items, scores, all_queries=self.inputs.queries.ids)

    def _judge(
        self,
        builder: ResultsBuilder,
        measured: Measurement,
        setting: int,
        name: str,
        truth: Truth | None,
    ) -> Iterator[tuple[str, Details, None]]:
        """Measures a setting; its details for a page, by the exact results where there are no
        judgments.
        """
        judgments = self.judgments
        if judgments is None:
            if truth is None:
                return
            pairs = zip(self.inputs.queries.ids, truth.lists, strict=True)
            judgments = read_judgments(
                {query: list(exact.items) for query, exact in pairs if exact.items}
            ).flat
        ranking = self.ranking(measured, setting)
        hits = hits_of_ranking(ranking, judgments, ties="input", keep=DETAIL_DEPTH)
        view = self._view(judgments, hits)
        yield name, details_of(judgments, hits, view.resolve("input")), None
        if self.judgments is None:
            return
        run = JudgedRun(name=name, view=view, ties="input")
        bare, counted = self._counted(view)
        if not counted.any():
            raise NothingToEvaluate(f"{name}: no query has anything relevant.")
        builder.notes += self._mistakes(
            RunInput(name, hits, ranking, "ranking", ranking=ranking), judgments
        )
        builder.add(run, self.measures, counted)
        builder.notes += run_notes(run, self.measures, counted, self.convention)
        builder.counts[name] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_MISSING: int((~view.present).sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(bare.sum()),
        }

    def _view(self, judgments: Judgments, hits: Hits) -> JudgedRankings:
        return with_negative_grades(JudgedRankings.join(judgments, hits), self.convention)

    def _mistakes(self, run: RunInput, judgments: Judgments) -> list[str]:
        """The notes of `evaluate` on the run; by all judgments where some of their ids may be those
        asked in another notation.
        """
        if run.hits.unknown and self._all_judgments is not None:
            judgments = self._all_judgments
            run = run._replace(hits=hits_of_ranking(run.origin, judgments, ties="input"))
        gauge = Gauge(self.measures[0].label, partial(self._mean_of, judgments=judgments))
        rel = lowest_relevant(self.measures)
        return mistake_notes(run, judgments, rel=rel, ties="input", queries="both", gauge=gauge)

    def _counted(self, view: JudgedRankings) -> tuple[Bools, Bools]:
        """(queries,) those without anything relevant, and those that count, all of which were
        asked.
        """
        bare = view.n_relevant(lowest_relevant(self.measures)) == 0
        return bare, counted_queries(
            view.queries,
            bare,
            self.convention.no_relevant,
            considered=view.present,
            refuse=lambda query, _: f"{query!r} has none.",
        )

    def _mean_of(self, ranking: Ranking, *, judgments: Judgments) -> str:
        """The mean of the first measure on the lists with their ids in another notation."""
        view = self._view(judgments, hits_of_ranking(ranking, judgments, ties="input"))
        builder = ResultsBuilder(self.convention, keep_uncounted=False)
        builder.add(
            JudgedRun(name="", view=view, ties="input"), self.measures[:1], self._counted(view)[1]
        )
        values = builder.values[0]
        return figure(figure_of(values.values, values.summary, values.weights), values.unit)

    def _recall_values(
        self, names: Sequence[str], recalls: Mapping[str, Sequence[Floats]]
    ) -> Iterator[Values]:
        ids = tuple(self.inputs.queries.ids)
        for by, columns in recalls.items():
            for name, column in zip(names, columns, strict=True):
                yield Values(name, *recall_names(self.options.k, by), _SHARE, "mean", ids, column)

    def _recall_rows(
        self, names: Sequence[str], recalls: Mapping[str, Sequence[Floats]]
    ) -> Iterator[SummaryRow]:
        for by, columns in recalls.items():
            for name, column in zip(names, columns, strict=True):
                counted = column[~np.isnan(column)]
                mean, sd = (
                    exact_mean(counted) if len(counted) else None,
                    exact_sd(counted) if len(counted) > 1 else None,
                )
                low, high = (
                    interval(counted, seed=self.options.seed) if len(counted) else (None, None)
                )
                yield SummaryRow.of(
                    name,
                    *recall_names(self.options.k, by),
                    mean,
                    sd,
                    low,
                    high,
                    len(counted),
                    _SHARE,
                )

    def _latency_values(self, measured: Measurement, names: Sequence[str]) -> Iterator[Values]:
        """The median time of every query; of a single round its only one."""
        rounds = measured.rounds[1:] or measured.rounds
        for setting, name in enumerate(names):
            times = 1000 * measured.times(setting, rounds)
            is_answered = ~np.isnan(times).all(axis=0)
            medians = np.full(times.shape[1], np.nan)
            medians[is_answered] = np.nanmedian(times[:, is_answered], axis=0)
            yield Values(
                name,
                "latency",
                "latency",
                _MILLISECONDS,
                "median",
                tuple(self.inputs.queries.ids),
                medians,
            )

    def _list_notes(
        self,
        measured: Measurement,
        names: Sequence[str],
        raw: Sequence[Mapping[int, Sequence[str]]],
        truth: Truth | None,
    ) -> Iterator[str]:
        """Notes on lists: empty, short, different between rounds, with scores that rise; and on
        failures that count.
        """
        k, n = self.options.k, len(self.inputs.queries.ids)
        for number, name in enumerate(names):
            expected = [min(k, len(truth.lists[query].items)) if truth else k for query in range(n)]
            failed = {
                request.query for setting, _, request in measured.failures if setting == number
            }
            if failed:
                failures = (
                    f"{count_of(len(failed), 'query', 'queries')} failed; those without any "
                    "answer count as empty"
                )
                yield f"{name}: {failures} ({flag('--allow-failures')})"
            lengths = {query: len(items) for query, items in raw[number].items()}
            empty = sum(not length and expected[query] > 0 for query, length in lengths.items())
            short = [length for query, length in lengths.items() if 0 < length < expected[query]]
            if empty:
                yield f"{name}: {empty} of {n} queries got no results"
            if short and (measured.traits.kind == "vector" or truth is not None):
                why = (
                    "the filter is applied after the search"
                    if self.inputs.filters
                    else "a setting of the engine limits them"
                )
                yield (
                    f"{name}: {len(short)} of {n} queries got {min(short)} to {max(short)} "
                    f"results for k = {k}; probably {why}"
                )
            elif (
                short
                and len(short) == n > 1
                and len({*short, measured.traits.described[0].get("items")}) == 2
            ):
                failures = f"{name}: every query got {count_of(short[0], 'result')} for k = {k}"
                yield f"{failures}; if a setting of the engine limits them, raise it"
            if differing := measured.differing(number):
                yield (
                    f"{name}: the lists of {differing} of {n} queries differ between rounds; the "
                    "first of each is judged"
                )
            rising = sum(_rises(request.scores) for request in measured.lists(number).values())
            if rising:
                yield (
                    f"{name}: scores rise down the list in {rising} of {n} queries; the engine's "
                    "order is the ranking"
                )

    def _rules(
        self,
        measured: Measurement,
        builder: ResultsBuilder,
        truth: Truth | None,
        recalls: Mapping[str, Sequence[Floats]],
        choices: SettingsChosen,
    ) -> dict[str, Any]:
        options, traits, described = self.options, measured.traits, measured.traits.described[0]
        loop = (
            "closed, 1 client"
            if options.clients in (None, 1)
            else f"closed, {options.clients} clients"
        )
        rules: dict[str, Any] = {
            "engine": " ".join(filter(None, (traits.name, described.get("version")))),
            "k": options.k,
            "encoder": options.encoder,
            "metric": traits.metric,
            "items": described.get("items"),
            "filter": ", ".join(options.filters or ()) or None,
            "collapse": options.collapse,
            "truth": None if truth is None else truth.source,
            "rounds": f"{options.rounds}, the first apart"
            if options.rounds > 1
            else "1, the first",
            "requests": loop if options.rate is None else f"open, {options.rate:g} a second",
            "failures_allowed": options.allow_failures or None,
            "measurement_itself": f"{1e6 * traits.floor:.2g} µs",
        }
        if self.judgments is not None:
            rules |= {"convention": self.convention.name, "ties": "input"}
        elif truth is not None:
            rules["key"] = "the exact results"
        first = str(self.measures[0].measure) if self.measures else None
        quality = f"Recall@{options.k}" if recalls else first
        rules["frontier"] = {"cost": options.cost, "quality": quality, **choices.marks()}
        measures: dict[str, Any] = {
            str(labelled.measure): builder.definition(labelled.measure)
            | {"summary": summary_of(labelled.measure, self.convention)}
            for labelled in self.measures
        }
        for by in recalls:
            exact = recall_names(self.options.k, by)[0]
            (definition,) = figure_definitions([exact.replace(f"@{options.k}", "")]).values()
            measures[exact] = definition
        measures |= figure_definitions(
            [*(cost for cost in COSTS if cost != "encoding" or options.encoder), "latency"]
        )
        measures["latency"]["summary"] = "median"
        stated_rules = {name: value for name, value in rules.items() if value is not None}
        return {
            **stated_rules,
            "intervals": None,
            "seed": None,
            "counts": builder.counts,
            "measures": measures,
        }


def _tables(
    measured: Measurement, names: Sequence[str], choices: SettingsChosen
) -> dict[str, list[dict[str, Any]]]:
    """The tables beside the summary: verdicts, settings, their parameters, the gain of the best,
    and the unanswered queries.
    """
    pair = dict(zip(("a", "b"), choices.pair, strict=True)) if choices.pair else {}
    tables: dict[str, list[dict[str, Any]]] = {
        "verdicts": [{"text": text} | pair for text in choices.verdicts],
        "settings": choices.table(),
        "parameters": choices.parameters(),
        "gain": [] if choices.best is None else [choices.best.gain],
        "unanswered": [
            {
                "run": names[setting],
                "query": measured.inputs.queries.ids[request.query],
                "round": number,
                "status": request.status,
            }
            | {"error": request.error}
            for setting, number, request in measured.failures
        ],
    }
    return {name: rows for name, rows in tables.items() if rows}


_FILES = ("items", "item_vectors", "queries", "query_vectors", "qrels")


def run_name(measured: Measurement, setting: int) -> str:
    """The name of the run of a setting: the engine, and what is tried."""
    return " ".join(filter(None, (measured.traits.name, measured.settings.settings[setting].name)))


def _cost_rows(
    measured: Measurement, names: Sequence[str], costs: Sequence[SettingCosts]
) -> Iterator[SummaryRow]:
    for name, setting_costs in zip(names, costs, strict=True):
        for cost in COSTS:
            if cost in setting_costs.by_name:
                figure = setting_costs.by_name[cost]
                ends = (figure.value, None, figure.low, figure.high)
                yield SummaryRow.of(
                    name, cost, label_of(cost, measured), *ends, figure.n, figure.unit
                )


def _plan_notes(measured: Measurement, names: Sequence[str]) -> Iterator[str]:
    """Notes on searches that use no index, and those of the engine on its index."""
    for setting, name in enumerate(names):
        described = [report.described for report in measured.reports(setting, measured.rounds)]
        if scans := [session for session in described if session.get("uses_index") is False]:
            # A hybrid search may lack one of its two indexes.
            unread = scans[0].get("scanned", ()) if scans[0]["kind"] == "hybrid" else ()
            part = f" of the {unread[0]}" if len(unread) == 1 else ""
            reads = "so that it reads every item; all its times are those of a scan"
            yield f"{name}: the plan of the search uses no index{part}, {reads}"
        yield from (
            f"{name}: {note}"
            for note in dict.fromkeys(
                note for session in described for note in session.get("notes", ())
            )
        )


def _rises(scores: Sequence[int | float] | None) -> bool:
    return scores is not None and any(
        following_score > score for score, following_score in pairwise(scores)
    )
