"""The looks at a study: each estimate of differences after new judgments, recorded, so that
intervals are corrected for all.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwell.errors import count_of
from rankwell.io.line_files import append_rows, records_in
from rankwell.tasks.study.folder import LOOKS, Study
from rankwell.tasks.study.journal import now


class Look(NamedTuple):
    """One look. digest: of all that it showed. pairs: the number of pairs that are corrected for,
    fixed by the first look.
    """

    time: str
    look: int
    digest: str
    pairs: int


class Looks(NamedTuple):
    """The looks so far, and the plan: their number, the pairs (None before the first look) and the
    level before correction.
    """

    looks: tuple[Look, ...]
    planned: int
    pairs: int | None
    level: float

    def corrected_level(self, pairs: int) -> float:
        """The level of each interval: α over looks and pairs."""
        return 1 - (1 - self.level) / (self.planned * (self.pairs or pairs))

    def words(self, look: int, pairs: int) -> str:
        """The number of a look in the plan, the level of its intervals, and what they are corrected
        for.
        """
        planned = count_of(self.planned, "look")
        plan = f"{planned} and {count_of(self.pairs or pairs, 'pair')}"
        level, intervals = 100 * self.level, f"{100 * self.corrected_level(pairs):.4g} % intervals"
        if look <= self.planned:
            return f"look {look} of {self.planned}: {intervals}, {level:g} % corrected for {plan}"
        return (
            f"look {look}, beyond the {self.planned} planned: {intervals}, corrected for {plan} "
            f"alone, so that {level:g} % for all looks together is not guaranteed"
        )


def read_looks(study: Study) -> Looks:
    """The looks of a study. Raises BadInput for a line that is not one."""
    looks = records_in(
        study.place / LOOKS,
        "a look",
        lambda row: Look(str(row["time"]), int(row["look"]), str(row["digest"]), int(row["pairs"])),
        "restore the file from a copy",
    )
    pairs = study.plan.pairs or (looks[0].pairs if looks else None)
    return Looks(tuple(looks), study.plan.looks, pairs, study.plan.level)


def take_look(
    study: Study, looks: Looks, shown_data: Sequence[Any], pairs: int
) -> tuple[Look, bool]:
    """The look at some data: the recorded one, or a new one, which is recorded; and whether it is
    within the plan.

    shown_data: all that decides the estimate, as JSON can hold it.
    """
    digest = "sha256:" + hashlib.sha256(json.dumps(shown_data, sort_keys=True).encode()).hexdigest()
    look = next((look for look in looks.looks if look.digest == digest), None)
    if look is None:
        look = Look(now(), len(looks.looks) + 1, digest, looks.pairs or pairs)
        append_rows(study.place / LOOKS, [look._asdict()])
    return look, look.look <= looks.planned
