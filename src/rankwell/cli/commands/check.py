"""Check judgments and runs before trusting a number: what is missing, tied, contradictory,
duplicated or retrieved by itself.
"""

import sys
from typing import Literal

from rankwell import reporting
from rankwell.files import checks
from rankwell.reporting.options import Output, PrintedAs


def check(
    qrels: str,
    /,
    *runs: str,
    options: checks.CheckOptions,
    strict: bool = False,
    format: PrintedAs[Literal["table", "csv", "tsv", "json", "jsonl", "md"]] = "table",
) -> Output:
    """Check judgments and runs before trusting a number: what is missing, tied, contradictory,
    duplicated or retrieved by itself.

    An error is certain to make numbers wrong or undefined; a warning may be right for your data.
    Exit 1 with an error.

    Parameters
    ----------
    qrels
        File of judgments; `-` is standard input.
    runs
        Files of rankings.
    strict
        Exit 1 with a warning, too.
    """
    findings = checks.check(qrels, list(runs), options=options)
    return Output(
        text=findings.text(format, reporting.terminal_of(sys.stdout)),
        messages=(reporting.StatusNote(findings.count),),
        findings=findings.findings,
        exit_code=int(bool(findings.errors or (strict and findings.warnings))),
    )
