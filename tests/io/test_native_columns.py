"""The compiled reader of columns gives what the NumPy way gives, to the last bit, or leaves a table
for a reason it names.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell._native import native
from rankwell.data.tables import Judgments
from rankwell.io.reader import scan_columns
from rankwell.io.reader.lines import ReadOptions

pa: Any = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
from fuzzing import compiled_columns as fuzz_columns  # noqa: E402 - after the skips

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)

JUDGMENTS = Judgments.from_dict({"p": {"d1": 1.0}, "q": {"d3": 1.0, "d4": 0.0}})
QUERIES, ITEMS, SCORES = (
    ["p", "p", "q", "q", "q"],
    ["d0", "d1", "d2", "d3", "d4"],
    [2.0, 1.0, 1.0, 1.0, 0.5],
)
KIND = pa.struct([("q", pa.string()), ("d", pa.string()), ("s", pa.float64())])


def read(table: Any) -> Any:
    """The hits in plain values, None where they are left."""
    found = scan_columns(table.__arrow_c_stream__(), JUDGMENTS, ReadOptions(keep=2))
    return None if found is None else fuzz_columns.plain(found)


def columns(
    *,
    queries: Sequence[Any] = QUERIES,
    items: Sequence[Any] = ITEMS,
    scores: Sequence[Any] = SCORES,
) -> list[Any]:
    return [
        pa.array(queries, pa.string()),
        pa.array(items, pa.string()),
        pa.array(scores, pa.float64()),
    ]


def table(**changed: Sequence[Any]) -> Any:
    return pa.table(columns(**changed), names=["q", "d", "s"])


def test_any_table_is_read_alike_or_left_for_a_known_reason():
    kinds = set[str]()
    for seed in range(100):
        kind, agree = fuzz_columns.compare(seed)
        assert agree, (seed, kind)
        kinds.add(kind if kind.startswith("left") else "read")
    assert kinds == {
        "read",
        *(f"left: {why}" for why in ("kind", "failing", "no row", "missing", "scattered", "twice")),
    }


@pytest.mark.parametrize("seed", range(8))
def test_any_table_in_a_file_is_read_alike(seed: int, tmp_path: Path):
    kind, agree = fuzz_columns.compare_files(seed, tmp_path)

    assert agree, kind


def test_what_is_known_of_this_table_is_found():
    found = scan_columns(table().__arrow_c_stream__(), JUDGMENTS, ReadOptions(keep=2))

    assert found is not None
    assert (
        found.row.tolist(),
        found.above.tolist(),
        found.tied.tolist(),
        found.before.tolist(),
    ) == ([0, 1, 2], [1, 0, 2], [1, 2, 1], [0, 0, 0])
    assert found.top is not None
    assert list(found.top.items) == ["d0", "d1", "d3", "d2"]


def test_a_batch_that_begins_within_its_columns_is_read_from_there():
    one = columns(queries=["q", *QUERIES], items=[None, *ITEMS], scores=[None, *SCORES])
    two = columns(
        queries=["q", "q", *QUERIES],
        items=["d4", None, *ITEMS],
        scores=[float("nan"), None, *SCORES],
    )
    for offset, children in (
        (0, columns()),
        (1, one),
        (1, [each.slice(1) for each in two]),
        (2, two),
    ):
        struct = pa.Array.from_buffers(KIND, len(QUERIES), [None], 0, offset, children)

        assert read(pa.chunked_array([struct], KIND)) == read(table())


@pytest.mark.parametrize("counted", [0, -1])
def test_missing_values_that_were_not_counted_are_searched_for(counted: int):
    bitmap = pa.py_buffer(b"\xff")
    texts = [
        pa.Array.from_buffers(pa.string(), 5, [bitmap, *each.buffers()[1:]], counted)
        for each in columns()[:2]
    ]
    numbers = pa.Array.from_buffers(pa.float64(), 5, [bitmap, columns()[2].buffers()[1]], counted)
    struct = pa.Array.from_buffers(KIND, 5, [bitmap], counted, 0, [*texts, numbers])

    assert read(pa.chunked_array([struct], KIND)) == read(table())
    for place in range(5):
        gone = pa.py_buffer(np.packbits([bit != place for bit in range(8)], bitorder="little"))
        struct = pa.Array.from_buffers(KIND, 5, [gone], -1, 0, columns())
        assert read(pa.chunked_array([struct], KIND)) is None


@pytest.mark.parametrize("shift", range(8))
def test_numbers_may_lie_at_any_address(shift: int):
    def _moved(buffer: Any) -> Any:
        return buffer and pa.py_buffer(bytes(shift) + buffer.to_pybytes()).slice(shift)

    for text in (pa.string(), pa.large_string()):
        moved = [
            pa.Array.from_buffers(each.type, 5, [_moved(buffer) for buffer in each.buffers()])
            for each in (columns()[0].cast(text), columns()[1].cast(text), columns()[2])
        ]
        assert read(pa.table(moved, names=["q", "d", "s"])) == read(table())


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_a_stream_that_breaks_off_is_left(batches: int):
    batch = table().to_batches()[0]

    def _give() -> Iterator[Any]:
        yield from [batch.slice(0, 2), batch.slice(2)][:batches]
        raise OSError("the rest is gone")

    assert read(pa.RecordBatchReader.from_batches(batch.schema, _give())) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda each: [each[0].dictionary_encode(), *each[1:]],
        lambda each: [each[0], each[1].cast(pa.string_view()), each[2]],
        lambda each: [each[0].cast(pa.binary()), *each[1:]],
        lambda each: [each[0], each[1].cast(pa.large_binary()), each[2]],
        lambda each: [pa.array(range(5)), *each[1:]],
        lambda each: [*each[:2], each[2].cast(pa.float32())],
        lambda each: [*each[:2], each[2].dictionary_encode()],
        lambda each: [*each[:2], each[0]],
        lambda each: each[:2],
        lambda each: [*each, each[2]],
        lambda each: each[::-1],
    ],
)
def test_columns_of_other_kinds_are_left(change: Callable[[list[Any]], list[Any]]):
    changed = change(columns())

    assert read(pa.table(changed, names=["q", "d", "s", "t"][: len(changed)])) is None


@pytest.mark.parametrize(
    ("changed", "here"),
    [
        ({"queries": ["p", "q", "q", "p", "q"]}, False),
        ({"queries": ["u", "q", "q", "u", "u"]}, True),
        ({"items": ["d0", "d1", "d2", "d3", "d2"]}, False),
        ({"queries": ["u", "u", "q", "q", "q"], "items": ["d0", "d0", "d2", "d3", "d4"]}, True),
        ({"items": ["d0", "d1", "", "d3", "d4"]}, False),
        ({"queries": ["p", "p", "q", "q", None]}, False),
        ({"queries": ["u", "u", "u", "u", "u"], "items": ["d0", "d1", "d2", "d3", None]}, False),
        (
            {"queries": ["u", "u", "u", "u", "u"], "scores": [1.0, 2.0, 3.0, 4.0, float("-inf")]},
            False,
        ),
        ({"scores": [1.0, 2.0, 3.0, 4.0, float("nan")]}, False),
        ({"queries": [], "items": [], "scores": []}, False),
    ],
)
def test_a_table_is_left_for_what_only_its_giver_can_name(
    changed: dict[str, list[Any]], here: bool
):
    assert (read(table(**changed)) is not None) == here
