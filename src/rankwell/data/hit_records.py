"""Results of engines as mappings: the id and the score of each, under any of the usual names."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from rankwell.data.columns import are_ranks, result_keys
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import distance_as_score
from rankwell.errors import BadInput, BadScore, shown


def result_pair(query: Any, result: Any) -> tuple[Any, Any]:
    """The id of a result, and its number, higher for better ones; None for a result without one.
    Raises BadInput without an id.
    """
    keys = result_keys(tuple(result)) if _is_record(result) else None
    if keys is None or keys.item is None:
        raise BadInput(
            f"query {query!r} has the result {shown(result, 60)}; expected an id (id, doc_id, "
            "slice_id) and a score (score, similarity, distance)."
        )
    number = None if keys.number is None else result[keys.number]
    if isinstance(number, bool):
        raise BadScore(
            f"query {query!r}, item {result[keys.item]!r}: the score is {number}; scores are "
            "finite numbers."
        )
    if keys.is_falling and number is not None:
        with suppress(
            TypeError, ValueError, OverflowError
        ):  # whoever reads the pairs names what is not a number
            if not keys.is_distance and not are_ranks(number):
                raise BadScore(
                    f"query {query!r}, item {result[keys.item]!r}: the rank is {shown(number)}; a "
                    "rank is an integer from 0 on. If more is better, call it a score."
                )
            number = 0.0 - number
    return result[keys.item], number


def distances(lists: Iterable[Any]) -> list[Finding]:
    """Findings on lists of results whose number is a distance."""
    distance_names: dict[str, None] = {}
    for result_list in lists:
        for result in result_list if isinstance(result_list, (list, tuple)) else ():
            keys = result_keys(tuple(result)) if _is_record(result) else None
            # Without a number the results are ranked as they are listed.
            if keys and keys.is_distance and keys.number and result[keys.number] is not None:
                distance_names[keys.number] = None
    return list(map(distance_as_score, distance_names))


def _is_record(result: Any) -> bool:
    return isinstance(result, Mapping) and all(isinstance(key, str) for key in result)
