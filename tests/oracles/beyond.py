"""Measures of retrieved items as their sources define them, item by item over lists and sets;
nothing here is rankwell's.

The truth of a query is `{"grades": item -> grade, "history": items of its user}`. A ranking lists
items; that of a whole collection lists JSON lists of items, one for each user.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

ITEMS = sorted(
    [
        *(f"d{number}" for number in range(150)),
        *(f"new{number}" for number in range(5)),
        "D1",
        "ähnlich",
        "文書",
        "\udcff",
    ],
    key=lambda item: item.encode("utf-8", "surrogateescape"),
)
NAMES = ("drama", "war", "comedy", "noir")
N_USERS = 40


def drawn(item: str, salt: str, n: int) -> int:
    """A number below n that belongs to an item."""
    return crc32(salt.encode() + item.encode("utf-8", "surrogateescape")) % n


CATALOGUE = [item for item in ITEMS if drawn(item, "in", 10) > 0 or item.startswith("new")]
POPULARITY = {item: drawn(item, "users", 12) for item in ITEMS}


def categories(item: str) -> list[str]:
    return [name for name in NAMES if drawn(item, name, 3) == 0]


def groups(item: str) -> list[str]:
    return [name for name in ("new", "old", "lost") if drawn(item, name, 2) == 0]


def vector(item: str) -> list[float]:
    return [drawn(item, f"v{place}", 7) - 3 + 0.5 for place in range(3)]


def users(ranking: Sequence[str]) -> list[list[str]]:
    """The lists of a collection; anything else in it is not one."""
    found = []
    for each in ranking:
        try:
            found.append(json.loads(each))
        except ValueError:
            continue
    return found


def weight(rank: int, discount: str, p: float) -> float:
    return {"none": 1.0, "log": 1 / math.log2(max(rank, 2)), "geometric": p ** (rank - 1)}[discount]


def share(names: Sequence[str], name: str) -> float:
    return names.count(name) / len(names) if names else 0.0


# ---- whole collections
# --------------------------------------------------------------------------------------------------


def exposure(ranking: Sequence[str], k: int | None, discount: str, p: float) -> Counter[str]:
    found: Counter[str] = Counter()
    for listed in users(ranking):
        for rank, item in enumerate(listed[:k], 1):
            found[item] += weight(rank, discount, p)  # type: ignore[assignment]
    return found


def ItemCoverage(ranking: Sequence[str], _: Any, k: int | None = None) -> float:
    shown = {item for listed in users(ranking) for item in listed[:k]}
    return len(shown & set(CATALOGUE)) / len(CATALOGUE)


def Gini(
    ranking: Sequence[str],
    _: Any,
    k: int | None = None,
    discount: str = "none",
    p: float = 0.5,
    divisor: str = "n-1",
) -> float:
    found = exposure(ranking, k, discount, p)
    own = [found[item] for item in CATALOGUE]
    if not sum(own):
        return math.nan
    # Half the relative mean absolute difference of all pairs; n / (n - 1) times as much by the
    # other divisor.
    gini = sum(abs(one - other) for one in own for other in own) / (2 * len(own) * sum(own))
    return gini if divisor == "n" else gini * len(own) / (len(own) - 1)


def Entropy(
    ranking: Sequence[str],
    _: Any,
    k: int | None = None,
    discount: str = "none",
    p: float = 0.5,
    form: str = "bits",
) -> float:
    found = [each for each in exposure(ranking, k, discount, p).values() if each]
    if not found:
        return math.nan
    nats = math.fsum(-each / sum(found) * math.log(each / sum(found)) for each in found)
    return {"bits": nats / math.log(2), "nats": nats, "mean": nats / len(found)}[form]


# ---- single lists
# --------------------------------------------------------------------------------------------------


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def Novelty(ranking: Sequence[str], _: Any, k: int | None = None, of: str = "users") -> float:
    total = N_USERS if of == "users" else sum(POPULARITY.values())
    return mean([math.log2(total / max(POPULARITY[item], 1)) for item in ranking[:k]])


def Popularity(ranking: Sequence[str], _: Any, k: int | None = None) -> float:
    return mean([POPULARITY[item] for item in ranking[:k]])


def Serendipity(
    ranking: Sequence[str], truth: Any, k: int, head: int | None = None, rel: float = 1
) -> float:
    popular = sorted(ITEMS, key=lambda item: -POPULARITY[item])[: head or k]
    useful = [
        item for item in ranking[:k] if truth["grades"].get(item, 0) >= rel and item not in popular
    ]
    return len(useful) / k


def ILD(ranking: Sequence[str], _: Any, k: int | None = None, by: str = "categories") -> float:
    def distance(one: str, other: str) -> float:
        if by == "categories":
            first, second = set(categories(one)), set(categories(other))
            return 1 - len(first & second) / len(first | second) if first | second else 0.0
        first, second = vector(one), vector(other)
        product = math.fsum(a * b for a, b in zip(first, second, strict=True))
        return 1 - product / math.hypot(*first) / math.hypot(*second)

    return mean([distance(*pair) for pair in combinations(ranking[:k], 2)])


def Miscalibration(
    ranking: Sequence[str],
    truth: Any,
    k: int | None = None,
    discount: str = "none",
    p: float = 0.5,
    alpha: float = 0.01,
) -> float:
    listed = ranking[:k]
    own = {name: sum(share(categories(item), name) for item in truth["history"]) for name in NAMES}
    got = {
        name: sum(
            weight(rank, discount, p) * share(categories(item), name)
            for rank, item in enumerate(listed, 1)
        )
        for name in NAMES
    }
    if not sum(own.values()) or not sum(got.values()):
        return math.nan
    loss = 0.0
    for name in NAMES:
        wanted, found = own[name] / sum(own.values()), got[name] / sum(got.values())
        if wanted:
            loss += wanted * math.log(wanted / ((1 - alpha) * found + alpha * wanted))
    return max(loss, 0.0)


def AWRF(
    ranking: Sequence[str],
    _: Any,
    k: int | None = None,
    discount: str = "log",
    p: float = 0.5,
    target: str = "catalogue",
) -> float:
    names = sorted({name for item in ITEMS for name in groups(item)})
    given = [
        sum(
            weight(rank, discount, p) * share(groups(item), name)
            for rank, item in enumerate(ranking[:k], 1)
        )
        for name in names
    ]
    if not sum(given):
        return math.nan
    wanted = [
        1.0 if target == "equal" else sum(share(groups(item), name) for item in CATALOGUE)
        for name in names
    ]
    given, wanted = ([each / sum(column) for each in column] for column in (given, wanted))

    def entropy(column: Sequence[float]) -> float:
        return -math.fsum(each * math.log(each) for each in column if each)

    middle = [(one + other) / 2 for one, other in zip(given, wanted, strict=True)]
    return 1 - (entropy(middle) - (entropy(given) + entropy(wanted)) / 2)


def expected(truth: Any, p: float) -> dict[str, float]:
    """The exposure that each item of the catalogue should have: the mean over all perfect
    rankings.
    """
    grades = {item: max(truth["grades"].get(item, 0.0), 0.0) for item in CATALOGUE}
    ranked = sorted(CATALOGUE, key=lambda item: -grades[item])
    return {
        item: mean(
            [p**place for place, other in enumerate(ranked) if grades[other] == grades[item]]
        )
        for item in CATALOGUE
    }


def by_group(exposures: dict[str, float], by: str) -> dict[str, float]:
    if by == "items":
        return exposures
    return {
        name: math.fsum(each * share(groups(item), name) for item, each in exposures.items())
        for name in ("new", "old", "lost")
    }


def EED(
    ranking: Sequence[str], _: Any, k: int | None = None, p: float = 0.5, by: str = "groups"
) -> float:
    given = by_group({item: p**place for place, item in enumerate(ranking[:k])}, by)
    return math.fsum(each**2 for each in given.values())


def EER(
    ranking: Sequence[str], truth: Any, k: int | None = None, p: float = 0.5, by: str = "groups"
) -> float:
    given, wanted = (
        by_group({item: p**place for place, item in enumerate(ranking[:k])}, by),
        by_group(expected(truth, p), by),
    )
    return math.fsum(each * wanted[name] for name, each in given.items())


def EEL(
    ranking: Sequence[str], truth: Any, k: int | None = None, p: float = 0.5, by: str = "groups"
) -> float:
    given, wanted = (
        by_group({item: p**place for place, item in enumerate(ranking[:k])}, by),
        by_group(expected(truth, p), by),
    )
    return math.fsum((given.get(name, 0.0) - each) ** 2 for name, each in wanted.items())
