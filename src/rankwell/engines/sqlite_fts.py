"""SQLite's full-text search as a system: BM25 over any documents, in memory, with nothing to install."""

import re
import sqlite3
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from rankwell.errors import RankwellError


class SqliteFts:
    """An FTS5 index of (id, text) documents, ranked by SQLite's own BM25 (k1 = 1.2, b = 0.75).

    tokenizer: any tokenizer of FTS5 with its arguments; the default stems English and ignores case and accents.
    Close it, or use it in a `with` statement: it holds a database in memory.
    Raises RankwellError if this interpreter's SQLite was built without FTS5, or does not know the tokenizer.
    Source: sqlite.org/fts5.html, section 5.1.1.

    >>> with SqliteFts([("argparse", "command line parsing"), ("sched", "event scheduler")]) as index:
    ...     [item for item, _ in index.search("parse a command line", k=10)]
    ['argparse']
    """

    def __init__(self, documents: Iterable[tuple[str, str]], tokenizer: str = "porter unicode61") -> None:
        self._database = sqlite3.connect(":memory:")
        quoted = tokenizer.replace("'", "''")
        try:
            self._database.execute(f"CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, text, tokenize = '{quoted}')")
        except sqlite3.OperationalError as error:
            self.close()
            what = f"SQLite {sqlite3.sqlite_version}"
            if "token" in str(error):
                raise RankwellError(f"{what} does not support the tokenizer {tokenizer!r}; try 'porter unicode61'.") from error
            raise RankwellError(
                f"{what} of this interpreter has no full-text search ({error}); "
                "use a Python whose sqlite3 is built with FTS5, as those of python.org, conda-forge and uv are."
            ) from error
        with self._database:
            self._database.executemany("INSERT INTO documents VALUES (?, ?)", documents)

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The best `k` documents that hold any word of the query, by score descending and then by id.

        The query is words, never FTS5's query language: operators, quotes and stars in it mean nothing.
        """
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"[^\W_]+", query.lower())))
        if not match:
            return []
        # bm25() is the smaller the better a document is, the opposite of a score.
        rows = self._database.execute(
            "SELECT id, -bm25(documents) AS score FROM documents WHERE documents MATCH ? ORDER BY score DESC, id LIMIT ?",
            (match, max(k, 0)),
        )
        return [(str(item), float(score)) for item, score in rows]

    def close(self) -> None:
        """Gives the database's memory back; the index cannot be searched afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
