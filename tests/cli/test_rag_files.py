"""The files of a newcomer who builds RAG, in every command, as they come: questions with the ids of
relevant documents, and lists of chunks.
"""

import json
import random
from pathlib import Path

import pytest

import rankwell as rw
from rankwell import cli

N_QUESTIONS = 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """questions.jsonl, and two retrievers with several chunks of some documents."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(5)
    documents = [f"{topic}-{number}" for topic in ("quota", "backup", "sso") for number in range(6)]
    with Path("questions.jsonl").open("w") as stream:
        for number in range(N_QUESTIONS):
            gold = rng.sample(documents, rng.choice((1, 2)))
            row = {"id": f"Q{number:03}", "question": f"Case {number}?", "gold_docs": gold}
            stream.write(json.dumps(row) + "\n")
    for name in ("v1", "v2"):
        with Path(f"{name}.jsonl").open("w") as stream:
            for number in range(N_QUESTIONS):
                drawn = rng.choices(documents, k=8)
                chunks = [
                    {
                        "chunk_id": f"{document}#{place}",
                        "doc_id": document,
                        "score": 1 - place / 10,
                        "text": f"About {document}.",
                    }
                    for place, document in enumerate(drawn)
                ]
                stream.write(json.dumps({"id": f"Q{number:03}", "chunks": chunks}) + "\n")
    return tmp_path


def run_command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *words])
    return cli.main()


def by_documents(name: str) -> dict[str, dict[str, float]]:
    """The run as a newcomer's own script would convert it: the best chunk of each document."""
    run: dict[str, dict[str, float]] = {}
    for line in Path(f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        run[row["id"]] = {}
        for chunk in row["chunks"]:
            run[row["id"]].setdefault(chunk["doc_id"], chunk["score"])
    return run


def by_questions() -> dict[str, dict[str, int]]:
    rows = map(json.loads, Path("questions.jsonl").read_text().splitlines())
    return {row["id"]: dict.fromkeys(row["gold_docs"], 1) for row in rows}


@pytest.mark.usefixtures("folder")
def test_every_command_reads_the_files_as_they_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    runs = {name: by_documents(name) for name in ("v1", "v2")}
    expected = rw.evaluate(by_questions(), runs, measures=["Recall@5", "RR"])
    result = rw.evaluate("questions.jsonl", ["v1.jsonl", "v2.jsonl"], measures=["Recall@5", "RR"])
    assert result.to_dict() == expected.to_dict()

    files = ["questions.jsonl", "v1.jsonl", "v2.jsonl"]
    measures = ["-m", "Recall@5", "-m", "RR"]
    for words in (
        ["evaluate", *files, *measures, "--queries", "questions.jsonl", "-o", "out"],
        ["evaluate", *files, *measures, "--qrels-columns", "query=id,item=gold_docs"],
        ["evaluate", *files, *measures, "--columns", "item=doc_id"],
        ["compare", *files, *measures, "--queries", "questions.jsonl", "-o", "compared"],
        ["check", *files],
        ["convert", "v1.jsonl", "v1.run"],
        ["convert", "questions.jsonl", "qrels.txt"],
        ["fuse", "v1.jsonl", "v2.jsonl", "-o", "fused.run"],
        ["report", "out", "--queries", "questions.jsonl:question"],
    ):
        assert run_command(monkeypatch, *words) == 0, words
    printed = capsys.readouterr().err
    assert "several chunks of a document count as one, at the rank of the first" in printed
    assert rw.read_ranking("v1.run").to_dict() == by_documents("v1")
    assert rw.read_judgments("qrels.txt").to_dict() == by_questions()
    assert "Case 3?" in Path("out/report.html").read_text()


@pytest.mark.usefixtures("folder")
def test_chunks_are_ranked_where_chunks_are_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    words = ["convert", "v1.jsonl", "chunks.run", "--columns", "item=chunk_id"]
    assert run_command(monkeypatch, *words) == 0
    assert "count as one" not in capsys.readouterr().err
    assert len(rw.read_ranking("chunks.run").items) == 8 * N_QUESTIONS


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["rag", "questions.jsonl", "v1.jsonl"],
            "questions.jsonl:1: 'passages' is missing; questions with relevant documents are for "
            "`rankwell evaluate questions.jsonl retrieved.jsonl`.",
        ),
        (
            ["qa", "questions.jsonl", "--retrieved", "v1.jsonl"],
            "expected questions with right answers. `rankwell evaluate` reads judgments and runs.",
        ),
    ],
)
def test_commands_about_passages_and_answers_name_the_one_about_documents(
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    assert run_command(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
