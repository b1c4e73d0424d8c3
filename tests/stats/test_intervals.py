"""Summaries and their intervals: against SciPy and mpmath, against drawing the resamples one by
one, and by simulation.
"""

import math
import statistics
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from oracles import distributions
from rankwell._native.resamples import over_resamples
from rankwell.data.tables import Values
from rankwell.errors import BadInput
from rankwell.stats import on_exact_grid, summarise, summary_findings
from rankwell.stats.intervals import percentile_interval, student_p, student_quantile


def make(numbers, *, run="run", measure="nDCG@10", summary="mean", unit="share", weights=None):
    column = np.array(numbers, dtype=np.float64)
    queries = tuple(f"q{place}" for place in range(len(column)))
    return Values(
        run,
        measure,
        measure,
        unit,
        summary,
        queries,
        column,
        None if weights is None else np.array(weights, float),
    )


def scores(n, seed=0):
    """Values as rankings have them: many zeros, some ones, the rest between."""
    rng = np.random.default_rng(seed)
    return np.where(
        rng.random(n) < 0.3, 0.0, np.where(rng.random(n) < 0.1, 1.0, rng.beta(1.5, 2.5, n))
    )


def drawn_one_by_one(numbers, statistic, *, seed=0, resamples=10_000, level=0.95):
    """The percentile interval without any sums: each resample's values are laid out and
    summarised.
    """
    n = len(numbers)
    counts = np.concatenate(over_resamples(n, resamples, np.copy, seed=seed)).astype(int)
    return np.quantile(
        [statistic(np.repeat(np.arange(n), row)) for row in counts],
        [(1 - level) / 2, (1 + level) / 2],
    )


def test_the_summary_of_four_queries_worked_by_hand():
    (row,) = summarise([make([0.0, 0.5, 1.0, 0.5])])

    assert (row.mean, row.n, row.unit, row.label) == (0.5, 4, "share", "nDCG@10")
    assert row.sd == pytest.approx(math.sqrt(0.5 / 3), rel=1e-15)
    assert (row.ci_low, row.ci_high) == (None, None)


def test_queries_that_are_not_counted_do_not_enter():
    with_gaps, without = summarise(
        [make([np.nan, 0.25, np.nan, 0.75, 0.2] * 3), make([0.25, 0.75, 0.2] * 3)]
    )

    assert with_gaps == without
    assert with_gaps.n == 9


def test_the_population_sd_divides_by_n():
    assert summarise([make([1.0, 3.0])], population_sd=True)[0].sd == 1.0
    assert summarise([make([1.0, 3.0])])[0].sd == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("mean", 0.35),
        ("sum", 1.4),
        ("median", 0.2),
        ("geometric", (1e-5 * 0.1 * 0.3 * 1.0) ** 0.25),
    ],
)
def test_mean_is_the_measures_own_summary(summary, expected):
    assert summarise([make([0.0, 0.1, 0.3, 1.0], summary=summary)])[0].mean == pytest.approx(
        expected, rel=1e-14
    )


def test_weights_make_a_ratio_of_sums():
    (row,) = summarise([make([0.5, 1.0, np.nan], weights=[4, 1, np.nan])])

    assert row.mean == pytest.approx((0.5 * 4 + 1.0) / 5, rel=1e-15)


def test_no_query_gives_no_figure_but_a_sum_of_nothing_is_0():
    mean, total = summarise([make([np.nan, np.nan]), make([np.nan], summary="sum")])

    assert (mean.mean, mean.sd, mean.ci_low, mean.n) == (None, None, None, 0)
    assert total.mean == 0.0
    assert summarise([make([0.5, 0.5], weights=[0, 0])])[0].mean is None


def test_one_query_has_no_sd_and_a_note_says_so():
    few = [make([0.5]), make([0.5] * 9, measure="AP")]

    assert summarise(few)[0].sd is None
    assert summarise(few, population_sd=True)[0].sd == 0.0
    assert summary_findings(few) == [
        "no interval below 10 counted queries (here 1 to 9): run nDCG@10, run AP",
        "no sd with a single counted query: run nDCG@10",
    ]


def test_notes_have_the_names_of_the_table():
    named = replace(make([0.5], measure="Success@1"), label="R@1")

    assert summary_findings([named])[-1] == "no sd with a single counted query: run R@1"


