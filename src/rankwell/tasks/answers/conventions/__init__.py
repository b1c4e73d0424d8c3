"""Conventions of question answering, and their own options."""

from collections.abc import Mapping
from typing import Literal, NamedTuple


class AnswerConvention(NamedTuple):
    """Options of a convention for answers to questions.

    labels: its words for measures of answers, in the order of its report; those without a cut-off
        look at the first k answers.
    retriever: its words for measures of retrieved documents, with `@` where the word includes the
        cut-off.
    relevance: a relevant document: one that a right answer refers to (`document`), or any that
        holds a right answer's text by a rule of `texts.CONTAINMENTS`.
    impossible: a question is so if it is `unanswered`, or only if it is also `flagged`.
    missing: the value of a question without a prediction.
    other_words: another word for a label -> the label.
    languages: language -> its normaliser.
    duplicates: `keep` counts a document at each place of a list.
    nothing_to_find: the value of every measure of a retriever for an impossible question: 1
        (`right`), or as for any other, by the document of the question (`judged`).
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
