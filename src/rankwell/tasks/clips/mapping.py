"""Mapping of texts to the keywords of a vocabulary, by name and then by similarity, with negated and unmapped words.

`algorithm1` is Algorithm 1 of ALFA 0.1: every 1-, 2- and 3-gram whose most similar keyword is above the threshold adds it.
`cover` reads every word once: names of keywords first, longest first; then the spans between them, none overlapping, for which
the sum of (score - threshold) x content words is largest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rankwell.core.arithmetic import own_arithmetic
from rankwell.core.tables import Floats
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.tasks.clips.annotations import Keyword, QueryKeywords, Vocabulary
from rankwell.tasks.clips.options import Strategy
from rankwell.tasks.clips.phrases import ALIGNED, DETERMINERS, ClauseWords, Encode, LabelVectors, content_words

Stage = Literal["exact", "alias", "semantic"]
COVER_THRESHOLD = 0.57
"""Calibrated with all-MiniLM-L6-v2 on two thirds of the labelled queries of `benchmarks/keyword_mapping.py`."""
ALGORITHM1_THRESHOLD = 0.5
CLOSE = 0.04
"""Further phrasings decide between labels of one group whose scores differ by less."""
CLEAR = 0.06
"""The lead that a label needs over other labels that contain the same words of the text."""
RELATED = 0.35
"""The similarity with a word of a label that every further word of its span needs, where it does not raise the span's score."""
_LONGEST_SPAN = 5
"""Words of a span, determiners aside."""


class Mapped(NamedTuple):
    """A keyword that a span of a text means, with the next best label and the lead over it; a name has the score 1."""

    span: str
    keyword: Keyword
    score: float
    runner_up: str | None
    margin: float | None
    stage: Stage
    start: int
    end: int


@dataclass(frozen=True)
class MappedText:
    """The keywords of a text, those that it negates, its content words without one, and labels that several groups have."""

    text: str
    mapped: tuple[Mapped, ...]
    excluded: tuple[Mapped, ...] = ()
    unmapped: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    unread_cues: tuple[str, ...] = ()

    @property
    def keywords(self) -> tuple[Keyword, ...]:
        """The requested keywords."""
        return tuple(each.keyword for each in self.mapped)

    @property
    def query_keywords(self) -> QueryKeywords:
        """The required and the excluded keywords, for `evaluate_clips`."""
        return QueryKeywords(self.keywords, tuple(each.keyword for each in self.excluded))

    @property
    def notes(self) -> list[str]:
        """Messages on ambiguous, negated and unmapped words."""
        notes = [f"{label!r} is a label of several groups; write group:{label}" for label in self.ambiguous]
        if self.excluded:
            negated = ", ".join(f"{each.span!r} ({each.keyword.label})" for each in self.excluded)
            notes.append(f"negated: {negated}; a clip that has it is not relevant")
        if both := [each.keyword.label for each in self.mapped if each.keyword in self.query_keywords.excluded]:
            notes.append(f"required and negated: {', '.join(both)}; no clip can be relevant")
        if self.unread_cues:
            notes.append(f"{', '.join(map(repr, self.unread_cues))}: algorithm1 reads no negation, and requires what is negated")
        if self.unmapped:
            notes.append(f"unmapped: {', '.join(map(repr, self.unmapped))}")
        return [f"{self.text!r}: {each}" for each in notes]


class _Candidate(NamedTuple):
    """A span of words with its best keyword."""

    start: int
    end: int
    entry: int
    score: float
    runner_up: int | None
    margin: float | None
    stage: Stage


class _TextMatch(NamedTuple):
    """The matches of a text before any threshold: by name and by similarity. taken: whether a word is part of a name."""

    words: ClauseWords
    named: tuple[_Candidate, ...]
    spans: tuple[_Candidate, ...]
    taken: tuple[bool, ...]
    ambiguous: tuple[str, ...]


