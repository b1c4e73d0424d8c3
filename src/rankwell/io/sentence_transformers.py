"""The prediction files of sentence-transformers: a JSON line `{query_id, query, results: [{corpus_id, score}]}` per query."""

import json
import re
from collections.abc import Iterator
from typing import Any

from rankwell.core.tables.names import unique_rows
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadInput, BadLine
from rankwell.io import Request, file_format
from rankwell.store import Head, Source, decode_id


def _sniff(head: Head) -> float:
    start = re.match(r'\{\s*"(?:query_id|query|results)"\s*:', head.text)
    keys = all(re.search(rf'"{key}"\s*:', head.text) for key in ("query_id", "results"))
    return 0.95 if start and keys else 0.0


@file_format("sentence-transformers", "run", sniff=_sniff)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in the predictions of an `InformationRetrievalEvaluator` with `write_predictions`.

    A query without results is kept. Raises BadLine for a line of another form, BadScore and DuplicateItem as for any run.
    Source: sentence-transformers 5 and 6, InformationRetrievalEvaluator.
    """
    queries, rows = dict[str, int](), list[tuple[str, str, Any]]()
    for number, entry in _entries(source):
        query = _id(source, number, entry.get("query_id"), "query_id")
        if query in queries:
            raise BadLine(f"{source.name}:{number}: query {query!r} already appears in line {queries[query]}; keep one of them.")
        queries[query] = number
        results = entry.get("results")
        if not isinstance(results, list):
            raise BadLine(f"{source.name}:{number}: 'results' is {str(results)[:40]!r}; expected a list of corpus_id and score.")
        rows.extend((query, *_result(source, number, each)) for each in results)
    owners, items, scores = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    owners, items, scores = unique_rows(
        owners, items, scores, request.duplicates, request.warnings and request.warnings.duplicated
    )
    return Ranking.from_rows(owners, items, scores, all_queries=queries, repeated=request.duplicates == "keep")


def _entries(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open() as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(decode_id(line))
            except json.JSONDecodeError as error:
                raise BadLine(f"{source.name}:{number}: {line[:60]!r}: {error.msg}; expected a JSON object per line.") from error
            if not isinstance(entry, dict):
                raise BadLine(f"{source.name}:{number}: {line[:60]!r}; expected an object with query_id and results.")
            yield number, entry


def _result(source: Source, number: int, result: Any) -> tuple[str, float]:
    if not isinstance(result, dict) or type(result.get("score")) not in (int, float):
        raise BadLine(
            f"{source.name}:{number}: {str(result)[:60]!r}; a result is {{corpus_id, score}} with a number for a score."
        )
    return _id(source, number, result.get("corpus_id"), "corpus_id"), result["score"]


def _id(source: Source, number: int, value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    raise BadInput(f"{source.name}:{number}: {what} is {value!r}; expected a string or an integer.")
