"""PostgreSQL with pgvector: nearest vectors, full text, or both in one statement, in your table or
in one of its own.
"""

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from rankwell.engines import (
    ENGINES,
    METRICS,
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
    ParameterValues,
    Session,
)
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
_COMMENT = (
    "scratch table of rankwell: a later call drops it when no session of its own call is left"
)
"""Only tables with this comment are dropped; one that is kept, or made by anyone else, has another.
"""
_KEYS = 0x726B << 48
"""The upper bits of the keys of advisory locks, so that they differ from small numbers that
applications choose.
"""
_ROWS = 10_000
"""Rows whose age is compared with that of an index."""
_METHODS = {"vectors": ("hnsw", "ivfflat"), "texts": ("gin", "gist")}
"""The indexes that a search of vectors or of texts may use."""
_NEEDED = {"vector": ("vectors",), "lexical": ("texts",), "hybrid": ("texts", "vectors")}
_INDEXES = (
    "FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am a ON a.oid = i.relam "
    "WHERE x.indrelid = %s::regclass AND a.amname "
)


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
        self.table: str | None = connect["table"]
        if self.can_index:
            self.table = f"rankwell_{secrets.token_hex(6)}"
        if self.kind == "vector":
            self.exact_parameters = {"exact": True}
        self._built = False
        self._holder: Any = None
        with self.guarding(), self.connect(write=self.can_index) as connection:
            if self.can_index:
                self._drop_left_over(connection)
            elif self.needs_vector and connect["sql"] is None:
                form = "SELECT vector_dims({0}) FROM {1} WHERE {0} IS NOT NULL LIMIT 1"
                row = connection.execute(
                    self.sql(form, self.quoted(connect["vector"]), self.relation)
                ).fetchone()
                self.dimensions = None if row is None else int(row[0])

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

    def hold(self, connection: Any) -> None:
        """Marks the engine's own table as in use until the connection ends, whatever ends it."""
        connection.execute("SELECT pg_advisory_lock_shared(%s)", (_key(str(self.table)),))
        connection.execute(
            "SELECT set_config(name, '0', false) FROM pg_settings "
            "WHERE name = 'idle_session_timeout'"
        )

    def sql(self, form: str, *parts: Any) -> Any:
        """A statement or a part of one, with parts and values in the braces of its form."""
        return self.psycopg.sql.SQL(form).format(*parts)

    def listed(self, parts: Iterable[Any], between: str = ", ") -> Any:
        """Parts of a statement, one after the other."""
        return self.psycopg.sql.SQL(between).join(parts)

    def quoted(self, *parts: str) -> Any:
        """A quoted name; a table may have a schema before a dot."""
        return self.psycopg.sql.Identifier(*parts)

    @property
    def relation(self) -> Any:
        """The table, quoted."""
        return self.quoted(*str(self.table).split("."))

    def document(self) -> Any:
        """The words of a row."""
        connect = self.opening.connect
        return self.sql("to_tsvector({}, {})", connect["language"], self.quoted(connect["text"]))

    def _drop_left_over(self, connection: Any) -> None:
        """Drops the tables of calls that were killed: with name, owner and comment of a scratch
        table, and used by no session.
        """
        errors = self.psycopg.errors
        scratch_tables = connection.execute(
            "SELECT n.nspname, c.relname FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND c.relname ~ '^rankwell_[0-9a-f]{12}$' AND "
            "pg_has_role(c.relowner, 'USAGE') "
            "AND obj_description(c.oid, 'pg_class') = %s",
            (_COMMENT,),
        ).fetchall()
        for schema, table in scratch_tables:
            with suppress(
                errors.LockNotAvailable,
                errors.UndefinedTable,
                errors.InsufficientPrivilege,
                errors.DependentObjectsStillExist,
                errors.ReadOnlySqlTransaction,
            ):
                self._drop_unused(connection, self.quoted(schema, table), _key(table))

    def _drop_unused(self, connection: Any, relation: Any, key: int) -> None:
        # A pooler may give one session of the server to several clients, and a session never waits
        # for a lock of its own.
        n_locks = connection.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
            "AND (classid::bigint << 32) | objid::bigint = %s::bigint",
            (key,),
        ).fetchone()[0]
        if n_locks:
            return
        with connection.transaction():
            lock = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (key,))
            if lock.fetchone()[0]:
                connection.execute(
                    self.sql("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT", relation)
                )
                connection.execute(self.sql("DROP TABLE {}", relation))

    def _index(self, items: EngineItems) -> int:
        connect = self.opening.connect
        kinds = {bool: "boolean", int: "bigint", float: "double precision", str: "text"}
        columns = {connect["id"]: ("text PRIMARY KEY", items.ids)}
        if self.needs_text:
            columns[connect["text"]] = "text", [_plain(text) for text in items.texts or ()]
        if self.needs_vector and items.vectors is not None:
            columns[connect["vector"]] = (
                f"vector({items.vectors.shape[1]})",
                [_vector(row) for row in items.vectors],
            )
        for field, cells in items.fields.items():
            columns[field] = kinds.get(type(cells[0]) if len(cells) else str, "text"), cells
        if self._holder is None or self._holder.closed:
            self._holder = self.connect(write=True)
            self.hold(self._holder)
        self._fill(self._holder, columns)
        for statement in self._index_statements():
            self._holder.execute(statement)
        self._holder.execute(self.sql("VACUUM ANALYZE {}", self.relation))
        return self._sizes(self._holder)[1]

    def _fill(self, connection: Any, columns: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        """Makes the table, with its rows. columns: their types and cells."""
        with suppress(self.psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        definitions = self.listed(
            self.sql("{} " + kind, self.quoted(name)) for name, (kind, _) in columns.items()
        )
        connection.execute(self.sql("DROP TABLE IF EXISTS {}", self.relation))
        with connection.transaction():
            connection.execute(self.sql("CREATE TABLE {} ({})", self.relation, definitions))
            if not self.opening.connect["keep"]:
                connection.execute(self.sql("COMMENT ON TABLE {} IS {}", self.relation, _COMMENT))
        self._built = True
        statement = self.sql(
            "COPY {} ({}) FROM STDIN", self.relation, self.listed(map(self.quoted, columns))
        )
        with connection.cursor().copy(statement) as copy:
            for row in zip(*(cells for _, cells in columns.values()), strict=True):
                copy.write_row(row)

    def _index_statements(self) -> Iterator[Any]:
        build = self.opening.build
        options = {"hnsw": ("m", "ef_construction"), "ivfflat": ("lists",)}
        if self.needs_vector and build["index"] != "none":
            settings = ", ".join(f"{name} = {int(build[name])}" for name in options[build["index"]])
            yield self.sql(
                f"CREATE INDEX ON {{}} USING {build['index']} ({{}} {_CLASSES[str(self.metric)]}) "
                f"WITH ({settings})",
                self.relation,
                self.quoted(self.opening.connect["vector"]),
            )
        if self.needs_text:
            yield self.sql("CREATE INDEX ON {} USING gin ({})", self.relation, self.document())

    def _session(self) -> Session:
        if self.can_index:
            self.built(self._built or None)
        return _PgSession(self)

    def _describe(self) -> dict[str, Any]:
        description: dict[str, Any] = {"items": None, "index_bytes": None}
        with self.connect() as connection:
            server = connection.execute("SHOW server_version").fetchone()[0]
            row = connection.execute(
                "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
            if self._built or (not self.can_index and self.table is not None):
                description["items"], description["index_bytes"] = self._sizes(connection)
                if notes := self._notes(connection):
                    description["notes"] = notes
        version = f"PostgreSQL {server}" + (f", pgvector {row[0]}" if row else "")
        return {"version": version, **description}

    def _sizes(self, connection: Any) -> tuple[int, int]:
        """Rows of the table, and bytes of its indexes for vectors and words."""
        rows = connection.execute(self.sql("SELECT count(*) FROM {}", self.relation)).fetchone()[0]
        size = connection.execute(
            f"SELECT coalesce(sum(pg_relation_size(i.oid)), 0) {_INDEXES}"
            "IN ('hnsw', 'ivfflat', 'gin', 'gist')",
            (self.relation.as_string(connection),),
        ).fetchone()[0]
        return int(rows), int(size)

    def _notes(self, connection: Any) -> list[str]:
        """The note on lists of ivfflat that are older than the rows, of which the first ones are
        looked at.
        """
        indexes = connection.execute(
            f"SELECT i.oid::regclass::text, age(i.xmin) {_INDEXES}= 'ivfflat' AND i.relkind = 'i'",
            (self.relation.as_string(connection),),
        ).fetchall()
        if not indexes:
            return []
        oldest = connection.execute(
            self.sql(
                "SELECT max(age(xmin)) FROM (SELECT xmin FROM {} LIMIT {}) AS rankwell_rows",
                self.relation,
                _ROWS,
            )
        ).fetchone()[0]
        return [
            f"the rows of {self.table} are newer than the ivfflat index {name}: lists that are "
            f"built on an empty table find little; REINDEX INDEX {name}"
            for name, age in indexes
            if oldest is not None and oldest < age
        ]

    def _failure_kind(self, error: BaseException) -> FailureKind:
        errors = self.psycopg.errors
        if isinstance(error, (errors.QueryCanceled, errors.ConnectionTimeout)):
            return "timeout"
        if isinstance(error, self.psycopg.OperationalError) and (
            getattr(error, "sqlstate", None) or "08"
        )[:2] in ("08", "57"):
            is_refused = "refused" in str(error) or "No such file" in str(error)
            return "refused" if is_refused else "disconnected"
        return super()._failure_kind(error)

    def close(self) -> None:
        """Drops the table that was built, unless it is to be kept, and ends the connection that
        holds it.
        """
        if self._built and not self.opening.connect["keep"]:
            with self.guarding(), self.connect(write=True) as connection:
                connection.execute(self.sql("DROP TABLE IF EXISTS {}", self.relation))
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
        self._pg, self._connect = engine, engine.opening.connect
        self._statement_settings = dict(_STATEMENT_DEFAULTS)
        self._last: tuple[bytes, Sequence[Any]] | None = None
        # The statements of each setting, so that one that comes again finds its prepared
        # statements.
        self._statements = dict[frozenset[tuple[str, Any]], dict[_Key, bytes]]()
        self._texts: dict[_Key, bytes] = self._statements.setdefault(frozenset(), {})
        self._numbers = count()
        self._connection = self._open()

    def _open(self) -> Any:
        connection = self._pg.connect()
        if self._pg.can_index:
            self._pg.hold(connection)
        if self._pg.needs_vector:
            # The settings of pgvector exist once its library is loaded.
            connection.execute("SELECT '[1]'::vector")
        host = connection.info.host
        is_local = host.startswith("/") or host in ("localhost", "127.0.0.1", "::1")
        self.server_pid = connection.info.backend_pid if is_local else None
        return connection

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        if self._connection.closed:
            self._connection = self._open()
            self._set(self.settings)
        self._last = statement, values = self._statement(query, k)
        # From the first search on, as warm-up ones are few; the plan that is shown is of the
        # prepared statement.
        rows = self._connection.execute(statement, values, prepare=True).fetchall()
        ids = [str(row[0]) for row in rows]
        if rows and len(rows[0]) < 2:
            return EngineHits(ids)
        return EngineHits(ids, [row[1] for row in rows])

    def _statement(self, query: EngineQuery, k: int) -> tuple[bytes, list[Any]]:
        """The statement with the values of its placeholders. k is part of the text: the planner
        must know it.
        """
        if (user_sql := self._connect["sql"]) is not None:
            return self._user_statement(user_sql, query, k)
        filters = [self._typed(value) for value in (query.filter or {}).values()]
        key = (k, tuple(query.filter or ()), tuple(map(type, filters)))
        statement = self._texts.get(key) or self._composed(key)
        values = list[Any]()
        if self._pg.needs_text:
            values += [_plain(query.text), *filters]
        if self._pg.needs_vector:
            vector = _vector(query.vector)
            values += [vector, *filters, vector]
        return statement, values

    def _typed(self, value: Any) -> Any:
        """A value whose type is that of its statement: an integer has one of its own for each
        number of bytes.
        """
        if type(value) is int and -(2**63) <= value < 2**63:
            return self._pg.psycopg.types.numeric.Int8(value)
        return value

    def _composed(self, key: _Key) -> bytes:
        """The text of a statement, which takes longer than the search of a small table, and is kept
        with its setting.
        """
        k, fields, _ = key
        compose = {"vector": self._nearest, "lexical": self._words, "hybrid": self._fused}
        conditions = self._pg.listed(
            (self._pg.sql(" AND {} = %s", self._pg.quoted(name)) for name in fields), ""
        )
        statement = compose[self._pg.kind](k, conditions)
        return self._cache_statement(key, statement.as_string(self._connection))

    def _cache_statement(self, key: _Key, text: str) -> bytes:
        # Each is prepared on its own: PostgreSQL keeps the plan of a prepared statement when a
        # setting changes.
        marked = f"{text}\n/* rankwell {next(self._numbers)} */"
        self._texts[key] = marked.encode(self._connection.info.encoding)
        return self._texts[key]

    def _user_statement(self, text: str, query: EngineQuery, k: int) -> tuple[bytes, list[Any]]:
        values_by_name = {
            "query": lambda: _plain(query.text),
            "vector": lambda: _vector(query.vector),
            "k": lambda: self._typed(k),
        }
        values = [values_by_name[match[1]]() for match in _PLACEHOLDER.finditer(text)]
        types = {"query": "%s::text", "vector": "%s::vector", "k": "%s::bigint"}
        key = (0, (), ())
        statement = self._texts.get(key)
        if statement is None:
            typed = _PLACEHOLDER.sub(lambda match: types[match[1]], text.replace("%", "%%"))
            statement = self._cache_statement(key, typed)
        return statement, values

    def _nearest(self, k: int, condition: Any) -> Any:
        """The vector search: ascending distances, as an index returns them, negated as scores."""
        operator = _OPERATORS[str(self._pg.metric)]
        return self._pg.sql(
            f"SELECT {{0}}, -({{1}} {operator} %s::vector) FROM {{2}} WHERE true{{3}} "
            f"ORDER BY {{1}} {operator} %s::vector LIMIT {{4}}",
            self._pg.quoted(self._connect["id"]),
            self._pg.quoted(self._connect["vector"]),
            self._pg.relation,
            condition,
            k,
        )

    def _words(self, k: int, condition: Any) -> Any:
        """The full-text search: rows with any word of the query, or all, by ts_rank_cd, then id."""
        is_any = self._statement_settings["words"] == "any"
        words = _ANY_WORD if is_any else "plainto_tsquery({}, %s)"
        return self._pg.sql(
            "SELECT {0}, ts_rank_cd({1}, rankwell_query.words) AS score FROM {2}, LATERAL (SELECT "
            "{3} AS words) AS rankwell_query "
            "WHERE {1} @@ rankwell_query.words{4} ORDER BY score DESC, {0} LIMIT {5}",
            self._pg.quoted(self._connect["id"]),
            self._pg.document(),
            self._pg.relation,
            self._pg.sql(words, self._connect["language"]),
            condition,
            k,
        )

    def _fused(self, k: int, condition: Any) -> Any:
        """The hybrid search: reciprocal rank fusion of both lists, weight for the vectors; ties by
        id. Source: Cormack, Clarke & Buettcher 2009.
        """
        depth = max(k, self._statement_settings["depth"])
        weight = self._statement_settings["weight"]
        return self._pg.sql(
            "WITH words AS (SELECT id, row_number() OVER (ORDER BY score DESC, id) AS rank "
            "FROM ({}) AS a (id, score)), "
            "near AS (SELECT id, row_number() OVER (ORDER BY score DESC, id) AS rank FROM "
            "({}) AS b (id, score)) "
            "SELECT id, (coalesce({} / (60 + words.rank), 0) + coalesce({} / (60 + "
            "near.rank), 0))::float8 AS score "
            "FROM words FULL JOIN near USING (id) ORDER BY score DESC, id LIMIT {}",
            self._words(depth, condition),
            self._nearest(depth, condition),
            1.0 - weight,
            weight,
            k,
        )

    def _configure(self, values: ParameterValues) -> None:
        for name in values:
            if (name in _SETTINGS or name == "exact") and not self._pg.needs_vector:
                raise BadUsage(
                    f"{self._pg.label}: {name} has no effect on a {self._pg.kind} search; "
                    "leave it out."
                )
        if not 0 <= values.get("weight", 0) <= 1:
            raise BadInput(f"{self._pg.label}: weight is {values['weight']}; expected 0 to 1.")
        self._set(values)
        super()._configure(values)

    def _set(self, values: ParameterValues) -> None:
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
        self._texts = self._statements.setdefault(
            frozenset({**self.settings, **values}.items()), {}
        )

    def _parameters(self) -> dict[str, Any]:
        if not self._pg.needs_vector:
            return {"words": self._statement_settings["words"]}
        parameters = dict(self._statement_settings) if self._pg.needs_text else {}
        parameters.pop("exact", None)
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
        statement, values = self._explanation(*self._last)
        explained = self._connection.execute(statement, values, prepare=False)
        plan = explained.fetchone()[0][0]["Plan"]
        methods = self._connection.execute(
            "SELECT DISTINCT a.amname FROM pg_class i JOIN pg_am a ON a.oid = i.relam WHERE "
            "i.relname = ANY(%s)",
            ([node["Index Name"] for node in _nodes(plan) if "Index Name" in node],),
            prepare=False,
        ).fetchall()
        used = {method for (method,) in methods}
        needed = _NEEDED[self._pg.kind]
        unread = tuple(column for column in needed if used.isdisjoint(_METHODS[column]))
        return EnginePlan(json.dumps(plan, indent=1), not unread, unread)

    def _explanation(
        self, statement: bytes, values: Sequence[Any]
    ) -> tuple[Any, Sequence[Any] | None]:
        """The statement that explains another one, with its values. One that is prepared may have a
        plan for any values.
        """
        mark = statement.rpartition(b"\n")[2].decode()
        prepared = self._connection.execute(
            "SELECT name FROM pg_prepared_statements WHERE right(statement, %s) = %s",
            (len(mark), mark),
            prepare=False,
        ).fetchone()
        if prepared is None:
            return b"EXPLAIN (FORMAT JSON) " + statement, values
        arguments = self._pg.listed(map(self._pg.psycopg.sql.Literal, values))
        form = "EXPLAIN (FORMAT JSON) EXECUTE {}" + ("({})" if values else "")
        return self._pg.sql(form, self._pg.quoted(prepared[0]), arguments), None

    def close(self) -> None:
        """Ends the connection of this session, and with it its settings."""
        self._connection.close()


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The steps of a plan."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _key(table: str) -> int:
    return _KEYS | int(table.removeprefix("rankwell_"), 16)


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
                "existing table, only read; by default a new one, dropped at the end",
            ),
            Parameter("id", str, "id", "column of the ids"),
            Parameter("text", str, "text", "column of the texts"),
            Parameter("vector", str, "embedding", "column of the vectors"),
            Parameter("kind", str, "vector", "search", _KINDS),
            Parameter(
                "metric", str, "cosine", "distance, which must be that of the index", METRICS
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
                "whether to search on where a filter leaves too few",
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
