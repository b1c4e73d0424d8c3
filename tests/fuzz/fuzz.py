"""Tries readers and commands with changed files: python tests/fuzz/fuzz.py [--minutes 1] [--seed 0]
[--only WORDS] [--keep FOLDER]

Every case is drawn from the seed, the name of its fuzzer and a number. What rankwell reads must be
the table that a strict plain parser reads, or an error of ours: another table, another exception,
an exit code above 4, a crash or a minute without an answer is a finding. Cases run in a child
process; inputs of findings are kept. Prints what was tried and found; exit 1 with a finding. --case
tries one case again in this process, as its finding names it.
"""

import argparse
import json
import os
import resource
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from itertools import count
from pathlib import Path
from random import Random
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tools")]
OUTCOMES = (
    "same",
    "unchecked",
    "refused",
    "refused alone",
    "exit 0",
    "exit 1",
    "exit 2",
    "exit 4",
    "wrong",
    "exception",
    "crash",
    "hang",
)
FINDINGS = OUTCOMES[-4:]
PATIENCE, MEMORY = 60, 6 << 30
"""Seconds that one case may take, and bytes of memory that it may hold."""


def tried(name: str, number: int, seed: int, folder: Path) -> tuple[str, str]:
    """The outcome of a case, and of a finding what it was."""
    from fuzzing import load

    fuzzer, rng = load()[name], Random(f"{seed} {name} {number}")
    thing = fuzzer.write(rng, folder)
    try:
        thing = fuzzer.mutate(rng, thing)
    except (UnicodeError, ValueError, OSError, RecursionError) as error:
        return "unchecked", f"no case: {error}"
    return outcome_of(name, thing)


def outcome_of(name: str, thing: Any) -> tuple[str, str]:
    """The outcome of reading a thing, and of a finding what it was."""
    from fuzzing import Refused, Undecided, load
    from fuzzing.commands import Wrong
    from rankwell.errors import RankwellError

    fuzzer = load()[name]
    try:
        table = fuzzer.read(thing)
    except RankwellError as error:
        table, said = error, str(error)
        if not said:
            return "exception", f"{type(error).__name__} without a message"
    except Wrong as error:
        return "exception", str(error)
    except MemoryError:
        return "exception", "out of memory"
    except Exception:
        return "exception", traceback.format_exc(limit=-4)[-1500:]
    if name.startswith("commands") and isinstance(table, tuple):
        return f"exit {table[0]}", ""
    try:
        expected = Undecided() if fuzzer.plain is None else fuzzer.plain(thing)
    except (Refused, Undecided) as error:
        expected = error
    except (
        ValueError,
        RecursionError,
        OSError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        expected = Undecided(repr(error))
    refused = isinstance(table, RankwellError)
    if isinstance(expected, Undecided):
        return "refused" if refused else "unchecked", ""
    if isinstance(expected, Refused):
        return (
            ("refused", "")
            if refused
            else ("wrong", f"read {table!r:.400} where the plain parser finds: {expected}")
        )
    if refused:
        return "refused alone", str(table)[:300]
    return (
        ("same", "")
        if table == expected
        else ("wrong", f"read {table!r:.400}, the plain parser {expected!r:.400}")
    )


def work(names: list[str], first: int, seed: int, folder: Path) -> None:
    """Tries case after case, one of each fuzzer in turn, and prints the outcome of each as a line,
    until it is ended.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)  # nothing that a library prints may be taken for an outcome
    places = {name: folder / str(place) for place, name in enumerate(names)}
    for place in places.values():
        place.mkdir(exist_ok=True)
    for number in count(first):
        for name in names:
            (folder / "current").write_text(json.dumps([name, number, str(places[name])]))
            outcome, what = tried(name, number, seed, places[name])
            out.write(json.dumps([name, number, outcome, what]) + "\n")
            out.flush()
            if outcome in FINDINGS:
                _keep(folder, name, number, places[name])
            if not name.startswith("commands"):
                shutil.rmtree(places[name])
                places[name].mkdir()


def _keep(folder: Path, name: str, number: int, place: Path) -> None:
    """Copies the inputs of a case; of a command the changed world is large, and `--case` makes it
    again.
    """
    target = (
        folder / "kept" / f"{name.replace(' ', '-').replace(':', '').replace(',', '')}-{number}"
    )
    if not name.startswith("commands") and place.is_dir():
        shutil.copytree(place, target, dirs_exist_ok=True)


class Tally:
    """The outcomes of all cases, and the findings."""

    def __init__(self, seed: int) -> None:
        self.seed, self.counts, self.findings = (
            seed,
            defaultdict[str, Counter[str]](Counter),
            list[str](),
        )
        self._kinds = Counter[tuple[str, str]]()

    def add(self, name: str, number: int, outcome: str, what: str) -> None:
        """Counts a case; each kind of finding is printed a few times."""
        self.counts[name][outcome] += 1
        if outcome in FINDINGS:
            kind = name, what.strip().rpartition("\n")[2][:40]
            self._kinds[kind] += 1
            self.findings.append(name)
            if self._kinds[kind] <= 3:
                sys.stdout.write(
                    f"--- {outcome}: --seed {self.seed} --case '{name} {number}'\n{what}\n"
                )
                sys.stdout.flush()

    def table(self) -> str:
        """Number of cases of each fuzzer and outcome."""
        used = [each for each in OUTCOMES if any(found[each] for found in self.counts.values())]
        rows = {
            name: [found.total(), *(found[each] for each in used)]
            for name, found in sorted(self.counts.items())
        }
        rows["all"] = [sum(each) for each in zip(*rows.values(), strict=True)]
        lines = [f"{'':56} {'tried':>7} " + " ".join(f"{each:>13}" for each in used)]
        return "\n".join(
            [
                *lines,
                *(
                    f"{name[-56:]:56} {row[0]:7} " + " ".join(f"{n:13}" for n in row[1:])
                    for name, row in rows.items()
                ),
            ]
        )


def resident(process: int) -> int:
    """Bytes of memory that a process holds; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, IndexError, ValueError):
        return 0


