"""Estimates in words and rows: which run is better, with which confidence, and what leaves it
open.
"""

import math
from typing import NamedTuple

from rankwell.core.tables import Unit, figure
from rankwell.errors import count_of
from rankwell.report import Row
from rankwell.stats.query_sample import FEWEST_QUERIES
from rankwell.tasks.study.estimation import StudyEstimate

Bounds = tuple[float, float] | None


class StudyVerdict(NamedTuple):
    """An estimate at a level. these, like: the intervals, widened by what unknown grades leave
    open; None where there is none.

    sign: 1 where the run is better, -1 where it is worse, 0 for no significant difference, None for
    no verdict. reason: why not.
    """

    estimate: StudyEstimate
    these: Bounds
    like: Bounds
    level: float
    sign: int | None
    reason: str = ""

    @classmethod
    def of(cls, found: StudyEstimate, level: float, refusal: str = "") -> "StudyVerdict":
        """The verdict, that of queries like these. refusal: the reason why there must be none."""
        open_ = f"it depends on {count_of(found.unknown, 'judged item')} without a grade"
        if not math.isfinite(found.most.mean - found.least.mean):
            return cls(found, None, None, level, None, refusal or open_)
        these, like = (
            _hull(found, name, level) for name in ("these_queries", "queries_like_these")
        )
        ends = [_sign(each.queries_like_these(level)) for each in (found.least, found.most)]
        if refusal:
            return cls(found, these, like, level, None, refusal)
        if like is None:
            few, same = (
                f"fewer than {FEWEST_QUERIES} queries",
                "every query has the same value, which shows nothing of others",
            )
            return cls(
                found, these, like, level, None, few if found.queries < FEWEST_QUERIES else same
            )
        if ends[0] != ends[1]:
            return cls(found, these, like, level, None, open_)
        return cls(found, these, like, level, ends[0])

    @property
    def is_exact(self) -> bool:
        """Whether these queries are known without error."""
        return self.estimate.middle.is_exact and self.estimate.unknown == 0

    def row(self, measure: str) -> Row:
        """The row for programs."""
        found = self.estimate
        names = ("these_low", "these_high", "like_low", "like_high")
        ends = [*(self.these or (None, None)), *(self.like or (None, None))]
        return {
            "run": found.run,
            "against": found.against or None,
            "measure": measure,
            "mean": found.middle.mean,
            **dict(zip(names, ends, strict=True)),
            "level": self.level,
            "queries": found.queries,
            "judged": found.judged,
            "unknown": found.unknown,
            "better": None
            if not found.against or self.sign is None
            else {1: found.run, -1: found.against, 0: "neither"}[self.sign],
        }

    def shown(self, unit: Unit) -> Row:
        """The row for people."""
        found = self.estimate
        signed = bool(found.against)
        return {
            "run": found.run,
            **({"against": found.against} if signed else {}),
            "difference" if signed else "mean": figure(found.middle.mean, unit, signed=signed),
            "these queries": "exact"
            if self.is_exact
            else shown_interval(self.these, unit, signed=signed),
            "queries like these": shown_interval(self.like, unit, signed=signed),
            "judged": found.judged,
        }

    def sentence(self, measure: str) -> str:
        """The verdict in a sentence."""
        found, unit = self.estimate, "share"
        if self.sign is None:
            return f"No verdict on {found.run} and {found.against} by {measure}: {self.reason}."
        like, mean = self.like, found.middle.mean
        if self.sign < 0:  # the better run comes first
            like, mean = None if like is None else (-like[1], -like[0]), -mean
        size = (
            f"{figure(mean, unit, signed=True)}, {100 * self.level:.4g} % interval "
            f"{shown_interval(like, unit, signed=True)}"
        )
        if self.sign == 0:
            return (
                f"No significant difference between {found.run} and {found.against} by {measure} "
                f"({size})."
            )
        better, worse = (found.run, found.against) if self.sign > 0 else (found.against, found.run)
        return f"{better} is better than {worse} by {measure} ({size})."


def _hull(found: StudyEstimate, name: str, level: float) -> Bounds:
    ends = [getattr(each, name)(level) for each in (found.least, found.most)]
    return None if None in ends else (ends[0][0], ends[1][1])


def _sign(interval: Bounds) -> int:
    if interval is None:
        return 0
    return 1 if interval[0] > 0 else -1 if interval[1] < 0 else 0


def shown_interval(bounds: Bounds, unit: Unit, *, signed: bool = False) -> str:
    """An interval in a table or sentence."""
    if bounds is None:
        return "none"
    return f"[{', '.join(figure(end, unit, signed=signed) for end in bounds)}]"
