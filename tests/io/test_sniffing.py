"""Formats are told by content, never by a file's name, and what is told is reported."""

import json
import random

import pandas as pd
import pytest

from rankwell.data.columns import choose_columns, likelihood
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadScore, UnknownName
from rankwell.files.conversion import convert
from rankwell.io import formats as io
from rankwell.io.formats import FORMATS, SURE, Request, formats
from rankwell.store import Head, Source

TREC = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n"
LONG_JSON = json.dumps(
    {f"q{number}": {f"d{item}": item / 7 for item in range(200)} for number in range(100)}, indent=1
)

RUNS = {
    "TREC": (TREC, "trec"),
    "TREC with tabs": (TREC.replace(" ", "\t"), "trec"),
    "TREC with mixed white space and blank lines": ("\n  q1\tQ0  d1 1\t2.5 t\r\n\n", "trec"),
    "TREC with commas in its ids": ("q,1 Q0 d,score 1 2.5 t\n", "trec"),
    "TREC whose query is a word for a column": ("query\tQ0\titem\t1\t2.5\tscore\n", "trec"),
    "TREC with a bad line further down": (TREC + "q1 Q0 d3\n", "trec"),
    "MS MARCO": ("q1\td1\t1\nq1\td2\t2\n", "msmarco"),
    "integer scores in three columns": ("q1\td2\t2\nq1\td1\t1\n", "headerless"),
    "JSON": ('{"q": {"d": 1}}', "json"),
    "JSON on many lines": ('{\n  "q": {\n    "d": -0.5\n  }\n}', "json"),
    "JSON of which the head is a part": (LONG_JSON, "json"),
    "JSON whose first query is empty": ('{"q": {}, "p": {"d": 1}}', "json"),
    "MTEB": ('{"mteb_model_meta": {"model_name": "m"}, "en": {"test": {"q": {"d": 0.5}}}}', "mteb"),
    "sentence-transformers": (
        '{"query_id": "q", "query": "?", "results": [{"corpus_id": "d", "score": 0.5}]}\n',
        "sentence-transformers",
    ),
    "sentence-transformers without results": (
        '{"query_id": "q", "query": "?", "results": []}\n',
        "sentence-transformers",
    ),
    "CSV": ("qid,docno,score\nq,d,1\n", "csv"),
    "CSV with semicolons": ("qid;docno;score\nq;d;1\n", "csv"),
    "CSV with quoted names": ('"query_id","doc_id","similarity"\n"q","d","0.5"\n', "csv"),
    "CSV of PyTerrier": ("qid,docid,docno,rank,score,query\nq,5,d,0,1.5,some words\n", "csv"),
    "CSV with questions": ("question,doc,score\nq,d,1\n", "csv"),
    "TSV": ("query-id\tcorpus-id\tscore\nq\td\t0.5\n", "tsv"),
    "TSV with commas in its header": ("qid\tdocno\tscore\tnote, free\nq\td\t0.5\tx\n", "tsv"),
    "JSON lines": ('{"qid": "q", "docno": "d", "score": 1}\n', "jsonl"),
    "a list of objects": ('[{"qid": "q", "docno": "d", "score": 1}]', "jsonl"),
}


@pytest.mark.parametrize("case", RUNS)
@pytest.mark.parametrize("name", ["x", "x.csv", "x.json.gz"])
def test_a_run_is_recognised_by_its_content(case, name, tmp_path):
    content, form = RUNS[case]
    (tmp_path / name).write_text(content, newline="")

    if "bad line" in case:
        with pytest.raises(BadInput, match=":3:"):
            io.find_hits(tmp_path / name, Judgments.from_dict({"q1": {"d1": 1}}))
    else:
        assert io.find_hits(tmp_path / name, Judgments.from_dict({"q1": {"d1": 1}})).format == form
        assert len(io.read_ranking(tmp_path / name).queries) >= 1


