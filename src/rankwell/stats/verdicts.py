"""Verdicts: a comparison in one sentence: the difference, its significance, and the groups of
queries where it does not hold.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rankwell.data.options import shown_digits
from rankwell.data.tables import format_value, p_text
from rankwell.errors import first_of

Direction = Literal["higher", "lower", "neither"]
NOTHING_TESTED = "Nothing is tested: neither higher nor lower values of {} are better."
_WORDS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "max-t": "max-T", "tukey": "Tukey's HSD"}
_DIRECTIONS = (("better", True), ("worse", False))
_MOST = 4


class MeasuredDifference(NamedTuple):
    """A difference between two runs by one measure, and its test.

    run: the run whose mean is the first term.
    against: the run whose mean is subtracted.
    label: the label of the measure, with the attributes of its row where several rows have that
        label.
    unit: the unit of the difference.
    better: the direction of better values.
    difference: difference of the means; None where no query counts for both runs.
    interval: interval of the difference; None where there are too few queries.
    p: adjusted p-value; None where nothing was tested.
    n: number of queries counted for both runs.
    decisive: whether the adjusted p-value is at most the level.
    detectable: the difference that a test of as many queries finds with the family's power; None
        where it was not computed.
    group: the group of queries that it covers; empty for all queries.
    differing: number of queries with a difference, for a test that counts signs; None for other
        tests.
    """

    run: str
    against: str
    label: str
    unit: str
    better: Direction
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    n: int
    decisive: bool
    detectable: float | None = None
    group: str = ""
    differing: int | None = None

    @property
    def is_ahead(self) -> bool | None:
        """Whether the run has the better mean; None where neither has."""
        if not self.difference:
            return None
        return (self.difference > 0) is (self.better != "lower")


class Family(NamedTuple):
    """A family of tests.

    correction: name of the adjustment of p-values.
    tests: number of tests.
    described: words after the correction that say what the tests cover (`over 3 pairs`).
    level: level of the intervals; a difference is decisive at 1 less this level.
    power: power at which a difference is called detectable.
    secondary: whether measures other than the first are secondary, each with a family of its own.
    noun: the word for the queries.
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
        """The correction as it follows a p-value; empty where nothing is adjusted."""
        is_adjusted = self.correction == "tukey" or self.tests > 1
        if not is_adjusted or self.correction not in _WORDS:
            return ""
        return f"{_WORDS[self.correction]} {self.described}"


def verdict(
    comparison: MeasuredDifference,
    other_measures: Sequence[MeasuredDifference] = (),
    parts: Sequence[MeasuredDifference] = (),
    *,
    family: Family,
    few: int = 0,
) -> str:
    """One sentence: who is better, by how much, how sure, what other measures say, and in which
    groups it is not so.

    comparison: by the measure that counts most. other_measures: by the others. parts: by the first,
    for groups of the queries.
    few: a group of fewer queries is called small.
    """
    if comparison.difference is None:
        return (
            f"Nothing can be said of {comparison.run} and {comparison.against}: no query counts "
            "for both by "
            f"{comparison.label}."
        )
    clauses = [
        _clause(comparison, family),
        *_other_measures(comparison, other_measures, family),
        *_parts(comparison, parts, few),
    ]
    return "; ".join(clauses) + "."


def headline(comparison: MeasuredDifference, family: Family, *, is_only: bool) -> str:
    """The verdict in one line: whether the run is better, by how much, and how sure that is.
    is_only: whether there is no other pair to mistake it for.
    """
    gain, interval = comparison.difference, comparison.interval
    if gain is None:
        return verdict(comparison, family=family)
    first = f"No significant difference between {comparison.run} and {comparison.against}"
    if comparison.decisive and gain:
        word = "better" if comparison.is_ahead else "worse"
        first = f"{comparison.run} is {word}" + f" than {comparison.against}" * (not is_only)

    def _short(value: float, *, signed: bool = False) -> str:
        digits = shown_digits()
        if digits is None and comparison.unit in ("share", "score"):
            digits = 3
        return format_value(value, comparison.unit, signed=signed, digits=digits)

    evidence = [
        f"no interval below 10 {family.noun}"
        if interval is None
        else f"{100 * family.level:g}% CI {_short(interval[0])} to {_short(interval[1])}",
        p_text(comparison.p),
    ]
    unit = {"percent": " points of", "rank": " ranks by"}.get(comparison.unit, "")
    sure = ", ".join(evidence) + _disagreement(comparison, family)
    return f"{first}: {_short(gain, signed=True)}{unit} {comparison.label} ({sure})"


def leader(
    ranked: Sequence[tuple[str, float]],
    unclear: Sequence[str],
    comparison: MeasuredDifference,
    family: Family,
) -> str:
    """One sentence for many systems: the leader by the first measure, and the systems that it does
    not differ from significantly.

    ranked: systems with their means, best first. unclear: those not decisively worse than the
    first. comparison: first against second.
    """
    name, mean = ranked[0]
    total = len(ranked) - 1
    head = f"{name} leads by {comparison.label} ({format_value(mean, comparison.unit)})"
    tail = f"; {family.words}" if family.words else ""
    if not unclear:
        return f"{head} and is better than all {total} others{tail}."
    if len(unclear) == total:
        return f"{head} but shows no significant difference from any of the {total} others{tail}."
    worse = _join_names([system for system, _ in ranked[1:] if system not in unclear])
    return (
        f"{head} and is better than {worse}; there is no significant difference from "
        f"{_join_names(unclear)}{tail}."
    )


