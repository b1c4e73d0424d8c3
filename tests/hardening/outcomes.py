"""The outcome of a case of tests/hardening/cases.py in a process of its own, and its fault."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from fuzz import MEMORY, resident
from hardening.cases import Case

SOURCE = Path(__file__).resolve().parents[2] / "src"
SNIPPET = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import numpy as np
import rankwell as rw
from rankwell.errors import RankwellError
try:
    exec(sys.argv[1])
except RankwellError as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(2)
"""


class Outcome(NamedTuple):
    """The outcome of a process. code: negative for a signal. output: standard output and error."""

    code: int
    seconds: float
    mib: float
    output: str

    def __str__(self) -> str:
        code = f"exit {self.code}" if self.code >= 0 else signal.Signals(-self.code).name
        return f"{code}, {self.seconds:.1f} s, {self.mib:.0f} MiB: {self.output}"


def run_case(case: Case) -> tuple[Outcome, str]:
    """The outcome of a case, and what is wrong about it; nothing where it is right."""
    with tempfile.TemporaryDirectory(prefix="case-") as place:
        folder = Path(place)
        case.write(folder)
        outcome = Outcome(0, 0, 0, "")
        for line in case.run.split("\n"):
            is_python = line.startswith("python: ")
            words = (
                ["-c", SNIPPET, line.removeprefix("python: ")]
                if is_python
                else ["-m", "rankwell", *shlex.split(line)]
            )
            outcome = run_python(words, folder, case.seconds)
        return outcome, fault_of(case, outcome, folder)


def fault_of(case: Case, outcome: Outcome, folder: Path) -> str:
    """The fault of an outcome; nothing where it is right."""
    faults = [f"{name} is gone" for name in case.holds if not (folder / name).exists()]
    if outcome.code not in case.codes:
        faults.append(f"exit {outcome.code}")
    if not re.search(case.shows, outcome.output):
        faults.append("does not show what it should")
    if case.hides and re.search(case.hides, outcome.output):
        faults.append("shows what it should not")
    if outcome.mib > case.mib:
        faults.append(f"{outcome.mib:.0f} MiB")
    return ", ".join(faults)


def run_python(words: list[str], folder: Path, seconds: float) -> Outcome:
    """One process of Python in a folder, ended after some time."""
    environment = os.environ | {
        "PYTHONPATH": str(SOURCE),
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "COLUMNS": "200",
    }
    with (folder / ".out").open("w+b") as out:
        started = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        peak = 0
        while (state := os.wait4(child.pid, os.WNOHANG))[0] == 0:
            # The system's own figure counts what this process had when it made the child.
            peak = max(peak, resident(child.pid))
            if time.perf_counter() - started > seconds or peak > MEMORY:
                child.kill()
                state = os.wait4(child.pid, 0)
                break
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(state[1])
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
        return Outcome(child.returncode, time.perf_counter() - started, peak / 2**20, output)
