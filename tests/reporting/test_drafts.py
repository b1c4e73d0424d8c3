"""Result folders that are written twice, at once, edited or killed: nothing but a whole result is
ever read as one.
"""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rankwell
from rankwell import cli
from rankwell.data.options import overwriting
from rankwell.errors import BadInput, BadUsage
from rankwell.reporting.drafts import keeping
from rankwell.store import write_text

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 b 1 3 x\nq2 Q0 a 2 2 x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments, two runs, and the results of the first in `out`."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "one.run").write_text(RUN)
    (tmp_path / "two.run").write_text(RUN.replace(" 3 x", " 1 x"))
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "evaluate qrels.txt one.run -o out") == 0
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, line: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *line.split()])
    return cli.main()


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, without drafts and locks."""
    files = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(".")}


def state(folder: Path, **files: str) -> None:
    """Lists further files in a manifest, with their digests."""
    import hashlib

    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["files"] |= {
        name: f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for name, text in files.items()
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


GATE = "gate out --require AP>=0"


@pytest.mark.parametrize(
    "line", [GATE, "compare out other", "report out", "gate other --baseline out"]
)
@pytest.mark.parametrize(
    "name", ["summary.json", "per_query.parquet", "summary.csv", "details.parquet"]
)
def test_what_reads_a_folder_names_a_file_that_was_changed(
    line: str, name: str, folder: Path, monkeypatch, capsys
):
    assert run(monkeypatch, "evaluate qrels.txt two.run -o other") == 0
    with (folder / "out" / name).open("ab") as stream:
        stream.write(b"\n")

    assert run(monkeypatch, line) == 2
    assert f"out/{name}" in capsys.readouterr().err


def test_an_edited_summary_does_not_pass_a_gate(folder: Path, monkeypatch, capsys):
    path = folder / "out" / "summary.json"
    path.write_text(path.read_text().replace('"mean": 0.', '"mean": 0.99'))

    assert run(monkeypatch, "gate out --require AP>=0.99") == 2
    assert "out/summary.json is not the file" in capsys.readouterr().err


def test_files_of_two_results_do_not_pass_for_one(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate qrels.txt two.run -o other") == 0
    shutil.copy("other/summary.json", "out/summary.json")
    shutil.copy("other/details.parquet", "out/details.parquet")

    assert run(monkeypatch, GATE) == 2
    assert "is not the file that manifest.json lists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"files": [1]}',
        '{"files": {"a": 1}}',
        '{"files": {"../x": "sha256:0"}}',
    ],
)
def test_a_manifest_of_another_form_is_named(text: str, folder: Path, monkeypatch, capsys):
    (folder / "out" / "manifest.json").write_text(text)

    assert run(monkeypatch, GATE) == 2
    assert "out/manifest.json:" in capsys.readouterr().err


def test_an_edited_file_is_replaced_only_on_request(folder: Path, monkeypatch, capsys):
    whole = content(folder / "out")
    (folder / "out" / "summary.csv").write_text("my notes")

    assert run(monkeypatch, "evaluate qrels.txt one.run -o out") == 2
    assert (
        "out/summary.csv was not written by rankwell, or was changed since; move it"
        in capsys.readouterr().err
    )
    assert (folder / "out" / "summary.csv").read_text() == "my notes"
    assert run(monkeypatch, "evaluate qrels.txt one.run -o out --overwrite") == 0
    assert content(folder / "out") == whole


def test_a_file_that_no_result_wrote_is_replaced_only_on_request(folder: Path, monkeypatch, capsys):
    (folder / "mine").mkdir()
    (folder / "mine" / "queries.parquet").write_text("mine")

    assert run(monkeypatch, "evaluate qrels.txt one.run -o mine") == 2
    assert (
        "mine holds files, and no results of rankwell (queries.parquet)" in capsys.readouterr().err
    )
    assert (folder / "mine" / "queries.parquet").read_text() == "mine"
    assert run(monkeypatch, "evaluate qrels.txt one.run -o mine --overwrite") == 0
    assert (folder / "mine" / "queries.parquet").read_bytes() == (
        folder / "out" / "queries.parquet"
    ).read_bytes()


def test_only_an_empty_folder_or_one_with_a_manifest_becomes_a_result(
    folder: Path, monkeypatch, capsys
):
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("mine")
    (folder / "mine" / "todo.txt").write_text("mine")

    for line in ("evaluate qrels.txt one.run -o mine", "compare qrels.txt one.run two.run -o mine"):
        assert run(monkeypatch, line) == 2
        assert (
            "mine holds files, and no results of rankwell (notes.txt and 1 more); name a new"
            in capsys.readouterr().err
        )
        assert content(folder / "mine") == {"notes.txt": b"mine", "todo.txt": b"mine"}
    with pytest.raises(BadUsage, match=r"notes\.txt and 1 more"):
        rankwell.evaluate("qrels.txt", "one.run").save("mine")

    # With a manifest it is a result's, and what else is in it stays.
    (folder / "out" / "notes.txt").write_text("mine")
    assert run(monkeypatch, "evaluate qrels.txt two.run -o out --overwrite") == 0
    assert (folder / "out" / "notes.txt").read_text() == "mine"
    assert run(monkeypatch, "evaluate qrels.txt two.run -o mine --overwrite") == 0
    assert (folder / "mine" / "notes.txt").read_text() == "mine"


def test_hidden_files_and_folders_within_claim_nothing(folder: Path, monkeypatch):
    (folder / "mine" / "earlier").mkdir(parents=True)
    (folder / "mine" / "earlier" / "notes.txt").write_text("mine")
    (folder / "mine" / ".gitignore").write_text("*")

    assert run(monkeypatch, "evaluate qrels.txt one.run -o mine") == 0
    assert (folder / "mine" / "earlier" / "notes.txt").read_text() == "mine"
    assert (folder / "mine" / ".gitignore").read_text() == "*"


@pytest.mark.parametrize(
    "manifest", ['{"files": {"notes.txt": "x"}}', '{"name": "a web page", "icons": []}', "not JSON"]
)
def test_a_manifest_that_is_not_ours_decides_nothing_and_stays(
    manifest: str, folder: Path, monkeypatch, capsys
):
    (folder / "mine").mkdir()
    (folder / "mine" / "manifest.json").write_text(manifest)
    (folder / "mine" / "notes.txt").write_text("x")

    assert run(monkeypatch, "evaluate qrels.txt one.run -o mine") == 2
    assert (
        "mine/manifest.json was not written by rankwell, or was changed since"
        in capsys.readouterr().err
    )
    assert (folder / "mine" / "manifest.json").read_text() == manifest
    assert (folder / "mine" / "notes.txt").read_text() == "x"


def test_only_names_that_are_ours_are_removed(folder: Path, monkeypatch):
    files = {"notes.txt": "1", "qrels.csv": "2", "old.png": "3"}
    for name, text in files.items():
        (folder / "out" / name).write_text(text)
    state(folder / "out", **files)

    assert run(monkeypatch, "evaluate qrels.txt one.run -o out") == 0
    assert (folder / "out" / "notes.txt").exists()
    assert (folder / "out" / "qrels.csv").exists()
    assert not (folder / "out" / "old.png").exists()


def test_an_input_is_neither_removed_nor_replaced(folder: Path, monkeypatch, capsys):
    assert run(monkeypatch, "evaluate qrels.txt two.run -o other") == 0
    before = content(folder / "out")

    for line in ("compare out other -o out", "compare out other -o out --overwrite"):
        assert run(monkeypatch, line) == 2
        assert "out/per_query.parquet is an input of this command" in capsys.readouterr().err
        assert content(folder / "out") == before

    shutil.copy("qrels.txt", "out/results.csv")
    state(folder / "out", **{"results.csv": QRELS})
    assert run(monkeypatch, "evaluate out/results.csv one.run -o out") == 2
    assert (folder / "out" / "results.csv").read_text() == QRELS


KILLED = """
import os, signal, sys
from pathlib import Path
from rankwell import cli

