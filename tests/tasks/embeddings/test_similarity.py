"""Figures of two whole collections of embeddings: kernel alignment against whole Gram matrices, and
hubs.
"""

import math

import numpy as np
import pytest
from scipy import stats

from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.embeddings.vectors import Representation, hubness, linear_cka


def gram_alignment(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Linear alignment from whole Gram matrices: centred, and unbiased without their diagonals."""
    n = len(first)
    centre, ones = np.eye(n) - 1 / n, np.ones(n)

    def biased(k: np.ndarray, m: np.ndarray) -> float:
        return float(np.trace(k @ centre @ m @ centre))

    def unbiased(k: np.ndarray, m: np.ndarray) -> float:
        k, m = k - np.diag(np.diag(k)), m - np.diag(np.diag(m))
        both = (ones @ k @ ones) * (ones @ m @ ones) / ((n - 1) * (n - 2))
        return float(np.trace(k @ m) + both - 2 / (n - 2) * (ones @ k @ m @ ones))

    k, m = first @ first.T, second @ second.T
    found = [form(k, m) / math.sqrt(form(k, k) * form(m, m)) for form in (biased, unbiased)]
    return found[0], found[1]


def test_kernel_alignment_is_that_of_gram_matrices():
    generator = np.random.default_rng(2)
    first = generator.normal(size=(40, 7)) + 3
    second = np.hstack(
        [first[:, :3] @ generator.normal(size=(3, 9)), generator.normal(size=(40, 3))]
    )
    found = linear_cka(Representation(first), Representation(second))

    assert (found.linear, found.debiased) == pytest.approx(gram_alignment(first, second), abs=1e-9)


def test_kernel_alignment_ignores_rotation_and_scale_and_unrelated_spaces_align_by_chance_only():
    generator = np.random.default_rng(3)
    first = generator.normal(size=(50, 40)).astype(np.float32)
    rotation, _ = np.linalg.qr(generator.normal(size=(40, 40)))
    turned, unrelated = 5 * first.astype(np.float64) @ rotation + 1, generator.normal(size=(50, 40))
    same, chance = (
        linear_cka(Representation(first), Representation(other)) for other in (turned, unrelated)
    )

    assert (same.linear, same.debiased) == (1.0, 1.0)
    assert chance.linear > 0.3
    assert abs(chance.debiased) < 0.2


def test_kernel_alignment_is_undefined_for_constant_vectors_and_refuses_other_items():
    generator = np.random.default_rng(4)
    some = Representation(generator.normal(size=(10, 3)))

    assert math.isnan(linear_cka(some, Representation(np.full((10, 3), 0.1))).linear)
    assert math.isnan(linear_cka(*[Representation(generator.normal(size=(3, 2)))] * 2).debiased)
    with pytest.raises(BadInput, match="10 items and the candidate 9"):
        linear_cka(some, Representation(generator.normal(size=(9, 3))))
    with pytest.raises(BadInput, match="NaN"):
        linear_cka(some, Representation(np.full((10, 3), np.nan)))


def test_hubness_is_the_skewness_of_how_often_items_are_neighbours():
    positions = np.array([[0, 1], [0, 2], [0, -1], [0, 1]])
    found = hubness(positions, 5)

    assert found.skewness == pytest.approx(stats.skew([4, 2, 1, 0, 0]), abs=1e-9)
    assert (found.largest, found.never) == (4, 0.4)
    assert math.isnan(hubness(positions, 1, k=1).skewness)
    with pytest.raises(BadUsage, match="item 2"):
        hubness(positions, 2)