def _clause(comparison: MeasuredDifference, family: Family) -> str:
    size = _amount(comparison)
    evidence = [_interval(comparison, family), p_text(comparison.p), family.words]
    sure = ", ".join(filter(None, evidence)) + _disagreement(comparison, family)
    if comparison.decisive and comparison.is_ahead is not None:
        return (
            f"{comparison.run} is {'better' if comparison.is_ahead else 'worse'} than "
            f"{comparison.against} by "
            f"{size}, {sure}"
        )
    where = {True: "ahead", False: "behind", None: "level"}[comparison.is_ahead]
    standing = f"{comparison.run} is {where} by {size}"
    if comparison.is_ahead is None:
        standing = f"they are level by {comparison.label}"
    if comparison.p is None:
        evidence_shown = ", ".join(filter(None, [standing, evidence[0]]))
        return (
            f"This test cannot judge {comparison.run} and {comparison.against}: {evidence_shown}; "
            "it has no p-value for fewer than two differences, or where all are the same"
        )
    smallest = ""
    if comparison.detectable is not None:
        size = format_value(comparison.detectable, comparison.unit)
        pair_only = " in a test of this pair alone" if family.words else ""
        often = f"is significant {100 * family.power:g} % of the time{pair_only}"
        smallest = f"; with {comparison.n} {family.noun} a true difference of about {size} {often}"
    return (
        f"There is no significant difference between {comparison.run} and {comparison.against}: "
        f"{standing}, {sure}{smallest}"
    )


def _disagreement(comparison: MeasuredDifference, family: Family) -> str:
    """Why the test decides otherwise than a reader of the interval would, where it does."""
    if comparison.interval is None or comparison.p is None:
        return ""
    excludes = comparison.interval[0] > 0 or comparison.interval[1] < 0
    if excludes is comparison.decisive:
        return ""
    if comparison.decisive:
        return "; the interval includes 0, but the test decides"
    if (
        comparison.differing is not None
        and (least := 2.0 ** (1 - comparison.differing)) > 1 - family.level
    ):
        few = (
            f"only {comparison.differing} {family.noun} differ, which cannot give a p below "
            f"{format_value(least, 'score')}"
        )
        return f"; the interval excludes 0, but {few}"
    corrected = "which is not corrected for several tests, " if family.words else ""
    return f"; the interval, {corrected}excludes 0, but the test decides"


def _other_measures(
    comparison: MeasuredDifference, other_measures: Sequence[MeasuredDifference], family: Family
) -> list[str]:
    clauses: list[str] = []
    agreeing = [
        difference.label
        for difference in other_measures
        if difference.decisive
        and difference.is_ahead is comparison.is_ahead
        and comparison.decisive
    ]
    if agreeing:
        word = "better" if comparison.is_ahead else "worse"
        clauses.append(f"{word} by {_measures(agreeing, family)}, too")
    for word, ahead in _DIRECTIONS:
        names = [
            difference.label
            for difference in other_measures
            if difference.decisive
            and difference.is_ahead is ahead
            and difference.label not in agreeing
        ]
        if names:
            clauses.append(f"{word} by {_measures(names, family)}")
    unclear = [difference.label for difference in other_measures if not difference.decisive]
    if unclear and comparison.decisive:
        clauses.append(f"not decisive by {_measures(unclear, family)}")
    return clauses


def _measures(names: Sequence[str], family: Family) -> str:
    joined = _join_names(names)
    return f"the secondary measure{'s' * (len(names) > 1)} {joined}" if family.secondary else joined


def _parts(
    comparison: MeasuredDifference, parts: Sequence[MeasuredDifference], few: int
) -> list[str]:
    """Parts that differ from the verdict over all queries."""
    if not parts:
        return []
    labelled_parts = [
        (part, f"{part.group} (n = {part.n}{', small' if part.n < few else ''})") for part in parts
    ]
    clauses: list[str] = []
    for word, ahead in _DIRECTIONS:
        names = [name for part, name in labelled_parts if part.decisive and part.is_ahead is ahead]
        if names and not (comparison.decisive and comparison.is_ahead is ahead):
            clauses.append(f"{word} for {_join_names(names)}")
    unclear = [name for part, name in labelled_parts if not part.decisive]
    if comparison.decisive and unclear:
        clauses.append(f"not decisive for {_join_names(unclear)}")
    elif comparison.decisive and not clauses:
        clauses.append(f"so it is in all {len(parts)} groups")
    elif not comparison.decisive and len(unclear) == len(parts):
        clauses.append(f"nor in any of {len(parts)} groups")
    return clauses


def _join_names(names: Sequence[str]) -> str:
    if len(names) > _MOST:
        return first_of(names, _MOST)
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _amount(comparison: MeasuredDifference) -> str:
    unit = {"percent": " points of", "rank": " ranks by", "count": " by"}.get(comparison.unit, "")
    size = format_value(abs(comparison.difference or 0.0), comparison.unit)
    return f"{size}{unit} {comparison.label}"


def _interval(comparison: MeasuredDifference, family: Family) -> str:
    if comparison.interval is None:
        too_few = f"no interval below 10 {family.noun} (n = {comparison.n})"
        return too_few if comparison.n < 10 else ""
    low, high = comparison.interval
    # The sentence names the size of the difference, and the interval is of what it names.
    if (comparison.difference or 0.0) < 0:
        low, high = -high, -low
    return (
        f"{100 * family.level:g} % interval [{format_value(low, comparison.unit)}, "
        f"{format_value(high, comparison.unit)}]"
    )
