"""Answers of an engine -> results: quality by any measure, recall against exact search, costs, and
choices among settings; of one call, or of several together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.fusion.runs import only_queries
from rankwell.conventions import LabelledMeasure, check_views, choose_measures, find_convention
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.findings import Finding, settled
from rankwell.data.findings.kinds import queries_unknown, reading_choice
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import NamedProgress, takes_options
from rankwell.data.rankings import Hits, Ranking, hits_of_ranking
from rankwell.data.registry import measure_names
from rankwell.data.tables import (
    Bools,
    Floats,
    Judgments,
    Values,
    exact_mean,
    exact_sd,
    format_value,
    sort_ids,
    without_none,
)
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, RankwellError, count_of, flag
from rankwell.evaluation import results
from rankwell.evaluation.bounds import unjudged_bounds
from rankwell.evaluation.details import COMPLETE, Details, detail_columns, details_of
from rankwell.evaluation.judged import (
    GradeWeights,
    JudgedRun,
    RunInput,
    findings_on_counts,
    findings_on_grades,
    findings_on_lengths,
    findings_on_weights,
    hide_own_items,
    with_negative_grades,
)
from rankwell.evaluation.mistakes import Gauge, probable_mistakes
from rankwell.evaluation.results import (
    DETAIL_DEPTH,
    ResultsBuilder,
    counted_queries,
    lowest_relevant,
    summary_of,
)
from rankwell.io.formats import find_judgments, judgments_file, read_judgments
from rankwell.reporting import Row
from rankwell.results import Results
from rankwell.stats import SummaryRow, figure_of
from rankwell.stats.settings import interval
from rankwell.store import sources_of, unchanged
from rankwell.tasks.engine.comparison import (
    COSTS,
    SettingResult,
    SettingsChosen,
    costs_of,
    engine_answer,
    figure_definitions,
    findings_on_load,
    findings_on_requests,
    label_of,
    recall_names,
)
from rankwell.tasks.engine.findings import (
    cutoff_beyond_depth,
    index_not_used,
    lists_differ,
    lists_shorter_than_asked,
    queries_failed,
    queries_not_asked,
    said_by_engine,
    scores_rise,
)
from rankwell.tasks.engine.inputs import RetrieveInputs, check_encoder, chosen_family, read_inputs
from rankwell.tasks.engine.measuring import (
    AskedSetting,
    EngineWork,
    Failure,
    Measurement,
    Truth,
    ask_all,
    check_truth,
    findings_on_ids,
    join_works,
    plan_work,
    read_truth,
)
from rankwell.tasks.engine.options import EngineOptions

_READ = ("documents", "item_vectors", "queries", "query_vectors", "encoder", "filters", "collapse")
"""Options that decide what is read before an engine is asked."""
_FILES = ("documents", "item_vectors", "queries", "query_vectors", "qrels", "truth")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EngineResults(Results):
    """Results of a search engine.

    measured: the engine's answers with their times.
    """

    measured: Measurement

    @property
    def settings(self) -> Sequence[Row]:
        """The settings of the engine that were tried, with their figures."""
        return self.tables["settings"]

    @property
    def verdicts(self) -> Sequence[Row]:
        """What the comparison of the settings shows, in sentences; none of a single setting."""
        return self.tables.get("verdicts", ())

    @property
    def gain(self) -> Sequence[Row]:
        """Gain of the best setting over the baseline, in one row; none if no setting is best."""
        return self.tables.get("gain", ())

    @property
    def parameters(self) -> Sequence[Row]:
        """The parameters of each setting."""
        return self.tables.get("parameters", ())


@takes_options(EngineOptions, "queries")
def evaluate_engine(
    engine: str | object, *, options: EngineOptions, progress: NamedProgress | None = None
) -> EngineResults:
    """Asks a search engine your queries, and measures quality, recall, latency and throughput.

    In Python, texts are mappings id -> text or lists, vectors are arrays, and `option` and `sweep`
    may be mappings (`sweep={"ef_search": [10, 40]}`). Engines given as text run in a separate
    process: a script that calls this must keep its work below `if __name__ == "__main__":`.
    Raises BadInput for texts, vectors and judgments that cannot be read, BadUsage for options that
    do not go together, UnknownName for an engine or a parameter that does not exist, MissingExtra
    without the package of the engine, RankwellError where queries fail.

    Parameters
    ----------
    engine
        A name of `rankwell engine list`, an address, `./FILE.py:OBJECT`, a file of a request, or a
        Python object.

    >>> import rankwell as rw
    >>> docs = {"a": "command line parsing", "b": "event scheduler"}
    >>> result = rw.evaluate_engine(
    ...     lambda query, k: ["a", "b"][:k],
    ...     {"q": "parse"},
    ...     qrels={"q": {"a": 1}},
    ...     measures="RR",
    ...     rounds=1,
    ... )
    >>> result["RR"]
    1.0
    """
    return retrieve_into(engine, options, None, progress)


def retrieve_into(
    engine: Any, options: EngineOptions, folder: Path | None, progress: NamedProgress | None
) -> EngineResults:
    """The results. folder: where a call that was interrupted goes on."""
    options.check_intervals()
    plan = CallPlan.of(RetrieveCall(engine, options, folder), {})
    (measured,) = ask_all([plan.work], progress)
    if not isinstance(measured, Measurement):
        raise measured
    return plan.evaluation.results(measured)


class RetrieveCall(NamedTuple):
    """A call of `rankwell engine run`.

    engine: the engine as the user names it, or a Python object.
    options: the user's choices.
    folder: the folder of its results, where an interrupted call resumes; None without one.
    """

    engine: Any
    options: EngineOptions
    folder: Path | None


@dataclass(frozen=True, eq=False)
class CallPlan:
    """A call before its first request.

    evaluation: judges the engine's answers.
    work: the engine and the requests to send.
    """

    evaluation: "RetrieveEvaluation"
    work: EngineWork

    @classmethod
    def of(cls, call: RetrieveCall, read: dict[str, RetrieveInputs], key: str = "") -> "CallPlan":
        """The plan of a call. read: inputs of earlier calls, by a key, which are not read again."""
        engine, options, folder = call
        check_encoder(chosen_family(engine, options), options.encoder)
        if key not in read:
            read[key] = read_inputs(options)
        evaluation = RetrieveEvaluation(read[key], options)
        return cls(evaluation, plan_work(engine, read[key], options, folder))

    def outcome(self, measured: Measurement | Failure) -> EngineResults | Failure:
        """The results of its share of what was asked for several calls, or the error by which it
        failed.
        """
        if not isinstance(measured, Measurement):
            return measured
        work, traits, builds = self.work, measured.traits, measured.settings.builds
        own_builds = [builds.index(build) for build in work.settings.builds]
        traits = traits._replace(
            indexes=[traits.indexes[build] for build in own_builds],
            described=[traits.described[build] for build in own_builds],
        )
        own_measured = replace(
            measured,
            settings=work.settings,
            traits=traits,
            options=work.options,
            journal=work.journal,
        )
        try:
            return self.evaluation.results(own_measured)
        except (RankwellError, OSError) as error:
            return error


def retrieve_together(
    calls: Sequence[RetrieveCall], progress: NamedProgress | None
) -> Iterator[EngineResults | Failure]:
    """The results of each call, or the error by which it failed. Calls that differ in their sweeps
    alone share their indexes.

    All are asked before the first results are there, in rounds that are interleaved over all
    settings of all engines. A failure of an engine fails all calls that share it.
    """
    read: dict[str, RetrieveInputs] = {}
    plans: list[CallPlan | Failure] = []
    groups: dict[tuple[Any, str], list[CallPlan]] = {}
    for call in calls:
        try:
            key = repr([getattr(call.options, name) for name in _READ])
            plan = CallPlan.of(call, read, key)
            plans.append(plan)
            terms = call.engine, repr(replace(call.options, sweep=None))
            groups.setdefault(terms, []).append(plan)
        except (RankwellError, OSError) as error:
            plans.append(error)
    works = [join_works([plan.work for plan in group]) for group in groups.values()]
    outcomes = {
        plan: outcome
        for group, outcome in zip(groups.values(), ask_all(works, progress), strict=True)
        for plan in group
    }
    for plan in plans:
        yield plan.outcome(outcomes[plan]) if isinstance(plan, CallPlan) else plan


@dataclass(eq=False)
class RetrieveEvaluation:
    """The evaluation of one engine. All inputs are read before the first request.

    inputs: the items and queries.
    options: the user's choices.
    """

    inputs: RetrieveInputs
    options: EngineOptions

    def __post_init__(self) -> None:
        options = self.options
        self.convention = find_convention(options.convention)
        self.findings: list[Finding] = []
        self._longest: dict[str, int] = {}
        names = measure_names(options.measures)
        check_truth(options)
        if names and options.qrels is None:
            raise BadUsage(f"-m {names[0]} needs judgments; give {flag('--qrels')}.")
        self.measures: tuple[LabelledMeasure, ...] = ()
        self.judgments: Judgments | None = None
        self._all_judgments: Judgments | None = None
        if options.qrels is None:
            refuse_unused_columns(options.qrels_columns, "judgments", flag("--qrels"))
        else:
            self.measures = choose_measures(names, self.convention)
            check_views((labelled.measure for labelled in self.measures), JudgedRankings)
            self.judgments = self._read_judgments()

    def _on_measures(self) -> Iterator[Finding]:
        if self.judgments is not None:
            yield from findings_on_grades(self.measures, self.judgments.grades)
            yield from findings_on_lengths(self.measures, self._longest)
            yield from findings_on_weights(self.grade_weights.described)

    @cached_property
    def grade_weights(self) -> GradeWeights:
        """The means by measures with binary gains, and with the grades as gains."""
        grades = np.empty(0) if self.judgments is None else self.judgments.grades
        return GradeWeights(self.measures, grades)

    def _read_judgments(self) -> Judgments:
        file = judgments_file(self.options.qrels)
        read_result = find_judgments(file, qrels_columns=self.options.qrels_columns)
        judgments = read_result.judgments.flat
        if file is not self.options.qrels:
            self.findings.append(reading_choice(f"judgments: {file}"))
        self.findings += read_result.findings
        asked_queries = set(self.inputs.queries.ids)
        judged_queries = [query for query in judgments.queries if query in asked_queries]
        if not judged_queries:
            example = ""
            if judgments.queries:
                first = judgments.queries[0], self.inputs.queries.ids[0]
                example = f" (judged: {first[0]!r}, asked: {first[1]!r})"
            raise NothingToEvaluate(
                f"no query is judged: the ids of queries and judgments differ{example}."
            )
        if foreign := [query for query in judgments.queries if query not in asked_queries]:
            self.findings.append(queries_not_asked(foreign))
        if unjudged := sort_ids(asked_queries.difference(judged_queries)):
            noun = ("query", "queries")
            self.findings.append(queries_unknown("", unjudged, noun, "relevance judgments"))
        counted = only_queries(judgments, judged_queries)
        if self.convention.exclude_self:
            judgments, _ = hide_own_items(judgments)
            counted, own_items = hide_own_items(counted)
            self.findings += own_items
        self._all_judgments = judgments
        return counted

    def results(self, measured: Measurement) -> EngineResults:
        """The results of everything that was asked."""
        options, truth = self.options, read_truth(measured)
        ids = [self._ids(asked) for asked in measured.by_setting]
        about_ids = (
            [] if truth is None else [*truth.findings, *findings_on_ids(truth, ids, measured)]
        )
        builder = ResultsBuilder(self.convention, keep_uncounted=False)
        details, settings = list[tuple[str, Details, None]](), list[SettingResult]()
        for asked, lists in zip(measured.by_setting, ids, strict=True):
            first = len(builder.values)
            details += self._judge(builder, asked, truth)
            quality = builder.values[first:]
            recalls = {} if truth is None else truth.recalls(lists)
            settings.append(SettingResult(asked, quality, recalls, costs_of(asked)))
        choices = SettingsChosen(self.measures, measured, settings)
        deep = [
            labelled.label
            for labelled in self.measures
            if (labelled.measure.cutoff or 0) > options.depth
        ]
        if deep:
            self.findings.append(cutoff_beyond_depth(deep, options.depth))
        costs = [setting.costs for setting in settings]
        findings = [
            *self.findings,
            *builder.findings,
            *self._on_measures(),
            *about_ids,
            *chain.from_iterable(self._on_lists(setting.asked, truth) for setting in settings),
            *chain.from_iterable(map(_on_plan, measured.by_setting)),
            *chain.from_iterable(setting_costs.findings for setting_costs in costs),
            *findings_on_requests(measured, costs),
            *findings_on_load(measured, costs),
        ]
        unanswered = [
            {
                "run": measured.by_setting[setting].name,
                "query": self.inputs.queries.ids[request.query],
                "round": number,
                "status": request.status,
                "error": request.error,
            }
            for setting, number, request in measured.failures
        ]
        tables = choices.tables() | {"unanswered": unanswered}
        states = COMPLETE if self.judgments is None else None
        return EngineResults(
            measured=measured,
            values=(*builder.values, *self._figures(settings)),
            measures=self.measures,
            n_summarised=len(builder.values),
            aggregates=tuple(self._aggregates(settings)),
            rules=self._rules(measured, builder, truth, choices),
            data_findings=settled(findings),
            sources=unchanged(sources_of({name: getattr(options, name) for name in _FILES})),
            details=detail_columns(iter(details), states=states) if details else None,
            queries=self.inputs.query_columns(),
            items=self.inputs.item_columns(),
            tables={name: rows for name, rows in tables.items() if rows},
            intervals=options.intervals,
            seed=options.seed,
            task="engine",
            answer=engine_answer,
            population_sd=self.convention.population_sd,
        )

    def _ids(self, asked: AskedSetting) -> dict[int, list[str]]:
        """The ids of every answer, an item once. Raises BadInput for an item that is returned
        twice, unless that is allowed.
        """
        lists: dict[int, list[str]] = {}
        is_allowed = self.options.duplicates != "error" or self.options.collapse
        for query, request in asked.answers.items():
            lists[query] = list(dict.fromkeys(request.ids))
            if len(lists[query]) < len(request.ids) and not is_allowed:
                twice = next(item for item in request.ids if list(request.ids).count(item) > 1)
                raise BadInput(
                    f"{asked.name}: query {self.inputs.queries.ids[query]!r} returned item "
                    f"{twice!r} twice; {flag('--duplicates', 'first')} keeps the first of both."
                )
        return lists

    def ranking(self, asked: AskedSetting) -> Ranking:
        """The lists of a setting in the engine's order; its scores where they never rise, else
        places from the last.
        """
        queries, items, scores = list[str](), list[str](), list[float]()
        for query, request in sorted(asked.answers.items()):
            numbers = [float(score) for score in request.scores or ()]
            if request.scores is None or _rises(numbers) or not all(map(isfinite, numbers)):
                numbers = [float(place) for place in range(len(request.ids), 0, -1)]
            item_scores: dict[str, float] = {}
            for item, score in zip(request.ids, numbers, strict=True):
                item_scores.setdefault(self.inputs.collapse.get(item, item), score)
            queries += [self.inputs.queries.ids[query]] * len(item_scores)
            items += item_scores
            scores += item_scores.values()
        return Ranking.from_rows(queries, items, scores, all_queries=self.inputs.queries.ids)

    def _judge(
        self, builder: ResultsBuilder, asked: AskedSetting, truth: Truth | None
    ) -> Iterator[tuple[str, Details, None]]:
        """Measures a setting; its details for a page, by the exact results where there are no
        judgments.
        """
        name, judgments = asked.name, self.judgments
        if judgments is None:
            if truth is None:
                return
            pairs = zip(self.inputs.queries.ids, truth.lists, strict=True)
            judgments = read_judgments(
                {query: list(exact.items) for query, exact in pairs if exact.items}
            ).flat
        ranking = self.ranking(asked)
        hits = hits_of_ranking(ranking, judgments, ties="input", keep=DETAIL_DEPTH)
        view = self._view(judgments, hits)
        relevant_from = lowest_relevant(self.measures)
        yield name, details_of(judgments, hits, view.resolve("input"), relevant_from), None
        if self.judgments is None:
            return
        self._longest[name] = int(view.n_retrieved.max(initial=0))
        run = JudgedRun(name=name, view=view, ties="input")
        bare, counted = self._counted(view)
        if not counted.any():
            raise NothingToEvaluate(f"{name}: no query has anything relevant.")
        builder.findings += self._mistakes(
            RunInput(name, hits, ranking, "ranking", ranking=ranking), judgments
        )
        builder.add(run, self.measures, counted)
        self.grade_weights.add(run, counted)
        builder.findings += findings_on_counts(
            run,
            bare=bare & counted,
            tied={label: run.tied(measure) for measure, label in self.measures},
        )
        builder.findings += unjudged_bounds(run, self.measures, counted, self.convention)
        builder.counts[name] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_MISSING: int((~view.has_ranking).sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(bare.sum()),
        }

    def _view(self, judgments: Judgments, hits: Hits) -> JudgedRankings:
        return with_negative_grades(JudgedRankings.join(judgments, hits), self.convention)

    def _mistakes(self, run: RunInput, judgments: Judgments) -> list[Finding]:
        """The findings of `evaluate` on the run; by all judgments where some of their ids may be
        those asked in another notation.
        """
        if run.hits.unknown and self._all_judgments is not None:
            judgments = self._all_judgments
            run = run._replace(hits=hits_of_ranking(run.origin, judgments, ties="input"))
        gauge = Gauge(self.measures[0].label, partial(self._mean_of, judgments=judgments))
        rel = lowest_relevant(self.measures)
        return probable_mistakes(
            run, judgments, rel=rel, ties="input", average_over="both", gauge=gauge
        )

    def _counted(self, view: JudgedRankings) -> tuple[Bools, Bools]:
        """The queries without anything relevant, and those that count, all of which were asked:
        (queries,) each.
        """
        bare = view.n_relevant(lowest_relevant(self.measures)) == 0
        return bare, counted_queries(
            view.queries,
            bare,
            self.convention.no_relevant,
            considered=view.has_ranking,
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
        return format_value(figure_of(values.values, values.summary, values.weights), values.unit)

    def _figures(self, settings: Sequence[SettingResult]) -> Iterator[Values]:
        """The recall of every query, and its median time; of a single round its only one."""
        ids, k = tuple(self.inputs.queries.ids), self.options.depth
        for by in settings[0].recalls:
            for setting in settings:
                recalls = setting.recalls[by]
                yield Values(
                    setting.asked.name, *recall_names(k, by), "share", "mean", ids, recalls
                )
        for setting in settings:
            times = setting.asked.times(setting.asked.measured.rounds[1:] or None)
            medians = query_medians(1000 * times)
            yield Values(setting.asked.name, "latency", "latency", "ms", "median", ids, medians)

    def _aggregates(self, settings: Sequence[SettingResult]) -> Iterator[SummaryRow]:
        """The rows of the summary with the mean recall and the costs of every setting."""
        for by in settings[0].recalls:
            for setting in settings:
                recalls = setting.counted_recalls(by)
                n = len(recalls)
                mean = exact_mean(recalls) if n else None
                sd = exact_sd(recalls) if n > 1 else None
                low, high = interval(recalls, seed=self.options.seed) if n else (None, None)
                names = recall_names(self.options.depth, by)
                yield SummaryRow.of(setting.asked.name, *names, mean, sd, low, high, n, "share")
        for setting in settings:
            for name in COSTS:
                if cost := setting.costs.by_name.get(name):
                    label = label_of(name, setting.asked.measured)
                    ends = (cost.value, None, cost.low, cost.high)
                    yield SummaryRow.of(setting.asked.name, name, label, *ends, cost.n, cost.unit)

    def _on_lists(self, asked: AskedSetting, truth: Truth | None) -> Iterator[Finding]:
        """The findings on lists: empty, short, different between rounds, with scores that rise; and
        on failures that count.
        """
        name, measured = asked.name, asked.measured
        k, n = self.options.depth, len(self.inputs.queries.ids)
        failed = {
            request.query for setting, _, request in measured.failures if setting == asked.number
        }
        if failed:
            yield queries_failed(name, len(failed))
        empty, short = 0, list[int]()
        for query, request in asked.answers.items():
            length, most = len(set(request.ids)), k
            if truth is not None:
                most = min(k, len(truth.lists[query].items))
            empty += not length and most > 0
            short += [length] if 0 < length < most else []
        if empty:
            yield lists_shorter_than_asked(name, f"{empty} of {n} queries got no results")
        if short and (measured.traits.kind == "vector" or truth is not None):
            why = "a setting of the engine limits them"
            if self.inputs.filters:
                why = "the filter is applied after the search"
            yield lists_shorter_than_asked(
                name,
                f"{len(short)} of {n} queries got {min(short)} to {max(short)} results for k = "
                f"{k}; probably {why}",
            )
        elif len(short) == n > 1 and len({*short, measured.traits.described[0].get("items")}) == 2:
            yield lists_shorter_than_asked(
                name,
                f"every query got {count_of(short[0], 'result')} for k = {k}; if a setting of the "
                "engine limits them, raise it",
            )
        if differing := asked.differing():
            yield lists_differ(name, differing, n)
        rising = sum(_rises(request.scores or ()) for request in asked.answers.values())
        if rising:
            yield scores_rise(name, rising, n)

    def _rules(
        self,
        measured: Measurement,
        builder: ResultsBuilder,
        truth: Truth | None,
        choices: SettingsChosen,
    ) -> dict[str, Any]:
        options, traits, described = self.options, measured.traits, measured.traits.described[0]
        clients = options.clients or 1
        requests = f"closed, {count_of(clients, 'client')}"
        if options.rate is not None:
            requests = f"open, {options.rate:g} a second"
        rounds = f"{options.rounds}, the first apart" if options.rounds > 1 else "1, the first"
        rules = {
            "engine": " ".join(filter(None, (traits.name, described.get("version")))),
            "depth": options.depth,
            "encoder": options.encoder,
            "metric": traits.metric,
            "items": described.get("items"),
            "filter": ", ".join(options.filters or ()) or None,
            "collapse": options.collapse,
            "truth": None if truth is None else truth.source,
            "rounds": rounds,
            "requests": requests,
            "failures_allowed": options.allow_failures or None,
            "measurement_itself": f"{1e6 * traits.floor:.2g} µs",
        }
        quality = str(self.measures[0].measure) if self.measures else None
        if self.judgments is not None:
            rules |= {"convention": self.convention.name, "ties": "input"}
        elif truth is not None:
            rules["key"] = "the exact results"
        if truth is not None:
            quality = f"Recall@{options.depth}"
        rules["frontier"] = {"cost": options.cost, "quality": quality, **choices.marks()}
        measures = {
            str(labelled.measure): builder.definition(labelled.measure)
            | {"summary": summary_of(labelled.measure, self.convention)}
            for labelled in self.measures
        }
        for by in () if truth is None else ("distance", "ids"):
            exact, _ = recall_names(options.depth, by)
            (measures[exact],) = figure_definitions(
                [exact.replace(f"@{options.depth}", "")]
            ).values()
        costs = [cost for cost in COSTS if cost != "encoding" or options.encoder]
        measures |= figure_definitions([*costs, "latency"])
        measures["latency"]["summary"] = "median"
        return {
            **without_none(rules),
            "intervals": None,
            "seed": None,
            "counts": builder.counts,
            "measures": measures,
        }


def query_medians(times: Floats) -> Floats:
    """The median time of each query over the rounds with an answer, (queries,); NaN without any.

    times: (rounds, queries), NaN where there is none.
    """
    medians = np.full(times.shape[1], np.nan)
    is_answered = ~np.isnan(times).all(axis=0)
    medians[is_answered] = np.nanmedian(times[:, is_answered], axis=0)
    return medians


def _on_plan(asked: AskedSetting) -> Iterator[Finding]:
    """The findings on searches that use no index, and those of the engine on its index."""
    described = [report.described for report in asked.reports()]
    if scans := [session for session in described if session.get("uses_index") is False]:
        # A hybrid search may lack one of its two indexes.
        unread = scans[0].get("scanned", ()) if scans[0]["kind"] == "hybrid" else ()
        part = f" of the {unread[0]}" if len(unread) == 1 else ""
        yield index_not_used(asked.name, part)
    said = chain.from_iterable(session.get("notes", ()) for session in described)
    for words in dict.fromkeys(said):
        yield said_by_engine(asked.name, words)


def _rises(scores: Sequence[int | float]) -> bool:
    return any(following > score for score, following in pairwise(scores))
