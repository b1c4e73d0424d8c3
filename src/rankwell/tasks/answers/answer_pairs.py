"""Questions with their right answers, joined with the ranked answers that a system gave."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, f1_of, gather, multiset_f1, offsets_of, position_in_segment
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.media.texts import normalize_all, normalizer
from rankwell.tasks.answers.questions import Predictions, Questions

Impossible = Literal["unanswered", "flagged"]
Missing = Literal["zero", "empty", "skip", "error"]
Extra = Literal["ignore", "error"]
Rule = Literal["overlap", "intersect", "span", "span-f1", "text", "token-f1", "char-f1", "contains", "contains-tokens", "either"]
NoAnswer = Literal["blank", "explicit", "normalized", "squad2", "wrong", "never", "refuse"]
_LEGACY = ("wrong", "never", "refuse")


class Unmatched(NamedTuple):
    """Ids of questions that nobody answered, and of answers to questions that nobody asked."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]


def unmatched(questions: Questions, predictions: Predictions) -> Unmatched:
    """What has no counterpart on the other side, each in the order of its own table."""
    if questions.ids == predictions.ids:
        return Unmatched((), ())
    asked, answered = set(questions.ids), set(predictions.ids)
    return Unmatched(
        missing=tuple(each for each in questions.ids if each not in answered),
        extra=tuple(each for each in predictions.ids if each not in asked),
    )


class Codes(NamedTuple):
    """Normal forms by number, equal where the forms are.

    forms: by number. vanished: (forms,) whether nothing is left. given: (answers,). right: (right answers,).
    """

    forms: tuple[str, ...]
    vanished: Bools
    given: Ints
    right: Ints


class Scores(NamedTuple):
    """How right each answer is. rows: (answers,). bare: (questions,) what a question gets that was answered by an empty list."""

    rows: Floats
    bare: Floats


