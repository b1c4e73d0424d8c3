"""Estimates from logs: Open Bandit Pipeline's figures, exact worlds, the forms of inputs, and what
is refused.
"""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from golden.make_logs import ESTIMATES, PROPENSITIES
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, NothingToEvaluate
from tasks.clicks import smallest

PEERS = json.loads(
    (Path(__file__).parents[2] / "golden" / "logs.json").read_text(encoding="utf-8")
)["cases"]


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def means(result: rw.Results, run: str) -> dict[str, float]:
    """The estimates of one policy."""
    return {
        row.label: row.mean
        for row in result.summary
        if row.run == run and row.get("position", "all") == "all"
    }


# ---- peers
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PEERS["bandit"])
def test_estimates_are_those_of_the_open_bandit_pipeline(case: dict[str, Any]):
    names = list(ESTIMATES.values())

    result = rw.evaluate_clicks(
        case["log"], {"mine": case["policy"]}, names, reward_model=case["model"], intervals="none"
    )

    assert set(case["figures"]) == set(ESTIMATES)
    for theirs, ours in ESTIMATES.items():
        assert means(result, "mine")[ours] == pytest.approx(case["figures"][theirs], rel=1e-12), (
            theirs
        )


@pytest.mark.parametrize("case", PEERS["slates"])
def test_values_of_queries_are_the_slate_estimators_of_the_open_bandit_pipeline(
    case: dict[str, Any],
):
    for theirs, expected in case["figures"].items():
        column = PROPENSITIES[theirs.removeprefix("sn")]

        result = rw.evaluate_clicks(
            case["log"],
            {"mine": f"mine_{column}"},
            ["IPS", "SNIPS"],
            columns={"propensity": column},
            value_of="query",
        )

        assert means(result, "mine")[
            "SNIPS" if theirs.startswith("sn") else "IPS"
        ] == pytest.approx(expected, rel=1e-12)


# ---- exact worlds
# --------------------------------------------------------------------------------------------------

LOGGING, TARGET, CHANCE = (
    {"a": 0.5, "b": 0.25, "c": 0.25},
    {"a": 0.125, "b": 0.75, "c": 0.125},
    {"a": 0.25, "b": 0.5, "c": 0.75},
)
VALUE = sum(TARGET[item] * CHANCE[item] for item in TARGET)


def every_log(n: int) -> list[tuple[float, dict[str, list[Any]]]]:
    """Every log of n rows, with its probability."""
    found = []
    for outcome in product(product(LOGGING, (0, 1)), repeat=n):
        chance = 1.0
        for item, click in outcome:
            chance *= LOGGING[item] * (CHANCE[item] if click else 1 - CHANCE[item])
        rows = [
            {"item": item, "click": click, "propensity": LOGGING[item]} for item, click in outcome
        ]
        found.append((chance, columns(rows)))
    return found


def test_ips_and_dr_are_unbiased_whatever_the_model():
    policy = {"item": list(TARGET), "probability": list(TARGET.values())}
    model = {"item": list("abc"), "estimate": [0.9, -1.0, 0.2]}
    total = dict.fromkeys(("IPS", "DR", "DM"), 0.0)
    for chance, log in every_log(2):
        found = means(
            rw.evaluate_clicks(
                log, {"mine": policy}, list(total), reward_model=model, intervals="none"
            ),
            "mine",
        )
        total = {name: total[name] + chance * found[name] for name in total}

    assert total["IPS"] == pytest.approx(VALUE)
    assert total["DR"] == pytest.approx(VALUE)
    assert total["DM"] == pytest.approx(0.125 * 0.9 - 0.75 + 0.125 * 0.2)


def test_a_perfect_model_has_the_value_by_dm_and_the_logging_policy_has_its_own():
    policy = {"item": list(TARGET), "probability": list(TARGET.values())}
    model = {"item": list(CHANCE), "estimate": list(CHANCE.values())}
    log = every_log(3)[57][1]

    result = rw.evaluate_clicks(log, {"mine": policy}, reward_model=model, intervals="none")

    assert means(result, "mine")["DM"] == pytest.approx(VALUE)
    clicks = np.mean(log["click"])
    assert {
        name: means(result, "log")[name] for name in ("CTR", "IPS", "SNIPS", "DR", "SNDR")
    } == pytest.approx(dict.fromkeys(("CTR", "IPS", "SNIPS", "DR", "SNDR"), clicks))


