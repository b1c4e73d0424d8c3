"""Kernels in Triton: half-precision products are compared in registers and appended to lists, lists
are pruned, sums are exact.

CUDA builds of torch bring Triton, which is imported when a kernel is first used. With
TRITON_INTERPRET=1 they run on the CPU.
"""

# Triton reads the annotations of a kernel, and knows its own only.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false
# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch
    import triton.language as tl
    from torch import Tensor
else:
    tl = None  # set before the kernel is compiled, which looks it up by this name


@cache
def compiled(kernel: Any) -> Any:
    """A kernel of this module, ready to be launched. Raises ImportError without Triton."""
    import triton
    import triton.language

    globals()["tl"] = triton.language
    return triton.jit(kernel)


def is_available() -> bool:
    """Whether Triton can be imported."""
    try:
        compiled(_append)
    except ImportError:
        return False
    return True


INNER = 64
"""Dimensions that are multiplied at a time; those of the vectors are a multiple of it."""


class KernelTile(NamedTuple):
    """Sizes of the tiles of `append`.

    queries, items: number of queries and of items in a tile of products.
    is_described: whether Hopper's copy engine fetches tiles, by Triton's tensor descriptors.

    Other sizes were slower on an H200 (ADR 22).
    """

    queries: int = 128
    items: int = 128
    is_described: bool = False


def tile_for(device: torch.device) -> KernelTile:
    """The sizes for a device; small ones for a processor, where kernels are interpreted."""
    import torch

    if device.type != "cuda":
        return KernelTile(32, 128)
    is_hopper = torch.cuda.get_device_capability(device) >= (9, 0)
    return KernelTile(is_described=is_hopper and _descriptor() is not None)


def _descriptor() -> Callable[[Tensor, list[int]], Any] | None:
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
    except ImportError:
        return None
    return TensorDescriptor.from_tensor


class Lists(NamedTuple):
    """Lists of candidates that the kernel appends to.

    counts: (queries,) int32 numbers of candidates; above the width where there was no room for all.
    positions: (queries, width) int64 rows of items in the table.
    upper, lower: (queries, width) float64 bounds of the exact product of each candidate.
    """

    counts: Tensor
    positions: Tensor
    upper: Tensor
    lower: Tensor


def _append(
    queries,
    items,
    scale,
    query_factor,
    item_factor,
    unit,
    cut,
    slack,
    count,
    position,
    upper,
    lower,
    n_queries,
    n_items,
    d,
    width,
    first,
    has_scale: tl.constexpr,
    has_factors: tl.constexpr,
    is_described: tl.constexpr,
    block_q: tl.constexpr,
    block_x: tl.constexpr,
    block_d: tl.constexpr,
    group: tl.constexpr,
) -> None:
    tile = tl.program_id(0)
    query_tiles = tl.cdiv(n_queries, block_q)
    across = tl.cdiv(n_items, block_x)
    # Tiles of the same items run side by side, so that these are read from the cache.
    top = tile // (group * across) * group
    high = tl.minimum(query_tiles - top, group)
    inside = tile % (group * across)
    above = (top + inside % high) * block_q
    begin = inside // high * block_x
    row, column = above + tl.arange(0, block_q), begin + tl.arange(0, block_x)
    value = tl.zeros((block_q, block_x), dtype=tl.float32)
    if is_described:
        for start in range(0, d, block_d):
            value = tl.dot(queries.load([above, start]), items.load([begin, start]).T, value)
    else:
        # Rows beyond the end are those of the beginning, and are left out below, so that loads need
        # no mask.
        inner = tl.arange(0, block_d)
        left = queries + (row % n_queries).to(tl.int64)[:, None] * d + inner[None, :]
        right = items + (column % n_items).to(tl.int64)[None, :] * d + inner[:, None]
        for _ in range(0, d, block_d):
            value = tl.dot(tl.load(left), tl.load(right), value)
            left, right = left + block_d, right + block_d
    is_row, is_column = row < n_queries, column < n_items
    if has_scale:
        value *= tl.load(scale + column, mask=is_column, other=0)[None, :]
    if has_factors:
        factor = tl.load(query_factor + row, mask=is_row, other=0)
        value += factor[:, None] * tl.load(item_factor + column, mask=is_column, other=0)[None, :]
    reach = tl.load(cut + row, mask=is_row, other=float("inf"))
    if begin + block_x > n_items:
        value = tl.where(is_column[None, :], value, float("-inf"))
    # Few reach the cut: taking the best of every row, as long as there is one, moves no tile
    # through shared memory.
    best = tl.max(value, axis=1)
    while tl.max((best >= reach).to(tl.int32), axis=0) > 0:
        has = best >= reach
        at = tl.min(tl.where(value == best[:, None], column[None, :], n_items), axis=1)
        middle = best.to(tl.float64) * tl.load(unit + row, mask=has, other=0)
        off = tl.load(slack + row, mask=has, other=0)
        slot = tl.atomic_add(count + row, 1, mask=has, sem="relaxed")
        fits = has & (slot < width)
        offset = row.to(tl.int64) * width + slot
        tl.store(position + offset, at.to(tl.int64) + first, mask=fits)
        tl.store(upper + offset, middle + off, mask=fits)
        tl.store(lower + offset, middle - off, mask=fits)
        value = tl.where(has[:, None] & (column[None, :] == at[:, None]), float("-inf"), value)
        best = tl.max(value, axis=1)


