"""The plan by which PostgreSQL runs a statement: that of the prepared statement, once there is
one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_METHODS = {"vectors": ("hnsw", "ivfflat"), "texts": ("gin", "gist")}
_NEEDED = {"vector": ("vectors",), "lexical": ("texts",), "hybrid": ("texts", "vectors")}


def marked(text: str, number: int) -> str:
    """A statement that is prepared on its own. PostgreSQL keeps the plan of a prepared statement
    when a setting changes.
    """
    return f"{text}\n/* rankwell {number} */"


def plan_of(
    psycopg: Any, connection: Any, statement: bytes, values: Sequence[Any]
) -> Mapping[str, Any]:
    """The plan of a marked statement, as PostgreSQL describes it. A prepared one may have a plan
    for any values.
    """
    mark = statement.rpartition(b"\n")[2].decode()
    prepared = connection.execute(
        "SELECT name FROM pg_prepared_statements WHERE right(statement, %s) = %s",
        (len(mark), mark),
        prepare=False,
    ).fetchone()
    if prepared is None:
        return connection.execute(
            b"EXPLAIN (FORMAT JSON) " + statement, values, prepare=False
        ).fetchone()[0][0]["Plan"]
    sql = psycopg.sql
    literals = sql.SQL(", ").join(map(sql.Literal, values))
    form = "EXPLAIN (FORMAT JSON) EXECUTE {}({})" if values else "EXPLAIN (FORMAT JSON) EXECUTE {}"
    explained = sql.SQL(form).format(sql.Identifier(prepared[0]), literals)
    return connection.execute(explained, prepare=False).fetchone()[0][0]["Plan"]


def scanned(connection: Any, plan: Mapping[str, Any], kind: str) -> tuple[str, ...]:
    """The columns that a plan reads without an index for the search: texts, vectors, both or
    none.
    """
    index_names = [node["Index Name"] for node in _nodes(plan) if "Index Name" in node]
    methods = connection.execute(
        "SELECT DISTINCT a.amname FROM pg_class i JOIN pg_am a ON a.oid = i.relam WHERE "
        "i.relname = ANY(%s)",
        (index_names,),
        prepare=False,
    ).fetchall()
    index_methods = {method for (method,) in methods}
    return tuple(
        column for column in _NEEDED[kind] if not index_methods.intersection(_METHODS[column])
    )


def _nodes(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", ()) for node in _nodes(part))]