def _lines(process: subprocess.Popen[str], stream: IO[str], stop: float) -> Any:
    """The lines of a child until the time is up or it ends; at last None where it is silent for too
    long or holds too much.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        said = time.monotonic()
        while time.monotonic() < stop:
            ready = selector.select(min(0.2, max(0.0, stop - time.monotonic())))
            if resident(process.pid) > MEMORY or (not ready and time.monotonic() - said > PATIENCE):
                yield None
                return
            if ready:
                line = stream.readline()
                if not line:
                    return
                said = time.monotonic()
                yield line


def session(names: list[str], seed: int, stop: float, folder: Path, tally: Tally) -> None:
    """Runs children until the time is up; each begins behind the case at which the last one
    died.
    """
    first = 0
    while time.monotonic() < stop:
        place = Path(tempfile.mkdtemp(dir=folder))
        words = [
            sys.executable,
            __file__,
            "--work",
            str(place),
            "--first",
            str(first),
            "--seed",
            str(seed),
        ]
        with (folder / "stderr").open("w") as errors:
            process = subprocess.Popen(
                [*words, "--names", json.dumps(names)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
                env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")},
            )
        hung = False
        for line in _lines(process, process.stdout, stop) if process.stdout else ():
            if line is None:
                hung = True
            else:
                tally.add(*json.loads(line))
        ended = (
            process.poll()
            if process.poll() is not None
            else None
            if time.monotonic() >= stop
            else process.wait()
            if not hung
            else None
        )
        if ended is None:
            process.kill()
        process.wait()
        current = place / "current"
        if (hung or ended not in (None, 0)) and current.exists():
            name, number, inputs = json.loads(current.read_text())
            _keep(place, name, number, Path(inputs))
            what = (
                f"no answer for {PATIENCE} s, or {MEMORY >> 30} GiB"
                if hung
                else f"exit {ended}: {(folder / 'stderr').read_text(errors='replace')[-800:]}"
            )
            tally.add(name, number, "hang" if hung else "crash", what)
            first = number + 1
        for kept in (place / "kept").glob("*") if (place / "kept").is_dir() else ():
            shutil.copytree(kept, folder / "findings" / kept.name, dirs_exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        if ended not in (None, 0) and not current.exists():
            raise SystemExit(f"the child does not start: {(folder / 'stderr').read_text()[-2000:]}")


def main() -> int:
    """Runs the fuzzers for some time and prints their counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="fuzzers whose name has this in it")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs of findings")
    parser.add_argument("--case", help="the name of a fuzzer and the number of a case")
    for name, kind in (("--work", Path), ("--first", int), ("--names", str)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    if given.work is not None:
        work(json.loads(given.names), given.first, given.seed, given.work)
    from fuzzing import load

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    if given.case:
        name, _, number = given.case.rpartition(" ")
        sys.stdout.write("\n".join(tried(name, int(number), given.seed, folder)) + f"\n{folder}\n")
        return 0
    names = [name for name in load() if given.only in name]
    if not names:
        sys.exit(f"no fuzzer has {given.only!r} in its name; there are {', '.join(load())}")
    tally = Tally(given.seed)
    session(names, given.seed, time.monotonic() + 60 * given.minutes, folder, tally)
    sys.stdout.write(f"seed {given.seed}, {given.minutes:g} minutes\n{tally.table()}\n")
    kept = given.keep or folder / "findings"
    if given.keep and (folder / "findings").is_dir():
        shutil.copytree(folder / "findings", given.keep, dirs_exist_ok=True)
    if tally.findings:
        sys.stdout.write(f"{len(tally.findings)} findings; their inputs are in {kept}\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
