"""MLflow: results become metrics, parameters and artifacts of a run."""

from pathlib import Path

from rankwell.errors import BadUsage
from rankwell.integrations import imported
from rankwell.integrations.folders import logged
from rankwell.results import Results

_LONGEST = 6000  # characters of a parameter


def log(
    results: Results | str | Path,
    *,
    run_id: str | None = None,
    artifact_path: str | None = "rankwell",
) -> None:
    """Logs results to an MLflow run: figures with their intervals as metrics, the rules as
    parameters, the folder as artifacts.

    results: of any task, or a folder that a command wrote with -o. run_id: a run, by default the
    active one, which MLflow starts where there is none. artifact_path: the folder of the artifacts;
    None keeps the files out. Metrics are named `RUN/MEASURE/FIGURE`, as in `bm25/nDCG_at_10/mean`;
    parameters `rankwell.NAME`.
    Raises MissingExtra without MLflow, BadInput for a folder that does not hold results, BadUsage
    where MLflow refuses, such as results under other rules in a run that has some already.
    """
    mlflow = imported("mlflow", "mlflow")
    with logged(results) as tracked:
        parameters = {
            f"rankwell.{name}": text[:_LONGEST] for name, text in tracked.parameters.items()
        }
        try:
            mlflow.log_params(parameters, run_id=run_id)
            mlflow.log_metrics(dict(tracked.metrics), run_id=run_id)
            if artifact_path is not None:
                mlflow.log_artifacts(str(tracked.folder), artifact_path, run_id=run_id)
        except mlflow.exceptions.MlflowException as error:
            raise BadUsage(
                f"MLflow refuses the results: {' '.join(str(error).split())[:400]}"
            ) from error