def drawn(n: int, *, queries: int | None = None) -> dict[str, list[Any]]:
    """A drawn log, its policy in a column."""
    rng = random.Random(n)
    rows = []
    for row in range(n):
        item = rng.choices(list(LOGGING), LOGGING.values())[0]
        query = {} if queries is None else {"query": f"q{row % queries}"}
        click = int(rng.random() < CHANCE[item])
        rows.append(
            query
            | {"item": item, "click": click, "propensity": LOGGING[item], "mine": TARGET[item]}
        )
    return columns(rows)


def test_the_order_of_rows_changes_no_byte():
    for queries in (None, 7):
        log = drawn(60, queries=queries)
        order = random.Random(1).sample(range(60), 60)
        other = {name: [values[row] for row in order] for name, values in log.items()}

        one, two = (rw.evaluate_clicks(each, ["mine"]) for each in (log, other))

        assert [dict(row) for row in one.summary] == [dict(row) for row in two.summary]


def test_rows_of_one_query_are_drawn_together():
    alone, together = (
        rw.evaluate_clicks(drawn(60, queries=queries), ["mine"], "IPS") for queries in (60, 12)
    )
    rows = [
        next(row for row in result.summary if row.run == "mine") for result in (alone, together)
    ]

    assert rows[0].mean == pytest.approx(rows[1].mean)
    assert (rows[0].n, rows[1].n) == (60, 12)
    assert rows[0].ci_low != rows[1].ci_low


def test_the_values_of_rows_average_to_the_self_normalised_estimate_and_have_its_error():
    log = drawn(400)
    weights = np.array(log["mine"]) / np.array(log["propensity"])
    clicks = np.array(log["click"])
    estimate = (weights * clicks).sum() / weights.sum()

    (row,) = (
        each
        for each in rw.evaluate_clicks(log, ["mine"], "SNIPS", intervals="t").summary
        if each.run == "mine"
    )

    assert row.mean == pytest.approx(estimate)
    # The delta method's error of a ratio.
    error = np.sqrt(((weights * (clicks - estimate)) ** 2).sum()) / weights.sum()
    assert row.sd / 20 == pytest.approx(error, rel=0.01)


def test_intervals_hold_the_true_value_in_most_logs():
    held = dict.fromkeys(("IPS", "SNIPS", "DR", "SNDR"), 0)
    model = {"item": list("abc"), "estimate": [0.3, 0.4, 0.5]}
    policy = {"item": list(TARGET), "probability": list(TARGET.values())}
    for seed in range(40):
        log = drawn(150 + seed)
        for row in rw.evaluate_clicks(
            log, {"mine": policy}, list(held), reward_model=model, seed=seed
        ).summary:
            held[row.label] += row.run == "mine" and row.ci_low <= VALUE <= row.ci_high

    # With a true share of 95 % 35 of 40 or more hold in all but 1 of 70 cases.
    assert all(count >= 35 for count in held.values()), held


