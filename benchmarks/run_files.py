"""Six measures per query, rankwell against pytrec_eval-terrier: python benchmarks/run_files.py [CASE...] [--repeats 5] [--dicts]

Files: for rankwell the wall time of the command `rankwell evaluate QRELS RUN -q --format csv --intervals none`, its start and
the writing of all values included; for pytrec_eval its parse_run, parse_qrel and evaluate alone. The two take turns; medians, and
the peak memory and processor time of each process, which other work on the machine changes less. Every value is compared first.
Dicts: `files.mapping.find_hits`, join and measures against `RelevanceEvaluator.evaluate`, both on dicts that are there already.
Both read scores as trec_eval 9 does, as 32-bit numbers, and count queries that both files have.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import make_cases

MEASURES = {
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "RR": "recip_rank",
    "P@10": "P_10",
    "R@100": "recall_100",
    "R@1000": "recall_1000",
}
CASES = dict.fromkeys(("numeric", "ties", "f64", "wshuf", "shuf"), "qrels") | {
    "d": "qrels-d",
    "guid": "qrels-guid",
    "numeric-dl": "qrels-dl",
    "small": "qrels-small",
}


class Timing(NamedTuple):
    seconds: float
    peak_mib: float
    cpu: float


def command(run: Path, qrels: Path) -> list[str]:
    """The whole of what a user types."""
    options = ["-m", " ".join(MEASURES), "-q", "--format", "csv", "--intervals", "none", "--convention", "trec_eval9"]
    return [sys.executable, "-m", "rankwell", "evaluate", str(qrels), str(run), *options]


def evaluate_theirs(run: str, qrels: str) -> dict[str, dict[str, float]]:
    import pytrec_eval

    start = time.perf_counter()
    with Path(qrels).open() as file:
        judgments = pytrec_eval.parse_qrel(file)
    with Path(run).open() as file:
        ranking = pytrec_eval.parse_run(file)
    found = pytrec_eval.RelevanceEvaluator(judgments, set(MEASURES.values())).evaluate(ranking)
    print(time.perf_counter() - start)
    return {name: {query: values[word] for query, values in found.items()} for name, word in MEASURES.items()}


def child(which: str, run: Path, qrels: Path, values: Path) -> Timing:
    """The time of one process and the most memory it held; it leaves every value in a file."""
    theirs = [sys.executable, __file__, "--child", str(run), str(qrels), str(values)]
    start = time.perf_counter()
    with values.open("wb") as target:
        output = target if which == "ours" else subprocess.PIPE
        words = command(run, qrels) if which == "ours" else theirs
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.DEVNULL)
        printed = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{which} failed on {run}")
    return Timing(float(printed) if which == "theirs" else seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def read_ours(values: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with values.open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["measure"], {})[row["query"]] = float(row["value"])
    return found


def largest_difference(run: Path, qrels: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        own, other = Path(folder) / "ours", Path(folder) / "theirs"
        child("ours", run, qrels, own)
        child("theirs", run, qrels, other)
        ours, theirs = read_ours(own), json.loads(other.read_text())
    if {name: set(values) for name, values in ours.items()} != {name: set(values) for name, values in theirs.items()}:
        raise SystemExit("not the same queries")
    return max(abs(ours[name][query] - value) for name, values in theirs.items() for query, value in values.items())


def compare_files(case: str, repeats: int) -> None:
    run = make_cases.make(case.removesuffix("-dl"))
    qrels = make_cases.make(CASES[case])
    difference = largest_difference(run, qrels)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            ours.append(child("ours", run, qrels, Path(folder) / "ours"))
            theirs.append(child("theirs", run, qrels, Path(folder) / "theirs"))
    own, other = median(each.seconds for each in ours), median(each.seconds for each in theirs)
    memory = max(each.peak_mib for each in ours), max(each.peak_mib for each in theirs)
    sides = f"{own:8.3f} s {memory[0]:6.0f} MiB   {other:8.3f} s {memory[1]:6.0f} MiB"
    cpu = median(each.cpu for each in ours), median(each.cpu for each in theirs)
    print(f"{case:<11} {sides}   {other / own:5.1f}x   {cpu[0]:5.2f} and {cpu[1]:5.2f} s   {difference:.0e}", flush=True)


def compare_dicts(repeats: int) -> None:
    import pytrec_eval

    from rankwell.files.mapping import find_hits
    from rankwell.registry import parse_measure
    from rankwell.tables.judgments import Judgments
    from rankwell.views.judged import JudgedRankings

    with make_cases.make("qrels").open() as file:
        judgments = pytrec_eval.parse_qrel(file)
    with make_cases.make("numeric").open() as file:
        ranking = dict(pytrec_eval.parse_run(file))
    measures = [parse_measure(name) for name in MEASURES]
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(MEASURES.values()))

    def evaluate() -> dict[str, Any]:
        truth = Judgments.from_dict(judgments)
        view = JudgedRankings.join(truth, find_hits(ranking, truth, single_precision=True))
        return {name: measure(view) for name, measure in zip(MEASURES, measures, strict=True)}

    found, wanted = evaluate(), evaluator.evaluate(ranking)
    queries = Judgments.from_dict(judgments).queries
    difference = max(
        abs(value - wanted[query][word])
        for name, word in MEASURES.items()
        for query, value in zip(queries, found[name].tolist(), strict=True)
    )
    ours, theirs = [], []
    for _ in range(repeats):
        for times, function in ((ours, evaluate), (theirs, lambda: evaluator.evaluate(ranking))):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    own, other = median(ours), median(theirs)
    sides = f"{own:8.3f} s {'':10}   {other:8.3f} s {'':10}"
    print(f"{'dicts':<11} {sides}   {other / own:5.1f}x   {'':17}   {difference:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; default: numeric and small")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dicts", action="store_true", help="compare evaluation of dicts as well")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run, qrels, values = options.child
        Path(values).write_text(json.dumps(evaluate_theirs(run, qrels)))
        return
    sides = f"{'rankwell':>10} {'peak':>10}   {'pytrec_eval':>10} {'peak':>10}"
    print(f"{'case':<11} {sides}   ratio   processor time     largest difference", flush=True)
    for case in options.cases or ["numeric", "small"]:
        compare_files(case, options.repeats)
    if options.dicts:
        compare_dicts(options.repeats)


if __name__ == "__main__":
    main()
