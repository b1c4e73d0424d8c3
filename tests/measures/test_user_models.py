"""Measures of a user who stops, directly against ir_measures and trec_eval, and what they
refuse.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from rankwell import judged_rankings, parse_measure
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.errors import BadInput, BadUsage
from rankwell.io.formats import find_hits, read_judgments
from rankwell.measures import cwl
from rankwell.store import Source

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ir_measures-0.4.3" / "graded.json").read_text()
)
OURS = {"RBP", "ERR", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ", "BPM", "Compat"}
ENTRIES = [entry for entry in GOLDEN["measures"] if entry["measure"] in OURS]


@pytest.mark.parametrize(
    "entry", ENTRIES, ids=lambda entry: f"{entry['measure']}-{entry['params']}"
)
def test_the_measures_agree_with_ir_measures(entry: dict) -> None:
    parameters = {
        ("k" if name == "cutoff" else name): value for name, value in entry["params"].items()
    }
    inner = ",".join(f"{name}={value}" for name, value in parameters.items() if name != "k")
    measure = parse_measure(
        f"{entry['measure']}({inner})" + (f"@{parameters['k']}" if "k" in parameters else "")
    )
    view = judged_rankings(GOLDEN["qrels"], GOLDEN["run"])

    found = dict(zip(view.queries, measure(view).tolist(), strict=True))

    # gdeval.pl prints five decimals.
    wanted = dict(zip(GOLDEN["queries"], entry["values"], strict=True))
    assert found == pytest.approx(wanted, abs=6e-6 if entry["provider"] == "gdeval" else 1e-9)


def test_every_user_model_of_ir_measures_is_compared() -> None:
    assert {entry["measure"] for entry in ENTRIES} == OURS


def test_rbp_and_its_residual_print_what_trec_eval_prints(shared: Path) -> None:
    folder = shared / "trec" / "trec_eval_v10"
    judgments = read_judgments(Source(folder / "qrels.test"))
    view = JudgedRankings.join(
        judgments, find_hits(Source(folder / "results.test"), judgments).hits
    )
    words = {"rbp": "RBP(p=0.9,scale='topic')", "rbp_resid": "RBPResid(p=0.9,quirk=True)"}
    values = {
        word: dict(zip(view.queries, parse_measure(text)(view), strict=True))
        for word, text in words.items()
    }
    rows = [line.split() for line in (folder / "out.test.aq").read_text().splitlines()]
    printed = [row for row in rows if row[0] in words and row[1] != "all"]

    assert len(printed) == 6
    for word, query, figure in printed:
        assert f"{values[word][query]:.4f}" == figure


@pytest.mark.parametrize(
    "text",
    [
        "NERR8(max_rel=3)@20",
        "NERR11(max_rel=3)",
        "INST(max_rel=3)",
        "INSQ(max_rel=3)",
        "BPM(max_rel=3)@7",
    ],
)
@pytest.mark.parametrize("cells", [1, 1000, 5000])
def test_how_many_queries_are_computed_together_changes_no_byte(
    monkeypatch: pytest.MonkeyPatch, text: str, cells: int
) -> None:
    view = judged_rankings(GOLDEN["qrels"], GOLDEN["run"])
    together = parse_measure(text)(view)

    monkeypatch.setattr(cwl, "_CELLS", cells)

    assert parse_measure(text)(view).tobytes() == together.tobytes()


def test_gains_and_the_top_of_the_topic_go_together_as_in_trec_eval() -> None:
    # trec_eval 10, `-m rbp.p=0.5,1=3,2=-1` on these files: the table is 0, 3 and -1, so a gain g
    # becomes (g + 1) / 4.
    view = judged_rankings(
        {"q": {"a": 1, "b": 2, "c": 0}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    )

    found = parse_measure("RBP(p=0.5,scale='topic',gains={1:3,2:-1})")(view)

    assert found.tolist() == [0.5 * (1.0 * 1 + 0.5 * 0 + 0.25 * 0.25)]


def test_the_top_of_the_topic_is_the_highest_whole_grade_that_keeps_its_own_gain() -> None:
    # trec_eval 10, `-m rbp.p=0.5,4=1`: 0.2500, because grade 3, which nothing has, would be worth
    # 3.
    view = judged_rankings(
        {"q": {"a": 1, "b": 4, "c": 0}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    )

    assert parse_measure("RBP(p=0.5,scale='topic',gains={4:1})")(view).tolist() == [0.25]


def test_an_item_that_was_pooled_but_not_judged_gains_nothing_on_a_scale_that_goes_below_zero() -> (
    None
):
    view = judged_rankings({"q": {"a": -1.0, "b": 0.0}}, {"q": {"a": 2.0, "b": 1.0}})

    assert parse_measure("NERR8(max_rel=2,min_rel=-2)@1")(view).tolist() == [0.0]


def test_a_user_who_gains_nothing_looks_at_a_thousand_ranks() -> None:
    view = judged_rankings(
        {"q": {"a": 1}}, {"q": {f"x{rank}": -float(rank) for rank in range(999)} | {"a": -2000.0}}
    )

    assert parse_measure("NERR8(max_rel=1)@1000")(view).tolist() == [1 / 1000]
    assert parse_measure("BPM(max_rel=1)@999")(view).tolist() == [0.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("RBP(p=1)", "p=1.0"),
        ("RBP(rel=1,scale='topic')", "with rel"),
        ("RBP(max_rel=4)", "max_rel=4.0"),
        ("RBP(scale='max')", "max_rel=None"),
        ("RBP(scale='max',max_rel=-1)", "above 0"),
        ("RBPResid(p=-0.1)", "p=-0.1"),
        ("NERR8(max_rel=1,min_rel=1)@5", "min_rel=1.0, max_rel=1.0"),
        ("NERR10(p=1.5,max_rel=1)", "p=1.5"),
        ("INST(T=0,max_rel=1)", "T=0.0"),
        ("Compat(p=0)", "p=0.0"),
    ],
)
def test_a_parameter_without_meaning_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadUsage, match=says):
        parse_measure(text)(judged_rankings({"q": {"a": 1}}, {"q": {"a": 1.0}}))


def test_err_refuses_a_grade_above_its_scale() -> None:
    with pytest.raises(BadInput, match="grade 5 is above 4"):
        parse_measure("ERR@10")(judged_rankings({"q": {"a": 5}}, {}))


def test_the_residual_and_the_value_of_a_perfect_list_make_one() -> None:
    run = {"q": {f"d{rank}": -float(rank) for rank in range(30)}}
    view = judged_rankings({"q": {"d0": 1.0, "d3": 1.0, "d7": 1.0}}, run)

    found = parse_measure("RBP(p=0.9,rel=1)")(view) + parse_measure("RBPResid(p=0.9)")(view)

    assert found == pytest.approx([1.0])


def test_compatibility_breaks_ties_of_the_ideal_in_favour_of_the_ranking() -> None:
    truth = {"q": {"a": 1.0, "b": 1.0, "c": 2.0}}
    lists = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}, {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}

    assert [parse_measure("Compat")(judged_rankings(truth, run)).tolist() for run in lists] == [
        [1.0],
        [1.0],
    ]


def test_a_deep_list_is_cut_to_the_depth_of_the_model() -> None:
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1500)}}
    view = judged_rankings({"q": {"d1200": 1.0}}, run)

    assert parse_measure("INSQ(max_rel=1)")(view).tolist() == [0.0]
    assert parse_measure("INSQ(max_rel=1)@1500")(view)[0] > 0
    assert np.isfinite(parse_measure("Compat(p=0.5)")(view)).all()
