"""Runs against judgments: each run is read, joined with the judgments, and measured under the rules of a convention."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.conventions import LabelledMeasure, Rules, choose_measures
from rankwell.core.options import takes_options
from rankwell.core.registry import measure_names
from rankwell.core.tables import Bools, Judgments
from rankwell.core.tables.ranking import Hits
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.evaluation import results
from rankwell.evaluation.bounds import run_notes
from rankwell.evaluation.details import Details, detail_columns, details_of
from rankwell.evaluation.judged import JudgedRun, is_suspicious, name_runs
from rankwell.evaluation.results import DETAIL_DEPTH, Results, ResultsBuilder, counted_queries, progress_of, summary_of
from rankwell.io import files as io
from rankwell.stats import check_intervals
from rankwell.store import sources_of
from rankwell.tasks.runs.options import RunOptions


@takes_options(RunOptions, "measures")
def evaluate(
    judgments: Any,
    runs: Any,
    *,
    options: RunOptions,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Results:
    """The values of every run on every measure.

    judgments: a file, a BEIR folder, a mapping query -> item -> grade or query -> list or set of ids, a dataframe, or Judgments.
    runs: one run of any such kind (a list has the ids from the first rank on, or pairs of id and score), a list of files, or a
    mapping name -> run. options: the fields of `RunOptions`, as keywords or as one; measures may follow the runs.
    details: keep the first items and every judged item of each query for a page.
    Raises NothingToEvaluate where no query is left to average over, and the reader's errors for bad input.

    >>> import rankwell as rw
    >>> qrels, run = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}, {"q1": {"b": 2.0, "x": 1.0}, "q2": {"x": 2.0, "c": 1.0}}
    >>> result = rw.evaluate(qrels, {"mine": run}, ["RR", "P@1"])
    >>> result["RR"], result["P@1"]
    (0.75, 0.5)
    """
    rules = Rules.resolve(options.convention, **{name: getattr(options, name) for name in Rules._fields if name != "convention"})
    labelled = choose_measures(measure_names(options.measures), rules.convention, options.min_grade)
    if options.ties is None and any(each.measure.entry.view.__name__ == "PreferenceRankings" for each in labelled):
        # trec_eval breaks ties by ascending id for preference measures, and only there.
        rules = rules._replace(ties="id-asc")
    check_intervals(options.intervals, options.seed)
    named = name_runs(runs)
    if not named:
        raise BadUsage("no run is given; name at least one run after the judgments.")
    place = io.judgments_file(judgments, options.split)
    truth = read_run_judgments(place, labelled, options, exclude_self=rules.exclude_self)
    evaluation = _RunEvaluation(rules, labelled, truth, DETAIL_DEPTH if details else 0)
    evaluation.builder.notes += [*rules.convention.unnamed(options), *([f"judgments: {place}"] if place is not judgments else [])]
    for name, run in named.items():
        found = io.find_hits(
            run,
            truth.flat,
            format=options.run_format,
            ties=rules.ties,
            single_precision=rules.convention.single_precision,
            keep=evaluation.keep,
            duplicates=options.duplicates,
            progress=progress_of(progress, name),
        )
        evaluation.formats[name] = found.format
        evaluation.builder.notes += [*found.notes, *evaluation.mistakes(name, run, found, options.run_format)]
        evaluation.add(name, found.hits)
    sources = sources_of({"judgments": place}, named)
    sizes = [each.file.stat().st_size for name, each in sources.items() if name in named and each.file]
    if len(set(sizes)) < len(sizes):
        from rankwell.evaluation.mistakes import copies

        evaluation.builder.notes += [each.sentence for each in copies(named)]
    known = _query_texts(options.texts, place if details and place is not judgments else None)
    return evaluation.results(
        intervals=options.intervals,
        seed=options.seed,
        sources=sources,
        details=detail_columns((run, each, None) for run, each in evaluation.details.items()) if details else None,
        queries=evaluation.query_columns(known),
        objects={"attributes": {} if known is None else known.attributes},
    )


def _query_texts(texts: Any, judged: Path | None) -> io.Texts | None:
    """The texts of the queries: those given, else those in the BEIR folder of a file of judgments, where there are any."""
    if texts is None and judged is not None and (beside := judged.parents[1] / "queries.jsonl").is_file():
        texts = beside
    return None if texts is None else io.read_texts(texts)


class RunJudgments(NamedTuple):
    """The judgments of the measures' view, the same with one row per query and item, their format and the reader's notes."""

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


class _RunEvaluation:
    """The runs measured so far."""

    def __init__(self, rules: Rules, measures: tuple[LabelledMeasure, ...], truth: RunJudgments, keep: int) -> None:
        self.rules, self.measures, self.truth, self.keep = rules, measures, truth, keep
        self.builder = ResultsBuilder(rules.convention, keep_uncounted=False)
        self.formats = {"judgments": truth.format}
        self.details: dict[str, Details] = {}
        self._left_out: dict[str, dict[str, list[str]]] = {}
        self._lowest = min((each.measure.parameters.get("rel") or 1 for each in measures), default=1)

    def mistakes(self, name: str, run: Any, found: io.FoundHits, run_format: str | None) -> list[str]:
        """The probable mistakes in the judgments and in one run."""
        flat, hits = self.truth.flat, found.hits
        lines = found.source if found.format == "trec" else None
        if not isinstance(self.truth.table, Judgments) or not is_suspicious(flat, hits, rel=self._lowest, lines=lines):
            return []
        from rankwell.evaluation.mistakes import RunPlace, judgment_mistakes, run_mistakes

        place = RunPlace(name, hits, run, found.format, run_format)
        own = run_mistakes(place, flat, rel=self._lowest, ties=self.rules.ties, queries=self.rules.queries)
        return [each.sentence for each in (*judgment_mistakes(flat, self._lowest), *own)]

    def add(self, name: str, hits: Hits) -> None:
        """Measures one run."""
        view = JudgedRankings.join(self.truth.flat, hits)
        if hits.top is not None:
            self.details[name] = details_of(self.truth.flat, hits, view.resolve(self.rules.ties))
        if self.rules.unjudged == "skip":
            view = view.condensed
        if self.rules.queries == "run":
            view = view.with_unknown(hits.unknown)
        run = JudgedRun(
            name=name,
            view=view,
            ties=self.rules.ties,
            other_views=lambda kind: self._other_view(kind, hits, view),
            tied_items="tied items keep the order of the input.",
        )
        counted = self._counted(run, hits)
        self.builder.add(run, self.measures, counted)
        if self.rules.unjudged == "nonrelevant":
            self.builder.notes += run_notes(run, self.measures, counted, self.rules.convention)

    def _counted(self, run: JudgedRun, hits: Hits) -> Bools:
        """(queries,) whether each query of the view counts; those that do not are recorded."""
        view, rule = run.view, self.rules.no_relevant
        bare = view.n_relevant(self._lowest) == 0
        counted = counted_queries(
            view.queries,
            bare,
            rule,
            considered=None if self.rules.queries == "truth" else view.present,
            refuse=lambda query, _: f"query {query!r} has nothing relevant; leave it out, or choose --no-relevant empty or skip.",
        )
        if not hits.present.any() or not counted.any():
            both = int(hits.present.sum())
            if both and bare.all():
                what = "no query has anything relevant, and --no-relevant skip leaves all of them out"
                raise NothingToEvaluate(f"{run.name}: {what}.")
            first = (view.queries[:1], sorted(hits.unknown)[:1])
            example = f" (judged: {first[0][0]!r}, …; in the run: {first[1][0]!r}, …)" if all(first) else ""
            reason = ""
            if not both:
                from rankwell.evaluation.mistakes import no_common_query

                reason = no_common_query(view.queries, list(hits.unknown), self.truth.flat.items)
            raise NothingToEvaluate(
                f"{run.name}: no query to evaluate: the run has {both + len(hits.unknown)} queries, the truth "
                f"{len(hits.present)}, {both} are in both{example}.{reason}"
            )
        missing = [query for query, present in zip(view.queries, view.present.tolist(), strict=True) if not present]
        self._left_out[run.name] = {"missing": missing, "unknown": sorted(hits.unknown)}
        self.builder.counts[run.name] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_MISSING: len(missing),
            results.QUERIES_UNKNOWN: len(hits.unknown),
            results.QUERIES_WITHOUT_RELEVANT: int((bare & (counted | (rule == "skip"))).sum()),
            results.QUERIES_TIED: {str(each.measure): int(run.tied(each.measure).sum()) for each in self.measures},
        }
        return counted

    def _other_view(self, kind: type, hits: Hits, judged: JudgedRankings) -> Any:
        if self.rules.unjudged == "skip" or self.rules.queries == "run" or self.rules.ties in ("optimistic", "pessimistic"):
            raise BadUsage(
                f"measures of {kind.__name__} are computed with --unjudged nonrelevant, --queries truth or both, and a tie rule "
                "that names an order; ask for them in a call of their own."
            )
        view = kind.join(self.truth.table, hits)  # pyright: ignore[reportAttributeAccessIssue]
        if tuple(view.queries) != tuple(judged.queries):
            raise BadInput(f"{kind.__name__} and the plain judgments do not list the same queries.")
        return view

    def query_columns(self, texts: io.Texts | None) -> dict[str, list[Any]]:
        """The columns of queries.parquet: every query with its text and the other columns of the file of texts."""
        # Most measures share their queries.
        queries = list(dict.fromkeys(chain.from_iterable(dict.fromkeys(values.queries for values in self.builder.values))))
        known, attributes = ({}, {}) if texts is None else (texts.texts, texts.attributes)
        names = dict.fromkeys(name for own in attributes.values() for name in own if name not in ("query", "text"))
        further = {name: [attributes.get(query, {}).get(name) for query in queries] for name in names}
        return {"query": queries, "text": list(map(known.get, queries))} | further

    def results(self, **further: Any) -> Results:
        """The results of all runs."""
        return self.builder.results(
            rules=self._described(),
            measures=self.measures,
            notes=[*self.rules.convention.notes, *self.truth.notes, *self.builder.notes],
            formats=self.formats,
            left_out=self._left_out,
            by_query=True,
            **further,
        )

    def _described(self) -> Mapping[str, Any]:
        """The rules for JSON; intervals and seed keep their places in the line."""
        rules, builder = self.rules, self.builder
        return {
            "convention": rules.convention.name,
            "ties": builder.ties(rules.ties),
            "scores": "float32" if rules.convention.single_precision else "float64",
            "queries": rules.queries,
            "no_relevant": rules.no_relevant,
            "unjudged": rules.unjudged,
            "exclude_self": rules.exclude_self,
            "intervals": None,
            "seed": None,
            "sd": "population" if rules.convention.population_sd else "sample",
            "counts": builder.counts,
            "measures": {
                str(each.measure): builder.definition(each.measure) | {"summary": summary_of(each.measure, rules.convention)}
                for each in self.measures
            },
        }


def read_run_judgments(
    judgments: Any, measures: Sequence[LabelledMeasure], options: RunOptions, *, exclude_self: bool
) -> RunJudgments:
    """The judgments, each query's own item as junk where it is excluded. Raises BadUsage, and NothingToEvaluate for none."""
    kinds = {each.measure.entry.view.__name__ for each in measures}
    special = sorted(kinds - {"JudgedRankings"})
    for each in measures:
        if not hasattr(each.measure.entry.view, "join"):
            command = {"AnswerPairs": "answers", "RankingPairs": "agree"}.get(each.measure.entry.view.__name__, "pairs")
            raise BadUsage(f"{each.measure} compares no ranking with judgments; `rankwell {command}` computes it.")
    if len(special) > 1 or (special == ["PreferenceRankings"] and len(kinds) > 1):
        raise BadUsage(f"one call reads the judgments one way; ask for measures of {' and '.join(sorted(kinds))} separately.")
    if special == ["PreferenceRankings"]:
        preferences = io.read_preferences(judgments, format=options.judgments_format)
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    aspects: io.Aspects = "none"
    if special:
        aspects = "intents" if special == ["IntentRankings"] else "groups"
    truth = io.find_judgments(judgments, format=options.judgments_format, aspects=aspects, grade_column=options.grade_column)
    flat = truth.table.flat
    if exclude_self:
        flat = flat.with_junk({query: [query] for query in flat.queries})
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    return RunJudgments(truth.table, flat, truth.format, truth.notes)
