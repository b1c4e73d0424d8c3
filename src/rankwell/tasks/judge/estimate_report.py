"""Estimates in words and rows: which run is better, with which confidence, what leaves it open, and
the rule that verdicts follow.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Unit, format_value
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, typed
from rankwell.evaluation.judged import name_runs
from rankwell.io.result_folder import digest_of
from rankwell.reporting import FOR_PEOPLE, Format, Output, Row
from rankwell.stats.samples import FEWEST_QUERIES, SampleEstimate
from rankwell.store import Source, writing_to
from rankwell.store.locks import locked
from rankwell.task import printed_rows
from rankwell.tasks.judge.batches import Progress, progress
from rankwell.tasks.judge.estimation import StudyEstimate, StudyEstimates, chosen_measure
from rankwell.tasks.judge.folder import Study, read_study
from rankwell.tasks.judge.journal import StudyAnswers, read_journals, read_looks
from rankwell.tasks.judge.model_replies import model_grades
from rankwell.tasks.judge.options import EstimateOptions

Bounds = tuple[float, float] | None


class StudyVerdict(NamedTuple):
    """An estimate with its intervals at a level, and the verdict.

    estimate: the mean or the difference.
    these, like: the intervals for these queries and for queries like these, widened by the effect
        of unknown grades; None where there is none.
    level: level of the intervals.
    sign: 1 where the run is better, -1 where it is worse, 0 for no significant difference, None for
        no verdict.
    reason: the reason for no verdict; empty where there is one.
    """

    estimate: StudyEstimate
    these: Bounds
    like: Bounds
    level: float
    sign: int | None
    reason: str = ""

    @classmethod
    def of(cls, estimate: StudyEstimate, level: float, refusal: str = "") -> "StudyVerdict":
        """The verdict, that of queries like these. refusal: the reason why there must be none."""
        least, most, unknown = estimate.least, estimate.most, estimate.unknown
        depends = f"it depends on {count_of(unknown, 'judged item')} without a grade"
        if not math.isfinite(most.mean - least.mean):
            return cls(estimate, None, None, level, None, refusal or depends)
        these_bounds, like = (
            _hull(getattr(least, name)(level), getattr(most, name)(level))
            for name in ("these_queries", "queries_like_these")
        )
        low, high = (_sign(end.queries_like_these(level)) for end in (least, most))
        reason = refusal
        if not reason and like is None:
            reason = (
                f"fewer than {FEWEST_QUERIES} queries"
                if estimate.queries < FEWEST_QUERIES
                else "every query has the same value, which shows nothing of others"
            )
        elif not reason and low != high:
            reason = depends
        return cls(estimate, these_bounds, like, level, None if reason else low, reason)

    def row(self, measure: str) -> Row:
        """The row for programs."""
        estimate, better = self.estimate, None
        these_low, these_high = self.these or (None, None)
        like_low, like_high = self.like or (None, None)
        if estimate.against and self.sign is not None:
            better = ("neither", estimate.run, estimate.against)[self.sign]
        return {
            "run": estimate.run,
            "against": estimate.against or None,
            "measure": measure,
            "mean": estimate.with_predictions.mean,
            "these_low": these_low,
            "these_high": these_high,
            "like_low": like_low,
            "like_high": like_high,
            "level": self.level,
            "queries": estimate.queries,
            "judged": estimate.judged,
            "unknown": estimate.unknown,
            "better": better,
        }

    def shown(self, unit: Unit) -> Row:
        """The row for people."""
        estimate = self.estimate
        signed = bool(estimate.against)
        these_queries = shown_interval(self.these, unit, signed=signed)
        if estimate.with_predictions.is_exact and not estimate.unknown:
            these_queries = "exact"
        return {
            "run": estimate.run,
            **({"against": estimate.against} if signed else {}),
            "difference" if signed else "mean": format_value(
                estimate.with_predictions.mean, unit, signed=signed
            ),
            "these queries": these_queries,
            "queries like these": shown_interval(self.like, unit, signed=signed),
        }

    def sentence(self, measure: str) -> str:
        """The verdict in a sentence."""
        estimate, unit = self.estimate, "share"
        if self.sign is None:
            return (
                f"No verdict on {estimate.run} and {estimate.against} by {measure}: {self.reason}."
            )
        like, mean = self.like, estimate.with_predictions.mean
        better, worse = estimate.run, estimate.against
        if self.sign < 0:  # the better run comes first
            better, worse = worse, better
            like, mean = None if like is None else (-like[1], -like[0]), -mean
        size = (
            f"({format_value(mean, unit, signed=True)}, {100 * self.level:.4g} % interval "
            f"{shown_interval(like, unit, signed=True)})."
        )
        if self.sign == 0:
            return f"No significant difference between {better} and {worse} by {measure} {size}"
        return f"{better} is better than {worse} by {measure} {size}"


def _hull(least: Bounds, most: Bounds) -> Bounds:
    return None if least is None or most is None else (least[0], most[1])


def _sign(interval: Bounds) -> int:
    if interval is None:
        return 0
    return 1 if interval[0] > 0 else -1 if interval[1] < 0 else 0


def shown_interval(bounds: Bounds, unit: Unit, *, signed: bool = False) -> str:
    """An interval in a table or sentence."""
    if bounds is None:
        return "none"
    return f"[{', '.join(format_value(end, unit, signed=signed) for end in bounds)}]"


def print_estimates(
    folder: str, runs: Sequence[str] = (), *, options: EstimateOptions, format: Format = "table"
) -> Output:
    """The verdicts on pairs of runs, and the means that were asked for; a look is recorded."""
    study = read_study(folder)
    findings = study.refuse_changed_files()
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
        means = estimates.means() if (options.estimate or study.purpose) == "means" else []
        differences = estimates.differences()
    except NothingToEvaluate as error:
        raise NothingToEvaluate(
            " ".join([str(error), *(f"{finding}." for finding in journals.findings)])
        ) from error
    with writing_to(study.folder), locked(study.folder, wait=10):
        looks = read_looks(study)
        look = looks.take(list(estimates.data()))
    plan, label, refusal = study.plan, estimates.label, ""
    if look > plan.looks:
        refusal = f"{count_of(plan.looks, 'look')} had been planned, and this is number {look}"
    late = f"{count_of(looks.pairs, 'pair')} had been planned at the first look (--pairs-planned)"
    # Pairs of the runs that were added last are beyond the plan.
    pairs = [
        (later, earlier)
        for n, later in enumerate(study.run_names)
        for earlier in study.run_names[:n]
    ]
    of_means = [StudyVerdict.of(mean, plan.level, "a mean") for mean in means]
    verdicts = [
        StudyVerdict.of(
            difference,
            looks.corrected_level,
            refusal or late * (difference[:2] not in pairs[: looks.pairs]),
        )
        for difference in differences
    ]
    rule = (
        f"{_judging_rule(estimates, progress(study, journals.lines), options)}; {looks.words(look)}"
    )
    rule += f"; means have {100 * plan.level:g} % intervals" if means else ""
    rule += _sample_rules([*means, *differences]) + _model_rule(estimates)
    tables = [
        "\n".join(verdict.sentence(label) for verdict in verdicts) + "\n",
        *([row.shown(measure.entry.unit) for row in rows] for rows in (of_means, verdicts)),
        f"{rule}\n",
    ]
    rows = [verdict.row(label) for verdict in (*of_means, *verdicts)]
    findings = [*journals.findings, *findings]
    text = printed_rows(rows, format, tables=tables, rules={"rule": rule}, findings=findings)
    printed = [rule] * (format not in FOR_PEOPLE and format != "json")
    return Output.of(text, printed if format == "json" else [*printed, *findings])


def _run_names(study: Study, runs: Sequence[str]) -> tuple[str, ...]:
    """The names of the runs to estimate. Raises BadUsage for one that was not pooled, and for one
    run alone.
    """
    names, name_of = dict[str, None](), {run.digest: run.name for run in study.runs}
    for run in runs:
        name = run if run in study.run_names else None
        if name is None and (file := Source(run).file) is not None:
            name = name_of.get(digest_of(file))
        if name is None:
            adding = typed("rankwell", "judge", "pool", study.folder, "--add", run)
            raise BadUsage(
                f"{next(iter(name_runs([run])))} was not pooled, so that items only it returned "
                f"had no chance to be judged; add it with: {adding}"
            )
        names[name] = None
    if len(names) == 1:
        raise BadUsage("a difference needs two runs; name two, or none for all.")
    return tuple(names)


def _judging_rule(estimates: StudyEstimates, state: Progress, options: EstimateOptions) -> str:
    """The part of the rules about judging: what was judged by whom."""
    study, answers = estimates.study, estimates.answers
    by = ", ".join(answers.judges)
    by += f" (grade by {options.grade_by})" if len(answers.judges) > 1 else ""
    design = {
        "items": "sampled items",
        "queries": f"queries drawn over the pool of the first {study.depth}",
        "reading": "runs read down",
    }
    judged = f"{state.judged} of {count_of(state.items, 'item')}"
    if study.design == "reading":
        judged = count_of(state.judged, "item")
    if study.design == "items":
        finished = int((estimates.sampled & answers.answered).sum())
        by += f", {finished} of them in finished batches" if finished < state.judged else ""
    mixed = "; several guidelines" if len(answers.guidelines) > 1 else ""
    return f"{design[study.design]}, {judged} judged by {by}{mixed}"


def _sample_rules(estimates: Sequence[StudyEstimate]) -> str:
    """The parts of the rules about judged items without a grade, and about estimates without an
    interval for these queries, as no error of a prediction was seen.
    """
    rule, unknown = "", max(estimate.unknown for estimate in estimates)
    if unknown:
        items = count_of(unknown, "judged item has", "judged items have")
        rule = f"; {items} no grade, and the intervals cover every grade they may have"
    samples = [estimate.with_predictions for estimate in estimates]
    if any(
        isinstance(sample, SampleEstimate) and sample.sampling_variance == 0 and not sample.is_exact
        for sample in samples
    ):
        rule += (
            "; no judged item differs from its prediction, so that these queries have no interval"
        )
    return rule


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
