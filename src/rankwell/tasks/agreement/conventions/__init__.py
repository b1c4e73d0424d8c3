"""Conventions of comparison with a reference model, and their own options."""

from typing import Literal, NamedTuple

from rankwell.conventions import Convention


class AgreementConvention(NamedTuple):
    """Options of a convention in comparison with a reference.

    gold_depth: number of first items of the reference that are relevant at a cut-off: the `cut` itself, or the greatest (`max`).
    """

    gold_depth: Literal["cut", "max"] = "max"


def cuts_gold(convention: Convention) -> bool:
    """Whether as many first items of the reference are relevant as the cut-off says, at each cut-off."""
    rules: AgreementConvention = convention.tasks.get("agreement", AgreementConvention())
    return rules.gold_depth == "cut"
