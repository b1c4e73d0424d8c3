"""Estimate which run of a study is better, with intervals for these queries and for queries like
these.
"""

import sys
from collections.abc import Sequence

import numpy as np

from rankwell import report
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, typed
from rankwell.evaluation.judged import name_runs
from rankwell.io.result_folder import digest_of
from rankwell.locks import locked
from rankwell.report.options import FormatOption, InputPlace, Output
from rankwell.stats.difference_estimator import SampleEstimate
from rankwell.store import Source, writing_to
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.batches import Progress, progress
from rankwell.tasks.study.estimation import (
    StudyEstimate,
    StudyEstimates,
    chosen_measure,
    measure_label,
)
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.looks import Look, Looks, read_looks, take_look
from rankwell.tasks.study.model_replies import model_grades
from rankwell.tasks.study.options import EstimateOptions
from rankwell.tasks.study.verdicts import StudyVerdict, sentences


def estimate(
    study: InputPlace,
    /,
    *runs: InputPlace,
    options: EstimateOptions,
    format: FormatOption = "table",
) -> Output:
    """Estimate which run of a study is better, with intervals for these queries and for queries
    like these.

    The verdict is that of queries like these. Every estimate after new judgments is a look;
    intervals and verdicts are corrected for the looks and pairs that were planned. The same data
    again is the same look.

    Parameters
    ----------
    study
        Folder of the study.
    runs
        Names or files of pooled runs; by default all of them.
    """
    found = read_study(study)
    notes = found.refuse_changed_files()
    chosen = _chosen(found, runs)
    measure = chosen_measure(found, options)
    journals = read_journals(found)
    answers = StudyAnswers.of(found, journals.lines, options.grade_by)
    if len(answers.guidelines) > 1 and not options.mix_guidelines:
        what = f"{study}: judgments under {len(answers.guidelines)} guidelines"
        raise BadInput(
            f"{what}; judge again under the present one, or use them together with "
            "--mix-guidelines."
        )
    if options.model is not None and found.design == "reading":
        raise BadUsage(
            "--model has no effect on a study that is read down, which is exact; leave it out."
        )
    model = None if options.model is None else model_grades(found, options.model)
    estimates = StudyEstimates(found, answers, measure, chosen, model)
    try:
        means = estimates.means() if (options.purpose or found.purpose) == "means" else []
        differences = estimates.differences()
    except NothingToEvaluate as error:
        raise NothingToEvaluate(
            " ".join([str(error), *(f"{note}." for note in journals.notes)])
        ) from error
    with writing_to(found.place), locked(found.place, wait=10):
        looks = read_looks(found)
        pairs = len(found.runs) * (len(found.runs) - 1) // 2
        look, is_planned = take_look(found, looks, list(estimates.data()), pairs)
    level = looks.corrected_level(pairs)
    late = _late_pairs(estimates, looks.pairs or pairs)
    beyond = (
        ""
        if is_planned
        else f"{count_of(looks.planned, 'look')} had been planned, and this is number {look.look}"
    )
    verdicts = [
        StudyVerdict.of(each, level, beyond or late.get((each.run, each.against), ""))
        for each in differences
    ]
    label = measure_label(found, measure)
    levels = [StudyVerdict.of(each, looks.level, "a mean") for each in means]
    rules = _rules(estimates, progress(found, journals.lines), options, (look, looks, pairs))
    rules += f"; means have {100 * looks.level:g} % intervals" if means else ""
    rules += (
        _unknown_rule([*means, *differences])
        + _error_rule([*means, *differences])
        + _model_rule(estimates)
    )
    if format not in ("table", "md", "latex"):
        rows = [each.row(label) for each in (*levels, *verdicts)]
        return Output(
            text=report.render_rows(rows, format, notes=[rules, *notes]), notes=(*notes, rules)
        )
    terminal = report.terminal_of(sys.stdout)
    tables = [
        [each.shown(measure.entry.unit) for each in group] for group in (levels, verdicts) if group
    ]
    parts = [report.prose("\n".join(sentences(verdicts, label)) + "\n")]
    parts += [report.render_rows(rows, format, terminal=terminal) for rows in tables]
    return Output(
        text="\n".join(parts) + report.prose(f"\n{rules}\n"), notes=(*journals.notes, *notes)
    )


