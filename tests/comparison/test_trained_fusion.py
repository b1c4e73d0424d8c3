"""Fusion methods that learn: their definitions in plain Python, and training that never sees a
query that it is measured on.
"""

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import rankwell
from oracles import fusion as oracle
from rankwell import cli
from rankwell.comparison.fusion import METHODS
from rankwell.comparison.fusion.runs import fuse, tune_fusion
from rankwell.errors import BadUsage, NothingToEvaluate

Scores = dict[str, dict[str, float]]
TRAINED = [name for name in METHODS if METHODS[name].learns]
CASES = [
    "bayesfuse",
    "bayesfuse(rel=2)",
    "mapfuse",
    "mapfuse(rel=2)",
    "posfuse",
    "slidefuse(window=2)",
    "slidefuse(window=0)",
    "probfuse(segments=3)",
    "probfuse(segments=40)",
    "probfuse(segments=4,judged=True,rel=2)",
    "segfuse",
    "segfuse(ends=True)",
]


def drawn(seed: int, runs: int, queries: list[str], longest: int = 60) -> list[Scores]:
    """Runs without ties, of lists of 1 to many items; some lack a query."""
    dice = random.Random(seed)
    pool = [f"d{number}" for number in range(80)]

    def _list() -> dict[str, float]:
        items = dice.sample(pool, dice.choice([1, 2, 7, longest]))
        return dict(
            zip(
                items, (value / 8 for value in dice.sample(range(1, 2000), len(items))), strict=True
            )
        )

    return [
        {query: _list() for query in queries if dice.random() < 0.9 or query == queries[0]}
        for _ in range(runs)
    ]


def graded(seed: int, queries: list[str]) -> Scores:
    """Grades from -1 to 2 of 30 of the items; the last two queries have no relevant item."""
    dice = random.Random(seed)
    truth: Scores = {
        query: {f"d{item}": dice.choice([-1, 0, 1, 2]) for item in dice.sample(range(80), 30)}
        for query in queries
    }
    for query in queries[-2:]:
        truth[query] = dict.fromkeys(truth[query], 0)
    return truth


def scores_of(ranking: rankwell.Ranking) -> Scores:
    return {
        query: dict(
            zip(
                ranking.items[ranking.rows_of(query)],
                ranking.scores[ranking.rows_of(query)].tolist(),
                strict=True,
            )
        )
        for query in ranking.queries
    }


def lists_of(run: Scores) -> oracle.Lists:
    return {query: sorted(scored, key=lambda item: -scored[item]) for query, scored in run.items()}


def expected(method: str, runs: list[Scores], truth: Scores, teaching: list[Scores]) -> Scores:
    name, _, inner = method.rstrip(")").partition("(")
    given: dict[str, Any] = {
        key: json.loads(value.lower())
        for key, _, value in (each.partition("=") for each in inner.split(",") if each)
    }
    used = {query: each for query, each in truth.items() if any(query in run for run in teaching)}
    found: Scores = {}
    for query in {query for run in runs for query in run}:
        parts = [
            oracle.fused(name, run[query], lists_of(taught), used, **given) if query in run else {}
            for run, taught in zip(runs, teaching, strict=True)
        ]
        absent = math.log(0.001 / 0.999) if name == "bayesfuse" else 0.0
        found[query] = {
            item: math.fsum(part.get(item, absent) for part in parts)
            for item in {*parts[0], *parts[1], *parts[2]}
        }
    return found


def test_every_method_that_learns_has_a_case() -> None:
    assert {case.partition("(")[0] for case in CASES} == set(TRAINED) != set()


@pytest.mark.parametrize("method", CASES)
def test_methods_that_learn_follow_their_definitions(method: str) -> None:
    for seed in range(3):
        teaching, truth = (
            drawn(seed, 3, [f"t{n}" for n in range(6)]),
            graded(seed, [f"t{n}" for n in range(7)]),
        )
        runs = drawn(100 + seed, 3, ["q1", "q2", "q3"], longest=70)

        found = scores_of(fuse(runs, method=method, train_qrels=truth, train_runs=teaching))

        right = expected(method, runs, truth, teaching)
        assert found.keys() == right.keys()
        assert all(
            found[query] == pytest.approx(right[query], rel=1e-12, abs=1e-15) for query in right
        )


