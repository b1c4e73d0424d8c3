"""The compiled reader counts the rows of queries in several files as the plain way does, and says
where it cannot.
"""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell._native import native
from rankwell.data.rankings import (
    SharedCounts,
    SharedQueries,
    count_shared,
    item_prints,
    shared_queries,
)
from rankwell.data.tables import TIE_RULES, Judgments
from rankwell.errors import BadScore
from rankwell.io.formats import FORMATS, Request
from rankwell.io.reader import COLLECT, new_table, new_worker
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.io.shards import shard_counts, shard_hits
from rankwell.store import Source, SourceRange

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)

ITEMS = [
    "a",
    "é",
    "a\udcff",
    "€uro",
    "z" * 254,
    "z" * 255,
    "z" * 256,
    "y" * 700,
    *(f"doc{number}" for number in range(40)),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Judgments]:
    """Three files with rows of the same queries in any order, most scores tied, and judgments of
    some items.
    """
    draw, folder = random.Random(3), tmp_path_factory.mktemp("shards")
    queries = ["q1", "q2", "a-query-of-more-than-eight-bytes", "unjudged"]
    rows = [
        (query, item, draw.choice((0.5, 0.5 + 1e-12, 1, 3e300)))
        for query in queries
        for item in ITEMS
    ]
    places = [draw.randrange(3) for _ in rows]
    order = draw.sample(range(len(rows)), len(rows))
    found = list[Path]()
    for number in range(3):
        lines = [
            f"{rows[row][0]} Q0 {rows[row][1]} 1 {rows[row][2]!r} tag\n"
            for row in order
            if places[row] == number
        ]
        found.append(folder / f"part-{number}.run")
        found[-1].write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    truth = {query: dict.fromkeys(draw.sample(ITEMS, 20), 1) for query in queries[:3]}
    return found, Judgments.from_dict({**truth, "q9": {"a": 1}})


def both(
    file: Source, judgments: Judgments, shared: SharedQueries, request: Request
) -> list[SharedCounts | None]:
    entry = FORMATS["trec run"]
    assert entry.count_shared is not None
    ranking = entry.read(file, Request(duplicates="keep"))
    plain = count_shared(
        ranking, judgments, shared, ties=request.ties, single_precision=request.single_precision
    )
    return [entry.count_shared(file, judgments, shared, request), plain]


def by_query(counts: SharedCounts) -> list[list[int]]:
    """The prints of each query in order."""
    bounds = [0, *np.cumsum(counts.prints.rows[:]).tolist()]
    return [sorted(counts.prints.prints[start:stop].tolist()) for start, stop in pairwise(bounds)]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("ties", TIE_RULES)
def test_rows_are_counted_as_the_plain_way_does(
    files: tuple[list[Path], Judgments], ties: Any, single: bool
):
    paths, judgments = files
    request = Request(ties, single)
    sources = [Source(path) for path in paths]
    shared = shared_queries(
        [shard_hits(each, FORMATS["trec run"], judgments, request) for each in sources]
    )
    assert len(shared.queries) == 3

    for source in sources:
        found, wanted = both(source, judgments, shared, request)
        assert found is not None
        assert wanted is not None
        names = ("target", "above", "tied", *(["upto"] if ties in ("id-asc", "id-desc") else []))
        for name in names:
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
        assert np.array_equal(found.prints.rows[:], wanted.prints.rows[:])
        assert by_query(found) == by_query(wanted)


def test_prints_of_lines_come_in_the_order_of_the_lines(files: tuple[list[Path], Judgments]):
    paths, judgments = files
    shared = shared_queries(
        [shard_hits(Source(path), FORMATS["trec run"], judgments, Request()) for path in paths]
    )
    rows = [line.split() for line in paths[0].read_bytes().splitlines()]
    queries = [judgments.queries[query].encode() for query in shared.queries.tolist()]

    found, _ = both(Source(paths[0]), judgments, shared, Request())

    assert found is not None
    listed = [
        row[2].decode("utf-8", "surrogateescape")
        for query in queries
        for row in rows
        if row[0] == query
    ]
    assert found.prints.prints[:].tolist() == item_prints(listed).tolist()


def test_a_range_of_a_file_is_counted_alone(files: tuple[list[Path], Judgments]):
    paths, judgments = files
    shared = shared_queries(
        [shard_hits(Source(path), FORMATS["trec run"], judgments, Request()) for path in paths]
    )
    size = paths[0].stat().st_size
    cut = paths[0].read_bytes().index(b"\n", size // 2) + 1

    whole, first, second = (
        both(each, judgments, shared, Request())[0]
        for each in (
            Source(paths[0]),
            SourceRange(paths[0], 0, cut),
            SourceRange(paths[0], cut, size),
        )
    )

    assert whole is not None
    assert first is not None
    assert second is not None
    assert (first.prints.rows[:] + second.prints.rows[:]).tolist() == whole.prints.rows[:].tolist()
    assert min(first.prints.rows[:].tolist() + second.prints.rows[:].tolist()) > 0


def test_a_file_with_a_mistake_is_left_to_the_reader_that_names_it(
    files: tuple[list[Path], Judgments], tmp_path: Path
):
    paths, judgments = files
    shared = shared_queries(
        [shard_hits(Source(path), FORMATS["trec run"], judgments, Request()) for path in paths]
    )
    broken = tmp_path / "broken.run"
    broken.write_bytes(paths[0].read_bytes() + b"q1 Q0 more 1 many tag\n")

    with pytest.raises(BadScore, match=r"broken\.run:\d+: the score is 'many'"):
        shard_counts(Source(broken), FORMATS["trec run"], judgments, shared, Request())


@pytest.mark.parametrize(
    ("queries", "query", "row"),
    [([7], [0], [0]), ([-1], [0], [0]), ([0], [9], [0]), ([0], [0], [99]), ([0], [0, 0], [0])],
)
def test_items_that_no_table_has_are_refused(queries: list[int], query: list[int], row: list[int]):
    table = new_table(Judgments.from_dict({"q": {"d": 1}}))
    worker = new_worker(table, TREC_RUN, ReadOptions(), COLLECT)

    with pytest.raises(ValueError, match="cannot expect"):
        native.library.reader_expect(
            worker, *(np.array(each).tobytes() for each in (queries, query, row)), bytes(8)
        )
