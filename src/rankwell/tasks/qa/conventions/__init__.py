"""Conventions of question answering, and their own options."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from rankwell.vectors.media.texts import TextSimilarity

ThresholdTies = Literal["whole", "official"]


class AnswerConvention(NamedTuple):
    """Options of a convention for answers to questions.

    labels: the words for measures of answers, in the order of its report, with `@` where the word
        includes the cut-off.
    without_cutoff: how many answers a word without a cut-off looks at: the first `k`, or `one`.
    refusals: answers that say that there is none, compared as SQuAD compares texts; * at the end
        stands for any further words.
    more_refusals: further ones, for the file of a user.
    retriever: the words for measures of retrieved documents, with `@` where the word includes the
        cut-off.
    relevance: which documents are relevant: those that a right answer refers to (`document`), or
        any that holds a right answer's text by a rule of `texts.CONTAINMENTS`.
    impossible: which questions are impossible: all that are `unanswered`, or only those that are
        also `flagged`.
    missing: whether a question without a prediction counts 0 (`zero`), as answered by nothing
        (`empty`), is left out (`skip`), or is an error.
    other_words: another word for a label -> the label.
    languages: language -> its normalisation.
    duplicates: whether a document that a list holds twice is an `error` or counts at each rank
        (`keep`).
    nothing_to_find: the value of every measure of a retriever for an impossible question: 1
        (`right`), or the value by the document of the question, as for any other question
        (`judged`).
    language: the language of the answers, of `languages`; "" for the first of them.
    normalizer: how texts are made comparable, in place of the rule of the measures; "" for theirs.
    na_threshold: no answer counts as given where its number is above this; None for the measures'
        own threshold.
    na_ties: whether the best thresholds leave equal numbers on one side (`whole`), or are searched
        as SQuAD's `official` script does, by the file's order.
    extra: whether a prediction without a question is ignored, or is an error.
    context_share: for relevance by context, the share of the shorter text that two documents must
        have in common to be the same context, above 0 and at most 1.
    context_similarity: instead, how similar their whole texts are, for paraphrases: `words` (F1 of
        the words), or 1 less a normalised distance; None for the share.
    context_threshold: the least such similarity of the same context, above 0 and at most 1.
    """

    labels: tuple[str, ...] = ()
    without_cutoff: Literal["k", "one"] = "k"
    refusals: tuple[str, ...] = ()
    more_refusals: tuple[str, ...] = ()
    retriever: tuple[str, ...] = ()
    relevance: Literal["document", "dpr", "kilt", "lower", "raw"] = "document"
    impossible: Literal["unanswered", "flagged"] = "unanswered"
    missing: Literal["zero", "empty", "skip", "error"] = "zero"
    other_words: Mapping[str, str] = {}
    languages: Mapping[str, str] = {}
    duplicates: Literal["error", "keep"] = "error"
    nothing_to_find: Literal["judged", "right"] = "judged"
    language: str = ""
    normalizer: str = ""
    na_threshold: float | None = None
    na_ties: ThresholdTies = "whole"
    extra: Literal["ignore", "error"] = "ignore"
    context_share: float = 0.65
    context_similarity: TextSimilarity | None = None
    context_threshold: float = 0.5
