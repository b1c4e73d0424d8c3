"""Evaluate retrieved chunks against gold passages, by position or by the similarity of texts,
without a model.
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
from rankwell.tasks.rag.evaluation import evaluate_rag
from rankwell.tasks.rag.options import RagOptions


def rag(
    gold: InputPlace,
    /,
    *retrieved: InputPlace,
    options: RagOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
) -> Output:
    """Evaluate retrieved chunks against gold passages, by position or by the similarity of texts,
    without a model.

    Both files hold a JSON object per question, {"id": "q1", "passages": [{"document": "d", "start":
    0, "end": 9}]} and
    {"id": "q1", "chunks": [{"document": "d", "start": 0, "end": 40}]}, best first. docs/rag.md
    explains them.

    Parameters
    ----------
    gold
        Questions with gold passages, JSON lines; `passages` have a position, a text or both. RAGAS'
        rows are read, too.
    retrieved
        The chunks of each retriever for the same questions; name more files to compare retrievers.
    per_query
        Also each question's values.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet,
        items.parquet and charts.
    """
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refuse_unclaimed(output)
    if not retrieved:
        raise BadUsage(
            "name at least one file of chunks after the gold passages: rankwell rag GOLD "
            "RETRIEVED..."
        )
    result = evaluate_rag(gold, list(retrieved), options=options, details=output is not None)
    return present(result, format=format, per_query=per_query, output=output)
