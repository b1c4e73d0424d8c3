"""Credit clicks on interleaved lists to the two runs, and test whether users prefer one of them."""

import sys
from contextlib import nullcontext

from rankwell import report
from rankwell.report.difference_tables import difference_text, write_comparison
from rankwell.report.drafts import drafting, refuse_unclaimed
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    present,
)
from rankwell.tasks.logs.preference import InterleavingTestOptions, evaluate_interleaving


def credit(
    lists: InputPlace,
    clicks: InputPlace,
    /,
    *,
    options: InterleavingTestOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
) -> Output:
    """Credit clicks on interleaved lists to the two runs, and test whether users prefer one of
    them.

    Each impression is won, tied or lost by the rule of the method that made its list. docs/logs.md
    explains them.

    Parameters
    ----------
    lists
        File of lists that `rankwell interleave` wrote.
    clicks
        Table with the list (or query) and the item of each click; a column `click` where it has
        unclicked items, too, and a column `impression` where a list was shown more than once.
    per_query
        Also the values of each impression.
    output
        Folder for summary.csv, summary.json, per_query.parquet, verdicts.txt, manifest.json and
        charts.
    """
    if output is not None:
        refuse_unclaimed(output)
    result = evaluate_interleaving(lists, clicks, options=options)
    with nullcontext() if output is None else drafting(output, result.sources.values()) as draft:
        others = [] if draft is None else write_comparison(result.tables, draft)
        done = present(
            result,
            format=format,
            per_query=per_query,
            output=output,
            tables=result.tables,
            others=others,
        )
    if format not in ("table", "md", "latex"):
        return done
    rows = list(result.per_query()) if per_query else None
    terminal = report.terminal_of(sys.stdout)
    return done._replace(
        text=difference_text(
            result.tables, result.differences, rows, result.describe(), format, terminal
        )
    )
