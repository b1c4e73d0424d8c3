"""The default intervals: exact ones of 0/1 values, the studentised bootstrap of others, against
SciPy, tables and plain loops.
"""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Values
from rankwell.stats import summarise, summary_findings
from rankwell.stats.intervals import Deviations, clopper_pearson, skew_of
from rankwell.stats.paired_bootstrap import Differences, cluster_sums, paired_bootstrap

SIZES = (10, 11, 20, 57, 300, 6980)


def make(numbers, *, unit="share", summary="mean", weights=None, measure="nDCG@10"):
    column = np.array(numbers, dtype=np.float64)
    queries = tuple(f"q{place}" for place in range(len(column)))
    own = None if weights is None else np.array(weights, dtype=np.float64)
    return Values("run", measure, measure, unit, summary, queries, column, own)


def skewed(n, seed=0):
    return np.random.default_rng(seed).beta(0.4, 2.0, n)


def bounds(*values, **options):
    return [(row.ci_low, row.ci_high) for row in summarise(values, **options)]


@pytest.mark.parametrize(
    ("successes", "n", "level", "low", "high"),
    [
        (0, 10, 0.95, 0.0, 0.3085),
        (1, 10, 0.95, 0.0025, 0.4450),
        (5, 10, 0.95, 0.1871, 0.8129),
        (10, 10, 0.95, 0.6915, 1.0),
        (5, 20, 0.95, 0.0866, 0.4910),
        (15, 30, 0.95, 0.3130, 0.6870),
        (1, 20, 0.90, 0.0026, 0.2161),
    ],
)
def test_exact_intervals_are_those_of_printed_tables(successes, n, level, low, high):
    assert clopper_pearson(successes, n, level) == pytest.approx((low, high), abs=5.1e-5)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_outside_an_exact_interval_half_of_the_rest_is_as_probable(n, level):
    for successes in sorted({0, 1, 2, n // 10, n // 2, n - 1, n}):
        low, high = clopper_pearson(successes, n, level)

        assert (
            low == 0
            if successes == 0
            else stats.binom.sf(successes - 1, n, low) == pytest.approx((1 - level) / 2, rel=1e-8)
        )
        assert (
            high == 1
            if successes == n
            else stats.binom.cdf(successes, n, high) == pytest.approx((1 - level) / 2, rel=1e-8)
        )


@pytest.mark.parametrize("n", [10, 15, 20, 30, 50, 200])
def test_an_exact_interval_covers_every_share_at_least_as_often_as_it_says(n):
    found = np.array([clopper_pearson(successes, n, 0.95) for successes in range(n + 1)])

    for share in np.linspace(0.001, 0.999, 999):
        held = (found[:, 0] <= share) & (share <= found[:, 1])
        assert stats.binom.pmf(np.arange(n + 1), n, share)[held].sum() >= 0.95


@pytest.mark.parametrize("unit", ["share", "percent"])
@pytest.mark.parametrize("successes", [0, 1, 13, 20])
def test_values_of_0_and_1_have_the_exact_interval(unit, successes):
    top = 100 if unit == "percent" else 1

    ((low, high),) = bounds(make([top] * successes + [0] * (20 - successes), unit=unit))

    expected = [top * end for end in stats.binomtest(successes, 20).proportion_ci(method="exact")]
    assert (low, high) == pytest.approx(tuple(expected), rel=1e-6)


def one_by_one(numbers, weights, *, resamples, level=0.95, seed=0):
    """The studentised interval, one resample after another, from its values laid out; and
    Student's, of a ratio linearised.
    """
    n = len(numbers)
    figure = np.average(numbers, weights=weights)

    def squares(picked, about):
        return sum((weights[place] * (numbers[place] - about)) ** 2 for place in picked)

    own = squares(range(n), figure)
    drawn = []
    for counts in np.concatenate(over_resamples(n, resamples, np.copy, seed=seed)).astype(int):
        picked = np.repeat(np.arange(n), counts)
        mean = np.average(numbers[picked], weights=weights[picked])
        error = math.sqrt((n * squares(picked, mean) + own) / (n + 1)) / weights[picked].sum()
        drawn.append((mean - figure) / error)
    error = math.sqrt(own) / weights.sum()
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    student = stats.t.ppf((1 + level) / 2, n - 1) * math.sqrt(n / (n - 1))
    return figure - max(upper, student) * error, figure + max(-lower, student) * error


@pytest.mark.parametrize("n", [10, 33, 120])
@pytest.mark.parametrize("weighted", [False, True])
def test_other_values_have_the_wider_of_the_studentised_bootstraps_and_students(n, weighted):
    numbers, weights = skewed(n, seed=n) - 0.01, np.arange(1.0, n + 1) if weighted else np.ones(n)

    found = bounds(
        make(numbers, unit="score", weights=weights if weighted else None), resamples=400, seed=3
    )

    assert found[0] == pytest.approx(one_by_one(numbers, weights, resamples=400, seed=3), rel=1e-8)


def test_sums_and_geometric_means_have_the_interval_of_their_mean():
    numbers = skewed(40) + 1e-4

    mean, total, geometric, logs = bounds(
        make(numbers),
        make(numbers, summary="sum"),
        make(numbers, summary="geometric"),
        make(np.log(numbers), unit="score"),
    )

    assert total == pytest.approx([40 * end for end in mean], rel=1e-9)
    assert geometric == pytest.approx([math.exp(end) for end in logs], rel=1e-8)


def test_intervals_end_where_the_unit_does():
    high = np.where(np.arange(12) == 0, 0.2, 1.0)

    ((_, share), (_, percent), (low, _)) = bounds(
        make(high), make(100 * high, unit="percent"), make(1 + 5 * (1 - high), unit="rank")
    )

    assert (share, percent, low) == (1.0, 100.0, 1.0)


def test_equal_values_have_no_interval_unless_they_are_0_or_1():
    half, one, rank = (
        make([0.5] * 12),
        make([1.0] * 12, measure="R@1"),
        make([1] * 12, unit="rank", measure="rank"),
    )

    assert bounds(half, one, rank) == [
        (None, None),
        (pytest.approx(0.025 ** (1 / 12), rel=1e-9), 1.0),
        (None, None),
    ]
    assert summary_findings([half, one, rank]) == [
        "every query has the same value, 0 or 1; the interval says how far other queries may "
        "differ: run R@1",
        "no interval where every query has the same value: run nDCG@10, run rank",
    ]


def test_a_note_says_how_often_intervals_below_20_queries_hold():
    note = (
        "with 19 queries 95 % intervals of values other than 0 and 1 held the true mean in 89 to "
        "98 % of simulations"
    )

    assert summary_findings([make(skewed(19))]) == [f"{note}: run nDCG@10"]
    assert summary_findings([make(skewed(19) > 0.1), make(skewed(20))]) == []


@pytest.mark.parametrize("scale", [1e-300, 1e-110, 1.0, 1e110, 1e300])
def test_a_long_tail_is_one_in_any_unit(scale):
    assert skew_of(np.array([9.0] + [1.0] * 29) * scale, "ms") == "tail"
    assert skew_of(np.arange(30.0) * scale, "ms") == ""
    assert skew_of(np.full(30, scale), "ms") == ""


def test_differences_of_0_1_values_have_bonett_and_prices_interval():
    differences = np.array([1.0] * 6 + [-1.0] * 2 + [0.0] * 22)

    (share, percent) = paired_bootstrap(
        [Differences(differences, largest=1.0), Differences(100 * differences, largest=100.0)],
        studentised=True,
    )

    # (7 - 3) / 32 ± 1.959964 · √((10 / 32 - (4 / 32)²) / 32), by hand.
    assert share.interval == pytest.approx((0.125 - 0.1887817, 0.125 + 0.1887817), abs=1e-6)
    assert percent.interval == pytest.approx([100 * end for end in share.interval], rel=1e-9)


def test_other_differences_have_the_studentised_interval():
    differences = skewed(25) - skewed(25, seed=1)

    plain, apart = paired_bootstrap(
        [Differences(differences, largest=1.0), cluster_sums(differences, np.arange(25))],
        studentised=True,
        resamples=400,
    )

    assert plain.interval == pytest.approx(
        one_by_one(differences, np.ones(25), resamples=400), rel=1e-8
    )
    assert apart.interval == pytest.approx(plain.interval, rel=1e-9)


def test_the_test_of_the_bootstrap_does_not_depend_on_the_interval():
    columns = [Differences(skewed(25) - 0.1), cluster_sums(skewed(40) - 0.1, np.arange(40) // 2)]

    studentised = paired_bootstrap(columns, test=True, studentised=True, resamples=400)

    assert [each.p for each in studentised] == [
        each.p for each in paired_bootstrap(columns, test=True, resamples=400)
    ]
    assert [each.interval for each in studentised] == [
        each.interval for each in paired_bootstrap(columns, studentised=True, resamples=400)
    ]


def test_systems_that_never_differ_have_the_interval_0():
    columns = [
        Differences(np.zeros(30), largest=1.0),
        cluster_sums(np.zeros(30), np.arange(30) // 2),
    ]

    assert [each.interval for each in paired_bootstrap(columns, studentised=True)] == [
        (0.0, 0.0)
    ] * 2


@pytest.fixture
def files(tmp_path):
    """20 queries, of which the first item of each ranking is relevant."""
    queries = range(20)
    (tmp_path / "qrels.txt").write_text("".join(f"q{query:02} 0 a 1\n" for query in queries))
    (tmp_path / "a.run").write_text(
        "".join(
            f"q{query:02} Q0 {item} 1 {score} x\n"
            for query in queries
            for item, score in ("a2", "b1")
        )
    )
    return str(tmp_path / "qrels.txt"), str(tmp_path / "a.run")


def evaluated(*words):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rankwell",
            "evaluate",
            *words,
            "-m",
            "Success@1",
            "--format",
            "json",
        ],
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_success_in_every_query_is_not_certain(files):
    now, before = evaluated(*files), evaluated(*files, "--intervals", "bootstrap")

    (row,), (percentiles,) = now["rows"], before["rows"]
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(0.025 ** (1 / 20), rel=1e-9), 1.0)
    assert now["rules"]["intervals"] == "bootstrap-t"
    assert (percentiles["ci_low"], percentiles["ci_high"]) == (1.0, 1.0)
    assert before["rules"]["intervals"] == "bootstrap"


def test_of_very_many_queries_the_interval_needs_no_resamples():
    """Hall 1992: the quantile of the studentised mean at z is z - γ (2z² + 1) / 6√n; the further
    end is that of the tail.
    """
    column = skewed(70_000)

    ((low, high),) = bounds(make(column, unit="score"))
    ((again, _),) = bounds(make(column, unit="score"), seed=1)
    (paired,) = paired_bootstrap([Differences(column)], studentised=True)

    z, error = stats.norm.ppf(0.975), column.std() / math.sqrt(70_000)
    shift = stats.skew(column) * (2 * z * z + 1) / 6 / math.sqrt(70_000)
    assert ((low - column.mean()) / error, (high - column.mean()) / error) == pytest.approx(
        (-z, z + shift), abs=1e-4
    )
    assert (again, paired.interval) == (low, (low, high))


def test_the_expansion_is_what_many_resamples_approach():
    deviations = Deviations.of(np.random.default_rng(5).exponential(size=400))
    table = np.column_stack(deviations.columns())
    drawn = np.concatenate(over_resamples(400, 100_000, lambda counts: counts @ table, seed=2))

    by_resamples = deviations.interval(0.95, deviations.studentised(iter(drawn.T)))
    by_expansion = deviations.interval(0.95)

    # The tail moves the upper end by 0.15 errors; what the expansion leaves out is of the order of
    # 1 / n.
    assert by_expansion == pytest.approx(by_resamples, abs=0.03 * deviations.error)
    assert sum(by_expansion) - 2 * deviations.mean > 0.1 * deviations.error


def test_where_few_queries_decide_the_variance_resamples_decide_the_interval():
    column = np.zeros(70_000)
    column[::7000] = 3.0

    (first,) = bounds(make(column, unit="score"), resamples=200)
    (second,) = bounds(make(column, unit="score"), resamples=200, seed=1)

    assert first != second
