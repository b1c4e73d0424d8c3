"""Evaluate many systems on many data sets from one TOML file, only where something has changed, and
set them side by side.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from rankwell import reporting
from rankwell.comparison.bench.results import BenchOptions, check_output, evaluate_bench, to_do
from rankwell.data.options import Differs, PartOptions, PartOutcome, refusal
from rankwell.errors import BadUsage
from rankwell.reporting.options import FolderOption, Output, PrintedAs, Progress
from rankwell.reporting.system_table import TableFormat
from rankwell.runtime.parts import KINDS
from rankwell.runtime.parts.execution import executor_of


def bench(
    file: Path,
    /,
    *,
    options: BenchOptions,
    output: FolderOption = None,
    format: PrintedAs[TableFormat] = "table",
    dry_run: Annotated[bool, Differs("it has cells")] = False,
    progress: Progress = None,
) -> Output:
    """Evaluate many systems on many data sets from one TOML file, only where something has changed,
    and set them side by side.

    A data set names its command and gives its options by their names on the command line, a system
    perhaps some of its own:

        [[dataset]]
        name = "scifact"
        command = "evaluate"
        qrels = "scifact/qrels.tsv"
        runs = "runs/{dataset}/{system}.run"
        measure = ["nDCG@10", "AP"]

        [[system]]
        name = "bm25"

    docs/benches.md has a whole example, and the rule for evaluating a cell again. The letters after
    a figure are those of the systems that it is significantly better than. A cell that fails is
    named, the others go on, and the exit code is 2.

    Parameters
    ----------
    file
        The bench, TOML: a [[dataset]] for each with name, command (evaluate, agree, captions,
        answers, clips, instances, pairs) and the options of that command, in whose texts {dataset}
        and {system} are replaced by the names, and a [[system]] for each with name; docs/benches.md
        has a whole example.
    output
        Folder for DATASET/SYSTEM/, each as its command writes it with -o, the tables and
        bench.json; NAME-results beside NAME.toml by default.
    format
        How to print; html is a page of its own.
    overwrite
        Evaluate unchanged cells as well, and replace files that are there.
    dry_run
        List the cells that would be evaluated, why, and by which command line; evaluate nothing.
    """
    if dry_run:
        if format == "html":
            raise BadUsage("--dry-run cannot be combined with --format html; choose table or json.")
        if options.parts is not None:
            executor_of(KINDS["cells"], options.parts)
        plans = to_do(file, output, only=options.only)
        rows = [
            {
                "cell": plan.cell.name,
                "to_do": "yes" if plan.why and plan.is_selected else "no",
                "why": "; ".join(plan.why) or "nothing changed",
                "command": plan.work.line,
            }
            for plan in plans
        ]
        table_text = reporting.render_rows(rows, format, terminal=reporting.terminal_of(sys.stdout))
        refused = refusal(PartOptions(dry_run=True), partial(check_output, file, output))
        return Output(
            text=table_text,
            notes=(*refused, f"{sum(row['to_do'] == 'yes' for row in rows)} of {len(plans)} to do"),
        )
    result = evaluate_bench(file, output, options, progress)
    if isinstance(result, PartOutcome):
        return Output(result.text, result.notes, result.exit_code)
    notes = [] if format in ("json", "html") else list(result.notes)
    notes += [f"{failure.plan.cell.name} failed: {failure.error}" for failure in result.failed]
    text = result.render(format, terminal=reporting.terminal_of(sys.stdout))
    wrote = result.folder if output is None else output
    wrote = wrote.relative_to(Path.cwd()) if wrote.is_relative_to(Path.cwd()) else wrote
    return Output(
        text=text,
        notes=(*notes, *map(reporting.StatusNote, (result.status, f"wrote {wrote}/"))),
        exit_code=2 if result.failed else 0,
    )
