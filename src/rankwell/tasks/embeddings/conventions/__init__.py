"""Conventions of comparison with a reference model, and their own options."""

from typing import Literal, NamedTuple


class AgreementConvention(NamedTuple):
    """Options of a convention for comparison with a reference.

    gold_depth: number of the reference's first items that are relevant at a cut-off: the cut-off
        itself (`cut`), the largest cut-off (`max`), or a fixed number.
    seed: seed of the sample (NumPy's RandomState) and of the bootstrap.
    """

    gold_depth: Literal["cut", "max"] | int = "max"
    seed: int = 0
