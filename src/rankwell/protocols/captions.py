"""Rank videos by text and text by videos from a matrix of scores or embeddings: R@K, MedR, MnR and rsum, in both directions.

Scores are `.npy`, `.npz`, HDF5, safetensors, Parquet, CSV or TSV: a row per caption, a column per video, higher is better.
"""

from typing import Annotated, Literal

from cyclopts import Parameter

from rankwell.errors import BadUsage
from rankwell.evaluation.captions import Captions
from rankwell.evaluation.captions import captions as rank_captions
from rankwell.evaluation.captions.directions import Protocol, Which
from rankwell.protocols import (
    ConventionOption,
    FormatOption,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    cutoffs,
    present,
)
from rankwell.registry import split_names
from rankwell.stats import Intervals
from rankwell.stats.granularity import granularity_of
from rankwell.store import refuse_blocked


def captions(
    *scores: str,
    positives: str = "diagonal",
    queries: str | None = None,
    gallery: str | None = None,
    metric: Literal["cosine", "dot", "l2"] = "cosine",
    direction: Which = "both",
    protocol: Protocol | None = None,
    k: Annotated[str | None, Parameter(name=["-k"])] = None,
    measure: MeasureOption = None,
    convention: ConventionOption = "hgr",
    ties: str | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    mask: str | None = None,
    transform: str | None = None,
    bank: str | None = None,
    query_ids: str | None = None,
    item_ids: str | None = None,
    texts: str | None = None,
    check: Annotated[list[str] | None, Parameter(consume_multiple=False, negative=())] = None,
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
        Matrices of scores, a row per caption and a column per video; name more to compare systems.
    positives
        The right videos of each caption: diagonal; a JSON object (row or id -> list) or list of lists; judgments as CSV, TREC or
        any other format; counts:FILE or counts:20, captions per video; groups:FILE, each caption's video, or groups:FILE,FILE.
    queries
        Embeddings of the captions, in place of scores.
    gallery
        Embeddings of the videos.
    metric
        Similarity of embeddings: cosine, dot, or l2 (negative distance).
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
        Order of items with equal scores: input, input-desc, id-asc, id-desc, expected, optimistic, pessimistic, averaged,
        multiplied, error; by default the convention's.
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
        What the captions say, for the ceiling and for pages: a file of lines or of ids and texts.
    check
        A printed share such as 70.08: is it possible with as many queries? Repeat it for more.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    seed
        Seed of the bootstrap.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table (csv, tsv, jsonl).
    format
        How to print.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, manifest.json and charts.
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
    notes = _granularity(check or [], result)
    return present(result, format=format, per_query=per_query, output=output, notes=notes)


def _granularity(figures: list[str], result: Captions) -> list[str]:
    """Whether printed figures are possible with the queries that were counted, in words."""
    counted = {way: counts["counted"] for way, counts in result.rules["counts"].items()}
    return [f"{way}: {granularity_of(figure, n)}" for figure in figures for way, n in counted.items()]
