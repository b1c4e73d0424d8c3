"""The journals of judges: one line per act, appended and flushed to the disk; read back with every
line checked.
"""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.documents import unique_keys
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.io.line_files import append_rows, rows_in
from rankwell.store import is_draft
from rankwell.store.locks import locked
from rankwell.tasks.study.folder import JUDGMENTS, Pair, Study

ANSWERS = ("unknown", "open")
"""Actions that answer an item without a grade: the judge cannot tell, or left it open when the
batch ended.
"""
ACTIONS = (*ANSWERS, "postpone", "note")
PURPOSES = ("repeat", "gold")
"""Purposes of lines that estimates do not use."""
_TEXTS = ("time", "judge", "query", "item")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class JournalLine(NamedTuple):
    """One act of a judge. grade: None for an action. place: in the session. purpose: "" for a
    judgment that counts.
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
    """The lines of all judges, by judge and in order, and notes on torn lines."""

    lines: Sequence[JournalLine]
    notes: tuple[str, ...]


def is_judge_name(name: str) -> bool:
    """Whether a judge may have this name, which names a file."""
    return _NAME.fullmatch(name) is not None


def check_judge(name: str) -> str:
    """The name of a judge. Raises BadUsage for one that names no file."""
    if not is_judge_name(name):
        raise BadUsage(
            f"--judge {shown(name)}: expected letters, digits, dots, hyphens and underscores, "
            "such as judge-1."
        )
    return name


def journal_of(study: Study, judge: str) -> Path:
    """The journal of a judge."""
    return study.place / JUDGMENTS / f"{check_judge(judge)}.jsonl"


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


def now() -> str:
    """The time as journals write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def append_lines(study: Study, lines: Sequence[JournalLine]) -> None:
    """Appends the lines of one judge and returns when they are on the disk; a torn last line goes
    first. Raises OSError.
    """
    if not lines:
        return
    path = journal_of(study, lines[0].judge)
    path.parent.mkdir(exist_ok=True)
    append_rows(path, map(_written, lines))


def _written(line: JournalLine) -> dict[str, Any]:
    """The keys of a line: `grade` or `action`, and `purpose` only where there is one."""
    left = {"action"} if line.grade is not None else {"grade"}
    return {
        name: value
        for name, value in line._asdict().items()
        if name not in left and (name != "purpose" or value)
    }


def _files(study: Study) -> list[Path]:
    return sorted(path for path in (study.place / JUDGMENTS).glob("*.jsonl") if not is_draft(path))


def read_journals(study: Study) -> Journals:
    """All journals of a study. Raises BadInput, naming file and line, for a line that is not one of
    this study.
    """
    lines, notes = list[JournalLine](), list[str]()
    for path in _files(study):
        of_judge, torn = read_journal(path, study.grades)
        lines += of_judge
        notes += [torn] if torn else []
    return Journals(lines, tuple(notes))


def read_journal(path: Path, grades: Iterable[float]) -> tuple[list[JournalLine], str]:
    """The lines of one journal, and a note where the last one is torn, "" elsewhere. Raises
    BadInput, naming file and line.
    """
    (rows, is_torn), scale = rows_in(path, pairs=unique_keys), set(grades)
    torn = f"{path}: the last line was not written to its end, and is dropped" * is_torn
    return [journal_line(row, where, path.stem, scale) for where, row in rows], torn


def journal_line(content: Any, where: str, judge: str, grades: set[float]) -> JournalLine:
    """The line of a judge in parsed JSON. where: file and line. Raises BadInput for anything
    else.
    """
    if not isinstance(content, Mapping):
        raise BadInput(f"{where}: {shown(content)}; expected an object with query, item and grade.")
    wrong = next(
        (name for name in _TEXTS if not isinstance(content.get(name), str) or not content[name]),
        None,
    )
    if wrong is not None:
        raise BadInput(f"{where}: {wrong} is {shown(content.get(wrong))}; expected a string.")
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
    if grade is not None and (
        isinstance(grade, bool) or not isinstance(grade, (int, float)) or float(grade) not in grades
    ):
        scale = ", ".join(f"{number:g}" for number in sorted(grades))
        raise BadInput(
            f"{where}: grade {shown(grade)}; the scale of the study is {scale}. Correct the line."
        )
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


def line_of(study: Study, query: str, item: str) -> str:
    """The file and line of the first judgment of an item."""
    return next(
        (
            where
            for path in _files(study)
            for where, row in rows_in(path)[0]
            if (row.get("query"), row.get("item")) == (query, item)
        ),
        str(study.place / JUDGMENTS),
    )


def last_answers(lines: Iterable[JournalLine]) -> dict[Pair, dict[str, JournalLine]]:
    """The last answer of each judge to each query and item."""
    answers: dict[Pair, dict[str, JournalLine]] = {}
    for line in lines:
        if line.is_answer:
            answers.setdefault(line.pair, {})[line.judge] = line
    return answers
