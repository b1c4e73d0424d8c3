"""The items on a device, as stored: all where they fit its memory, else block by block, copied
while others are multiplied.
"""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, Vectors
from rankwell.data.tables import Ints

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.vectors.neighbours.torch_device import torch

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


def copied(vectors: Vectors, rows: range, step: int, device: torch.device) -> Iterator[Tensor]:
    """Some rows on the device, `step` at a time, each block read and copied while the one before it
    is worked on.

    A block may be written over once the next but one is taken.
    """
    is_gpu, dtype = device.type == "cuda", _dtype_of(vectors)
    buffers = [
        torch.empty((min(step, len(rows)), vectors.shape[1]), dtype=dtype, pin_memory=is_gpu)
        for _ in range(2)
    ]
    stream: Any = torch.cuda.Stream(device) if is_gpu else None
    copies: list[Any] = [None, None]

    def _fetch(number: int) -> tuple[Tensor, Any]:
        block_range, side = rows[number * step : (number + 1) * step], number % 2
        if copies[side] is not None:  # the buffer is still being read
            copies[side].synchronize()
        buffer = buffers[side][: len(block_range)]
        np.copyto(buffer.numpy(), vectors[block_range.start : block_range.stop])
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


def moved(vectors: Vectors, rows: range, step: int, device: torch.device) -> Tensor:
    """Some rows on the device, as stored."""
    table = torch.empty((len(rows), vectors.shape[1]), dtype=_dtype_of(vectors), device=device)
    for start, block in zip(
        range(0, len(rows), step), copied(vectors, rows, step, device), strict=True
    ):
        table[start : start + len(block)] = block
    return table


def _dtype_of(vectors: Vectors) -> torch.dtype:
    return torch.from_numpy(np.empty(0, dtype=vectors.dtype.newbyteorder("="))).dtype


class Outbox:
    """Results on their way to arrays of the host: each is copied while the next is made, through
    memory that is not paged.
    """

    def __init__(self) -> None:
        self._sent: list[tuple[Array, Tensor, Any]] = []

    def send(self, out: Array, tensor: Tensor) -> None:
        """Copies a tensor to an array of its shape, which has it after the next but one is sent, or
        after `close`.
        """
        buffer, done = tensor, None
        if tensor.device.type == "cuda":
            buffer = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(
                tensor, non_blocking=True
            )
            done = torch.cuda.current_stream(tensor.device).record_event()
        self._sent.append((out, buffer, done))
        self._empty(2)

    def close(self) -> None:
        """Waits for what was sent."""
        self._empty(0)

    def _empty(self, left: int) -> None:
        while len(self._sent) > left:
            out, buffer, done = self._sent.pop(0)
            if done is not None:
                done.synchronize()
            out[...] = buffer.numpy()


class Gallery:
    """Items by position. step: number of items of a block."""

    def __init__(self, items: Embeddings, device: torch.device, step: int) -> None:
        self._items, self._device, self._step = items, device, min(step, max(items.n, 1))
        self._is_kept = (
            items.n * items.dimensions * items.vectors.dtype.itemsize
            <= free_memory(device) // _SHARE
        )
        self._all: Tensor | None = None

    def blocks(self) -> Iterator[tuple[int, Tensor]]:
        """All blocks with the position of their first item; a block may be written over once the
        next but one is taken.
        """
        starts = range(0, self._items.n, self._step)
        if self._all is not None:
            yield from ((start, self._all[start : start + self._step]) for start in starts)
            return
        vectors = self._items.vectors
        all_items = (
            torch.empty(vectors.shape, dtype=_dtype_of(vectors), device=self._device)
            if self._is_kept
            else None
        )
        for start, block in zip(starts, self._copied(), strict=True):
            if all_items is not None:
                all_items[start : start + len(block)] = block
            yield start, block
        self._all = all_items

    def _copied(self) -> Iterator[Tensor]:
        return copied(self._items.vectors, range(self._items.n), self._step, self._device)

    @property
    def most_rows(self) -> int:
        """Number of positions that `rows` should get at once, so that copies fit the memory."""
        width = self._items.dimensions * self._items.vectors.dtype.itemsize
        return max(1, (_COPIED if self._all is None else _RESIDENT) // width)

    def rows(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """A table with the items of some positions, as stored, and their rows in it; each is copied
        once unless it is there.
        """
        if self._all is not None:
            return self._all, positions
        distinct, inverse = torch.unique(positions, return_inverse=True)
        wanted: Ints = distinct.cpu().numpy()
        return on_device(np.asarray(self._items.vectors)[wanted], self._device), inverse
