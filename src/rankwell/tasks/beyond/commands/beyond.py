"""Measure runs beyond accuracy: coverage, novelty, diversity, serendipity, calibration, and
fairness of exposure.
"""

from rankwell.errors import BadUsage
from rankwell.report.present import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    present,
)
from rankwell.tasks.beyond.evaluation import evaluate_beyond
from rankwell.tasks.beyond.options import BeyondOptions


def beyond(
    *runs: InputPlace,
    options: BeyondOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
) -> Output:
    """Measure runs beyond accuracy: coverage, novelty, diversity, serendipity, calibration, and
    fairness of exposure.

    All retrieved items count, judged or not, and most measures need no judgments. Without -m those
    are reported that the inputs allow. docs/beyond.md explains them.

    Parameters
    ----------
    runs
        Files of rankings, as for `rankwell evaluate`; name more to compare them.
    per_query
        Also each query's values.
    output
        Folder for summary.csv, summary.json, per_query.parquet, queries.parquet and charts.
    """
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refuse_unclaimed(output)
    if not runs:
        raise BadUsage("name at least one run: rankwell beyond RUN...")
    return present(
        evaluate_beyond(list(runs), options=options),
        format=format,
        per_query=per_query,
        output=output,
    )
