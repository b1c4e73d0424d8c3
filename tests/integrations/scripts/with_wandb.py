"""Results are logged to an offline run of Weights & Biases and read back from it."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import wandb

import rankwell as rw
from rankwell.integrations.wandb import log

qrels = {f"q{number}": {"a": 1} for number in range(12)}
result = rw.evaluate(
    qrels,
    {"bm25": {query: {"a": 1.0, "b": 2.0 * (place % 2)} for place, query in enumerate(qrels)}},
    ["RR", "nDCG@10"],
)

with wandb.init(
    mode="offline", project="search", dir=".", settings=wandb.Settings(silent=True)
) as run:
    log(result)
    names = [
        f"bm25/{row['label'].replace('@', '_at_')}/{figure}"
        for row in result.summary
        for figure in ("mean", "ci_low", "ci_high", "n")
    ]
    figures = {name: run.summary[name] for name in names}
    assert run.config["rankwell"]["convention"] == "rankwell"
assert [*Path("wandb").glob("offline-run-*/run-*.wandb")], [*Path("wandb").iterdir()]
expected = dict(
    zip(
        names,
        (row[figure] for row in result.summary for figure in ("mean", "ci_low", "ci_high", "n")),
        strict=True,
    )
)
sys.stdout.write(
    json.dumps(
        {"packages": {"wandb": version("wandb")}, "figures": figures, "expected": expected},
        sort_keys=True,
    )
    + "\n"
)
