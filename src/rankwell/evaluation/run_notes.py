"""The notes on a run under judgments that every command gives: probable mistakes, and the bounds of unjudged items."""

from collections.abc import Iterable

from rankwell.conventions import LabelledMeasure
from rankwell.core.tables import Judgments
from rankwell.evaluation.judged import RunPlace, is_suspicious
from rankwell.store import Source


def lowest_relevant(measures: Iterable[LabelledMeasure]) -> float:
    """The lowest grade that counts as relevant under some measure."""
    return min((each.measure.parameters.get("rel") or 1 for each in measures), default=1)


def mistake_notes(
    run: RunPlace, judgments: Judgments, source: Source | None = None, *, rel: float, ties: str, queries: str
) -> list[str]:
    """The probable mistakes in judgments and in a run, in sentences; the rare ones are looked for where there is a sign of one.

    judgments: with one row per query and item. source: the file of the run, where there is one. rel: of `lowest_relevant`.
    """
    if not is_suspicious(judgments, run.hits, rel=rel, lines=source if run.form == "trec" else None):
        return []
    # It is loaded where something looks wrong.
    from rankwell.evaluation.mistakes import judgment_mistakes, run_mistakes

    found = [*judgment_mistakes(judgments, rel), *run_mistakes(run, judgments, rel=rel, ties=ties, queries=queries)]
    return [each.sentence for each in found]
