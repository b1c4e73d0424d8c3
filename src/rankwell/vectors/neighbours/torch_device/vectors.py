"""Vectors on a device: the items, all where they fit its memory, else block by block; as stored, or
rounded to float16 with measured residuals; exact scores with the bits of NumPy.
"""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native.similarity import Metric, Space
from rankwell.data.matrices import Embeddings
from rankwell.vectors.neighbours.torch_device import fused

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.vectors.neighbours.torch_device import torch

HALF, SINGLE, DOUBLE = range(3)
"""Levels of precision of products, each with its own bound."""
_CELLS = 1 << 24
_FUSED = 8
"""So many times as many sums are made at once by a kernel, which keeps no products."""
TableRows = tuple["Tensor", "Tensor"]
"""A table and rows of it."""
_AS_STORED = ("torch.float16", "torch.int8", "torch.uint8")
_SWITCHES = (
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
    "allow_fp16_accumulation",
)


@contextmanager
def full_accumulation() -> Generator[None]:
    """Products without TF32 and without sums in reduced precision, whose rounding is beyond every
    bound; restored afterwards.
    """
    settings: Any = torch.backends.cuda.matmul
    before = {name: getattr(settings, name) for name in _SWITCHES if hasattr(settings, name)}
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        for name in before:
            setattr(settings, name, False)
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
        for name, value in before.items():
            setattr(settings, name, value)


class Rows(NamedTuple):
    """Some vectors of a table, moved and scaled for the metric, as `low * scale`.

    raw: (n, d) vectors as stored.
    low: (n, d or more) float16, padded with zeros.
    scale: (n,) float64 factor of each vector.
    size: (n,) norms before scaling under cosine.
    norm, residual: (n,) upper bounds of the norms, and of the norms of the errors of rounding to
        `low`.
    """

    raw: Tensor
    low: Tensor
    scale: Tensor
    size: Tensor
    norm: Tensor
    residual: Tensor

    def part(self, rows: Tensor | slice) -> Rows:
        """Some of the rows."""
        return Rows(*(column[rows] for column in self))


