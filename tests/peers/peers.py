"""Compares values with those of other packages on fresh draws: python tests/peers/peers.py
[--minutes 1] [--seed N] [--only WORDS]

pytrec_eval for measures, SciPy for correlations and paired tests, the answer scripts as in
tests/oracles/answers.py, and plain loops for nearest neighbours. The Open Bandit Pipeline runs in a
pinned environment, which the first run installs.
Without --seed the time chooses one, which is printed. Exit 1 where a value differs.
"""

import argparse
import json
import math
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

Difference = str
NOT_NUMBERS = {"runid", "relstring"}
LETTERS = (
    "abcÄé "
    "’'`´‘-–_.,;:!?()[]{}$%&<>=+*/\\|@#^~\"«»\t\n\u00a0\u2028\u0085ßİﬁ文かกṩ½²Ⅷ\u0301\u200b\ufeff0123٣"
)
WORDS = (
    "a",
    "an",
    "the",
    "The",
    "un",
    "une",
    "des",
    "le",
    "la",
    "les",
    "l'",
    "d'",
    "Paris",
    "New York",
    "1990",
    "der",
    "el",
    "का",
    "的",
)


def measures(rng: Random) -> Iterator[Difference | None]:
    """Every measure of pytrec_eval for every query of a drawn run."""
    import pytrec_eval

    from rankwell.compat.pytrec_eval import RelevanceEvaluator

    items = [f"d{place}" for place in range(60)]
    truth = {
        f"q{n}": {
            item: rng.choice((0, 0, 1, 1, 2, 3)) for item in rng.sample(items, rng.randint(2, 30))
        }
        for n in range(8)
    }
    levels = rng.choice((2, 5, 1000, 10**7))
    run = {
        query: {item: rng.randrange(levels) / 8 for item in rng.sample(items, rng.randint(1, 60))}
        for query in truth
    }
    # Values that pytrec_eval gives for queries without anything relevant differ by measure and are
    # the drop-in's own test.
    truth = {query: graded for query, graded in truth.items() if any(graded.values())}
    if not truth:
        return
    theirs = pytrec_eval.RelevanceEvaluator(truth, pytrec_eval.supported_measures).evaluate(run)
    ours = RelevanceEvaluator(truth, pytrec_eval.supported_measures).evaluate(run)
    for query, found in theirs.items():
        for name, value in found.items():
            if name not in NOT_NUMBERS:
                mine = ours[query].get(name, math.nan)
                wrong = not (abs(mine - value) <= 1e-9 * max(1.0, abs(value)))
                yield f"{name} of {query}: {mine!r}, pytrec_eval {value!r}" if wrong else None


def statistics(rng: Random) -> Iterator[Difference | None]:
    """Correlations and paired tests of two drawn columns."""
    from scipy import stats as scipy_stats

    from rankwell.stats.correlation import kendall, pearson, spearman
    from rankwell.stats.paired_tests import paired_t, sign_test, wilcoxon

    stats: Any = scipy_stats  # whose types do not name what its functions return
    n, draw = rng.randint(4, 60), np.random.default_rng(rng.getrandbits(60))
    levels = rng.choice((3, 10, 10**6))
    first, second = draw.integers(0, levels, n) / 8, draw.integers(0, levels, n) / 8
    if len(set(first)) < 2 or len(set(second)) < 2:
        return
    off = first - second
    for name, ours, theirs in (
        ("pearson", pearson(first, second), stats.pearsonr(first, second)),
        ("spearman", spearman(first, second), stats.spearmanr(first, second)),
        ("kendall", kendall(first, second), stats.kendalltau(first, second)),
    ):
        wrong = (
            ours is None
            or abs(ours.value - theirs.statistic) > 1e-9
            or (name != "kendall" and abs(ours.p - theirs.pvalue) > 1e-7)
        )
        yield f"{name}: {ours}, SciPy {theirs}" if wrong else None
    t, wins = paired_t(off), sign_test(off)
    if t is not None and off.any() and np.ptp(off) > 0:
        theirs = stats.ttest_rel(first, second)
        wrong = (
            abs(t.t - theirs.statistic) > 1e-7 * max(1, abs(t.t)) or abs(t.p - theirs.pvalue) > 1e-9
        )
        yield f"t: {t}, SciPy {theirs}" if wrong else None
    if wins.wins + wins.losses:
        p = stats.binomtest(wins.wins, wins.wins + wins.losses).pvalue
        yield f"sign: {wins}, SciPy {p}" if abs(wins.p - p) > 1e-9 else None
        theirs = stats.wilcoxon(
            first, second, zero_method="wilcox", correction=False, method="asymptotic"
        )
        found = wilcoxon(off)
        wrong = wins.wins + wins.losses > 50 and abs(found - theirs.pvalue) > 1e-9
        yield f"wilcoxon: {found}, SciPy {theirs}" if wrong else None


