"""Findings of search over annotated clips, and of texts that are mapped to keywords."""

from collections.abc import Sequence

from rankwell.data.findings import finding


@finding("warning")
def ids_unmatched(problem: str) -> str:
    """Clips, vectors or queries of one input have no counterpart in another one."""
    return problem


@finding("warning")
def engine_failures(run: str, problems: str, queries: Sequence[str]) -> str:
    """An engine failed for some queries, whose results count as empty."""
    return problems


@finding("info")
def distances_kept(subject: str, effect: str) -> str:
    """Similarities are negated distances, which decides what a least similarity keeps."""
    return f"{subject} negated distances, so that the smallest ranks first{effect}"


@finding("warning")
def queries_left_out(run: str, problem: str) -> str:
    """Queries do not count: they ask for no keyword, have no relevant clip, or no result."""
    return problem


@finding("warning", "--min-similarity")
def no_similar_result(run: str, problem: str) -> str:
    """No result of some queries is as similar as demanded; they count as empty results."""
    return problem


@finding("warning")
def query_not_in_list(run: str, problem: str) -> str:
    """A list lacks the query itself, which the rule removes after the cut, so that it keeps one
    place more.
    """
    return problem


@finding("warning")
def words_not_read(text: str, problem: str) -> str:
    """Words of a text are ambiguous, negated in a way that is not read, or mean no keyword."""
    return f"{text!r}: {problem}"


@finding("info")
def words_negated(text: str, effect: str) -> str:
    """A text excludes keywords: a clip that has one of them is not relevant."""
    return f"{text!r}: {effect}"


@finding("info", "--encoder")
def no_encoder() -> str:
    """Without an encoder names and rules alone map words to keywords."""
    return "without an encoder no similar words are found; name a model"


@finding("info")
def mapped_otherwise(difference: str) -> str:
    """Texts are mapped to other keywords than the given ones."""
    return difference
