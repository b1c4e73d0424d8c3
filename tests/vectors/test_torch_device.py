"""Search on a device: bounds that hold on tensor cores, scores with the bits of NumPy, and a kernel
that gives the same lists.
"""

import importlib.util
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from oracles.tensor_cores import MODELS, dot
from rankwell._native.similarity import Space, score_pairs
from rankwell.data.matrices import Embeddings
from rankwell.errors import BadInput, BadUsage
from rankwell.vectors.neighbours import Groups, ranks_of, search

torch = pytest.importorskip("torch")
if importlib.util.find_spec("torch") is not None:
    from rankwell.vectors.neighbours.torch_device import vectors

pytestmark = pytest.mark.usefixtures("one_torch_thread")
METRICS = ("cosine", "dot", "l2")
DTYPES = ("float32", "float16", "int8", "uint8", "float64", ">f4")


def made(seed: int, n: int, d: int, dtype: str = "float32"):
    """Vectors of which a tenth are copies of others."""
    rng = np.random.default_rng(seed)
    is_whole = np.dtype(dtype).kind in "iu"
    table = (rng.integers(0, 120, (n, d)) if is_whole else rng.standard_normal((n, d))).astype(
        dtype
    )
    table[rng.choice(n, n // 10, replace=False)] = table[rng.integers(0, n, n // 10)]
    return table


def lists(queries, items, **options) -> bytes:
    found = search(queries, items, **{"k": 15, **options})
    return found.positions.tobytes() + found.scores.tobytes()


def counts(queries, items, wanted, **options) -> bytes:
    return b"".join(column.tobytes() for column in ranks_of(queries, items, wanted, **options))


def vectors_of(queries, items, metric):
    space = Space(Embeddings(None, queries), Embeddings(None, items), metric)
    return space, vectors.Vectors(space, torch.device("cpu"), multiple=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_exact_scores_on_a_device_have_the_bits_of_numpy(metric, dtype):
    rng = np.random.default_rng(1)
    for d in (1, 2, 3, 7, 24, 25, 49, 384):
        left, right = ((rng.standard_normal((400, d)) * 50 + 1).astype(dtype) for _ in range(2))
        left[(left == 0).all(axis=1)] = 1
        right[(right == 0).all(axis=1)] = 1
        right[:100] = left[:100]
        every = np.arange(400)

        pairs = ((vectors.on_device(table, "cpu"), torch.arange(400)) for table in (left, right))
        found = vectors.score_rows(*pairs, metric)

        assert found.numpy().tobytes() == score_pairs(left, right, every, every, metric).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_lists_and_counts_have_the_bytes_of_numpy_whatever_the_blocks(metric, dtype):
    items, wanted = made(2, 900, 40, dtype), np.random.default_rng(3).integers(60, 900, (60, 2))
    options = {"metric": metric, "exclude": "self"}
    expected = lists(items[:60], items, **options), counts(items[:60], items, wanted, **options)

    for item_block, query_block in ((None, None), (250, 17)):
        blocks = {"backend": "torch", "item_block": item_block, "query_block": query_block}
        assert lists(items[:60], items, **options, **blocks) == expected[0]
        assert counts(items[:60], items, wanted, **options, **blocks) == expected[1]


def test_ties_on_a_device_go_by_the_order_that_is_given():
    items = np.random.default_rng(12).integers(1, 3, (200, 3)).astype(np.float32)
    wanted, places = np.arange(30)[:, None] + [0, 40], np.random.default_rng(13).permutation(200)

    found = counts(items[:30], items, wanted, places=places, backend="torch", item_block=70)

    assert found == counts(items[:30], items, wanted, places=places)
    assert found != counts(items[:30], items, wanted)


def test_a_gallery_that_fits_the_device_is_read_once_for_all_passes(monkeypatch):
    read, copied, items = list[int](), vectors.copied, made(4, 700, 24)

    def watched(array, *words):
        for block in copied(array, *words):
            if len(array) == len(items):
                read.append(len(block))
            yield block.clone()

    monkeypatch.setattr(vectors, "free_memory", lambda _: 1 << 30)
    monkeypatch.setattr(vectors, "copied", watched)

    found = lists(items[:90], items, backend="torch", item_block=100, memory=60_000)

    assert found == lists(items[:90], items)
    assert read == [100] * 7


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_that_halves_do_not_distinguish_go_on_in_higher_precision(metric, monkeypatch):
    levels = set[int]()
    products = vectors.Vectors.products

    def watched(self, queries, items, level):
        levels.add(level)
        return products(self, queries, items, level)

    monkeypatch.setattr(vectors.Vectors, "products", watched)
    rng = np.random.default_rng(5)
    items = (rng.integers(-40, 41, size=(1500, 12)) + 2**20).astype(np.float32)
    wanted = rng.integers(0, 1500, (15, 1))

    assert lists(items[:15], items, metric=metric, backend="torch", item_block=400) == lists(
        items[:15], items, metric=metric
    )
    assert counts(items[:15], items, wanted, metric=metric, backend="torch") == counts(
        items[:15], items, wanted, metric=metric
    )
    # Moved to their centre, these vectors are small integers.
    assert levels == (
        {vectors.HALF} if metric == "l2" else {vectors.HALF, vectors.SINGLE, vectors.DOUBLE}
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
def test_no_product_in_halves_is_further_from_its_score_than_the_bound(metric, dtype):
    rng = np.random.default_rng(6)
    for d in (1, 5, 64, 700):
        scale = 1 if np.dtype(dtype).kind in "iu" else 10.0 ** rng.uniform(-3, 2, (40, 1))
        queries, items = (
            (rng.standard_normal((40, d)) * 9 * scale + 12).astype(dtype) for _ in range(2)
        )
        for table in (queries, items):
            table[~table.any(axis=1)] = 1
        space, multiplier = vectors_of(queries, items, metric)
        left, right = (
            multiplier.ready(vectors.on_device(each, "cpu")) for each in (queries, items)
        )
        rows, columns = np.divmod(np.arange(1600), 40)
        exact = score_pairs(queries, items, rows, columns, metric).reshape(40, 40)
        place = space.place(torch.from_numpy(exact), multiplier.squares(left)[:, None])

        for level in (vectors.HALF, vectors.SINGLE, vectors.DOUBLE):
            products = (
                multiplier.products(left, right, level).double()
                * multiplier.units(left, level)[:, None]
            )
            assert bool(
                ((products - place).abs() <= multiplier.slack(left, right, level)[:, None]).all()
            ), (d, level)


def hostile(kind: str, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of float16 numbers whose sum of products loses as much as it can where terms are
    truncated.
    """
    rng = np.random.default_rng(7)
    left, right = np.ones(d), np.ones(d)
    if kind == "small after large":  # every further term is cut, and the sum stays
        left[1:], right[1:] = 2.0**-11, (2 - 2.0**-10) * 2.0**-13
        left[0] = right[0] = 1.0
    elif kind == "growing":
        left, right = 1 + rng.integers(0, 1024, (2, d)) * 2.0**-10
    elif kind == "cancelling":
        left, right = rng.integers(1025, 2048, (2, d)) * 2.0**-10
        right[1::2], left[1::2] = -right[::2][: d // 2], left[::2][: d // 2]
    elif kind == "subnormal":
        left, right = rng.integers(1, 1024, d) * 2.0**-24, rng.integers(1, 1024, d) * 2.0**-24
    return left.astype(np.float16), right.astype(np.float16)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["small after large", "growing", "cancelling", "subnormal"])
def test_sums_that_tensor_cores_truncate_stay_within_the_bound(kind, model):
    for d in (16, 250, 768):
        left, right = hostile(kind, d)
        one, other = ([Fraction(float(number)) for number in each] for each in (left, right))
        exact, found = (
            sum(a * b for a, b in zip(one, other, strict=True)),
            dot(one, other, *MODELS[model]),
        )
        _, multiplier = vectors_of(left[None], right[None], "dot")

        rows = [multiplier.ready(torch.from_numpy(each[None])) for each in (left, right)]
        slack = float(multiplier.slack(*rows, vectors.HALF)[0])

        assert abs(found - exact) <= slack


def test_truncated_sums_come_near_the_bound_and_break_that_of_ieee_arithmetic():
    d = 768
    left, right = np.full(d, 2.0**-12), np.full(d, 2.0**-12 * (2 - 2.0**-10))
    left[0] = right[0] = 1.0
    one, other = (
        [Fraction(float(number)) for number in each.astype(np.float16)] for each in (left, right)
    )
    exact, found = (
        sum(a * b for a, b in zip(one, other, strict=True)),
        dot(one, other, *MODELS["V100"]),
    )
    mass = sum(abs(a * b) for a, b in zip(one, other, strict=True))
    off = float((exact - found) / mass)

    assert off > d * 2.0**-24
    assert 0.5 * vectors.accumulation_share(d) < off <= vectors.accumulation_share(d)


def test_reduced_precision_is_off_while_products_are_made_and_restored_afterwards(monkeypatch):
    settings = torch.backends.cuda.matmul
    names = [name for name in vectors._SWITCHES if hasattr(settings, name)]
    before = {name: getattr(settings, name) for name in names}
    seen = list[tuple[str, list[bool]]]()
    products = vectors.Vectors.products

    def watched(self, queries, items, level):
        seen.append(
            (torch.get_float32_matmul_precision(), [getattr(settings, name) for name in names])
        )
        return products(self, queries, items, level)

    monkeypatch.setattr(vectors.Vectors, "products", watched)
    # On a GPU the kernel makes products of its own.
    monkeypatch.setattr(vectors.fused, "is_available", lambda: False)
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        for name in names:
            setattr(settings, name, True)
        lists(made(8, 40, 6), made(9, 50, 6), backend="torch")

        assert {(found, tuple(values)) for found, values in seen} == {
            ("highest", (False,) * len(names))
        }
        assert torch.get_float32_matmul_precision() == "medium"
        assert all(getattr(settings, name) for name in names)
    finally:
        torch.set_float32_matmul_precision(precision)
        for name, value in before.items():
            setattr(settings, name, value)


@pytest.mark.parametrize(
    ("number", "metric"),
    [(np.nan, "dot"), (-np.inf, "l2"), (np.inf, "cosine"), (1e30, "dot"), (0, "cosine")],
)
@pytest.mark.parametrize("side", ["items", "queries"])
def test_vectors_that_cannot_be_compared_have_the_message_of_numpy(number, metric, side):
    tables = {"items": np.ones((30, 3)), "queries": np.ones((30, 3))}
    tables[side][17] = number
    messages = list[str]()

    for backend in ("numpy", "torch"):
        with pytest.raises(BadInput, match="row 17") as error:
            search(
                tables["queries"],
                tables["items"],
                k=2,
                metric=metric,
                item_block=5,
                backend=backend,
            )
        messages.append(str(error.value))

    assert messages[0] == messages[1]


def test_an_item_that_is_requested_and_excluded_and_an_unknown_device_are_refused():
    ones = np.ones((3, 4), dtype=np.float32)

    with pytest.raises(BadInput, match="item '1' is both requested and excluded for query '1'"):
        ranks_of(ones, ones, np.full((3, 1), 1), exclude="self", backend="torch")
    with pytest.raises(BadUsage, match="cannot use the device 'warp'"):
        search(ones, ones, k=1, backend="torch", device="warp")


LISTED = "*fp32 *fp32 *fp32 *fp64 *fp32 *fp64 *i32 *i64 *fp64 *fp64 i32 i32 i32 i32 i64"
TILE = {"has_scale": True, "has_factors": True, "is_described": False}
TILE |= {"block_q": 128, "block_x": 128, "block_d": 64, "group": 8}
KERNELS = {
    "append": (f"*fp16 *fp16 {LISTED}", TILE, {"num_warps": 4, "num_stages": 3}),
    "append by the copy engine": (
        f"tensordesc<fp16[128,64]> tensordesc<fp16[128,64]> {LISTED}",
        {**TILE, "is_described": True},
        {"num_warps": 4, "num_stages": 3},
    ),
    "prune": (
        "*i64 *i32 *i64 *fp64 *fp64 *fp64 *fp64 *u8 i32 i32",
        {"has_excluded": True, "block": 256},
        {"num_warps": 1},
    ),
    "fold": (
        "*fp16 *i64 *fp16 *i64 *fp64 i32 i32",
        {"is_distance": True, "folds": 8, "block": 4},
        {"num_warps": 2},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capability", "instruction", "shared"), [(80, "mma.sync", 163 << 10), (90, "wgmma", 227 << 10)]
)
@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_compile_for_tensor_cores_and_fit_their_shared_memory(
    name, capability, instruction, shared
):
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from rankwell.vectors.neighbours.torch_device import fused

    types, sizes, options = KERNELS[name]
    if capability < 90 and "copy engine" in name:
        pytest.skip("there is no copy engine before Hopper")
    kernel = fused.compiled(getattr(fused, f"_{name.split()[0]}"))
    signature = dict(
        zip(kernel.arg_names, [*types.split(), *("constexpr" for _ in sizes)], strict=True)
    )
    assert {key for key, kind in signature.items() if kind == "constexpr"} == set(sizes)
    # Vectors lie at multiples of 16 bytes: without that, loads are not pipelined.
    even = [
        place
        for place, (key, kind) in enumerate(signature.items())
        if key == "d" or kind == "*fp16"
    ]
    aligned = {(place,): [["tt.divisibility", 16]] for place in even}
    source = ASTSource(fn=kernel, signature=signature, constexprs=sizes, attrs=aligned)

    found = triton.compile(
        source,
        target=GPUTarget("cuda", capability, 32),
        options={**options, "enable_fp_fusion": False},
    )

    assert (instruction in found.asm["ptx"]) == name.startswith("append")
    assert ("cp.async.bulk.tensor" in found.asm["ptx"]) == ("copy engine" in name)
    assert "fma.rn.f64" not in found.asm["ptx"]
    assert found.metadata.shared <= shared


KERNEL = """
import sys
import numpy as np
from rankwell.vectors.neighbours import Groups, search
import torch
from rankwell.vectors.neighbours.torch_device import fused, vectors

launches, append, prune = {"append": 0, "prune": 0}, fused.append, fused.prune

def counting(name, kernel):
    def launched(*words, **others):
        launches[name] += 1
        kernel(*words, **others)
    return launched

for name in launches:
    setattr(fused, name, counting(name, getattr(fused, name)))
options = {"k": 5, "exclude": "self", "groups": Groups([0] * 3, [row % 3 for row in range(300)])}
for number, (name, metric) in enumerate(zip(sys.argv[1::2], sys.argv[2::2], strict=True)):
    items = np.load(name)
    tile = fused.KernelTile(32, 128, is_described=number % 2 == 1)
    fused.tile_for = lambda device: tile
    found = search(items[:3], items, metric=metric, backend="torch", item_block=200, **options)
    print((found.positions.tobytes() + found.scores.tobytes()).hex())
generator = torch.Generator().manual_seed(1)
for d in (1, 24, 49, 96):
    one, other = ((torch.randn(5, d, generator=generator), torch.tensor(rows)) for rows in ((4, 0, 2), (1, 1, 3)))
    for is_distance in (False, True):
        found = vectors._folded_sum(fused.fold(one, other, is_distance=is_distance))
        assert torch.equal(found, vectors._sums(one, other, is_distance=is_distance)), (d, is_distance)
print(*launches.values())
"""  # noqa: E501


@pytest.mark.server
def test_the_kernels_in_tritons_interpreter_give_the_bytes_of_numpy(tmp_path):
    pytest.importorskip("triton")
    # So many reach the bound that lists overflow.
    better = np.linspace(1, 60, 300)[:, None] * np.ones((1, 8))
    tables = {
        "halves": made(10, 300, 40, "float16"),
        "bytes": made(11, 300, 70, "int8"),
        "better": better.astype(np.float32),
    }
    for name, table in tables.items():
        np.save(tmp_path / f"{name}.npy", table)
    cases = [
        ("halves", "cosine"),
        ("halves", "l2"),
        ("bytes", "dot"),
        ("better", "dot"),
        ("halves", "dot"),
        ("bytes", "cosine"),
    ]
    words = [word for name, metric in cases for word in (str(tmp_path / f"{name}.npy"), metric)]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, *words],
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )

    if "only 0-dimensional arrays can be converted to Python scalars" in done.stderr:
        pytest.skip("this version of Triton's interpreter does not run with this NumPy")
    assert done.returncode == 0, done.stderr
    *found, appended, pruned = done.stdout.split()
    options = {
        "k": 5,
        "exclude": "self",
        "groups": Groups([0] * 3, [row % 3 for row in range(300)]),
    }
    assert found == [
        lists(tables[name][:3], tables[name], metric=metric, **options).hex()
        for name, metric in cases
    ]
    assert min(int(appended), int(pruned)) >= len(cases)
