"""Rows that list the relevant or the retrieved items of a query, as teams that build RAG keep
them: the same data as TREC files, chunks of documents, chosen columns, refusals.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwell as rw
from rankwell.data.findings import Finding
from rankwell.errors import BadInput, BadScore, DuplicateItem
from rankwell.io.formats import find_hits, find_judgments, read_texts

QUESTIONS = [
    {"id": "Q1", "question": "How do I raise a quota?", "gold_docs": ["quota-3"]},
    {"id": "Q2", "question": "How do I restore a backup?", "gold_docs": ["backup-2", "backup-4"]},
]
RETRIEVED = [
    {
        "id": "Q1",
        "chunks": [
            {"chunk_id": "sso-1#0", "doc_id": "sso-1", "score": 0.9, "text": "Sign in."},
            {"chunk_id": "quota-3#2", "doc_id": "quota-3", "score": 0.8, "text": "Ask for more."},
            {"chunk_id": "quota-3#0", "doc_id": "quota-3", "score": 0.7, "text": "Quotas."},
        ],
    },
    {
        "id": "Q2",
        "chunks": [
            {"chunk_id": "backup-2#1", "doc_id": "backup-2", "score": 0.6, "text": "Restore."},
            {"chunk_id": "sso-1#1", "doc_id": "sso-1", "score": 0.5, "text": "Sign out."},
        ],
    },
]
DOCUMENTS = {"Q1": {"sso-1": 0.9, "quota-3": 0.8}, "Q2": {"backup-2": 0.6, "sso-1": 0.5}}


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def kinds(findings: Any) -> list[str]:
    return [finding.name for finding in findings]


def test_a_row_lists_the_relevant_items_of_its_query_each_of_grade_1(tmp_path: Path):
    found = find_judgments(lines(tmp_path / "questions.jsonl", QUESTIONS))
    assert found.format == "lists"
    assert found.findings == ()
    assert found.judgments.to_dict() == {
        "Q1": {"quota-3": 1.0},
        "Q2": {"backup-2": 1.0, "backup-4": 1.0},
    }


@pytest.mark.parametrize(
    "name",
    [
        *("gold_docs", "gold", "goldDocIds", "relevant", "relevant_docs", "Relevant Documents"),
        *("relevant-ids", "positives", "positive_ids", "expected", "expected_docs"),
        *("ground_truth_docs", "gold_chunks", "reference_context_ids", "positive_passages"),
    ],
)
@pytest.mark.parametrize("members", [["a", 7], [{"id": "a"}, {"id": 7}], [["a", 1], ["7", 1]]])
def test_relevant_items_are_listed_under_any_everyday_name(
    tmp_path: Path, name: str, members: list[Any]
):
    for query in ("id", "query_id", "question", "_id", "question_id"):
        rows = [{query: "q", name: members}, {query: "r", name: []}]
        for path, text in (("a.jsonl", None), ("a.json", json.dumps(rows, indent=1))):
            place = lines(tmp_path / path, rows)
            if text is not None:
                place.write_text(text)
            judgments = rw.read_judgments(place)
            assert judgments.to_dict() == {"q": {"a": 1.0, "7": 1.0}, "r": {}}


@pytest.mark.parametrize(
    "name",
    [
        *("chunks", "retrieved", "results", "contexts", "hits", "documents", "retrieved_docs"),
        *("retrievedDocuments", "docs", "retrieved_context_ids"),
    ],
)
@pytest.mark.parametrize(
    "members",
    [["b", "a"], [{"doc_id": "b"}, {"doc_id": "a"}], [{"chunk_id": "b"}, {"chunk_id": "a"}]],
)
def test_the_order_of_a_list_is_the_ranking_where_there_are_no_scores(
    tmp_path: Path, name: str, members: list[Any]
):
    findings: list[Finding] = []
    place = lines(tmp_path / "run.jsonl", [{"id": "q", name: members}])
    ranking = rw.read_ranking(place, findings=findings)
    assert ranking.to_dict() == {"q": {"b": -1.0, "a": -2.0}}
    assert findings == []


def test_the_id_of_a_row_is_its_query_and_other_names_hold_the_text(tmp_path: Path):
    rows = [{"id": "q1", "query": "what?", "question": "what?", "gold": ["a"]}]
    assert rw.read_judgments(lines(tmp_path / "a.jsonl", rows)).queries[0] == "q1"
    rows = [{"id": 7, "query_id": "q1", "gold": ["a"]}]
    assert rw.read_judgments(lines(tmp_path / "b.jsonl", rows)).queries[0] == "q1"


def test_one_file_may_hold_both_lists(tmp_path: Path):
    rows = [{"question": "what?", "expected_ids": ["b"], "retrieved_ids": ["a", "b"]}]
    place = lines(tmp_path / "all.jsonl", rows)
    assert rw.evaluate(place, place, measures=["RR"])["RR"] == 0.5


def test_judged_objects_may_have_grades(tmp_path: Path):
    rows = [{"id": "q", "relevant": [{"doc_id": "a", "grade": 2}, {"doc_id": "b", "grade": 1}]}]
    place = lines(tmp_path / "a.jsonl", rows)
    assert rw.read_judgments(place).to_dict() == {"q": {"a": 2.0, "b": 1.0}}


def test_the_best_chunk_counts_for_its_document(tmp_path: Path):
    findings: list[Finding] = []
    place = lines(tmp_path / "v1.jsonl", RETRIEVED)
    assert rw.read_ranking(place, findings=findings).to_dict() == DOCUMENTS
    assert kinds(findings) == ["chunks-of-one-document"]
    assert "count as one, at the rank of the first, in 1 list" in findings[0]

    # The best by its score, wherever it is listed; without scores the first.
    rows = [{"id": "Q1", "chunks": RETRIEVED[0]["chunks"][::-1]}]
    expected = {"Q1": {"quota-3": 0.8, "sso-1": 0.9}}
    assert rw.read_ranking(lines(tmp_path / "v2.jsonl", rows)).to_dict() == expected
    bare = [{"chunk_id": each["chunk_id"], "doc_id": each["doc_id"]} for each in rows[0]["chunks"]]
    place = lines(tmp_path / "v3.jsonl", [{"id": "Q1", "chunks": bare}])
    assert list(rw.read_ranking(place).items) == ["quota-3", "sso-1"]
    # Distances: the smallest is the best.
    far = [{"id": number, "doc_id": "d", "distance": number} for number in (3, 1, 2)]
    place = lines(tmp_path / "v4.jsonl", [{"query": "q", "hits": far}])
    assert rw.read_ranking(place).to_dict() == {"q": {"d": -1.0}}


def test_the_same_chunks_in_python_and_in_other_json(tmp_path: Path):
    lists = {row["id"]: row["chunks"] for row in RETRIEVED}
    place = tmp_path / "run.json"
    place.write_text(json.dumps(lists))
    for thing in (lists, place):
        assert rw.read_ranking(thing).to_dict() == DOCUMENTS


def test_columns_of_rows_and_of_their_objects_can_be_chosen(tmp_path: Path):
    place = lines(tmp_path / "v1.jsonl", RETRIEVED)
    chunks = rw.read_ranking(place, columns="item=chunk_id")
    assert chunks.to_dict()["Q1"] == {"sso-1#0": 0.9, "quota-3#2": 0.8, "quota-3#0": 0.7}
    odd = [{"nr": "q", "top": [{"x": "a", "p": 0.1, "rank": 1}, {"x": "b", "p": 0.2, "rank": 2}]}]
    place = lines(tmp_path / "odd.jsonl", odd)
    with pytest.raises(BadInput, match="expected an id"):
        rw.read_ranking(place, columns="query=nr,item=top")
    odd[0]["documents"] = odd[0].pop("top")
    place = lines(tmp_path / "odd.jsonl", odd)
    ranking = rw.read_ranking(place, columns="query=nr,item=x,score=p")
    assert ranking.to_dict() == {"q": {"a": 0.1, "b": 0.2}}
    ranking = rw.read_ranking(place, columns="query=nr,item=x,rank=rank")
    assert ranking.to_dict() == {"q": {"a": -1.0, "b": -2.0}}

    graded = [{"nr": "q", "mine": [{"x": "a", "relevance": 1, "g": 3}], "other": 1}]
    place = lines(tmp_path / "gold.jsonl", graded)
    with pytest.raises(BadInput, match="expected an id"):
        rw.read_judgments(place, qrels_columns="query=nr,item=mine")
    graded[0]["gold"] = graded[0].pop("mine")
    place = lines(tmp_path / "gold.jsonl", graded)
    judgments = rw.read_judgments(place, qrels_columns="query=nr,item=x,grade=g")
    assert judgments.to_dict() == {"q": {"a": 3.0}}
    bare = lines(tmp_path / "bare.jsonl", [{"nr": "q", "mine": ["a"]}])
    assert rw.read_judgments(bare, qrels_columns="query=nr,item=mine").to_dict() == {
        "q": {"a": 1.0}
    }


def test_the_judgments_decide_whether_documents_or_chunks_are_ranked(tmp_path: Path):
    place = lines(tmp_path / "v1.jsonl", RETRIEVED)
    of_documents = rw.read_judgments({"Q1": ["quota-3"]})
    of_chunks = rw.read_judgments({"Q1": ["quota-3#0"]})
    hits = find_hits(place, of_documents)
    assert hits.hits.above.tolist() == [1]
    assert kinds(hits.findings) == ["chunks-of-one-document"]
    hits = find_hits(place, of_chunks)
    assert hits.hits.above.tolist() == [2]
    assert kinds(hits.findings) == ["reading-choice"]
    assert "items go by 'chunk_id', as in the judgments" in hits.findings[0]
    # Nothing judged is retrieved: documents.
    assert kinds(find_hits(place, rw.read_judgments({"Q1": ["x"]})).findings) == [
        "chunks-of-one-document"
    ]


def test_chunks_that_are_judged_are_items_and_not_documents_in_another_notation(tmp_path: Path):
    gold = lines(
        tmp_path / "gold.jsonl",
        [{"id": row["id"], "relevant": [row["chunks"][1]["chunk_id"]]} for row in RETRIEVED],
    )
    other = [
        {
            "id": row["id"],
            "chunks": [
                {"chunk_id": f"{each['doc_id']}#9", "doc_id": each["doc_id"]}
                for each in row["chunks"][:1]
            ]
            + row["chunks"][2:],
        }
        for row in RETRIEVED
    ]
    other[1]["chunks"].append({"chunk_id": "quota-3#2", "doc_id": "quota-3", "score": 0.1})
    other[1]["chunks"][0]["score"] = 0.9
    other[0]["chunks"][0]["score"] = 0.9
    result = rw.evaluate(gold, lines(tmp_path / "v2.jsonl", other), measures=["RR"])
    assert result["RR"] == 0.0


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ([{"id": "q"}], BadInput, r":2 is \{'id': 'q'\}; expected \{\"query_id\": …, \"relevant_d"),
        ([{"id": "q", "gold": 5}], BadInput, r":2 is .*expected \{\"query_id\""),
        ([{"id": "q", "gold": "a"}], BadInput, r":2 is .*expected \{\"query_id\""),
        ([{"id": "", "gold": ["a"]}], BadInput, r":2 is .*expected \{\"query_id\""),
        ([{"id": None, "gold": ["a"]}], BadInput, r":2 is .*expected \{\"query_id\""),
        ([{"gold": ["a"]}], BadInput, r":2 is .*expected \{\"query_id\""),
        ([{"id": "q", "gold": [{"title": "x"}]}], BadInput, r":2: query 'q' has the result"),
        ([{"id": "q", "gold": [{"id": ""}]}], BadInput, r":2: query 'q': an id is empty"),
        ([{"id": "q", "gold": [""]}], BadInput, r":2: query 'q': an id is empty"),
        ([{"id": "q", "gold": [None]}], BadInput, r":2: query 'q': the id None"),
        ([{"id": "q", "gold": [{"id": "a"}, "b"]}], BadInput, r":2: query 'q' has the result 'b'"),
        ([{"id": "q", "gold": ["a", "a"]}], DuplicateItem, r":2: query 'q' lists item 'a' twice"),
        ([{"id": "x", "gold": ["a"]}], DuplicateItem, r":2: query 'x' appears twice"),
        ([{"id": "q", "gold": [{"id": "a", "grade": True}]}], BadScore, r":2: .*the grade is True"),
        ([{"id": "q", "gold": [{"id": "a", "grade": "1"}]}], BadScore, r":2: .*the grade is '1'"),
        (
            [{"id": "q", "gold": [{"id": "a", "grade": 1}, {"id": "b"}]}],
            BadScore,
            r":2: .*the grade is None",
        ),
        ([{"id": "q", "gold": ["a"], "Gold": ["b"]}], BadInput, "mean the same"),
        ([7], BadInput, ":2"),
    ],
)
def test_malformed_judgments_are_refused_with_their_line(
    tmp_path: Path, rows: list[Any], kind: type[Exception], message: str
):
    place = lines(tmp_path / "questions.jsonl", [{"id": "x", "gold": ["a"]}, *rows])
    with pytest.raises(kind, match=f"questions.jsonl{message}" if message[0] == ":" else message):
        rw.read_judgments(place)


@pytest.mark.parametrize(
    ("entries", "kind", "message"),
    [
        (5, BadInput, ":1 is .*expected"),
        ([{"text": "a"}], BadInput, r":1: query 'q' has the result \{'text'"),
        ([{"doc_id": "", "score": 1}], BadInput, ":1: query 'q': an id is empty"),
        ([{"doc_id": "a", "score": "1"}], BadScore, ":1: query 'q', item 'a': the score is '1'"),
        (["a", "b", "a"], DuplicateItem, ":1: query 'q' lists item 'a' twice"),
        # Without ids of chunks, or with the same, these are no chunks of one document.
        (
            [{"doc_id": "a", "score": 1}, {"doc_id": "a", "score": 2}],
            DuplicateItem,
            ":1: query 'q' lists item 'a' twice",
        ),
        (
            [{"doc_id": "a", "chunk_id": 1}, {"doc_id": "a", "chunk_id": 1}],
            DuplicateItem,
            ":1: query 'q' lists item 'a' twice",
        ),
        (
            [{"doc_id": "a", "chunk_id": 1}, {"doc_id": "a"}],
            DuplicateItem,
            ":1: query 'q' lists item 'a' twice",
        ),
        (
            [{"doc_id": "a", "chunk_id": 1, "score": "x"}, {"doc_id": "a", "chunk_id": 2}],
            BadScore,
            ":1: query 'q', item 'a': the score is 'x'",
        ),
    ],
)
def test_malformed_runs_are_refused_with_their_line(
    tmp_path: Path, entries: Any, kind: type[Exception], message: str
):
    rows = [{"id": "q", "chunks": entries}, {"id": "r", "chunks": ["x"]}]
    if isinstance(entries, int) or isinstance(entries[0], dict):
        rows[1] = {"id": "r", "chunks": [{"doc_id": "x", "score": 1.0}]}
    with pytest.raises(kind, match=f"run.jsonl{message}"):
        rw.read_ranking(lines(tmp_path / "run.jsonl", rows))


def test_columns_that_are_not_there_are_refused(tmp_path: Path):
    place = lines(tmp_path / "v1.jsonl", RETRIEVED)
    for columns in ("item=chunk", "score=relevance", "rank=rank"):
        with pytest.raises(BadInput, match=r"no column .*found are 'chunk_id', 'doc_id', 'score'"):
            rw.read_ranking(place, columns=columns)
    with pytest.raises(BadInput, match=":1 is "):
        rw.read_ranking(place, columns="query=qid")
    bare = lines(tmp_path / "bare.jsonl", [{"id": "q", "chunks": ["a"]}])
    with pytest.raises(BadInput, match="no column 'chunk_id'; found are none"):
        rw.read_ranking(bare, columns="item=chunk_id")
    gold = lines(tmp_path / "gold.jsonl", QUESTIONS)
    with pytest.raises(BadInput, match="no column 'stars'"):
        rw.read_judgments(gold, qrels_columns="grade=stars")
    with pytest.raises(BadInput, match="no groups or intents"):
        rw.read_judgments(gold, aspects="groups")


@pytest.mark.parametrize("n_rows", [1, 2])
def test_a_list_under_an_unknown_name_is_to_be_named(tmp_path: Path, n_rows: int):
    rows = [{"id": f"q{n}", "found": [{"doc_id": "b"}, {"doc_id": "a"}]} for n in range(n_rows)]
    place = lines(tmp_path / "run.jsonl", rows)
    advice = "; if 'found' lists the items of a query, say so with "
    with pytest.raises(BadInput, match=f"{advice}columns='item=found'"):
        rw.read_ranking(place)
    assert rw.read_ranking(place, columns="item=found").items == ["b", "a"] * n_rows
    with pytest.raises(BadInput, match=f"'found'{advice}columns='item=found'"):
        rw.read_ranking(place, columns="item=doc_id")
    gold = [{"id": f"q{n}", "found": ["b"]} for n in range(n_rows)]
    with pytest.raises(BadInput, match=f"{advice}qrels_columns='item=found'"):
        rw.read_judgments(lines(tmp_path / "gold.jsonl", gold))


def test_a_table_with_several_lists_or_none_is_refused_without_advice(tmp_path: Path):
    for row in ({"id": "q", "found": ["b"], "sources": ["c"]}, {"id": "q", "words": "b"}):
        with pytest.raises(BadInput) as refused:
            rw.read_ranking(lines(tmp_path / "run.jsonl", [row, row]))
        assert "say so" not in str(refused.value)


def test_other_tables_and_mappings_keep_their_formats(tmp_path: Path):
    rows = [{"query_id": "q", "doc_id": "a", "score": 1.5, "note": "x"}]
    place = lines(tmp_path / "run.jsonl", rows)
    assert rw.read_ranking(place).to_dict() == {"q": {"a": 1.5}}
    place.write_text('{"gold": ["a"], "relevant": ["b"]}')
    assert find_judgments(place).format == "json"


def test_the_question_of_a_row_is_a_text_and_file_column_names_another(tmp_path: Path):
    place = lines(tmp_path / "questions.jsonl", QUESTIONS)
    expected = {row["id"]: row["question"] for row in QUESTIONS}
    assert read_texts(place).texts == expected
    assert read_texts(f"{place}:question").texts == expected
    odd = lines(tmp_path / "odd.jsonl", [{"id": "q", "frage": "was?", "gold": ["a"]}])
    with pytest.raises(BadInput, match="this looks like judgments"):
        read_texts(odd)
    assert read_texts(f"{odd}:frage").texts == {"q": "was?"}
    with pytest.raises(BadInput, match="no column 'wer'; found are 'id', 'frage', 'gold'"):
        read_texts(f"{odd}:wer")
    table = tmp_path / "texts.csv"
    table.write_text("id,frage\nq,was?\n")
    assert read_texts(f"{table}:frage").texts == {"q": "was?"}


IDS = st.text("abcé_-0", min_size=1, max_size=4)
LISTS = st.dictionaries(IDS, st.lists(IDS, unique=True, max_size=5), min_size=1, max_size=4)


@given(LISTS, LISTS, st.booleans())
def test_rows_hold_what_trec_files_hold(tmp_path_factory: Any, gold: Any, listed: Any, plain: bool):
    folder = tmp_path_factory.mktemp("lists")
    questions = [
        {"id": query, "question": "?", "gold_docs": items} for query, items in gold.items()
    ]
    entries = {
        query: items if plain else [{"doc_id": item, "text": "t"} for item in items]
        for query, items in listed.items()
    }
    rows = [{"id": query, "retrieved": items} for query, items in entries.items()]
    qrels, run = folder / "qrels.txt", folder / "a.run"
    qrels.write_text("".join(f"{q} 0 {item} 1\n" for q, items in gold.items() for item in items))
    run.write_text(
        "".join(
            f"{query} Q0 {item} {rank} {-rank} x\n"
            for query, items in listed.items()
            for rank, item in enumerate(items, 1)
        )
    )
    judgments = rw.read_judgments(lines(folder / "q.jsonl", questions))
    ranking = rw.read_ranking(lines(folder / "r.jsonl", rows))
    assert judgments.to_dict() == {
        query: dict.fromkeys(items, 1.0) for query, items in gold.items()
    }
    assert [list(ranking.items[ranking.rows_of(query)]) for query in listed] == list(
        listed.values()
    )
    if qrels.stat().st_size:
        with_items = {query: items for query, items in judgments.to_dict().items() if items}
        assert rw.read_judgments(qrels).to_dict() == with_items
    if run.stat().st_size:
        with_items = {query: items for query, items in ranking.to_dict().items() if items}
        assert rw.read_ranking(run).to_dict() == with_items


@pytest.mark.parametrize(
    "entry", [{"relevance_score": 0}, {"relevant": False}, {"quality_rating": 2}]
)
def test_a_number_that_may_be_a_grade_is_not_overlooked(entry: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=rf"item 'd': '{next(iter(entry))}' is .*may be its grade"):
        rw.evaluate({"q": [{"doc_id": "d", **entry}]}, {"q": ["d"]}, "RR")


def test_a_score_of_a_judged_item_is_its_grade_as_in_tables() -> None:
    gold = {"q": [{"doc_id": "d", "score": 0, "page": 3}, {"doc_id": "e", "score": 2}]}

    assert rw.read_judgments(gold).to_dict() == {"q": {"d": 0.0, "e": 2.0}}


@pytest.mark.parametrize("other", [["c2"], [{"id": "c2", "score": 1}]])
def test_chunks_are_ranked_only_where_every_result_has_one(other: list[Any]) -> None:
    run = {"q": [{"doc_id": "d", "chunk_id": "c1", "score": 1}], "p": other}

    assert rw.evaluate({"q": ["c1"], "p": ["c2"]}, run, "RR", intervals="none")["RR"] == 0.5


def test_texts_in_rows_have_their_further_columns():
    rows = [{"id": "q1", "text": "one", "language": "en"}, {"id": "q2", "text": "two"}]

    texts = read_texts(rows)

    assert texts.texts == {"q1": "one", "q2": "two"}
    assert texts.attributes == {"q1": {"language": "en"}, "q2": {}}


def test_judgments_are_read_from_a_stream_of_arrow():
    table = pa.table({"query": ["q", "q"], "item": ["a", "b"], "grade": [1, 2]})

    assert rw.read_judgments(table.to_reader()).to_dict() == {"q": {"a": 1.0, "b": 2.0}}
