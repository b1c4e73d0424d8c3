"""Oracles of choices among settings: bounds by betting, tests in order, the set of the best, and
the gain out of fold.
"""

from itertools import combinations, product
from math import log, sqrt


def capital(drawn: list[float], mean: float, level: float) -> float:
    """The largest capital of a gambler who bets on each value in turn that it is above the mean;
    the start is 1.
    """
    n, held, most = len(drawn), 1.0, 1.0
    for place, value in enumerate(drawn):
        known = drawn[:place]
        running = [(0.5 + sum(known[: i + 1])) / (i + 2) for i in range(place)]
        variance = (0.25 + sum((x - m) ** 2 for x, m in zip(known, running, strict=True))) / (
            place + 1
        )
        bet = min(sqrt(2 * log(1 / (1 - level)) / (n * variance)), 0.75 / mean)
        held *= 1 + bet * (value - mean)
        most = max(most, held)
    return most


def betting_bound(drawn: list[float], level: float) -> float:
    """The largest of the means 0.001, 0.002, … against which the capital reaches 1 / (1 - level); 0
    where it reaches none.
    """
    return max(
        (
            step / 1000
            for step in range(1, 1000)
            if capital(drawn, step / 1000, level) >= 1 / (1 - level)
        ),
        default=0.0,
    )


def best_set(values: list[list[float]], level: float) -> list[bool]:
    """Whether no other setting is significantly better: step-down max-t over all pairs and over all
    ways to flip signs.
    """
    settings = len(values[0])
    pairs = {
        (a, b): [row[b] - row[a] for row in values] for a, b in combinations(range(settings), 2)
    }
    pairs = {pair: column for pair, column in pairs.items() if any(column)}
    size = {pair: sqrt(sum(d * d for d in column)) for pair, column in pairs.items()}
    seen = {pair: abs(sum(column)) / size[pair] for pair, column in pairs.items()}
    ways = list(product((1, -1), repeat=len(values)))
    flipped = {
        pair: [
            abs(sum(s * d for s, d in zip(signs, column, strict=True))) / size[pair]
            for signs in ways
        ]
        for pair, column in pairs.items()
    }
    beaten, reached = set(), 0.0
    order = sorted(pairs, key=lambda pair: -seen[pair])
    for place, pair in enumerate(order):
        largest = [max(flipped[other][way] for other in order[place:]) for way in range(len(ways))]
        reached = max(reached, sum(each >= seen[pair] - 1e-9 for each in largest) / len(ways))
        if reached <= 1 - level + 1e-12:
            beaten.add(pair[0] if sum(pairs[pair]) > 0 else pair[1])
    return [setting not in beaten for setting in range(settings)]


def out_of_fold(
    values: list[list[float]], folds: list[int], baseline: int
) -> tuple[float, list[float]]:
    """The gain of the best setting over the baseline on all queries, and each query's with the
    setting of the other folds.
    """

    def best(rows: list[list[float]]) -> int:
        means = [sum(row[setting] for row in rows) / len(rows) for setting in range(len(rows[0]))]
        return means.index(max(means))

    chosen = best(values)
    gains = [row[chosen] - row[baseline] for row in values]
    held_out = [
        row[best([other for other, theirs in zip(values, folds, strict=True) if theirs != fold])]
        - row[baseline]
        for row, fold in zip(values, folds, strict=True)
    ]
    return sum(gains) / len(gains), held_out
