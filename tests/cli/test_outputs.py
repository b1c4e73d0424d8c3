"""A file of the user is never overwritten, and a failed command leaves none of its output: one rule
for every command.
"""

from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import REQUIRED, arguments_of
from rankwell.errors import BadUsage
from regression.running import in_process
from tasks.images.test_system_table import written
from tasks.keywords import smallest as clips

QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 b 1 1.0 x\n"
OWN_RECORD = {("bench",): "bench.json"}
"""Commands whose folder holds a record of what they wrote, which they write anew."""
LINES = {
    "convert a.run OUT.csv": "OUT.csv",
    "fuse a.run b.run -o OUT.run": "OUT.run",
    "knn base.npy queries.npy -o OUT.run --neighbours 2": "OUT.run",
    "keywords template ids.txt -o OUT.csv": "OUT.csv",
    "report results -o OUT.html": "OUT.html",
    "report results": "results/report.html",
    "gate results --require nDCG@10>=0 -o OUT.xml": "OUT.xml",
    "bench runs.toml": "runs-results/table.md",
    "bench museum.toml --format csv -o OUT": "OUT/table.csv",
    "evaluate qrels a.run -o OUT": "OUT/summary.csv",
    "compare qrels a.run b.run -o OUT": "OUT/report.html",
}
BENCH = """
[[dataset]]
name = "d"
command = "evaluate"
qrels = "qrels"
runs = "{system}.run"

[[system]]
name = "a"
"""
GRID = """
[[dataset]]
name = "d"
command = "qa"
gold = "gold.json"
convention = "squad2"

[[system]]
name = "a"
predictions = "a.json"

[chart]
measures = ["exact"]
"""
INPUTS = [
    "convert a.run a.run",
    "fuse a.run b.run -o b.run",
    "fuse first=a.run b.run -o a.run",
    "knn base.npy:0 queries.npy -o queries.npy",
    "keywords template ids.csv:id -o ids.csv",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "qrels": QRELS,
        "a.run": RUN,
        "b.run": RUN,
        "ids.txt": "c1\nc2\n",
        "ids.csv": "id\nc1\n",
    }.items():
        Path(name).write_text(text)
    Path("old.toml").write_text('name = "a"\n')
    Path("runs.toml").write_text(BENCH)
    Path("museum.toml").write_text('[table]\nresults = ["museum"]\n')
    written(tmp_path / "museum", "museum", {"one": [1.0, 0.0] * 6})
    for name in ("base", "queries"):
        np.save(f"{name}.npy", np.eye(3, dtype=np.float32))
    code, _, err = in_process(["evaluate", "qrels", "a.run", "-o", "results"])
    assert code == 0, err
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_a_file_that_is_there_is_replaced_with_overwrite_alone(line: str):
    target = Path(LINES[line])
    target.parent.mkdir(exist_ok=True)
    target.write_text("work of a week")
    before = files_of(target.parent)

    code, _, err = in_process(line.split())

    assert code == 2
    assert target.name in err
    assert "--overwrite" in err
    # A failed command leaves none of its output.
    assert files_of(target.parent) == before

    code, _, err = in_process([*line.split(), "--overwrite"])
    assert code == 0, err
    assert "work of a week" not in target.read_text()


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OWN = [
    "bench runs.toml",
    "bench museum.toml -o OUT",
    "gate results --require nDCG@10>=0 -o OUT.xml",
]


@pytest.mark.parametrize("line", OWN)
def test_what_a_command_wrote_itself_is_written_again(line: str):
    for _ in range(2):
        code, _, err = in_process(line.split())
        assert code == 0, err

    assert (
        Path("OUT.xml").exists()
        or Path("OUT/table.csv").exists()
        or Path("runs-results/table.md").exists()
    )


def test_a_failed_gate_replaces_its_own_report_and_no_other():
    Path("gate.xml").write_text('<testsuite name="pytest">')
    line = ["gate", "results", "--require", "nDCG@10>=2%", "-o"]

    assert in_process([*line, "gate.xml"])[0] == 2
    assert Path("gate.xml").read_text() == '<testsuite name="pytest">'

    for _ in range(2):
        in_process([*line, "own.xml"])
        assert in_process(["gate", "nowhere", "--require", "AP>0", "-o", "own.xml"])[0] == 2
        assert "<error" in Path("own.xml").read_text()