def test_weights_are_diagnosed():
    log = drawn(60)
    weights = np.array(log["mine"]) / np.array(log["propensity"])

    (row,) = (
        each for each in rw.evaluate_clicks(log, ["mine"], "IPS").summary if each.run == "mine"
    )

    assert row["ess"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert (row["largest_weight"], row["mean_weight"]) == pytest.approx(
        (weights.max(), weights.mean())
    )
    wrong = log | {"propensity": [each / 2 for each in log["propensity"]]}
    assert any(
        "3 standard errors from 1" in note for note in rw.evaluate_clicks(wrong, ["mine"]).findings
    )
    few = log | {"mine": [1.0 if row == 3 else 0.01 for row in range(60)]}
    assert any("rests on few rows" in note for note in rw.evaluate_clicks(few, ["mine"]).findings)
    never = rw.evaluate_clicks(log | {"mine": [0.0] * 60}, ["mine"], ["IPS", "SNIPS"])
    assert means(never, "mine") == {"IPS": 0.0, "SNIPS": None}
    assert any("never shows what the log shows" in note for note in never.findings)


def test_items_that_the_log_never_shows_are_noted():
    policy = {"item": ["a", "b", "z"], "probability": [0.25, 0.25, 0.5]}
    (note,) = (
        each
        for each in rw.evaluate_clicks(drawn(30), {"mine": policy}).findings
        if "nowhere" in each
    )

    assert "probability 0.5" in note
    assert "'z'" in note


def test_policies_are_compared_with_each_other_and_with_the_logging_policy():
    log = drawn(200)

    found = rw.evaluate_clicks(
        log | {"same": log["propensity"]}, ["mine", "same"], ["IPS", "SNIPS"]
    )
    found = found.compare(baseline="log", resamples=200)

    rows = {(row["run"], row["of"]): row for row in found.differences}
    assert rows["same", "IPS"]["mean"] == 0
    expected = np.mean(
        (np.array(log["mine"]) / np.array(log["propensity"]) - 1) * np.array(log["click"])
    )
    assert rows["mine", "IPS"]["mean"] == pytest.approx(expected)
    assert rows["same", "SNIPS"]["mean"] == 0
    assert rows["mine", "IPS"]["p"] is not None


# ---- clicks
# --------------------------------------------------------------------------------------------------


def test_clicks_alone_have_a_rate_with_an_exact_interval_and_one_at_each_position(tmp_path: Path):
    smallest.write(tmp_path)

    result = rw.evaluate_clicks(tmp_path / "log.csv", value_of="position")

    rows = {row["position"]: row for row in result.summary}
    assert list(rows) == ["all", "1", "2", "3"]
    assert rows["all"].mean == pytest.approx(6 / 18)
    assert rows["1"].mean == pytest.approx(3 / 6)
    assert any("how many users see it" in note for note in result.findings)
    single = {"click": [1] * 4 + [0] * 16}
    (row,) = rw.evaluate_clicks(single).summary
    assert (row.ci_low, row.ci_high) == pytest.approx((0.0573, 0.4366), abs=1e-4)


def test_rewards_that_are_not_clicks_have_a_mean():
    (row,) = rw.evaluate_clicks({"reward": [0.5, -2.0, 3.0]}).summary

    assert (row.label, row.mean) == ("MeanReward", 0.5)
    with pytest.raises(BadUsage, match="0 and 1"):
        rw.evaluate_clicks({"reward": [0.5]}, measures="CTR")


# ---- forms
# --------------------------------------------------------------------------------------------------


def test_columns_tables_and_formats_agree(tmp_path: Path):
    smallest.write(tmp_path)
    duckdb = pytest.importorskip("duckdb")
    log = tmp_path / "log.csv"
    for name, form in (
        ("log.parquet", "FORMAT parquet"),
        ("log.jsonl", "FORMAT json"),
        ("log.tsv", "DELIMITER '\t'"),
    ):
        duckdb.sql(f"COPY (SELECT * FROM read_csv('{log}')) TO '{tmp_path / name}' ({form})")

    by_column = means(
        rw.evaluate_clicks(log, ["mine"], reward_model="q", expected={"mine": "v_mine"}), "mine"
    )
    by_table = means(
        rw.evaluate_clicks(
            log, {"mine": tmp_path / "policy.csv"}, reward_model=tmp_path / "model.csv"
        ),
        "mine",
    )

    assert by_table == pytest.approx(by_column)
    assert set(by_table) == {"IPS", "SNIPS", "DM", "DR", "SNDR"}
    for name in ("log.parquet", "log.jsonl", "log.tsv"):
        other = rw.evaluate_clicks(
            tmp_path / name, ["mine"], reward_model="q", expected={"mine": "v_mine"}
        )
        assert means(other, "mine") == by_column, name


def test_a_policy_may_depend_on_query_and_position():
    log = {
        "query": ["q", "q", "r"],
        "item": ["a", "b", "a"],
        "position": [1, 2, 1],
        "click": [1, 1, 0],
        "propensity": [0.5] * 3,
    }
    policy = {
        "query": ["q", "q", "q", "r"],
        "item": ["a", "a", "b", "a"],
        "position": [1, 2, 2, 1],
        "prob": [1.0, 0.25, 0.75, 1.0],
    }

    assert means(rw.evaluate_clicks(log, {"mine": policy}, "IPS"), "mine") == {
        "IPS": pytest.approx((2 + 1.5 + 0) / 3)
    }


# ---- what is refused
# --------------------------------------------------------------------------------------------------

GOOD = "query,item,position,click,propensity,mine\nq1,a,1,1,0.5,0.5\nq2,b,1,0,0.5,0.25\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "0.5,0.25",
            "0,0.25",
            r"log.csv:3, column 'propensity': '0'; expected a probability above 0",
        ),
        ("0.5,0.25", "1.5,0.25", "'1.5'; expected a probability above 0, at most 1"),
        ("0.5,0.25", "nan,0.25", "'nan'"),
        ("0.5,0.25", ",0.25", "column 'propensity': nothing"),
        ("0.5,0.25", "x,0.25", "'x'; expected"),
        ("0.5,0.25", "0.5,-0.1", "column 'mine': '-0.1'; expected a probability from 0 to 1"),
        ("0.5,0.25", "0.5,1.01", "'1.01'"),
        ("b,1,0,", "b,1,inf,", "column 'click': 'inf'; expected a finite number"),
        ("q2,b,1", ",b,1", "log.csv:3, column 'query': nothing; expected an id"),
        ("propensity", "p", "no column for the propensity"),
        ("click", "c", "no column for the reward"),
        ("propensity", "click", "two columns are named 'click'"),
        ("position", "Query", "mean the same|two columns"),
        ("mine\n", "other\n", "mine: neither a column of the log nor a file"),
    ],
)
def test_bad_rows_and_columns_are_named(tmp_path: Path, old: str, new: str, message: str):
    (tmp_path / "log.csv").write_text(GOOD.replace(old, new), encoding="utf-8")

    with pytest.raises((BadInput, BadScore), match=message):
        rw.evaluate_clicks(tmp_path / "log.csv", ["mine"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measures": "IPS"}, "is of a target policy"),
        ({"measures": "nDCG@10"}, "nDCG@10 needs rankings and judgments of their items"),
        ({"policies": ["mine"], "measures": "DR"}, "needs a model of rewards"),
        (
            {"policies": ["mine"], "measures": "DR", "reward_model": "mine"},
            "what it expects under the policy",
        ),
        ({"policies": ["log=mine"]}, "the logging policy"),
        ({"policies": ["=mine"]}, "expected a column or a file"),
        ({"policies": ["x=mine", "x=mine"]}, "two policies"),
        ({"policies": ["mine"], "expected": {"other": "mine"}}, "no policy 'other'"),
        ({"policies": ["mine"], "expected": ["mine"]}, "expected NAME=COLUMN"),
        ({"policies": 3}, "a list of them, or a mapping"),
        ({"policies": ["mine"], "measures": "IPS(clip=0)"}, "largest weight is above 0"),
        ({"columns": {"clicks": "click"}}, "is none of query, item"),
        ({"columns": {"reward": "nothing"}}, "no column 'nothing'"),
        ({"columns": {"reward": "item"}}, "'a'; expected a finite number"),
        ({"value_of": "position", "columns": {"position": "none"}}, "no column 'none'"),
        ({"policies": {"mine": {"item": ["a"], "probability": [1.0]}}}, None),
        (
            {"policies": {"mine": {"item": ["a", "a"], "probability": [0.5, 0.5]}}},
            "has a number already",
        ),
        (
            {"policies": {"mine": {"item": ["a", "b"], "probability": [0.75, 0.5]}}},
            "add up to 1.25; expected 1",
        ),
        (
            {"policies": {"mine": {"query": ["q1"], "item": ["a"], "probability": [1.0]}}},
            "no probabilities of query 'q2'",
        ),
        (
            {
                "policies": {"mine": {"item": ["a"], "probability": [0.5]}},
                "reward_model": {"item": ["a", "b"], "estimate": [1, 1]},
            },
            "all items",
        ),
        (
            {
                "policies": {"mine": {"item": ["a"], "probability": [1.0]}},
                "reward_model": {"item": ["a"], "estimate": [1.0]},
            },
            "no estimate of item 'b'",
        ),
        ({"policies": {"mine": 3}}, "expected a path, a mapping"),
        ({"policies": {"mine": {"item": ["a"], "probability": [1.0, 2.0]}}}, "different lengths"),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    tmp_path: Path, given: dict[str, Any], message: str | None
):
    (tmp_path / "log.csv").write_text(GOOD, encoding="utf-8")
    if message is None:
        assert rw.evaluate_clicks(tmp_path / "log.csv", **given).summary
        return
    with pytest.raises((BadInput, BadUsage, DuplicateItem), match=message):
        rw.evaluate_clicks(tmp_path / "log.csv", **given)


def test_evaluate_names_the_command_of_an_estimate():
    with pytest.raises(BadUsage, match="`rankwell clicks` computes it"):
        rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "IPS")


