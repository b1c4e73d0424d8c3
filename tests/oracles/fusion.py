"""Fusion methods that learn from judged queries, read off list by list. Lists are item ids from
first to last.
"""

import math
from statistics import fmean
from typing import Any

Lists = dict[str, list[str]]
Grades = dict[str, dict[str, float]]


def hits(listed: list[str], graded: dict[str, float], rel: float) -> list[int]:
    return [int(graded.get(item, 0) >= rel) for item in listed]


def bayesfuse(lists: Lists, truth: Grades, rel: float = 1) -> list[float]:
    """The log odds of each rank from 1 to 1000."""
    odds = []
    for first, last in [
        (0, 5),
        (5, 10),
        (10, 15),
        (15, 20),
        (20, 30),
        (30, 100),
        (100, 200),
        (200, 500),
        (500, 1000),
    ]:
        found = sum(
            sum(hits(lists.get(query, []), truth[query], rel)[first:last]) for query in truth
        )
        share = found / (last - first) / len(truth) or 0.001
        odds += [math.log(share / (1 - share or 0.001))] * (last - first)
    return odds


def mapfuse(lists: Lists, truth: Grades, rel: float = 1) -> float:
    """Mean average precision of the queries that have a relevant item."""
    values = []
    for query, graded in truth.items():
        relevant = sum(grade >= rel for grade in graded.values())
        found = hits(lists.get(query, []), graded, rel)
        precision = [
            sum(found[: place + 1]) / (place + 1) for place, hit in enumerate(found) if hit
        ]
        values += [sum(precision) / relevant] if relevant else []
    return fmean(values)


def posfuse(lists: Lists, truth: Grades, rel: float = 1) -> list[float]:
    """The share of relevant items at each rank, of the lists that reach it."""
    found = [hits(lists.get(query, []), truth[query], rel) for query in truth]
    return [
        fmean(each[place] for each in found if len(each) > place)
        for place in range(max(map(len, found)))
    ]


def probfuse(
    lists: Lists, truth: Grades, segments: int, rel: float = 1, *, judged: bool = False
) -> list[float]:
    """The mean share of relevant items of each segment."""
    shares: list[list[float]] = [[] for _ in range(segments)]
    for query, graded in truth.items():
        listed = lists.get(query, [])
        size = math.ceil(len(listed) / segments)
        for segment in range(segments):
            part = listed[segment * size : (segment + 1) * size]
            part = [item for item in part if item in graded] if judged else part
            shares[segment].append(fmean(hits(part, graded, rel)) if part else 0.0)
    return [fmean(each) for each in shares]


def segfuse(lists: Lists, truth: Grades, rel: float = 1, *, ends: bool = False) -> list[float]:
    """The mean precision of the segment of each rank, in 10 segments."""
    values, start = [], 0
    for k in range(1, 11):
        number = 10 * 2 ** (k - 1) - 5
        stop = number if ends else start + number
        precision = [
            sum(hits(lists.get(query, []), truth[query], rel)[start:stop]) / (stop - start)
            for query in truth
        ]
        values += [fmean(precision)] * (stop - start)
        start = stop
    return values


def fused(
    method: str, run: dict[str, float], lists: Lists, truth: Grades, **given: Any
) -> dict[str, float]:
    """What one run adds to the score of each of its items. run: item -> score, without ties."""
    order = sorted(run, key=lambda item: -run[item])
    n, found = len(order), {}
    for rank, item in enumerate(order, 1):
        if method == "bayesfuse":
            found[item] = bayesfuse(lists, truth, **given)[rank - 1]
        elif method == "mapfuse":
            found[item] = mapfuse(lists, truth, **given) / rank
        elif method == "posfuse":
            shares = posfuse(lists, truth, **given)
            found[item] = shares[rank - 1] if rank <= len(shares) else 0.0
        elif method == "slidefuse":
            window = int(given["window"])
            shares = posfuse(
                lists, truth, **{name: each for name, each in given.items() if name != "window"}
            )
            shares += [0.0] * (n + window)
            found[item] = fmean(
                shares[place - 1]
                for place in range(max(rank - window, 1), min(rank + window, n) + 1)
            )
        elif method == "probfuse":
            segments = int(given["segments"])
            rest = {name: each for name, each in given.items() if name != "segments"}
            segment = (rank - 1) // math.ceil(n / segments)
            found[item] = probfuse(lists, truth, segments, **rest)[segment] / (segment + 1)
        else:
            low, high = min(run.values()), max(run.values())
            score = (run[item] - low) / (high - low) if high > low else 1.0
            found[item] = segfuse(lists, truth, **given)[rank - 1] * (1 + score)
    return found
