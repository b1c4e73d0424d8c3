"""Asking engines and judging them: quality, recall, times, failures, settings, and what is
written.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

import rankwell as rw
from oracles.retrieval import exact, percentile, recall
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName
from rankwell.stats.percentiles import percentiles
from rankwell.stats.settings import lower_bound
from rankwell.tasks.engine.comparison import costs_of, is_overloaded
from rankwell.tasks.engine.inputs import check_load, hosts_of
from rankwell.tasks.engine.loops import (
    BatchReport,
    Emit,
    RequestBatch,
    SentRequest,
    WorkerLost,
    ask_watched,
)
from rankwell.tasks.engine.measuring import EngineFailed, Journal, SentBatch
from tasks.engine import engines_here, smallest

WORDS = engines_here.WORDS
HERE = Path(__file__).parent


def queries(n: int) -> dict[str, str]:
    """Queries of two words each."""
    return {f"q{row}": f"x{row} {WORDS[row % 10]} {WORDS[row * 7 % 10]}" for row in range(n)}


def command(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    words = [sys.executable, "-m", "rankwell", *line.split()]
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def test_the_smallest_command_prints_a_row_for_each_setting(tmp_path: Path) -> None:
    smallest.write(tmp_path)

    done = command(tmp_path, f"{smallest.COMMAND} --sweep words=any,all -o out")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "RR is 0.5000 to 1.0000, over 2 settings."
    assert lines[2].split()[:2] == ["setting", "RR"]
    assert [line.split()[:2] for line in lines[3:5]] == [
        ["words=any", "1.000"],
        ["words=all", "0.500"],
    ]
    detailed = command(tmp_path, f"{smallest.COMMAND} --sweep words=any,all --verbose")
    assert "requests=closed, 1 client" in detailed.stdout
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "run.parquet",
        "timings.parquet",
        "engine.json",
        "manifest.json",
        "summary.json",
    } <= files
    assert "asked.jsonl" not in files
    timings = duckdb.sql(f"SELECT * FROM '{tmp_path}/out/timings.parquet'").fetchall()
    assert len(timings) == 4
    assert all(
        done > sent >= 0 and status == "ok" for _, _, _, _, sent, done, status, _, _ in timings
    )
    run = duckdb.sql(
        f"SELECT query, item, rank FROM '{tmp_path}/out/run.parquet' WHERE run LIKE '%any' "
        "ORDER BY ALL"
    ).fetchall()
    assert ("q1", "a", 1) in run
    description = json.loads((tmp_path / "out" / "engine.json").read_text())
    searched = [{"words": words, "k1": 1.2, "b": 0.75} for words in ("any", "all")]
    assert [each["session"]["search"] for each in description["settings"]] == searched


def test_quality_is_that_of_the_same_lists_as_a_run() -> None:
    asked, judged = queries(40), {f"q{row}": {WORDS[row % 10]: 1, "other": 2} for row in range(40)}

    result = rw.evaluate_engine(
        engines_here.search, asked, qrels=judged, measures=["nDCG@10", "RR", "P@1"], rounds=2
    )

    run = {query: engines_here.search(text, 10) for query, text in asked.items()}
    expected = rw.evaluate(judged, {"run": run}, ["nDCG@10", "RR", "P@1"], ties="input")
    for name in ("nDCG@10", "RR", "P@1"):
        assert result[name] == expected[name]


@pytest.mark.parametrize("by", ["distance", "ids"])
def test_recall_is_that_of_all_scores_and_ties_count_by_distance(by: str) -> None:
    random = np.random.default_rng(3)
    vectors = random.integers(-2, 3, (60, 3)).astype(np.float32)
    asked = random.integers(-2, 3, (25, 3)).astype(np.float32)
    asked[~asked.any(axis=1)] = 1
    items = {f"i{row}": vector.tolist() for row, vector in enumerate(vectors)}
    truth = {f"{row}": exact(query.tolist(), items) for row, query in enumerate(asked)}
    answers = {query: [f"i{each}" for each in random.permutation(60)[:20]] for query in truth}
    place = {tuple(query.tolist()): f"{row}" for row, query in enumerate(asked)}
    lists = {
        query: sorted(scores, key=lambda item: (-scores[item], random.random()))[:20]
        for query, scores in truth.items()
    }
    run = {query: {item: truth[query][item] for item in lists[query]} for query in truth}
    del place

    result = rw.evaluate_engine(
        lambda query, k: answers[query][:k],
        {query: query for query in truth},
        truth=rw.read_ranking(run),
        rounds=1,
        depth=5,
    )

    name = "Recall@5" if by == "distance" else "Recall@5(by='ids')"
    values = next(each for each in result.values if each.measure == name)
    for query, value in zip(values.queries, values.values.tolist(), strict=True):
        if by == "distance":
            assert value == recall(answers[query][:5], truth[query], 5, by=by)
        else:
            assert value == len(set(answers[query][:5]) & set(lists[query][:5])) / 5
    row = next(row for row in result.summary if row["measure"] == name)
    assert row["ci_low"] < row["mean"] < row["ci_high"]


def test_one_failure_fails_the_call_and_allowed_ones_count_as_empty() -> None:
    def fails(query: str, k: int) -> list[str]:
        if "six" in query:
            raise RuntimeError("out of order")
        return engines_here.search(query, k)

    asked, judged = queries(20), {f"q{row}": [WORDS[row % 10]] for row in range(20)}
    failing = sum("six" in text for text in asked.values())

    with pytest.raises(
        EngineFailed,
        match=rf"{failing} queries failed: 'q.*The first: .*out of order\. No figure is given",
    ):
        rw.evaluate_engine(fails, asked, qrels=judged, measures="R@10", rounds=1)
    result = rw.evaluate_engine(
        fails, asked, qrels=judged, measures="R@10", rounds=1, allow_failures=failing
    )

    assert result["R@10"] == sum("six" not in text for text in asked.values()) / 20
    assert any("count as empty (allow_failures)" in note for note in result.findings)
    assert not np.isfinite(
        next(each for each in result.values if each.measure == "latency").values[6]
    )


def test_a_dead_server_gives_no_figure_and_the_next_call_asks_the_rest_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in queries(60).items())
    )
    (tmp_path / "down").touch()
    line = "engine run engines_here:dies --queries queries.tsv -o out --rounds 1 --warm-up 0"

    failed = command(tmp_path, line)

    first = (tmp_path / "log.txt").read_text().split("\n")[:-1]
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert "queries failed: 'q" in failed.stderr
    assert "nobody listens" in failed.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["asked.jsonl"]
    (tmp_path / "down").unlink()
    (tmp_path / "log.txt").unlink()

    done = command(tmp_path, line)

    again = (tmp_path / "log.txt").read_text().split("\n")[:-1]
    answered = {text for text in first if int(text.split()[0][1:]) < 30}
    assert done.returncode == 0, done.stderr
    assert sorted(again) == sorted(set(queries(60).values()) - answered)
    assert not (tmp_path / "out" / "asked.jsonl").exists()


def test_a_query_without_end_is_a_timeout_and_the_others_are_asked(tmp_path: Path) -> None:
    asked = {"a": "x1 six", "b": "x2 seven", "c": "x3 eight"}
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in asked.items())
    )
    line = (
        "engine run engines_here:hangs --queries queries.tsv --rounds 1 --request-timeout 0.5 "
        "--warm-up 0 --allow-failures 1 -o out"
    )

    done = command(tmp_path, line)

    assert done.returncode == 0, done.stderr
    found = duckdb.sql(
        f"SELECT query, status, returned FROM '{tmp_path}/out/timings.parquet' ORDER BY query"
    ).fetchall()
    assert found == [("a", "timeout", None), ("b", "ok", 1), ("c", "ok", 1)]


def test_a_query_that_ends_the_worker_has_failed_and_the_others_are_asked(tmp_path: Path) -> None:
    asked = {"a": "x1 six", "b": "x2 seven", "c": "x3 eight"}
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in asked.items())
    )

    done = command(
        tmp_path,
        "engine run engines_here:ends --queries queries.tsv --rounds 1 --allow-failures 1 -o out",
    )

    assert done.returncode == 0, done.stderr
    assert (
        "1 query failed; those without any answer count as empty (--allow-failures)" in done.stderr
    )
    found = duckdb.sql(
        f"SELECT query, status, returned, error FROM '{tmp_path}/out/timings.parquet' ORDER "
        "BY query"
    ).fetchall()
    assert found == [
        ("a", "failed", None, "the worker process of the engine ended (exit code 3)"),
        ("b", "ok", 1, None),
        ("c", "ok", 1, None),
    ]


def test_calls_of_an_engine_that_ends_now_and_then_keep_what_was_answered(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in queries(60).items())
    )
    line = "engine run engines_here:tires --queries queries.tsv --rounds 1 --warm-up 0 -o out"

    failed = command(tmp_path, line)
    done = command(tmp_path, line)

    assert (failed.returncode, failed.stdout) == (2, "")
    assert "2 queries failed: 'q" in failed.stderr
    assert "ended (SIGKILL). No figure" in failed.stderr
    assert done.returncode == 0, done.stderr
    asked = duckdb.sql(
        f"SELECT query FROM '{tmp_path}/out/timings.parquet' WHERE status = 'ok'"
    ).fetchall()
    assert sorted(query for (query,) in asked) == sorted(queries(60))


class _LostHost:
    """A host whose worker ends at every query."""

    def __init__(self) -> None:
        self.opened = 0

    def open(self) -> None:
        self.opened += 1

    def ask(self, batch: RequestBatch, emit: Emit) -> BatchReport:
        if batch.queries:
            raise WorkerLost(
                [SentRequest(batch.queries[0], None, 0, 1, "failed", "it ended")], retries=1
            )
        return BatchReport([], 0, None, None, 0, {})


def test_a_worker_that_ends_at_every_query_is_not_started_for_ever() -> None:
    host, found = _LostHost(), list[SentRequest]()

    ask_watched(host, RequestBatch(0, {}, range(100), ()), found.extend)

    assert host.opened == 20
    assert [each.status for each in found] == ["failed"] * 10 + ["not_asked"] * 90
    assert found[-1].error == "20 queries in a row failed before"


def test_percentiles_are_those_of_all_times_after_the_first_round() -> None:
    result = rw.evaluate_engine(engines_here.search, queries(210), rounds=3)

    measured = result.measured
    times = [
        1000 * (each.done - each.sent)
        for number in (2, 3)
        for each in measured.batches[0, number].requests
    ]
    rows = {row["measure"]: row for row in result.summary}
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert rows[name]["mean"] == percentile(times, share)
        assert rows[name]["label"] == f"{name} service time"
        assert rows[name]["ci_low"] <= rows[name]["mean"] <= rows[name]["ci_high"]
        assert rows[name]["n"] == 420
    first = [1000 * (each.done - each.sent) for each in measured.batches[0, 1].requests]
    assert rows["first p50"]["mean"] == percentile(first, 0.5)


def test_a_p99_of_few_requests_is_not_given() -> None:
    result = rw.evaluate_engine(engines_here.search, queries(60))

    rows = {row["measure"]: row for row in result.summary}
    assert rows["p99"]["mean"] is None
    assert rows["p95"]["mean"] is not None
    assert any("p99 needs 400 requests over 200 queries" in note for note in result.findings)


def test_intervals_of_percentiles_hold_the_value_and_depend_on_the_seed_alone() -> None:
    times = np.random.default_rng(0).lognormal(size=(4, 50))
    times[2, 7] = np.nan

    (one,), (same,) = percentiles(times, [0.9], seed=4), percentiles(times, [0.9], seed=4)

    assert one == same
    assert one.n == 199
    assert one.interval[0] <= one.value <= one.interval[1]
    assert percentiles(times[:, :5], [0.5])[0].interval is None
    assert percentiles(np.full((2, 3), np.nan), [0.5]) == [(None, None, 0)]


@pytest.mark.slow
def test_open_loop_percentiles_are_those_of_the_log_of_the_server() -> None:
    asked = queries(1000)
    engines_here.LOG.clear()

    result = rw.evaluate_engine(engines_here.pauses, asked, rounds=2, rate=400.0, warm_up=0, seed=3)

    requests = result.measured.batches[0, 2].requests
    done = dict(engines_here.LOG[-1000:])
    times = [
        1000 * (done[asked[result.measured.inputs.queries.ids[each.query]]] - each.planned)
        for each in requests
    ]
    rows = {row["measure"]: row for row in result.summary}
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert rows[name]["label"] == f"{name} latency"
        assert rows[name]["mean"] == pytest.approx(percentile(times, share), abs=2)
    assert rows["p99"]["mean"] > 300


def test_a_rate_above_capacity_is_overloaded_and_has_no_percentiles() -> None:
    def slow(query: str, k: int) -> list[str]:
        with engines_here.LOCK:
            engines_here.time.sleep(0.01)
        return engines_here.search(query, k)

    result = rw.evaluate_engine(slow, queries(60), rounds=2, rate=1000.0, warm_up=0)

    assert {row["measure"] for row in result.summary}.isdisjoint({"p50", "p95", "p99"})
    assert any("overloaded at 1000 requests a second" in note for note in result.findings)


@pytest.mark.parametrize(
    ("capacity", "delay", "overloaded"),
    [(0.97, 0.0, True), (1.05, 0.0, False), (1.05, 0.015, False)],
)
def test_a_queue_that_grows_is_distinguished_from_the_delays_of_a_busy_machine(
    capacity: float, delay: float, overloaded: bool
) -> None:
    requests, free = list[SentRequest](), 0.0
    for number in range(1000):
        planned = number / 400
        sent = max(planned + delay, free)
        free = sent + 1 / (400 * capacity)
        requests.append(SentRequest(number, planned, sent, free, "ok"))

    assert is_overloaded(requests) is overloaded


def test_a_queue_grows_even_where_the_newest_request_is_answered_first() -> None:
    arrivals, waiting, requests, now = (
        [number / 400 for number in range(400)],
        list[float](),
        list[SentRequest](),
        0.0,
    )
    while arrivals or waiting:
        now = now if waiting else max(now, arrivals[0])
        while arrivals and arrivals[0] <= now:
            waiting.append(arrivals.pop(0))
        planned, now = waiting.pop(), now + 1 / 300
        requests.append(SentRequest(len(requests), planned, planned, now, "ok"))

    assert is_overloaded(requests)


def test_the_cheapest_setting_is_tested_from_the_last_down_and_the_best_by_all_pairs() -> None:
    from rankwell.tasks.engine.comparison import best_settings, cheapest

    random = np.random.default_rng(1)
    recalls = [np.full(400, 0.9), random.binomial(10, 0.995, 400) / 10, np.ones(400), np.ones(400)]
    names = ["a", "b", "c", "d"]

    found = cheapest(recalls, names, [1.0, 2.0, 3.0, 4.0], 0.95, "p50", grid=False, seed=0)
    none = cheapest(recalls[:1], names[:1], [1.0], 0.95, "p50", grid=False, seed=0)
    values = np.column_stack([random.random(60)] * 3) + np.array([0.0, 0.01, 0.5])
    queries_of = [f"q{row}" for row in range(60)]
    best = best_settings(values, queries_of, names[:3], "nDCG@10", "share", 0, lower=False, seed=0)
    own = best_settings(values, queries_of, names[:3], "nDCG@10", "share", 2, lower=False, seed=0)

    assert found.words == ["rejected", "accepted", "accepted", "accepted"]
    assert found.setting == 1
    assert found.sentence.startswith(
        "The cheapest setting with a recall of 0.95 by p50 is b; its lower bound is 0.9"
    )
    assert none.setting is None
    assert none.sentence.startswith(
        "No setting reaches a recall of 0.95; the best lower bound is 0."
    )
    assert best is not None
    assert best.is_best == [False, False, True]
    assert best.sentence.startswith(
        "c is the best setting by nDCG@10, significantly better than 2 of the 2 others. In "
        "cross-validation it gains +0.5000 over a"
    )
    assert best.sentence.endswith(", +0.5000 on the queries that chose it.")
    assert best.gain["out_of_fold"] == pytest.approx(0.5)
    assert own is not None
    assert own.sentence.startswith("c is the best setting by nDCG@10, ")
    assert own.sentence.endswith("; it is the baseline.")
    for others, words in ((1, "the other"), (2, "any other")):
        alike = np.column_stack([random.random(60) for _ in range(1 + others)])
        setting = best_settings(
            alike, queries_of, names[: 1 + others], "RR", "share", 0, lower=False, seed=0
        )
        assert setting is not None
        assert f" by RR, but not significantly better than {words}" in setting.sentence
    assert (
        best_settings(
            values[:19], queries_of, names[:3], "nDCG@10", "share", 0, lower=False, seed=0
        )
        is None
    )


def test_the_star_is_explained_only_where_a_setting_has_one(tmp_path: Path) -> None:
    smallest.write(tmp_path)
    (tmp_path / "exact.run").write_text("q1 Q0 a 1 2 x\nq2 Q0 b 1 2 x\n", encoding="utf-8")
    line = f"{smallest.COMMAND} --sweep words=any,all --truth exact.run --depth 1"

    none = command(tmp_path, f"{line} --recall 0.95")

    assert "No setting reaches a recall of 0.95" in none.stdout, none.stderr
    assert "*" not in none.stdout


def test_the_bound_in_the_sentence_is_on_the_side_of_the_target_that_the_test_found() -> None:
    from rankwell.tasks.engine.comparison import cheapest

    random = np.random.default_rng(4)
    lists = [np.clip(random.normal(0.945, 0.06, 120), 0, 1) for _ in range(12)]
    own = max(lower_bound(each) for each in lists)
    names, costs = [f"s{place}" for place in range(12)], [1.0] * 12

    none = cheapest(lists, names, costs, own - 0.002, "p50", grid=True, seed=0)
    last = cheapest([np.ones(120), lists[0]], names[:2], costs[:2], 0.99, "p50", grid=False, seed=0)
    some = cheapest(
        [np.ones(120), *lists], ["s", *names], [0.5, *costs], own - 0.002, "p50", grid=True, seed=0
    )

    bound = max(lower_bound(each, tests=12) for each in lists)
    assert bound < own - 0.002
    assert (
        none.sentence
        == f"No setting reaches a recall of {own - 0.002:g}; the best lower bound is {bound:.4f} "
        "(Holm)."
    )
    assert last.sentence.startswith(
        "No setting reaches a recall of 0.99; the lower bound of s1 is "
        f"{lower_bound(lists[0]):.4f} ("
    )
    assert some.setting == 0
    assert (
        f"is s; its lower bound is {lower_bound(np.ones(120), tests=13):.4f} (Holm)."
        in some.sentence
    )


def test_filters_reach_the_engine_and_exact_results_alike(tmp_path: Path) -> None:
    rows = "".join(
        f"d{row}\tparse {WORDS[row % 10]}\t{'red' if row % 4 else 'blue'}\n" for row in range(40)
    )
    (tmp_path / "items.tsv").write_text("id\ttext\tcolour\n" + rows)
    (tmp_path / "queries.tsv").write_text("id\ttext\tcolour\nq\tparse\tblue\n")

    done = command(
        tmp_path,
        "engine run sqlite-fts5 --documents items.tsv --queries queries.tsv --filter colour "
        "--rounds 1 --depth 40 -o out",
    )

    assert done.returncode == 0, done.stderr
    found = duckdb.sql(f"SELECT item FROM '{tmp_path}/out/run.parquet'").fetchall()
    assert {item for (item,) in found} == {f"d{row}" for row in range(0, 40, 4)}


def test_lists_that_are_not_what_they_should_be_are_noted_or_refused() -> None:
    state = iter(range(1000))
    asked = queries(12)

    changing = rw.evaluate_engine(lambda query, k: [f"i{next(state)}"], asked, rounds=2)
    rising = rw.evaluate_engine(
        lambda query, k: [("a", 1.0), ("b", 2.0)],
        asked,
        rounds=1,
        qrels={"q1": ["b"]},
        measures="RR",
    )

    assert any(
        "the lists of 12 of 12 queries differ between rounds" in note for note in changing.findings
    )
    assert any("scores rise down the list in 12 of 12 queries" in note for note in rising.findings)
    assert rising["RR"] == 0.5
    with pytest.raises(BadInput, match="returned item 'a' twice; duplicates='first'"):
        rw.evaluate_engine(lambda query, k: ["a", "b", "a"], asked, rounds=1)
    kept = rw.evaluate_engine(
        lambda query, k: ["a", "b", "a"],
        asked,
        rounds=1,
        duplicates="first",
        qrels={"q1": ["b"]},
        measures="P@2",
    )
    assert kept["P@2"] == 0.5


def test_chunks_are_collapsed_to_their_documents() -> None:
    items = {"c1": "x", "c2": "y", "c3": "z"}
    table = [
        {"id": item, "text": text, "document": "d1" if item < "c3" else "d2"}
        for item, text in items.items()
    ]
    pandas = pytest.importorskip("pandas", reason="could not import pandas")

    result = rw.evaluate_engine(
        lambda query, k: ["c1", "c2", "c3"],
        {"q": "?"},
        documents=pandas.DataFrame(table),
        collapse="document",
        qrels={"q": ["d2"]},
        measures="RR",
        rounds=1,
    )

    assert result["RR"] == 0.5


@pytest.mark.parametrize(
    ("options", "problem", "error"),
    [
        ({"queries": None}, "no queries; give queries", BadUsage),
        ({"rounds": 0}, "rounds=0: expected an integer from 1", BadUsage),
        ({"rate": 0.0}, "rate=0.0: expected a positive number", BadUsage),
        ({"recall": 1.0}, "recall=1.0: expected a number between 0 and 1", BadUsage),
        ({"recall": 0.9}, "recall needs exact results", BadUsage),
        ({"measures": "RR"}, "-m RR needs judgments", BadUsage),
        ({"sweep": {"nothing": [1, 2]}}, "unknown parameter 'nothing'", UnknownName),
        ({"option": ["nothing"]}, "option 'nothing': expected NAME=VALUE", BadUsage),
        ({"filters": ["="]}, "filters '=': expected FIELD=VALUE", BadUsage),
        ({"max_requests": 10}, "60 requests are more than max_requests 10", BadUsage),
        ({"truth": "engine"}, "has no exact mode", BadUsage),
        ({"collapse": "document"}, "collapse takes the ids from a column of the items", BadUsage),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    options: dict, problem: str, error: type
) -> None:
    with pytest.raises(error, match=problem.replace("(", r"\(").replace("[", r"\[")):
        rw.evaluate_engine(engines_here.search, **{"queries": queries(12), **options})


def test_settings_are_all_combinations_and_share_the_index_of_their_build() -> None:
    from rankwell.engines import ENGINES
    from rankwell.tasks.engine.inputs import read_settings

    found = read_settings(
        ENGINES["sqlite-fts5"], {}, ["tokenizer=porter,unicode61", "words=any,all"]
    )

    assert [each.name for each in found.settings] == [
        "tokenizer=porter words=any",
        "tokenizer=porter words=all",
        "tokenizer=unicode61 words=any",
        "tokenizer=unicode61 words=all",
    ]
    assert [each.build for each in found.settings] == [0, 0, 1, 1]
    assert list(found.builds) == [{"tokenizer": "porter"}, {"tokenizer": "unicode61"}]
    with pytest.raises(BadUsage, match="sweep words lists a value twice"):
        read_settings(ENGINES["sqlite-fts5"], {}, ["words=any,any"])
    with pytest.raises(BadUsage, match="words has a value by option and several by sweep"):
        read_settings(ENGINES["sqlite-fts5"], {"words": "any"}, ["words=all"])


def test_other_machines_are_put_under_load_with_permission_alone(tmp_path: Path) -> None:
    (tmp_path / "endpoint.toml").write_text('url = "http://192.0.2.7/search"\n')

    assert (
        hosts_of("postgresql://app:${PGPASSWORD}@localhost/shop", {}) == {"localhost"}
        if "PGPASSWORD" in os.environ
        else True
    )
    assert hosts_of(str(tmp_path / "endpoint.toml"), {}) == {"192.0.2.7"}
    check_load("http://127.0.0.1:9200/x", {}, "--rate 5", None)
    with pytest.raises(
        BadUsage, match=r"--rate 5 would load 192\.0\.2\.7, .*allow_load='192\.0\.2\.7"
    ):
        check_load("qdrant:http://192.0.2.7:6333", {}, "--rate 5", None)
    check_load("qdrant:http://192.0.2.7:6333", {}, "--rate 5", "192.0.2.7")


@pytest.mark.parametrize(
    ("address", "environment", "hosts"),
    [
        ("${SHOP}", {"SHOP": "http://192.0.2.7:9200/x"}, {"192.0.2.7"}),
        ("http://${HOST_OF_SHOP}/x", {"HOST_OF_SHOP": "192.0.2.7"}, {"192.0.2.7"}),
        ("postgresql://localhost/shop?host=192.0.2.7", {}, {"192.0.2.7"}),
        ("postgresql://localhost/shop?hostaddr=192.0.2.7", {}, {"192.0.2.7"}),
        ("postgresql://a:5432,192.0.2.7:5433/shop", {}, {"a", "192.0.2.7"}),
        ("postgresql:///shop", {"PGHOST": "192.0.2.7"}, {"192.0.2.7"}),
        ("postgresql://localhost/shop", {"PGHOSTADDR": "192.0.2.7"}, {"192.0.2.7"}),
        ("postgresql://postgres@/shop?service=far", {}, {"service=far"}),
        ("postgresql://postgres@/shop?host=/tmp/socket", {}, set()),
    ],
)
def test_the_host_of_an_address_is_the_one_that_is_asked(
    monkeypatch: pytest.MonkeyPatch, address: str, environment: dict[str, str], hosts: set[str]
) -> None:
    for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert hosts_of(address, {}) == hosts
    assert hosts_of("pgvector", {"url": address}) == hosts


def test_results_are_gated_by_cost_and_by_the_lower_end_of_recall(tmp_path: Path) -> None:
    asked = queries(60)
    run = {
        query: {item: 1.0 / rank for rank, item in enumerate(engines_here.search(text, 10), 1)}
        for query, text in asked.items()
    }
    short = {query: items for query, items in run.items() if len(items) == 2}
    result = rw.evaluate_engine(
        engines_here.search,
        {query: asked[query] for query in short},
        truth=rw.read_ranking(short),
        depth=2,
    )

    result.save(tmp_path / "out")

    passed = command(tmp_path, "gate out --require p50<=50 --require Recall@2.ci_low>=0.9")
    failed = command(tmp_path, "gate out --require Recall@2.ci_low>=0.99")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Recall@2: ci_low of the mean is 0.9" in passed.stdout
    assert " p50 service time is 0.0" in passed.stdout
    assert failed.returncode == 1


def test_missing_packages_and_unknown_engines_are_named() -> None:
    with pytest.raises((UnknownName, MissingExtra, BadUsage), match="nonsense"):
        rw.evaluate_engine("nonsense", queries(12))


def test_a_journal_goes_on_after_a_torn_line(tmp_path: Path):
    file = tmp_path / "journal.jsonl"

    def batch(number: int) -> SentBatch:
        requests = [SentRequest(0, None, 0.0, 0.1, "ok", ids=[f"item {number}"])]
        return SentBatch(0, number, requests, [BatchReport([], 0.1, None, None, 0.1, {})])

    Journal(file, "key").add(batch(0))
    whole = file.read_bytes()
    Journal(file, "key").add(batch(1))
    file.write_bytes(file.read_bytes()[:-9])
    Journal(file, "key").add(batch(2))
    assert Journal(file, "key").batches == {(0, 0): batch(0), (0, 2): batch(2)}

    Journal(file, "another key").add(batch(0))
    assert Journal(file, "another key").batches == {(0, 0): batch(0)}
    assert file.read_bytes() == whole.replace(b'"key": "key"', b'"key": "another key"')


def test_the_pause_of_an_interrupted_round_counts_neither_as_throughput_nor_as_processor_time():
    measured = rw.evaluate_engine(engines_here.search, queries(12), rounds=3).measured
    whole, later = (measured.batches[0, number] for number in (2, 3))
    resumed = [
        request._replace(sent=request.sent + 3600, done=request.done + 3600)
        for request in whole.requests[6:]
    ]

    measured.journal.add(SentBatch(0, 2, resumed, []))
    costs = costs_of(measured.by_setting[0])

    answered = [(request.sent, request.done) for request in later.requests]
    first, last = min(sent for sent, _ in answered), max(done for _, done in answered)
    assert costs.value("throughput") == pytest.approx(12 / (last - first))
    assert costs.by_name["throughput"].n == 12
    assert [finding.name for finding in costs.findings] == ["rounds-interrupted"]
    assert costs.findings[0].endswith("leave out interrupted rounds, 1 of 2")


def test_no_throughput_is_known_where_every_round_was_interrupted():
    measured = rw.evaluate_engine(engines_here.search, queries(12), rounds=2).measured

    measured.journal.add(SentBatch(0, 2, measured.batches[0, 2].requests[6:], []))
    costs = costs_of(measured.by_setting[0])

    assert costs.value("throughput") is None
    assert len(costs.findings) == 1
