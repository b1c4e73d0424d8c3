"""Arrow streams, the files of `save_to_disk` in Hugging Face datasets; their columns are those of a
data frame.
"""

from collections.abc import Iterator
from typing import Any

from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, MissingExtra
from rankwell.io.formats import FORMATS, Request, Texts, file_format
from rankwell.store import Source, refuse_bomb

_MAGIC = b"\xff\xff\xff\xff"


@file_format("arrow", "run", magic=_MAGIC, columns=True)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in an Arrow stream, whose columns have the names of a table."""
    return FORMATS["python dataframe run"].read(_table(source), request)


@file_format("arrow", "judgments", magic=_MAGIC, columns=True)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in an Arrow stream, such as `qrels/test/data-00000-of-00001.arrow` of a saved
    data set.
    """
    return FORMATS["python dataframe judgments"].read(_table(source), request)


@file_format("arrow", "texts", magic=_MAGIC)
def read_texts(source: Source, request: Request) -> Texts:
    """The texts in an Arrow stream, such as `corpus/corpus/data-00000-of-00001.arrow`; other
    columns are attributes.
    """
    return FORMATS["python dataframe texts"].read(_table(source), request)


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
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(
            f"{source.name} is an Arrow stream, which needs pyarrow: pip install "
            "'rankwell[datasets]'."
        ) from error
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