JUDGMENTS = {
    "TREC": ("q1 0 d1 1\n", "trec"),
    "TREC with tabs, as MS MARCO has them": ("q1\t0\td1\t1\n", "trec"),
    "BEIR": ("query-id\tcorpus-id\tscore\nq\td\t1\n", "beir"),
    "CSV": ("query_id,doc_id,relevance\nq,d,1\n", "csv"),
    "CSV of ranx": ("q_id,doc_id,score\nq,d,1\n", "csv"),
    "CSV with questions": ("question,doc,label\nq,d,1\n", "csv"),
    "CSV with ids of questions": ("question_id,question,doc,label\nq,what?,d,1\n", "csv"),
    "CSV with fractions": ("qid,docno,label\nq,d,0.5\n", "csv"),
    "JSON": ('{"q": {"d": 1}}', "json"),
    "JSON lines": ('{"query-id": "q", "corpus-id": "d", "score": 1}\n', "jsonl"),
}


@pytest.mark.parametrize("case", JUDGMENTS)
def test_judgments_are_recognised_by_their_content(case, tmp_path):
    content, form = JUDGMENTS[case]
    (tmp_path / "x").write_text(content)

    found = io.find_judgments(tmp_path / "x")

    assert (found.format, len(found.judgments.items), found.findings) == (form, 1, ())


@pytest.mark.parametrize("holds", ["run", "judgments"])
def test_what_the_format_that_is_asked_first_is_sure_of_goes_to_no_other(holds, tmp_path):
    sure = 0
    for content, _ in [
        *RUNS.values(),
        *JUDGMENTS.values(),
        ("7\tfoo bar 3 4.5 x\n", ""),
        ("7\tfoo bar 3\n", ""),
    ]:
        (tmp_path / "x").write_text(content, newline="")
        head = Head.of(Source(tmp_path / "x"))
        claims = {entry.name: entry.confidence(head) for entry in formats(holds)}
        if claims["trec"] >= SURE:
            assert min(claims, key=lambda name: (-claims[name], name)) == "trec", content
            sure += 1
    assert sure >= 2


@pytest.mark.parametrize(
    "name", ["qrels.tsv", "qrels.trec8.parts1-5", "x.csv", "x.json", "x.run", "bm25.res"]
)
@pytest.mark.parametrize(
    ("holds", "case"),
    [*(("run", case) for case in RUNS), *(("judgments", case) for case in JUDGMENTS)],
)
def test_no_doubt_is_reported_of_a_file_of_one_meaning_under_any_name(holds, case, name, tmp_path):
    (tmp_path / name).write_text((RUNS if holds == "run" else JUDGMENTS)[case][0], newline="")
    request = Request()

    if "bad line" not in case:
        io.read_as(tmp_path / name, holds, None, request)

    assert [note for note in request.findings if "read as" in note] == []


@pytest.mark.parametrize(
    "form",
    [name for name in FORMATS if name.endswith((" run", " judgments")) and "python" not in name],
)
def test_no_doubt_is_reported_of_the_valid_files_of_a_format(form, fuzzer_of, tmp_path):
    fuzzer = fuzzer_of(f"formats: {form}")
    for seed in range(20):
        request, folder = Request(), tmp_path / str(seed)
        folder.mkdir()

        _, found = io.read_as(
            fuzzer.write(random.Random(seed), folder), form.split()[1], None, request
        )

        assert (
            found,
            [note for note in request.findings if "read as" in note and "byte order" not in note],
        ) == (form.split()[0], [])


def test_a_file_of_two_meanings_is_reported(tmp_path):
    (tmp_path / "x").write_text("qid,docno,score,note\tquery_id\tdoc_id\tscore\nq,d,1,x\tq\te\t2\n")

    found = io.find_hits(tmp_path / "x", Judgments.from_dict({"q": {"d": 1}}))

    assert found.format == "csv"
    assert [note.rpartition("/")[2] for note in found.findings] == [
        "x: read as csv; it could also be tsv: name the format"
    ]
    assert found.hits.row.tolist() == [0]
    assert (
        io.find_hits(tmp_path / "x", Judgments.from_dict({"q": {"d": 1}}), format="csv").findings
        == ()
    )


