"""Normalised and adjusted mutual information: equal to a count over all orders and to
scikit-learn.
"""

import random
from itertools import permutations

import pytest

from oracles import partitions as oracle
from rankwell.stats.partitions import partition_agreement


def drawn(seed: int, n: int) -> tuple[list[int], list[int]]:
    rng = random.Random(seed)
    first, second = (
        [rng.randrange(groups) for _ in range(n)]
        for groups in (rng.randint(1, 4), rng.randint(1, n))
    )
    return first, second


@pytest.mark.parametrize("seed", range(12))
def test_both_equal_the_oracle_whose_chance_is_the_mean_over_all_orders(seed: int):
    first, second = drawn(seed, 2 + seed % 5)
    expected = sum(oracle.information(first, order) for order in permutations(second)) / len(
        list(permutations(second))
    )

    found = partition_agreement(first, second)

    assert found.nmi == pytest.approx(oracle.nmi(first, second), abs=1e-12)
    assert found.ami == pytest.approx(oracle.ami(first, second, expected), abs=1e-9)
    assert found.nmi_chance == pytest.approx(oracle.over_mean(first, second, expected), abs=1e-9)


def test_both_equal_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in range(40):
        first, second = drawn(seed, 60)
        if seed % 8 == 0:
            second = list(range(60))

        found = partition_agreement(first, second)

        assert found.nmi == pytest.approx(
            metrics.normalized_mutual_info_score(first, second), abs=1e-9
        )
        assert found.ami == pytest.approx(
            metrics.adjusted_mutual_info_score(first, second), abs=1e-9
        )


def test_equal_partitions_are_1_and_names_have_no_effect():
    assert partition_agreement("aabb", [2, 2, 1, 1])[:2] == (1, 1)
    assert partition_agreement("aaaa", "bbbb")[:2] == (1, 1)
    assert partition_agreement("abcd", [4, 3, 2, 1])[:2] == (1, 1)


def test_the_example_of_the_documentation():
    found = partition_agreement("aabb", [1, 1, 1, 2])

    assert (round(found.nmi, 4), round(found.ami, 9)) == (0.3437, 0)
