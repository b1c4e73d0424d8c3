"""Evaluate the citations of generated statements against given entailments: citation recall and
precision, as in ALCE.
"""

from rankwell.errors import BadUsage
from rankwell.report.present import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    present,
)
from rankwell.tasks.rag.evaluation import evaluate_citations
from rankwell.tasks.rag.options import CitationOptions


def citations(
    *supports: InputPlace,
    options: CitationOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
) -> Output:
    """Evaluate the citations of generated statements against given entailments: citation recall and
    precision, as in ALCE.

    A JSON object per judged set of citations: {"id": "q1", "statement": "s1", "citations": ["a",
    "b"], "entailed": true}. A set that decides a measure and is not judged is an error. docs/rag.md
    explains it.

    Parameters
    ----------
    supports
        Files of judged supports, JSON lines, one for each system.
    per_query
        Also each question's values.
    output
        Folder for summary.csv, summary.json, per_query.parquet, queries.parquet and charts.
    """
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refuse_unclaimed(output)
    if not supports:
        raise BadUsage("name at least one file of supports: rankwell rag citations SUPPORTS...")
    result = evaluate_citations(list(supports), options=options)
    return present(result, format=format, per_query=per_query, output=output)
