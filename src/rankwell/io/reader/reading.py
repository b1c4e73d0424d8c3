"""How a run file is to be read, and the reader that does it: compiled or plain, with the same `Hits` to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rankwell.core.tables import Floats, Ints, TieRule
    from rankwell.core.tables.judgments import Judgments
    from rankwell.core.tables.ranking import Hits
    from rankwell.store import Source

# Called with the bytes done and the bytes in all; the latter is 0 where nobody knows, as for compressed files.
Progress = Callable[[int, int], None]


class Layout(NamedTuple):
    """Which white-space-separated field of a line is what; `score` None means that only a rank is given, in field `rank`."""

    name: str
    form: str
    fields: int
    query: int
    item: int
    score: int | None
    rank: int

    @property
    def value(self) -> int:
        """The field that orders the items: the score, or the rank where there is no score."""
        return self.rank if self.score is None else self.score


TREC_RUN = Layout("TREC run", "query Q0 item rank score tag", fields=6, query=0, item=2, score=4, rank=3)
MSMARCO_RUN = Layout("MS MARCO run", "query item rank", fields=3, query=0, item=1, score=None, rank=2)


class ReadOptions(NamedTuple):
    """How a run is to be read.

    single_precision: scores are rounded to 32 bits first, as trec_eval 9 does. keep: how many first items of each query, judged
    or not, to hand back as well (0: none). comments: lines that begin with `#` say nothing, as in trec_eval 10.
    trailing: fields behind the last one that is wanted are passed over, as trec_eval does; else they are an error.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    trailing: bool = False


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    reading: ReadOptions,
    *,
    threads: int = 2,
    progress: Progress | None = None,
) -> Hits:
    """The hits of a run file under judgments with one row per query and item; unjudged rows are counted, never kept.

    Memory does not grow with the file unless the compiled reader finds the lines of a query scattered over it, or more than some
    ten thousand of one query: then it keeps 8 bytes for each row of a judged query.
    Raises BadLine or BadScore naming the first such line of the file, else DuplicateItem likewise, BadInput for a file without a
    line. A duplicate is looked for in judged queries only; the lines of the others are checked for their form.
    """
    from rankwell.core.kernels import native

    judgments = judgments.flat
    if native.library is not None:
        from rankwell.io.reader import native_bytes

        hits = native_bytes.scan(source, judgments, layout, reading, threads=threads, progress=progress)
        if hits is not None:
            return hits
    from rankwell.io.reader import plain

    return plain.scan(source, judgments, layout, reading, progress=progress)


class Columns(NamedTuple):
    """A run as it stands in its file, row by row. ranks: (rows,) NaN where the file has no number. lines: (rows,) from 1."""

    queries: list[str]
    items: list[str]
    scores: Floats
    ranks: Floats
    lines: Ints


def read_columns(source: Source, reading: ReadOptions, *, progress: Progress | None = None) -> Columns:
    """Every row of a TREC run; of the reading only `comments` and `trailing` matter.

    Raises BadLine, BadScore and BadInput as `scan` does; items that stand twice are no error here.
    """
    from rankwell.io.reader import columns

    return columns.read(source, reading, progress=progress)
