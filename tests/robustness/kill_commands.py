"""Commands that are killed at random moments, alone and in pairs: python
tests/robustness/kill_commands.py [--minutes 60] [--seed 1]

A command with an output, a cache or a resume gets SIGTERM, SIGINT or SIGKILL at a random moment; a
pair of commands with one output runs at once, and one or none is killed. Then a reader looks at
what lies there, and the command runs again. A folder or a file that is accepted must be that of an
undisturbed run of one of them; no process may stay. Fails with what was seen otherwise.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from regression import worlds  # noqa: E402

PROGRAM = [sys.executable, "-m", "rankwell"]
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
VARYING = ("performance.json", "results.csv", "images.csv", "report.html")
"""Files with times and dates, or that another command writes."""
TIMED = tuple(f"table.{suffix}" for suffix in ("json", "md", "tex", "html"))
"""Tables of systems with their seconds and memory, like table.csv, of which the other columns are
compared.
"""
_MEASURED = "second|memory|from_cache"
"""Columns of a table of systems that another run of the same command has otherwise."""


class Case(NamedTuple):
    """Command lines that write to `out`, of which each would do; a reader, which must not accept
    anything else.

    words: of the command, which the registry knows. slow: only drawn where there are ten minutes or
    more. timed: its tables have seconds and memory. kept: its folder is never written anew.
    """

    words: str
    lines: tuple[str, ...]
    reader: str = ""
    slow: bool = False
    timed: bool = False
    kept: bool = False


_ANSWERS, _PAIRS = "worlds/answers/gold.json worlds/answers/texts.json", "worlds/vectors/pairs.csv"
_TEXTS = "--queries queries.tsv --documents items.tsv"
_CLIPS = "--annotations worlds/clips/table.csv --run worlds/clips/clips.run"
_TASKS = ("embeddings", "qa", "crossmodal", "keywords", "images")
CASES = (
    Case(
        "evaluate",
        ("evaluate qrels one.run -o out", "evaluate qrels two.run -o out"),
        "gate out --require AP>=0",
    ),
    Case(
        "compare", ("compare one two -o out", "compare two one -o out"), "gate out --require AP>=0"
    ),
    Case(
        "crossmodal",
        ("crossmodal a.npy -o out", "crossmodal b.npy -o out"),
        "gate out --require R@1>=0",
    ),
    Case(
        "embeddings",
        (
            "embeddings --reference a.npy b.npy -k 2 -o out",
            "embeddings --reference b.npy a.npy -k 2 -o out",
        ),
        "report out",
    ),
    Case(
        "encode",
        tuple(
            f"encode texts.txt --encoder tfidf-svd:{n} --fit texts.txt --batch-size 1 -o out.npy"
            for n in (20, 30)
        ),
    ),
    Case(
        "encode",
        tuple(
            f"encode pictures --encoder {name} -o out.npy"
            for name in ("small-grey", "colour-histogram")
        ),
    ),
    Case(
        "images",
        ("images museum --encoder small-grey --cache kept -o out",),
        "gate out --require P@1>=0",
    ),
    Case(
        "bench", ("bench bench.toml -o out --executor processes:2", "bench bench.toml -o out"), ""
    ),
    Case(
        "fuse",
        ("fuse one.run two.run -o out.run", "fuse two.run one.run --method combsum -o out.run"),
    ),
    Case(
        "knn",
        ("knn a.npy b.npy --neighbours 3 -o out.run", "knn b.npy a.npy --neighbours 3 -o out.run"),
    ),
    Case(
        "knn",
        tuple(
            f"knn a.npy b.npy --neighbours 3 --shards 6 --work work --executor {name} -o out.run"
            for name in ("here", "processes:2")
        ),
    ),
    Case("convert", ("convert one.run out.parquet", "convert two.run out.parquet")),
    Case("report", ("report one -o out.html", "report two -o out.html")),
    Case("gate", tuple(f"gate {name} --require AP>=0 -o out.xml" for name in ("one", "two"))),
    Case(
        "qa",
        tuple(f"qa {_ANSWERS} -c {name} -o out" for name in ("squad2", "piaf-article")),
        "gate out --require EM>=0",
    ),
    Case(
        "bench",
        (
            "bench worlds/answers/files.toml -o out",
            "bench worlds/answers/files.toml -o out --executor processes:2",
        ),
    ),
    Case(
        "pairs",
        tuple(f"pairs {_PAIRS}:score {_PAIRS}:{name} -o out" for name in ("one", "two")),
        "report out",
    ),
    Case(
        "clicks interleave",
        (
            "clicks interleave one.run two.run -o out.jsonl",
            "clicks interleave one.run two.run --method balanced -o out.jsonl",
        ),
    ),
    Case(
        "clicks credit",
        tuple(
            f"clicks credit lists.jsonl clicks.csv --test {name} -o out" for name in ("sign", "t")
        ),
        "report out",
    ),
    Case("clicks", ("clicks log.csv -o out", "clicks log.csv --policy mine -o out"), "report out"),
    Case("beyond", ("beyond one.run -o out", "beyond one.run -k 1 -o out"), "report out"),
    Case(
        "rag",
        ("rag gold.jsonl chunks.jsonl -o out", "rag gold.jsonl chunks.jsonl -k 1 -o out"),
        "report out",
    ),
    Case(
        "rag citations",
        tuple(f"rag citations supports.jsonl -c {name} -o out" for name in ("rankwell", "alce")),
        "report out",
    ),
    Case(
        "judge pool",
        tuple(
            f"judge pool one.run two.run {_TEXTS} -m {name} -o out" for name in ("SDCG@10", "P@5")
        ),
        kept=True,
    ),
    Case(
        "keywords",
        tuple(f"keywords {_CLIPS} {ties} -o out" for ties in ("", "--ties input")),
        "report out",
    ),
    Case(
        "keywords template",
        tuple(
            f"keywords template worlds/pictures {more} --overwrite -o out.csv"
            for more in ("", "--keyword-groups weather")
        ),
    ),
    Case(
        "images match",
        ("images match worlds/museum --cache kept --executor processes:2 -o out.npy",),
    ),
    Case(
        "images stats",
        (
            "images stats worlds/images/table.csv -o out.csv",
            "images stats worlds/museum -o out.csv",
        ),
    ),
    Case("bench", ("bench worlds/images/systems.toml -o out",), slow=True, timed=True),
    *(
        Case(f"demo{name}", (f"demo{name} -o out",), slow=True, timed=name == " images")
        for name in ("", *(f" {task}" for task in _TASKS))
    ),
)
EXEMPT = {
    "keywords calibrate": "it reads a model of sentence-transformers, for most of a minute",
    "demo judge": "its judgments have times, and a study that has begun is never written anew; "
    "`judge pool` "
    "is killed",
    "demo engine": "its results are times, as those of `engine run`",
    "engine run": "its results are times, which no two calls share; tests/tasks/engine stops it",
}
"""Commands that write and are not killed here, and why."""
WRITES = frozenset({"output", "target", "cache", "resume", "fresh"})
"""Parameters of the commands that belong here."""


class Workplace:
    """A folder with the inputs of all cases, and the outputs of undisturbed runs."""

    def __init__(self, place: Path, rng: random.Random) -> None:
        self.inputs, self.rng = place / "inputs", rng
        self.inputs.mkdir()
        self._write()
        self.whole = cache(self._whole)

    def _write(self) -> None:
        queries, items = [f"q{n}" for n in range(60)], [f"d{n}" for n in range(40)]
        (self.inputs / "qrels").write_text(
            "".join(f"{q} 0 {d} {self.rng.randrange(2)}\n" for q in queries for d in items[:20])
        )
        for name, ids in (("queries", queries), ("items", items)):
            (self.inputs / f"{name}.tsv").write_text(
                "".join(f"{each}\tthe text of {each}\n" for each in ids)
            )
        self._passages(queries)
        for name in ("one", "two"):
            rows = [f"{q} Q0 {d} 1 {self.rng.random()} x\n" for q in queries for d in items]
            (self.inputs / f"{name}.run").write_text("".join(rows))
        self._clicks(queries, items)
        numbers = np.random.default_rng(0)
        for name in ("a", "b"):
            np.save(self.inputs / f"{name}.npy", numbers.normal(size=(40, 40)).astype(np.float32))
        words = [f"word{n}" for n in range(200)]
        (self.inputs / "texts.txt").write_text(
            "".join(f"{' '.join(self.rng.choices(words, k=12))}\n" for _ in range(4000))
        )
        self._pictures(numbers)
        cells = [f'[[system]]\nname = "{name}"\n' for name in ("one", "two")]
        dataset = (
            '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = '
            '"{system}.run"\n'
        )
        (self.inputs / "bench.toml").write_text(dataset + "".join(cells))
        for name in ("one", "two"):
            run(f"evaluate qrels {name}.run -o {name}", self.inputs)
        (self.inputs / "worlds").mkdir()
        worlds.build(self.inputs / "worlds")

    def _passages(self, queries: list[str]) -> None:
        """Gold passages, chunks and supports of every query."""
        spans = [
            {"document": "d", "start": start, "end": start + 40} for start in range(0, 400, 20)
        ]
        gold = [{"id": query, "passages": self.rng.sample(spans, 2)} for query in queries]
        found = [{"id": query, "chunks": self.rng.sample(spans, 5)} for query in queries]
        judged = [
            {"id": query, "statement": "s", "citations": ["a"], "entailed": self.rng.random() < 0.5}
            for query in queries
        ]
        for name, rows in (("gold", gold), ("chunks", found), ("supports", judged)):
            (self.inputs / f"{name}.jsonl").write_text(
                "".join(f"{json.dumps(row)}\n" for row in rows)
            )

    def _clicks(self, queries: list[str], items: list[str]) -> None:
        """A log with a policy, interleaved lists, and clicks on them."""
        rows = [
            f"{query},{self.rng.choice(items)},{self.rng.randrange(2)},0.025,{self.rng.random()}\n"
            for query in queries
        ]
        (self.inputs / "log.csv").write_text("query,item,click,propensity,mine\n" + "".join(rows))
        marks = {
            "query": "",
            "method": "team-draft",
            "runs": ["one", "two"],
            "items": items[:4],
            "teams": [0, 1, 1, 0],
        }
        lists = [{"list": query} | marks | {"query": query} for query in queries]
        (self.inputs / "lists.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lists))
        clicks = [f"{query},{self.rng.choice(items[:4])}\n" for query in queries]
        (self.inputs / "clicks.csv").write_text("query,item\n" + "".join(clicks))

    def _pictures(self, numbers: np.random.Generator) -> None:
        from PIL import Image

        for number in range(24):
            side = ("references", "queries")[number % 2]
            pixels = numbers.integers(0, 255, size=(64, 64, 3), dtype=np.uint8)
            for folder in (
                self.inputs / "pictures",
                self.inputs / "museum" / side / f"i{number // 4}",
            ):
                folder.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels).save(folder / f"{number}.png")

    def copy(self, place: Path) -> None:
        """A folder with the inputs."""
        shutil.copytree(self.inputs, place)

    def _whole(self, line: str, *, timed: bool) -> tuple[str, float]:
        """The digest of the output of an undisturbed run, and the seconds that it takes."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "w"
            self.copy(place)
            begin = time.monotonic()
            done = run(line, place)
            if done.returncode:
                raise SystemExit(f"{line}: exit {done.returncode}\n{done.stderr}")
            return state(place, timed=timed), time.monotonic() - begin


