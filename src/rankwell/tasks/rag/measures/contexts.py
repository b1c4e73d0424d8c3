"""Retrieved contexts against reference contexts by the similarity of their texts, as RAGAS does without a language model."""

from collections.abc import Iterator

import numpy as np

from rankwell.core.registry import measure
from rankwell.core.tables import Floats
from rankwell.errors import BadUsage, flag
from rankwell.media.similarity import TextSimilarity, similarity_of
from rankwell.tasks.rag.passages import DocumentPassage, RetrievedPassages

_RAGAS = "Es and others 2024, RAGAS: Automated evaluation of retrieval augmented generation; ragas 0.4.0"


def _similarities(view: RetrievedPassages, k: int | None, name: TextSimilarity) -> Iterator[Floats]:
    """(chunks, gold passages) the similarities of each question, of its first k chunks."""
    compare = similarity_of(name)
    for gold, chunks in zip(view.gold, view.chunks, strict=True):
        rows = [[compare(_text(chunk), _text(truth)) for truth in gold] for chunk in chunks[:k]]
        yield np.array(rows, dtype=np.float64).reshape(len(rows), len(gold))


def _text(passage: DocumentPassage) -> str:
    if passage.text is None:
        what = f"the text of {passage.document!r} from {passage.start} to {passage.end} is unknown"
        raise BadUsage(f"{what}; give it as text, or the text of the document by {flag('--documents')}.")
    return passage.text


def _check_threshold(value: float) -> None:
    if not 0 < value <= 1:
        raise BadUsage(f"threshold={value:g}; expected a number above 0 and at most 1.")


@measure("ContextP", source=_RAGAS, aliases="non_llm_context_precision_with_reference")
def context_precision(
    view: RetrievedPassages, *, k: int | None = None, similarity: TextSimilarity = "levenshtein", threshold: float = 0.5
) -> Floats:
    """The mean precision at the first `k` chunks whose best similarity to a gold passage is `threshold` or more; 0 without one.

    An average precision over the chunks that were retrieved: gold passages that no chunk resembles cost nothing.
    similarity: levenshtein, hamming, jaro, jaro-winkler (rapidfuzz, 1 less the normalised distance), or words (F1 of the words).

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> gold, chunks = (Passage(None, text="a red car"),), (Passage(None, text="rain"), Passage(None, text="the red car"))
    >>> context_precision(RetrievedPassages(("q",), (gold,), (chunks,)), similarity="words").tolist()
    [0.5]
    """
    _check_threshold(threshold)
    values: list[float] = []
    for similarities in _similarities(view, k, similarity):
        hit = similarities.max(axis=1, initial=-np.inf) >= threshold
        precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
        values.append(float(precision[hit].mean()) if hit.any() else 0.0)
    return np.array(values, dtype=np.float64)


@measure("ContextR", source=_RAGAS, aliases="non_llm_context_recall")
def context_recall(
    view: RetrievedPassages, *, k: int | None = None, similarity: TextSimilarity = "levenshtein", threshold: float = 0.5
) -> Floats:
    """The share of the gold passages whose best similarity to one of the first `k` chunks is above `threshold`.

    Above, not at it, as in RAGAS. similarity: as for `ContextP`.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> gold = Passage(None, text="a red car"), Passage(None, text="rain")
    >>> context_recall(RetrievedPassages(("q",), (gold,), ((Passage(None, text="the red car"),),)), similarity="words").tolist()
    [0.5]
    """
    _check_threshold(threshold)
    values: list[float] = []
    for similarities in _similarities(view, k, similarity):
        found = similarities.max(axis=0, initial=-np.inf) > threshold
        values.append(float(found.mean()) if len(found) else 0.0)
    return np.array(values, dtype=np.float64)
