"""Text-video retrieval as its papers' code does it: sort every row, look where the positives are.
Plain Python.
"""

from collections.abc import Sequence
from statistics import mean, median

Table = Sequence[Sequence[float]]


def best_rank(scores: Sequence[float], positives: Sequence[int]) -> int:
    """The rank of the best positive, from 1, lower positions first among equal scores; one after
    the list without positives.
    """
    order = sorted(range(len(scores)), key=lambda item: -scores[item])
    return min((order.index(item) + 1 for item in positives), default=len(scores) + 1)


def q2m(
    scores: Table, positives: Sequence[Sequence[int]]
) -> tuple[float, float, float, float, float]:
    """R@1, R@5, R@10 in percent, median and mean rank of the best positive, as hgr_v2t's eval_q2m
    defines them.
    """
    ranks = [best_rank(row, items) for row, items in zip(scores, positives, strict=True)]
    r1, r5, r10 = (100 * sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, float(median(ranks)), float(mean(ranks))


def transposed(
    scores: Table, positives: Sequence[Sequence[int]]
) -> tuple[list[list[float]], list[list[int]]]:
    """The same seen from the columns."""
    columns = [list(column) for column in zip(*scores, strict=True)]
    return columns, [
        [row for row, items in enumerate(positives) if column in items]
        for column in range(len(columns))
    ]


def among_videos(scores: Table, positives: Sequence[Sequence[int]]) -> list[int | None]:
    """For each column its rank among the columns' groups of rows by their greatest score; None for
    a column without rows.
    """
    columns, groups = transposed(scores, positives)
    ranks: list[int | None] = []
    for video, group in enumerate(groups):
        best = {
            other: max(columns[video][row] for row in rows)
            for other, rows in enumerate(groups)
            if rows
        }
        ranks.append(
            sorted(best, key=lambda other: -best[other]).index(video) + 1 if group else None
        )
    return ranks


def vse_fold(scores: Table) -> list[float]:
    """R@1, R@5, R@10, MedR and MnR from image to text, then from text to image, as the code of
    VSE++ prints them.

    scores: a row per caption and a column per image, five captions for each in order, without ties.
    """
    images = [list(column) for column in zip(*scores, strict=True)]
    orders = [sorted(range(len(image)), key=lambda row: -image[row]) for image in images]
    first = [
        min(order.index(5 * place + own) for own in range(5)) for place, order in enumerate(orders)
    ]
    second = [
        sorted(range(len(row)), key=lambda column: -row[column]).index(place // 5)
        for place, row in enumerate(scores)
    ]
    found: list[float] = []
    for ranks in (first, second):
        found += [100 * sum(rank < k for rank in ranks) / len(ranks) for k in (1, 5, 10)]
        found += [median(ranks) // 1 + 1, mean(ranks) + 1]
    return found


def vse_folds(scores: Table, folds: int) -> list[float]:
    """The means of the figures of `vse_fold` over consecutive parts of the images with their
    captions.
    """
    size = len(scores[0]) // folds
    parts = [
        vse_fold([row[start : start + size] for row in scores[5 * start : 5 * (start + size)]])
        for start in range(0, folds * size, size)
    ]
    return [mean(figures) for figures in zip(*parts, strict=True)]
