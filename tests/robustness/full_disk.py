"""Runs commands on a file system that is full or read-only: python
tests/robustness/full_disk.py [--minutes 1] [--seed 0]

Mounts a small file system in memory, which needs root and Linux; elsewhere it says so and does
nothing. A command that finds no room must end with exit 2, leave no draft, and leave nothing that a
later command takes for a result; with exit 0 it must have written what it writes elsewhere. Prints
the exit codes; exit 1 with a finding.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
LINES = (
    "evaluate qrels.txt a.run b.run -m AP -o SMALL/out",
    "compare qrels.txt a.run b.run -m AP -o SMALL/out",
    "crossmodal captions/tied.npy --qrels captions/positives.json -o SMALL/out",
    "qa answers/gold.json answers/texts.json -c squad2 -o SMALL/out",
    "pairs vectors/pairs.csv:score vectors/pairs.csv:one -o SMALL/out",
    "convert a.run SMALL/run.parquet",
    "convert a.run SMALL/run.csv",
    "convert a.run SMALL/run.jsonl",
    "convert a.run SMALL/run.json",
    "convert a.run SMALL/run.txt.gz",
    "fuse a.run b.run -o SMALL/fused.run",
    "encode queries.jsonl --encoder tfidf-svd:2 --fit corpus.jsonl -o SMALL/vectors.npy",
    "knn vectors/base.npy vectors/asked.npy --neighbours 3 -o SMALL/found.run",
    "beyond beyond/mine.run --documents beyond/items.csv:id -o SMALL/out",
    "clicks logs/log.csv --policy mine -o SMALL/out",
    "clicks interleave logs/a.run logs/b.run -o SMALL/lists.jsonl",
    "clicks credit logs/lists.jsonl logs/clicks.csv -o SMALL/out",
)
KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Room that a command finds."""


@contextmanager
def mounted(folder: Path, kib: int, *, read_only: bool = False) -> Generator[None]:
    """A file system in memory of some size at a folder."""
    mount, unmount = shutil.which("mount") or "mount", shutil.which("umount") or "umount"
    options = f"size={kib}k" + ",ro" * read_only
    subprocess.run(
        [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True
    )
    try:
        yield
    finally:
        subprocess.run([unmount, "-l", str(folder)], check=True, capture_output=True)


def unavailable(folder: Path) -> str:
    """Why nothing can be mounted here; empty where it can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "only root mounts a file system, on Linux"
    try:
        with mounted(folder, 64):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return f"mounting is not allowed here ({error})"


def run(words: list[str], home: Path) -> tuple[int, str]:
    """Exit code and standard error of a command."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_CACHE_HOME": str(home.parent / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", *words],
        cwd=home,
        env=environment,
        capture_output=True,
        timeout=120,
    )
    return done.returncode, done.stderr.decode("utf-8", "replace")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, charts and measured times aside."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def wrong_in(small: Path, line: str, home: Path, outcome: tuple[int, str], whole: set[str]) -> str:
    """The faults of the files that a command left; empty where there are none."""
    code, said = outcome
    left = set(contents(small))
    if code not in (0, 2) or "Traceback" in said:
        return f"exit {code}: {said[-600:]}"
    if code == 0:
        return "" if left == whole else f"exit 0, but the files differ: {sorted(left ^ whole)[:4]}"
    drafts = [
        name
        for name in left
        if Path(name).name.startswith(".") or name.endswith((".tmp", ".part", ".draft"))
    ]
    drafts = [name for name in drafts if "encode" not in line and not name.endswith(".lock")]
    if drafts:
        return f"leaves drafts: {drafts}"
    if (small / "out" / "manifest.json").exists() and run(
        ["report", str(small / "out"), "-o", str(home / "page.html")], home
    )[0] != 2:
        return "a later command takes the rest for a result"
    files = [name for name in left if name.startswith(("run.", "fused.", "found.", "lists."))]
    if files and not set(files) <= whole:
        return f"leaves {files}"
    return f"leaves {files[0]} and says exit 2" if files else ""


def main() -> int:
    """Runs commands in rooms of drawn sizes until the time is up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    from regression import worlds

    with tempfile.TemporaryDirectory(prefix="full-disk-") as place:
        home, small, free = Path(place, "world"), Path(place, "small"), Path(place, "free")
        for each in (home, small, free):
            each.mkdir()
        if why := unavailable(small):
            sys.stdout.write(f"skipped: {why}\n")
            return 0
        worlds.build(home)
        stop, rng = time.monotonic() + 60 * given.minutes, Random(given.seed)
        codes, findings, whole = Counter[str](), 0, dict[str, set[str]]()
        while time.monotonic() < stop:
            line = rng.choice(LINES)
            if line not in whole:
                run(shlex.split(line.replace("SMALL", str(free))), home)
                whole[line] = set(contents(free))
                for path in free.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            read_only = rng.random() < 0.15
            kib = rng.choice(KIB)
            with mounted(small, kib, read_only=read_only):
                outcome = run(shlex.split(line.replace("SMALL", str(small))), home)
                wrong = wrong_in(small, line, home, outcome, whole[line])
            with suppress(FileNotFoundError):
                (home / "page.html").unlink()
            codes[f"exit {outcome[0]}"] += 1
            if wrong:
                findings += 1
                sys.stdout.write(
                    f"--- {'read-only' if read_only else f'{kib} KiB'}: rankwell {line}\n{wrong}\n"
                )
        listed = ", ".join(f"{number} {code}" for code, number in sorted(codes.items()))
        sys.stdout.write(
            f"seed {given.seed}, {given.minutes:g} minutes: {codes.total()} commands "
            f"({listed}), {findings} findings\n"
        )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
