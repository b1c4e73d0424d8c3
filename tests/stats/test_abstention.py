"""nAUC and AURC: equal to the oracle, to MTEB's own figures, and to the oracle again in every resample."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from oracles import abstention as oracle
from rankwell.core.kernels.resamples import over_resamples
from rankwell.errors import BadUsage
from rankwell.stats.abstention import aurc, nauc
from rankwell.stats.intervals import percentile_interval

MTEB = json.loads((Path(__file__).parents[1] / "golden" / "abstention.json").read_text(encoding="utf-8"))["cases"]
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

        assert nauc(*columns, resamples=0).value == pytest.approx(oracle.nauc(values, confidence), abs=1e-12)
        found = aurc(*columns, resamples=0)
        assert found.value == pytest.approx(oracle.aurc(values, confidence), abs=1e-12)
        assert found.ceiling == pytest.approx(oracle.aurc(values, [-value for value in values]), abs=1e-12)
        assert found.chance == pytest.approx(sum(values) / n, abs=1e-12)


@pytest.mark.parametrize(("figure", "plain"), [(nauc, oracle.nauc), (aurc, oracle.aurc)])
def test_the_interval_is_that_of_the_oracle_in_each_resample(figure, plain):
    values, confidence = drawn(3, 12)
    counts = np.concatenate(over_resamples(12, 200, np.copy, seed=5)).astype(int).tolist()
    drawn_values = ([value for value, times in zip(values, row, strict=True) for _ in range(times)] for row in counts)
    drawn_confidences = ([each for each, times in zip(confidence, row, strict=True) for _ in range(times)] for row in counts)
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

    result = rw.evaluate(case["judgments"], case["run"], measures, convention="mteb", confidence=kinds, intervals="none")

    for name, value in case["nauc"].items():
        _, word, kind = name.split("_")
        family, _, k = word.partition("@")
        assert result[f"nAUC {WORDS[family]}_at_{k} {kind}"] == pytest.approx(value, abs=1e-9), name


def test_confidences_are_those_of_the_scores_of_each_query():
    judgments = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}, "d": {"x": 1}}
    scores = {"a": {"a": 9.0, "x": -4.0, "y": -5.0}, "b": {"y": -1.0, "x": -1.5}, "c": {"x": -3.0}}
    values = [1.0, 0.5, 1.0, 0.0]

    for kind in ("max", "std", "diff1"):
        result = rw.evaluate(judgments, scores, "RR", confidence=[kind], exclude_self=True, intervals="none")
        own = {query: [score for item, score in each.items() if item != query] for query, each in scores.items()}
        known = [oracle.confidence(each, kind) for each in own.values()]
        # A query without items is less confident than any other, also where all scores are negative.
        expected = oracle.nauc(values, [*known, min(known) - 1])
        assert result[f"nAUC RR {kind}"] == pytest.approx(expected, abs=1e-12)
        losses = [1 - value for value in values]
        assert result[f"AURC(of='RR',confidence='{kind}')"] == pytest.approx(oracle.aurc(losses, [*known, min(known) - 1]))


def test_measures_that_are_not_better_when_higher_have_neither_figure():
    result = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["MedR", "NumRet"], confidence=["max"])

    assert len(result.summary) == 2
    assert sum("no nAUC or AURC of" in note for note in result.notes) == 2


def test_equal_values_have_no_nauc():
    row = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", confidence=["max"]).summary[1]

    assert (row.label, row.mean, row.ci_low) == ("nAUC RR max", None, None)


def test_a_run_in_shards_is_refused(tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "runs").mkdir()
    for name in "ab":
        (tmp_path / "runs" / name).write_text(f"q Q0 {name} 1 0.5 x\n")

    with pytest.raises(BadUsage, match="one file"):
        rw.evaluate(tmp_path / "qrels.txt", tmp_path / "runs", "RR", confidence=["max"])
    with pytest.raises(BadUsage, match="one process"):
        rw.evaluate(tmp_path / "qrels.txt", tmp_path / "runs/a", "RR", confidence=["max"], executor="here")
