"""All cases by name, what each needs, and the one who runs them."""

import contextlib
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from regression import cases_demos, cases_python, comparing, running, worlds
from regression.permitted import PERMITTED

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
CALLS = {f"python/{name}": call for name, call in cases_python.CASES.items()}
_FILES = [
    import_module(f"regression.{file.stem}")
    for file in sorted(Path(__file__).parent.glob("cases_*.py"))
]
LINES: dict[str, str] = {
    name: line for file in _FILES if file is not cases_python for name, line in file.CASES.items()
}
"""Command lines by case, of every file `cases_*.py`; a function `write` of such a file writes
inputs of its own.
"""
CASES = (*LINES, *CALLS)
_SLOW = r"^demo/agree$|^bench/(again|jobs)$|^clips/convention-all$|^captions/.*-more$|^(?!evaluate/).*format-(latex|html|md|tsv|jsonl)$"
SLOW = frozenset(name for name in CASES if re.search(_SLOW, name))
"""Cases that repeat what others do, or take most of a minute: `make test-full` alone runs them."""
_EXTRAS = {
    "h5py": r"^search/.*hdf5$",
    "torch": r"^search/(backend-torch|device)$",
    "faiss": r"^search/backend-faiss$",
    "rapidfuzz": r"^rag/(ragas|similarity)$",
    "cv2": r"^instances/(sift|rootsift|match.*)$",
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
            return (
                "the goldens of demos hold for the versions of Python and Pillow that "
                "environment.json names"
            )
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
        call = CALLS.get(name)
        if call is not None:
            return self.workspace.call(call)
        return self.workspace.run(LINES[name], ticking=self.ticking(name))

    def ticking(self, name: str) -> bool:
        """Whether the clock of a case ticks evenly, see `running`."""
        return name not in cases_demos.READ_DOCUMENTATION

    def check(self, name: str) -> list[str]:
        """What differs from the golden."""
        anew = any(
            isinstance(change, comparing.Anew) and change.touches(name) for change in PERMITTED
        )
        path = comparing.path_of(name, anew=anew)
        if not path.is_file():
            return [f"{path.name} is missing: python tools/goldens.py write '^{name}$'"]
        return comparing.differences(
            name,
            comparing.read(path),
            self.run(name),
            PERMITTED,
            exact=comparing.same_environment(),
        )


def build(folder: Path) -> None:
    """Writes the inputs of all cases."""
    worlds.build(folder)
    for file in _FILES:
        if hasattr(file, "write"):
            file.write(folder)
    if SHARED.is_dir():
        (folder / "shared").symlink_to(SHARED, target_is_directory=True)
        worlds.build_for_shared(folder)
