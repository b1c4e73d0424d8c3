"""Studies: the pool, batches and journals, spreadsheets, estimates and looks."""

import json
import subprocess
import sys

import duckdb
import numpy as np
import pytest

import rankwell
from oracles import sampling as oracle
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.tasks.judge.batches import batch_pairs, batch_sizes, batches_of, lease_batch
from rankwell.tasks.judge.folder import (
    JournalLine,
    StudyAnswers,
    append_lines,
    journal_of,
    read_journals,
    read_study,
)
from tasks.judge.studies import (
    estimate,
    fill,
    judge,
    judge_batches,
    plan,
    pool,
    pool_study,
    read_sheet,
    write_world,
)


@pytest.fixture
def truth(tmp_path):
    return write_world(tmp_path)


def rows_of(study, *runs, **options):
    text = estimate(str(study), *runs, format="json", **options).text
    return json.loads(text)["rows"]


def true_mean(tmp_path, truth, run, measure):
    judged = {}
    for (query, item), grade in truth.items():
        judged.setdefault(query, {})[item] = grade
    return rankwell.evaluate(
        judged, str(tmp_path / f"{run}.run"), measure, intervals="none"
    ).summary[0]["mean"]


def test_the_pool_is_in_the_order_of_priorities_with_the_sizes_of_the_issue(tmp_path, truth):
    study = read_study(pool_study(tmp_path, seed=5))
    weight = [0.0, *(1 / np.log2(rank + 1) for rank in range(1, 11))]
    norm = sum(weight)

    rows = duckdb.sql(f"SELECT * FROM '{study.folder}/rounds/1.parquet'").fetchall()

    previous = 0.0
    for query, item, u, prior, size, batch, *ranks in rows:
        first = [rank or 0 for rank in ranks]
        best = min(rank for rank in first if rank)
        chance = min(0.9, max(0.03, 0.55 / best**0.5 + 0.15 * all(first)))
        expected = abs(weight[first[0]] - weight[first[1]]) / norm * (chance * (1 - chance)) ** 0.5
        assert u == oracle.permanent_number(5, query.encode(), item.encode())
        assert (prior, size) == pytest.approx((chance, expected))
        assert (batch is None) == (size == 0)
        if size:
            assert u / size >= previous
            previous = u / size


def test_the_same_runs_in_another_order_give_the_same_items_in_the_same_order(tmp_path, truth):
    one, other = (
        read_study(pool_study(tmp_path, *runs, name=name))
        for runs, name in (("ab", "x"), ("ba", "y"))
    )

    assert one.pool.item.tolist() == other.pool.item.tolist()
    assert one.pool.batches.tolist() == other.pool.batches.tolist()


def test_everything_judged_gives_the_value_of_evaluate(tmp_path, truth):
    study = pool_study(tmp_path, estimate="means", batch_size=400)
    judge_batches(study, truth)

    found = rows_of(study)

    measure = "SDCG(max_rel=3)@10"
    a, b = (true_mean(tmp_path, truth, run, measure) for run in "ab")
    assert [row["mean"] for row in found] == pytest.approx([a, b, b - a])
    assert found[2]["these_low"] == found[2]["these_high"] == pytest.approx(b - a)


def test_a_batch_is_arranged_by_query_and_belongs_to_its_judge(tmp_path, truth):
    study = read_study(pool_study(tmp_path, batch_size=50))

    first, again, other = (
        lease_batch(study, "one"),
        lease_batch(study, "one"),
        lease_batch(study, "two"),
    )

    assert first == again
    assert (first.batch, other.batch) == (0, 1)
    assert [query for query, _ in first.pairs] == sorted(query for query, _ in first.pairs)
    assert not set(first.pairs) & set(other.pairs)


def test_batches_read_from_the_file_are_those_of_the_whole_pool(tmp_path, truth):
    study = read_study(pool_study(tmp_path, batch_size=50))
    pool(str(study.folder), add=[str(tmp_path / "c.run")])
    study = read_study(study.folder)
    batch, rows = study.pool.batches[:, -1], range(len(study.pool.item))
    pairs = [(study.queries[study.pool.query[row]], study.pool.item[row]) for row in rows]

    assert batch_sizes(study).tolist() == np.bincount(batch[batch >= 0]).tolist()
    assert batches_of(study, [*pairs, ("q000", "elsewhere")]) == dict(
        zip(pairs, batch.tolist(), strict=True)
    )
    second = sorted(row for row in rows if batch[row] == 1)
    expected = sorted(second, key=lambda row: (study.pool.query[row], study.pool.u[row]))
    assert batch_pairs(study, 1) == tuple(pairs[row] for row in expected)


