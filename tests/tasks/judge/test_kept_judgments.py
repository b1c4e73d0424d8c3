"""Judgments that are kept, or refused with their line: edited journals, lines of other items,
sheets with an item twice.
"""

import csv
import json

import pytest

from rankwell.data.options import overwriting
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.io.line_files import append_rows, rows_in
from rankwell.tasks.judge.folder import JournalLine, append_lines, read_journals, read_study
from tasks.judge.studies import (
    estimate,
    fill,
    judge,
    judge_batches,
    pool_study,
    read_sheet,
    write_world,
)


@pytest.fixture
def truth(tmp_path):
    return write_world(tmp_path)


@pytest.fixture
def study(tmp_path, truth):
    return pool_study(tmp_path, batch_size=60)


def test_a_judgment_whose_line_end_an_editor_took_away_is_kept(study, truth):
    judge_batches(study, truth, 1)
    journal = study / "judgments" / "judge-1.jsonl"
    journal.write_bytes(journal.read_bytes().rstrip(b"\n"))

    read = read_journals(read_study(study))
    append_lines(read_study(study), [read.lines[0]._replace(grade=1.0)])

    assert len(read.lines) == 60
    assert not read.findings
    assert len(read_journals(read_study(study)).lines) == 61


@pytest.mark.parametrize("last", [b'{"a": 1', b'{"a": 1}x', b"1", b'"a"', b"[" * 100_000])
def test_a_torn_line_goes_before_the_next_one_in_every_file(tmp_path, last):
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'{"a": 0}\n' + last)

    assert rows_in(file) == ([(f"{file}:1", {"a": 0})], True)
    append_rows(file, [{"a": 2}])

    assert file.read_bytes() == b'{"a": 0}\n{"a": 2}\n'


def test_half_a_character_is_written_as_its_escape(tmp_path):
    file = tmp_path / "lines.jsonl"
    append_rows(file, [{"id": "\udce9é"}])
    append_rows(file, [{"id": "\ud83d"}])

    assert file.read_bytes() == b'{"id": "\xe9\xc3\xa9"}\n{"id": "\\ud83d"}\n'


def test_a_batch_that_a_torn_line_leaves_open_is_explained(study, truth):
    judge_batches(study, truth, 1)
    journal = study / "judgments" / "judge-1.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])

    with pytest.raises(
        NothingToEvaluate,
        match=r"no batch is finished.*judge-1\.jsonl: the last line is incomplete",
    ):
        estimate(str(study))


def test_a_judged_item_outside_the_pool_is_named_with_its_line(study, truth):
    judge_batches(study, truth, 1)
    append_lines(read_study(study), [JournalLine("t", "judge-1", "q000", "elsewhere", 1.0)])

    with pytest.raises(
        BadInput,
        match=r"judge-1\.jsonl:61: item 'elsewhere' of query 'q000' is judged, but not in the pool",
    ):
        estimate(str(study))


def test_an_item_outside_the_pool_is_named_whatever_its_bytes(study, truth):
    judge_batches(study, truth, 1)
    journal = study / "judgments" / "judge-1.jsonl"
    last = journal.read_bytes().splitlines()[-1]
    journal.write_bytes(journal.read_bytes() + last.replace(b'"item": "', b'"item": "\xff') + b"\n")

    with pytest.raises(
        BadInput, match=r"judge-1\.jsonl:61: item '\\udcff.* is judged, but not in the pool"
    ):
        estimate(str(study))


def test_a_sheet_that_grades_an_item_twice_is_refused(tmp_path, study):
    sheet = tmp_path / "batch.csv"
    judge(str(study), judge="one", export=sheet)
    first = read_sheet(sheet)[0]
    fill(sheet, {(first["query"], first["item"]): "1"})
    with sheet.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, list(first)).writerow(first | {"grade": "2"})

    with pytest.raises(
        BadInput, match=r"batch\.csv:62: item .* is at .*batch\.csv:2, too; keep one of the rows"
    ):
        judge(str(study), judge="one", import_=str(sheet))

    assert not (study / "judgments").exists()


def test_a_note_that_is_written_into_a_sheet_later_is_read(tmp_path, study):
    sheet = tmp_path / "batch.csv"
    judge(str(study), judge="one", export=sheet)
    pair = tuple(read_sheet(sheet)[0][name] for name in ("query", "item"))
    fill(sheet, {pair: "1"})
    judge(str(study), judge="one", import_=str(sheet))
    fill(sheet, {pair: "1"})
    fill(sheet, {pair: "odd"}, "note")
    judge(str(study), judge="one", import_=str(sheet))
    fill(sheet, {pair: "1"})

    last = json.loads((study / "judgments" / "one.jsonl").read_text().splitlines()[-1])

    assert (last["grade"], last["note"]) == (1.0, "odd")


def test_an_old_sheet_replaces_newer_judgments_only_on_request(tmp_path, study):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    judge(str(study), judge="one", export=old)
    rows = read_sheet(old)
    first, second = ((row["query"], row["item"]) for row in rows[:2])
    fill(old, {first: "1"})
    judge(str(study), judge="one", import_=str(old))
    new.write_bytes(old.read_bytes())
    fill(new, {first: "3", second: "2"})
    with pytest.raises(
        BadInput, match=r"new\.csv:2: grade 3; the journal has grade 1 of \S+ \(1 row differs"
    ):
        judge(str(study), judge="one", import_=str(new))
    with overwriting(True):
        taken = judge(str(study), judge="one", import_=str(new))

    with pytest.raises(
        BadInput, match=r"old\.csv:2: grade 1; the journal has grade 3 of .*--overwrite"
    ):
        judge(str(study), judge="one", import_=str(old))

    assert "1 of them in place of earlier ones" in taken.messages
    lines = [
        json.loads(line) for line in (study / "judgments" / "one.jsonl").read_text().splitlines()
    ]
    assert [(line["item"], line["grade"]) for line in lines] == [
        (first[1], 1.0),
        (first[1], 3.0),
        (second[1], 2.0),
    ]


def test_an_item_that_a_sheet_left_open_takes_its_grade_from_the_same_sheet_later(tmp_path, study):
    sheet = tmp_path / "batch.csv"
    judge(str(study), judge="one", export=sheet)
    pair = tuple(read_sheet(sheet)[0][name] for name in ("query", "item"))
    fill(sheet, {pair: "s"})
    judge(str(study), judge="one", import_=str(sheet))
    fill(sheet, {pair: "2"})

    done = judge(str(study), judge="one", import_=str(sheet))

    assert "1 judgment read from" in done.messages[0]
    fill(sheet, {pair: "s"})
    with pytest.raises(BadInput, match=r"batch\.csv:2: open; the journal has grade 2 of"):
        judge(str(study), judge="one", import_=str(sheet))


def test_what_a_page_downloaded_names_its_judge_itself(tmp_path, study):
    downloaded = tmp_path / "anna.jsonl"
    downloaded.write_text('{"judge": "anna"}\n')

    with pytest.raises(BadUsage, match=r"--judge has no effect here: .*anna\.jsonl names"):
        judge(str(study), judge="one", import_=str(downloaded))
