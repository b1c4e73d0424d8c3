"""Write ir_measures' values for one awkward, seeded case to `ir_measures-0.4.3/`.

Needs perl and, in an environment of its own: ir-measures 0.4.3, pytrec-eval-terrier 0.5.11,
cwl-eval 1.0.12,
pyndeval 0.0.8. Run it from the project root: `python tests/golden/make_ir_measures.py`.
"""

import contextlib
import io
import json
import logging
import math
import random
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import ir_measures
from ir_measures import providers

SEED = 20261120
OUT = Path(__file__).parent / "ir_measures-0.4.3"
ABOUT = {
    "tool": "ir_measures",
    "version": version("ir-measures"),
    "providers": {name: version(name) for name in ("pytrec-eval-terrier", "cwl-eval", "pyndeval")}
    | {"gdeval.pl": "1.2a, five decimals"},
    "command": "python tests/golden/make_ir_measures.py",
    "date": "2026-11-20",
    "seed": SEED,
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Spec = tuple[str, str, dict[str, Any]]


def scored(items: list[str], rng: random.Random) -> dict[str, float]:
    """The items with falling scores, no two equal even as float32, in shuffled key order."""
    score = 50.0
    scores = {}
    for item in items:
        score -= rng.choice((0.125, 0.25, 0.5))
        scores[item] = score
    keys = list(scores)
    rng.shuffle(keys)
    return {item: scores[item] for item in keys}


def make_case() -> tuple[Qrels, Run, dict[str, str]]:
    """Thirteen queries, each with something awkward, and what that is."""
    rng = random.Random(SEED)
    qrels: Qrels = {}
    run: Run = {}
    why: dict[str, str] = {}

    def add(
        reason: str, grades: list[int], n_ranked: int, *, unjudged: int = 0, first: int = 0
    ) -> None:
        """A query with one item per grade; n_ranked of them and some unjudged ones are ranked, in
        random order.
        """
        query = str(len(qrels) + 1)
        items = [f"d{number:03d}" for number in rng.sample(range(1000), len(grades) + unjudged)]
        judged, strangers = items[: len(grades)], items[len(grades) :]
        qrels[query] = dict(zip(judged, grades, strict=True))
        why[query] = reason
        ranked = [*rng.sample(judged, n_ranked), *strangers]
        rng.shuffle(ranked)
        if first:
            ranked = [
                *strangers[:first],
                *[item for item in ranked if item not in strangers[:first]],
            ]
        if ranked:
            run[query] = scored(ranked, rng)

    def some(grades: tuple[int, ...], n: int) -> list[int]:
        return [rng.choice(grades) for _ in range(n)]

    add("ordinary, graded, 30 deep", some((0, 0, 0, 1, 2, 3, 4), 40), 22, unjudged=8)
    add("nothing relevant", [0] * 9, 7, unjudged=4)
    add("no ranking", some((0, 1, 2), 8), 0)
    add("list shorter than every k", some((0, 1, 2, 3), 20), 2, unjudged=1)
    add("negative grades", some((-2, -1, -1, 0, 0, 1, 2), 40), 24, unjudged=5)
    add("only relevant items retrieved", [*([2, 1, 3, 1]), *([0] * 5), *([1] * 3)], 0)
    run["6"] = scored([item for item, grade in qrels["6"].items() if grade > 0][:6], rng)
    add("nothing retrieved is judged", some((0, 1, 2), 9), 0, unjudged=12)
    add("first relevant below rank 20", [0] * 12 + [1, 1, 2], 15, unjudged=24, first=22)
    add("more relevant than retrieved", [*([1] * 20), *([2] * 12), *([4] * 3)], 9, unjudged=2)
    add("binary, 45 deep", some((0, 0, 0, 1), 50), 40, unjudged=5)
    add("one item, relevant", [1, 0, 0], 0)
    run["11"] = scored([item for item, grade in qrels["11"].items() if grade > 0], rng)
    add("mostly pooled but not judged", some((-1, -1, -1, 0, 1), 30), 26)
    add("top grade only", [4, 4, 4, 0, 0], 5, unjudged=20)
    return qrels, run, why


def make_intents() -> tuple[list[Any], Run, dict[str, Any]]:
    """Seven queries with one to four intents, 24 items ranked in most."""
    rng = random.Random(SEED + 1)
    rows, run, nested = [], {}, {}
    sizes = [(3, 24), (1, 8), (4, 30), (2, 2), (2, 15), (3, 0), (3, 12)]
    for query, (n_intents, n_ranked) in enumerate(sizes, start=1):
        items = [f"d{number:03d}" for number in rng.sample(range(1000), 36)]
        judged = items[:14]
        for intent in range(1, n_intents + 1):
            for item in judged:
                if rng.random() < 0.3:
                    continue
                dead = query == 5 or (query == 3 and intent == 2)
                grade = 0 if dead else rng.choice((0, 0, 0, 1, 2))
                rows.append(ir_measures.GenericQrel(f"{query}", item, grade, f"{intent}"))
                nested.setdefault(f"{query}", {}).setdefault(f"{intent}", {})[item] = grade
        ranked = rng.sample(items, n_ranked)
        if ranked:
            run[f"{query}"] = scored(ranked, rng)
    return rows, run, nested


def grid(provider: str, name: str, **choices: tuple[object, ...]) -> list[Spec]:
    """The measure with every combination of the parameter values; None leaves a parameter out."""
    specs = []
    for values in product(*choices.values()):
        params = {
            key: value for key, value in zip(choices, values, strict=True) if value is not None
        }
        specs.append((provider, name, params))
    return specs


PTE, CWL, ND = "pytrec_eval", "cwl_eval", "pyndeval"
LEVELS, ONLY = (1, 2), (False, True)
SPECS: list[Spec] = [
    *grid(PTE, "NumQ"),
    *grid(PTE, "NumRet", rel=(None, 1, 2)),
    *grid(PTE, "NumRel"),
    *grid(PTE, "P", cutoff=(1, 5, 20), rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "R", cutoff=(1, 5, 20), rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "Success", cutoff=(1, 5), rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "Rprec", rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "RR", rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "AP", cutoff=(None, 1, 10), rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "SetP", rel=LEVELS, relative=(False, True), judged_only=ONLY),
    *grid(PTE, "SetR", rel=LEVELS),
    *grid(PTE, "SetF", rel=LEVELS, beta=(1.0, 0.5, 3.0), judged_only=ONLY),
    *grid(PTE, "SetAP", rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "IPrec", recall=(0.0, 0.1, 0.25, 0.5, 0.7, 1.0), rel=LEVELS, judged_only=ONLY),
    *grid(PTE, "Bpref", rel=LEVELS),
    *grid(PTE, "infAP", rel=LEVELS),
    *grid(PTE, "nDCG", cutoff=(None, 1, 5, 20), judged_only=ONLY),
    *grid(
        PTE, "nDCG", cutoff=(None, 10), gains=({1: 2, 2: 10, 4: 3}, {0: 1, 3: 0}), judged_only=ONLY
    ),
    *grid("gdeval", "nDCG", cutoff=(1, 5, 20), dcg=("exp-log2",)),
    *grid("gdeval", "ERR", cutoff=(1, 5, 20, 100)),
    *grid("msmarco", "RR", cutoff=(None, 1, 10), rel=LEVELS),
    *grid("judged", "Judged", cutoff=(None, 1, 10, 100)),
    *grid("accuracy", "Accuracy", cutoff=(None, 5, 20), rel=LEVELS),
    *grid("compat", "Compat", p=(0.8, 0.95), normalize=(True, False)),
    *grid(CWL, "P", cutoff=(1, 10), rel=LEVELS),
    *grid(CWL, "RR", rel=LEVELS),
    *grid(CWL, "AP", rel=LEVELS),
    *grid(CWL, "RBP", p=(0.5, 0.8, 0.95), rel=LEVELS),
    *grid(CWL, "SDCG", cutoff=(1, 5, 20), min_rel=(0, 1), max_rel=(3, 4)),
    *grid(CWL, "BPM", cutoff=(5, 20), T=(1.0, 2.5), min_rel=(0, 1), max_rel=(4,)),
    *grid(CWL, "NERR8", cutoff=(1, 20), min_rel=(0, 1), max_rel=(3, 4)),
    *grid(CWL, "NERR9", cutoff=(1, 20), min_rel=(0, 1), max_rel=(3, 4)),
    *grid(CWL, "NERR10", p=(0.5, 0.9), min_rel=(0, 1), max_rel=(4,)),
    *grid(CWL, "NERR11", T=(1.0, 2.0), min_rel=(0, 1), max_rel=(4,)),
    *grid(CWL, "INST", T=(1.0, 2.0), min_rel=(0, 1), max_rel=(3, 4)),
    *grid(CWL, "INSQ", T=(1.0, 2.0), min_rel=(0, 1), max_rel=(4,)),
    # Once more without any parameter that has a default.
    *[
        spec
        for name in ("Rprec", "SetP", "SetR", "SetF", "SetAP", "Bpref", "infAP", "AP", "RR")
        for spec in grid(PTE, name)
    ],
    *grid(PTE, "P", cutoff=(5,)),
    *grid(PTE, "Success", cutoff=(5,)),
    *grid(PTE, "IPrec", recall=(0.5,)),
    *grid("accuracy", "Accuracy"),
    *grid("compat", "Compat"),
    *grid(CWL, "RBP", rel=(1,)),
    *[
        spec
        for name in ("BPM", "NERR8", "NERR9", "SDCG")
        for spec in grid(CWL, name, cutoff=(10,), max_rel=(4,))
    ],
    *[
        spec
        for name in ("NERR10", "NERR11", "INST", "INSQ")
        for spec in grid(CWL, name, max_rel=(4,))
    ],
]
INTENT_SPECS: list[Spec] = [
    *grid(ND, "alpha_DCG", cutoff=(1, 2, 5, 20), alpha=(0.5, 0.3), rel=LEVELS),
    *grid(ND, "alpha_nDCG", cutoff=(1, 2, 5, 20), alpha=(0.5, 0.3), rel=LEVELS),
    *grid(ND, "ERR_IA", cutoff=(1, 2, 5, 20), rel=LEVELS),
    *grid(ND, "nERR_IA", cutoff=(1, 2, 5, 20), rel=LEVELS),
    *grid(ND, "NRBP", alpha=(0.5, 0.3), beta=(0.5, 0.8), rel=LEVELS),
    *grid(ND, "nNRBP", alpha=(0.5, 0.3), beta=(0.5, 0.8), rel=LEVELS),
    *grid(ND, "AP_IA", rel=LEVELS),
    *grid(ND, "P_IA", cutoff=(1, 5, 20), rel=LEVELS),
    *grid(ND, "StRecall", cutoff=(1, 5, 20), rel=LEVELS),
    *[
        spec
        for name in ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "P_IA", "StRecall")
        for spec in grid(ND, name, cutoff=(5,))
    ],
    *[spec for name in ("NRBP", "nNRBP", "AP_IA") for spec in grid(ND, name)],
]


