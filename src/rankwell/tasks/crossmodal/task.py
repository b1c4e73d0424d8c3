"""Text-video retrieval from a matrix of scores or from embeddings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from rankwell.data.findings.evaluation import printed_figure
from rankwell.data.options import Doc, Input, PartOutcome
from rankwell.data.tables import Values
from rankwell.errors import BadUsage
from rankwell.evaluation.options import PrintedFigures
from rankwell.reporting.options import Progress
from rankwell.results import Results
from rankwell.stats.granularity import granularity_of
from rankwell.task import Task, TaskInput
from rankwell.tasks.crossmodal.evaluation import caption_results
from rankwell.tasks.crossmodal.options import CrossmodalPartOptions

_WHOLE = (0.0, 1.0, 100.0)
"""The values of a query that counts as a whole, as a share or in percent."""


@dataclass(frozen=True, kw_only=True)
class CrossmodalCommandOptions(CrossmodalPartOptions):
    """The options of the command."""

    qrels: Annotated[
        str,
        Input(perhaps=True),
        Doc(
            "The right videos of each caption: diagonal; a JSON object (row or id -> list) or list "
            "of lists; judgments as CSV, TREC or any other format, or with two columns, query and "
            "item; counts:FILE or counts:20, captions per video; groups:FILE, each caption's "
            "video, or groups:FILE,FILE.",
            is_common=True,
        ),
    ] = "diagonal"
    check: PrintedFigures = None


def _evaluate(
    scores: Sequence[str], *, options: CrossmodalCommandOptions, details: bool, progress: Progress
) -> PartOutcome:
    """The ranks of the positives in both directions, with the checks of printed figures."""
    if not scores and not options.query_vectors:
        raise BadUsage(
            "name a matrix of scores, or --query-vectors and --item-vectors: rankwell crossmodal "
            "SCORES --qrels FILE."
        )
    outcome = caption_results(
        list(scores) or None, options.qrels, options, details=details, progress=progress
    )
    if outcome.result is None or not options.check:
        return outcome
    result: Results = outcome.result
    checks = [note for figure in options.check for note in _granularity(figure, result)]
    rules: dict[str, Any] = {**result.rules, "checks": checks}
    findings = (*map(printed_figure, checks), *result.data_findings)
    return outcome._replace(result=replace(result, data_findings=findings, rules=rules))


def _granularity(figure: str, result: Results) -> Iterator[str]:
    """Whether a printed figure is possible with what was counted in each direction, in words."""
    by_direction: dict[str, list[Values]] = {}
    for values, attributes in zip(result.values, result.row_attributes, strict=True):
        by_direction.setdefault(attributes["direction"], []).append(values)
    for direction, all_values in by_direction.items():
        hits = [
            values.values[values.counted]
            for values in all_values
            if values.measure.startswith("Success@")
        ]
        highest = [values.max(initial=0.0) for values in hits]
        if all(
            most in _WHOLE and np.isin(values, (0.0, most)).all()
            for values, most in zip(hits, highest, strict=True)
        ):
            n_queries = max(int(values.counted.sum()) for values in all_values)
            note = str(granularity_of(figure, n_queries))
        else:
            note = (
                f"{figure} cannot be checked: a query that is tied counts in part "
                f"(ties={result.rules['ties']}), not as 0 or 1"
            )
        yield f"{direction}: {note}"


crossmodal = Task(
    name="crossmodal",
    about="""Evaluate text–video and text–image search.

To reproduce HGR: -c hgr. CLIP4Clip: -c clip4clip, clip4clip-multi. MMT and Collaborative \
Experts: -c mmt. Frozen in Time: -c frozen. VSE++: -c vse. LAVIS: -c lavis.

Prints R@K, MedR and MnR in both directions, from a matrix of scores or from embeddings.

From embeddings (--query-vectors A.npy --item-vectors B.npy) the matrix is never built, and \
--executor divides the work. Beside each value are its ceiling, which captions that are the same \
lower, and its chance level.""",
    command_lines="""
rankwell crossmodal scores.npy
rankwell crossmodal --query-vectors texts.npy --item-vectors videos.npy -k 1 5
""",
    options=CrossmodalCommandOptions,
    inputs=(
        TaskInput(
            "scores",
            "Matrices of scores, a row per caption and a column per video; name more to compare "
            "systems (ours=a/scores.npy).",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "items.parquet, manifest.json and charts",
    evaluation=_evaluate,
)
