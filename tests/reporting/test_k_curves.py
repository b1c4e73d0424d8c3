"""The curves over k: what is drawn, where it ends, and that it can be drawn at all."""

import copy
import math
import re
from typing import Any

import numpy as np
import pytest

from rankwell.errors import NothingToEvaluate
from rankwell.reporting.charts import draw_all
from rankwell.reporting.line_charts import k_curves

KS = (1, 3, 5, 10)
WORDS = ("Recall", "NDCG", "MRR", "MAP")


def row(
    run: str, word: str, k: int, mean: float | None, sd: float | None = 0.1, **more: Any
) -> dict[str, Any]:
    known = mean is not None
    ends = {"ci_low": mean - 0.02 if known else None, "ci_high": mean + 0.02 if known else None}
    return {
        "run": run,
        "label": f"{word}@{k}",
        "k": k,
        "mean": mean,
        "sd": sd,
        **ends,
        "n": 500,
        "unit": "share",
        **more,
    }


def world(
    *runs: str, words: tuple[str, ...] = WORDS, ks: tuple[int, ...] = KS
) -> list[dict[str, Any]]:
    return [
        row(run, word, k, 0.3 + 0.02 * k + 0.1 * place)
        for place, run in enumerate(runs)
        for word in words
        for k in ks
    ]


def values(panel: dict[str, Any], run: str) -> list[tuple[float, ...]]:
    return [
        (each["k"], each["mean"], each["low"], each["high"])
        for each in panel["data"]["values"]
        if each["run"] == run
    ]


def test_every_measure_has_a_panel_and_four_stand_in_two_rows_of_two():
    spec = k_curves(world("a", "b"))

    assert [panel["title"] for panel in spec["concat"]] == ["Recall@k", "NDCG@k", "MRR@k", "MAP@k"]
    assert spec["columns"] == 2
    assert k_curves(world("a", words=("P", "AP", "RR", "RBO", "nDCG")))["columns"] == 3


def test_a_band_is_the_mean_plus_and_minus_the_deviation_cut_to_what_a_share_can_be():
    rows = [
        row("a", "Recall", 1, 0.156, 0.363),
        row("a", "Recall", 3, 0.5, 0.25),
        row("a", "Recall", 5, 0.9, 0.3),
    ]

    spec = k_curves(rows)

    assert values(spec["concat"][0], "a") == [
        (1, 0.156, 0.0, pytest.approx(0.519)),
        (3, 0.5, 0.25, 0.75),
        (5, 0.9, pytest.approx(0.6), 1.0),
    ]
    assert "± one standard deviation" in spec["title"]["subtitle"][0]
    assert spec["title"]["subtitle"][0].endswith("cut at the measure's bounds")


def test_a_band_of_intervals_has_their_ends_and_says_so():
    spec = k_curves([row("a", "Recall", 1, 0.5), row("a", "Recall", 3, 0.6)], bands="interval")

    assert values(spec["concat"][0], "a") == [
        (1, 0.5, 0.48, 0.52),
        (3, 0.6, pytest.approx(0.58), pytest.approx(0.62)),
    ]
    assert "intervals of the means" in spec["title"]["subtitle"][0]
    assert "cut" not in spec["title"]["subtitle"][0]


def test_bounds_are_those_of_the_unit():
    percent = k_curves([row("a", "P", k, 95.0, 10.0, unit="percent") for k in KS])["concat"][0]
    rank = k_curves([row("a", "MnR", k, 7.0, 9.0, unit="rank") for k in KS])["concat"][0]
    score = k_curves([row("a", "TauAP", k, 0.2, 0.9, unit="score") for k in KS])["concat"][0]
    signed = k_curves([row("a", "TauAP", k, -0.2, 0.9) for k in KS])["concat"][0]

    assert values(percent, "a")[0][2:] == (85.0, 100.0)
    assert values(rank, "a")[0][2:] == (1.0, 16.0)
    assert values(score, "a")[0][2:] == (pytest.approx(-0.7), pytest.approx(1.1))
    assert values(signed, "a")[0][2:] == (-1.0, pytest.approx(0.7))
    titles = [panel["title"] for panel in (percent, rank, signed, score)]
    assert titles == ["P@k, percent", "MnR@k, rank", "TauAP@k", "TauAP@k"]


def test_every_k_has_a_tick_and_no_other_number_has_one():
    x = k_curves(world("a", "b"))["concat"][0]["encoding"]["x"]

    assert x["axis"]["values"] == [1, 3, 5, 10]
    assert x["scale"]["type"] == "linear"
    assert (
        k_curves(world("a", ks=(1, 10, 100)))["concat"][0]["encoding"]["x"]["scale"]["type"]
        == "log"
    )