def test_only_the_unbroken_sequence_of_finished_batches_counts(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    lease_batch(read_study(study), "absent")
    judge_batches(study, truth, 1, by="present")

    with pytest.raises(NothingToEvaluate, match="no batch is finished"):
        estimate(str(study))


def test_a_torn_last_line_is_dropped_with_a_note_and_overwritten(tmp_path, truth):
    study = read_study(pool_study(tmp_path, batch_size=60))
    query, item = lease_batch(study, "one").pairs[0]
    line = JournalLine("t", "one", query, item, 2.0)
    append_lines(study, [line])
    with journal_of(study, "one").open("ab") as file:
        file.write(b'{"time": "t", "ju')

    torn = read_journals(study)
    append_lines(study, [line._replace(grade=1.0)])

    assert len(torn.lines) == 1
    assert "the last line is incomplete" in torn.findings[0]
    assert [each.grade for each in read_journals(study).lines] == [2.0, 1.0]


def test_a_revision_counts_and_lines_with_a_purpose_do_not(tmp_path, truth):
    study = read_study(pool_study(tmp_path, batch_size=60))
    query, item = lease_batch(study, "one").pairs[0]
    line = JournalLine("t", "one", query, item, 2.0)

    append_lines(
        study, [line, line._replace(grade=1.0), line._replace(grade=3.0, purpose="repeat")]
    )

    answers = StudyAnswers.of(study, read_journals(study).lines)
    assert answers.grade[~np.isnan(answers.grade)].tolist() == [1.0]


@pytest.mark.parametrize(("rule", "expected"), [("median", 1.0), ("first", 3.0), ("b", 0.0)])
def test_grades_of_several_judges(tmp_path, truth, rule, expected):
    study = read_study(pool_study(tmp_path, batch_size=60))
    query, item = lease_batch(study, "a").pairs[0]
    for judge_name, grade in (("a", 3.0), ("b", 0.0), ("c", 1.0)):
        append_lines(study, [JournalLine("t", judge_name, query, item, grade)])

    answers = StudyAnswers.of(study, read_journals(study).lines, rule)

    assert answers.grade[answers.answered].tolist() == [expected]


def test_reading_a_spreadsheet_twice_changes_nothing(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)
    before = (study / "judgments" / "judge-1.jsonl").read_bytes()

    notes = judge(str(study), judge="judge-1", import_=str(tmp_path / "study-judge-1.csv")).messages

    assert (study / "judgments" / "judge-1.jsonl").read_bytes() == before
    assert notes[:2] == (
        "0 judgments read from " + str(tmp_path / "study-judge-1.csv"),
        "60 rows were read before",
    )


@pytest.mark.parametrize(
    ("cell", "words"), [("9", "expected 0, 1, 2, 3, u"), ("good", "grade 'good'")]
)
def test_a_wrong_cell_of_a_spreadsheet_is_named_and_nothing_is_read(tmp_path, truth, cell, words):
    study, sheet = pool_study(tmp_path, batch_size=60), tmp_path / "batch.csv"
    judge(str(study), judge="one", export=sheet)
    rows = read_sheet(sheet)
    fill(
        sheet, {(rows[0]["query"], rows[0]["item"]): "1", (rows[1]["query"], rows[1]["item"]): cell}
    )

    with pytest.raises(BadInput, match=rf"batch\.csv:3: .*{words}"):
        judge(str(study), judge="one", import_=str(sheet))

    assert not (study / "judgments").exists()


def test_formulas_and_odd_ids_survive_a_spreadsheet(tmp_path):
    odd = ["=1+1", "a b", "x/y", "'quoted", "n\x00ul", "l" * 10_000, '"']
    (tmp_path / "queries.jsonl").write_text(json.dumps({"id": "q 1", "text": "=cmd()"}) + "\n")
    (tmp_path / "documents.jsonl").write_text(
        "".join(json.dumps({"id": item, "text": "t\nt"}) + "\n" for item in odd)
    )
    for name, order in (("a", odd), ("b", odd[::-1])):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"q 1": {item: 9.0 - at for at, item in enumerate(order)}})
        )
    texts = {
        "queries": str(tmp_path / "queries.jsonl"),
        "documents": str(tmp_path / "documents.jsonl"),
    }
    pool(str(tmp_path / "a.json"), str(tmp_path / "b.json"), output=tmp_path / "study", **texts)
    sheet = tmp_path / "batch.csv"
    judge(str(tmp_path / "study"), judge="one", export=sheet)
    fill(sheet, {}, "note")
    rows = read_sheet(sheet)
    fill(sheet, {(row["query"], row["item"]): "2" for row in rows})

    judge(str(tmp_path / "study"), judge="one", import_=str(sheet))

    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    study = read_study(tmp_path / "study")
    # The middle one of seven has the same rank in both, and is never asked.
    assert {line.item for line in read_journals(study).lines} == {*odd} - {odd[3]}
    assert [line.place for line in read_journals(study).lines] == [1, 2, 3, 4, 5, 6], (
        "rows, however many lines a text has"
    )