module, name, number = sys.argv.pop().split(":")
target = __import__(module, fromlist=["x"]) if module != "pathlib" else Path
real, calls = getattr(target, name), []


def killed(*places, **named):
    calls.append(places)
    if len(calls) > int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*places, **named)


setattr(target, name, killed)
sys.exit(cli.main())
"""


def test_a_comparison_without_room_for_its_page_leaves_nothing(folder: Path, monkeypatch, capsys):
    run(monkeypatch, "evaluate qrels.txt two.run -o other")

    def _no_room(*_: object) -> None:
        raise BadInput("report.html cannot be written (No space left on device)")

    monkeypatch.setattr("rankwell.comparison.pages.write_page", _no_room)

    assert run(monkeypatch, "compare out other -o both") == 2
    assert "No space left" in capsys.readouterr().err
    assert not (folder / "both").exists()


@pytest.mark.parametrize(
    "step",
    [
        "rankwell.reporting.folder:write_parquet:0",
        *(f"pathlib:replace:{n}" for n in (0, 3, 6, 8, 10)),
    ],
)
def test_a_killed_result_is_not_read_and_the_next_one_leaves_nothing_of_it(
    step: str, folder: Path, monkeypatch, capsys
):
    whole = content(folder / "out")
    (folder / "texts.csv").write_text("id,text\nq1,first\nq2,second\n")
    line = "evaluate qrels.txt two.run -o out --queries texts.csv"
    killed = subprocess.run([sys.executable, "-c", KILLED, *line.split(), step], check=False)
    assert killed.returncode == -signal.SIGKILL

    if content(folder / "out") != whole:
        assert run(monkeypatch, GATE) == 2
        assert "not written to its end" in capsys.readouterr().err
    assert run(monkeypatch, "evaluate qrels.txt one.run -o out") == 0
    assert content(folder / "out") == whole
    assert not list((folder / "out").glob(".*"))


def test_two_writers_of_one_folder_leave_one_result(folder: Path, monkeypatch):
    lines = {name: f"evaluate qrels.txt {name}.run -o both" for name in ("one", "two")}
    for name in lines:
        assert run(monkeypatch, lines[name].replace("both", f"alone-{name}")) == 0
    program = [sys.executable, "-m", "rankwell"]
    writers = [
        subprocess.Popen(
            [*program, *line.split()], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        for line in lines.values()
    ]

    # On a machine that is very busy, the second may lose its patience.
    assert sorted(writer.wait() for writer in writers) in ([0, 0], [0, 2])
    assert content(folder / "both") in [content(folder / f"alone-{name}") for name in lines]


HOLDER = """
import sys, time
from pathlib import Path
from rankwell.store.locks import locked

