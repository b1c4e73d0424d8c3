"""Findings of questions and their answers."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of


@finding("warning")
def questions_unanswered(run: str, queries: Sequence[str], effect: str) -> str:
    """A run has no prediction for some of the questions."""
    number = count_of(len(queries), "question has", "questions have")
    return f"{number} no prediction ({examples(queries)}), {effect}"


@finding("warning")
def nothing_to_retrieve(run: str, queries: Sequence[str]) -> str:
    """Some questions have no relevant document. They count as misses."""
    misses = "question, which is a miss" if len(queries) == 1 else "questions, which are misses"
    return f"no document is relevant to {len(queries)} {misses} ({examples(queries)})"


@finding("warning")
def documents_unmatched(run: str, problem: str) -> str:
    """The ids of documents in the run or the answers do not match those in the questions.

    Check that the files belong together and write ids in the same way.
    """
    return problem


@finding("warning")
def odd_answers(run: str, problem: str) -> str:
    """Some answers or claims contradict the texts, such as positions that hold other words."""
    return problem


@finding("warning")
def no_answer_numbers(run: str, problem: str) -> str:
    """The no-answer probabilities are missing for some questions, or are the same for all."""
    return problem


@finding("info")
def measures_left_out(reason: str) -> str:
    """Some measures or options are left out, because your data do not support them."""
    return reason


@finding("info")
def rules_of_language(languages: str) -> str:
    """You named no language, so texts are normalised by the rules of the convention's first one."""
    return (
        f"the rules are those of {languages}; for other answers name the language in a convention "
        "of your own"
    )
