"""Conventions of question answering, and their own options."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from rankwell.vectors.media.texts import TextSimilarity

ThresholdTies = Literal["whole", "official"]


class AnswerConvention(NamedTuple):
    """Options of a convention for answers to questions.

    labels: the words for measures of answers, in the order of the report, with `@` if the word
        includes the cut-off.
    without_cutoff: the number of answers that a word without a cut-off reads: `k`, or `one`.
    refusals: answers that say that there is none, compared as SQuAD compares texts; a final *
        stands for any further words.
    more_refusals: refusals that your own file adds.
    retriever: the words for measures of retrieved documents, with `@` if the word includes the
        cut-off.
    relevance: which documents are relevant: those that a right answer refers to (`document`), or
        any that contain the text of one, by the rules of `dpr`, `kilt`, `lower` or `raw`.
    impossible: which questions are impossible: all that are `unanswered`, or only those that are
        also `flagged`.
    missing: whether a question without a prediction scores 0 (`zero`), counts as unanswered
        (`empty`), is left out (`skip`), or is an `error`.
    other_words: another word for a label -> the label.
    languages: language -> its normalisation.
    duplicates: whether a document that is twice in a list is an `error`, or counts at each rank
        (`keep`).
    nothing_to_find: the value of a retriever's measures for an impossible question: 1 (`right`), or
        the value for the question's document, as for any other question (`judged`).
    language: the language of the answers, of `languages`; "" for the first of them.
    normalizer: the normalisation of texts, in place of that of the measures; "" for theirs.
    na_threshold: a question with a higher no-answer probability counts as unanswered; None for the
        measures' own threshold.
    na_ties: whether the best thresholds keep equal probabilities together (`whole`), or go through
        the file in its order, as SQuAD's `official` script does.
    extra: whether a prediction without a question is ignored (`ignore`), or is an `error`.
    context_share: for relevance by context, the share of the shorter text that two documents must
        have in common to be the same context, above 0 and at most 1.
    context_similarity: in place of `context_share`, the similarity of whole texts, for paraphrases:
        `words` (F1 of the words), or 1 minus a normalised distance; None for the share.
    context_threshold: the lowest such similarity of the same context, above 0 and at most 1.
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
