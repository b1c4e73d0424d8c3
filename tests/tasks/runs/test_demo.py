"""The demonstration: its hand-written questions and judgments, and the experiment that it
writes.
"""

from collections import Counter
from pathlib import Path

import pytest

from rankwell.tasks.runs.commands.demo import (
    DEPTH,
    RunDemoFiles,
    prepare,
    read_judgments,
    read_needs,
)
from rankwell.vectors.media import python_docs

# Judged, because a system returned them, but not in every version from 3.11 to 3.14.
SOME_VERSIONS = {
    *(
        "aifc",
        "asyncore",
        "audioop",
        "cgi",
        "cgitb",
        "crypt",
        "imghdr",
        "imp",
        "mailcap",
        "nis",
        "nntplib",
        "pipes",
        "smtpd",
    ),
    *("sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib", "dbm.sqlite3"),
}
# Not on every platform.
SOME_PLATFORMS = {"fcntl", "grp", "pwd", "resource", "syslog", "termios"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> RunDemoFiles:
    return prepare(tmp_path_factory.mktemp("demo"))


def rows(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_needs_are_numbered_without_gaps():
    assert [need.id for need in read_needs()] == [f"n{number:02}" for number in range(1, 61)]
    assert len({need.text for need in read_needs()}) == 60


def test_every_need_has_a_good_answer_a_bad_one_and_nothing_beyond_the_scale():
    for need in read_needs():
        grades = [row.grade for row in read_judgments() if row.need == need.id]

        assert 3 <= len(grades) <= 20, need
        assert max(grades) == 3, need
        assert min(grades) == 0, need
        assert set(grades) <= {0, 1, 2, 3}, need


def test_no_judgment_is_listed_twice_and_none_is_of_an_unknown_need():
    pairs = Counter((row.need, row.module) for row in read_judgments())

    assert pairs.most_common(1)[0][1] == 1
    assert {need for need, _ in pairs} == {need.id for need in read_needs()}


def test_every_judged_module_exists_or_is_known_to_come_and_go():
    present = {entry.id for entry in python_docs.modules()}

    assert {row.module for row in read_judgments()} - present <= SOME_VERSIONS | SOME_PLATFORMS


def test_no_module_that_comes_and_goes_is_a_good_answer():
    assert (
        max(row.grade for row in read_judgments() if row.module in SOME_VERSIONS | SOME_PLATFORMS)
        == 1
    )


def test_the_written_judgments_are_those_of_modules_that_are_here(demo: RunDemoFiles):
    present = {entry.id for entry in python_docs.modules()}

    assert rows(demo.qrels) == [
        [row.need, "0", row.module, str(row.grade)]
        for row in read_judgments()
        if row.module in present
    ]


def test_tables_hold_every_question_and_every_module(demo: RunDemoFiles):
    questions = [line.split("\t") for line in demo.queries.read_text(encoding="utf-8").splitlines()]
    documents = [
        line.split("\t") for line in demo.documents.read_text(encoding="utf-8").splitlines()
    ]

    assert questions == [list(need) for need in read_needs()]
    assert documents == [[entry.id, entry.title] for entry in python_docs.modules()]


def test_ranks_agree_with_scores_in_both_runs(demo: RunDemoFiles):
    for path in demo.runs:
        by_need: dict[str, list[tuple[int, float, str]]] = {}
        for need, _, item, rank, score, tag in rows(path):
            assert tag == path.stem
            by_need.setdefault(need, []).append((int(rank), float(score), item))

        for results in by_need.values():
            assert [rank for rank, _, _ in results] == list(range(1, len(results) + 1))
            assert len(results) <= DEPTH
            assert results == sorted(results, key=lambda result: (-result[1], result[2]))


def test_what_stands_near_the_top_is_judged(demo: RunDemoFiles):
    judged = {(row.need, row.module) for row in read_judgments()}
    for path in demo.runs:
        top = [(need, item) for need, _, item, rank, _, _ in rows(path) if int(rank) <= 5]

        assert sum(pair in judged for pair in top) / len(top) > 0.9  # 1.0 on 3.11 to 3.13


def test_searching_everything_finds_more_than_searching_first_sentences(demo: RunDemoFiles):
    best = {(row.need, row.module) for row in read_judgments() if row.grade == 3}
    first, whole = (
        {
            need
            for need, _, item, rank, _, _ in rows(path)
            if int(rank) <= 5 and (need, item) in best
        }
        for path in demo.runs
    )

    assert len(first) + 10 < len(whole) < 60


def test_a_second_preparation_writes_the_same_bytes_and_leaves_nothing_else(
    demo: RunDemoFiles, tmp_path: Path
):
    again = prepare(tmp_path / "new" / "folder")

    names = {"qrels.txt", "queries.tsv", "documents.tsv", "whole_docs.run", "first_sentences.run"}
    assert {path.name for path in again.qrels.parent.iterdir()} == names
    for name in names:
        assert (again.qrels.parent / name).read_bytes() == (demo.qrels.parent / name).read_bytes()


def test_progress_counts_every_search_once(tmp_path: Path):
    calls: list[tuple[int, int]] = []

    prepare(tmp_path, progress=lambda done, total: calls.append((done, total)))

    assert calls == [(done, 120) for done in range(1, 121)]
