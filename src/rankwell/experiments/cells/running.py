"""Cells one after the other: each is evaluated where it must be, and kept; one that fails is named, and the others go on."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from rankwell.errors import RankwellError
from rankwell.experiments.cells.commands import Work
from rankwell.experiments.cells.planning import RECORD, Task, results_of
from rankwell.report.folder import remove_stale
from rankwell.report.present import Progress
from rankwell.store import write_text


class Done(NamedTuple):
    """A cell and what became of it.

    status: evaluated now (`done`), before (`kept`), neither (`to do`), or `failed`, and then by which error.
    """

    task: Task
    status: Literal["done", "kept", "to do", "failed"]
    error: str = ""

    @property
    def has_results(self) -> bool:
        """Whether its folder holds results of what the bench says."""
        return self.status in ("done", "kept")


def run(tasks: Sequence[Task], *, progress: Progress = None) -> Iterator[Done]:
    """Every cell when it is done. The working directory is the bench's own.

    A cell that was evaluated leaves its record behind its results: a killed run has evaluated what has one. What an earlier run
    left in the folder of a cell that fails is removed, for it is the result of something else.
    """
    waiting = [task for task in tasks if task.work is not None and task.chosen]
    count = 0
    for task in tasks:
        if task.work is None or not task.chosen:
            yield Done(task, "to do" if task.why else "kept")
            continue
        if progress is not None:
            progress("cells", count, len(waiting))
        error = _evaluate(task, task.work, progress)
        count += 1
        if progress is not None:
            progress("cells", count, len(waiting))
        yield Done(task, "failed" if error else "done", error)


def _evaluate(task: Task, work: Work, progress: Progress) -> str:
    """Evaluates a cell; what went wrong, "" where nothing did."""
    (task.folder / RECORD).unlink(missing_ok=True)
    try:
        work(task.folder, progress)
    except RankwellError as error:
        return _failed(task, str(error))
    except OSError as error:
        return _failed(task, f"{error.filename or 'its files'}: {error.strerror or error}")
    except Exception as error:
        # One cell of many: the others are worth having, and this one can be looked at alone.
        return _failed(task, f"internal error, {type(error).__name__}: {error}; `{task.command.line(task.arguments)}` shows more")
    record: dict[str, Any] = {"schema_version": 1, "made_of": task.made_of, "results": results_of(task.folder)}
    write_text(task.folder / RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    return ""


def _failed(task: Task, error: str) -> str:
    remove_stale(task.folder, {})
    (task.folder / "manifest.json").unlink(missing_ok=True)
    return error
