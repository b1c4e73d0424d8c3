"""Judgments as Quepid and OpenSearch hold them: read, written, and with texts in place of ids."""

import json
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadUsage, DuplicateItem
from rankwell.io import formats as files

TEXTS = {"q1": 'red "dress", size 36', "q2": "Schuhe – größer\nals 40"}
GRADES = {"q1": {"d1": 3.0, "d, 2": 0.0}, "q2": {"d1": 0.5}}
BY_TEXT = {TEXTS[query]: items for query, items in GRADES.items()}


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    rows = [
        f"{query}\t{item}\t{grade:g}\n"
        for query, items in GRADES.items()
        for item, grade in items.items()
    ]
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tgrade\n" + "".join(rows))
    lines = [json.dumps({"_id": query, "text": text}) + "\n" for query, text in TEXTS.items()]
    (tmp_path / "queries.jsonl").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize(("name", "suffix"), [("quepid", "csv"), ("opensearch", "json")])
def test_judgments_go_by_the_texts_of_queries_and_come_back(beir: Path, name: str, suffix: str):
    done = rw.convert(beir, beir / f"out.{suffix}", target_format=name)

    assert done.target_format == name
    assert any("queries go by their texts in" in note for note in done.messages)
    assert files.find_judgments(beir / f"out.{suffix}").format == name
    assert files.read_judgments(beir / f"out.{suffix}").to_dict() == BY_TEXT


def test_quepid_and_opensearch_read_what_is_documented(tmp_path: Path):
    (tmp_path / "quepid.csv").write_text('query,docid,rating\r\nstar wars,11,3\r\n"a, b",12,0\r\n')
    request = {"name": "x", "description": "y", "type": "IMPORT_JUDGMENT"}
    ratings = [{"docId": "B077ZJXCTS", "rating": "3.000"}, {"docId": "B071S6LTJJ", "rating": 0.75}]
    request["judgmentRatings"] = [{"query": "red dress", "ratings": ratings}]
    (tmp_path / "open.json").write_text(json.dumps(request))

    assert files.read_judgments(tmp_path / "quepid.csv").to_dict() == {
        "star wars": {"11": 3.0},
        "a, b": {"12": 0.0},
    }
    assert files.read_judgments(tmp_path / "open.json").to_dict() == {
        "red dress": {"B077ZJXCTS": 3.0, "B071S6LTJJ": 0.75}
    }


def test_a_line_of_ratings_within_quotes_and_an_item_of_two_lines_are_refused(tmp_path: Path):
    (tmp_path / "open.csv").write_text('query,docid,rating\n"red,d1,1\nblue",d2,0\ngreen,d3,1\n')
    (tmp_path / "item.csv").write_text('query,docid,rating\nred,"d1\nx",1\n')

    with pytest.raises(BadInput, match=r"open\.csv: the query 'red,d1,1\\nblue' holds a rating"):
        files.read_judgments(tmp_path / "open.csv")
    with pytest.raises(
        BadInput, match=r"item\.csv:2: a quotation mark opens a field that this line does not close"
    ):
        files.read_judgments(tmp_path / "item.csv")


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([], r"\$\['judgmentRatings'\] is \[\]"),
        ([{"query": "a"}], r"\[0\] is \{'query': 'a'\}"),
        (
            [{"query": "a", "ratings": []}, {"query": "a", "ratings": []}],
            r"\[1\]: the query 'a' appears twice",
        ),
        (
            [{"query": "a", "ratings": [{"docId": "d", "rating": "high"}]}],
            r"\['ratings'\]\[0\]: the rating is 'high'",
        ),
        ([{"query": "a", "ratings": [{"docId": "d", "rating": True}]}], "the rating is True"),
        (
            [{"query": "a", "ratings": [{"docId": "d", "rating": 10**400}]}],
            "an integer of 401 digits",
        ),
        ([{"query": "a", "ratings": [{"rating": 1}]}], r"\['ratings'\]\[0\] is \{'rating': 1\}"),
        ([{"query": "a", "ratings": [{"docId": "d", "rating": "1e999"}]}], "the grade is inf"),
    ],
)
def test_judgments_of_another_form_are_refused_by_place(
    tmp_path: Path, lists: object, expected: str
):
    (tmp_path / "bad.json").write_text(
        json.dumps({"type": "IMPORT_JUDGMENT", "judgmentRatings": lists})
    )

    with pytest.raises(BadInput, match=expected):
        files.read_judgments(tmp_path / "bad.json")


def test_an_item_that_a_query_rates_twice_is_an_error_or_chosen(tmp_path: Path):
    ratings = [{"docId": "d", "rating": 1}, {"docId": "d", "rating": 2}]
    (tmp_path / "twice.json").write_text(
        json.dumps({"judgmentRatings": [{"query": "a", "ratings": ratings}]})
    )

    with pytest.raises(DuplicateItem):
        files.read_judgments(tmp_path / "twice.json")
    assert files.read_judgments(tmp_path / "twice.json", duplicates="best").to_dict() == {
        "a": {"d": 2.0}
    }


def test_texts_that_are_missing_or_shared_are_refused_and_ids_stand_where_there_are_no_texts(
    beir: Path, tmp_path: Path
):
    qrels = beir / "qrels" / "test.tsv"
    done = rw.convert(qrels, tmp_path / "ids.json", target_format="opensearch")
    assert "queries go by their ids; name their texts with queries" in done.messages
    assert files.read_judgments(tmp_path / "ids.json").to_dict() == GRADES

    (tmp_path / "one.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    (tmp_path / "same.jsonl").write_text('{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "a"}\n')
    with pytest.raises(BadInput, match="query 'q2' has no text"):
        rw.convert(
            qrels, tmp_path / "x.csv", target_format="quepid", queries=tmp_path / "one.jsonl"
        )
    with pytest.raises(BadInput, match="queries 'q1' and 'q2' have the same text"):
        rw.convert(
            qrels, tmp_path / "x.csv", target_format="quepid", queries=tmp_path / "same.jsonl"
        )
    with pytest.raises(BadUsage, match="queries of trec go by what"):
        rw.convert(qrels, tmp_path / "x.qrels", queries=tmp_path / "one.jsonl")
    assert not (tmp_path / "x.csv").exists()


def test_a_rating_in_other_digits_is_refused(tmp_path: Path):
    ratings = [{"query": "a", "ratings": [{"docId": "1", "rating": "\u0661"}]}]
    (tmp_path / "r.json").write_text(json.dumps({"judgmentRatings": ratings}))

    with pytest.raises(BadInput, match="the rating is '\u0661'; expected a number"):
        files.read_judgments(tmp_path / "r.json")
