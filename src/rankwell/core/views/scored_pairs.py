"""Pairs with two numbers each: what a pair should score, and what a model gives it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.errors import BadInput, BadScore


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """names: (n,) of the pairs. targets, similarities: (n,) in the same order.

    Raises BadInput where the numbers of rows differ; BadScore for a number that is not finite, naming its row.
    """

    names: Sequence[str]
    targets: Floats
    similarities: Floats

    def __post_init__(self) -> None:
        if len(self.targets) != len(self.similarities):
            what = f"{len(self.targets)} targets and {len(self.similarities)} similarities"
            raise BadInput(f"{what}; row by row they belong to the same pair, so there are as many of both.")
        for kind, numbers in (("target", self.targets), ("similarity", self.similarities)):
            wrong = np.flatnonzero(~np.isfinite(numbers))
            if len(wrong):
                row = int(wrong[0])
                raise BadScore(
                    f"the {kind} in row {row} (from 0) is {numbers[row]}; expected finite numbers. Correct it, or drop the pair."
                )

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, chosen: Bools) -> "ScoredPairs":
        """Some of the pairs."""
        rows = np.flatnonzero(chosen)
        return ScoredPairs([self.names[row] for row in rows.tolist()], self.targets[rows], self.similarities[rows])