def values_of(spec: Spec, qrels: Any, run: Run, queries: list[str]) -> dict[str, float | None]:
    """The value per query; None where ir_measures gives none, not a number, or fails for that
    query.
    """
    provider_name, name, params = spec
    provider = providers.registry[provider_name]
    measure = getattr(ir_measures, name)(**params)
    values: dict[str, float | None] = {}
    for query in queries:
        ranked = {query: run[query]} if query in run else {}
        is_graded = isinstance(qrels, dict)
        judged = (
            {query: qrels[query]} if is_graded else [row for row in qrels if row.query_id == query]
        )
        try:
            with contextlib.redirect_stderr(
                io.StringIO()
            ):  # pyndeval warns of a query with a single intent.
                found = {
                    metric.query_id: metric.value
                    for metric in provider.iter_calc([measure], judged, ranked)
                }
        except ZeroDivisionError:
            found = {}
        value = found.get(query)
        values[query] = None if value is None or math.isnan(value) else value
    return values


def write(
    path: Path, payload: dict[str, Any], specs: list[Spec], qrels: Any, run: Run, queries: list[str]
) -> None:
    """One line per measure, so that a changed value shows as a changed line."""
    lines = []
    for spec in specs:
        provider, name, params = spec
        if "gains" in params:
            params = params | {"gains": sorted(params["gains"].items())}
        entry = {"provider": provider, "measure": name, "params": params}
        values = values_of(spec, qrels, run, queries)
        lines.append(json.dumps(entry | {"values": [values[query] for query in queries]}))
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in payload.items()]
    body = ",\n".join(
        [*head, '"queries": ' + json.dumps(queries), '"measures": [\n' + ",\n".join(lines) + "\n]"]
    )
    path.write_text("{" + body + "}\n")
    sys.stderr.write(f"{path.name}: {len(specs)} measures, {len(specs) * len(queries)} values\n")


def main() -> None:
    """Write both files."""
    # It warns of each query that lacks the top grade.
    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")
    OUT.mkdir(exist_ok=True)
    qrels, run, why = make_case()
    payload = {"about": ABOUT, "why": why, "qrels": qrels, "run": run}
    write(OUT / "graded.json", payload, SPECS, qrels, run, list(qrels))
    rows, intent_run, nested = make_intents()
    payload = {"about": ABOUT, "intents": nested, "run": intent_run}
    write(OUT / "intents.json", payload, INTENT_SPECS, rows, intent_run, list(nested))


if __name__ == "__main__":
    main()
