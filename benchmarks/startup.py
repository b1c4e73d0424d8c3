"""Time of whole processes that have little to do, in turns: python benchmarks/startup.py [--rounds
11]

The files are 50 queries × 1,000 lines. Beside rankwell's commands stand what no program in Python
with NumPy can go below, and peers that read the same files, where they are installed. `×`: median
over the rounds of a time divided by `import numpy`'s.

python benchmarks/startup.py --tricks [--rounds 200] prints what each start-up trick saves.
Processes with and without it take turns; the table has the median of the differences with its 95 %
interval by order statistics, as time that passes and as processor time, which other processes
disturb less. A trick goes whose interval ends below 5 ms.

--against REV races rankwell's commands with those of an earlier revision.
"""

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path

import make_cases
from revisions import CASE, median_interval, processor_seconds, quiet, race, take_turns

# A small run multiplies no matrix, so that OpenBLAS need not start its threads.
NUMPY = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; import numpy"


def commands(*files: str) -> dict[str, list[str]]:
    """Every process by what it is called. files: judgments and a run."""
    scripts = Path(sys.executable).parent
    rankwell = str(scripts / "rankwell")
    found = {
        "python": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", NUMPY],
        "rankwell --version": [rankwell, "--version"],
        "rankwell --help": [rankwell, "--help"],
        "rankwell evaluate --help": [rankwell, "evaluate", "--help"],
        "rankwell trec-eval -q": [rankwell, "trec-eval", "-q", *files],
        "rankwell evaluate --intervals none": [rankwell, "evaluate", *files, "--intervals", "none"],
        "rankwell evaluate": [rankwell, "evaluate", *files],
    }
    trec_eval, ir_measures = shutil.which("trec_eval"), scripts / "ir_measures"
    if trec_eval:
        found["trec_eval -q"] = [trec_eval, "-q", *files]
    if ir_measures.exists():
        found["ir_measures"] = [str(ir_measures), *files, "nDCG@10", "AP", "RR", "P@10", "R@100"]
    return found


PLAIN = ["evaluate", "--intervals", "none"]
SWITCHED = "import rankwell.startup; rankwell.startup."
TRICKS = {
    "collect_garbage_rarely": (PLAIN, SWITCHED + "collect_garbage_rarely = lambda: None"),
    "leave": (PLAIN, SWITCHED + "leave = lambda _, code: exit(code)"),
    "start_one_thread": (PLAIN, SWITCHED + "start_one_thread = lambda arguments: None"),
    "stats.special_functions": (["evaluate", "--intervals", "t"], "import scipy.special"),
}
"""Every trick by its function in rankwell.startup: the command that it is for, and the Python
that switches it off.
"""


def tricks(rounds: int, files: list[str]) -> None:
    """Prints what each trick saves."""
    print(f"{'':36} {'ms':>7} {'95 % interval':>18} {'cpu ms':>8} {'95 % interval':>18}")
    for name, ((command, *options), off) in TRICKS.items():
        arguments = [command, *options, *files]
        start = "import sys; from rankwell.cli import script; sys.exit(script())"
        found: list[tuple[float, float]] = []
        for turn in range(rounds + 1):
            pair = [
                _taken([sys.executable, "-c", code, *arguments])
                for code in (f"{off}; {start}", start)
            ]
            if turn:
                found.append((pair[0][0] - pair[1][0], pair[0][1] - pair[1][1]))
        cells = [median_interval([1000 * each[place] for each in found]) for place in (0, 1)]
        print(
            f"{name:36}"
            + "".join(
                f" {middle:7.1f} {f'[{low:.1f}, {high:.1f}]':>18}" for middle, low, high in cells
            )
        )


def _taken(command: list[str]) -> tuple[float, float]:
    """Seconds that pass, and seconds of processors, while a process runs."""
    before, start = processor_seconds(), time.perf_counter()
    quiet(command)
    return time.perf_counter() - start, processor_seconds() - before


def main() -> None:
    """Lets the processes take turns and prints their times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--tricks", action="store_true")
    parser.add_argument("--against", metavar="REV")
    parser.add_argument(CASE, help=argparse.SUPPRESS)
    given = parser.parse_args()
    files = [str(make_cases.make("qrels-small")), str(make_cases.make("small"))]
    if given.tricks:
        tricks(given.rounds or 200, files)
        return
    rounds = given.rounds or 11
    processes = commands(*files)
    if given.case:
        take_turns(lambda: quiet(processes[given.case]))
        return
    if given.against:
        race(
            __file__,
            [name for name in processes if name.startswith("rankwell")],
            given.against,
            rounds,
        )
        return
    taken: dict[str, list[float]] = {name: [] for name in processes}
    for turn in range(rounds + 1):
        for name, command in processes.items():
            start = time.perf_counter()
            quiet(command)
            if turn:
                taken[name].append(time.perf_counter() - start)
    print(f"{'':36} {'best s':>7} {'median s':>9} {'×':>5}")
    for name, times in taken.items():
        ratio = statistics.median(a / b for a, b in zip(times, taken["import numpy"], strict=True))
        print(f"{name:36} {min(times):7.3f} {statistics.median(times):9.3f} {ratio:5.2f}")


if __name__ == "__main__":
    main()
