"""`rankwell demo judge`: people and the corrected model agree, the model alone does not."""

import re
from pathlib import Path

import pytest

import rankwell as rw
from rankwell import cli
from rankwell.tasks.judge.commands.demo_judge import TfidfJudge
from rankwell.tasks.judge.model_asking import ItemToGrade
from rankwell.vectors.media.python_docs import modules, read_judgments


def test_a_model_turns_the_verdict_and_people_turn_it_back(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["rankwell", "demo", "judge", "-o", str(tmp_path / "out")])

    assert cli.main() == 0

    text = capsys.readouterr().out
    assert re.search(r"^whole_docs is better: people's judgments of 360 items", text, re.MULTILINE)
    rows = re.findall(r"^.* \S+ \[(\S+), (\S+)\] +\d+% +(\w+)$", text, re.MULTILINE)
    found = [(name, low, high) for low, high, name in rows]
    assert [name for name, _, _ in found] == ["whole_docs", "first_sentences", "whole_docs"]
    assert len(text.splitlines()) <= 25
    here = {entry.id for entry in modules()}
    judged: dict[str, dict[str, int]] = {}
    for need, module, grade in read_judgments():
        if module in here:
            judged.setdefault(need, {})[module] = grade
    runs = [str(tmp_path / "out" / f"{name}.run") for name in ("whole_docs", "first_sentences")]
    means = [
        rw.evaluate(judged, run, "SDCG(max_rel=3)@10", intervals="none").summary[0]["mean"]
        for run in runs
    ]
    for _, low, high in (found[0], found[2]):
        assert float(low) <= means[0] - means[1] <= float(high)
    assert cli.main() == 2
    assert "study is a study already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("document", "grade"),
    [
        ("read a file", 3),
        ("read the mail", 2),
        ("the file of the mail is with the other mails of the day", 1),
        ("nothing of it", 0),
        ("", 0),
    ],
)
def test_the_model_counts_shared_words(document: str, grade: int):
    judge = TfidfJudge(
        ["read a file", "read the mail", "write a file", "close it", "nothing of it"]
    )

    assert judge.answer(ItemToGrade("q", "d", "read file", document)) == grade
