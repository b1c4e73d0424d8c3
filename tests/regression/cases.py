"""All cases by name, what each needs, and the one who runs them.

A case is a few command lines of `commands/*.toml`, or a call of `cases_python.py`. It has a golden
(`goldens/`), figures (`tests/golden/figures/`), or both.
"""

import contextlib
import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from regression import cases_python, comparing, running, worlds

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
CALLS = {f"python/{name}": call for name, call in cases_python.CASES.items()}
LINES: dict[str, str] = {
    f"{file.stem}/{name}": lines.strip("\n")
    for file in sorted((Path(__file__).parent / "commands").glob("*.toml"))
    for name, lines in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
"""Command lines by case, one a line."""
CASES = (*LINES, *CALLS)
_INPUTS = [
    import_module(f"regression.{file.stem}")
    for file in sorted(Path(__file__).parent.glob("inputs_*.py"))
]
"""Modules with a function `write` that writes inputs of some cases."""
_EXTRAS = {
    "h5py": r"^knn/.*hdf5$",
    "torch": r"^knn/(backend-torch|device)$",
    "faiss": r"^knn/backend-faiss$",
    "rapidfuzz": r"^rag/(ragas|similarity)$",
    "cv2": r"^images/(sift|rootsift|match.*)$",
}
"""Packages of extras by the cases that need them."""


class Runner:
    """Runs cases by name in a workspace that it makes at the first of them."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._workspace: running.Workspace | None = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def absent(self, name: str) -> str:
        """Why a case cannot run here; empty where it can."""
        if name.startswith("shared/") and not SHARED.is_dir():
            return "the real data of ../shared/data is not here"
        if name.startswith("demo/") and not comparing.same_environment():
            return "what a demo draws depends on the version of Pillow"
        missing = [
            package
            for package, cases in _EXTRAS.items()
            if re.search(cases, name) and find_spec(package) is None
        ]
        return f"could not import {missing[0]!r}" if missing else ""

    @property
    def workspace(self) -> running.Workspace:
        """The workspace, which is made when it is first used."""
        if self._workspace is None:
            self._workspace = self._stack.enter_context(running.workspace(build))
        return self._workspace

    def run(self, name: str) -> running.Parts:
        """What a case leaves."""
        return self.workspace.run(LINES[name])

    def check(self, name: str) -> list[str]:
        """What differs from the golden."""
        golden = comparing.read(comparing.path_of(name))
        return comparing.differences(golden, self.run(name), exact=comparing.same_environment())


def build(folder: Path) -> None:
    """Writes the inputs of all cases."""
    worlds.build(folder)
    for module in _INPUTS:
        module.write(folder)
    if SHARED.is_dir():
        (folder / "shared").symlink_to(SHARED, target_is_directory=True)
        worlds.build_for_shared(folder)