def _chosen(study: Study, runs: Sequence[str]) -> tuple[str, ...]:
    """The names of the runs to estimate. Raises BadUsage for one that was not pooled, and for one
    run alone.
    """
    found, known = list[str](), {run.digest: run.name for run in study.runs}
    for run in runs:
        name = run if run in study.run_names else None
        if name is None:
            file = Source(run).file
            name = None if file is None else known.get(digest_of(file))
        if name is None:
            what = (
                f"{next(iter(name_runs([run])))} was not pooled, so that items only it returned "
                "had no chance to be judged"
            )
            raise BadUsage(
                f"{what}; add it with: "
                f"{typed('rankwell', 'study', 'pool', study.place, '--add', run)}"
            )
        found.append(name)
    chosen = tuple(dict.fromkeys(found))
    if len(chosen) == 1:
        raise BadUsage("a difference needs two runs; name two, or none for all.")
    return chosen


def _late_pairs(estimates: StudyEstimates, planned: int) -> dict[tuple[str, str], str]:
    """The pairs beyond the planned ones, those of the runs added last, with the reason why they
    have no verdict.
    """
    names = estimates.study.run_names
    every = [(later, earlier) for later in range(len(names)) for earlier in range(later)]
    reason = f"{count_of(planned, 'pair')} had been planned at the first look (--pairs-planned)"
    return {(names[later], names[earlier]): reason for later, earlier in every[planned:]}


def _rules(
    estimates: StudyEstimates,
    state: Progress,
    options: EstimateOptions,
    plan: tuple[Look, Looks, int],
) -> str:
    """The line of rules: what was judged by whom, and what the intervals are corrected for."""
    study, answers, (look, looks, pairs) = estimates.study, estimates.answers, plan
    judges = ", ".join(answers.judges)
    by = f"{judges} (grade by {options.grade_by})" if len(answers.judges) > 1 else judges
    of = {
        "items": "sampled items",
        "queries": f"queries drawn over the pool of the first {study.depth}",
        "reading": "runs read down",
    }
    judged = (
        f"{state.judged} of {count_of(state.items, 'item')}"
        if study.design != "reading"
        else count_of(state.judged, "item")
    )
    used = (
        int((estimates.sampled & answers.answered).sum())
        if study.design == "items"
        else state.judged
    )
    by += f", {used} of them in finished batches" if used < state.judged else ""
    mixed = "; several guidelines" if len(answers.guidelines) > 1 else ""
    return f"{of[study.design]}, {judged} judged by {by}{mixed}; {looks.words(look.look, pairs)}"


def _unknown_rule(found: Sequence[StudyEstimate]) -> str:
    """The part of the rules about judged items without a grade, where an estimate has any."""
    unknown = max(each.unknown for each in found)
    items = count_of(unknown, "judged item has", "judged items have")
    return (
        f"; {items} no grade, and the intervals cover every grade they may have" if unknown else ""
    )


def _error_rule(found: Sequence[StudyEstimate]) -> str:
    """The part of the rules about estimates without an interval for these queries, as no error of a
    prediction was seen.
    """
    some = [each.middle for each in found if isinstance(each.middle, SampleEstimate)]
    unknown = any(each.sampling_variance == 0 and not each.is_exact for each in some)
    return (
        "; no judged item differs from its prediction, so that these queries have no interval"
        if unknown
        else ""
    )


def _model_rule(estimates: StudyEstimates) -> str:
    """The part of the rules about the model: which grades are used, and how."""
    model = estimates.model
    if model is None:
        return ""
    name = f"model {model.model}" + (f" ({model.prompt[:15]})" if model.prompt else "")
    if estimates.study.design == "items":
        return f"; {name} predicts {count_of(int((~np.isnan(model.grade)).sum()), 'item')}"
    if estimates.without_model:
        return f"; {name} is not used: {estimates.without_model}"
    return (
        f"; {name} predicts {len(estimates.model_values) - len(estimates.drawn)} further queries "
        "(PPI++)"
    )
