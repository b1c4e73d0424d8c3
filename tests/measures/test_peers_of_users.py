"""Figures that cwl_eval and recommenders give for seeded runs; `tests/golden/make_users.py` wrote
them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.errors import BadUsage

CASES = json.loads(
    (Path(__file__).parents[1] / "golden" / "users.json").read_text(encoding="utf-8")
)["cases"]


@pytest.mark.parametrize("case", CASES)
def test_foraging_and_time_biased_users_have_the_figures_of_cwl_eval(case: dict[str, Any]):
    result = rw.evaluate(case["judgments"], case["run"], list(case["cwl"]), intervals="none")

    own = result.to_dict()["run"]
    for name, expected in case["cwl"].items():
        assert [own[query][name] for query in case["judgments"]] == pytest.approx(
            expected, abs=1e-12
        ), name


@pytest.mark.parametrize("case", CASES)
def test_r_precision_with_a_cut_off_has_the_figures_of_recommenders(case: dict[str, Any]):
    result = rw.evaluate(
        case["judgments"], case["run"], list(case["recommenders"]), intervals="none"
    )

    assert {row.label: row.mean for row in result.summary} == pytest.approx(
        case["recommenders"], abs=1e-12
    )


@pytest.mark.parametrize(
    "measure",
    ["IFT(b1=-1,max_rel=1)", "TBG(h=0,max_rel=1)", "TBG(seconds=-1,max_rel=1)", "IFT(max_rel=0)"],
)
def test_parameters_out_of_range_are_refused(measure: str):
    with pytest.raises(BadUsage):
        rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measure)
