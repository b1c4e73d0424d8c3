"""Write the figures of cwl_eval's foraging and time-biased users, and of recommenders' R-precision,
to `users.json`.

Needs, in an environment of their own: cwl-eval 1.0.12 and recommenders 1.2.1 (of which only
evaluation/python_evaluation.py is run). Run it from the project root: `python
tests/golden/make_users.py`.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261126
OUT = Path(__file__).parent / "users.json"
KS = (1, 3, 10)


def drawn(rng: random.Random) -> dict[str, Any]:
    """Judgments from 0 to 3 and a run; every query has something relevant, and no two scores are
    equal.
    """
    items = [f"d{place}" for place in range(30)]
    judgments, run = {}, {}
    for place in range(12):
        judged = rng.sample(items, 12)
        judgments[f"q{place}"] = {item: rng.choice((0, 0, 1, 2, 3)) for item in judged} | {
            judged[0]: 1
        }
        listed = rng.sample(items, rng.randint(5, 25))
        run[f"q{place}"] = {item: float(len(listed) - rank) for rank, item in enumerate(listed)}
    return {"judgments": judgments, "run": run}


def cwl(case: dict[str, Any]) -> dict[str, list[float]]:
    """The expected utility of each query, gains being grades over 3 and costs 1."""
    from cwl.ruler.measures.cwl_ift import IFTGoalCWLMetric, IFTGoalRateCWLMetric, IFTRateCWLMetric
    from cwl.ruler.measures.cwl_tbg import TBGCWLMetric
    from cwl.ruler.ranking import Ranking

    users = {
        "IFT(by='goal',T=1.5,b1=0.5,R1=2,max_rel=3)": IFTGoalCWLMetric(1.5, 0.5, 2),
        "IFT(by='rate',A=0.3,b2=0.6,R2=5,max_rel=3)": IFTRateCWLMetric(0.3, 0.6, 5),
        "IFT(max_rel=3)": IFTGoalRateCWLMetric(2.0, 0.9, 1.0, 0.2, 0.9, 1.0),
        "TBG(h=30,max_rel=3)": TBGCWLMetric(30),
        "TBG(max_rel=3)": TBGCWLMetric(),
    }
    found: dict[str, list[float]] = {}
    for name, user in users.items():
        found[name] = []
        for query, truth in case["judgments"].items():
            gains = np.array([truth.get(item, 0) / 3 for item in case["run"][query]])
            found[name].append(float(user.measure(Ranking(query, gains, np.ones(len(gains))))))
    return found


def recommenders(case: dict[str, Any]) -> dict[str, float]:
    """The measures of accuracy at some cut-offs."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as peer

    rows = [
        (query, item, 1.0)
        for query, truth in case["judgments"].items()
        for item, grade in truth.items()
        if grade > 0
    ]
    true = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
    listed = [
        (query, item, score)
        for query, scored in case["run"].items()
        for item, score in scored.items()
    ]
    predicted = pd.DataFrame(listed, columns=["userID", "itemID", "prediction"])
    names = ("precision_at_k", "recall_at_k", "ndcg_at_k", "map", "map_at_k", "r_precision_at_k")
    return {
        f"{name}@{k}": float(getattr(peer, name)(true, predicted, k=k))
        for name in names
        for k in KS
    }


def main() -> None:
    """Writes the file."""
    rng, cases = random.Random(SEED), []
    for _ in range(3):
        case = drawn(rng)
        r_precision = {
            name: value for name, value in recommenders(case).items() if name.startswith("r_")
        }
        cases.append(case | {"cwl": cwl(case), "recommenders": r_precision})
    about = {
        "tools": {name: version(name) for name in ("cwl-eval", "recommenders", "pandas", "numpy")},
        "command": "python tests/golden/make_users.py",
        "date": "2026-11-26",
        "seed": SEED,
    }
    OUT.write_text(
        json.dumps({"about": about, "cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
