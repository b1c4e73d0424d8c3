"""The judgments of a run: read as the measures' view takes them, and flat, with one row per query and item."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from rankwell.conventions import LabelledMeasure
from rankwell.core.tables import Judgments
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.io import files as io

View = Literal["none", "groups", "intents", "preferences"]
"""The rows beside grades that measures read: none, judgment groups, intents; or preferences."""


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """The options of reading judgments. exclude_self: whether each query's own item is junk."""

    view: View = "none"
    format: str | None = None
    grade_column: str | None = None
    exclude_self: bool = False


class RunJudgments(NamedTuple):
    """The judgments of the measures' view, the same with one row per query and item, their format and the reader's notes."""

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


_COMMANDS = {
    "AnswerPairs": "answers",
    "RankingPairs": "agree",
    "ItemLists": "beyond",
    "ListCollections": "beyond",
    "LoggedRounds": "logs",
    "RetrievedPassages": "rag",
    "CitedStatements": "rag citations",
}


def view_of(measures: Sequence[LabelledMeasure]) -> View:
    """The view of all measures. Raises BadUsage where two need different ones, and for a measure of something else."""
    kinds = {each.measure.entry.view.__name__ for each in measures}
    special = sorted(kinds - {"JudgedRankings"})
    for each in measures:
        if not hasattr(each.measure.entry.view, "join"):
            command = _COMMANDS.get(each.measure.entry.view.__name__, "pairs")
            raise BadUsage(f"{each.measure} compares no ranking with judgments; `rankwell {command}` computes it.")
    if len(special) > 1 or (special == ["PreferenceRankings"] and len(kinds) > 1):
        raise BadUsage(f"one call reads the judgments one way; ask for measures of {' and '.join(sorted(kinds))} separately.")
    if special == ["PreferenceRankings"]:
        return "preferences"
    return "intents" if special == ["IntentRankings"] else "groups" if special else "none"


def read_run_judgments(judgments: Any, options: JudgmentOptions) -> RunJudgments:
    """The judgments, each query's own item as junk where it is excluded. Raises NothingToEvaluate for none."""
    if options.view == "preferences":
        preferences = io.read_preferences(judgments, format=options.format)
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    truth = io.find_judgments(judgments, format=options.format, aspects=options.view, grade_column=options.grade_column)
    flat = truth.table.flat
    if options.exclude_self:
        flat = flat.with_junk({query: [query] for query in flat.queries})
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    return RunJudgments(truth.table, flat, truth.format, truth.notes)
