"""Conventions of comparison with a reference model, and their own options."""

from typing import Literal, NamedTuple


class AgreementConvention(NamedTuple):
    """Options of a convention in comparison with a reference.

    gold_depth: number of first items of the reference that are relevant at a cut-off: the `cut`
        itself, or the greatest (`max`).
    """

    gold_depth: Literal["cut", "max"] = "max"