def test_items_without_a_grade_bound_the_difference_and_leave_the_verdict_open(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=400)
    judge_batches(study, dict.fromkeys(truth, "u"))

    (row,) = rows_of(study)

    assert row["unknown"] == row["judged"] > 0
    assert row["better"] is None
    assert row["like_low"] < -0.3 < 0.3 < row["like_high"]
    text = estimate(str(study)).text
    assert "it depends on" in text
    assert (
        f"{row['judged']} judged items have no grade, and the intervals cover every grade "
        "they may have" in text
    )


def test_judgments_of_unfinished_batches_are_named_and_do_not_count(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1, by="first")
    before = estimate(str(study)).text
    query, item = lease_batch(read_study(study), "second").pairs[0]
    digest = read_study(study).guideline_digest
    append_lines(
        read_study(study), [JournalLine("t", "second", query, item, 3.0, guideline=digest)]
    )

    after = estimate(str(study)).text

    assert "finished batches" not in before
    assert "first, second (grade by median), 60 of them in finished batches; look 1 of 5" in after


def test_looks_are_recorded_once_and_no_verdict_comes_beyond_the_plan(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60, looks=2)
    judge_batches(study, truth, 1)
    first, again = estimate(str(study)).text, estimate(str(study)).text
    judge_batches(study, truth, 1)
    estimate(str(study))
    judge_batches(study, truth, 1)

    third = estimate(str(study)).text

    assert first == again
    assert "look 1 of 2: 97.5 % intervals" in first
    assert "No verdict on b and a" in third
    assert "look 3, beyond the 2 planned: 97.5 % intervals" in third
    assert "so that 95 % for all looks together is not guaranteed" in third
    assert (
        "3 looks taken, 2 planned: an estimate from more judgments has no verdict"
        in plan(str(study)).text
    )
    assert len((study / "looks.jsonl").read_text().splitlines()) == 3


def test_a_run_that_is_added_has_a_round_of_its_own_and_a_verdict_only_if_planned(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 2)
    estimate(str(study))
    before = len(read_journals(read_study(study)).lines)

    pool(str(study), add=[str(tmp_path / "c.run")])
    judge_batches(study, truth)
    rows = rows_of(study)

    judged = [line.pair for line in read_journals(read_study(study)).lines]
    assert len(judged) == len(set(judged)) > before
    a, b, c = (true_mean(tmp_path, truth, run, "SDCG(max_rel=3)@10") for run in "abc")
    assert {(row["run"], row["against"]): row["mean"] for row in rows} == pytest.approx(
        {("b", "a"): b - a, ("c", "a"): c - a, ("c", "b"): c - b}
    )
    assert [row["better"] for row in rows] == ["b", None, None]
    assert "rankwell judge pool --pairs-planned" in estimate(str(study)).text


def test_in_several_rounds_the_estimate_uses_the_greatest_chance(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 2)
    pool(str(study), add=[str(tmp_path / "c.run")], pairs_planned=3)
    judge_batches(study, truth, 1)
    from rankwell.tasks.judge.estimation import StudyEstimates

    found = read_study(study)
    estimates = StudyEstimates(
        found, StudyAnswers.of(found, read_journals(found).lines), found.parsed_measure
    )

    tau_1, tau_2 = estimates.thresholds
    expected = [
        max(min(1.0, tau_1 * first), min(1.0, tau_2 * second))
        for first, second in found.pool.sizes.tolist()
    ]
    assert estimates.inclusion == pytest.approx(expected)
    assert (found.pool.u < estimates.inclusion).tolist() == estimates.sampled.tolist()
    assert all(row["better"] is not None for row in rows_of(study))


