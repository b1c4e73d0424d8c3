"""Mapping of texts to the keywords of a vocabulary: by name, by the wording of driving, then by
similarity.

`algorithm1` is Algorithm 1 of ALFA 0.1: every 1-, 2- and 3-gram whose most similar keyword is above
the threshold adds it. `cover` reads every word once: names of keywords and the phrases of
`reading.py`, longest first; then the spans between them, none overlapping, for which the sum of
(score - threshold) x content words is largest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rankwell.data.options import own_arithmetic
from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.tasks.clips.alternatives import KeywordSpan, alternatives
from rankwell.tasks.clips.annotations import Keyword, QueryKeywords, Vocabulary, with_groups
from rankwell.tasks.clips.options import MappingOptions, Strategy
from rankwell.tasks.clips.phrases import (
    ALIGNED,
    DETERMINERS,
    ClauseWords,
    Encode,
    LabelVectors,
    content_words,
    load_keybert,
)
from rankwell.tasks.clips.reading import read_text
from rankwell.tasks.clips.wording import Wording, load_wording

Stage = Literal["exact", "alias", "rule", "semantic"]
WITHOUT_ENCODER = "without an encoder no similar words are found; name a model with --encoder"
"""The note on a mapping by names and rules alone."""
COVER_THRESHOLD = 0.57
"""Calibrated with all-MiniLM-L6-v2 for labels that the wording of driving scenes does not know."""
READ_THRESHOLD = 0.75
"""Likewise on the parts build and unusual of `benchmarks/keyword_mapping.py`, for labels that the
wording knows.
"""
ALGORITHM1_THRESHOLD = 0.5
CLEAR = 0.06
"""The lead that a label needs over other labels that contain the same words of the text."""
_LONGEST_SPAN = 5
"""Words of a span, determiners aside."""


class Mapped(NamedTuple):
    """A keyword that a span of a text means, with the next best label and the lead over it; names
    and rules have the score 1.
    """

    span: str
    keyword: Keyword
    score: float
    runner_up: str | None
    margin: float | None
    stage: Stage
    start: int
    end: int
    why: str = ""


class Ambiguity(NamedTuple):
    """Words of a text with several plausible readings, none of which is taken."""

    span: str
    keywords: tuple[Keyword, ...]


@dataclass(frozen=True)
class MappedText:
    """The keywords of a text, those that it negates, its content words without one, and words with
    several readings.
    """

    text: str
    mapped: tuple[Mapped, ...]
    excluded: tuple[Mapped, ...] = ()
    unmapped: tuple[str, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
    unread_cues: tuple[str, ...] = ()

    @property
    def keywords(self) -> tuple[Keyword, ...]:
        """The requested keywords."""
        return tuple(row.keyword for row in self.mapped)

    @property
    def query_keywords(self) -> QueryKeywords:
        """The required and the excluded keywords, for `evaluate_clips`."""
        return QueryKeywords(self.keywords, tuple(row.keyword for row in self.excluded))

    @property
    def notes(self) -> list[str]:
        """Messages on ambiguous, negated and unmapped words."""
        notes = [in_doubt(*ambiguity) for ambiguity in self.ambiguous]
        required, excluded = self.query_keywords
        if excluded:
            negated = ", ".join(f"{row.span!r} ({row.keyword.label})" for row in self.excluded)
            notes.append(f"negated: {negated}; a clip that has it is not relevant")
        if contradictory := [keyword.label for keyword in required if keyword in excluded]:
            notes.append(
                f"required and negated: {', '.join(contradictory)}; no clip can be relevant"
            )
        if self.unread_cues:
            notes.append(
                f"{', '.join(map(repr, self.unread_cues))}: algorithm1 reads no negation, and "
                "requires what is negated"
            )
        if self.unmapped:
            notes.append(f"unmapped: {', '.join(map(repr, self.unmapped))}")
        return [f"{self.text!r}: {note}" for note in notes]


def in_doubt(span: str, keywords: tuple[Keyword, ...]) -> str:
    """A sentence on words with several readings."""
    if len({keyword.label for keyword in keywords}) == 1:
        return f"{keywords[0].label!r} is a label of several groups; write {with_groups(keywords)}"
    labels = " or ".join(keyword.label for keyword in keywords)
    return f"{span!r} may mean {labels}; none is taken, write which"


class _Candidate(NamedTuple):
    """A span of words with its best keyword."""

    start: int
    end: int
    entry: int
    score: float
    runner_up: int | None
    margin: float | None
    stage: Stage
    why: str = ""
    negated: bool = False


class _TextMatch(NamedTuple):
    """The matches of a text before any threshold: by name or rule, and by similarity.

    Of each word: taken: whether it is understood. negated. plain: whether no label is similar to
    it.
    """

    words: ClauseWords
    named: tuple[_Candidate, ...]
    spans: tuple[_Candidate, ...]
    taken: tuple[bool, ...]
    negated: tuple[bool, ...]
    plain: tuple[bool, ...]
    ambiguous: tuple[Ambiguity, ...]

    @property
    def phrases(self) -> list[tuple[int, int]]:
        """The spans of words that similarity may find."""
        return _phrases(self.words, list(map(max, self.taken, self.plain)))


class KeywordMapper:
    """Maps texts to the keywords of a vocabulary; vocabulary and texts are encoded once, for any
    number of thresholds.

    encode: texts -> (texts, dimensions) vectors, such as `keybert.KeyBERT(model).model.embed`;
    without it only names are found, and the wording of driving scenes for labels that it knows.
    threshold: a score must exceed it; None is `READ_THRESHOLD` for such labels, else
    `COVER_THRESHOLD`, calibrated with all-MiniLM-L6-v2, or 0.5 for `algorithm1`.
    Raises BadInput for an empty vocabulary, UnknownName for an unknown strategy, BadUsage for a
    threshold outside [-1, 1] and for `algorithm1` without `encode`; when mapping, BadInput for a
    text without a word and for vectors of the wrong shape, BadScore for vectors that are not
    finite.
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
            raise UnknownName(
                f"unknown strategy {strategy!r}; there are {' and '.join(get_args(Strategy))}."
            )
        if strategy == "algorithm1" and encode is None:
            raise BadUsage(
                "algorithm1 compares vectors; name an encoder, or choose the strategy cover."
            )
        self.vocabulary, self.strategy = vocabulary, strategy
        self._concepts, self._concept_of = concepts_of(vocabulary, load_wording())
        self.standard = (
            ALGORITHM1_THRESHOLD
            if strategy == "algorithm1"
            else READ_THRESHOLD
            if self._concepts
            else COVER_THRESHOLD
        )
        self.threshold = _checked(self.standard if threshold is None else threshold)
        self._labels = (
            None
            if encode is None
            else LabelVectors([label for _, label in vocabulary.entries], encode)
        )
        self._label_words = [frozenset(content_words(label)) for _, label in vocabulary.entries]
        self._ruled = {
            entry
            for entry, concept in self._concept_of.items()
            if concept.startswith(("do.", "ego.", "place."))
        }
        self._matches: dict[str, _TextMatch] = {}

    @own_arithmetic
    def map_text(self, text: str, *, threshold: float | None = None) -> MappedText:
        """The keywords of a text; `threshold` replaces the mapper's for this call."""
        limit = self.threshold if threshold is None else _checked(threshold)
        if text not in self._matches:
            self._matches[text] = self._match(text)
        choose = _all_grams if self.strategy == "algorithm1" else _cover
        return choose(self._matches[text], limit, self.vocabulary)

    def describe(self) -> dict[str, Any]:
        """The options of the mapping, for the rules of a result."""
        limit: dict[str, Any] = (
            {} if self._labels is None else {"keyword_threshold": self.threshold}
        )
        if limit and self.strategy == "cover" and self.threshold == self.standard:
            limit["calibrated_with"] = "all-MiniLM-L6-v2"
        if limit:
            mixed = f"{1 - ALIGNED:g} cosine + {ALIGNED:g} words in common"
            limit["keyword_score"] = mixed if self.strategy == "cover" else "cosine"
        return {"strategy": self.strategy, **limit, "vocabulary_size": len(self.vocabulary.entries)}

    def prepare(self, texts: Iterable[str]) -> None:
        """Encodes what many texts need at once, so that `map_text` is faster for each of them."""
        if self.strategy == "cover" and self._labels is not None:
            self._labels.prepare(self._spans(text) for text in texts if text not in self._matches)

    def _spans(self, text: str) -> tuple[ClauseWords, list[tuple[int, int]]]:
        match = self._named(text)
        return match.words, match.phrases

    def _named(self, text: str) -> _TextMatch:
        """The matches of a text without an encoder."""
        match = _find_names(_words(text), self.vocabulary)
        return self._read(match) if self._concepts else match

    def _match(self, text: str) -> _TextMatch:
        if self.strategy == "algorithm1" and self._labels is not None:
            words = _words(text)
            return _TextMatch(words, (), _grams(words, self._labels), (), (), (), ())
        match = self._named(text)
        words, phrases = match.words, match.phrases
        if self._labels is None or not phrases:
            return match
        scores = self._labels.scores(words, phrases)
        spans = [_best(span, row) for span, row in zip(phrases, scores, strict=True)]
        return match._replace(
            spans=tuple(
                span
                for span, row in zip(spans, scores, strict=True)
                if span.entry not in self._ruled
                and _names_enough(span, words, self._label_words, row)
            )
        )

    def _read(self, match: _TextMatch) -> _TextMatch:
        """Adds what the wording of driving scenes says to the names of a text."""
        concept_of = {
            (name.start, name.end): self._concept_of.get(name.entry) for name in match.named
        }
        reading = read_text(match.words, concept_of, load_wording())
        names = [name for name in match.named if (name.start, name.end) in reading.names]
        taken = [
            is_known or is_taken
            for is_known, is_taken in zip(reading.known, match.taken, strict=True)
        ]
        for name in match.named:
            if name not in names:
                taken[name.start : name.end] = reading.known[name.start : name.end]
        ambiguous = list(match.ambiguous)
        for concepts, start, end, negated, why in reading.senses:
            meant = [entry for concept in concepts for entry in self._concepts.get(concept, ())]
            if len(concepts) == 1 or negated:
                names += [
                    _Candidate(start, end, entry, 1.0, None, None, "rule", why, negated)
                    for entry in meant
                ]
            elif len(meant) > 1 and not set(meant) & {name.entry for name in names}:
                keywords = tuple(self.vocabulary.entries[entry] for entry in meant)
                ambiguous.append(Ambiguity(match.words.written(start, end), keywords))
            if len(meant) < min(2, len(concepts)):
                taken[start:end] = [False] * (end - start)
        return match._replace(
            named=tuple(names),
            taken=tuple(taken),
            negated=reading.negated,
            plain=reading.plain,
            ambiguous=tuple(dict.fromkeys(ambiguous)),
        )


