"""Findings for which a check reads all rows of a run, or a collection."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of


@finding("error", "--duplicates first")
def items_listed_twice(run: str, queries: Sequence[str]) -> str:
    """A run lists an item twice for the same query, so the item has no single rank.

    Remove one of the rows, or say which of them counts.
    """
    number = count_of(len(queries), "query lists", "queries list")
    return f"{number} an item twice ({examples(queries)})"


@finding("warning", "--exclude-self")
def queries_retrieve_themselves(run: str, queries: Sequence[str]) -> str:
    """A query retrieves the item with its own id, which takes a place from the others."""
    number = count_of(len(queries), "query retrieves", "queries retrieve")
    return f"{number} the item with its own id ({examples(queries)})"


@finding("error")
def run_not_evaluated(reason: str) -> str:
    """No query of a run can be evaluated, for example because it shares none with the judgments.

    Check that the run belongs to these judgments and writes query ids in the same way.
    """
    return reason


@finding("warning", "--ties expected")
def ties_decide_score(run: str, label: str, by_rule: float, by_chance: float) -> str:
    """Tied items decide the mean of a run: with ties in random order it would be different.

    Write more digits of the scores, or take the mean over all orders of tied items.
    """
    return f"{label} is {by_rule:.3f} with this order of ties, and {by_chance:.3f} in random order"


@finding("warning")
def no_better_than_shuffled(
    run: str, labels: Sequence[str], label: str, mean: float, chance: float
) -> str:
    """A run scores no better than its own items in random order, within two standard errors, by
    every measure.

    Do the scores belong to this system and these items?
    """
    return (
        f"the order of its items is no better than a random one by {', '.join(labels)} ({label} "
        f"{mean:.3f}, shuffled {chance:.3f})"
    )


@finding("warning")
def order_hardly_matters(
    labels: Sequence[str], queries: Sequence[str], figures: Sequence[float], total: int
) -> str:
    """Your systems reorder given candidates, and for at least half of the queries a random order
    reaches 90% of the best one: the cut-off is as deep as the candidates, or their grades are the
    same.

    Such queries cannot distinguish systems. Take a lower cut-off or more candidates. The figures
    are the share of the best value that a random order reaches for each query, by the measure with
    the highest share.
    """
    verb = "distinguishes" if len(labels) == 1 else "distinguish"
    return (
        f"{', '.join(labels)} hardly {verb} systems: in {len(queries)} of {total} queries a random "
        "order of the candidates reaches 90 % of the best one"
    )


@finding("info")
def low_ceiling(
    label: str, ceiling: float, queries: Sequence[str], figures: Sequence[float]
) -> str:
    """Even a perfect ranking has a low mean here, because queries have few relevant items.

    Compare values with the ceiling instead of 1, or take a lower cut-off. The figures are the
    ceilings of single queries, where they are 0.5 or less.
    """
    return f"{label} of a perfect ranking is {ceiling:.3f}, because queries have few relevant items"


@finding("warning")
def same_item_relevant(item: str, n: int, total: int, label: str, score: float) -> str:
    """One item is relevant to at least half of the queries, so a system that ignores queries scores
    high.

    Compare your systems with the best list that is the same for all queries.
    """
    return (
        f"judgments: {item!r} is relevant to {n} of {total} queries; one list for all queries "
        f"reaches {label} {score:.3f}"
    )


@finding("warning", "--unjudged skip")
def judged_for_other_runs(run: str, share: float, other: str, other_share: float, k: int) -> str:
    """Most of the first items of another run are judged, but few of this one's: the judgments were
    pooled without this run, and favour the other.

    Judge the items of this run too (`rankwell judge pool`), or leave unjudged items out.
    """
    return (
        f"{share:.0%} of its first {k} items are judged, and {other_share:.0%} of those of "
        f"{other}, from which the judgments seem to come"
    )
