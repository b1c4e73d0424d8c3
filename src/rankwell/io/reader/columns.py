"""Every row of a run file as text and numbers, for conversion and checks; memory grows with the file."""

from array import array
from math import isfinite, nan

import numpy as np

from rankwell.io.reader.lines import nothing, read_fields
from rankwell.io.reader.reading import Columns, Layout, Progress, Reading
from rankwell.store import Source, decode_id


def read(source: Source, layout: Layout, reading: Reading, *, progress: Progress | None = None) -> Columns:
    """The rows in the order of the file; see `rankwell.io.reader.reading.read_columns`."""
    queries, items = list[str](), list[str]()
    scores, ranks, lines = array("d"), array("d"), array("q")
    names = dict[bytes, str]()
    for before, fields in read_fields(source, layout, reading, progress=progress):
        own, listed = fields.column(layout.query), fields.column(layout.item)
        names.update((raw, decode_id(raw)) for raw in set(own) - names.keys())
        queries += map(names.__getitem__, own)
        # Decoded in one go; no id holds a newline.
        items += decode_id(b"\n".join(listed)).split("\n") if listed else []
        scores.extend(fields.scores)
        ranks.extend(_ranks(fields.column(layout.rank)))
        lines.extend(before + line for line in fields.lines)
    if not queries:
        raise nothing(source, layout)
    columns = np.frombuffer(scores), np.frombuffer(ranks), np.frombuffer(lines, dtype=np.int64)
    return Columns(queries, items, *columns)


def _ranks(texts: list[bytes]) -> list[float]:
    return list(map(int, texts)) if b"".join(texts).isdigit() else list(map(_rank, texts))


def _rank(text: bytes) -> float:
    try:
        rank = nan if b"_" in text else float(text)
    except ValueError:
        return nan
    return rank if isfinite(rank) else nan
