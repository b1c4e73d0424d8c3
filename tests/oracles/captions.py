"""Text-video retrieval as its papers' code does it: sort every row, look where the positives are. Plain Python."""

from collections.abc import Sequence
from statistics import mean, median

Table = Sequence[Sequence[float]]


def best_rank(scores: Sequence[float], positives: Sequence[int]) -> int:
    """The rank of the best positive, from 1, lower positions first among equal scores; one after the list without positives."""
    order = sorted(range(len(scores)), key=lambda item: -scores[item])
    return min((order.index(item) + 1 for item in positives), default=len(scores) + 1)


def q2m(scores: Table, positives: Sequence[Sequence[int]]) -> tuple[float, float, float, float, float]:
    """R@1, R@5, R@10 in percent, median and mean rank of the best positive, as hgr_v2t's eval_q2m defines them."""
    ranks = [best_rank(row, items) for row, items in zip(scores, positives, strict=True)]
    r1, r5, r10 = (100 * sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, float(median(ranks)), float(mean(ranks))


def transposed(scores: Table, positives: Sequence[Sequence[int]]) -> tuple[list[list[float]], list[list[int]]]:
    """The same seen from the columns."""
    columns = [list(column) for column in zip(*scores, strict=True)]
    return columns, [[row for row, items in enumerate(positives) if column in items] for column in range(len(columns))]


def among_videos(scores: Table, positives: Sequence[Sequence[int]]) -> list[int | None]:
    """For each column its rank among the columns' groups of rows by their greatest score; None for a column without rows."""
    columns, groups = transposed(scores, positives)
    ranks: list[int | None] = []
    for video, group in enumerate(groups):
        best = {other: max(columns[video][row] for row in rows) for other, rows in enumerate(groups) if rows}
        ranks.append(sorted(best, key=lambda other: -best[other]).index(video) + 1 if group else None)
    return ranks
