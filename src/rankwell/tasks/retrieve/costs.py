"""Costs of settings: percentiles of time, throughput, processor time, index; and notes on what
makes them doubtful.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.figures import FIGURES
from rankwell.core.tables import figure
from rankwell.stats.percentiles import percentiles
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
    """The costs of a setting by name, and notes. others: processors that other processes used
    meanwhile; None for few.
    """

    by_name: dict[str, CostFigure]
    notes: list[str]
    others: float | None = None


def costs_of(measured: Measurement, setting: int, name: str) -> SettingCosts:
    """The costs of a setting. name: for the notes."""
    rounds = measured.rounds[1:]
    notes, found = list[str](), dict[str, CostFigure]()
    over = measured.is_open_loop and any(
        is_overloaded(measured.batches[setting, each].requests) for each in measured.rounds
    )
    if over:
        rate = measured.options.rate or 0.0
        notes.append(
            f"{name}: overloaded at {rate:g} requests a second; no percentiles above capacity"
        )
    else:
        found |= dict(_times(measured, setting, rounds))
    if measured.options.encoder is not None:
        (middle,) = percentiles(
            1000 * measured.encodings(setting, rounds or measured.rounds),
            [0.5],
            seed=measured.options.seed,
        )
        found["encoding"] = CostFigure(
            middle.value, *(middle.interval or (None, None)), middle.n, "ms"
        )
    wall, answers = 0.0, 0
    for each in rounds:
        requests = [one for one in measured.batches[setting, each].requests if one.status == "ok"]
        wall += max((one.done for one in requests), default=0.0) - min(
            (one.sent for one in requests), default=0.0
        )
        answers += len(requests)
    if not measured.is_open_loop and wall > 0:
        found["throughput"] = CostFigure(answers / wall, None, None, answers, "queries/s")
    reports = measured.reports(setting, rounds)
    used = sum(each.client + (each.server or 0.0) for each in reports)
    if used >= _LEAST_PROCESSOR and answers and measured.traits.is_server_known:
        found["processor"] = CostFigure(1000 * used / answers, None, None, answers, "ms")
    build = measured.traits.indexes[measured.settings.settings[setting].build]
    if build is not None:
        found["build"] = CostFigure(build.seconds, None, None, 1, "s")
        size = None if build.bytes is None else build.bytes / 1e6
        found["size"] = CostFigure(size, None, None, 1, "MB")
    others = busy_share(measured, reports)
    return SettingCosts(found, notes, others if others is not None and others > _BUSY else None)


def busy_share(measured: Measurement, reports: Sequence[BatchReport]) -> float | None:
    """Processors that other processes used during some batches; None where unknown, and for less
    than half a second.
    """
    elapsed = sum(each.elapsed for each in reports)
    known = [each.others for each in reports if each.others is not None]
    if not measured.traits.is_server_known or len(known) < len(reports) or elapsed < _LEAST_ELAPSED:
        return None
    return sum(known) / elapsed


def _times(measured: Measurement, setting: int, rounds: range) -> Iterator[tuple[str, CostFigure]]:
    times = 1000 * measured.times(setting, rounds)
    queries = int((~np.isnan(times)).any(axis=0).sum()) if len(rounds) else 0
    shares = [share for share, _, _ in _SHARES.values()]
    medians = percentiles(times, shares, seed=measured.options.seed) if len(rounds) else []
    for (name, (_, least, different)), each in zip(_SHARES.items(), medians, strict=False):
        if each.n >= least and queries >= different:
            low, high = each.interval or (None, None)
            yield name, CostFigure(each.value, low, high, each.n, "ms")
        else:
            yield name, CostFigure(None, None, None, each.n, "ms")
    first = 1000 * measured.times(setting, measured.rounds[:1])
    (middle,) = percentiles(first, [0.5], seed=measured.options.seed)
    low, high = middle.interval or (None, None)
    yield "first p50", CostFigure(middle.value, low, high, middle.n, "ms")
    opened = [
        1000 * each
        for report in measured.reports(setting, measured.rounds)
        for each in report.first
    ]
    if opened:
        yield "first request", CostFigure(max(opened), None, None, len(opened), "ms")


def is_overloaded(requests: list[SentRequest]) -> bool:
    """Whether the queue of an open loop grew: all of its last quarter waited longer than the median
    of its first.

    Above capacity by a share s, waits grow by s a second; at or below it the queue empties again,
    and a busy machine delays the first requests as much as the last. The n-th answer is paired with
    the n-th arrival, since an engine need not answer in order.
    """
    sent = [each for each in requests if each.planned is not None]
    if not sent:
        return False
    planned = sorted(each.planned for each in sent if each.planned is not None)
    waits = [
        done - due for due, done in zip(planned, sorted(each.done for each in sent), strict=True)
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
        [each for setting in settings for each in measured.reports(setting, measured.rounds)],
    )
    used = (
        ""
        if share is None
        else f"other processes used {figure(100 * share, 'percent')} % of one processor"
    )
    notes = [f"{used} while the engine was asked"] if used else []
    busy = [each.others for each in costs if each.others is not None]
    if busy:
        at = (
            f"at {len(busy)} of {len(costs)} settings"
            if len(costs) > 1
            else "after the first round"
        )
        used = f"other processes used up to {figure(100 * max(busy), 'percent')} % of a processor"
        notes.append(f"{used} {at}, marked beside their percentiles")
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
        if any(name in each.by_name and each.by_name[name].value is None for each in costs)
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
    known = {name: FIGURES[name] for name in names}
    return {
        name: {"definition": each.text, "source": each.source, "better": each.better}
        for name, each in known.items()
    }
