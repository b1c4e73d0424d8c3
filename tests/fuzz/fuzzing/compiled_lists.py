"""Mutated and random runs through the compiled reader of lists and the plain reader.

Its lists must be the first items that the plain reader gives each query. It may leave a run to
another way only where that finds a mistake, or where the rows of a query are not contiguous.
"""

from itertools import groupby, pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from fuzzing import FUZZERS, Fuzzer
from fuzzing import compiled_lines as lines
from rankwell.data.tables import Judgments
from rankwell.errors import RankwellError
from rankwell.io import reader as lists
from rankwell.io.reader import lines as plain
from rankwell.io.reader.lines import ReadOptions
from rankwell.store import Source

IRREGULAR = "left to another way"


def lists_of(content: bytes, path: Path) -> Any:
    """The first items of each query by the compiled reader; `IRREGULAR` where it leaves the run to
    another way.
    """
    case, found = lines.case_of(content), dict[str, list[str]]()
    items = sorted({item for graded in case.truth.values() for item in graded})[::2]
    path.write_bytes(content)
    try:
        with mock.patch.multiple(lists, BLOCK=case.block, _LEAST=1):
            for block in lists.ListScan(items, case.layout, options_of(case)).read(Source(path)):
                items += block.new
                bounds = np.cumsum([0, *np.frombuffer(block.sizes, dtype=np.int64)]).tolist()
                names = [items[code] for code in np.frombuffer(block.items, dtype=np.int64)]
                for query, (start, stop) in zip(block.queries, pairwise(bounds), strict=True):
                    if query in found:
                        return f"{query!r} has two lists"
                    found[query] = names[start:stop]
    except lists.Irregular:
        return IRREGULAR
    return found


def options_of(case: lines.Case) -> ReadOptions:
    """The options of a case, with at least one first item."""
    return case.reading._replace(keep=max(case.reading.keep, 1))


def plain_lists(content: bytes, path: Path) -> Any:
    """The lists by the plain reader; `IRREGULAR` where it finds a mistake or the rows of a query
    apart.
    """
    case = lines.case_of(content)
    path.write_bytes(content)
    source, none = Source(path), Judgments.from_rows([], [], [])
    try:
        unknown = plain.scan(source, none, case.layout, options_of(case)).unknown
        judged = Judgments.from_rows([], [], [], all_queries=unknown)
        top = plain.scan(source, judged, case.layout, options_of(case)).top
    except RankwellError:
        return IRREGULAR
    if top is None:
        return IRREGULAR
    bounds = pairwise(top.offsets.tolist())
    return {
        query: list(top.items[start:stop])
        for query, (start, stop) in zip(top.queries, bounds, strict=True)
    }


def is_apart(content: bytes) -> bool:
    """Whether the rows of a query are not contiguous, by the fields of the lines."""
    case = lines.case_of(content)
    rows = [line.split() for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    kept = [
        row[case.layout.query]
        for row in rows
        if row and not (case.reading.comments and row[0].startswith(b"#"))
    ]
    order = [query for query, _ in groupby(kept)]
    return len(order) > len(set(order))


def agree(content: bytes, path: Path) -> bool:
    """Whether both readers agree about a file, which is written to a path first."""
    found, expected = lists_of(content, path), plain_lists(content, path)
    return found == expected or (found == IRREGULAR and is_apart(content))


def _write(rng: Random, folder: Path) -> tuple[bytes, Path]:
    kept = sorted(lines.SEEDS.glob("*.run"))
    return rng.choice(kept).read_bytes() if kept and rng.random() < 0.3 else lines.made(
        rng
    ), folder / "input"


def _change(rng: Random, given: tuple[bytes, Path]) -> tuple[bytes, Path]:
    return lines.mutated(rng, given[0], lines.made(rng)), given[1]


FUZZERS["compiled reader of lists"] = Fuzzer(
    _write, _change, lambda given: agree(*given), lambda _: True
)
