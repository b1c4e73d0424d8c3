"""Run files and judgments to rows: the compiled reader and the plain one, with the same results to the last bit.

NumPy is imported where rows become tables: `rankwell trec-eval` evaluates small files without it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

from rankwell.core.kernels import native
from rankwell.store import decode_id

if TYPE_CHECKING:
    from rankwell.core.tables import Floats, Ints, Judgments, TieRule
    from rankwell.core.tables.ranking import Hits, Ranking
    from rankwell.store import Source

# Called with the bytes done and the bytes in all; the latter is 0 where it is unknown, as for compressed files.
Progress = Callable[[int, int], None]

SLACK = bytes(80)
"""Room that the compiled readers need behind a text."""


class Layout(NamedTuple):
    """Positions of the white-space-separated fields of a line; `score` None means that only a rank is given, in field `rank`."""

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
    """Options of reading a run.

    single_precision: scores are rounded to 32 bits first, as trec_eval 9 does. keep: number of first items of each query, judged
    or not, to return as well (0: none). comments: lines that begin with `#` are skipped, as in trec_eval 10.
    trailing: fields behind the last one of the layout are skipped, as in trec_eval; else they are an error.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    trailing: bool = False


class TopRows(NamedTuple):
    """The first items of some queries.

    (queries,) int64 indices of queries and numbers of their items; (rows,) int64 lengths of the ids and float64 scores; and the
    ids, one behind the other.
    """

    queries: bytes
    sizes: bytes
    lengths: bytes
    scores: bytes
    text: bytes

    def table(self, judgments: Judgments) -> Ranking:
        """The first items of each query, by query."""
        import numpy as np

        from rankwell.core.tables import offsets_of
        from rankwell.core.tables.ranking import Ranking

        queries, sizes, lengths = (np.frombuffer(raw, dtype=np.int64) for raw in self[:3])
        bounds: list[int] = offsets_of(lengths).tolist()
        order = np.argsort(queries)
        rows = np.argsort(np.repeat(queries, sizes), kind="stable")
        return Ranking(
            queries=tuple(judgments.queries[query] for query in queries[order].tolist()),
            offsets=offsets_of(sizes[order]),
            items=[decode_id(self.text[bounds[row] : bounds[row + 1]]) for row in rows.tolist()],
            scores=np.frombuffer(self.scores, dtype=np.float64)[rows],
        )


class HitRows(NamedTuple):
    """The columns of `Hits`, in any order of rows, with numbers as bytes: float64 for the scores, int64 for all others."""

    retrieved: bytes
    unknown: dict[bytes, int]
    row: bytes
    score: bytes
    above: bytes
    tied: bytes
    before: bytes
    top: TopRows

    @property
    def empty(self) -> bool:
        """Whether the run has no row at all."""
        return not self.unknown and not any(self.retrieved)

    def hits(self, judgments: Judgments, *, keep: int) -> Hits:
        """The hits under the judgments whose rows these are. keep: whether the first items of each query were kept."""
        import numpy as np

        from rankwell.core.tables.ranking import Hits

        rows = np.frombuffer(self.row, dtype=np.int64)
        order = np.argsort(rows)
        above, tied, before = (np.frombuffer(raw, dtype=np.int64)[order] for raw in (self.above, self.tied, self.before))
        retrieved = np.frombuffer(self.retrieved, dtype=np.int64).copy()
        return Hits(
            query=judgments.query_of_row[rows[order]],
            row=rows[order],
            score=np.frombuffer(self.score, dtype=np.float64)[order],
            above=above,
            tied=tied,
            before=before,
            retrieved=retrieved,
            present=retrieved > 0,
            unknown={decode_id(query): self.unknown[query] for query in sorted(self.unknown)},
            top=self.top.table(judgments) if keep else None,
        )