def mapper_of(
    options: MappingOptions, vocabulary: Vocabulary, device: str | None = None
) -> tuple[KeywordMapper, Mapping[str, str]]:
    """The mapper that options choose, and the rules of its model. Raises BadUsage for a threshold
    without a model.
    """
    if options.keyword_threshold is not None and options.encoder is None:
        raise BadUsage("--keyword-threshold requires --encoder, which finds similar words.")
    encoder = None if options.encoder is None else load_keybert(options.encoder, device=device)
    mapper = KeywordMapper(
        vocabulary,
        encode=encoder,
        strategy=options.strategy or "cover",
        threshold=options.keyword_threshold,
    )
    return mapper, {} if encoder is None else encoder.rules


def mapping_notes(mapped: Sequence[MappedText], options: MappingOptions) -> list[str]:
    """Notes on ambiguous, negated and unmapped words of texts."""
    is_short = options.encoder is None and any(text.unmapped for text in mapped)
    return [note for text in mapped for note in text.notes] + [WITHOUT_ENCODER] * is_short


def concepts_of(
    vocabulary: Vocabulary, wording: Wording
) -> tuple[dict[str, tuple[int, ...]], dict[int, str]]:
    """Concept -> the keywords that it means, and keyword -> its concept, by the words of labels and
    aliases.

    A label of several concepts has the one whose kind other labels of its group have.
    """
    names = [[entry.label] for entry in vocabulary.entries]
    positions = {entry: position for position, entry in enumerate(vocabulary.entries)}
    for alias, meant in vocabulary.aliases.items():
        if len(meant) == 1:
            names[positions[meant[0]]].append(alias)
    readings = [
        list(
            dict.fromkeys(
                concept
                for name in of_entry
                for concept in wording.labels.get(wording.lemmas(name), ())
            )
        )
        for of_entry in names
    ]
    kinds = {
        (entry.group, concepts[0].split(".")[0])
        for entry, concepts in zip(vocabulary.entries, readings, strict=True)
        if len(concepts) == 1
    }
    bound: dict[str, tuple[int, ...]] = {}
    concept_of: dict[int, str] = {}
    for position in sorted(range(len(readings)), key=lambda position: len(readings[position])):
        group = vocabulary.entries[position].group
        for concept in readings[position]:
            if (group, concept.split(".")[0]) in kinds or len(vocabulary.groups) == 1:
                concept_of[position] = concept
                bound[concept] = (*bound.get(concept, ()), position)
                break
    wide = {
        concept: bound[narrower]
        for concept, narrower in wording.wider.items()
        if concept not in bound and narrower in bound
    }
    return {**bound, **wide}, concept_of


