"""Figures of a confidence: equal to the oracle, to MTEB and scikit-learn, and to the oracle again
in every resample.
"""

import json
import random
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from oracles import abstention as oracle
from rankwell._native.resamples import over_resamples
from rankwell.errors import BadUsage, UnknownName
from rankwell.stats.abstention import auprc, aurc, auroc, extended_precision, nauc, risk_coverage
from rankwell.stats.intervals import percentile_interval

MTEB = json.loads(
    (Path(__file__).parents[1] / "golden" / "abstention.json").read_text(encoding="utf-8")
)["cases"]
WORDS = {"NDCG": "ndcg", "MAP": "map", "Recall": "recall", "P": "precision", "MRR": "mrr"}


def drawn(seed: int, n: int) -> tuple[list[float], list[float]]:
    """Values and confidences with ties."""
    rng = random.Random(seed)
    return [rng.randrange(9) / 8 for _ in range(n)], [float(rng.randrange(n)) for _ in range(n)]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 15, 37])
def test_both_figures_equal_the_oracle(n: int):
    for seed in range(20):
        values, confidence = drawn(seed, n)
        columns = np.array(values), np.array(confidence)

        assert nauc(*columns, resamples=0).value == pytest.approx(
            oracle.nauc(values, confidence), abs=1e-12
        )
        found = aurc(*columns, resamples=0)
        assert found.value == pytest.approx(oracle.aurc(values, confidence), abs=1e-12)
        assert found.ceiling == pytest.approx(
            oracle.aurc(sorted(values), range(n, 0, -1)), abs=1e-12
        )
        assert found.chance == pytest.approx(sum(values) / n, abs=1e-12)


ANSWERS = [
    ("AUROC", auroc, oracle.auroc),
    ("AUPRC", auprc, oracle.auprc),
    ("EP", extended_precision, oracle.extended_precision),
]


@pytest.mark.parametrize(("name", "figure", "plain"), ANSWERS)
def test_figures_of_answered_queries_equal_the_oracle_and_their_chance_is_the_mean_over_orders(
    name: str, figure, plain
):
    for seed in range(30):
        values, confidence = drawn(seed, 1 + seed % 6)
        answers = [float(value > 0.4) for value in values]

        found = figure(
            np.array(answers), np.array(confidence), **({} if name == "EP" else {"resamples": 0})
        )

        expected = plain(answers, confidence)
        assert found.value == (None if expected is None else pytest.approx(expected, abs=1e-12))
        if expected is not None:
            orders = list(permutations(range(len(answers))))
            assert found.chance == pytest.approx(
                sum(plain(answers, order) for order in orders) / len(orders), abs=1e-12
            )


def test_areas_equal_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in range(10):
        values, confidence = (np.array(each) for each in drawn(seed, 40))
        answers = np.float64(values > 0.4)
        precision, recall, _ = metrics.precision_recall_curve(answers, confidence)

        assert auroc(answers, confidence, resamples=0).value == pytest.approx(
            metrics.roc_auc_score(answers, confidence)
        )
        average = metrics.average_precision_score(answers, confidence)
        assert auprc(answers, confidence, resamples=0).value == pytest.approx(average)
        trapezoid = auprc(answers, confidence, area="trapezoid", resamples=0)
        assert trapezoid.value == pytest.approx(metrics.auc(recall, precision))


def test_the_chance_of_trapezoids_is_the_mean_over_orders():
    answers = [1.0, 0.0, 0.0, 1.0, 1.0]
    orders = list(permutations(range(5)))

    found = auprc(np.array(answers), np.arange(5.0), area="trapezoid", resamples=0)

    assert found.chance == pytest.approx(
        sum(oracle.auprc(answers, order, "trapezoid") or 0 for order in orders) / len(orders)
    )


def test_the_risk_coverage_curve_has_a_point_for_each_confidence_and_at_most_101():
    losses, confidence = np.array([0.5, 0.0, 1.0]), np.array([2.0, 2.0, 1.0])

    assert risk_coverage(losses, confidence) == [(pytest.approx(2 / 3), 0.25), (1.0, 0.5)]
    many = risk_coverage(np.ones(5000), np.arange(5000.0))
    assert (len(many), many[0][0], many[-1]) == (101, 1 / 5000, (1.0, 1.0))


RESAMPLED = [
    (nauc, oracle.nauc, False),
    (aurc, oracle.aurc, False),
    (auroc, oracle.auroc, True),
    (auprc, oracle.auprc, True),
]


@pytest.mark.parametrize(("figure", "plain", "is_answered"), RESAMPLED)
def test_the_interval_is_that_of_the_oracle_in_each_resample(figure, plain, is_answered: bool):
    values, confidence = drawn(3, 12)
    values = [float(value > 0.4) for value in values] if is_answered else values
    counts = np.concatenate(over_resamples(12, 200, np.copy, seed=5)).astype(int).tolist()
    drawn_values = (
        [value for value, times in zip(values, row, strict=True) for _ in range(times)]
        for row in counts
    )
    drawn_confidences = (
        [each for each, times in zip(confidence, row, strict=True) for _ in range(times)]
        for row in counts
    )
    expected = [plain(*each) for each in zip(drawn_values, drawn_confidences, strict=True)]

    found = figure(np.array(values), np.array(confidence), resamples=200, seed=5).interval

    assert found == pytest.approx(percentile_interval(np.array(expected), 0.95), abs=1e-9)


