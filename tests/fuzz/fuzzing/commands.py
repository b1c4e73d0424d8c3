"""Fuzzers of whole commands: those of the goldens with a changed input, word or result folder, in
this process.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzzing import FUZZERS, Fuzzer
from fuzzing.mutations import HUGE, LETTERS, binary_file, change_text, text_file

SLOW = re.compile(
    r"^(demo|shared|knn|encode|bench)/|\n|^<|^COLUMNS=|\bopen\b|\bcp\b| "
    r"shared/|check-urls|--thumbnails|goldens_vectors|processes:"
)
CODES = (0, 1, 2, 4)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]")
"""Characters that must not reach a terminal."""


class Wrong(Exception):
    """A command ended as no command may."""


class Line(NamedTuple):
    """A command line, and the file of its inputs that was changed."""

    words: list[str]
    changed: Path | None = None


_HOME: dict[str, Path] = {}
RESULTS = (
    "evaluate qrels.txt a.run b.run -m AP -m nDCG@5 -o results/runs",
    "crossmodal captions/tied.npy --qrels captions/positives.json -o results/captions",
    "qa answers/gold.json answers/texts.json -c squad2 -o results/answers",
    "images images/table.csv --scores images/scores.npy --query-ids "
    "images/queries.ids.txt "
    "--item-ids images/references.ids.txt -o results/images",
    "pairs vectors/pairs.csv:score vectors/pairs.csv:one -o results/pairs",
    "bench small.toml -o results/bench",
)
BENCH = """\
[[dataset]]
name = "runs"
command = "evaluate"
qrels = "qrels.txt"
runs = "runs/bench/{system}.run"
measure = ["AP", "nDCG@5"]

[[system]]
name = "one"

