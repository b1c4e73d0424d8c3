"""The session of one judge: the items that are asked next, a batch, and with --double, --repeat and
--qrels others mixed in; the answers so far, and acts, each on the disk before it counts. The page
that displays them is one document, which its policy allows by hashes; it never has a run or a rank.
For judges elsewhere: the page in one file that needs no server, batches as CSV, and the merging of
what comes back, with every line and row checked.
"""

import csv
import hashlib
import html
import math
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.data.findings import Finding
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, BadLine, BadUsage, RankwellError, count_of, shown
from rankwell.io.formats import find_judgments
from rankwell.io.records import load
from rankwell.reporting.options import StatusNote
from rankwell.reporting.page.document import embedded_json
from rankwell.reporting.page.scripts import embeddable, join_modules, source_hash
from rankwell.stats.samples import permanent_numbers
from rankwell.store import Source, encode_id, packing, write_text
from rankwell.tasks.judge.batches import NOTHING_LEFT, Lease, batches_of, lease_batch, progress
from rankwell.tasks.judge.findings import known_items_unpooled, line_cut_off
from rankwell.tasks.judge.folder import (
    ACTIONS,
    GUIDELINE,
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
    read_study,
)
from rankwell.tasks.judge.options import JudgeOptions
from rankwell.vectors.media.images import ItemPictures, Thumbnails, data_uri

_MARK = re.compile(r"\{\{(\w+)\}\}")
_STYLES = (
    "reporting/page/assets/base.css",
    "reporting/page/assets/header.css",
    "tasks/judge/assets/judging.css",
)
_FIXED = "base-uri 'none'; form-action 'none'"


class JudgingPage(NamedTuple):
    """The page of a judge.

    text: the HTML document.
    policy: the Content-Security-Policy, which allows only the page's own scripts and styles.
    """

    text: str
    policy: str


def judging_page(judge: str, batch: str = "null") -> JudgingPage:
    """The page. batch: JSON of all items for a page without a server, whose policy then allows no
    connections at all.
    """
    package, is_offline = files("rankwell"), batch != "null"
    style = "".join(
        package.joinpath(*name.split("/")).read_text(encoding="utf-8") for name in _STYLES
    )
    entry = f"tasks/judge/assets/{'offline' if is_offline else 'online'}.js"
    script = embeddable(f'(() => {{\n"use strict";\n{join_modules(package, [entry])}}})();\n')
    sources = "img-src data:" if is_offline else "connect-src 'self'; img-src 'self' data:"
    policy = (
        f"default-src 'none'; {sources}; script-src {source_hash(script)}; style-src "
        f"{source_hash(style)}; {_FIXED}"
    )
    filled = {
        "title": html.escape(f"Judging: {judge}"),
        "policy": html.escape(policy, quote=False),
        "style": style,
        "script": script,
        "batch": batch,
    }
    frame = (package / "tasks/judge/assets/judging.html").read_text(encoding="utf-8")
    return JudgingPage(_MARK.sub(lambda mark: filled[mark[1]], frame), policy)


def page_head(study: Study, judge: str) -> dict[str, Any]:
    """The head of every page of a judge: the judge, the grades, and the guideline."""
    grades = [{"grade": grade, "name": name} for grade, name in study.grades.items()]
    guideline = (study.folder / GUIDELINE).read_text(encoding="utf-8", errors="replace")
    return {
        "judge": judge,
        "study": study.folder.resolve().name,
        "grades": grades,
        "guideline": guideline,
    }


def batch_counts(study: Study, lease: Lease | None) -> dict[str, Any]:
    """The number of the batch, of all batches, and of those that are not finished; None where the
    study has no fixed ones.
    """
    if study.design == "reading":
        return dict.fromkeys(("batch", "batches", "left"))
    state = progress(study, read_journals(study).lines)
    number = None if lease is None else lease.batch + 1
    return {"batch": number, "batches": state.batches, "left": state.batches - state.finished}


LONGEST_SIDE, QUALITY = 1024, 85
"""Pixels of a picture's longer side, and the quality of its JPEG."""
_TEXTS = ("title", "text", "answer")


