"""The compiled kernel gives what NumPy gives, to the last bit; without it everything works."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rankwell._native import native
from rankwell._native.products import ExcludedPairs, sift, tally
from rankwell._native.similarity import score_pairs, squared_norms

needs_native = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)
NONE = ExcludedPairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def both(monkeypatch: pytest.MonkeyPatch, work):
    compiled = work()
    with monkeypatch.context() as patch:
        patch.setattr(native, "library", None)
        plain = work()
    return compiled, plain


def block(shape: tuple[int, int], seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    # Few different values, so that many products are equal to a bound.
    return np.round(values, 1) if seed % 2 else values


@needs_native
@pytest.mark.parametrize("shape", [(1, 1), (1, 127), (3, 128), (7, 129), (64, 1000), (130, 3000)])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_that_reach_a_bound_are_the_same(monkeypatch, shape, seed):
    generator = np.random.default_rng(seed)
    cut = generator.choice([-1e38, -0.5, 0.5, 1.5, 9.0], shape[0]).astype(np.float32)
    slack = np.full(shape[0], 1e-3, dtype=np.float32)
    excluded = ExcludedPairs(generator.integers(0, shape[0], 5), generator.integers(0, shape[1], 5))
    for keep in (1, 10, shape[1]):
        found = both(
            monkeypatch,
            lambda keep=keep: sift(
                block(shape, seed), cut, slack, keep, excluded, np.empty(shape, dtype=bool)
            ),
        )
        for compiled, plain in zip(*found, strict=True):
            assert compiled.dtype == plain.dtype
            assert compiled.tobytes() == plain.tobytes()


@needs_native
@pytest.mark.parametrize("shape", [(1, 1), (5, 128), (40, 1001)])
@pytest.mark.parametrize("wanted", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_the_same(monkeypatch, shape, wanted, seed):
    low = np.round(np.random.default_rng(seed).standard_normal((shape[0], wanted)), 1).astype(
        np.float32
    )
    high = low + np.float32(0.2) * (seed % 3)
    found = both(
        monkeypatch, lambda: tally(block(shape, seed), low, high, NONE, np.empty(shape, dtype=bool))
    )
    assert found[0].above.tobytes() == found[1].above.tobytes()
    compiled, plain = (
        sorted(zip(*map(np.ndarray.tolist, each[1:]), strict=True)) for each in found
    )
    assert compiled == plain


@needs_native
def test_more_pairs_between_the_bounds_than_expected_are_all_listed(monkeypatch):
    ones = np.ones((3, 5000), dtype=np.float32)
    bound = np.ones((3, 1), dtype=np.float32)
    found = tally(ones, bound, bound, NONE, np.empty(ones.shape, dtype=bool))
    assert len(found.rows) == 15000
    assert found.above.tolist() == [[0], [0], [0]]


@needs_native
@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 17, 384, 1000])
def test_exact_scores_are_the_same(monkeypatch, metric, dimensions):
    vectors = np.random.default_rng(dimensions).standard_normal((50, dimensions), dtype=np.float32)
    rows, columns = np.divmod(np.arange(2500), 50)
    compiled, plain = both(
        monkeypatch, lambda: score_pairs(vectors, vectors, rows, columns, metric)
    )
    assert compiled.tobytes() == plain.tobytes()
    compiled, plain = both(monkeypatch, lambda: squared_norms(vectors, rows))
    assert compiled.tobytes() == plain.tobytes()


@needs_native
def test_what_does_not_fit_together_is_refused_and_nothing_is_read():
    vectors = np.ones((3, 4), dtype=np.float32)
    for index in (-1, 3):
        with pytest.raises(ValueError, match="out of range"):
            native.library.score_pairs(
                vectors, vectors, 4, np.array([index]), np.array([0]), False, np.empty(1)
            )
    with pytest.raises(ValueError, match="fit together"):
        native.library.sift(
            vectors,
            np.ones(5, dtype=np.float32),
            np.empty(1, int),
            np.empty(1, int),
            np.empty(1, np.float32),
        )
    with pytest.raises(ValueError, match="fit together"):
        native.library.tally(
            vectors,
            5,
            vectors,
            vectors,
            np.empty(12, int),
            np.empty(1, int),
            np.empty(1, int),
            np.empty(1, int),
        )


def test_the_environment_can_ask_for_numpy():
    code = "from rankwell._native import native; print(native.name())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"RANKWELL_KERNEL": "numpy"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "python\n"


def test_threads_inside_threads_do_not_start_more(monkeypatch):
    from rankwell.threads import in_threads

    monkeypatch.setattr("rankwell.threads.processors", lambda: 4)
    names = in_threads(
        lambda _: set(in_threads(lambda _: __import__("threading").get_ident(), range(8))), range(4)
    )
    assert all(len(each) == 1 for each in names)


def test_a_kernel_that_was_compiled_from_other_sources_is_left_alone(tmp_path):
    (tmp_path / "check.py").write_text(
        "import sys, types\n"
        "stale = types.ModuleType('rankwell._native._native')\n"
        "sys.modules[stale.__name__] = stale\n"
        "import rankwell._native\n"
        "rankwell._native._native = stale\n"
        "from rankwell._native import native\n"
        "print(native.name())\n"
    )
    found = subprocess.run(
        [sys.executable, str(tmp_path / "check.py")], capture_output=True, text=True, check=True
    )
    assert found.stdout == "python\n"
