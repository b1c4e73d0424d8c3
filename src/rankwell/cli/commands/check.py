"""Find mistakes in judgments and runs."""

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
    """Find mistakes in judgments and runs.

    Reports what is missing, tied, contradictory, duplicated or retrieved by itself, before you
    trust a number.

    An error is certain to make numbers wrong or undefined; a warning may be right for your
    data. Exit 1 with an error.

      rankwell check qrels.txt bm25.run

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
        notes=(*findings.notes, reporting.StatusNote(findings.count)),
        exit_code=int(bool(findings.errors or (strict and findings.warnings))),
    )
