"""Fuzzers of the compiled readers, held against those that do without."""

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzzing import FUZZERS, Fuzzer
from fuzzing import compiled_lines as lines


class Content(NamedTuple):
    """A file of lines, and whether it holds a run."""

    path: Path
    raw: bytes
    run: bool


def _write(rng: Random, folder: Path) -> Content:
    run = rng.random() < 0.7
    kept = sorted(lines.SEEDS.glob("*.run" if run else "*.qrels"))
    raw = (
        rng.choice(kept).read_bytes()
        if kept and rng.random() < 0.5
        else (lines.made if run else lines.made_judgments)(rng)
    )
    return Content(folder / "input", raw, run)


def _change(rng: Random, content: Content) -> Content:
    other = (lines.made if content.run else lines.made_judgments)(rng)
    return content._replace(raw=lines.mutated(rng, content.raw, other))


def _read(content: Content) -> Any:
    return (lines.compare if content.run else lines.compare_judgments)(content.raw, content.path)[1]


def _number(rng: Random, folder: Path) -> Any:
    return rng.getrandbits(40), folder


def _read_columns(given: Any) -> Any:
    from fuzzing.compiled_columns import outcomes_of

    return [each for each in outcomes_of(*given) if not each[1]]


FUZZERS["compiled reader of lines"] = Fuzzer(_write, _change, _read, lambda _: True)
FUZZERS["compiled reader of columns"] = Fuzzer(
    _number, lambda _, given: given, _read_columns, lambda _: []
)
