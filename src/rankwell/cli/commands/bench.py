"""Evaluate many systems on many data sets from one TOML file."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

from rankwell import reporting
from rankwell.comparison.bench.files import Experiment, read_experiment
from rankwell.comparison.bench.results import (
    BenchOptions,
    check_output,
    evaluate_bench,
    folder_of,
    to_do,
)
from rankwell.comparison.bench.systems import evaluate_systems
from rankwell.data.catalogue import result_kinds
from rankwell.data.json_types import AnyObject, JsonTables
from rankwell.data.options import PartOptions, PartOutcome, refusal, refuse_options
from rankwell.errors import BadInput, BadUsage
from rankwell.reporting.options import FolderOption, FormatOption, Output, Progress
from rankwell.runtime.parts import KINDS
from rankwell.runtime.parts.execution import executor_of


def bench(
    file: Path,
    /,
    *,
    options: BenchOptions,
    output: FolderOption = None,
    format: Annotated[FormatOption, JsonTables(rows=AnyObject)] = "table",
    style: reporting.TableStyle,
    dry_run: bool = False,
    progress: Progress = None,
) -> Output:
    """Evaluate many systems on many data sets from one TOML file.

    Recomputes only what has changed, and shows the systems side by side.

    A data set names its command and sets its options by their command-line names; a system may set
    its own:

        [[dataset]]
        name = "scifact"
        command = "evaluate"
        qrels = "scifact/qrels.tsv"
        runs = "runs/{dataset}/{system}.run"
        measure = ["nDCG@10", "AP"]

        [[system]]
        name = "bm25"

    Superscripts name the systems that a figure is significantly better than. A cell that fails is
    named, the others continue, and the exit code is 2.

    Systems with call = "./FILE.py:OBJECT" are run, with every combination of their parameters, and
    [chart] draws the effect of the parameters. costs = true in [table] shows the cost of each
    system, published = true published figures, results = ["DIR"] existing results; pages = true
    writes the page of each cell. docs/guide/many.md has examples of each, and the rule for
    evaluating a cell again.

      rankwell bench bench.toml

    Parameters
    ----------
    file
        The bench file (TOML): a [[dataset]] with name, command (evaluate, qa, embeddings,
        crossmodal, images, keywords, pairs) and the options of that command for each data set,
        where {dataset} and {system} are replaced by the names, and a [[system]] with name for each
        system.
    output
        Folder for DATASET/SYSTEM/, each as its command writes it with -o, the tables and
        bench.json; NAME-results beside NAME.toml by default.
    overwrite
        Evaluate unchanged cells as well, and replace existing files.
    dry_run
        List the cells that would be evaluated, why, and by which command line; evaluate nothing.
    """
    experiment = read_experiment(file)
    if experiment.kind != "commands":
        result = _of_kind(
            experiment, output, options, format, style, dry_run=dry_run, progress=progress
        )
        folder = folder_of(experiment, output)
        return result._replace(messages=(*result.messages, _wrote(folder, output)))
    if dry_run:
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
        table_text = reporting.render_rows(rows, format, terminal=reporting.terminal_of())
        refused = refusal(PartOptions(dry_run=True), partial(check_output, file, output))
        return Output(
            text=table_text,
            messages=(
                *refused,
                f"{sum(row['to_do'] == 'yes' for row in rows)} of {len(plans)} to do",
            ),
        )
    result = evaluate_bench(file, output, options, progress)
    if isinstance(result, PartOutcome):
        return Output(result.text, result.messages, result.exit_code)
    messages = [f"{failure.plan.cell.name} failed: {failure.error}" for failure in result.failed]
    text = result.render(format, style=style, terminal=reporting.terminal_of())
    return Output(
        text=text,
        messages=(*messages, reporting.StatusNote(result.status), _wrote(result.folder, output)),
        exit_code=2 if result.failed else 0,
        findings=() if format == "json" else result.findings,
    )


def _wrote(folder: Path, output: Path | None) -> reporting.StatusNote:
    """The message on where the results are. folder: an absolute path."""
    place = folder if output is None else output
    place = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
    return reporting.StatusNote(f"wrote {place}/")


_KINDS = {"grid": ("executor",), "costs": ("measures", "only", "executor")}
"""The options of `BenchOptions` that a bench which runs systems, and one of costs, have."""


def _of_kind(
    experiment: Experiment,
    output: Path | None,
    options: BenchOptions,
    format: reporting.Format,
    style: reporting.TableStyle,
    *,
    dry_run: bool,
    progress: Progress,
) -> Output:
    """The output of a bench that runs systems, or of one of costs. Raises BadUsage for an option
    that it does not have.
    """
    is_grid = experiment.kind == "grid"
    what = "`call` or [chart]" if is_grid else "costs, published or results in [table]"
    refuse_options(options, _KINDS[experiment.kind], f"is not for a bench with {what}")
    if dry_run:
        raise BadUsage(f"--dry-run is not for a bench with {what}; leave it out.")
    if not is_grid:
        return evaluate_systems(experiment, output, options, format, style, progress)
    refuse_options(style, (), f"is not for a bench with {what}")
    grids = {name: kind.grid for name, kind in result_kinds().items() if kind.grid}
    for cell in experiment.cells:
        if str(cell.command.value) not in grids:
            raise BadInput(
                f"{cell.command.where} is {cell.command.value!r}; {what} is for command = "
                f"{' or '.join(map(repr, grids))}; leave it out for others."
            )
    module = import_module(grids[str(experiment.cells[0].command.value)])
    return module.evaluate_grid(experiment, output, options, format, progress)
