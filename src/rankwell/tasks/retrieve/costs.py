"""Costs of settings: percentiles of time, throughput, processor time, index; and notes on what
makes them doubtful.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.registry import FIGURES
from rankwell.data.tables import Floats, figure
from rankwell.stats.percentiles import Percentile, percentiles
from rankwell.tasks.retrieve.loops import BatchReport, SentRequest
from rankwell.tasks.retrieve.measuring import Measurement

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
    """One figure: its value with its interval, None where it is not known; n: requests behind
    it.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str


@dataclass(frozen=True, eq=False)
class SettingCosts:
    """The costs of a setting by name, and notes. busy_processors: those that other processes used
    meanwhile; None for few.
    """

    by_name: dict[str, CostFigure]
    notes: list[str]
    busy_processors: float | None = None


def costs_of(measured: Measurement, setting: int, name: str) -> SettingCosts:
    """The costs of a setting. name: for the notes."""
    rounds = measured.rounds[1:]
    notes, figures = list[str](), dict[str, CostFigure]()
    over = measured.is_open_loop and any(
        is_overloaded(measured.batches[setting, number].requests) for number in measured.rounds
    )
    if over:
        rate = measured.options.rate or 0.0
        notes.append(
            f"{name}: overloaded at {rate:g} requests a second; no percentiles above capacity"
        )
    else:
        figures |= dict(_times(measured, setting, rounds))
    if measured.options.encoder is not None:
        times = measured.times(setting, rounds or measured.rounds, encoding=True)
        figures["encoding"] = _median(times, measured)
    wall, answers = 0.0, 0
    for round_number in rounds:
        requests = [
            request
            for request in measured.batches[setting, round_number].requests
            if request.status == "ok"
        ]
        wall += max((request.done for request in requests), default=0.0) - min(
            (request.sent for request in requests), default=0.0
        )
        answers += len(requests)
    if not measured.is_open_loop and wall > 0:
        figures["throughput"] = CostFigure(answers / wall, None, None, answers, "queries/s")
    reports = measured.reports(setting, rounds)
    processor_seconds = sum(report.client + (report.server or 0.0) for report in reports)
    if processor_seconds >= _LEAST_PROCESSOR and answers and measured.traits.is_server_known:
        figures["processor"] = CostFigure(
            1000 * processor_seconds / answers, None, None, answers, "ms"
        )
    build = measured.traits.indexes[measured.settings.settings[setting].build]
    if build is not None:
        figures["build"] = CostFigure(build.seconds, None, None, 1, "s")
        size = None if build.bytes is None else build.bytes / 1e6
        figures["size"] = CostFigure(size, None, None, 1, "MB")
    busy_processors = busy_share(measured, reports)
    return SettingCosts(
        figures,
        notes,
        busy_processors if busy_processors is not None and busy_processors > _BUSY else None,
    )


def busy_share(measured: Measurement, reports: Sequence[BatchReport]) -> float | None:
    """Processors that other processes used during some batches; None where unknown, and for less
    than half a second.
    """
    elapsed = sum(report.elapsed for report in reports)
    seconds = [report.other_processes for report in reports]
    if not measured.traits.is_server_known or None in seconds or elapsed < _LEAST_ELAPSED:
        return None
    return sum(filter(None, seconds)) / elapsed


def _times(measured: Measurement, setting: int, rounds: range) -> Iterator[tuple[str, CostFigure]]:
    times = 1000 * measured.times(setting, rounds)
    queries = int((~np.isnan(times)).any(axis=0).sum()) if len(rounds) else 0
    shares = [share for share, _, _ in _SHARES.values()]
    medians = percentiles(times, shares, seed=measured.options.seed) if len(rounds) else []
    for (name, (_, least, different)), percentile in zip(_SHARES.items(), medians, strict=False):
        if percentile.n >= least and queries >= different:
            yield name, _figure_of(percentile)
        else:
            yield name, CostFigure(None, None, None, percentile.n, "ms")
    yield "first p50", _median(measured.times(setting, measured.rounds[:1]), measured)
    opened = [
        1000 * seconds
        for report in measured.reports(setting, measured.rounds)
        for seconds in report.first
    ]
    if opened:
        yield "first request", CostFigure(max(opened), None, None, len(opened), "ms")


