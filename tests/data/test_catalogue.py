"""Registries: their indices, folders without one, and entry points of another package."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankwell

SOURCE = Path(rankwell.__file__).parent
TOOL = SOURCE.parent.parent / "tools" / "registry_index.py"
EVALUATE = ["evaluate", "qrels.txt", "a.run", "--intervals", "none", "--format", "csv"]


def python(*words, path, folder):
    """What a fresh interpreter prints that finds its packages in `path` first."""
    places = "".join(f"sys.path.insert(0, {str(each)!r}); " for each in reversed(path))
    code = f"import sys; {places}from rankwell.cli import script; script()"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2.0 x\nq1 Q0 d1 2 1.0 x\n")
    return tmp_path


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, with its tools, that a test may change."""
    shutil.copytree(SOURCE, tmp_path / "copy" / "src" / "rankwell")
    shutil.copytree(
        TOOL.parent, tmp_path / "copy" / "tools", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "copy"


NEW_MEASURE = '''
"""A measure of this test."""
from rankwell.data.registry import measure
from rankwell.data.tables import Floats
from rankwell.data.judged_rankings import JudgedRankings


@measure("Halves", source="this test", at=None)
def halves(judged: JudgedRankings) -> Floats:
    """A half for every query."""
    return judged.sum_rows(judged.grades) * 0.0 + 0.5
'''


@pytest.fixture
def package(tmp_path):
    """Another package, installed as a folder with metadata: a measure, a format and an engine."""
    home = tmp_path / "site"
    (home / "halves-1.0.dist-info").mkdir(parents=True)
    (home / "halves-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n"
    )
    (home / "halves-1.0.dist-info" / "entry_points.txt").write_text(
        "[rankwell.measures]\nHalves = halves_measure\nBroken = halves_missing\nEmpty = "
        "halves_engine\n"
        "[rankwell.formats]\nbang run = halves_format\n"
        "[rankwell.engines]\nhalves = halves_engine:search\n"
    )
    (home / "halves_measure.py").write_text(NEW_MEASURE)
    (home / "halves_format.py").write_text(
        "from rankwell.data.rankings import Ranking\n"
        "from rankwell.io.formats import file_format\n\n\n"
        '@file_format("bang", holds="run", sniff=lambda head: float(head.text.startswith("!")))\n'
        "def read(source, request):\n"
        '    """Lines of !query|item|score."""\n'
        "    rows = [line[1:].split('|') for line in source.read().decode().splitlines()]\n"
        "    return Ranking.from_dict({rows[0][0]: {item: float(score) for _, item, score in "
        "rows}})\n"
    )
    (home / "halves_engine.py").write_text("def search(query, k):\n    return [('d1', 1.0)]\n")
    return home


def test_every_index_is_what_its_folder_registers():
    done = subprocess.run(
        [sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_index_fails_by_name_and_is_written_anew(copied):
    def _tool(*words):
        return subprocess.run(
            [sys.executable, str(copied / "tools" / "registry_index.py"), *words],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(copied / "src")},
            check=False,
        )

    (copied / "src/rankwell/measures/halves.py").write_text(NEW_MEASURE.lstrip())
    (copied / "src/rankwell/tasks/keywords/measures").mkdir()
    (copied / "src/rankwell/tasks/keywords/measures/index.txt").write_text("")

    stale = _tool("--check")
    written, again = _tool(), _tool("--check")

    assert stale.returncode == 1
    assert [line.split()[0] for line in stale.stderr.splitlines()] == [
        "src/rankwell/measures/index.txt",
        "src/rankwell/tasks/keywords/measures/index.txt",
    ]
    assert (written.returncode, again.returncode) == (0, 0)
    assert (
        "measure\tHalves\thalves\t"
        in (copied / "src/rankwell/measures/index.txt").read_text().splitlines()
    )


def test_folders_without_an_index_are_imported(copied, folder):
    (copied / "src/rankwell/measures/halves.py").write_text(NEW_MEASURE.lstrip())
    for index in copied.rglob("index.txt"):
        index.unlink()

    done = python(*EVALUATE, "-m", "Halves RR", path=[copied / "src"], folder=folder)
    pages = [
        python("--help", path=path, folder=folder).stdout
        for path in ([copied / "src"], [SOURCE.parent])
    ]

    assert [line.split(",")[1:4:2] for line in done.stdout.splitlines()[1:]] == [
        ["Halves", "0.5"],
        ["RR", "0.5"],
    ]
    assert pages[0] == pages[1]


def test_the_page_of_commands_reads_no_command():
    code = (
        "import sys; from rankwell.data.catalogue import command_summaries; "
        "print(len(command_summaries()));"
        "print([name for name in sys.modules if '.commands.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(done.stdout.split()[0]) > 20
    assert done.stdout.splitlines()[1] == "[]"


def test_a_measure_of_another_package_has_a_value_and_is_listed(package, folder):
    path = [SOURCE.parent, package]

    done = python(*EVALUATE, "-m", "Halves", path=path, folder=folder)

    assert done.stdout.splitlines()[1].split(",")[1:4:2] == ["Halves", "0.5"]


def test_a_format_of_another_package_is_recognised_and_can_be_named(package, folder):
    (folder / "b.run").write_text("!q1|d2|2\n!q1|d1|1\n")
    words = ["evaluate", "qrels.txt", "b.run", "--intervals", "none", "--format", "csv", "-m", "RR"]

    found = python(*words, path=[SOURCE.parent, package], folder=folder)
    named = python(*words, "--run-format", "bang", path=[SOURCE.parent, package], folder=folder)
    without = python(*words, "--run-format", "bang", path=[SOURCE.parent], folder=folder)

    assert found.stdout.splitlines()[1].split(",")[1:4:2] == ["RR", "0.5"], found.stderr
    assert named.stdout == found.stdout
    assert (without.returncode, "unknown format of runs 'bang'" in without.stderr) == (2, True)


def test_an_engine_of_another_package_is_found_by_its_name(package, folder):
    code = f"import sys; sys.path.insert(0, {str(package)!r})\n"
    code += "from rankwell.engines import find_engine; print(find_engine('halves')('x', 1))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )

    assert done.stdout == "[('d1', 1.0)]\n", done.stderr


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (
            "Broken",
            "'Broken' (halves_missing, in the package halves) cannot be loaded: "
            "ModuleNotFoundError",
        ),
        (
            "Empty",
            "halves_engine is an entry point of rankwell.measures, but registers no measure "
            "named 'Empty'",
        ),
        ("Absent", "unknown measure 'Absent'"),
    ],
)
def test_an_entry_point_that_gives_nothing_is_an_error_that_names_it(
    package, folder, measure, message
):
    done = python(*EVALUATE, "-m", measure, path=[SOURCE.parent, package], folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_entry_points_are_not_looked_at_for_known_names(folder):
    code = (
        "import sys, importlib.metadata; importlib.metadata.entry_points = None;"
        "from rankwell.cli import main; raise SystemExit(main())"
    )
    for words in (
        EVALUATE,
        [*EVALUATE, "-m", "nDCG@10 map ndcg_cut.10"],
        ["--help"],
        ["evaluate", "--help"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )

        assert done.returncode == 0, done.stderr
