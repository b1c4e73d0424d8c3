"""Conventions of retrieval by score matrix between captions and videos or images, and their own
options.
"""

from typing import Literal, NamedTuple

from rankwell.data.tables import MatrixTies

CaptionTies = MatrixTies | Literal["averaged", "multiplied"]
"""`averaged` places all tied items at the middle of their places (MMT); `multiplied` counts a query
once for each place of its tie (CLIP4Clip).
"""
Aggregate = Literal["rsum", "gmean", "r_mean"]
"""Aggregates of several R@K: the sum over both directions, the geometric mean of one direction's,
the mean of one direction's.
"""
VideoToText = Literal["among-captions", "among-videos"]
"""The candidates of a video: the best of its captions ranks among all captions, or, a video's
captions collapsed to the highest score, the video ranks among all videos.
"""


class CaptionConvention(NamedTuple):
    """Options of a convention for score matrices. Without a convention ties are averaged over all
    orders of tied items.

    t2v, v2t: the tie rule from text to video and from video to text.
    aggregates: sums and means of recalls that are reported where the user names no measure.
    protocol: the protocol from video to text.
    hits_after_last: whether a query without positives, whose rank is one after the last item,
        counts as a hit at a K beyond the last item.
    """

    t2v: CaptionTies = "expected"
    v2t: CaptionTies = "expected"
    aggregates: tuple[Aggregate, ...] = ()
    protocol: VideoToText = "among-captions"
    hits_after_last: bool = False
