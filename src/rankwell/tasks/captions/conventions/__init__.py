"""Conventions of retrieval by score matrix between captions and videos or images, and their own options."""

from typing import Literal, NamedTuple

from rankwell.core.tables import MatrixTies

Aggregate = Literal["rsum", "gmean", "r_mean"]
"""Aggregates of several R@K: the sum over both directions, the geometric mean of one direction's, the mean of one direction's."""
VideoToText = Literal["among-captions", "among-videos"]
"""The candidates of a video: the best of its captions ranks among all captions, or, a video's captions collapsed to the highest
score, the video ranks among all videos."""


class DirectionRules(NamedTuple):
    """Rules of one direction of a score matrix. protocol: of video to text only."""

    ties: MatrixTies
    protocol: VideoToText = "among-captions"


class CaptionConvention(NamedTuple):
    """Options of a convention for score matrices; without one, ties are averaged over all orders of tied items."""

    t2v: DirectionRules = DirectionRules(ties="expected")
    v2t: DirectionRules = DirectionRules(ties="expected")
    aggregates: tuple[Aggregate, ...] = ()
