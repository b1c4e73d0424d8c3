"""Verdicts: a comparison in one sentence: the difference, its significance, and the groups of
queries where it does not hold.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rankwell.core.tables import figure, p_text

Direction = Literal["higher", "lower", "neither"]
NOTHING_TESTED = "Nothing is tested: neither higher nor lower values of {} are better."
_WORDS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "max-t": "max-T", "tukey": "Tukey's HSD"}
_MOST = 4


class MeasuredDifference(NamedTuple):
    """A difference and its test, run less against; None where there are too few queries.

    part: the group of queries that it covers, empty for all. decisive: whether the adjusted p-value
    is at most the level. differing: the queries with a difference, of a test that counts their
    signs; None of other tests.
    """

    run: str
    against: str
    measure: str
    unit: str
    better: Direction
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    n: int
    decisive: bool
    detectable: float | None = None
    part: str = ""
    differing: int | None = None

    @property
    def ahead(self) -> bool | None:
        """Whether the run has the better mean; None where neither has."""
        if not self.difference:
            return None
        return (self.difference > 0) is (self.better != "lower")


class Family(NamedTuple):
    """A family of tests: the correction of their p-values, their number, and their name.

    secondary: whether measures other than the first are secondary, each with a family of its own.
    noun: for the queries.
    """

    correction: str
    tests: int
    described: str
    level: float = 0.95
    power: float = 0.8
    secondary: bool = True
    noun: str = "queries"

    @property
    def words(self) -> str:
        """As it follows a p-value; empty where nothing is adjusted."""
        if self.correction == "tukey":
            return f"{_WORDS['tukey']} {self.described}"
        return (
            f"{_WORDS[self.correction]} {self.described}"
            if self.tests > 1 and self.correction in _WORDS
            else ""
        )


def verdict(
    found: MeasuredDifference,
    others: Sequence[MeasuredDifference] = (),
    parts: Sequence[MeasuredDifference] = (),
    *,
    family: Family,
    few: int = 0,
) -> str:
    """One sentence: who is better, by how much, how sure, what other measures say, and in which
    groups it is not so.

    found: by the measure that counts most. others: by the other measures. parts: by the first, for
    groups of the queries.
    few: a group of fewer queries is called small.
    """
    if found.difference is None:
        return (
            f"Nothing can be said of {found.run} and {found.against}: no query counts for both by "
            f"{found.measure}."
        )
    said = [_clause(found, family), *_others(found, others, family), *_parts(found, parts, few)]
    return "; ".join(said) + "."


def leader(
    ranked: Sequence[tuple[str, float]],
    unclear: Sequence[str],
    found: MeasuredDifference,
    family: Family,
) -> str:
    """One sentence for many systems: the leader by the first measure, and the systems that it does
    not differ from significantly.

    ranked: systems with their means, best first. unclear: those not decisively worse than the
    first. found: first against second.
    """
    name, mean = ranked[0]
    total = len(ranked) - 1
    head = f"{name} leads by {found.measure} ({figure(mean, found.unit)})"
    tail = f"; {family.words}" if family.words else ""
    if not unclear:
        return f"{head} and is better than all {total} others{tail}."
    kept = _named(unclear)
    if len(unclear) == total:
        return f"{head} but shows no significant difference from any of the {total} others{tail}."
    worse = _named([each for each, _ in ranked[1:] if each not in unclear])
    return (
        f"{head} and is better than {worse}; there is no significant difference from {kept}{tail}."
    )


def _clause(found: MeasuredDifference, family: Family) -> str:
    size = _amount(found)
    evidence = [_interval(found, family), p_text(found.p), family.words]
    sure = ", ".join(part for part in evidence if part) + _disagreement(found, family)
    if found.decisive and found.ahead is not None:
        return (
            f"{found.run} is {'better' if found.ahead else 'worse'} than {found.against} by "
            f"{size}, {sure}"
        )
    where = {True: "ahead", False: "behind", None: "level"}[found.ahead]
    seen = (
        f"they are level by {found.measure}"
        if found.ahead is None
        else f"{found.run} is {where} by {size}"
    )
    if found.p is None:
        known = ", ".join(filter(None, [seen, _interval(found, family)]))
        reason = "it has no p-value for fewer than two differences, or where all are the same"
        return f"This test cannot judge {found.run} and {found.against}: {known}; {reason}"
    smallest = ""
    if found.detectable is not None:
        size = figure(found.detectable, found.unit)
        alone = " in a test of this pair alone" if family.words else ""
        often = f"is significant {100 * family.power:g} % of the time{alone}"
        smallest = f"; with {found.n} {family.noun} a true difference of about {size} {often}"
    return (
        f"There is no significant difference between {found.run} and {found.against}: {seen}, "
        f"{sure}{smallest}"
    )


def _disagreement(found: MeasuredDifference, family: Family) -> str:
    """Why the test decides otherwise than a reader of the interval would, where it does."""
    if found.interval is None or found.p is None:
        return ""
    excludes = found.interval[0] > 0 or found.interval[1] < 0
    if excludes is found.decisive:
        return ""
    if found.decisive:
        return "; the interval includes 0, but the test decides"
    if found.differing is not None and (least := 2.0 ** (1 - found.differing)) > 1 - family.level:
        few = (
            f"only {found.differing} {family.noun} differ, which cannot give a p below "
            f"{figure(least, 'score')}"
        )
        return f"; the interval excludes 0, but {few}"
    corrected = "which is not corrected for several tests, " if family.words else ""
    return f"; the interval, {corrected}excludes 0, but the test decides"


def _others(
    found: MeasuredDifference, others: Sequence[MeasuredDifference], family: Family
) -> list[str]:
    alike = [
        each.measure
        for each in others
        if each.decisive and each.ahead is found.ahead and found.decisive
    ]
    decisive = [each for each in others if each.decisive and each.measure not in alike]
    unclear = [each.measure for each in others if not each.decisive]
    said = (
        [f"{'better' if found.ahead else 'worse'} by {_measures(alike, family)}, too"]
        if alike
        else []
    )
    for word, ahead in (("better", True), ("worse", False)):
        names = [each.measure for each in decisive if each.ahead is ahead]
        said += [f"{word} by {_measures(names, family)}"] if names else []
    return said + (
        [f"not decisive by {_measures(unclear, family)}"] if unclear and found.decisive else []
    )


def _measures(names: Sequence[str], family: Family) -> str:
    plural = "s" if len(names) > 1 else ""
    return f"the secondary measure{plural} {_named(names)}" if family.secondary else _named(names)


def _parts(found: MeasuredDifference, parts: Sequence[MeasuredDifference], few: int) -> list[str]:
    """Parts that differ from the verdict over all queries."""
    shown = [
        (each, f"{each.part} (n = {each.n}{', small' if each.n < few else ''})") for each in parts
    ]
    if not parts:
        return []
    said: list[str] = []
    for word, ahead in (("better", True), ("worse", False)):
        names = [name for each, name in shown if each.decisive and each.ahead is ahead]
        if names and not (found.decisive and found.ahead is ahead):
            said.append(f"{word} for {_named(names)}")
    unclear = [name for each, name in shown if not each.decisive]
    if found.decisive:
        said += (
            [f"not decisive for {_named(unclear)}"]
            if unclear
            else []
            if said
            else [f"so it is in all {len(parts)} groups"]
        )
    elif len(unclear) == len(parts):
        said.append(f"nor in any of {len(parts)} groups")
    return said


def _named(names: Sequence[str]) -> str:
    if len(names) > _MOST:
        return f"{', '.join(names[:_MOST])} and {len(names) - _MOST} more"
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _amount(found: MeasuredDifference) -> str:
    unit = {"percent": " points of", "rank": " ranks by", "count": " by"}.get(found.unit, "")
    return f"{figure(abs(found.difference or 0.0), found.unit)}{unit} {found.measure}"


def _interval(found: MeasuredDifference, family: Family) -> str:
    if found.interval is None:
        return "" if found.n >= 10 else f"no interval below 10 {family.noun} (n = {found.n})"
    low, high = found.interval
    # The sentence names the size of the difference, and the interval is of what it names.
    if (found.difference or 0.0) < 0:
        low, high = -high, -low
    return (
        f"{100 * family.level:g} % interval [{figure(low, found.unit)}, {figure(high, found.unit)}]"
    )
