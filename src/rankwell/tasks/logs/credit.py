"""Clicks on interleaved lists -> the credit of both runs for each impression, by the rule of the
method that made the list.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rankwell.tasks.logs.interleaving import InterleavedList


class Credit(NamedTuple):
    """first, second: the credit of the two runs. wins: the probability that the first has more, a
    tie counting as half.
    """

    first: float
    second: float
    wins: float

    @classmethod
    def of(cls, first: float, second: float) -> "Credit":
        """The credit where the winner is certain; differences by rounding are ties."""
        off = first - second
        certain = 0.5 if abs(off) <= 1e-12 * max(abs(first), abs(second), 1.0) else float(off > 0)
        return cls(first, second, certain)


def credit(interleaved: InterleavedList, clicks: Sequence[int]) -> Credit:
    """The credit of clicks on a list. clicks: places in it, from 0, each once.

    balanced: the clicked items among the first j of each ranking, where j is the better of the two
    ranks of the lowest click. team-draft: the clicked items of each team. probabilistic: the
    expected number of clicks on items of each run, and the probability of having more, over all
    teams that may have made the list. optimised: the sums of credit above and below 0.
    """
    marks = [interleaved.marks[position] for position in sorted(clicks)]
    if not marks:
        return Credit(0.0, 0.0, 0.5)
    if interleaved.method == "balanced":
        depth = min(rank for rank in marks[-1] if rank is not None)
        first, second = (
            sum(ranks[side] is not None and ranks[side] <= depth for ranks in marks)
            for side in (0, 1)
        )
        return Credit.of(float(first), float(second))
    if interleaved.method == "team-draft":
        return Credit.of(float(marks.count(0)), float(marks.count(1)))
    if interleaved.method == "optimised":
        return Credit.of(
            sum(item_credit for item_credit in marks if item_credit > 0),
            -sum(item_credit for item_credit in marks if item_credit < 0),
        )
    return _over_teams(marks)


def _over_teams(shares: Sequence[float]) -> Credit:
    """The credit where each clicked item is the first run's with a probability of its own, whatever
    the others.
    """
    # The distribution of the number of clicks on the first run's items.
    chances = [1.0]
    for share in shares:
        chances = [
            (chances[n] * (1 - share) if n < len(chances) else 0.0)
            + (chances[n - 1] * share if n else 0.0)
            for n in range(len(chances) + 1)
        ]
    n = len(shares)
    more = sum(chance for count, chance in enumerate(chances) if 2 * count > n)
    tied = chances[n // 2] if n % 2 == 0 else 0.0
    return Credit(sum(shares), n - sum(shares), more + tied / 2)
