"""Compares values with those of pinned libraries on drawn inputs: python
tests/peers/peers_pinned.py [--draws 40] [--only WORDS]

ranx for fusion and normalisation, cwl_eval for its users, scikit-learn for areas and mutual
information, trectools for uBpref: in an environment of their own (build/full-run), which reads
rankwell from src. The libraries of peers_apart.py have one each. One line per library and measure
says how many values were compared and how many differ; exit 1 where any does, or a library cannot
be installed. --write records the lines with the versions in tests/golden/peers.json. --only:
libraries whose name has these words.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import peers_apart

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "golden" / "peers.json"
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
PACKAGES = (
    "ranx==0.3.21",
    "cwl-eval==1.0.12",
    "scikit-learn==1.9.1",
    "trectools==0.0.50",
    "pytest",
)
TOGETHER = ("ranx", "cwl-eval", "scikit-learn", "trectools")
VERSIONS = {
    **{each.partition("==")[0]: each.partition("==")[2] for each in PACKAGES[: len(TOGETHER)]},
    **{peers_apart.library(each): each.version for each in peers_apart.PEERS},
}

Compared = tuple[str, float, float]
"""The name of a measure, rankwell's value, and the library's."""

WEIGHTS = [0.3, 0.5, 0.2]
RANKS: dict[str, tuple[str, dict[str, Any]]] = {
    "rrf(k=60)": ("rrf", {"k": 60}),
    "isr": ("isr", {}),
    "log-isr": ("log_isr", {}),
    "logn-isr(sigma=0.01)": ("logn_isr", {"sigma": 0.01}),
    "borda": ("bordafuse", {}),
    "rbc(phi=0.8)": ("rbc", {"phi": 0.8}),
}
SCORES: dict[str, tuple[str, dict[str, Any]]] = {
    "combsum": ("sum", {}),
    "combmnz": ("mnz", {}),
    "combgmnz(gamma=0.5)": ("gmnz", {"gamma": 0.5}),
    "combanz": ("anz", {}),
    "combmin": ("min", {}),
    "combmax": ("max", {}),
    "combmed": ("med", {}),
}
WEIGHTED: dict[str, str] = {"combsum": "wsum", "wmnz": "wmnz", "mixed": "mixed"}
TRAINED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "bayesfuse": ("bayesfuse", {}, {}),
    "mapfuse": ("mapfuse", {}, {}),
    "posfuse": ("posfuse", {}, {}),
    "probfuse(segments=4)": ("probfuse", {"n_segments": 4}, {}),
    "segfuse(ends=True)": ("segfuse", {}, {}),
    "slidefuse(window=2)": ("slidefuse", {}, {"w": 2}),
}
NORMS = {
    "min-max": "min-max",
    "min-max-inverted": "min-max-inverted",
    "sum": "sum",
    "max": "max",
    "z-score": "zmuv",
    "rank": "rank",
    "borda": "borda",
    "none": None,
}


def ranx(rng: Random) -> Iterator[Compared]:
    """Every fusion method, with every normalisation for those of scores, on runs without ties, of
    two items or more a query.
    """
    import rankwell

    library: Any = import_module("ranx")
    fuse: Any = rankwell.fuse
    items = [f"d{place}" for place in range(25)]
    runs = [
        {f"q{n}": _scores(rng, rng.sample(items, rng.randint(2, 20))) for n in range(3)}
        for _ in range(3)
    ]
    whole = [{f"q{n}": _scores(rng, items) for n in range(3)} for _ in range(3)]

    def _pairs(
        name: str,
        drawn: list[Any],
        norm: str | None,
        theirs: tuple[str, dict[str, Any]],
        ours: dict[str, Any],
    ) -> Iterator[Compared]:
        method, params = theirs
        their_runs = library.fuse(
            [library.Run.from_dict(run) for run in drawn], norm=norm, method=method, params=params
        )
        found = fuse(drawn, **ours)
        for query, scored in their_runs.to_dict().items():
            rows = found.rows_of(query)
            mine = dict(zip(found.items[rows], found.scores[rows].tolist(), strict=True))
            for item in sorted({*scored, *mine}):
                yield name, mine.get(item, np.nan), float(scored.get(item, np.nan))

    for ours, theirs in RANKS.items():
        yield from _pairs(ours.partition("(")[0], runs, None, theirs, {"method": ours})
    for norm, their_norm in NORMS.items():
        for ours, theirs in SCORES.items():
            if norm == "borda" and ours != "combsum":
                continue  # ranx puts the items of all runs into each, so that counts and extremes are of other lists  # noqa: E501
            given = {"method": ours, "normalization": norm}
            if ours in ("combsum", "combmnz", "combgmnz(gamma=0.5)") and norm != "borda":
                given["absent"] = "zero"
            yield from _pairs(f"{ours.partition('(')[0]} {norm}", runs, their_norm, theirs, given)
    for ours, method in WEIGHTED.items():
        yield from _pairs(
            f"{ours} weighted",
            runs,
            "min-max",
            (method, {"weights": WEIGHTS}),
            {"method": ours, "weights": WEIGHTS},
        )
    yield from _trained(rng, library, runs)
    # With items that a run lacks, ranx's order depends on memory; fused scores are ours alone, so
    # that places are compared.
    for name, method, params, ours in (
        ("condorcet", "condorcet", {}, {}),
        ("condorcet weighted", "w_condorcet", {"weights": WEIGHTS}, {"weights": WEIGHTS}),
    ):
        theirs: Any = library.fuse(
            [library.Run.from_dict(run) for run in whole], norm=None, method=method, params=params
        ).to_dict()
        mine = fuse(whole, method="condorcet", **ours)
        for query, scored in theirs.items():
            wins = _wins(whole, query, ours.get("weights", [1, 1, 1]))
            order = list(mine.items[mine.rows_of(query)])
            # Majorities may be circular; an order in which no item is beaten by the next is what
            # both promise.
            for listed, place in ((order, 0), (sorted(scored, key=lambda item: -scored[item]), 1)):
                beaten = sum(wins[one, other] < 0 for one, other in pairwise(listed))
                yield (
                    f"{name}, beaten by the next ({'rankwell' if place == 0 else 'ranx'})",
                    float(beaten),
                    0.0,
                )


def _trained(rng: Random, library: Any, runs: list[Any]) -> Iterator[Compared]:
    """Every fusion method that learns, from eight other queries whose lists are at least as long as
    those that are fused.
    """
    import rankwell

    fuse: Any = rankwell.fuse
    items = [f"d{place}" for place in range(25)]
    lists = [
        {f"t{n}": _scores(rng, rng.sample(items, rng.randint(20, 25))) for n in range(8)}
        for _ in runs
    ]
    truth = {f"t{n}": dict.fromkeys(rng.sample(items, 6), 1) for n in range(8)}
    for ours, (method, to_train, to_fuse) in TRAINED.items():
        trainer: Any = getattr(import_module("ranx.fusion"), f"{method}_train")
        learned = trainer(
            library.Qrels.from_dict(truth),
            [library.Run.from_dict(run) for run in lists],
            **to_train,
        )
        params = {
            {"bayesfuse": "log_odds", "mapfuse": "map_scores"}.get(method, "probs"): learned,
            **to_fuse,
        }
        inputs, norm = (
            [library.Run.from_dict(run) for run in runs],
            "min-max" if method == "segfuse" else None,
        )
        theirs = library.fuse(inputs, norm=norm, method=method, params=params).to_dict()
        found = fuse(runs, method=ours, train_qrels=truth, train_runs=lists)
        for query, scored in theirs.items():
            rows = found.rows_of(query)
            mine = dict(zip(found.items[rows], found.scores[rows].tolist(), strict=True))
            for item in sorted({*scored, *mine}):
                yield (
                    ours.partition("(")[0],
                    mine.get(item, np.nan),
                    float(scored.get(item, np.nan)),
                )


def _wins(runs: list[Any], query: str, weights: list[float]) -> dict[tuple[str, str], float]:
    pairs = [(one, other) for one in runs[0][query] for other in runs[0][query]]
    sign = np.sign
    return {
        (one, other): round(
            sum(
                w * sign(run[query][one] - run[query][other])
                for w, run in zip(weights, runs, strict=True)
            ),
            9,
        )
        for one, other in pairs
    }


def _scores(rng: Random, items: list[str]) -> dict[str, float]:
    """Different scores, above 0."""
    return dict(
        zip(items, (each / 8 for each in rng.sample(range(1, 1000), len(items))), strict=True)
    )


def cwl_eval(rng: Random) -> Iterator[Compared]:
    """Every user of cwl_eval that rankwell has, gains being grades over 3 and costs 1."""
    from rankwell import judged_rankings, parse_measure

    names = ("bpm", "dcg", "ift", "insq", "inst", "nerr", "precision", "rbp", "rr", "tbg")
    of: dict[str, Any] = {name: import_module(f"cwl.ruler.measures.cwl_{name}") for name in names}
    ranking: Any = import_module("cwl.ruler.ranking").Ranking

    users: dict[str, Any] = {
        "P@5": of["precision"].PrecisionCWLMetric(5),
        "RBP(p=0.7,rel=1)": of["rbp"].RBPCWLMetric(0.7),
        "RR": of["rr"].RRCWLMetric(),
        "SDCG(max_rel=3)@10": of["dcg"].NDCGCWLMetric(10),
        "INST(T=2,max_rel=3)": of["inst"].INSTCWLMetric(2.0),
        "INSQ(T=2,max_rel=3)": of["insq"].INSQCWLMetric(2.0),
        "BPM(T=1.5,max_rel=3)@10": of["bpm"].BPMCWLMetric(1.5, 10),
        "NERR8(max_rel=3)@10": of["nerr"].NERReq8CWLMetric(10),
        "NERR9(max_rel=3)@10": of["nerr"].NERReq9CWLMetric(10),
        "NERR10(p=0.8,max_rel=3)": of["nerr"].NERReq10CWLMetric(0.8),
        "NERR11(T=2,max_rel=3)": of["nerr"].NERReq11CWLMetric(2.0),
        "IFT(by='goal',T=1.5,b1=0.5,R1=2,max_rel=3)": of["ift"].IFTGoalCWLMetric(1.5, 0.5, 2),
        "IFT(by='rate',A=0.3,b2=0.6,R2=5,max_rel=3)": of["ift"].IFTRateCWLMetric(0.3, 0.6, 5),
        "IFT(max_rel=3)": of["ift"].IFTGoalRateCWLMetric(2.0, 0.9, 1.0, 0.2, 0.9, 1.0),
        "TBG(h=30,max_rel=3)": of["tbg"].TBGCWLMetric(30),
    }
    items = [f"d{place}" for place in range(40)]
    truth = {item: rng.choice((0, 0, 1, 2, 3)) for item in rng.sample(items, 15)} | {"d0": 1}
    listed = rng.sample(items, rng.randint(3, 30))
    view = judged_rankings(
        {"q": truth}, {"q": {item: -float(rank) for rank, item in enumerate(listed)}}
    )
    for name, user in users.items():
        binary = name in ("P@5", "RR") or name.startswith("RBP")
        gains = np.array(
            [float(truth.get(item, 0) > 0) if binary else truth.get(item, 0) / 3 for item in listed]
        )
        theirs = float(user.measure(ranking("q", gains, np.ones(len(gains)))))
        yield name.partition("(")[0].partition("@")[0], float(parse_measure(name)(view)[0]), theirs


def sklearn(rng: Random) -> Iterator[Compared]:
    """Areas over queries, and mutual information of two partitions."""
    from rankwell.stats.abstention import auprc, auroc
    from rankwell.stats.partitions import partition_agreement

    metrics: Any = import_module("sklearn.metrics")
    n = rng.randint(5, 60)
    answers = np.array([0.0, 1.0] + [float(rng.random() < 0.6) for _ in range(n)])
    tops = np.array([rng.randrange(30) / 8 for _ in answers])
    precision, recall, _ = metrics.precision_recall_curve(answers, tops)
    yield (
        "AUROC",
        auroc(answers, tops, resamples=0).value or 0,
        metrics.roc_auc_score(answers, tops),
    )
    yield (
        "AUPRC",
        auprc(answers, tops, resamples=0).value or 0,
        metrics.average_precision_score(answers, tops),
    )
    area = auprc(answers, tops, area="trapezoid", resamples=0)
    yield "AUPRC trapezoid", area.value or 0, metrics.auc(recall, precision)
    first, second = (
        [rng.randrange(groups) for _ in range(n)]
        for groups in (rng.randint(1, 6), rng.randint(1, n))
    )
    found = partition_agreement(first, second)
    yield "NMI", found.nmi, float(metrics.normalized_mutual_info_score(first, second))
    yield "AMI", found.ami, float(metrics.adjusted_mutual_info_score(first, second))


def trectools(rng: Random) -> Iterator[Compared]:
    """Bpref and uBpref, where every judged item has two grades and every query has items of both
    kinds.
    """
    import rankwell

    library: Any = import_module("trectools")
    frame: Any = import_module("pandas").DataFrame
    items = [f"d{place}" for place in range(40)]
    first, second, run = (
        dict[str, dict[str, int]](),
        dict[str, dict[str, int]](),
        dict[str, dict[str, float]](),
    )
    for query in ("q0", "q1", "q2"):
        judged = rng.sample(items, rng.randint(8, 20))
        first[query] = {item: rng.randrange(3) for item in judged} | {judged[0]: 1, judged[1]: 0}
        second[query] = {item: rng.randrange(4) for item in judged}
        run[query] = _scores(
            rng,
            [
                judged[0],
                *rng.sample([item for item in items if item != judged[0]], rng.randint(5, 25)),
            ],
        )

    def _qrel(graded: dict[str, dict[str, int]]) -> Any:
        rows = [
            (query, "0", item, grade)
            for query, each in graded.items()
            for item, grade in each.items()
        ]
        found = library.TrecQrel()
        found.qrels_data = frame(rows, columns=["query", "q0", "docid", "rel"])
        return found

    theirs = library.TrecRun()
    rows = [
        (query, "Q0", item, 0, score, "x")
        for query, each in run.items()
        for item, score in each.items()
    ]
    theirs.run_data = frame(rows, columns=["query", "q0", "docid", "rank", "score", "system"])
    judge = library.TrecEval(theirs, _qrel(first))
    found = {
        "uBpref": judge.get_ubpref(_qrel(second), per_query=True, normalization_factor=0.25),
        "Bpref": judge.get_bpref(per_query=True),
    }
    given: dict[str, Any] = {"other_qrels": second}
    ours = rankwell.evaluate(first, run, ["uBpref(factor=0.25)", "Bpref"], **given).to_dict()["run"]
    for name, label in (("uBpref", "uBpref(factor=0.25)"), ("Bpref", "Bpref")):
        for query, value in found[name].iloc[:, 0].items():
            yield name, ours[query][label] or 0.0, float(value)


PEERS = {"ranx": ranx, "cwl-eval": cwl_eval, "scikit-learn": sklearn, "trectools": trectools}


def compare(library: str, values: Iterable[Compared], near: float) -> list[dict[str, Any]]:
    """The counts of every measure of a library."""
    counts, different = Counter[str](), Counter[str]()
    for name, mine, theirs in values:
        counts[name] += 1
        both_undefined = math.isnan(mine) and math.isnan(theirs)
        if not both_undefined and not abs(mine - theirs) <= near * max(1.0, abs(theirs)):
            different[name] += 1
            if different[name] <= 2:
                sys.stderr.write(f"{library} {name}: {mine!r}, there {theirs!r}\n")
    return [
        {"library": library, "measure": name, "values": n, "different": different[name]}
        for name, n in counts.items()
    ]


def compare_together(draws: int, seed: int, only: str) -> list[dict[str, Any]]:
    """The rows of the libraries of this environment."""
    found: list[dict[str, Any]] = []
    for library, values in PEERS.items():
        if only in library:
            rngs = (Random(f"{seed} {library} {draw}") for draw in range(draws))
            found += compare(library, (each for rng in rngs for each in values(rng)), 1e-9)
    return found


def compare_all(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of all libraries, each in its environment. Those that cannot be installed have none,
    and are reported.
    """
    from engines.environments import environment

    found: list[dict[str, Any]] = []
    if any(given.only in library for library in TOGETHER):
        python = environment("peers", PACKAGES) / "python"
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "rows.json"
            words = [
                str(python),
                __file__,
                "--here",
                str(out),
                "--draws",
                str(given.draws),
                "--seed",
                str(given.seed),
            ]
            subprocess.run([*words, "--only", given.only], check=True)
            found += json.loads(out.read_text(encoding="utf-8"))
    for peer in peers_apart.PEERS:
        library = peers_apart.library(peer)
        if given.only in library:
            try:
                found += compare(
                    library, peers_apart.compared(peer, given.draws, given.seed), peer.near
                )
            except pytest.skip.Exception as error:
                sys.stderr.write(f"{error}\n")
    return found


