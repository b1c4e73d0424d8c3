"""The demo of live engines: the files that it writes, and both gains side by side."""

import re
import shlex
from pathlib import Path

import duckdb
import pytest

import rankwell as rw
from rankwell import cli
from rankwell.tasks.engine.commands import demo_engine
from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_docs import read_judgments, read_needs


@pytest.fixture
def few_documents(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A library of few modules, so that the demo takes no time."""
    entries = [
        each
        for each in python_docs.modules()
        if each.id in ("argparse", "bisect", "csv", "getopt", "heapq", "json", "sched")
    ]
    monkeypatch.setattr(python_docs, "modules", lambda: entries)
    return [each.id for each in entries]


def test_the_files_of_the_demo_hold_every_question_and_no_judgment_of_another_document(
    few_documents: list[str], tmp_path: Path
):
    documents, queries, qrels = demo_engine.prepare(tmp_path)

    assert [line.split("\t")[0] for line in documents.read_text().splitlines()] == few_documents
    assert len(queries.read_text().splitlines()) == len(read_needs()) == 60
    judged = {line.split()[2] for line in qrels.read_text().splitlines()}
    assert judged <= set(few_documents)
    assert {each.module for each in read_judgments()} > judged


@pytest.mark.slow
def test_the_demo_shows_the_apparent_gain_beside_that_on_other_questions(
    tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.setattr("sys.argv", ["rankwell", "demo", "engine", "-o", str(tmp_path)])

    assert cli.main() == 0

    text, said = capsys.readouterr()
    settings = re.findall(r"(?m)^(k1=\S+ b=\S+)(?: \*)?  ", text)
    assert len(set(settings)) == len(settings) == 6
    [best, left, apparent] = re.search(
        r"(k1=\S+ b=\S+) is the best setting by nDCG@10, significantly better than \d of the 11 "
        r"others\. In cross-validation it gains (\S+) \[\S+, \S+\] over k1=1\.2 b=0\.75, (\S+) on ",
        " ".join(text.split()),
    ).groups()
    assert settings[0] == best
    assert settings[-1] == "k1=1.2 b=0.75"
    assert 0 < float(left) <= float(apparent)
    assert len(text.splitlines()) + len(said.splitlines()) <= 25
    again = shlex.split(said.splitlines()[-1].removeprefix("Next: "))
    assert again == ["rankwell", "report", str(tmp_path / "results"), "--open"]
    assert (tmp_path / "results" / "report.html").is_file()
    # The gain is the difference of two plain evaluations of the lists that were kept.
    lists: dict[str, dict[str, list[str]]] = {}
    for run, query, item in duckdb.sql(
        f"SELECT run, query, item FROM '{tmp_path}/results/run.parquet' ORDER BY run, query, rank"
    ).fetchall():
        lists.setdefault(run, {}).setdefault(query, []).append(item)
    assert len(lists) == 12
    found = rw.evaluate(str(tmp_path / "qrels.txt"), lists, "nDCG@10", ties="input")
    means = {row["run"]: row["mean"] for row in found.summary}
    own, other = (
        next(mean for name, mean in means.items() if name.endswith(each))
        for each in (best, "k1=1.2 b=0.75")
    )
    assert own == max(means.values())
    assert own - other == pytest.approx(float(apparent), abs=5e-5)
