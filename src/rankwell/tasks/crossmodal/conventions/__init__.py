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
    aggregates: sums and means of recalls that are reported if you name no measure.
    protocol: the candidates from video to text: all captions, of which a video's best one counts
        (`among-captions`), or all videos, each scored by its best caption (`among-videos`).
    hits_after_last: whether a query without positives, which ranks one place after the last item,
        is a hit if K is larger than the gallery.
    """

    t2v: CaptionTies = "expected"
    v2t: CaptionTies = "expected"
    aggregates: tuple[Aggregate, ...] = ()
    protocol: VideoToText = "among-captions"
    hits_after_last: bool = False
