"""Commands on files, in Python: the same findings, rules and words."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.errors import at_the_command_line
from regression.running import in_process

QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2.0 x\nq1 Q0 c 2 2.0 x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("a.run").write_text(RUN)
    return tmp_path


def test_check_prints_what_the_command_prints(folder: Path):
    with at_the_command_line():
        found = rw.check("qrels.txt", "a.run")

    _, out, err = in_process(["check", "qrels.txt", "a.run"])

    assert str(found).splitlines() == [*out.splitlines(), *err.splitlines()]
    assert str(found) == repr(found)
    assert {each.check for each in found.warnings} >= {"judged queries missing from the run", "queries with a tie across rank 1"}
    assert found.errors == []
    assert len(found) == len(list(found)) == len(out.splitlines()) - 2


def test_check_takes_what_evaluate_takes(folder: Path):
    in_memory = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"a": {"q1": {"a": 2.0, "c": 2.0}}})

    assert in_memory.rows == rw.check("qrels.txt", {"a": "a.run"}).rows == rw.check("qrels.txt", ["a.run"]).rows
    assert {each.file for each in rw.check("qrels.txt")} == {"judgments"}
    assert "nothing relevant" in {each.check for each in rw.check({"q": {"a": 0}}).errors}


def test_convert_follows_the_rules_of_the_command(folder: Path):
    done = rw.convert("a.run", folder / "a.json")

    assert (done.path, done.holds, done.source_format, done.target_format, done.rows) == (
        folder / "a.json",
        "run",
        "trec",
        "json",
        2,
    )
    assert rw.read_ranking("a.json").to_dict() == {"q1": {"a": 2.0, "c": 2.0}}
    with pytest.raises(rw.BadUsage, match=r"a\.json exists; name another file, or pass overwrite=True"):
        rw.convert("a.run", "a.json")
    with pytest.raises(rw.BadUsage, match=r"a\.run is an input of this command"):
        rw.convert("a.run", "a.run", overwrite=True)
    assert rw.convert("qrels.txt", "a.json", overwrite=True).holds == "judgments"
    assert Path("a.run").read_text() == RUN


def test_explain_prints_what_the_command_prints():
    found = rw.explain("nDCG@10")

    assert str(found) + "\n" == in_process(["explain", "nDCG@10"])[1]
    assert repr(found) == str(found)
    assert next(str(measure) for measure in found.meanings) == "nDCG@10"
    assert str(rw.explain(rw.parse_measure("nDCG@10"))) == str(found)
    with pytest.raises(rw.UnknownName, match="nDCG"):
        rw.explain("nDGC")


def test_a_function_of_the_users_own_is_explained_by_its_docstring(tmp_path: Path, monkeypatch):
    about = "Whether the first item is relevant."
    text = f'def top(view, rel=1):\n    """{about}"""\n    return view.n_relevant(rel)\n'
    (tmp_path / "explained_measures.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))

    said = in_process(["explain", "explained_measures:top"])[1]

    assert said.startswith("top means one thing:")
    assert about in said
    assert str(rw.explain(sys.modules["explained_measures"].top)) + "\n" == said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rw.explain(3), "unknown measure '3'"),
        (lambda: rw.check(3), "judgments cannot be read from an integer"),
        (lambda: rw.check("nowhere.txt"), r"nowhere\.txt: no such file"),
        (lambda: rw.convert("nowhere.run", "a.csv"), r"nowhere\.run: no such file"),
        (lambda: rw.convert("a.run", "a.csv", holds="texts"), "holds: there is no 'texts'; known are judgments, run"),
        (lambda: rw.convert("a.run", "a.csv", duplicates="frist"), "duplicates: there is no 'frist'; did you mean 'first'"),
        (lambda: rw.convert("a.run", "a.xyz"), r"'a\.xyz' names no format that can be written"),
    ],
)
def test_bad_input_is_one_short_exception(folder: Path, call: Callable[[], object], message: str):
    with pytest.raises(rw.RankwellError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert not (folder / "a.csv").exists()