def test_parquet_is_recognised_by_its_columns(tmp_path):
    pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [0.5]}).to_parquet(tmp_path / "run")
    pd.DataFrame({"query-id": ["q"], "corpus-id": ["d"], "score": [1]}).to_parquet(
        tmp_path / "beir"
    )
    pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [1]}).to_parquet(tmp_path / "judgments")

    assert (
        convert(str(tmp_path / "run"), tmp_path / "a.json")
        .messages[0]
        .endswith(": run read as parquet")
    )
    assert (
        convert(str(tmp_path / "beir"), tmp_path / "b.json")
        .messages[0]
        .endswith(": judgments read as parquet")
    )
    assert (
        convert(str(tmp_path / "judgments"), tmp_path / "c.json")
        .messages[0]
        .endswith(": judgments read as parquet")
    )
    with pytest.raises(
        BadInput,
        match=r"no column for the score \(score, .*found are 'qid', 'docno', "
        r"'label'.*columns='score=NAME'",
    ):
        io.read_ranking(tmp_path / "judgments")
    with pytest.raises(
        BadInput,
        match=r"the column 'score' holds other values than integers.*qrels_columns='grade=score'",
    ):
        io.read_judgments(tmp_path / "run")


def test_what_comes_before_the_first_line_does_not_matter(tmp_path):
    (tmp_path / "mark").write_text("\ufeff" + TREC)
    (tmp_path / "comment").write_text("# made by hand\n" + TREC)
    judgments = Judgments.from_dict({"q1": {"d1": 1, "d2": 1}})

    marked = io.find_hits(tmp_path / "mark", judgments)

    assert (marked.format, marked.hits.above.tolist()) == ("trec", [0, 1])
    assert "byte order mark" in marked.findings[0]
    assert io.find_hits(tmp_path / "comment", judgments, comments=True).hits.above.tolist() == [
        0,
        1,
    ]
    with pytest.raises(BadInput, match="comment:1: "):
        io.find_hits(tmp_path / "comment", judgments)


