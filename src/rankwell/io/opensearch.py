"""OpenSearch: judgments as the Search Relevance Workbench imports them, in which a query is its
text.
"""

import json
import re
from pathlib import Path
from typing import Any

from rankwell.data.columns import id_text, unique_rows
from rankwell.data.tables import Judgments, columns_of
from rankwell.documents import read_json, unique_keys
from rankwell.errors import BadInput, shown
from rankwell.io.formats import Request, file_format
from rankwell.store import Head, Source

_LISTS, _KIND = "judgmentRatings", "IMPORT_JUDGMENT"
_EXPECTED = 'expected {"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": …}]}]}'
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def _sniff(head: Head) -> float:
    return (
        0.95
        if head.text.startswith("{") and re.search(rf'"(?:{_LISTS}|{_KIND})"', head.text)
        else 0.0
    )


def _write(table: Judgments, path: Path) -> None:
    if table.aspects is not None:
        raise BadInput(
            "OpenSearch's judgments cannot hold groups or intents; write TREC, CSV or Parquet."
        )
    bounds, grades = table.offsets.tolist(), table.grades.tolist()
    lists = list[dict[str, Any]]()
    for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False):
        pairs = zip(table.items[start:stop], grades[start:stop], strict=True)
        ratings = [
            {"docId": item, "rating": f"{int(grade) if grade.is_integer() else grade}"}
            for item, grade in pairs
        ]
        lists.append({"query": query, "ratings": ratings})
    document = {
        "name": "judgments",
        "description": "Judgments from rankwell",
        "type": _KIND,
        _LISTS: lists,
    }
    path.write_text(
        json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n"
    )


@file_format("opensearch", "judgments", sniff=_sniff, write=_write, by_text=True)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The ratings of `PUT _plugins/_search_relevance/judgments`; queries go by their texts, ratings
    may be strings.

    Raises BadInput that names the place by a JSON path, also for a rating that is not a number.
    Source: OpenSearch 3, Search Relevance Workbench, importing judgments.
    """
    document = read_json(source, pairs=unique_keys)
    lists = document.get(_LISTS) if isinstance(document, dict) else None
    if not isinstance(lists, list) or not lists:
        raise BadInput(f"{source.name}: $[{_LISTS!r}] is {shown(lists, 60)}; {_EXPECTED}.")
    texts, rows = dict[str, None](), list[tuple[str, str, float]]()
    for index, query_list in enumerate(lists):
        where = f"{source.name}: $[{_LISTS!r}][{index}]"
        query, ratings = (
            (id_text(query_list.get("query")), query_list.get("ratings"))
            if isinstance(query_list, dict)
            else (None, None)
        )
        if not query or not isinstance(ratings, list):
            raise BadInput(f"{where} is {shown(query_list, 60)}; {_EXPECTED}.")
        if query in texts:
            raise BadInput(
                f"{where}: the query {shown(query, 60)} is there twice; keep one of them."
            )
        texts[query] = None
        rows += [
            (query, *_rating(rating, f"{where}['ratings'][{number}]"))
            for number, rating in enumerate(ratings)
        ]
    queries, items, grades = columns_of(rows, 3)
    return Judgments.from_rows(
        *unique_rows(queries, items, grades, request.duplicates), all_queries=texts
    )


def _rating(thing: Any, where: str) -> tuple[str, float]:
    """The item and its grade. Raises BadInput for anything else."""
    item, rating = (
        (id_text(thing.get("docId")), thing.get("rating"))
        if isinstance(thing, dict)
        else (None, None)
    )
    if not item:
        raise BadInput(f"{where} is {shown(thing, 60)}; {_EXPECTED}.")
    if (
        isinstance(rating, bool)
        or not isinstance(rating, (int, float, str))
        or not _NUMBER.fullmatch(str(rating))
    ):
        raise BadInput(f"{where}: the rating is {shown(rating, 60)}; expected a number.")
    return item, float(rating)
