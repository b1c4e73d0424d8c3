"""The plan of a study: it ends with everything judged, shows no difference, and names what is the
limit.
"""

import json

import pytest

from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.tasks.judge.estimation import StudyEstimates
from rankwell.tasks.judge.folder import StudyAnswers, read_journals, read_study
from rankwell.tasks.judge.planning import StudyForecasts
from tasks.judge.studies import estimate, judge_batches, plan, pool_study, write_world


@pytest.fixture
def truth(tmp_path):
    return write_world(tmp_path)


def rows_of(study, **options):
    return json.loads(plan(str(study), format="json", **options).text)["rows"]


def test_the_last_row_has_everything_judged_and_is_exact_for_these_queries(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=50)
    judge_batches(study, truth, 2)

    rows = rows_of(study)

    assert [row["more"] for row in rows] == sorted(row["more"] for row in rows)
    assert all(row["judged"] - row["more"] == 100 for row in rows)
    assert all(row["more"] % 50 == 0 for row in rows[:-1])
    assert (rows[-1]["these"], rows[0]["these"] > 0) == (0, True)
    widths = [row["like"] for row in rows]
    assert widths == sorted(widths, reverse=True)


def test_a_plan_is_not_a_look_and_shows_no_difference(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=50)
    judge_batches(study, truth, 2)

    first = rows_of(study)
    plan(str(study))

    assert not (study / "looks.jsonl").exists()
    assert not {"mean", "difference", "better"} & first[0].keys()


def test_before_the_first_judgment_the_prior_plans(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=50)

    rows = rows_of(study)

    assert rows[0]["judged"] == rows[0]["more"] == 50
    assert rows[0]["like"] > rows[-1]["like"] > 0.8 * rows[-2]["like"]


def test_where_queries_are_the_limit_the_plan_says_so(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=50)
    judge_batches(study, truth, 2)

    assert "judging everything leaves ± " in plan(str(study), difference=0.01).text
    assert "more judgments" in plan(str(study), difference=0.5).text


def test_drawn_queries_are_planned_by_their_number(tmp_path, truth):
    study = pool_study(tmp_path, measure="nDCG@10", by=["queries", "30"], batch_size=100)
    judge_batches(study, truth, 2)

    rows = rows_of(study)

    assert rows[-1]["these"] == 0
    assert rows[-1]["more"] > 0


def test_nothing_to_plan_and_a_wrong_difference_are_refused(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=400)
    judge_batches(study, truth)
    estimate(str(study))

    with pytest.raises(NothingToEvaluate, match="everything is judged"):
        plan(str(study))
    with pytest.raises(BadUsage, match="above 0"):
        plan(str(study), difference=0)


def test_the_number_for_80_per_cent_power_is_that_of_a_search_of_all_batch_ends_and_few_of_them_are_forecast(  # noqa: E501
    tmp_path, truth
):
    study = pool_study(tmp_path, batch_size=4)
    judge_batches(study, truth, 5)
    found = read_study(study)
    answers = StudyAnswers.of(found, read_journals(found).lines)
    whole, lazy = (
        StudyForecasts(StudyEstimates(found, answers, found.parsed_measure), ("b", "a"))
        for _ in range(2)
    )
    steps = [whole.step(place) for place in range(len(whole.more))]

    needed = tuple(lazy.judgments_needed(0.2, 0.95))

    assert [step.more for step in steps] == whole.more == [step.judged - 20 for step in steps]
    assert needed == tuple(
        next(step.more for step in steps if step.finds(0.2, 0.95, place)) for place in (0, 1, 2)
    )
    assert len(lazy._steps) < len(steps) / 3


@pytest.mark.parametrize(
    ("measure", "by", "first"),
    [
        ("RR@10", None, "the first 30 queries are read down to their ends"),
        ("nDCG@10", ["queries", "30"], "two queries are judged"),
    ],
)
def test_before_any_query_has_a_value_the_plan_says_why_there_is_no_forecast(
    tmp_path, truth, measure, by, first
):
    study = pool_study(tmp_path, measure=measure, by=by, batch_size=60)

    with pytest.raises(
        NothingToEvaluate, match=f"study: no forecast before {first}.* is not known; judge them"
    ):
        plan(str(study))
