"""The options of questions, retrieved documents and answers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    MappingData,
    MeasureNames,
    RunColumns,
    TableData,
)
from rankwell.evaluation.options import StatisticsOptions

Relevance = Literal["document", "dpr", "kilt", "lower", "raw", "context"]
RetrieverDuplicates = Literal["error", "first", "best", "keep"]
RetrieverTies = Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"]
FormatName = Annotated[
    str | None, Doc("Name of a format, if the content does not determine it.", "Input")
]


@dataclass(frozen=True, kw_only=True)
class QaOptions(StatisticsOptions):
    """The choices that decide the values of `evaluate_qa`."""

    retrieved: Annotated[
        TableData,
        Doc(
            "A retriever's documents for each question: a run file, DPR's or Pyserini's "
            "retrieval results, Haystack's CSV, KILT, RAGAS.",
            is_common=True,
        ),
    ] = None
    k: Annotated[
        CutoffNumbers,
        Doc(
            "Cut-offs of answers, such as 1,5,10; with plain measures and without --depth, also "
            "of documents. [default: 5]"
        ),
    ] = None
    depth: Annotated[
        int | None,
        Doc(
            "Number of top documents that count as retrieved. [default: the largest cut-off of "
            "documents, else 10]",
            is_common=True,
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Convention for names and rules: piaf, piaf-article, haystack-finder, haystack-v1, "
            "squad1, squad2, mlqa, french, nq-open, triviaqa, dpr, kilt; rankwell for plain rules."
        ),
    ] = "rankwell"
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas, by their own names or the convention's. [default: the "
            "whole report]"
        ),
    ] = None
    isolated: Annotated[
        TableData,
        Doc(
            "Answers of the same reader from the right passages, to set beside those from the "
            "retrieved ones."
        ),
    ] = None
    na_probs: Annotated[
        MappingData,
        Doc(
            "Probability that each question has no answer, as a JSON file {id: number}; the best "
            "thresholds are searched for."
        ),
    ] = None
    relevance: Annotated[
        Relevance | None,
        Doc(
            "Which documents are relevant: the question's own (document), those that contain an "
            "answer (dpr: its tokens; kilt: its normal form; lower, raw: its text), or those that "
            "share text with the question's own (context). [default: the convention's]"
        ),
    ] = None
    documents: Annotated[
        TableData, Doc("Texts of the documents by id, for relevance by answers or context.")
    ] = None
    ties: Annotated[
        RetrieverTies | None,
        Doc("Order of documents with equal scores in a run file. [default: the convention's]"),
    ] = None
    duplicates: Annotated[
        RetrieverDuplicates | None,
        Doc(
            "Document listed twice: an error, the first or the best is kept, or each rank counts "
            "(keep). [default: error, unless the convention has another rule]",
            "Input",
        ),
    ] = None
    qrels_format: FormatName = None
    predictions_format: Annotated[
        str | None,
        Doc(
            "Format of the answers, if the content does not determine it; haystack:isolated reads "
            "that part of Haystack's CSV.",
            "Input",
        ),
    ] = None
    run_format: FormatName = None
    columns: RunColumns = None
