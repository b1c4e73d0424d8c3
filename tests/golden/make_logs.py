"""Write the figures of the Open Bandit Pipeline and of mpkato's interleaving for seeded inputs to
`logs.json`.

Needs obp 0.5.7 (`pip install --no-deps`), of which only ope/estimators.py and
ope/estimators_slate.py are run; scikit-learn, pandas and pulp; and `interleaving` at 7907f7d of
mpkato/interleaving on the path. Run it from the project root:
`python tests/golden/make_logs.py`.
"""

import json
import random
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SEED = 20261126
OUT = Path(__file__).parent / "logs.json"
ITEMS = "abcde"
LENGTH = 3
"""Items of a slate."""
ESTIMATES = {
    "ipw": "ipw",
    "ipw 3": "IPS(clip=3)",
    "snipw": "snipw",
    "dm": "dm",
    "dr": "dr",
    "dr 3": "DR(clip=3)",
    "sndr": "sndr",
}
"""The name of each figure of a log of rounds -> rankwell's measure."""
PROPENSITIES = {"sips": "joint", "iips": "marginal", "rips": "cascade"}
"""Each slate estimator -> the probabilities that it reads; with `sn` before its name it is
self-normalised.
"""


@cache
def estimators() -> tuple[Any, Any]:
    """The modules of obp with its estimators; the package around them imports what these do not
    need.
    """
    place = Path(str(distribution("obp").locate_file("obp")))
    for name, path in (("obp", place), ("obp.ope", place / "ope")):
        module: Any = ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module
    torch: Any = ModuleType("torch")  # named in annotations only
    torch.Tensor = torch.tensor = object
    sys.modules["torch"] = torch
    return import_module("obp.ope.estimators"), import_module("obp.ope.estimators_slate")


def distribution_of(rng: random.Random) -> list[float]:
    """Probabilities of the items, multiples of 1/64, each above 0."""
    cuts = sorted(rng.sample(range(1, 64), len(ITEMS) - 1))
    return [(stop - start) / 64 for start, stop in zip([0, *cuts], [*cuts, 64], strict=True)]


def drawn_bandit(rng: random.Random) -> dict[str, Any]:
    """A log of rounds with one item each; policy and model depend on the query."""
    queries = [f"q{number}" for number in range(8)]
    logging, policy = ({query: distribution_of(rng) for query in queries} for _ in range(2))
    contexts = [rng.choice(queries) for _ in range(rng.randint(15, 60))]
    shown = [rng.choices(ITEMS, logging[query])[0] for query in contexts]
    table = {
        "query": [query for query in queries for _ in ITEMS],
        "item": [item for _ in queries for item in ITEMS],
    }
    return {
        "log": {
            "query": contexts,
            "item": shown,
            "reward": [rng.choice((0.0, 1.0, 1.0, -0.5, 2.25)) for _ in contexts],
            "propensity": [
                logging[query][ITEMS.index(item)]
                for query, item in zip(contexts, shown, strict=True)
            ],
        },
        "policy": table | {"probability": [each for query in queries for each in policy[query]]},
        "model": table | {"estimate": [rng.randrange(33) / 32 for _ in table["item"]]},
    }


def bandit(case: dict[str, Any]) -> dict[str, float]:
    """The estimates of obp for a log of rounds."""
    obp, log = estimators()[0], case["log"]

    def _tensor(table: dict[str, Any], column: str) -> Any:
        known = dict(
            zip(zip(table["query"], table["item"], strict=True), table[column], strict=True)
        )
        return np.array([[known[query, item] for item in ITEMS] for query in log["query"]])[
            :, :, None
        ]

    both = {
        "action_dist": _tensor(case["policy"], "probability"),
        "estimated_rewards_by_reg_model": _tensor(case["model"], "estimate"),
    }
    actions = np.array([ITEMS.index(item) for item in log["item"]])
    given = {
        "reward": np.array(log["reward"]),
        "action": actions,
        "pscore": np.array(log["propensity"]),
        **both,
    }
    kinds = {
        "ipw": obp.InverseProbabilityWeighting(),
        "ipw 3": obp.InverseProbabilityWeighting(lambda_=3.0),
        "snipw": obp.SelfNormalizedInverseProbabilityWeighting(),
        "dr": obp.DoublyRobust(),
        "dr 3": obp.DoublyRobust(lambda_=3.0),
        "sndr": obp.SelfNormalizedDoublyRobust(),
    }
    figures = {name: float(kind.estimate_policy_value(**given)) for name, kind in kinds.items()}
    return figures | {"dm": float(obp.DirectMethod().estimate_policy_value(**both))}


