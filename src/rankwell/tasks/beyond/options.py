"""The options of measures beyond accuracy."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.options import ConventionName, CutoffNumbers, Doc, InputData, MeasureNames
from rankwell.evaluation.options import (
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
            "A measure such as Gini@10 or ILD(by='embeddings')@10, or a convention's word "
            "for one; repeat it for more, or separate names by blanks. Without it: those "
            "that the inputs allow."
        ),
    ] = None
    convention: Annotated[ConventionName, Doc("Whose words and rules: rankwell, recbole.")] = (
        "rankwell"
    )
    k: Annotated[
        CutoffNumbers, Doc("Cut-offs of the measures that are reported without -m. [default: 10]")
    ] = None
    documents: Annotated[
        InputData,
        Doc(
            "Ids of all items that could be retrieved, one a line or a column of a table "
            "(items.csv:id); without it those of --interactions.",
            is_common=True,
        ),
    ] = None
    interactions: Annotated[
        InputData,
        Doc(
            "The training set: users and the items that each interacted with, in a table "
            "with or without grades, lines `user item`, or any format of judgments; "
            "grades above 0 count. A query has the id of its user.",
            is_common=True,
        ),
    ] = None
    item_categories: Annotated[
        InputData,
        Doc(
            "Table of items and their categories: the column of ids is item or id, the other is "
            "named, as in items.csv:genres; categories of one item are separated by |.",
            is_common=True,
        ),
    ] = None
    item_groups: Annotated[
        InputData,
        Doc(
            "Table of items and the groups that they belong to, in the same form, as in "
            "items.csv:artist."
        ),
    ] = None
    item_vectors: Annotated[
        InputData, Doc("Vectors of items with their ids, in any format of embeddings.")
    ] = None
    qrels: Annotated[
        InputData,
        Doc(
            "Relevant items of each query, for Serendipity, EER and EEL; its queries "
            "count, and no others.",
            is_common=True,
        ),
    ] = None
