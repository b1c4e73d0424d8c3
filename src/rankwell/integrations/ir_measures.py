"""ir_measures: rankwell's measures as its measures, for `pt.Experiment` of PyTerrier and whatever
else takes those.
"""

from collections.abc import Iterator
from typing import Any

import rankwell
from rankwell.conventions import CONVENTIONS, choose_measures
from rankwell.integrations import imported


def measure(name: str, **options: Any) -> Any:
    """A measure of rankwell as a measure of ir_measures, named in its tables as here.

    name: any name of a measure, of rankwell or, with `convention=`, of another tool. options:
    fields of `EvaluateOptions` that decide a value (`ties`, `min_grade`). As everywhere in
    ir_measures, the mean is over the queries of the judgments, and one without a ranking counts as
    0. The cut-off is part of the name: `measure("nDCG@20")`.
    Raises MissingExtra without ir_measures, UnknownName for an unknown measure; calls raise the
    errors of `rankwell.evaluate`.
    """
    define = imported("ir_measures", "pyterrier").define
    run_options: dict[str, Any] = {"intervals": "none", **options}
    choose_measures([name], CONVENTIONS[run_options.get("convention", "rankwell")])

    def _values(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        if not len(run):
            return
        # Experiments add columns of their own, such as the text of the query.
        judged = qrels[["query_id", "doc_id", "relevance"]].set_axis(
            ["query", "item", "grade"], axis=1
        )
        ranked = run[["query_id", "doc_id", "score"]].set_axis(["query", "item", "score"], axis=1)
        result = rankwell.evaluate(judged, {"run": ranked}, name, **run_options)
        for row in result.per_query():
            if row["value"] is not None:
                yield row["query"], row["value"]

    return define(_values, name=name, support_cutoff=False)
