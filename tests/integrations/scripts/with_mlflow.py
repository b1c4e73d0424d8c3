"""Results are logged to an MLflow run in a database of this folder and read back by MLflow."""

import json
import os
import sys
from importlib.metadata import version

import mlflow

import rankwell as rw
from rankwell.integrations.mlflow import log

qrels = {f"q{number}": {"a": 1} for number in range(12)}
result = rw.evaluate(
    qrels,
    {"bm25": {query: {"a": 1.0, "b": 2.0 * (place % 2)} for place, query in enumerate(qrels)}},
    ["RR", "nDCG@10"],
)

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a database would need further packages
mlflow.set_tracking_uri("file:./runs")
with mlflow.start_run() as run:
    log(result)
client = mlflow.MlflowClient()
data = client.get_run(run.info.run_id).data
files = sorted(each.path for each in client.list_artifacts(run.info.run_id, "rankwell"))
assert "rankwell/summary.json" in files, files
assert data.params["rankwell.convention"] == "rankwell", data.params
expected = {
    f"bm25/{row['label'].replace('@', '_at_')}/{figure}": row[figure]
    for row in result.summary
    for figure in ("mean", "ci_low", "ci_high", "n")
}
refused = ""
try:
    with mlflow.start_run(run.info.run_id):
        log(rw.evaluate(qrels, {"bm25": {"q0": {"a": 1.0}}}, "RR", convention="trec_eval9"))
except rw.BadUsage as error:
    refused = str(error)
assert refused.startswith("MLflow refuses the results: "), refused
sys.stdout.write(
    json.dumps(
        {
            "packages": {"mlflow-skinny": version("mlflow-skinny")},
            "figures": data.metrics,
            "expected": expected,
        },
        sort_keys=True,
    )
    + "\n"
)
