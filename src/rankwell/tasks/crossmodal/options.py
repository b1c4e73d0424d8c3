"""The options of text-video retrieval."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    IdData,
    MeasureNames,
    PartOptions,
    TableData,
    VectorData,
)
from rankwell.evaluation.options import (
    BankOption,
    MeasureOptions,
    Similarity,
    StatisticsOptions,
    TieOptions,
)


@dataclass(frozen=True, kw_only=True)
class CrossmodalChoices(TieOptions, StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `crossmodal`; vectors of both sides replace scores."""

    query_vectors: Annotated[
        VectorData, Doc("Embeddings of the captions, in place of scores.", is_common=True)
    ] = None
    item_vectors: Annotated[VectorData, Doc("Embeddings of the videos.", is_common=True)] = None
    metric: Similarity = None
    direction: Annotated[
        str,
        Doc(
            "Text to video (t2v: rows are queries), video to text (v2t: columns are queries), or "
            "both; v2t ranks captions, v2t-videos ranks videos by their best caption; "
            "t2v,v2t,v2t-videos is all.",
            is_common=True,
        ),
    ] = "both"
    folds: Annotated[
        int | None,
        Doc(
            "Number of equal folds to split the videos into, in table order, each with its own "
            "captions; values are means over folds. COCO's 1K test is --folds 5 on its 5,000 "
            "images. [default: all videos together]"
        ),
    ] = None
    k: Annotated[
        CutoffNumbers, Doc("Cut-offs of R@K, such as 1,5,10,50. [default: the convention's]")
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas, such as nDCG@10,AP, a convention's names for them, or "
            "rsum, gmean or r_mean. [default: the convention's]"
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Convention for names and rules: hgr, mmt, frozen, clip4clip, clip4clip-multi, vse, "
            "lavis; rankwell for plain rules, others for their measures."
        ),
    ] = "rankwell"
    ties: Annotated[
        str | None,
        Doc(
            "Order of items with equal scores: by position (input, input-desc) or id (id-asc, "
            "id-desc), the mean over all orders (expected), positives first (optimistic) or last "
            "(pessimistic), at their mean rank (averaged, MMT), a query for each tied rank "
            "(multiplied, CLIP4Clip), refused (error). [default: the convention's]"
        ),
    ] = None
    mask: Annotated[
        IdData,
        Doc(
            "File with 1 for each caption that exists and 0 for each that is missing: .npy or JSON."
        ),
    ] = None
    transform: Annotated[
        str | None,
        Doc(
            "Transform the scores first, such as with 'dual-softmax(temperature=0.02)' or "
            "'querybank(beta=20)', which needs --bank."
        ),
    ] = None
    bank: BankOption = None
    query_ids: Annotated[IdData, Doc("File of caption ids, one per line.")] = None
    item_ids: Annotated[IdData, Doc("File of video ids.")] = None
    queries: Annotated[
        TableData,
        Doc(
            "Caption texts, in a file with one per line or with ids and texts: captions with "
            "equal words lower the ceiling, and pages of results show the texts. Without it, "
            "captions with bit-identical scores count as the same.",
            is_common=True,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CrossmodalOptions(CrossmodalChoices, PartOptions):
    """Options of `crossmodal`: its choices, and those of the parts of comparing vectors."""