class JudgedRows(NamedTuple):
    """The columns of `Judgments`, with the numbers of `offsets` (int64) and `grades` (float64) as bytes."""

    queries: tuple[str, ...]
    offsets: bytes
    items: list[str]
    grades: bytes
    aspects: list[str] | None

    def table(self) -> Judgments:
        """The same as a table."""
        import numpy as np

        from rankwell.core.tables import Judgments

        offsets, grades = np.frombuffer(self.offsets, dtype=np.int64), np.frombuffer(self.grades, dtype=np.float64)
        return Judgments(self.queries, offsets.copy(), self.items, grades.copy(), self.aspects)


class RunRows(NamedTuple):
    """A run row by row, in the order of its file. ranks: (rows,) NaN where the file has no number. lines: (rows,) from 1."""

    queries: list[str]
    items: list[str]
    scores: Floats
    ranks: Floats
    lines: Ints


def scan(
    source: Source,
    judgments: Judgments,
    layout: Layout,
    options: ReadOptions,
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
    judgments = judgments.flat
    if native.library is not None:
        from rankwell.io.reader import compiled

        hits = compiled.scan(source, judgments, layout, options, threads=threads, progress=progress)
        if hits is not None:
            return hits
    from rankwell.io.reader import plain

    return plain.scan(source, judgments, layout, options, progress=progress)


def read_judged_rows(source: Source, *, header: bytes = b"", comments: bool = False, aspects: bool = False) -> JudgedRows | None:
    """The rows of lines `query aspect item grade` between any white space; of `query item grade` between tabs below a header.

    None where there is no compiled kernel, and for a file with a mistake or of another form: the reader of the format reports it.
    """
    if native.library is None:
        return None
    text = bytearray(source.read())
    size = len(text)
    if not text.startswith(header):
        return None
    text += SLACK
    found = native.library.reader_judgments(text, len(header), size, bool(header), comments, aspects)
    return None if found is None else JudgedRows(*found)


def read_rows(source: Source, options: ReadOptions, *, progress: Progress | None = None) -> RunRows:
    """Every row of a TREC run; of the options only `comments` and `trailing` have an effect. Memory grows with the file.

    Raises BadLine, BadScore and BadInput as `scan` does; repeated items are not an error here.
    """
    import numpy as np

    from rankwell.io.reader.lines import empty_file, read_blocks

    queries, items = list[str](), list[str]()
    columns: list[list[bytes]] = [[], [], []]
    read = _block_rows if native.library is None else _native_block_rows
    for before, rows in read_blocks(source, TREC_RUN, options, lambda block: read(block, options), progress=progress):
        queries += rows[0]
        items += rows[1]
        scores, ranks, lines = (each[: 8 * len(rows[0])] for each in rows[2:])
        for column, raw in zip(columns, (scores, ranks, (np.frombuffer(lines, dtype=np.int64) + before).tobytes()), strict=True):
            column.append(raw)
    if not queries:
        raise empty_file(source, TREC_RUN)
    scores, ranks, lines = map(b"".join, columns)
    return RunRows(queries, items, np.frombuffer(scores), np.frombuffer(ranks), np.frombuffer(lines, dtype=np.int64))


# Queries, items, and as bytes scores, ranks and numbers of lines from 1 in the block.
_BlockRows = tuple[list[str], list[str], bytes, bytes, bytes]


def _native_block_rows(block: bytes, options: ReadOptions) -> _BlockRows:
    from rankwell.io.reader.lines import Unreadable

    text = block if block.endswith(b"\n") else block + b"\n"
    rows = native.library.reader_rows(text + SLACK, len(text), options.comments, options.trailing)
    if rows is None:
        raise Unreadable
    return rows


def _block_rows(block: bytes, options: ReadOptions) -> _BlockRows:
    from rankwell.io.reader.lines import fields_of

    fields = fields_of(block, TREC_RUN, options)
    queries, items = (list(map(decode_id, fields.column(field))) for field in (TREC_RUN.query, TREC_RUN.item))
    ranks = array("d", map(_rank, fields.column(TREC_RUN.rank)))
    return queries, items, array("d", fields.scores).tobytes(), ranks.tobytes(), array("q", fields.lines).tobytes()


def _rank(text: bytes) -> float:
    try:
        rank = nan if b"_" in text else float(text)
    except ValueError:
        return nan
    return rank if isfinite(rank) else nan
