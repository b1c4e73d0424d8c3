"""Measures of sessions: `evaluate --sessions`, where a session is one observation."""

import json
import math
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import rankwell
from oracles.sessions import SessionDCG, SessionRBP
from rankwell import cli
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate

Table = dict[str, dict[str, float]]


def drawn(seed: int, sessions: int = 12) -> tuple[Table, Table, dict[str, list[str]]]:
    """Judgments, a run without ties that lacks some queries, and sessions of one to four
    queries.
    """
    dice = Random(seed)
    pool = [f"d{n}" for n in range(25)]
    named = {
        f"s{n}": [f"q{n}.{place}" for place in range(dice.randint(1, 4))] for n in range(sessions)
    }
    truth = {
        query: {item: dice.choice([0, 1, 2]) for item in dice.sample(pool, 9)}
        for each in named.values()
        for query in each
    }
    run = {
        query: dict(
            zip(dice.sample(pool, 10), map(float, dice.sample(range(100), 10)), strict=True)
        )
        for query in truth
        if dice.random() < 0.9
    }
    return truth, run, named


def of_session(
    queries: list[str], truth: Table, run: Table
) -> tuple[list[tuple[int, int, str]], dict[tuple[int, str], float]]:
    """The lists and grades of a session as its oracle takes them."""
    seen, grades = [], {}
    for place, query in enumerate(queries, 1):
        scored = run.get(query, {})
        seen += [
            (place, rank, item)
            for rank, item in enumerate(sorted(scored, key=lambda each: -scored[each]), 1)
        ]
        grades |= {(place, item): grade for item, grade in truth[query].items()}
    return seen, grades


def test_a_session_has_one_value_and_the_mean_is_over_sessions() -> None:
    truth, run, sessions = drawn(1)

    result = rankwell.evaluate(
        truth, {"run": run}, ["SessionDCG@5", "SessionRBP(b=0.6,p=0.7)"], sessions=sessions
    )

    right = {name: of_session(queries, truth, run) for name, queries in sessions.items()}
    values = result.to_dict()["run"]
    assert values.keys() == sessions.keys()
    for name, (seen, grades) in right.items():
        assert values[name]["SessionDCG@5"] == pytest.approx(SessionDCG(seen, grades, k=5))
        assert values[name]["SessionRBP(b=0.6,p=0.7)"] == pytest.approx(
            SessionRBP(seen, grades, b=0.6, p=0.7)
        )
    assert [row["n"] for row in result.summary] == [12, 12]
    assert result.summary[0].mean == pytest.approx(
        math.fsum(each["SessionDCG@5"] or 0 for each in values.values()) / 12
    )
    assert any("12 sessions" in note for note in result.findings)


def test_a_session_of_one_query_with_b_1_is_rank_biased_precision() -> None:
    truth, run, _ = drawn(2)
    alone = {query: [query] for query in truth}

    sessions = rankwell.evaluate(
        truth, {"run": run}, ["SessionRBP(b=1.0,p=0.7)"], sessions=alone
    ).summary[0]
    plain = rankwell.evaluate(truth, {"run": run}, ["RBP(p=0.7,rel=1)"]).summary[0]

    assert sessions.mean == pytest.approx(plain.mean)
    assert (sessions["ci_low"], sessions["ci_high"]) == pytest.approx(
        (plain["ci_low"], plain["ci_high"])
    )


def test_the_weights_of_session_rbp_sum_to_one() -> None:
    queries = [f"q{n}" for n in range(60)]
    truth = {query: {f"d{n:03}": 1.0 for n in range(200)} for query in queries}
    run = {query: {f"d{n:03}": -float(n) for n in range(200)} for query in queries}

    found = rankwell.evaluate(
        truth, {"run": run}, ["SessionRBP(b=0.7,p=0.8)"], sessions={"s": queries}, intervals="none"
    )

    assert found.summary[0].mean == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("ties", "value"), [("optimistic", 1.0), ("pessimistic", 0.5), ("id-desc", 0.5)]
)
def test_ties_are_placed_by_the_rule_within_each_query(ties: str, value: float) -> None:
    found = rankwell.evaluate(
        {"q": {"a": 1}},
        {"run": {"q": {"a": 1.0, "b": 1.0}}},
        ["SessionDCG"],
        sessions={"s": ["q"]},
        ties=ties,
    )

    assert found.summary[0].mean == value


