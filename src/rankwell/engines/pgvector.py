"""PostgreSQL with pgvector: nearest vectors, full text, or both in one statement, in your table or
in one of its own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from rankwell.engines import (
    ENGINES,
    Engine,
    EngineFamily,
    EngineHits,
    EngineItems,
    EnginePlan,
    EngineQuery,
    FailureKind,
    Kind,
    Opening,
    Parameter,
    Session,
)
from rankwell.engines.pgvector_plans import marked, plan_of, scanned
from rankwell.engines.pgvector_scratch import drop_left_over, hold, mark, new_name
from rankwell.engines.pgvector_tables import dimensions_of, notes_on, sizes_of
from rankwell.errors import BadInput, BadUsage

_KINDS: tuple[Kind, ...] = ("vector", "lexical", "hybrid")
_OPERATORS = {"cosine": "<=>", "dot": "<#>", "l2": "<->"}
_CLASSES = {"cosine": "vector_cosine_ops", "dot": "vector_ip_ops", "l2": "vector_l2_ops"}
# The names of settings of the server; `exact` and the others are of the statement.
_SETTINGS = {
    "ef_search": "hnsw.ef_search",
    "iterative_scan": "hnsw.iterative_scan",
    "probes": "ivfflat.probes",
}
_STATEMENT_DEFAULTS: Mapping[str, Any] = {
    "exact": False,
    "words": "any",
    "weight": 0.5,
    "depth": 100,
}
# Each word once: PostgreSQL's own form of a long query exceeds the depth of its stack. Quotes and
# backslashes are doubled.
_ANY_WORD = (
    r"(SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' "
    r"| ')::tsquery "
    "FROM unnest(to_tsvector({}, %s)))"
)
_PLACEHOLDER = re.compile(r"\{(query|vector|k)\}")


class _PgEngine(Engine):
    in_process = False
    filters = True

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.psycopg = opening.family.need("psycopg")
        connect = opening.connect
        if not connect["url"]:
            raise BadUsage(
                "pgvector: no address; write postgresql://HOST/DATABASE, or the option url=…."
            )
        self.kind = connect["kind"]
        self.metric = None if self.kind == "lexical" else connect["metric"]
        self.can_index = connect["table"] is None and connect["sql"] is None
        self.table: str | None = new_name() if self.can_index else connect["table"]
        if self.kind == "vector":
            self.exact_parameters = {"exact": True}
        self._built = False
        self._holder: Any = None
        with self.guarding(), self.connect(write=self.can_index) as connection:
            if self.can_index:
                drop_left_over(self.psycopg, connection)
            elif self.needs_vector and connect["sql"] is None:
                column = self.quoted(connect["vector"])
                self.dimensions = dimensions_of(self.psycopg, connection, self.relation, column)

    def connect(self, *, write: bool = False) -> Any:
        """A connection, read-only unless it builds the engine's own table."""
        seconds = self.opening.connect["timeout"]
        connection = self.psycopg.connect(
            self.opening.connect["url"],
            autocommit=True,
            connect_timeout=max(2, round(seconds)),
            application_name="rankwell",
        )
        if not write:
            connection.execute(
                f"SET statement_timeout = {max(1, round(seconds * 1000))}; SET "
                "default_transaction_read_only = on"
            )
        return connection

    def quoted(self, *parts: str) -> Any:
        """A quoted name; a table may have a schema before a dot."""
        return self.psycopg.sql.Identifier(*parts)

    @property
    def relation(self) -> Any:
        """The table, quoted."""
        return self.quoted(*str(self.table).split("."))

    def _versions(self, connection: Any) -> str:
        server = connection.execute("SHOW server_version").fetchone()[0]
        row = connection.execute(
            "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
        return f"PostgreSQL {server}" + (f", pgvector {row[0]}" if row else "")

    def _index(self, items: EngineItems) -> int:
        sql, connect, build = self.psycopg.sql, self.opening.connect, self.opening.build
        kinds = {bool: "boolean", int: "bigint", float: "double precision", str: "text"}
        columns = {connect["id"]: "text PRIMARY KEY"}
        values: list[Sequence[Any]] = [items.ids]
        if self.needs_text:
            columns[connect["text"]], values = (
                "text",
                [*values, [_plain(text) for text in items.texts or ()]],
            )
        if self.needs_vector and items.vectors is not None:
            columns[connect["vector"]] = f"vector({items.vectors.shape[1]})"
            values.append([_vector(row) for row in items.vectors])
        for field, cells in items.fields.items():
            columns[field], values = (
                kinds.get(type(cells[0]) if len(cells) else str, "text"),
                [*values, cells],
            )
        if self._holder is None or self._holder.closed:
            self._holder = self.connect(write=True)
            hold(self._holder, str(self.table))
        self._fill(self._holder, columns, values)
        for statement in self._index_statements(build):
            self._holder.execute(statement)
        self._holder.execute(sql.SQL("VACUUM ANALYZE {}").format(self.relation))
        return sizes_of(self.psycopg, self._holder, self.relation)[1]

    def _fill(
        self, connection: Any, columns: Mapping[str, str], values: Sequence[Sequence[Any]]
    ) -> None:
        """Makes the table, with its rows."""
        sql = self.psycopg.sql
        with suppress(self.psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        column_definitions = sql.SQL(", ").join(
            sql.SQL("{} " + kind).format(self.quoted(name)) for name, kind in columns.items()
        )
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self.relation))
        with connection.transaction():
            connection.execute(
                sql.SQL("CREATE TABLE {} ({})").format(self.relation, column_definitions)
            )
            if not self.opening.connect["keep"]:
                mark(self.psycopg, connection, self.relation)
        self._built = True
        names = sql.SQL(", ").join(map(self.quoted, columns))
        with connection.cursor().copy(
            sql.SQL("COPY {} ({}) FROM STDIN").format(self.relation, names)
        ) as copy:
            for row in zip(*values, strict=True):
                copy.write_row(row)

    def _index_statements(self, build: Mapping[str, Any]) -> list[Any]:
        sql, connect = self.psycopg.sql, self.opening.connect
        options = {
            "hnsw": {"m": build["m"], "ef_construction": build["ef_construction"]},
            "ivfflat": {"lists": build["lists"]},
        }
        statements: list[Any] = []
        if self.needs_vector and build["index"] != "none":
            settings = sql.SQL(", ").join(
                sql.SQL(f"{name} = {int(value)}") for name, value in options[build["index"]].items()
            )
            form = (
                f"CREATE INDEX ON {{}} USING {build['index']} ({{}} {_CLASSES[str(self.metric)]}) "
                f"WITH ({{}})"
            )
            statements.append(
                sql.SQL(form).format(self.relation, self.quoted(connect["vector"]), settings)
            )
        if self.needs_text:
            statements.append(
                sql.SQL("CREATE INDEX ON {} USING gin ({})").format(self.relation, self.document())
            )
        return statements

    def document(self) -> Any:
        """The words of a row."""
        sql, connect = self.psycopg.sql, self.opening.connect
        return sql.SQL("to_tsvector({}, {})").format(
            sql.Literal(connect["language"]), self.quoted(connect["text"])
        )

    def _session(self) -> Session:
        if self.can_index:
            self.built(self._built or None)
        return _PgSession(self)

    def _describe(self) -> dict[str, Any]:
        rows, size, notes = None, None, list[str]()
        with self.connect() as connection:
            version = self._versions(connection)
            if self._built or (not self.can_index and self.table is not None):
                rows, size = sizes_of(self.psycopg, connection, self.relation)
                notes = notes_on(self.psycopg, connection, str(self.table), self.relation)
        return {"version": version, "items": rows, "index_bytes": size} | (
            {"notes": notes} if notes else {}
        )

    def _failure_kind(self, error: BaseException) -> FailureKind:
        errors = self.psycopg.errors
        if isinstance(error, (errors.QueryCanceled, errors.ConnectionTimeout)):
            return "timeout"
        if isinstance(error, self.psycopg.OperationalError) and (
            getattr(error, "sqlstate", None) or "08"
        )[:2] in ("08", "57"):
            return (
                "refused"
                if "refused" in str(error) or "No such file" in str(error)
                else "disconnected"
            )
        return super()._failure_kind(error)

    def close(self) -> None:
        """Drops the table that was built, unless it is to be kept, and ends the connection that
        holds it.
        """
        if self._built and not self.opening.connect["keep"]:
            with self.guarding(), self.connect(write=True) as connection:
                connection.execute(
                    self.psycopg.sql.SQL("DROP TABLE IF EXISTS {}").format(self.relation)
                )
        self._built = False
        if self._holder is not None:
            self._holder.close()


