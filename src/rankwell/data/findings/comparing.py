"""Findings on comparisons, gates and fused runs."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of


@finding("info")
def not_compared(reason: str) -> str:
    """Some runs, measures or figures have no values of queries in common, or none that are better
    or worse, and are left out of the comparison.
    """
    return reason


@finding("warning")
def queries_of_one_run(labels: Sequence[str], n: int, first: str, second: str, noun: str) -> str:
    """Some queries count for one only of two runs. A comparison leaves them out."""
    counts = "counts" if n == 1 else "count"
    return (
        f"{', '.join(labels)}: {n} {noun} {counts} for one only of {first} and {second}, and "
        f"{'is' if n == 1 else 'are'} left out"
    )


@finding("info")
def equal_differences(labels: Sequence[str], names: str, reason: str) -> str:
    """The difference of two runs is the same on every query, so that its interval has no width."""
    return f"{', '.join(labels)} of {names}: {reason}"


@finding("warning")
def small_groups(groups: str, least: int, plural: str) -> str:
    """Groups of few queries have wide intervals, and their tests find little."""
    return (
        f"small groups, below {least} {plural}, whose intervals are wide and whose tests find "
        f"little: {groups}"
    )


@finding("warning")
def difference_unjudged(names: str, bounds: Sequence[str]) -> str:
    """Unjudged items among the first decide how large a difference is, or who is better.

    The bounds are the differences if the unjudged items of one run alone were relevant.
    """
    return f"{names}: {', '.join(bounds)}, depending on unjudged items"


@finding("info")
def bounds_not_listed(n: int, advice: str) -> str:
    """The bounds of further pairs under unjudged items are not listed."""
    return f"the bounds of {count_of(n, 'more pair is', 'more pairs are')} not listed; {advice}"


@finding("info")
def compared_by_mean(label: str, reason: str) -> str:
    """Systems are compared by plain means of queries, though a measure sums queries up in another
    way.
    """
    return f"{label}{reason}"


@finding("warning")
def direction_assumed(label: str, direction: str) -> str:
    """A measure does not say which values are better."""
    return f"{label} does not say which values are better; {direction} ones are taken for it"


@finding("info")
def measured_twice(label: str, twin: str) -> str:
    """Two measures have the same value on every query, and count as one in the tests."""
    return f"{label}: the same values as {twin} on every query; the two count as one"


@finding("info")
def measures_of_some_runs(n: int, owners: str) -> str:
    """Some runs lack measures that others have; runs are compared by the measures of both."""
    missing = f"{n} {'is' if n == 1 else 'are'} missing from some runs: {owners}"
    return f"runs are compared by the measures that both have; {missing}"


@finding("warning")
def different_inputs(first: str, second: str, what: str) -> str:
    """Two results come of different judgments or queries, so that a difference may be theirs."""
    return f"{first} and {second} come of different {what}: their values may not compare"


@finding("warning")
def different_rules(rules: str) -> str:
    """Two results were computed under different rules, so that a difference may be theirs."""
    return rules


@finding("info")
def attributes_differ(examples: str, names: Sequence[str]) -> str:
    """Attributes of queries differ between folders, and keep the name of theirs."""
    return (
        f"attributes of queries that differ between folders keep the name of theirs, as {examples}:"
        f" {', '.join(names)}"
    )


@finding("info", "rankwell compare")
def tested_against_first(first: str, pairs: int) -> str:
    """Of many runs a page tests each against the first alone."""
    return f"each run was tested against {first} alone, not all {pairs} pairs"


@finding("warning")
def fused_from_some(total: int, lacking: str) -> str:
    """Some runs lack some queries, which are fused from the other runs."""
    return (
        f"{total} queries, of which some runs lack some ({lacking}); those are fused from the "
        "other runs"
    )


@finding("warning", "--absent")
def negative_scores(problem: str) -> str:
    """Scores below 0 are added or multiplied, so that an item gains where a run lacks it."""
    return problem


@finding("warning")
def fusion_not_better(fused: str, best: str, label: str, means: Sequence[str]) -> str:
    """The fused run does not beat the best of the runs that it is made of."""
    return f"{fused} does not beat its best input, {best}: {label} {means[0]} against {means[1]}"


@finding("info")
def queries_fused_unjudged(n: int) -> str:
    """Queries without judgments are fused as all judged queries together chose."""
    unjudged = count_of(n, "query without judgments is", "queries without judgments are")
    return f"{unjudged} fused as all judged queries together chose"


@finding("warning")
def queries_of_some_systems(difference: str) -> str:
    """Systems were evaluated on different queries; each pair is tested over those of both."""
    return f"{difference}; each pair is tested over the queries that both have"
