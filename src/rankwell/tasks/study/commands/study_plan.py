"""Forecast what more judgments would bring: the width of both intervals, and the number that finds
a difference.
"""

import sys
from itertools import combinations

from rankwell import report
from rankwell.core.tables import figure
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.report.options import FormatOption, InputPlace, Output
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates, measure_label
from rankwell.tasks.study.folder import read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.looks import read_looks
from rankwell.tasks.study.planning import (
    PlannedStep,
    StudyForecasts,
    judgments_needed,
    listed_steps,
)


def plan(
    study: InputPlace, /, *, difference: float = 0.05, format: FormatOption = "table"
) -> Output:
    """Forecast what more judgments would bring: the width of both intervals, and the number that
    finds a difference.

    It shows neither a difference nor its sign, so that it is not a look. Half-widths have the level
    that looks and pairs leave; after each is the range between its 5th and 95th percentile, given
    the judgments so far.

    Parameters
    ----------
    study
        Folder of the study.
    difference
        Size of the difference to find with 80 % power.
    """
    if not difference > 0:
        raise BadUsage(f"--difference is {difference:g}; expected a number above 0, such as 0.05.")
    found = read_study(study)
    notes = found.refuse_changed_files()
    journals = read_journals(found)
    estimates = StudyEstimates(found, StudyAnswers.of(found, journals.lines), found.parsed_measure)
    looks = read_looks(found)
    n_pairs = len(found.runs) * (len(found.runs) - 1) // 2
    level, rows, words = looks.corrected_level(n_pairs), list[report.Row](), list[str]()
    for earlier, later in combinations(found.run_names, 2):
        forecasts = StudyForecasts(estimates, (later, earlier))
        if not forecasts.more:
            continue
        if forecasts.never_differ:
            words.append(
                f"{later} and {earlier} never differ in the first {found.depth}; nothing to judge."
            )
            continue
        if forecasts.is_flat:
            words.append(
                f"{later} and {earlier}: no forecast, as every judged query has the same "
                "difference."
            )
            continue
        steps = listed_steps(forecasts)
        rows += [
            _row(step, (later, earlier), level, is_last=step is steps[-1], plain=format == "table")
            for step in steps
        ]
        words.append(_sentence(forecasts, difference, level))
    if not rows:
        raise NothingToEvaluate(
            f"{study}: {' '.join(words) or 'everything is judged; nothing is left to plan.'}"
        )
    n = len(looks.looks)
    planned = count_of(looks.planned, "look")
    taken = (
        f"{n} of {planned} taken"
        if n <= looks.planned
        else f"{count_of(n, 'look')} taken, {looks.planned} planned"
    )
    taken += "" if n < looks.planned else ": an estimate from more judgments has no verdict"
    rule = (
        f"{measure_label(found, found.parsed_measure)}; half-widths of {100 * level:.4g} % "
        f"intervals; {taken}"
    )
    if format not in ("table", "md", "latex"):
        return Output(
            text=report.render_rows(rows, format, notes=[rule, *notes]),
            notes=(*journals.notes, *notes, *words, rule),
        )
    text = report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout))
    return Output(
        text=report.prose("\n".join(words) + "\n") + "\n" + text + report.prose(f"\n{rule}\n"),
        notes=(*journals.notes, *notes),
    )


def _row(
    step: PlannedStep, pair: tuple[str, str], level: float, *, is_last: bool, plain: bool
) -> report.Row:
    exact = is_last and step.forecast.these_queries[0] == 0
    these, like = step.half_widths(level, exact=exact)
    names = {"run": pair[0], "against": pair[1], "more": step.more, "judged": step.judged}
    if plain:
        return {
            **names,
            "these queries": "exact" if exact else _range(these),
            "queries like these": _range(like),
        }
    ends = zip(
        ("these", "these_low", "these_high", "like", "like_low", "like_high"),
        (*these, *like),
        strict=True,
    )
    return {**names, **dict(ends)}


def _range(found: tuple[float, float, float]) -> str:
    middle, low, high = (figure(each, "share") for each in found)
    return f"± {middle} ({low} to {high})"


def _sentence(forecasts: StudyForecasts, difference: float, level: float) -> str:
    """The number of judgments for 80 % power, or what is the limit."""
    middle, low, high = judgments_needed(forecasts, difference, level)
    last = forecasts.step(len(forecasts.more) - 1).half_widths(level, exact=False)[1][0]
    size, names = f"a difference of {difference:g} with 80 % power", " and ".join(forecasts.pair)
    if middle is None:
        return (
            f"{names}: judging everything leaves ± {figure(last, 'share')} for queries like "
            f"these; for {size}, add queries."
        )
    ends = (
        f"{low if low is not None else 'more than all'} to "
        f"{high if high is not None else 'more than all'}"
    )
    return f"{names}: {size} takes about {middle} more judgments ({ends})."