def append(
    lists: Lists,
    queries: Tensor,
    items: Tensor,
    scale: Tensor | None,
    factors: tuple[Tensor, Tensor] | None,
    bounds: tuple[Tensor, Tensor, Tensor],
    first: int,
    tile: KernelTile,
) -> None:
    """Appends all pairs whose product reaches the cut of its query.

    queries, items: (n, d) float16, contiguous, d a multiple of `INNER`. scale: (items,) float32,
    None for ones. factors: those of `Vectors.offsets`. bounds: (queries,) the cut, float32 in units
    of the query; the unit and the slack, float64. first: the position of the first item.
    """
    cut, unit, slack = bounds
    describe = _descriptor() if tile.is_described else None
    sides = (queries, [tile.queries, INNER]), (items, [tile.items, INNER])
    query_factor, item_factor = factors or (cut, cut)
    rows, columns = (-(-len(table) // block[0]) for table, block in sides)
    compiled(_append)[(rows * columns,)](
        *(table if describe is None else describe(table, block) for table, block in sides),
        cut if scale is None else scale,
        query_factor,
        item_factor,
        unit,
        cut,
        slack,
        *lists,
        len(queries),
        len(items),
        queries.shape[1],
        lists.positions.shape[1],
        first,
        has_scale=scale is not None,
        has_factors=factors is not None,
        is_described=describe is not None,
        block_q=tile.queries,
        block_x=tile.items,
        block_d=INNER,
        group=32,  # tiles of queries that are multiplied with the same items side by side
        num_warps=4,
        num_stages=3,
        enable_fp_fusion=False,
    )


def _prune(
    rows,
    count,
    position,
    upper,
    lower,
    floor,
    entry,
    excluded,
    k,
    width,
    has_excluded: tl.constexpr,
    block: tl.constexpr,
) -> None:
    row, slot = tl.load(rows + tl.program_id(0)), tl.arange(0, block)
    at = row.to(tl.int64) * width + slot
    lives = slot < tl.load(count + row)
    if has_excluded:
        candidate = tl.program_id(0).to(tl.int64) * width + slot
        lives = lives & (tl.load(excluded + candidate, mask=lives, other=1) == 0)
    low = tl.load(lower + at, mask=lives, other=float("-inf"))
    high = tl.load(upper + at, mask=lives, other=float("-inf"))
    where = tl.load(position + at, mask=lives, other=0)
    # As integers, floats have their order once the bits of negative ones are turned; of every
    # `least`, k are at or above it.
    bits = low.to(tl.int64, bitcast=True)
    keys = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    least = tl.full((), -0x8000000000000000, tl.int64)
    step = tl.full((), 1 << 62, tl.int64)
    least = tl.where(tl.sum((keys >= 0).to(tl.int32), axis=0) >= k, least * 0, least)
    for _ in range(40):
        least = tl.where(
            tl.sum((keys >= least + step).to(tl.int32), axis=0) >= k, least + step, least
        )
        step = step >> 1
    kth = (least ^ ((least >> 63) & 0x7FFFFFFFFFFFFFFF)).to(tl.float64, bitcast=True)
    kth = tl.where(tl.sum(lives.to(tl.int32), axis=0) >= k, kth, float("-inf"))
    bound = tl.maximum(tl.load(floor + row), kth)
    stays = lives & (high >= bound)
    stay_count = stays.to(tl.int32)
    n_stays, to = tl.sum(stay_count, axis=0), at - slot + tl.cumsum(stay_count, axis=0) - stay_count
    is_beyond = (slot >= n_stays) & (slot < width)
    tl.debug_barrier()
    tl.store(floor + row, bound)
    tl.store(entry + row, tl.maximum(tl.load(entry + row), bound))
    tl.store(count + row, n_stays)
    tl.store(position + to, where, mask=stays)
    nothing = tl.full((block,), float("-inf"), tl.float64)
    tl.store(upper + to, high, mask=stays)
    tl.store(upper + at, nothing, mask=is_beyond)
    tl.store(lower + to, low, mask=stays)
    tl.store(lower + at, nothing, mask=is_beyond)


def prune(
    rows: Tensor, lists: Lists, floor: Tensor, entry: Tensor, excluded: Tensor | None, k: int
) -> None:
    """`_DeviceLists._drop` for some rows of the lists. excluded: (rows, width) pairs that are,
    None for none.
    """
    import torch

    width = lists.positions.shape[1]
    block = 1 << (width - 1).bit_length()
    compiled(_prune)[(len(rows),)](
        rows,
        *lists,
        floor,
        entry,
        rows if excluded is None else excluded.view(torch.uint8),
        k,
        width,
        has_excluded=excluded is not None,
        block=block,
        num_warps=max(1, min(block // 256, 8)),
    )


def _fold(
    left,
    left_row,
    right,
    right_row,
    out,
    d,
    odd,
    is_distance: tl.constexpr,
    folds: tl.constexpr,
    block: tl.constexpr,
) -> None:
    pair, column = tl.program_id(0), tl.arange(0, block)[None, :]
    at = tl.arange(0, 1 << folds)[:, None] * odd + column
    has = at < odd * (column < odd) * (1 << folds)
    left_terms = tl.load(left + tl.load(left_row + pair) * d + at, mask=has, other=0).to(tl.float64)
    right_terms = tl.load(right + tl.load(right_row + pair) * d + at, mask=has, other=0).to(
        tl.float64
    )
    if is_distance:
        left_terms = left_terms - right_terms
        right_terms = left_terms
    terms = left_terms * right_terms
    for _ in tl.static_range(folds):
        low, high = tl.split(
            tl.permute(tl.reshape(terms, (2, terms.shape[0] // 2, block)), (1, 2, 0))
        )
        terms = low + high
    tl.store(out + pair.to(tl.int64) * odd + column, terms, mask=column < odd)


def fold(left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor], *, is_distance: bool) -> Tensor:
    """The sums of products, or of squared differences, in float64, halved as long as their number
    is even. Returns (pairs, odd).

    left, right: a table, (n, odd * 2**folds), contiguous, and the row of each pair in it.
    """
    import torch

    n, d = len(left[1]), left[0].shape[1]
    folds = min((d & -d).bit_length() - 1, 12)
    odd = d >> folds
    block = 1 << (odd - 1).bit_length()
    out = torch.empty((n, odd), dtype=torch.float64, device=left[0].device)
    compiled(_fold)[(n,)](
        *left,
        *right,
        out,
        d,
        odd,
        is_distance=is_distance,
        folds=folds,
        block=block,
        num_warps=max(1, min((block << folds) // 512, 8)),
        enable_fp_fusion=False,
    )
    return out