def test_whole_queries_give_any_measure_over_the_pool(tmp_path, truth):
    study = pool_study(tmp_path, measure="nDCG@10", by=["queries", "30"], batch_size=400)
    judge_batches(study, truth)

    (row,) = rows_of(study)

    pooled = {}
    for query, items in duckdb.sql(
        f"SELECT query, list(item) FROM '{study}/rounds/1.parquet' GROUP BY query"
    ).fetchall():
        pooled[query] = {item: truth[query, item] for item in items}
    means = rankwell.evaluate(
        pooled, {run: str(tmp_path / f"{run}.run") for run in "ab"}, "nDCG@10"
    )["nDCG@10"]
    assert row["mean"] == pytest.approx(means["b"] - means["a"])
    assert row["measure"] == "nDCG@10 over the pool of the first 10"
    assert row["these_low"] == row["these_high"]


def test_rr_is_read_down_and_exact(tmp_path, truth):
    study = pool_study(tmp_path, measure="RR@10")
    judge_batches(study, truth)

    (row,) = rows_of(study)

    a, b = (true_mean(tmp_path, truth, run, "RR@10") for run in "ab")
    assert row["mean"] == row["these_low"] == row["these_high"] == pytest.approx(b - a)
    assert len(read_journals(read_study(study)).lines) < len(read_study(study).pool.item) / 2


def test_wrong_requests_are_refused(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)

    for options, words in (
        ({"measure": "nDCG@10"}, "cannot be estimated from sampled items"),
        ({"measure": "P@20"}, "looks beyond the first 10 ranks"),
        ({"estimate": "means"}, "had no chance to be judged"),
        ({"grade_by": "nobody"}, "expected median, first, or a judge: judge-1"),
    ):
        with pytest.raises(BadUsage, match=words):
            estimate(str(study), **options)
    with pytest.raises(BadUsage, match=r"c was not pooled.*judge pool .* --add"):
        estimate(str(study), "a", str(tmp_path / "c.run"))
    with (tmp_path / "a.run").open("a") as file:
        file.write("q000 Q0 d000 21 1 a\n")
    with pytest.raises(BadInput, match="has changed since it was pooled"):
        estimate(str(study))


def test_several_guidelines_need_a_word(tmp_path, truth):
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)
    (study / "guideline.md").write_text("other words")
    judge_batches(study, truth, 1)

    with pytest.raises(BadInput, match="2 guidelines"):
        estimate(str(study))

    assert "several guidelines" in estimate(str(study), mix_guidelines=True).text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "nDCG@10"}, "draw whole queries"),
        ({"measure": "AP", "by": ["queries", "5"], "depth": 50}, "--depth 100"),
        ({"by": ["queries", "31"]}, "the runs have 30 queries"),
        ({"by": ["items", "3"]}, "--by queries N"),
        ({"grades": "1=a,2=b"}, "the lowest of them 0"),
        ({"measure": "P(rel=4)@10"}, "no grade of the scale is 4"),
        ({"looks": 0}, "expected a positive integer"),
    ],
)
def test_a_pool_that_cannot_be_is_refused(tmp_path, truth, options, words):
    with pytest.raises(BadUsage, match=words):
        pool_study(tmp_path, **options)

    assert not (tmp_path / "study").exists()


def test_a_study_is_not_overwritten_and_other_files_stay(tmp_path, truth):
    study = pool_study(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("words")

    with pytest.raises(BadUsage, match="is a study already"):
        pool_study(tmp_path)
    with pytest.raises(BadUsage, match=r"has other files \(thesis.tex\)"):
        pool_study(tmp_path, name="other")

    assert read_study(study).run_names == ("a", "b")


def test_commands_of_a_study_run_from_a_shell(tmp_path, truth):
    line = "judge pool a.run b.run --queries queries.tsv --documents documents.tsv -o study"
    for words, code in (
        (line, 0),
        ("judge estimate study", 4),
        ("judge label study --judge me --export me.csv --open", 2),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "rankwell", *words.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
