"""A kernel in Triton: half-precision products are compared in registers, and those that reach a bound are appended to lists.

CUDA builds of torch bring Triton, which is imported when the kernel is first used. With TRITON_INTERPRET=1 it runs on the CPU.
"""

# Triton reads the annotations of a kernel, and knows its own only.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import triton.language as tl
    from torch import Tensor
else:
    tl = None  # set before the kernel is compiled, which looks it up by this name


@cache
def _compiled() -> Any:
    """The kernel. Raises ImportError without Triton."""
    import triton
    import triton.language

    globals()["tl"] = triton.language
    return triton.jit(_append)


def is_available() -> bool:
    """Whether Triton can be imported."""
    try:
        _compiled()
    except ImportError:
        return False
    return True


class KernelTile(NamedTuple):
    """Sizes of the tiles of a kernel: queries, items, and dimensions multiplied at a time.

    The lists are written through shared memory, 8 bytes a product: larger tiles than these do not fit an H100.
    """

    queries: int = 128
    items: int = 128
    inner: int = 64
    warps: int = 8
    stages: int = 3


class Lists(NamedTuple):
    """Lists of candidates that the kernel appends to. counts: (queries,) int32, beyond the width where there was no room."""

    counts: Tensor
    positions: Tensor
    upper: Tensor
    lower: Tensor


def _append(
    queries, items, scale, query_factor, item_factor, unit, cut, slack,
    count, position, upper, lower,
    n_queries, n_items, d, width, first,
    has_factors: tl.constexpr, block_q: tl.constexpr, block_x: tl.constexpr, block_d: tl.constexpr, group: tl.constexpr,
) -> None:  # fmt: skip
    # Tiles of the same items run side by side, so that these are read from the cache.
    tile, query_tiles, across = tl.program_id(0), tl.cdiv(n_queries, block_q), tl.cdiv(n_items, block_x)
    top = tile // (group * across) * group
    high = tl.minimum(query_tiles - top, group)
    inside = tile % (group * across)
    row = (top + inside % high) * block_q + tl.arange(0, block_q)
    column = inside // high * block_x + tl.arange(0, block_x)
    inner = tl.arange(0, block_d)
    is_row, is_column = row < n_queries, column < n_items
    left = queries + row.to(tl.int64)[:, None] * d + inner[None, :]
    right = items + column.to(tl.int64)[None, :] * d + inner[:, None]
    total = tl.zeros((block_q, block_x), dtype=tl.float32)
    for start in range(0, d, block_d):
        has = inner < d - start
        one = tl.load(left + start, mask=is_row[:, None] & has[None, :], other=0)
        other = tl.load(right + start, mask=is_column[None, :] & has[:, None], other=0)
        total = tl.dot(one.to(tl.float16), other.to(tl.float16), total)
    value = total * tl.load(scale + column, mask=is_column, other=0)[None, :]
    if has_factors:
        factor = tl.load(query_factor + row, mask=is_row, other=0)
        value += factor[:, None] * tl.load(item_factor + column, mask=is_column, other=0)[None, :]
    reaches = value >= tl.load(cut + row, mask=is_row, other=0)[:, None]
    reaches = reaches & is_row[:, None] & is_column[None, :]
    if tl.max(tl.max(reaches.to(tl.int32), axis=1), axis=0) != 0:
        each = reaches.to(tl.int32)
        begin = tl.atomic_add(count + row, tl.sum(each, axis=1), mask=is_row)
        slot = begin[:, None] + tl.cumsum(each, axis=1) - each
        fits = reaches & (slot < width)
        at = row.to(tl.int64)[:, None] * width + slot
        middle = value.to(tl.float64) * tl.load(unit + row, mask=is_row, other=0)[:, None]
        off = tl.load(slack + row, mask=is_row, other=0)[:, None]
        tl.store(position + at, column.to(tl.int64)[None, :] + first, mask=fits)
        tl.store(upper + at, middle + off, mask=fits)
        tl.store(lower + at, middle - off, mask=fits)


def append(
    lists: Lists, queries: Tensor, items: Tensor, scale: Tensor, factors: tuple[Tensor, Tensor] | None,
    bounds: tuple[Tensor, Tensor, Tensor], first: int, tile: KernelTile,
) -> None:  # fmt: skip
    """Appends all pairs whose product reaches the cut of its query.

    queries, items: (n, d), contiguous. scale: (items,) float32. factors: those of `Vectors.offsets`. bounds: (queries,) the
    cut, float32 in units of the query; the unit and the slack, float64. first: the position of the first item.
    """
    cut, unit, slack = bounds
    n, m = len(queries), len(items)
    query_factor, item_factor = factors or (scale, scale)
    rows, columns = (-(-size // step) for size, step in ((n, tile.queries), (m, tile.items)))
    _compiled()[(rows * columns,)](
        queries, items, scale, query_factor, item_factor, unit, cut, slack, *lists, n, m, queries.shape[1],
        lists.positions.shape[1], first, has_factors=factors is not None, block_q=tile.queries, block_x=tile.items,
        block_d=tile.inner, group=8, num_warps=tile.warps, num_stages=tile.stages, enable_fp_fusion=False,
    )  # fmt: skip
