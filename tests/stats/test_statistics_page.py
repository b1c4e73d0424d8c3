"""docs/statistics.md prints what a simulation finds: a part of it is repeated here with another seed."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
SIMULATIONS = 2000


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("statistics_page", ROOT / "tools" / "statistics_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def printed():
    """Row -> the figures after it, in per cent."""
    rows = re.findall(r"^\| ([^|]+?) \| ([\d.| ]+?) \|$", PAGE, re.MULTILINE)
    return {name: [float(cell) for cell in cells.split("|")] for name, cells in rows}


def near(percent, simulations=SIMULATIONS):
    """What another simulation of this figure finds: both have chance in them."""
    of_the_page = int(re.search(r"the figures are of ([\d,]+) simulations", PAGE)[1].replace(",", ""))
    share = min(max(percent / 100, 0.01), 0.99)
    return pytest.approx(share, abs=4.5 * math.sqrt(share * (1 - share) * (1 / simulations + 1 / of_the_page)))


@pytest.mark.parametrize("place", [0, *(pytest.param(place, marks=pytest.mark.slow) for place in range(1, 5))])
@pytest.mark.parametrize("population", ["values like nDCG@10", "differences, 55 % of them 0", "0 or 1, nine in ten 1"])
def test_intervals_cover_what_the_page_says(tool, printed, population, place):
    simulations = SIMULATIONS if tool.SIZES[place] < 1000 else 500

    boot, student = tool.coverage(population, tool.SIZES[place], simulations, resamples=2000, seed=77)

    assert boot == near(printed[f"{population}, bootstrap"][place], simulations)
    assert student == near(printed[f"{population}, Student's t"][place], simulations)


@pytest.mark.parametrize("population", ["values like nDCG@10", "differences, 55 % of them 0"])
def test_the_page_says_that_two_hundred_queries_are_enough(tool, printed, population):
    for name in ("bootstrap", "Student's t"):
        assert all(93 <= figure <= 97 for figure in printed[f"{population}, {name}"][3:])


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t", "wilcoxon", "sign"])
@pytest.mark.parametrize("place", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_false_positives_are_those_of_the_page(tool, printed, test, place):
    assert tool.false_positives(test, tool.NULL_SIZES[place], SIMULATIONS, seed=78) == near(printed[test][place])
