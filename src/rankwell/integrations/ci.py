"""The gate of continuous integration: what action.yml and gitlab.yml run, `python -P -m
rankwell.integrations.ci`.

Every setting is an environment variable, so that no value passes through a shell.
"""

import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankwell import reporting
from rankwell.comparison.data import GateOptions
from rankwell.comparison.gate import check_requirements
from rankwell.comparison.requirements import GateLine
from rankwell.errors import BadUsage, GateFailed, RankwellError
from rankwell.io.result_folder import ResultFolder, read_results, read_summary
from rankwell.reporting.junit import Case, junit_text
from rankwell.reporting.outputs.markup import markdown_text
from rankwell.store import write_text


def main(settings: Mapping[str, str] = os.environ) -> int:
    """Checks RANKWELL_RESULTS, a folder of results; the exit code is that of `rankwell gate`.

    RANKWELL_REQUIRE: a requirement per line. RANKWELL_BASELINE, RANKWELL_TOLERANCE,
    RANKWELL_REQUIREMENTS: as the options of `rankwell gate`. RANKWELL_SUMMARY: file of Markdown
    that is added to, by default GITHUB_STEP_SUMMARY. RANKWELL_JUNIT: file for JUnit XML. What is
    empty is not set.
    """
    variables = {
        name: settings.get(f"RANKWELL_{name}", "").strip()
        for name in ("RESULTS", *_OPTIONS, "SUMMARY", "JUNIT")
    }
    try:
        if not variables["RESULTS"]:
            raise BadUsage("RANKWELL_RESULTS is not set; expected the folder of results to check.")
        options = _options(variables)
        results = read_results(Path(variables["RESULTS"]))
        lines, findings = check_requirements(results, read_summary(results), options)
        failed = [line for line in lines if not line.passed]
        cases = [line.junit_case for line in lines]
        log = [*(line.sentence for line in lines), *findings]
        code = GateFailed.exit_code if failed else 0
        text = _summary(results, lines, findings)
    except RankwellError as error:
        cases = [Case("gate", "gate", error=str(error))]
        log = [f"rankwell: {reporting.visible(error)}"]
        code = error.exit_code
        text = f"### rankwell gate: could not be checked\n\n{markdown_text(str(error))}\n"
    if variables["JUNIT"]:
        write_text(Path(variables["JUNIT"]), junit_text("rankwell gate", cases))
    if summary_path := variables["SUMMARY"] or settings.get("GITHUB_STEP_SUMMARY", ""):
        with Path(summary_path).open("a", encoding="utf-8") as summary:
            summary.write(text)
    sys.stdout.write(_log(log, settings))
    return code


_OPTIONS = ("REQUIRE", "BASELINE", "TOLERANCE")


def _options(variables: Mapping[str, str]) -> GateOptions:
    """The options of the gate; what is empty is not set."""
    return GateOptions(
        require=[line.strip() for line in variables["REQUIRE"].splitlines() if line.strip()]
        or None,
        baseline=variables["BASELINE"] or None,
        tolerance=variables["TOLERANCE"] or None,
    )


def _summary(results: ResultFolder, lines: Sequence[GateLine], findings: Sequence[str]) -> str:
    """The outcome in Markdown: a sentence for each requirement, failures first, then the table of
    the results.
    """
    failed = sum(not line.passed for line in lines)
    outcome = (
        f"{failed} of {len(lines)} requirements failed"
        if failed
        else f"{len(lines)} of {len(lines)} requirements passed"
    )
    ordered = sorted(lines, key=lambda line: line.passed)
    sentences = [
        f"* {'passed' if line.passed else '**failed**'}: {markdown_text(line.explanation)}"
        for line in ordered
    ]
    table = reporting.render(read_summary(results), None, results.rules, (), "md")
    return "\n".join(
        [
            f"### rankwell gate: {outcome}",
            "",
            *sentences,
            *(f"* {markdown_text(finding)}" for finding in findings),
            "",
            table,
        ]
    )


def _log(lines: Sequence[str], settings: Mapping[str, str]) -> str:
    """The lines of the log; on GitHub between marks that keep names in them from being read as
    commands of the workflow.
    """
    text = "".join(f"{line}\n" for line in lines)
    if settings.get("GITHUB_ACTIONS") != "true":
        return text
    mark = secrets.token_hex(16)
    return f"::stop-commands::{mark}\n{text}::{mark}::\n"


if __name__ == "__main__":
    sys.exit(main())