FOREIGN = {
    "zip": (b"PK\x03\x04" + bytes(30), "zip archive"),
    "bzip2": (b"BZh91AY&SY" + bytes(30), "bzip2"),
    "xz": (b"\xfd7zXZ\0" + bytes(30), "unxz"),
    "lz4": (b"\x04\x22\x4d\x18" + bytes(30), "lz4"),
    "UTF-16": ("q1 Q0 d1 1 2.5 t\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(30), "HDF5"),
    "binary": (bytes(range(256)), "not a text file"),
    "a web page": (b"\n<html><body>404</body></html>", "web page"),
    "XML": (b"<?xml version='1.0'?><a/>", "XML"),
    "prose": ("Schöne Grüße,\nKöln\n".encode() * 3, "'Schöne Grüße,'"),
    "other JSON": (b'{"a": 1, "b": [2]}', "no column|expected"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_an_unknown_format_is_reported_with_its_file(case, tmp_path):
    content, pattern = FOREIGN[case]
    (tmp_path / "x").write_bytes(content)
    if case == "HDF5":
        pytest.importorskip("h5py")

    for read in (io.read_ranking, io.read_judgments):
        with pytest.raises(BadInput, match=pattern) as caught:
            read(tmp_path / "x")
        assert "\n" not in str(caught.value)


def test_a_named_format_is_taken_at_its_word(tmp_path):
    (tmp_path / "x").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")

    assert (
        io.find_hits(tmp_path / "x", Judgments.from_dict({"q": {"d": 1}}), format="tsv").format
        == "tsv"
    )
    with pytest.raises(UnknownName, match=r"unknown format of runs 'tvs'; did you mean 'tsv'"):
        io.read_ranking(tmp_path / "x", format="tvs")
    with pytest.raises(UnknownName, match=r"the format 'tsv' has no parts"):
        io.read_ranking(tmp_path / "x", format="tsv:en")
    with pytest.raises(UnknownName, match=r"unknown format of judgments 'mteb'"):
        io.read_judgments(tmp_path / "x", format="mteb")


def test_a_line_that_the_head_cuts_is_not_judged(tmp_path):
    (tmp_path / "x").write_text("q1 Q0 d1 1 2.5 t\n" * 10)

    assert Head.of(Source(tmp_path / "x"), size=20).lines == [b"q1 Q0 d1 1 2.5 t"]
    assert Head.of(Source(tmp_path / "x")).is_whole


@pytest.mark.parametrize(
    ("found", "holds", "expected"),
    [
        (["qid", "docid", "docno", "rank", "score", "query"], "run", ("qid", "docno", "score")),
        (["Query-ID", "Doc ID", "Relevance"], "judgments", ("Query-ID", "Doc ID", "Relevance")),
        (["topic", "pid", "rsv"], "run", ("topic", "pid", "rsv")),
        (["query", "item", "rank"], "run", ("query", "item", "rank")),
        (["query_id", "corpus-id", "score"], "judgments", ("query_id", "corpus-id", "score")),
        (["userID", "itemID", "rating", "timestamp"], "judgments", ("userID", "itemID", "rating")),
        (["user", "qid", "docid", "score"], "run", ("qid", "docid", "score")),
        (["qid", "query"], "texts", ("qid", "qid", "query")),
        (["docno", "title", "text"], "texts", ("docno", "docno", "text")),
    ],
)
def test_columns_go_by_many_names(found, holds, expected):
    assert choose_columns(found, holds)[:3] == expected
    assert likelihood(found, holds, has_integer_scores=True) >= 0.5


def test_formats_that_content_cannot_show_are_listed():
    held = {
        entry.name: entry.holds for kind in ("run", "judgments", "texts") for entry in formats(kind)
    }

    assert {
        "trec",
        "csv",
        "tsv",
        "parquet",
        "jsonl",
        "json",
        "msmarco",
        "mteb",
        "sentence-transformers",
        "beir",
    } <= set(held)


@pytest.mark.parametrize("score", ["2,5", "2.5%", "0x1A", "high"])
def test_lines_of_a_run_without_one_number_are_still_a_run(score, tmp_path):
    run = tmp_path / "run"
    run.write_text(f"q1 Q0 a 1 {score} r\nq1 Q0 b 2 {score} r\n")

    with pytest.raises(BadScore, match=f"run:1: the score is '{score}'") as refusal:
        io.read_ranking(run)

    assert "columns" not in str(refusal.value)


@pytest.mark.parametrize("iteration", ["0", "Q0"])
def test_judgments_in_words_are_still_judgments(iteration, tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text(f"q1 {iteration} a relevant\nq1 {iteration} b irrelevant\n")

    with pytest.raises(BadInput, match="qrels:1: grade 'relevant'") as refusal:
        io.read_judgments(qrels)

    assert "columns" not in str(refusal.value)


@pytest.mark.parametrize("holds", ["run", "judgments", "texts"])
@pytest.mark.parametrize("names", [["a", "b"], ["a"]])
def test_parquet_without_a_known_column_is_refused_by_its_columns(holds, names, tmp_path):
    file = tmp_path / "odd.parquet"
    pd.DataFrame({name: [f"{name}{row}" for row in range(20)] for name in names}).to_parquet(file)
    reader = {"run": io.read_ranking, "judgments": io.read_judgments, "texts": io.read_texts}[holds]

    with pytest.raises(BadInput, match=r"odd\.parquet: no column for the .*found are 'a'"):
        reader(file)
