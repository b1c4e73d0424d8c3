"""The first k of one: what a task writes with `-k 1` is a result as any other, for a page and for a
comparison.
"""

from importlib import import_module
from pathlib import Path

import pytest

from contracts.test_tasks import TASKS, smallest
from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import command_function
from rankwell.data.options import arguments_of
from regression.running import in_process


def _has_k(words: list[str]) -> bool:
    arguments = arguments_of(command_function(find_command(words)))
    return {"-k", "--output"} <= {flag for argument in arguments for flag in argument.flags}


WITH_K = [task for task in TASKS if _has_k(smallest(task).COMMAND.split())]


@pytest.mark.parametrize("task", WITH_K)
def test_a_page_and_a_comparison_take_results_of_the_first_one(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    module = import_module(f"tasks.{task}.smallest")
    monkeypatch.chdir(tmp_path)
    module.write(tmp_path)
    words = module.COMMAND.split()
    before = words[: words.index("-k")] if "-k" in words else words
    after = words[words.index("-k") + 2 :] if "-k" in words else []

    made = in_process([*before, *after, "-k", "1", "-o", "out"])
    page = in_process(["report", "out"])
    compared = in_process(["compare", "first=out", "second=out"])

    assert made[0] == 0, made[2]
    assert page[0] == 0, page[2]
    assert "more than once" not in compared[2]
    assert compared[0] in (0, 4), compared[2]


def test_answers_are_among_them():
    assert {"qa", "rag"} <= set(WITH_K)