def answers(rng: Random) -> Iterator[Difference | None]:
    """Drawn texts through every normaliser that has a script."""
    from oracles import answers as scripts
    from rankwell.vectors.media.texts import NORMALIZERS

    parts = [
        rng.choice(WORDS) if rng.random() < 0.3 else rng.choice(LETTERS)
        for _ in range(rng.randint(0, 14))
    ]
    text = rng.choice(("", " ")).join(parts)
    for name, how in NORMALIZERS.items():
        ours, theirs = how(text), scripts.NORMALISERS[name](text)
        yield f"{name} of {text!r}: {ours!r}, the script {theirs!r}" if ours != theirs else None


def neighbours(rng: Random) -> Iterator[Difference | None]:
    """The nearest neighbours of drawn integer vectors by every exact metric."""
    from oracles.neighbours import neighbours as plain
    from rankwell.vectors.neighbours import search

    draw = np.random.default_rng(rng.getrandbits(60))
    base = draw.integers(-2, 3, (rng.randint(2, 40), rng.randint(1, 6))).astype(np.float32)
    queries = draw.integers(-2, 3, (rng.randint(1, 8), base.shape[1])).astype(np.float32)
    k, metric = rng.randint(1, len(base)), rng.choice(("dot", "l2"))
    found = search(queries, base, k=k, metric=metric)
    theirs = plain(queries.astype(int).tolist(), base.astype(int).tolist(), k, metric)
    ours = [list(row) for row in found.positions.tolist()]
    expected = [[place for place, _ in row] for row in theirs]
    yield f"{metric}, k={k}: {ours}, by hand {expected}" if ours != expected else None


_RUN = """
import json, sys
sys.path.insert(0, "tests/golden")
import {module}
print(json.dumps({module}.{call}(json.load(sys.stdin))))
"""


def _theirs(
    name: str,
    packages: tuple[str, ...],
    module: str,
    call: str,
    cases: Any,
    *,
    alone: tuple[str, ...] = (),
) -> Any:
    """The result of a function of a script of tests/golden for cases, in a pinned environment of
    its own in build/full-run.
    """
    from engines.environments import environment

    python = environment(name, packages, with_rankwell=False, alone=alone) / "python"
    words = [str(python), "-c", _RUN.format(module=module, call=call)]
    given = json.dumps(cases)
    done = subprocess.run(
        words, cwd=ROOT, input=given, capture_output=True, encoding="utf-8", check=True
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def open_bandit(rng: Random) -> Iterator[Difference | None]:
    """The estimates of the Open Bandit Pipeline from drawn logs of rounds and of slates."""
    import rankwell as rw
    from golden import make_logs

    packages, alone = ("scikit-learn==1.9.1", "pandas>=2"), ("obp==0.5.7",)
    case, slates = make_logs.drawn_bandit(rng), make_logs.drawn_slates(rng)
    names = make_logs.ESTIMATES
    theirs = _theirs("peer-obp", packages, "make_logs", "bandit", case, alone=alone)
    found = rw.evaluate_clicks(
        case["log"],
        {"mine": case["policy"]},
        [*names.values()],
        reward_model=case["model"],
        intervals="none",
    )
    for name, value in theirs.items():
        ours = found[names[name]]["mine"]
        yield (
            f"{names[name]}: {ours!r}, obp's {name} {value!r}" if abs(ours - value) > 1e-9 else None
        )
    for name, value in _theirs(
        "peer-obp", packages, "make_logs", "slates", slates, alone=alone
    ).items():
        column, measure = (
            make_logs.PROPENSITIES[name.removeprefix("sn")],
            "SNIPS" if name.startswith("sn") else "IPS",
        )
        given: dict[str, Any] = {
            "columns": {"propensity": column},
            "value_of": "query",
            "intervals": "none",
        }
        ours = rw.evaluate_clicks(slates["log"], {"mine": f"mine_{column}"}, measure, **given)[
            measure
        ]["mine"]
        yield (
            f"{measure} of slates: {ours!r}, obp's {name} {value!r}"
            if abs(ours - value) > 1e-9
            else None
        )


PEERS = {
    "pytrec_eval": measures,
    "SciPy": statistics,
    "answer scripts": answers,
    "neighbours": neighbours,
    "Open Bandit Pipeline": open_bandit,
}


def main() -> int:
    """Compares until the time is up and prints how many values were compared."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tried, different = Counter[str](), Counter[str]()
    peers = {name: each for name, each in PEERS.items() if given.only in name}
    stop, number = time.monotonic() + 60 * given.minutes, 0
    while time.monotonic() < stop:
        for name, compare in peers.items():
            for difference in compare(Random(f"{given.seed} {name} {number}")):
                tried[name] += 1
                if difference is not None:
                    different[name] += 1
                    if different[name] <= 5:
                        sys.stdout.write(
                            f"--- {name}, seed {given.seed}, draw {number}: {difference[:600]}\n"
                        )
        number += 1
    listed = ", ".join(
        f"{tried[name]:,} against {name} ({different[name]} different)" for name in peers
    )
    sys.stdout.write(f"seed {given.seed}, {given.minutes:g} minutes, {number} draws: {listed}\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
