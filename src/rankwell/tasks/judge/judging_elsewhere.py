"""Batches for judges elsewhere: as a page in one file that needs no server, or as CSV for a
spreadsheet; and the merging of what comes back, with every line and row checked.
"""

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, BadLine, count_of, shown
from rankwell.io.records import load
from rankwell.reporting.options import StatusNote
from rankwell.reporting.page.document import embedded_json
from rankwell.store import Source, packing, write_text
from rankwell.tasks.judge.batches import NOTHING_LEFT, batches_of, lease_batch
from rankwell.tasks.judge.findings import line_cut_off
from rankwell.tasks.judge.folder import (
    JUDGE_NAME,
    JournalLine,
    Pair,
    Study,
    append_lines,
    held_journal,
    journal_line,
    journal_of,
    last_answers,
    now,
    read_journal,
    read_journals,
)
from rankwell.tasks.judge.judging_session import (
    ItemContents,
    SittingItems,
    batch_counts,
    gold_items,
    judging_page,
    next_asks,
    page_head,
)
from rankwell.tasks.judge.options import JudgeOptions

COLUMNS = ("query", "query text", "item", "item text", "grade", "note")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_WORDS = {"u": "unknown", "s": "open"}


def write_offline_page(
    study: Study, judge: str, options: JudgeOptions, path: Path
) -> Sequence[str]:
    """Leases the judge's batch and writes its unanswered items as a page; returns notes."""
    gold, findings = gold_items(study, options)
    items = next_asks(study, judge, options, gold)
    if items is None:
        return (NOTHING_LEFT,)
    answered = {(*line.pair, line.purpose) for line in items.lines if line.is_final}
    items = items._replace(asks=[ask for ask in items.asks if ask not in answered])
    write_text(path, judging_page(judge, _embedded(study, judge, items)).text)
    batch = "further items" if items.lease is None else f"batch {items.lease.batch + 1}"
    wrote = StatusNote(
        f"wrote {path}: {batch}, {count_of(len(items.asks), 'item')} to judge; read its downloads "
        "with --import"
    )
    return (*findings, wrote)


def _embedded(study: Study, judge: str, items: SittingItems) -> str:
    """The JSON of a page: what it displays, and the ids for the lines that it writes."""
    contents = ItemContents(study, [ask.pair for ask in items.asks])
    shown_items = [contents.content(*ask.pair) for ask in items.asks]
    queries = {
        ask.query: content["query"] for ask, content in zip(items.asks, shown_items, strict=True)
    }
    query_numbers = {query: number for number, query in enumerate(queries)}
    number = "rest" if items.lease is None else f"{items.lease.round}-{items.lease.batch + 1}"
    identified = embedded_json(
        {"ids": [list(ask) for ask in items.asks], "study": [study.identity, judge, number]}
    )
    identity = hashlib.sha256(
        f"{study.guideline_digest} {identified}".encode("utf-8", "surrogateescape")
    ).hexdigest()[:32]
    head = page_head(study, judge) | batch_counts(study, items.lease)
    return embedded_json(
        {
            "identity": identity,
            "study": {"name": head["study"], "identity": study.identity},
            "file": f"{judge}-batch-{number}",
            "digest": study.guideline_digest,
            "head": head,
            "queries": list(queries.values()),
            "asks": [
                {"query": query_numbers[ask.query], "content": content["item"], "ids": list(ask)}
                for ask, content in zip(items.asks, shown_items, strict=True)
            ],
        }
    )


def names_its_judge(file: str) -> bool:
    """Whether a file may have been downloaded from a page, whose lines name their judge."""
    first_line = Source(file).read().lstrip().partition(b"\n")[0]
    return first_line.startswith(b"{") and b'"judge"' in first_line


