"""Agreement of runs without judgments, held to sets and sums written naively."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

import rankwell
from rankwell import cli
from rankwell.errors import BadUsage, NothingToEvaluate


def drawn(seed: int, queries: int = 12) -> dict[str, dict[str, float]]:
    random = Random(seed)
    names = [f"d{place}" for place in range(15)]
    return {
        f"q{row}": {item: random.random() for item in random.sample(names, 8)}
        for row in range(queries)
    }


def first(run: dict[str, float], k: int) -> list[str]:
    return sorted(run, key=lambda item: (-run[item], item))[:k]


def rbo(left: list[str], right: list[str], k: int, p: float = 0.9) -> float:
    """The extrapolated form of two lists cut at one depth (Webber and others 2010, equation 23)."""
    agreement = [len({*left[:d]} & {*right[:d]}) / d for d in range(1, k + 1)]
    return (1 - p) * sum(a * p**d for d, a in enumerate(agreement)) + agreement[-1] * p**k


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.run" for name in "ab"]
    for seed, path in enumerate(paths):
        rankwell.write_run(rankwell.Ranking.from_dict(drawn(seed)), path)
    return paths


def test_two_runs_agree_as_their_sets_do(runs: list[Path]):
    found = {
        row["label"]: row["mean"]
        for row in rankwell.evaluate_embeddings(runs[0], runs[1], k="3,5", measures="all").summary
    }
    left, right = drawn(0), drawn(1)
    for k in (3, 5):
        lists = [(first(left[query], k), first(right[query], k)) for query in left]
        shared = [len({*a} & {*b}) for a, b in lists]
        assert found[f"Overlap@{k}"] == pytest.approx(sum(shared) / k / len(left))
        assert found[f"Jaccard@{k}"] == pytest.approx(
            sum(n / (2 * k - n) for n in shared) / len(left)
        )
        assert found[f"RBO@{k}"] == pytest.approx(sum(rbo(a, b, k) for a, b in lists) / len(left))


def test_runs_in_memory_agree_as_their_files_do(runs: list[Path]):
    of_files = rankwell.evaluate_embeddings(runs[0], runs[1], k=5).summary
    for held in ([drawn(0), drawn(1)], [rankwell.read_ranking(path) for path in runs]):
        summary = rankwell.evaluate_embeddings(held[0], {"b": held[1]}, k=5).summary
        assert [row["mean"] for row in summary] == pytest.approx([row["mean"] for row in of_files])
    assert (
        rankwell.evaluate_embeddings(
            {"q": ["a", "b"]}, {"m": {"q": ["a", "c"]}}, "Overlap@2", intervals="none"
        ).summary[0]["mean"]
        == 0.5
    )


def test_queries_of_one_run_only_are_noted():
    left, right = drawn(0), drawn(1)
    del right["q0"]
    right["q99"] = {"d1": 1.0}
    result = rankwell.evaluate_embeddings(left, {"b": right}, "Overlap@1", k=1)
    assert result.summary[0]["n"] == 12
    assert result.data_findings == (
        "b: 1 query is missing ('q0'): nothing was retrieved",
        "b: 1 query has no list of reference ('q99'), and is ignored",
    )


def test_runs_without_a_common_query_and_options_of_vectors_are_refused():
    with pytest.raises(NothingToEvaluate, match="have no query in common"):
        rankwell.evaluate_embeddings({"q": {"a": 1.0}}, {"m": {"Q": {"a": 1.0}}})
    with pytest.raises(BadUsage, match="metric='l2' applies to vectors, and reference is a run"):
        rankwell.evaluate_embeddings({"q": {"a": 1.0}}, {"m": {"q": {"a": 1.0}}}, metric="l2")


def test_the_command_compares_two_runs(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(
        "sys.argv",
        [
            "rankwell",
            "embeddings",
            "--reference",
            *map(str, runs),
            "-o",
            str(runs[0].parent / "out"),
        ],
    )
    assert cli.main() == 0
    assert "Overlap@10" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["rankwell", "report", str(runs[0].parent / "out")])
    assert cli.main() == 0


def test_the_verdict_is_by_the_deepest_cut_off_unless_measures_are_named():
    vectors = np.random.default_rng(0).normal(size=(30, 8))
    result = rankwell.evaluate_embeddings(
        vectors, {"half": vectors[:, :4], "most": vectors[:, :6]}, k=[1, 3, 5], intervals="none"
    )

    labels = [row["of"] for row in result.compare().differences]
    named = result.compare(measures=["Overlap@3", "Overlap@5"]).differences

    assert labels == ["Overlap@5", "Overlap@3", "Overlap@1"]
    assert [row["of"] for row in named] == ["Overlap@3", "Overlap@5"]