def drawn_slates(rng: random.Random) -> dict[str, Any]:
    """A log of slates of three items, with the probabilities of each item, of the items so far and
    of the whole slate.
    """
    names = [f"{who}{kind}" for who in ("", "mine_") for kind in ("joint", "marginal", "cascade")]
    columns: dict[str, list[Any]] = {name: [] for name in ("query", "position", "reward", *names)}
    for number in range(rng.randint(12, 30)):
        columns["query"] += [number] * LENGTH
        columns["position"] += range(LENGTH)
        columns["reward"] += [
            float(rng.random() < 0.4) * rng.choice((1, 2.5)) for _ in range(LENGTH)
        ]
        for who in ("", "mine_"):
            steps = [rng.randint(1, 31) / 32 for _ in range(LENGTH)]
            columns[f"{who}marginal"] += steps
            columns[f"{who}cascade"] += [
                float(np.prod(steps[: place + 1])) for place in range(LENGTH)
            ]
            columns[f"{who}joint"] += [float(np.prod(steps))] * LENGTH
    return {"log": columns}


def slates(case: dict[str, Any]) -> dict[str, float]:
    """The slate estimates of obp."""
    obp, arrays = estimators()[1], {name: np.array(values) for name, values in case["log"].items()}
    base = {"slate_id": arrays["query"], "reward": arrays["reward"], "position": arrays["position"]}
    words = {
        "sips": ("SlateStandardIPS", "joint", "pscore", "evaluation_policy_pscore"),
        "iips": (
            "SlateIndependentIPS",
            "marginal",
            "pscore_item_position",
            "evaluation_policy_pscore_item_position",
        ),
        "rips": (
            "SlateRewardInteractionIPS",
            "cascade",
            "pscore_cascade",
            "evaluation_policy_pscore_cascade",
        ),
    }
    figures: dict[str, float] = {}
    for name, (kind, column, behaviour, evaluation) in words.items():
        given = base | {behaviour: arrays[column], evaluation: arrays[f"mine_{column}"]}
        for prefix, title in (("", ""), ("sn", "SelfNormalized")):
            figures[prefix + name] = float(
                getattr(obp, title + kind)(len_list=LENGTH).estimate_policy_value(**given)
            )
    return figures


def interleaved(rng: random.Random) -> dict[str, Any]:
    """Lists that the package drew, and its scores of clicks on them."""
    package: Any = import_module("interleaving")
    np.random.seed(rng.randrange(1 << 30))
    items = [f"d{place}" for place in range(8)]
    a, b = rng.sample(items, 6), rng.sample(items, 6)
    cases = []
    for method in ("Balanced", "TeamDraft", "Probabilistic", "Optimized"):
        more = {"sample_num": 30, "secure_sampling": True} if method == "Optimized" else {}
        length = 3 if method == "Optimized" else 5
        lists = (a[:length], b[:length]) if method == "Optimized" else (a, b)
        kind = getattr(package, method)
        ranking = kind(lists, max_length=length, **more).interleave()
        clicks = sorted(rng.sample(range(length), rng.randint(0, length)))
        scores = kind.compute_scores(ranking, clicks)
        found: dict[str, Any] = {
            "method": method,
            "a": list(lists[0]),
            "b": list(lists[1]),
            "items": list(ranking),
            "clicks": clicks,
        }
        teams = {item: team for team, own in getattr(ranking, "teams", {}).items() for item in own}
        found["teams"] = [int(teams[item]) for item in ranking] if teams else None
        found["scores"] = [float(scores[0]), float(scores[1])]
        if method == "Probabilistic":
            found["total"] = float(sum(chance for _, chance in scores.allocations.values()))
        cases.append(found)
    return {"cases": cases}


def main() -> None:
    """Writes the file."""
    rng = random.Random(SEED)
    rounds, lists = [drawn_bandit(rng) for _ in range(5)], [drawn_slates(rng) for _ in range(3)]
    cases = {
        "bandit": [case | {"figures": bandit(case)} for case in rounds],
        "slates": [case | {"figures": slates(case)} for case in lists],
        "interleaved": [case for _ in range(12) for case in interleaved(rng)["cases"]],
    }
    about = {
        "tools": {
            "obp": version("obp"),
            "interleaving": "7907f7dd61bfcad57ad602b5c93e601677025da7",
            "numpy": np.__version__,
        },
        "command": "python tests/golden/make_logs.py",
        "date": "2026-11-26",
        "seed": SEED,
    }
    OUT.write_text(
        json.dumps({"about": about, "cases": cases}, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
