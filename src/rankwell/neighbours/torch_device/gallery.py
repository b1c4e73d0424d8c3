"""The items on a device, as stored: all where they fit its memory, else block by block, copied while others are multiplied."""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.matrices import Embeddings

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.neighbours.torch_device import torch

_SHARE = 2  # the gallery may take this part of the free memory
_COPIED, _RESIDENT = 1 << 30, 1 << 40
"""Bytes of items that are scored at once, where they are copied to the device, and where they are there."""


def free_memory(device: torch.device) -> int:
    """Bytes of a GPU's memory that are free; 0 for other devices, where items are read in place."""
    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else 0


def on_device(array: Any, device: torch.device) -> Tensor:
    """A copy of an array on the device, in the machine's order of bytes."""
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("="), order="C")).to(device)


class Gallery:
    """Items by position. step: number of items of a block."""

    def __init__(self, items: Embeddings, device: torch.device, step: int) -> None:
        self._items, self._device, self._step = items, device, min(step, max(items.n, 1))
        kind = items.vectors.dtype.newbyteorder("=")
        self._dtype = torch.from_numpy(np.empty(0, dtype=kind)).dtype
        self._is_kept = items.n * items.dimensions * kind.itemsize <= free_memory(device) // _SHARE
        self._all: Tensor | None = None

    def blocks(self) -> Iterator[tuple[int, Tensor]]:
        """All blocks with the position of their first item; a block may be written over once the next but one is taken."""
        if self._all is not None:
            for start in range(0, self._items.n, self._step):
                yield start, self._all[start : start + self._step]
            return
        shape = self._items.n, self._items.dimensions
        every = torch.empty(shape, dtype=self._dtype, device=self._device) if self._is_kept else None
        for start, block in self._copied():
            if every is not None:
                every[start : start + len(block)] = block
            yield start, block
        self._all = every

    def _copied(self) -> Iterator[tuple[int, Tensor]]:
        is_gpu = self._device.type == "cuda"
        shape = self._step, self._items.dimensions
        buffers = [torch.empty(shape, dtype=self._dtype, pin_memory=is_gpu) for _ in range(2)]
        stream: Any = torch.cuda.Stream(self._device) if is_gpu else None
        copies: list[Any] = [None, None]

        def _fetch(number: int) -> tuple[Tensor, Any]:
            start, side = number * self._step, number % 2
            if copies[side] is not None:  # the buffer is still being read
                copies[side].synchronize()
            raw = self._items.vectors[start : start + self._step]
            buffer = buffers[side][: len(raw)]
            np.copyto(buffer.numpy(), raw)
            if stream is None:
                return buffer.to(self._device), None
            with torch.cuda.stream(stream):
                block = buffer.to(self._device, non_blocking=True)
                copies[side] = stream.record_event()
            return block, copies[side]

        blocks = -(-self._items.n // self._step)
        with ThreadPoolExecutor(1) as reader:
            ahead = [reader.submit(_fetch, number) for number in range(min(blocks, 1))]
            for number in range(blocks):
                block, copied = ahead.pop().result()
                ahead += [reader.submit(_fetch, number + 1)] if number + 1 < blocks else []
                if copied is not None:
                    current: Any = torch.cuda.current_stream(self._device)
                    current.wait_event(copied)
                    block.record_stream(current)
                yield number * self._step, block

    @property
    def most_rows(self) -> int:
        """Number of positions that `rows` should get at once, so that copies fit the memory."""
        width = self._items.dimensions * self._items.vectors.dtype.itemsize
        return max(1, (_COPIED if self._all is None else _RESIDENT) // width)

    def rows(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """A table with the items of some positions, as stored, and their rows in it; each is copied once unless it is there."""
        if self._all is not None:
            return self._all, positions
        some, inverse = torch.unique(positions, return_inverse=True)
        wanted: Ints = some.cpu().numpy()
        return on_device(np.asarray(self._items.vectors)[wanted], self._device), inverse
