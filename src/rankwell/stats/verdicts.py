"""Verdicts: a comparison in one sentence: the difference, its significance, and the groups of
queries where it does not hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from rankwell.data.options import shown_digits
from rankwell.data.registry import Better
from rankwell.data.tables import format_value, p_text
from rankwell.errors import first_of

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
    better: Better
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    n: int
    decisive: bool
    detectable: float | None = None
    group: str = ""
    differing: int | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any], label: str, **facts: Any) -> Self:
        """The difference of a row of a table. facts: fields that the row has not."""
        interval = row["ci_low"], row["ci_high"]
        return cls(
            **{name: row[name] for name in ("run", "against", "unit", "better", "n")},
            label=label,
            difference=row["mean"],
            interval=None if None in interval else interval,
            p=row["p_adjusted"],
            decisive=bool(row["decisive"]),
            **facts,
        )

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
        """The correction as it ends a verdict; empty where nothing is adjusted."""
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
    sentence = headline(comparison, family, is_only=False)
    if comparison.difference is None:
        return f"{sentence}."
    clauses = [
        sentence,
        *_detectable(comparison, family),
        *_other_measures(comparison, other_measures, family),
        *_parts(comparison, parts, few),
        *filter(None, [family.words]),
    ]
    return "; ".join(clauses) + "."


def headline(comparison: MeasuredDifference, family: Family, *, is_only: bool) -> str:
    """The verdict in one line: whether the run is better, by how much, and how sure that is.
    is_only: whether there is no other pair to mistake it for.
    """
    both = f"{comparison.run} and {comparison.against}"
    if comparison.difference is None:
        return f"Nothing can be said of {both}: no query counts for both by {comparison.label}"
    p = "" if comparison.p is None else p_text(comparison.p)
    evidence = ", ".join(filter(None, [_interval(comparison, family), p]))
    evidence += _disagreement(comparison, family)
    unit = {"percent": " points of", "rank": " ranks by"}.get(comparison.unit, "")
    size = f"{_shown(comparison, comparison.difference, signed=True)}{unit} {comparison.label}"
    size += f" ({evidence})" if evidence else ""
    if comparison.p is None:
        reason = "it has no p-value for fewer than two differences, or where all are the same"
        return f"This test cannot judge {both}: {size}; {reason}"
    if not comparison.decisive or comparison.is_ahead is None:
        return f"No significant difference between {both}: {size}"
    word = "better" if comparison.is_ahead else "worse"
    than = "" if is_only else f" than {comparison.against}"
    return f"{comparison.run} is {word}{than}: {size}"


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


def _detectable(comparison: MeasuredDifference, family: Family) -> list[str]:
    """The difference that the test would find, where it found none."""
    if comparison.decisive or comparison.p is None or comparison.detectable is None:
        return []
    size = _shown(comparison, comparison.detectable)
    pair_only = " in a test of this pair alone" if family.words else ""
    often = f"is significant {100 * family.power:g}% of the time{pair_only}"
    return [f"with {comparison.n} {family.noun} a true difference of about {size} {often}"]


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
    corrected = ", which is not corrected for several tests," if family.words else ""
    return f"; the interval{corrected} excludes 0, but the test decides"


def _other_measures(
    comparison: MeasuredDifference, other_measures: Sequence[MeasuredDifference], family: Family
) -> list[str]:
    clauses: list[str] = []
    # What agrees with the verdict comes first.
    for word, ahead in sorted(_DIRECTIONS, key=lambda each: each[1] is not comparison.is_ahead):
        names = [
            difference.label
            for difference in other_measures
            if difference.decisive and difference.is_ahead is ahead
        ]
        if names:
            also = "also " * (comparison.decisive and ahead is comparison.is_ahead)
            clauses.append(f"{also}{word} by {_measures(names, family)}")
    unclear = [difference.label for difference in other_measures if not difference.decisive]
    if unclear and comparison.decisive:
        clauses.append(f"no significant difference by {_measures(unclear, family)}")
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
        clauses.append(f"no significant difference for {_join_names(unclear)}")
    elif comparison.decisive and not clauses:
        clauses.append(f"this holds in all {len(parts)} groups")
    elif not comparison.decisive and len(unclear) == len(parts):
        clauses.append(f"nor in any of the {len(parts)} groups")
    return clauses


def _join_names(names: Sequence[str]) -> str:
    if len(names) > _MOST:
        return first_of(names, _MOST)
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _shown(comparison: MeasuredDifference, value: float, *, signed: bool = False) -> str:
    digits = shown_digits()
    if digits is None and comparison.unit in ("share", "score"):
        digits = 3
    return format_value(value, comparison.unit, signed=signed, digits=digits)


def _interval(comparison: MeasuredDifference, family: Family) -> str:
    if comparison.interval is None:
        return f"n = {comparison.n}, too few for an interval" if comparison.n < 10 else ""
    low, high = (_shown(comparison, end) for end in comparison.interval)
    return f"{100 * family.level:g}% CI {low} to {high}"
