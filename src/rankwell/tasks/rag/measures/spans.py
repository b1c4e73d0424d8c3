"""Retrieved chunks against gold spans: how much of the gold text they hold, and how much else."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.registry import measure
from rankwell.data.tables import Floats, Ints, columns_of, ratio
from rankwell.errors import BadUsage, flag
from rankwell.tasks.rag.passages import RetrievedPassages, Span, Unit, merged, shared, size

Rule = Literal["set", "chunking_evaluation"]

_SOURCE = (
    "Smith and Troynikov 2024, Evaluating chunking strategies for retrieval; "
    "chunking_evaluation d451fc4"
)
_LONGER = {"unjudged tail": "every further chunk is text that was retrieved"}
_ANY_LIST = {"empty": "a property of the chunks of the collection, not of the list"}
_MOST = 20
"""chunking_evaluation retrieves no more chunks than these without a cut-off."""


class _Sizes(NamedTuple):
    """Numbers of characters or words. Every array is (questions,).

    shared: number in both a gold passage and a retrieved chunk.
    retrieved: number in a retrieved chunk.
    gold: number in a gold passage.
    either: number in either, the denominator of IoU.
    """

    shared: Ints
    retrieved: Ints
    gold: Ints
    either: Ints


def _sizes(view: RetrievedPassages, k: int | None, unit: Unit, rule: Rule) -> _Sizes:
    if rule == "chunking_evaluation" and unit != "characters":
        raise BadUsage(
            f"rule='chunking_evaluation' counts characters, not {unit}; leave one of the two out."
        )
    sizes: list[tuple[int, ...]] = []
    for row, (gold, chunks) in enumerate(zip(view.gold, view.chunks, strict=True)):
        if rule == "chunking_evaluation":
            sizes.append(_published(view, row, k))
            continue
        truth, taken = view.spans(gold, unit), view.spans(chunks[:k], unit)
        n_shared = sum(shared(spans, taken.get(document, ())) for document, spans in truth.items())
        retrieved, relevant = (sum(map(size, spans.values())) for spans in (taken, truth))
        sizes.append((n_shared, retrieved, relevant, retrieved + relevant - n_shared))
    return _Sizes(*np.array(columns_of(sizes, 4), dtype=np.int64))


def _published(view: RetrievedPassages, row: int, k: int | None) -> tuple[int, ...]:
    """The sizes as in base_evaluation.py: overlapping chunks, overlapping gold, and chunks of other
    documents count in full.
    """
    gold, document = _gold_of(view, row)
    if k is None:
        bearing = _bearing(view, gold, document, touching=True, otherwise=", or give a cut-off")
        k = min(len(bearing), _MOST)
    taken = view.chunks[row][:k]
    view.spans(taken, "characters")
    taken_spans = merged(chunk.span for chunk in taken if chunk.document == document)
    n_shared = shared(merged(gold), taken_spans)
    missed = sum(size([gold_span]) - shared([gold_span], taken_spans) for gold_span in gold)
    retrieved = size(chunk.span for chunk in taken)
    return n_shared, retrieved, size(gold), retrieved + missed


def _gold_of(view: RetrievedPassages, row: int) -> tuple[list[Span], str]:
    """The gold spans of a question, which chunking_evaluation expects in one document."""
    gold = view.gold[row]
    documents = list(view.spans(gold, "characters"))
    if len(documents) > 1:
        raise BadUsage(
            f"question {view.queries[row]!r} has gold passages in {len(documents)} documents; "
            "chunking_evaluation expects them in one. Leave rule='chunking_evaluation' out."
        )
    return [passage.span for passage in gold], documents[0] if documents else ""


def _bearing(
    view: RetrievedPassages,
    gold: Sequence[Span],
    document: str,
    *,
    touching: bool,
    otherwise: str = "",
) -> list[Span]:
    """The chunks of the collection that hold gold text, or touch it. otherwise: what else can be
    done where none are known.
    """
    if not view.every_chunk:
        raise BadUsage(
            "chunks that hold gold text are counted among all chunks; name their file by "
            f"{flag('--chunks')}{otherwise}."
        )
    return [
        chunk.span
        for chunk in view.every_chunk
        if chunk.document == document
        and any(max(chunk.start, start) < min(chunk.end, end) + touching for start, end in gold)
    ]


def _share(numerators: Ints, denominators: Ints, rule: Rule) -> Floats:
    """The quotients; 0 where nothing was retrieved, for which chunking_evaluation has no value
    (NaN).
    """
    nothing = np.nan if rule == "chunking_evaluation" else 0.0
    return np.where(denominators > 0, ratio(numerators, denominators), nothing)


@measure("SpanP", source=_SOURCE, exempt=_LONGER)
def span_precision(
    view: RetrievedPassages, *, k: int | None = None, unit: Unit = "characters", rule: Rule = "set"
) -> Floats:
    """The share of the text in the first `k` chunks that is gold text; text in several chunks
    counts once.

    Span precision, for how much of the retrieved text is useful:

        SpanP@k = |gold ∩ retrieved| / |retrieved|
        |…|: characters, words or tokens

    unit: `characters`, `words` (by the regular expression `\\w+|[^\\w\\s]`) or tokens
    (`tokenizers:PLACE` or `tiktoken:ENCODING`); any character of a word or token stands for all of
    it. rule: `chunking_evaluation` counts text in several chunks repeatedly in the divisor; without
    `k` it takes as many chunks as hold or touch gold text in the whole collection, at most 20, and
    does not count a question without any.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> chunks = (Passage("doc", 0, 10), Passage("doc", 5, 15))
    >>> view = RetrievedPassages(("q",), ((Passage("doc", 0, 6),),), (chunks,))
    >>> (
    ...     span_precision(view).tolist(),
    ...     span_precision(view, k=2, rule="chunking_evaluation").tolist(),
    ... )
    ([0.4], [0.3])
    """
    sizes = _sizes(view, k, unit, rule)
    return _share(sizes.shared, sizes.retrieved, rule)


@measure("SpanR", source=_SOURCE)
def span_recall(
    view: RetrievedPassages, *, k: int | None = None, unit: Unit = "characters", rule: Rule = "set"
) -> Floats:
    """The share of the gold text that is in the first `k` chunks.

    Span recall, for how much of the useful text is retrieved:

        SpanR@k = |gold ∩ retrieved| / |gold|
        |…|: characters, words or tokens

    unit, rule: as for `SpanP`; `chunking_evaluation` counts text in several gold passages
    repeatedly in the divisor.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> span_recall(
    ...     RetrievedPassages(("q",), ((Passage("doc", 0, 6),),), ((Passage("doc", 3, 9),),))
    ... ).tolist()
    [0.5]
    """
    sizes = _sizes(view, k, unit, rule)
    return ratio(sizes.shared, sizes.gold)


@measure("SpanIoU", source=_SOURCE, aliases="span_iou", exempt=_LONGER)
def span_iou(
    view: RetrievedPassages, *, k: int | None = None, unit: Unit = "characters", rule: Rule = "set"
) -> Floats:
    """The size of the text that is both gold and in the first `k` chunks, over that of either.

    Span intersection over union, for comparing ways to cut documents into chunks:

        SpanIoU@k = |gold ∩ retrieved| / |gold ∪ retrieved|
        |…|: characters, words or tokens

    unit, rule: as for `SpanP`.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> span_iou(
    ...     RetrievedPassages(("q",), ((Passage("doc", 0, 6),),), ((Passage("doc", 3, 9),),))
    ... ).tolist()
    [0.3333333333333333]
    """
    sizes = _sizes(view, k, unit, rule)
    return _share(sizes.shared, sizes.either, rule)


@measure("SpanPOmega", source=_SOURCE, exempt=_ANY_LIST)
def span_precision_omega(view: RetrievedPassages, *, rule: Rule = "set") -> Floats:
    """The IoU of all chunks of the collection that hold gold text: the precision of a retriever
    that returns exactly these.

    Best possible span precision, for the best precision that a chunking allows:

        SpanPOmega = |gold ∩ bearing| / |gold ∪ bearing|
        bearing: the text of all chunks of the collection that hold gold text

    Needs all chunks (`--chunks`), and the gold passages of a question in one document. rule:
    `chunking_evaluation` also takes chunks that only touch gold text.

    >>> from rankwell.tasks.rag.passages import DocumentPassage as Passage, RetrievedPassages
    >>> every = (Passage("doc", 0, 10), Passage("doc", 10, 20))
    >>> span_precision_omega(
    ...     RetrievedPassages(("q",), ((Passage("doc", 0, 5),),), ((),), every_chunk=every)
    ... ).tolist()
    [0.5]
    """
    values: list[float] = []
    for row in range(len(view.queries)):
        gold, document = _gold_of(view, row)
        bearing = merged(_bearing(view, gold, document, touching=rule == "chunking_evaluation"))
        union_size = size(merged([*bearing, *gold]))
        values.append(shared(merged(gold), bearing) / union_size if union_size else 0.0)
    return np.array(values, dtype=np.float64)
