"""Inputs as other projects keep them: BEIR folders, LlamaIndex's data sets, ann-benchmarks'
neighbours, tables with grades.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankwell
from rankwell.cli import main
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadScore, BadUsage, UnknownName
from rankwell.io.formats import (
    check_ranking,
    find_hits,
    find_judgments,
    read_judgments,
    read_ranking,
    read_texts,
)

RUN = {"q1": {"d1": 2.0, "d2": 1.0}}
DATASET = {
    "queries": {"q1": "what is it", "q2": "why"},
    "corpus": {"d1": "the first", "d2": "the second", "d3": "the third"},
    "relevant_docs": {"q1": ["d1", "d3"], "q2": ["d2"]},
    "mode": "text",
}


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *map(str, words)])
    return main()


def rows_of(table: rankwell.Judgments | rankwell.Ranking):
    numbers = table.grades if isinstance(table, rankwell.Judgments) else table.scores
    owners = [table.queries[row] for row in table.query_of_row.tolist()]
    return [*zip(owners, table.items, numbers.tolist(), strict=True)]


def test_texts_may_be_a_json_object_of_ids_and_texts(tmp_path: Path):
    texts = tmp_path / "texts.json"
    texts.write_text('{"d1": "a red car", "d2": "two dogs"}')

    found = read_texts(texts)

    assert found.format == "json"
    assert found.texts == {"d1": "a red car", "d2": "two dogs"}


def test_a_json_object_of_texts_is_checked(tmp_path: Path):
    number, twice, record = (
        tmp_path / "number.json",
        tmp_path / "twice.json",
        tmp_path / "record.jsonl",
    )
    number.write_text('{"d1": "a red car", "d2": 3}')
    twice.write_text('{"d1": "a red car", "d1": "two dogs"}')
    record.write_text('{"question": "what", "answer": "that"}\n')

    with pytest.raises(
        BadInput, match=r"number.json: \$\['d2'\] is 3 \(an integer\); expected \{id: text\}"
    ):
        read_texts(number)
    with pytest.raises(BadInput, match="the key 'd1' appears twice"):
        read_texts(twice)
    with pytest.raises(
        BadInput, match=r"record.jsonl: no column for the id .*'question', 'answer'"
    ):
        read_texts(record)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    for split, item in (("test", "d1"), ("dev", "d2")):
        (folder / f"qrels/{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{item}\t1\n")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "what is it"}\n')
    return folder


def test_a_beir_folder_stands_for_its_test_split_or_the_named_one(beir: Path):
    assert rows_of(read_judgments(beir)) == [("q1", "d1", 1.0)]
    assert rows_of(read_judgments(f"{beir}:dev")) == [("q1", "d2", 1.0)]
    result = rankwell.evaluate(f"{beir}:dev", RUN, "AP", intervals="none")
    assert (result.summary[0]["mean"], result.sources["judgments"].name) == (
        0.5,
        str(beir / "qrels/dev.tsv"),
    )
    assert f"judgments: {beir / 'qrels/dev.tsv'}" in result.findings


def test_the_queries_of_a_beir_folder_are_shown_in_a_folder_of_results(beir: Path):
    result = rankwell.evaluate(str(beir), RUN, "AP", details=True, intervals="none")
    assert result.queries is not None
    assert result.queries["text"] == ["what is it"]


def test_a_split_that_is_not_there_lists_those_that_are(beir: Path, tmp_path: Path):
    with pytest.raises(BadInput, match="no split 'train'; its splits are dev, test"):
        rankwell.evaluate(f"{beir}:train", RUN)
    with pytest.raises(BadInput, match=r"a folder without qrels/\*\.tsv"):
        rankwell.evaluate(tmp_path, RUN)


TWO_GRADES = {
    "query": ["q1", "q1"],
    "item": ["d1", "d2"],
    "relevance": [0, 1],
    "answers": [1, 0],
    "score": [0.5, 0.25],
}


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "pandas", "polars"])
@pytest.mark.parametrize("grades", [("relevance", "answers"), ("answers", "score")])
def test_the_column_of_the_grade_is_the_one_that_is_named(
    form: str, grades: tuple[str, str], tmp_path: Path
):
    frame = pd.DataFrame(
        {name: values for name, values in TWO_GRADES.items() if name in ("query", "item", *grades)}
    )
    path, place = tmp_path / f"grades.{form}", None
    if form in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        frame.to_parquet(path)
    else:
        place = frame if form == "pandas" else pl.from_pandas(frame)
    found = find_judgments(path if place is None else place, qrels_columns="grade=answers")
    assert rows_of(found.judgments) == [("q1", "d1", 1.0), ("q1", "d2", 0.0)]
    assert found.findings == ()


def test_a_grade_column_that_is_not_there_is_refused(tmp_path: Path):
    path = tmp_path / "grades.csv"
    path.write_text("query,item,relevance\nq1,d1,1\n")
    with pytest.raises(
        BadInput, match="qrels_columns: no column 'answers'; found are 'query', 'item', 'relevance'"
    ):
        read_judgments(path, qrels_columns="grade=answers")
    path.write_text("q1 0 d1 1\n")
    with pytest.raises(
        BadUsage,
        match=r"qrels_columns='grade=answers': there is no column 'answers' in .*csv:1: 'q1 0 d1 "
        r"1', which has 4",
    ):
        read_judgments(path, qrels_columns="grade=answers")
    with pytest.raises(BadUsage, match="a mapping, which has no columns to choose"):
        read_judgments({"q1": ["d1"]}, qrels_columns={"grade": "answers"})
    with pytest.raises(BadUsage, match="a Judgments, which has no columns to choose"):
        read_judgments(read_judgments({"q1": ["d1"]}), qrels_columns={"grade": "answers"})


@pytest.mark.parametrize(
    "read",
    [
        read_ranking,
        check_ranking,
        partial(find_hits, judgments=Judgments.from_dict({"q1": {"d1": 1}})),
    ],
)
def test_columns_of_a_ranking_that_is_held_cannot_be_chosen(read: Callable[..., object]):
    with pytest.raises(
        BadUsage, match=r"columns='score=3': the data are a Ranking, which has no columns to choose"
    ):
        read(read_ranking({"q1": ["d1"]}), columns="score=3")


@pytest.mark.parametrize("ranking", [{"q1": ["d1"]}, read_ranking({"q1": ["d1"]})])
def test_a_format_for_files_among_the_runs_has_to_exist(ranking: object):
    assert read_ranking(ranking, format="trec").to_dict() == read_ranking(ranking).to_dict()
    with pytest.raises(UnknownName, match="unknown format of runs 'trek'"):
        read_ranking(ranking, format="trek")


@pytest.mark.parametrize(
    ("rank", "message"),
    [(1.3, "the rank is 1.3"), ([1], "score is"), (np.array([1, 2]), "score is"), (-1, "rank")],
)
def test_a_rank_of_a_result_that_is_none_is_refused(rank: object, message: str):
    with pytest.raises(BadScore, match=f"query 'q1', item 'd1': .*{message}"):
        read_ranking({"q1": [{"id": "d1", "rank": rank}]})


def test_llamaindex_data_sets_are_judgments_and_texts(tmp_path: Path):
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(DATASET, indent=4))
    expected = [("q1", "d1", 1.0), ("q1", "d3", 1.0), ("q2", "d2", 1.0)]
    for place in (path, SimpleNamespace(**DATASET), json.loads(path.read_text())):
        assert rows_of(read_judgments(place)) == expected
        assert read_texts(place).texts == DATASET["queries"] | DATASET["corpus"]
    assert read_texts(f"{path}:corpus").texts == DATASET["corpus"]
    assert read_texts(path, format="llamaindex:queries").texts == DATASET["queries"]
    assert find_judgments(path).format == "llamaindex"
    result = rankwell.evaluate(path, RUN, "AP", queries=path, details=True, intervals="none")
    assert result.queries is not None
    assert result.queries["text"] == ["what is it", "why"]


def test_queries_that_are_named_as_parts_of_a_llamaindex_data_set_are_judgments():
    own = {name: {"d1": 1} for name in ("queries", "corpus", "relevant_docs")}
    assert sorted(read_judgments(own).queries) == sorted(own)


def test_a_llamaindex_data_set_of_another_form_is_refused(tmp_path: Path):
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(DATASET | {"relevant_docs": {"q1": ["d1", "d1"]}}))
    with pytest.raises(BadInput, match="query 'q1' lists item 'd1' twice"):
        read_judgments(path)
    with pytest.raises(UnknownName, match="the part 'mode'"):
        read_texts(f"{path}:mode")
    path.write_text(json.dumps(DATASET | {"corpus": {"q1": "a clash"}}))
    with pytest.raises(BadInput, match="the id 'q1' is of a query and of a document"):
        read_texts(path)
    path.write_text(json.dumps({"queries": {"q1": "a"}}))
    with pytest.raises(BadInput, match="'relevant_docs'"):
        read_judgments(path)


def test_what_search_writes_as_hdf5_is_read_for_recall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("h5py")
    vectors = np.random.default_rng(1).standard_normal((20, 4)).astype(np.float32)
    np.save(tmp_path / "base.npy", vectors)
    np.save(tmp_path / "queries.npy", vectors[:3])
    truth, found = tmp_path / "gt.hdf5", tmp_path / "first.run"
    for k, path in ((5, truth), (3, found)):
        assert (
            run(
                monkeypatch,
                "knn",
                tmp_path / "base.npy",
                tmp_path / "queries.npy",
                "--neighbours",
                k,
                "-o",
                path,
            )
            == 0
        )
    near = read_ranking(found)
    assert sorted(rows_of(read_judgments(f"{truth}:3"))) == sorted(
        (q, d, 1.0) for q, d, _ in rows_of(near)
    )
    assert [row[:2] for row in rows_of(read_ranking(f"{truth}:3"))] == [
        row[:2] for row in rows_of(near)
    ]
    assert rankwell.evaluate(str(truth), found, ["R@3", "R@5"], intervals="none").summary[0][
        "mean"
    ] == pytest.approx(3 / 5)
    assert (
        rankwell.evaluate(f"{truth}:3", found, ["R@3"], intervals="none").summary[0]["mean"] == 1.0
    )
    assert (
        rankwell.evaluate(str(truth), f"{truth}:neighbors", ["R@5"], intervals="none").summary[0][
            "mean"
        ]
        == 1.0
    )
    with pytest.raises(BadInput, match="'9': expected a number of first neighbours, from 1 to 5"):
        read_judgments(f"{truth}:9")


def test_hdf5_without_neighbours_is_refused(tmp_path: Path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "vectors.hdf5", "w") as file:
        file.create_dataset("train", data=np.eye(3))
    with pytest.raises(BadInput, match="no data set 'neighbors'; found are train"):
        read_judgments(tmp_path / "vectors.hdf5")


def test_the_texts_of_ms_marco_are_encoded_without_a_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    # In 5a950af a KeyError.
    texts = tmp_path / "collection.tsv"
    words = ("cars", "rain", "night")
    texts.write_text(
        "".join(f'{row}\tthe "{words[row % 3]}", {words[row // 2]} and all\n' for row in range(6))
    )
    made = "-o", tmp_path / "e.npy", "--encoder", "tfidf-svd:2", "--fit", texts
    assert run(monkeypatch, "encode", texts, *made) == 0
    assert (tmp_path / "e.ids.txt").read_text().split() == list("012345")
    again = "--columns", "title=title", "--overwrite"
    assert run(monkeypatch, "encode", texts, *made, *again) == 2
    assert "collection.tsv: no column 'title'; found are" in capsys.readouterr().err


def test_a_part_of_what_has_none_is_refused(tmp_path: Path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 2.0 r\n")
    with pytest.raises(UnknownName, match="the format 'trec' has no parts, so 'x' names nothing"):
        read_ranking(f"{path}:x")