_Key = tuple[int, tuple[str, ...], tuple[type, ...]]
"""The text of a statement of a setting depends on k, the fields of its filters and the types of
their values.
"""


class _PgSession(Session):
    def __init__(self, engine: _PgEngine) -> None:
        super().__init__(engine)
        self._pg, self._sql, self._statement_settings = (
            engine,
            engine.psycopg.sql,
            dict(_STATEMENT_DEFAULTS),
        )
        self._session_settings: dict[str, Any] = {}
        self._last: tuple[bytes, Sequence[Any]] | None = None
        # The statements of each setting, so that one that comes again finds its prepared
        # statements.
        self._settings: dict[frozenset[tuple[str, Any]], dict[_Key, bytes]] = {}
        self._texts: dict[_Key, bytes] = self._settings.setdefault(frozenset(), {})
        self._numbers = count()
        self._connection = self._open()

    def _open(self) -> Any:
        connection = self._pg.connect()
        if self._pg.can_index:
            hold(connection, str(self._pg.table))
        if self._pg.needs_vector:
            # The settings of pgvector exist once its library is loaded.
            connection.execute("SELECT '[1]'::vector")
        host = connection.info.host
        self.server_pid = (
            connection.info.backend_pid
            if host.startswith("/") or host in ("localhost", "127.0.0.1", "::1")
            else None
        )
        return connection

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        if self._connection.closed:
            self._connection = self._open()
            self._set(self._session_settings)
        self._last = statement, values = self._statement(query, k)
        # From the first search on, as warm-up ones are few; the plan that is shown is of the
        # prepared statement.
        rows = self._connection.execute(statement, values, prepare=True).fetchall()
        if rows and len(rows[0]) < 2:
            return EngineHits([str(row[0]) for row in rows])
        return EngineHits([str(row[0]) for row in rows], [row[1] for row in rows])

    def _statement(self, query: EngineQuery, k: int) -> tuple[bytes, list[Any]]:
        """The statement with the values of its placeholders. k is part of the text: the planner
        must know it.
        """
        user_sql = self._pg.opening.connect["sql"]
        if user_sql is not None:
            return self._user_statement(user_sql, query, k)
        filters = (
            [self._typed(value) for value in (query.filter or {}).values()] if query.filter else []
        )
        key: _Key = (k, tuple(query.filter or ()), tuple(map(type, filters)))
        statement = self._texts.get(key) or self._composed(key)
        if self._pg.kind == "lexical":
            return statement, [_plain(query.text), *filters]
        vector = _vector(query.vector)
        near = [vector, *filters, vector]
        return statement, near if self._pg.kind == "vector" else [
            _plain(query.text),
            *filters,
            *near,
        ]

    def _typed(self, value: Any) -> Any:
        """A value whose type is that of its statement: an integer has one of its own for each
        number of bytes.
        """
        return (
            self._pg.psycopg.types.numeric.Int8(value)
            if type(value) is int and -(2**63) <= value < 2**63
            else value
        )

    def _composed(self, key: _Key) -> bytes:
        """The text of a statement, which takes longer than the search of a small table, and is kept
        with its setting.
        """
        k, fields, _ = key
        compose = {"vector": self._nearest, "lexical": self._words, "hybrid": self._fused}[
            self._pg.kind
        ]
        parts = [self._sql.SQL(" AND {} = %s").format(self._pg.quoted(name)) for name in fields]
        return self._cache_statement(
            key, compose(k, self._sql.SQL("").join(parts)).as_string(self._connection)
        )

    def _cache_statement(self, key: _Key, text: str) -> bytes:
        statement = self._texts[key] = marked(text, next(self._numbers)).encode(
            self._connection.info.encoding
        )
        return statement

    def _user_statement(self, text: str, query: EngineQuery, k: int) -> tuple[bytes, list[Any]]:
        values_by_name = {
            "query": lambda: _plain(query.text),
            "vector": lambda: _vector(query.vector),
            "k": lambda: self._typed(k),
        }
        values = [values_by_name[match[1]]() for match in _PLACEHOLDER.finditer(text)]
        types = {"query": "%s::text", "vector": "%s::vector", "k": "%s::bigint"}
        key: _Key = (0, (), ())
        escaped = text.replace("%", "%%")
        return self._texts.get(key) or self._cache_statement(
            key, _PLACEHOLDER.sub(lambda match: types[match[1]], escaped)
        ), values

    def _nearest(self, k: int, condition: Any) -> Any:
        """The vector search: ascending distances, as an index returns them, negated as scores."""
        form = (
            "SELECT {}, -({} "
            + _OPERATORS[str(self._pg.metric)]
            + " %s::vector) FROM {} WHERE true{} ORDER BY {} "
        )
        form += _OPERATORS[str(self._pg.metric)] + " %s::vector LIMIT {}"
        connect = self._pg.opening.connect
        vector = self._pg.quoted(connect["vector"])
        return self._sql.SQL(form).format(
            self._pg.quoted(connect["id"]),
            vector,
            self._pg.relation,
            condition,
            vector,
            self._sql.Literal(k),
        )

    def _words(self, k: int, condition: Any) -> Any:
        """The full-text search: rows with any word of the query, or all, by ts_rank_cd, then id."""
        connect = self._pg.opening.connect
        words = "plainto_tsquery({}, %s)"
        if self._statement_settings["words"] == "any":
            words = _ANY_WORD
        form = (
            "SELECT {}, ts_rank_cd({}, rankwell_query.words) AS score FROM {}, LATERAL (SELECT "
            + words
            + " AS words) AS rankwell_query "
        )
        form += "WHERE {} @@ rankwell_query.words{} ORDER BY score DESC, {} LIMIT {}"
        document, item = self._pg.document(), self._pg.quoted(connect["id"])
        language, limit = self._sql.Literal(connect["language"]), self._sql.Literal(k)
        return self._sql.SQL(form).format(
            item, document, self._pg.relation, language, document, condition, item, limit
        )

    def _fused(self, k: int, condition: Any) -> Any:
        """The hybrid search: reciprocal rank fusion of both lists, weight for the vectors; ties by
        id. Source: Cormack, Clarke & Buettcher 2009.
        """
        depth = max(k, self._statement_settings["depth"])
        form = (
            "WITH words AS (SELECT id, row_number() OVER (ORDER BY score DESC, id) AS rank "
            "FROM ({}) AS a (id, score)), "
            "near AS (SELECT id, row_number() OVER (ORDER BY score DESC, id) AS rank FROM "
            "({}) AS b (id, score)) "
            "SELECT id, (coalesce({} / (60 + words.rank), 0) + coalesce({} / (60 + "
            "near.rank), 0))::float8 AS score "
            "FROM words FULL JOIN near USING (id) ORDER BY score DESC, id LIMIT {}"
        )
        weight = self._statement_settings["weight"]
        of_words, of_near, limit = (
            self._sql.Literal(number) for number in (1.0 - weight, weight, k)
        )
        return self._sql.SQL(form).format(
            self._words(depth, condition), self._nearest(depth, condition), of_words, of_near, limit
        )

    def _configure(self, values: Mapping[str, Any]) -> None:
        needless = [
            name
            for name in values
            if (name in _SETTINGS or name == "exact") and not self._pg.needs_vector
        ]
        if needless:
            raise BadUsage(
                f"{self._pg.label}: {needless[0]} has no effect on a {self._pg.kind} search; "
                "leave it out."
            )
        if not 0 <= values.get("weight", 0) <= 1:
            raise BadInput(f"{self._pg.label}: weight is {values['weight']}; expected 0 to 1.")
        self._set(values)
        self._session_settings |= values

    def _set(self, values: Mapping[str, Any]) -> None:
        # Statements of a setting that fails halfway are of no setting.
        self._texts = {}
        for name, value in values.items():
            if name in _SETTINGS:
                self._connection.execute(
                    "SELECT set_config(%s, %s, false)", (_SETTINGS[name], str(value))
                )
            else:
                self._statement_settings[name] = value
        if "exact" in values:
            states = {"enable_indexscan": "off", "enable_bitmapscan": "off", "enable_seqscan": "on"}
            changes = [
                f"SET {name} = {state}" if values["exact"] else f"RESET {name}"
                for name, state in states.items()
            ]
            self._connection.execute("; ".join(changes))
        self._texts = self._settings.setdefault(
            frozenset({**self._session_settings, **values}.items()), {}
        )

    def _parameters(self) -> dict[str, Any]:
        parameters = (
            {name: value for name, value in self._statement_settings.items() if name != "exact"}
            if self._pg.needs_text
            else {}
        )
        if not self._pg.needs_vector:
            return {"words": parameters["words"]}
        for name, setting in _SETTINGS.items():
            value = self._connection.execute(
                "SELECT current_setting(%s, true)", (setting,)
            ).fetchone()[0]
            parameters[name] = (
                int(value) if value is not None and value.lstrip("-").isdigit() else value
            )
        scans = self._connection.execute("SHOW enable_indexscan").fetchone()[0]
        return {**parameters, "exact": scans == "off"}

    def _plan(self) -> EnginePlan | None:
        if self._last is None:
            return None
        plan = plan_of(self._pg.psycopg, self._connection, *self._last)
        unread = scanned(self._connection, plan, self._pg.kind)
        return EnginePlan(json.dumps(plan, indent=1), not unread, unread)

    def close(self) -> None:
        """Ends the connection of this session, and with it its settings."""
        self._connection.close()


