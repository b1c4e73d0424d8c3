"""Results of engines, and judged items, as mappings: the id and the number of each, under any of
the usual names.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rankwell.data.columns import are_ranks, result_keys
from rankwell.data.findings import Finding
from rankwell.data.findings.reading import distance_as_score
from rankwell.data.tables import id_text
from rankwell.errors import BadInput, BadScore, shown

Choice = tuple[tuple[str, str], ...]
"""What a key holds (item, score, rank, grade) and the chosen key."""


def result_pair(
    query: Any, result: Any, chosen: Choice = (), *, graded: bool = False
) -> tuple[Any, Any]:
    """The id of a result, and its number, higher for better ones; None for a result without one.
    graded: of a judged item, whose number is its grade. Raises BadInput without an id.
    """
    keys = result_keys(tuple(result), chosen, graded=graded) if _is_record(result) else None
    noun, usual = "score", "score, similarity, distance"
    if graded:
        noun, usual = "grade", "relevance, grade, label"
    if keys is None or keys.item is None:
        raise BadInput(
            f"query {query!r} has the result {shown(result, 60)}; expected an id (id, doc_id, "
            f"slice_id) and a {noun} ({usual})."
        )
    number = None if keys.number is None else result[keys.number]
    if isinstance(number, bool):
        raise BadScore(
            f"query {query!r}, item {result[keys.item]!r}: the {noun} is {number}; {noun}s are "
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


def best_of_chunks(
    results: Sequence[Any], pairs: Sequence[tuple[str, Any]], chosen: Choice
) -> Sequence[tuple[str, Any]]:
    """The pairs of results, of several chunks of one item the best, in the place of the first; all
    of them where a chunk has no id, or that of another.
    """
    chunks = [
        (item, id_text(result.get(result_keys(tuple(result), chosen).chunk)))
        for (item, _), result in zip(pairs, results, strict=True)
    ]
    if len(set(chunks)) < len(chunks) or any(chunk is None for _, chunk in chunks):
        return pairs
    best: dict[str, Any] = {}
    for item, number in pairs:
        best[item] = max(number, best.get(item, number))
    return list(best.items())


def chosen_of_judged(lists: Iterable[Any], chosen: Choice, judged: Iterable[str]) -> Choice:
    """The choice with the ids of chunks for items, where the judgments have some of these and none
    of the others.
    """
    items, chunks, key = set[str | None](), set[str | None](), None
    for results in lists:
        for result in results if isinstance(results, list) else ():
            keys = result_keys(tuple(result), chosen) if _is_record(result) else None
            if keys and keys.item and keys.chunk:
                key = keys.chunk
                items.add(id_text(result[keys.item]))
                chunks.add(id_text(result[key]))
    judged_items = set(judged) if key else ()
    if key is None or not items.isdisjoint(judged_items) or chunks.isdisjoint(judged_items):
        return chosen
    return (*chosen, ("item", key))


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
