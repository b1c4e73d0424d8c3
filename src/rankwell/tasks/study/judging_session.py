"""The session of one judge: the items asked, the answers so far, and acts, each on the disk before
it counts.
"""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankwell.errors import BadUsage, shown
from rankwell.tasks.study.asking import Ask, GoldItems, SittingItems, next_asks
from rankwell.tasks.study.batches import progress
from rankwell.tasks.study.folder import GUIDELINE, Study, read_study
from rankwell.tasks.study.item_content import ItemContents
from rankwell.tasks.study.journal import ACTIONS, JournalLine, append_lines, now, read_journals
from rankwell.tasks.study.options import JudgeOptions

LONGEST_NOTE = 10_000
Answer = float | str | None


class OutdatedAct(Exception):
    """An act on an item that another window has judged since, or on a batch that is over."""


@dataclass
class AskState:
    """The state of an item. answer: a grade, `unknown` or `open`. postponed: the place among the
    postponed ones, 0 for none.
    """

    answer: Answer = None
    postponed: int = 0
    note: str = ""

    def apply(self, line: JournalLine, number: int) -> None:
        """Takes over a line of the journal. number: grows with every line."""
        if line.action == "postpone":
            self.postponed = number
        elif line.action != "note":
            self.answer = line.action if line.grade is None else line.grade
        self.note = line.note or self.note


class JudgingAct(NamedTuple):
    """The act of a judge on an item. seen: the answer that the page displayed. Either a grade or an
    action.
    """

    turn: int
    ask: int
    seen: Answer
    grade: float | None
    action: str
    note: str
    seconds: float

    @classmethod
    def of(cls, content: Any, grades: Mapping[float, str]) -> "JudgingAct":
        """The act in a request. Raises BadUsage for anything else."""
        if not isinstance(content, Mapping):
            raise BadUsage(f"{shown(content)}; expected an object.")
        turn, ask, seen_answer, grade, seconds = (
            content.get(name) for name in ("turn", "ask", "seen", "grade", "seconds")
        )
        action, note = content.get("action", ""), content.get("note", "")
        if not all(
            isinstance(number, int) and not isinstance(number, bool) for number in (turn, ask)
        ):
            raise BadUsage("turn and ask: expected integers.")
        if (
            not isinstance(seconds, (int, float))
            or not math.isfinite(seconds)
            or not 0 <= seconds < 1e7
        ):
            raise BadUsage(f"seconds {shown(seconds)}; expected a number from 0.")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise BadUsage(f"note: expected a string of at most {LONGEST_NOTE} characters.")
        is_grade = (
            isinstance(grade, (int, float))
            and not isinstance(grade, bool)
            and float(grade) in grades
        )
        if is_grade == (action in ACTIONS) or (grade is not None and not is_grade):
            raise BadUsage(
                f"grade {shown(grade)}, action {shown(action)}; expected a grade of the "
                "study, or an action."
            )
        if not (seen_answer is None or isinstance(seen_answer, (int, float, str))):
            raise BadUsage(
                f"seen {shown(seen_answer)}; expected the answer that the page displays."
            )
        return cls(
            int(turn),  # pyright: ignore[reportArgumentType]
            int(ask),  # pyright: ignore[reportArgumentType]
            seen_answer,
            float(grade) if is_grade else None,  # pyright: ignore[reportArgumentType]
            "" if is_grade else action,
            note,
            round(float(seconds), 1),
        )


