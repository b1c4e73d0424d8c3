"""Estimates that would mislead: names in another order, reading that has not ended, pools that are
too shallow.
"""

import json
from statistics import fmean

import pytest

import rankwell
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.stats.samples import priorities
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.estimation import StudyEstimates
from rankwell.tasks.judge.folder import (
    JournalLine,
    StudyAnswers,
    append_lines,
    now,
    read_journals,
    read_study,
)
from tasks.judge.studies import estimate, judge_batches, plan, pool, pool_study, write_world


@pytest.fixture
def truth(tmp_path):
    return write_world(tmp_path)


def test_a_pair_beyond_the_plan_has_no_verdict_in_any_order_of_its_names(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 2)
    estimate(str(study))
    pool(str(study), add=[str(tmp_path / "c.run")])
    judge_batches(study, truth, 4)

    texts = [estimate(str(study), *names).text for names in (("b", "c"), ("c", "b"))]

    assert texts[0] == texts[1]
    assert texts[0].startswith("No verdict on c and b")


def test_the_same_pair_in_another_order_is_the_same_look(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 2)

    for names in ((), ("a", "b"), ("b", "a")):
        estimate(str(study), *names)

    assert len((study / "looks.jsonl").read_text().splitlines()) == 1


def test_one_run_under_two_names_is_one_run(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)

    with pytest.raises(BadUsage, match="a difference needs two runs"):
        estimate(str(study), "a", str(tmp_path / "a.run"))


def read_some(study, truth, sittings):
    """The estimates after so many sittings of reading down."""
    for _ in range(sittings):
        batch = lease_batch(study, "ann")
        grades = [
            JournalLine(now(), "ann", *pair, float(truth[pair]), guideline=study.guideline_digest)
            for pair in batch.pairs
        ]
        append_lines(study, grades)
    return StudyEstimates(
        study, StudyAnswers.of(study, read_journals(study).lines), study.parsed_measure
    )


def test_reading_that_has_not_ended_gives_no_estimate(tmp_path, truth):
    study = pool_study(tmp_path, measure="RR(rel=2)@10")
    found = read_some(read_study(study), truth, 2)

    # Queries whose first items are relevant are read already; their values are the high ones.
    with pytest.raises(
        NothingToEvaluate, match="the first 30 queries are not read down to their ends"
    ):
        found.differences()


@pytest.mark.slow
def test_reading_goes_on_by_batches_of_queries_and_its_estimates_are_not_those_of_the_easy_ones(
    tmp_path, truth
):
    grades = {}
    for (query, item), grade in truth.items():
        grades.setdefault(query, {})[item] = grade
    whole = rankwell.evaluate(grades, {"a": str(tmp_path / "a.run")}, "RR(rel=3)@10")[
        "RR(rel=3)@10"
    ]
    found = []
    for seed in range(25):
        study = pool_study(
            tmp_path, name=f"study-{seed}", measure="RR(rel=3)@10", batch_size=20, seed=seed
        )
        estimates = read_some(read_study(study), truth, 12)
        if len(estimates.drawn):
            found.append(estimates.means()[0].with_predictions.mean)
        assert len(estimates.drawn) in (0, 10, 20)

    assert len(found) > 20
    spread = (sum((each - fmean(found)) ** 2 for each in found) / len(found)) ** 0.5
    assert abs(fmean(found) - whole) < 3 * spread / len(found) ** 0.5


@pytest.mark.parametrize("measure", ["AP@10", "R@10"])
def test_a_measure_that_needs_a_deep_pool_is_refused_by_an_estimate_too(tmp_path, truth, measure):
    study = pool_study(tmp_path, measure="nDCG@10", by=["queries", "10"])
    judge_batches(study, truth)

    with pytest.raises(BadUsage, match=r"at least 100 ranks: --depth 100"):
        estimate(str(study), measure=measure)


def test_the_level_of_means_is_named(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60, estimate="means")
    judge_batches(study, truth, 2)

    assert "means have 95 % intervals" in " ".join(estimate(str(study)).text.split())