with locked(Path("out")):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_folder_that_another_process_writes_stays_and_the_message_names_it(
    folder: Path, monkeypatch, capsys
):
    monkeypatch.setattr("rankwell.reporting.drafts._PATIENCE", 0.2)
    before = content(folder / "out")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert run(monkeypatch, "evaluate qrels.txt two.run -o out") == 2
        assert f"out is being written by process {holder.pid} on " in capsys.readouterr().err
        holder.kill()

    assert content(folder / "out") == before
    assert run(monkeypatch, GATE) == 0


DEMOS = [
    "demo",
    "demo qa",
    "demo keywords",
    "demo embeddings",
    "demo crossmodal",
    "demo images",
    "demo engine",
    "demo judge",
]


@pytest.mark.parametrize("line", DEMOS)
def test_a_demo_leaves_a_folder_that_another_process_writes(
    line: str, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.setattr("rankwell.reporting.drafts._PATIENCE", 0.2)
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert run(monkeypatch, f"{line} -o out") == 2
        assert f"out is being written by process {holder.pid} on " in capsys.readouterr().err
        holder.kill()

    assert content(tmp_path / "out") == {}


def test_a_demo_replaces_files_of_others_only_on_request(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "captions.txt").write_text("mine")

    assert run(monkeypatch, f"demo crossmodal -o {tmp_path}") == 2
    assert f"{tmp_path}/captions.txt exists with different content" in capsys.readouterr().err
    assert (tmp_path / "captions.txt").read_text() == "mine"
    assert run(monkeypatch, f"demo crossmodal -o {tmp_path} --overwrite") == 0
    assert run(monkeypatch, f"demo crossmodal -o {tmp_path}") == 0


def test_a_decorated_function_keeps_files_by_the_overwrite_of_its_call(tmp_path: Path):
    @keeping()
    def write() -> None:
        write_text(tmp_path / "a", "ours")

    (tmp_path / "a").write_text("mine")
    with pytest.raises(BadUsage, match="exists with different content"):
        write()
    assert (tmp_path / "a").read_text() == "mine"

    with overwriting(True):
        write()
    assert (tmp_path / "a").read_text() == "ours"


def test_the_same_inputs_are_the_same_from_another_working_directory(
    folder: Path, monkeypatch, capsys
):
    (folder / "inside").mkdir()
    monkeypatch.chdir(folder / "inside")
    assert run(monkeypatch, "evaluate ../qrels.txt ../one.run -o ../out") == 0

    (folder / "inside" / "one.run").write_text(RUN.replace(" 3 x", " 1 x"))
    assert run(monkeypatch, "evaluate ../qrels.txt one.run -o ../out") == 2
    assert "holds other results (input one: " in capsys.readouterr().err
