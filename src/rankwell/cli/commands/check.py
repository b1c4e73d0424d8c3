"""Find mistakes in judgments and runs."""

from typing import Annotated, Literal

from rankwell import reporting
from rankwell.data.findings import LEVELS, first_of_each_kind
from rankwell.data.json_types import JsonTables
from rankwell.errors import count_of
from rankwell.reporting.options import Output, PrintedAs
from rankwell.tasks.runs import checks


def check(
    qrels: str,
    /,
    *runs: str,
    options: checks.CheckOptions,
    strict: bool = False,
    format: Annotated[
        PrintedAs[Literal["table", "csv", "tsv", "json", "jsonl", "md"]],
        JsonTables(rows=checks.Fact),
    ] = "table",
) -> Output:
    """Find mistakes in judgments and runs.

    Reports missing, tied, contradictory and duplicated data, and queries that retrieve themselves,
    before you trust a number.

    An error makes numbers wrong or undefined; a warning may be harmless for your data. Exits with 1
    on errors.

      rankwell check qrels.txt bm25.run

    Parameters
    ----------
    qrels
        File of judgments; `-` is standard input.
    runs
        Files of rankings.
    strict
        Exit with 1 on warnings, too.
    """
    checked = checks.check(qrels, list(runs), options=options)
    terminal = reporting.terminal_of()
    if format != "table":
        text = checked.text(format, terminal)
    else:
        lines = [checked.sentence, ""]
        if terminal.details:
            lines.append(checked.text(terminal=terminal))
        for level in LEVELS:
            findings = [finding for finding in checked.findings if finding.level == level]
            shown = findings if terminal.details else first_of_each_kind(findings)
            lines += checks.lines_of(shown, details=terminal.details)
            if more := len(findings) - len(shown):
                lines.append(f"{count_of(more, 'more finding')} of these kinds: --verbose")
        text = reporting.folded("\n".join(lines).rstrip() + "\n", terminal, "  ")
    return Output(text=text, exit_code=int(bool(checked.errors or (strict and checked.warnings))))