class ItemContents:
    """The contents of the items that are asked; texts are read at once, pictures on request."""

    def __init__(self, study: Study, pairs: Collection[Pair]) -> None:
        self._study, self._ids = study, list(dict.fromkeys(item for _, item in pairs))
        self._queries = study.query_texts({query for query, _ in pairs})
        self._items = study.texts_of(self._ids)

    @cached_property
    def _pictures(self) -> Thumbnails | None:
        """The pictures of the items; none where the study has no pictures, or their folder is
        gone.
        """
        if self._study.thumbnails is None:
            return None
        pattern = str(self._study.folder / self._study.thumbnails)
        with suppress(RankwellError):
            return ItemPictures(pattern, longest=LONGEST_SIDE).of(self._ids)
        return Thumbnails({})

    def content(self, query: str, item: str) -> dict[str, Any]:
        """The content of an item: `query` and `item`, each with its texts by name and `fields`,
        further columns in order.

        An item without a text and a picture has its `id`. `missing` is the reason why a picture is
        not there.
        """
        shown = _texts(self._items.get(item, {}))
        if self._pictures is not None:
            picture = self._pictures[item]
            if picture.image is None:
                shown["missing"] = picture.problem
            else:
                shown["picture"] = data_uri(picture.image, longest=LONGEST_SIDE, quality=QUALITY)
        if not any(shown.get(name) for name in ("title", "text", "picture")):
            shown["id"] = item
        return {"query": _texts(self._queries.get(query, {"text": query})), "item": shown}


def _texts(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        [name, str(value)]
        for name, value in row.items()
        if name not in _TEXTS and value not in (None, "")
    ]
    return {name: str(row[name]) for name in _TEXTS if row.get(name)} | {"fields": fields}


GOLD_SHARE = 0.05
"""Share of known items among those that a judge is asked."""


class Ask(NamedTuple):
    """A query and an item to judge.

    query, item: ids of the query and the item.
    purpose: the purpose as in the journal; empty for a judgment that counts.
    """

    query: str
    item: str
    purpose: str = ""

    @property
    def pair(self) -> Pair:
        """Query and item."""
        return self.query, self.item


class SittingItems(NamedTuple):
    """The items of one sitting.

    lease: the batch; None where only mixed-in items are left.
    asks: the items in the order in which they are shown.
    lines: the lines of the judge so far.
    """

    lease: Lease | None = None
    asks: Sequence[Ask] = ()
    lines: Sequence[JournalLine] = ()


def gold_items(study: Study, options: JudgeOptions) -> tuple[Sequence[Pair], tuple[Finding, ...]]:
    """The pairs of the file of known items that can be shown, and findings on the others. Raises
    BadInput where the study has the texts of none.
    """
    if (file := options.qrels) is None:
        return (), ()
    found_judgments = find_judgments(file, qrels_columns=options.qrels_columns)
    queries, known_pairs = set(study.queries), list(found_judgments.judgments.flat.pairs)
    texts = study.texts_of({item for query, item in known_pairs if query in queries})
    pairs = [(query, item) for query, item in known_pairs if query in queries and item in texts]
    if not pairs:
        raise BadInput(
            f"{file}: none of its items is in the pool of {study.folder}; --qrels takes judgments "
            "of pooled items."
        )
    lost = len(known_pairs) - len(pairs)
    outside = (known_items_unpooled(str(file), lost),) if lost else ()
    return pairs, (*found_judgments.findings, *outside)


def next_asks(
    study: Study, judge: str, options: JudgeOptions, gold: Sequence[Pair] = ()
) -> SittingItems | None:
    """Leases the judge's batch and mixes in further items; None where nothing is left.

    Items that another judge has answered are left out; the judge's own answers stay, to be looked
    at again. Everything is arranged by query, except for items of this batch that are shown again,
    which come last.
    """
    lease = lease_batch(study, judge)
    lines = read_journals(study).lines
    first = _first_judges(lines)
    pairs = [pair for pair in lease.pairs if first.get(pair, judge) == judge] if lease else []
    mixture = _Mixture(study, judge, pairs, lines, first)
    repeats, again = mixture.repeats(options.repeat)
    mixed = [
        *(Ask(*pair) for pair in (*pairs, *mixture.doubles(options.double))),
        *(Ask(*pair, "repeat") for pair in repeats),
        *(Ask(*pair, "gold") for pair in (mixture.gold(gold) if lease else ())),
    ]
    if not mixed:
        return None
    numbers = dict(zip(mixed, _numbers(study, mixed), strict=True))
    mixed.sort(key=lambda ask: (encode_id(ask.query), numbers[ask], ask.purpose))
    asks = (*mixed, *(Ask(*pair, "repeat") for pair in again))
    return SittingItems(lease, asks, [line for line in lines if line.judge == judge])


