"""A small extractive reader without a model: the sentence that shares most with the question, and in it the likeliest words."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rankwell.engines import Answer, Passage, ranked

_WORD = re.compile(r"[^\W_]+(?:[._'’-]+[^\W_]+)*", re.UNICODE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|\n+")
_SHORTENED = re.compile(r"(?:^|[\s.(])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|vs|No|Fig|ca|cf)$")
_NUMBER = re.compile(r"\d|^(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million)s?$")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been being but by can could did do does each for from had has have how if in into is it its "
        "itself may might must no nor not of on or other own shall should so some such than that the their them then there "
        "these they this those to up was were what when where which while who whom whose why will with would you your",
    )
)
_ASKS_NUMBER = re.compile(r"\b(?:how (?:many|much|long|old|often|far|large|big|wide|high|fast)|what (?:number|year)|when)\b")
_NAMED = "function|method|class|module|exception|attribute|argument|object|constant|type|warning|operator"
_ASKS_NAME = re.compile(rf"\b(?:what|which) (?:\w+ )?(?:{_NAMED})\b|\b(?:who|whom|whose|which)\b")
_CLAUSE_END = re.compile(r"[,;:()–—]")
_LONGEST = 12


class _Word(NamedTuple):
    """A word where it stands in its passage. key: what it is compared by."""

    start: int
    end: int
    text: str
    key: str


class OverlapReader:
    """The answer is looked for in the sentences that hold the rarest words of the question, among the words it does not hold.

    documents: all texts that may be read, for how rare words are; without them every word weighs the same. threshold: how much of
    the question's weight a sentence must hold, as a share, before the reader answers at all: that there is no answer has this
    score, so that it comes first where no sentence reaches it. An answer's score is its sentence's share, less at most 1 % for
    its place among the words of that sentence. English: endings are cut off and words such as `the` and `which` left out.
    The same texts give the same answers on every machine.

    >>> reader = OverlapReader()
    >>> passage = Passage("d", "Paris lies on the Seine. The river Thames flows through London.")
    >>> reader.read("Which city does the river Thames flow through?", [passage], k=1)[0].text
    'London'
    """

    def __init__(self, documents: Iterable[str] = (), *, threshold: float = 0.5) -> None:
        self._threshold = threshold
        self._total, self._holding = 0, Counter[str]()
        for text in documents:
            self._total += 1
            self._holding.update({word.key for word in _words(text, 0, len(text))})

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers of all passages, and that there is none; among equals earlier passages come first."""
        queried = {word.key: None for word in _words(question, 0, len(question)) if word.text.lower() not in _STOP}
        weights = {key: self._weight(key) for key in queried}
        whole = math.fsum(weights.values())
        found: dict[tuple[str, int, int], Answer] = {}
        for document, text in passages if whole else ():
            for start, end in _sentences(text):
                words = _words(text, start, end)
                share = math.fsum(weights[key] for key in {word.key for word in words} & weights.keys()) / whole
                if not share:
                    continue
                spans = _spans(text, words, weights, question.lower())
                for place, (first, last) in enumerate(spans):
                    score = share * (1 - 0.01 * place / len(spans))
                    found.setdefault((document, first, last), Answer(text[first:last], score, document, first, last))
        return ranked([*ranked(found.values())[: max(k, 0)], Answer(None, self._threshold)])

    def _weight(self, key: str) -> float:
        """Inverse document frequency of a word: 1 where every document holds it, the more the rarer it is."""
        return 1.0 + math.log((1 + self._total) / (1 + self._holding[key]))


def _words(text: str, start: int, end: int) -> list[_Word]:
    return [_Word(match.start(), match.end(), match.group(), _key(match.group())) for match in _WORD.finditer(text, start, end)]


def _key(word: str) -> str:
    """The word without case and without the ending that makes a plural, a past or a participle."""
    word = word.casefold()
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _sentences(text: str) -> list[tuple[int, int]]:
    """The begin and end of each sentence, white space around it left out."""
    ends = [match for match in _SENTENCE_END.finditer(text) if not _SHORTENED.search(text, match.start() - 5, match.start())]
    starts = [0, *(match.end() for match in ends)]
    stops = [*(match.end() for match in ends), len(text)]
    found: list[tuple[int, int]] = []
    for start, stop in zip(starts, stops, strict=True):
        inside = text[start:stop]
        left = start + len(inside) - len(inside.lstrip())
        if inside.strip():
            found.append((left, left + len(inside.strip())))
    return found


def _spans(text: str, words: Sequence[_Word], weights: dict[str, float], question: str) -> list[tuple[int, int]]:
    """Runs of words that the question does not hold, the likeliest first; the whole sentence where it holds them all."""
    numbers = bool(_ASKS_NUMBER.search(question))
    names = not numbers and bool(_ASKS_NAME.search(question))
    anchors = [word for word in words if word.key in weights]

    def _merit(run: Sequence[_Word]) -> tuple[float, int]:
        near = math.fsum(weights[each.key] / (1 + _distance(run, each)) for each in anchors)
        fits = any((numbers and _is_number(each)) or (names and _is_name(each, words[0])) for each in run)
        return (-near * (3 if fits else 1), run[0].start)

    kept = sorted((run[:_LONGEST] for run in map(_trim, _runs(text, words, weights)) if run), key=_merit)
    return [(run[0].start, run[-1].end) for run in kept] or [(words[0].start, words[-1].end)]


def _runs(text: str, words: Sequence[_Word], weights: dict[str, float]) -> list[list[_Word]]:
    """The words between those of the question, and between the ends of clauses."""
    runs: list[list[_Word]] = [[]]
    for place, word in enumerate(words):
        if word.key in weights or (place and _CLAUSE_END.search(text, words[place - 1].end, word.start)):
            runs.append([])
        if word.key not in weights:
            runs[-1].append(word)
    return runs


def _trim(run: Sequence[_Word]) -> Sequence[_Word]:
    """The run without words such as `the` at its ends."""
    inner = [place for place, word in enumerate(run) if word.text.lower() not in _STOP]
    return run[inner[0] : inner[-1] + 1] if inner else []


def _distance(run: Sequence[_Word], anchor: _Word) -> int:
    return max(run[0].start - anchor.end, anchor.start - run[-1].end, 0)


def _is_number(word: _Word) -> bool:
    return bool(_NUMBER.search(word.text.lower()))


def _is_name(word: _Word, first: _Word) -> bool:
    """Whether it looks like a name: a capital that does not begin the sentence, a dot, an underscore or a digit within."""
    capital = word.text[0].isupper() and word.start != first.start
    return capital or any(each in "._" or each.isdigit() for each in word.text)
