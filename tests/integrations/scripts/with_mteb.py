"""A result file of a task is read by MTEB."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from mteb.results import TaskResult

import rankwell as rw
from rankwell.integrations.mteb import write_task_result

qrels = {f"q{number}": {"a": 1} for number in range(12)}
run = {query: {"a": 1.0, "b": 2.0 * (place % 2)} for place, query in enumerate(qrels)}
result = rw.evaluate(qrels, {"mine": run}, convention="mteb")
write_task_result(
    result, "SciFact.json", task="SciFact", revision="0228b52", languages=["eng-Latn"]
)
found = TaskResult.from_disk(Path("SciFact.json"))
(entry,) = found.scores["test"]
expected = {row["label"]: row["mean"] for row in result.summary}
assert entry["main_score"] == expected["ndcg_at_10"]
assert (found.task_name, found.dataset_revision, found.languages) == ("SciFact", "0228b52", ["eng"])
figures = {name: entry[name] for name in expected}
sys.stdout.write(
    json.dumps(
        {"packages": {"mteb": version("mteb")}, "figures": figures, "expected": expected},
        sort_keys=True,
    )
    + "\n"
)