def _first_judges(lines: Iterable[JournalLine]) -> dict[Pair, str]:
    """The judge who answered each item first."""
    latest_first = sorted(lines, key=lambda line: (line.time, line.judge), reverse=True)
    return {line.pair: line.judge for line in latest_first if line.is_answer}


def _numbers(study: Study, asks: Sequence[Ask | Pair], *purpose: str) -> list[float]:
    """The permanent number of each query and item, another one for each purpose."""
    ids = [[encode_id(ask[part]) for ask in asks] for part in (0, 1)]
    purposes = ([word.encode()] * len(asks) for word in purpose)
    return permanent_numbers(study.seed, *purposes, *ids).tolist()


@dataclass(frozen=True)
class _Mixture:
    """The items that are mixed into a batch.

    study: the study, whose permanent random numbers decide the draw.
    judge: name of the judge.
    pairs: query and item of the batch where no other judge has answered; empty where no batch is
        left.
    lines: the lines of all judges.
    first: query and item -> the judge who answered first.
    """

    study: Study
    judge: str
    pairs: Sequence[Pair]
    lines: Sequence[JournalLine]
    first: Mapping[Pair, str]

    def _drawn(self, pairs: Iterable[Pair], share: float, purpose: str) -> list[Pair]:
        """The pairs whose number for a purpose is below a share, in the order of these numbers."""
        distinct = list(dict.fromkeys(pairs))
        numbered = sorted(zip(_numbers(self.study, distinct, purpose), distinct, strict=True))
        return [pair for number, pair in numbered if number < share]

    def _done(self, purpose: str) -> list[Pair]:
        """What the judge has answered for a purpose, in order; "" for judgments that count."""
        return [
            line.pair
            for line in self.lines
            if line.judge == self.judge and (line.purpose == purpose if purpose else line.is_answer)
        ]

    def doubles(self, share: float) -> list[Pair]:
        """Items that one other judge alone has answered: up to the share of the judge's own ones,
        all once none is left.
        """
        answers = last_answers(self.lines)
        candidates = [
            pair
            for pair, by_judge in answers.items()
            if self.first[pair] != self.judge and by_judge.keys() <= {self.judge, self.first[pair]}
        ]
        drawn = self._drawn(candidates, share, "double")
        waiting = [pair for pair in drawn if self.judge not in answers[pair]]
        if not self.pairs:
            return waiting
        judged = {*self.pairs, *(pair for pair in self.first if self.first[pair] == self.judge)}
        n_done = len(drawn) - len(waiting)
        return waiting[: max(0, math.ceil(share * len(judged)) - n_done)]

    def repeats(self, share: float) -> tuple[list[Pair], list[Pair]]:
        """The judge's own items to show again: those of earlier batches, and those of the first
        half of this one, for its end.
        """
        repeated = set(self._done("repeat"))
        not_earlier = repeated.union(self.pairs)
        earlier = [pair for pair in self._done("") if pair not in not_earlier]
        again = [pair for pair in self.pairs[: len(self.pairs) // 2] if pair not in repeated]
        return self._drawn(earlier, share, "repeat"), self._drawn(again, share, "repeat")

    def gold(self, gold: Sequence[Pair]) -> list[Pair]:
        """Known items that the judge has not seen: as many as their share of the judge's own
        ones.
        """
        done, judged = set(self._done("gold")), {*self._done(""), *self.pairs}
        seen_pairs = judged | done
        limit = math.ceil(GOLD_SHARE * len(judged)) - len(done)
        unseen = [pair for pair in gold if pair not in seen_pairs]
        return self._drawn(unseen, 1.0, "gold")[: max(0, limit)]


LONGEST_NOTE = 10_000
Answer = float | str | None


class OutdatedAct(Exception):
    """An act on an item that another window has judged since, or on a batch that is over."""


@dataclass
class AskState:
    """The state of an item.

    answer: a grade, `unknown` or `open`; None while there is none.
    postponed: the position among postponed items; 0 for an item that is not postponed.
    note: the last note of the judge; empty for none.
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
    """The act of a judge on an item, either a grade or an action.

    turn: number of the sitting in its session, from 1.
    ask: position of the item in the sitting, from 0.
    seen: the answer that the page displayed; None for none.
    grade: grade on the scale of the study; None for an action.
    action: one of `ACTIONS`; empty for a grade.
    note: note of the judge; empty for none.
    seconds: time that the act took.
    """

    turn: int
    ask: int
    seen: Answer
    grade: float | None
    action: str
    note: str
    seconds: float

    @classmethod
    def of(cls, content: Any, study: Study) -> "JudgingAct":
        """The act in a request. Raises BadUsage for anything else."""
        if not isinstance(content, Mapping):
            raise BadUsage(f"{shown(content)}; expected an object.")
        turn, ask, seen_answer, grade, seconds = (
            content.get(name) for name in ("turn", "ask", "seen", "grade", "seconds")
        )
        action, note = content.get("action", ""), content.get("note", "")
        if type(turn) is not int or type(ask) is not int:
            raise BadUsage("turn and ask: expected integers.")
        if not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e7:
            raise BadUsage(f"seconds {shown(seconds)}; expected a number from 0.")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise BadUsage(f"note: expected a string of at most {LONGEST_NOTE} characters.")
        is_grade = study.is_grade(grade)
        if is_grade == (action in ACTIONS) or (grade is not None and not is_grade):
            raise BadUsage(
                f"grade {shown(grade)}, action {shown(action)}; expected a grade of the "
                "study, or an action."
            )
        if not isinstance(seen_answer, int | Answer):
            raise BadUsage(
                f"seen {shown(seen_answer)}; expected the answer that the page displays."
            )
        return cls(
            turn,
            ask,
            seen_answer,
            float(grade) if is_grade else None,  # pyright: ignore[reportArgumentType]
            "" if is_grade else action,
            note,
            round(float(seconds), 1),
        )


class JudgingSession:
    """The sittings of a judge, one after the other, for any number of windows at once.

    study, judge: the study, and the name of the judge.
    n_acts: number of lines written in the session.
    findings: findings on known items that cannot be shown.
    """

    def __init__(self, study: Study, judge: str, options: JudgeOptions) -> None:
        self.study, self.judge, self.n_acts = study, judge, 0
        self._options, self._lock = options, threading.RLock()
        self._turn, self._is_closed = 0, False
        self._gold, self.findings = gold_items(study, options)
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._turn += 1
        items = next_asks(self.study, self.judge, self._options, self._gold) or SittingItems()
        self._states = {ask: AskState() for ask in items.asks}
        self._asks, self._n_lines = items.asks, len(items.lines)
        for number, line in enumerate(items.lines, 1):
            state = self._states.get(Ask(*line.pair, line.purpose))
            if state is not None:
                state.apply(line, number)
        self._contents = ItemContents(self.study, [ask.pair for ask in items.asks])
        self._counts = batch_counts(self.study, items.lease)

    def state(self) -> dict[str, Any]:
        """The state that a page displays, without the items."""
        with self._lock:
            asks = list(map(astuple, self._states.values()))
            head = page_head(self.study, self.judge)
            return {"turn": self._turn, "asks": asks, **self._counts, **head}

    def item(self, turn: int, ask: int) -> dict[str, Any]:
        """The content of an item. Raises OutdatedAct for one of another turn."""
        with self._lock:
            self._refuse_outdated(turn, ask)
            contents, pair = self._contents, self._asks[ask].pair
        return contents.content(*pair)

    def act(self, act: JudgingAct) -> dict[str, Any]:
        """Writes a line, and returns what has become of the item. Raises OutdatedAct, and OSError
        where nothing was written.
        """
        with self._lock:
            if self._is_closed:
                raise OSError("the session has ended")
            self._refuse_outdated(act.turn, act.ask)
            ask = self._asks[act.ask]
            state = self._states[ask]
            if state.answer != act.seen:
                raise OutdatedAct("another window has judged this item")
            line = JournalLine(
                now(),
                self.judge,
                *ask.pair,
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
            return asdict(state)

    def advance(self, turn: int) -> dict[str, Any]:
        """Leases the next batch once this one is answered, with the rounds and the guideline of the
        study as they are by now.
        """
        with self._lock:
            if turn == self._turn and all(
                state.answer is not None for state in self._states.values()
            ):
                study, fresh = self.study, read_study(self.study.folder)
                if fresh.rounds != study.rounds or fresh.guideline_digest != study.guideline_digest:
                    self.study = fresh
                self._begin_turn()
            return self.state()

    def close(self) -> None:
        """Ends the session: whatever connection is still open writes nothing any more."""
        with self._lock:
            self._is_closed = True

    def _refuse_outdated(self, turn: int, ask: int) -> None:
        if turn != self._turn or not 0 <= ask < len(self._asks):
            raise OutdatedAct("the batch of this item is over")


COLUMNS = ("query", "query text", "item", "item text", "grade", "note")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "'")
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
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell


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
