"""Ask a model for grades, keep every reply, and compare its grades with those of people."""

import sys
from typing import Annotated

from rankwell import report
from rankwell.core.options import Option
from rankwell.errors import BadUsage, count_of
from rankwell.locks import locked
from rankwell.report.options import Aside, FormatOption, InputPlace, Output, Progress
from rankwell.store import writing_to
from rankwell.tasks.study.folder import Study, read_study
from rankwell.tasks.study.journal import read_journals
from rankwell.tasks.study.model_asking import AskingOutcome, ask, judge_of
from rankwell.tasks.study.model_replies import (
    MODELS,
    ModelGrades,
    model_grades,
    read_replies,
    replies_of,
)
from rankwell.tasks.study.model_report import ModelReport
from rankwell.tasks.study.options import ModelOptions


def model_judge(
    study: InputPlace,
    /,
    *,
    options: ModelOptions,
    at_most: Annotated[int | None, Option()] = None,
    format: FormatOption = "table",
    progress: Progress = None,
) -> Output:
    """Ask a model for grades, keep every reply, and compare its grades with those of people.

    A reply is kept with the digest of the prompt, the model, its parameters and the time; a second
    run asks nothing that is answered. They are not judgments: `rankwell study estimate --model
    NAME` uses them as predictions.

    Parameters
    ----------
    study
        Folder of the study.
    at_most
        Ask for at most this number of items; 0 only compares.
    """
    if at_most is not None and at_most < 0:
        raise BadUsage(f"--at-most is {at_most}; expected an integer from 0.")
    found = read_study(study)
    found.refuse_changed_files()
    judge = judge_of(found, options)
    with writing_to(found.place):
        (found.place / MODELS).mkdir(exist_ok=True)
        with locked(replies_of(found, judge.model)):
            done = ask(
                found,
                judge,
                at_most=at_most,
                longest=options.longest,
                jobs=options.jobs,
                progress=progress,
            )
    if not read_replies(found, judge.model):
        return Output(
            notes=tuple(_outcome_notes(found, done, None)), exit_code=5 if done.failed else 0
        )
    grades = model_grades(found, judge.model)
    journals = read_journals(found)
    compared = ModelReport(found, journals.lines, grades)
    notes = (*journals.notes, *_outcome_notes(found, done, grades), *compared.notes())
    if format in ("table", "md", "latex"):
        terminal = report.terminal_of(sys.stdout)
        text = "\n".join(
            report.render_rows(rows, format, terminal=terminal) for rows in compared.tables()
        )
    else:
        text = report.render_rows(compared.rows(), format, notes=notes)
    return Output(text=text, notes=notes, exit_code=5 if done.failed else 0)


def _outcome_notes(study: Study, done: AskingOutcome, grades: ModelGrades | None) -> list[str]:
    """Notes on the run and on the replies."""
    notes: list[str] = [
        Aside(
            f"{count_of(done.new, 'new reply', 'new replies')}, {done.known} known, "
            f"{count_of(done.left, 'item')} left"
        )
    ]
    if done.failed:
        notes.append(
            f"{count_of(done.failed, 'item has', 'items have')} no answer ({done.failure}); "
            "run the same command again"
        )
    if grades is not None:
        n_replies = int(grades.replied.sum())
        if grades.invalid:
            notes.append(
                f"{grades.invalid} of {n_replies} replies have not exactly one grade of the "
                "scale; they count as no grade"
            )
        if grades.flagged:
            flagged = count_of(
                grades.flagged, "document looks as if it", "documents look as if they"
            )
            notes.append(
                f"{flagged} ordered a grade (flagged in {replies_of(study, grades.model).name})"
            )
        if grades.others:
            notes.append(
                count_of(
                    grades.others,
                    "reply was made under another prompt or other parameters, and is not used",
                    "replies were made under other prompts or parameters, and are not used",
                )
            )
    return notes
