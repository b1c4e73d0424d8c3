"""The output of `study agreement`: coefficients, confusions and drifts, with their notes."""

from collections.abc import Iterator, Sequence

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.options import ColumnChoice
from rankwell.data.tables import figure
from rankwell.errors import BadInput, NothingToEvaluate, flag, shown
from rankwell.io.formats import find_judgments
from rankwell.reporting import Format, Output, PrintedFigure, Row
from rankwell.task import printed_rows
from rankwell.tasks.study.agreement import (
    InclusionWeights,
    JudgeComparison,
    KnownGrades,
    compare_raters,
    drift_rows,
    rated_items,
)
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.options import AgreementOptions
from rankwell.tasks.study.verdicts import shown_interval


def print_agreement(folder: str, *, options: AgreementOptions, format: Format = "table") -> Output:
    """The agreement of all judges of a study."""
    study, level = read_study(folder), options.level
    journals = read_journals(study)
    if not any(line.grade is not None for line in journals.lines):
        raise NothingToEvaluate(
            f"{folder}: no item is judged; judge some with `rankwell study judge`."
        )
    known_grades, of_gold = None, ()
    if options.gold is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--gold"))
    else:
        known_grades, of_gold = _known_grades(options.gold, options.qrels_columns, study)
    weights = InclusionWeights.of(study, journals.lines)
    scale = list(study.grades)
    compared = [
        compare_raters(rated, scale, weights.weights, level=level, seed=study.seed)
        for rated in rated_items(journals.lines, known_grades)
        if rated.grades
    ]
    compared = [comparison for comparison in compared if comparison.items]
    drift = list(drift_rows(study, journals.lines, weights.expected, level=level))
    notes = (*journals.notes, *of_gold, *_notes(study, compared, level))
    coefficients = [
        row
        for comparison in compared
        for row in comparison.shown(level, weighted=study.design == "items")
    ]
    confusions = [
        comparison.shown_confusion(study.grades)
        for comparison in compared
        if len(comparison.rated.raters) == 2
    ]
    rows = [row for comparison in compared for row in comparison.rows(scale)] + drift
    tables = [coefficients, *confusions, *_drifts(drift, level)]
    return Output(printed_rows(rows, format, tables=tables, notes=notes), notes)


def _known_grades(
    gold: str, columns: ColumnChoice | None, study: Study
) -> tuple[KnownGrades, tuple[str, ...]]:
    """The known grades, and the notes of their reader. Raises BadInput for one outside the scale of
    the study.
    """
    judgments = find_judgments(gold, qrels_columns=columns)
    grades_of = judgments.table.to_dict()
    for query, grades in grades_of.items():
        for item, grade in grades.items():
            if grade not in study.grades:
                scale = ", ".join(f"{number:g}" for number in study.grades)
                problem = (
                    f"{gold}: item {shown(item)} of query {shown(query)} has the grade {grade:g}"
                )
                raise BadInput(f"{problem}; the scale of the study is {scale}.")
    return grades_of, judgments.notes


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


def _drifts(drift: Sequence[Row], level: float) -> Iterator[list[Row]]:
    """The tables of drift: the change of the grade, and the quarters of the places."""

    def _figure(row: Row, name: str, unit: str = "score", *, signed: bool = False) -> PrintedFigure:
        return PrintedFigure(figure(row[name], unit, signed=signed))

    yield [
        {
            "judge": row["judge"],
            "drift": row["name"],
            "value": _figure(row, "value", signed=True),
            f"{100 * level:g} % interval": shown_interval(
                None if row["low"] is None else (row["low"], row["high"]), "score", signed=True
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
            "mean grade": _figure(row, "value"),
            "less others'": _figure(row, "above_others", signed=True),
            "median seconds": _figure(row, "seconds", "seconds"),
            "items": row["items"],
        }
        for row in drift
        if row["kind"] == "quarter"
    ]
