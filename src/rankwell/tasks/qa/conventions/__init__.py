"""Conventions of question answering, and their own options."""

from collections.abc import Mapping
from typing import Literal, NamedTuple


class AnswerConvention(NamedTuple):
    """Options of a convention for answers to questions.

    labels: the words for measures of answers, in the order of its report; labels without a cut-off
        look at the first k answers.
    retriever: the words for measures of retrieved documents, with `@` where the word includes the
        cut-off.
    relevance: which documents are relevant: those that a right answer refers to (`document`), or
        any that holds a right answer's text by a rule of `texts.CONTAINMENTS`.
    impossible: which questions are impossible: all that are `unanswered`, or only those that are
        also `flagged`.
    missing: the value of a question without a prediction.
    other_words: another word for a label -> the label.
    languages: language -> its normalisation.
    duplicates: whether a document that a list holds twice is an `error` or counts at each rank
        (`keep`).
    nothing_to_find: the value of every measure of a retriever for an impossible question: 1
        (`right`), or the value by the document of the question, as for any other question
        (`judged`).
    """

    labels: tuple[str, ...] = ()
    retriever: tuple[str, ...] = ()
    relevance: Literal["document", "dpr", "kilt", "lower", "raw"] = "document"
    impossible: Literal["unanswered", "flagged"] = "unanswered"
    missing: Literal["zero", "empty"] = "zero"
    other_words: Mapping[str, str] = {}
    languages: Mapping[str, str] = {}
    duplicates: Literal["error", "keep"] = "error"
    nothing_to_find: Literal["judged", "right"] = "judged"
