"""Findings on means, intervals and their samples."""

from rankwell.data.findings import finding


@finding("warning")
def few_queries(least: int, sizes: str, unit: str, columns: str = "") -> str:
    """Too few queries count for an interval.

    Below 10 queries no method keeps what an interval of 95 % promises; judge more queries.
    """
    return f"no interval below {least} {unit} (here {sizes}){columns and f': {columns}'}"


@finding("info")
def small_sample(n: int, unit: str, held: str, columns: str = "") -> str:
    """With fewer than some 50 queries the intervals hold the true mean a little less often than
    they promise.

    `docs/statistics.md` has the simulations.
    """
    return f"with {n} {unit} 95 % intervals {held} (docs/statistics.md){columns and f': {columns}'}"


@finding("warning")
def equal_values(reason: str, columns: str) -> str:
    """Every query has the same value, so that the sample says little about other queries."""
    return f"{reason}: {columns}"


@finding("warning")
def long_tail(columns: str) -> str:
    """A few queries have most of the spread, as times and ranks often have.

    The interval of the mean is then too narrow more often than it promises; a median may say more.
    """
    return (
        "few queries have most of the spread; of so long a tail 95 % intervals held the true mean "
        f"in 80 to 95 % of simulations (docs/statistics.md): {columns}"
    )


@finding("warning")
def close_values(n: int, share: float, columns: str) -> str:
    """All values are close together, so that the interval cannot know of rare, quite other ones."""
    return (
        f"all values are close together; {n} queries do not exclude that up to {share:.0f} % of "
        "queries have quite other ones, which the interval leaves out (docs/statistics.md): "
        f"{columns}"
    )


@finding("info")
def no_deviation(columns: str) -> str:
    """A single query has no standard deviation."""
    return f"no sd with a single counted query: {columns}"


@finding("info", "--intervals bootstrap")
def no_t_interval(columns: str) -> str:
    """Student's t gives intervals of plain arithmetic means alone, not of medians or sums."""
    return f"a t interval exists for arithmetic means only, none for: {columns}"