def test_values_of_queries_and_positions_need_their_columns():
    with pytest.raises(BadInput, match="no column for the query"):
        rw.evaluate_clicks({"click": [1]}, value_of="query")
    with pytest.raises(BadInput, match="no column for the position"):
        rw.evaluate_clicks({"click": [1]}, value_of="position")
    with pytest.raises(BadUsage, match="stands for all"):
        rw.evaluate_clicks({"click": [1], "position": ["all"]}, value_of="position")
    with pytest.raises(NothingToEvaluate, match="no rows"):
        rw.evaluate_clicks({"click": []})
    with pytest.raises(BadInput, match="found are"):
        rw.evaluate_clicks({"x": [1]})


def test_the_command_prints_what_python_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    smallest.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    from rankwell.cli import main

    monkeypatch.setattr("sys.argv", ["rankwell", *smallest.COMMAND.split()])

    assert main() == 0
    assert str(rw.evaluate_clicks("log.csv", ["mine"])).splitlines()[2] in capsys.readouterr().out


def test_a_model_that_no_measure_reads_is_noted():
    log = {"click": [1, 0], "propensity": [0.5, 0.5], "mine": [0.2, 0.1], "model": [0.3, 0.4]}

    by_default, named = (
        rw.evaluate_clicks(log, ["mine"], each, reward_model="model", intervals="none")
        for each in (None, "IPS")
    )

    assert [row.measure for row in by_default.summary if row.run == "mine"] == ["IPS", "SNIPS"]
    assert any(
        each.startswith("no DM, DR, SNDR: what the model expects under mine is unknown")
        for each in by_default.findings
    )
    assert any(each.startswith("reward_model is unused") for each in named.findings)


