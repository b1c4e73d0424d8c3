"""Any data frame, through narwhals: pandas, Polars, PyArrow and what else offers Arrow, and lists
of rows; columns go by many names. Arrow streams, the files of `save_to_disk` in Hugging Face
datasets.
"""

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.columns import (
    ROWS_COMPARED,
    Columns,
    Holds,
    are_ranks,
    contradicting,
    is_falling,
    row_names,
    unique_rows,
)
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Floats, Judgments, first_true, id_text, is_missing, is_rows
from rankwell.documents import refuse_wide
from rankwell.errors import BadInput, BadScore, kind_of, needing, shown
from rankwell.io.formats import Request, Texts, file_format
from rankwell.store import Source, refuse_bomb


def _is_frame(thing: Any) -> bool:
    made_by = type(thing).__module__.partition(".")[0]
    return (
        hasattr(thing, "__arrow_c_stream__")
        or hasattr(thing, "__dataframe__")
        or made_by in ("pandas", "polars", "pyarrow")
        or is_rows(thing)
    )


class _Cells(NamedTuple):
    """A column of rows that are no data frame.

    values: the cells.
    dtype: the type of narwhals for cells of any type.
    """

    values: list[Any]
    dtype: Any

    def to_list(self) -> list[Any]:
        """The cells."""
        return self.values

    def head(self, n: int) -> "_Cells":
        """The first n cells."""
        return self._replace(values=self.values[:n])


@file_format("python dataframe", "run", accepts=_is_frame, has_columns=True)
def read_run(frame: Any, request: Request) -> Ranking:
    """The ranking in a data frame; text or whole-number ids, a finite score in every row, or else a
    distance or rank.
    """
    table, columns = _columns(frame, "run", request)
    queries, items, numbers = (
        _ids(table, columns.owner),
        _ids(table, columns.item),
        _numbers(table, columns.value),
    )
    if columns.by_rank and not (fit := are_ranks(numbers)).all():
        row = int(fit.argmin())
        raise BadScore(
            f"row {row + 1}, column {columns.value!r}: {numbers[row]:g}; expected "
            f"{columns.expected_number}. Correct or drop the row."
        )
    scores = (0.0 - numbers if columns.is_falling else numbers).tolist()
    _refuse_contradicting(table, columns, queries, scores)
    return request.ranking(queries, items, scores)


def _refuse_contradicting(
    table: Any, columns: Columns, queries: list[str], scores: list[float]
) -> None:
    """Raises BadInput where another column that could order a run orders the items of a query in
    another way.
    """
    for name in columns.rivals:
        sign = -1.0 if is_falling(name) else 1.0
        rival_scores = [
            sign * _number(value) for value in table[name].head(ROWS_COMPARED).to_list()
        ]
        last = "", 0.0
        rows = zip(queries, scores, rival_scores, strict=False)
        for query, _, rival_score in sorted(
            (row for row in rows if row[2] == row[2]), key=lambda row: (row[0], -row[1], -row[2])
        ):
            if last[0] == query and rival_score > last[1]:
                raise contradicting(columns, name, query)
            last = query, rival_score


@file_format("python dataframe", "judgments", accepts=_is_frame, has_columns=True)
def read_judgments(frame: Any, request: Request) -> Judgments:
    """The judgments in a data frame; text or whole-number ids, a finite grade in every row."""
    table, columns = _columns(frame, "judgments", request)
    queries, items = _ids(table, columns.owner), _ids(table, columns.item)
    grades = _numbers(table, columns.value) if columns.value else np.ones(len(items))
    if columns.aspect is not None:
        return Judgments.from_rows(queries, items, grades, aspects=_ids(table, columns.aspect))
    return Judgments.from_rows(*unique_rows(queries, items, grades.tolist(), request.duplicates))


@file_format("python dataframe", "texts", accepts=_is_frame)
def read_texts(frame: Any, request: Request) -> Texts:
    """Texts by id in a data frame; every other column becomes an attribute where it has a value."""
    table, columns = _columns(frame, "texts", request)
    names = _ids(table, columns.owner)
    if len(set(names)) < len(names):
        raise BadInput(f"column {columns.owner!r} has an id twice; every text needs its own id.")
    attribute_names = (
        []
        if request.ids_only
        # Rows in a list are a mapping of columns.
        else [
            name
            for name in getattr(table, "columns", table)
            if name not in (columns.owner, columns.value)
        ]
    )
    cells = [table[name].to_list() for name in attribute_names]
    rows = zip(*cells, strict=True) if cells else ((),) * len(names)
    attributes = {
        name: {
            key: str(value)
            for key, value in zip(attribute_names, row, strict=True)
            if not is_missing(value)
        }
        for name, row in zip(names, rows, strict=True)
    }
    texts = ["" if is_missing(text) else str(text) for text in table[columns.value].to_list()]
    return Texts(dict(zip(names, texts, strict=True)), attributes)


def kept_rows(frame: Any) -> Any:
    """The frame of the rows of anything that offers them, such as a stream of Arrow, which can be
    read only once.
    """
    return _frame(frame)[0].to_native()


