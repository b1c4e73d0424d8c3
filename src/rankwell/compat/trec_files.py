"""What trec_eval reads beside judgments and rankings: the tag of a run, and the means and deviations for z-scores."""

from rankwell.compat.trec_options import number
from rankwell.errors import BadLine
from rankwell.store import Source, decode_id

_BLOCK = 1 << 16

ZScores = dict[tuple[str, str], tuple[float, float]]


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
        table[query, measure] = (number(mean), number(deviation))
    return table
