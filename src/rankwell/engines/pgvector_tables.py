"""Facts on a table of PostgreSQL: its dimensions, its size, and whether its lists of vectors are
older than its rows.
"""

from typing import Any

_ROWS = 10_000
"""Rows whose age is compared with that of an index."""


def dimensions_of(psycopg: Any, connection: Any, relation: Any, column: Any) -> int | None:
    """The dimensions of the vectors of a column; None where there are none."""
    statement = psycopg.sql.SQL("SELECT vector_dims({}) FROM {} WHERE {} IS NOT NULL LIMIT 1")
    row = connection.execute(statement.format(column, relation, column)).fetchone()
    return None if row is None else int(row[0])


def sizes_of(psycopg: Any, connection: Any, relation: Any) -> tuple[int, int]:
    """Rows of a table, and bytes of its indexes for vectors and words."""
    rows = connection.execute(
        psycopg.sql.SQL("SELECT count(*) FROM {}").format(relation)
    ).fetchone()[0]
    size = connection.execute(
        "SELECT coalesce(sum(pg_relation_size(i.oid)), 0) FROM pg_index x JOIN pg_class i ON "
        "i.oid = x.indexrelid "
        "JOIN pg_am a ON a.oid = i.relam WHERE x.indrelid = %s::regclass AND a.amname IN "
        "('hnsw', 'ivfflat', 'gin', 'gist')",
        (relation.as_string(connection),),
    ).fetchone()[0]
    return int(rows), int(size)


def notes_on(psycopg: Any, connection: Any, table: str, relation: Any) -> list[str]:
    """The note on lists of ivfflat that are older than the rows, of which the first ones are looked
    at.
    """
    indexes = connection.execute(
        "SELECT i.oid::regclass::text, age(i.xmin) FROM pg_index x JOIN pg_class i ON i.oid = "
        "x.indexrelid "
        "JOIN pg_am a ON a.oid = i.relam WHERE x.indrelid = %s::regclass AND a.amname = "
        "'ivfflat' AND i.relkind = 'i'",
        (relation.as_string(connection),),
    ).fetchall()
    if not indexes:
        return []
    form = psycopg.sql.SQL(
        "SELECT max(age(xmin)) FROM (SELECT xmin FROM {} LIMIT {}) AS rankwell_rows"
    )
    oldest = connection.execute(form.format(relation, _ROWS)).fetchone()[0]
    return [
        f"the rows of {table} are newer than the ivfflat index {name}: lists that are built "
        "on an empty table find "
        f"little; REINDEX INDEX {name}"
        for name, age in indexes
        if oldest is not None and oldest < age
    ]
