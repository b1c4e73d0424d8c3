"""The output of `study plan`: what more judgments would bring, in words and a table."""

from itertools import combinations

from rankwell.data.tables import figure
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.reporting import FOR_PEOPLE, Format, Output, Row
from rankwell.task import printed_rows
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.estimation import StudyEstimates, measure_label
from rankwell.tasks.study.folder import read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.looks import read_looks
from rankwell.tasks.study.options import PlanOptions
from rankwell.tasks.study.planning import (
    PlannedStep,
    StudyForecasts,
    judgments_needed,
    listed_steps,
)


def print_forecasts(folder: str, *, options: PlanOptions, format: Format = "table") -> Output:
    """The half-widths after more judgments for every pair of runs."""
    if not options.difference > 0:
        raise BadUsage(
            f"--difference is {options.difference:g}; expected a number above 0, such as 0.05."
        )
    study = read_study(folder)
    notes = study.refuse_changed_files()
    journals = read_journals(study)
    estimates = StudyEstimates(study, StudyAnswers.of(study, journals.lines), study.parsed_measure)
    looks = read_looks(study)
    level, rows, words = looks.corrected_level(study.n_pairs), list[Row](), list[str]()
    for earlier, later in combinations(study.run_names, 2):
        forecasts = StudyForecasts(estimates, (later, earlier))
        if not forecasts.more:
            continue
        pair = f"{later} and {earlier}"
        if forecasts.never_differ:
            words.append(f"{pair} never differ in the first {study.depth}; nothing to judge.")
        elif forecasts.is_flat:
            words.append(f"{pair}: no forecast, as every judged query has the same difference.")
        else:
            steps = listed_steps(forecasts)
            rows += [
                _row(
                    step,
                    (later, earlier),
                    level,
                    is_last=step is steps[-1],
                    plain=format == "table",
                )
                for step in steps
            ]
            words.append(_sentence(forecasts, options.difference, level))
    if not rows:
        raise NothingToEvaluate(
            f"{folder}: {' '.join(words) or 'everything is judged; nothing is left to plan.'}"
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
        f"{measure_label(study, study.parsed_measure)}; half-widths of {100 * level:.4g} % "
        f"intervals; {taken}"
    )
    tables = ["\n".join(words) + "\n", rows, f"{rule}\n"]
    printed = (*journals.notes, *notes)
    return Output(
        printed_rows(rows, format, tables=tables, notes=[rule, *notes]),
        printed if format in FOR_PEOPLE else (*printed, *words, rule),
    )


def _row(
    step: PlannedStep, pair: tuple[str, str], level: float, *, is_last: bool, plain: bool
) -> Row:
    exact = is_last and step.forecast.these_queries[0] == 0
    same, like = step.half_widths(level, exact=exact)
    names = {"run": pair[0], "against": pair[1], "more": step.more, "judged": step.judged}
    if plain:
        return {
            **names,
            "these queries": "exact" if exact else _range(same),
            "queries like these": _range(like),
        }
    ends = zip(
        ("these", "these_low", "these_high", "like", "like_low", "like_high"),
        (*same, *like),
        strict=True,
    )
    return {**names, **dict(ends)}


def _range(widths: tuple[float, float, float]) -> str:
    middle, low, high = (figure(width, "share") for width in widths)
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
