"""Figures of a search engine: the costs of its settings, and recall against exact search.
`comparison.py`, `evaluation.py` and `measuring.py` of the task compute them.
"""

from collections.abc import Mapping

from rankwell.data.registry import add_figure

_FIGURES: Mapping[str, str] = {
    "p50": """
median time of all requests after the first round

Median response time, for how long a typical request takes:

    p50 = the ⌈0.50 · n⌉-th shortest of n times, in milliseconds
    n: the answered requests after the first round

Nearest rank: the value is one of the times, and of an even number it is the lower of the middle
two. The first round, warm-up queries and requests without an answer are left out. A time begins
when the request is sent, with `--rate` when it was due. With fewer than 10 requests over 10 queries
there is no p50.

>>> import numpy as np
>>> from rankwell.stats.percentiles import percentiles
>>> rounds = np.array([[9.0, 8.0], [2.0, 5.0], [4.0, 1.0]])
>>> percentiles(rounds[1:], [0.5])[0].value
2.0
""",
    "p95": """
time that 95 % of all requests after the first round do not exceed

95th percentile of response times, for how long slow requests take:

    p95 = the ⌈0.95 · n⌉-th shortest of n times, in milliseconds
    n: the answered requests after the first round

Nearest rank, and the same requests as for `p50`. With fewer than 80 requests over 40 queries there
is no p95.

>>> import numpy as np
>>> from rankwell.stats.percentiles import percentiles
>>> rounds = np.array([[90.0, 80.0, 70.0], [1.0, 2.0, 30.0], [3.0, 4.0, 5.0]])
>>> percentiles(rounds[1:], [0.95])[0].value
30.0
""",
    "p99": """
time that 99 % of all requests after the first round do not exceed

99th percentile of response times, for how long the slowest requests take:

    p99 = the ⌈0.99 · n⌉-th shortest of n times, in milliseconds
    n: the answered requests after the first round

Nearest rank, and the same requests as for `p50`. With fewer than 400 requests over 200 queries
there is no p99.

>>> import numpy as np
>>> from rankwell.stats.percentiles import percentiles
>>> first, second, third = np.arange(300.0).reshape(3, 100)
>>> percentiles(np.array([second, third]), [0.99])[0].value
297.0
""",
    "first p50": """
median time of all requests of the first round

Median response time of the first round, for what a query costs before caches know it:

    first p50 = the ⌈0.50 · n⌉-th shortest of n times, in milliseconds
    n: the answered requests of the first round

Nearest rank, as for `p50`. Most queries are new to the engine then. A cache may know those of the
warm-up, and in a sweep those that another setting was asked before.

>>> import numpy as np
>>> from rankwell.stats.percentiles import percentiles
>>> rounds = np.array([[9.0, 8.0], [2.0, 5.0], [4.0, 1.0]])
>>> percentiles(rounds[:1], [0.5])[0].value
8.0
""",
    "first request": """
longest time of a session's first request, before the session is warm

First request of a session, for what a cold connection costs:

    first request = max over the sessions of the time of the first warm-up query, in milliseconds

Each client opens a session, and a new one after a failure. Settings that share an index share
sessions, so only the first of them that is asked has this figure. `--warm-up 0` leaves it out.

>>> from rankwell.tasks.engine.comparison import first_request
>>> first_request([0.25, 0.5]).value
500.0
""",
    "encoding": """
median time to encode the text of a query; percentiles leave these times out

Median encoding time, for what the model adds to each request:

    encoding = the ⌈0.50 · n⌉-th shortest of n times, in milliseconds
    n: the encoded queries after the first round; of a single round all

Nearest rank, as for `p50`. `--encoder` encodes a query before it is sent: throughput and processor
time contain it.

>>> import numpy as np
>>> from rankwell.stats.percentiles import percentiles
>>> rounds = np.array([[7.0, 6.0], [3.0, 4.0], [5.0, 2.0]])
>>> percentiles(rounds[1:], [0.5])[0].value
3.0
""",
    "throughput": """
answers per second, over all clients

Throughput, for how many queries the engine answers per second:

    throughput = answers / Σ(rounds) (time of the last answer - time of the first request)

The first round is left out, and so are interrupted ones. With `--rate` there is no figure, since
you set the rate yourself. Each client waits for its answer, so more `--clients` may raise it.

>>> from rankwell.tasks.engine.comparison import throughput
>>> from rankwell.tasks.engine.loops import SentRequest
>>> first = SentRequest(query=0, planned=None, sent=0.0, done=0.25, status="ok")
>>> second = SentRequest(query=1, planned=None, sent=0.25, done=0.5, status="ok")
>>> throughput([[first, second]]).value
4.0
""",
    "processor": """
processor time per request, of the client and of the server

Processor time per request, for what a request costs whatever the load:

    processor = Σ(rounds) (seconds of the client + seconds of the server) / answers · 1000

The first round is left out, and so are interrupted ones. An engine in the client's process has no
server. If rankwell does not know the process of the server, name it with `--server-pid`; without it
there is no figure. It takes a second of processor time in all.

>>> from rankwell.tasks.engine.comparison import processor_time
>>> processor_time(seconds=1.5 + 0.5, answers=400).value
5.0
""",
    "build": """
time to build the index

Build time, for how long it takes to index all items:

    build = seconds on the clock from the first item to the finished index

>>> from rankwell.engines import IndexReport
>>> from rankwell.tasks.engine.comparison import index_costs
>>> report = IndexReport(seconds=12.5, processor_seconds=40.0, bytes=3_500_000, items=1000)
>>> index_costs(report)["build"].value
12.5
""",
    "size": """
size of the index

Index size, for how much memory or disk the index takes:

    size = bytes of the index / 1,000,000

The engine reports the bytes. One that does not know them has no size.

>>> from rankwell.engines import IndexReport
>>> from rankwell.tasks.engine.comparison import index_costs
>>> report = IndexReport(seconds=12.5, processor_seconds=40.0, bytes=3_500_000, items=1000)
>>> index_costs(report)["size"].value
3.5
""",
    "latency": """
median time of a query over rounds

Latency of a query, for which queries are slow, and for comparing two engines query by query:

    latency(q) = median over the rounds of the time of query q, in milliseconds

The first round is left out, unless it is the only one. Of an even number of rounds the median is
the mean of the middle two, unlike `p50`. A round in which q has no answer does not count.

>>> import numpy as np
>>> from rankwell.tasks.engine.evaluation import query_medians
>>> rounds = np.array([[9.0, 8.0], [2.0, 5.0], [4.0, np.nan]])
>>> query_medians(rounds[1:]).tolist()
[3.0, 5.0]
""",
    "Recall": """
share of the exact results that the engine returns; items as near as the last of them count too

Recall against exact search, for how much an approximate index misses:

    Recall@k = min(hits + ties, n) / n
    hits: the returned items that are among the n exact results
    ties: the other returned items that are as near as the last exact result
    n: k, or fewer if there are fewer items to find

The figure is the mean over queries with exact results. A failed query that `--allow-failures`
allows counts as 0. With `--truth engine` no ties are known, so it equals `Recall(by='ids')`.

>>> from rankwell.tasks.engine.measuring import ExactList, Truth
>>> exact = ExactList(items=("a", "b", "c", "d"), tied=frozenset(["e"]))
>>> Truth("exact search", [exact]).recalls({0: ["a", "b", "e", "x"]})["distance"].tolist()
[0.75]
""",
    "Recall(by='ids')": """
share of the exact results that the engine returns

Recall against exact search by ids, for an index that has to return the very same items:

    Recall(by='ids')@k = hits / n
    hits: the returned items that are among the n exact results
    n: k, or fewer if there are fewer items to find

It is lower than `Recall` if other items are as near as the last exact result.

>>> from rankwell.tasks.engine.measuring import ExactList, Truth
>>> exact = ExactList(items=("a", "b", "c", "d"), tied=frozenset(["e"]))
>>> Truth("exact search", [exact]).recalls({0: ["a", "b", "e", "x"]})["ids"].tolist()
[0.5]
""",
}
"""Figure -> its definition, its full name with what it is for, its formula, and an example."""
_WORDS_OF_TOOLS = {
    "p99": "serial_latency_p99",
    "throughput": "qps",
    "build": "load_duration",
    "size": "indexsize",
    "Recall": "k-nn",
}
"""Figure -> the word of ann-benchmarks or VectorDBBench for it."""

for name, documentation in _FIGURES.items():
    text, _, details = documentation.strip().partition("\n\n")
    add_figure(
        name,
        text,
        details=details,
        better="higher" if name.startswith(("throughput", "Recall")) else "lower",
        printed_by=("engine run",),
        aliases=_WORDS_OF_TOOLS.get(name, ""),
        per_query=name.startswith(("latency", "Recall")),
    )
