"""Judge the items of a study: on a page in the browser, on a page that works offline, or in a
spreadsheet.
"""

from pathlib import Path
from typing import Annotated

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.options import Input, Option
from rankwell.errors import BadUsage, count_of, flag, typed
from rankwell.reporting.options import InputPlace, Output, StatusNote
from rankwell.store import writing_to
from rankwell.tasks.judge.batches import progress
from rankwell.tasks.judge.folder import Study, read_study
from rankwell.tasks.judge.journal import held_journal, read_journals
from rankwell.tasks.judge.judging_elsewhere import (
    collect_judgments,
    export_batch,
    import_batch,
    write_offline_page,
)
from rankwell.tasks.judge.judging_server import serve_session
from rankwell.tasks.judge.options import JudgeOptions


def label(
    study: InputPlace,
    /,
    *,
    options: JudgeOptions,
    judge: str | None = None,
    export: Annotated[Path | None, Option(writes="file")] = None,
    sheet: Annotated[str | None, Option(("--import",)), Input()] = None,
    replace: bool = False,
    page: Annotated[Path | None, Option(writes="file")] = None,
    collect: Annotated[str | None, Input()] = None,
    browser: bool = True,
) -> Output:
    """Judge the items of a study: on a page in the browser, on a page that works offline, or in a
    spreadsheet.

    By default a page opens that only this machine can reach, and stays until Ctrl-C. Every judgment
    is on the disk before the page goes on. In a spreadsheet, fill the column `grade` with a grade
    of the scale, `u` for what you cannot tell, or `s` to leave an item open. No run, rank or score
    is shown anywhere.

    Parameters
    ----------
    study
        Folder of the study.
    judge
        Name of the judge, whose journal is judgments/NAME.jsonl in the folder.
    export
        Write the next batch to this CSV file. A batch belongs to its judge until it is finished, or
        for 24 hours.
    sheet
        Read a judged batch from this CSV file; reading it again changes nothing.
    replace
        With --import, take rows that differ from this judge's journal, too; otherwise they are an
        error, as a sheet may be old.
    page
        Write the next batch as a page that works offline to this HTML file, for a judge elsewhere.
    collect
        Merge judgments that were downloaded from such a page; the file names the judge. Merging it
        again changes nothing.
    browser
        Open the browser; with --no-browser only the file that opens the page is named.
    """
    ways = {"--export": export, "--import": sheet, "--page": page, "--collect": collect}
    instead = [name for name, value in ways.items() if value is not None]
    if len(instead) > 1:
        raise BadUsage(f"{instead[0]} cannot be combined with {instead[1]}.")
    if replace and sheet is None:
        raise BadUsage("--replace has no effect without --import; leave it out.")
    unused = [
        f"--{name}"
        for name, value in vars(options).items()
        if value != getattr(JudgeOptions(), name) and page is None
    ]
    unused += [] if browser else ["--no-browser"]
    if instead and unused:
        raise BadUsage(f"{unused[0]} has no effect with {instead[0]}; leave it out.")
    if options.gold is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--gold"))
    opened = read_study(study)
    if collect is not None and judge is not None:
        raise BadUsage("--judge has no effect with --collect: the file names the judge.")
    with writing_to(opened.folder):
        if collect is not None:
            notes = list(collect_judgments(opened, collect))
        elif judge is None:
            raise BadUsage("name the judge: --judge judge-1.")
        elif page is not None:
            notes = write_offline_page(opened, judge, options, page)
        elif export is not None:
            notes = export_batch(opened, judge, export)
        elif sheet is not None:
            with held_journal(opened, judge):
                notes = list(import_batch(opened, judge, sheet, replace=replace))
        else:
            notes = serve_session(opened, judge, options, browser=browser)
    return Output(notes=(*notes, *_state(opened)))


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
        *journals.notes,
        StatusNote(
            f"{done}; for the verdict: {typed('rankwell', 'judge', 'estimate', study.folder)}"
        ),
    ]
