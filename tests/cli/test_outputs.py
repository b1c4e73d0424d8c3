"""A file of the user is never overwritten: one rule for every command that writes a single file."""

from pathlib import Path

import numpy as np
import pytest

from rankwell.core.catalogue import command_function, command_summaries
from rankwell.core.options import arguments_of
from regression.running import in_process

QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq2 Q0 b 1 1.0 x\n"
OWN_RECORD = {("bench",): "bench.json", ("instances", "table"): "table.json, made of folders that it names"}
"""Commands whose folder holds a record of what they wrote, which they write anew."""
LINES = {
    "convert a.run OUT.csv": "OUT.csv",
    "fuse a.run b.run -o OUT.run": "OUT.run",
    "search base.npy queries.npy -o OUT.run -k 2": "OUT.run",
    "clips template ids.txt -o OUT.csv": "OUT.csv",
    "report results -o OUT.html": "OUT.html",
    "report results": "results/report.html",
    "convert experiment old.toml OUT.toml": "OUT.toml",
}
INPUTS = [
    "convert a.run a.run",
    "fuse a.run b.run -o b.run",
    "fuse first=a.run b.run -o a.run",
    "search base.npy:0 queries.npy -o queries.npy",
    "clips template ids.csv:id -o ids.csv",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels": QRELS, "a.run": RUN, "b.run": RUN, "ids.txt": "c1\nc2\n", "ids.csv": "id\nc1\n"}.items():
        Path(name).write_text(text)
    Path("old.toml").write_text('name = "a"\n')
    for name in ("base", "queries"):
        np.save(f"{name}.npy", np.eye(3, dtype=np.float32))
    code, _, err = in_process(["evaluate", "qrels", "a.run", "-o", "results"])
    assert code == 0, err
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_a_file_that_is_there_is_replaced_with_overwrite_alone(line: str):
    target = Path(LINES[line])
    target.write_text("work of a week")

    code, _, err = in_process(line.split())

    assert code == 2
    assert target.name in err
    assert "--overwrite" in err
    assert target.read_text() == "work of a week"

    code, _, err = in_process([*line.split(), "--overwrite"])
    assert code == 0, err
    assert "work of a week" not in target.read_text()


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


@pytest.mark.parametrize("words", command_summaries(), ids=" ".join)
def test_every_command_that_writes_can_be_allowed_to_overwrite(words: tuple[str, ...]):
    known = {each.name: each for each in arguments_of(command_function(words))}
    writes = [name for name in ("output", "target") if name in known and issubclass(known[name].kind, Path)]

    assert not writes or "overwrite" in known or words in OWN_RECORD
