"""SQLite's full-text search, FTS5: BM25 over any documents, in memory, with nothing to install."""

import math
import re
import sqlite3
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from rankwell.engines import (
    ENGINES,
    Closing,
    EngineFamily,
    EngineHits,
    EngineItems,
    EnginePlan,
    EngineQuery,
    MemoryEngine,
    MemorySession,
    Parameter,
    ParameterValues,
)
from rankwell.errors import BadInput, RankwellError

_TOKENIZER = "porter unicode61"
_K1, _B = 1.2, 0.75
"""The constants of FTS5's own bm25()."""
_COUNTS = """
CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, documents, instance);
CREATE TABLE temp.counts AS SELECT term, doc, count(*) AS n FROM places GROUP BY term, doc;
CREATE INDEX temp.by_term ON counts (term, doc, n);
CREATE TABLE temp.lengths (doc INTEGER PRIMARY KEY, id, length);
INSERT INTO temp.lengths SELECT doc, id, length
FROM (SELECT doc, sum(n) AS length FROM counts GROUP BY doc) JOIN documents ON documents.rowid = doc;
CREATE TABLE temp.weights (term PRIMARY KEY, weight) WITHOUT ROWID;
"""  # noqa: E501
_SCORED = """
SELECT id, sum(cnt * weight * n * (:k1 + 1) / (n + :k1 * (1 - :b + :b * length / :mean))) AS score
FROM asked_terms JOIN weights USING (term) JOIN counts USING (term)
JOIN lengths ON lengths.doc = counts.doc
WHERE counts.doc IN (SELECT rowid FROM documents WHERE documents MATCH :match){filters}
GROUP BY counts.doc ORDER BY score DESC, id LIMIT :k
"""
# bm25() is the smaller the better a document is, the opposite of a score.
_MATCHED = """
SELECT id, -bm25(documents) AS score FROM documents
WHERE documents MATCH :match{filters} ORDER BY score DESC, id LIMIT :k
"""
_FILTER = " AND id IN (SELECT id FROM fields WHERE name = :name{0} AND value = :value{0})"


