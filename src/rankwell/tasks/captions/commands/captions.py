"""Rank videos by text and text by videos from a matrix of scores or embeddings: R@K, MedR, MnR and
rsum, in both directions.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np

from rankwell.errors import BadUsage, Unfinished
from rankwell.evaluation.results import Results
from rankwell.parts.options import PartOptions, refusal
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    Input,
    InputPlace,
    Output,
    PerQueryOption,
    Progress,
    present,
)
from rankwell.stats.granularity import granularity_of
from rankwell.tasks.captions.evaluation import caption_results
from rankwell.tasks.captions.options import CaptionOptions

_WHOLE = (0.0, 1.0, 100.0)
"""The values of a query that counts as a whole, as a share or in percent."""


def captions(
    *scores: InputPlace,
    positives: Annotated[str, Input(perhaps=True)] = "diagonal",
    options: CaptionOptions,
    parts: PartOptions,
    check: list[str] | None = None,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Rank videos by text and text by videos from a matrix of scores or embeddings: R@K, MedR, MnR
    and rsum, in both directions.

    From embeddings (--queries A.npy --gallery B.npy) the matrix is never built, and --executor
    divides the work. Beside each value are its ceiling, which captions that are the same lower, and
    its chance level.

    Parameters
    ----------
    scores
        Matrices of scores, a row per caption and a column per video; name more to compare systems
        (ours=a/scores.npy).
    positives
        The right videos of each caption: diagonal; a JSON object (row or id -> list) or list of
        lists; judgments as CSV, TREC or any other format, or with two columns, query and item;
        counts:FILE or counts:20, captions per video; groups:FILE, each caption's video, or
        groups:FILE,FILE.
    check
        A printed R@K in percent, such as 70.08: is it possible with as many queries? Repeat it for
        more.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table
        (csv, tsv, jsonl).
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet,
        items.parquet, manifest.json and charts.
    """
    refused: tuple[str, ...] = ()
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refused = refusal(parts, partial(refuse_unclaimed, output))
    if not scores and not options.queries:
        raise BadUsage(
            "name a matrix of scores, or --queries and --gallery: rankwell captions SCORES "
            "--positives FILE."
        )
    outcome = caption_results(
        list(scores) or None,
        positives,
        options,
        parts,
        details=output is not None,
        progress=progress,
    )
    if outcome.result is None:
        return Output(
            outcome.text,
            (*refused, *outcome.notes),
            0 if outcome.missing is None else Unfinished.exit_code,
        )
    result: Results = outcome.result
    checks = [note for figure in check or [] for note in _granularity(figure, result)]
    result = replace(
        result,
        notes=(*checks, *result.notes),
        rules={**result.rules, **({"checks": checks} if checks else {})},
    )
    return present(result, format=format, per_query=per_query, output=output)


def _granularity(figure: str, result: Results) -> list[str]:
    """Whether a printed figure is possible with what was counted in each direction, in words."""
    found: list[str] = []
    for direction in dict.fromkeys(own["direction"] for own in result.row_attributes):
        mine = [
            each
            for each, own in zip(result.values, result.row_attributes, strict=True)
            if own["direction"] == direction
        ]
        hits = [each.values[each.counted] for each in mine if each.measure.startswith("Success@")]
        n = max(int(each.counted.sum()) for each in mine)
        if any(
            not np.isin(values, (0.0, values.max(initial=1.0))).all()
            or values.max(initial=0.0) not in _WHOLE
            for values in hits
        ):
            note = (
                f"{figure} cannot be checked: a query that is tied counts in part "
                f"(ties={result.rules['ties']}), not as 0 or 1"
            )
        else:
            note = str(granularity_of(figure, n))
        found.append(f"{direction}: {note}")
    return found
