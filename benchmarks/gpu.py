"""Search on a GPU against a plain half-precision product on the same card: python benchmarks/gpu.py
[--rounds 5] [--k 100]

    [--items 4000000] [--queries 200000] [--growth 20000]

The share is that of the rate of `queries @ items.T` in float16, 768 dimensions, written to memory
and not looked at. Candidates take turns; the median of the rounds counts. Beside them faiss and
cuVS where they are installed with GPU support, and plain product and topk, which is not exact. The
lists must have the bytes of the NumPy backend. Without a GPU only the growth of shortlists is
printed: candidates per query that are scored exactly, divided by k, for a bound of the worst case
and for measured residuals; `--growth 0` leaves it out.
"""

import argparse
import ast
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rankwell._native.similarity import Space
from rankwell.data.matrices import Embeddings
from rankwell.vectors.encoders.tfidf_svd import TfidfSvd
from rankwell.vectors.neighbours import search

D = 768
HALF_ROUNDING = 2.0**-11


def clustered(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((256, 384), dtype=np.float32)
    return centres[rng.integers(0, 256, n)] + rng.standard_normal((n, 384), dtype=np.float32) / 2


def isotropic(n: int) -> np.ndarray:
    return np.random.default_rng(2).standard_normal((n, D), dtype=np.float32)


def documented(n: int) -> np.ndarray:
    """Docstrings of the standard library, by latent semantic analysis."""
    texts = list[str]()
    for file in sorted(Path(ast.__file__).parent.rglob("*.py")):
        if "site-packages" in file.parts or "test" in file.parts:
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            continue
        named = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        texts += [
            text
            for node in ast.walk(tree)
            if isinstance(node, named) and (text := ast.get_docstring(node)) and len(text) > 40
        ]
    texts = list(dict.fromkeys(texts))[:n]
    vectors = TfidfSvd(dimensions=256, normalize=False).fit(texts).encode(texts)
    return vectors[np.linalg.norm(vectors, axis=1) > 0]


def growth(items: np.ndarray, k: int) -> list[str]:
    """Candidates per query divided by k: in float32, in float16 by the worst case, and by measured
    residuals.
    """
    import torch

    from rankwell.vectors.neighbours.torch_device.vectors import HALF, SINGLE, Vectors

    queries = items[:64]
    space = Space(Embeddings(None, queries), Embeddings(None, items), "cosine")
    vectors = Vectors(space, torch.device("cpu"), multiple=1)
    left, right = (
        vectors.ready(torch.from_numpy(queries.copy())),
        vectors.ready(torch.from_numpy(items)),
    )
    products = (vectors.products(left, right, SINGLE)).double().numpy()
    kth = np.partition(products, len(items) - k, axis=1)[:, len(items) - k]
    measured = vectors.slack(left, right, HALF).numpy()
    worst = measured - (left.residual + float(right.residual.max())).numpy() + 2 * HALF_ROUNDING
    slacks = (vectors.slack(left, right, SINGLE).numpy(), worst, measured)
    return [
        f"{(products >= (kth - 2 * slack)[:, None]).sum() / (k * len(queries)):8.2f}"
        for slack in slacks
    ]


def print_growth(n: int, k: int) -> None:
    print(
        f"\nGrowth of shortlists, k = {k}, {n:,} vectors at most, cosine: candidates per query / k"
    )
    print(f"{'':34}{'float32':>8}{'float16, worst case':>21}{'float16, measured':>19}")
    for name, make in (
        ("clustered, 384", clustered),
        ("isotropic, 768", isotropic),
        ("SVD of docstrings, 256", documented),
    ):
        items = make(n)
        single, worst, measured = growth(items, min(k, len(items)))
        print(f"{f'{name}, {len(items):,} vectors':34}{single}{worst:>21}{measured:>19}")


def without_kernel(work: Callable[[], object]) -> Callable[[], object]:
    """The same search without Triton: products and lists are written to memory."""
    from rankwell.vectors.neighbours.torch_device import fused

    def _work() -> object:
        before, fused.is_available = fused.is_available, lambda: False
        try:
            return work()
        finally:
            fused.is_available = before

    return _work


def peers(queries: Any, items: Any, k: int) -> dict[str, Callable[[], object]]:
    """Searches of other packages, for tensors on the GPU."""
    import torch

    def _topk() -> None:
        for part in queries.split(1024):
            torch.topk(part @ items.T, k, dim=1)

    found: dict[str, Callable[[], object]] = {"plain product and topk": _topk}
    if importlib.util.find_spec("faiss"):
        import faiss

        if hasattr(faiss, "StandardGpuResources"):
            resources, metric = faiss.StandardGpuResources(), faiss.METRIC_INNER_PRODUCT
            found["faiss knn_gpu, float16"] = lambda: faiss.knn_gpu(
                resources, queries, items, k, metric=metric
            )
    if importlib.util.find_spec("cuvs"):
        from cuvs.neighbors import brute_force  # pyright: ignore[reportMissingImports]

        index = brute_force.build(items, metric="inner_product")
        found["cuVS brute force, float16"] = lambda: brute_force.search(index, queries, k)
    for name in ("faiss with GPU support", "cuVS"):
        if not any(name.split()[0] in each for each in found):
            print(f"{name} is not installed and is left out")
    return found


def race(n: int, n_queries: int, k: int, rounds: int) -> None:
    import torch

    generator = torch.Generator("cuda").manual_seed(3)
    left, right = (
        torch.randn(size, D, generator=generator, dtype=torch.float16, device="cuda")
        for size in (n_queries, n)
    )
    right[1::50] = right[::50]
    queries, items = left.cpu().numpy(), right.cpu().numpy()

    def _product() -> None:
        for part in left.split(4096):
            torch.matmul(part, right.T)

    def _ours() -> object:
        return search(queries, items, k=k, metric="dot", backend="torch")

    every = {
        "plain product": _product,
        "rankwell, fused": _ours,
        "rankwell, eager": without_kernel(_ours),
        **peers(left, right, k),
    }
    taken: dict[str, list[float]] = {name: [] for name in every}
    for number in range(rounds + 1):
        for name, work in every.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            work()
            torch.cuda.synchronize()
            if number:  # the first round compiles and warms up
                taken[name].append(time.perf_counter() - start)
    print(
        f"\n{torch.cuda.get_device_name()}, {n:,} x {D} float16 from host memory, "
        f"{n_queries:,} queries, k = {k}, {rounds} rounds"
    )
    print(f"{'':28}{'median s':>9}{'TFLOP/s':>9}{'share of the product':>22}")
    for name, times in taken.items():
        shares = [alone / own for alone, own in zip(taken["plain product"], times, strict=True)]
        print(
            f"{name:28}{median(times):9.3f}{2e-12 * n * D * n_queries / median(times):9.0f}{median(shares):22.0%}"  # noqa: E501
        )
    some = queries[:200]
    ours, numpys = (
        search(some, items, k=k, metric="dot", backend=name) for name in ("torch", "numpy")
    )
    same = (
        ours.positions.tobytes() + ours.scores.tobytes()
        == numpys.positions.tobytes() + numpys.scores.tobytes()
    )
    print(
        f"lists of {len(some)} queries {'have' if same else 'DO NOT HAVE'} the bytes of the "
        "NumPy backend"
    )
    if not same:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (
        ("rounds", 5),
        ("k", 100),
        ("items", 4_000_000),
        ("queries", 200_000),
        ("growth", 20_000),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if not importlib.util.find_spec("torch"):
        sys.exit("torch is not installed; pip install 'rankwell[torch]'")
    import torch

    if torch.cuda.is_available():
        race(options.items, options.queries, options.k, options.rounds)
    else:
        print("There is no GPU that torch can use: no rate is measured.")
    if options.growth:
        print_growth(options.growth, options.k)


if __name__ == "__main__":
    main()