def test_a_query_without_list_or_judgments_keeps_its_place() -> None:
    truth, run = {"q1": {"a": 1}, "q3": {"a": 1}}, {"q3": {"a": 1.0}}

    found = rankwell.evaluate(
        truth, {"run": run}, ["SessionDCG"], sessions={"s": ["q1", "q2", "q3"], "other": ["q9"]}
    )

    assert found.to_dict() == {
        "run": {"s": {"SessionDCG": pytest.approx(1 / (1 + math.log(3, 4)))}}
    }
    assert "1 session has no judged query and is left out" in found.findings
    assert any(note.startswith("1 query in a session has no judgments") for note in found.findings)


@pytest.mark.parametrize(
    ("measures", "sessions", "error", "said"),
    [
        (["SessionDCG"], None, BadUsage, "reads the session of each query"),
        (["AP"], {"s": ["q"]}, BadUsage, "no effect without a measure of sessions"),
        (["SessionDCG", "AP"], {"s": ["q"]}, BadUsage, "separately"),
        (["SessionDCG"], {"s": ["x"]}, NothingToEvaluate, "no query of sessions is judged"),
        (["SessionDCG"], {"s": ["q"]}, BadInput, "query 'p' is judged and in no session"),
        (
            ["SessionDCG"],
            {"s": ["q", "p"], "t": ["q"]},
            BadInput,
            "query 'q' is listed twice, in sessions 's' and 't'",
        ),
        (["SessionDCG(b=1.0)"], {"s": ["q", "p"]}, BadUsage, "above 1"),
        (["SessionRBP"], {"s": ["q", "p"]}, BadUsage, "needs b"),
        (["SessionRBP(b=0.5,max_rel=2,rel=2)"], {"s": ["q", "p"]}, BadUsage, "no rel beside it"),
    ],
)
def test_sessions_that_make_no_sense_are_refused(
    measures: list[str], sessions: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        rankwell.evaluate(
            {"q": {"a": 1}, "p": {"a": 1}}, {"run": {"q": {"a": 1.0}}}, measures, sessions=sessions
        )


def call(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["rankwell", *line.split()])
    return cli.main()


@pytest.mark.parametrize("columns", ["session", "session,place"])
def test_the_command_reads_sessions_from_a_table_in_the_order_of_rows_or_of_places(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    truth, run, sessions = drawn(3)
    rankwell.write_judgments(rankwell.Judgments.from_dict(truth), tmp_path / "q.txt")
    rankwell.write_run(rankwell.Ranking.from_dict(run), tmp_path / "a.run")
    rows = [
        f"{query},{name},{place}\n"
        for name, each in sessions.items()
        for place, query in enumerate(each)
    ]
    if "," in columns:
        Random(1).shuffle(rows)
    (tmp_path / "s.csv").write_text("query,session,place\n" + "".join(rows))

    assert (
        call(
            tmp_path,
            f"evaluate q.txt a.run -m SessionDCG --sessions s.csv:{columns} -f json -o out",
            monkeypatch,
        )
        == 0
    )

    right = rankwell.evaluate(truth, {"a": run}, ["SessionDCG"], sessions=sessions)
    assert json.loads(capsys.readouterr().out)["rows"][0]["mean"] == right.summary[0].mean
    assert "sessions" in json.loads((tmp_path / "out" / "manifest.json").read_text())["inputs"]
    assert call(tmp_path, "report out", monkeypatch) == 0


def test_a_table_of_sessions_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nope\.csv:session: no such file"):
        rankwell.evaluate(
            {"q": {"a": 1}}, {"q": ["a"]}, "SessionDCG@5", sessions=f"{tmp_path}/nope.csv:session"
        )


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        ("q,s,1\n,s,2\n", "session", "row 2 has no query"),
        ("q,,1\n", "session", "row 1 has no session"),
        ("q,s,x\n", "session,place", "row 1: 'x' in place; expected a number"),
        ("q,s,1\np,s,1\n", "session,place", "row 2: session 's' has the place 1 twice"),
        ("q,s,1\n", "", "no column is named"),
        ("q,s,1\n", "nowhere", "nowhere"),
    ],
)
def test_bad_rows_of_sessions_are_named(rows: str, columns: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query,session,place\n" + rows)
    place = f"{tmp_path / 's.csv'}:{columns}".removesuffix(":")

    with pytest.raises(BadInput, match=said):
        rankwell.evaluate(
            {"q": {"a": 1}}, {"run": {"q": {"a": 1.0}}}, ["SessionDCG"], sessions=place
        )