def test_the_order_of_the_values_is_1_and_a_reversed_one_is_negative():
    values = np.arange(20) / 19

    assert nauc(values, values).value == pytest.approx(1)
    assert nauc(values, -values).value < -0.5
    assert aurc(1 - values, values).value == aurc(1 - values, values).ceiling


@pytest.mark.parametrize("case", MTEB, ids=lambda case: f"{len(case['run'])} queries")
def test_evaluate_gives_the_figures_of_mteb(case):
    measures = [f"{word}_at_{k}" for word in WORDS.values() for k in (1, 5)]
    kinds = ["max", "std", "diff1"]

    result = rw.evaluate(
        case["judgments"],
        case["run"],
        measures,
        convention="mteb",
        confidence=kinds,
        intervals="none",
    )

    for name, value in case["nauc"].items():
        _, word, kind = name.split("_")
        family, _, k = word.partition("@")
        assert result[f"nAUC {WORDS[family]}_at_{k} {kind}"] == pytest.approx(value, abs=1e-9), name


def test_confidences_are_those_of_the_scores_of_each_query():
    judgments = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}, "d": {"x": 1}}
    scores = {"a": {"a": 9.0, "x": -4.0, "y": -5.0}, "b": {"y": -1.0, "x": -1.5}, "c": {"x": -3.0}}
    values = [1.0, 0.5, 1.0, 0.0]

    for kind in ("max", "std", "diff1"):
        result = rw.evaluate(
            judgments, scores, "RR", confidence=[kind], exclude_self=True, intervals="none"
        )
        own = {
            query: [score for item, score in each.items() if item != query]
            for query, each in scores.items()
        }
        known = [oracle.confidence(each, kind) for each in own.values()]
        # A query without items is less confident than any other, also where all scores are
        # negative.
        expected = oracle.nauc(values, [*known, min(known) - 1])
        assert result[f"nAUC RR {kind}"] == pytest.approx(expected, abs=1e-12)
        losses = [1 - value for value in values]
        assert result[f"AURC(of='RR',confidence='{kind}')"] == pytest.approx(
            oracle.aurc(losses, [*known, min(known) - 1])
        )


def test_measures_that_are_not_better_when_higher_have_neither_figure():
    result = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["MedR", "NumRet"], confidence=["max"])

    assert len(result.summary) == 2
    assert sum("no nAUC or AURC for" in note for note in result.findings) == 2


def test_only_measures_of_answered_queries_have_rows_of_them():
    run = {"q": {"a": 2.0, "b": 1.0}, "p": {"b": 3.0, "a": 1.0}}

    result = rw.evaluate(
        {"q": {"a": 1}, "p": {"a": 1}}, run, ["RR", "Success@1"], confidence=["max"]
    )

    named = [row.label for row in result.summary if row.label.startswith(("AUROC", "AUPRC", "EP"))]
    assert named == ["AUROC Success@1 max", "AUPRC Success@1 max", "EP Success@1 max"]
    assert (result[named[0]], result[named[1]], result[named[2]]) == (0, 0.5, 0)


def test_queries_that_are_answered_in_part_are_noted():
    result = rw.evaluate(
        {"q": {"a": 1}},
        {"q": {"a": 1.0, "b": 1.0}},
        "Success@1",
        confidence=["max"],
        ties="expected",
    )

    assert any(note.startswith("no AUROC, AUPRC or EP for Success@1") for note in result.findings)


def test_equal_values_have_no_nauc():
    row = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", confidence=["max"]).summary[1]

    assert (row.label, row.mean, row.ci_low) == ("nAUC RR max", None, None)


def test_resamples_of_one_figure_have_no_interval():
    confidence = np.arange(20.0)

    for found in (
        aurc(np.zeros(20), confidence, resamples=200),
        aurc(np.full(20, 0.1), confidence, resamples=200),
        auprc(np.ones(20), confidence, resamples=200),
    ):
        assert found.value is not None
        assert found.interval is None


def test_one_name_of_a_confidence_is_as_a_list_of_it_and_others_are_refused():
    judgments, run = (
        {"q": {"a": 1}, "p": {"a": 1}},
        {"q": {"a": 2.0, "b": 1.0}, "p": {"b": 3.0, "a": 1.0}},
    )

    one, several = (rw.evaluate(judgments, run, "RR", confidence=each) for each in ("max", ["max"]))

    assert str(one) == str(several)
    assert one["nAUC RR max"] == -1
    for wrong in ("foo", ["max", "foo"]):
        with pytest.raises(
            UnknownName, match="confidence='foo' names no confidence; known are max, std, diff1"
        ):
            rw.evaluate(judgments, run, "RR", confidence=wrong)
    with pytest.raises(BadUsage, match="expected a name or a list"):
        rw.evaluate(judgments, run, "RR", confidence=3)
    with pytest.raises(UnknownName, match="known are max, diff1"):
        rw.evaluate_images(confidence="std")


def test_a_run_in_shards_is_refused(tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "runs").mkdir()
    for name in "ab":
        (tmp_path / "runs" / name).write_text(f"q Q0 {name} 1 0.5 x\n")

    with pytest.raises(BadUsage, match="one file"):
        rw.evaluate(tmp_path / "qrels.txt", tmp_path / "runs", "RR", confidence=["max"])
    with pytest.raises(BadUsage, match="one process"):
        rw.evaluate(
            tmp_path / "qrels.txt", tmp_path / "runs/a", "RR", confidence=["max"], executor="here"
        )
