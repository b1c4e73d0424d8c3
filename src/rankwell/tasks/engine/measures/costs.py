"""Figures of a search engine: the costs of its settings, and recall against exact search."""

from collections.abc import Mapping

from rankwell.data.registry import add_figure

_COSTS: Mapping[str, str] = {
    "p50": "median of the times of all requests after the first round",
    "p95": "time that 95 % of all requests after the first round do not exceed",
    "p99": "time that 99 % of all requests after the first round do not exceed",
    "first p50": "median of the times of the first round, in which every query is new to the "
    "engine",
    "first request": "longest time of the first request of a session, before it is warm",
    "encoding": "median of the times to encode the text of a query, which are in no percentile",
    "throughput": "answers a second, of all clients together",
    "processor": "processor time per request of the client, and of the server where it is known",
    "build": "time to build the index",
    "size": "size of the index",
    "latency": "median over rounds of the time of a query",
}

for name, text in _COSTS.items():
    add_figure(
        name, text, better="higher" if name == "throughput" else "lower", printed_by=("engine run",)
    )
for name, addition in {
    "Recall": "; items as near as the last count",
    "Recall(by='ids')": "",
}.items():
    text = f"share of the exact results that were returned{addition}"
    add_figure(name, text, printed_by=("engine run",))
