"""Findings of retrieved and of cited passages."""

from collections.abc import Sequence

from rankwell.data.findings import examples, finding
from rankwell.errors import count_of, flag


@finding("warning")
def questions_without_statements(run: str, queries: Sequence[str], total: int) -> str:
    """This run has no statements for some questions, but another run has."""
    return (
        f"{len(queries)} of the {total} questions have no statement ({examples(queries)}), and do "
        "not count"
    )


@finding("warning")
def gold_without_chunks(queries: Sequence[str], total: int, label: str) -> str:
    """Some documents with gold passages have no chunk, so no retriever can find them.

    The SpanPOmega of such a question is 0, as in chunking_evaluation.
    """
    return (
        f"{len(queries)} of {total} questions have gold passages in documents without a chunk in "
        f"{flag('--chunks')} ({examples(queries)}); their {label} is 0"
    )


@finding("warning")
def passages_repeated(noun: str, queries: Sequence[str], labels: Sequence[str], run: str) -> str:
    """A question lists a passage twice. Measures that compare texts count every copy."""
    number = count_of(len(queries), "question lists", "questions list")
    return (
        f"{number} a {noun} twice ({examples(queries)}); every copy counts in {', '.join(labels)}"
    )


@finding("warning")
def chunks_longer_than_gold(run: str, times: float, effect: str) -> str:
    """Your chunks are at least twice as long as your gold passages, by their medians.

    Measures that compare texts depend on this ratio.
    """
    return f"its chunks are {times:.1f} times as long as the gold passages (medians); {effect}"
