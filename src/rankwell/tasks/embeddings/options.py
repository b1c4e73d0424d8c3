"""The options of a comparison of models."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.conventions import find_convention
from rankwell.data.options import (
    ConventionName,
    Cutoffs,
    Doc,
    IdData,
    JudgmentColumns,
    MeasureNames,
    Option,
    PartOptions,
    RunColumns,
)
from rankwell.data.registry import measure_names
from rankwell.evaluation.options import EmbeddingIds, IntervalOptions, JudgmentData, MeasureOptions
from rankwell.tasks.embeddings.conventions import AgreementConvention


@dataclass(frozen=True, kw_only=True)
class EmbeddingOptions(IntervalOptions, MeasureOptions, PartOptions):
    """The choices that decide the values of `embeddings`."""

    k: Cutoffs = "1,3,5,10"
    samples: Annotated[
        int | str,
        Option(kind=str),
        Doc(
            "Number of queries to sample from the items without replacement, or all.",
            "Statistics",
            is_common=True,
        ),
    ] = 500
    seed: Annotated[int | None, Doc("Random seed. [default: 0, or 42 under scholar-stream]")] = None
    metric: Annotated[
        Literal["cosine", "dot", "l2"],
        Doc("Similarity of two vectors: cosine, dot, or l2.", is_common=True),
    ] = "cosine"
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas: at every cut-off (nDCG), at one (nDCG@5), or with "
            "gains (nDCG(gains='similarity')), or all, including alignment and hubs. [default: "
            "the overlap]"
        ),
    ] = None
    item_ids: EmbeddingIds = None
    exclude_group: Annotated[
        IdData,
        Doc(
            "File or column of labels, one per item: an item with the query's label is "
            "not a neighbour."
        ),
    ] = None
    qrels: Annotated[
        JudgmentData,
        Doc(
            "Judgments whose query and item ids are those of the embeddings; the reference is "
            "evaluated against them as well as the candidates."
        ),
    ] = None
    qrels_columns: JudgmentColumns = None
    columns: RunColumns = None
    ceiling: Annotated[
        bool, Doc("Also report the agreement of the reference with itself in float16.")
    ] = False
    convention: Annotated[
        ConventionName, Doc("Convention for names and rules: rankwell or scholar-stream.")
    ] = "rankwell"

    @property
    def has_all_measures(self) -> bool:
        """Whether all measures of neighbours, of alignment and of hubs are asked for."""
        return measure_names(self.measures) == ["all"]

    @property
    def sampling_seed(self) -> int:
        """The user's seed, else the convention's."""
        if self.seed is not None:
            return self.seed
        convention = find_convention(self.convention, "embeddings")
        return convention.rules_of("embeddings", AgreementConvention()).seed
