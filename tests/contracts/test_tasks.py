"""The contract of tasks: one folder holds all of a task, and what is left without the folder is
whole.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import rankwell
from rankwell.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = Path(rankwell.__file__).parent
TASKS = sorted(each.parent.name for each in PACKAGE.glob("tasks/*/__init__.py"))
PIECES = ("README.md",)
"""What the folder of every task has."""
WHOLE = """
import contextlib, io, sys
import rankwell
from rankwell.cli import main

lines = sys.argv[1:]
for name in rankwell.__all__:
    getattr(rankwell, name)
for line in ("--help", "explain", *lines):
    sys.argv[1:] = line.split()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main()
    assert code == 0 and printed.getvalue(), line
print(*rankwell.__all__)
"""


def smallest(task: str) -> ModuleType:
    """The smallest command of a task, and what writes its inputs."""
    return import_module(f"tasks.{task}.smallest")


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_its_pieces_and_tests_of_its_own(task: str):
    missing = [piece for piece in PIECES if not (PACKAGE / "tasks" / task / piece).is_file()]

    assert missing == [], f"tasks/{task} lacks {missing}"
    commands = [
        file
        for file in ("task.py", "commands/__init__.py")
        if (PACKAGE / "tasks" / task / file).is_file()
    ]
    assert commands, f"tasks/{task} has no command"
    assert any((ROOT / "tests" / "tasks" / task).glob("test_*.py")), (
        f"tests/tasks/{task} has no test"
    )
    assert (ROOT / "tests" / "tasks" / task / "smallest.py").is_file(), (
        f"tests/tasks/{task} lacks its smallest command"
    )


@pytest.mark.parametrize(
    "task", [task for task in TASKS if (PACKAGE / "tasks" / task / "page.js").is_file()]
)
def test_a_view_of_the_page_is_driven_by_a_test(task: str):
    views = (ROOT / "tests" / "reporting" / "test_page_views.py").read_text(encoding="utf-8")

    assert re.search(rf"def test_{task}_\w+\(\s*browser", views), (
        f"no browser test of tests/reporting/test_page_views.py opens {task}"
    )


@pytest.mark.parametrize("task", ["embeddings", "qa", "crossmodal", "keywords", "pairs", "rag"])
def test_results_say_of_which_task_they_are(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    smallest(task).write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["rankwell", *smallest(task).COMMAND.split(), "-o", "out"])

    assert main() == 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["protocol"] == task


@pytest.mark.parametrize("task", TASKS)
def test_the_readme_of_a_task_is_one_screen(task: str):
    lines = (PACKAGE / "tasks" / task / "README.md").read_text(encoding="utf-8").splitlines()

    assert 5 <= len(lines) <= 50
    for file in re.findall(r"`([\w/]+\.(?:py|js|md))`", "\n".join(lines)):
        homes = (PACKAGE / "tasks" / task, PACKAGE, ROOT)
        assert any((home / file).is_file() for home in homes), (
            f"tasks/{task}/README.md names {file}"
        )


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=[pytest.mark.slow] * (task != "runs")) for task in TASKS]
)
def test_without_the_folder_of_a_task_all_else_works(task: str, tmp_path: Path):
    package, inputs = tmp_path / "rankwell", tmp_path / "inputs"
    inputs.mkdir()
    others = [smallest(each) for each in TASKS if each != task]
    for other in others:
        other.write(inputs)
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(package / "tasks" / task)
    remaining = {
        name
        for name, module in rankwell._homes().items()
        if not module.startswith(f"rankwell.tasks.{task}.")
    }

    done = subprocess.run(
        [sys.executable, "-c", WHOLE, *(other.COMMAND for other in others)],
        capture_output=True,
        text=True,
        cwd=inputs,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "80"},
    )

    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == remaining | {"__version__"}
