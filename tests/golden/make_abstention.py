"""Write MTEB's nAUC of seeded runs to `abstention.json`.

Needs mteb 2.26.24. Run it from the project root: `python tests/golden/make_abstention.py`.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

SEED = 20261125
FAMILIES, KINDS = ("NDCG", "MAP", "Recall", "P", "MRR"), ("max", "std", "diff1")
OUT = Path(__file__).parent / "abstention.json"
ABOUT = {"command": "python tests/golden/make_abstention.py", "date": "2026-11-25", "seed": SEED}


def drawn(
    rng: random.Random, n: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run of n queries, in which scores are multiples of 1/64, so that confidences
    tie as well.
    """
    items = [f"d{place}" for place in range(12)]
    judgments, run = {}, {}
    for place in range(n):
        relevant = rng.sample(items, rng.randint(1, 4))
        judgments[f"q{place:02}"] = {item: rng.randint(1, 2) for item in relevant}
        listed = rng.sample(items, rng.randint(1, 10))
        run[f"q{place:02}"] = {
            item: (rng.randrange(64) + 16 * (item in relevant)) / 64 for item in listed
        }
    return judgments, run


def drawn_case(rng: random.Random) -> dict[str, Any]:
    """A case of some queries, by name."""
    judgments, run = drawn(rng, rng.randint(5, 40))
    return {"judgments": judgments, "run": run}


def mteb(case: dict[str, Any]) -> dict[str, float]:
    """MTEB's nAUC of a case, without those that it leaves undefined."""
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    found = calculate_retrieval_scores(case["run"], case["judgments"], [1, 5])
    return {
        name: float(value)
        for name, value in {**found.naucs, **found.naucs_mrr}.items()
        if value == value
    }


def main() -> None:
    """Writes the file."""
    rng, cases = random.Random(SEED), []
    for n in (2, 3, 5, 11, 25, 40):
        judgments, run = drawn(rng, n)
        case = {"judgments": judgments, "run": run}
        defined = mteb(case)
        kinds = [f"nAUC_{name}@{k}_{kind}" for name in FAMILIES for k in (1, 5) for kind in KINDS]
        cases.append({**case, "nauc": {name: defined.get(name) for name in kinds}})
    about = {"tools": {"mteb": version("mteb")}, **ABOUT}
    OUT.write_text(
        json.dumps({"about": about, "cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