class SqliteFts(Closing):
    """An FTS5 index of (id, text) documents, ranked by SQLite's own BM25 (k1 = 1.2, b = 0.75) or
    another; threads may share it.

    tokenizer: any tokenizer of FTS5 with its arguments; the default stems English and ignores case
    and accents.
    Close it, or use it in a `with` statement: it holds a database in memory.
    Raises RankwellError if this interpreter's SQLite was built without FTS5, or does not support
    the tokenizer.
    Source: sqlite.org/fts5.html, section 5.1.1.

    >>> with SqliteFts(
    ...     [("argparse", "command line parsing"), ("sched", "event scheduler")]
    ... ) as index:
    ...     [item for item, _ in index.search("parse a command line", k=10)]
    ['argparse']
    """

    def __init__(
        self,
        documents: Iterable[tuple[str, str]],
        tokenizer: str = _TOKENIZER,
        fields: Iterable[tuple[str, str, Any]] = (),
    ) -> None:
        # One statement at a time: threads of one connection would otherwise read each other's rows.
        self._database, self._lock = sqlite3.connect(":memory:", check_same_thread=False), Lock()
        self._quoted, self._mean_length = tokenizer.replace("'", "''"), 0.0
        try:
            self._database.execute(
                "CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, text, tokenize = "
                f"'{self._quoted}')"
            )
        except sqlite3.OperationalError as error:
            self.close()
            library = f"SQLite {sqlite3.sqlite_version}"
            if "token" in str(error):
                raise RankwellError(
                    f"{library} does not support the tokenizer {tokenizer!r}; try '{_TOKENIZER}'."
                ) from error
            raise RankwellError(
                f"{library} of this interpreter has no full-text search ({error}); "
                "use a Python whose sqlite3 is built with FTS5, as those of python.org, "
                "conda-forge and uv are."
            ) from error
        self._database.execute(
            "CREATE TABLE fields (name, value, id, PRIMARY KEY (name, value, id)) WITHOUT ROWID"
        )
        with self._database:
            self._database.executemany("INSERT INTO documents VALUES (?, ?)", documents)
            self._database.executemany("INSERT INTO fields VALUES (?, ?, ?)", fields)

    def search(
        self,
        query: str,
        k: int,
        *,
        words: str = "any",
        fields: Mapping[str, Any] | None = None,
        k1: float = _K1,
        b: float = _B,
    ) -> list[tuple[str, float]]:
        """The best `k` documents that hold `any` word of the query, or `all`, by score descending
        and then by id.

        The query is words, never FTS5's query language: operators, quotes and stars in it mean
        nothing. fields: name -> value of the documents that count. k1, b: FTS5's own are fixed;
        others are computed from its index by the same formula.
        """
        filters, values = _conditions(query, k, words, fields or {})
        if not values["match"]:
            return []
        if (k1, b) == (_K1, _B):
            rows = self._rows(_MATCHED.format(filters=filters), values)
        else:
            rows = self._scored(
                query, _SCORED.format(filters=filters), {**values, "k1": k1, "b": b}
            )
        return [(str(item), float(score)) for item, score in rows]

    def _scored(self, query: str, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """The rows of a search by BM25 with other constants than FTS5's."""
        with self._lock:
            if not self._mean_length:
                self._count()
            # FTS5 itself makes terms of the words, so that they are stemmed as those of the
            # documents.
            self._database.execute("DELETE FROM asked")
            self._database.execute("INSERT INTO asked VALUES (?)", [" ".join(_words(query))])
            return self._database.execute(
                statement, {**values, "mean": self._mean_length}
            ).fetchall()

    def _count(self) -> None:
        """Makes the tables of how often each term is in each document, with its weight, in the
        temporary database.
        """
        database = self._database
        database.executescript(_COUNTS)
        database.executescript(
            f"CREATE VIRTUAL TABLE temp.asked USING fts5(text, tokenize = '{self._quoted}');"
            "CREATE VIRTUAL TABLE temp.asked_terms USING fts5vocab(temp, asked, row);"
        )
        documents = int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
        total = database.execute("SELECT sum(length) FROM lengths").fetchone()[0]
        self._mean_length = float(total or 1) / max(documents, 1)
        document_counts = database.execute(
            "SELECT term, count(*) FROM counts GROUP BY term"
        ).fetchall()
        # A term of more than half of the documents would have a negative weight; FTS5 gives it next
        # to none.
        weights = [
            (term, max(math.log((documents - n + 0.5) / (n + 0.5)), 1e-6))
            for term, n in document_counts
        ]
        database.executemany("INSERT INTO weights VALUES (?, ?)", weights)

    def plan(self, query: str, words: str, fields: Mapping[str, Any]) -> str:
        """SQLite's plan of a search."""
        filters, values = _conditions(query, 1, words, fields)
        if not values["match"]:
            return ""
        rows = self._rows(f"EXPLAIN QUERY PLAN {_MATCHED.format(filters=filters)}", values)
        return "\n".join(str(row[3]) for row in rows)

    def size(self) -> int:
        """Bytes of the database."""
        return int(
            self._rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")[0][
                0
            ]
        )

    def _rows(self, statement: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        with self._lock:
            return self._database.execute(statement, values or {}).fetchall()

    def close(self) -> None:
        """Gives the database's memory back; the index cannot be searched afterwards."""
        self._database.close()


def _words(query: str) -> list[str]:
    """The words of a query, each once."""
    return list(dict.fromkeys(re.findall(r"[^\W_]+", query.lower())))


def _conditions(
    query: str, k: int, words: str, fields: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The conditions on the fields, and the values of a search; the query is in FTS5's language, ""
    for one without words.
    """
    operator = " AND " if words == "all" else " OR "
    match = operator.join(f'"{word}"' for word in _words(query))
    values = {"match": match, "k": max(k, 0)}
    for number, (name, value) in enumerate(fields.items()):
        values |= {f"name{number}": name, f"value{number}": value}
    return "".join(map(_FILTER.format, range(len(fields)))), values


class _FtsSession(MemorySession):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.settings = {"words": "any", "k1": _K1, "b": _B}
        self._last: tuple[str, Mapping[str, Any]] = "", {}

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        self._last = query.text or "", query.filter or {}
        results = self._index.search(self._last[0], k, fields=self._last[1], **self.settings)
        return EngineHits([item for item, _ in results], [score for _, score in results])

    def _configure(self, values: ParameterValues) -> None:
        settings = {**self.settings, **values}
        if not (0 <= settings["k1"] < math.inf and 0 <= settings["b"] <= 1):
            raise BadInput(
                f"k1 is {settings['k1']:g} and b is {settings['b']:g}; expected k1 from 0, and b "
                "from 0 to 1."
            )
        self.settings = settings

    def _plan(self) -> EnginePlan | None:
        text = self._index.plan(self._last[0], self.settings["words"], self._last[1])
        return EnginePlan(text, "VIRTUAL TABLE INDEX" in text) if text else None


class _FtsEngine(MemoryEngine):
    module, sessions = "sqlite3", _FtsSession
    needs_items = False

    def _index(self, items: EngineItems) -> int:
        self.close()
        fields = (
            (name, value, item)
            for name, values in items.fields.items()
            for item, value in zip(items.ids, values, strict=True)
        )
        self.loaded_index = SqliteFts(
            zip(items.ids, items.texts or (), strict=True), self.opening.build["tokenizer"], fields
        )
        self.items = EngineItems(items.ids)
        return self._size()

    def _size(self) -> int:
        return self.loaded_index.size()

    def close(self) -> None:
        """Closes the database, which is in memory and is lost."""
        if self.loaded_index is not None:
            self.loaded_index.close()
        super().close()


ENGINES.add(
    "sqlite-fts5",
    EngineFamily(
        "sqlite-fts5",
        "SQLite's full-text search with BM25, in memory",
        ("lexical",),
        _FtsEngine,
        build=(Parameter("tokenizer", str, _TOKENIZER, "FTS5's tokenizer with its arguments"),),
        search=(
            Parameter(
                "words",
                str,
                "any",
                "whether a document has any word of the query, or all",
                ("any", "all"),
            ),
            Parameter(
                "k1",
                float,
                _K1,
                "saturation of term frequencies; with a value other than FTS5's own, "
                "a search takes longer",
            ),
            Parameter(
                "b",
                float,
                _B,
                "normalisation by length, 0 to 1; with a value other than FTS5's own, "
                "a search takes longer",
            ),
        ),
        own_version=sqlite3.sqlite_version,
    ),
)
