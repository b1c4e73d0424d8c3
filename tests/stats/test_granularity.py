"""Granularity: which printed shares a number of queries can make, tried against every count there
is.
"""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest

from rankwell.errors import BadUsage
from rankwell.stats.granularity import granularity_of
from rankwell.tasks.crossmodal.task import geometric_mean, mean_recall, rsum

HALVES = (ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN)


def printed(count: int, n: int, decimals: int) -> set[str]:
    """What a count out of n may be printed as in percent, by any way to round a half; written with
    long decimals.
    """
    exact = Decimal(100 * count) / Decimal(n)
    return {str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=half)) for half in HALVES}


@pytest.mark.parametrize(
    ("figure", "n", "count"),
    [
        ("57.58", 165, 95),
        ("64.24", 165, 106),
        ("90.30", 165, 149),
        ("76.63", 184, 141),
        ("75.54", 184, 139),
        ("95.65", 184, 176),
    ],
)
def test_the_figures_of_a_thesis_are_counts_of_its_queries(figure: str, n: int, count: int) -> None:
    assert granularity_of(figure, n).counts == (count,)


@pytest.mark.parametrize(
    ("figure", "n", "fits"), [("70.08", 165, (89, 127)), ("78.82", 184, (134, 170))]
)
def test_figures_that_were_measured_on_other_queries_are_found_out(
    figure: str, n: int, fits: tuple[int, int]
) -> None:
    found = granularity_of(figure, n)

    assert not found.possible
    assert figure in str(found)
    assert f"not possible with n = {n}" in str(found)
    assert granularity_of(figure, fits[1]).counts == (fits[0],)


def test_the_counts_around_an_impossible_figure_are_named_as_they_would_print() -> None:
    below, above = granularity_of("70.08", 165).nearest

    assert above[0] == below[0] + 1
    assert {below[1]} == printed(below[0], 165, 2)
    assert {above[1]} == printed(above[0], 165, 2)
    assert Decimal(below[1]) < Decimal("70.08") < Decimal(above[1])


@pytest.mark.parametrize("decimals", [0, 1, 2])
@pytest.mark.parametrize("n", [1, 3, 7, 40, 96])
def test_a_figure_is_possible_exactly_where_some_count_prints_as_it(n: int, decimals: int) -> None:
    makers: dict[str, set[int]] = {}
    for count in range(n + 1):
        for text in printed(count, n, decimals):
            makers.setdefault(text, set()).add(count)
    for step in range(100 * 10**decimals + 1):
        figure = str(Decimal(step).scaleb(-decimals))
        assert set(granularity_of(figure, n).counts) == makers.get(figure, set()), figure


def test_trailing_zeros_tell_how_exact_a_figure_is() -> None:
    assert granularity_of("90.3", 165).counts == (149,)
    assert granularity_of("90.300", 165).counts == ()
    assert granularity_of("90.30 %", 165).counts == (149,)


@pytest.mark.parametrize(
    ("figure", "n"), [("101", 10), ("many", 10), ("-1", 10), ("50", 0), ("1.2.3", 10)]
)
def test_anything_but_a_share_is_an_error(figure: str, n: int) -> None:
    with pytest.raises(BadUsage, match="expected"):
        granularity_of(figure, n)


def test_figures_of_recalls_are_what_papers_print() -> None:
    one_way, other_way = [20.0, 40.0, 50.0], [10.0, 30.0, 80.0]

    assert rsum([*one_way, *other_way]) == 230.0
    assert geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0)
    assert geometric_mean([0.0, 50.0, 90.0]) == 0.0
    assert mean_recall(one_way) == pytest.approx(float(Fraction(110, 3)))


@pytest.mark.parametrize("figure", [rsum, geometric_mean, mean_recall])
def test_a_figure_of_no_recalls_is_refused(figure) -> None:
    with pytest.raises(BadUsage, match="R@1"):
        figure([])