def _words(text: str) -> ClauseWords:
    """The words of a text. Raises BadInput where there is none."""
    words = ClauseWords(text)
    if not words.tokens:
        raise BadInput(f"the text {text!r} has no word; expected words to map to keywords.")
    return words


def _checked(threshold: float) -> float:
    """The threshold itself. Raises BadUsage outside [-1, 1]."""
    if not -1 <= threshold <= 1:
        raise BadUsage(f"the keyword threshold is {threshold}; expected a number from -1 to 1.")
    return float(threshold)


def _find_names(words: ClauseWords, vocabulary: Vocabulary) -> _TextMatch:
    """Labels and aliases in a text, longest first, non-overlapping. An alias of several keywords
    has a candidate for each.
    """
    names = vocabulary.names
    folded = tuple(token.word for token in words.tokens)
    taken = [cue == 2 for cue in words.cues]
    candidates, ambiguous = list[_Candidate](), list[Ambiguity]()
    for size in range(min(max(map(len, names)), len(folded)), 0, -1):
        for start in range(len(folded) - size + 1):
            end = start + size
            name = names.get(folded[start:end])
            if (
                name is None
                or (folded[start:end] in _ADJECTIVES and words.goes_on(end))
                or any(taken[start:end])
            ):
                continue
            taken[start:end] = [True] * size
            meant = tuple(vocabulary.entries[entry] for entry in name.entries)
            # An alias of several groups stands for a keyword of each.
            if len(meant) > (1 if name.stage == "exact" else len({group for group, _ in meant})):
                ambiguous.append(Ambiguity(words.written(start, end), meant))
                continue
            why = "a label" if name.stage == "exact" else "an alias"
            candidates += [
                _Candidate(start, end, entry, 1.0, None, None, name.stage, why)
                for entry in name.entries
            ]
    is_name = tuple(is_taken and cue < 2 for is_taken, cue in zip(taken, words.cues, strict=True))
    return _TextMatch(
        words,
        tuple(candidates),
        (),
        is_name,
        tuple(words.negated([-is_taken for is_taken in taken])),
        (False,) * len(taken),
        tuple(dict.fromkeys(ambiguous)),
    )


