"""Write the figures of RecBole and recmetrics for seeded lists to `beyond.json`.

Needs recbole 1.2.1 (of which only evaluator/metrics.py is run) and recmetrics 0.1.5. Run it from
the project root:
`python tests/golden/make_beyond.py`, in an environment with both, or in two environments, one after
the other.
"""

import json
import random
from collections import Counter
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261126
OUT = Path(__file__).parent / "beyond.json"
K = 5


def drawn(rng: random.Random) -> dict[str, Any]:
    """Lists of ten items each, the interactions of a training set, and vectors of all items."""
    items = [str(number) for number in range(30)]
    lists = {f"u{user}": rng.sample(items, 10) for user in range(rng.randint(2, 12))}
    seen = {f"s{user}": rng.sample(items, rng.randint(3, 20)) for user in range(15)}
    seen["all"] = items
    vectors = {item: [rng.randint(-4, 4) + 0.5 for _ in range(3)] for item in items}
    return {"items": items, "lists": lists, "interactions": seen, "vectors": vectors}


def recbole(case: dict[str, Any]) -> dict[str, float]:
    """RecBole's figures of the first items."""
    from recbole.evaluator.metrics import AveragePopularity, GiniIndex, ItemCoverage, ShannonEntropy

    class Data(dict[str, Any]):
        """What its evaluator gives to a measure."""

    import torch

    matrix = torch.tensor([[int(item) for item in listed] for listed in case["lists"].values()])
    counts = Counter(int(item) for seen in case["interactions"].values() for item in seen)
    data = Data(
        {"rec.items": matrix, "data.num_items": len(case["items"]), "data.count_items": counts}
    )
    config: Any = {"topk": [K], "metric_decimal_place": 12}
    found: dict[str, float] = {}
    for kind in (AveragePopularity, GiniIndex, ItemCoverage, ShannonEntropy):
        found |= {name: float(value) for name, value in kind(config).calculate_metric(data).items()}
    return found


def recmetrics(case: dict[str, Any]) -> dict[str, float]:
    """The figures of recmetrics for the first items."""
    import pandas as pd
    from recmetrics import intra_list_similarity, novelty

    lists = [listed[:K] for listed in case["lists"].values()]
    counts = Counter(item for seen in case["interactions"].values() for item in seen)
    frame = pd.DataFrame.from_dict(case["vectors"], orient="index")
    return {
        "novelty": float(novelty(lists, counts, len(case["interactions"]), K)[0]),
        "intra_list_similarity": float(intra_list_similarity(lists, frame)),
    }


def recommenders(case: dict[str, Any]) -> dict[str, float]:
    """The figures of recommenders for the first items, by the names of rankwell's measures."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation as peer

    def frame(lists: dict[str, list[str]], k: int | None) -> pd.DataFrame:
        return pd.DataFrame(
            [(user, item) for user, items in lists.items() for item in items[:k]],
            columns=["userID", "itemID"],
        )

    seen, shown = frame(case["interactions"], None), frame(case["lists"], K)
    vectors = pd.DataFrame(
        {
            "itemID": list(case["vectors"]),
            "features": [np.array(each) for each in case["vectors"].values()],
        }
    )
    given: dict[str, Any] = {"item_feature_df": vectors, "item_sim_measure": "item_feature_vector"}
    return {
        "ItemCoverage@5": float(peer.catalog_coverage(seen, shown)),
        "Entropy@5": float(peer.distributional_coverage(seen, shown)),
        "Novelty(of='interactions')@5": float(peer.novelty(seen, shown)),
        "ILD(by='embeddings')@5": float(peer.diversity(seen, shown, **given)),
    }


def main() -> None:
    """Writes the file, or adds the figures of the tool that this environment has."""
    rng = random.Random(SEED)
    known: dict[str, Any] = (
        json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {"about": {}, "cases": []}
    )
    cases = known["cases"] or [drawn(rng) | {"figures": {}} for _ in range(6)]
    tools = known["about"].get("tools", {})
    for name, figures in (("recbole", recbole), ("recmetrics", recmetrics)):
        with suppress(ImportError):
            for case in cases:
                case["figures"][name] = figures(case)
            tools[name] = version(name)
    about = {
        "tools": tools,
        "command": "python tests/golden/make_beyond.py",
        "date": "2026-11-26",
        "seed": SEED,
        "numpy": np.__version__,
    }
    OUT.write_text(
        json.dumps({"about": about, "cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