def _frame(frame: Any) -> tuple[Any, list[str]]:
    """A frame as narwhals sees it, and the names of its columns."""
    import narwhals as nw

    if is_rows(frame):
        rows = [row._asdict() if hasattr(row, "_asdict") else row for row in frame]
        names = row_names(frame)
        cells = {name: _Cells([row.get(name) for row in rows], nw.Object()) for name in names}
        return cells, names
    try:
        table: Any = nw.from_native(frame, pass_through=True)
        if isinstance(table, nw.LazyFrame):
            table = table.collect()
        if not isinstance(table, nw.DataFrame):
            # What only offers Arrow is taken by the first package that is there.
            backend: Any = next(filter(find_spec, ("pyarrow", "polars")), "pandas")
            table = nw.from_arrow(frame, backend=backend)
        return table, list(table.columns)
    # Whatever narwhals and the packages below it raise: two columns of a name, a single column.
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"{kind_of(frame)} cannot be read as a data frame ({reason}); give one with columns "
            "for query, item and number, each of its own name."
        ) from error


def _columns(frame: Any, holds: Holds, request: Request) -> tuple[Any, Columns]:
    """The frame as narwhals sees it, and the columns that matter."""
    table, names = _frame(frame)
    refuse_wide(len(names))
    odd = next((name for name in list[Any](names) if not isinstance(name, str)), None)
    if odd is not None:
        raise BadInput(
            f"the data frame has a column {shown(odd)}, {kind_of(odd)}; expected strings as "
            "names of columns."
        )
    columns = request.choose(names, holds)
    request.findings.extend(columns.findings())
    return table, columns


def _ids(table: Any, name: str) -> list[str]:
    """The ids of a column as text. Raises BadInput naming the first row that has none, and for
    columns of other types.
    """
    import narwhals as nw

    column = table[name]
    kind: Any = column.dtype
    if isinstance(kind, (nw.Categorical, nw.Enum)):
        column, kind = column.cast(nw.String), nw.String()
    values: list[Any] = column.to_list()
    if not isinstance(kind, (nw.String, nw.Object, nw.Unknown)) and not kind.is_integer():
        raise BadInput(
            f"column {name!r} holds {kind}; expected strings or integers as ids. Convert the "
            "column."
        )
    ids: list[Any] = values if set(map(type, values)) <= {str} else list(map(id_text, values))
    if None in ids:
        row = ids.index(None)
        raise BadInput(
            f"row {row + 1}, column {name!r}: "
            f"{'nothing' if is_missing(values[row]) else shown(values[row])}; expected an id, a "
            "string or an integer. Correct or drop the row."
        )
    if "" in ids:
        raise BadInput(
            f"row {ids.index('') + 1}, column {name!r}: empty; expected an id. Correct or "
            "drop the row."
        )
    return ids


def _numbers(table: Any, name: str) -> Floats:
    """Numbers of a column. Raises BadScore naming the first row without a finite one."""
    import narwhals as nw

    column = table[name]
    plain = column.dtype.is_numeric()
    if not plain and not isinstance(column.dtype, (nw.Object, nw.Unknown)):
        raise BadInput(
            f"column {name!r} holds {column.dtype}; expected numbers. Convert the column."
        )
    float_column = None
    if plain and not column.null_count():
        with suppress(
            ValueError
        ):  # Arrow refuses integers above 2**53, which the other packages round
            float_column = column.cast(nw.Float64).to_numpy()
    values = np.asarray(
        [_number(value) for value in column.to_list()] if float_column is None else float_column,
        dtype=np.float64,
    )
    if (row := first_true(~np.isfinite(values))) >= 0:
        value = column.to_list()[row]
        text = "nothing" if value is None else shown(value)
        raise BadScore(
            f"row {row + 1}, column {name!r}: {text}; expected a finite number. "
            "Correct or drop the row."
        )
    return values


def _number(value: Any) -> float:
    try:
        return (
            float("nan")
            if value is None or isinstance(value, (str, bool, np.bool_))
            else float(value)
        )
    except (TypeError, ValueError, OverflowError):
        return float("nan")


_MAGIC = b"\xff\xff\xff\xff"


@file_format("arrow", "run", magic=_MAGIC, has_columns=True)
def read_arrow_run(source: Source, request: Request) -> Ranking:
    """The ranking in an Arrow stream, whose columns have the names of a table."""
    return read_run(_table(source), request)


@file_format("arrow", "judgments", magic=_MAGIC, has_columns=True)
def read_arrow_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in an Arrow stream, such as `qrels/test/data-00000-of-00001.arrow` of a saved
    data set.
    """
    return read_judgments(_table(source), request)


@file_format("arrow", "texts", magic=_MAGIC)
def read_arrow_texts(source: Source, request: Request) -> Texts:
    """The texts in an Arrow stream, such as `corpus/corpus/data-00000-of-00001.arrow`; other
    columns are attributes.
    """
    return read_texts(_table(source), request)


def _batches(stream: Any, source: Source) -> Iterator[Any]:
    """The batches of a stream. Raises BadInput where they are far longer than the file, which
    compresses them.
    """
    from pyarrow import total_allocated_bytes

    before = total_allocated_bytes()
    for batch in stream:
        refuse_bomb(total_allocated_bytes() - before, source.size)
        yield batch


def _table(source: Source) -> Any:
    """The table of a stream. Raises MissingExtra without pyarrow, BadInput for damaged data."""
    with needing(
        f"{source.name} is an Arrow stream, which needs pyarrow: pip install 'rankwell[datasets]'."
    ):
        import pyarrow
    try:
        with pyarrow.ipc.open_stream(
            source.read() if source.path is None else pyarrow.memory_map(str(source.path))
        ) as stream:
            table = pyarrow.Table.from_batches(_batches(stream, source), stream.schema)
        table.validate(full=True)
        _ = table.column_names  # of bytes that are not UTF-8
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"{source.name}: the Arrow data is damaged or ends early ({reason}); save it again."
        ) from error
    return table
