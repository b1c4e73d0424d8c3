"""Findings for which a check reads all rows of a run, or a collection."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of


@finding("error", "--duplicates first")
def items_listed_twice(run: str, queries: Sequence[str]) -> str:
    """A run lists an item twice for a query, which has no rank of its own then.

    An evaluation refuses such a run, unless you say which row counts.
    """
    number = count_of(len(queries), "query lists", "queries list")
    return f"{number} an item twice ({examples(queries)})"


@finding("warning", "--exclude-self")
def queries_retrieve_themselves(run: str, queries: Sequence[str]) -> str:
    """A query retrieves the item of its own id, which takes a place from the others."""
    number = count_of(len(queries), "query retrieves", "queries retrieve")
    return f"{number} the item with its own id ({examples(queries)})"


@finding("error")
def run_not_evaluated(reason: str) -> str:
    """No query of a run can be evaluated, as where it shares none with the judgments."""
    return reason


@finding("warning", "--ties expected")
def ties_decide_score(run: str, label: str, by_rule: float, by_chance: float) -> str:
    """The order of tied items makes a mean of a run: with ties in random order it is another one.

    Write more digits of the scores, or take the mean over all orders of tied items.
    """
    return f"{label} is {by_rule:.3f} with this order of ties, and {by_chance:.3f} in random order"


@finding("warning")
def no_better_than_shuffled(
    run: str, labels: Sequence[str], label: str, mean: float, chance: float
) -> str:
    """A run's own items in random order score as much, within two standard errors, by every
    measure: the scores do not order them.

    Are the scores those of this system, and of these items?
    """
    return (
        f"the order of its items is no better than a random one by {', '.join(labels)} ({label} "
        f"{mean:.3f}, shuffled {chance:.3f})"
    )


@finding("warning")
def order_hardly_matters(
    labels: Sequence[str], queries: Sequence[str], figures: Sequence[float], total: int
) -> str:
    """Systems order given candidates, and for half of the queries or more a random order reaches
    90 % of the best one: a cut-off is as deep as the candidates, or their grades are the same.

    Take a lower cut-off, or more candidates; such queries cannot distinguish systems. The figures
    are the share of the best order that a random one reaches in each query, by the measure that has
    most.
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
    """Even a perfect ranking has a low mean, as queries have few relevant items.

    Compare values with the ceiling instead of with 1, or take a lower cut-off. The figures are the
    ceilings of single queries, of those with 0.5 or less.
    """
    return f"{label} of a perfect ranking is {ceiling:.3f}, because queries have few relevant items"


@finding("warning")
def same_item_relevant(item: str, n: int, total: int, label: str, score: float) -> str:
    """An item is relevant to half of the queries or more, so that a system that ignores queries
    scores high.

    Compare systems with the best list that is the same for all queries.
    """
    return (
        f"judgments: {item!r} is relevant to {n} of {total} queries; one list for all queries "
        f"reaches {label} {score:.3f}"
    )


@finding("warning", "--unjudged skip")
def judged_for_other_runs(run: str, share: float, other: str, other_share: float, k: int) -> str:
    """The first items of another run are judged, those of this one mostly not: the judgments were
    pooled without it, and favour the other.

    Judge its items, too (`rankwell judge pool`), or leave unjudged items out.
    """
    return (
        f"{share:.0%} of its first {k} items are judged, and {other_share:.0%} of those of "
        f"{other}, from which the judgments seem to come"
    )