def test_ten_queries_have_an_interval_and_nine_have_none():
    nine, ten = summarise([make(scores(9)), make(scores(10))])

    assert nine.ci_low is None
    assert ten.ci_low < ten.mean < ten.ci_high
    assert summary_findings([make(scores(10))], intervals="bootstrap") == []


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("count", [1, 2, 3, 39, 40, 41, 1000, 10_000])
def test_a_percentile_interval_lies_between_numpys_quantiles(count: int, level: float):
    drawn = np.random.default_rng(count).normal(size=count)
    wanted = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])

    assert percentile_interval(drawn, level) == pytest.approx(tuple(wanted), rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "freedom", [1, 2, 3, 4, 5, 9, 10, 49, 199, 500, 1999, 2000, 2001, 6979, 100_000]
)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_students_quantile_is_that_of_30_digits(freedom, level):
    assert student_quantile(level, freedom) == pytest.approx(
        distributions.t_quantile(level, freedom), rel=1e-12
    )


def test_the_t_interval_is_that_of_a_printed_table():
    numbers = scores(50)

    (row,) = summarise([make(numbers)], intervals="t")

    reach = 2.009575 * statistics.stdev(numbers.tolist()) / math.sqrt(50)
    mean = statistics.fmean(numbers.tolist())
    assert (row.ci_low, row.ci_high) == pytest.approx((mean - reach, mean + reach), rel=1e-6)


def test_only_an_arithmetic_mean_has_a_t_interval():
    others = [
        make(scores(50), summary=summary, measure=summary)
        for summary in ("sum", "median", "geometric")
    ]
    ratio = make(scores(50), weights=np.ones(50), measure="ratio")

    assert {row.ci_low for row in summarise([*others, ratio], intervals="t")} == {None}
    assert summary_findings([*others, ratio], intervals="t") == [
        "t intervals exist only for arithmetic means, not for: run sum, run median, run "
        "geometric, run ratio; try intervals='bootstrap'"
    ]


def test_no_intervals_are_made_where_none_are_requested():
    assert summarise([make(scores(50))], intervals="none")[0].ci_low is None
    assert summary_findings([make(scores(5))], intervals="none") == []


def test_the_bootstrap_agrees_with_scipys_within_sampling_error():
    numbers = scores(300, seed=3)

    (row,) = summarise([make(numbers)], seed=1, intervals="bootstrap")

    theirs = stats.bootstrap(
        (numbers,), np.mean, method="percentile", n_resamples=10_000, rng=2
    ).confidence_interval
    spread = theirs.high - theirs.low
    assert abs(row.ci_low - theirs.low) < 0.02 * spread
    assert abs(row.ci_high - theirs.high) < 0.02 * spread


def geometric(numbers):
    return math.exp(np.mean(np.log(np.maximum(numbers, 1e-5))))


@pytest.mark.parametrize("n", [10, 37, 120])
@pytest.mark.parametrize(
    ("summary", "statistic"),
    [("mean", np.mean), ("sum", np.sum), ("median", np.median), ("geometric", geometric)],
)
def test_counting_gives_what_drawing_every_resample_gives(summary, statistic, n):
    numbers = scores(n, seed=n)

    (row,) = summarise(
        [make(numbers, summary=summary)], intervals="bootstrap", resamples=500, seed=7
    )

    expected = drawn_one_by_one(
        numbers, lambda rows: statistic(numbers[rows]), seed=7, resamples=500
    )
    assert (row.ci_low, row.ci_high) == pytest.approx(tuple(expected), rel=1e-9)


def test_the_interval_of_a_ratio_of_sums_is_that_of_drawing_every_resample():
    numbers, weights = scores(60), np.arange(60.0)

    (row,) = summarise([make(numbers, weights=weights)], intervals="bootstrap", resamples=500)

    expected = drawn_one_by_one(
        numbers,
        lambda rows: (numbers[rows] * weights[rows]).sum() / weights[rows].sum(),
        resamples=500,
    )
    assert (row.ci_low, row.ci_high) == pytest.approx(tuple(expected), rel=1e-9)


