"""The options of a comparison of models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.core.options import (
    ConventionName,
    InputData,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.parts.options import PartOptions
from rankwell.stats import Intervals


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The choices that decide the values of `agree`.

    Parameters
    ----------
    k
        Cut-offs, separated by commas.
    samples
        Number of queries, drawn from the items without replacement, or all.
    seed
        Seed of the sample (NumPy's RandomState) and of the bootstrap.
    gold_depth
        Number of first items of the reference that are relevant, for measures with a relevant set;
        by default the largest cut-off, each cut-off under scholar-stream.
    metric
        Similarity of two vectors: cosine, dot, or l2.
    measures
        A measure at every cut-off (nDCG), at one (nDCG@5), or with gains
        (nDCG(gains='similarity')); repeat it for more.
    ids
        File or column of the items' ids, for embeddings that have none of their own.
    exclude
        File or column of labels, one per item: an item with the query's label is not a neighbour.
    labels
        Judgments whose queries and items are ids of the embeddings; the reference is judged by them
        beside the candidates.
    ceiling
        Also the agreement of the reference with itself in float16.
    eps
        The tolerance of similarity of EpsRecall and of the reference's margin.
    convention
        Whose words and rules: rankwell or scholar-stream.
    intervals
        95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    """

    k: Annotated[Sequence[int] | int | str, Option(kind=str)] = "1,3,5,10"
    samples: Annotated[int | str, Option(("--samples", "--n-samples"), kind=str)] = 500
    seed: int = 42
    gold_depth: int | None = None
    metric: Literal["cosine", "dot", "l2"] = "cosine"
    measures: MeasureNames = None
    ids: InputData = None
    exclude: InputData = None
    labels: InputData = None
    qrels_columns: JudgmentColumns = None
    columns: RunColumns = None
    ceiling: bool = False
    eps: float = 0.005
    convention: ConventionName = "rankwell"
    intervals: Intervals = "bootstrap-t"


@dataclass(frozen=True, kw_only=True)
class AgreementPartOptions(AgreementOptions, PartOptions):
    """The options of `agree`: its choices, and those of the parts in which neighbours are
    sought.
    """
