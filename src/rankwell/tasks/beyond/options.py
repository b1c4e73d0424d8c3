"""The options of measures beyond accuracy."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    IdData,
    MappingData,
    MeasureNames,
    VectorData,
)
from rankwell.evaluation.options import (
    JudgmentData,
    JudgmentFileOptions,
    MeasureOptions,
    RunFileOptions,
    StatisticsOptions,
)


@dataclass(frozen=True, kw_only=True)
class BeyondOptions(RunFileOptions, JudgmentFileOptions, StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate_beyond`."""

    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas, such as Gini@10,ILD(by='embeddings')@10, or a "
            "convention's names for them. [default: all that the inputs allow]"
        ),
    ] = None
    convention: Annotated[
        ConventionName, Doc("Convention for names and rules: rankwell, recbole.")
    ] = "rankwell"
    k: Annotated[
        CutoffNumbers, Doc("Cut-offs of the measures reported without -m. [default: 10]")
    ] = None
    documents: Annotated[
        IdData,
        Doc(
            "Ids of all items that could be retrieved, one per line or a column of a table "
            "(items.csv:id); without it, the ids in --interactions.",
            is_common=True,
        ),
    ] = None
    interactions: Annotated[
        JudgmentData,
        Doc(
            "Training set: users and the items that each interacted with, as a table with or "
            "without grades, lines `user item`, or any format of judgments; grades above 0 count. "
            "The id of a query is that of its user.",
            is_common=True,
        ),
    ] = None
    item_categories: Annotated[
        MappingData,
        Doc(
            "Table of items and their categories: ids are in the column item or id; name the "
            "other, as in items.csv:genres; separate the categories of an item with |.",
            is_common=True,
        ),
    ] = None
    item_groups: Annotated[
        MappingData,
        Doc("Table of items and their groups, in the same form, as in items.csv:artist."),
    ] = None
    item_vectors: Annotated[
        VectorData, Doc("Item vectors with their ids, in any format of embeddings.")
    ] = None
    qrels: Annotated[
        JudgmentData,
        Doc(
            "Relevant items of each query, for Serendipity, EER and EEL; only its queries count.",
            is_common=True,
        ),
    ] = None