@dataclass(frozen=True, eq=False)
class AnswerPairs:
    """queries: ids of the questions. impossible: (questions,) nothing is right but to give no answer.

    missing: (questions,) no prediction says anything of the question, which makes it 0 whatever the measure.
    gold_offsets: (questions + 1,) where the right answers of each begin; golds: their texts; gold_documents: numbers of their
    documents; gold_starts, gold_ends: in characters, end exclusive, -1 where unknown.
    offsets: (questions + 1,) where the ranked answers of each begin; texts: None or blank says that there is none; documents,
    starts, ends: as of the right answers. no_answer: (questions,) how likely there is no answer, NaN where unknown.
    retrieved: (questions,) whether what an answer needs was retrieved, or None where nobody said.
    positions: why rules about positions cannot be applied, or the empty text.
    """

    queries: tuple[str, ...]
    impossible: Bools
    missing: Bools
    gold_offsets: Ints
    golds: tuple[str, ...]
    gold_documents: Ints
    gold_starts: Ints
    gold_ends: Ints
    offsets: Ints
    texts: tuple[str | None, ...]
    documents: Ints
    starts: Ints
    ends: Ints
    no_answer: Floats
    retrieved: Bools | None = None
    positions: str = ""
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)

    @classmethod
    def pair(
        cls,
        questions: Questions,
        predictions: Predictions,
        *,
        impossible: Impossible = "unanswered",
        missing: Missing = "zero",
        extra: Extra = "ignore",
        retrieved: Mapping[str, bool] | None = None,
    ) -> "AnswerPairs":
        """The questions in their order, each with the answers that it was given.

        impossible: a question is impossible if it is `unanswered`, that is without a right answer, or only if it is `flagged`
        besides; one that is neither is answerable and never answered. missing: a question without a prediction counts `zero`, as
        one that was answered by an `empty` list, is left out (`skip`), or is an `error`; extra: likewise a prediction without a
        question. retrieved: question id -> whether what its answer needs was retrieved; not, where it is absent.
        Raises BadInput for what is an error, NothingToEvaluate where no question has a prediction.
        """
        away = unmatched(questions, predictions)
        _check(questions, predictions, away, missing, extra)
        rows, columns = _match(questions, predictions)
        codes = _number(*questions.answer_documents, *predictions.documents)
        cut = len(questions.answers)
        unanswered = np.diff(questions.offsets) == 0
        lost = columns < 0
        given, offsets = gather(
            np.append(predictions.offsets, predictions.offsets[-1]), np.where(lost, len(predictions.ids), columns)
        )
        listed = given.tolist()
        view = cls(
            queries=questions.ids,
            impossible=unanswered & questions.impossible if impossible == "flagged" else unanswered,
            missing=lost if missing == "zero" else np.zeros_like(lost),
            gold_offsets=questions.offsets,
            golds=questions.answers,
            gold_documents=codes[:cut],
            gold_starts=questions.starts,
            gold_ends=_ends(questions),
            offsets=offsets,
            texts=tuple(predictions.texts[row] for row in listed),
            documents=codes[cut:][given],
            starts=predictions.starts[given],
            ends=predictions.ends[given],
            no_answer=_no_answer(predictions, columns),
            positions=_without_positions(questions, predictions),
        )
        view = view if retrieved is None else view.with_retrieved(retrieved)
        return view.take(rows) if missing == "skip" else view

    def with_retrieved(self, retrieved: Mapping[str, bool]) -> "AnswerPairs":
        """The same answers, with other knowledge of what was retrieved."""
        return replace(self, retrieved=np.array([bool(retrieved.get(each, False)) for each in self.queries], dtype=np.bool_))

    def take(self, queries: Ints) -> "AnswerPairs":
        """The view of some questions only, in the order given by their indices."""
        gold, gold_offsets = gather(self.gold_offsets, queries)
        rows, offsets = gather(self.offsets, queries)
        return replace(
            self,
            queries=tuple(self.queries[query] for query in queries.tolist()),
            impossible=self.impossible[queries],
            missing=self.missing[queries],
            gold_offsets=gold_offsets,
            golds=tuple(self.golds[row] for row in gold.tolist()),
            gold_documents=self.gold_documents[gold],
            gold_starts=self.gold_starts[gold],
            gold_ends=self.gold_ends[gold],
            offsets=offsets,
            texts=tuple(self.texts[row] for row in rows.tolist()),
            documents=self.documents[rows],
            starts=self.starts[rows],
            ends=self.ends[rows],
            no_answer=self.no_answer[queries],
            retrieved=None if self.retrieved is None else self.retrieved[queries],
            _known={},
        )

    @cached_property
    def question_of_row(self) -> Ints:
        """(answers,) the index of each answer's question."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def ranks(self) -> Ints:
        """(answers,) the place of each answer in its list, from 1."""
        return position_in_segment(self.offsets) + 1

    def codes(self, name: str) -> Codes:
        """The normal forms of all answers, given and right, under a normaliser; worked out once. Raises UnknownName."""
        if ("codes", name) not in self._known:
            given = ["" if text is None else text for text in self.texts]
            forms = normalize_all([*given, *self.golds], normalizer(name))
            number: dict[str, int] = {}
            codes = {text: number.setdefault(form, len(number)) for text, form in forms.items()}
            first = np.fromiter(map(codes.__getitem__, given), dtype=np.int64, count=len(given))
            right = np.fromiter(map(codes.__getitem__, self.golds), dtype=np.int64, count=len(self.golds))
            vanished = np.array([not form or form.isspace() for form in number], dtype=np.bool_)
            self._known["codes", name] = Codes(tuple(number), vanished, first, right)
        return self._known["codes", name]

    def scores(self, rule: Rule, name: str, no_answer: NoAnswer) -> Scores:
        """How right every answer is, best over the right answers; worked out once for every cut-off and population.

        rule: `overlap` positions that share a character or touch, `intersect` share one, `span` the same positions, `span-f1` of
        shared positions (all four: in the same document); `text` equal, `token-f1` and `char-f1` of shared tokens or characters,
        `contains` the right answer's text, `contains-tokens` its tokens in a row, `either` contains the other; all in their
        normal form under the normaliser `name`. no_answer: what is no answer, and so right where the question is impossible:
        see `AnswerEM`. Raises BadUsage for a rule about positions where there are none.
        """
        key = (rule, name, no_answer)
        if key not in self._known:
            if rule in _SPANS and self.positions:
                raise BadUsage(self.positions)
            none = self._is_none(name, no_answer)
            rows = np.where(self.impossible[self.question_of_row], none, self._right(rule, name, no_answer))
            accepted = self.impossible & (no_answer not in ("explicit", *_LEGACY))
            self._known[key] = Scores(rows, accepted.astype(np.float64))
        return self._known[key]

    def _is_none(self, name: str, no_answer: NoAnswer) -> Bools:
        """(answers,) whether an answer says that there is none."""
        if no_answer in _LEGACY:
            return np.zeros(len(self.texts), dtype=np.bool_)
        if no_answer in ("normalized", "squad2"):
            codes = self.codes(name)
            return codes.vanished[codes.given]
        if no_answer == "explicit":
            return np.array([text is None for text in self.texts], dtype=np.bool_)
        return self._blank

    @cached_property
    def _blank(self) -> Bools:
        return np.array([text is None or not text.strip() for text in self.texts], dtype=np.bool_)

    def _right(self, rule: Rule, name: str, no_answer: NoAnswer) -> Floats:
        """(answers,) the best that each answer reaches over the right answers of its question."""
        gold, bounds = gather(self.gold_offsets, self.question_of_row)
        answer = np.repeat(np.arange(len(self.texts), dtype=np.int64), np.diff(bounds))
        if rule in _SPANS:
            value = self._compare_spans(rule, answer, gold)
        else:
            value = self._compare_texts(rule, self.codes(name), answer, gold, no_answer)
        best = np.zeros(len(self.texts))
        filled = np.flatnonzero(np.diff(bounds))
        if len(filled):
            best[filled] = np.maximum.reduceat(value, bounds[:-1][filled])
        return np.where(self._blank, 0.0, best) if no_answer == "never" else best

    def _compare_spans(self, rule: Rule, answer: Ints, gold: Ints) -> Floats:
        start, end = self.starts[answer], self.ends[answer]
        first, last = self.gold_starts[gold], self.gold_ends[gold]
        comparable = (self.documents[answer] == self.gold_documents[gold]) & (start >= 0) & (end >= start) & (first >= 0)
        shared = np.minimum(end, last) - np.maximum(start, first)
        if rule == "overlap":
            # Ends are exclusive and the bounds inclusive, as in Haystack: spans that only touch count.
            return (comparable & (first <= end) & (start <= last)).astype(np.float64)
        if rule == "intersect":
            return (comparable & (shared > 0)).astype(np.float64)
        if rule == "span":
            return (comparable & (start == first) & (end == last)).astype(np.float64)
        return f1_of(np.where(comparable, np.maximum(shared, 0), 0), end - start, last - first)

    def _compare_texts(self, rule: Rule, codes: Codes, answer: Ints, gold: Ints, no_answer: NoAnswer) -> Floats:
        given, right = codes.given[answer], codes.right[gold]
        value = (given == right).astype(np.float64)
        vanished = codes.vanished
        if rule in _TEXTS:
            # An answer that equals one of the right ones has F1 = 1 and need not be compared with the others.
            same = np.bincount(answer[value > 0], minlength=len(self.texts)) > 0
            rest = np.flatnonzero(~same[answer] & ~vanished[given] & ~vanished[right])
            _TEXTS[rule](value, rest, codes.forms, given, right)
        if rule in ("contains", "contains-tokens", "either") or (rule != "text" and no_answer in _LEGACY):
            # The older scripts give two answers of nothing EM 1 and F1 0; nothing is contained in nothing here.
            value[vanished[given] & vanished[right]] = 0.0
        if no_answer == "squad2":
            # The right answers that normalise to nothing are dropped, unless the question has no other.
            left = np.bincount(answer[~vanished[right]], minlength=len(self.texts)) > 0
            value[vanished[right] & left[answer]] = 0.0
        return value


Compare = Callable[[Floats, Ints, Sequence[str], Ints, Ints], None]


def _fill_token_f1(value: Floats, rest: Ints, forms: Sequence[str], given: Ints, right: Ints) -> None:
    needed = np.union1d(given[rest], right[rest])
    tokens: list[str] = []
    ends = [0]
    codes: list[int] = needed.tolist()
    for code in codes:
        tokens.extend(forms[code].split())
        ends.append(len(tokens))
    number: dict[str, int] = {}
    units = np.fromiter(map(number.setdefault, tokens, range(len(tokens))), dtype=np.int64, count=len(tokens))
    value[rest] = multiset_f1(units, np.array(ends), np.searchsorted(needed, given[rest]), np.searchsorted(needed, right[rest]))


def _fill_char_f1(value: Floats, rest: Ints, forms: Sequence[str], given: Ints, right: Ints) -> None:
    needed = np.union1d(given[rest], right[rest])
    codes: list[int] = needed.tolist()
    texts = [forms[code] for code in codes]
    units = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    ends = offsets_of(np.array([len(each) for each in texts], dtype=np.int64))
    value[rest] = multiset_f1(units, ends, np.searchsorted(needed, given[rest]), np.searchsorted(needed, right[rest]))


def _fill_contains(value: Floats, rest: Ints, forms: Sequence[str], given: Ints, right: Ints) -> None:
    pairs = zip(given[rest].tolist(), right[rest].tolist(), strict=True)
    value[rest] = [float(forms[other] in forms[one]) for one, other in pairs]


def _fill_contains_tokens(value: Floats, rest: Ints, forms: Sequence[str], given: Ints, right: Ints) -> None:
    bounded = [f" {' '.join(form.split())} " for form in forms]
    pairs = zip(given[rest].tolist(), right[rest].tolist(), strict=True)
    value[rest] = [float(bounded[other] in bounded[one]) for one, other in pairs]


def _fill_either(value: Floats, rest: Ints, forms: Sequence[str], given: Ints, right: Ints) -> None:
    pairs = zip(given[rest].tolist(), right[rest].tolist(), strict=True)
    value[rest] = [float(forms[other] in forms[one] or forms[one] in forms[other]) for one, other in pairs]


_SPANS = ("overlap", "intersect", "span", "span-f1")
_TEXTS: Mapping[str, Compare] = {
    "token-f1": _fill_token_f1,
    "char-f1": _fill_char_f1,
    "contains": _fill_contains,
    "contains-tokens": _fill_contains_tokens,
    "either": _fill_either,
}


def _match(questions: Questions, predictions: Predictions) -> tuple[Ints, Ints]:
    """The questions that have a prediction, and for every question the row of its prediction or -1."""
    if questions.ids == predictions.ids:
        return np.arange(len(questions.ids)), np.arange(len(questions.ids))
    place = {name: row for row, name in enumerate(predictions.ids)}
    columns = np.array([place.get(name, -1) for name in questions.ids], dtype=np.int64)
    return np.flatnonzero(columns >= 0), columns


def _number(*names: str | None) -> Ints:
    """(names,) a number for each, equal where the names are."""
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    if len(number) < 2:
        return np.zeros(len(names), dtype=np.int64)
    return np.fromiter(map(number.__getitem__, names), dtype=np.int64, count=len(names))


def _ends(questions: Questions) -> Ints:
    """(right answers,) where each ends, exclusive, -1 where its start is unknown."""
    lengths = np.fromiter(map(len, questions.answers), dtype=np.int64, count=len(questions.answers))
    return np.where(questions.starts < 0, -1, questions.starts + lengths)


def _no_answer(predictions: Predictions, columns: Ints) -> Floats:
    """(questions,) how likely each has no answer. columns: (questions,) the row of its prediction, -1 for none."""
    known = np.full(len(columns), np.nan)
    if predictions.no_answer is not None:
        known[columns >= 0] = predictions.no_answer[columns[columns >= 0]]
    return known


def _check(questions: Questions, predictions: Predictions, away: Unmatched, missing: str, extra: str) -> None:
    if len(away.missing) == len(questions.ids):
        raise NothingToEvaluate(
            f"none of the {len(questions.ids)} questions has a prediction{_example(questions.ids, predictions.ids)}; "
            "are these the predictions of another data set?"
        )
    for found, policy, what in (
        (away.missing, missing, "question without a prediction"),
        (away.extra, extra, "prediction without a question"),
    ):
        if found and policy == "error":
            raise BadInput(f"{len(found)} × {what}, the first {found[0]!r}; complete the files, or choose another policy.")


def _example(asked: Sequence[str], answered: Sequence[str]) -> str:
    return f" (questions have ids like {asked[0]!r}, predictions like {answered[0]!r})" if asked and answered else ""


def _without_positions(questions: Questions, predictions: Predictions) -> str:
    """Why rules about positions cannot be applied, or the empty text."""
    advice = "take a convention that compares texts, such as squad2 or piaf-article"
    if len(questions.starts) and not (questions.starts >= 0).any():
        return f"the right answers have no positions in their documents, which this rule compares; {advice}."
    texts = any(text is not None and text.strip() for text in predictions.texts)
    if texts and not (predictions.starts >= 0).any():
        return f"the predicted answers have no positions in their documents, which this rule compares; {advice}."
    return ""


def answer_pairs(right: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str | None]]) -> AnswerPairs:
    """The view of texts alone: question id -> right answers (none: impossible), and question id -> ranked answers."""
    return AnswerPairs.pair(Questions.from_texts(right), Predictions.from_texts(given))
