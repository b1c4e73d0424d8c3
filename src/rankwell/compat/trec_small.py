"""trec_eval's common measures in plain Python, query by query: a small file takes less time than
importing NumPy does.

Each function adds in the order in which its namesake in `rankwell.measures` adds, so that both give
the same bits, except for logarithms on processors for which NumPy has its own
(tests/compat/test_trec_small.py). `rankwell.compat.trec_views` evaluates other measures and large
files.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import partial
from itertools import accumulate, groupby
from math import copysign, floor, inf, log, log2, nan
from typing import TYPE_CHECKING, NamedTuple

from rankwell.compat.trec_measures import LEAST_FOR_GEOMETRIC, Evaluated
from rankwell.core import startup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankwell.compat.trec_inputs import Options
    from rankwell.compat.trec_measures import Line
    from rankwell.io.reader.rows import HitRows, JudgedRows

    # The values of a query at all ranks or shares of a measure; one at infinity where there are
    # none.
    Form = Callable[["Query", Sequence[float]], list[float]]


class Query(NamedTuple):
    """One query of the truth beside its ranking.

    ranks, grades: of the judged items that were found, by rank. retrieved: items in the ranking.
    judged: all grades, highest first. hits: the ranks of the relevant items among those found.
    relevant: how many there are, found or not.
    """

    ranks: list[int]
    grades: list[float]
    retrieved: int
    judged: list[float]
    hits: list[int]
    relevant: int


def fits(lines: Sequence[Line], judged: JudgedRows) -> bool:
    """Whether all these lines are available here, and take little time."""
    small = startup.is_small(len(judged.items) + len(judged.queries) * len(lines))
    return small and all(
        line.trec.name in _FORMS and not (line.trec.kind == "pairs" and line.given)
        for line in lines
    )


def evaluate(
    lines: Sequence[Line], options: Options, judged: JudgedRows, found: HitRows
) -> Evaluated:
    """The values of lines that fit."""
    # trec_eval truncates grades to integers.
    grades = [float(int(grade)) for grade in memoryview(judged.grades).cast("d")]
    forms = _forms(lines, options)
    values = [array("d") for _ in lines]
    for query in _queries(options, _whole(judged.offsets), grades, found):
        rows = iter(values)
        for form, ats in forms:
            for value in form(query, ats):
                next(rows).append(value)
    present = [size > 0 for size in _whole(found.retrieved)]
    return Evaluated(judged.queries, present, values, positives=sum(grade > 0 for grade in grades))


def _whole(raw: bytes) -> memoryview[int]:
    return memoryview(raw).cast("q")


def _queries(
    options: Options, offsets: Sequence[int], grades: list[float], found: HitRows
) -> Iterator[Query]:
    """The queries of the truth with their rankings after -M and -J."""
    places = zip(_whole(found.row), _whole(found.above), _whole(found.before), strict=True)
    rank_of = {row: above + before + 1 for row, above, before in places}
    for place, size in enumerate(_whole(found.retrieved)):
        rows = range(offsets[place], offsets[place + 1])
        placed = sorted((rank_of[row], grades[row]) for row in rows if row in rank_of)
        if options.complete and not options.old:
            # Under -c version 10 invents an unjudged item for a query without results.
            size = size or 1
        if options.depth is not None:
            placed, size = (
                [each for each in placed if each[0] <= options.depth],
                min(size, options.depth),
            )
        if options.judged_only:
            placed = list(enumerate((grade for _, grade in placed if grade >= 0), start=1))
            size = len(placed)
        every = sorted((grades[row] for row in rows), reverse=True)
        hits = [rank for rank, grade in placed if grade >= options.rel]
        relevant = sum(grade >= options.rel for grade in every)
        yield Query(
            [rank for rank, _ in placed],
            [grade for _, grade in placed],
            size,
            every,
            hits,
            relevant,
        )


def _forms(lines: Sequence[Line], options: Options) -> list[tuple[Form, list[float]]]:
    """The functions of the lines in order, one for all ranks or shares of a measure."""
    forms: list[tuple[Form, list[float]]] = []
    for name, group in groupby(lines, lambda line: line.trec.name):
        form = _FORMS[name]
        floored = options.old and form is _interpolated
        ats = [inf if line.at is None else line.at for line in group]
        forms.append((partial(_interpolated, floored=True) if floored else form, ats))
    return forms


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _sums(values: Iterable[float]) -> list[float]:
    """The sums of the first 0, 1, 2, … values, each added to those before: `sum` rounds otherwise
    from Python 3.12 on.
    """
    return list(accumulate(values, initial=0.0))


def _found(query: Query, k: float) -> int:
    """Number of relevant items among the first k."""
    return bisect_right(query.hits, k)


def _precisions(query: Query) -> list[float]:
    """The precision at each relevant item that was found."""
    return [found / rank for found, rank in enumerate(query.hits, start=1)]


def _average_precision(query: Query, ranks: Sequence[float]) -> list[float]:
    sums = _sums(_precisions(query))
    return [_ratio(sums[_found(query, k)], query.relevant) for k in ranks]


def _bpref(query: Query) -> float:
    others = sum(grade >= 0 for grade in query.judged) - query.relevant
    below = min(others, query.relevant)
    judged_ranks = [
        rank for rank, grade in zip(query.ranks, query.grades, strict=True) if grade >= 0
    ]
    worse = [
        bisect_right(judged_ranks, rank) - found for found, rank in enumerate(query.hits, start=1)
    ]
    return _ratio(
        _sums(1.0 - _ratio(min(each, query.relevant), below) for each in worse)[-1], query.relevant
    )


def _interpolated(query: Query, recalls: Sequence[float], *, floored: bool = False) -> list[float]:
    # From behind, the best precision at each relevant item and at those further down.
    best = list(accumulate(reversed(_precisions(query)), max))
    return [
        _interpolated_at(query, best, recall * query.relevant, floored=floored)
        for recall in recalls
    ]


def _interpolated_at(query: Query, best: list[float], target: float, *, floored: bool) -> float:
    whole = floor(target)
    needed = floor(target + 0.9) if floored else whole + (target - whole >= 0.5)
    if query.retrieved == 0 and needed < 1:
        # On x86 what 0 / 0 gives has a minus sign, which trec_eval prints.
        return copysign(nan, -1)
    return best[-max(needed, 1)] if best and needed <= len(best) else 0.0


def _ndcg(query: Query, ranks: Sequence[float]) -> list[float]:
    found = _sums(
        max(grade, 0.0) / log2(rank + 1.0)
        for rank, grade in zip(query.ranks, query.grades, strict=True)
    )
    places = range(1, len(query.judged) + 1)
    ideal = _sums(
        max(grade, 0.0) / log2(place + 1.0)
        for place, grade in zip(places, query.judged, strict=True)
    )
    return [
        _ratio(found[bisect_right(query.ranks, k)], ideal[bisect_right(places, k)]) for k in ranks
    ]


def _logarithm(value: float) -> float:
    return log(max(value, LEAST_FOR_GEOMETRIC))


def _single(value: Callable[[Query], float]) -> Form:
    return lambda query, _: [value(query)]


def _at(value: Callable[[Query, float], float]) -> Form:
    return lambda query, ats: [value(query, at) for at in ats]


_FORMS: dict[str, Form] = {
    "runid": _single(lambda _: 0.0),
    "num_q": _single(lambda _: 1.0),
    "num_ret": _single(lambda query: query.retrieved),
    "num_rel": _single(lambda query: query.relevant),
    "num_rel_ret": _single(lambda query: len(query.hits)),
    "map": _average_precision,
    "gm_map": lambda query, _: [_logarithm(_average_precision(query, [inf])[0])],
    "Rprec": _single(lambda query: _ratio(_found(query, query.relevant), query.relevant)),
    "bpref": _single(_bpref),
    "recip_rank": _single(lambda query: 1.0 / query.hits[0] if query.hits else 0.0),
    "iprec_at_recall": _interpolated,
    "P": _at(lambda query, k: _found(query, k) / k),
    "recall": _at(lambda query, k: _ratio(_found(query, k), query.relevant)),
    "gm_bpref": _single(lambda query: _logarithm(_bpref(query))),
    "ndcg": _ndcg,
    "ndcg_cut": _ndcg,
    "map_cut": _average_precision,
    "success": _at(lambda query, k: float(_found(query, k) > 0)),
}
