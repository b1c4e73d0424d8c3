"""Write the goldens of `tests/regression`, or compare what rankwell does now with them.

python tools/goldens.py check [PATTERN]            what differs, by case; exit 1 where anything does
python tools/goldens.py write [PATTERN] [--anew]   writes the goldens of the cases; with --anew
beside the old ones, for what
                                                   `permitted.py` lists as Anew
python tools/goldens.py figures                    writes the figures of all cases, each once, to
tests/golden/figures
python tools/goldens.py dump FOLDER [PATTERN]      writes all values at full length, to see behind a
digest

PATTERN is searched for in the names of cases.
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from regression import canonical, comparing, figures  # noqa: E402
from regression.cases import CASES, Runner  # noqa: E402


def main() -> int:
    """Runs the command that the arguments name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("check", "write", "dump", "figures"))
    parser.add_argument("words", nargs="*", help="for dump the folder; a pattern")
    parser.add_argument("--anew", action="store_true")
    options = parser.parse_args()
    folder = Path(options.words.pop(0)) if options.command == "dump" else None
    pattern = re.compile(options.words[0] if options.words else "")
    if options.command == "write" and options.words and not comparing.same_environment():
        parser.error(
            "the other goldens were written in another environment (environment.json): write "
            "all of them, without a pattern"
        )
    if options.command == "figures":
        with Runner() as runner:
            names = [name for name in CASES if not runner.absent(name)]
            found = {name: figures.figures_of(runner, name) for name in names}
            figures.write(figures.distinct(found))
        return 0
    canonical.FULL = folder is not None
    if options.command == "write" and not options.anew:
        comparing.GOLDENS.mkdir(exist_ok=True)
        (comparing.GOLDENS / "environment.json").write_text(
            json.dumps(comparing.environment(), indent=1) + "\n"
        )
    failed = 0
    started = time.perf_counter()
    with Runner() as runner:
        names = [name for name in CASES if pattern.search(name) and not runner.absent(name)]
        for name in names:
            if folder is not None:
                comparing.write(folder / f"{name}.txt", runner.run(name))
            elif options.command == "write":
                comparing.write(comparing.path_of(name, anew=options.anew), runner.run(name))
            elif found := runner.check(name):
                failed += 1
                sys.stdout.write("\n".join([f"---- {name}", *found]) + "\n")
    sys.stdout.write(
        f"{len(names)} cases, {failed} differ, {time.perf_counter() - started:.1f} s\n"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
