"""Commands on files, in Python: the same findings, rules and words."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.data.code import load_object
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

    _, out, err = in_process(["check", "qrels.txt", "a.run", "--verbose"])

    assert str(found).splitlines() == [*out.splitlines(), *err.splitlines()]
    assert str(found) == repr(found)
    assert {each.name for each in found.warnings} >= {"queries-missing", "values-depend-on-ties"}
    assert found.errors == []
    assert len(found) == len(list(found)) == sum("]" in line for line in out.splitlines())


def test_check_takes_what_evaluate_takes(folder: Path):
    in_memory = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"a": {"q1": {"a": 2.0, "c": 2.0}}})

    assert (
        in_memory.facts
        == rw.check("qrels.txt", {"a": "a.run"}).facts
        == rw.check("qrels.txt", ["a.run"]).facts
    )
    assert {fact.file for fact in rw.check("qrels.txt").facts} == {"judgments"}
    assert [each.name for each in rw.check({"q": {"a": 0}}).errors] == ["nothing-relevant"]


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
    with pytest.raises(
        rw.BadUsage, match=r"a\.json exists; name another file, or pass overwrite=True"
    ):
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
    monkeypatch.chdir(tmp_path)

    said = in_process(["explain", "./explained_measures.py:top"])[1]

    assert said.startswith("top means one thing:")
    assert about in said
    assert str(rw.explain(load_object("./explained_measures.py:top"))) + "\n" == said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rw.explain(3), "unknown measure '3'"),
        (lambda: rw.check(3), "judgments cannot be read from an integer"),
        (lambda: rw.check("nowhere.txt"), r"nowhere\.txt: no such file"),
        (lambda: rw.convert("nowhere.run", "a.csv"), r"nowhere\.run: no such file"),
        (
            lambda: rw.convert("a.run", "a.csv", holds="texts"),
            "holds: there is no 'texts'; known are judgments, run",
        ),
        (
            lambda: rw.convert("a.run", "a.csv", duplicates="frist"),
            "duplicates: there is no 'frist'; did you mean 'first'",
        ),
        (lambda: rw.convert("a.run", "a.xyz"), r"'a\.xyz' names no format that can be written"),
    ],
)
def test_bad_input_is_one_short_exception(folder: Path, call: Callable[[], object], message: str):
    with pytest.raises(rw.RankwellError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert not (folder / "a.csv").exists()


@pytest.mark.parametrize(
    ("name", "read", "write"),
    [("a.run", "ranking", "run"), ("qrels.txt", "judgments", "judgments")],
)
def test_what_is_in_memory_replaces_a_file_only_on_request(
    folder: Path, name: str, read: str, write: str
):
    table = getattr(rw, f"read_{read}")(name)
    save, written = getattr(rw, f"write_{write}"), folder / f"new-{name}"
    assert save(table, written, format="trec") == "trec"
    Path(name).write_bytes(before := b"mine\n")

    with pytest.raises(
        rw.BadUsage, match=rf"{name} exists; name another file, or pass overwrite=True\.$"
    ):
        save(table, name)

    assert Path(name).read_bytes() == before
    assert save(table, name, overwrite=True) == "trec"
    assert Path(name).read_bytes() == written.read_bytes()
    with pytest.raises(rw.BadUsage, match=rf"write_{write} writes .* found a mapping"):
        save({"q": {"a": 1}}, "new.csv")


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_runs_and_judgments_come_out_as_frames(package: str, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip(package)
    run = rw.read_ranking({"q1": {"a": 2.0, "b": 1.0}, "q2": {"ä": 0.5}})
    judged = rw.Judgments.from_rows(["q", "q"], ["a", "b"], [1, 0], aspects=["1", "2"])
    for table in (run, judged, rw.read_ranking({"q": {}})):
        frame = getattr(table, f"to_{package}")()
        cells = (
            frame.to_dict(as_series=False) if package == "polars" else frame.to_dict(orient="list")
        )
        assert cells == table.to_columns()
        number = list(frame.columns)[-1]
        assert str(frame[number].dtype).lower() == "float64"

    assert rw.read_ranking(getattr(run, f"to_{package}")()).to_dict() == run.to_dict()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(rw.MissingExtra, match=f"pip install {package}"):
        getattr(run, f"to_{package}")()


def test_true_neighbours_in_hdf5_are_converted(folder: Path):
    h5py = pytest.importorskip("h5py")
    with h5py.File("gt.hdf5", "w") as file:
        file["neighbors"] = [[3, 1], [0, -1]]

    done = rw.convert("gt.hdf5", "gt.json")

    assert (done.holds, done.source_format, done.rows) == ("judgments", "hdf5", 3)
    assert "gt.hdf5: hdf5 is read as judgments; holds='run' reads it as a run" in done.messages
    assert rw.read_judgments("gt.json").to_dict() == rw.read_judgments("gt.hdf5").to_dict()
    assert rw.convert("gt.hdf5:1", "gt.qrels").rows == 2
    assert rw.convert("gt.hdf5", "gt.run", holds="run").holds == "run"
    assert rw.read_ranking("gt.run").to_dict() == {"0": {"3": -1.0, "1": -2.0}, "1": {"0": -1.0}}
