"""Runs in parts: the bytes of one process, wherever the rows of a query lie, and the same errors
for the same mistakes.
"""

import hashlib
import json
import os
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import rankwell
from commanding import with_fields
from rankwell.errors import (
    BadInput,
    BadLine,
    BadUsage,
    DuplicateItem,
    NothingToEvaluate,
    UnknownName,
)
from rankwell.runtime.parts.execution import compute_part
from rankwell.tasks.runs.task import evaluate as evaluate_task
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_run, write_shards

RULES = ("id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic")
LAYOUTS = ("by-query", "scattered")
MEASURES = ["nDCG@10", "AP", "RR", "Bpref", "Success@3"]


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_judgments(Path("qrels.txt"))
    return tmp_path


def write(layout: str, suffix: str = ".run") -> None:
    """Writes a folder of shards and the file of the same rows."""
    rows = rows_of() if layout == "by-query" else scattered(rows_of())
    write_shards(Path(layout), suffix, rows, whole_queries=layout == "by-query")
    write_run(Path(f"{layout}{suffix}"), rows)


def digest(run: str, **options: Any) -> str:
    """A digest of all that an evaluation gives, except for the names of its files."""
    result = rankwell.evaluate("qrels.txt", {"run": run}, MEASURES, details=True, **options)
    details = {name: list(cells) for name, cells in (result.details or {}).items()}
    parts = [
        list(result.per_query()),
        list(result.summary),
        details,
        result.findings,
        result.describe(),
        result.left_out,
        result.queries,
    ]
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_tie_rule_gives_the_numbers_of_one_file(folder: Path, layout: str, ties: str):
    write(layout)
    one = digest(f"{layout}.run", ties=ties)

    assert digest(layout, ties=ties) == one
    assert digest(layout, ties=ties, shards=7) == one
    assert digest(f"{layout}.run", ties=ties, shards=7) == one


