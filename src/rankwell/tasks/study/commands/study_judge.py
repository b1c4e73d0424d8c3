"""Judge the items of a study: on a page in the browser, on a page that works offline, or in a
spreadsheet.
"""

from pathlib import Path
from typing import Annotated

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.options import Input, Option
from rankwell.errors import BadUsage, count_of, flag, typed
from rankwell.reporting.options import Aside, InputPlace, Output
from rankwell.store import writing_to
from rankwell.tasks.study.batches import progress
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import held_journal, journal_of, read_journals
from rankwell.tasks.study.offline_page import collect_judgments, write_offline_page
from rankwell.tasks.study.options import JudgeOptions
from rankwell.tasks.study.serving import serve_session
from rankwell.tasks.study.spreadsheets import export_batch, import_batch

_INSTEAD = ("--export", "--import", "--page", "--collect")
_NOTHING_LEFT = "nothing is left for this judge: every batch is finished, or another judge has it"


def judge(
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
    instead = [
        name
        for name, value in zip(_INSTEAD, (export, sheet, page, collect), strict=True)
        if value is not None
    ]
    if len(instead) > 1:
        raise BadUsage(f"{instead[0]} cannot be combined with {instead[1]}.")
    if replace and sheet is None:
        raise BadUsage("--replace has no effect without --import; leave it out.")
    _refuse_unused(options, browser, instead)
    if options.gold is None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--gold"))
    opened = read_study(study)
    if collect is not None:
        return _collect(opened, judge, collect)
    if judge is None:
        raise BadUsage("name the judge: --judge judge-1.")
    with writing_to(opened.place):
        if page is not None:
            return _write_page(opened, judge, options, page)
        if export is not None:
            done = export_batch(opened, judge, export)
            if done is None:
                return Output(notes=(_NOTHING_LEFT, *_state(opened)))
            batch, items = done
            wrote = f"wrote {export}: batch {batch.number + 1}, {count_of(items, 'item')} to judge"
            return Output(notes=(Aside(wrote), *_state(opened)))
        if sheet is not None:
            return _import(opened, judge, sheet, replace=replace)
        written, notes = serve_session(opened, judge, options, browser=browser)
    return Output(
        notes=(
            *notes,
            Aside(f"{count_of(written, 'line')} written to {journal_of(opened, judge)}"),
            *_state(opened),
        )
    )


def _write_page(study: Study, judge: str, options: JudgeOptions, path: Path) -> Output:
    done = write_offline_page(study, judge, options, path)
    if done is None:
        return Output(notes=(_NOTHING_LEFT, *_state(study)))
    batch = "further items" if done.batch is None else f"batch {done.batch}"
    wrote = Aside(
        f"wrote {path}: {batch}, {count_of(done.items, 'item')} to judge; read its downloads "
        "with --collect"
    )
    return Output(notes=(*done.notes, wrote, *_state(study)))


def _collect(study: Study, judge: str | None, file: str) -> Output:
    if judge is not None:
        raise BadUsage("--judge has no effect with --collect: the file names the judge.")
    with writing_to(study.place):
        done = collect_judgments(study, file)
    notes = [*done.notes, f"{count_of(done.new, 'line')} of {done.judge} read from {file}"]
    if done.known:
        notes.append(count_of(done.known, "line was there before", "lines were there before"))
    if done.older:
        older = count_of(
            done.older,
            "line is older than a judgment of its item",
            "lines are older than judgments of their items",
        )
        notes.append(f"{older} in the journal, and left out")
    return Output(notes=(*notes, *_state(study)))


def _import(study: Study, judge: str, sheet: str, *, replace: bool) -> Output:
    with held_journal(study, judge):
        outcome = import_batch(study, judge, sheet, replace=replace)
    notes = [f"{count_of(outcome.new, 'judgment')} read from {sheet}"]
    if outcome.replaced:
        notes.append(f"{outcome.replaced} of them in place of earlier ones")
    if outcome.known:
        notes.append(count_of(outcome.known, "row was read before", "rows were read before"))
    if outcome.blank:
        notes.append(count_of(outcome.blank, "row has no grade yet", "rows have no grade yet"))
    return Output(notes=(*notes, *_state(study)))


def _refuse_unused(options: JudgeOptions, browser: bool, instead: list[str]) -> None:
    """Raises BadUsage for options of the page where there is none."""
    unused = [
        f"--{name}"
        for name, value in vars(options).items()
        if value != getattr(JudgeOptions(), name)
    ]
    unused += [] if browser else ["--no-browser"]
    if instead == ["--page"]:
        unused = [name for name in unused if name == "--no-browser"]
    if instead and unused:
        raise BadUsage(f"{unused[0]} has no effect with {instead[0]}; leave it out.")


def _state(study: Study) -> list[str]:
    """Notes on the progress of judging, and the next step."""
    journals = read_journals(study)
    state = progress(study, journals.lines)
    if study.design == "reading":
        left = state.items - state.judged
        judged = count_of(state.judged, "item is judged", "items are judged")
        following = (
            f", {count_of(left, 'is next', 'are next')}" if left else ": all runs are read down"
        )
        done = judged + following
    else:
        batches = count_of(state.batches, "batch is", "batches are")
        items = count_of(state.items, "item is", "items are")
        done = f"{state.finished} of {batches} finished, {state.judged} of {items} judged"
    return [
        *journals.notes,
        Aside(f"{done}; for the verdict: {typed('rankwell', 'study', 'estimate', study.place)}"),
    ]