def test_values_worked_out_by_hand() -> None:
    """One training query with a relevant item at ranks 1 and 3 of four; the items to fuse are in
    the same places.
    """
    teaching = [{"t": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}, {"t": {"x": 1.0}}]
    runs = [{"q": {"e": 4.0, "f": 3.0, "g": 2.0, "h": 1.0}}, {"q": {"h": 1.0}}]

    def _fused(method: str) -> dict[str, float]:
        return scores_of(
            fuse(
                runs,
                method=method,
                train_qrels={"t": {"a": 1, "c": 1, "d": 0}},
                train_runs=teaching,
            )
        )["q"]

    assert _fused("posfuse") == {"e": 1.0, "g": 1.0, "h": 0.0, "f": 0.0}
    assert _fused("mapfuse") == pytest.approx({"e": 5 / 6, "f": 5 / 12, "g": 5 / 18, "h": 5 / 24})
    assert _fused("probfuse(segments=2)") == {"e": 0.5, "f": 0.5, "g": 0.25, "h": 0.25}
    assert _fused("probfuse(segments=2,judged=True)") == {"e": 1.0, "f": 1.0, "g": 0.25, "h": 0.25}
    assert _fused("slidefuse(window=1)") == pytest.approx(
        {"e": 1 / 2, "f": 2 / 3, "g": 1 / 3, "h": 1 / 2}
    )
    assert _fused("segfuse") == pytest.approx(
        {"e": 0.8, "f": 0.4 * 5 / 3, "g": 0.4 * 4 / 3, "h": 0.4}
    )


def test_segments_of_segfuse_have_the_sizes_of_the_paper_and_end_there_as_in_ranx() -> None:
    items = [f"d{number:02}" for number in range(22)]
    run = {item: 22.0 - place for place, item in enumerate(items)}
    truth = {"t": {items[5]: 1}}

    by_size, by_end = (
        scores_of(
            fuse(
                [{"q": run}] * 2,
                method=method,
                normalization="rank",
                train_qrels=truth,
                train_runs=[{"t": run}] * 2,
            )
        )["q"]
        for method in ("segfuse", "segfuse(ends=True)")
    )

    assert [item for item in items if by_size[item] > 0] == items[5:20]
    assert [item for item in items if by_end[item] > 0] == items[5:15]


