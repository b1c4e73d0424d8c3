"""The options of questions, retrieved documents and answers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.core.options import InputData, MeasureNames, Option, RunColumns
from rankwell.media.similarity import TextSimilarity
from rankwell.stats import Intervals
from rankwell.tasks.answers.answer_pairs import Extra, Missing
from rankwell.tasks.answers.retrieval import Relevance
from rankwell.tasks.answers.thresholds import ThresholdTies

RetrieverDuplicates = Literal["error", "first", "best", "keep"]
RetrieverTies = Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"]


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """The choices that decide the values of `evaluate_answers`.

    Parameters
    ----------
    retrieved
        A retriever's documents for each question: a run file, DPR's or Pyserini's retrieval
        results, Haystack's CSV, KILT, RAGAS.
    k
        Number of first answers that top-k measures use; 5 by default.
    retriever_k
        Number of first documents that count as retrieved; 10 by default.
    convention
        Whose words and rules: piaf, or squad2 and squad1 for texts that answer a file of SQuAD 2.0
        and 1.1, unless one is named: piaf-article, haystack-finder, haystack-v1, squad1, squad2,
        mlqa, french, nq-open, …
    measures
        A measure or a word of the convention, instead of its whole report; repeat it for more.
    normalizer
        How texts are made comparable, instead of the convention's rule: squad, english, french,
        mlqa-de, none, …
    language
        Language of the answers, for conventions with rules for several, such as mlqa.
    isolated
        What the same reader answered from the right passages: beside what it made of the retrieved
        ones.
    na_probs
        Probability that each question has no answer: {id: number}; the best thresholds on it are
        searched.
    na_threshold
        No answer counts as given where the number is above this.
    na_ties
        Best thresholds with equal numbers on one side (whole), or as SQuAD's official script finds
        them, by the file's order.
    relevance
        What a relevant document is: the question's own (document), one that holds an answer (dpr:
        its tokens; kilt: its normal form; lower, raw: its text), or one that shares text with the
        question's own (context); by default the convention's.
    corpus
        Texts of the documents by id, for relevance by answers or context.
    context_share
        Share of the shorter text that two documents must have in common to be the same context,
        from 0 to 1; 0.65 by default.
    context_similarity
        Instead, how similar their whole texts are, for paraphrases: words (F1 of the words), or
        levenshtein, hamming, jaro or jaro-winkler, 1 less the normalised distance.
    context_threshold
        The least such similarity of two documents that are the same context; 0.5 by default.
    ties
        Order of documents with equal scores in a run file; by default the convention's.
    duplicates
        A document that is listed twice: an error, the first or the best of both is kept, or each
        place counts (keep); by
        default the convention's: keep under piaf.
    missing
        A question without a prediction counts 0 (zero), as answered by nothing (empty), is left out
        (skip), or is an error.
    extra
        A prediction without a question is ignored (ignore), or an error.
    right
        The word that decides whether a question is answered rightly; by default the first of the
        report.
    gold_format
        Name of a format, where content does not determine it.
    predictions_format
        Likewise; haystack:isolated takes that part of Haystack's CSV.
    retrieved_format
        Likewise.
    isolated_format
        Likewise.
    intervals
        95 % intervals over questions: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    seed
        Seed of the bootstrap.
    """

    retrieved: InputData = None
    k: int | None = None
    retriever_k: int | None = None
    convention: Annotated[str | None, Option(("--convention", "-c"))] = None
    measures: MeasureNames = None
    normalizer: str | None = None
    language: str | None = None
    isolated: InputData = None
    na_probs: InputData = None
    na_threshold: float | None = None
    na_ties: ThresholdTies | None = None
    relevance: Relevance | None = None
    corpus: InputData = None
    context_share: float | None = None
    context_similarity: TextSimilarity | None = None
    context_threshold: float | None = None
    ties: RetrieverTies | None = None
    duplicates: RetrieverDuplicates | None = None
    missing: Missing | None = None
    extra: Extra | None = None
    right: str | None = None
    gold_format: str | None = None
    predictions_format: str | None = None
    retrieved_format: str | None = None
    columns: RunColumns = None
    isolated_format: str | None = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0