class JudgingSession:
    """The sittings of a judge, one after the other, for any number of windows at once. n_acts:
    number of lines written in it.
    """

    def __init__(self, study: Study, judge: str, options: JudgeOptions) -> None:
        self.study, self.judge, self.n_acts = study, judge, 0
        self._options, self._lock, self._turn, self._is_closed = (
            options,
            threading.RLock(),
            0,
            False,
        )
        gold = GoldItems.of(study, options)
        self._gold, self.notes = gold.pairs, gold.notes
        self._take(next_asks(study, judge, options, self._gold))

    def _take(self, items: SittingItems | None) -> None:
        """Begins a turn."""
        self._turn += 1
        self._batch, self._asks = (None, ()) if items is None else (items.batch, items.asks)
        self._states = [AskState() for _ in self._asks]
        by_ask = dict(zip(self._asks, self._states, strict=True))
        for number, line in enumerate(() if items is None else items.lines, 1):
            state = by_ask.get(Ask(*line.pair, line.purpose))
            if state is not None:
                state.apply(line, number)
        self._n_lines = 0 if items is None else len(items.lines)
        self._contents = ItemContents(self.study, self._asks)
        self._counts = batch_counts(self.study, self._batch)

    def state(self) -> dict[str, Any]:
        """The state that a page displays, without the items."""
        with self._lock:
            asks = [[state.answer, state.postponed, state.note] for state in self._states]
            return {
                "turn": self._turn,
                "asks": asks,
                **self._counts,
                **page_head(self.study, self.judge),
            }

    def item(self, turn: int, ask: int) -> dict[str, Any]:
        """The content of an item. Raises OutdatedAct for one of another turn."""
        with self._lock:
            self._refuse_outdated(turn, ask)
            contents, item = self._contents, self._asks[ask]
        return contents.content(item)

    def act(self, act: JudgingAct) -> dict[str, Any]:
        """Writes a line, and returns what has become of the item. Raises OutdatedAct, and OSError
        where nothing was written.
        """
        with self._lock:
            if self._is_closed:
                raise OSError("the session has ended")
            self._refuse_outdated(act.turn, act.ask)
            state, ask = self._states[act.ask], self._asks[act.ask]
            if state.answer != act.seen:
                raise OutdatedAct("another window has judged this item")
            line = JournalLine(
                now(),
                self.judge,
                ask.query,
                ask.item,
                act.grade,
                act.action,
                act.note,
                act.seconds,
                self.n_acts + 1,
                self.study.guideline_digest,
                ask.purpose,
            )
            append_lines(self.study, [line])
            self.n_acts += 1
            self._n_lines += 1
            state.apply(line, self._n_lines)
            return {"answer": state.answer, "postponed": state.postponed, "note": state.note}

    def advance(self, turn: int) -> dict[str, Any]:
        """Leases the next batch once this one is answered, with the rounds and the guideline of the
        study as they are by now.
        """
        with self._lock:
            if turn == self._turn and all(state.answer is not None for state in self._states):
                fresh = read_study(self.study.place)
                if (fresh.rounds, fresh.guideline_digest) != (
                    self.study.rounds,
                    self.study.guideline_digest,
                ):
                    self.study = fresh
                self._take(next_asks(self.study, self.judge, self._options, self._gold))
            return self.state()

    def close(self) -> None:
        """Ends the session: whatever connection is still open writes nothing any more."""
        with self._lock:
            self._is_closed = True

    def _refuse_outdated(self, turn: int, ask: int) -> None:
        if turn != self._turn or not 0 <= ask < len(self._asks):
            raise OutdatedAct("the batch of this item is over")


def page_head(study: Study, judge: str) -> dict[str, Any]:
    """The head of every page of a judge: the judge, the grades, and the guideline."""
    grades = [{"grade": grade, "name": name} for grade, name in study.grades.items()]
    guideline = (study.place / GUIDELINE).read_text(encoding="utf-8", errors="replace")
    return {
        "judge": judge,
        "study": study.place.resolve().name,
        "grades": grades,
        "guideline": guideline,
    }


def batch_counts(study: Study, batch: Any) -> dict[str, Any]:
    """The number of the batch, of all batches, and of those that are not finished; None where the
    study has no fixed ones.
    """
    if study.design == "reading":
        return {"batch": None, "batches": None, "left": None}
    state = progress(study, read_journals(study).lines)
    number = None if batch is None else batch.number + 1
    return {"batch": number, "batches": state.batches, "left": state.batches - state.finished}
