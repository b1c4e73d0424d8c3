"""Findings of similarities of pairs."""

from rankwell.data.findings import finding


@finding("warning")
def no_correlation(reason: str) -> str:
    """A correlation or its interval is undefined: the numbers are all the same, or too few."""
    return reason


@finding("warning")
def pairs_share_items() -> str:
    """Some pairs share items, so intervals that treat pairs as independent are too narrow."""
    return (
        "pairs share items: intervals over pairs treat them as independent and are somewhat too "
        "narrow"
    )


@finding("warning")
def targets_of_one_range() -> str:
    """Within a group of similar targets, correlations are lower than over all pairs."""
    return "a group has a narrow range of targets, so its correlations are lower than over all"


@finding("info")
def calibration_line(model: str, words: str) -> str:
    """The least-squares line that turns similarities into targets."""
    return f"{model}: calibrated by {words}"