[[system]]
name = "two"
title = "Second"
"""


def _built_inputs(folder: Path) -> Path:
    """The inputs of the goldens and results of some of them, made once; changes are undone by
    `_restore`.
    """
    if str(folder) not in _HOME:
        from regression import worlds

        home = folder / "world"
        home.mkdir()
        worlds.build(home)
        (home / "small.toml").write_text(BENCH, encoding="utf-8")
        _HOME[str(folder)] = home
        for line in RESULTS:
            run(home, shlex.split(line))
        shutil.copytree(home, folder / "pristine")
    return _HOME[str(folder)]


def _restore(home: Path) -> None:
    """Makes the folder what it was: what a command left is removed, and the changed input is whole
    again.
    """
    pristine = home.parent / "pristine"
    for path in sorted(home.rglob("*"), reverse=True):
        whole = pristine / path.relative_to(home)
        if not whole.exists() and not path.is_symlink() and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif not whole.exists():
            path.unlink()
    for whole in pristine.rglob("*"):
        path = home / whole.relative_to(pristine)
        if whole.is_dir():
            path.mkdir(exist_ok=True)
        elif (
            not path.exists()
            or path.stat().st_size != whole.stat().st_size
            or path.stat().st_mtime_ns != whole.stat().st_mtime_ns
        ):
            shutil.copy2(whole, path)


def run(home: Path, words: list[str]) -> tuple[int, str]:
    """Exit code and standard error of a command line in a folder. Raises Wrong for another code
    than those that are given.
    """
    from rankwell.cli import main
    from regression import running

    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="", write_through=True)
        for _ in range(2)
    )
    before, here = sys.argv, Path.cwd()
    sys.argv = ["rankwell", *words]
    os.chdir(home)
    try:
        # The library that draws charts starts an engine of JavaScript, which bears no limit of
        # memory.
        with (
            running.specifications(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main()
    finally:
        sys.argv = before
        os.chdir(here)
    said = err.buffer.getvalue().decode("utf-8", "replace")
    if code not in CODES or "Traceback" in said or CONTROL.search(said):
        shown = CONTROL.sub(lambda found: ascii(found[0])[1:-1], said[-1500:])
        raise Wrong(f"exit {code}: rankwell {shlex.join(words)[:600]}\n{shown}")
    return code, said


def _lines() -> list[list[str]]:
    from regression.cases import LINES

    found = [
        line for name, line in LINES.items() if not SLOW.search(name) and not SLOW.search(line)
    ]
    return [shlex.split(line) for line in found]


_KNOWN: list[list[str]] = []


def _draw(rng: Random, folder: Path) -> Line:
    home = _built_inputs(folder)
    if not _KNOWN:
        _KNOWN.extend([*_lines(), *[shlex.split("bench small.toml -o out")] * 20])
    _restore(home)
    return Line(list(rng.choice(_KNOWN)))


def _inputs(home: Path, words: list[str]) -> list[Path]:
    """The files that a command line names."""
    names = [
        part
        for word in words
        for part in (word, word.partition("=")[2], word.rpartition(":")[0])
        if part
    ]
    return [home / name for name in names if (home / name).is_file()]


def _change(rng: Random, path: Path) -> Path:
    return (
        binary_file(rng, path)
        if path.suffix in (".npy", ".parquet", ".png", ".gz")
        else text_file(rng, path)
    )


def change_file(rng: Random, line: Line) -> Line:
    """Changes one of the files that a command reads."""
    home = next(iter(_HOME.values()))
    files = _inputs(home, line.words)
    return line._replace(changed=_change(rng, rng.choice(files))) if files else line


PARAMETERS = (
    *(
        "1e999",
        "[]",
        "{}",
        "{[]:1}",
        "{1:2,'a':3}",
        "{1:'a'}",
        "[1,2]",
        "-" * 5_000,
        "None",
        "True",
        "''",
        "0",
        "-1",
        "1.5",
        "0x1",
    ),
    *("1e400", "{1:1e400}", "(((", "()", "'a'*9", "__import__('os')", "nan", "inf", *HUGE),
)


def change_word(rng: Random, line: Line) -> Line:
    """Changes a word of a command line, the name of the command aside."""
    words = list(line.words)
    place = rng.randrange(1, len(words))
    word, what = words[place], rng.randrange(7)
    if what == 0:
        word = rng.choice(PARAMETERS)
    elif what == 1:
        word += rng.choice(
            (
                "@",
                "(",
                ")",
                "=",
                ":",
                ",",
                "%",
                "()",
                "@0",
                "@-1",
                "@1e9",
                "(k=1)",
                "(rel=2)",
                "\ud800",
                "\x1b[31m",
                "x" * 300,
            )
        )
    elif what == 2:
        name = word.partition("@")[0].partition("(")[0]
        word = f"{name}({rng.choice(('rel', 'k', 'gains', 'cutoff', 'p', 'x'))}={rng.choice(PARAMETERS)})"  # noqa: E501
    elif what == 3:
        word = change_text(rng, word)
    elif what == 4:
        word = rng.choice([each for each in words if each])
    elif what == 5:
        word = f"{word.partition('@')[0]}@{rng.choice(PARAMETERS)}"
    else:
        word = (
            word[: rng.randint(0, len(word))]
            + rng.choice(LETTERS)
            + word[rng.randint(0, len(word)) :]
        )
    words[place] = word.replace("\x00", "")[:100_000]
    # Nothing is written but into the folder of the case.
    return line._replace(
        words=[each if not each.startswith(("/", "..", "~")) else "x" for each in words]
    )


def _draw_folder(rng: Random, folder: Path) -> Line:
    home = _built_inputs(folder)
    _restore(home)
    one, two = rng.sample([line.split()[-1] for line in RESULTS], 2)
    lines = (
        ["report", one],
        ["compare", one, two],
        ["compare", one],
        ["gate", one, "-r", "AP > 0"],
        ["report", one, two, "-o", "page.html"],
    )
    lines += (
        ["gate", one, "--baseline", two],
        ["report", "results/bench"],
        ["compare", "results/runs", "-o", "both"],
    )
    words = rng.choice(lines)
    if "results/bench" in words[1:] and words[0] != "report":
        words = ["report", "results/bench"]
    return Line(list(words))


def change_folder(rng: Random, line: Line) -> Line:
    """Changes a file of a result folder; every second time the manifest gets its new digest, so
    that it is read.
    """
    home = next(iter(_HOME.values()))
    places = [home / word for word in line.words if (home / word).is_dir()]
    files = [
        path
        for path in sorted(rng.choice(places).rglob("*"))
        if path.suffix in (".json", ".csv", ".parquet", ".toml")
    ]
    path = rng.choice(files)
    before = _digest(path)
    _change(rng, path)
    if rng.random() < 0.6:
        for manifest in home.rglob("manifest.json"):
            raw = manifest.read_bytes()
            if before in raw:
                manifest.write_bytes(raw.replace(before, _digest(path)))
    return line._replace(changed=path)


def _digest(path: Path) -> bytes:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest().encode()


def _read(line: Line) -> Any:
    return run(next(iter(_HOME.values())), line.words)


def _measure(rng: Random, folder: Path) -> str:
    from rankwell.data.registry import MEASURES

    return rng.choice(
        [
            f"{rng.choice(list(MEASURES))}@5",
            rng.choice(list(MEASURES)),
            "P(rel=2)@5",
            "nDCG(gains={1:2,2:3})@5",
            "RBO(p=0.9)",
        ]
    )


def _change_measure(rng: Random, text: str) -> str:
    for _ in range(rng.randint(0, 2)):
        how, name = rng.randrange(4), text.partition("@")[0].partition("(")[0]
        if how == 0:
            text = f"{name}({rng.choice(('rel', 'k', 'gains', 'p', 'judged', 'over'))}={rng.choice(PARAMETERS)})"  # noqa: E501
        elif how == 1:
            text = f"{name}@{rng.choice(PARAMETERS)}"
        else:
            text = change_text(rng, text)
    return text


def _read_measure(text: str) -> Any:
    from rankwell import parse_measure

    return str(parse_measure(text))


FUZZERS["commands, an input changed"] = Fuzzer(_draw, change_file, _read)
FUZZERS["commands, a word changed"] = Fuzzer(_draw, change_word, _read)
FUZZERS["commands, a result folder changed"] = Fuzzer(_draw_folder, change_folder, _read)
FUZZERS["names of measures"] = Fuzzer(_measure, _change_measure, _read_measure)