def test_all_panels_of_one_unit_have_one_scale_that_holds_every_band():
    rows = (
        world("a")
        + [row("b", "MAP", k, 0.1, 0.0) for k in KS]
        + [row("a", "MedR", k, 40.0, 5.0, unit="rank") for k in KS]
    )

    panels = k_curves(rows)["concat"]
    domains = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in panels]

    assert domains[0] == domains[1] == domains[2] == domains[3]
    assert domains[0][0] == 0
    assert 0.6 <= domains[0][1] <= 1
    assert domains[4][1] >= 45


def test_runs_keep_their_order_and_colour_in_every_panel_and_a_legend_names_them():
    colours = [panel["encoding"]["color"] for panel in k_curves(world("zeta", "alpha"))["concat"]]

    assert all(colour == colours[0] for colour in colours)
    assert colours[0]["scale"]["domain"] == ["zeta", "alpha"]
    assert len(set(colours[0]["scale"]["range"])) == 2
    assert k_curves(world("alone"))["concat"][0]["encoding"]["color"]["legend"] is None
    assert k_curves(world("alone"))["title"]["subtitle"][0].startswith(
        "alone; lines: means over 500 queries"
    )


def test_dashes_distinguish_more_runs_than_there_are_colours():
    panel = k_curves(world(*(f"m{number}" for number in range(8)), words=("P",)))["concat"][0]
    line = next(layer for layer in panel["layer"] if "strokeDash" in layer["encoding"])
    looks = list(
        zip(
            panel["encoding"]["color"]["scale"]["range"],
            map(tuple, line["encoding"]["strokeDash"]["scale"]["range"]),
            strict=True,
        )
    )

    assert len(set(looks)) == 8


def test_means_that_do_not_exist_are_left_out_and_nothing_at_all_is_an_error():
    rows = [row("a", "RBO", 1, None, None), row("a", "RBO", 3, 0.5, None)]

    assert values(k_curves(rows)["concat"][0], "a") == [(3, 0.5, None, None)]
    assert "bands" not in k_curves(rows)["title"]["subtitle"][0]
    with pytest.raises(NothingToEvaluate, match="no row has a mean"):
        k_curves(rows[:1])


def test_input_rows_are_not_changed():
    rows = world("a", "b")
    before = copy.deepcopy(rows)

    k_curves(rows)

    assert rows == before


LONG = "a-very-long-model-name-with-everything-in-it/checkpoint-120000"


@pytest.mark.parametrize(
    ("runs", "ks"),
    [
        (("a",), KS),
        (("a", "b"), KS),
        (("a", "b", "c", LONG, "e"), KS),
        (("a", "b"), (10,)),
        (tuple("abcdefgh"), (1, 5, 100)),
    ],
    ids=["one run", "two runs", "five runs", "one k", "eight runs"],
)
@pytest.mark.parametrize("bands", ["sd", pytest.param("interval", marks=pytest.mark.slow)])
def test_the_picture_names_every_run_and_every_k_and_its_numbers_are_finite(
    runs: tuple[str, ...], ks: tuple[int, ...], bands
):
    picture = draw_all(
        [k_curves(world(*runs, ks=ks), bands=bands, title="Agreement with ada-002")]
    )[0]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)

    assert picture.png.startswith(b"\x89PNG")
    assert "NaN" not in picture.svg
    assert "Agreement with ada-002" in texts
    assert {"Recall@k", "NDCG@k", "MRR@k", "MAP@k"} <= set(texts)
    assert {str(k) for k in ks} <= set(texts)
    shown = [run if len(run) < 34 else f"{run[:16]}…{run[-16:]}" for run in runs]
    assert all(any(name in text for text in texts) for name in shown)
    # One legend for all panels.
    assert all(texts.count(name) == 1 for name in shown if len(runs) > 1)


def test_the_same_rows_give_the_same_picture():
    assert (
        draw_all([k_curves(world("a", "b"))])[0].png == draw_all([k_curves(world("a", "b"))])[0].png
    )


def test_numbers_may_be_numpys():
    rows = [row("a", "P", np.int64(k), np.float64(0.5), np.float64(0.6)) for k in KS]

    assert draw_all([k_curves(rows)])[0].svg
    assert math.isclose(values(k_curves(rows)["concat"][0], "a")[0][3], 1.0)
