"""Earlier revisions of this project, built in build/versions/REV, and races of this checkout with
one of them.

A benchmark with --against REV names its cases and the work of each: `race` starts a process for
each revision, its own, which prepares the case and does its work whenever it is asked, so that both
take turns.
"""

import os
import resource
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CASE = "--case"
"""The option by which `race` starts a benchmark for one case."""


def source_of(revision: str) -> Path:
    """The source of an earlier revision, its reader compiled."""
    place = ROOT / "build" / "versions" / revision
    if not place.exists():
        archive = subprocess.run(
            ["git", "archive", revision], cwd=ROOT, capture_output=True, check=True
        ).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(place, filter="data")
    return built(place)


def built(place: Path) -> Path:
    """The folder of the package in a tree, its reader and its bytecode compiled."""
    for words in (["setup.py", "-q", "build_ext", "--inplace"], ["-m", "compileall", "-q", "src"]):
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        subprocess.run(
            [sys.executable, *words], cwd=place, env=environment, check=True, capture_output=True
        )
    return place / "src"


class Taken(NamedTuple):
    """Seconds of one turn: on the clock, and of processors, those of child processes included."""

    clock: float
    processor: float


def race(
    script: str, cases: Iterable[str], revision: str, rounds: int, arguments: Sequence[str] = ()
) -> None:
    """Prints, for each case, our median time and the ratio to the revision's in alternating rounds,
    with 95 % intervals.

    script: the benchmark, which each revision has for itself: modules may have had other names.
    arguments: its options that a case depends on.
    """
    sources, name = [built(ROOT), source_of(revision)], Path(script).name
    print(
        f"{'':44} {'s':>8} {revision:>9} {'× clock':>8} {'95 %':>14} {'× processor':>12} "
        f"{'95 %':>14}",
        flush=True,
    )
    for case in cases:
        contenders = [
            _started(
                [sys.executable, source.parent / "benchmarks" / name, CASE, case, *arguments],
                source,
            )
            for source in sources
        ]
        turns = [[_turn(contender) for contender in contenders] for _ in range(rounds + 1)][1:]
        for contender in contenders:
            contender.communicate()
        line = f"{case:44}" + "".join(
            f" {statistics.median(turn[place].clock for turn in turns):8.3f}" for place in (0, 1)
        )
        for measured in zip(
            *([ours / theirs for ours, theirs in zip(*turn, strict=True)] for turn in turns),
            strict=True,
        ):
            middle, low, high = median_interval(measured)
            line += f" {middle:10.3f} {f'[{low:.3f}, {high:.3f}]':>16}"
        print(line, flush=True)


def _started(command: Sequence[str | Path], source: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(source)}
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _turn(contender: subprocess.Popen[str]) -> Taken:
    """One turn of a process that runs `take_turns`."""
    assert contender.stdin is not None
    assert contender.stdout is not None
    contender.stdin.write("\n")
    contender.stdin.flush()
    line = contender.stdout.readline()
    if not line:
        sys.exit(f"{' '.join(map(str, contender.args))} ended early")  # pyright: ignore[reportArgumentType]
    return Taken(*map(float, line.split()))


def take_turns(work: Callable[[], object]) -> None:
    """Does the work for each line of standard input, and prints the seconds that it took."""
    for _ in sys.stdin:
        processor, start = processor_seconds(), time.perf_counter()
        work()
        print(time.perf_counter() - start, processor_seconds() - processor, flush=True)


def processor_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def quiet(command: Sequence[str]) -> None:
    """Runs a process whose output does not matter."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def median_interval(values: Iterable[float]) -> tuple[float, float, float]:
    """The median, and the order statistics that hold the true one with 95 % (binomial, by its
    normal limit).
    """
    ordered = sorted(values)
    n = len(ordered)
    reach = 1.96 * n**0.5 / 2
    low, high = max(0, int(n / 2 - reach)), min(n - 1, int(n / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]
