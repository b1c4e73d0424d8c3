"""The options of text-video retrieval."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    InputData,
    MeasureNames,
    PartOptions,
)
from rankwell.evaluation.options import (
    BankOption,
    MeasureOptions,
    Similarity,
    StatisticsOptions,
    TieOptions,
)


@dataclass(frozen=True, kw_only=True)
class CrossmodalOptions(TieOptions, StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `crossmodal`; vectors of both sides replace scores."""

    query_vectors: Annotated[
        InputData, Doc("Embeddings of the captions, in place of scores.", is_common=True)
    ] = None
    item_vectors: Annotated[InputData, Doc("Embeddings of the videos.", is_common=True)] = None
    metric: Similarity = None
    direction: Annotated[
        str,
        Doc(
            "From text to video (t2v: rows are queries), from video to text (v2t: columns are), or "
            "both; v2t-videos ranks videos, by the best of their captions, where v2t ranks "
            "captions; t2v,v2t,v2t-videos is all.",
            is_common=True,
        ),
    ] = "both"
    folds: Annotated[
        int | None,
        Doc(
            "Number of equal parts into which the videos are cut in the order of the "
            "table, each with its own captions; values are the means over parts. COCO's "
            "1K is --folds 5 of its 5,000 images."
        ),
    ] = None
    k: Annotated[
        CutoffNumbers, Doc("Cut-offs of R@K, such as 1,5,10,50. [default: the convention's]")
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "A measure such as nDCG@10 or AP, a convention's word for one, or rsum, gmean "
            "or r_mean; repeat it for more."
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Whose words and rules: hgr, mmt, frozen, clip4clip, clip4clip-multi, vse, lavis; "
            "rankwell for the plain ones, others for their measures."
        ),
    ] = "rankwell"
    ties: Annotated[
        str | None,
        Doc(
            "Items with equal scores: by position (input, input-desc) or id (id-asc, "
            "id-desc), the mean over all orders (expected), in favour of positives "
            "(optimistic) or against them (pessimistic), at the mean of their places "
            "(averaged, MMT), a query for each place (multiplied, CLIP4Clip), refused "
            "(error). [default: the convention's]"
        ),
    ] = None
    mask: Annotated[
        InputData,
        Doc(
            "File of 1 for each caption that is there and 0 for each that is missing: .npy or JSON."
        ),
    ] = None
    transform: Annotated[
        str | None,
        Doc(
            "Change the scores first, such as by 'dual-softmax(temperature=0.02)' or "
            "'querybank(beta=20)', which needs --bank."
        ),
    ] = None
    bank: BankOption = None
    query_ids: Annotated[InputData, Doc("File of the captions' ids, one a line.")] = None
    item_ids: Annotated[InputData, Doc("File of the videos' ids.")] = None
    queries: Annotated[
        InputData,
        Doc(
            "What the captions say, in a file of a line each or of ids and texts: captions of "
            "equal words hold the ceiling down, and pages of the results show them. Without it, "
            "captions whose scores are equal to the last bit count as the same.",
            is_common=True,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CrossmodalPartOptions(CrossmodalOptions, PartOptions):
    """The options of `crossmodal`: its choices, and those of the parts in which embeddings are
    compared.
    """
