"""Findings of search over annotated clips, and of texts that are mapped to keywords."""

from collections.abc import Sequence

from rankwell.data.findings import finding


@finding("warning")
def ids_unmatched(problem: str) -> str:
    """Some clips, vectors or queries have no counterpart in the other file.

    Check that the files belong together and write ids in the same way.
    """
    return problem


@finding("warning")
def engine_failures(run: str, problems: str, queries: Sequence[str]) -> str:
    """The engine failed on some queries. Their results count as empty.

    Correct what the message names, and run the command again.
    """
    return problems


@finding("info")
def distances_kept(subject: str, effect: str) -> str:
    """Similarities are negated distances. Keep this in mind when you set a minimum similarity."""
    return f"{subject} negated distances, so that the smallest ranks first{effect}"


@finding("warning")
def queries_left_out(run: str, problem: str) -> str:
    """Some queries do not count: they name no keyword, have no relevant clip, or have no result."""
    return problem


@finding("warning", "--min-similarity")
def no_similar_result(run: str, problem: str) -> str:
    """For some queries no result reaches the minimum similarity. They count as empty."""
    return problem


@finding("warning")
def query_not_in_list(run: str, problem: str) -> str:
    """A list lacks the query itself, so the rule that removes it after the cut keeps one more
    place.
    """
    return problem


@finding("warning")
def words_not_read(text: str, problem: str) -> str:
    """Some words of a text are ambiguous, negated in an unknown way, or match no keyword."""
    return f"{text!r}: {problem}"


@finding("info")
def words_negated(text: str, effect: str) -> str:
    """A text excludes keywords. A clip that has one of them is not relevant."""
    return f"{text!r}: {effect}"


@finding("info", "--encoder")
def no_encoder() -> str:
    """Without an encoder, only names and rules map words to keywords."""
    return "without an encoder no similar words are found; name a model"


@finding("info")
def mapped_otherwise(difference: str) -> str:
    """Some texts are mapped to other keywords than the ones you gave."""
    return difference
