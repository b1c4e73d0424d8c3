"""The figures of docs/judging.md: a part of the simulations, repeated, and the promises that the printed figures keep."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import judging_page  # noqa: E402
import judging_populations  # noqa: E402

PAGE = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")


def cells(row):
    return [text.strip() for text in row.strip("|").split("|")]


def coverage_rows():
    rows = [cells(line) for line in PAGE.splitlines() if re.match(r"\| .*, (50|100) queries \|", line)]
    return {name: [tuple(map(float, each.split(" / "))) for each in found] for name, *found in rows}


def test_every_cell_of_the_page_is_unbiased_and_covers():
    found = [each for row in coverage_rows().values() for each in row]

    assert len(found) >= 6 * 7
    assert all(93 <= these <= 97 and 93 <= like <= 97 and abs(bias) < 4 for these, like, bias in found)


def test_planned_looks_call_at_most_one_study_in_twenty_wrong():
    planned = [float(cells(line)[2]) for line in PAGE.splitlines() if re.match(r"\| [23] \|", line)]

    assert len(planned) == 2
    assert max(planned) <= 5


def model_rows():
    rows = [cells(line) for line in PAGE.splitlines() if line.startswith(tuple(f"| {name} |" for name in judging_page.MODELS))]
    return {name: [tuple(map(float, each.split(" / "))) for each in found] for name, *found in rows}


def test_intervals_with_a_model_hold_and_are_hardly_wider_than_those_of_people():
    rows = model_rows()

    assert [kappa for ((kappa,), *_) in rows.values()][:3] == pytest.approx([0.2, 0.4, 0.6], abs=0.02)
    assert len(rows) == 4
    for _, (bias, alone), *found in rows.values():
        assert all(93 <= held <= 97 and width <= 1.02 for held, width in found)
        assert (abs(bias), alone) > (0.01, 0)
        assert alone < 93


@pytest.mark.slow
def test_a_model_repeated_agrees_with_the_page():
    graded = judging_populations.drawn_population("35 % relevant", relevant=0.35, noise=(2.2, 1.6, 1.6))
    two = judging_populations.QueryPopulation(graded.name, graded.ranks[..., :2], graded.gain)
    gains = judging_populations.model_gains(two, 0.6, favours=0.5)

    cell = judging_page.predicted_coverage(two.truth((0, 1)), two._replace(gain=gains).truth((0, 1)), 30, 600, seed=12)

    held, width = model_rows()["good, favours the worse run"][3]
    assert cell.held == pytest.approx(held, abs=4 * 100 * (0.95 * 0.05 / 600) ** 0.5)
    assert cell.width == pytest.approx(width, abs=0.02)


@pytest.mark.slow
def test_a_cell_repeated_agrees_with_the_page():
    graded = judging_populations.drawn_population("35 % relevant", relevant=0.35, noise=(2.2, 1.6, 1.6))
    two = judging_populations.QueryPopulation(graded.name, graded.ranks[..., :2], graded.gain)

    (cell,) = judging_page.coverage(two, 50, (0.2,), 600, seed=11)

    these, like, _ = coverage_rows()["35 % relevant, 50 queries"][2]
    # Four standard errors of a share of 95 % in 600 repetitions.
    assert (cell.these, cell.like) == pytest.approx((these, like), abs=4 * 100 * (0.95 * 0.05 / 600) ** 0.5)
    assert abs(cell.bias) < 4
