"""Rows that readers of any format add one by one, until they become a table; oddities are counted,
and noted at the end.
"""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from operator import lt
from typing import Any

import numpy as np

from rankwell.data.columns import Repeats, unique_rows
from rankwell.data.rankings import Ranking
from rankwell.data.tables import order_ids
from rankwell.errors import BadInput, DuplicateItem
from rankwell.io.records import Content, Record, Where
from rankwell.tasks.answers.answer_pairs import Predictions, Questions, flat

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


class EntryRows:
    """Questions in the order of a file, by id, by text or by neither, each with a list; `notes` are
    those of the reader.
    """

    def __init__(self, content: Content, part: str = "") -> None:
        self.content, self.part, self.notes = content, part, list[str]()
        if content.marked:
            self.note("its byte order mark is not read as content.")
        self.names, self.texts, self.where = list[Any](), list[Any](), list[Where]()
        self.lists: list[list[tuple[Any, ...]]] = []

    def note(self, text: str) -> None:
        """Adds a note on the file."""
        self.notes.append(f"{self.content.name}: {text}")

    def begin(self, where: Where, name: str | None, text: str | None = None) -> None:
        """Begins the entry of one question: its id, its text, or neither, for which its number
        stands, from 0.
        """
        self.names.append(name)
        self.texts.append(text)
        self.where.append(where)
        self.lists.append([])

    def refuse_repeated(self, advice: str) -> None:
        """Raises DuplicateItem for an id that appears twice, with both places."""
        first: dict[str | None, Where] = {}
        for name, where in zip(self.names, self.where, strict=True):
            if first.setdefault(name, where) != where:
                places = f"{self.content.place(first[name])} and {self.place(where)}"
                raise DuplicateItem(f"{places} have the id {name!r}; {advice}.")

    def place(self, where: Where) -> str:
        """A place in the file, without the file's name where that stands apart."""
        return self.content.place(where).removeprefix(f"{self.content.name}: ")

    def targets(self, questions: Questions | None) -> list[list[str]]:
        """The ids that each entry is about: its own, those of the questions with its text, or its
        number.
        """
        texts = questions.texts if questions is not None and any(self.texts) else ()
        if None not in self.names and not (
            questions and any(texts) and set(questions.ids).isdisjoint(self.names)
        ):
            self.refuse_repeated("keep one of them")
            return [[str(name)] for name in self.names]
        if questions and any(texts):
            return self._by_text(questions)
        self.note(f"{self.names.count(None)} questions have no id and go by their number, from 0")
        return [[str(row) if name is None else name] for row, name in enumerate(self.names)]

    def _by_text(self, questions: Questions) -> list[list[str]]:
        ids_of: dict[str, list[str]] = {}
        pairs = zip(questions.ids, questions.texts, strict=True)
        for name, text in sorted(pairs, key=lambda pair: (len(pair[0]), pair[0])):
            ids_of.setdefault(text.strip(), []).append(name)
        ids, rows_of = set(questions.ids), dict[str, list[int]]()
        targets: list[list[str]] = [[] for _ in self.texts]
        for row, (name, text) in enumerate(zip(self.names, self.texts, strict=True)):
            if name in ids:
                targets[row] = [str(name)]
            else:
                rows_of.setdefault((text or "").strip(), []).append(row)
        unknown = shared = 0
        for text, rows in rows_of.items():
            names = ids_of.get(text, [])
            if not names:
                unknown += len(rows)
                names = [self.names[row] or text for row in rows]
            if 1 < len(rows) != len(names):
                raise BadInput(
                    f"{self.content.place(self.where[rows[0]])}: the question {text[:60]!r} "
                    f"appears {len(rows)} times here and {len(names)} times among the questions; "
                    "give ids on both sides."
                )
            groups = [names] if len(rows) == 1 else [[name] for name in names]
            shared += len(groups[0]) > 1
            for row, group in zip(rows, groups, strict=True):
                targets[row] = group
        note = "questions are found by their text"
        if shared:
            note += f"; {shared} texts are those of several questions, which all get the same"
        self.note(note + (f"; {unknown} are not among the questions" if unknown else ""))
        return targets


