"""What `check` says on whether a score can mean anything: each finding on a small benchmark that
has the fault, and none on benchmarks without one.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from rankwell.cli import main

ROBUST = Path(__file__).parents[4] / "shared/data/trec/robust03"
LINT = {
    "judged-for-other-runs",
    "low-ceiling",
    "no-better-than-shuffled",
    "order-hardly-matters",
    "recall-of-retrieved",
    "same-item-relevant",
    "ties-decide-score",
}
N = 30


def lint(judged: Any, **runs: Any) -> set[str]:
    """The names of findings on whether scores can mean anything."""
    return {finding.name for finding in rw.check(judged, runs)} & LINT


def benchmark(seed: int, n_items: int = 40, n_relevant: int = 12) -> dict[str, dict[str, int]]:
    """Judgments of as many items of each query, every one judged."""
    rng = np.random.default_rng(seed)
    return {
        f"q{query}": {
            f"d{query}-{item}": int(place < n_relevant)
            for place, item in enumerate(rng.permutation(n_items).tolist())
        }
        for query in range(N)
    }


def system(
    judged: dict[str, dict[str, int]], seed: int, *, skill: float = 1.0, depth: int = 20
) -> dict[str, dict[str, float]]:
    """The first items of a system, which knows what is relevant the better the more skill it has,
    and finds items that are not judged.
    """
    rng = np.random.default_rng(seed)
    run: dict[str, dict[str, float]] = {}
    for query, grades in judged.items():
        others = {f"{query}-{seed}-{item}": 0 for item in range(3)}
        scores = {
            item: skill * grade + rng.normal() for item, grade in {**grades, **others}.items()
        }
        ordered = sorted(scores, key=lambda item: -scores[item])[:depth]
        run[query] = {item: scores[item] for item in ordered}
    return run


JUDGED = benchmark(0)


def test_nothing_is_wrong_with_a_good_benchmark():
    assert lint(JUDGED) == set()
    assert lint(JUDGED, one=system(JUDGED, 1), two=system(JUDGED, 2)) == set()


@pytest.mark.skipif(not ROBUST.is_dir(), reason="../shared/data has no TREC 2003 Robust runs")
def test_nothing_is_wrong_with_real_runs_of_trec(tmp_path: Path):
    for file in ROBUST.glob("*.gz"):
        (tmp_path / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
    runs = {path.stem: path for path in tmp_path.glob("*.run")}

    assert len(runs) == 4
    assert lint(tmp_path / "qrels.txt", **runs) == set()


def test_scores_at_random_are_no_better_than_shuffled():
    assert "no-better-than-shuffled" in lint(JUDGED, mine=system(JUDGED, 1, skill=0.0))


def test_the_order_of_ties_that_makes_a_mean_is_named():
    lucky = {
        query: {f"{'z' if grade else 'a'}{item}": grade for item, grade in grades.items()}
        for query, grades in JUDGED.items()
    }
    by_id = {query: dict.fromkeys(grades, 1.0) for query, grades in lucky.items()}

    assert "ties-decide-score" in lint(lucky, mine=by_id)
    assert "ties-decide-score" not in lint(JUDGED, mine=system(JUDGED, 1))


@pytest.mark.parametrize(
    "grade", [lambda place: int(place < 2), lambda _: 1], ids=["few candidates", "all relevant"]
)
def test_candidates_that_no_order_distinguishes_are_named(grade: Any):
    judged = {
        query: {item: grade(place) for place, item in enumerate(list(grades)[:8])}
        for query, grades in JUDGED.items()
    }
    rng = np.random.default_rng(0)
    runs = {
        name: {query: {item: rng.normal() for item in grades} for query, grades in judged.items()}
        for name in ("one", "two")
    }

    found = {finding.name: finding for finding in rw.check(judged, runs)}

    assert "R@100" in found["order-hardly-matters"]
    assert len(found["order-hardly-matters"].queries) == N
    assert ("nDCG@10" in found["order-hardly-matters"]) == (grade(7) == 1)


def test_a_low_ceiling_is_named_with_its_queries():
    one_each = {
        query: {item: int(place < 1) for place, item in enumerate(grades)}
        for query, grades in JUDGED.items()
    }

    (finding,) = (each for each in rw.check(one_each) if each.name in LINT)

    assert (finding.name, finding.level) == ("low-ceiling", "info")
    assert finding.startswith("P@10 of a perfect ranking is 0.100")
    assert len(finding.queries) == N


def test_queries_of_a_low_ceiling_have_theirs_the_lowest_first(
    tmp_path: Path, monkeypatch: Any, capsys: Any
):
    def printed(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["rankwell", "check", str(qrels), *words])
        assert main() == 0
        return capsys.readouterr().out

    n_relevant = {"three": 3, "eight": 8, "two": 2, "one": 1, "also one": 1}
    judged = {
        query: {f"d{item}": int(item < number) for item in range(12)}
        for query, number in n_relevant.items()
    }
    qrels = tmp_path / "qrels.json"
    qrels.write_text(json.dumps(judged))

    (finding,) = (each for each in rw.check(judged) if each.name == "low-ceiling")

    # Of 10 items at most as many are relevant as there are; the ceiling of `eight` is 0.8.
    assert finding.startswith("P@10 of a perfect ranking is 0.300")
    assert finding.queries == ["also one", "one", "two", "three"]
    assert finding.figures == [0.1, 0.1, 0.2, 0.3]
    findings = json.loads(printed("-f", "json"))["findings"]
    (facts,) = (each for each in findings if each["name"] == "low-ceiling")
    assert (facts["queries"], facts["figures"]) == (finding.queries, finding.figures)
    worst = "; worst: 'also one' 0.100, 'one' 0.100, 'two' 0.200 [low-ceiling]"
    assert worst in printed("--verbose")
    assert worst not in printed()


def test_queries_that_no_order_distinguishes_have_the_share_that_chance_reaches():
    n_candidates = {"far": 200, "near": 110, "nearer": 105, "all": 100, "none": 50}
    judged: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"one": {}, "two": {}}
    for query, number in n_candidates.items():
        items = [f"d{item}" for item in range(number)]
        judged[query] = {item: int(item == "d3") for item in items}
        runs["one"][query] = {item: float(place) for place, item in enumerate(items)}
        runs["two"][query] = {item: -float(place) for place, item in enumerate(items)}
    judged["none"] = {"elsewhere": 1, "d3": 0}

    (finding,) = (each for each in rw.check(judged, runs) if each.name == "order-hardly-matters")

    # R@100 of a random order is 100 / candidates; where nothing relevant is among them, every
    # order is the best.
    assert finding.startswith("R@100 hardly distinguishes systems: in 4 of 5 queries")
    assert finding.queries == ["all", "none", "nearer", "near"]
    assert finding.figures == pytest.approx([1, 1, 100 / 105, 100 / 110])


def test_an_item_that_is_relevant_to_most_queries_is_named_with_what_one_list_scores():
    same = {query: {f"x{item}": int(item < 12) for item in range(40)} for query in JUDGED}

    (finding,) = (each for each in rw.check(same) if each.name in LINT)

    assert finding.name == "same-item-relevant"
    assert "relevant to 30 of 30 queries" in finding
    assert "nDCG@10 1.000" in finding
    few = {query: same[query] for query in list(same)[:9]}
    assert lint(few) == set()


def test_recall_of_what_the_runs_retrieved_is_named():
    runs = {name: system(JUDGED, seed) for seed, name in enumerate(("one", "two"), 1)}
    pooled = {
        query: {item: grades.get(item, 0) for run in runs.values() for item in run[query]}
        for query, grades in JUDGED.items()
    }

    assert lint(pooled, **runs) == {"recall-of-retrieved"}
    assert "recall-of-retrieved" not in lint(JUDGED, **runs)


@pytest.mark.parametrize("pool", [("one", "two"), ("one",)], ids=["both runs", "one of them"])
def test_recall_of_what_runs_retrieved_is_named_where_relevant_items_alone_are_judged(pool: Any):
    runs = {name: system(JUDGED, seed) for seed, name in enumerate(("one", "two"), 1)}
    relevant = {
        query: {item: grade for item, grade in grades.items() if grade}
        for query, grades in JUDGED.items()
    }
    retrieved = {
        query: {item: 1 for name in pool for item in runs[name][query] if item in grades}
        for query, grades in relevant.items()
    }

    assert lint(retrieved, **runs) == {"recall-of-retrieved"}
    assert lint(relevant, **runs) == set()
    # One run may have been given its candidates.
    assert lint(retrieved, one=runs["one"]) == set()


def test_all_relevant_items_found_near_the_top_show_no_pool():
    relevant = {query: dict.fromkeys(list(grades)[:12], 1) for query, grades in JUDGED.items()}
    rng = np.random.default_rng(0)
    runs = {
        name: {
            query: {
                item: -float(place)
                for place, item in enumerate(
                    [*rng.permutation(list(items)), *(f"{query}{name}{n}" for n in range(50))]
                )
            }
            for query, items in relevant.items()
        }
        for name in ("one", "two")
    }

    assert "recall-of-retrieved" not in lint(relevant, **runs)


def test_lists_of_the_whole_collection_show_no_pool():
    rng = np.random.default_rng(0)
    collection = [f"d{item}" for item in range(60)]
    relevant = {
        f"q{query}": dict.fromkeys(rng.permutation(collection)[:12], 1) for query in range(N)
    }
    whole = {
        query: {item: rng.normal() + (item in items) for item in collection}
        for query, items in relevant.items()
    }
    # The other lists what it finds alone.
    part = {
        query: {item: score for item, score in scores.items() if score > 0}
        for query, scores in whole.items()
    }

    assert "recall-of-retrieved" not in lint(relevant, whole=whole, part=part)


def test_warnings_are_shown_before_information_and_say_how_many_more(
    tmp_path: Path, monkeypatch: Any, capsys: Any
):
    relevant = {query: list(grades)[:2] for query, grades in JUDGED.items()}
    rows = [f"{query} 0 {item} 1\n" for query, items in relevant.items() for item in items]
    (tmp_path / "qrels.txt").write_text("".join(rows))
    for name in ("one", "two"):
        run = system(JUDGED, len(name), skill=0.0)
        (tmp_path / f"{name}.run").write_text(
            "".join(
                f"{query} Q0 {item} 1 {score} {name}\n"
                for query, scores in run.items()
                for item, score in scores.items()
            )
        )

    files = [str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run")]
    monkeypatch.setattr("sys.argv", ["rankwell", "check", *files])
    assert main() == 0
    text = capsys.readouterr().out

    marks = [line.partition(" ")[0] for line in text.splitlines()[2:] if line[:1] != " "]
    assert marks == ["warning:", "warning:", "1", "info:", "info:"]
    assert "1 more finding of these kinds: --verbose\ninfo:" in text


def test_judgments_of_the_items_of_one_run_are_named_for_the_other():
    one, two = system(JUDGED, 1), system(JUDGED, 2)
    pooled = {
        query: {item: JUDGED[query].get(item, 0) for item in list(one[query])[:10]}
        for query in JUDGED
    }

    found = [each for each in rw.check(pooled, {"one": one, "two": two}) if each.name in LINT]

    named = {each.name: each for each in found}
    assert named["judged-for-other-runs"].subject["run"] == "two"
    assert "judged-for-other-runs" not in lint(JUDGED, one=one, two=two)
