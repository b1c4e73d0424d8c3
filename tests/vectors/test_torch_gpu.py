"""Search on a GPU: the bytes of NumPy, from the kernel and without it, and bounds that this card's
tensor cores keep.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankwell._native.similarity import Space, score_pairs
from rankwell.data.matrices import Embeddings
from rankwell.vectors.neighbours import Groups
from vectors.test_torch_device import DTYPES, METRICS, counts, hostile, lists, made

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU that torch can use", allow_module_level=True)

from rankwell.vectors.neighbours.torch_device import fused, vectors  # noqa: E402


@pytest.fixture(params=["kernel", "kernel without copy engine", "eager"])
def launches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The launches of the kernel; the test runs with both its ways to fetch tiles, and without
    it.
    """
    seen, append = list[str](), fused.append

    def watched(*words: Any, tile: Any) -> None:
        seen.append("kernel")
        append(*words, tile=tile)

    monkeypatch.setattr(fused, "append", watched)
    if request.param == "eager":
        monkeypatch.setattr(fused, "is_available", lambda: False)
        seen.append("none")
    else:
        assert fused.is_available()
        assert fused.tile_for(torch.device("cuda")).is_described == (
            torch.cuda.get_device_capability() >= (9, 0)
        )
    if request.param == "kernel without copy engine":
        monkeypatch.setattr(fused, "_descriptor", lambda: None)
    return seen


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_lists_and_counts_on_a_gpu_have_the_bytes_of_numpy(metric, dtype, launches):
    items, wanted = (
        made(2, 6000, 200, dtype),
        np.random.default_rng(3).integers(400, 6000, (400, 2)),
    )
    options = {"metric": metric, "exclude": "self"}
    expected = lists(items[:400], items, **options), counts(items[:400], items, wanted, **options)

    for item_block, query_block in ((None, None), (900, 70)):
        blocks = {"backend": "torch", "item_block": item_block, "query_block": query_block}
        assert lists(items[:400], items, **options, **blocks) == expected[0]
        assert counts(items[:400], items, wanted, **options, **blocks) == expected[1]
    assert len(launches) >= 1


@pytest.mark.parametrize("k", [1, 100])
def test_lists_that_overflow_and_groups_that_are_excluded_have_the_bytes_of_numpy(k, launches):
    rising = np.linspace(1, 60, 5000)[:, None] * np.ones((1, 16))
    flat = np.random.default_rng(4).integers(1, 3, (5000, 16))
    for table in (rising.astype(np.float32), flat.astype(np.float16), flat.astype(np.int8)):
        groups = Groups(list(range(64)), [row % 70 for row in range(5000)])
        options = {"k": k, "metric": "dot", "groups": groups, "item_block": 2000}
        assert lists(table[:64], table, backend="torch", **options) == lists(
            table[:64], table, **options
        )
    assert len(launches) >= 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_exact_scores_on_a_gpu_have_the_bits_of_numpy(metric, dtype):
    rng = np.random.default_rng(1)
    for d in (1, 3, 24, 49, 384, 1000):
        left, right = ((rng.standard_normal((4000, d)) * 50 + 1).astype(dtype) for _ in range(2))
        left[(left == 0).all(axis=1)] = 1
        right[(right == 0).all(axis=1)] = 1
        right[:100] = left[:100]
        every = np.arange(4000)

        pairs = (
            (vectors.on_device(table, "cuda"), torch.arange(4000, device="cuda"))
            for table in (left, right)
        )
        found = vectors.score_rows(*pairs, metric)

        assert (
            found.cpu().numpy().tobytes()
            == score_pairs(left, right, every, every, metric).tobytes()
        )


def kernel_products(queries: Any, items: Any, multiplier: vectors.Vectors) -> np.ndarray:
    """(queries, items) the products that the kernel makes, from the middle of the bounds that it
    appends.
    """
    left, right = multiplier.ready(queries, by_row=True), multiplier.ready(items)
    n, m = len(queries), len(items)
    numbers = {"dtype": torch.float64, "device": "cuda"}
    count = torch.zeros(n, dtype=torch.int32, device="cuda")
    position = torch.full((n, m), -1, dtype=torch.int64, device="cuda")
    upper, lower = (torch.full((n, m), np.nan, **numbers) for _ in range(2))
    cut, zero = (
        torch.full((n,), -3e38, dtype=torch.float32, device="cuda"),
        torch.zeros(n, **numbers),
    )
    bounds = cut, multiplier.units(left, vectors.HALF), zero
    lists, tile = fused.Lists(count, position, upper, lower), fused.tile_for(torch.device("cuda"))
    fused.append(lists, left.low, right.low, multiplier.item_scale(right), None, bounds, 0, tile)
    assert count.tolist() == [m] * n
    found = torch.empty((n, m), **numbers)
    found.scatter_(1, position, upper)
    return found.cpu().numpy()


@pytest.mark.parametrize("kind", ["small after large", "growing", "cancelling", "subnormal"])
def test_sums_of_this_card_stay_within_the_bound(kind):
    for d in (16, 250, 768, 4096):
        left, right = hostile(kind, d)
        rng = np.random.default_rng(9)
        # The order of terms decides what is cut; every row has another one.
        orders = [np.arange(d), np.arange(d)[::-1], *(rng.permutation(d) for _ in range(62))]
        queries, items = (np.stack([side[order] for order in orders]) for side in (left, right))
        exact = sum(
            Fraction(float(a)) * Fraction(float(b)) for a, b in zip(left, right, strict=True)
        )
        space = Space(Embeddings(None, queries), Embeddings(None, items), "dot")
        multiplier = vectors.Vectors(space, torch.device("cuda"), multiple=fused.INNER)
        raw = [torch.from_numpy(side).cuda() for side in (queries, items)]
        with torch.inference_mode(), vectors.full_accumulation():
            rows = multiplier.ready(raw[0], by_row=True), multiplier.ready(raw[1])
            slack = multiplier.slack(*rows, vectors.HALF).cpu().numpy()
            eager = (
                multiplier.products(*rows, vectors.HALF).double()
                * multiplier.units(rows[0], vectors.HALF)[:, None]
            )
            found = {"eager": eager.cpu().numpy(), "kernel": kernel_products(*raw, multiplier)}
        for name, products in found.items():
            off = [abs(Fraction(value) - exact) for value in np.diag(products).tolist()]
            assert max(off) <= min(slack), (name, d)
