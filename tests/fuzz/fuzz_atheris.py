"""Files that follow coverage, through the readers written in Python: python
tests/fuzz/fuzz_atheris.py [--minutes 1] [--seed 0]

Needs atheris (`pip install atheris`, Linux), which is not a dependency; without it nothing is done,
which is printed. The first byte of an input chooses the reader, the others are its file; what is
right is decided as in `tests/fuzz/fuzz.py`. A finding ends it.
"""

import argparse
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from fuzz import FINDINGS, outcome_of

OTHERS = re.compile(
    r"commands|compiled|names|python |(?:csv|tsv|jsonl|beir|parquet|hdf5|mteb-cache) \w+$"
)
"""Fuzzers of what is not a file, is not read by Python alone, or is several files."""


def targets(folder: Path, corpus: Path) -> list[tuple[str, Path]]:
    """The readers, each with the place of its file; writes valid files of each as the first
    inputs.
    """
    from fuzzing import FUZZERS

    found = list[tuple[str, Path]]()
    for position, (name, fuzzer) in enumerate(sorted(FUZZERS.items())):
        if not OTHERS.search(name):
            place = folder / str(position)
            place.mkdir()
            path = fuzzer.write(Random(0), place)
            if isinstance(path, Path) and path.is_file():
                for number in range(3):
                    raw = fuzzer.write(Random(number), place).read_bytes()
                    (corpus / f"{len(found)}-{number}").write_bytes(bytes([len(found)]) + raw)
                found.append((name, path))
    return found


def main() -> int:
    """Runs until the time is up; exits with 77 and the input at a finding."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if find_spec("atheris") is None:
        sys.stdout.write("skipped: atheris is not installed\n")
        return 0
    import atheris  # pyright: ignore[reportMissingImports]

    library: Any = atheris
    with library.instrument_imports(include=["rankwell"]):
        from fuzzing import load

        load()
        with tempfile.TemporaryDirectory(prefix="atheris-") as place:
            folder, corpus = Path(place), Path(place, "corpus")
            corpus.mkdir()
            readers = targets(folder, corpus)

            def _try(data: bytes) -> None:
                name, path = readers[data[0] % len(readers) if data else 0]
                path.write_bytes(data[1:])
                outcome, what = outcome_of(name, path)
                if outcome in FINDINGS:
                    raise AssertionError(f"{outcome}: {name}\n{what}")

            options = [
                f"-max_total_time={60 * given.minutes:.0f}",
                f"-seed={given.seed or 1}",
                "-max_len=4096",
                "-timeout=60",
            ]
            library.Setup(
                [
                    sys.argv[0],
                    *options,
                    "-print_final_stats=1",
                    f"-artifact_prefix={Path.cwd()}/",
                    str(corpus),
                ],
                _try,
            )
            library.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