def main() -> int:
    """Prints the counts, after starting itself in the environment of the libraries that share
    one.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.here:
        Path(given.here).write_text(
            json.dumps(compare_together(given.draws, given.seed, given.only)), encoding="utf-8"
        )
        return 0
    rows = compare_all(given)
    for row in rows:
        sys.stdout.write(
            f"{row['library']:20} {row['measure']:48} {row['values']:8,} values, "
            f"{row['different']} different\n"
        )
    expected = {name: each for name, each in VERSIONS.items() if given.only in name}
    missing = sorted(set(expected) - {row["library"] for row in rows})
    total, different = (sum(row[name] for row in rows) for name in ("values", "different"))
    listed = ", ".join(f"{name} {each}" for name, each in expected.items() if name not in missing)
    sys.stdout.write(f"{total:,} values compared, {different} different; {listed}\n")
    sys.stdout.write(f"not installed, so not compared: {', '.join(missing)}\n" if missing else "")
    if given.write:
        kept = [] if not given.only else json.loads(OUT.read_text(encoding="utf-8"))["rows"]
        rows = [
            row for row in kept if row["library"] not in {each["library"] for each in rows}
        ] + rows
        recorded = {"versions": VERSIONS, "seed": given.seed, "draws": given.draws, "rows": rows}
        OUT.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    return 1 if different or missing else 0


if __name__ == "__main__":
    sys.exit(main())
