"""Show how far judges agree: with each other, with themselves, with known grades, and along a
session.
"""

import sys
from collections.abc import Iterator, Sequence

from rankwell import report
from rankwell.core.options import ColumnChoice, JudgmentColumns
from rankwell.core.tables import figure
from rankwell.core.tables.columns import refuse_unused_columns
from rankwell.errors import BadInput, NothingToEvaluate, flag, shown
from rankwell.io.files import find_judgments
from rankwell.report.options import FormatOption, InputOption, InputPlace, Output
from rankwell.stats import check_level
from rankwell.tasks.study.agreement import (
    InclusionWeights,
    JudgeComparison,
    KnownGrades,
    compare_raters,
    drift_rows,
    rated_items,
    shown_interval,
)
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import read_journals


def agreement(
    study: InputPlace,
    /,
    *,
    gold: InputOption = None,
    qrels_columns: JudgmentColumns = None,
    level: float = 0.95,
    format: FormatOption = "table",
) -> Output:
    """Show how far judges agree: with each other, with themselves, with known grades, and along a
    session.

    Figures are weighted by 1/π, so that they are those of the whole pool; beside them are those of
    the judged sample. Intervals draw queries with replacement.

    Parameters
    ----------
    study
        Folder of the study.
    gold
        Judgments with known grades; each judge is compared with them.
    level
        Level of the intervals.
    """
    check_level(level)
    found = read_study(study)
    journals = read_journals(found)
    if not any(line.grade is not None for line in journals.lines):
        raise NothingToEvaluate(
            f"{study}: no item is judged; judge some with `rankwell study judge`."
        )
    if gold is None:
        refuse_unused_columns(qrels_columns, "judgments", flag("--gold"))
    known, of_gold = (None, ()) if gold is None else _known_grades(gold, qrels_columns, found)
    weights = InclusionWeights.of(found, journals.lines)
    scale = list(found.grades)
    rated = [each for each in rated_items(journals.lines, known) if each.grades]
    compared = [
        compare_raters(each, scale, weights.weights, level=level, seed=found.seed) for each in rated
    ]
    compared = [each for each in compared if each.items]
    drift = list(drift_rows(found, journals.lines, weights.expected, level=level))
    notes = [*journals.notes, *of_gold, *_notes(found, compared, level)]
    if format not in ("table", "md", "latex"):
        rows = [row for each in compared for row in each.rows(scale)] + drift
        return Output(text=report.render_rows(rows, format, notes=notes), notes=tuple(notes))
    terminal = report.terminal_of(sys.stdout)
    coefficients = [
        row for each in compared for row in each.shown(level, weighted=found.design == "items")
    ]
    confusions = [
        each.shown_confusion(found.grades) for each in compared if len(each.rated.raters) == 2
    ]
    tables = [table for table in (coefficients, *confusions, *_drifts(drift, level)) if table]
    return Output(
        text="\n".join(report.render_rows(rows, format, terminal=terminal) for rows in tables),
        notes=tuple(notes),
    )


def _known_grades(
    gold: str, columns: ColumnChoice | None, study: Study
) -> tuple[KnownGrades, tuple[str, ...]]:
    """The known grades, and the notes of their reader. Raises BadInput for one outside the scale of
    the study.
    """
    judgments = find_judgments(gold, qrels_columns=columns)
    known = judgments.table.to_dict()
    for query, own in known.items():
        for item, grade in own.items():
            if grade not in study.grades:
                listed = ", ".join(f"{each:g}" for each in study.grades)
                what = f"{gold}: item {shown(item)} of query {shown(query)} has the grade {grade:g}"
                raise BadInput(f"{what}; the scale of the study is {listed}.")
    return known, judgments.notes


def _notes(study: Study, compared: Sequence[JudgeComparison], level: float) -> Iterator[str]:
    """Notes on missing comparisons, and on the weights."""
    if not compared:
        yield "there is no item that two judges graded, or one judge twice"
        return
    unit = (
        "1/π, for all items that decide"
        if study.design == "items"
        else "1, because judged items are not a sample of others"
    )
    yield (
        f"each item weighs {unit}; {100 * level:g} % intervals over queries, none below 10 queries"
    )


def _drifts(drift: Sequence[report.Row], level: float) -> Iterator[list[report.Row]]:
    """The tables of drift: the change of the grade, and the quarters of the places."""
    yield [
        {
            "judge": row["judge"],
            "drift": row["name"],
            "value": report.PrintedFigure(figure(row["value"], "score", signed=True)),
            f"{100 * level:g} % interval": shown_interval(
                (row["low"], row["high"]) if row["low"] is not None else None, signed=True
            ),
            "items": row["items"],
        }
        for row in drift
        if row["kind"] == "drift"
    ]
    yield [
        {
            "judge": row["judge"],
            "session": row["name"],
            "mean grade": report.PrintedFigure(figure(row["value"], "score")),
            "less others'": report.PrintedFigure(figure(row["above_others"], "score", signed=True)),
            "median seconds": report.PrintedFigure(figure(row["seconds"], "seconds")),
            "items": row["items"],
        }
        for row in drift
        if row["kind"] == "quarter"
    ]