@pytest.mark.parametrize("earlier", [False, True])
def test_a_failed_command_leaves_a_folder_as_it_was(folder: Path, earlier: bool):
    clips.write(folder)
    line = clips.COMMAND.split()
    if earlier:
        assert in_process([*line, "-o", "OUT"])[0] == 0
    before = files_of(Path("OUT"))

    code, _, err = in_process([*line, "-o", "OUT", "--thumbnails", "/nonexist"])

    assert code == 2
    assert "/nonexist" in err
    assert files_of(Path("OUT")) == before
    assert Path("OUT").exists() == earlier


def test_a_grid_keeps_results_that_are_not_its_own(folder: Path):
    (folder / "grid.toml").write_text(GRID)
    (folder / "gold.json").write_text('[{"id": "q1", "question": "who?", "answers": ["Ann"]}]')
    (folder / "a.json").write_text('{"q1": "Ann"}')
    (folder / "OUT").mkdir()
    (folder / "OUT/results.csv").write_text("work of a week")

    code, _, err = in_process(["bench", "grid.toml", "-o", "OUT"])

    assert code == 2
    assert "results.csv was not written by rankwell, or was changed since" in err
    assert files_of(folder / "OUT") == {folder / "OUT/results.csv": b"work of a week"}
    for _ in range(2):
        code, _, err = in_process(["bench", "grid.toml", "-o", "OUT", "--overwrite"])
        assert code == 0, err
    code, _, err = in_process(["bench", "grid.toml", "-o", "OUT"])
    assert code == 0, err


@pytest.mark.parametrize("line", INPUTS)
def test_an_input_is_never_replaced(line: str):
    before = {path: path.read_bytes() for path in Path().glob("*.*")}

    for words in (line.split(), [*line.split(), "--overwrite"]):
        code, _, err = in_process(words)
        assert code == 2
        assert "is an input of this command" in err

    assert {path: path.read_bytes() for path in Path().glob("*.*")} == before


def test_a_page_is_written_again_where_its_folder_lists_it():
    for title in ("one", "two"):
        code, _, err = in_process(["report", "results", "--title", title])
        assert code == 0, err

    assert "<title>two" in Path("results/report.html").read_text()


WRITES_FOLDERS = [
    words
    for words in command_summaries()
    if any(
        getattr(mark, "writes", "") == "folder"
        for each in arguments_of(command_function(words))
        for mark in each.marks
    )
]


@pytest.mark.parametrize("words", WRITES_FOLDERS, ids=" ".join)
def test_no_folder_has_the_name_of_a_file(words: tuple[str, ...]):
    needed = [
        each
        for each in arguments_of(command_function(words))
        if each.default is REQUIRED and each.name != "output"
    ]
    given = [
        word
        for each in needed
        for word in (*each.flags[:1], each.choices[0] if each.choices else "a.run")
    ]
    before = sorted(Path().rglob("*"))

    for name in ("new.csv", "deep/new.json.gz"):
        code, out, err = in_process([*words, *given, "-o", name])

        assert (code, out) == (2, "")
        assert (
            f"{name} has the name of a file; expected a folder to write. Name "
            f"{name.partition('.')[0]}." in err
        )
    assert sorted(Path().rglob("*")) == before


def test_a_folder_that_is_there_may_have_any_name(folder: Path):
    for name in ("there.csv", "v1.2"):
        (folder / name).mkdir(exist_ok=name == "v1.2")
        code, _, err = in_process(["evaluate", "qrels", "a.run", "-o", name])
        assert code == 0, err


def test_python_refuses_a_folder_with_the_name_of_a_file_too(folder: Path):
    result = rw.evaluate("qrels", "a.run")

    with pytest.raises(
        BadUsage,
        match=r"new\.parquet has the name of a file; expected a folder to write\. Name new\.",
    ):
        result.save("new.parquet")
    with pytest.raises(BadUsage, match=r"new\.json has the name of a file"):
        rw.bench("runs.toml", output="new.json")
    assert not list(folder.glob("new*"))


@pytest.mark.parametrize("words", command_summaries(), ids=" ".join)
def test_every_command_that_writes_can_be_allowed_to_overwrite(words: tuple[str, ...]):
    known = {each.name: each for each in arguments_of(command_function(words))}
    writes = [
        name
        for name in ("output", "target")
        if name in known and issubclass(known[name].kind, Path)
    ]

    assert not writes or "overwrite" in known
