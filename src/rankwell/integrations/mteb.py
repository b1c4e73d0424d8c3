"""MTEB: results as the file of a task, which `mteb.TaskResult.from_disk` reads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwell.errors import BadUsage, UnknownName
from rankwell.files.writing import writing_file
from rankwell.integrations.folders import folder_of
from rankwell.io.result_folder import read_results, read_summary
from rankwell.reporting import runs_of
from rankwell.results import Results
from rankwell.store import write_text


def write_task_result(
    results: Results | str | Path,
    path: str | Path,
    *,
    task: str,
    revision: str,
    main_score: str = "ndcg_at_10",
    run: str | None = None,
    split: str = "test",
    subset: str = "default",
    languages: Sequence[str] = (),
    overwrite: bool = False,
) -> None:
    """Writes the scores of one run as the result file of an MTEB task; MTEB keeps it as
    `MODEL/REVISION/TASK.json`.

    results: by the convention `mteb`, whose words are MTEB's, or a folder that a command wrote with
    -o. task, revision: the name of the task and the revision of its data. main_score: the score
    that MTEB ranks by. run: where there are several. languages: such as `eng-Latn`. overwrite:
    replace a file that is there. Scores are shares; times and the version of MTEB are left empty,
    since MTEB has not measured them.
    Raises UnknownName for an unknown run or main score, BadUsage where several runs are there and
    none is named and for a file that is there, BadInput for a folder that does not hold results.
    """
    with folder_of(results) as folder:
        rows = read_summary(read_results(folder))
    runs = runs_of(rows)
    if run is None and len(runs) > 1:
        raise BadUsage(f"the results have the runs {', '.join(runs)}; name one of them as run=…")
    if run is not None and run not in runs:
        raise UnknownName(f"the results have no run {run!r}; known are {', '.join(runs)}")
    scores: dict[str, Any] = {
        row["label"]: _share(row) for row in rows if row["run"] == (run or runs[0])
    }
    if main_score not in scores:
        raise UnknownName(
            f"the results have no score {main_score!r}; known are {', '.join(scores)}; name "
            "one as main_score."
        )
    entry = {
        **scores,
        "main_score": scores[main_score],
        "hf_subset": subset,
        "languages": list(languages),
    }
    empty = dict.fromkeys(("mteb_version", "evaluation_time", "kg_co2_emissions", "date"))
    content = {"dataset_revision": revision, "task_name": task, **empty, "scores": {split: [entry]}}
    target = Path(path)
    with writing_file(target, overwrite=overwrite):
        write_text(target, json.dumps(content, indent=2) + "\n")


def _share(row: Any) -> float | None:
    """The mean of a row, of percentages as a share."""
    if row["unit"] == "percent" and row["mean"] is not None:
        return row["mean"] / 100
    return row["mean"]
