"""Rows that readers of any format add one by one, until they become a table; oddities are counted,
and noted at the end.
"""

import ast
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import lt
from typing import Any

from rankwell.data.columns import Repeats, unique_rows
from rankwell.data.findings import Finding, FindingKind
from rankwell.data.findings.kinds import odd_entries, reading_choice
from rankwell.data.rankings import Ranking
from rankwell.data.tables import grouped
from rankwell.documents import parse_json
from rankwell.errors import BadInput, DuplicateItem
from rankwell.io.records import Content, Record, Where
from rankwell.tasks.qa.answer_pairs import Predictions, Questions

_NOTES = {
    "without_id": "questions without an id, which go by their place",
    "empty": "questions with an empty text, which are left out while their documents stay",
    "unmarked": "questions without a right answer that are not marked as impossible",
    "answered_impossible": "questions marked as impossible that have right answers",
    "silent": "questions that have neither answers nor is_impossible (is a key misspelt?), and "
    "count as "
    "impossible",
    "no_list": "questions or answers that are not a list, and count as none",
    "blank_answers": "right answers without a text, which are left out",
    "misaligned": "right answers that are not at their answer_start, by which measures of "
    "positions suffer",
    "no_start": "right answers without a position",
    "same_title": "articles with the title of an earlier one, whose paragraphs are numbered on",
    "negative": "labels that mark something as wrong, which are left out",
}


_TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_START = ("answer_start", "start", "start_character")
DOCUMENT = ("document", "document_id", "doc_id")


@dataclass(slots=True)
class Entry:
    """A question of a file with its rows.

    where: place in the file.
    name: id of the question; None where the file has none.
    text: text of the question; None where the file has none.
    rows: right answers (text, document, start), answers (text, document, start, end, score) or
        retrieved documents (document, score, whether the file says that it holds an answer).
    document: id of the document that the question is about; None where unknown.
    attributes: further attributes of the question in the file; None for none.
    impossible: whether the question is marked as impossible, or has no right answer and no mark.
    no_answer: probability or score that there is no answer; NaN where unknown.
    evidence: sets of documents, each of which is enough to answer the question.
    """

    where: Where
    name: Any
    text: str | None
    rows: list[tuple[Any, ...]]
    document: str | None = None
    attributes: Mapping[str, Any] | None = None
    impossible: bool = False
    no_answer: float = math.nan
    evidence: tuple[tuple[str, ...], ...] = ()


