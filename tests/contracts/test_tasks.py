"""The contract of tasks: one folder holds all of a task, and what is left without the folder is whole."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwell
from rankwell import public

ROOT = Path(__file__).parents[2]
PACKAGE = Path(rankwell.__file__).parent
TASKS = sorted(each.parent.name for each in PACKAGE.glob("tasks/*/__init__.py"))
PIECES = ("README.md", "public.py", "commands/__init__.py")
"""What the folder of every task has."""
SMALLEST = {
    "agreement": "agree left.npy --reference right.npy -k 1",
    "answers": "answers gold.json predictions.json --convention squad2",
    "captions": "captions scores.npy",
    "clips": "clips evaluate --annotations clips.csv --embeddings vectors.npy --ids ids.txt",
    "instances": "instances stats images.csv",
    "pairs": "pairs targets.txt similarities.txt",
    "runs": "evaluate qrels run",
}
"""The smallest command of each task, on the files that `inputs` writes."""
WHOLE = """
import contextlib, io, sys
import rankwell
from rankwell.cli import main

lines = sys.argv[1:]
for name in rankwell.__all__:
    getattr(rankwell, name)
for line in ("--help", "measures", *lines):
    sys.argv[1:] = line.split()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main()
    assert code == 0 and printed.getvalue(), line
print(*rankwell.__all__)
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the smallest inputs of every task."""
    folder = tmp_path_factory.mktemp("inputs")
    texts = {
        "qrels": "q1 0 d1 1\nq2 0 d2 1\n",
        "run": "q1 Q0 d1 1 2.0 r\nq2 Q0 d3 1 1.0 r\n",
        "targets.txt": "1\n2\n3\n4\n5\n",
        "similarities.txt": "2\n3\n5\n4\n8\n",
        "clips.csv": "slice_id,pv_object_type\na,bicyclist\nb,bicyclist\nc,pedestrian\n",
        "ids.txt": "a\nb\nc\n",
        "images.csv": "image,instance,split\na1,x,reference\na2,x,query\nb1,y,reference\nb2,y,query\n",
        "predictions.json": '{"q1": "b"}',
        "gold.json": '{"data": [{"title": "t", "paragraphs": [{"context": "a b c", "qas": '
        '[{"id": "q1", "question": "?", "answers": [{"text": "b", "answer_start": 2}]}]}]}]}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    random = np.random.default_rng(1)
    np.save(folder / "left.npy", random.standard_normal((12, 4)))
    np.save(folder / "right.npy", random.standard_normal((12, 5)))
    np.save(folder / "scores.npy", random.standard_normal((4, 4)))
    np.save(folder / "vectors.npy", np.eye(3))
    return folder


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_its_pieces_and_tests_of_its_own(task: str):
    missing = [piece for piece in PIECES if not (PACKAGE / "tasks" / task / piece).is_file()]

    assert missing == [], f"tasks/{task} lacks {missing}"
    assert any((ROOT / "tests" / "tasks" / task).glob("test_*.py")), f"tests/tasks/{task} has no test"
    assert task in SMALLEST, f"{task} has no smallest command here"


@pytest.mark.parametrize("task", [task for task in TASKS if (PACKAGE / "tasks" / task / "page.js").is_file()])
def test_a_view_of_the_page_is_driven_by_a_test(task: str):
    views = (ROOT / "tests" / "report" / "test_page_views.py").read_text(encoding="utf-8")

    assert re.search(rf"def test_{task}_\w+\(browser", views), f"no browser test of tests/report/test_page_views.py opens {task}"


@pytest.mark.parametrize("task", TASKS)
def test_the_readme_of_a_task_is_one_screen(task: str):
    lines = (PACKAGE / "tasks" / task / "README.md").read_text(encoding="utf-8").splitlines()

    assert 5 <= len(lines) <= 50
    for file in re.findall(r"`([\w/]+\.(?:py|js|md))`", "\n".join(lines)):
        homes = (PACKAGE / "tasks" / task, PACKAGE, ROOT)
        assert any((home / file).is_file() for home in homes), f"tasks/{task}/README.md names {file}"


@pytest.mark.parametrize("task", TASKS)
def test_without_the_folder_of_a_task_all_else_works(task: str, inputs: Path, tmp_path: Path):
    package = tmp_path / "rankwell"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(package / "tasks" / task)
    kept = {name for name, line in lines_of_public_names().items() if f"rankwell.tasks.{task}." not in line}

    done = subprocess.run(
        [sys.executable, "-c", WHOLE, *(line for other, line in SMALLEST.items() if other != task)],
        capture_output=True,
        text=True,
        cwd=inputs,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "80"},
    )

    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == kept | {"__version__"}


def lines_of_public_names() -> dict[str, str]:
    files = [Path(public.__file__), *PACKAGE.glob("tasks/*/public.py")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("from ")]
    return {line.split()[-1]: line for line in lines}
