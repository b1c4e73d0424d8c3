"""A table in a file with the columns that matter, whether its first line names them or their
numbers are chosen.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from rankwell.core.tables.columns import Columns, Holds, choose_columns, likelihood
from rankwell.errors import BadInput, flag
from rankwell.io.column_tables.dialects import Dialect
from rankwell.io.column_tables.table import ColumnTable, opened_table
from rankwell.io.formats import Request
from rankwell.io.reader.columns import has_header
from rankwell.store import Head, Source


@contextmanager
def opened(
    source: Source, dialect: Dialect, holds: Holds, request: Request
) -> Generator[tuple[ColumnTable, Columns]]:
    """The table in a file and the columns that matter."""
    aspects = request.aspects != "none"
    with opened_table(source, dialect, _numbered(source, dialect, request)) as table:
        if request.part and holds == "run":
            table.choose_run(request.part)
        rules: dict[str, Any] = {
            "aspects": aspects,
            "chosen": request.columns,
            "ungraded": request.ungraded,
        }
        columns = choose_columns(table.columns_to_choose(holds), holds, **rules)
        if request.recognised and holds in ("run", "judgments") and columns.value:
            _refuse_doubtful(dialect, Head.of(source), holds, columns.value)
        # Queries whose ranks do not follow their scores are warnings, where these are requested.
        warned = columns.rank if request.warnings is not None else None
        table.refuse_contradicting(
            columns._replace(rivals=tuple(name for name in columns.rivals if name != warned))
        )
        request.notes.extend(f"{source.name}: {note}" for note in columns.notes)
        yield table, columns


def _numbered(source: Source, dialect: Dialect, request: Request) -> list[str] | None:
    """The numbers of the columns of a text table without a header, where some are chosen by them;
    else None.
    """
    if not dialect.delimiters or not request.columns:
        return None
    first = dialect.split(Head.of(source))[0]
    if has_header([field.encode("utf-8", "surrogateescape") for field in first], request.columns):
        return None
    return [str(number) for number in range(1, len(first) + 1)]


def _refuse_doubtful(dialect: Dialect, head: Head, holds: Holds, column: str) -> None:
    """Raises BadInput where the column `score` may as well hold grades of judgments in a run, or
    scores of a run in judgments.
    """
    names = dialect.names(head)
    if (
        not names
        or column.lower() != "score"
        or likelihood(names, holds, has_integer_scores=dialect.has_integer_scores(head, names))
        >= 0.5
    ):
        return
    if holds == "run":
        contents, option = (
            "integers below the names of BEIR's judgments",
            flag("--columns", f"score={column}"),
        )
    else:
        contents, option = (
            "other values than integers, as runs do",
            flag("--qrels-columns", f"grade={column}"),
        )
    raise BadInput(
        f"{head.name}: the column {column!r} holds {contents}; if it is right, say so with "
        f"{option}."
    )