@pytest.mark.parametrize("intervals", ["bootstrap-t", "bootstrap"])
def test_an_interval_depends_neither_on_its_neighbours_nor_on_the_block_size(
    intervals, monkeypatch
):
    everything = [
        make(scores(200, seed=place) * 10.0 ** (place % 5 - 2), measure=str(place), summary=summary)
        for place, summary in enumerate(["mean", "sum", "median", "geometric"] * 5)
    ]
    everything += [
        make(scores(150), measure="fewer"),
        make((scores(200) > 0.5), measure="0/1"),
        make(scores(200), measure="ratio", weights=np.arange(200.0)),
    ]

    rows = summarise(everything, intervals=intervals, resamples=300)

    assert summarise(everything, intervals=intervals, resamples=300) == rows
    assert summarise(everything[::-1], intervals=intervals, resamples=300)[::-1] == rows
    assert [summarise([each], intervals=intervals, resamples=300)[0] for each in everything] == rows
    for block in (1, 7, 299, 1000):
        monkeypatch.setattr("rankwell.stats.over_resamples", partial(over_resamples, block=block))
        assert summarise(everything, intervals=intervals, resamples=300) == rows


def test_another_seed_gives_another_interval():
    assert summarise([make(scores(50))], seed=1) != summarise([make(scores(50))], seed=2)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 12345.678])
def test_on_the_exact_grid_no_sum_is_rounded(scale):
    numbers = on_exact_grid((scores(500) * scale)[:, None])[:, 0]
    (counts,) = over_resamples(500, 20, np.copy, seed=0)

    for row in counts:
        exact = sum(
            (
                Fraction(value) * int(times)
                for value, times in zip(numbers.tolist(), row, strict=True)
            ),
            Fraction(0),
        )
        assert Fraction(float(row @ numbers)) == exact
    assert np.abs(numbers - scores(500) * scale).max() <= 500 * 2.0**-52 * scale


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -2.5])
def test_the_percentile_interval_of_a_constant_is_the_constant(value):
    (row,) = summarise([make([value] * 30)], intervals="bootstrap")

    assert (row.ci_low, row.ci_high) == (float(f"{value:.10g}"),) * 2


@pytest.mark.parametrize("intervals", ["bootstrap-t", "bootstrap", "t"])
def test_intervals_cover_the_true_mean_as_often_as_they_say(intervals):
    rng = np.random.default_rng(20)
    # A share p of zeros and a beta distribution above has the mean (1 - p) * a / (a + b).
    truth = 0.7 * 1.5 / 4.0
    simulated = [
        make(np.where(rng.random(200) < 0.3, 0.0, rng.beta(1.5, 2.5, 200))) for _ in range(2_000)
    ]

    rows = summarise(simulated, intervals=intervals, resamples=1_500)

    covered = sum(row.ci_low <= truth <= row.ci_high for row in rows) / len(rows)
    assert 0.93 <= covered <= 0.97


def test_a_ratio_whose_resamples_may_lack_all_weight_has_no_interval():
    (row,) = summarise([make([0.5] * 10, weights=[1] + [0] * 9)])

    assert row.mean == 0.5
    assert row.ci_low is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"numbers": [0.5, math.inf]}, "query 'q1' has an infinite value"),
        ({"numbers": [0.5, 0.5], "weights": [1, -1]}, "query 'q1' has the weight -1"),
        ({"numbers": [0.5, 0.5], "weights": [1, math.nan]}, "query 'q1' has the weight nan"),
        ({"numbers": [0.5, 0.5], "weights": [1]}, "shape"),
        ({"numbers": [0.5], "weights": [1], "summary": "median"}, "'median'"),
    ],
)
def test_values_that_cannot_be_summarised_are_refused_at_the_door(wrong, message):
    with pytest.raises(BadInput, match=message):
        make(**wrong)


def test_scipys_compiled_functions_leave_its_package_to_those_who_need_more():
    code = """
import sys
from rankwell.stats.intervals import special_functions, student_quantile
quantile = student_quantile(0.95, 9)
assert "scipy.special" not in sys.modules
import scipy.special, scipy.stats
assert scipy.special.stdtrit(9, 0.975) == quantile
assert scipy.special.logsumexp([0.0]) == 0.0
special_functions.cache_clear()
assert special_functions() is scipy.special
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_scipy_whose_compiled_functions_have_another_name_gives_the_same_figures():
    code = """
import sys
sys.modules["scipy.special._ufuncs"] = None
import rankwell.stats.intervals as distributions
import_module = distributions.importlib.import_module

def without_the_old_name(name):
    if name == "scipy.special":
        del sys.modules["scipy.special._ufuncs"]
    return import_module(name)

distributions.importlib.import_module = without_the_old_name
found = distributions.special_functions()
import scipy.special
assert found is scipy.special
print(distributions.student_quantile(0.95, 9), distributions.student_p(2.5, 9))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.split() == [repr(student_quantile(0.95, 9)), repr(student_p(2.5, 9))]