def run(line: str, place: Path) -> subprocess.CompletedProcess[str]:
    """A command line, to its end."""
    return subprocess.run(
        [*PROGRAM, *line.split()], cwd=place, capture_output=True, text=True, check=False
    )


def start(line: str, place: Path) -> subprocess.Popen[bytes]:
    """A command line that runs, and is not heard."""
    nowhere = subprocess.DEVNULL
    return subprocess.Popen([*PROGRAM, *line.split()], cwd=place, stdout=nowhere, stderr=nowhere)


def state(place: Path, *, timed: bool) -> str:
    """The digest of all outputs, without locks, drafts, times and what resumes."""
    total, varying = hashlib.sha256(), (*VARYING, *(TIMED if timed else ()))
    for path in sorted(place.glob("out*/**/*")) + sorted(place.glob("out*")):
        if (
            path.is_file()
            and not path.name.endswith(varying)
            and not re.search(r"\.part|/(kept|cache)/|/\.", path.relative_to(place).as_posix())
        ):
            content = path.read_bytes()
            if timed and path.name == "table.csv":
                rows = list(csv.DictReader(content.decode().splitlines()))
                content = json.dumps(
                    [
                        {name: row[name] for name in row if not re.search(_MEASURED, name)}
                        for row in rows
                    ]
                ).encode()
            if path.name.endswith("manifest.json") and (found := json.loads(content)).get("files"):
                # The inputs of a table of systems are results, of which one has times.
                left_out = (*varying, "table.csv") if timed else varying
                found["files"] = {
                    name: each
                    for name, each in found["files"].items()
                    if not name.endswith(left_out)
                }
                found["inputs"] = None if timed else found.get("inputs")
                found["findings"] = [
                    finding
                    for finding in found.get("findings", [])
                    if "done before" not in finding["message"]
                ]
                content = json.dumps(found).encode()
            total.update(f"{path.relative_to(place)}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def of_place(place: Path) -> list[int]:
    """The processes that work in a folder and have not ended."""
    found: list[int] = []
    for process in (int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()):
        with suppress(OSError):
            if Path(f"/proc/{process}/cwd").readlink() == place.resolve():
                found.append(process)
    return found


class Harness:
    """Kills and what was seen. problems: each with the seed's case, the signals and what was
    accepted.
    """

    def __init__(self, work: Workplace, folder: Path, rng: random.Random) -> None:
        self.work, self.folder, self.rng = work, folder, rng
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def trial(self, case: Case, *, pair: bool) -> None:
        """One command or two at once, of which one may be killed; then the reader, and the command
        again.
        """
        place = self.folder / "trial"
        self.work.copy(place)
        known = [self.work.whole(line, timed=case.timed) for line in case.lines]
        lines = [self.rng.choice(case.lines) for _ in range(1 + pair)]
        started = [start(line, place) for line in lines]
        word = self.rng.choice(SIGNALS)
        victim = started[0] if not pair or self.rng.random() < 0.7 else None
        time.sleep(self.rng.random() * 1.1 * max(seconds for _, seconds in known))
        if victim is not None and victim.poll() is None:
            victim.send_signal(word)
            self.counts[f"kills {word.name}"] += 1
        self.counts["pairs" if pair else "alone"] += 1
        codes = [each.wait() for each in started]
        for code in codes:
            self.counts[f"exit {code}"] += 1
        what = f"{' | '.join(lines)} ({word.name if victim else 'no signal'}, exit codes {codes})"
        # An interrupt while Python starts ends it with 1.
        if not {*codes} <= {0, 2, 128 + word, -word, *([1] if word is signal.SIGINT else [])}:
            self.problems.append(f"an exit code of no such end: {what}")
        # What a killed command had finished, another command may refuse to replace.
        again = self.rng.choice(case.lines)
        self._check(
            case,
            place,
            {digest for digest, _ in known},
            what,
            again,
            may_fail=0 in codes or again != lines[0],
        )
        shutil.rmtree(place)

    def _check(
        self, case: Case, place: Path, known: set[str], what: str, line: str, *, may_fail: bool
    ) -> None:
        end = time.monotonic() + 10
        while (left := of_place(place)) and time.monotonic() < end:
            time.sleep(0.1)
        if left:
            self.counts["orphans"] += len(left)
            self.problems.append(f"{len(left)} processes stay: {what}")
            for process in left:
                os.kill(process, signal.SIGKILL)
        if case.reader and (place / "out").exists():
            code = run(case.reader, place).returncode
            self.counts[f"reader exit {code}"] += 1
            if code == 3 or (code == 0 and state(place, timed=case.timed) not in known):
                self.counts["mixed accepted"] += 1
                self.problems.append(f"accepted with exit {code}: {what}")
        # A file that was whole is only replaced with --overwrite; a folder is written anew, unless
        # it is a study.
        replaced = (place / "out").is_dir() and not case.kept
        may_fail = may_fail or (not replaced and state(place, timed=case.timed) in known)
        again = run(line, place)
        self.counts[f"again exit {again.returncode}"] += 1
        if (
            again.returncode == 0
            and state(place, timed=case.timed) != self.work.whole(line, timed=case.timed)[0]
        ):
            self.counts["mixed accepted"] += 1
            self.problems.append(f"another result after the next run: {what}")
        elif again.returncode and not may_fail:
            self.problems.append(f"the next run fails: {what}\n{again.stderr}")
        drafts = list(place.rglob(".*")) if again.returncode == 0 else []
        if drafts:
            self.counts["drafts left"] += len(drafts)
            self.problems.append(f"drafts stay ({drafts[0].relative_to(place)}): {what}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the counts; 1 where something mixed was accepted, a process stayed, or a command
    failed with 3.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="words of the command of one case")
    chosen = parser.parse_args(arguments)
    rng = random.Random(chosen.seed)
    cases = [
        case
        for case in CASES
        if chosen.only == case.words or (chosen.only is None and chosen.minutes >= 10 * case.slow)
    ]
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(Workplace(Path(folder), rng), Path(folder), rng)
        end = time.monotonic() + 60 * chosen.minutes
        while time.monotonic() < end:
            harness.trial(rng.choice(cases), pair=rng.random() < 0.3)
    counts = {
        name: harness.counts.pop(name, 0) for name in ("mixed accepted", "orphans", "drafts left")
    }
    lines = [f"seed {chosen.seed}, {chosen.minutes:g} minutes"]
    lines += [f"{number:7,} {name}" for name, number in sorted(harness.counts.items())]
    lines += [f"{number:7,} {name} (must be 0)" for name, number in counts.items()]
    sys.stdout.write("\n".join([*lines, *dict.fromkeys(harness.problems)]) + "\n")
    return 1 if harness.problems else 0


if __name__ == "__main__":
    sys.exit(main())
