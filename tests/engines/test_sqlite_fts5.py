"""SQLite's full-text search: what it ranks first, and that no question is a program."""

import sqlite3
from unittest import mock

import numpy as np
import pytest

from oracles.lexical_engines import bm25
from rankwell.engines import EngineItems, EngineQuery, open_engine
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadInput, RankwellError

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
    with SqliteFts(
        [(item, "the same words") for item in "cab"] + [("d", "others entirely")] * 4
    ) as index:
        assert [item for item, _ in index.search("words", 10)] == ["a", "b", "c"]


def test_no_more_than_k_results_are_given():
    assert len(ids("command", 1)) == 1
    assert ids("command", 0) == []


@pytest.mark.parametrize(
    "query", ["", "   ", "***", '"', '""', "'", "()", "-", "_", "\0", "\N{COMBINING ACUTE ACCENT}"]
)
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
    with pytest.raises(
        RankwellError, match=r"does not support the tokenizer .*try 'porter unicode61'"
    ):
        SqliteFts(DOCUMENTS, tokenizer=tokenizer)


def test_a_sqlite_without_fts5_is_named_in_the_error():
    database = mock.Mock()
    database.execute.side_effect = sqlite3.OperationalError("no such module: fts5")

    with (
        mock.patch("sqlite3.connect", return_value=database),
        pytest.raises(RankwellError, match="no such module: fts5"),
    ):
        SqliteFts(DOCUMENTS)

    database.close.assert_called_once()


@pytest.mark.parametrize(
    ("k1", "b"), [(1.2, 0.75), (0.0, 0.75), (0.9, 0.4), (3.0, 0.0), (2.0, 1.0)]
)
@pytest.mark.parametrize("words", ["any", "all"])
def test_scores_are_those_of_bm25_with_any_constants(k1: float, b: float, words: str):
    random = np.random.default_rng(5)
    texts = {
        f"d{row:02}": " ".join(random.choice(list("abcdefgh"), random.integers(1, 30)))
        for row in range(40)
    }
    texts["empty"] = ""
    with SqliteFts(texts.items()) as index:
        for query in ("a", "b c", "c c h z", "g a b e"):
            expected = bm25(query, texts, k1, b)
            asked = {word for word in query.split() if words == "all"}
            expected = {
                item: score for item, score in expected.items() if asked <= set(texts[item].split())
            }

            found = dict(index.search(query, 100, words=words, k1=k1, b=b))

            assert found == pytest.approx(expected, rel=1e-12)
            assert list(found) == sorted(found, key=lambda item: (-found[item], item))


def test_words_are_stemmed_and_fields_count_with_other_constants_too():
    fields = [("colour", "red", "argparse"), ("colour", "blue", "getopt")]
    with SqliteFts(DOCUMENTS, fields=fields) as index:
        assert [item for item, _ in index.search("PARSE options", 10, k1=2.0)] == [
            "argparse",
            "getopt",
        ]
        assert [
            item for item, _ in index.search("PARSE options", 10, k1=2.0, fields={"colour": "blue"})
        ] == ["getopt"]
        assert index.search("***", 10, k1=2.0) == []


def test_constants_are_parameters_of_a_session():
    with open_engine("sqlite-fts5", {"k1": 2.0}) as engine:
        engine.index(EngineItems(*map(list, zip(*DOCUMENTS, strict=True))))
        with engine.session() as session:
            session.configure({"b": 0.0})
            assert session.parameters() == {"words": "any", "k1": 2.0, "b": 0.0}
            assert session.search(EngineQuery("q", "events"), 5).ids == ["sched"]
            with pytest.raises(BadInput, match=r"b is 2; expected k1 from 0, and b from 0 to 1"):
                session.configure({"b": 2.0})
            for k1 in (float("nan"), float("inf")):
                with pytest.raises(BadInput, match=rf"k1 is {k1}"):
                    session.configure({"k1": k1})
