"""The figures of docs/reference/simulations/judging.md: a part of the simulations, repeated, and
the promises that the printed figures keep.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import judging_page
import judging_populations
import judging_power

ROOT = Path(__file__).parents[2]
ROBUST = ROOT.parent / "shared" / "data" / "trec" / "robust03"
PAGE = (ROOT / "docs" / "reference" / "simulations" / "judging.md").read_text(encoding="utf-8")


def cells(row):
    return [text.strip() for text in row.strip("|").split("|")]


def coverage_rows():
    rows = [
        cells(line) for line in PAGE.splitlines() if re.match(r"\| .*, (50|100) queries \|", line)
    ]
    return {name: [tuple(map(float, each.split(" / "))) for each in found] for name, *found in rows}


def test_every_cell_of_the_page_is_unbiased_and_covers():
    found = [each for row in coverage_rows().values() for each in row]

    assert len(found) >= 6 * 7
    assert all(
        93 <= these <= 97 and 93 <= like <= 97 and abs(bias) < 4 for these, like, bias in found
    )


def test_planned_looks_call_at_most_one_study_in_twenty_wrong():
    planned = [float(cells(line)[2]) for line in PAGE.splitlines() if re.match(r"\| [23] \|", line)]

    assert len(planned) == 2
    assert max(planned) <= 5


def model_rows():
    rows = [
        cells(line)
        for line in PAGE.splitlines()
        if line.startswith(tuple(f"| {name} |" for name in judging_page.MODELS))
    ]
    return {name: [tuple(map(float, each.split(" / "))) for each in found] for name, *found in rows}


def test_intervals_with_a_model_hold_and_are_hardly_wider_than_those_of_people():
    rows = model_rows()

    assert [kappa for ((kappa,), *_) in rows.values()][:3] == pytest.approx(
        [0.2, 0.4, 0.6], abs=0.02
    )
    assert len(rows) == 4
    for _, (bias, alone), *found in rows.values():
        assert all(93 <= held <= 97 and width <= 1.02 for held, width in found)
        assert (abs(bias), alone) > (0.01, 0)
        assert alone < 93


@pytest.mark.slow
def test_a_model_repeated_agrees_with_the_page():
    graded = judging_populations.drawn_population(
        "35 % relevant", relevant=0.35, noise=(2.2, 1.6, 1.6)
    )
    two = judging_populations.QueryPopulation(graded.name, graded.ranks[..., :2], graded.gain)
    gains = judging_populations.model_gains(two, 0.6, favours=0.5)

    cell = judging_page.predicted_coverage(
        two.truth((0, 1)), two._replace(gain=gains).truth((0, 1)), 30, 600, seed=12
    )

    held, width = model_rows()["good, favours the worse run"][3]
    assert cell.held == pytest.approx(held, abs=4 * 100 * (0.95 * 0.05 / 600) ** 0.5)
    assert cell.width == pytest.approx(width, abs=0.02)


@pytest.mark.slow
def test_a_cell_repeated_agrees_with_the_page():
    graded = judging_populations.drawn_population(
        "35 % relevant", relevant=0.35, noise=(2.2, 1.6, 1.6)
    )
    two = judging_populations.QueryPopulation(graded.name, graded.ranks[..., :2], graded.gain)

    (cell,) = judging_page.coverage(two, 50, (0.2,), 600, seed=11)

    these, like, _ = coverage_rows()["35 % relevant, 50 queries"][2]
    # Four standard errors of a share of 95 % in 600 repetitions.
    assert (cell.these, cell.like) == pytest.approx(
        (these, like), abs=4 * 100 * (0.95 * 0.05 / 600) ** 0.5
    )
    assert abs(cell.bias) < 4


def power_table(kind):
    """The rows of a table of power by their names: the figures before ±, None for –."""
    lines = PAGE.partition(f"| {kind} |")[2].splitlines()[2:]
    rows = [cells(line) for line in lines[: lines.index("")]]
    return {
        name: [None if each == "–" else float(each.split(" ± ")[0]) for each in found]
        for name, *found in rows
    }


def test_ours_takes_the_share_of_the_judgments_of_uniform_that_is_the_goal():
    like, these = (
        power_table("queries like these")["all pairs"],
        power_table("these queries")["all pairs"],
    )

    assert like[-1] <= 75
    assert these[-1] <= 65
    assert like[-1] == pytest.approx(100 * like[-2] / like[-4], abs=0.2)
    assert these[-1] == pytest.approx(100 * these[-2] / these[-4], abs=0.3)


def test_pairs_without_enough_queries_are_named_on_the_page():
    for name, (power, *shares) in power_table("queries like these").items():
        assert (power < 81) == (shares == [None] * 5)
        assert (power < 81) == (f"{name.partition(',')[0].capitalize()} have a power of" in PAGE)


def test_a_share_lies_between_the_points_of_the_grid_and_errors_shrink_by_common_random_numbers():
    random = np.random.default_rng(0)
    grid = judging_power.GRID
    # Each study finds the difference from a share of its own on, by ours at half of the share that
    # uniform takes.
    threshold = random.uniform(0, 1, 400)
    shares = {"depth pool": 2.0, "uniform": 1.0, "∝ |c|": 0.75, "ours": 0.5}
    found = np.array(
        [threshold[:, None] * shares[design] < np.array(grid) for design in judging_power.DESIGNS]
    )

    needed = judging_power.shares_needed(grid, found.astype(float))

    assert np.isnan(needed["depth pool"].value)
    assert str(needed["depth pool"]) == "–"
    exact = 100 * np.quantile(threshold, 0.8)
    assert (needed["uniform"].value, needed["ours"].value) == pytest.approx(
        (exact, exact / 2), abs=2
    )
    # The error of a quantile, by the density of its threshold, which is 1.
    assert needed["uniform"].error == pytest.approx(100 * (0.8 * 0.2 / 400) ** 0.5, rel=0.3)
    assert needed["ratio"].value == pytest.approx(50, abs=2)
    assert (
        needed["ratio"].error
        < 0.6 * 50 * 2**0.5 * needed["uniform"].error / needed["uniform"].value
    )


@pytest.mark.slow
@pytest.mark.skipif(
    not ROBUST.is_dir(), reason="the runs of Robust03 are not in ../shared/data/trec"
)
def test_the_power_at_the_printed_shares_is_that_of_the_page():
    robust, repetitions = judging_populations.robust_population(ROBUST), 60
    designs = ("uniform", "ours")
    like, these = power_table("queries like these"), power_table("these queries")
    shares = [each["all pairs"][at] / 100 for each in (these, like) for at in (-4, -2)]
    found = []
    for name, row in list(like.items())[1:]:
        pair = [int(number) - 1 for number in re.findall(r"\d+", name)[:2]]
        own = robust._replace(ranks=robust.ranks[..., pair])
        values = own.truth((0, 1))
        # Four standard errors of a share of at most 80 % in 4,000 draws.
        assert judging_power.power_of_all(values, 4000) == pytest.approx(
            row[0], abs=4 * 100 * (0.8 * 0.2 / 4000) ** 0.5
        )
        bounds = judging_power.intervals(own, designs, shares, repetitions, seed=13)
        found.append(judging_power.Pair(name, float(values.mean()), row[0], bounds).found)

    power = np.mean(found, axis=0).mean(axis=1)

    at = [power[design, 2 * place + design, place] for design in (0, 1) for place in (0, 1)]
    # Four standard errors of a power of 80 % in the repetitions of a pair, as if pairs were the
    # same.
    assert at == pytest.approx([0.8] * 4, abs=4 * (0.8 * 0.2 / repetitions) ** 0.5)
