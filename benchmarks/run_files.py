"""Six measures per query of one run, rankwell against its peers as whole processes: python
benchmarks/run_files.py [CASE...]

    [--rounds 5] [--against REV] [--peers trec_eval pytrec_eval] [--trec-eval PATH] [--dicts]
    [--json]

All of a case take turns; the median and the best of the rounds are printed, the peak memory, and
how many times the time of `rankwell trec-eval` and of `rankwell evaluate` a peer takes, as the
median over the rounds. Peers take three rounds of a large case, and two where they take twenty
seconds. Every process writes the value of
every query; `embeddings` says how these stand to those of the reference, which is trec_eval for
`rankwell trec-eval` (the same bytes) and pytrec_eval for all others (the largest difference). For
pytrec_eval only parse_run, parse_qrel and evaluate are timed, not its start. --against REV races
our two commands with those of an earlier revision. --dicts compares `find_hits`, join and measures
with `RelevanceEvaluator.evaluate`, on dictionaries that are there.
"""

import argparse
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import make_cases
import revisions

# What the six are called: here and in ir_measures, in trec_eval's output, in ranx.
MEASURES = {
    "nDCG@10": ("ndcg_cut_10", "ndcg@10"),
    "AP": ("map", "map"),
    "RR": ("recip_rank", "mrr"),
    "P@10": ("P_10", "precision@10"),
    "R@100": ("recall_100", "recall@100"),
    "R@1000": ("recall_1000", "recall@1000"),
}
CASES = dict.fromkeys(("numeric", "ties", "f64", "wshuf", "shuf"), "qrels") | {
    "d": "qrels-d",
    "guid": "qrels-guid",
    "numeric-dl": "qrels-dl",
    "small": "qrels-small",
}
# These take up to twenty seconds each on the large cases.
SLOW = ("ir_measures", "ranx", "torchmetrics")
# Peers with an order in ties, or a definition, of their own: that their values differ is their
# business.
DIFFERENT = ("ranx", "torchmetrics")
OURS = ("rankwell trec-eval", "rankwell evaluate")
# The command beside this Python, as a user types it.
HERE = Path(sys.executable).parent
RANKWELL = shutil.which("rankwell", path=str(HERE)) or str(HERE / "rankwell")

Values = dict[str, dict[str, float]]


class Turn(NamedTuple):
    """One process: seconds and peak memory in MiB, and the processor time of it."""

    seconds: float
    peak: float
    cpu: float


class Contender(NamedTuple):
    """command: of a run and its judgments. read: what its output says. environment: what it is
    given beside the usual.
    """

    name: str
    command: Callable[[Path, Path], list[str]]
    read: Callable[[Path], Values] | None
    environment: dict[str, str] = {}  # noqa: RUF012


def evaluate_words(run: Path, qrels: Path) -> list[str]:
    options = [
        "-m",
        " ".join(MEASURES),
        "-q",
        "--format",
        "csv",
        "--intervals",
        "none",
        "--convention",
        "trec_eval9",
    ]
    return [RANKWELL, "evaluate", str(qrels), str(run), *options]


def trec_words(run: Path, qrels: Path) -> list[str]:
    names = [
        word
        for dotted, _ in MEASURES.values()
        for word in ("-m", dotted.replace("_cut_", "_cut.").replace("P_", "P."))
    ]
    names = [name.replace("recall_", "recall.") for name in names]
    return ["-q", *names, str(qrels), str(run)]


def revision_words(command: str, case: str) -> list[str]:
    """The command line of one of ours on a case."""
    files = make_cases.make(case.removesuffix("-dl")), make_cases.make(CASES[case])
    return (
        evaluate_words(*files)
        if command == "rankwell evaluate"
        else [RANKWELL, "trec-eval", *trec_words(*files)]
    )


def child(name: str) -> Callable[[Path, Path], list[str]]:
    return lambda run, qrels: [sys.executable, __file__, "--child", name, str(run), str(qrels)]


