"""Pairs of rows of two tables, pairs with a target and a similarity, and samples of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints
from rankwell.errors import BadInput, BadScore, BadUsage, flag


@dataclass(frozen=True, eq=False)
class Pairs:
    """left, right: (n,) rows that belong together, counted from 0. Raises BadInput where their
    numbers differ.
    """

    left: Ints
    right: Ints

    def __post_init__(self) -> None:
        if len(self.left) != len(self.right):
            raise BadInput(
                f"{len(self.left)} rows on the left, {len(self.right)} on the right; a pair "
                "has one of each."
            )

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def aligned(cls, n: int) -> "Pairs":
        """The first row with the first, the second with the second, and so on."""
        rows = np.arange(n, dtype=np.int64)
        return cls(rows, rows)


def sample_pairs(items: int, size: int, *, seed: int) -> Pairs:
    """So many different unordered pairs of different items, every such set equally probable; all
    pairs where there are no more.

    With NumPy's `RandomState(seed)`, whose numbers never change: codes are drawn by `randint` until
    enough are different, in the order of their first appearance; where more than half of all pairs
    are requested, they are the beginning of `permutation`. Code c is the pair of item c mod n and
    the item 1 + c div n further on, in a circle.
    Raises BadUsage for less than 1 pair, or a seed outside 0 to 2³² - 1; BadInput for less than 2
    items.
    """
    if size < 1:
        raise BadUsage(f"{size} pairs; expected at least 1.")
    if not 0 <= seed < 1 << 32:
        raise BadUsage(
            f"{flag('--seed')} is {seed}; expected an integer from 0 to {(1 << 32) - 1}."
        )
    if items < 2:
        raise BadInput(f"{items} items make no pair; expected at least 2.")
    total = items * (items - 1) // 2
    random, codes = (
        np.random.RandomState(seed),
        np.arange(total if size >= total else 0, dtype=np.int64),
    )
    if total > size > total / 2:
        codes = random.permutation(total).astype(np.int64)
    while len(codes) < min(size, total):
        codes = np.concatenate([codes, random.randint(0, total, size=size, dtype=np.int64)])
        _, first = np.unique(codes, return_index=True)
        codes = codes[np.sort(first)]
    codes = codes[:size]
    left = codes % items
    return Pairs(left, (left + 1 + codes // items) % items)


_LARGEST = 1e150
"""The sum of squares of as many numbers as fit into memory is finite up to here."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """names: (n,) of the pairs. targets, similarities: (n,) in the same order.

    Raises BadInput where the numbers of rows differ; BadScore for a number whose square is not
    finite, naming its row.
    """

    needs: ClassVar[str] = "pairs with a target and a similarity each"
    command: ClassVar[str] = "pairs"
    names: Sequence[str]
    targets: Floats
    similarities: Floats

    def __post_init__(self) -> None:
        if len(self.targets) != len(self.similarities):
            problem = f"{len(self.targets)} targets and {len(self.similarities)} similarities"
            raise BadInput(
                f"{problem}; row by row they belong to the same pair, so there are as many of both."
            )
        for kind, numbers in (("target", self.targets), ("similarity", self.similarities)):
            wrong = np.flatnonzero(~(np.abs(numbers) <= _LARGEST))
            if len(wrong):
                row = int(wrong[0])
                problem = f"the {kind} in row {row} (from 0) is {numbers[row]}"
                raise BadScore(
                    f"{problem}; expected finite numbers up to {_LARGEST:g}. Correct it, or drop "
                    "the pair."
                )

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, is_included: Bools) -> "ScoredPairs":
        """Some of the pairs."""
        rows = np.flatnonzero(is_included)
        return ScoredPairs(
            [self.names[row] for row in rows.tolist()], self.targets[rows], self.similarities[rows]
        )
