"""SQLite's full-text search: what it ranks first, and that no question is a program."""

import sqlite3
from unittest import mock

import pytest

from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import RankwellError

DOCUMENTS = [
    ("argparse", "parsing of command line options"),
    ("getopt", "old parser for command line options; options as in C"),
    ("sched", "runs events at a given time"),
    ("threads", "ThreadPoolExecutor thread pool executor"),
]


def ids(query: str, k: int = 10) -> list[str]:
    with SqliteFts(DOCUMENTS) as index:
        return [item for item, _ in index.search(query, k)]


def test_documents_that_hold_more_of_the_question_come_first():
    assert ids("parse events of the command line") == ["argparse", "sched", "getopt"]


def test_endings_and_case_do_not_matter():
    assert ids("RUNNING Event") == ["sched"]


def test_scores_are_higher_for_better_documents():
    with SqliteFts(DOCUMENTS) as index:
        scores = [score for _, score in index.search("command line options", 10)]

    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_equal_scores_are_ordered_by_id():
    with SqliteFts([(item, "the same words") for item in "cab"] + [("d", "others entirely")] * 4) as index:
        assert [item for item, _ in index.search("words", 10)] == ["a", "b", "c"]


def test_no_more_than_k_results_are_given():
    assert len(ids("command", 1)) == 1
    assert ids("command", 0) == []


@pytest.mark.parametrize("query", ["", "   ", "***", '"', '""', "'", "()", "-", "_", "\0", "\N{COMBINING ACUTE ACCENT}"])
def test_a_question_without_words_has_no_answer(query: str):
    assert ids(query) == []


@pytest.mark.parametrize(
    "query",
    [
        'sched"; DROP TABLE documents; --',
        "NEAR(sched",
        "sched NOT",
        "NOT sched",
        "sched*",
        "id:sched",
        "{id text} : sched",
        '"sched',
        "sched AND AND",
        "^sched",
        "sched\0events",
        "events " * 2000,
        " ".join(f"w{number}" for number in range(2000)) + " events",
    ],
)
def test_the_query_language_of_fts5_means_nothing(query: str):
    with SqliteFts([("1", "sched runs events"), ("2", "another"), ("3", "one")]) as index:
        assert [item for item, _ in index.search(query, 10)] == ["1"]
        assert [item for item, _ in index.search("another one", 10)] == ["2", "3"]


def test_the_id_of_a_document_is_not_searched():
    assert ids("threads pool") == ["threads"]
    assert ids("sched") == []


def test_an_index_of_nothing_finds_nothing():
    with SqliteFts([]) as index:
        assert index.search("anything", 10) == []


def test_two_indexes_of_the_same_documents_give_the_same_scores():
    with SqliteFts(DOCUMENTS) as one, SqliteFts(iter(DOCUMENTS)) as other:
        assert one.search("command line events", 10) == other.search("command line events", 10)


def test_another_tokenizer_can_be_requested():
    with SqliteFts(DOCUMENTS, tokenizer="unicode61") as index:
        assert index.search("parse", 10) == []


@pytest.mark.parametrize("tokenizer", ["klingon", "it's", "unicode61') --"])
def test_an_unknown_tokenizer_is_refused_by_name(tokenizer: str):
    with pytest.raises(RankwellError, match=r"does not support the tokenizer .*try 'porter unicode61'"):
        SqliteFts(DOCUMENTS, tokenizer=tokenizer)


def test_a_sqlite_without_fts5_is_named_in_the_error():
    database = mock.Mock()
    database.execute.side_effect = sqlite3.OperationalError("no such module: fts5")

    with mock.patch("sqlite3.connect", return_value=database), pytest.raises(RankwellError, match="no such module: fts5"):
        SqliteFts(DOCUMENTS)

    database.close.assert_called_once()
