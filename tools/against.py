"""Runs tests/hardening/cases.py on an earlier revision and on this one: python tools/against.py
5a950af [--only WORDS]

Prints for each what the earlier version made of it and what this one makes of it: exit code or
signal, seconds, peak memory, last line. An ImportError, an unknown option or an unknown name does
not count as a wrong result of the earlier version. Exit 1
where this version is wrong. Revisions are built in build/versions/. Without a revision this version
alone is tried.
"""

import argparse
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

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT / "src"),
    str(ROOT / "tests"),
    str(ROOT / "benchmarks"),
    str(ROOT / "tools"),
]

from fuzz import MEMORY, resident  # noqa: E402
from hardening.cases import Case  # noqa: E402
from hardening.story import CASES  # noqa: E402

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
FOREIGN = (
    "ImportError|ModuleNotFoundError|unknown option|no option|module 'rankwell' has no "
    "attribute|there is no command|"
    "unexpected keyword|needs h5py"
)


class Outcome(NamedTuple):
    """The outcome of a case. code: negative for a signal. said: standard output and error."""

    code: int
    seconds: float
    mib: float
    said: str

    def __str__(self) -> str:
        code = f"exit {self.code}" if self.code >= 0 else signal.Signals(-self.code).name
        last = next((line for line in reversed(self.said.strip().split("\n")) if line.strip()), "")
        return f"{code}, {self.seconds:.1f} s, {self.mib:.0f} MiB: {ascii(last[:110])[1:-1]}"


def ran(case: Case, source: Path) -> tuple[Outcome, str]:
    """The outcome of a case with the package in a folder, and what is wrong about it; nothing where
    it is right.
    """
    with tempfile.TemporaryDirectory(prefix="case-") as place:
        folder = Path(place)
        case.write(folder)
        outcome = Outcome(0, 0, 0, "")
        for line in case.run.split("\n"):
            python = line.startswith("python: ")
            words = (
                ["-c", SNIPPET, line.removeprefix("python: ")]
                if python
                else ["-m", "rankwell", *shlex.split(line)]
            )
            outcome = process(words, folder, source, case.seconds)
        return outcome, wrong_in(case, outcome, folder)


def wrong_in(case: Case, outcome: Outcome, folder: Path) -> str:
    """The fault of an outcome; nothing where it is right."""
    wrong = [f"{name} is gone" for name in case.holds if not (folder / name).exists()]
    wrong += [f"exit {outcome.code}"] if outcome.code not in case.codes else []
    wrong += ["does not show what it should"] if not re.search(case.shows, outcome.said) else []
    wrong += (
        ["shows what it should not"] if case.hides and re.search(case.hides, outcome.said) else []
    )
    wrong += [f"{outcome.mib:.0f} MiB"] if outcome.mib > case.mib else []
    return ", ".join(wrong)


def process(words: list[str], folder: Path, source: Path, seconds: float) -> Outcome:
    """One process of Python in a folder, ended after some time."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
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
        while (found := os.wait4(child.pid, os.WNOHANG))[0] == 0:
            # The system's own figure counts what this process had when it made the child.
            peak = max(peak, resident(child.pid))
            if time.perf_counter() - started > seconds or peak > MEMORY:
                child.kill()
                found = os.wait4(child.pid, 0)
                break
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(found[1])
        out.seek(0)
        said = out.read().decode("utf-8", "replace")
        return Outcome(child.returncode, time.perf_counter() - started, peak / 2**20, said)


def main() -> int:
    """Runs the cases and prints what both versions make of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", nargs="?")
    parser.add_argument("--only", default="", help="cases whose section or name has this in it")
    parser.add_argument(
        "--source", type=Path, help="the built src folder of the revision, where there is one"
    )
    given = parser.parse_args()
    from importlib import import_module

    former = given.source or (
        import_module("commands").source_of(given.revision) if given.revision else None
    )
    wrong_then = wrong_now = tried = 0
    for section, cases in CASES.items():
        for case in cases:
            if given.only not in f"{section} {case.name}":
                continue
            tried += 1
            sys.stdout.write(f"{section}: {ascii(case.name)[1:-1]}\n")
            if former is not None:
                then, why = ran(case, former)
                if why and re.search(FOREIGN, then.said):
                    why = ""
                    sys.stdout.write(f"    {given.revision}: cannot be compared ({then})\n")
                else:
                    sys.stdout.write(
                        f"    {given.revision}: {'WRONG: ' + why if why else 'right'} ({then})\n"
                    )
                wrong_then += bool(why)
            now, why = ran(case, ROOT / "src")
            wrong_now += bool(why)
            sys.stdout.write(f"    today: {'WRONG: ' + why if why else 'right'} ({now})\n")
            sys.stdout.flush()
    sys.stdout.write(
        f"{tried} cases; wrong in {given.revision}: {wrong_then}; wrong today: {wrong_now}\n"
    )
    return 1 if wrong_now else 0


if __name__ == "__main__":
    sys.exit(main())
