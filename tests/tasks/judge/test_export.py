"""Judgments of a study in every format that judgments have."""

import pytest

import rankwell as rw
from commanding import with_fields
from rankwell.cli.commands.compare import compare as compare_command
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.io import formats as files
from rankwell.tasks.judge.folder import ModelReply, append_reply, read_study
from tasks.judge.studies import fill, judge, judge_batches, pool_study, write_world

compare = with_fields(compare_command)

TARGETS = [
    ("qrels.txt", None),
    ("j.csv", None),
    ("j.tsv", None),
    ("j.parquet", None),
    ("j.json", None),
    ("j.jsonl", None),
]


@pytest.mark.parametrize(
    ("name", "form"), [*TARGETS, ("q.csv", "quepid"), ("o.json", "opensearch")]
)
def test_every_export_comes_back_as_the_grades_that_were_given(tmp_path, name, form):
    truth = write_world(tmp_path, queries=6)
    study = pool_study(tmp_path, batch_size=10)
    judge_batches(study, truth, 2)

    done = rw.convert(study, tmp_path / name, target_format=form)

    found = files.read_judgments(tmp_path / name).to_dict()
    texts = {f"the text of {query}" if form else query: query for query, _ in truth}
    assert sum(map(len, found.values())) == done.rows == 20
    assert all(
        grade == truth[texts[query], item]
        for query, items in found.items()
        for item, grade in items.items()
    )
    assert any(
        "they are a sample without its probabilities" in note and "biased" in note
        for note in done.messages
    )
    assert any("20 of " in note and "graded by judge-1" in note for note in done.messages)


def test_items_without_a_grade_are_counted_and_one_judge_can_be_chosen(tmp_path):
    truth = write_world(tmp_path, queries=6)
    study = pool_study(tmp_path, batch_size=10, by=["queries", "2"])
    sheet = tmp_path / "sheet.csv"
    judge(str(study), judge="ann", export=sheet)
    unknown = next(iter(truth))
    fill(sheet, {**dict.fromkeys(truth, 1), unknown: "u"})
    judge(str(study), judge="ann", import_=str(sheet))

    done = rw.convert(study, tmp_path / "all.csv")
    other = rw.convert(f"{study}:ann", tmp_path / "ann.csv")

    assert (tmp_path / "all.csv").read_bytes() == (tmp_path / "ann.csv").read_bytes()
    assert done.rows == other.rows
    assert any("a run that was not pooled is at a disadvantage" in note for note in done.messages)


def test_a_study_without_grades_and_another_folder_are_refused(tmp_path):
    write_world(tmp_path, queries=6)
    study = pool_study(tmp_path)
    with pytest.raises(NothingToEvaluate, match="no item is graded"):
        rw.convert(study, tmp_path / "x.csv")
    with pytest.raises(BadInput, match="is a folder without qrels"):
        rw.convert(study / "rounds", tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_grades_of_a_model_are_exported_on_request_alone_and_named(tmp_path):
    write_world(tmp_path, queries=6)
    study = read_study(pool_study(tmp_path, batch_size=10))
    pair = int(study.pool.query[0]), study.pool.item[0]
    reply = ModelReply(
        "2026-11-25T12:00:00Z",
        "m",
        "",
        {},
        study.queries[pair[0]],
        str(pair[1]),
        "valid",
        2.0,
        False,
        0.1,
        "2",
    )
    append_reply(study, reply)

    with pytest.raises(NothingToEvaluate, match="no item is graded"):
        rw.convert(study.folder, tmp_path / "people.csv")
    done = rw.convert(f"{study.folder}:model", tmp_path / "model.csv")
    assert files.read_judgments(tmp_path / "model.csv").to_dict() == {
        reply.query: {reply.item: 2.0}
    }
    assert any("the model m; these are not judgments" in note for note in done.messages)
    append_reply(study, reply._replace(model="other"))
    with pytest.raises(BadUsage, match="its models are m, other; name one"):
        rw.convert(f"{study.folder}:model", tmp_path / "x.csv")
    assert rw.convert(f"{study.folder}:other", tmp_path / "other.csv").rows == 1
    with pytest.raises(BadUsage, match="no judge or model has this name; known are m, other"):
        rw.convert(f"{study.folder}:another", tmp_path / "x.csv")
    with pytest.raises(BadUsage, match="no judge has this name; known are none so far"):
        files.read_judgments(f"{study.folder}:other")


def test_the_grades_of_one_of_several_judges_are_named_as_theirs(tmp_path):
    truth = write_world(tmp_path, queries=6)
    study = pool_study(tmp_path, batch_size=10)
    for name in ("ann", "ben"):
        judge_batches(study, truth, 1, by=name)

    done = rw.convert(f"{study}:ben", tmp_path / "ben.csv")

    assert any(
        "10 of " in note and "graded by ben; 10 more are judged without a grade of theirs" in note
        for note in done.messages
    )
    with pytest.raises(BadUsage, match="dora: no judge or model has this name; known are ann, ben"):
        rw.convert(f"{study}:dora", tmp_path / "dora.csv")


def test_compare_takes_a_study_as_judgments_and_says_that_they_are_a_sample(tmp_path):
    truth = write_world(tmp_path)
    study = pool_study(tmp_path, batch_size=60)
    judge_batches(study, truth, 1)

    done = compare(str(study), *(str(tmp_path / f"{run}.run") for run in "ab"), measures=["P@10"])

    assert "b" in done.text
    assert any("measures on this file are biased" in str(note) for note in done.findings)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty is a folder without qrels"):
        compare(
            str(tmp_path / "empty"),
            *(str(tmp_path / f"{run}.run") for run in "ab"),
            measures=["P@10"],
        )


def test_an_error_in_a_journal_names_the_journal_alone(tmp_path):
    truth = write_world(tmp_path, queries=6)
    study = pool_study(tmp_path, batch_size=10)
    judge_batches(study, truth, 1)
    journal = study / "judgments" / "judge-1.jsonl"
    journal.write_text(journal.read_text().replace('"grade": ', '"grade": 9', 1))

    with pytest.raises(
        BadInput, match=r"^\S*judge-1\.jsonl:1: grade 9\S+; the scale of the study is 0, 1, 2, 3"
    ):
        rw.convert(study, tmp_path / "x.csv")