def test_rows_of_one_user_are_not_taken_for_independent_without_a_word():
    log = {
        "user_id": [f"u{row % 50}" for row in range(300)],
        "click": [row % 50 < 20 for row in range(300)],
    }
    log["click"] = [int(clicked) for clicked in log["click"]]

    by_row = rw.evaluate_clicks(log)
    by_user = rw.evaluate_clicks(log, columns={"query": "user_id"})

    (note,) = [note for note in by_row.findings if "user_id" in note]
    assert "intervals treat 300 rows of 50 users ('user_id') as independent" in note
    assert "columns='query=user_id'" in note
    assert not any("independent" in note for note in by_user.findings)
    assert by_user.summary[0].n == 50
    assert by_user.summary[0].ci_high - by_user.summary[0].ci_low > 2 * (
        by_row.summary[0].ci_high - by_row.summary[0].ci_low
    )
    assert not any(
        "independent" in note for note in rw.evaluate_clicks(log, intervals="none").findings
    )


def test_users_with_one_query_each_need_no_note():
    log = {
        "session": [f"s{row // 3}" for row in range(300)],
        "user": [row // 3 for row in range(300)],
        "click": [0, 1, 0] * 100,
    }

    assert not any("independent" in note for note in rw.evaluate_clicks(log).findings)
