"""The options of measures beyond accuracy."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.core.options import (
    ConventionName,
    InputData,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.core.tables.columns import Duplicates
from rankwell.stats import Intervals


@dataclass(frozen=True, kw_only=True)
class BeyondOptions:
    """The choices that decide the values of `evaluate_beyond`.

    Parameters
    ----------
    measures
        A measure such as Gini@10 or ILD(by='embeddings')@10, or a convention's word for one; repeat
        it for more, or separate names by blanks. Without it: those that the inputs allow.
    convention
        Whose words and rules: rankwell, recbole.
    k
        Number of first items that count for the measures that are reported without -m; 10 by
        default.
    catalogue
        Ids of all items that could be retrieved, one a line or a column of a table (items.csv:id);
        without it those of --interactions.
    interactions
        The training set: users and the items that each interacted with, in a table with or without
        grades, lines `user item`, or any format of judgments; grades above 0 count. A query has the
        id of its user.
    categories
        Table of items and their categories: the column of ids is item or id, the other is named, as
        in items.csv:genres; categories of one item are separated by |.
    groups
        Table of items and the groups that they belong to, in the same form, as in items.csv:artist.
    embeddings
        Vectors of items with their ids, in any format of embeddings.
    judgments
        Relevant items of each query, for Serendipity, EER and EEL; its queries count, and no
        others.
    judgments_format
        Name of the judgments' format, where their content does not show it: trec, letor, beir, csv,
        tsv, jsonl, json, parquet.
    run_format
        Name of the runs' format, likewise; also letor:FEATURE, msmarco, mteb,
        sentence-transformers.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    intervals
        95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as
        wide as Student's t), `bootstrap` (percentiles), Student's `t`, or none; figures of all
        lists together have none.
    seed
        Seed of the bootstrap.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"
    k: int | None = None
    catalogue: InputData = None
    interactions: InputData = None
    categories: Annotated[InputData, Option(("--item-categories",))] = None
    groups: Annotated[InputData, Option(("--item-groups",))] = None
    embeddings: Annotated[InputData, Option(("--item-embeddings",))] = None
    judgments: Annotated[InputData, Option(("--judgments",))] = None
    judgments_format: Annotated[str | None, Option(("--qrels-format",))] = None
    qrels_columns: JudgmentColumns = None
    run_format: str | None = None
    columns: RunColumns = None
    duplicates: Duplicates = "error"
    intervals: Intervals = "bootstrap-t"
    seed: int = 0
