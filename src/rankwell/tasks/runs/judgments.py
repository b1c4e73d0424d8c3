"""The judgments of a run: read as the measures' view takes them, and flat, with one row per query
and item.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from rankwell.conventions import LabelledMeasure
from rankwell.data.judged_rankings import JudgmentPair
from rankwell.data.options import ColumnChoice
from rankwell.data.tables import Judgments
from rankwell.errors import BadUsage, NothingToEvaluate, flag
from rankwell.evaluation.judged import hide_own_items
from rankwell.io import formats as io

View = Literal["none", "groups", "intents", "preferences", "second", "sessions"]
"""The rows that measures read beside grades: none, judgment groups, intents, preferences, second
judgments, or sessions.
"""


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """The options of reading judgments. exclude_self: whether rankings lose each query's own
    item.
    """

    view: View = "none"
    format: str | None = None
    columns: ColumnChoice | None = None
    exclude_self: bool = False


class RunJudgments(NamedTuple):
    """The judgments of the measures' view, the same with one row per query and item, their format
    and the reader's notes.
    """

    table: Any
    flat: Judgments
    format: str
    notes: tuple[str, ...] = ()


def view_of(measures: Sequence[LabelledMeasure]) -> View:
    """The view of all measures. Raises BadUsage where two need different ones, and for a measure of
    something else.
    """
    kinds = {labelled_measure.measure.entry.view.__name__ for labelled_measure in measures}
    special = sorted(kinds - {"JudgedRankings"})
    for labelled in measures:
        if not hasattr(labelled.measure.entry.view, "join"):
            raise BadUsage(f"{labelled.measure} needs {labelled.measure.entry.needs}.")
    if len(special) > 1 or (
        special in (["PreferenceRankings"], ["SessionRankings"]) and len(kinds) > 1
    ):
        first = {
            labelled_measure.measure.entry.view: labelled_measure.measure
            for labelled_measure in measures
        }.values()
        needs = ", ".join(f"{measure} needs {measure.entry.view.needs}" for measure in first)
        raise BadUsage(f"{needs}; one call reads the judgments one way: request them separately.")
    if special == ["PreferenceRankings"]:
        return "preferences"
    views: dict[str, View] = {
        "IntentRankings": "intents",
        "SecondJudgedRankings": "second",
        "SessionRankings": "sessions",
    }
    return views.get(special[0], "groups") if special else "none"


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
        preferences = io.read_preferences(
            judgments, format=options.format, qrels_columns=options.columns
        )
        return RunJudgments(preferences, preferences.judgments, "TREC preferences")
    aspects = "none" if options.view in ("second", "sessions") else options.view
    truth = io.find_judgments(
        judgments, format=options.format, aspects=aspects, qrels_columns=options.columns
    )
    flat = truth.table.flat
    if not flat.queries:
        raise NothingToEvaluate("the judgments hold no query.")
    own_items = list[str]()
    if options.exclude_self:
        flat, own_items = hide_own_items(flat)
    return RunJudgments(truth.table, flat, truth.format, (*truth.notes, *own_items))


def with_second(
    judgments: RunJudgments, second_judgments: Any, options: JudgmentOptions
) -> RunJudgments:
    """The judgments with second ones, which one view reads. Raises BadUsage where they are missing
    or unused.

    Raises NothingToEvaluate where no judged item has a second judgment.
    """
    option = flag("--other-judgments")
    if options.view != "second":
        if second_judgments is not None:
            raise BadUsage(
                f"{option} has no effect without a measure of two judgments, such as uBpref; "
                "leave it out."
            )
        return judgments
    if second_judgments is None:
        raise BadUsage(f"uBpref reads two judgments of each item; name the second ones ({option}).")
    second = io.find_judgments(
        second_judgments, format=options.format, qrels_columns=options.columns
    )
    flat, second_flat = judgments.flat, second.table.flat
    second_pairs = set(zip(second_flat.row_queries, second_flat.items, strict=True))
    lacking = sum(
        pair not in second_pairs for pair in zip(flat.row_queries, flat.items, strict=True)
    )
    if lacking == len(flat.items):
        raise NothingToEvaluate(
            f"no judged item has a second judgment in {option}; are the ids of queries and "
            "items the same?"
        )
    notes = (
        [f"{lacking} of {len(flat.items)} judged items have no second judgment, which counts 0"]
        if lacking
        else []
    )
    return judgments._replace(
        table=JudgmentPair(flat, second_flat), notes=(*judgments.notes, *second.notes, *notes)
    )
