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
from rankwell.tasks.study.folder import Pair, Study
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


def import_batch(study: Study, judge: str, sheet: str, *, replace: bool = False) -> SheetOutcome:
    """Appends the grades of a spreadsheet to the judge's journal; rows that are there already
    change nothing.

    replace: whether rows that differ from the journal count, which may be newer: a sheet has no
    times.
    Raises BadInput, naming file and line, for a grade outside the scale, an item outside the pool,
    one that is graded
    twice, and without `replace` for rows that differ from the journal; then nothing is read.
    """
    check_judge(judge)
    source = Source(sheet)
    rows = read_sheet(sheet)
    answers = [
        line for line in read_journals(study).lines if line.judge == judge and line.is_answer
    ]
    earlier = {line.pair: line for line in answers}
    decided = {line.pair for line in answers if line.action != "open"}
    differing = list[tuple[JournalLine, JournalLine, str]]()
    pool = batches_of(study, {(row.query, row.item) for _, row in rows})
    lines, old, blank = list[JournalLine](), 0, 0
    first = dict[Pair, str]()
    for position, (where, row) in enumerate(rows, 1):
        pair, item = (row.query, row.item), f"item {shown(row.item)} of query {shown(row.query)}"
        if pair not in pool:
            raise BadInput(f"{where}: {item} is not in the pool; take the row out.")
        if not row.grade.strip():
            blank += 1
            continue
        grade, action = _grade(row.grade.strip(), study, where)
        if pair in first:
            raise BadInput(f"{where}: {item} is at {first[pair]}, too; keep one of the rows.")
        first[pair] = where
        line = JournalLine(
            now(), judge, *pair, grade, action, row.note, None, position, study.guideline_digest
        )
        before = earlier.get(pair)
        answer = None if before is None else (before.grade, before.action, before.note)
        if before and answer == (grade, action, row.note or before.note):
            old += 1
            continue
        lines.append(line)
        # A note where there was none takes nothing back.
        if before and pair in decided and answer != (grade, action, ""):
            differing.append((line, before, where))
    if differing and not replace:
        raise _older(differing, source.name)
    append_lines(study, lines)
    return SheetOutcome(len(lines), old, blank, len(differing))


def _older(differing: Sequence[tuple[JournalLine, JournalLine, str]], name: str) -> BadInput:
    """The error for rows that differ from the journal: their number, and the first of them."""
    line, before, where = differing[0]
    row, earlier = (_shown_answer(answer) for answer in (line, before))
    if row == earlier:
        row, earlier = (
            f"{answer} with the note {shown(line_of_answer.note)}"
            for answer, line_of_answer in ((row, line), (earlier, before))
        )
    n = count_of(len(differing), "row differs from the journal", "rows differ from the journal")
    problem = f"{where}: {row}; the journal has {earlier} of {before.time} ({n})"
    return BadInput(
        f"{problem}. If {name} is newer, take its judgments with --replace; else take these rows "
        "out."
    )


def _shown_answer(line: JournalLine) -> str:
    return line.action if line.grade is None else f"grade {line.grade:g}"


def read_sheet(sheet: str | Path) -> list[tuple[str, SheetRow]]:
    """The rows with their places. Raises BadInput for another encoding, and for missing columns."""
    rows = list[tuple[str, SheetRow]]()
    for record, row in load(sheet, "a sheet", zeros=True, utf8=True).rows(SheetRow):
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
        scale = ", ".join(f"{number:g}" for number in study.grades)
        raise BadInput(
            f"{where}: grade {shown(text)}; expected {scale}, u (cannot tell), s (left "
            "open), or nothing."
        )
    return grade, ""
