"""The options of questions, retrieved documents and answers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    InputData,
    MeasureNames,
    RunColumns,
)
from rankwell.evaluation.options import StatisticsOptions

Relevance = Literal["document", "dpr", "kilt", "lower", "raw", "context"]
RetrieverDuplicates = Literal["error", "first", "best", "keep"]
RetrieverTies = Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"]
FormatName = Annotated[str | None, Doc("Name of a format, where content does not determine it.")]


@dataclass(frozen=True, kw_only=True)
class QaOptions(StatisticsOptions):
    """The choices that decide the values of `evaluate_qa`."""

    retrieved: Annotated[
        InputData,
        Doc(
            "A retriever's documents for each question: a run file, DPR's or Pyserini's "
            "retrieval results, Haystack's CSV, KILT, RAGAS.",
            is_common=True,
        ),
    ] = None
    k: Annotated[
        CutoffNumbers,
        Doc(
            "Cut-offs of answers, such as 1,5,10; by the plain measures and without --depth of "
            "documents, too. [default: 5]"
        ),
    ] = None
    depth: Annotated[
        int | None,
        Doc(
            "Number of first documents that count as retrieved. [default: the largest cut-off "
            "of documents, else 10]",
            is_common=True,
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Whose words and rules: piaf, piaf-article, haystack-finder, haystack-v1, squad1, "
            "squad2, mlqa, french, nq-open, triviaqa, dpr, kilt; rankwell for the plain ones."
        ),
    ] = "rankwell"
    measures: Annotated[
        MeasureNames,
        Doc(
            "A measure or a word of the convention, instead of its whole report; repeat "
            "it for more."
        ),
    ] = None
    isolated: Annotated[
        InputData,
        Doc(
            "What the same reader answered from the right passages: beside what it made "
            "of the retrieved ones."
        ),
    ] = None
    na_probs: Annotated[
        InputData,
        Doc(
            "Probability that each question has no answer: {id: number}; the best "
            "thresholds on it are searched."
        ),
    ] = None
    relevance: Annotated[
        Relevance | None,
        Doc(
            "What a relevant document is: the question's own (document), one that holds an "
            "answer (dpr: its tokens; kilt: its normal form; lower, raw: its text), or one "
            "that shares text with the question's own (context). [default: the "
            "convention's]"
        ),
    ] = None
    documents: Annotated[
        InputData, Doc("Texts of the documents by id, for relevance by answers or context.")
    ] = None
    ties: Annotated[
        RetrieverTies | None,
        Doc("Order of documents with equal scores in a run file. [default: the convention's]"),
    ] = None
    duplicates: Annotated[
        RetrieverDuplicates | None,
        Doc(
            "A document that is listed twice: an error, the first or the best of both is "
            "kept, or each place counts (keep). [default: error, unless the convention has another "
            "rule]",
            "Input",
        ),
    ] = None
    qrels_format: FormatName = None
    predictions_format: Annotated[
        str | None,
        Doc(
            "Name of the format of answers, where content does not determine it; "
            "haystack:isolated takes that part of Haystack's CSV.",
            "Input",
        ),
    ] = None
    run_format: FormatName = None
    columns: RunColumns = None