class KeywordMapper:
    """Maps texts to the keywords of a vocabulary; vocabulary and texts are encoded once, for any number of thresholds.

    encode: texts -> (texts, dimensions) vectors, such as `keybert.KeyBERT(model).model.embed`; without it only names are found.
    threshold: a score must exceed it; None is `COVER_THRESHOLD`, calibrated with all-MiniLM-L6-v2, or 0.5 for `algorithm1`.
    Raises BadInput for an empty vocabulary, UnknownName for an unknown strategy, BadUsage for a threshold outside [-1, 1] and for
    `algorithm1` without `encode`; when mapping, BadInput for a text without a word and for vectors of the wrong shape, BadScore
    for vectors that are not finite.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        encode: Encode | None = None,
        strategy: Strategy = "cover",
        threshold: float | None = None,
    ) -> None:
        if not vocabulary.entries:
            raise BadInput("the vocabulary has no keyword; declare or use some.")
        if strategy not in get_args(Strategy):
            raise UnknownName(f"unknown strategy {strategy!r}; there are {' and '.join(get_args(Strategy))}.")
        if strategy == "algorithm1" and encode is None:
            raise BadUsage("algorithm1 compares vectors; name an encoder, or choose the strategy cover.")
        self.vocabulary, self.strategy = vocabulary, strategy
        standard = COVER_THRESHOLD if strategy == "cover" else ALGORITHM1_THRESHOLD
        self.threshold = _checked(standard if threshold is None else threshold)
        self._labels = None if encode is None else LabelVectors([label for _, label in vocabulary.entries], encode)
        self._label_words = [frozenset(content_words(label)) for _, label in vocabulary.entries]
        self._matches: dict[str, _TextMatch] = {}

    @own_arithmetic
    def map_text(self, text: str, *, threshold: float | None = None) -> MappedText:
        """The keywords of a text; `threshold` replaces the mapper's for this call."""
        limit = self.threshold if threshold is None else _checked(threshold)
        if text not in self._matches:
            self._matches[text] = self._match(text)
        choose = _every if self.strategy == "algorithm1" else _cover
        return choose(self._matches[text], limit, self.vocabulary)

    def describe(self) -> dict[str, Any]:
        """The options of the mapping, for the rules of a result."""
        limit: dict[str, Any] = {} if self._labels is None else {"keyword_threshold": self.threshold}
        if limit and self.strategy == "cover" and self.threshold == COVER_THRESHOLD:
            limit["calibrated_with"] = "all-MiniLM-L6-v2"
        if limit:
            mixed = f"{1 - ALIGNED:g} cosine + {ALIGNED:g} words in common"
            limit["keyword_score"] = mixed if self.strategy == "cover" else "cosine"
        return {"strategy": self.strategy, **limit, "vocabulary_size": len(self.vocabulary.entries)}

    def _match(self, text: str) -> _TextMatch:
        words = ClauseWords(text)
        if not words.tokens:
            raise BadInput(f"the text {text!r} has no word; expected words to map to keywords.")
        if self.strategy == "algorithm1" and self._labels is not None:
            return _TextMatch(words, (), _grams(words, self._labels), (), ())
        match = _find_names(words, self.vocabulary)
        spans = _phrases(words, match.taken)
        if self._labels is None or not spans:
            return match
        plain, rephrased, least = self._labels.scores(words, spans)
        groups = [entry.group for entry in self.vocabulary.entries]
        best = [_best(*row, groups) for row in zip(spans, plain, rephrased, strict=True)]
        kept = [
            each
            for each, row, related in zip(best, plain, least, strict=True)
            if _names_enough(each, words, self._label_words, row)
            and (related[each.entry] >= RELATED or _needs_all(each, spans, plain))
        ]
        return match._replace(spans=tuple(kept))


def _checked(threshold: float) -> float:
    """The threshold itself. Raises BadUsage outside [-1, 1]."""
    if not -1 <= threshold <= 1:
        raise BadUsage(f"the keyword threshold is {threshold}; expected a number from -1 to 1.")
    return float(threshold)


def _find_names(words: ClauseWords, vocabulary: Vocabulary) -> _TextMatch:
    """Labels and aliases in a text, longest first, non-overlapping. An alias of several keywords has a candidate for each."""
    names = vocabulary.names
    folded = tuple(token.word for token in words.tokens)
    taken = [cue == 2 for cue in words.cues]
    found: list[_Candidate] = []
    ambiguous: list[str] = []
    for size in range(min(max(map(len, names)), len(folded)), 0, -1):
        for start in range(len(folded) - size + 1):
            name = names.get(folded[start : start + size])
            if name is None or any(taken[start : start + size]):
                continue
            taken[start : start + size] = [True] * size
            if name.stage == "exact" and len(name.entries) > 1:
                ambiguous.append(vocabulary.entries[name.entries[0]].label)
            else:
                found += [_Candidate(start, start + size, entry, 1.0, None, None, name.stage) for entry in name.entries]
    used = tuple(now and cue < 2 for now, cue in zip(taken, words.cues, strict=True))
    return _TextMatch(words, tuple(found), (), used, tuple(dict.fromkeys(ambiguous)))


def _phrases(words: ClauseWords, taken: Sequence[bool]) -> list[tuple[int, int]]:
    """Spans of free words that may be phrases: they begin and end with a content word."""
    found: list[tuple[int, int]] = []
    size = len(words.tokens)
    for start in range(size):
        length = 0
        for end in range(start + 1, size + 1):
            last = end - 1
            length += words.plain[last] not in DETERMINERS
            if length > _LONGEST_SPAN:
                break
            if taken[last] or words.cues[last] or (last > start and not words.joined[last]):
                break
            if words.content[start] and words.content[last]:
                found.append((start, end))
    return found


def _best(span: tuple[int, int], plain: Floats, rephrased: Floats, groups: Sequence[str] = ()) -> _Candidate:
    """The best keyword of a span. Where the scores of others of its group are close, further phrasings decide among these."""
    best = int(plain.argmax())
    near: list[int] = np.flatnonzero(plain > plain[best] - CLOSE).tolist() if groups else []
    close = [entry for entry in near if groups[entry] == groups[best]]
    scores, rivals = (rephrased, np.array(close)) if len(close) > 1 else (plain, np.arange(len(plain)))
    one, *others = rivals[np.argsort(-scores[rivals], kind="stable")[:2]].tolist()
    margin = round(float(scores[one] - scores[others[0]]), 6) if others else None
    return _Candidate(*span, one, float(plain[one]), others[0] if others else None, margin, "semantic")