def _median(times: Floats, measured: Measurement) -> CostFigure:
    """The median of seconds, in milliseconds."""
    return _figure_of(*percentiles(1000 * times, [0.5], seed=measured.options.seed))


def _figure_of(percentile: Percentile) -> CostFigure:
    low, high = percentile.interval or (None, None)
    return CostFigure(percentile.value, low, high, percentile.n, "ms")


def is_overloaded(requests: list[SentRequest]) -> bool:
    """Whether the queue of an open loop grew: all of its last quarter waited longer than the median
    of its first.

    Above capacity by a share s, waits grow by s a second; at or below it the queue empties again,
    and a busy machine delays the first requests as much as the last. The n-th answer is paired with
    the n-th arrival, since an engine need not answer in order.
    """
    sent = [request for request in requests if request.planned is not None]
    if not sent:
        return False
    planned = sorted(request.planned for request in sent if request.planned is not None)
    waits = [
        done - due
        for due, done in zip(planned, sorted(request.done for request in sent), strict=True)
    ]
    quarter, span = max(1, len(waits) // 4), planned[-1] - planned[0]
    return min(waits[-quarter:]) - median(waits[:quarter]) > max(_LATE, _LATE_SHARE * span)


def load_notes(measured: Measurement, costs: Sequence[SettingCosts]) -> list[str]:
    """The notes on what other processes used while the engine was asked, and at how many settings
    that was too much.
    """
    settings = range(len(measured.settings.settings))
    share = busy_share(
        measured,
        [report for setting in settings for report in measured.reports(setting, measured.rounds)],
    )
    load = (
        ""
        if share is None
        else f"other processes used {figure(100 * share, 'percent')} % of one processor"
    )
    notes = [f"{load} while the engine was asked"] if load else []
    busy = [
        setting_costs.busy_processors
        for setting_costs in costs
        if setting_costs.busy_processors is not None
    ]
    if busy:
        at = (
            f"at {len(busy)} of {len(costs)} settings"
            if len(costs) > 1
            else "after the first round"
        )
        load = f"other processes used up to {figure(100 * max(busy), 'percent')} % of a processor"
        notes.append(f"{load} {at}, marked beside their percentiles")
    return notes


def label_of(name: str, measured: Measurement) -> str:
    """The label of a cost: percentiles of a closed loop are service times."""
    word = "latency" if measured.is_open_loop else "service time"
    return f"{name} {word}" if name in _SHARES or name == "first p50" else name


def few_requests(measured: Measurement, costs: list[SettingCosts]) -> list[str]:
    """The note on percentiles that so few requests do not give."""
    lacking = [
        name
        for name in _SHARES
        if any(
            name in setting_costs.by_name and setting_costs.by_name[name].value is None
            for setting_costs in costs
        )
    ]
    if not lacking:
        return []
    needs = "; ".join(
        f"{name} needs {_SHARES[name][1]} requests over {_SHARES[name][2]} queries"
        for name in lacking
    )
    n = len(measured.inputs.queries.ids)
    return [
        f"no {', '.join(lacking)}: {n * (measured.options.rounds - 1)} requests over {n} "
        f"queries after the first round; {needs}"
    ]


def figure_definitions(names: Iterable[str]) -> dict[str, Any]:
    """The definitions of figures for the rules."""
    figures = {name: FIGURES[name] for name in names}
    return {
        name: {
            "definition": definition.text,
            "source": definition.source,
            "better": definition.better,
        }
        for name, definition in figures.items()
    }
