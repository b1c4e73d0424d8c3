"""Agreement in a study: weights, repeated and known items, drift, and studies without any of
them.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

from rankwell.data.options import showing
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.stats.agreement import Ratings, coefficients
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.folder import JournalLine, append_lines, now, read_journals, read_study
from regression.running import in_process
from tasks.judge.studies import agreement, judge_batches, pool_study, write_world


@pytest.fixture
def truth(tmp_path):
    return write_world(tmp_path)


@pytest.fixture
def study(tmp_path, truth):
    """A study whose first two batches anna judged as it is, with all items judged by ben, who
    raises every third grade of 0.
    """
    found = pool_study(tmp_path, batch_size=60)
    judge_batches(found, truth, 2, by="anna")
    second_judge(found, lambda at, grade: grade + (grade == 0 and at % 3 == 0))
    return found


def second_judge(place, grade, name="ben", **more):
    study = read_study(place)
    lines = read_journals(study).lines
    again = [
        JournalLine(
            now(),
            name,
            line.query,
            line.item,
            float(grade(at, line.grade)),
            place=at + 1,
            seconds=1.5 + at % 3,
            **more,
        )
        for at, line in enumerate(lines)
        if line.judge == "anna"
    ]
    append_lines(study, again)


def rows_of(place, kind="coefficient", **options):
    rows = json.loads(agreement(str(place), format="json", **options).text)["rows"]
    return [row for row in rows if row["kind"] == kind]


def values(rows, judge, against, column="value"):
    return {
        row["name"]: row[column]
        for row in rows
        if (row["judge"], row["against"]) == (judge, against)
    }


def test_figures_are_weighted_by_the_inverse_of_the_chance_to_be_judged(study):
    found = read_study(study)
    pool = found.pool
    last = np.sort(pool.u[pool.sizes[:, 0] > 0] / pool.sizes[pool.sizes[:, 0] > 0, 0])[120]
    chance = {
        (found.queries[query], item): min(1.0, last * size)
        for query, item, size in zip(
            pool.query.tolist(), pool.item.tolist(), pool.sizes[:, 0].tolist(), strict=True
        )
    }
    grades = {"anna": {}, "ben": {}}
    for line in read_journals(found).lines:
        grades[line.judge][line.pair] = line.grade
    table = np.array([(grade, grades["ben"][pair]) for pair, grade in grades["anna"].items()])
    weights = np.array([1 / chance[pair] for pair in grades["anna"]])

    rows = rows_of(study)

    weighted = coefficients(Ratings(grades=table, scale=(0, 1, 2, 3), weights=weights))
    plain = coefficients(Ratings(grades=table, scale=(0, 1, 2, 3)))
    assert values(rows, "anna", "ben") == pytest.approx(
        {name: weighted[name] for name in weighted if name[:6] != "Fleiss"}
    )
    assert values(rows, "anna", "ben", "sample")["Cohen's kappa"] == pytest.approx(
        plain["Cohen's kappa"]
    )
    assert weighted["Cohen's kappa"] != pytest.approx(plain["Cohen's kappa"], abs=1e-3)


def test_a_confusion_adds_up_to_one_and_counts_items(study):
    cells = rows_of(study, "confusion")

    assert len(cells) == 16
    assert sum(cell["value"] for cell in cells) == pytest.approx(1)
    assert sum(cell["items"] for cell in cells) == 120
    raised = [cell["items"] for cell in cells if (cell["grade"], cell["against_grade"]) == (0, 1)]
    assert raised[0] > 10
    assert all(cell["items"] == 0 for cell in cells if cell["against_grade"] < cell["grade"])


def test_items_judged_again_compare_a_judge_with_themselves_and_change_no_other_figure(study):
    before = values(rows_of(study), "anna", "ben")

    second_judge(study, lambda at, grade: grade, name="anna", purpose="repeat")

    rows = rows_of(study)
    assert set(values(rows, "anna", "anna again").values()) == {1.0}
    assert values(rows, "anna", "ben") == before


def test_known_grades_are_compared_also_where_they_are_of_no_item_in_the_pool(tmp_path, study):
    found = read_study(study)
    append_lines(
        found,
        [
            JournalLine(now(), "anna", "q000", item, 2.0, purpose="gold")
            for item in ("easy", "hard")
        ],
    )
    gold = tmp_path / "gold.qrels"
    gold.write_text("q000 0 easy 2\nq000 0 hard 1\n")

    rows = rows_of(study, qrels=str(gold))

    assert values(rows, "anna", "known grades")["agreement"] == 0.5
    assert {row["items"] for row in rows if row["against"] == "known grades"} == {2}


def test_a_known_grade_outside_the_scale_is_refused(tmp_path, study):
    gold = tmp_path / "gold.qrels"
    gold.write_text("q000 0 easy 7\n")

    with pytest.raises(BadInput, match="the grade 7; the scale of the study is 0, 1, 2, 3"):
        agreement(str(study), qrels=str(gold))


def test_three_judges_have_coefficients_together(study):
    second_judge(study, lambda at, grade: (grade + at) % 4, name="carl")
    found = read_study(study)
    twice = read_journals(found).lines
    alone = lease_batch(found, "carl").pairs[0]
    append_lines(found, [JournalLine(now(), "carl", *alone, 1.0)])

    rows = rows_of(study)

    assert {(row["judge"], row["against"]) for row in rows} == {
        ("anna", "ben"),
        ("anna", "carl"),
        ("ben", "carl"),
        ("all", None),
    }
    assert "Fleiss' kappa" in values(rows, "all", None)
    assert "Cohen's kappa" not in values(rows, "all", None)
    assert set(values(rows, "all", None, "items").values()) == {len({line.pair for line in twice})}
    assert set(values(rows, "all", None, "queries").values()) == {
        len({line.query for line in twice})
    }


def test_a_judge_who_grades_higher_and_higher_drifts(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=100)
    judge_batches(study, truth, 2, by="anna")
    second_judge(study, lambda at, grade: min(3, grade + at // 50))

    drift = {row["judge"]: row for row in rows_of(study, "drift")}
    quarters = [row["above_others"] for row in rows_of(study, "quarter") if row["judge"] == "ben"]

    assert drift["ben"]["low"] > 0
    assert quarters == sorted(quarters)
    assert quarters[0] == 0
    assert [row["seconds"] for row in rows_of(study, "quarter") if row["judge"] == "ben"] == [
        2.5
    ] * 4


def test_a_single_judge_has_drift_alone_and_no_judge_nothing(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    with pytest.raises(NothingToEvaluate, match="no item is judged"):
        agreement(str(study))
    judge_batches(study, truth, 1)

    with showing(details=True):
        found = agreement(str(study))

    assert "grade per 100 places" in found.text
    assert any("no item that two judges graded" in note for note in found.findings)


def test_that_nothing_is_graded_twice_is_said_once(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)

    code, out, err = in_process(["judge", "agreement", str(study)])

    assert code == 0
    assert "No item was graded by two judges" in out
    assert "two judges" not in err


def test_whole_queries_weigh_every_item_the_same(tmp_path, truth):
    study = pool_study(tmp_path, measure="nDCG@10", by=["queries", "12"], batch_size=40)
    judge_batches(study, truth, 2, by="anna")
    second_judge(study, lambda at, grade: grade if at % 2 else 0)

    rows = rows_of(study)

    assert values(rows, "anna", "ben") == values(rows, "anna", "ben", "sample")
    assert "anna and ben give the same grade to " in agreement(str(study)).text
    with showing(details=True):
        assert "of the judged sample" not in agreement(str(study)).text


def test_the_command_prints_tables_without_an_adjective(study):
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "judge", "agreement", str(study), "--verbose"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "anna \\ ben" in done.stdout
    assert not {"substantial", "moderate", "good", "poor", "fair", "excellent"} & set(
        done.stdout.lower().split()
    )