_ADJECTIVES = (("other",), ("unknown",))
"""Labels that mean nothing before a noun: the other car."""


def _phrases(words: ClauseWords, taken: Sequence[bool]) -> list[tuple[int, int]]:
    """Spans of free words that may be phrases: they begin and end with a content word."""
    spans: list[tuple[int, int]] = []
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
                spans.append((start, end))
    return spans


def _best(span: tuple[int, int], scores: Floats) -> _Candidate:
    """The best keyword of a span."""
    best, *following = np.argsort(-scores, kind="stable")[:2].tolist()
    second = following[0] if following else None
    margin = None if second is None else round(float(scores[best] - scores[second]), 6)
    return _Candidate(*span, best, float(scores[best]), second, margin, "semantic", "similarity")


def _names_enough(
    candidate: _Candidate, words: ClauseWords, labels: Sequence[frozenset[str]], scores: Floats
) -> bool:
    """Whether a span has half the content words of its label or more, and is not part of other
    labels that are as near.
    """
    word_places = [
        word_place
        for word_place in range(candidate.start, candidate.end)
        if words.content[word_place]
    ]
    label = labels[candidate.entry]
    if 2 * len(word_places) < len(label):
        return False
    span = {words.tokens[word_place].word for word_place in word_places}
    return not span < label or all(
        candidate.score - scores[entry] >= CLEAR
        for entry, rival in enumerate(labels)
        if span < rival and rival != label
    )


def _grams(words: ClauseWords, labels: LabelVectors) -> tuple[_Candidate, ...]:
    """Algorithm 1: the most similar keyword of every 1-, 2- and 3-gram of the text in lower case
    without punctuation.
    """
    spans = [
        (start, start + size) for size in (1, 2, 3) for start in range(len(words.plain) - size + 1)
    ]
    cosines = labels.cosines([" ".join(words.plain[start:end]) for start, end in spans])
    return tuple(_best(span, row) for span, row in zip(spans, cosines, strict=True))


