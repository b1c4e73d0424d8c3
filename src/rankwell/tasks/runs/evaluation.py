"""Runs against judgments: each run is read, joined with the judgments, and measured under the rules
of a convention.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.conventions import LabelledMeasure, Measures, Rules, choose_measures
from rankwell.data.columns import chosen_columns
from rankwell.data.findings import Finding, errors_among, refusal_for
from rankwell.data.findings.kinds import (
    reading_choice,
    second_judgments_missing,
    session_queries_unjudged,
    sessions_unjudged,
    values_of_sessions,
)
from rankwell.data.judged_rankings import (
    JudgedRankings,
    JudgmentPair,
    SessionQueries,
    SessionRankings,
)
from rankwell.data.options import (
    ColumnChoice,
    CountProgress,
    NamedProgress,
    PartOptions,
    PartOutcome,
    Table,
    takes_options,
)
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import measure_names
from rankwell.data.tables import Bools, Judgments, format_value, tie_rule, without_none
from rankwell.errors import (
    BadInput,
    BadUsage,
    NothingToEvaluate,
    count_of,
    flag,
    kind_of,
    shown,
    typed,
)
from rankwell.evaluation import results
from rankwell.evaluation.bounds import (
    AbstentionRows,
    AbstentionRules,
    UnjudgedItems,
    abstention_rows,
    confidence_kinds,
    confidences,
    unjudged_bounds,
)
from rankwell.evaluation.details import Columns, Details, compact, detail_columns, details_of
from rankwell.evaluation.judged import (
    GradeWeights,
    JudgedRun,
    RunInput,
    findings_on_counts,
    findings_on_grades,
    findings_on_lengths,
    findings_on_min_grade,
    findings_on_weights,
    hide_own_items,
    name_runs,
    refuse_one_stream,
    with_negative_grades,
)
from rankwell.evaluation.mistakes import Gauge, IdPair, probable_mistakes
from rankwell.evaluation.results import (
    DETAIL_DEPTH,
    ResultsBuilder,
    counted_queries,
    lowest_relevant,
    progress_of,
    summary_of,
)
from rankwell.io import formats
from rankwell.io.formats import Request, Texts
from rankwell.io.shards import find_hits_in_shards
from rankwell.results import Results
from rankwell.stats import figure_of
from rankwell.store import STDIN, run_files, sources_of, split_part
from rankwell.store.places import is_data_set_id, queries_beside
from rankwell.tasks.runs.findings import run_not_evaluated
from rankwell.tasks.runs.options import EvaluateOptions, RunOptions

_POSITION = re.compile(r"\s*-?[0-9]{1,17}\s*")
View = Literal["none", "groups", "intents", "preferences", "second", "sessions"]
"""The rows that measures read beside grades: none, judgment groups, intents, preferences, second
judgments, or sessions.
"""
READING = ("ties", "single_precision", "keep", "duplicates", "columns")
"""The options of reading that a plan of parts has."""
KeptDetails = bool | Literal["unjudged"]


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """The options of reading judgments.

    view: what measures need besides one grade for each item, such as `intents`; `none` for nothing.
    format: name of the format; None where the content shows it.
    columns: what a column holds -> the column; None for the usual columns.
    exclude_self: whether rankings lose each query's own item.
    """

    view: View = "none"
    format: str | None = None
    columns: ColumnChoice | None = None
    exclude_self: bool = False


class RunJudgments(NamedTuple):
    """Judgments as measures need them.

    for_view: the judgments that the view joins with a run.
    judgments: the same judgments with one row per query and item.
    format, findings: name of the format, and findings of the reader.
    """

    for_view: Any
    judgments: Judgments
    format: str
    findings: tuple[Finding, ...] = ()


def view_of(measures: Measures) -> View:
    """The view of all measures. Raises BadUsage where two need different ones, and for a measure of
    something else.
    """
    measure_of_view = {labelled.measure.entry.view: labelled.measure for labelled in measures}
    for view, measure in measure_of_view.items():
        if not hasattr(view, "join"):
            raise BadUsage(f"{measure} needs {measure.entry.needs}.")
    views = {view.__name__ for view in measure_of_view}
    special = views - {"JudgedRankings"}
    if len(special) > 1 or (special & {"PreferenceRankings", "SessionRankings"} and len(views) > 1):
        needs = ", ".join(
            f"{measure} needs {view.needs}" for view, measure in measure_of_view.items()
        )
        raise BadUsage(f"{needs}; one call reads the judgments one way: request them separately.")
    rows_of_view: dict[str, View] = {
        "JudgedRankings": "none",
        "PreferenceRankings": "preferences",
        "IntentRankings": "intents",
        "SecondJudgedRankings": "second",
        "SessionRankings": "sessions",
    }
    return rows_of_view.get(next(iter(special or views)), "groups")


def read_run_judgments(judgments: Any, options: JudgmentOptions) -> RunJudgments:
    """The judgments, each query's own item hidden where it is excluded.

    Raises NothingToEvaluate where they are empty, and BadUsage for preferences, in which no item
    can be hidden.
    """
    if options.view == "preferences":
        if options.exclude_self:
            raise BadUsage(
                f"measures of preferences cannot be combined with {flag('--exclude-self')}, which "
                "some conventions imply; take the items out of the runs, and ask for these "
                "measures under another convention."
            )
        preferences = formats.read_preferences(
            judgments, format=options.format, qrels_columns=options.columns
        )
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    aspects = "none" if options.view in ("second", "sessions") else options.view
    found_judgments = formats.find_judgments(
        judgments, format=options.format, aspects=aspects, qrels_columns=options.columns
    )
    for_view, findings = found_judgments.judgments, list(found_judgments.findings)
    flat = for_view.flat
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    if options.exclude_self:
        flat, own_items = hide_own_items(flat)
        findings += own_items
    return RunJudgments(for_view, flat, found_judgments.format, tuple(findings))


def with_second(
    run_judgments: RunJudgments, second_judgments: Any, options: JudgmentOptions
) -> RunJudgments:
    """The judgments with second ones, which one view reads. Raises BadUsage where they are missing
    or unused.

    Raises NothingToEvaluate where no judged item has a second judgment.
    """
    option = flag("--other-qrels")
    if options.view != "second":
        if second_judgments is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of two judgments, such as uBpref; "
                "leave it out."
            )
        return run_judgments
    if second_judgments is None:
        raise BadUsage(f"uBpref reads two judgments of each item; name the second ones ({option}).")
    second = formats.find_judgments(
        second_judgments, format=options.format, qrels_columns=options.columns
    )
    flat, second_flat = run_judgments.judgments, second.judgments.flat
    second_pairs = set(zip(second_flat.row_queries, second_flat.items, strict=True))
    lacking = sum(
        pair not in second_pairs for pair in zip(flat.row_queries, flat.items, strict=True)
    )
    if lacking == len(flat.items):
        raise NothingToEvaluate(
            f"no judged item has a second judgment in {option}; are the ids of queries and "
            "items the same?"
        )
    findings = [second_judgments_missing(lacking, len(flat.items))] if lacking else []
    return run_judgments._replace(
        for_view=JudgmentPair(flat, second_flat),
        findings=(*run_judgments.findings, *second.findings, *findings),
    )


def read_sessions(
    sessions: Any, view: View, judgments: Judgments
) -> tuple[SessionQueries | None, list[Finding]]:
    """The sessions that have a judged query, with findings; None for measures of single queries.

    sessions: `FILE:SESSION`, the columns of queries and of their sessions, whose rows are in order,
    or `FILE:SESSION,POSITION`; in Python also a mapping session -> its queries in order. Raises
    BadUsage where sessions are missing or unused, BadInput for a bad row and for a judged query
    without a session, NothingToEvaluate where no query of a session is judged.
    """
    option = flag("--sessions")
    if view != "sessions":
        if sessions is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of sessions, such as SessionDCG; "
                "leave it out."
            )
        return None, []
    if sessions is None:
        raise BadUsage(
            f"a measure of sessions reads the session of each query; name it ({option}, as in "
            "queries.csv:session)."
        )
    every_session = _listed(sessions, option)
    judged_queries = set(judgments.queries)
    judged_sessions = {
        session: queries
        for session, queries in every_session.items()
        if not judged_queries.isdisjoint(queries)
    }
    table = SessionQueries.from_dict(judged_sessions)
    if not judged_sessions:
        raise NothingToEvaluate(f"no query of {option} is judged; are the ids of queries the same?")
    if without_session := sorted(judged_queries - set(table.items)):
        more = f" (and {len(without_session) - 1} more)" if len(without_session) > 1 else ""
        raise BadInput(
            f"query {without_session[0]!r}{more} is judged and in no session; add it to {option}, "
            "or remove its judgments."
        )
    findings = [values_of_sessions(len(judged_sessions), len(table.items))]
    if n_unjudged := len(every_session) - len(judged_sessions):
        findings.append(sessions_unjudged(n_unjudged))
    if unjudged := [query for query in table.items if query not in judged_queries]:
        findings.append(session_queries_unjudged(len(unjudged), unjudged))
    return table, findings


def _listed(source: Any, option: str) -> dict[str, list[str]]:
    """session -> its queries in order."""
    if isinstance(source, Mapping):
        return {
            str(session): [str(query) for query in queries] for session, queries in source.items()
        }
    path, columns = formats.table_and_column(
        source, option, "session -> queries", "sessions", "queries.csv:session"
    )
    session_column, comma, position_column = columns.partition(",")
    try:
        queries = formats.read_column(f"{path}:query")
    except BadInput:
        # The column of ids.
        queries = formats.read_column(path)
    sessions = formats.read_column(f"{path}:{session_column}")
    positions: list[str | None] = list(map(str, range(len(queries))))
    if comma:
        positions = formats.read_column(f"{path}:{position_column}")
    queries_of_session: dict[str, dict[int, str]] = {}
    for row, (query, session, position) in enumerate(
        zip(queries, sessions, positions, strict=True), 1
    ):
        if not query or not session:
            raise BadInput(
                f"{path}: row {row} has no {'query' if not query else session_column}; give "
                "it, or remove the row."
            )
        if not _POSITION.fullmatch(position or ""):
            raise BadInput(
                f"{path}: row {row}: {shown(position)} in {position_column}; expected a "
                "number, the place in the session."
            )
        query_at = queries_of_session.setdefault(session, {})
        if int(position or "") in query_at:
            raise BadInput(
                f"{path}: row {row}: session {session!r} has the {position_column} {position} "
                "twice; correct one of them."
            )
        query_at[int(position or "")] = query
    return {
        session: [query_at[position] for position in sorted(query_at)]
        for session, query_at in queries_of_session.items()
    }


def _part_options(
    judgments: Any,
    reading: JudgmentOptions,
    runs: Mapping[str, Any],
    run_format: str | None,
    request: Request,
) -> dict[str, Any]:
    """The options of a plan. Raises BadUsage for judgments and runs that are not files."""
    paths = [_file_of_part(judgments), *map(_file_of_part, runs.values())]
    return {
        "judgments": {"path": paths[0], **asdict(reading)},
        "runs": [
            [name, str(run), path]
            for (name, run), path in zip(runs.items(), paths[1:], strict=True)
        ],
        "run_format": run_format,
        **{name: getattr(request, name) for name in READING},
    }


def _refuse_unnamed(inputs: Iterable[Any]) -> None:
    """Raises BadUsage for inputs that are not files, before any is read."""
    for source in inputs:
        if not isinstance(source, (str, Path)):
            raise BadUsage(
                f"parts are computed from files; this is {kind_of(source)}; save it and name "
                "its file."
            )
        if str(source) in STDIN:
            raise BadUsage("standard input cannot be read by several processes; save it as a file.")
        if is_data_set_id(source):
            saving = typed("rankwell", "convert", source, "qrels.txt")
            raise BadUsage(f"parts are computed from files; save the judgments with `{saving}`.")


def _file_of_part(path: str | Path) -> str:
    if split_part(path)[1]:
        raise BadUsage(
            f"{path} is a part of a file, which is not read in parts; save it as a file of its own."
        )
    from rankwell.runtime.parts.plans import file_of_part

    return file_of_part(path)


@takes_options(EvaluateOptions, "measures")
def evaluate(
    judgments: Table | Judgments,
    runs: Table | Ranking,
    *,
    options: EvaluateOptions,
    details: KeptDetails = False,
    progress: NamedProgress | None = None,
) -> Results:
    """Evaluates one run or several against judgments.

    Returns the means with their intervals, the value of each query, and the findings on your data.
    Raises BadInput, BadScore and DuplicateItem for files and mappings that cannot be read as
    judgments or runs, UnknownName for a measure, format or convention that does not exist, BadUsage
    for options that do not go together, TieRefused for tied items under `ties="error"`,
    NothingToEvaluate where no query is left to average over, Unfinished with `executor="array"`
    while parts are missing; the message says what to submit.

    Parameters
    ----------
    judgments
        A file, the folder of a data set, `irds:ID`, a mapping query -> item -> grade or query ->
        list or set of relevant ids, a list of rows such as `[{"query": "q1", "item": "d1", "grade":
        1}]`, a data frame, or Judgments.
    runs
        One run: a file, a folder with its shards, a mapping query -> item -> score or query -> list
        (of ids from the first rank on, or of pairs of id and score), a list of rows such as
        `[{"query": "q1", "item": "d1", "score": 2.5}]`, a data frame, or a Ranking. Several runs: a
        list of files, or a mapping name -> run.
    measures
        Measures: one, or a list of them. Each is a name such as `nDCG@10`, `AP(rel=2)@100` or a
        convention's name for one, a Measure, or a function of yours; a text with commas names
        several. [default: the convention's]
    queries
        Texts of the queries: a file (BEIR queries.jsonl, or any table with an id column), a mapping
        id -> text, a list of rows such as `[{"id": "q1", "text": "words"}]`, or a data frame.
        Further columns are attributes to group and filter by.
    other_qrels
        Second judgments of the same items, such as their understandability, for uBpref, in any form
        of `judgments`.
    sessions
        Sessions of the queries, for session measures: a mapping session -> its query ids in order,
        or a table with a query id in each row, with the column of sessions: `queries.csv:session`,
        with rows in order, or `queries.csv:session,position`.
    convention
        Convention for names and rules: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st, or
        a file of your own, `./NAME.toml`.
    details
        Keep the top items and every judged item of each query for the report; `unjudged` keeps only
        the unjudged top items, in a fraction of the memory.

    >>> import rankwell as rw
    >>> qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
    >>> run = {"q1": {"b": 2.0, "x": 1.0}, "q2": {"x": 2.0, "c": 1.0}}
    >>> result = rw.evaluate(qrels, {"mine": run}, ["RR", "P@1"])
    >>> result["RR"], result["P@1"]
    (0.75, 0.5)
    """
    return evaluate_runs(
        judgments, runs, options=options, details=details, progress=progress
    ).finished()


def evaluate_runs(
    judgments: Any,
    runs: Any,
    *,
    options: RunOptions,
    details: KeptDetails,
    progress: NamedProgress | None,
) -> PartOutcome:
    """The results of runs, in one piece or in parts."""
    parts = options if isinstance(options, PartOptions) else PartOptions()
    choices = {name: getattr(options, name) for name in Rules._fields if name != "convention"}
    choices["exclude_self"] = options.exclude_self or None
    rules = Rules.resolve(options.convention, **choices)
    measures = choose_measures(measure_names(options.measures), rules.convention, options.min_grade)
    if options.ties is None and any(
        labelled.measure.entry.view.__name__ == "PreferenceRankings" for labelled in measures
    ):
        # trec_eval breaks ties by ascending id for preference measures, and only there.
        rules = rules._replace(ties="id-asc")
    options.check_intervals()
    confidence_kinds(options.confidence)
    if parts.is_used:
        _refuse_in_parts(judgments, runs, options)
    named_runs = name_runs(runs)
    if not named_runs:
        raise BadUsage("no run is given; name at least one run after the judgments.")
    refuse_one_stream([judgments, options.other_qrels, *named_runs.values(), options.queries])
    place_of_judgments = formats.judgments_file(judgments)
    reading = JudgmentOptions(
        view=view_of(measures),
        format=options.qrels_format,
        columns=options.qrels_columns,
        exclude_self=bool(rules.exclude_self),
    )
    with formats.in_order(judgments, named_runs.values()):
        run_judgments = read_run_judgments(place_of_judgments, reading)
    run_judgments = with_second(run_judgments, options.other_qrels, reading)
    sessions, on_sessions = read_sessions(options.sessions, reading.view, run_judgments.judgments)
    if sessions is not None and options.confidence:
        raise BadUsage(
            f"{flag('--confidence')} is about single queries; ask for measures of sessions in "
            "a call of their own."
        )
    evaluation = RunEvaluation(options, rules, measures, run_judgments, details, sessions)
    evaluation.builder.findings += on_sessions
    texts = options.queries
    if place_of_judgments is not judgments:
        evaluation.builder.findings.append(reading_choice(f"judgments: {place_of_judgments}"))
        if texts is None and details:
            texts = queries_beside(judgments)
    inputs = {
        "judgments": place_of_judgments,
        "other judgments": options.other_qrels,
        "sessions": options.sessions,
    }
    if not parts.is_used:
        for name, run in named_runs.items():
            request = evaluation.request(progress_of(progress, name))
            if files := run_files(run):
                found_hits = find_hits_in_shards(
                    files, run_judgments.judgments, options.run_format, request
                )
            else:
                found_hits = formats.find_hits_by(
                    run, run_judgments.judgments, options.run_format, request
                )
            evaluation.add_file(name, run, found_hits)
        return PartOutcome(evaluation.results(inputs, named_runs, texts))
    from rankwell.runtime.parts.execution import run_in_parts

    plan_options = _part_options(
        place_of_judgments, reading, named_runs, options.run_format, evaluation.request()
    )

    def _results(found_runs: Any) -> Results:
        for name, run in named_runs.items():
            evaluation.add_file(name, run, found_runs.find(name, run_judgments.judgments))
        return evaluation.results(inputs, named_runs, texts, found_runs.digests)

    paths = (str(path)[:200] for path in (place_of_judgments, *named_runs.values()))
    words = shlex.join(["rankwell", "evaluate", *paths][:20])
    return run_in_parts("runs", plan_options, parts, words, progress, _results)


def _refuse_in_parts(judgments: Any, runs: Any, options: RunOptions) -> None:
    """Raises BadUsage for what work in parts cannot read."""
    if options.confidence:
        raise BadUsage(
            f"{flag('--confidence')} reads all scores of a run in one process; leave "
            f"{flag('--executor')} and {flag('--work')} out."
        )
    run_list = runs if isinstance(runs, (list, tuple)) else [runs]
    _refuse_unnamed([judgments, *(runs.values() if isinstance(runs, Mapping) else run_list)])


class RunEvaluation:
    """The runs measured so far."""

    def __init__(
        self,
        options: RunOptions,
        rules: Rules,
        measures: tuple[LabelledMeasure, ...],
        run_judgments: RunJudgments,
        details: KeptDetails,
        sessions: SessionQueries | None,
    ) -> None:
        self.options, self.rules, self.measures = options, rules, measures
        self.run_judgments, self.sessions = run_judgments, sessions
        self.keep, self.whole = DETAIL_DEPTH if details else 0, details is True
        self.builder = ResultsBuilder(rules.convention, keep_uncounted=False)
        self.formats = {"judgments": run_judgments.format}
        self.details: dict[str, Details] = {}
        self.unjudged_items = UnjudgedItems(DETAIL_DEPTH) if details == "unjudged" else None
        self.abstention = AbstentionRows([], {}, [], [])
        self.grade_weights = GradeWeights(measures, run_judgments.judgments.grades)
        self._left_out: dict[str, dict[str, list[str]]] = {}
        self._longest: dict[str, int] = {}
        self._min_relevant_grade = lowest_relevant(measures)

    def request(self, progress: CountProgress | None = None) -> Request:
        """The options of reading runs."""
        return Request(
            tie_rule(self.rules.ties),
            self.rules.convention.single_precision,
            self.keep,
            duplicates=self.options.duplicates,
            columns=chosen_columns(self.options.columns, "run") if self.options.columns else {},
            progress=progress,
        )

    def add_file(self, name: str, run: Any, found_hits: formats.FoundHits) -> None:
        """Measures one run, whose hits were found in one process or in parts."""
        options, findings = self.options, self.builder.findings
        files = run_files(run)
        self.formats[name] = found_hits.format
        findings += found_hits.findings
        run_input = RunInput(
            name,
            found_hits.hits,
            files[0] if files else run,
            found_hits.format,
            options.run_format,
            options.columns,
            is_shard=len(files) > 1,
            judged=self.run_judgments.judgments,
        )
        if isinstance(self.run_judgments.for_view, Judgments):
            rules = self.rules
            findings += probable_mistakes(
                run_input,
                self.run_judgments.judgments,
                found_hits.source,
                rel=self._min_relevant_grade,
                ties=rules.ties,
                average_over=rules.average_over,
                gauge=self.gauge(run_input),
            )
        try:
            self.add(run_input)
        except NothingToEvaluate as error:
            of_run = [each for each in errors_among(findings) if each.subject.get("run") == name]
            raise NothingToEvaluate(
                refusal_for(of_run or [run_not_evaluated(str(error))])
            ) from error
        if options.confidence:
            self._add_abstention(run)

    @property
    def findings(self) -> list[Finding]:
        """All findings so far."""
        return [
            *self.run_judgments.findings,
            *self.builder.findings,
            *findings_on_grades(self.measures, self.run_judgments.judgments.grades),
            *findings_on_min_grade(self.measures, self.options.min_grade),
            *findings_on_lengths(self.measures, self._longest),
            *findings_on_weights(self.grade_weights.described),
            *self.abstention.findings,
        ]

    def gauge(self, run_input: RunInput) -> Gauge:
        """The mean of the first measure, by which the effect of a mistake is shown."""
        return Gauge(self.measures[0].label, partial(self._mean_of, run_input=run_input))

    def _mean_of(self, ranking: Ranking, *, run_input: RunInput) -> str:
        """The mean of the first measure on other rows of a run, under the same rules."""
        alone = RunEvaluation(
            self.options, self.rules, self.measures[:1], self.run_judgments, False, self.sessions
        )
        hits = self.request().hits(ranking, self.run_judgments.judgments)
        try:
            alone.add(run_input._replace(hits=hits, ranking=ranking))
        except NothingToEvaluate:
            # It shares no query with the judgments.
            return format_value(0.0, "share")
        values = alone.builder.values[0]
        return format_value(figure_of(values.values, values.summary, values.weights), values.unit)

    def add(self, run_input: RunInput) -> None:
        """Measures one run."""
        name, hits = run_input.name, run_input.hits
        self._longest[name] = int(hits.n_retrieved.max(initial=0))
        view = with_negative_grades(
            JudgedRankings.join(self.run_judgments.judgments, hits), self.rules.convention
        )
        if hits.top is not None:
            details = details_of(
                self.run_judgments.judgments,
                hits,
                view.resolve(self.rules.ties),
                lowest_relevant(self.measures, self.options.min_grade),
            )
            if self.unjudged_items is None:
                self.details[name] = compact(details) if self.details else details
            else:
                self.unjudged_items.add_run(name, details._asdict())
        if self.rules.unjudged == "skip":
            view = view.condensed
        if self.rules.average_over == "run":
            view = view.with_unknown(hits.unknown)
        run = JudgedRun(
            name=name,
            view=view if self.sessions is None else SessionRankings.join(view, self.sessions).flat,
            ties=self.rules.ties,
            other_views=lambda kind: self._other_view(kind, hits, view),
            tied_items="tied items keep the order of the input.",
        )
        counted = self._counted(run, run_input)
        self.builder.add(run, self.measures, counted)
        self.grade_weights.add(run, counted)
        if self.rules.unjudged == "nonrelevant":
            self.builder.findings += unjudged_bounds(
                run, self.measures, counted, self.rules.convention
            )

    def _add_abstention(self, run: Any) -> None:
        """Adds nAUC, AURC and others of the run that was measured last, by its scores as they are
        in its file.
        """
        if run_files(run):
            raise BadUsage(
                f"{run}: {flag('--confidence')} reads a run in one file; join its shards, or "
                "leave the option out."
            )
        options = self.options
        request = replace(self.request(), judged=self.run_judgments.judgments)
        ranking, _ = formats.read_as(run, "run", options.run_format, request)
        abstention = abstention_rows(
            partial(confidences, ranking, exclude_self=bool(self.rules.exclude_self)),
            confidence_kinds(options.confidence),
            zip(self.measures, self.builder.values[-len(self.measures) :], strict=True),
            AbstentionRules(self.rules.convention, options.intervals, options.seed),
        )
        self.abstention.extend(abstention)

    def _counted(self, run: JudgedRun, run_input: RunInput) -> Bools:
        """Whether each query of the view counts; those that do not are recorded."""
        view, hits, rule = run.view, run_input.hits, self.rules.no_relevant
        bare = view.n_relevant(self._min_relevant_grade) == 0
        # Queries that the judgments name without an item are in none of them.
        has_judgments = np.diff(view.judged_offsets) > 0
        in_both = view.has_ranking & has_judgments
        considered = {"judged": None, "run": view.has_ranking, "both": in_both}
        counted = counted_queries(
            view.queries,
            bare,
            rule,
            considered=considered[self.rules.average_over],
            refuse=lambda query, _: (
                f"query {query!r} has nothing relevant; leave it out, or choose "
                f"{flag('--no-relevant', 'empty')} or skip."
            ),
        )
        n_common = int(hits.has_ranking.sum())
        if not n_common or not counted.any():
            if n_common and bare.all():
                raise NothingToEvaluate(
                    f"{run.name}: no query has anything relevant, and "
                    f"{flag('--no-relevant', 'skip')} leaves all of them out."
                )
            example = ""
            if view.queries and hits.unknown:
                judged_id, listed_id = IdPair(view.queries[0], min(hits.unknown)).shown
                example = f" (judged: {judged_id}, …; in the run: {listed_id}, …)"
            raise NothingToEvaluate(
                f"{run.name}: no query to evaluate: the run has "
                f"{count_of(n_common + len(hits.unknown), 'query', 'queries')}, the truth "
                f"{len(hits.has_ranking)}, {n_common} are in both{example}."
            )
        missing = [view.queries[row] for row in np.flatnonzero(~view.has_ranking).tolist()]
        self._left_out[run.name] = {"missing": missing, "unknown": sorted(hits.unknown)}
        tied = {label: run.tied(measure) for measure, label in self.measures}
        lacking, lacking_by = bare, list[str]()
        if self.options.min_grade is not None and rule != "skip":
            # A measure that weighs grades may have a value where none is high enough for others.
            lacking = view.n_relevant(lowest_relevant(self.measures, self.options.min_grade)) == 0
            counting = [each for each in self.measures if each.measure.parameters.get("rel")]
            if len(counting) < len(self.measures):
                lacking_by = [labelled.label for labelled in counting]
        self.builder.findings += findings_on_counts(
            run,
            missing=missing,
            counts_missing=self.rules.average_over == "judged",
            unknown=() if self.rules.average_over == "run" else self._left_out[run.name]["unknown"],
            bare=lacking & counted,
            bare_by=lacking_by,
            tied=tied,
        )
        self.builder.counts[run.name] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_MISSING: len(missing),
            results.QUERIES_UNKNOWN: len(hits.unknown),
            results.QUERIES_WITHOUT_RELEVANT: int((bare & (counted | (rule == "skip"))).sum()),
            results.QUERIES_TIED: {
                str(measure): int(tied[label].sum()) for measure, label in self.measures
            },
        }
        return counted

    def _other_view(self, kind: Any, hits: Hits, plain_view: JudgedRankings) -> Any:
        if self.sessions is not None:
            return SessionRankings.join(
                plain_view.resolve(tie_rule(self.rules.ties)), self.sessions
            )
        if (
            self.rules.unjudged == "skip"
            or self.rules.average_over == "run"
            or self.rules.ties in ("optimistic", "pessimistic")
        ):
            raise BadUsage(
                f"measures that need {kind.needs} are computed with "
                f"{flag('--unjudged', 'nonrelevant')}, {flag('--average-over', 'judged')} or both, "
                "and a tie rule that names an order; ask for them in a call of their own."
            )
        keywords: dict[str, Any] = (
            {"flat": self.run_judgments.judgments} if _has_aspects(kind) else {}
        )
        view = with_negative_grades(
            kind.join(self.run_judgments.for_view, hits, **keywords), self.rules.convention
        )
        if tuple(view.queries) != tuple(plain_view.queries):
            raise BadInput(
                f"the rows of {kind.needs} and the plain judgments do not list the same queries."
            )
        return view

    def results(
        self,
        inputs: Mapping[str, Any],
        runs: Mapping[str, Any],
        texts: Any,
        digests: Mapping[str, str] = MappingProxyType({}),
    ) -> Results:
        """The results of all runs. texts: what the queries say. digests: of files, by their names,
        where known.
        """
        options, builder, judgments = self.options, self.builder, self.run_judgments.judgments
        paths: dict[str, Any] = {}
        for name, run in runs.items():
            files = run_files(run)
            paths |= {f"{name}/{Path(file).name}": file for file in files} or {name: run}
        sources = sources_of(without_none({**inputs, "queries": texts}), paths)
        for source in sources.values():
            source.known_digest = digests.get(source.name, "")
        sizes = [source.size for name, source in sources.items() if name in runs]
        if len(set(sizes)) < len(sizes):
            from rankwell.evaluation.mistakes import copies

            builder.findings += copies(runs)
        texts_of_queries = None if texts is None else formats.read_texts(texts)
        if texts_of_queries is not None and options.queries is not None:
            texts_to_check = (
                texts_of_queries,
                judgments.queries,
                options.queries,
                "judged queries",
            )
            formats.refuse_foreign_texts(*texts_to_check)
            builder.findings += formats.lacking_texts(*texts_to_check)
        details = None
        if self.whole:
            details = detail_columns((run, rows, None) for run, rows in self.details.items())
        return builder.results(
            Results,
            rules=self._described(),
            measures=self.measures,
            aggregates=tuple(self.abstention.rows),
            findings=self.findings,
            formats=self.formats,
            left_out=self._left_out,
            by_query=True,
            intervals=options.intervals,
            seed=options.seed,
            sources=sources,
            details=details,
            queries=self._query_columns(texts_of_queries),
            unjudged=self.unjudged_items,
        )

    def _query_columns(self, texts: Texts | None) -> Columns:
        """The columns of queries.parquet: every query with its text and the other columns of the
        file of texts.
        """
        # Most measures share their queries.
        queries_of_values = dict.fromkeys(values.queries for values in self.builder.values)
        queries = list(dict.fromkeys(chain.from_iterable(queries_of_values)))
        text_of, attributes = ({}, {}) if texts is None else (texts.texts, texts.attributes)
        names = dict.fromkeys(chain.from_iterable(attributes.values()))
        columns_of_texts = {
            name: [attributes.get(query, {}).get(name) for query in queries]
            for name in names
            if name not in ("query", "text")
        }
        return {"query": queries, "text": list(map(text_of.get, queries))} | columns_of_texts

    def _described(self) -> Mapping[str, Any]:
        """The rules for JSON; intervals and seed keep their places in the line."""
        rules, builder, weights = self.rules, self.builder, self.grade_weights.described
        described: dict[str, Any] = {
            "convention": rules.convention.name,
            "ties": builder.ties(rules.ties),
            "scores": "float32" if rules.convention.single_precision else "float64",
            "average_over": rules.average_over,
            "no_relevant": rules.no_relevant,
            "unjudged": rules.unjudged,
            "exclude_self": rules.exclude_self,
            **({} if self.options.min_grade is None else {"min_grade": self.options.min_grade}),
            **builder.rules(self.measures, self.options),
        }
        for labelled in self.measures:
            described["measures"][str(labelled.measure)]["summary"] = summary_of(
                labelled.measure, rules.convention
            )
        described["measures"] |= self.abstention.definitions
        if weights:
            described["grade_weights"] = weights
        if self.abstention.curves:
            described["risk_coverage"] = self.abstention.curves
        return described


def _has_aspects(kind: type) -> bool:
    from rankwell.data.judged_rankings import AspectRankings  # which plain measures do without

    return issubclass(kind, AspectRankings)
