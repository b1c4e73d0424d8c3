"""Write MTEB's nAUC of seeded runs to `abstention.json`.

Needs mteb 2.26.24. Run it from the project root: `python tests/golden/make_abstention.py`.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

SEED = 20261125
OUT = Path(__file__).parent / "abstention.json"
ABOUT = {
    "tools": {"mteb": version("mteb")},
    "command": "python tests/golden/make_abstention.py",
    "date": "2026-11-25",
    "seed": SEED,
}


def drawn(rng: random.Random, n: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run of n queries, in which scores are multiples of 1/64, so that confidences tie as well."""
    items = [f"d{place}" for place in range(12)]
    judgments, run = {}, {}
    for place in range(n):
        relevant = rng.sample(items, rng.randint(1, 4))
        judgments[f"q{place:02}"] = {item: rng.randint(1, 2) for item in relevant}
        listed = rng.sample(items, rng.randint(1, 10))
        run[f"q{place:02}"] = {item: (rng.randrange(64) + 16 * (item in relevant)) / 64 for item in listed}
    return judgments, run


def main() -> None:
    """Writes the file."""
    rng, cases = random.Random(SEED), []
    for n in (2, 3, 5, 11, 25, 40):
        judgments, run = drawn(rng, n)
        found = calculate_retrieval_scores(run, judgments, [1, 5])
        naucs = {name: None if value != value else float(value) for name, value in {**found.naucs, **found.naucs_mrr}.items()}
        cases.append({"judgments": judgments, "run": run, "nauc": naucs})
    OUT.write_text(json.dumps({"about": ABOUT, "cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
