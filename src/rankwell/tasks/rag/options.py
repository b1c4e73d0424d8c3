"""The options of retrieval for generation."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.core.options import ConventionName, InputData, MeasureNames, Option
from rankwell.stats import Intervals


@dataclass(frozen=True, kw_only=True)
class CitationOptions:
    """The choices that decide the values of `evaluate_citations`.

    Parameters
    ----------
    measures
        CitationR, CitationP or a convention's word for one; repeat it for more. Both unless one is
        named.
    convention
        Whose words and units: rankwell, or alce.
    intervals
        95 % intervals over questions: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    seed
        Seed of the bootstrap.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"
    intervals: Intervals = "bootstrap-t"
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class RagOptions:
    """The choices that decide the values of `evaluate_rag`.

    Parameters
    ----------
    measures
        A measure such as SpanR@5 or ContextP(similarity='words',threshold=0.6), or a convention's
        word for one; repeat it for more. Without it: SpanP, SpanR and SpanIoU where gold passages
        and chunks have positions, else ContextP and ContextR.
    convention
        Whose words and rules: rankwell, chunking_evaluation, ragas.
    k
        Number of first chunks that count for the measures that are reported without -m; 5 by
        default.
    documents
        Texts of the documents by id: for words, and for passages that have a position and no text.
    every_chunk
        File of all chunks of the collection: for SpanPOmega, and for chunking_evaluation without a
        cut-off.
    intervals
        95 % intervals over questions: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    seed
        Seed of the bootstrap.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"
    k: int | None = None
    documents: InputData = None
    every_chunk: Annotated[InputData, Option(("--chunks",))] = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0
