"""Gains: what ir_measures 0.4.3 gives for one small list, and what has no value."""

import pytest

from rankwell import judged_rankings, parse_measure
from rankwell.errors import BadInput, BadUsage

TRUTH = {"q": {"a": 1, "b": 2, "c": 3, "d": 2}}
RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nDCG@3", 0.71493),
        ("nDCG(dcg='exp-log2')@3", 0.61512),
        ("SDCG(max_rel=3)@3", 0.58845),
        ("SDCG(max_rel=4)@3", 0.44134),
        ("infAP", 0.75),
        ("Bpref", 0.75),
        ("AP@2", 0.5),
        ("IPrec@0.5", 1.0),
    ],
)
def test_a_small_list_has_the_values_that_ir_measures_prints(text: str, value: float):
    assert parse_measure(text)(judged_rankings(TRUTH, RUN))[0] == pytest.approx(value, abs=5.1e-6)


def test_a_grade_whose_exponential_gain_is_not_a_number_is_refused():
    with pytest.raises(BadInput, match=r"grade 2000 has no gain"):
        parse_measure("nDCG(dcg='exp-log2')@5")(
            judged_rankings({"q": {"a": 2000}}, {"q": {"a": 1.0}})
        )


def test_a_scale_without_extent_is_refused():
    with pytest.raises(BadUsage, match=r"max_rel=1 and min_rel=1"):
        parse_measure("SDCG(max_rel=1,min_rel=1)@5")(judged_rankings(TRUTH, RUN))
