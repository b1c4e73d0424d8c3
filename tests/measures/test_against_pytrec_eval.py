"""Every measure that pytrec_eval-terrier has, against it, query by query, on runs of TREC's Robust
track 2003.

pytrec_eval wraps trec_eval 9.0.8: scores in single precision, ties by descending id, queries that
are in both files.
"""

import gzip
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments
from rankwell.io.mapping import find_hits

pytrec_eval = pytest.importorskip("pytrec_eval")

RUNS = ("NLPR03vb10", "Sel50", "pircRBa1", "uic0301")
NOT_NUMBERS = {"runid", "relstring"}


@cache
def qrels(folder: Path) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        for query, _, item, grade in map(str.split, lines):
            table.setdefault(query, {})[item] = int(grade)
    return table


def run(folder: Path, name: str) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    with gzip.open(folder / f"{name}.run.gz", "rt") as lines:
        for query, _, item, _, score, _ in map(str.split, lines):
            table.setdefault(query, {})[item] = float(score)
    return table


def values(
    judgments: dict[str, dict[str, int]],
    scored: dict[str, dict[str, float]],
    names: list[str],
    level: int,
):
    """name -> query -> value, by version 9's rules."""
    truth = Judgments.from_dict(judgments)
    view = JudgedRankings.join(truth, find_hits(scored, truth, single_precision=True))
    for name in names:
        measure = parse_measure(name)
        if measure.accepts("rounding"):
            measure = measure.with_parameters(rounding="floor")
        # trec_eval's -l decides what is relevant, not what gain a grade has.
        if measure.parameters.get("rel") == 1:
            measure = measure.with_parameters(rel=level)
        found = measure(view)
        if name == "Rndcg":
            # Its gains know no -l, but it gives 0 where no grade reaches it (m_Rndcg.c).
            found = np.where(view.n_relevant(level) > 0, found, 0.0)
        if measure.entry.summary == "geometric":
            # trec_eval hands out the logarithm and takes the exponential of the mean.
            found = np.log(np.maximum(found, 0.00001))
        yield name, dict(zip(view.queries, found.tolist(), strict=True))


@pytest.mark.parametrize(("name", "level"), [*((name, 1) for name in RUNS), ("Sel50", 2)])
def test_every_measure_of_pytrec_eval_has_its_value_for_every_query(
    shared: Path, name: str, level: int
) -> None:
    folder = shared / "trec" / "robust03"
    scored = run(folder, name)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels(folder), pytrec_eval.supported_measures, relevance_level=level
    )

    peer = evaluator.evaluate(scored)

    names = sorted(set(next(iter(peer.values()))) - NOT_NUMBERS)
    wrong = []
    for measure, found in values(qrels(folder), scored, names, level):
        for query, theirs in peer.items():
            if abs(found[query] - theirs[measure]) > 1e-9:
                wrong.append((measure, query, found[query], theirs[measure]))
    assert wrong == []
    assert len(names) >= 80
    assert len(peer) >= 50