@pytest.mark.parametrize("shards", [1, 2, 7, 31, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_may_be_cut_anywhere(folder: Path, layout: str, shards: int):
    write(layout)

    assert digest(f"{layout}.run", ties="input", shards=shards) == digest(
        f"{layout}.run", ties="input"
    )


DAILY = (("scattered", ".parquet", 31), ("by-query", ".csv", 2))


@pytest.mark.parametrize(
    ("layout", "suffix", "shards"),
    [
        pytest.param(*each, marks=[] if each in DAILY else [pytest.mark.slow])
        for each in product(LAYOUTS, (".parquet", ".csv", ".jsonl", ".json", ".tsv"), (2, 31))
    ],
)
def test_shards_may_have_any_format(folder: Path, layout: str, suffix: str, shards: int):
    write(layout, suffix)
    options: dict[str, Any] = {"run_format": "msmarco"} if suffix == ".tsv" else {}
    one = digest(layout, **options)

    assert digest(layout, shards=shards, **options) == one
    assert digest(f"{layout}{suffix}", shards=shards, **options) == digest(
        f"{layout}{suffix}", **options
    )
    if suffix != ".tsv":  # each of whose shards counts places from 1
        assert digest(f"{layout}{suffix}", **options) == one


@pytest.mark.parametrize(
    "options",
    [
        {"convention": "trec_eval9"},
        {"average_over": "run", "no_relevant": "skip"},
        {"unjudged": "skip", "exclude_self": True},
        {"average_over": "both", "ties": "input", "min_grade": 2.0},
    ],
)
def test_other_rules_give_the_numbers_of_one_file(folder: Path, options: dict[str, Any]):
    write("scattered")

    assert digest("scattered", shards=3, **options) == digest("scattered.run", **options)


@pytest.mark.parametrize("measure", ["alpha_nDCG@10", "ERR_IA@10"])
def test_measures_of_intents_work_in_parts(folder: Path, measure: str):
    write("scattered")
    lines = [line.split() for line in Path("qrels.txt").read_text().splitlines()]
    rows = (
        f"{query} i{row % 3} {item} {grade}\n" for row, (query, _, item, grade) in enumerate(lines)
    )
    Path("intents.txt").write_text("".join(rows))

    one, parts = (
        rankwell.evaluate("intents.txt", "scattered", measure, **options)
        for options in ({}, {"shards": 3})
    )

    assert list(parts.per_query()) == list(one.per_query())
    assert parts.manifest() == one.manifest()


def test_several_runs_are_cut_together(folder: Path):
    for layout in LAYOUTS:
        write(layout)
    runs = ["by-query", "scattered", "scattered.run"]

    one, parts = (
        rankwell.evaluate("qrels.txt", runs, "AP", **options)
        for options in ({}, {"shards": 5, "work": "work"})
    )

    assert list(parts.per_query()) == list(one.per_query())
    assert parts.manifest() == one.manifest()
    assert len(json.loads(Path("work/plan.json").read_text())["boundaries"]["parts"]) == 5


def files(result: str) -> dict[str, bytes]:
    return {
        path.relative_to(result).as_posix(): path.read_bytes()
        for path in sorted(Path(result).rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("executor", ["processes:2", pytest.param("here", marks=pytest.mark.slow)])
def test_a_result_folder_has_the_bytes_of_one_process(folder: Path, executor: str):
    write("scattered")
    run = with_fields(evaluate_task.command())
    run("qrels.txt", "scattered/", output=Path("one"))

    run("qrels.txt", "scattered/", output=Path("parts"), executor=executor, shards=4)

    assert files("parts") == files("one")
    listed = json.loads(Path("one/manifest.json").read_text())["inputs"]
    assert listed["scattered/part-003.run"]["file"] == "scattered/part-003.run"


def test_an_array_is_submitted_for_each_round(folder: Path):
    write("scattered")
    options = {"executor": "array", "work": "work", "shards": 3}
    one = digest("scattered")

    for part_folder in ("work", "work/second"):
        with pytest.raises(
            rankwell.Unfinished,
            match=f"sbatch --array=0-2 (.|\n)*rankwell worker {part_folder} --threads",
        ):
            digest("scattered", **options)
        for index in range(3):
            compute_part(Path(part_folder), index)

    assert digest("scattered", **options) == one


def test_files_by_query_need_no_second_round(folder: Path):
    write("by-query")

    digest("by-query", work=Path("work"), shards=3)

    assert not Path("work/second").exists()


def test_finished_parts_serve_other_measures_and_intervals(folder: Path):
    write("scattered")
    rankwell.evaluate("qrels.txt", "scattered", "AP", work="work", shards=3)
    before = {path: path.stat().st_ino for path in Path("work").rglob("part-*.arrays")}

    found = rankwell.evaluate("qrels.txt", "scattered", ["RR", "P@5"], work="work", intervals="t")

    assert (
        found.summary
        == rankwell.evaluate("qrels.txt", "scattered", ["RR", "P@5"], intervals="t").summary
    )
    assert {path: path.stat().st_ino for path in before} == before


def test_judgments_that_changed_since_the_last_call_of_a_process_are_read_anew(folder: Path):
    write("scattered")
    digest("scattered", shards=3)
    lines = Path("qrels.txt").read_text().splitlines(keepends=True)
    Path("qrels.txt").write_text(
        "".join(line for line in lines if not line.startswith(lines[0].split()[0] + " "))
    )

    assert digest("scattered", shards=3) == digest("scattered")


def test_costs_are_shown_before_any_work(folder: Path):
    write("scattered")

    shown = with_fields(evaluate_task.command())(
        "qrels.txt", "scattered", dry_run=True, shards=3, work="work"
    ).text.splitlines()

    size = sum(each.stat().st_size for each in Path("scattered").iterdir())
    assert [line.split()[-1] for line in shown] == ["3", "7", f"{size:,}"]
    assert not Path("work").exists()


@pytest.mark.parametrize(("least", "parts"), [(16 << 20, "1"), (6000, "3"), (2000, "9")])
def test_an_array_has_parts_that_are_worth_a_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, least: int, parts: str
):
    write("scattered")
    monkeypatch.setattr("rankwell.tasks.runs.parts.runs._LEAST", least)

    shown = with_fields(evaluate_task.command())(
        "qrels.txt", "scattered", dry_run=True, executor="array"
    ).text.splitlines()

    assert 18_000 <= sum(each.stat().st_size for each in Path("scattered").iterdir()) < 20_000
    assert shown[0].split()[-1] == parts


def test_a_plan_of_one_part_is_named_as_one(folder: Path):
    write("scattered")
    planned, again = (
        with_fields(evaluate_task.command())(
            "qrels.txt", "scattered", executor="array", work="work"
        )
        for _ in range(2)
    )

    assert planned.messages == (
        "work has the plan of 1 part; submit it, then run this command again.",
    )
    assert again.messages == ("1 of 1 part is missing: 0; submit it, then run this command again.",)


# ---- mistakes
# --------------------------------------------------------------------------------------------------


def append(name: str, text: str) -> None:
    with Path("scattered", name).open("a", encoding="utf-8") as file:
        file.write(text)


FORMATS = (
    r"scattered/x\.csv is csv, scattered/part-000\.run is trec; the shards of a run have one format"
)
TWICE = (
    r"query 'q\d+' lists item 'd\d+' twice, in scattered/part-00\d\.run and in "
    r"scattered/part-006\.run; keep one of them"
)
MISTAKES = {
    "an empty file": (
        lambda: append("part-9.run", ""),
        BadInput,
        r"scattered/part-9\.run is empty",
    ),
    "another format": (lambda: append("x.csv", "query,item,score\nq1,d1,2\n"), BadInput, FORMATS),
    "a folder inside": (
        lambda: Path("scattered/more").mkdir(),
        BadInput,
        r"scattered/more is a folder",
    ),
    "a data set": (
        lambda: Path("scattered/qrels").mkdir(),
        BadInput,
        r"scattered is a BEIR data set \(it has qrels\)",
    ),
    "a result": (lambda: append("manifest.json", "{}"), BadInput, r"scattered is a result folder"),
    "a bad line": (
        lambda: append("part-004.run", "q1 Q0 d1\n"),
        BadLine,
        r"scattered/part-004\.run:\d+: 3 fields",
    ),
    "a bad score": (
        lambda: append("part-004.run", "q1 Q0 d1 1 nan t\n"),
        BadInput,
        r"part-004\.run:\d+: the score is 'nan'",
    ),
    "a judged item in two files": (lambda: repeat(judged=True), DuplicateItem, TWICE),
    "an unjudged item in two files": (lambda: repeat(judged=False), DuplicateItem, TWICE),
    "no common query": (
        lambda: Path("qrels.txt").write_text("x 0 y 1\n"),
        NothingToEvaluate,
        r"no query to evaluate",
    ),
    "duplicates to drop": (
        None,
        BadUsage,
        r"duplicates='first': query 'q10' has rows in several files",
    ),
    "a tie": (None, BadInput, r"items share the score"),
    "an unknown format": (None, UnknownName, r"unknown format of runs 'tec'"),
}
OPTIONS = {
    "duplicates to drop": {"duplicates": "first"},
    "a tie": {"ties": "error"},
    "an unknown format": {"run_format": "tec"},
}


def repeat(*, judged: bool) -> None:
    """Appends a row of the first file to the last one."""
    pairs = {tuple(line.split()[::2]) for line in Path("qrels.txt").read_text().splitlines()}
    known = {query for query, _ in pairs}
    lines = Path("scattered/part-000.run").read_text().splitlines()
    chosen = (
        line
        for line in lines
        if line.split()[0] in known and (tuple(line.split()[:3:2]) in pairs) == judged
    )
    append("part-006.run", f"{next(chosen)}\n")


def by_hand(**options: Any) -> None:
    """An evaluation, for an array with all its parts."""
    for place in ("work", "work/second", ""):
        try:
            digest("scattered", **options)
        except rankwell.Unfinished:
            for index in range(2):
                compute_part(Path(place), index)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_the_same_error_in_one_process_and_in_parts(folder: Path, mistake: str):
    write("scattered")
    make, kind, message = MISTAKES[mistake]
    if make is not None:
        make()
    given: dict[str, Any] = OPTIONS.get(mistake, {})
    errors: list[str] = []
    for options in ({}, {"shards": 3}, {"executor": "array", "work": "work", "shards": 2}):
        with pytest.raises(kind, match=message) as error:
            by_hand(**given, **options)
        errors.append(str(error.value).replace(f"{folder}/", ""))

    assert len(set(errors)) == 1
    assert "\n" not in errors[0]


def test_an_item_twice_in_one_file_is_the_same_error_wherever_the_file_is_cut(folder: Path):
    write("scattered")
    lines = Path("scattered.run").read_text().splitlines()
    row = next(row for row, line in enumerate(lines) if line.startswith("q9 "))
    Path("scattered.run").write_text("\n".join([*lines, lines[row]]))

    for shards in (None, 2, 31):
        with pytest.raises(
            DuplicateItem,
            match=r"scattered\.run:871: query 'q9' lists item 'd\d+' twice, in lines "
            rf"{row + 1} and "
            r"871",
        ):
            digest("scattered.run", shards=shards)


@pytest.mark.parametrize("unreadable", ["q1 Q0 d1 1 x t", "q1 d1"])
def test_a_bad_line_is_named_by_its_number_in_the_file(folder: Path, unreadable: str):
    write("by-query")
    lines = Path("by-query.run").read_text().splitlines()
    Path("by-query.run").write_text("\n".join([*lines[:700], unreadable, *lines[700:]]))

    with pytest.raises(BadInput, match=r"by-query\.run:701: "):
        digest("by-query.run", shards=9)


SHARD = Path("scattered/part-002.run")
CHANGES = {
    "changed": (
        lambda: append(SHARD.name, "q1 Q0 d99 1 0.5 t\n"),
        r"part-002\.run has changed \(\d+ bytes then, \d+ now\)",
    ),
    "renamed": (lambda: SHARD.rename("scattered/part-9.run"), r"part-9\.run was not an input"),
    "added": (lambda: shutil.copy(SHARD, "scattered/more.run"), r"more\.run was not an input"),
    "removed": (SHARD.unlink, r"part-002\.run is not an input any more"),
    "judgments": (lambda: Path("qrels.txt").write_text("q3 0 d1 1\n"), r"qrels\.txt has changed"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("done", [0, 1, 3])
def test_a_file_that_changes_between_plan_and_parts_is_refused(
    folder: Path, change: str, done: int
):
    write("scattered")
    options = {"executor": "array", "work": "work", "shards": 3}
    with pytest.raises(rankwell.Unfinished):
        digest("scattered", **options)
    for index in range(done):
        compute_part(Path("work"), index)
    make, message = CHANGES[change]
    make()

    if done < 3 and change != "added":
        with pytest.raises(BadInput, match=r"has changed since the plan was written|no such file"):
            compute_part(Path("work"), done)
    with pytest.raises(BadUsage, match=message):
        digest("scattered", **options)


DAMAGE = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "shortened": lambda file: os.truncate(file, 200),
    "changed": lambda file: file.write_bytes(file.read_bytes()[:-1] + b"?"),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("place", ["work/part-00001.arrays", "work/second/part-00002.arrays"])
def test_a_damaged_part_is_made_again(folder: Path, damage: str, place: str):
    write("scattered")
    one = digest("scattered", work="work", shards=3)

    DAMAGE[damage](Path(place))

    assert digest("scattered", work="work", shards=3) == one


def test_a_part_of_other_work_is_refused(folder: Path):
    write("scattered")
    digest("scattered", work="other", shards=3, ties="input")
    digest("scattered", work="work", shards=3)
    for suffix in ("json", "arrays"):
        shutil.copy(f"other/part-00001.{suffix}", "work")

    with pytest.raises(
        BadInput, match=r"work/part-00001\.json is part 1 of another plan; remove it"
    ):
        digest("scattered", work="work", shards=3)


@pytest.mark.parametrize("runs", ["-", {"run": {"q1": ["d1"]}}])
def test_what_is_not_in_files_is_refused(folder: Path, runs: Any):
    with pytest.raises(
        BadUsage, match=r"cannot be read by several processes|parts are computed from files"
    ):
        rankwell.evaluate("qrels.txt", runs, "AP", shards=2)


def test_a_folder_without_files_is_not_a_run(folder: Path):
    Path("none").mkdir()

    with pytest.raises(
        BadInput, match="none is a folder without files; expected the files of one run"
    ):
        rankwell.evaluate("qrels.txt", "none", "AP")


def test_hidden_files_are_left_out(folder: Path):
    write("scattered")
    one = digest("scattered")

    for name in ("_SUCCESS", ".part-000.run.crc"):
        append(name, "")

    assert digest("scattered") == one


def test_a_bench_does_not_divide_its_cells(folder: Path):
    write("scattered")
    cell = (
        'name = "d"\ncommand = "evaluate"\nqrels = "qrels.txt"\nruns = "scattered.run"\nexecutor '
        '= "here"'
    )
    Path("bench.toml").write_text(f'[[dataset]]\n{cell}\n\n[[system]]\nname = "s"\n')

    with pytest.raises(
        BadInput,
        match="`rankwell bench` decides how results are written and where cells are evaluated",
    ):
        rankwell.bench("bench.toml")
