"""The options of questions, retrieved documents and answers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import Doc, InputData, MeasureNames, Option, RunColumns
from rankwell.evaluation.options import StatisticsOptions
from rankwell.tasks.qa.answer_pairs import Extra, Missing
from rankwell.vectors.media.texts import TextSimilarity

Relevance = Literal["document", "dpr", "kilt", "lower", "raw", "context"]
RetrieverDuplicates = Literal["error", "first", "best", "keep"]
RetrieverTies = Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"]
ThresholdTies = Literal["whole", "official"]
FormatName = Annotated[str | None, Doc("Name of a format, where content does not determine it.")]


@dataclass(frozen=True, kw_only=True)
class QaOptions(StatisticsOptions):
    """The choices that decide the values of `evaluate_qa`."""

    retrieved: Annotated[
        InputData,
        Doc(
            "A retriever's documents for each question: a run file, DPR's or Pyserini's "
            "retrieval results, Haystack's CSV, KILT, RAGAS."
        ),
    ] = None
    k: Annotated[
        int | None, Doc("Number of first answers that top-k measures use; 5 by default.")
    ] = None
    retriever_k: Annotated[
        int | None, Doc("Number of first documents that count as retrieved; 10 by default.")
    ] = None
    convention: Annotated[
        str | None,
        Option(("--convention", "-c")),
        Doc(
            "Whose words and rules: piaf, or squad2 and squad1 for texts that answer a "
            "file of SQuAD 2.0 and 1.1, unless one is named: piaf-article, "
            "haystack-finder, haystack-v1, squad1, squad2, mlqa, french, nq-open, …"
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "A measure or a word of the convention, instead of its whole report; repeat "
            "it for more."
        ),
    ] = None
    normalizer: Annotated[
        str | None,
        Doc(
            "How texts are made comparable, instead of the convention's rule: squad, "
            "english, french, mlqa-de, none, …"
        ),
    ] = None
    language: Annotated[
        str | None,
        Doc("Language of the answers, for conventions with rules for several, such as mlqa."),
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
    na_threshold: Annotated[
        float | None, Doc("No answer counts as given where the number is above this.")
    ] = None
    na_ties: Annotated[
        ThresholdTies | None,
        Doc(
            "Best thresholds with equal numbers on one side (whole), or as SQuAD's "
            "official script finds them, by the file's order."
        ),
    ] = None
    relevance: Annotated[
        Relevance | None,
        Doc(
            "What a relevant document is: the question's own (document), one that holds "
            "an answer (dpr: its tokens; kilt: its normal form; lower, raw: its text), or "
            "one that shares text with the question's own (context); by default the "
            "convention's."
        ),
    ] = None
    corpus: Annotated[
        InputData, Doc("Texts of the documents by id, for relevance by answers or context.")
    ] = None
    context_share: Annotated[
        float | None,
        Doc(
            "Share of the shorter text that two documents must have in common to be the "
            "same context, from 0 to 1; 0.65 by default."
        ),
    ] = None
    context_similarity: Annotated[
        TextSimilarity | None,
        Doc(
            "Instead, how similar their whole texts are, for paraphrases: words (F1 of "
            "the words), or levenshtein, hamming, jaro or jaro-winkler, 1 less the "
            "normalised distance."
        ),
    ] = None
    context_threshold: Annotated[
        float | None,
        Doc(
            "The least such similarity of two documents that are the same context; 0.5 by default."
        ),
    ] = None
    ties: Annotated[
        RetrieverTies | None,
        Doc("Order of documents with equal scores in a run file; by default the convention's."),
    ] = None
    duplicates: Annotated[
        RetrieverDuplicates | None,
        Doc(
            "A document that is listed twice: an error, the first or the best of both is "
            "kept, or each place counts (keep); by default the convention's: keep under "
            "piaf."
        ),
    ] = None
    missing: Annotated[
        Missing | None,
        Doc(
            "A question without a prediction counts 0 (zero), as answered by nothing "
            "(empty), is left out (skip), or is an error."
        ),
    ] = None
    extra: Annotated[
        Extra | None, Doc("A prediction without a question is ignored (ignore), or an error.")
    ] = None
    right: Annotated[
        str | None,
        Doc(
            "The word that decides whether a question is answered rightly; by default the "
            "first of the report."
        ),
    ] = None
    gold_format: FormatName = None
    predictions_format: Annotated[
        str | None, Doc("Likewise; haystack:isolated takes that part of Haystack's CSV.")
    ] = None
    retrieved_format: FormatName = None
    columns: RunColumns = None
    isolated_format: FormatName = None
