"""All cases by name, what each needs, and the one who runs them."""

import contextlib
import os
from pathlib import Path
from types import TracebackType

from regression import cases_answers, cases_labels, cases_matrices, cases_runs, comparing, running, worlds
from regression.permitted import PERMITTED

CASES: dict[str, str] = {**cases_runs.CASES, **cases_matrices.CASES, **cases_labels.CASES, **cases_answers.CASES}
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


class Runner:
    """Runs cases by name in a workspace that it makes at the first of them."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._workspace: running.Workspace | None = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def absent(self, name: str) -> str:
        """Why a case cannot run here; empty where it can."""
        return ""

    def run(self, name: str) -> running.Parts:
        if self._workspace is None:
            self._workspace = self._stack.enter_context(running.workspace(worlds.build))
        return self._workspace.run(CASES[name])

    def check(self, name: str) -> list[str]:
        """What differs from the golden."""
        anew = any(isinstance(change, comparing.Anew) and change.touches(name) for change in PERMITTED)
        golden = comparing.read(comparing.path_of(name, anew=anew))
        return comparing.differences(name, golden, self.run(name), PERMITTED, exact=comparing.same_environment())