def _names_enough(candidate: _Candidate, words: ClauseWords, labels: Sequence[frozenset[str]], scores: Floats) -> bool:
    """Whether a span has half the content words of its label or more, and is not part of other labels that are as near."""
    places = [place for place in range(candidate.start, candidate.end) if words.content[place]]
    if 2 * len(places) < len(labels[candidate.entry]):
        return False
    own = {words.tokens[place].word for place in places}
    rivals = [entry for entry, label in enumerate(labels) if own < label and label != labels[candidate.entry]]
    return not own < labels[candidate.entry] or all(candidate.score - scores[entry] >= CLEAR for entry in rivals)


def _needs_all(candidate: _Candidate, spans: Sequence[tuple[int, int]], scores: Floats) -> bool:
    """Whether a span scores higher than every part of it; otherwise it contains words that do not belong to its label."""
    start, end, label, score = candidate[:4]
    return all(
        scores[row, label] < score
        for row, (first, last) in enumerate(spans)
        if start <= first and last <= end and (first, last) != (start, end)
    )


def _grams(words: ClauseWords, labels: LabelVectors) -> tuple[_Candidate, ...]:
    """Algorithm 1: the most similar keyword of every 1-, 2- and 3-gram of the text in lower case without punctuation."""
    spans = [(start, start + size) for size in (1, 2, 3) for start in range(len(words.plain) - size + 1)]
    cosines = labels.cosines([" ".join(words.plain[start:end]) for start, end in spans])
    return tuple(_best(span, row, row) for span, row in zip(spans, cosines, strict=True))


def _every(match: _TextMatch, threshold: float, vocabulary: Vocabulary) -> MappedText:
    """Algorithm 1: every keyword above the threshold once, with its best n-gram."""
    above = [each for each in match.spans if each.score > threshold]
    rows = _rows(sorted(above, key=lambda each: -each.score), match.words, vocabulary)
    cues = tuple(word for word, cue in zip(match.words.plain, match.words.cues, strict=True) if cue)
    return MappedText(match.words.text, rows, unmapped=_left(match, above), unread_cues=cues)


def _cover(match: _TextMatch, threshold: float, vocabulary: Vocabulary) -> MappedText:
    """The names and the best cover of the spans between them; negated keywords are listed apart."""
    words, spans = match.words, match.spans
    said = np.cumsum([0, *words.content])
    gains = [(each.score - threshold) * float(said[each.end] - said[each.start]) for each in spans]
    chosen = best_cover([(each.start, each.end) for each in spans], gains, len(words.tokens))
    every = [*match.named, *(spans[position] for position in chosen)]
    negated = words.negated(match.taken)
    mapped, excluded = (
        _rows([each for each in every if negated[each.start] is side], words, vocabulary) for side in (False, True)
    )
    return MappedText(words.text, mapped, excluded, _left(match, every), match.ambiguous)


def best_cover(spans: Sequence[tuple[int, int]], gains: Sequence[float], size: int) -> list[int]:
    """The positions of non-overlapping spans with the largest sum of positive gains, in order of place."""
    ending: list[list[int]] = [[] for _ in range(size + 1)]
    for position, (_, end) in enumerate(spans):
        if gains[position] > 0:
            ending[end].append(position)
    total = [0.0] * (size + 1)
    last: list[int | None] = [None] * (size + 1)
    for end in range(1, size + 1):
        total[end] = total[end - 1]
        for position in ending[end]:
            reached = total[spans[position][0]] + gains[position]
            if reached > total[end] + 1e-9:
                total[end], last[end] = reached, position
    chosen: list[int] = []
    place = size
    while place > 0:
        position = last[place]
        if position is None:
            place -= 1
        else:
            chosen.append(position)
            place = spans[position][0]
    return chosen[::-1]


def _rows(candidates: Iterable[_Candidate], words: ClauseWords, vocabulary: Vocabulary) -> tuple[Mapped, ...]:
    """The first candidate of each keyword, in the order of the text."""
    first: dict[int, _Candidate] = {}
    for each in candidates:
        first.setdefault(each.entry, each)
    found: list[Mapped] = []
    for each in sorted(first.values(), key=lambda each: each[:3]):
        start, end = words.tokens[each.start].start, words.tokens[each.end - 1].end
        second = None if each.runner_up is None else vocabulary.entries[each.runner_up].label
        entry = vocabulary.entries[each.entry]
        found.append(Mapped(words.text[start:end], entry, each.score, second, each.margin, each.stage, start, end))
    return tuple(found)


def _left(match: _TextMatch, candidates: Iterable[_Candidate]) -> tuple[str, ...]:
    """Content words outside all names and candidates, as written."""
    words = match.words
    used = {place for place, taken in enumerate(match.taken) if taken}
    used |= {place for each in candidates for place in range(each.start, each.end)}
    return tuple(
        words.text[token.start : token.end]
        for place, token in enumerate(words.tokens)
        if words.content[place] and not words.cues[place] and place not in used
    )