def _all_grams(match: _TextMatch, threshold: float, vocabulary: Vocabulary) -> MappedText:
    """Algorithm 1: every keyword above the threshold once, with its best n-gram."""
    above = [span for span in match.spans if span.score > threshold]
    rows = _rows(sorted(above, key=lambda span: -span.score), match.words, vocabulary)
    cues = tuple(compress(match.words.plain, match.words.cues))
    return MappedText(match.words.text, rows, unmapped=_left(match, above), unread_cues=cues)


def _cover(match: _TextMatch, threshold: float, vocabulary: Vocabulary) -> MappedText:
    """The names and the best cover of the spans between them; negated keywords are listed apart."""
    words, spans = match.words, match.spans
    counts = np.cumsum([0, *words.content])
    gains = [
        (span.score - threshold) * float(counts[span.end] - counts[span.start]) for span in spans
    ]
    covering = best_cover([(span.start, span.end) for span in spans], gains, len(words.tokens))
    opened = words.negated([0] * len(words.plain), opened=True)
    candidates = [
        candidate
        for candidate in (*match.named, *(spans[position] for position in covering))
        if not opened[candidate.start]
    ]
    sides: dict[bool, list[_Candidate]] = {False: [], True: []}
    for candidate in candidates:
        is_negated = candidate.stage != "rule" and match.negated[candidate.start]
        sides[candidate.negated or is_negated].append(candidate)
    required, excluded = sides.values()
    keyword_spans = [
        KeywordSpan(
            candidate.start,
            candidate.end,
            vocabulary.entries[candidate.entry].group,
            candidate.entry,
        )
        for candidate in required
    ]
    ambiguous, open_places = list(match.ambiguous), set[int]()
    for positions in alternatives(words, keyword_spans):
        joined_spans = [keyword_spans[position] for position in positions]
        meant = tuple(dict.fromkeys(vocabulary.entries[span.entry] for span in joined_spans))
        end = max(span.end for span in joined_spans)
        ambiguous.append(Ambiguity(words.written(joined_spans[0].start, end), meant))
        open_places.update(positions)
    required = [
        candidate for position, candidate in enumerate(required) if position not in open_places
    ]
    mapped, negated = (_rows(side, words, vocabulary) for side in (required, excluded))
    unmapped = _left(match, candidates)
    return MappedText(words.text, mapped, negated, unmapped, tuple(dict.fromkeys(ambiguous)))


def best_cover(spans: Sequence[tuple[int, int]], gains: Sequence[float], size: int) -> list[int]:
    """The positions of non-overlapping spans with the largest sum of positive gains, in order of
    place.
    """
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
    positions: list[int] = []
    end_place = size
    while end_place > 0:
        position = last[end_place]
        if position is None:
            end_place -= 1
        else:
            positions.append(position)
            end_place = spans[position][0]
    return positions[::-1]


def _rows(
    candidates: Iterable[_Candidate], words: ClauseWords, vocabulary: Vocabulary
) -> tuple[Mapped, ...]:
    """The first candidate of each keyword, in the order of the text."""
    first: dict[int, _Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.entry, candidate)
    return tuple(
        Mapped(
            words.written(candidate.start, candidate.end),
            vocabulary.entries[candidate.entry],
            candidate.score,
            None if candidate.runner_up is None else vocabulary.entries[candidate.runner_up].label,
            candidate.margin,
            candidate.stage,
            words.tokens[candidate.start].start,
            words.tokens[candidate.end - 1].end,
            candidate.why,
        )
        for candidate in sorted(first.values(), key=lambda candidate: candidate[:3])
    )


def _left(match: _TextMatch, candidates: Iterable[_Candidate]) -> tuple[str, ...]:
    """Content words outside all names and candidates, as written; all of them where every word is
    understood and means none.
    """
    words = match.words
    mapped = {
        word_place
        for candidate in candidates
        for word_place in range(candidate.start, candidate.end)
    }
    content = [
        word_place
        for word_place, is_content in enumerate(words.content)
        if is_content and not (words.cues[word_place] or words.opens[word_place])
    ]
    understood = mapped.union(np.flatnonzero(match.taken).tolist())
    left = [word_place for word_place in content if word_place not in understood]
    if not (left or mapped or match.ambiguous):
        left = content
    return tuple(words.written(word_place, word_place + 1) for word_place in left)
