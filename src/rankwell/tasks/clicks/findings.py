"""Findings of logs and of policies."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of


@finding("warning")
def rows_of_users(file: str, n: int, unit: str, users: int, column: str, advice: str) -> str:
    """A log has several queries or rows of the same user, which depend on each other.

    Intervals treat them as independent and are too narrow. Name the users as queries.
    """
    return (
        f"intervals treat {n} {unit} of {users} users ({column!r}) as independent and are too "
        f"narrow; {advice} gives intervals over users"
    )


@finding("info")
def model_unused(reason: str) -> str:
    """You gave a reward model that no measure uses."""
    return reason


@finding("info")
def positions_differ() -> str:
    """Fewer users see lower positions, so rewards by position do not compare the items."""
    return (
        "the reward at a position depends on how many users see it; it does not say how good the "
        "items there are"
    )


@finding("warning")
def nothing_in_common(run: str) -> str:
    """A policy shows nothing that the log shows, so its reward cannot be estimated from weights."""
    return "it never shows what the log shows; no estimate by weights is possible, and IPS is 0"


@finding("warning")
def mean_weight_off(run: str, mean: float) -> str:
    """The mean weight of a policy is far from 1.

    It would be 1 if the propensities were right and the log could show everything that the policy
    shows.
    """
    return (
        f"the mean weight is {mean:.4g}, more than 3 standard errors from 1: propensities may be "
        "wrong, or the policy shows what the log could not"
    )


@finding("warning")
def few_effective_rows(run: str, rows: int, effective: float, largest: float) -> str:
    """A few rows carry most of the weight, so the estimate depends on them alone.

    Clip the weights, such as with `IPS(clip=10)`, or use a longer log.
    """
    return (
        f"{rows} rows have an effective sample size of {effective:.3g} (largest weight "
        f"{largest:.4g}); the interval rests on few rows, and may be too narrow"
    )


@finding("warning")
def policy_incomplete(run: str, problem: str) -> str:
    """A policy's probabilities add up to less than 1, or some of its items are not in the log."""
    return problem


@finding("info")
def lists_not_shown(missing: int, total: int) -> str:
    """Some interleaved lists have no row in the clicks. They do not count."""
    return f"{missing} of {total} lists have no row in the clicks and do not count"


@finding("warning", "--cluster")
def impressions_dependent(impressions: int, n_queries: int) -> str:
    """Impressions of the same query depend on each other, but are treated as independent.

    Name a column that groups them.
    """
    return f"{impressions} impressions of {n_queries} queries are treated as independent"


@finding("info")
def impressions_tied(tied: int, total: int, unclicked: int) -> str:
    """Impressions without a click, or with equal credit for both runs, decide nothing."""
    return f"{tied} of {total} impressions are ties, {unclicked} of them without a click"


@finding("info")
def queries_not_interleaved(n: int) -> str:
    """Queries that only one run has cannot be interleaved."""
    number = count_of(n, "query is", "queries are")
    return f"{number} not in both runs and {number.split()[-1]} not interleaved"


@finding("info")
def lists_interleaved_short(depth: int, queries: Sequence[str]) -> str:
    """A run has fewer items for a query than the depth, so the interleaved list is shorter."""
    number = count_of(len(queries), "query has", "queries have")
    return f"{number} fewer than {depth} items in a run ({examples(queries)}): a shorter list"
