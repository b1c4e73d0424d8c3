"""Inputs of `compiled_columns`: runs drawn row by row, in some of them a mistake."""

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import TIE_RULES
from rankwell.io.reader.lines import ReadOptions
from rankwell.store import decode_id

# Number -> id, never empty, and the same for no two numbers, whichever two of the forms they have.
FORMS: tuple[Callable[[int], bytes], ...] = (
    lambda number: b"%d" % number,
    lambda number: b"d%07d" % number,
    lambda number: b"a" * (number % 90 + 1) + b"%d" % (number // 90),
    lambda number: "文書é%d".encode() % number,
    lambda number: b"\x00" * (number % 20 + 1) + b"%d" % (number // 20),
    lambda number: b"%d " % number + b"long-" * 15,
    lambda number: b'"%d",\n\t' % number,
    lambda number: b"\xff\xc3%d" % number,
)
HUGE = 1 << 20
# Around the largest number of 32 bits, the smallest of 64, and zero from both sides.
EDGES = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-46,
    3.4028234663852886e38,
    3.4028235677973362e38,
    3.4028235677973366e38,
    1e300,
    1e308,
)


class Case(NamedTuple):
    """A run row by row, None where there is no value, and what it is read with. utf8: whether all
    ids are.
    """

    queries: list[bytes | None]
    items: list[bytes | None]
    scores: list[float | None]
    truth: dict[str, dict[str, float]]
    reading: ReadOptions
    utf8: bool


def made(rng: random.Random) -> Case:
    """A run of some queries: in order or not, with many ties or none, in some of them a mistake."""
    utf8 = rng.random() < 0.7
    forms = FORMS[:-1] if utf8 else FORMS
    name, names = rng.choice(forms), rng.sample(range(1, 60), rng.choice((0, 1, 3, 8, 30)))
    several = rng.choices(forms, k=rng.choice((1, 1, 3)))
    rows = list[tuple[bytes | None, bytes | None, float | None]]()
    for query in names:
        numbers = rng.sample(
            range(1, 4000), rng.choice((1, 1, 5, 40, 40, 300)) if rng.random() < 0.98 else 2500
        )
        items = [rng.choice(several)(number) for number in numbers]
        if rng.random() < 0.002:
            items[-1] = items[-1] + b"y" * HUGE
        rows += [
            (name(query), item, score)
            for item, score in zip(items, _scores(rng, len(items)), strict=True)
        ]
    if rows and rng.random() < 0.15:
        rng.shuffle(rows)
    if rows and rng.random() < 0.35:
        _spoil(rng, rows)
    truth = _truth(rng, rows) | {"absent": {"d": 1.0}, "": {"d": 1.0}}
    reading = ReadOptions(
        ties=rng.choice(TIE_RULES),
        single_precision=rng.random() < 0.4,
        keep=rng.choice((0, 0, 1, 10, 10_000)),
    )
    queries, items, scores = (
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
    )
    return Case(queries, items, scores, truth, reading, utf8)


def _scores(rng: random.Random, size: int) -> list[float]:
    """The scores of a query."""
    levels, power = rng.choice((1, 3, 40, 10**6)), rng.choice((0, 30, 300))
    draw = rng.choice(
        (
            lambda: rng.randrange(levels) / 8,
            lambda: float(rng.randrange(-levels, levels)),
            lambda: float(np.float32(rng.uniform(-1, 1))),
            lambda: rng.uniform(-1, 1) * 10.0 ** rng.randint(-power, power),
            lambda: 1 + rng.randrange(levels) * 2.0**-30,
            lambda: rng.choice(EDGES) * rng.choice((1, 1, -1)),
        )
    )
    scores = [draw() for _ in range(size)]
    return sorted(scores, reverse=True) if rng.random() < 0.5 else scores


def _spoil(rng: random.Random, rows: list[tuple[bytes | None, bytes | None, float | None]]) -> None:
    """Makes a mistake in a row, or two."""
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(len(rows))
        query, item, score = rows[place]
        what = rng.randrange(6)
        if what == 0:
            rows[place] = rng.choice((None, b"")), item, score
        elif what == 1:
            rows[place] = query, rng.choice((None, b"")), score
        elif what == 2:
            rows[place] = query, item, rng.choice((None, math.nan, math.inf, -math.inf))
        elif what == 3:
            # The same item again, in its query if that is the neighbour's too.
            rows[place] = query, rows[place - 1][1], score
        elif what == 4:
            rows.insert(rng.randrange(len(rows)), rows[place])
        else:
            # One row far from the others of its query.
            rows.append(rows.pop(place))


def _truth(
    rng: random.Random, rows: Sequence[tuple[bytes | None, bytes | None, float | None]]
) -> dict[str, dict[str, float]]:
    """Judgments of some of the queries, and of some of their items."""
    share, truth = rng.choice((0.01, 0.3, 1.0)), dict[str, dict[str, float]]()
    known = {query for query in sorted({row[0] or b"" for row in rows}) if rng.random() < 0.8}
    for query, item, _ in rows:
        if query and item and query in known:
            judged = truth.setdefault(decode_id(query), {"never": 1.0} if share < 1 else {})
            if rng.random() < share:
                judged[decode_id(item)] = 1.0
    return truth