def test_the_order_of_runs_and_of_rows_changes_nothing() -> None:
    teaching, truth, runs = (
        drawn(3, 3, ["t1", "t2", "t3"]),
        graded(3, ["t1", "t2", "t3"]),
        drawn(4, 3, ["q1", "q2"]),
    )
    named = {"a": runs[0], "b": runs[1], "c": runs[2]}

    for method in CASES:
        forth = fuse(runs, method=method, train_qrels=truth, train_runs=teaching)
        back = fuse(runs[::-1], method=method, train_qrels=truth, train_runs=teaching[::-1])
        by_name = fuse(
            named,
            method=method,
            train_qrels=dict(reversed(truth.items())),
            train_runs=dict(zip("cba", teaching[::-1], strict=True)),
        )
        assert scores_of(forth) == scores_of(back) == scores_of(by_name)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"train_runs": None}, BadUsage, "posfuse learns from other queries"),
        ({"train_qrels": None}, BadUsage, "name their judgments"),
        ({"train_runs": [{"t": {"a": 1.0}}]}, BadUsage, "1 in train_runs for 2 runs"),
        ({"train_runs": "a.run"}, BadUsage, "1 in train_runs for 2 runs"),
        (
            {"train_runs": {"1": {"t": {"a": 1.0}}, "x": {"t": {"a": 1.0}}}},
            BadUsage,
            "train_runs has 'x'",
        ),
        ({"train_qrels": {"p": {"a": 1}}}, NothingToEvaluate, "nothing to learn from"),
        ({"train_qrels": {"t": {"z": 1}}}, NothingToEvaluate, "no run has a relevant item"),
        ({"train_qrels": {"t": {"a": 0.5}}}, NothingToEvaluate, "grade 1 or more"),
        (
            {"train_qrels": {"t": {"a": 1}, "q": {"a": 1}}, "train_runs": [{"q": {"a": 1.0}}] * 2},
            BadUsage,
            "share query 'q', so that its own",
        ),
        ({"method": "rrf"}, BadUsage, "train_qrels has no effect with rrf, which learns nothing"),
        (
            {"method": "rrf", "train_qrels": None, "train_runs": None, "qrels_format": "trec"},
            BadUsage,
            "qrels_format has no effect",
        ),
        ({"method": "posfuse(rel=0)"}, BadUsage, "above 0"),
        ({"method": "probfuse"}, BadUsage, "needs segments"),
        ({"method": "probfuse(segments=2.5)"}, BadUsage, "positive integer"),
        ({"method": "slidefuse(window=-1)"}, BadUsage, "from 0 to 1000"),
        ({"weights": [1, 2]}, BadUsage, "learns from judgments, so runs have no weights"),
    ],
)
def test_training_that_makes_no_sense_is_refused(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    usual = {
        "method": "posfuse",
        "train_qrels": {"t": {"a": 1}},
        "train_runs": [{"t": {"a": 1.0, "b": 0.5}}] * 2,
    }

    with pytest.raises(error, match=said):
        fuse([{"q": {"a": 1.0}}] * 2, **usual | given)


# Tuning


def skilled(seed: int, queries: int) -> tuple[list[Scores], Scores]:
    """Runs of different quality over the same queries, and judgments."""
    dice = random.Random(seed)
    pool = [f"d{number:02}" for number in range(30)]
    judged: Scores = {
        f"q{query:02}": dict.fromkeys(dice.sample(pool, 4), 1) for query in range(queries)
    }
    runs = [
        {
            query: {
                item: round(skill * right.get(item, 0) + dice.gauss(0, 1), 4)
                for item in dice.sample(pool, 20)
            }
            for query, right in judged.items()
        }
        for skill in (0.3, 2.0, 0.8)
    ]
    return runs, judged


def only(table: Scores, kept: set[str]) -> Scores:
    return {query: each for query, each in table.items() if query in kept}


def test_each_query_is_fused_by_what_the_other_folds_teach() -> None:
    runs, judged = skilled(1, 13)

    tuned = tune_fusion(runs, judged, methods=["slidefuse"], folds=3)

    for fold in (1, 2, 3):
        own = {query for query, place in tuned.folds.items() if place == fold}
        rest = set(judged) - own
        right = fuse(
            [only(run, own) for run in runs],
            method="slidefuse",
            train_qrels=only(judged, rest),
            train_runs=[only(run, rest) for run in runs],
        )
        assert (
            only(scores_of(tuned.ranking), own)
            == only(scores_of(tuned.untuned), own)
            == scores_of(right)
        )


def test_what_chooses_for_a_fold_is_measured_on_queries_that_taught_nothing() -> None:
    runs, judged = skilled(2, 12)

    tuned = tune_fusion(runs, judged, measure="AP", methods=["posfuse"], folds=4)

    for choice in tuned.choices:
        values = []
        for query, place in tuned.folds.items():
            if place == choice.fold:
                continue
            rest = {each for each, fold in tuned.folds.items() if fold not in (place, choice.fold)}
            fused = fuse(
                [only(run, {query}) for run in runs],
                method="posfuse",
                train_qrels=only(judged, rest),
                train_runs=[only(run, rest) for run in runs],
            )
            values.append(rankwell.evaluate({query: judged[query]}, fused, "AP").summary[0].mean)
        assert math.fsum(values) / len(values) == pytest.approx(choice.training, rel=1e-12)


def test_the_labels_of_a_query_change_nothing_in_how_it_is_fused() -> None:
    runs, judged = skilled(3, 9)
    given = {"methods": ["rrf", "probfuse(segments=4)", "mapfuse"], "step": 1.0, "folds": 3}
    plain = tune_fusion(runs, judged, **given)
    others_changed = 0

    for query in judged:
        absurd = judged | {query: dict.fromkeys(list(runs[0][query])[:9], 1)}
        tuned = tune_fusion(runs, absurd, **given)
        fold = plain.folds[query]
        assert tuned.choices[fold - 1].fusion == plain.choices[fold - 1].fusion
        assert scores_of(tuned.ranking)[query] == scores_of(plain.ranking)[query]
        others_changed += scores_of(tuned.ranking) != scores_of(plain.ranking)

    assert others_changed, "labels that nothing learns from would show nothing"


def test_queries_without_judgments_are_fused_by_what_all_others_teach() -> None:
    runs, judged = skilled(4, 10)
    del judged["q03"]

    tuned = tune_fusion(runs, judged, methods=["bayesfuse"], folds=3)

    right = fuse(
        [only(run, {"q03"}) for run in runs],
        method="bayesfuse",
        train_qrels=judged,
        train_runs=[only(run, set(judged)) for run in runs],
    )
    assert scores_of(tuned.ranking)["q03"] == scores_of(right)["q03"]


def test_two_folds_leave_nothing_to_learn_from() -> None:
    runs, judged = skilled(5, 6)

    with pytest.raises(BadUsage, match="at least 3"):
        tune_fusion(runs, judged, methods=["rrf", "mapfuse"], folds=2)


# The command


def call(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["rankwell", "fuse", *line.split()])
    return cli.main()


def test_the_command_trains_on_files_and_refuses_a_query_that_it_would_fuse(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    runs, judged = skilled(6, 8)
    old, new = (
        {query for query in judged if query < "q05"},
        {query for query in judged if query >= "q05"},
    )
    for place, run in enumerate(runs):
        rankwell.write_run(
            rankwell.Ranking.from_dict(only(run, new)), tmp_path / f"{'abc'[place]}.run"
        )
        rankwell.write_run(
            rankwell.Ranking.from_dict(only(run, old)), tmp_path / f"old_{'abc'[place]}.run"
        )
    rankwell.write_judgments(rankwell.Judgments.from_dict(judged), tmp_path / "all.qrels")
    training = (
        "--train-qrels all.qrels --train-runs old_a.run old_b.run old_c.run --qrels-format trec"
    )

    assert (
        call(
            tmp_path,
            f"a.run b.run c.run -o f.csv --method slidefuse(window=1) {training}",
            monkeypatch,
        )
        == 0
    )
    said = capsys.readouterr().err
    assert (
        call(tmp_path, f"old_a.run b.run c.run -o g.csv --method mapfuse {training}", monkeypatch)
        == 2
    )
    refused = capsys.readouterr().err

    right = fuse(
        [only(run, new) for run in runs],
        method="slidefuse(window=1)",
        train_qrels=judged,
        train_runs=[only(run, old) for run in runs],
    )
    assert scores_of(rankwell.read_ranking(tmp_path / "f.csv")) == scores_of(right)
    assert "fused by slidefuse(window=1,rel=1): a, b, c; trained on all.qrels" in said
    assert "share query 'q00' and 4 more, so that its own" in refused
    assert "--train-runs" in refused
    assert "--tune QRELS" in refused
    assert not (tmp_path / "g.csv").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--tune q.qrels --train-qrels q.qrels", "no effect with --tune"),
        ("--qrels-format trec", "--qrels-format has no effect without --tune or --train-qrels"),
        ("--train-qrels q.qrels", "--train-qrels has no effect with rrf"),
    ],
)
def test_unused_options_of_training_are_an_error(
    options: str, said: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.run").write_text("q Q0 d 1 1.0 t\n")
    (tmp_path / "q.qrels").write_text("q 0 d 1\n")

    assert call(tmp_path, f"a.run b.run -o f.run {options}", monkeypatch) == 2

    assert said in capsys.readouterr().err


def test_the_command_names_the_training_for_new_queries(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    runs, judged = skilled(7, 9)
    for name, run in zip("ab", runs, strict=False):
        rankwell.write_run(rankwell.Ranking.from_dict(run), tmp_path / f"{name}.run")
    rankwell.write_judgments(rankwell.Judgments.from_dict(judged), tmp_path / "q.qrels")

    assert (
        call(
            tmp_path, "a.run b.run -o f.run --tune q.qrels --method mapfuse --folds 3", monkeypatch
        )
        == 0
    )

    said = capsys.readouterr().err
    assert (
        "for new queries: --method 'mapfuse' --train-qrels q.qrels --train-runs a.run b.run" in said
    )
