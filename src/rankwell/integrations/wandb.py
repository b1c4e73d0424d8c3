"""Weights & Biases: results become figures of a run's summary, its configuration and an
artifact.
"""

import re
from pathlib import Path
from typing import Any

from rankwell.errors import BadUsage
from rankwell.integrations import imported
from rankwell.integrations.folders import logged
from rankwell.results import Results


def log(
    results: Results | str | Path, *, run: Any = None, artifact: str | None = "rankwell-results"
) -> None:
    """Logs results to a run: figures with intervals to its summary, rules to its configuration, the
    folder as an artifact.

    results: of any task, or a folder that a command wrote with -o. run: what `wandb.init` returned,
    by default the active run; with `mode="offline"` nothing leaves the machine until `wandb sync`.
    artifact: its name; None keeps the files out. Figures are named `RUN/MEASURE/FIGURE`, as in
    `bm25/nDCG_at_10/mean`; the rules are `rankwell` of the configuration.
    Raises MissingExtra without wandb, BadUsage without a run or for a name that an artifact cannot
    have, BadInput for a folder that does not hold results.
    """
    wandb = imported("wandb", "wandb")
    active = wandb.run if run is None else run
    if active is None:
        raise BadUsage(
            "Weights & Biases has no active run; start one with wandb.init(), offline with "
            "wandb.init(mode='offline')."
        )
    if artifact is not None and not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", artifact):
        raise BadUsage(
            f"artifact={artifact!r}: expected a name of letters, digits, '-', '_' and '.'."
        )
    with logged(results) as tracked:
        active.config.update({"rankwell": dict(tracked.parameters)}, allow_val_change=True)
        active.summary.update(dict(tracked.metrics))
        if artifact is not None:
            files = wandb.Artifact(
                artifact, type="rankwell-results", metadata=dict(tracked.parameters)
            )
            files.add_dir(str(tracked.folder))
            active.log_artifact(files)