class Vectors:
    """Makes the vectors of both sides ready, multiplies them, and bounds the error of the products.

    multiple: a number that the width of `Rows.low` is a multiple of.

    Under `l2` vectors are moved to the centre of the space, and products are those of the space:
    `q.x - |x|^2 / 2`.
    """

    def __init__(self, space: Space, device: torch.device, *, multiple: int) -> None:
        self.metric: Metric = space.metric
        self._filled = -space.dimensions % multiple
        self.device, self.dimensions, self._is_whole = device, space.dimensions, space.is_whole
        self._centre = torch.tensor(space.centre, dtype=torch.float64, device=device)
        self._spaces = {SINGLE: space}

    def ready(self, raw: Tensor, *, by_row: bool = False) -> Rows:
        """The rows of (n, d) vectors on the device; in parts, because they are measured in float64.

        by_row: scaled each by a power of two of its own, as queries are; items are scaled together,
        and only if norms are unusual.
        """
        step = max(1, _CELLS // self.dimensions)
        parts = [self._measured(part, by_row) for part in raw.split(step)]
        rows = parts[0]
        if len(parts) > 1:
            rows = Rows(*map(torch.cat, zip(*parts, strict=True)))
        low = raw.half() if self._keeps(raw) else rows.low
        if self._filled:
            low = torch.nn.functional.pad(low, (0, self._filled))
        return rows._replace(raw=raw, low=low)

    def _keeps(self, raw: Tensor) -> bool:
        return self.metric != "l2" and str(raw.dtype) in _AS_STORED

    def _measured(self, raw: Tensor, by_row: bool) -> Rows:
        exact = self.moved(raw)
        size = torch.linalg.vector_norm(exact, dim=1)
        norm, scale, rounding, low = size, torch.ones_like(size), torch.zeros_like(size), raw
        if self.metric == "cosine":
            norm = torch.ones_like(size)
            if self._keeps(raw):
                scale = 1 / size
            else:
                exact /= size[:, None]
        if not self._keeps(raw):
            scale = self._scale(norm, by_row)
            exact /= scale[:, None]
            low = exact.to(torch.float16)
            rounding = torch.linalg.vector_norm(exact.sub_(low), dim=1) * scale
        # Roundings of the norms and of the residual itself.
        residual = rounding * (1 + 2.0**-20) + norm * (self.dimensions * 2.0**-51)
        return Rows(raw, low, scale, size, norm * (1 + 2.0**-20) + residual, residual)

    def _scale(self, norm: Tensor, by_row: bool) -> Tensor:
        """Powers of two by which norms are divided, so that float16 neither overflows nor loses
        more than it must.
        """
        largest = norm if by_row else norm.max().expand_as(norm) if len(norm) else norm
        exponent = torch.nan_to_num(torch.floor(torch.log2(largest)), posinf=0.0, neginf=0.0)
        power = torch.exp2(exponent.clamp(-60, 60) - 3)
        is_usual = (largest > 2.0**-4) & (largest < 2.0**12)
        return torch.where(is_usual, torch.ones_like(power), power)

    def moved(self, raw: Tensor) -> Tensor:
        """Vectors in float64, under `l2` from the centre."""
        return (
            raw.double() - self._centre if self.metric == "l2" else raw.to(torch.float64, copy=True)
        )

    def squares(self, queries: Rows) -> Tensor:
        """The squared norms of the queries, by which exact distances are placed among products;
        ones for other metrics.
        """
        return queries.size**2 if self.metric == "l2" else torch.ones_like(queries.size)

    def units(self, queries: Rows, level: int) -> Tensor:
        """The unit of each query's products."""
        return queries.scale if level == HALF else torch.ones_like(queries.scale)

    def products(self, queries: Rows, items: Rows, level: int) -> Tensor:
        """The products of queries and items, in units of their queries: float32, or float64 at that
        level.
        """
        if level != HALF:
            products = self._scaled(queries, level) @ self._scaled(items, level).T
            if self.metric == "l2":
                products -= self._halves(items).to(products.dtype)
            return products
        version = torch.__version__.split("+")[0].split(".")[:2]
        has_wide_output = tuple(map(int, filter(str.isdecimal, version))) >= (2, 8)
        if has_tensor_cores(self.device) and has_wide_output:
            products = torch.mm(queries.low, items.low.T, out_dtype=torch.float32)
        else:
            products = queries.low.float() @ items.low.float().T
        if (scale := self.item_scale(items)) is not None:
            products *= scale
        return products.addr_(*self.offsets(queries, items)) if self.metric == "l2" else products

    def item_scale(self, items: Rows) -> Tensor | None:
        """The float32 factors of the items' products; None for ones."""
        return None if bool((items.scale == 1).all()) else items.scale.float()

    def offsets(self, queries: Rows, items: Rows) -> tuple[Tensor, Tensor]:
        """The terms that `l2` adds to products: a factor of the query times one of the item, in
        float32.
        """
        return (1 / queries.scale).float(), (-self._halves(items)).float()

    def _halves(self, items: Rows) -> Tensor:
        return items.size**2 / 2

    def _scaled(self, rows: Rows, level: int) -> Tensor:
        exact = self.moved(rows.raw)
        if self.metric == "cosine":
            exact /= rows.size[:, None]
        return exact if level == DOUBLE else exact.float()

    def slack(self, queries: Rows, items: Rows, level: int) -> Tensor:
        """The greatest distance of a query's product with any of the items from the place of its
        exact score.

        At the level of halves: the residuals of both vectors, and the accumulation of tensor cores,
        `accumulation_share`. The exponent of a subnormal number is that of the smallest normal one,
        2^-14, to which other terms are aligned as well.
        """
        # Not a number of Python's, for which the device would be waited for.
        norm = items.norm.max()
        if level != HALF:
            if level not in self._spaces:
                self._spaces[level] = self._spaces[SINGLE].in_double()
            return self._spaces[level].slack(queries.norm, float(norm))
        d, reach, extra = self.dimensions, queries.norm, 0.0
        mass = reach * norm
        if self.metric == "l2":
            mass = mass + norm**2 / 2
            extra = (d + 16) * 2.0**-52 * (reach + norm) ** 2
        bound = accumulation_share(d) * mass + d * 2.0**-90 * (1 + reach) * (1 + norm) ** 2
        bound = bound + queries.residual * norm + reach * items.residual.max()
        scale = items.scale.max()
        bound = bound + 1.5 * d * 2.0**-37 * (
            reach * scale + norm * queries.scale + queries.scale * scale
        )
        if self._is_whole and self.metric != "cosine":
            # Sums of integers, and of halves, below 2^22 lose nothing by alignment.
            bound = bound * (mass >= 2.0**22)
        return bound * (1 + 1e-9) + extra


def accumulation_share(dimensions: int) -> float:
    """Error of a sum of products in half precision, on tensor cores or in float32, relative to the
    product of the norms.

    Tensor cores add 4 products or more at a time to the sum so far: terms are aligned to the
    largest and truncated after 23 fraction bits, and so is their sum. A step is off by 6 units at
    most, or 1.5 for each product; 16 are for what follows. Source: Fasi, Higham, Mikaitis and
    Pranesh 2021, Numerical behavior of NVIDIA tensor cores; Khattak and Mikaitis 2025, Accurate
    models of NVIDIA tensor cores.
    """
    steps = (1.5 * dimensions + 16) * 2.0**-23
    return steps / (1 - min(steps, 0.5)) + dimensions * 2.0**-51


def has_tensor_cores(device: torch.device) -> bool:
    """Whether products of halves may run on tensor cores of NVIDIA, for which the bound holds;
    others multiply in float32.
    """
    return device.type == "cuda" and torch.version.hip is None


def score_rows(left: TableRows, right: TableRows, metric: Metric) -> Tensor:
    """The exact scores of pairs of stored vectors, with the bits of `similarity.score_pairs`: its
    sums, nothing fused.

    left, right: a table, contiguous, and the row of each pair in it.
    """
    if metric == "l2":
        return 0.0 - _square_root(_sums(left, right, is_distance=True))
    scores = _sums(left, right)
    if metric == "cosine":
        scores = scores / _square_root(_sums(left, left) * _sums(right, right))
    return scores + 0.0


def _square_root(values: Tensor) -> Tensor:
    # On processors torch may round the last bit another way; NumPy and CUDA round correctly.
    return (
        torch.from_numpy(np.sqrt(values.numpy()))
        if values.device.type == "cpu"
        else torch.sqrt(values)
    )


def _sums(left: TableRows, right: TableRows, *, is_distance: bool = False) -> Tensor:
    """The sum of products, or of squared differences, of each pair, in the order of
    `similarity.sum_rows`.
    """
    (table, rows), (other_table, other_rows) = left, right
    is_fused = has_tensor_cores(table.device) and fused.is_available()
    step = max(1, _CELLS // table.shape[1]) * (_FUSED if is_fused else 1)
    parts = [torch.zeros(0, dtype=torch.float64, device=table.device)]
    for row, other_row in zip(rows.split(step), other_rows.split(step), strict=True):
        if is_fused:
            terms = fused.fold((table, row), (other_table, other_row), is_distance=is_distance)
        else:
            terms, other_terms = table[row].double(), other_table[other_row].double()
            if is_distance:
                terms = other_terms = terms - other_terms
            terms = terms * other_terms
        parts.append(_folded_sum(terms))
    return torch.cat(parts)


def _folded_sum(terms: Tensor) -> Tensor:
    """The sum of each row, in the order of `similarity.sum_rows`."""
    while terms.shape[1] > 1:
        wide = terms.shape[1]
        half, left = wide // 2, wide - wide // 2
        added = terms[:, :half] + terms[:, left:]
        terms = added if left == half else torch.cat([added, terms[:, half:left]], dim=1)
    return terms[:, 0]


Array = NDArray[Any]
_SHARE = 2  # the gallery may take this part of the free memory
_COPIED, _RESIDENT = 1 << 30, 1 << 40
"""Bytes of items that are scored at once, where they are copied to the device, and where they are
there.
"""


def free_memory(device: torch.device) -> int:
    """Bytes of a GPU's memory that are free; 0 for other devices, where items are read in place."""
    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else 0


def on_device(array: Any, device: torch.device) -> Tensor:
    """A copy of an array on the device, in the machine's order of bytes."""
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C")).to(
        device
    )


def copied(array: Array, rows: range, step: int, device: torch.device) -> Iterator[Tensor]:
    """Some rows on the device, `step` at a time, each block read and copied while the one before it
    is worked on.

    A block may be written over once the next but one is taken.
    """
    is_gpu = device.type == "cuda"
    buffers = [_room(array, min(step, len(rows)), pin_memory=is_gpu) for _ in range(2)]
    stream: Any = torch.cuda.Stream(device) if is_gpu else None
    copies: list[Any] = [None, None]

    def _fetch(number: int) -> tuple[Tensor, Any]:
        block_range, side = rows[number * step : (number + 1) * step], number % 2
        if copies[side] is not None:  # the buffer is still being read
            copies[side].synchronize()
        buffer = buffers[side][: len(block_range)]
        np.copyto(buffer.numpy(), array[block_range.start : block_range.stop])
        if stream is None:
            return buffer.to(device), None
        with torch.cuda.stream(stream):
            block = buffer.to(device, non_blocking=True)
            copies[side] = stream.record_event()
        return block, copies[side]

    blocks = -(-len(rows) // step)
    with ThreadPoolExecutor(1) as reader:
        ahead = [reader.submit(_fetch, number) for number in range(min(blocks, 1))]
        for number in range(blocks):
            block, done = ahead.pop().result()
            ahead += [reader.submit(_fetch, number + 1)] if number + 1 < blocks else []
            if done is not None:
                current: Any = torch.cuda.current_stream(device)
                current.wait_event(done)
                block.record_stream(current)
            yield block


def moved(array: Array, rows: range, step: int, device: torch.device) -> Tensor:
    """Some rows on the device, as stored."""
    table, start = _room(array, len(rows), device=device), 0
    for block in copied(array, rows, step, device):
        table[start : start + len(block)] = block
        start += len(block)
    return table


def _room(array: Array, n: int, **place: Any) -> Tensor:
    """Room for so many rows of an array, as stored."""
    dtype = torch.from_numpy(np.empty(0, dtype=array.dtype.newbyteorder("="))).dtype
    return torch.empty((n, array.shape[1]), dtype=dtype, **place)


class Gallery:
    """Items by position.

    step: number of items in a block.
    """

    def __init__(self, items: Embeddings, device: torch.device, step: int) -> None:
        self._array: Array = items.vectors
        self._device, self._step = device, min(step, max(items.n, 1))
        self._row_bytes = items.dimensions * self._array.dtype.itemsize
        self._is_kept = items.n * self._row_bytes <= free_memory(device) // _SHARE
        self._all: Tensor | None = None

    def blocks(self) -> Iterator[tuple[int, Tensor]]:
        """All blocks with the position of their first item; a block may be written over once the
        next but one is taken.
        """
        n = len(self._array)
        starts = range(0, n, self._step)
        if self._all is not None:
            yield from ((start, self._all[start : start + self._step]) for start in starts)
            return
        all_items = _room(self._array, n, device=self._device) if self._is_kept else None
        copies = copied(self._array, range(n), self._step, self._device)
        for start, block in zip(starts, copies, strict=True):
            if all_items is not None:
                all_items[start : start + len(block)] = block
            yield start, block
        self._all = all_items

    @property
    def most_rows(self) -> int:
        """Number of positions that `rows` should get at once, so that copies fit the memory."""
        return max(1, (_COPIED if self._all is None else _RESIDENT) // self._row_bytes)

    def rows(self, positions: Tensor) -> TableRows:
        """A table with the items of some positions, as stored, and their rows in it; each is copied
        once unless it is there.
        """
        if self._all is not None:
            return self._all, positions
        distinct, inverse = torch.unique(positions, return_inverse=True)
        wanted = np.asarray(self._array)[distinct.cpu().numpy()]
        return on_device(wanted, self._device), inverse
