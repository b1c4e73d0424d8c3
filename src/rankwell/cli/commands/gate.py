"""Fail a build when results regress or miss a requirement."""

from pathlib import Path
from typing import Annotated

from rankwell import reporting
from rankwell.comparison.data import GateOptions
from rankwell.comparison.gate import check_requirements
from rankwell.comparison.requirements import GateLine
from rankwell.data.json_types import JsonTables
from rankwell.data.options import Option
from rankwell.errors import GateFailed, RankwellError
from rankwell.io.result_folder import read_results, read_summary
from rankwell.reporting.junit import Case, junit_text
from rankwell.reporting.options import FormatOption, Output
from rankwell.store import refuse_blocked, write_text


def gate(
    folder: Path,
    /,
    *,
    options: GateOptions,
    format: Annotated[FormatOption, JsonTables(rows=GateLine)] = "table",
    output: Annotated[
        Path | None,
        Option(("--output", "-o"), writes="file", own_words='<testsuite name="rankwell gate"'),
    ] = None,
) -> Output:
    """Fail a build when results regress or miss a requirement.

    Exits with 1 and the reasons on failure, for continuous integration.

    A requirement that names an unknown run or measure, or a figure without a value, is an error
    (exit 2) and never passes.

      rankwell gate results --require 'nDCG@10 >= 0.3'

    Parameters
    ----------
    folder
        Results of any command that has -o.
    output
        File for the same output as JUnit XML; replaces only an earlier one of its own.
    """
    if output is not None:
        refuse_blocked(output)
    try:
        results = read_results(folder)
        lines, findings = check_requirements(results, read_summary(results), options)
    except RankwellError as error:
        # What an earlier call wrote there would say that all is well.
        if output is not None:
            write_text(
                output, junit_text("rankwell gate", [Case("gate", "gate", error=str(error))])
            )
        raise
    if output is not None:
        write_text(output, junit_text("rankwell gate", [line.junit_case for line in lines]))
    failures = tuple(line.sentence for line in lines if not line.passed)
    failed = len(failures)
    if format == "table":
        total = f"{failed} of {len(lines)} failed"
        if not failed:
            total = f"{len(lines)} of {len(lines)} passed"
        sentences = [f"gate: {total}", *(line.sentence for line in lines), ""]
        terminal = reporting.terminal_of()
        text = reporting.folded("\n".join(sentences), terminal, " " * 8)
    else:
        text = reporting.render_rows([line._asdict() for line in lines], format, findings=findings)
    return Output(
        text=text,
        messages=failures if format != "table" else (),
        exit_code=GateFailed.exit_code if failed else 0,
        findings=() if format == "json" else tuple(findings),
    )
