"""Writes and checks the goldens and the figures of `tests/regression`.

python tools/goldens.py check [PATTERN]          what differs from the goldens
python tools/goldens.py write PATTERN            writes the goldens anew
python tools/goldens.py figures check [PATTERN]  what differs from tests/golden/figures
python tools/goldens.py figures write PATTERN    writes the figures anew

PATTERN is searched for in the names of cases that have a golden, or figures; the whole name of a
case gives it its first. The exit code is 1 where anything differs.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from regression import comparing, figures  # noqa: E402
from regression.cases import CASES, Runner  # noqa: E402


def main() -> int:
    """Runs the command that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="+", metavar="WORD")
    words = parser.parse_args().words
    of_figures = words[0] == "figures"
    command, *patterns = words[1:] if of_figures else words
    if command not in ("check", "write") or len(patterns) != (command == "write" or len(patterns)):
        parser.error(f"not understood: {' '.join(words)}")
    pattern = patterns[0] if patterns else ""
    if command == "write" and pattern and not comparing.same_environment():
        parser.error(
            "the others were written in another environment (environment.json): write all, with "
            "the pattern '', goldens and figures"
        )
    known = list(figures.read()) if of_figures else comparing.names()
    names = [name for name in known if re.search(pattern, name)]
    if command == "write" and pattern.strip("^$") in CASES:
        names = [pattern.strip("^$")]
    started = time.perf_counter()
    with Runner() as runner:
        names = [name for name in names if not runner.absent(name)]
        work = _FIGURES[command] if of_figures else _GOLDENS[command]
        differ = work(runner, names)
    sys.stdout.write(
        f"{len(names)} cases, {differ} differ, {time.perf_counter() - started:.1f} s\n"
    )
    return 1 if differ else 0


def _write_goldens(runner: Runner, names: Sequence[str]) -> int:
    for name in names:
        comparing.write(comparing.path_of(name), runner.run(name))
    environment = json.dumps(comparing.environment(), indent=1) + "\n"
    (comparing.GOLDENS / "environment.json").write_text(environment)
    return 0


def _check_goldens(runner: Runner, names: Sequence[str]) -> int:
    return sum(_said(name, runner.check(name)) for name in names)


def _write_figures(runner: Runner, names: Sequence[str]) -> int:
    figures.write(figures.read() | {name: figures.figures_of(runner, name) for name in names})
    return 0


def _check_figures(runner: Runner, names: Sequence[str]) -> int:
    kept = figures.read()
    return sum(
        _said(name, figures.differences(kept[name], figures.figures_of(runner, name)))
        for name in names
    )


_GOLDENS = {"write": _write_goldens, "check": _check_goldens}
_FIGURES = {"write": _write_figures, "check": _check_figures}


def _said(name: str, lines: list[str]) -> bool:
    """Prints what differs, if anything does."""
    if lines:
        sys.stdout.write("\n".join([f"---- {name}", *lines]) + "\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
