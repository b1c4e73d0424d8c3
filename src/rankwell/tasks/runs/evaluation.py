"""Views x measures -> values: reads truth and runs, joins them, applies every measure, and says by which rules."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell import __version__, io
from rankwell.conventions import Asked, Convention, Rules, choose_measures
from rankwell.core.display import Shown
from rankwell.core.registry import Measure, split_names
from rankwell.core.tables import Bools, Floats
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import name_runs
from rankwell.core.tables.values import Summary, ValueRows, Values
from rankwell.core.views.details import Details, details_of
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.stats import Intervals, check_intervals
from rankwell.stats.summaries import SummaryRow, summarise, summary_notes
from rankwell.store import STDIN, Source

Progress = Callable[[str, int, int], None]
DETAIL_DEPTH = 20


class Counts(NamedTuple):
    """What became of the queries of one run. tied: measure -> queries whose value differs with the order of tied items."""

    counted: int
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    without_relevant: int
    tied: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """The counts for JSON; of the query lists only their lengths."""
        return {
            "counted": self.counted,
            "missing": len(self.missing),
            "unknown": len(self.unknown),
            "without_relevant": self.without_relevant,
            "tied": dict(self.tied),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """The values of every run and measure, with their rules; summaries and intervals are computed when first read."""

    values: tuple[Values, ...]
    measures: tuple[Asked, ...]
    rules: Rules
    counts: Mapping[str, Counts]
    notes: tuple[str, ...]
    formats: Mapping[str, str] = field(default_factory=dict[str, str])
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    details: Mapping[str, Details] = field(default_factory=dict[str, Details])
    texts: io.Texts | None = None
    in_input_order: tuple[str, ...] = ()
    intervals: Intervals = "bootstrap"
    seed: int = 0

    def __repr__(self) -> str:
        measures = ", ".join(str(asked.measure) for asked in self.measures)
        return f"<Evaluation of {', '.join(self.counts)} by {measures}; read .summary, .per_query(), .describe() and .notes>"

    @cached_property
    def summary(self) -> list[SummaryRow]:
        """One row per run and measure: mean, sd, interval and number of queries."""
        return summarise(self.values, intervals=self.intervals, seed=self.seed, population_sd=self.rules.convention.population_sd)

    @property
    def interval_notes(self) -> list[str]:
        """What the summary leaves undefined, in words."""
        return summary_notes(self.values, intervals=self.intervals)

    def per_query(self) -> ValueRows:
        """One row per run, query and measure; `value` is None where the query is not counted."""
        return ValueRows(self.values)

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: choices, counts per run, the definition of each measure, version."""
        return {
            "convention": self.rules.convention.name,
            "ties": self.rules.ties,
            **({"ties_in_input_order": ",".join(self.in_input_order)} if self.in_input_order else {}),
            "scores": "float32" if self.rules.convention.single_precision else "float64",
            "queries": self.rules.queries,
            "no_relevant": self.rules.no_relevant,
            "unjudged": self.rules.unjudged,
            "exclude_self": self.rules.exclude_self,
            "intervals": self.intervals,
            "seed": self.seed,
            "sd": "population" if self.rules.convention.population_sd else "sample",
            "counts": {run: counts.as_dict() for run, counts in self.counts.items()},
            "measures": {
                str(asked.measure): asked.measure.entry.definition | {"summary": summary_of(asked.measure, self.rules.convention)}
                for asked in self.measures
            },
            "version": __version__,
        }

    def manifest(self) -> dict[str, Any]:
        """The rules with the content hash of every input file and the names of the queries left out."""
        inputs = {name: {"file": each.name, "digest": each.digest()} for name, each in self.sources.items()}
        left_out = {run: {"missing": list(each.missing), "unknown": list(each.unknown)} for run, each in self.counts.items()}
        return {"schema_version": 1, "rules": self.describe(), "inputs": inputs, "left_out": left_out, "notes": list(self.notes)}

    def detail_columns(self) -> dict[str, list[Any]]:
        """The columns of details.parquet: run, query, item, rank, score, grade, state, detail."""
        columns: dict[str, list[Any]] = {name: [] for name in ("run", *Details._fields, "detail")}
        for run, details in self.details.items():
            columns["run"] += [run] * len(details.query)
            columns["detail"] += [None] * len(details.query)
            for name, values in details._asdict().items():
                columns[name] += (
                    values if isinstance(values, list) else [None if isnan(value) else value for value in values.tolist()]
                )
        return columns

    def query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: every query, its text and what else its file says of it, as far as they are known."""
        queries = list(dict.fromkeys(query for values in self.values for query in values.queries))
        texts, attributes = (self.texts.texts, self.texts.attributes) if self.texts else ({}, {})
        names = dict.fromkeys(name for known in attributes.values() for name in known)
        told = {
            name: [attributes.get(query, {}).get(name) for query in queries] for name in names if name not in ("query", "text")
        }
        return {"query": queries, "text": [texts.get(query) for query in queries]} | told


def summary_of(measure: Measure, convention: Convention) -> Summary:
    """How queries become one figure: as the measure says, or by the mean where the convention averages what others add up."""
    return "mean" if measure.name in convention.averaged else measure.entry.summary


def evaluate(
    judgments: Any,
    runs: Any,
    measures: Sequence[str] | str | None = None,
    *,
    convention: str = "rankwell",
    ties: str | None = None,
    queries: str | None = None,
    no_relevant: str | None = None,
    unjudged: str = "nonrelevant",
    exclude_self: bool | None = None,
    min_grade: float | None = None,
    duplicates: io.Duplicates = "error",
    judgments_format: str | None = None,
    run_format: str | None = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    texts: Any = None,
    progress: Progress | None = None,
) -> Evaluation:
    """The values of every run on every measure.

    judgments: a file, a mapping query -> item -> grade, a dataframe, or Judgments. runs: one run of any such kind, a list of
    files, or a mapping name -> run. measures: their names (`nDCG@10`), in the convention's words; its defaults where None.
    judgments_format, run_format: names of formats, where content does not tell.
    details: keep the first items and every judged item of each query for a page. texts: what the queries say, for the same page.
    Raises NothingToEvaluate where no query is left to average over, and the reader's errors for bad input.
    """
    rules = Rules.resolve(
        convention, ties=ties, queries=queries, no_relevant=no_relevant, unjudged=unjudged, exclude_self=exclude_self
    )
    asked = choose_measures(split_names(measures) if isinstance(measures, str) else measures, rules.convention, min_grade)
    if ties is None and any(each.measure.entry.view.__name__ == "PreferenceRankings" for each in asked):
        # trec_eval breaks ties by ascending id for preference measures, and only there.
        rules = rules._replace(ties="id-asc")
    check_intervals(intervals, seed)
    named = name_runs(runs)
    if not named:
        raise BadUsage("no run is given; name at least one run after the judgments.")
    outcome = _Outcome(rules, asked, _read_truth(judgments, asked, rules, judgments_format), DETAIL_DEPTH if details else 0)
    for name, run in named.items():
        outcome.read(name, run, run_format, duplicates, None if progress is None else _named(progress, name))
    return Evaluation(
        values=tuple(outcome.values),
        measures=asked,
        rules=rules,
        counts=outcome.counts,
        notes=tuple(dict.fromkeys([*rules.convention.notes, *outcome.truth.notes, *outcome.notes])),
        formats={"judgments": outcome.truth.format, **outcome.formats},
        sources=_sources(judgments, named),
        details=outcome.details,
        in_input_order=tuple(outcome.in_input_order),
        texts=None if texts is None else io.read_texts(texts),
        intervals=intervals,
        seed=seed,
    )


class _Truth(NamedTuple):
    """The truth as the measures' views want it, the same with one row per query and item, its format and its reader's notes."""

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


class _Outcome:
    """What has been computed so far, run by run."""

    def __init__(self, rules: Rules, asked: tuple[Asked, ...], truth: _Truth, keep: int) -> None:
        self.rules, self.asked, self.truth, self.keep = rules, asked, truth, keep
        self.values: list[Values] = []
        self.counts: dict[str, Counts] = {}
        self.notes: list[str] = []
        self.formats: dict[str, str] = {}
        self.details: dict[str, Details] = {}
        self.in_input_order: dict[str, None] = {}

    def read(self, name: str, run: Any, form: str | None, duplicates: io.Duplicates, progress: Any) -> None:
        """Reads and measures one run."""
        found = io.find_hits(
            run,
            self.truth.flat,
            format=form,
            ties=self.rules.ties,
            single_precision=self.rules.convention.single_precision,
            keep=self.keep,
            duplicates=duplicates,
            progress=progress,
        )
        self.formats[name] = found.format
        self.notes += found.notes
        self._add(name, found.hits)

    def _add(self, run: str, hits: Hits) -> None:
        joined = JudgedRankings.join(self.truth.flat, hits)
        judged = joined.resolve(self.rules.ties)
        if hits.top is not None:
            self.details[run] = details_of(self.truth.flat, hits, judged)
        if self.rules.unjudged == "skip":
            joined, judged = joined.condensed, judged.condensed
        if self.rules.queries == "run":
            judged = judged.with_unknown(hits.unknown)
        chosen = self._choose(run, judged, hits, _Ties(joined))
        views: dict[type, Any] = {JudgedRankings: judged}
        for asked in self.asked:
            kind = asked.measure.entry.view
            if kind not in views:
                views[kind] = self._other_view(kind, hits, judged)
            values = self._measure(asked.measure, views[kind], judged)
            scale, unit = self.rules.convention.shows(asked.measure.entry.unit)
            self.values.append(
                Values(
                    run=run,
                    measure=str(asked.measure),
                    label=asked.label,
                    unit=unit,
                    summary=summary_of(asked.measure, self.rules.convention),
                    queries=tuple(itertools.compress(judged.queries, chosen.tolist())),
                    values=values[chosen] * scale,
                )
            )

    def _choose(self, run: str, judged: JudgedRankings, hits: Hits, ties: "_Ties") -> Bools:
        """Which queries of the view count, and the book-keeping of those that do not."""
        missing = tuple(itertools.compress(judged.queries, (~judged.present).tolist()))
        chosen = np.ones(len(judged.queries), dtype=np.bool_) if self.rules.queries == "truth" else judged.present.copy()
        lowest = min((asked.measure.parameters.get("rel") or 1 for asked in self.asked), default=1)
        bare = judged.n_relevant(lowest) == 0
        if bare.any() and self.rules.no_relevant == "error":
            query = judged.queries[int(np.flatnonzero(bare)[0])]
            raise BadInput(f"query {query!r} has nothing relevant; leave it out, or choose --no-relevant empty or skip.")
        if self.rules.no_relevant == "skip":
            chosen &= ~bare
        if not hits.present.any() or not chosen.any():
            both = int(hits.present.sum())
            if both and bare.all():
                raise NothingToEvaluate(f"{run}: no query has anything relevant, and --no-relevant skip leaves all of them out.")
            raise NothingToEvaluate(
                f"{run}: no query to evaluate: the run has {both + len(hits.unknown)} queries, the truth {len(hits.present)}, "
                f"{both} are in both{_examples(judged.queries, tuple(hits.unknown))}."
            )
        self.counts[run] = Counts(
            counted=int(chosen.sum()),
            missing=missing,
            unknown=tuple(sorted(hits.unknown)),
            without_relevant=int((bare & (chosen | (self.rules.no_relevant == "skip"))).sum()),
            tied={str(asked.measure): ties.decide(asked.measure) for asked in self.asked},
        )
        return chosen

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

    def _measure(self, measure: Measure, view: Any, judged: JudgedRankings) -> Floats:
        if self.rules.ties == "expected" and (judged.tied > 1).any():
            if measure.entry.expected is not None:
                return measure.entry.expected(view, **dict(measure.given))
            self.notes.append(f"{measure} has no closed form under random order of ties; tied items keep the order of the input.")
            self.in_input_order[str(measure)] = None
        return measure(view)


def _read_truth(judgments: Any, asked: Sequence[Asked], rules: Rules, form: str | None) -> _Truth:
    kinds = {asked_for.measure.entry.view.__name__ for asked_for in asked}
    special = sorted(kinds - {"JudgedRankings"})
    for each in asked:
        if not hasattr(each.measure.entry.view, "join"):
            command = {"AnswerPairs": "answers", "RankingPairs": "agree"}.get(each.measure.entry.view.__name__, "pairs")
            raise BadUsage(f"{each.measure} compares no ranking with judgments; `rankwell {command}` computes it.")
    if len(special) > 1 or (special == ["PreferenceRankings"] and len(kinds) > 1):
        raise BadUsage(f"one call reads the judgments one way; ask for measures of {' and '.join(sorted(kinds))} separately.")
    if special == ["PreferenceRankings"]:
        preferences = io.read_preferences(judgments, format=form)
        return _Truth(preferences, preferences.judgments, "TREC preferences")
    aspects: io.Aspects = "none"
    if special:
        aspects = "intents" if special == ["IntentRankings"] else "groups"
    truth = io.find_judgments(judgments, format=form, aspects=aspects)
    flat = truth.table.flat
    if rules.exclude_self:
        flat = flat.with_junk({query: [query] for query in flat.queries})
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    return _Truth(truth.table, flat, truth.format, truth.notes)


def _examples(truth: Sequence[str], unknown: Sequence[str]) -> str:
    return f" (judged: {truth[0]!r}, …; in the run: {sorted(unknown)[0]!r}, …)" if truth and unknown else ""


class _Ties:
    """How much hangs on the tie rule: a measure's value with tied items placed for the best, and for the worst."""

    def __init__(self, joined: JudgedRankings) -> None:
        self._joined = joined
        self._ends = (joined.resolve("optimistic"), joined.resolve("pessimistic")) if (joined.tied > 1).any() else ()

    def decide(self, measure: Measure) -> int:
        """The number of queries in which the two differ; where a measure reads another view, those with a tied judged item."""
        if not self._ends:
            return 0
        if measure.entry.view is not JudgedRankings:
            return len(np.unique(self._joined.query_of_row[self._joined.tied > 1]))
        best, worst = (measure(view) for view in self._ends)
        return int(np.count_nonzero((best != worst) & ~(np.isnan(best) & np.isnan(worst))))


def _named(progress: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)


def _sources(judgments: Any, named: Mapping[str, Any]) -> dict[str, Source]:
    places = {"judgments": judgments, **named}
    return {name: Source(place) for name, place in places.items() if isinstance(place, (str, Path)) and str(place) not in STDIN}