class QuestionRows(EntryRows):
    """Questions with their right answers. counts: how often something was odd, and `first`: where
    first.
    """

    def __init__(self, content: Content, part: str = "", *, keep_empty: bool = False) -> None:
        super().__init__(content, part)
        self.keep_empty, self.counts, self.first = keep_empty, Counter[str](), dict[str, str]()
        self.contexts, self.attributes = dict[str, str](), dict[str, Mapping[str, Any]]()
        self.evidence: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._impossible, self._documents = list[bool](), list[str | None]()

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
            name = otherwise or str(len(self.names))
        self.begin(where, name, text or "")
        self._impossible.append(False)
        self._documents.append(document)
        if attributes:
            self.attributes[name] = attributes
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
        self.lists[-1].append((text, document, max(start, -1)))

    def end(self, impossible: bool | None) -> None:
        """Ends the last question: whether it is marked as impossible, None where nothing says
        so.
        """
        unanswered = not self.lists[-1]
        self._impossible[-1] = unanswered if impossible is None else impossible
        if impossible is False and unanswered:
            self.odd("unmarked", self.where[-1])
        elif impossible and not unanswered:
            self.odd("answered_impossible", self.where[-1])

    def add_evidence(self, documents: tuple[str, ...]) -> None:
        """Adds a set of documents that are enough to answer the last question, each set once."""
        name = self.names[-1]
        self.evidence[name] = tuple(dict.fromkeys((*self.evidence.get(name, ()), documents)))

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
        order = order_ids(self.names)
        ranks = order.tolist()
        offsets, (answers, documents, starts) = flat([self.lists[row] for row in ranks], 3)
        return Questions(
            ids=tuple(self.names[row] for row in ranks),
            texts=tuple(self.texts[row] for row in ranks),
            impossible=np.array(self._impossible, dtype=np.bool_)[order],
            documents=tuple(self._documents[row] for row in ranks),
            offsets=offsets,
            answers=answers,
            answer_documents=documents,
            starts=np.array(starts, dtype=np.int64),
            contexts=self.contexts,
            attributes=self.attributes,
            evidence=self.evidence,
        )

    def note_oddities(self) -> None:
        """Adds notes on what was repaired, left out or is odd, a line each, with a count and the
        first place.
        """
        n_answers = sum(map(len, self.lists))
        for problem, text in _NOTES.items():
            n = self.counts[problem]
            if n and (problem != "no_start" or n < n_answers):
                self.note(f"{text}: {n} (first {self.first[problem]})")
        repeated = {text: n for text, n in Counter(self.texts).items() if n > 1 and text}
        if repeated:
            text, times = next(iter(repeated.items()))
            names = [self.names[row] for row, same in enumerate(self.texts) if same == text]
            n = self.counts["duplicate_texts"] = sum(repeated.values())
            self.note(
                f"{n} questions share their text with another ({len(repeated)} texts, {times} "
                f"times {text[:60]!r}: {', '.join(names[:3])}); they are kept apart by their ids"
            )


class AnswerRows(EntryRows):
    """Predicted answers, best first. unranked: questions whose answers nothing but scores or lines
    order, by what does.

    n_climbing: questions whose scores do not fall with the ranks of their answers.
    """

    def __init__(self, content: Content, part: str = "") -> None:
        super().__init__(content, part)
        self._no_answer, self.unranked, self.n_climbing = dict[int, float](), Counter[str](), 0

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
        self.lists[-1].append((text, document, start, end, score))

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

    def no_answer(self, value: float) -> None:
        """Says how likely it is that the last question has no answer."""
        self._no_answer[len(self.lists) - 1] = value

    def table(self, questions: Questions | None) -> Predictions:
        """The table."""
        pairs = [(name, row) for row, names in enumerate(self.targets(questions)) for name in names]
        odds = [self._no_answer.get(row, math.nan) for _, row in pairs] if self._no_answer else None
        return Predictions.from_lists(
            [name for name, _ in pairs], [self.lists[row] for _, row in pairs], odds
        )


class RetrievedRows(EntryRows):
    """Retrieved documents, best first. claims: (question, document) -> whether the file says that
    it holds an answer.
    """

    def __init__(self, content: Content, part: str = "") -> None:
        super().__init__(content, part)
        self.contexts, self.claims = dict[str, str](), dict[tuple[str, str], bool]()
        self._claims: dict[tuple[int, str], bool] = {}

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
        self.lists[-1].append((document, score))
        if claim is not None:
            self._claims.setdefault((len(self.lists) - 1, document), claim)
        if text is not None:
            self.contexts.setdefault(document, text)

    def table(self, questions: Questions | None, duplicates: Repeats = "error") -> Ranking:
        """The ranking; lists are in a definite order, which scores that do not fall, or are not
        there, give way to.
        """
        targets = self.targets(questions)
        self.claims = {
            (name, item): claim
            for (row, item), claim in self._claims.items()
            for name in targets[row]
        }
        lists = [[score for _, score in entry] for entry in self.lists]
        climbing = sum(any(map(lt, scores, scores[1:])) for scores in lists)
        if climbing:
            self.note(
                f"the scores of {climbing} questions do not fall along the list; the order of the "
                "list is taken"
            )
        if climbing or any(map(math.isnan, chain.from_iterable(lists))):
            lists = [[-float(rank) for rank in range(1, len(scores) + 1)] for scores in lists]
        rows: list[tuple[Any, ...]] = [
            (name, item, score)
            for names, entry, scores in zip(targets, self.lists, lists, strict=True)
            for name in names
            for (item, _), score in zip(entry, scores, strict=True)
        ]
        queries, items, values = ([row[column] for row in rows] for column in range(3))
        columns = unique_rows(queries, items, values, duplicates)
        repeats = len(rows) - len(columns[0])
        if repeats:
            self.note(f"{repeats} documents appear again in a list; one of each is kept")
        return Ranking.from_rows(
            *columns, all_queries=chain.from_iterable(targets), repeated=duplicates == "keep"
        )
