"""The journals of judges, one line per act, and the looks at a study: appended and flushed to the
disk, read back with every line checked; and the answers to a pool that journals come to.
"""

import hashlib
import json
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.tables import Bools, Floats
from rankwell.documents import unique_keys
from rankwell.errors import BadInput, BadUsage, count_of, shown
from rankwell.io.line_files import append_rows, records_in, rows_in
from rankwell.store import is_draft
from rankwell.store.locks import locked
from rankwell.tasks.judge.findings import line_cut_off
from rankwell.tasks.judge.folder import JUDGMENTS, LOOKS, Pair, Study

ANSWERS = ("unknown", "open")
"""Actions that answer an item without a grade: the judge cannot tell, or left it open when the
batch ended.
"""
ACTIONS = (*ANSWERS, "postpone", "note")
PURPOSES = ("repeat", "gold")
"""Purposes of lines that estimates do not use."""
_TEXTS = ("time", "judge", "query", "item")
JUDGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Names that a judge may have, which name a file."""


class JournalLine(NamedTuple):
    """One act of a judge.

    time: time in UTC, as ISO 8601.
    judge: name of the judge.
    query, item: ids of the query and the item.
    grade: grade on the scale of the study; None for an action.
    action: one of `ACTIONS`; empty for a grade.
    note: note of the judge; empty for none.
    seconds: time that the act took; None where it was not measured, as in a sheet.
    place: number of the act in its session, from 1, or of the row in its sheet; None where it is
        unknown.
    guideline: digest of the guideline at the time; empty where it is unknown.
    purpose: one of `PURPOSES`; empty for a judgment that counts.
    """

    time: str
    judge: str
    query: str
    item: str
    grade: float | None = None
    action: str = ""
    note: str = ""
    seconds: float | None = None
    place: int | None = None
    guideline: str = ""
    purpose: str = ""

    @property
    def pair(self) -> Pair:
        """Query and item."""
        return self.query, self.item

    @property
    def is_answer(self) -> bool:
        """Whether it answers its item in the study."""
        return not self.purpose and self.is_final

    @property
    def is_final(self) -> bool:
        """Whether it answers its item, be it for a purpose that does not count."""
        return self.grade is not None or self.action in ANSWERS


class Journals(NamedTuple):
    """The journals of a study.

    lines: the lines of all judges, by judge, in the order of writing.
    findings: findings on last lines that were cut off, and are dropped.
    """

    lines: Sequence[JournalLine]
    findings: tuple[Finding, ...]


def check_judge(name: str) -> str:
    """The name of a judge. Raises BadUsage for one that names no file."""
    if not JUDGE_NAME.fullmatch(name):
        raise BadUsage(
            f"--judge {shown(name)}: expected letters, digits, dots, hyphens and underscores, "
            "such as judge-1."
        )
    return name


def journal_of(study: Study, judge: str) -> Path:
    """The journal of a judge."""
    return study.folder / JUDGMENTS / f"{check_judge(judge)}.jsonl"


@contextmanager
def held_journal(study: Study, judge: str) -> Generator[None]:
    """Holds the journal of a judge until the block ends. Raises BadUsage where another process
    holds it.
    """
    path = journal_of(study, judge)
    path.parent.mkdir(exist_ok=True)
    try:
        with locked(path):
            yield
    finally:
        with suppress(OSError):  # there are judgments
            path.parent.rmdir()


def now(ago: timedelta = timedelta()) -> str:
    """The time as journals write it, or one that was some time ago."""
    return (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def append_lines(study: Study, lines: Sequence[JournalLine]) -> None:
    """Appends the lines of one judge and returns when they are on the disk; a torn last line goes
    first. Raises OSError.

    A line has `grade` or `action`, and `purpose` only where there is one.
    """
    if not lines:
        return
    path = journal_of(study, lines[0].judge)
    path.parent.mkdir(exist_ok=True)
    rows = [line._asdict() for line in lines]
    for row in rows:
        del row["grade" if row["grade"] is None else "action"]
        if not row["purpose"]:
            del row["purpose"]
    append_rows(path, rows)


def _files(study: Study) -> list[Path]:
    return sorted(path for path in (study.folder / JUDGMENTS).glob("*.jsonl") if not is_draft(path))


def read_journals(study: Study) -> Journals:
    """All journals of a study. Raises BadInput, naming file and line, for a line that is not one of
    this study.
    """
    journals = [read_journal(path, study) for path in _files(study)]
    return Journals(
        [line for journal in journals for line in journal.lines],
        tuple(finding for journal in journals for finding in journal.findings),
    )


def read_journal(path: Path, study: Study) -> Journals:
    """One journal, without lines where there is none yet. Raises as `read_journals`."""
    rows, is_torn = rows_in(path, pairs=unique_keys)
    lines = [journal_line(row, where, path.stem, study) for where, row in rows]
    return Journals(lines, (line_cut_off(str(path)),) * is_torn)


def journal_line(content: Any, where: str, judge: str, study: Study) -> JournalLine:
    """The line of a judge in parsed JSON. where: file and line. Raises BadInput for anything
    else.
    """
    if not isinstance(content, Mapping):
        raise BadInput(f"{where}: {shown(content)}; expected an object with query, item and grade.")
    for name in _TEXTS:
        if not isinstance(content.get(name), str) or not content[name]:
            raise BadInput(f"{where}: {name} is {shown(content.get(name))}; expected a string.")
    if content["judge"] != judge:
        raise BadInput(
            f"{where}: judge {shown(content['judge'])} in the journal of {judge!r}; move the "
            "line to its own journal."
        )
    grade = content.get("grade")
    action, purpose = content.get("action", ""), content.get("purpose", "")
    if grade is None and action not in ACTIONS:
        raise BadInput(
            f"{where}: no grade, and the action {shown(action)}; expected one of "
            f"{', '.join(ACTIONS)}."
        )
    if grade is not None and not study.is_grade(grade):
        problem = f"grade {shown(grade)}; the scale of the study is {study.scale}"
        raise BadInput(f"{where}: {problem}. Correct the line.")
    if purpose not in ("", *PURPOSES):
        raise BadInput(
            f"{where}: purpose {shown(purpose)}; expected one of {', '.join(PURPOSES)}, or none."
        )
    seconds, position = content.get("seconds"), content.get("place")
    return JournalLine(
        content["time"],
        judge,
        content["query"],
        content["item"],
        None if grade is None else float(grade),
        action if grade is None else "",
        str(content.get("note") or ""),
        float(seconds) if isinstance(seconds, (int, float)) else None,
        position if isinstance(position, int) else None,
        str(content.get("guideline") or ""),
        purpose,
    )


def last_answers(lines: Iterable[JournalLine]) -> dict[Pair, dict[str, JournalLine]]:
    """The last answer of each judge to each query and item."""
    answers: dict[Pair, dict[str, JournalLine]] = {}
    for line in lines:
        if line.is_answer:
            answers.setdefault(line.pair, {})[line.judge] = line
    return answers


@dataclass(frozen=True, eq=False)
class StudyAnswers:
    """The answers to the pool.

    grade: (items,) the grade that counts where several judges answered; NaN where there is none.
    answered: (items,) whether there is an answer, with or without a grade.
    judges: names of the judges who answered, sorted.
    guidelines: digests of the guidelines that they judged by, sorted.
    """

    grade: Floats
    answered: Bools
    judges: tuple[str, ...]
    guidelines: tuple[str, ...]

    @classmethod
    def of(
        cls, study: Study, lines: Sequence[JournalLine], grade_by: str = "median"
    ) -> "StudyAnswers":
        """The answers of journals. Raises BadInput for an answer to an item outside the pool,
        BadUsage for an unknown judge.
        """
        answers = last_answers(lines)
        used_lines = [line for by_judge in answers.values() for line in by_judge.values()]
        judges = tuple(sorted({line.judge for line in used_lines}))
        if grade_by not in ("median", "first", *judges):
            raise BadUsage(
                f"--grade-by {shown(grade_by)}: expected median, first, or a judge: "
                f"{', '.join(judges) or 'none so far'}."
            )
        n_items = len(study.pool.item)
        grade, answered = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.bool_)
        judged = {query for query, _ in answers}
        is_judged = np.array([query in judged for query in study.queries], dtype=np.bool_)
        rows = np.flatnonzero(is_judged[study.pool.query])
        for row, pair in zip(rows.tolist(), study.pairs(rows), strict=True):
            if by_judge := answers.pop(pair, None):
                answered[row], grade[row] = True, _grade(by_judge, grade_by)
        if answers:
            raise outside_pool(study, min(answers))
        return cls(grade, answered, judges, tuple(sorted({line.guideline for line in used_lines})))


def outside_pool(study: Study, pair: Pair) -> BadInput:
    """The error for a judged item that was never pooled, with the place of its first judgment."""
    query, item = pair
    place = next(
        (
            where
            for path in _files(study)
            for where, row in rows_in(path)[0]
            if (row.get("query"), row.get("item")) == pair
        ),
        study.folder / JUDGMENTS,
    )
    return BadInput(
        f"{place}: item {shown(item)} of query {shown(query)} is judged, but not in the pool; "
        "remove the line."
    )


def _grade(by_judge: Mapping[str, JournalLine], grade_by: str) -> float:
    """The grade that counts of several judges' ones; NaN where none has one."""
    grades = [
        line.grade
        for judge, line in sorted(by_judge.items())
        if line.grade is not None and grade_by in ("median", "first", judge)
    ]
    if not grades:
        return np.nan
    return sorted(grades)[(len(grades) - 1) // 2] if grade_by == "median" else grades[0]


class Look(NamedTuple):
    """One look at a study.

    time: time of the first display in UTC, as ISO 8601.
    look: number of the look, from 1.
    digest: digest of everything that it showed; the same digest later is no new look.
    pairs: number of pairs that intervals are corrected for, fixed by the first look.
    """

    time: str
    look: int
    digest: str
    pairs: int


class Looks(NamedTuple):
    """The looks at a study so far. A look is a display of estimated differences after new
    judgments; looks are recorded so that intervals can be corrected for all planned ones.

    study: the study with its plan.
    looks: the looks in order.
    """

    study: Study
    looks: Sequence[Look]

    @property
    def pairs(self) -> int:
        """The number of pairs that are corrected for: the planned ones, else those of the first
        look.
        """
        if self.study.plan.pairs is None and self.looks:
            return self.looks[0].pairs
        return self.study.plan.pairs or comb(len(self.study.runs), 2)

    @property
    def corrected_level(self) -> float:
        """The level of each interval: α over looks and pairs."""
        return 1 - (1 - self.study.plan.level) / (self.study.plan.looks * self.pairs)

    def words(self, look: int) -> str:
        """The number of a look in the plan, the level of its intervals, and what they are corrected
        for.
        """
        planned, level = self.study.plan.looks, 100 * self.study.plan.level
        plan = f"{count_of(planned, 'look')} and {count_of(self.pairs, 'pair')}"
        intervals = f"{100 * self.corrected_level:.4g} % intervals"
        if look <= planned:
            return f"look {look} of {planned}: {intervals}, {level:g} % corrected for {plan}"
        return (
            f"look {look}, beyond the {planned} planned: {intervals}, corrected for {plan} "
            f"alone, so that {level:g} % for all looks together is not guaranteed"
        )

    def take(self, data: Sequence[Any]) -> int:
        """The number of the look at some data: of the recorded one, or of a new one, which is
        recorded. data: all that decides the estimate, as JSON can hold it.
        """
        digest = "sha256:" + hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
        for look in self.looks:
            if look.digest == digest:
                return look.look
        look = Look(now(), len(self.looks) + 1, digest, self.pairs)
        append_rows(self.study.folder / LOOKS, [look._asdict()])
        return look.look


def read_looks(study: Study) -> Looks:
    """The looks of a study. Raises BadInput for a line that is not one."""
    looks = records_in(
        study.folder / LOOKS,
        "a look",
        lambda row: Look(str(row["time"]), int(row["look"]), str(row["digest"]), int(row["pairs"])),
        "restore the file from a copy",
    )
    return Looks(study, looks)