def _vector(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _plain(text: str | None) -> str:
    """A text without NUL, which PostgreSQL does not store."""
    return (text or "").replace("\0", " ")


ENGINES.add(
    "pgvector",
    EngineFamily(
        "pgvector",
        "PostgreSQL with pgvector: nearest vectors, full text, or both in one statement",
        _KINDS,
        _PgEngine,
        connect=(
            Parameter("url", str, "", "postgresql://USER:${PASSWORD}@HOST/DATABASE"),
            Parameter(
                "table",
                str,
                None,
                "table that is there, only read; by default one of its own, dropped at the end",
            ),
            Parameter("id", str, "id", "column of the ids"),
            Parameter("text", str, "text", "column of the texts"),
            Parameter("vector", str, "embedding", "column of the vectors"),
            Parameter("kind", str, "vector", "search", _KINDS),
            Parameter(
                "metric",
                str,
                "cosine",
                "distance, which must be that of the index",
                ("cosine", "dot", "l2"),
            ),
            Parameter("language", str, "english", "configuration of full-text search"),
            Parameter(
                "sql",
                str,
                None,
                "your own statement with {query}, {vector}, {k} that returns ids, or ids and "
                "scores",
            ),
            Parameter("keep", bool, False, "whether its own table stays"),
            Parameter("timeout", float, 30.0, "seconds for an answer"),
        ),
        build=(
            Parameter("index", str, "hnsw", "index of the vectors", ("hnsw", "ivfflat", "none")),
            Parameter("m", int, 16, "links of an item in each layer, of hnsw"),
            Parameter("ef_construction", int, 64, "candidates while an item is linked, of hnsw"),
            Parameter("lists", int, 100, "lists of ivfflat"),
        ),
        search=(
            Parameter(
                "ef_search", int, None, "candidates of hnsw, and so its longest list; 40 by default"
            ),
            Parameter(
                "iterative_scan",
                str,
                None,
                "goes on for filters",
                ("off", "strict_order", "relaxed_order"),
            ),
            Parameter("probes", int, None, "lists that a search reads, of ivfflat; 1 by default"),
            Parameter("exact", bool, None, "whether the search uses no index"),
            Parameter(
                "words",
                str,
                None,
                "whether a text has any word of the query, or all; any by default",
                ("any", "all"),
            ),
            Parameter(
                "weight",
                float,
                None,
                "weight of the vectors in a hybrid search, 0 to 1; 0.5 by default",
            ),
            Parameter(
                "depth", int, None, "length of the lists that a hybrid search fuses; 100 by default"
            ),
        ),
        package="psycopg",
        extra="pgvector",
    ),
)
