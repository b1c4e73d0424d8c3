"""Costs of settings: percentiles of time, throughput, processor time, index; and findings on what
makes them doubtful.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.registry import FIGURES
from rankwell.data.tables import Floats, format_value
from rankwell.stats.percentiles import percentiles
from rankwell.tasks.engine.findings import engine_overloaded, few_requests, machine_busy
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
    wall, answers = 0.0, 0
    for batch in asked.batches(rounds):
        requests = [request for request in batch.requests if request.status == "ok"]
        if requests:
            wall += max(request.done for request in requests) - min(
                request.sent for request in requests
            )
        answers += len(requests)
    if not measured.is_open_loop and wall > 0:
        figures["throughput"] = CostFigure(answers / wall, answers, "queries/s")
    reports = asked.reports(rounds)
    seconds = sum(report.client + (report.server or 0.0) for report in reports)
    if seconds >= _LEAST_PROCESSOR and answers and measured.traits.is_server_known:
        figures["processor"] = CostFigure(1000 * seconds / answers, answers)
    build = measured.traits.indexes[asked.setting.build]
    if build is not None:
        figures["build"] = CostFigure(build.seconds, 1, "s")
        figures["size"] = CostFigure(None if build.bytes is None else build.bytes / 1e6, 1, "MB")
    share = _busy_share(measured, reports)
    return SettingCosts(figures, findings, share if share is not None and share > _BUSY else None)


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
    opened = [1000 * seconds for report in asked.reports() for seconds in report.first]
    if opened:
        yield "first request", CostFigure(max(opened), len(opened))


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
    return {
        name: {
            "definition": FIGURES[name].text,
            "source": FIGURES[name].source,
            "better": FIGURES[name].better,
        }
        for name in names
    }
