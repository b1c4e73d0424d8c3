"""Conventions of question answering, and their own options."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from rankwell.conventions import Convention, convention


class AnswerConvention(NamedTuple):
    """Options of a convention for answers to questions.

    labels: its words for measures of answers, in the order of its report; those without a cut-off look at the first k answers.
    retriever: its words for measures of retrieved documents, with `@` where the word includes the cut-off. relevance: a
    relevant document: one that a right answer refers to (`document`), or any that holds a right answer's text by a rule of
    `texts.CONTAINMENTS`.
    impossible: a question is so if it is `unanswered`, or only if it is also `flagged`. missing: the value of a question without
    a prediction. other_words: another word for a label -> the label. languages: language -> its normaliser.
    duplicates: `keep` counts a document at each place of a list. nothing_to_find: the value of every measure of a retriever for
    an impossible question: 1 (`right`), or as for any other, by the document of the question (`judged`).
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


def answer_convention(
    *,
    reader: Mapping[str, str],
    retriever: Mapping[str, str] = {},
    further: Mapping[str, str] = {},
    rules: AnswerConvention = AnswerConvention(),  # noqa: B008 - cannot change
    **parts: Any,
) -> Convention:
    """Files a convention for answers; its report is all words of the retriever and the reader, unless `rules` has others.

    reader, retriever, further: word -> measure. parts: the other fields of `Convention`; by default the reader's words are its
    `defaults`.
    """
    rules = rules._replace(labels=tuple(reader), retriever=rules.retriever or tuple(retriever))
    parts.setdefault("defaults", tuple(reader))
    return convention(Convention(words={**retriever, **reader, **further}, tasks={"answers": rules}, **parts))


def em_and_f1(rules: str, exact: str = "exact_match", at: str = "@1") -> dict[str, str]:
    """Exact match and F1 of the first answer under the same rules."""
    return {exact: f"AnswerEM({rules}){at}", "f1": f"AnswerF1({rules}){at}"}
