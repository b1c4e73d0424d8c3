"""Tries an installed rankwell as a newcomer does: own files to a page, in a folder of their own.

`python tools/installed.py` in the environment of the installation prints the seconds of each step;
--kernel yes (or no) also fails where the compiled kernel is missing (or there). It needs no other
package, no compiler and no network.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERIES = 60


def write_files(folder: Path) -> None:
    """Judgments and two runs: `good` has the relevant item of every query first, `late` has it
    second.
    """
    (folder / "qrels.txt").write_text(
        "".join(f"q{query} 0 d{query} 1\n" for query in range(QUERIES))
    )
    for name, places in (("good", (1, 2)), ("late", (2, 1))):
        lines = (
            (
                f"q{query} Q0 d{query} {places[0]} {3 - places[0]} {name}\nq{query} Q0 other "
                f"{places[1]} {3 - places[1]} {name}\n"
            )
            for query in range(QUERIES)
        )
        (folder / f"{name}.run").write_text("".join(lines))


def timed(folder: Path, *words: str) -> str:
    """The output of a command; its seconds are printed."""
    here = Path(sys.executable).parent
    command = shutil.which("rankwell", path=str(here)) or str(here / "rankwell")
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    start = time.perf_counter()
    done = subprocess.run(
        [command, *words],
        cwd=folder,
        env=plain,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    sys.stdout.write(f"{time.perf_counter() - start:6.2f} s  rankwell {' '.join(words)}\n")
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main() -> None:
    """Runs the steps, and compares what they print with what the files say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--kernel", choices=("yes", "no"), help="what `rankwell --version` has to report"
    )
    kernel = parser.parse_args().kernel
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        version = timed(folder, "--version")
        if kernel is not None and f"compiled kernel: {kernel}" not in version:
            sys.exit(f"expected `compiled kernel: {kernel}`, found:\n{version}")
        table = json.loads(
            timed(
                folder,
                "evaluate",
                "qrels.txt",
                "good.run",
                "late.run",
                "-m",
                "RR",
                "--format",
                "json",
            )
        )
        found = {row["run"]: row["mean"] for row in table["rows"]}
        if found != {"good": 1.0, "late": 0.5}:
            sys.exit(f"expected a reciprocal rank of 1 for good and of 0.5 for late, found {found}")
        timed(
            folder, "compare", "qrels.txt", "late.run", "good.run", "-m", "RR", "-o", "comparison"
        )
        pages = sorted(folder.glob("comparison/*.html"))
        if not pages:
            sys.exit("compare -o wrote no page")
        sys.stdout.write(
            f"{version.strip()}\nPython {sys.version.split()[0]}, "
            f"{', '.join(page.name for page in pages)}\n"
        )


if __name__ == "__main__":
    main()