def contenders(trec_eval: str | None, peers: list[str]) -> list[Contender]:
    old = [] if trec_eval is None or "version 9" not in version_of(trec_eval) else ["--v9"]
    ours = [RANKWELL, "trec-eval", *old]
    numpy = {"RANKWELL_KERNEL": "numpy"}
    found = [
        Contender("rankwell trec-eval", lambda run, qrels: [*ours, *trec_words(run, qrels)], None),
        Contender(
            "rankwell trec-eval, plain reader",
            lambda run, qrels: [*ours, *trec_words(run, qrels)],
            None,
            numpy,
        ),
        Contender("rankwell evaluate", evaluate_words, read_rows),
    ]
    if trec_eval is not None and "trec_eval" in peers:
        found.append(
            Contender("trec_eval", lambda run, qrels: [trec_eval, *trec_words(run, qrels)], None)
        )
    libraries = [
        name for name in ("pytrec_eval", *SLOW) if name in peers and importlib.util.find_spec(name)
    ]
    return found + [Contender(name, child(name), read_json) for name in libraries]


def version_of(trec_eval: str) -> str:
    done = subprocess.run([trec_eval, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


# The peers that are libraries; each prints the seconds that count, unless its start counts as well.


def with_pytrec_eval(run: Path, qrels: Path) -> tuple[float | None, Values]:
    import pytrec_eval

    start = time.perf_counter()
    with qrels.open() as file:
        judgments = pytrec_eval.parse_qrel(file)
    with run.open() as file:
        ranking = pytrec_eval.parse_run(file)
    found = pytrec_eval.RelevanceEvaluator(
        judgments, {word for word, _ in MEASURES.values()}
    ).evaluate(ranking)
    taken = time.perf_counter() - start
    return taken, {
        name: {query: each[word] for query, each in found.items()}
        for name, (word, _) in MEASURES.items()
    }


def with_ir_measures(run: Path, qrels: Path) -> tuple[float | None, Values]:
    import ir_measures

    names = {str(ir_measures.parse_measure(name)): name for name in MEASURES}
    found: Values = {name: {} for name in MEASURES}
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    rows = ir_measures.iter_calc(
        measures, ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    for row in rows:
        found[names[str(row.measure)]][row.query_id] = row.value
    return None, found


def with_ranx(run: Path, qrels: Path) -> tuple[float | None, Values]:
    from ranx import Qrels, Run, evaluate

    truth, ranking = Qrels.from_file(str(qrels), kind="trec"), Run.from_file(str(run), kind="trec")
    evaluate(truth, ranking, [word for _, word in MEASURES.values()], make_comparable=True)
    return None, {name: dict(ranking.scores[word]) for name, (_, word) in MEASURES.items()}


def with_torchmetrics(run: Path, qrels: Path) -> tuple[float | None, Values]:
    """It reads no files: DuckDB joins them to tensors. It sees only what was retrieved, and divides
    by that.
    """
    import duckdb
    import torch
    from torchmetrics import retrieval

    def read(path: Path, columns: str) -> str:
        return (
            f"read_csv('{path}', delim=' ', header=false, auto_detect=false, columns={{{columns}}})"
        )

    listed = read(
        run,
        "'q': 'VARCHAR', 'x': 'VARCHAR', 'd': 'VARCHAR', 'r': 'INT', 's': 'FLOAT', 't': 'VARCHAR'",
    )
    judged = read(qrels, "'q': 'VARCHAR', 'x': 'VARCHAR', 'd': 'VARCHAR', 'g': 'INT'")
    coded = (
        "(SELECT q, row_number() OVER (ORDER BY q) - 1 AS n FROM (SELECT DISTINCT q FROM "
        f"{judged}))"
    )
    rows = duckdb.execute(
        f"SELECT n, s, coalesce(g, 0) AS g FROM {listed} r JOIN {coded} USING (q) LEFT JOIN "
        f"{judged} j USING (q, d)"
    ).fetchnumpy()
    names = [name for (name,) in duckdb.execute(f"SELECT q FROM {coded} ORDER BY n").fetchall()]
    columns = torch.from_numpy(rows["s"]), torch.from_numpy(rows["g"]), torch.from_numpy(rows["n"])
    present = torch.unique(columns[2]).tolist()
    found: Values = {}

    def keep(name: str) -> Callable[..., Any]:
        def mean(values: Any, **_: Any) -> Any:
            found[name] = dict(
                zip([names[place] for place in present], values.tolist(), strict=True)
            )
            return values.mean()

        return mean

    kinds = {
        "nDCG@10": (retrieval.RetrievalNormalizedDCG, {"top_k": 10}),
        "AP": (retrieval.RetrievalMAP, {}),
        "RR": (retrieval.RetrievalMRR, {}),
        "P@10": (retrieval.RetrievalPrecision, {"top_k": 10}),
        "R@100": (retrieval.RetrievalRecall, {"top_k": 100}),
        "R@1000": (retrieval.RetrievalRecall, {"top_k": 1000}),
    }
    for name, (kind, options) in kinds.items():
        target = columns[1] if name == "nDCG@10" else columns[1] > 0
        kind(**options, aggregation=keep(name))(columns[0], target, indexes=columns[2])
    return None, found


def read_rows(path: Path) -> Values:
    found: Values = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["measure"], {})[row["query"]] = float(row["value"])
    return found


def read_json(path: Path) -> Values:
    return json.loads(path.read_text().partition("\n")[2])


def take_turn(contender: Contender, run: Path, qrels: Path, output: Path) -> Turn:
    """The time of one process and the most memory it held; its output is left in a file."""
    start = time.perf_counter()
    with output.open("wb") as target:
        process = subprocess.Popen(
            contender.command(run, qrels),
            stdout=target,
            stderr=subprocess.DEVNULL,
            env=os.environ | contender.environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{contender.name} failed on {run}")
    if contender.read is read_json:
        with output.open() as file:
            inner = json.loads(file.readline())
        seconds = seconds if inner is None else inner
    return Turn(seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def difference(values: Values, wanted: Values) -> float | None:
    """The largest difference of any value; None where the queries are not the same."""
    if {name: set(each) for name, each in values.items()} != {
        name: set(each) for name, each in wanted.items()
    }:
        return None
    return max(
        abs(values[name][query] - value)
        for name, each in wanted.items()
        for query, value in each.items()
    )


def agreements(every: list[Contender], outputs: dict[str, Path]) -> dict[str, str]:
    said: dict[str, str] = {}
    reference = next(
        (each.name for each in every if each.name == "trec_eval"), "rankwell trec-eval"
    )
    wanted = read_json(outputs["pytrec_eval"]) if "pytrec_eval" in outputs else None
    for each in every:
        if each.read is None:
            same = outputs[each.name].read_bytes() == outputs[reference].read_bytes()
            said[each.name] = (
                "reference"
                if each.name == reference
                else "the same bytes"
                if same
                else "OTHER BYTES"
            )
        elif wanted is None or each.name == "pytrec_eval":
            said[each.name] = "reference"
        else:
            found = difference(each.read(outputs[each.name]), wanted)
            said[each.name] = "other queries" if found is None else f"{found:.0e}"
    return said


def race(case: str, every: list[Contender], rounds: int) -> list[dict[str, Any]]:
    """A row for every contender of a case; `times` holds how many times the time of each of ours it
    took.
    """
    run = make_cases.make(case.removesuffix("-dl"))
    qrels = make_cases.make(CASES[case])
    every = [
        each for each in every if each.name not in SLOW or case in ("numeric", "ties", "small")
    ]
    at_most = {
        each.name: 2 if each.name in SLOW else 3
        for each in every
        if not each.name.startswith("rankwell") and case != "small"
    }
    turns: dict[str, list[Turn]] = {each.name: [] for each in every}
    with tempfile.TemporaryDirectory() as folder:
        outputs = {each.name: Path(folder) / f"{place}" for place, each in enumerate(every)}
        for number in range(rounds):
            for each in every:
                if number < at_most.get(each.name, rounds):
                    turns[each.name].append(take_turn(each, run, qrels, outputs[each.name]))
        said = agreements(every, outputs)
    return [
        {
            "case": case,
            "name": name,
            "median": median(each.seconds for each in taken),
            "best": min(each.seconds for each in taken),
            "peak": max(each.peak for each in taken),
            "cpu": median(each.cpu for each in taken),
            "agree": said[name],
            "times": {
                own: median(
                    each.seconds / ours.seconds
                    for each, ours in zip(taken, turns[own], strict=False)
                )
                for own in OURS
            },
        }
        for name, taken in turns.items()
    ]


def compare_dicts(rounds: int) -> list[dict[str, Any]]:
    import pytrec_eval

    from rankwell.data.judged_rankings import JudgedRankings
    from rankwell.data.registry import parse_measure
    from rankwell.data.tables import Judgments
    from rankwell.io.mapping import find_hits

    with make_cases.make("qrels").open() as file:
        judgments = pytrec_eval.parse_qrel(file)
    with make_cases.make("numeric").open() as file:
        ranking = dict(pytrec_eval.parse_run(file))
    measures = [parse_measure(name) for name in MEASURES]
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {word for word, _ in MEASURES.values()})

    def evaluate() -> dict[str, Any]:
        truth = Judgments.from_dict(judgments)
        view = JudgedRankings.join(truth, find_hits(ranking, truth, single_precision=True))
        return {name: measure(view) for name, measure in zip(MEASURES, measures, strict=True)}

    found, wanted = evaluate(), evaluator.evaluate(ranking)
    queries = Judgments.from_dict(judgments).queries
    ours = {
        name: dict(zip(queries, values.tolist(), strict=True)) for name, values in found.items()
    }
    theirs = {
        name: {query: each[word] for query, each in wanted.items()}
        for name, (word, _) in MEASURES.items()
    }
    far = max(
        abs(ours[name][query] - value)
        for name, each in theirs.items()
        for query, value in each.items()
    )
    taken: dict[str, list[float]] = {"rankwell, dictionaries": [], "pytrec_eval, dictionaries": []}
    for _ in range(rounds):
        for name, work in zip(taken, (evaluate, lambda: evaluator.evaluate(ranking)), strict=True):
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
    own = taken["rankwell, dictionaries"]
    return [
        {
            "case": "dicts",
            "name": name,
            "median": median(each),
            "best": min(each),
            "peak": None,
            "cpu": None,
            "agree": f"{far:.0e}" if each is own else "reference",
            "times": {"rankwell evaluate": median(a / b for a, b in zip(each, own, strict=True))},
        }
        for name, each in taken.items()
    ]


def shown(rows: list[dict[str, Any]]) -> str:
    heads = f"{rows[0]['case']:<34}{'median s':>9}{'best s':>9}{'MiB':>7}{'cpu s':>8}"
    lines = [f"{heads}  x trec-eval  x evaluate  agree"]
    for row in rows:
        times = "".join(
            f"{row['times'][own]:>13.1f}" if own in row["times"] else f"{'':13}" for own in OURS
        )
        memory = f"{row['peak']:>7.0f}{row['cpu']:>8.2f}" if row["peak"] else f"{'':15}"
        lines.append(
            f"{row['name']:<34}{row['median']:>9.3f}{row['best']:>9.3f}{memory}{times}  "
            f"{row['agree']}"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "cases", nargs="*", help=f"of {', '.join(CASES)}; default: numeric and small"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--peers",
        nargs="+",
        default=["trec_eval", "pytrec_eval"],
        help="these, ir_measures, ranx and torchmetrics",
    )
    parser.add_argument(
        "--trec-eval",
        default=shutil.which("trec_eval"),
        help="its program; default: the one on the PATH",
    )
    parser.add_argument(
        "--dicts", action="store_true", help="compare evaluation of dictionaries as well"
    )
    parser.add_argument(
        "--json", action="store_true", help="print a line of JSON for each contender"
    )
    parser.add_argument("--against", metavar="REV")
    parser.add_argument(revisions.CASE, help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, run, qrels = options.child
        peers = {
            "pytrec_eval": with_pytrec_eval,
            "ir_measures": with_ir_measures,
            "ranx": with_ranx,
            "torchmetrics": with_torchmetrics,
        }
        seconds, values = peers[name](Path(run), Path(qrels))
        print(f"{json.dumps(seconds)}\n{json.dumps(values)}")
        return
    if options.case:
        command, _, case = options.case.partition(", ")
        words = revision_words(command, case)
        revisions.take_turns(lambda: revisions.quiet(words))
        return
    if options.against:
        names = options.cases or ["numeric", "small"]
        for name in names:
            revision_words(OURS[0], name)  # both contenders read the files that are made here
        cases = [f"{command}, {name}" for name in names for command in OURS]
        revisions.race(__file__, cases, options.against, options.rounds)
        return
    every = contenders(options.trec_eval, options.peers)
    races = [
        lambda case=case: race(case, every, options.rounds)
        for case in options.cases or ["numeric", "small"]
    ]
    races += [lambda: compare_dicts(options.rounds)] if options.dicts else []
    for each in races:
        rows = each()
        print("\n".join(map(json.dumps, rows)) if options.json else shown(rows), flush=True)


if __name__ == "__main__":
    main()
