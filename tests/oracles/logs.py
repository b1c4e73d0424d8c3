"""Estimators of a policy's value, one row after the other: no rankwell, no arrays.

A row is (reward, weight, slot, estimate, expected). `REFERENCE` is the whole log, over which
weights are normalised.
"""

from collections.abc import Mapping, Sequence
from math import nan
from random import Random

Row = tuple[float, float, int, float, float]


def drawn(random: Random) -> Row:
    """A row of a log with clicks and two slots."""
    weight = random.choice((0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 6.0))
    return (
        float(random.random() < 0.4),
        weight,
        random.randrange(2),
        random.randrange(5) / 8,
        random.randrange(5) / 8,
    )


REFERENCE: list[Row] = [drawn(Random(number)) for number in range(40)]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan


def rows(ranking: Sequence[str], truth: Mapping[str, Row]) -> list[Row]:
    """The rows that are logged; other items are not."""
    return [truth[item] for item in ranking if item in truth]


def normalised(row: Row, value: float, values: list[tuple[Row, float]]) -> float:
    """The influence of a row on Σ weight · value / Σ weight within its slot."""
    mine = [(other, each) for other, each in values if other[2] == row[2]]
    total = sum(other[1] for other, _ in mine)
    centre = sum(other[1] * each for other, each in mine) / total
    return centre + row[1] * (value - centre) / (total / len(mine))


def CTR(ranking: Sequence[str], truth: Mapping[str, Row]) -> float:
    return mean([reward for reward, *_ in rows(ranking, truth)])


MeanReward = CTR


def IPS(ranking: Sequence[str], truth: Mapping[str, Row], clip: float | None = None) -> float:
    return mean(
        [
            reward * (weight if clip is None else min(weight, clip))
            for reward, weight, *_ in rows(ranking, truth)
        ]
    )


def SNIPS(ranking: Sequence[str], truth: Mapping[str, Row]) -> float:
    whole = [(row, row[0]) for row in REFERENCE]
    return mean([normalised(row, row[0], whole) for row in rows(ranking, truth)])


def DM(ranking: Sequence[str], truth: Mapping[str, Row]) -> float:
    return mean([expected for *_, expected in rows(ranking, truth)])


def DR(ranking: Sequence[str], truth: Mapping[str, Row], clip: float | None = None) -> float:
    found = []
    for reward, weight, _, estimate, expected in rows(ranking, truth):
        found.append(
            expected + (weight if clip is None else min(weight, clip)) * (reward - estimate)
        )
    return mean(found)


def SNDR(ranking: Sequence[str], truth: Mapping[str, Row]) -> float:
    whole = [(row, row[0] - row[3]) for row in REFERENCE]
    return mean([row[4] + normalised(row, row[0] - row[3], whole) for row in rows(ranking, truth)])
