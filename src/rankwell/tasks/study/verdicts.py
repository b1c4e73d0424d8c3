"""Estimates in words and rows: which run is better, with which confidence, and what leaves it
open.
"""

import math
from typing import NamedTuple

from rankwell.data.tables import Unit, figure
from rankwell.errors import count_of
from rankwell.reporting import Row
from rankwell.stats.samples import FEWEST_QUERIES
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
    def of(cls, estimate: StudyEstimate, level: float, refusal: str = "") -> "StudyVerdict":
        """The verdict, that of queries like these. refusal: the reason why there must be none."""
        least, most, unknown = estimate.least, estimate.most, estimate.unknown
        depends = f"it depends on {count_of(unknown, 'judged item')} without a grade"
        if not math.isfinite(most.mean - least.mean):
            return cls(estimate, None, None, level, None, refusal or depends)
        these_bounds, like = (
            _hull(estimate, name, level) for name in ("these_queries", "queries_like_these")
        )
        low, high = (_sign(end.queries_like_these(level)) for end in (least, most))
        reason = refusal
        if not reason and like is None:
            reason = (
                f"fewer than {FEWEST_QUERIES} queries"
                if estimate.queries < FEWEST_QUERIES
                else "every query has the same value, which shows nothing of others"
            )
        elif not reason and low != high:
            reason = depends
        return cls(estimate, these_bounds, like, level, None if reason else low, reason)

    @property
    def is_exact(self) -> bool:
        """Whether these queries are known without error."""
        return self.estimate.middle.is_exact and self.estimate.unknown == 0

    def row(self, measure: str) -> Row:
        """The row for programs."""
        estimate = self.estimate
        names = ("these_low", "these_high", "like_low", "like_high")
        ends = [*(self.these or (None, None)), *(self.like or (None, None))]
        return {
            "run": estimate.run,
            "against": estimate.against or None,
            "measure": measure,
            "mean": estimate.middle.mean,
            **dict(zip(names, ends, strict=True)),
            "level": self.level,
            "queries": estimate.queries,
            "judged": estimate.judged,
            "unknown": estimate.unknown,
            "better": None
            if not estimate.against or self.sign is None
            else {1: estimate.run, -1: estimate.against, 0: "neither"}[self.sign],
        }

    def shown(self, unit: Unit) -> Row:
        """The row for people."""
        estimate = self.estimate
        signed = bool(estimate.against)
        return {
            "run": estimate.run,
            **({"against": estimate.against} if signed else {}),
            "difference" if signed else "mean": figure(estimate.middle.mean, unit, signed=signed),
            "these queries": "exact"
            if self.is_exact
            else shown_interval(self.these, unit, signed=signed),
            "queries like these": shown_interval(self.like, unit, signed=signed),
            "judged": estimate.judged,
        }

    def sentence(self, measure: str) -> str:
        """The verdict in a sentence."""
        estimate, unit = self.estimate, "share"
        if self.sign is None:
            return (
                f"No verdict on {estimate.run} and {estimate.against} by {measure}: {self.reason}."
            )
        like, mean = self.like, estimate.middle.mean
        better, worse = estimate.run, estimate.against
        if self.sign < 0:  # the better run comes first
            better, worse = worse, better
            like, mean = None if like is None else (-like[1], -like[0]), -mean
        size = (
            f"({figure(mean, unit, signed=True)}, {100 * self.level:.4g} % interval "
            f"{shown_interval(like, unit, signed=True)})."
        )
        if self.sign == 0:
            return f"No significant difference between {better} and {worse} by {measure} {size}"
        return f"{better} is better than {worse} by {measure} {size}"


def _hull(estimate: StudyEstimate, name: str, level: float) -> Bounds:
    ends = [getattr(end, name)(level) for end in (estimate.least, estimate.most)]
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
