"""Mapping of texts to the keywords of a vocabulary: by name, by the wording of driving, then by
similarity.

`algorithm1` is Algorithm 1 of ALFA 0.1: every 1-, 2- and 3-gram whose most similar keyword is above
the threshold adds it. `cover` reads every word once: names of keywords and the phrases of
`reading.py`, longest first; then the spans between them, none overlapping, for which the sum of
(score - threshold) x content words is largest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rankwell.core.arithmetic import own_arithmetic
from rankwell.core.tables import Floats
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
        return tuple(each.keyword for each in self.mapped)

    @property
    def query_keywords(self) -> QueryKeywords:
        """The required and the excluded keywords, for `evaluate_clips`."""
        return QueryKeywords(self.keywords, tuple(each.keyword for each in self.excluded))

    @property
    def notes(self) -> list[str]:
        """Messages on ambiguous, negated and unmapped words."""
        notes = [in_doubt(*each) for each in self.ambiguous]
        if self.excluded:
            negated = ", ".join(f"{each.span!r} ({each.keyword.label})" for each in self.excluded)
            notes.append(f"negated: {negated}; a clip that has it is not relevant")
        if both := [
            each.keyword.label
            for each in self.mapped
            if each.keyword in self.query_keywords.excluded
        ]:
            notes.append(f"required and negated: {', '.join(both)}; no clip can be relevant")
        if self.unread_cues:
            notes.append(
                f"{', '.join(map(repr, self.unread_cues))}: algorithm1 reads no negation, and "
                "requires what is negated"
            )
        if self.unmapped:
            notes.append(f"unmapped: {', '.join(map(repr, self.unmapped))}")
        return [f"{self.text!r}: {each}" for each in notes]


def in_doubt(span: str, keywords: tuple[Keyword, ...]) -> str:
    """A sentence on words with several readings."""
    if len({each.label for each in keywords}) == 1:
        return f"{keywords[0].label!r} is a label of several groups; write {with_groups(keywords)}"
    return (
        f"{span!r} may mean {' or '.join(each.label for each in keywords)}; none is taken, write "
        "which"
    )


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
        choose = _every if self.strategy == "algorithm1" else _cover
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
        return match.words, _phrases(match.words, list(map(max, match.taken, match.plain)))

    def _named(self, text: str) -> _TextMatch:
        """The matches of a text without an encoder."""
        words = _words(text)
        match = _find_names(words, self.vocabulary)
        return self._read(match) if self._concepts else match

    def _match(self, text: str) -> _TextMatch:
        if self.strategy == "algorithm1" and self._labels is not None:
            words = _words(text)
            return _TextMatch(words, (), _grams(words, self._labels), (), (), (), ())
        match = self._named(text)
        words, spans = match.words, _phrases(match.words, list(map(max, match.taken, match.plain)))
        if self._labels is None or not spans:
            return match
        scores = self._labels.scores(words, spans)
        best = [_best(*row) for row in zip(spans, scores, strict=True)]
        kept = [
            each
            for each, row in zip(best, scores, strict=True)
            if each.entry not in self._ruled and _names_enough(each, words, self._label_words, row)
        ]
        return match._replace(spans=tuple(kept))

    def _read(self, match: _TextMatch) -> _TextMatch:
        """Adds what the wording of driving scenes says to the names of a text."""
        of = {(each.start, each.end): self._concept_of.get(each.entry) for each in match.named}
        reading = read_text(match.words, of, load_wording())
        named = [each for each in match.named if (each.start, each.end) in reading.names]
        dropped = {
            place
            for each in match.named
            if each not in named
            for place in range(each.start, each.end)
        }
        taken = [
            known or (match.taken[place] and place not in dropped)
            for place, known in enumerate(reading.known)
        ]
        ambiguous = list(match.ambiguous)
        for concepts, start, end, negated, why in reading.senses:
            meant = [entry for concept in concepts for entry in self._concepts.get(concept, ())]
            if len(concepts) == 1 or negated:
                named += [
                    _Candidate(start, end, entry, 1.0, None, None, "rule", why, negated)
                    for entry in meant
                ]
            elif len(meant) > 1 and not set(meant) & {each.entry for each in named}:
                ambiguous.append(
                    Ambiguity(
                        match.words.written(start, end),
                        tuple(self.vocabulary.entries[each] for each in meant),
                    )
                )
            if len(meant) < min(2, len(concepts)):
                taken[start:end] = [False] * (end - start)
        return match._replace(
            named=tuple(named),
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
    places = {entry: place for place, entry in enumerate(vocabulary.entries)}
    for alias, meant in vocabulary.aliases.items():
        for entry in meant if len(meant) == 1 else ():
            names[places[entry]].append(alias)
    found = [
        list(
            dict.fromkeys(
                each for name in own for each in wording.labels.get(wording.lemmas(name), ())
            )
        )
        for own in names
    ]
    kinds = Counter(
        (entry.group, own[0].split(".")[0])
        for entry, own in zip(vocabulary.entries, found, strict=True)
        if len(own) == 1
    )
    bound: dict[str, list[int]] = {}
    of: dict[int, str] = {}
    for place in sorted(range(len(found)), key=lambda place: len(found[place])):
        group = vocabulary.entries[place].group
        fitting = [
            each
            for each in found[place]
            if kinds[group, each.split(".")[0]] or len(vocabulary.groups) == 1
        ]
        for concept in fitting[:1]:
            of[place] = concept
            bound.setdefault(concept, []).append(place)
    wide = {
        concept: own
        for concept, own in wording.wider.items()
        if concept not in bound and own in bound
    }
    return {
        **{each: tuple(own) for each, own in bound.items()},
        **{each: tuple(bound[own]) for each, own in wide.items()},
    }, of


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
    found: list[_Candidate] = []
    ambiguous: list[Ambiguity] = []
    for size in range(min(max(map(len, names)), len(folded)), 0, -1):
        for start in range(len(folded) - size + 1):
            name = names.get(folded[start : start + size])
            if (
                name is None
                or (folded[start : start + size] in _ADJECTIVES and words.goes_on(start + size))
                or any(taken[start : start + size])
            ):
                continue
            taken[start : start + size] = [True] * size
            meant = tuple(vocabulary.entries[entry] for entry in name.entries)
            # An alias of several groups stands for a keyword of each.
            if len(meant) > (1 if name.stage == "exact" else len({group for group, _ in meant})):
                ambiguous.append(Ambiguity(words.written(start, start + size), meant))
            else:
                why = "a label" if name.stage == "exact" else "an alias"
                found += [
                    _Candidate(start, start + size, entry, 1.0, None, None, name.stage, why)
                    for entry in name.entries
                ]
    used = tuple(now and cue < 2 for now, cue in zip(taken, words.cues, strict=True))
    return _TextMatch(
        words,
        tuple(found),
        (),
        used,
        tuple(words.negated([-each for each in taken])),
        (False,) * len(used),
        tuple(dict.fromkeys(ambiguous)),
    )


_ADJECTIVES = (("other",), ("unknown",))
"""Labels that mean nothing before a noun: the other car."""


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


def _best(span: tuple[int, int], scores: Floats) -> _Candidate:
    """The best keyword of a span."""
    one, *others = np.argsort(-scores, kind="stable")[:2].tolist()
    margin = round(float(scores[one] - scores[others[0]]), 6) if others else None
    return _Candidate(
        *span,
        one,
        float(scores[one]),
        others[0] if others else None,
        margin,
        "semantic",
        "similarity",
    )


def _names_enough(
    candidate: _Candidate, words: ClauseWords, labels: Sequence[frozenset[str]], scores: Floats
) -> bool:
    """Whether a span has half the content words of its label or more, and is not part of other
    labels that are as near.
    """
    places = [place for place in range(candidate.start, candidate.end) if words.content[place]]
    if 2 * len(places) < len(labels[candidate.entry]):
        return False
    own = {words.tokens[place].word for place in places}
    rivals = [
        entry
        for entry, label in enumerate(labels)
        if own < label and label != labels[candidate.entry]
    ]
    return not own < labels[candidate.entry] or all(
        candidate.score - scores[entry] >= CLEAR for entry in rivals
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
    opened = words.negated([0] * len(words.plain), opened=True)
    every = [
        each
        for each in (*match.named, *(spans[position] for position in chosen))
        if not opened[each.start]
    ]
    sides: dict[bool, list[_Candidate]] = {False: [], True: []}
    for each in every:
        sides[each.negated or (each.stage != "rule" and match.negated[each.start])].append(each)
    required, excluded = sides.values()
    places = [
        KeywordSpan(each.start, each.end, vocabulary.entries[each.entry].group, each.entry)
        for each in required
    ]
    ambiguous, open_places = list(match.ambiguous), set[int]()
    for joined in alternatives(words, places):
        meant = tuple(dict.fromkeys(vocabulary.entries[places[each].entry] for each in joined))
        ambiguous.append(
            Ambiguity(
                words.written(places[joined[0]].start, max(places[each].end for each in joined)),
                meant,
            )
        )
        open_places.update(joined)
    required = [each for place, each in enumerate(required) if place not in open_places]
    mapped, negated = (_rows(each, words, vocabulary) for each in (required, excluded))
    return MappedText(
        words.text, mapped, negated, _left(match, every), tuple(dict.fromkeys(ambiguous))
    )


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


def _rows(
    candidates: Iterable[_Candidate], words: ClauseWords, vocabulary: Vocabulary
) -> tuple[Mapped, ...]:
    """The first candidate of each keyword, in the order of the text."""
    first: dict[int, _Candidate] = {}
    for each in candidates:
        first.setdefault(each.entry, each)
    found: list[Mapped] = []
    for each in sorted(first.values(), key=lambda each: each[:3]):
        start, end = words.tokens[each.start].start, words.tokens[each.end - 1].end
        second = None if each.runner_up is None else vocabulary.entries[each.runner_up].label
        entry = vocabulary.entries[each.entry]
        found.append(
            Mapped(
                words.text[start:end],
                entry,
                each.score,
                second,
                each.margin,
                each.stage,
                start,
                end,
                each.why,
            )
        )
    return tuple(found)


def _left(match: _TextMatch, candidates: Iterable[_Candidate]) -> tuple[str, ...]:
    """Content words outside all names and candidates, as written; all of them where every word is
    understood and means none.
    """
    words, used = match.words, {place for place, taken in enumerate(match.taken) if taken}
    meant = {place for each in candidates for place in range(each.start, each.end)}
    said = [
        place
        for place in range(len(words.tokens))
        if words.content[place] and not (words.cues[place] or words.opens[place])
    ]
    left = [place for place in said if place not in used | meant]
    if not (left or meant or match.ambiguous):
        left = said
    return tuple(words.text[words.tokens[place].start : words.tokens[place].end] for place in left)