def collect_judgments(study: Study, file: str) -> Iterator[str]:
    """Appends the lines of a downloaded file that its judge's journal lacks, in order of time, and
    yields notes; the same file again adds none.

    Answers to items that the journal answers later are left out.

    Raises BadInput, naming file and line, for a line that is not one of this study, even where both
    studies pool its item; then nothing is read.
    """
    source = Source(file)
    lines, torn = _lines(source, study)
    judge = lines[0].judge
    with held_journal(study, judge):
        before = read_journal(journal_of(study, judge), study).lines
        old_lines = {_identity(line) for line in before}
        latest = {(line.pair, line.purpose): line.time for line in before if line.is_final}
        unknown = sorted(
            (line for line in dict.fromkeys(lines) if _identity(line) not in old_lines),
            key=lambda line: line.time,
        )
        new = [
            line
            for line in unknown
            if not line.is_final or line.time >= latest.get((line.pair, line.purpose), "")
        ]
        append_lines(study, new)
    if torn:
        yield torn
    yield f"{count_of(len(new), 'line')} of {judge} read from {file}"
    if n_old := len(lines) - len(unknown):
        yield count_of(n_old, "line was there before", "lines were there before")
    if n_older := len(unknown) - len(new):
        older = count_of(
            n_older,
            "line is older than a judgment of its item",
            "lines are older than judgments of their items",
        )
        yield f"{older} in the journal, and left out"


def _refuse_other_study(other_study: Any, study: Study, where: str) -> None:
    """Raises BadInput where a line was written for another study, or names none."""
    if not isinstance(other_study, dict) or not all(
        isinstance(other_study.get(key), str) for key in ("name", "identity")
    ):
        raise BadInput(
            f"{where}: study is {shown(other_study)}; expected its name and identity, as pages of "
            "`--export` write them."
        )
    if other_study["identity"] != study.identity:
        other_identity = shown(other_study["identity"][:8])
        raise BadInput(
            f"{where}: judged for the study {shown(other_study['name'])} (identity "
            f"{other_identity}), not for {study.folder} ({study.identity[:8]!r}); collect it there."
        )


def _identity(line: JournalLine) -> tuple[Any, ...]:
    """The parts of a line by which it is recognised."""
    return line.time, line.query, line.item, line.grade, line.action, line.purpose


