"""The output of `study estimate`: verdicts in words and tables, and the rule that they follow."""

from collections.abc import Sequence

import numpy as np

from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, typed
from rankwell.evaluation.judged import name_runs
from rankwell.io.result_folder import digest_of
from rankwell.reporting import FOR_PEOPLE, Format, Output
from rankwell.stats.difference_estimator import SampleEstimate
from rankwell.store import Source, writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
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
from rankwell.tasks.study.verdicts import StudyVerdict


def print_estimates(
    folder: str, runs: Sequence[str] = (), *, options: EstimateOptions, format: Format = "table"
) -> Output:
    """The verdicts on pairs of runs, and the means that were asked for; a look is recorded."""
    study = read_study(folder)
    notes = study.refuse_changed_files()
    names = _run_names(study, runs)
    measure = chosen_measure(study, options)
    journals = read_journals(study)
    answers = StudyAnswers.of(study, journals.lines, options.grade_by)
    if len(answers.guidelines) > 1 and not options.mix_guidelines:
        raise BadInput(
            f"{folder}: judgments under {len(answers.guidelines)} guidelines; judge again under "
            "the present one, or use them together with --mix-guidelines."
        )
    if options.model is not None and study.design == "reading":
        raise BadUsage(
            "--model has no effect on a study that is read down, which is exact; leave it out."
        )
    model = None if options.model is None else model_grades(study, options.model)
    estimates = StudyEstimates(study, answers, measure, names, model)
    try:
        means = estimates.means() if (options.purpose or study.purpose) == "means" else []
        differences = estimates.differences()
    except NothingToEvaluate as error:
        raise NothingToEvaluate(
            " ".join([str(error), *(f"{note}." for note in journals.notes)])
        ) from error
    with writing_to(study.place), locked(study.place, wait=10):
        looks = read_looks(study)
        look, is_planned = take_look(study, looks, list(estimates.data()), study.n_pairs)
    level, label = looks.corrected_level(study.n_pairs), measure_label(study, measure)
    late = _late_pairs(estimates, looks.pairs or study.n_pairs)
    refusal = (
        ""
        if is_planned
        else f"{count_of(looks.planned, 'look')} had been planned, and this is number {look.look}"
    )
    of_means = [StudyVerdict.of(mean, looks.level, "a mean") for mean in means]
    verdicts = [
        StudyVerdict.of(pair, level, refusal or late.get((pair.run, pair.against), ""))
        for pair in differences
    ]
    rule = _rules(estimates, progress(study, journals.lines), options, look, looks)
    rule += f"; means have {100 * looks.level:g} % intervals" if means else ""
    rule += _unknown_rule([*means, *differences]) + _error_rule([*means, *differences])
    rule += _model_rule(estimates)
    tables = [
        "\n".join(verdict.sentence(label) for verdict in verdicts) + "\n",
        *([row.shown(measure.entry.unit) for row in rows] for rows in (of_means, verdicts)),
        f"{rule}\n",
    ]
    rows = [verdict.row(label) for verdict in (*of_means, *verdicts)]
    return Output(
        printed_rows(rows, format, tables=tables, notes=[rule, *notes]),
        (*journals.notes, *notes) if format in FOR_PEOPLE else (*notes, rule),
    )


def _run_names(study: Study, runs: Sequence[str]) -> tuple[str, ...]:
    """The names of the runs to estimate. Raises BadUsage for one that was not pooled, and for one
    run alone.
    """
    names, name_of = list[str](), {run.digest: run.name for run in study.runs}
    for run in runs:
        name = run if run in study.run_names else None
        if name is None:
            file = Source(run).file
            name = None if file is None else name_of.get(digest_of(file))
        if name is None:
            adding = typed("rankwell", "study", "pool", study.place, "--add", run)
            raise BadUsage(
                f"{next(iter(name_runs([run])))} was not pooled, so that items only it returned "
                f"had no chance to be judged; add it with: {adding}"
            )
        names.append(name)
    if len(set(names)) == 1:
        raise BadUsage("a difference needs two runs; name two, or none for all.")
    return tuple(dict.fromkeys(names))


def _late_pairs(estimates: StudyEstimates, planned: int) -> dict[tuple[str, str], str]:
    """The pairs beyond the planned ones, those of the runs added last, with the reason why they
    have no verdict.
    """
    names = estimates.study.run_names
    pairs = [(later, earlier) for later in range(len(names)) for earlier in range(later)]
    reason = f"{count_of(planned, 'pair')} had been planned at the first look (--pairs-planned)"
    return {(names[later], names[earlier]): reason for later, earlier in pairs[planned:]}


def _rules(
    estimates: StudyEstimates, state: Progress, options: EstimateOptions, look: Look, looks: Looks
) -> str:
    """The line of rules: what was judged by whom, and what the intervals are corrected for."""
    study, answers = estimates.study, estimates.answers
    by = ", ".join(answers.judges)
    by += f" (grade by {options.grade_by})" if len(answers.judges) > 1 else ""
    design = {
        "items": "sampled items",
        "queries": f"queries drawn over the pool of the first {study.depth}",
        "reading": "runs read down",
    }
    judged = (
        f"{state.judged} of {count_of(state.items, 'item')}"
        if study.design != "reading"
        else count_of(state.judged, "item")
    )
    if study.design == "items":
        finished = int((estimates.sampled & answers.answered).sum())
        by += f", {finished} of them in finished batches" if finished < state.judged else ""
    mixed = "; several guidelines" if len(answers.guidelines) > 1 else ""
    corrected = looks.words(look.look, study.n_pairs)
    return f"{design[study.design]}, {judged} judged by {by}{mixed}; {corrected}"


def _unknown_rule(estimates: Sequence[StudyEstimate]) -> str:
    """The part of the rules about judged items without a grade, where an estimate has any."""
    unknown = max(estimate.unknown for estimate in estimates)
    items = count_of(unknown, "judged item has", "judged items have")
    return (
        f"; {items} no grade, and the intervals cover every grade they may have" if unknown else ""
    )


def _error_rule(estimates: Sequence[StudyEstimate]) -> str:
    """The part of the rules about estimates without an interval for these queries, as no error of a
    prediction was seen.
    """
    is_unknown = any(
        isinstance(estimate.middle, SampleEstimate)
        and estimate.middle.sampling_variance == 0
        and not estimate.middle.is_exact
        for estimate in estimates
    )
    return (
        "; no judged item differs from its prediction, so that these queries have no interval"
        if is_unknown
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
