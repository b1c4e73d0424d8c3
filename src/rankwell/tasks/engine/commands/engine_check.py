"""Check that an engine behaves as the evaluation needs."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from rankwell.data.json_types import JsonTables
from rankwell.data.tables import Floats, positions_by_id
from rankwell.engines import EngineQuery
from rankwell.engines.conformance import Conformance, ConformanceLine, lines_of_ended
from rankwell.errors import BadUsage, GateFailed
from rankwell.io.formats import read_texts
from rankwell.io.matrices import read_embeddings
from rankwell.processes import ProcessEnded, apart
from rankwell.reporting.options import InputOption, Output
from rankwell.task import printed_rows
from rankwell.tasks.engine.commands.engine_list import TableOrJson
from rankwell.tasks.engine.inputs import read_pairs
from rankwell.tasks.engine.options import EngineParameters
from rankwell.tasks.engine.task import ConformanceObject
from rankwell.vectors.neighbours import search

_MOST_QUERIES = 50


def check(
    engine: str,
    /,
    *,
    option: EngineParameters = None,
    queries: InputOption = None,
    query_vectors: InputOption = None,
    format: Annotated[TableOrJson, JsonTables(rows=ConformanceObject)] = "table",
) -> Output:
    """Check that an engine behaves as the evaluation needs.

    Prints a line for each requirement and exits with 1 on a failure.

    An engine that indexes gets 120 test items; an existing one is only read, and asked at most 50
    queries. If no query returns a result, results are not checked, and the exit code is 1. The
    engine runs in a separate process; one that ends its process fails.

      rankwell engine check sqlite-fts5

    Parameters
    ----------
    engine
        Name of an engine, postgresql://…, FILE.toml, NAME:ADDRESS, or your own, ./FILE.py:OBJECT;
        see `rankwell engine list`.
    queries
        File of texts to ask an existing engine, which must find items; by default twelve English
        words.
    query_vectors
        File of their vectors; by default random ones if the engine states its dimensions.
    format
        table for reading, json for programs.
    """
    arguments = engine, read_pairs(option, "--option"), _queries(queries, query_vectors)
    lines = list[ConformanceLine]()
    try:
        for line in apart(_checked, *arguments):
            lines.append(line)  # those before the end are kept
    except ProcessEnded as error:
        lines += lines_of_ended(len(lines), str(error))
    rows = [
        {"check": line.statement, "outcome": line.state, "message": line.message} for line in lines
    ]
    text = printed_rows(rows, format)
    failed = sum(line.state == "failed" for line in lines)
    return Output(text, exit_code=GateFailed.exit_code if failed else 0)


def _checked(
    engine: str, parameters: dict[str, Any], queries: list[EngineQuery]
) -> Iterator[ConformanceLine]:
    return Conformance(engine, parameters, _exact, queries).lines()


def _queries(texts: str | None, vectors: str | None) -> list[EngineQuery]:
    """The first queries of the files; none without files."""
    words = [*read_texts(texts).texts.items()][:_MOST_QUERIES] if texts is not None else []
    if vectors is None:
        return [EngineQuery(name, text) for name, text in words]
    table = read_embeddings(vectors)
    names = [name for name, _ in words] or table.names()[:_MOST_QUERIES]
    if table.ids is None and words:
        if table.n < len(words):
            raise BadUsage(
                f"{vectors} has {table.n} vectors for {len(words)} queries; give one for each."
            )
        rows = range(len(words))
    else:
        row_of_name = positions_by_id(table.names())
        for name in names:
            if name not in row_of_name:
                raise BadUsage(f"{vectors} has no vector of the query {name!r}.")
        rows = [row_of_name[name] for name in names]
    text_of_name = dict(words)
    return [
        EngineQuery(name, text_of_name.get(name), np.asarray(table.vectors[row]))
        for name, row in zip(names, rows, strict=True)
    ]


def _exact(queries: Any, items: Any, metric: Any, k: int) -> Floats:
    return search(queries, items, k=k, metric=metric).scores
