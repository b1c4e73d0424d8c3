"""Findings of engines, their answers and their times."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of, flag


@finding("info")
def queries_not_asked(queries: Sequence[str]) -> str:
    """Some judged queries were not sent to the engine."""
    number = count_of(len(queries), "judged query is", "judged queries are")
    return f"{number} not among the queries ({examples(queries)}), and not counted"


@finding("warning", "--depth")
def cutoff_beyond_depth(labels: Sequence[str], depth: int) -> str:
    """A cut-off is deeper than the lists that you request from the engine."""
    verb = "looks" if len(labels) == 1 else "look"
    return f"{', '.join(labels)} {verb} deeper than the {depth} items requested from the engine"


@finding("warning")
def exact_lists_tied(file: str, n: int, k: int) -> str:
    """The exact lists end in a tie. The other items of the tie would count as wrong."""
    return (
        f"{count_of(n, 'list ends', 'lists end')} in a tie at rank {k}, and items that tie beyond "
        f"it would count as wrong; search for more than {k}"
    )


@finding("warning")
def other_items(run: str, problem: str) -> str:
    """The engine holds other items than the exact results, which lowers its recall.

    Index the items that the exact results were computed from.
    """
    return problem


@finding("warning")
def queries_failed(run: str, n: int) -> str:
    """Some queries failed, within the limit of `--allow-failures`. Those without an answer count as
    empty.
    """
    return (
        f"{count_of(n, 'query', 'queries')} failed; those without any answer count as empty "
        f"({flag('--allow-failures')})"
    )


@finding("warning")
def lists_shorter_than_asked(run: str, problem: str) -> str:
    """The engine returned fewer items than you requested, or none."""
    return problem


@finding("warning")
def lists_differ(run: str, differing: int, n: int) -> str:
    """The same query returned different lists in different rounds. The first list is judged."""
    return (
        f"the lists of {differing} of {n} queries differ between rounds; the first of each is "
        "judged"
    )


@finding("info")
def scores_rise(run: str, rising: int, n: int) -> str:
    """Scores rise down the list, as distances do. The ranking is the order of the engine."""
    return (
        f"scores rise down the list in {rising} of {n} queries; the engine's order is the ranking"
    )


@finding("warning")
def index_not_used(run: str, part: str) -> str:
    """The search scans every item instead of using an index, so its times are those of a scan."""
    return (
        f"the query plan uses no index{part} and reads every item; all its times are those of a "
        "scan"
    )


@finding("info")
def said_by_engine(run: str, words: str) -> str:
    """A message of the engine about its index or its settings."""
    return words


@finding("warning")
def engine_overloaded(run: str, rate: float) -> str:
    """The engine could not keep up with the request rate, so its times keep growing.

    Lower the rate, or read the times as those of an overloaded engine.
    """
    return f"overloaded at {rate:g} requests a second; no percentiles above capacity"


@finding("info")
def rounds_interrupted(run: str, interrupted: int, n: int) -> str:
    """A call was interrupted in these rounds, and a later one finished them.

    Throughput and processor time would count the pause, so they leave these rounds out.
    """
    return f"throughput and processor time leave out interrupted rounds, {interrupted} of {n}"


@finding("info")
def few_requests(names: str, n: int, n_queries: int, needs: str) -> str:
    """High percentiles of times need many requests over many queries.

    Ask more queries, or ask them more often with `--rounds`.
    """
    return f"no {names}: {n} requests over {n_queries} queries after the first round; {needs}"


@finding("warning")
def machine_busy(used: str) -> str:
    """Other processes used the machine during the measurement, so times may be too long.

    Measure again while nothing else runs.
    """
    return f"other processes used {used}"
