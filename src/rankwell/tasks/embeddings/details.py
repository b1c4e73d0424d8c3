"""The columns of a folder of results: each query, and the lists beside the reference's."""

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from rankwell.data.tables import Floats
from rankwell.evaluation.details import Details, detail_columns
from rankwell.tasks.embeddings.ranking_pairs import RankingPairs
from rankwell.tasks.embeddings.vectors import Sample


def query_columns(
    sample: Sample, pairs: RankingPairs, depth: int, near_cut: Floats | None
) -> dict[str, Sequence[Any]]:
    """The columns of queries.parquet: the sampled items, rows and labels, and how certain the
    reference's lists end.

    pairs: those of any candidate. depth: the deepest cut-off. near_cut: (queries,) the margin of
    the reference's lists there, None where it was not measured.
    """
    rows: list[int] = sample.rows.tolist()
    columns: dict[str, Sequence[Any]] = {
        "query": sample.names,
        "text": [None] * len(rows),
        "position": rows,
    }
    if sample.labels is not None:
        columns["label"] = [sample.labels[row] for row in rows]
    last, after = (
        pairs.reference.score_at(np.full(len(rows), rank, dtype=np.int64))
        for rank in (depth, depth + 1)
    )
    if not np.isnan(last - after).all():
        columns["margin"] = [None if isnan(gap) else gap for gap in (last - after).tolist()]
    if near_cut is not None:
        columns["near_cut"] = [None if isnan(n) else int(n) for n in near_cut.tolist()]
    return columns


def list_columns(
    pairs_of_run: Mapping[str, RankingPairs], items: Sequence[str], depth: int
) -> Mapping[str, list[Any]]:
    """The columns of details.parquet: the candidates' lists, then the reference's first items that
    they lack.

    `margin`: the similarity under the reference less that of its last relevant item (EverMind-AI
    2026, EverOS issue 332).
    """
    parts: list[tuple[str, Details, list[str]]] = []
    for run, pairs in pairs_of_run.items():
        first, second = pairs.reference, pairs.candidate
        lacking = first.within(depth) & ~(
            (first.other_ranks > 0) & (first.other_ranks <= second.lengths[first.query_of_row])
        )
        last = first.score_at(np.full(len(pairs.queries), depth, dtype=np.int64))
        columns_of_second = second.ranks, second.other_ranks, second.scores, second.other_scores
        columns_of_first = first.other_ranks, first.ranks, first.other_scores, first.scores
        for side, rows, (ranks, reference_ranks, scores, reference_scores) in (
            (second, second.within(None), columns_of_second),
            (first, lacking, columns_of_first),
        ):
            rank, reference_rank = ranks[rows], reference_ranks[rows]
            reference_score, owner = reference_scores[rows], side.query_of_row[rows]
            near = (reference_rank > 0) & (reference_rank <= depth)
            positions: list[int] = side.items[rows].tolist()
            details = Details(
                query=[pairs.queries[query] for query in owner.tolist()],
                item=[items[position] for position in positions],
                rank=np.where(rank == 0, np.nan, rank),
                score=scores[rows],
                grade=near.astype(np.float64),
                state=["relevant" if is_near else "nonrelevant" for is_near in near.tolist()],
            )
            cells = (reference_rank, reference_score, reference_score - last[owner])
            texts = [
                json.dumps(
                    {
                        "reference_rank": of_reference or None,
                        "reference_score": None if isnan(similarity) else similarity,
                        "margin": None if isnan(gap) else gap,
                    }
                )
                for of_reference, similarity, gap in zip(
                    *(column.tolist() for column in cells), strict=True
                )
            ]
            parts.append((run, details, texts))
    return detail_columns(parts)