class EntryRows:
    """The questions of a file in its order, given by id, by text or by neither.

    entry: the last question so far.
    content: the content of the document.
    part: the word after the colon in the format's name; empty for none.
    findings: findings of the reader.
    entries: all questions so far.
    numbers: numbers of no-answer files, by id.
    contexts: document id -> its text.
    """

    entry: Entry

    def __init__(self, content: Content, part: str) -> None:
        self.content, self.part, self.findings = content, part, list[Finding]()
        if content.marked:
            self.note("its byte order mark is not read as content.", reading_choice)
        self.entries, self.numbers = list[Entry](), dict[str, float]()
        self.contexts: dict[str, str] = {}

    @property
    def records(self) -> Iterator[Record]:
        """The records of the document."""
        return self.content.checked_records()

    def by_id(self, form: str, expected: str = "") -> Iterator[tuple[str, Any]]:
        """The ids and values of a document that is one object; objects as records where something
        is expected of them.
        """
        for name, value in self.content.record(self.content.value, (), form).value.items():
            yield name, self.content.record(value, (name,), expected) if expected else value

    def note(self, text: str, kind: FindingKind[[str, str]] = odd_entries) -> None:
        """Adds a finding on the file."""
        self.findings.append(kind(text, self.content.name))

    def begin(
        self,
        where: Where,
        name: str | None,
        text: str | None = None,
        document: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Begins the entry of one question: its id, its text, or neither, for which its number
        stands, from 0.
        """
        self.entry = Entry(where, name, text, [], document, attributes)
        self.entries.append(self.entry)

    def refuse_repeated(self, advice: str) -> None:
        """Raises DuplicateItem for an id that appears twice, with both places."""
        first: dict[str, Entry] = {}
        for entry in self.entries:
            if first.setdefault(entry.name, entry) is not entry:
                places = (
                    f"{self.content.place(first[entry.name].where)} and {self.place(entry.where)}"
                )
                raise DuplicateItem(f"{places} have the id {entry.name!r}; {advice}.")

    def place(self, where: Where) -> str:
        """A place in the file, without the file's name where that stands apart."""
        return self.content.place(where).removeprefix(f"{self.content.name}: ")

    def targets(self, questions: Questions | None) -> list[list[str]]:
        """The ids that each entry is about: its own, those of the questions with its text, or its
        number.
        """
        names = [entry.name for entry in self.entries]
        has_texts = questions and any(questions.texts) and any(entry.text for entry in self.entries)
        if None not in names and not (
            questions and has_texts and set(questions.ids).isdisjoint(names)
        ):
            self.refuse_repeated("keep one of them")
            return [[str(name)] for name in names]
        if questions and has_texts:
            return self._by_text(questions)
        text = f"{names.count(None)} questions have no id and go by their number, from 0"
        self.note(text, reading_choice)
        return [[str(row) if name is None else name] for row, name in enumerate(names)]

    def _by_text(self, questions: Questions) -> list[list[str]]:
        pairs = zip(questions.ids, questions.texts, strict=True)
        ids_of = grouped(
            (text.strip(), name)
            for name, text in sorted(pairs, key=lambda pair: (len(pair[0]), pair[0]))
        )
        ids, rows_of = set(questions.ids), dict[str, list[int]]()
        targets = [[str(entry.name)] for entry in self.entries]
        for row, entry in enumerate(self.entries):
            if entry.name not in ids:
                rows_of.setdefault((entry.text or "").strip(), []).append(row)
        unknown = shared = 0
        for text, rows in rows_of.items():
            names = ids_of.get(text, [])
            if not names:
                unknown += len(rows)
                names = [self.entries[row].name or text for row in rows]
            if 1 < len(rows) != len(names):
                place = self.content.place(self.entries[rows[0]].where)
                raise BadInput(
                    f"{place}: the question {text[:60]!r} appears {len(rows)} times here and "
                    f"{len(names)} times among the questions; give ids on both sides."
                )
            groups = [names] if len(rows) == 1 else [[name] for name in names]
            shared += len(groups[0]) > 1
            for row, group in zip(rows, groups, strict=True):
                targets[row] = group
        note = "questions are found by their text"
        if shared:
            note += f"; {shared} texts are those of several questions, which all get the same"
        note += f"; {unknown} are not among the questions" if unknown else ""
        self.note(note, odd_entries if unknown else reading_choice)
        return targets


class QuestionRows(EntryRows):
    """Questions with their right answers.

    keep_empty: whether questions with an empty text are kept.
    counts: kind of oddity -> number of cases.
    first: kind of oddity -> the place of its first case.
    """

    def __init__(self, content: Content, part: str, *, keep_empty: bool) -> None:
        super().__init__(content, part)
        self.keep_empty, self.counts, self.first = keep_empty, Counter[str](), dict[str, str]()

    def odd(self, problem: str, where: Where) -> None:
        """Counts something odd."""
        self.counts[problem] += 1
        if problem not in self.first:
            self.first[problem] = self.place(where)

    def add(
        self,
        where: Where,
        name: str | None,
        text: str | None,
        *,
        document: str | None = None,
        otherwise: str = "",
        attributes: Mapping[str, Any] | None = None,
    ) -> bool:
        """Begins a question; False where it is left out because its text is empty. otherwise:
        stands for a missing id.
        """
        if text is not None and not text.strip() and not self.keep_empty:
            self.odd("empty", where)
            return False
        if name is None:
            self.odd("without_id", where)
            name = otherwise or str(len(self.entries))
        self.begin(where, name, text or "", document, attributes)
        return True

    def answer(self, text: str, where: Where, document: str | None = None, start: int = -1) -> None:
        """Adds a right answer to the last question; without a text it is counted and left out. Its
        context is there before it.
        """
        if not text.strip():
            self.odd("blank_answers", where)
            return
        if start < 0:
            self.odd("no_start", where)
        elif document in self.contexts and not self.contexts[document].startswith(text, start):
            self.odd("misaligned", where)
        self.entry.rows.append((text, document, max(start, -1)))

    def add_answers(self, value: Any, where: Where, document: str | None = None) -> None:
        """Adds the right answers of a question in any form of SQuAD; a table's cell may hold a list
        in JSON or Python.
        """
        if isinstance(value, str) and self.content.form == "table":
            value = literal(value)
        if isinstance(value, list):
            for index, answer in enumerate(value):
                self._add_one(answer, (*where, index), document)
        elif isinstance(value, Mapping) and isinstance(value.get("text"), (list, tuple)):
            self._add_columns(Record(self.content, value, where), document)
        elif isinstance(value, (str, Mapping)):
            if value != "":
                self._add_one(value, where, document)
        elif value is not None:
            raise self.content.wrong(where, value, "a list of answers")

    def _add_one(self, value: Any, where: Where, document: str | None) -> None:
        if isinstance(value, str):
            self.answer(value, where, document)
            return
        answer = self.content.record(value, where, "an answer, {text, answer_start}")
        key = answer.key("text", "answer")
        text = answer.text("text") if key is None else answer.text(key, "")
        start = answer.integer(answer.key(*_START) or "answer_start")
        for name in DOCUMENT:
            if answer.value.get(name) is not None:
                document = answer.id(name)
                break
        self.answer(text, where, document, start)

    def _add_columns(self, answers: Record, document: str | None) -> None:
        """The answers in Hugging Face's columns."""
        texts, starts = answers.value["text"], answers.value.get("answer_start")
        starts = [None] * len(texts) if starts is None else starts
        if not isinstance(starts, (list, tuple)) or len(starts) != len(texts):
            raise answers.wrong(
                f"a list of {len(texts)}, as many as there are texts", "answer_start"
            )
        for index, (text, start) in enumerate(zip(texts, starts, strict=True)):
            if not isinstance(text, str):
                raise answers.wrong("a string", "text", index)
            begin = answers.content.integer(start, (*answers.where, "answer_start", index))
            self.answer(text, (*answers.where, "text", index), document, begin)

    def end(self, impossible: bool | None = None) -> None:
        """Ends the last question: whether it is marked as impossible, None where nothing says
        so.
        """
        entry = self.entry
        entry.impossible = not entry.rows if impossible is None else impossible
        if impossible is False and not entry.rows:
            self.odd("unmarked", entry.where)
        elif impossible and entry.rows:
            self.odd("answered_impossible", entry.where)

    def add_evidence(self, documents: tuple[str, ...]) -> None:
        """Adds a set of documents that are enough to answer the last question, each set once."""
        self.entry.evidence = tuple(dict.fromkeys((*self.entry.evidence, documents)))

    def context(self, document: str, text: str, where: Where) -> None:
        """Notes the text of a document. Raises BadInput where the document has another text
        already.
        """
        if self.contexts.setdefault(document, text) != text:
            raise BadInput(
                f"{self.content.place(where)}: the document {document!r} has another text than at "
                "its first place; give each document an id of its own."
            )

    def table(self) -> Questions:
        """The table. Raises DuplicateItem for an id that appears twice, with both places."""
        self.refuse_repeated("give each question an id of its own")
        entries = self.entries
        return Questions.from_lists(
            [(entry.name, entry.text or "", entry.impossible, entry.document) for entry in entries],
            [entry.rows for entry in entries],
            contexts=self.contexts,
            attributes={entry.name: entry.attributes for entry in entries if entry.attributes},
            evidence={entry.name: entry.evidence for entry in entries if entry.evidence},
        )

    def note_oddities(self) -> None:
        """Adds findings on what was repaired, left out or is odd, a line each, with a count and the
        first place.
        """
        n_answers = sum(len(entry.rows) for entry in self.entries)
        for problem, text in _NOTES.items():
            n = self.counts[problem]
            if n and (problem != "no_start" or n < n_answers):
                self.note(f"{text}: {n} (first {self.first[problem]})")
        texts = Counter(entry.text for entry in self.entries)
        repeated = {text: n for text, n in texts.items() if n > 1 and text}
        if repeated:
            text, times = next(iter(repeated.items()))
            names = [entry.name for entry in self.entries if entry.text == text]
            n = self.counts["duplicate_texts"] = sum(repeated.values())
            self.note(
                f"{n} questions share their text with another ({len(repeated)} texts, {times} "
                f"times {text[:60]!r}: {', '.join(names[:3])}); they are kept apart by their ids",
                reading_choice,
            )


def marked_impossible(record: Record) -> bool | None:
    """Whether a question says that it is impossible to answer; None where it has no such mark."""
    key = record.key("is_impossible") or "impossible"
    value = record.value.get(key)
    if isinstance(value, bool) or value is None or value == "":
        return None if value == "" else value
    word = value.lower() if isinstance(value, str) else str(int(value)) if value in (0, 1) else ""
    if word not in _TRUTHS:
        raise record.wrong("true or false", key)
    return _TRUTHS[word]


def literal(text: str) -> Any:
    """The value of a cell of a table: a list or an object as JSON or as a Python literal; any other
    text is itself.
    """
    if text[:1] not in ("[", "{", "("):
        return text
    with suppress(BadInput):
        return parse_json(text, "the cell")
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(text)
    return text


class AnswerRows(EntryRows):
    """Predicted answers, best first."""

    def answer(
        self,
        text: str | None,
        *,
        document: str | None = None,
        start: int = -1,
        end: int = -1,
        score: float = math.nan,
    ) -> None:
        """Adds the next best answer; None, or an empty text, says that there is none. A start gives
        the end of a text.
        """
        if start >= 0 and end < 0 and text:
            end = start + len(text)
        self.entry.rows.append((text, document, start, end, score))

    def answer_of(self, record: Record, score: str = "score") -> float:
        """Adds the answer of an object {text, document, start, end, score} as the next best one,
        and returns its score.
        """
        text, value = record.text_or_null("text"), record.number(score)
        self.answer(
            text,
            document=record.id("document"),
            start=record.integer("start"),
            end=record.integer("end"),
            score=value,
        )
        return value

    def table(self, questions: Questions | None) -> Predictions:
        """The table."""
        targets = zip(self.entries, self.targets(questions), strict=True)
        pairs = [(entry, name) for entry, names in targets for name in names]
        odds = [entry.no_answer for entry, _ in pairs]
        return Predictions.from_lists(
            [name for _, name in pairs],
            [entry.rows for entry, _ in pairs],
            None if all(map(math.isnan, odds)) else odds,
        )


class RetrievedRows(EntryRows):
    """Retrieved documents, best first."""

    def item(
        self,
        document: str,
        score: float = math.nan,
        text: str | None = None,
        *,
        claim: bool | None = None,
    ) -> None:
        """Adds the next document, with its text, and whether it holds an answer, where the file has
        it.
        """
        self.entry.rows.append((document, score, claim))
        if text is not None:
            self.contexts.setdefault(document, text)

    def table(
        self, questions: Questions | None, duplicates: Repeats
    ) -> tuple[Ranking, dict[tuple[str, str], bool]]:
        """The ranking, and by question and document whether the file says that it holds an answer.

        Lists are in a definite order, which scores that do not fall, or are not there, give way to.
        """
        targets = self.targets(questions)
        lists = [[score for _, score, _ in entry.rows] for entry in self.entries]
        climbing = sum(any(map(lt, scores, scores[1:])) for scores in lists)
        if climbing:
            self.note(
                f"the scores of {climbing} questions do not fall along the list; the order of the "
                "list is taken"
            )
        if climbing or any(map(math.isnan, chain.from_iterable(lists))):
            lists = [[-float(rank) for rank in range(1, len(scores) + 1)] for scores in lists]
        queries, items, values = list[str](), list[str](), list[float]()
        claims: dict[tuple[str, str], bool] = {}
        for names, entry, scores in zip(targets, self.entries, lists, strict=True):
            for name in names:
                queries += [name] * len(scores)
                items += [item for item, *_ in entry.rows]
                values += scores
                for item, _, claim in entry.rows:
                    if claim is not None:
                        claims.setdefault((name, item), claim)
        columns = unique_rows(queries, items, values, duplicates)
        repeats = len(items) - len(columns[0])
        if repeats:
            self.note(f"{repeats} documents appear again in a list; one of each is kept")
        ranking = Ranking.from_rows(
            *columns, all_queries=chain.from_iterable(targets), repeated=duplicates == "keep"
        )
        return ranking, claims
