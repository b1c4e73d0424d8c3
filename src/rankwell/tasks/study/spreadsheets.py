"""Batches as CSV for people who judge in a spreadsheet: written with texts, read back with every
row checked.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.errors import BadInput, count_of, shown
from rankwell.io.records import load
from rankwell.store import Source, packing
from rankwell.tasks.study.batches import Batch, lease_batch
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import (
    JournalLine,
    append_lines,
    check_judge,
    last_answers,
    now,
    read_journals,
)
from rankwell.tasks.study.pool_rows import batches_of

COLUMNS = ("query", "query text", "item", "item text", "grade", "note")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_WORDS = {"u": "unknown", "s": "open"}


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet."""

    query: str
    item: str
    grade: str
    note: str = ""


class SheetOutcome(NamedTuple):
    """The outcome of an import: judgments that were new, rows that were there already, rows without
    a grade.

    replaced: those of the new ones in whose place the journal had another judgment.
    """

    new: int
    known: int
    blank: int
    replaced: int


def export_batch(study: Study, judge: str, path: Path) -> tuple[Batch, int] | None:
    """Leases the judge's batch and writes its unanswered items; returns it with their number, None
    where nothing is left.
    """
    batch = lease_batch(study, judge)
    if batch is None:
        return None
    answers = last_answers(read_journals(study).lines)
    open_ = [pair for pair in batch.pairs if pair not in answers]
    queries = study.query_texts({query for query, _ in open_})
    items = study.texts_of({item for _, item in open_})
    with packing(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for query, item in open_:
            cells = (query, _text(queries[query]), item, _text(items[item]), "", "")
            writer.writerow([_guarded(cell) for cell in cells])
    return batch, len(open_)


def _text(row: Mapping[str, Any]) -> str:
    """The title and the text of a row."""
    return "\n".join(str(row[name]) for name in ("title", "text") if row.get(name))


def _guarded(cell: str) -> str:
    """The cell with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell.startswith((*_FORMULAS, "'")) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*_FORMULAS, "'")) else cell


def import_batch(study: Study, judge: str, place: str, *, replace: bool = False) -> SheetOutcome:
    """Appends the grades of a spreadsheet to the judge's journal; rows that are there already
    change nothing.

    replace: whether rows that differ from the journal count, which may be newer: a sheet has no
    times.
    Raises BadInput, naming file and line, for a grade outside the scale, an item outside the pool,
    one that is graded
    twice, and without `replace` for rows that differ from the journal; then nothing is read.
    """
    check_judge(judge)
    source = Source(place)
    rows = read_sheet(place)
    own = [line for line in read_journals(study).lines if line.judge == judge and line.is_answer]
    known, decided = (
        {line.pair: line for line in own},
        {line.pair for line in own if line.action != "open"},
    )
    differing = list[tuple[JournalLine, JournalLine, str]]()
    pool = batches_of(study, {(row.query, row.item) for _, row in rows})
    lines, old, blank = list[JournalLine](), 0, 0
    first = dict[tuple[str, str], str]()
    for position, (where, row) in enumerate(rows, 1):
        query, item, text = row.query, row.item, row.grade
        if (query, item) not in pool:
            raise BadInput(
                f"{where}: item {shown(item)} of query {shown(query)} is not in the pool; "
                "take the row out."
            )
        if not text.strip():
            blank += 1
            continue
        grade, action = _grade(text.strip(), study, where)
        if (query, item) in first:
            what = (
                f"item {shown(item)} of query {shown(query)} is at {first[query, item]}, "
                "too; keep one of the rows."
            )
            raise BadInput(f"{where}: {what}")
        first[query, item], note = where, row.note
        line = JournalLine(
            now(), judge, query, item, grade, action, note, None, position, study.guideline_digest
        )
        before = known.get((query, item))
        if before is not None and (before.grade, before.action, before.note) == (
            grade,
            action,
            note or before.note,
        ):
            old += 1
            continue
        lines.append(line)
        # A note where there was none takes nothing back.
        if (
            before is not None
            and before.pair in decided
            and (before.grade, before.action, before.note) != (grade, action, "")
        ):
            differing.append((line, before, where))
    if differing and not replace:
        raise _older(differing, source.name)
    append_lines(study, lines)
    return SheetOutcome(len(lines), old, blank, len(differing))


def _older(differing: Sequence[tuple[JournalLine, JournalLine, str]], name: str) -> BadInput:
    """The error for rows that differ from the journal: their number, and the first of them."""
    line, before, where = differing[0]
    row, kept = (_shown_answer(each) for each in (line, before))
    if row == kept:
        row, kept = (
            f"{answer} with the note {shown(each.note)}"
            for answer, each in ((row, line), (kept, before))
        )
    n = count_of(len(differing), "row differs from the journal", "rows differ from the journal")
    what = f"{where}: {row}; the journal has {kept} of {before.time} ({n})"
    return BadInput(
        f"{what}. If {name} is newer, take its judgments with --replace; else take these rows out."
    )


def _shown_answer(line: JournalLine) -> str:
    return line.action if line.grade is None else f"grade {line.grade:g}"


def read_sheet(place: str | Path) -> list[tuple[str, SheetRow]]:
    """The rows with their places. Raises BadInput for another encoding, and for missing columns."""
    rows = list[tuple[str, SheetRow]]()
    for record, row in load(place, "a sheet", zeros=True, utf8=True).rows(SheetRow):
        cells = {name: _unguarded(cell) for name, cell in vars(row).items() if name != "note"}
        rows.append((record.place, replace(row, **cells)))
    return rows


def _grade(text: str, study: Study, where: str) -> tuple[float | None, str]:
    """The grade, or the action of a letter. Raises BadInput for anything else."""
    if text.lower() in _WORDS:
        return None, _WORDS[text.lower()]
    try:
        grade = float(text.replace(",", "."))
    except ValueError:
        grade = -1.0
    if grade not in study.grades:
        listed = ", ".join(f"{each:g}" for each in study.grades)
        raise BadInput(
            f"{where}: grade {shown(text)}; expected {listed}, u (cannot tell), s (left "
            "open), or nothing."
        )
    return grade, ""
