"""How long whole processes take that have little to do, in turns: python benchmarks/startup.py [--rounds 11]

The files are 50 queries × 1,000 lines. Beside rankwell's commands stand what no program in Python with NumPy can go below, and
peers that read the same files, where they are installed. `×`: median over the rounds of a time divided by `import numpy`'s.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import make_cases

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


def main() -> None:
    """Lets the processes take turns and prints their times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    processes = commands(str(make_cases.make("qrels-small")), str(make_cases.make("small")))
    taken: dict[str, list[float]] = {name: [] for name in processes}
    for turn in range(rounds + 1):
        for name, command in processes.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if turn:
                taken[name].append(time.perf_counter() - start)
    print(f"{'':36} {'best s':>7} {'median s':>9} {'×':>5}")
    for name, times in taken.items():
        ratio = statistics.median(a / b for a, b in zip(times, taken["import numpy"], strict=True))
        print(f"{name:36} {min(times):7.3f} {statistics.median(times):9.3f} {ratio:5.2f}")


if __name__ == "__main__":
    main()
