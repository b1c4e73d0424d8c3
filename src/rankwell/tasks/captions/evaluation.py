"""Scores of captions and videos -> values: where the right items stand, from text to video and from video to text."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, NoRelevantRule
from rankwell.core.registry import split_names, suggest
from rankwell.core.tables.values import Values
from rankwell.core.views.details import Details
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadScore, BadUsage, UnknownName
from rankwell.evaluation.results import Results
from rankwell.io.embeddings import read_column
from rankwell.measures.best_only import reads_best_only
from rankwell.stats import Intervals, check_intervals
from rankwell.stats.summaries import figure_of
from rankwell.tasks.captions.directions import Protocol, Way, Which, asked_for, notes_of, other_meanings, ways
from rankwell.tasks.captions.figures import DEFINITIONS, Measured, figure_rows, named_figures
from rankwell.tasks.captions.inputs import World
from rankwell.tasks.captions.ranked import Ranked
from rankwell.tasks.captions.tables import detail_columns, item_columns, query_columns

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Captions(Results):
    """The values of every run and direction with their rules; summaries and intervals are computed when first read.

    Every fact has `direction` (`t2v`, `v2t`, `v2t-videos`), `ceiling` (what a scorer without mistakes reaches, which captions
    that are the same hold down; None where it is not known) and `chance`. views: run and direction -> the right items' places.
    """

    views: Mapping[tuple[str, str], JudgedRankings]
    task: str = "captions"

    @property
    def interval_notes(self) -> list[str]:
        """What the summary leaves undefined, and where intervals go beyond what a figure can be, in words."""
        told = super().interval_notes
        beyond = [row for row in self.summary if row["ci_low"] is not None and self.intervals == "t" and _is_beyond(row)]
        if beyond:
            names = ", ".join(dict.fromkeys(f"{row['label']} ({row['direction']})" for row in beyond))
            told.append(
                f"t intervals of {names} go beyond what the figures can be, for few or lopsided values; see the bootstrap's"
            )
        return told


def _is_beyond(row: Mapping[str, Any]) -> bool:
    low, high = {"percent": (0.0, 100.0), "share": (0.0, 1.0), "rank": (1.0, math.inf)}.get(row["unit"], (-math.inf, math.inf))
    return bool(row["ci_low"] < low or row["ci_high"] > high)


def captions(
    scores: Any = None,
    positives: Any = "diagonal",
    *,
    queries: Any = None,
    gallery: Any = None,
    metric: str | None = None,
    query_ids: Any = None,
    item_ids: Any = None,
    direction: Which = "both",
    protocol: Protocol | None = None,
    measures: Sequence[str] | str | None = None,
    k: Sequence[int] | int | str | None = None,
    convention: str = "hgr",
    ties: str | None = None,
    no_relevant: str | None = None,
    mask: Any = None,
    transform: str | None = None,
    bank: Any = None,
    texts: Any = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    progress: Progress | None = None,
) -> Captions:
    """Where the right videos of every caption stand among all videos, and the right captions of every video among all captions.

    scores: a row per caption and a column per video, higher is better: whatever `read_scores` takes, several of them in a list or
    a mapping name -> scores; or queries and gallery: embeddings of captions and of videos, of which no matrix is ever made.
    positives: whatever `read_positives` takes; or `counts:FILE`, `counts:20` and `groups:FILE[,FILE]` as texts. query_ids,
    item_ids: names of rows and columns, as lists or as files of them. protocol: `among-captions` ranks a video's best caption
    among all captions, `among-videos` collapses a video's captions to the highest score and ranks the video among videos.
    measures: names, at every `k` where they need a cut-off; `rsum`, `gmean` and `r_mean` among them; the convention's where None.
    ties, no_relevant: what the user has instead of the convention. mask: 1 for every caption (row) that is there, 0 for none.
    transform: as `parse_transform` reads it, with its bank where it needs one. texts: what the captions say, for the ceiling.
    details: keep the first items of each query for a folder of results.
    Of the result, `summary` has a row per run, direction and measure, `per_query()` one per query besides, `notes` what is to be
    known, `views` the places of the right items.
    Raises BadInput and BadScore that name row and column, BadUsage and UnknownName, NothingToEvaluate where no query counts.

    >>> result = captions([[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none")
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    rules = CONVENTIONS[convention]
    chosen = ways(rules, direction, protocol, ties)
    check_intervals(intervals, seed)
    policy = rules.no_relevant if no_relevant is None else no_relevant
    if policy not in get_args(NoRelevantRule):
        raise UnknownName(f"no rule is called {policy!r}; {suggest(policy, get_args(NoRelevantRule))}")
    names, figures = named_figures(split_names(measures) if isinstance(measures, str) else measures, rules, direction)
    ks = _cutoffs(k)
    asked = {way.name: asked_for(names, ks, rules, way) for way in chosen}
    world = World.read(scores, queries, gallery, metric, _ids(query_ids), _ids(item_ids))
    world.prepare(positives, mask, transform, bank, texts, [way.name for way in chosen])
    found = _Found(world, rules, policy, asked)
    own = [name for name, given in (("ties", ties), ("no_relevant", no_relevant), ("protocol", protocol)) if given is not None]
    for run in world.runs:
        try:
            for way in chosen:
                found.add(run, way, details=details, progress=progress)
        except BadScore as error:
            raise BadScore(f"{world.called(run)}{error}") from error
        found.add_figures(run, figures, intervals, seed)
    return Captions(
        values=tuple(each.values for each in found.measured),
        row_attributes=tuple(each.facts for each in found.measured),
        query_columns=("direction",),
        aggregates=tuple(found.figures),
        rules=found.rules(chosen),
        notes=tuple(dict.fromkeys([*notes_of(rules, chosen, own), *world.notes, *found.notes])),
        sources=world.sources,
        details=detail_columns(found.details) if details else None,
        queries=query_columns(found.queries, world.said) if details else None,
        items=item_columns(found.details, world.said, world.captions_of) if details else None,
        intervals=intervals,
        seed=seed,
        population_sd=rules.population_sd,
        views=found.views,
    )


def _cutoffs(k: Sequence[int] | int | str | None) -> tuple[int, ...] | None:
    """Cut-offs as a text (`1,5,10`), one, or several. Raises BadUsage for what is no whole number from 1."""
    words: list[Any] = k.replace(",", " ").split() if isinstance(k, str) else [k] if isinstance(k, int) else list(k or ())
    if k is None:
        return None
    if not words or not all(str(word).isdecimal() and int(word) for word in words):
        raise BadUsage(f"k={k!r}: cut-offs are whole numbers from 1, as 1,5,10.")
    return tuple(map(int, words))


def _ids(place: Any) -> Any:
    """Names in a list, or those in a file."""
    if isinstance(place, (str, Path)):
        return read_column(place)
    return place


@dataclass
class _Found:
    """What has been computed so far."""

    world: World
    convention: Convention
    no_relevant: str
    asked: Mapping[str, Sequence[LabelledMeasure]]
    measured: list[Measured] = field(default_factory=list[Measured])
    figures: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])
    counts: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    views: dict[tuple[str, str], JudgedRankings] = field(default_factory=dict[tuple[str, str], JudgedRankings])
    details: list[tuple[str, Way, Details]] = field(default_factory=list[tuple[str, Way, Details]])
    queries: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def add(self, run: str, way: Way, *, details: bool, progress: Progress | None) -> None:
        """Measures one direction of one run."""
        best = not details and all(reads_best_only(each.measure) for each in self.asked[way.name])
        named = None if progress is None else _named(progress, f"{run} {way.name}")
        compared = self.world.compared(run, way)
        ranked = Ranked.of(compared, self.world.positives, way, self.world.copies(run), best=best, progress=named)
        chosen = ranked.counted(self.no_relevant)
        self.notes += other_meanings(self.asked[way.name], self.convention, way)
        if way.collapsed and (self.world.positives.counts > 1).any():
            many = int((self.world.positives.counts > 1).sum())
            self.notes.append(
                f"{way.name}: {many} captions belong to several videos; captions are collapsed for a video each, so that such a "
                "caption raises all of its videos"
            )
        unknown: dict[str, list[str]] = {}
        for each in self.asked[way.name]:
            names, values = ranked.values(each.measure, chosen, self.notes)
            levels = ranked.levels(each.measure, chosen)
            if levels.reason:
                unknown.setdefault(levels.reason, []).append(each.label)
            scale, unit = self.convention.shows(each.measure.entry.unit)
            summary = each.measure.entry.summary
            column = Values(run, str(each.measure), each.label, unit, summary, names, values * scale)
            ceiling, chance = (
                None if level is None else figure_of(level * scale, summary) for level in (levels.ceiling, levels.chance)
            )
            facts = {"direction": way.name, "ceiling": ceiling, "chance": chance}
            self.measured.append(Measured(column, facts))
        self.notes += [f"{way.name}: no ceiling of {', '.join(labels)}: {reason}" for reason, labels in unknown.items()]
        key = way.name if len(self.world.runs) == 1 else f"{run} {way.name}"
        self.counts[key] = {
            "queries_counted": int(chosen.sum()),
            "queries_without_relevant": int(ranked.without_positives.sum()),
            "queries_masked": self.world.masked if not way.down else 0,
            "queries_best_relevant_tied": ranked.tied,
        }
        self.views[run, way.name] = ranked.joined
        self.queries[way.name] = ranked.joined.queries
        if details:
            self.details.append((run, way, ranked.details(compared)))

    def add_figures(self, run: str, names: Sequence[str], intervals: Intervals, seed: int) -> None:
        """Adds the figures of several recalls of a run."""
        rows, notes = figure_rows([each for each in self.measured if each.values.run == run], names, intervals, seed)
        self.figures += rows
        self.notes += notes

    def rules(self, chosen: Sequence[Way]) -> dict[str, Any]:
        """What decided the numbers."""
        every = [each.measure for asked in self.asked.values() for each in asked]
        ties = {way.name: way.ties for way in chosen}
        return {
            "convention": self.convention.name,
            "ties": _joined(ties),
            "no_relevant": self.no_relevant,
            **self.world.rules,
            "counts": self.counts,
            "measures": {str(each): each.entry.definition for each in every}
            | {row["measure"]: DEFINITIONS[row["measure"]] for row in self.figures},
        }


def _named(progress: Progress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)


def _joined(by_way: Mapping[str, str]) -> str:
    """One rule where all directions have it, else each with its direction."""
    rules = set(by_way.values())
    return rules.pop() if len(rules) == 1 else ", ".join(f"{way} {rule}" for way, rule in by_way.items())
