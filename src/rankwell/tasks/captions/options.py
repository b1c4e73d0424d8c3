"""The options of text-video retrieval."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.core.options import ConventionName, CutoffNumbers, InputData, MeasureNames, Option
from rankwell.parts.options import PartOptions
from rankwell.stats import Intervals

Which = Literal["both", "t2v", "v2t"]
Protocol = Literal["among-captions", "among-videos", "both"]


@dataclass(frozen=True, kw_only=True)
class CaptionOptions:
    """The choices that decide the values of `captions`; queries and gallery replace scores.

    Parameters
    ----------
    queries
        Embeddings of the captions, in place of scores.
    gallery
        Embeddings of the videos.
    metric
        Similarity of embeddings: cosine (where none is named), dot, or l2 (negative distance).
    direction
        From text to video (rows are queries), from video to text (columns are), or both.
    protocol
        From video to text: among-captions ranks a video's best caption among all captions,
        among-videos collapses each video's captions to the highest score and ranks videos; both; by
        default the convention's.
    folds
        Number of equal parts into which the videos are cut in the order of the table, each with its
        own captions; values are the means over parts. COCO's 1K is --folds 5 of its 5,000 images.
    k
        Cut-offs of R@K, such as 1,5,10,50; by default the convention's.
    measures
        A measure such as nDCG@10 or AP, a convention's word for one, or rsum, gmean or r_mean;
        repeat it for more.
    convention
        Whose words and rules: hgr, mmt, frozen, clip4clip, clip4clip-multi, vse, lavis; rankwell
        and others for their measures.
    ties
        Items with equal scores: by position (input, input-desc) or id (id-asc, id-desc), the mean
        over all orders (expected), in favour of positives (optimistic) or against them
        (pessimistic), at the mean of their places (averaged, MMT), a query for each place
        (multiplied, CLIP4Clip), refused (error); by default the convention's.
    no_relevant
        A query without positives: ranks after all items (empty), is left out (skip), or is an
        error; by default the convention's.
    mask
        File of 1 for each caption that is there and 0 for each that is missing: .npy or JSON.
    transform
        Change the scores first, such as by 'dual-softmax(temperature=0.02)' or
        'querybank(beta=20)', which needs --bank.
    bank
        Scores of other queries with the same gallery, for querybank.
    query_ids
        File of the captions' ids, one a line.
    item_ids
        File of the videos' ids.
    texts
        What the captions say, in a file of a line each or of ids and texts: captions of equal words
        hold the ceiling down, and pages of the results show them. Without it, captions whose scores
        are equal to the last bit count as the same.
    intervals
        95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    seed
        Seed of the bootstrap.
    """

    queries: InputData = None
    gallery: InputData = None
    metric: Literal["cosine", "dot", "l2"] | None = None
    direction: Which = "both"
    protocol: Protocol | None = None
    folds: int | None = None
    k: CutoffNumbers = None
    measures: MeasureNames = None
    convention: ConventionName = "hgr"
    ties: str | None = None
    no_relevant: Literal["empty", "skip", "error"] | None = None
    mask: InputData = None
    transform: str | None = None
    bank: InputData = None
    query_ids: InputData = None
    item_ids: InputData = None
    texts: Annotated[InputData, Option(("--query-texts", "--texts"))] = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class CaptionPartOptions(CaptionOptions, PartOptions):
    """The options of `captions`: its choices, and those of the parts in which embeddings are
    compared.
    """
