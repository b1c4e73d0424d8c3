"""The judgments of `evaluate` in the form that its measures read, and the files behind it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.conventions import LabelledMeasure
from rankwell.core.tables.judgments import Judgments
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.io import files as io
from rankwell.store import STDIN, Source


class RunJudgments(NamedTuple):
    """The judgments of the measures' view, the same with one row per query and item, their format and the reader's notes."""

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


def read_run_judgments(
    judgments: Any, measures: Sequence[LabelledMeasure], form: str | None, *, exclude_self: bool
) -> RunJudgments:
    """The judgments, each query's own item as junk where it is excluded.

    Raises BadUsage for measures that do not read rankings or that read the judgments in different ways, NothingToEvaluate.
    """
    kinds = {each.measure.entry.view.__name__ for each in measures}
    special = sorted(kinds - {"JudgedRankings"})
    for each in measures:
        if not hasattr(each.measure.entry.view, "join"):
            command = {"AnswerPairs": "answers", "RankingPairs": "agree"}.get(each.measure.entry.view.__name__, "pairs")
            raise BadUsage(f"{each.measure} compares no ranking with judgments; `rankwell {command}` computes it.")
    if len(special) > 1 or (special == ["PreferenceRankings"] and len(kinds) > 1):
        raise BadUsage(f"one call reads the judgments one way; ask for measures of {' and '.join(sorted(kinds))} separately.")
    if special == ["PreferenceRankings"]:
        preferences = io.read_preferences(judgments, format=form)
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    aspects: io.Aspects = "none"
    if special:
        aspects = "intents" if special == ["IntentRankings"] else "groups"
    truth = io.find_judgments(judgments, format=form, aspects=aspects)
    flat = truth.table.flat
    if exclude_self:
        flat = flat.with_junk({query: [query] for query in flat.queries})
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    return RunJudgments(truth.table, flat, truth.format, truth.notes)


def sources_of(judgments: Any, named: Mapping[str, Any]) -> dict[str, Source]:
    """The files among judgments and runs, by name."""
    places = {"judgments": judgments, **named}
    return {name: Source(place) for name, place in places.items() if isinstance(place, (str, Path)) and str(place) not in STDIN}
