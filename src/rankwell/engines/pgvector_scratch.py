"""Tables that rankwell makes in PostgreSQL for one call: their sessions hold a lock, and what a
killed call left is dropped.
"""

import secrets
from contextlib import suppress
from typing import Any

COMMENT = "scratch table of rankwell: a later call drops it when no session of its own call is left"
"""Only tables with this comment are dropped; one that is kept, or made by anyone else, has another.
"""
_KEYS = 0x726B << 48
"""The upper bits of the keys of advisory locks, so that they differ from small numbers that
applications choose.
"""


def new_name() -> str:
    """A name that no one else uses."""
    return f"rankwell_{secrets.token_hex(6)}"


def hold(connection: Any, table: str) -> None:
    """Marks a table as in use until the connection ends, whatever ends it."""
    connection.execute("SELECT pg_advisory_lock_shared(%s)", (_key(table),))
    connection.execute(
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'"
    )


def mark(psycopg: Any, connection: Any, relation: Any) -> None:
    """Gives a new table the comment with which it may be dropped."""
    sql = psycopg.sql
    connection.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(relation, sql.Literal(COMMENT)))


def drop_left_over(psycopg: Any, connection: Any) -> None:
    """Drops the tables of calls that were killed: with name, owner and comment of a scratch table,
    and used by no session.
    """
    errors = psycopg.errors
    passing = (
        *(errors.LockNotAvailable, errors.UndefinedTable, errors.InsufficientPrivilege),
        *(errors.DependentObjectsStillExist, errors.ReadOnlySqlTransaction),
    )
    scratch_tables = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND c.relname ~ '^rankwell_[0-9a-f]{12}$' AND "
        "pg_has_role(c.relowner, 'USAGE') "
        "AND obj_description(c.oid, 'pg_class') = %s",
        (COMMENT,),
    ).fetchall()
    for schema, table in scratch_tables:
        with suppress(*passing):
            _drop_unused(psycopg, connection, schema, table)


def _drop_unused(psycopg: Any, connection: Any, schema: str, table: str) -> None:
    # A pooler may give one session of the server to several clients, and a session never waits for
    # a lock of its own.
    n_locks = connection.execute(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
        "AND (classid::bigint << 32) | objid::bigint = %s::bigint",
        (_key(table),),
    ).fetchone()[0]
    if n_locks:
        return
    relation = psycopg.sql.Identifier(schema, table)
    with connection.transaction():
        if not connection.execute(
            "SELECT pg_try_advisory_xact_lock(%s)", (_key(table),)
        ).fetchone()[0]:
            return
        connection.execute(
            psycopg.sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT").format(relation)
        )
        connection.execute(psycopg.sql.SQL("DROP TABLE {}").format(relation))


def _key(table: str) -> int:
    return _KEYS | int(table.removeprefix("rankwell_"), 16)
