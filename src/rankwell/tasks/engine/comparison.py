"""The settings of an engine side by side: their costs, the cheapest that reaches a recall, the set
of the best, the cross-validated gain of the best, a row for each, and what a person reads first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.fusion.runs import draw_folds
from rankwell.conventions import LabelledMeasure
from rankwell.data.findings import Finding
from rankwell.data.frames import Heading
from rankwell.data.registry import FIGURES
from rankwell.data.tables import Floats, Values, exact_mean, format_value
from rankwell.engines import IndexReport
from rankwell.errors import count_of
from rankwell.reporting import Answer, PrintedFigure
from rankwell.reporting.outputs.answers import score_answer, score_digits
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_tests import set_of_best
from rankwell.stats.percentiles import percentiles
from rankwell.stats.settings import ERROR, exceeds_p, interval, lower_bound, selection_gain
from rankwell.stats.system_comparisons import fixed_sequence, holm
from rankwell.tasks.engine.findings import (
    engine_overloaded,
    few_requests,
    machine_busy,
    rounds_interrupted,
)
from rankwell.tasks.engine.loops import BatchReport, SentRequest
from rankwell.tasks.engine.measuring import AskedSetting, Measurement

_SHARES = {"p50": (0.5, 10, 10), "p95": (0.95, 80, 40), "p99": (0.99, 400, 200)}
"""Percentile -> its share, and the least numbers of requests and of different queries that it
needs.
"""
COSTS = (
    "p50",
    "p95",
    "p99",
    "first p50",
    "first request",
    "encoding",
    "throughput",
    "processor",
    "build",
    "size",
)
"""All costs, in the order of tables."""
_BUSY = 0.2
_LATE, _LATE_SHARE = 0.005, 0.01
"""Seconds, and share of the time of a round, by which requests may take longer at its end than at
its beginning.
"""
_LEAST_PROCESSOR, _LEAST_ELAPSED = 1.0, 0.5


class CostFigure(NamedTuple):
    """The figure of a cost.

    value: the figure; None where it is unknown.
    n: number of requests behind it.
    unit: unit of the value and the interval.
    low, high: ends of the interval; None where there is none.
    """

    value: float | None
    n: int
    unit: str = "ms"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class SettingCosts:
    """The costs of a setting.

    by_name: name of a cost -> its figure, for those of `COSTS` that apply.
    findings: findings on missing costs.
    busy_processors: number of processors that other processes used meanwhile; None where it is too
        small to matter, or unknown.
    """

    by_name: Mapping[str, CostFigure]
    findings: Sequence[Finding] = ()
    busy_processors: float | None = None

    def value(self, cost: str) -> float | None:
        """The value of a cost; None where it is not known."""
        return self.by_name[cost].value if cost in self.by_name else None


def costs_of(asked: AskedSetting) -> SettingCosts:
    """The costs of a setting."""
    measured = asked.measured
    rounds, findings, figures = measured.rounds[1:], list[Finding](), dict[str, CostFigure]()
    if measured.is_open_loop and any(is_overloaded(batch.requests) for batch in asked.batches()):
        rate = measured.options.rate or 0.0
        findings.append(engine_overloaded(asked.name, rate))
    else:
        figures |= _times(asked, rounds)
    if measured.options.encoder is not None:
        figures["encoding"] = _median(asked, rounds or None, encoding=True)
    batches = [batch for batch in asked.batches(rounds) if batch.calls == 1]
    if interrupted := len(rounds) - len(batches):
        findings.append(rounds_interrupted(asked.name, interrupted, len(rounds)))
    rate = throughput(batch.requests for batch in batches)
    if not measured.is_open_loop and rate.value is not None:
        figures["throughput"] = rate
    reports = [report for batch in batches for report in batch.reports]
    seconds = sum(report.client + (report.server or 0.0) for report in reports)
    if seconds >= _LEAST_PROCESSOR and rate.n and measured.traits.is_server_known:
        figures["processor"] = processor_time(seconds, rate.n)
    build = measured.traits.indexes[asked.setting.build]
    if build is not None:
        figures |= index_costs(build)
    share = _busy_share(measured, asked.reports(rounds))
    return SettingCosts(figures, findings, share if share is not None and share > _BUSY else None)


def throughput(rounds: Iterable[Sequence[SentRequest]]) -> CostFigure:
    """Answers per second, each round from its first request to its last answer; unknown where
    nothing was answered.
    """
    wall, answers = 0.0, 0
    for requests in rounds:
        answered = [request for request in requests if request.status == "ok"]
        if answered:
            wall += max(request.done for request in answered) - min(
                request.sent for request in answered
            )
        answers += len(answered)
    return CostFigure(answers / wall if wall else None, answers, "queries/s")


def processor_time(seconds: float, answers: int) -> CostFigure:
    """Milliseconds per answer. seconds: processor time of all clients, and of the server."""
    return CostFigure(1000 * seconds / answers, answers)


def index_costs(index: IndexReport) -> dict[str, CostFigure]:
    """The costs `build` and `size` of an index."""
    megabytes = None if index.bytes is None else index.bytes / 1e6
    return {"build": CostFigure(index.seconds, 1, "s"), "size": CostFigure(megabytes, 1, "MB")}


def first_request(seconds: Sequence[float]) -> CostFigure:
    """The longest of the times that the first requests of sessions took, in milliseconds."""
    return CostFigure(1000 * max(seconds), len(seconds))


def _busy_share(measured: Measurement, reports: Sequence[BatchReport]) -> float | None:
    """Processors that other processes used during some batches; None where unknown, and for less
    than half a second.
    """
    elapsed = sum(report.elapsed for report in reports)
    seconds = [report.other_processes for report in reports]
    if not measured.traits.is_server_known or None in seconds or elapsed < _LEAST_ELAPSED:
        return None
    return sum(filter(None, seconds)) / elapsed


def _times(asked: AskedSetting, rounds: range) -> Iterator[tuple[str, CostFigure]]:
    if rounds:
        times = asked.times(rounds)
        queries = int((~np.isnan(times)).any(axis=0).sum())
        shares = [share for share, _, _ in _SHARES.values()]
        for (name, (_, least, different)), cost in zip(
            _SHARES.items(), _percentiles(asked, times, shares), strict=True
        ):
            is_known = cost.n >= least and queries >= different
            yield name, cost if is_known else CostFigure(None, cost.n)
    yield "first p50", _median(asked, asked.measured.rounds[:1])
    opened = [seconds for report in asked.reports() for seconds in report.first]
    if opened:
        yield "first request", first_request(opened)


def _median(asked: AskedSetting, rounds: range | None, *, encoding: bool = False) -> CostFigure:
    return _percentiles(asked, asked.times(rounds, encoding=encoding), [0.5])[0]


def _percentiles(asked: AskedSetting, times: Floats, shares: Sequence[float]) -> list[CostFigure]:
    """Percentiles of seconds, in milliseconds."""
    seed = asked.measured.options.seed
    return [
        CostFigure(percentile.value, percentile.n, "ms", *(percentile.interval or (None, None)))
        for percentile in percentiles(1000 * times, shares, seed=seed)
    ]


def is_overloaded(requests: list[SentRequest]) -> bool:
    """Whether the queue of an open loop grew: all of its last quarter waited longer than the median
    of its first.

    Above capacity by a share s, waits grow by s a second; at or below it the queue empties again,
    and a busy machine delays the first requests as much as the last. The n-th answer is paired with
    the n-th arrival, since an engine need not answer in order.
    """
    moments = [
        (request.planned, request.done) for request in requests if request.planned is not None
    ]
    if not moments:
        return False
    planned, done = map(sorted, zip(*moments, strict=True))
    waits = [end - start for start, end in zip(planned, done, strict=True)]
    quarter, span = max(1, len(waits) // 4), planned[-1] - planned[0]
    return min(waits[-quarter:]) - median(waits[:quarter]) > max(_LATE, _LATE_SHARE * span)


def findings_on_load(measured: Measurement, costs: Sequence[SettingCosts]) -> Iterator[Finding]:
    """The findings on what other processes used while the engine was asked, and at how many
    settings that was too much.
    """
    share = _busy_share(
        measured, [report for asked in measured.by_setting for report in asked.reports()]
    )
    if share is not None:
        percent = format_value(100 * share, "percent")
        yield machine_busy(f"{percent} % of one processor while the engine was asked")
    busy = [
        setting_costs.busy_processors
        for setting_costs in costs
        if setting_costs.busy_processors is not None
    ]
    if busy:
        at = "after the first round"
        if len(costs) > 1:
            at = f"at {len(busy)} of {len(costs)} settings"
        percent = format_value(100 * max(busy), "percent")
        yield machine_busy(
            f"up to {percent} % of a processor {at}, marked beside their percentiles"
        )


def label_of(name: str, measured: Measurement) -> str:
    """The label of a cost: percentiles of a closed loop are service times."""
    word = "latency" if measured.is_open_loop else "service time"
    return f"{name} {word}" if name in _SHARES or name == "first p50" else name


def findings_on_requests(measured: Measurement, costs: Sequence[SettingCosts]) -> Iterator[Finding]:
    """The finding on percentiles that so few requests do not give."""
    lacking = [
        name
        for name in _SHARES
        if any(
            name in setting_costs.by_name and setting_costs.value(name) is None
            for setting_costs in costs
        )
    ]
    if lacking:
        needs = "; ".join(
            f"{name} needs {_SHARES[name][1]} requests over {_SHARES[name][2]} queries"
            for name in lacking
        )
        n = len(measured.inputs.queries.ids)
        yield few_requests(", ".join(lacking), n * (measured.options.rounds - 1), n, needs)


def figure_definitions(names: Iterable[str]) -> dict[str, Any]:
    """The definitions of figures for the rules."""
    return {name: FIGURES[name].rule for name in names}


_FOLDS = 10
_LEAST = 20


def recall_names(k: int, by: str) -> tuple[str, str]:
    """The exact name and the label of the recall against exact search, by `distance` or by
    `ids`.
    """
    name = f"Recall@{k}"
    return (name, name) if by == "distance" else (f"{name}(by='ids')", f"{name} (ids)")


class SettingResult(NamedTuple):
    """The results of a setting.

    asked: the requests of the setting.
    quality: the values of every measure; empty without judgments.
    recalls: `distance` and `ids` -> (queries,) shares of the exact results, NaN for a query without
        any; empty where exact results are unknown.
    costs: times and other costs of the setting.
    """

    asked: AskedSetting
    quality: Sequence[Values]
    recalls: Mapping[str, Floats]
    costs: SettingCosts

    def counted_recalls(self, by: str) -> Floats:
        """The recall of the queries that have one."""
        return self.recalls[by][~np.isnan(self.recalls[by])]


class SettingsChosen:
    """Choices among the settings of an engine: sentences, a table of all settings, and what they
    are made of.
    """

    def __init__(
        self,
        measures: Sequence[LabelledMeasure],
        measured: Measurement,
        settings: Sequence[SettingResult],
    ) -> None:
        self._measured, self._settings, self._options = measured, settings, measured.options
        self._labels = [
            measured.settings.label(asked.setting) or asked.name for asked in measured.by_setting
        ]
        self.best: BestSettings | None = None
        self.cheapest: CheapestSetting | None = None
        options = self._options
        if options.recall is not None and settings[0].recalls:
            self.cheapest = cheapest(
                [setting.counted_recalls("distance") for setting in settings],
                self._labels,
                [setting.costs.value(options.cost) for setting in settings],
                options.recall,
                options.cost,
                grid=len(measured.settings.varying) > 1,
                seed=options.seed,
            )
        for number, labelled in enumerate(measures):
            better = labelled.measure.entry.better
            if better in ("higher", "lower"):
                values = [setting.quality[number] for setting in settings]
                self.best = best_settings(
                    np.column_stack([setting_values.values for setting_values in values]),
                    values[0].queries,
                    self._labels,
                    labelled.label,
                    values[0].unit,
                    self._baseline(),
                    lower=better == "lower",
                    seed=options.seed,
                )
                break
        choices = (self.cheapest, self.best)
        self.verdicts = [choice.sentence for choice in choices if choice is not None]
        if not self.verdicts and len(settings) > 1:
            self.verdicts += self._range()

    def _range(self) -> Iterator[str]:
        """A sentence on the worst and the best setting where nothing is chosen."""
        first, rows = self._settings[0], self.table()
        label, unit = recall_names(self._options.depth, "distance")[1], "share"
        if first.quality:
            label, unit = first.quality[0].label, first.quality[0].unit
        means = [row[label] for row in rows if row.get(label) is not None]
        if means:
            yield (
                f"{label} is {format_value(min(means), unit)} to "
                f"{format_value(max(means), unit)}, over {len(rows)} settings."
            )

    def _baseline(self) -> int:
        """The setting with the engine's defaults; the first where none has them."""
        defaults = {
            parameter.name: parameter.default for parameter in self._measured.family.parameters
        }
        for number, setting in enumerate(self._measured.settings.settings):
            if all(defaults.get(name) == value for name, value in setting.values.items()):
                return number
        return 0

    def _cheapest(self) -> int | None:
        """The cheapest setting that reaches the recall, or else of those as good as the best."""
        if self.cheapest is not None:
            return self.cheapest.setting
        costs = [setting.costs.value(self._options.cost) for setting in self._settings]
        is_best = () if self.best is None else self.best.is_best
        known = [
            (cost, number)
            for number, (cost, best) in enumerate(zip(costs, is_best, strict=False))
            if best and cost is not None
        ]
        return min(known)[1] if len(known) > 1 else None

    def marks(self) -> dict[str, Any]:
        """The rule by which a chart marks settings: the set of the best, the cheapest, and the
        recall that it reaches.
        """
        marks: dict[str, Any] = {}
        names = [setting.asked.name for setting in self._settings]
        if self.best is not None:
            marks["best"] = list(compress(names, self.best.is_best))
        if self.cheapest is not None:
            setting = self.cheapest.setting
            marks["target"] = self._options.recall
            marks["cheapest"] = [] if setting is None else [names[setting]]
        return marks

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables beside the summary: verdicts, with the runs of the baseline and of the best
        setting where they are two, settings, their parameters, and the gain of the best.
        """
        gain = None if self.best is None else self.best.gain
        pair: dict[str, str] = {}
        if gain is not None and gain["best"] != gain["baseline"]:
            for word, label in (("a", gain["baseline"]), ("b", gain["best"])):
                pair[word] = self._settings[self._labels.index(label)].asked.name
        return {
            "verdicts": [{"text": text} | pair for text in self.verdicts],
            "settings": self.table(),
            "parameters": [*map(self._parameters, self._settings)],
            "gain": [] if gain is None else [gain],
        }

    def _parameters(self, setting: SettingResult) -> dict[str, Any]:
        """The row of a setting: its parameters, tried ones and those of its session, and the
        choices among all settings.

        choices: `best`, `accepted`, `cheapest`, `baseline`. others: processors that other processes
        used, where that is too much.
        """
        asked, measured, choices = setting.asked, self._measured, list[str]()
        if self.best is not None and self.best.is_best[asked.number]:
            choices.append("best")
        if self.cheapest is not None and self.cheapest.words[asked.number] == "accepted":
            choices.append("accepted")
        if asked.number == self._cheapest():
            choices.append("cheapest")
        if self.best is not None and self.best.gain["baseline"] == self._labels[asked.number]:
            choices.append("baseline")
        values = {
            "engine": measured.traits.name,
            **asked.described.get("build", {}),
            **asked.described.get("search", {}),
        }
        return {
            "run": asked.name,
            "tried": list(measured.settings.varying),
            "values": {**values, **asked.setting.values},
            "choices": choices,
            "others": setting.costs.busy_processors,
        }

    def table(self) -> list[dict[str, Any]]:
        """A row for each setting: quality, recall with its lower bound, costs that are known, and
        whether it was chosen.
        """
        rows: list[dict[str, Any]] = []
        for setting in self._settings:
            row: dict[str, Any] = {"run": setting.asked.name}
            for values in setting.quality:
                counted = values.values[values.counted]
                row[Heading(values.label)] = exact_mean(counted) if len(counted) else None
            if setting.recalls:
                recalls = setting.counted_recalls("distance")
                label = recall_names(self._options.depth, "distance")[1]
                row[label] = exact_mean(recalls) if len(recalls) else None
                row[f"{label} at least"] = (
                    interval(recalls, seed=self._options.seed)[0] if len(recalls) else None
                )
            row |= self._cost_cells(setting.costs)
            if self.best is not None:
                row["best"] = "best" if self.best.is_best[setting.asked.number] else ""
            if self.cheapest is not None:
                row["recall"] = self.cheapest.words[setting.asked.number]
            rows.append(row)
        return rows

    def _cost_cells(self, setting_costs: SettingCosts) -> dict[str, Any]:
        """The costs of a setting, those that any setting has; beside percentiles what other
        processes took meanwhile.
        """
        all_costs, cells = [setting.costs for setting in self._settings], dict[str, Any]()
        for cost in COSTS:
            # Settings that share a session have one first request.
            if all(cost in costs.by_name for costs in all_costs) and any(
                costs.value(cost) is not None for costs in all_costs
            ):
                unit = setting_costs.by_name[cost].unit
                cells[f"{label_of(cost, self._measured)} ({unit})"] = setting_costs.value(cost)
        if any(costs.busy_processors is not None for costs in all_costs):
            share = setting_costs.busy_processors
            cells["other processes (%)"] = None if share is None else 100 * share
        return cells


class CheapestSetting(NamedTuple):
    """The cheapest setting that reaches a recall.

    setting: number of the setting; None where no setting reaches the recall, or where no such
        setting has a known cost.
    words: for each setting `accepted` or `rejected`.
    sentence: the result in words.
    """

    setting: int | None
    words: list[str]
    sentence: str


def cheapest(
    recalls: Sequence[Floats],
    names: Sequence[str],
    costs: Sequence[float | None],
    target: float,
    cost: str,
    *,
    grid: bool,
    seed: int,
) -> CheapestSetting:
    """The cheapest setting whose recall exceeds the target.

    recalls: the recalls of queries that have one, by setting, in the order of the sweep.

    With one parameter the settings are tested from the last, the most expensive, down to the first
    failure; with several (`grid`) all of them, with Holm's correction.
    """
    p = [exceeds_p(setting_recalls, target, seed=seed) for setting_recalls in recalls]
    adjusted = holm(p) if grid else fixed_sequence(p[::-1])[::-1]
    passed = [p_value <= ERROR for p_value in adjusted]
    words = ["accepted" if is_accepted else "rejected" for is_accepted in passed]
    how = "Holm" if grid else "tested from the last setting down"

    def _bound(setting: int, tests: int) -> float:
        """The lower bound at the level of one of so many tests, which is on the same side of the
        target as that test.
        """
        return lower_bound(recalls[setting], tests=tests, seed=seed)

    if not any(passed):
        if grid or len(p) == 1:
            bound = max(_bound(setting, len(p)) for setting in range(len(p)))
            shortfall = f"the best lower bound is {bound:.4f}"
        else:
            # The sequence ends with the first failure, so that the settings before it are not
            # tested.
            shortfall = f"the lower bound of {names[-1]} is {_bound(len(p) - 1, 1):.4f}"
        sentence = f"No setting reaches a recall of {target:g}; {shortfall} ({how})."
        return CheapestSetting(None, words, sentence)
    known_costs = [
        (setting_cost, setting)
        for setting, (setting_cost, is_accepted) in enumerate(zip(costs, passed, strict=True))
        if is_accepted and setting_cost is not None
    ]
    if not known_costs:
        sentence = (
            f"{sum(passed)} of {len(names)} settings reach a recall of {target:g} ({how}), but "
            f"their {cost} is not known."
        )
        return CheapestSetting(None, words, sentence)
    best = max if cost == "throughput" else min
    _, setting = best(known_costs, key=itemgetter(0))
    bound = _bound(setting, sum(p_value >= p[setting] for p_value in p) if grid else 1)
    sentence = (
        f"The cheapest setting with a recall of {target:g} by {cost} is {names[setting]}; its "
        f"lower bound is {bound:.4f} ({how})."
    )
    return CheapestSetting(setting, words, sentence)


class BestSettings(NamedTuple):
    """The settings that no other is significantly better than.

    is_best: whether each setting is one of them.
    gain: gain of the best setting over a baseline, apparent and cross-validated with its interval,
        as a row of a table.
    sentence: the result in words.
    """

    is_best: list[bool]
    gain: dict[str, Any]
    sentence: str


def best_settings(
    values: Floats,
    queries: Sequence[str],
    names: Sequence[str],
    label: str,
    unit: str,
    baseline: int,
    *,
    lower: bool,
    seed: int,
) -> BestSettings | None:
    """The settings that no other is significantly better than, by all pairs, and the gain of the
    best, apparent and cross-validated.

    values: (queries, settings). None for fewer than two settings, or than 20 queries with a value
    at every setting.
    """
    is_complete = ~np.isnan(values).any(axis=1)
    counted = (-1 if lower else 1) * values[is_complete]
    if len(counted) < _LEAST or values.shape[1] < 2:
        return None
    is_best = set_of_best(counted, seed=seed).tolist()
    complete_queries = [queries[row] for row in np.flatnonzero(is_complete).tolist()]
    folds = draw_folds(complete_queries, _FOLDS, seed)
    fold_of_row = np.array([folds[query] for query in complete_queries], dtype=np.int64)
    selection = selection_gain(counted, fold_of_row, baseline)
    (bounds,) = paired_bootstrap([Differences(selection.out_of_fold)], studentised=True, seed=seed)
    mean = exact_mean(selection.out_of_fold)
    low, high = bounds.interval or (None, None)
    gain = {
        "measure": label,
        "best": names[selection.best],
        "baseline": names[baseline],
        "apparent": selection.apparent,
        "out_of_fold": mean,
        "ci_low": low,
        "ci_high": high,
        "folds": _FOLDS,
    }
    worse, others = len(names) - sum(is_best), len(names) - 1
    beaten = f"{worse} of the {others} others" if worse else "any other"
    sentence = (
        f"{names[selection.best]} is the best setting by {label}, {'' if worse else 'but not '}"
        f"significantly better than {beaten if others > 1 else 'the other'}"
    )
    if selection.best == baseline:
        return BestSettings(is_best, gain, f"{sentence}; it is the baseline.")
    signed = partial(format_value, unit=unit, signed=True)
    ends = "" if low is None or high is None else f" [{signed(low)}, {signed(high)}]"
    sentence += (
        f". In cross-validation it gains {signed(mean)}{ends} over {names[baseline]}, "
        f"{signed(selection.apparent)} on the queries that chose it."
    )
    return BestSettings(is_best, gain, sentence)


_MOST_SETTINGS = 5
_COST = "p50 service time (ms)"
_MARKS = {"best": "* no significant difference from the best", "recall": "* reaches the recall"}


def engine_answer(result: Any) -> Answer:
    """The scores and costs of a setting; of several the verdicts, the best settings by the first
    measure, and the one with the engine's defaults.
    """
    settings = list(result.settings)
    if len(settings) == 1:
        rows = [_with_unit(row) for row in result.summary if row["mean"] is not None]
        return score_answer(result, rows)
    labels = {labelled.label for labelled in result.measures}
    scores = [name for name in settings[0] if name in labels or name.startswith("Recall@")]
    if scores:
        better = result.measures[0].measure.entry.better if result.measures else "higher"
        sign = 1.0 if better == "lower" else -1.0
        settings.sort(key=lambda row: sign * (row[scores[0]] or 0.0))
    baseline = result.gain[0]["baseline"] if result.gain else None
    shown = [
        row
        for place, row in enumerate(settings)
        if place < _MOST_SETTINGS or (baseline and row["run"].endswith(f" {baseline}"))
    ]
    units = {values.label: values.unit for values in result.values} | {_COST: "ms"}
    rules = result.describe()

    def _cell(name: str, value: float | None) -> PrintedFigure:
        unit = units.get(name, "share")
        return PrintedFigure(format_value(value, unit, digits=score_digits(rules, unit)))

    # Of one engine all names begin with its name.
    first_word = settings[0]["run"].partition(" ")[0] + " "
    skipped = len(first_word) if all(row["run"].startswith(first_word) for row in settings) else 0
    marked = [row.get("best") == "best" or row.get("recall") == "accepted" for row in shown]
    table = [
        {
            "setting": row["run"][skipped:] + " *" * is_marked,
            **{Heading(name): _cell(name, row[name]) for name in (*scores, _COST) if name in row},
        }
        for row, is_marked in zip(shown, marked, strict=True)
    ]
    legend = [mark for name, mark in _MARKS.items() if any(marked) and name in settings[0]][-1:]
    if hidden := len(settings) - len(shown):
        legend.append(count_of(hidden, "more setting", "more settings"))
    verdicts = "\n".join(row["text"] for row in result.verdicts)
    return Answer(verdicts, table=table, legend=[" · ".join(legend)] if legend else [])


def _with_unit(row: Any) -> Any:
    """A row of the summary, whose word has the unit of a cost."""
    if row["unit"] in ("share", "percent", "count", "score", "rank"):
        return row
    return type(row)({**row, "label": f"{row['label']} ({row['unit']})", "n": None})
