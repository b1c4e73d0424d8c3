"""Judge the items of a study: take the next batch as a spreadsheet, and read it back."""

from pathlib import Path
from typing import Annotated

from rankwell.core.options import Input, Option
from rankwell.report.present import Aside, InputPlace, Output
from rankwell.store import writing_to
from rankwell.tasks.study.answers import StudyAnswers
from rankwell.tasks.study.batches import progress
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.spreadsheets import export_batch, import_batch, refuse_both


def judge(
    study: InputPlace,
    /,
    *,
    judge: str,
    export: Annotated[Path | None, Option(writes="file")] = None,
    sheet: Annotated[str | None, Option(("--import",)), Input()] = None,
) -> Output:
    """Judge the items of a study: take the next batch as a spreadsheet, and read it back.

    Fill the column `grade` with a grade of the study's scale, `u` for what you cannot tell, or `s` to leave an item open. Judge
    without knowing the runs: neither the order nor the file shows where an item comes from.

    Parameters
    ----------
    study
        Folder of the study.
    judge
        Name of the judge, whose journal is judgments/NAME.jsonl in the folder.
    export
        Write the next batch to this CSV file. A batch belongs to its judge until it is finished, or for 24 hours.
    sheet
        Read a judged batch from this CSV file; reading it again changes nothing.
    """
    refuse_both(export, sheet)
    found = read_study(study)
    with writing_to(found.place):
        if export is not None:
            done = export_batch(found, judge, export)
            if done is None:
                return Output(
                    notes=("nothing is left for this judge: every batch is finished, or another judge has it", *_state(found))
                )
            batch, items = done
            notes = [Aside(f"wrote {export}: batch {batch.number + 1}, {items} items to judge")]
            return Output(notes=(*notes, *_state(found)))
        outcome = import_batch(found, judge, str(sheet))
    notes = [f"{outcome.new} judgments read from {sheet}"]
    notes += [f"{outcome.known} rows were read before"] if outcome.known else []
    notes += [f"{outcome.blank} rows have no grade yet"] if outcome.blank else []
    return Output(notes=(*notes, *_state(found)))


def _state(study: Study) -> list[str]:
    """Notes on the progress of judging, and the next step."""
    journals = read_journals(study)
    state = progress(study, StudyAnswers.of(study, journals.lines))
    if study.design == "reading":
        left = state.items - state.judged
        done = (
            f"{state.judged} items are judged, {left} are next"
            if left
            else f"{state.judged} items are judged: all runs are read down"
        )
    else:
        done = f"{state.finished} of {state.batches} batches are finished, {state.judged} of {state.items} items are judged"
    return [*journals.notes, Aside(f"{done}; for the verdict: rankwell study estimate {study.place}")]
