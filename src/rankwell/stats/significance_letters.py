"""Significance letters: systems that share a letter do not differ significantly."""

from collections.abc import Sequence
from itertools import combinations, product
from string import ascii_lowercase

from rankwell.core.tables import Bools


def significance_letters(apart: Bools, order: Sequence[int]) -> list[str]:
    """The letters of each system, so that two systems share one exactly where their difference is not significant.

    apart: (systems, systems) whether two differ significantly. order: the systems, best first: `a` begins with the best.
    Past the 26th come `aa`, `ab`, …; a system with several of those has commas between them.
    Source: Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons (insert and absorb).
    """
    groups: list[frozenset[int]] = [frozenset(range(len(order)))]
    place = {system: rank for rank, system in enumerate(order)}
    for one, other in combinations(order, 2):
        if not apart[one, other]:
            continue
        pair = {place[one], place[other]}
        split = [group - {each} if pair <= group else group for group in groups for each in (pair if pair <= group else (-1,))]
        unique = list(dict.fromkeys(split))
        groups = [group for group in unique if not any(group < larger for larger in unique)]
    groups.sort(key=sorted)
    names = [*ascii_lowercase, *("".join(pair) for pair in product(ascii_lowercase, repeat=2))]
    names += [f"{number}" for number in range(len(groups) - len(names))]
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return [
        separator.join(names[at] for at, group in enumerate(groups) if place[system] in group) for system in range(len(order))
    ]
