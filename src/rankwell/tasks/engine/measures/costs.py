"""Figures of a search engine: the costs of its settings, and recall against exact search."""

from collections.abc import Mapping

from rankwell.data.registry import add_figure

_COSTS: Mapping[str, str] = {
    "p50": "median time of all requests after the first round",
    "p95": "time that 95 % of all requests after the first round do not exceed",
    "p99": "time that 99 % of all requests after the first round do not exceed",
    "first p50": "median time in the first round, when every query is new to the engine",
    "first request": "longest time of a session's first request, before the session is warm",
    "encoding": "median time to encode the text of a query; percentiles leave these times out",
    "throughput": "answers per second, over all clients",
    "processor": "processor time per request, of the client and, if known, of the server",
    "build": "time to build the index",
    "size": "size of the index",
    "latency": "median time of a query over rounds",
}

for name, text in _COSTS.items():
    add_figure(
        name, text, better="higher" if name == "throughput" else "lower", printed_by=("engine run",)
    )
for name, addition in {
    "Recall": "; items as near as the last of them count too",
    "Recall(by='ids')": "",
}.items():
    text = f"share of the exact results that the engine returns{addition}"
    add_figure(name, text, printed_by=("engine run",))
