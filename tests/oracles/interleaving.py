"""Interleaving by exhaustion: every list that a method may show with its probability, and credit
over all teams.

Plain Python with exact fractions, without anything of rankwell's.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

Half = Fraction(1, 2)
Shown = tuple[str, ...]
Credit = tuple[Fraction, Fraction]


def balanced(a: Sequence[str], b: Sequence[str], length: int, first: int) -> Shown:
    """Algorithm 1 of Radlinski and others 2008."""
    shown: list[str] = []
    k_a = k_b = 0
    while len(shown) < length:
        if k_a < k_b or (k_a == k_b and first == 0):
            if a[k_a] not in shown:
                shown.append(a[k_a])
            k_a += 1
        else:
            if b[k_b] not in shown:
                shown.append(b[k_b])
            k_b += 1
    return tuple(shown)


def team_drafts(
    a: Sequence[str], b: Sequence[str], length: int
) -> Iterator[tuple[Shown, tuple[int, ...], Fraction]]:
    """Every list with its teams and its probability, over all coins."""
    for coins in product((0, 1), repeat=length):
        shown: list[str] = []
        teams: list[int] = []
        used = 0
        for coin in coins:
            counts = teams.count(0), teams.count(1)
            if counts[0] == counts[1]:
                team, used = coin, used + 1
            else:
                team = 0 if counts[0] < counts[1] else 1
                if coin:  # this coin is not thrown; it is counted once
                    break
            shown.append(next(each for each in (a, b)[team] if each not in shown))
            teams.append(team)
        if len(shown) == length:
            yield tuple(shown), tuple(teams), Half**used


def team_chances(
    a: Sequence[str], b: Sequence[str], shown: Shown, tau: int
) -> list[tuple[tuple[int, ...], Fraction]]:
    """Every assignment of the items of a list to teams, with its probability given the list; for
    integer tau.
    """
    joint: list[tuple[tuple[int, ...], Fraction]] = []
    for teams in product((0, 1), repeat=len(shown)):
        chance = Fraction(1)
        for place, team in enumerate(teams):
            left = [
                (each, rank)
                for rank, each in enumerate((a, b)[team], 1)
                if each not in shown[:place]
            ]
            total = sum(Fraction(1, rank**tau) for _, rank in left)
            mine = sum(Fraction(1, rank**tau) for each, rank in left if each == shown[place])
            chance *= Half * mine / total
        joint.append((teams, chance))
    whole = sum(chance for _, chance in joint)
    return [(teams, chance / whole) for teams, chance in joint]


def probabilistic(
    a: Sequence[str], b: Sequence[str], length: int, tau: int
) -> dict[Shown, Fraction]:
    """The probability of every list."""
    found: dict[Shown, Fraction] = {(): Fraction(1)}
    for _ in range(length):
        longer: dict[Shown, Fraction] = defaultdict(Fraction)
        for shown, chance in found.items():
            for side in (a, b):
                left = [(each, rank) for rank, each in enumerate(side, 1) if each not in shown]
                total = sum(Fraction(1, rank**tau) for _, rank in left)
                for each, rank in left:
                    longer[(*shown, each)] += chance * Half * Fraction(1, rank**tau) / total
        found = dict(longer)
    return found


def balanced_credit(
    a: Sequence[str], b: Sequence[str], shown: Shown, clicks: Sequence[int]
) -> Credit:
    """Clicked items among the first j of each ranking, j being the better rank of the lowest
    click.
    """
    if not clicks:
        return Fraction(0), Fraction(0)
    lowest = shown[max(clicks)]
    j = min(list(each).index(lowest) + 1 for each in (a, b) if lowest in each)
    clicked = [shown[place] for place in clicks]
    return Fraction(sum(each in a[:j] for each in clicked)), Fraction(
        sum(each in b[:j] for each in clicked)
    )


def probabilistic_credit(
    a: Sequence[str], b: Sequence[str], shown: Shown, clicks: Sequence[int], tau: int
) -> tuple[Fraction, Fraction, Fraction]:
    """The expected clicks of both teams, and the probability that the first has more with half of
    that of a tie.
    """
    first = second = wins = Fraction(0)
    for teams, chance in team_chances(a, b, shown, tau):
        counts = [sum(teams[place] == team for place in clicks) for team in (0, 1)]
        first, second = first + chance * counts[0], second + chance * counts[1]
        wins += chance * (1 if counts[0] > counts[1] else Half if counts[0] == counts[1] else 0)
    return first, second, wins


def allowed(a: Sequence[str], b: Sequence[str]) -> set[Shown]:
    """Every list of which each beginning is the union of first items of both rankings."""
    found: set[Shown] = {()}
    for _ in range(len(a)):
        found = {
            (*shown, each)
            for shown in found
            for each in {*a, *b} - set(shown)
            if _is_union({*shown, each}, a, b)
        }
    return found


def _is_union(items: set[str], a: Sequence[str], b: Sequence[str]) -> bool:
    def tops(side: Sequence[str]) -> list[set[str]]:
        return [set(side[:n]) for n in range(len(side) + 1)]

    return any(one | other == items for one in tops(a) for other in tops(b))
