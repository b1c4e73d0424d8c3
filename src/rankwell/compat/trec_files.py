"""What trec_eval reads: judgments and the run before there is NumPy, a run's tag, and the means and deviations for z-scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rankwell.compat.trec_options import number
from rankwell.errors import BadLine, BadUsage
from rankwell.io.reader import judged_rows
from rankwell.io.reader.native_bytes import Scan
from rankwell.io.reader.reading import TREC_RUN, ReadOptions
from rankwell.store import Source, decode_id

if TYPE_CHECKING:
    from rankwell.compat.trec_options import Options
    from rankwell.core.tables.order import TieRule
    from rankwell.io.reader.judged_rows import JudgedRows

# A run of this size takes longer to read than a thread to start.
LARGE = 1 << 22
_BLOCK = 1 << 16

ZScores = dict[tuple[str, str], tuple[float, float]]


class Ahead(NamedTuple):
    """What the compiled readers read before all else. scan: None where the plain reader has to look at the run."""

    judged: JudgedRows
    scan: Scan | None
    large: bool


def read_ahead(options: Options) -> Ahead | None:
    """The judgments, and the run as it is going to be read; None where there are no compiled readers, or others have to look.

    Raises BadInput for a file that is missing or cannot be read; mistakes in its lines are told by those other readers.
    """
    if options.truth_format != "qrels":
        return None
    truth, run = Source(options.qrels), Source(options.run)
    rows = judged_rows.read(truth, comments=not options.old)
    if rows is None:
        return None
    large = run.path is not None and run.path.stat().st_size >= LARGE
    return Ahead(rows, Scan(run, rows, TREC_RUN, reading_of(options)), large)


def reading_of(options: Options, ties: TieRule = "id-desc") -> ReadOptions:
    """How trec_eval reads a run."""
    return ReadOptions(ties=ties, single_precision=options.old, comments=not options.old, trailing=True)


def last_tag(source: Source, *, comments: bool) -> str:
    """The run tag (the sixth field) of the last line that is not blank and, where those are allowed, no comment."""
    size = _BLOCK
    while True:
        tail, whole = _tail(source, size)
        lines = tail.splitlines() if whole else tail.splitlines()[1:]
        for line in reversed(lines):
            fields = line.split(None, 6)
            if len(fields) > 5 and not (comments and fields[0].startswith(b"#")):
                return decode_id(fields[5])
        if whole:
            return ""
        size *= 16


def _tail(source: Source, size: int) -> tuple[bytes, bool]:
    """The last bytes of the content, and whether they are all of it."""
    if source.path is not None:
        length = source.path.stat().st_size
        with source.path.open("rb") as stream:
            stream.seek(max(0, length - size))
            return stream.read(), length <= size
    kept, seen = b"", 0
    with source.open() as stream:
        while block := stream.read(size):
            kept, seen = (kept + block)[-size:], seen + len(block)
    return kept, seen <= size


def read_zscores(source: Source) -> ZScores:
    """(query, measure) -> mean and standard deviation, from lines of four fields. Raises BadLine."""
    table: ZScores = {}
    for place, line in enumerate(source.read().splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4:
            text = line.decode("utf-8", "replace")
            raise BadLine(f"{source.name}:{place}: {text!r} has {len(fields)} fields; a line is `query measure mean deviation`.")
        query, measure, mean, deviation = map(decode_id, fields)
        try:
            table[query, measure] = (number(mean), number(deviation))
        except BadUsage as error:
            raise BadLine(f"{source.name}:{place}: {error}") from error
    return table
