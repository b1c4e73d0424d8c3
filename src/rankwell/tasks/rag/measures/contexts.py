"""Retrieved contexts against reference contexts: what holds what, or similarities of texts, as in
RAGAS without a model.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from rankwell.data.registry import measure
from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadUsage, flag
from rankwell.tasks.rag.passages import (
    DocumentPassage,
    RetrievedPassages,
    are_nested,
    folded,
    holds,
)
from rankwell.vectors.media.texts import TextSimilarity, similarity_of

ContextMatch = Literal["containment", TextSimilarity]

_RAGAS = (
    "Es and others 2024, RAGAS: Automated evaluation of retrieval augmented generation; ragas 0.4.0"
)
DEFAULT_THRESHOLD = 0.5


def _text(passage: DocumentPassage) -> str:
    if passage.text is None:
        raise BadUsage(
            f"the text of {passage.document!r} from {passage.start} to {passage.end} is unknown; "
            f"give it as text, or the text of the document by {flag('--documents')}."
        )
    return passage.text


def _texts(
    view: RetrievedPassages, k: int | None, read: Callable[[str], str] = str
) -> Iterator[tuple[list[str], list[str]]]:
    """The texts, as `read` gives them, of each question's gold passages and of its first k
    chunks.
    """
    for gold, chunks in zip(view.gold, view.chunks, strict=True):
        yield (
            [read(_text(passage)) for passage in gold],
            [read(_text(passage)) for passage in chunks[:k]],
        )


def _similarities(view: RetrievedPassages, k: int | None, name: TextSimilarity) -> Iterator[Floats]:
    """The similarities of the first k chunks of each question, in rows, with its gold passages."""
    compare = similarity_of(name)
    for gold, chunks in _texts(view, k):
        rows = [[compare(chunk, truth) for truth in gold] for chunk in chunks]
        yield np.array(rows, dtype=np.float64).reshape(len(rows), len(gold))


def _threshold(similarity: ContextMatch, value: float | None) -> float:
    """The threshold of a similarity. Raises BadUsage for one that nothing or everything meets, or
    that containment has not.
    """
    if similarity == "containment" and value is not None:
        raise BadUsage(
            f"threshold={value:g} is unused by containment; leave it out, or name a "
            "similarity, as similarity='words'."
        )
    if value is not None and not 0 < value <= 1:
        raise BadUsage(f"threshold={value:g}; expected a number above 0 and at most 1.")
    return DEFAULT_THRESHOLD if value is None else value


def _hits(
    view: RetrievedPassages, k: int | None, similarity: ContextMatch, threshold: float
) -> Iterator[Bools]:
    """Whether each chunk counts, for each question."""
    if similarity == "containment":
        for gold, chunks in _texts(view, k, folded):
            yield np.array(
                [any(are_nested(chunk, gold_text) for gold_text in gold) for chunk in chunks],
                dtype=np.bool_,
            )
        return
    for similarities in _similarities(view, k, similarity):
        yield similarities.max(axis=1, initial=-np.inf) >= threshold


def _found(
    view: RetrievedPassages, k: int | None, similarity: ContextMatch, threshold: float
) -> Iterator[Bools]:
    """Whether each gold passage is found, for each question."""
    if similarity == "containment":
        for gold, chunks in _texts(view, k, folded):
            yield np.array(
                [
                    any(holds(chunk, gold_text) for chunk in chunks)
                    or (gold_text != "" and _is_covered(gold_text, chunks))
                    for gold_text in gold
                ],
                dtype=np.bool_,
            )
        return
    for similarities in _similarities(view, k, similarity):
        yield similarities.max(axis=0, initial=-np.inf) > threshold


def _is_covered(passage: str, chunks: list[str]) -> bool:
    """Whether the chunks that are parts of a passage hold all of it together, blanks aside."""
    covered = bytearray(letter == " " for letter in passage)
    for chunk in filter(None, chunks):
        start = passage.find(chunk)
        while start >= 0:
            covered[start : start + len(chunk)] = b"\1" * len(chunk)
            start = passage.find(chunk, start + 1)
    return all(covered)


@measure(
    "ContextP",
    source=_RAGAS,
    aliases="non_llm_context_precision_with_reference(similarity='levenshtein')",
)
def context_precision(
    view: RetrievedPassages,
    *,
    k: int | None = None,
    similarity: ContextMatch = "containment",
    threshold: float | None = None,
) -> Floats:
    """The mean of the precision at each of the first `k` chunks that contains, or is part of, a
    gold passage; 0 if none does.

    Context precision, for whether good chunks come first:

        ContextP@k = Σ(i=1…k) rel(i) · P@i / hits(k)
        rel(i): 1 if chunk i holds a gold passage or is a part of one
        hits(k): the sum of rel(i)

    This is average precision over retrieved chunks only: gold passages that no chunk holds cost
    nothing. similarity: `containment`, regardless of white space and Unicode normal form; or, for
    paraphrases, `levenshtein`, `hamming`, `jaro`, `jaro-winkler` (rapidfuzz, 1 minus the normalised
    distance) or `words` (F1 of the words). threshold: the lowest similarity to a gold passage with
    which a chunk counts, 0.5 by default.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> gold, chunks = (
    ...     (Passage(None, text="a red car"),),
    ...     (Passage(None, text="rain"), Passage(None, text="See a red  car.")),
    ... )
    >>> context_precision(RetrievedPassages(("q",), (gold,), (chunks,))).tolist()
    [0.5]
    """
    values: list[float] = []
    for hit in _hits(view, k, similarity, _threshold(similarity, threshold)):
        precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
        values.append(float(precision[hit].mean()) if hit.any() else 0.0)
    return np.array(values, dtype=np.float64)


@measure("ContextR", source=_RAGAS, aliases="non_llm_context_recall(similarity='levenshtein')")
def context_recall(
    view: RetrievedPassages,
    *,
    k: int | None = None,
    similarity: ContextMatch = "containment",
    threshold: float | None = None,
) -> Floats:
    """The share of gold passages that one of the first `k` chunks contains, or that several chunks
    within them cover together.

    Context recall, for how much of the gold text reached the model:

        ContextR@k = (gold passages in the first k chunks) / (gold passages)

    similarity: as for `ContextP`. threshold: a passage is found if the similarity is above this,
    not at it (as in RAGAS); 0.5 by default.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> gold = Passage(None, text="a red car"), Passage(None, text="rain")
    >>> context_recall(
    ...     RetrievedPassages(("q",), (gold,), ((Passage(None, text="See a red  car."),),))
    ... ).tolist()
    [0.5]
    """
    values = [
        float(is_found.mean()) if len(is_found) else 0.0
        for is_found in _found(view, k, similarity, _threshold(similarity, threshold))
    ]
    return np.array(values, dtype=np.float64)
