"""Figures made of several recalls of one system, as papers on text-video and image-caption retrieval print them."""

import math
from collections.abc import Sequence

from rankwell.errors import BadUsage


def rsum(recalls: Sequence[float]) -> float:
    """The sum of R@1, R@5 and R@10 of both directions, in their own unit: 600 percent at most. Source: Lee and others 2018, SCAN.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls)


def geometric_mean(recalls: Sequence[float]) -> float:
    """The geometric mean of R@1, R@5 and R@10 of one direction; 0 where one is 0. Source: Liu and others 2019, Use what you have.

    Raises BadUsage where there is none or one is negative.
    """
    _check(recalls)
    if min(recalls) < 0:
        raise BadUsage(f"a recall of {min(recalls)}; recalls are from 0.")
    return 0.0 if 0 in recalls else math.exp(math.fsum(map(math.log, recalls)) / len(recalls))


def mean_recall(recalls: Sequence[float]) -> float:
    """The mean of R@1, R@5 and R@10, of one direction or of both (`r_mean`). Source: Li and others 2023, LAVIS, itm_eval.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls) / len(recalls)


def _check(recalls: Sequence[float]) -> None:
    if not recalls:
        raise BadUsage("no recall is given; name at least one, as R@1.")
