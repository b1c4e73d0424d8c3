"""Results of engines, and judged items, as mappings: the id and the number of each, under any of
the usual names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rankwell.data.columns import ResultKeys, are_ranks, result_keys
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import distance_as_score
from rankwell.data.tables import id_text
from rankwell.errors import BadInput, BadScore, shown

_LIKE_GRADE = re.compile("rel|grade|score|label|rating|judg")
Choice = tuple[tuple[str, str], ...]
"""What a key holds (item, score, rank, grade) and the chosen key."""


def result_pair(query: Any, result: Any, chosen: Choice, *, graded: bool) -> tuple[Any, Any]:
    """The id of a result, and its number, higher for better ones; None for a result without one.
    graded: of a judged item, whose number is its grade. Raises BadInput without an id.
    """
    keys = result_keys(tuple(result), chosen, graded=graded) if _is_record(result) else None
    noun = "grade" if graded else "score"
    if keys is None or keys.item is None:
        raise BadInput(
            f"query {query!r} has the result {shown(result, 60)}; expected an id (id, doc_id, "
            "slice_id) and a score (score, similarity, distance) or grade."
        )
    if graded and keys.number is None:
        _refuse_other_grade(query, result, keys)
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


def _refuse_other_grade(query: Any, result: Any, keys: ResultKeys) -> None:
    """Raises BadInput where an item without a grade has a number that may be one."""
    for name, value in result.items():
        is_number = isinstance(value, int | float) and name not in (keys.item, keys.chunk)
        if is_number and _LIKE_GRADE.search(str(name).lower()):
            raise BadInput(
                f"query {query!r}, item {result[keys.item]!r}: {name!r} is {value}, which may be "
                "its grade; call it grade, with a number, or leave it out."
            )


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


def chosen_of_judged(records: Sequence[Any], chosen: Choice, judged: Iterable[str]) -> Choice:
    """The choice with the ids of chunks for items, where the judgments have some of these and none
    of the others.
    """
    item, chunk, *_ = result_keys(tuple(records[0]) if records else ())
    if chunk is None or not all(chunk in record for record in records):
        return chosen
    items, chunks = ({id_text(record.get(key)) for record in records} for key in (item, chunk))
    has_chunks = items.isdisjoint(judged) and not chunks.isdisjoint(judged)
    return (*chosen, ("item", chunk)) if has_chunks else chosen


def distances(records: Iterable[Any]) -> list[Finding]:
    """Findings on results whose number is a distance."""
    # Without a number the results are ranked as they are listed.
    names = (
        str(keys.number)
        for record in records
        if (keys := result_keys(tuple(record))).is_distance and record[keys.number] is not None
    )
    return list(map(distance_as_score, dict.fromkeys(names)))


def records_of(lists: Iterable[Any]) -> list[Any]:
    """The results in lists that are mappings."""
    return [
        result
        for results in lists
        if isinstance(results, (list, tuple))
        for result in results
        if _is_record(result)
    ]


def _is_record(result: Any) -> bool:
    return isinstance(result, Mapping) and all(isinstance(key, str) for key in result)
