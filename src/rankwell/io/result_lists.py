"""Results of engines in JSON: an object per query with its id and the list of its results, as a
list or as lines.
"""

import re
from typing import Any

from rankwell.data.columns import id_text, query_key
from rankwell.data.rankings import Ranking
from rankwell.errors import BadInput, DuplicateItem, shown
from rankwell.io.formats import FORMATS, Request, file_format
from rankwell.io.records import load
from rankwell.store import Head, Source

_LISTS = ("results", "hits")
_EXPECTED = 'expected {"query_id": …, "results": [{"id": …, "score": …}]}'
_START = re.compile(r"\[?\s*\{\s*\"")
_LIST = re.compile(rf'"(?:{"|".join(_LISTS)})"\s*:\s*\[')


def _sniff(head: Head) -> float:
    """Less sure than the predictions of sentence-transformers, which are such lines."""
    return 0.9 if _START.match(head.text) and _LIST.search(head.text) else 0.0


@file_format("results", "run", sniff=_sniff)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in `{"query_id": …, "results": […]}` per query: ids, pairs, or objects with any
    common name for id and score.

    The name of a query's id is one of a table's column. A query without results is kept. Raises
    BadInput naming the place.
    """
    lists = dict[str, list[Any]]()
    for entry in load(source, "results").checked_records():
        where, record = entry.place, entry.value
        key = query_key(list(record))
        query, results = (
            id_text(record.get(key)) if key else None,
            next((record[name] for name in _LISTS if name in record), None),
        )
        if not query or not isinstance(results, list):
            raise BadInput(f"{where} is {shown(record, 60)}; {_EXPECTED}.")
        if query in lists:
            raise DuplicateItem(
                f"{where}: query {query!r} is there already; keep one of its lists."
            )
        lists[query] = results
    if not lists:
        raise BadInput(f"{source.name} holds no query; {_EXPECTED}.")
    return FORMATS["python mapping run"].read(lists, request)
