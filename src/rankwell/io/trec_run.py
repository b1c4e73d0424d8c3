"""TREC run files: `query Q0 item rank score tag`, separated by any white space; the rank and the tag say nothing here."""

import re
from pathlib import Path

import numpy as np

from rankwell.core.tables import TieRule
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import unique_rows
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, DuplicateItem
from rankwell.io import SURE, Request, file_format
from rankwell.io.reader.reading import TREC_RUN, Columns, Progress, ReadOptions, read_columns, scan
from rankwell.store import Head, Source, encode_id

_WHITE = re.compile(r"[ \t\n\v\f\r]")
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def find_hits(
    source: Source,
    judgments: Judgments,
    *,
    ties: TieRule = "id-desc",
    single_precision: bool = False,
    keep: int = 0,
    comments: bool = False,
    trailing: bool = False,
    progress: Progress | None = None,
) -> Hits:
    """The judged items that a run file retrieved, with the counts that place them; the rest is only counted.

    judgments: with one row per query and item. keep: how many first items of each query to hand back in `top`.
    comments: lines that begin with `#` say nothing, as in trec_eval 10. trailing: what follows the tag is passed over, as in
    trec_eval. Raises BadLine, BadScore, DuplicateItem or BadInput that name file, line and text; see `kernels.reading.scan`.
    """
    reading = ReadOptions(ties=ties, single_precision=single_precision, keep=keep, comments=comments, trailing=trailing)
    return scan(source, judgments, TREC_RUN, reading, progress=progress)


def _sniff(head: Head) -> float:
    rows = head.fields
    good = sum(len(fields) == TREC_RUN.fields and _NUMBER.fullmatch(fields[4]) is not None for fields in rows)
    if rows and good == len(rows):
        return SURE
    return 0.6 if good else 0.3 if any(5 <= len(fields) <= 7 for fields in rows) else 0.0


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    if request.duplicates != "error":
        from rankwell.io.reader.rows import hits_of_ranking

        return hits_of_ranking(
            read(source, request),
            judgments,
            ties=request.ties,
            single_precision=request.single_precision,
            keep=request.keep,
        )
    return find_hits(
        source,
        judgments,
        ties=request.ties,
        single_precision=request.single_precision,
        keep=request.keep,
        comments=request.comments,
        progress=request.progress,
    )


def write(ranking: Ranking, path: Path, *, tag: str = "rankwell") -> None:
    """Writes a TREC run file: each query's items by falling score, equal scores in the order of the table, ranks from 1.

    Scores are written so that reading gives the same doubles. Raises BadInput for an id that is empty or holds white space.
    """
    for name in (*ranking.queries, *ranking.items, tag):
        if not name or _WHITE.search(name):
            raise BadInput(f"{name!r} has white space in it or is empty, and a TREC run cannot hold it; write CSV or Parquet.")
    bounds: list[int] = ranking.offsets.tolist()
    with path.open("wb") as file:
        for query, start, stop in zip(ranking.queries, bounds, bounds[1:], strict=False):
            rows = start + np.argsort(-ranking.scores[start:stop], kind="stable")
            scores = ranking.scores[rows].tolist()
            text = "".join(
                f"{query} Q0 {ranking.items[row]} {rank} {score!r} {tag}\n"
                for rank, (row, score) in enumerate(zip(rows.tolist(), scores, strict=True), 1)
            )
            file.write(encode_id(text))


@file_format("trec", "run", sniff=_sniff, find_hits=_find_hits, write=write, suffixes=(".run", ".trec", ".txt"))
def read(source: Source, request: Request | None = None) -> Ranking:
    """The whole run; the items of a query stay in the order of the file.

    Raises DuplicateItem, unless the request says which of two to keep; BadLine, BadScore or BadInput as `find_hits` does.
    """
    request = request or Request()
    reading = ReadOptions(comments=request.comments)
    columns = read_columns(source, reading, progress=request.progress)
    if request.warnings is not None:
        request.warnings.contradicting.update(_contradicting(columns))
    duplicated = None if request.warnings is None else request.warnings.duplicated
    rows = unique_rows(columns.queries, columns.items, columns.scores.tolist(), request.duplicates, duplicated)
    try:
        return Ranking.from_rows(*rows, repeated=request.duplicates == "keep")
    except DuplicateItem as error:
        raise _duplicate(source.name, columns) from error


def _duplicate(name: str, columns: Columns) -> DuplicateItem:
    """The error for the first line that repeats an item of its query."""
    pairs = list(zip(columns.queries, columns.items, strict=True))
    rows = dict[tuple[str, str], int]()
    repeated = next(row for row, pair in enumerate(pairs) if rows.setdefault(pair, row) != row)
    query, item = pairs[repeated]
    first, second = int(columns.lines[rows[query, item]]), int(columns.lines[repeated])
    return DuplicateItem(
        f"{name}:{second}: query {query!r} lists item {item!r} twice, in lines {first} and {second}; keep one of them."
    )


def _contradicting(columns: Columns) -> set[str]:
    """Queries in which a better rank goes with a lower score."""
    ranked = np.flatnonzero(~np.isnan(columns.ranks))
    names = np.unique(np.array(columns.queries, dtype=object), return_inverse=True)[1] if len(ranked) else np.zeros(0, dtype=int)
    order = ranked[np.lexsort((-columns.scores[ranked], columns.ranks[ranked], names[ranked]))]
    rises = (columns.scores[order][1:] > columns.scores[order][:-1]) & (names[order][1:] == names[order][:-1])
    return {columns.queries[row] for row in order[1:][rises].tolist()}
