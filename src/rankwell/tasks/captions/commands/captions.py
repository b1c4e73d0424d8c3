"""Rank videos by text and text by videos from a matrix of scores or embeddings: R@K, MedR, MnR and rsum, in both directions.

Scores are `.npy`, `.npz`, HDF5, safetensors, Parquet, CSV or TSV: a row per caption, a column per video, higher is better.
"""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from rankwell.core.registry import split_names
from rankwell.errors import BadUsage
from rankwell.evaluation.results import Results
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    Input,
    InputOption,
    InputPlace,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    cutoffs,
    present,
)
from rankwell.stats import Intervals
from rankwell.stats.granularity import granularity_of
from rankwell.store import refuse_blocked
from rankwell.tasks.captions.directions import Protocol, Which
from rankwell.tasks.captions.evaluation import captions as rank_captions

_WHOLE = (0.0, 1.0, 100.0)
"""What a query's hit is worth, as a share or in percent, where it counts as a whole."""


def captions(
    *scores: InputPlace,
    positives: Annotated[str, Input(perhaps=True)] = "diagonal",
    queries: InputOption = None,
    gallery: InputOption = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    direction: Which = "both",
    protocol: Protocol | None = None,
    k: str | None = None,
    measure: MeasureOption = None,
    convention: ConventionOption = "hgr",
    ties: str | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    mask: InputOption = None,
    transform: str | None = None,
    bank: InputOption = None,
    query_ids: InputOption = None,
    item_ids: InputOption = None,
    texts: InputOption = None,
    check: list[str] | None = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    progress: Progress = None,
) -> Output:
    """Rank videos by text and text by videos from a matrix of scores or embeddings: R@K, MedR, MnR and rsum, in both directions.

    From embeddings (--queries A.npy --gallery B.npy) the matrix is never built. Beside each figure stand the best that a scorer
    can reach (captions that are the same hold it down) and what chance reaches.

    Parameters
    ----------
    scores
        Matrices of scores, a row per caption and a column per video; name more to compare systems (ours=a/scores.npy).
    positives
        The right videos of each caption: diagonal; a JSON object (row or id -> list) or list of lists; judgments as CSV, TREC or
        any other format, or with two columns, query and item; counts:FILE or counts:20, captions per video; groups:FILE, each
        caption's video, or groups:FILE,FILE.
    queries
        Embeddings of the captions, in place of scores.
    gallery
        Embeddings of the videos.
    metric
        Similarity of embeddings: cosine (where none is named), dot, or l2 (negative distance).
    direction
        From text to video (rows are queries), from video to text (columns are), or both.
    protocol
        From video to text: among-captions ranks a video's best caption among all captions, among-videos collapses each video's
        captions to the highest score and ranks videos; both; by default the convention's.
    k
        Cut-offs of R@K, as 1,5,10,50; by default the convention's.
    measure
        A measure such as nDCG@10 or AP, a convention's word for one, or rsum, gmean or r_mean; repeat it for more.
    convention
        Whose words and rules: hgr, mmt, frozen, clip4clip, clip4clip-multi, vse, lavis; rankwell and others for their measures.
    ties
        Items with equal scores: by position (input, input-desc) or id (id-asc, id-desc), the mean over all orders (expected), in
        favour of positives (optimistic) or against them (pessimistic), at the mean of their places (averaged, MMT), a query for
        each place (multiplied, CLIP4Clip), refused (error); by default the convention's.
    no_relevant
        A query without positives: ranks after all items (empty), is left out (skip), or is an error; by default the convention's.
    mask
        File of 1 for each caption that is there and 0 for each that is missing: .npy or JSON.
    transform
        Change the scores first, as 'dual-softmax(temperature=0.02)' or 'querybank(beta=20)', which needs --bank.
    bank
        Scores of other queries with the same gallery, for querybank.
    query_ids
        File of the captions' ids, one a line.
    item_ids
        File of the videos' ids.
    texts
        What the captions say, in a file of a line each or of ids and texts: captions of equal words hold the ceiling down, and
        pages of the results show them. Without it, captions whose scores are equal to the last bit count as the same.
    check
        A printed R@K in percent, such as 70.08: is it possible with as many queries? Repeat it for more.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    seed
        Seed of the bootstrap.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table (csv, tsv, jsonl).
    format
        How to print.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, items.parquet, manifest.json
        and charts.
    """
    if output is not None:
        refuse_blocked(output, folder=True)
    if not scores and not queries:
        raise BadUsage("name a matrix of scores, or --queries and --gallery: rankwell captions SCORES --positives FILE.")
    result = rank_captions(
        list(scores) or None,
        positives,
        queries=queries,
        gallery=gallery,
        metric=metric,
        query_ids=query_ids,
        item_ids=item_ids,
        direction=direction,
        protocol=protocol,
        measures=[name for text in measure or [] for name in split_names(text)] or None,
        k=None if k is None else cutoffs(k),
        convention=convention,
        ties=ties,
        no_relevant=no_relevant,
        mask=mask,
        transform=transform,
        bank=bank,
        texts=texts,
        intervals=intervals,
        seed=seed,
        details=output is not None,
        progress=progress,
    )
    checks = [told for figure in check or [] for told in _granularity(figure, result)]
    result = replace(result, notes=(*checks, *result.notes), rules={**result.rules, **({"checks": checks} if checks else {})})
    return present(result, format=format, per_query=per_query, output=output)


def _granularity(figure: str, result: Results) -> list[str]:
    """Whether a printed figure is possible with what was counted in each direction, in words."""
    found: list[str] = []
    for direction in dict.fromkeys(own["direction"] for own in result.row_attributes):
        mine = [each for each, own in zip(result.values, result.row_attributes, strict=True) if own["direction"] == direction]
        hits = [each.values[each.counted] for each in mine if each.measure.startswith("Success@")]
        n = max(int(each.counted.sum()) for each in mine)
        if any(
            not np.isin(values, (0.0, values.max(initial=1.0))).all() or values.max(initial=0.0) not in _WHOLE for values in hits
        ):
            told = f"{figure} cannot be checked: a query that is tied counts in part (ties={result.rules['ties']}), not as 0 or 1"
        else:
            told = str(granularity_of(figure, n))
        found.append(f"{direction}: {told}")
    return found
