"""Judge the items of a study in the browser."""

from pathlib import Path
from typing import Annotated

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.options import Input, Option, may_overwrite
from rankwell.errors import BadUsage, count_of, flag, typed
from rankwell.reporting.options import InputPlace, Output, StatusNote
from rankwell.store import writing_to
from rankwell.tasks.judge.batches import progress
from rankwell.tasks.judge.folder import Study, held_journal, read_journals, read_study
from rankwell.tasks.judge.judging_server import serve_session
from rankwell.tasks.judge.judging_session import (
    collect_judgments,
    export_batch,
    import_batch,
    names_its_judge,
    write_offline_page,
)
from rankwell.tasks.judge.options import JudgeOptions


def label(
    study: InputPlace,
    /,
    *,
    options: JudgeOptions,
    judge: str | None = None,
    export: Annotated[Path | None, Option(writes="file")] = None,
    import_: Annotated[str | None, Option(("--import",)), Input()] = None,
    open: bool = False,
) -> Output:
    """Judge the items of a study in the browser.

    Also works with an offline page or a spreadsheet.

    Only this machine can reach the page, which stays until Ctrl-C. Every judgment is saved to disk
    before the page moves on. In a spreadsheet, fill the column `grade` with a grade of the scale,
    `u` if you cannot tell, or `s` to leave an item open. No run, rank or score is shown anywhere.

      rankwell judge label study --open

    Parameters
    ----------
    study
        Folder of the study.
    judge
        Name of the judge, whose journal is judgments/NAME.jsonl in the folder.
    export
        Write the next batch to this file: .csv for a spreadsheet, .html for an offline page, for a
        judge elsewhere. A batch belongs to its judge until it is finished, or for 24 hours.
    import_
        Read a judged batch of --judge from this CSV file, or, without --judge, the file downloaded
        from such a page, which names its judge. Reading it again changes nothing.
    open
        Open the page in the browser. Without it only the file to open is named.
    overwrite
        Replace existing files; with --import, also judgments in the journal that the sheet
        contradicts, which may be older.
    """
    if export is not None and import_ is not None:
        raise BadUsage("--export cannot be combined with --import.")
    instead = "--import" if export is None else "--export"
    is_page = export is not None and export.suffix.lower() in (".html", ".htm")
    unused = [
        f"--{name.replace('_', '-')}"
        for name, value in vars(options).items()
        if value != getattr(JudgeOptions(), name) and not is_page
    ]
    unused += ["--open"] if open else []
    if unused and (export is not None or import_ is not None):
        raise BadUsage(f"{unused[0]} has no effect with {instead}; leave it out.")
    if options.qrels is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--qrels"))
    opened = read_study(study)
    with writing_to(opened.folder):
        if judge is None:
            if import_ is None or Path(import_).suffix.lower() == ".csv":
                raise BadUsage("name the judge: --judge judge-1.")
            notes = list(collect_judgments(opened, import_))
        elif export is not None and is_page:
            notes = write_offline_page(opened, judge, options, export)
        elif export is not None:
            notes = export_batch(opened, judge, export)
        elif import_ is not None:
            if names_its_judge(import_):
                raise BadUsage(f"--judge has no effect here: {import_} names the judge.")
            with held_journal(opened, judge):
                notes = list(import_batch(opened, judge, import_, replace=may_overwrite()))
        else:
            notes = serve_session(opened, judge, options, browser=open)
    return Output.of("", [*notes, *_state(opened)])


def _state(study: Study) -> list[str]:
    """Notes on the progress of judging, and the next step."""
    journals = read_journals(study)
    state = progress(study, journals.lines)
    if study.design == "reading":
        left = state.items - state.judged
        done = count_of(state.judged, "item is judged", "items are judged")
        done += f", {count_of(left, 'is next', 'are next')}" if left else ": all runs are read down"
    else:
        batches = count_of(state.batches, "batch is", "batches are")
        items = count_of(state.items, "item is", "items are")
        done = f"{state.finished} of {batches} finished, {state.judged} of {items} judged"
    return [
        *journals.findings,
        StatusNote(
            f"{done}; for the verdict: {typed('rankwell', 'judge', 'estimate', study.folder)}"
        ),
    ]
