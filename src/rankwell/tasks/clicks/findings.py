"""Findings of logs and of policies."""

from rankwell.data.findings import finding


@finding("warning")
def rows_of_users(file: str, n: int, unit: str, users: int, column: str, advice: str) -> str:
    """A log has several queries or rows of one user, which depend on each other.

    Intervals take them for independent and are too narrow; take users as queries.
    """
    return (
        f"intervals take {n} {unit} of {users} users ({column!r}) for independent and are too "
        f"narrow; {advice} makes them intervals over users"
    )


@finding("info")
def model_unused(reason: str) -> str:
    """A reward model is given that no measure reads."""
    return reason


@finding("info")
def positions_differ() -> str:
    """Users see less of lower positions, so that rewards by position do not rank what is there."""
    return (
        "rewards of a position depend on how many users see it: they do not rank what is shown "
        "there"
    )


@finding("warning")
def nothing_in_common(run: str) -> str:
    """A policy shows nothing of what the log shows, so that weights cannot estimate its reward."""
    return "it never shows what the log shows; no estimate by weights is possible, and IPS is 0"


@finding("warning")
def mean_weight_off(run: str, mean: float) -> str:
    """The weights of a policy have a mean of 1 where propensities are right and the log could show
    all that the policy shows.
    """
    return (
        f"the mean weight is {mean:.4g}, more than 3 standard errors from 1: propensities may be "
        "wrong, or the policy shows what the log could not"
    )


@finding("warning")
def few_effective_rows(run: str, rows: int, effective: float, largest: float) -> str:
    """A few rows have most of the weight, so that an estimate rests on them alone."""
    return (
        f"{rows} rows count as {effective:.3g} (largest weight {largest:.4g}); the interval may be "
        "too narrow, and rests on few rows"
    )


@finding("warning")
def policy_incomplete(run: str, problem: str) -> str:
    """The probabilities of a policy add up to less than 1, or items are nowhere in the log."""
    return problem
