"""The notes on a run under judgments that every command gives: probable mistakes, and the bounds of
unjudged items.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankwell.conventions import LabelledMeasure
from rankwell.core.tables import Judgments
from rankwell.evaluation.judged import RunInput, is_suspicious
from rankwell.store import Source

if TYPE_CHECKING:
    from rankwell.evaluation.notations import Gauge


def lowest_relevant(measures: Iterable[LabelledMeasure]) -> float:
    """The lowest grade that counts as relevant under some measure."""
    return min(
        (labelled_measure.measure.parameters.get("rel") or 1 for labelled_measure in measures),
        default=1,
    )


def mistake_notes(
    run: RunInput,
    judgments: Judgments,
    source: Source | None = None,
    *,
    rel: float,
    ties: str,
    queries: str,
    gauge: "Gauge | None" = None,
) -> list[str]:
    """The probable mistakes in judgments and in a run, in sentences; the rare ones are looked for
    where there is a sign of one.

    judgments: with one row per query and item. source: the file of the run, where there is one.
    rel: of `lowest_relevant`. gauge: the figure that ids in two notations change.
    """
    if not is_suspicious(judgments, run, rel=rel, lines=source if run.format == "trec" else None):
        return []
    # It is loaded where something looks wrong.
    from rankwell.evaluation.mistakes import judgment_mistakes, run_mistakes

    of_run = run_mistakes(run, judgments, rel=rel, ties=ties, queries=queries, gauge=gauge)
    return [mistake.sentence for mistake in (*judgment_mistakes(judgments, rel), *of_run)]