def _lines(source: Source, study: Study) -> tuple[list[JournalLine], str]:
    """The lines of a downloaded file, and a note on a torn one. Raises BadInput for a file without
    a whole line.
    """
    texts = list(enumerate(source.read().split(b"\n"), 1))
    lines, judge, torn = dict[int, JournalLine](), "", ""
    for number, text in texts:
        if not text.strip():
            continue
        where = f"{source.name}:{number}"
        try:
            content = parse_json(
                text, source.name, "a judgment per line", line=number, pairs=unique_keys
            )
        except BadLine:
            if number < len(texts) or not lines:
                raise
            torn = line_cut_off(where)
            break
        if not judge and isinstance(content, dict) and isinstance(content.get("judge"), str):  # pyright: ignore[reportUnknownMemberType]
            judge = content["judge"]
            if not JUDGE_NAME.fullmatch(judge):
                raise BadInput(
                    f"{where}: {shown(judge)} is not the name of a judge; collect files of "
                    "pages of this study."
                )
        lines[number] = journal_line(content, where, judge, study)
        _refuse_other_study(content.get("study"), study, where)
    if not lines:
        raise BadInput(f"{source.name} has no judgments; download them again from the page.")
    pool = batches_of(study, {line.pair for line in lines.values()})
    for number, line in lines.items():
        if line.pair not in pool and line.purpose != "gold":
            problem = (
                f"item {shown(line.item)} of query {shown(line.query)} is not in the pool of "
                f"{study.folder}"
            )
            raise BadInput(
                f"{source.name}:{number}: {problem}; collect files of pages of this study."
            )
    return list(lines.values()), torn


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet. The apostrophe that protects a cell from being read as a formula is
    removed.

    query, item: ids of the query and the item.
    grade: the grade as written; empty while the item is not judged.
    note: note of the judge; empty for none.
    """

    query: str
    item: str
    grade: str
    note: str = ""


def export_batch(study: Study, judge: str, path: Path) -> Sequence[str]:
    """Leases the judge's batch and writes its unanswered items; returns notes."""
    lease = lease_batch(study, judge)
    if lease is None:
        return (NOTHING_LEFT,)
    answers = last_answers(read_journals(study).lines)
    open_ = [pair for pair in lease.pairs if pair not in answers]
    queries = study.query_texts({query for query, _ in open_})
    items = study.texts_of({item for _, item in open_})
    with packing(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for query, item in open_:
            cells = (query, _text(queries[query]), item, _text(items[item]), "", "")
            writer.writerow([_guarded(cell) for cell in cells])
    n_items = count_of(len(open_), "item")
    return (StatusNote(f"wrote {path}: batch {lease.batch + 1}, {n_items} to judge"),)


def _text(row: Mapping[str, Any]) -> str:
    """The title and the text of a row."""
    return "\n".join(str(row[name]) for name in ("title", "text") if row.get(name))


def _guarded(cell: str) -> str:
    """The cell with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell.startswith((*_FORMULAS, "'")) else cell


def import_batch(study: Study, judge: str, sheet: str, *, replace: bool) -> Iterator[str]:
    """Appends the grades of a spreadsheet to the judge's journal, and yields notes; rows that are
    there already change nothing.

    replace: whether rows that differ from the journal count, which may be newer: a sheet has no
    times.
    Raises BadInput, naming file and line, for a grade outside the scale, an item outside the pool,
    one that is graded twice, and without `replace` for rows that differ from the journal; then
    nothing is read.
    """
    rows = read_sheet(sheet)
    answers = [
        line for line in read_journals(study).lines if line.judge == judge and line.is_answer
    ]
    earlier = {line.pair: line for line in answers}
    decided = {line.pair for line in answers if line.action != "open"}
    differing = list[tuple[JournalLine, JournalLine, str]]()
    pool = batches_of(study, {(row.query, row.item) for _, row in rows})
    lines, n_old, n_blank, first = list[JournalLine](), 0, 0, dict[Pair, str]()
    for position, (where, row) in enumerate(rows, 1):
        pair, item = (row.query, row.item), f"item {shown(row.item)} of query {shown(row.query)}"
        if pair not in pool:
            raise BadInput(f"{where}: {item} is not in the pool; take the row out.")
        if not row.grade.strip():
            n_blank += 1
            continue
        grade, action = _grade(row.grade.strip(), study, where)
        if pair in first:
            raise BadInput(f"{where}: {item} is at {first[pair]}, too; keep one of the rows.")
        first[pair] = where
        line = JournalLine(
            now(), judge, *pair, grade, action, row.note, None, position, study.guideline_digest
        )
        if before := earlier.get(pair):
            answer = (before.grade, before.action, before.note)
            if answer == (grade, action, row.note or before.note):
                n_old += 1
                continue
            # A note where there was none takes nothing back.
            if pair in decided and answer != (grade, action, ""):
                differing.append((line, before, where))
        lines.append(line)
    if differing and not replace:
        raise _older(differing, Source(sheet).name)
    append_lines(study, lines)
    yield f"{count_of(len(lines), 'judgment')} read from {sheet}"
    if differing:
        yield f"{len(differing)} of them in place of earlier ones"
    if n_old:
        yield count_of(n_old, "row was read before", "rows were read before")
    if n_blank:
        yield count_of(n_blank, "row has no grade yet", "rows have no grade yet")


def _older(differing: Sequence[tuple[JournalLine, JournalLine, str]], name: str) -> BadInput:
    """The error for rows that differ from the journal: their number, and the first of them."""
    line, before, where = differing[0]
    row, earlier = (
        answer.action if answer.grade is None else f"grade {answer.grade:g}"
        for answer in (line, before)
    )
    if row == earlier:
        row += f" with the note {shown(line.note)}"
        earlier += f" with the note {shown(before.note)}"
    n = count_of(len(differing), "row differs from the journal", "rows differ from the journal")
    problem = f"{where}: {row}; the journal has {earlier} of {before.time} ({n})"
    return BadInput(
        f"{problem}. If {name} is newer, take its judgments with --overwrite; else take these rows "
        "out."
    )


def read_sheet(sheet: str | Path) -> list[tuple[str, SheetRow]]:
    """The rows with their places. Raises BadInput for another encoding, and for missing columns."""
    rows = list[tuple[str, SheetRow]]()
    for record, row in load(sheet, "a sheet", zeros=True, utf8=True).rows(SheetRow):
        cells = {
            name: cell[1:] if name != "note" and _guarded(cell[1:]) == cell else cell
            for name, cell in vars(row).items()
        }
        rows.append((record.place, SheetRow(**cells)))
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
        raise BadInput(
            f"{where}: grade {shown(text)}; expected {study.scale}, u (cannot tell), s (left "
            "open), or nothing."
        )
    return grade, ""
