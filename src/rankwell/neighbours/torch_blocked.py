"""Search with torch, on a GPU where there is one: the products, the comparison and the counting stay on the device."""

from typing import Any

import numpy as np

from rankwell.core.kernels.products import Counted, ExcludedPairs, ProductHits
from rankwell.core.kernels.similarity import Reals
from rankwell.errors import BadUsage
from rankwell.neighbours import BACKENDS, Backend, optional


class _TorchMultiplier:
    def __init__(self, queries: Reals, query_block: int, item_block: int, device: str | None) -> None:
        self._torch = optional("torch", "torch", "torch")
        self._device = self._choose(device)
        self._queries = self._send(queries)
        self._items = self._queries[:0]
        self._space = self._torch.empty(
            min(query_block, len(queries)) * item_block, dtype=self._queries.dtype, device=self._device
        )

    def _choose(self, device: str | None) -> Any:
        torch = self._torch
        if device is None:
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            torch.empty(1, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise BadUsage(
                f"torch cannot use the device {device!r} ({str(error).splitlines()[0]}); leave it out, or name cpu."
            ) from error
        return torch.device(device)

    def _send(self, array: Any) -> Any:
        # A memory map may be read-only, which torch warns of; a copy that is ours can be sent without.
        return self._torch.from_numpy(array if array.flags.writeable else array.copy()).to(self._device)

    def load(self, items: Reals) -> None:
        self._items = self._send(items)

    def _products(self, rows: slice, excluded: ExcludedPairs) -> Any:
        queries = self._queries[rows]
        out = self._space[: len(queries) * len(self._items)].view(len(queries), len(self._items))
        # No TF32 and no bfloat16: their rounding is far beyond the bound.
        before = self._torch.get_float32_matmul_precision()
        self._torch.set_float32_matmul_precision("highest")
        try:
            self._torch.matmul(queries, self._items.T, out=out)
        finally:
            self._torch.set_float32_matmul_precision(before)
        if len(excluded.rows):
            out[self._send(excluded.rows), self._send(excluded.columns)] = -float("inf")
        return out

    def hits(self, rows: slice, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs) -> ProductHits:
        torch, products = self._torch, self._products(rows, excluded)
        lowest = self._send(cut)
        mask = products >= lowest[:, None]
        if products.shape[1] > keep and int(mask.sum()) > 4 * keep * len(products):
            kth = torch.topk(products, keep, dim=1, sorted=True).values[:, -1].cpu().numpy()
            best = np.nextafter(kth - 2 * slack, -np.inf, dtype=kth.dtype)
            mask = products >= torch.maximum(lowest, self._send(best))[:, None]
        row, column = torch.nonzero(mask, as_tuple=True)
        return ProductHits(row.cpu().numpy(), column.cpu().numpy(), products[row, column].cpu().numpy())

    def counts(self, rows: slice, low: Reals, high: Reals, excluded: ExcludedPairs) -> Counted:
        torch, products = self._torch, self._products(rows, excluded)
        above = np.empty(low.shape, dtype=np.int64)
        empty = np.empty(0, dtype=np.int64)
        found = [(empty, empty, empty)]
        for which in range(low.shape[1]):
            greater = products > self._send(high[:, which].copy())[:, None]
            above[:, which] = greater.sum(dim=1).cpu().numpy()
            between = (products >= self._send(low[:, which].copy())[:, None]) & ~greater
            row, column = torch.nonzero(between, as_tuple=True)
            found.append((row.cpu().numpy(), column.cpu().numpy(), np.full(len(row), which)))
        return Counted(above, *(np.concatenate(part) for part in zip(*found, strict=True)))


BACKENDS.add("torch", Backend("torch", _TorchMultiplier, 1024, 8192))