def test_a_plan_shows_when_no_look_is_left(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60, looks=1)
    judge_batches(study, truth, 1)
    before = plan(str(study)).text

    estimate(str(study))

    assert "0 of 1 look taken\n" in before
    assert (
        "1 of 1 look taken: an estimate from more judgments has no verdict" in plan(str(study)).text
    )


def test_identical_runs_need_no_judgments_in_a_plan(tmp_path, truth):
    (tmp_path / "same.run").write_text((tmp_path / "a.run").read_text())
    study = pool_study(tmp_path, "a", "b", "same", batch_size=60)

    found = plan(str(study)).text

    assert "same and a never differ in the first 10; nothing to judge." in found
    assert json.loads(plan(str(study), format="json").text)["rows"][0]["run"] == "b"
    assert all(
        row["run"] != "same" or row["against"] != "a"
        for row in json.loads(plan(str(study), format="json").text)["rows"]
    )


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({"measure": "Success@10", "by": ["queries", "12"]}, None),
        ({"measure": "RR@10", "batch_size": 20}, 1),
    ],
)
def test_queries_that_are_all_the_same_show_nothing_of_others(tmp_path, truth, options, batches):
    names = [f"q{query:03}" for query in range(20)]
    for run in "ab":  # both have a relevant item at rank 1, and below it one of their own
        rows = [
            (name, item, rank) for name in names for rank, item in ((1, "d000"), (2, f"d00{run}"))
        ]
        (tmp_path / f"{run}.run").write_text(
            "".join(f"{name} Q0 {item} {rank} {9 - rank} r\n" for name, item, rank in rows)
        )
    study = pool_study(tmp_path, **options)
    judge_batches(
        study,
        {(name, item): int(item == "d000") for name in names for item in ("d000", "d00a", "d00b")},
        batches,
    )

    (row,) = json.loads(estimate(str(study), format="json").text)["rows"]
    text = " ".join(estimate(str(study)).text.split())

    assert row["mean"] == 0
    assert row["like_low"] is row["like_high"] is row["better"] is None
    assert text.startswith("No verdict on b and a")
    assert "every query has the same value, which shows nothing of others." in text
    with pytest.raises(
        NothingToEvaluate, match=r"everything is judged|no forecast, as every judged query"
    ):
        plan(str(study))


def test_unknown_grades_of_a_measure_without_bounds_leave_the_verdict_open(tmp_path, truth):
    study = pool_study(tmp_path, measure="DCG@10", by=["queries", "12"], batch_size=500)
    first = lease_batch(read_study(study), "judge-1").pairs[:6]
    judge_batches(study, truth | dict.fromkeys(first, "u"))

    found = estimate(str(study), estimate="means")
    rows = json.loads(estimate(str(study), format="json").text)["rows"]

    assert "depends on 6 judged items without a grade" in " ".join(found.text.split())
    assert (
        rows[0]["like_low"]
        is rows[0]["like_high"]
        is rows[0]["these_low"]
        is rows[0]["better"]
        is None
    )


def test_a_later_round_finishes_no_batch_of_an_earlier_one(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=30)
    judge_batches(study, truth, 1)
    found = read_study(study)
    rest = [pair for pair in lease_batch(found, "judge-1").pairs if pair[1] < "d150"]
    append_lines(
        found,
        [
            JournalLine(now(), "judge-1", *pair, 1.0, guideline=found.guideline_digest)
            for pair in rest
        ],
    )
    pool(str(study), add=[str(tmp_path / "c.run")])

    ends = []
    for _ in range(5):
        judge_batches(study, truth, 1)
        found = read_study(study)
        ends.append(
            StudyEstimates(
                found, StudyAnswers.of(found, read_journals(found).lines), found.parsed_measure
            ).thresholds
        )

    drawn = priorities(found.pool.u, found.pool.sizes[:, 0]) < ends[0][0]
    assert {round_1 for round_1, _ in ends} == {ends[0][0]}
    assert drawn.sum() == 30
    assert len({round_2 for _, round_2 in ends}) == 5
