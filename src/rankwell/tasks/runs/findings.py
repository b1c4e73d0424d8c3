"""Findings for which a check reads all rows of a run, or a collection."""

from collections.abc import Sequence

from rankwell.data.findings import finding
from rankwell.errors import count_of


@finding("error", "--duplicates first")
def items_listed_twice(run: str, queries: Sequence[str]) -> str:
    """A run lists an item twice for a query, which has no rank of its own then.

    An evaluation refuses such a run, unless you say which row counts.
    """
    number = count_of(len(queries), "query lists", "queries list")
    return f"{number} an item twice, as {queries[0]!r}"


@finding("warning")
def ranks_contradict_scores(run: str, queries: Sequence[str]) -> str:
    """The ranks in a run are not in the order of its scores, which alone decide."""
    number = count_of(len(queries), "query has", "queries have")
    return f"{number} ranks that contradict the scores, which decide, as {queries[0]!r}"


@finding("warning", "--exclude-self")
def queries_retrieve_themselves(run: str, queries: Sequence[str]) -> str:
    """A query retrieves the item of its own id, which takes a place from the others."""
    number = count_of(len(queries), "query retrieves", "queries retrieve")
    return f"{number} the item of the same id, as {queries[0]!r}"


@finding("warning")
def judged_items_missing(file: str, n: int, example: str) -> str:
    """The collection lacks items that are judged, so that no system can find them."""
    number = count_of(n, "judged item is", "judged items are")
    return f"{number} not in the collection, as {example!r}"


@finding("error")
def run_not_evaluated(reason: str) -> str:
    """No query of a run can be evaluated, as where it shares none with the judgments."""
    return reason
