"""Mapping of texts to the keywords of a vocabulary: by name, by the wording of driving, then by
similarity.

`algorithm1` is Algorithm 1 of ALFA 0.1: every 1-, 2- and 3-gram whose most similar keyword is above
the threshold adds it. `cover` reads every word once: names of keywords and the phrases of
`reading.py`, longest first; then the spans between them, none overlapping, for which the sum of
(score - threshold) x content words is largest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.options import own_arithmetic
from rankwell.data.tables import Floats, positions_by_id
from rankwell.errors import BadInput, BadUsage, UnknownName, flag
from rankwell.tasks.keywords.annotations import (
    Keyword,
    Keywords,
    QueryKeywords,
    Vocabulary,
    with_groups,
)
from rankwell.tasks.keywords.findings import no_encoder, words_negated, words_not_read
from rankwell.tasks.keywords.options import MappingOptions, Strategy
from rankwell.tasks.keywords.phrases import (
    ALIGNED,
    DETERMINERS,
    ClauseWords,
    Encode,
    LabelVectors,
    Span,
    content_words,
    load_keybert,
)
from rankwell.tasks.keywords.reading import Reading, load_wording

Stage = Literal["exact", "alias", "rule", "semantic"]
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
    """A keyword that a span of a text means.

    span: the words as written.
    keyword: the keyword that they mean.
    score: similarity, at most 1; 1 for names and rules.
    runner_up: the next best label for a span that was found by similarity; None for names and
        rules, and for a vocabulary of one keyword.
    margin: difference between the score and that of `runner_up`; None where there is none.
    stage: how it was found: by a label (`exact`), an alias, a rule of wording, or similarity
        (`semantic`).
    start, end: positions in the characters of the text, end exclusive.
    why: the reason in words, such as the rule.
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
    """Words of a text with several plausible readings, none of which is chosen.

    span: the words as written.
    keywords: two keywords or more, one for each reading.
    """

    span: str
    keywords: Keywords


@dataclass(frozen=True)
class MappedText:
    """The keywords of a vocabulary that a text asks for.

    text: the text as it was passed.
    mapped: the requested keywords, each once, in the order of the text.
    excluded: the negated keywords, each once, in the order of the text; `algorithm1` reads no
        negation and leaves it empty.
    unmapped: content words as written that lead to no keyword; all content words where every word
        is understood and none means a keyword.
    ambiguous: words with several readings.
    unread_cues: words of negation that `algorithm1` does not read; empty for `cover`.
    """

    text: str
    mapped: tuple[Mapped, ...]
    excluded: tuple[Mapped, ...] = ()
    unmapped: tuple[str, ...] = ()
    ambiguous: tuple[Ambiguity, ...] = ()
    unread_cues: tuple[str, ...] = ()

    @property
    def keywords(self) -> Keywords:
        """The requested keywords."""
        return tuple(row.keyword for row in self.mapped)

    @property
    def query_keywords(self) -> QueryKeywords:
        """The required and the excluded keywords, for `evaluate_keywords`."""
        return QueryKeywords(self.keywords, tuple(row.keyword for row in self.excluded))

    @property
    def findings(self) -> list[Finding]:
        """The findings on ambiguous, negated and unmapped words."""
        findings = [words_not_read(self.text, in_doubt(*words)) for words in self.ambiguous]
        required, excluded = self.query_keywords
        if excluded:
            negated = ", ".join(f"{row.span!r} ({row.keyword.label})" for row in self.excluded)
            effect = f"negated: {negated}; a clip that has it is not relevant"
            findings.append(words_negated(self.text, effect))
        if contradictory := [keyword.label for keyword in required if keyword in excluded]:
            effect = f"required and negated: {', '.join(contradictory)}; no clip can be relevant"
            findings.append(words_negated(self.text, effect))
        if self.unread_cues:
            cues = ", ".join(map(repr, self.unread_cues))
            problem = f"{cues}: algorithm1 reads no negation, and requires what is negated"
            findings.append(words_not_read(self.text, problem))
        if self.unmapped:
            problem = f"unmapped: {', '.join(map(repr, self.unmapped))}"
            findings.append(words_not_read(self.text, problem))
        return findings


def in_doubt(span: str, keywords: Keywords) -> str:
    """A sentence on words with several readings."""
    if len({keyword.label for keyword in keywords}) == 1:
        return f"{keywords[0].label!r} is a label of several groups; write {with_groups(keywords)}"
    labels = " or ".join(keyword.label for keyword in keywords)
    return f"{span!r} may mean {labels}; none is taken, write which"


class _Candidate(NamedTuple):
    """A span of words with its best keyword.

    start, end: positions of words, end exclusive.
    keyword: the keyword that the span may mean.
    score: similarity; 1 for names and rules.
    runner_up: the next best label; None for names and rules.
    margin: difference between the score and that of `runner_up`; None where there is none.
    stage: how it was found, as in `Mapped`.
    why: the reason in words.
    negated: whether a rule reads it as negated; for other candidates the words before them decide.
    """

    start: int
    end: int
    keyword: Keyword
    score: float = 1.0
    runner_up: str | None = None
    margin: float | None = None
    stage: Stage = "rule"
    why: str = ""
    negated: bool = False


class _TextMatch(NamedTuple):
    """The matches of a text before any threshold.

    words: the words of the text.
    named: matches by name or rule.
    spans: matches by similarity, which may overlap.
    taken: (words,) whether the word is understood.
    negated: (words,) whether the word is negated.
    plain: (words,) whether the word is not compared, as no label is similar to it.
    ambiguous: words with several readings.

    `algorithm1` has words and spans only.
    """

    words: ClauseWords
    named: tuple[_Candidate, ...] = ()
    spans: tuple[_Candidate, ...] = ()
    taken: Sequence[bool] = ()
    negated: Sequence[bool] = ()
    plain: Sequence[bool] = ()
    ambiguous: tuple[Ambiguity, ...] = ()

    @property
    def phrases(self) -> list[Span]:
        """Spans of free words that may be phrases, for similarity: they begin and end with a
        content word.
        """
        words, spans = self.words, list[Span]()
        free = [
            not (taken or plain or cue)
            for taken, plain, cue in zip(self.taken, self.plain, words.cues, strict=True)
        ]
        for start, is_content in enumerate(words.content):
            length = 0
            for last in range(start, len(free)) if is_content else ():
                length += words.plain[last] not in DETERMINERS
                is_joined = last == start or words.joined[last]
                if length > _LONGEST_SPAN or not (free[last] and is_joined):
                    break
                if words.content[last]:
                    spans.append((start, last + 1))
        return spans

    def unmapped(self, candidates: Iterable[_Candidate]) -> tuple[str, ...]:
        """Content words outside all names and candidates, as written; all of them where every word
        is understood and means none.
        """
        words = self.words
        mapped = {word_place for candidate in candidates for word_place in range(*candidate[:2])}
        content = [
            word_place
            for word_place, is_content in enumerate(words.content)
            if is_content and not (words.cues[word_place] or words.opens[word_place])
        ]
        understood = mapped.union(np.flatnonzero(self.taken).tolist())
        left = [word_place for word_place in content if word_place not in understood]
        if not (left or mapped or self.ambiguous):
            left = content
        return tuple(words.written(word_place, word_place + 1) for word_place in left)


class KeywordMapper:
    """Maps texts to the keywords of a vocabulary, for `evaluate_keywords`.

    Vocabulary and texts are encoded once for any number of thresholds.

    Raises BadInput for an empty vocabulary, for a text without a word, and for vectors of the wrong
    shape, UnknownName for an unknown strategy, BadUsage for a threshold outside [-1, 1], and for
    `algorithm1` without `encode`, BadScore for vectors that are not finite.

    vocabulary: the keywords.
    encode: texts -> (texts, dimensions) vectors, such as `keybert.KeyBERT(model).model.embed`.
        Without it only names are found, and for known labels also the wording of driving scenes.
    strategy: `cover` reads every word once and keeps negated keywords apart; `algorithm1`, as in
        ALFA, adds the best keyword of every 1-, 2- and 3-gram.
    threshold: the score that a keyword must exceed. None is `READ_THRESHOLD` for labels of driving
        scenes, else `COVER_THRESHOLD`, calibrated with all-MiniLM-L6-v2, or 0.5 for `algorithm1`.

    >>> import rankwell as rw
    >>> clips = rw.read_annotations({"c1": {"weather": ["rain"]}, "c2": {"weather": ["sun"]}})
    >>> mapper = rw.KeywordMapper(clips.vocabulary)
    >>> [found.keyword.label for found in mapper.map_text("a street in the rain").mapped]
    ['rain']
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
                "algorithm1 compares vectors; name an encoder "
                f"({flag('--encoder', name='encode')}), or choose {flag('--strategy', 'cover')}."
            )
        self.vocabulary, self.strategy = vocabulary, strategy
        self._concepts, self._concept_of = concepts_of(vocabulary)
        self.standard = READ_THRESHOLD if self._concepts else COVER_THRESHOLD
        if strategy == "algorithm1":
            self.standard = ALGORITHM1_THRESHOLD
        self.threshold = _checked(self.standard if threshold is None else threshold)
        labels = [label for _, label in vocabulary.entries]
        self._labels = None if encode is None else LabelVectors(labels, encode)
        self._label_words = [frozenset(content_words(label)) for label in labels]
        self._position = positions_by_id(vocabulary.entries)
        self._matches: dict[str, _TextMatch] = {}

    @own_arithmetic
    def map_text(self, text: str, *, threshold: float | None = None) -> MappedText:
        """The keywords of a text; `threshold` replaces the mapper's for this call."""
        limit = self.threshold if threshold is None else _checked(threshold)
        if text not in self._matches:
            self._matches[text] = self._match(text)
        choose = self._all_grams if self.strategy == "algorithm1" else self._cover
        return choose(self._matches[text], limit)

    def describe(self) -> dict[str, Any]:
        """The options of the mapping, for the rules of a result."""
        limit = dict[str, Any]()
        if self._labels is not None:
            is_cover = self.strategy == "cover"
            limit["keyword_threshold"] = self.threshold
            if is_cover and self.threshold == self.standard:
                limit["calibrated_with"] = "all-MiniLM-L6-v2"
            mixed = f"{1 - ALIGNED:g} cosine + {ALIGNED:g} words in common"
            limit["keyword_score"] = mixed if is_cover else "cosine"
        return {"strategy": self.strategy, **limit, "vocabulary_size": len(self.vocabulary.entries)}

    def prepare(self, texts: Iterable[str]) -> None:
        """Encodes what many texts need at once, so that `map_text` is faster for each of them."""
        if self.strategy == "cover" and self._labels is not None:
            matches = (self._named(text) for text in texts if text not in self._matches)
            self._labels.prepare((match.words, match.phrases) for match in matches)

    def _named(self, text: str) -> _TextMatch:
        """The matches of a text without an encoder."""
        match = self._find_names(_words(text))
        return self._read(match) if self._concepts else match

    def _match(self, text: str) -> _TextMatch:
        if self.strategy == "algorithm1" and self._labels is not None:
            # The most similar keyword of every 1-, 2- and 3-gram of the text in lower case without
            # punctuation.
            words = _words(text)
            grams = [
                (start, start + size)
                for size in (1, 2, 3)
                for start in range(len(words.plain) - size + 1)
            ]
            texts = [" ".join(words.plain[start:end]) for start, end in grams]
            cosines = self._labels.cosines(texts)
            return _TextMatch(words, spans=tuple(map(self._best, grams, cosines)))
        match = self._named(text)
        phrases = match.phrases
        if self._labels is None or not phrases:
            return match
        scores = self._labels.scores(match.words, phrases)
        spans = [
            span
            for span, row in zip(map(self._best, phrases, scores), scores, strict=True)
            if self._names_enough(span, match.words, row)
        ]
        return match._replace(spans=tuple(spans))

    def _find_names(self, words: ClauseWords) -> _TextMatch:
        """Labels and aliases in a text, longest first, non-overlapping. An alias of several
        keywords has a candidate for each.
        """
        names = self.vocabulary.names
        folded = tuple(token.word for token in words.tokens)
        taken = [cue == 2 for cue in words.cues]
        candidates, ambiguous = list[_Candidate](), list[Ambiguity]()
        for size in range(min(max(map(len, names)), len(folded)), 0, -1):
            for start in range(len(folded) - size + 1):
                end = start + size
                name = names.get(folded[start:end])
                is_adjective = folded[start:end] in _ADJECTIVES and words.goes_on(end)
                if name is None or is_adjective or any(taken[start:end]):
                    continue
                taken[start:end] = [True] * size
                keywords, stage = name
                # An alias of several groups stands for a keyword of each.
                n_groups = len({group for group, _ in keywords})
                if len(keywords) > (1 if stage == "exact" else n_groups):
                    ambiguous.append(Ambiguity(words.written(start, end), keywords))
                    continue
                why = "a label" if stage == "exact" else "an alias"
                candidates += [
                    _Candidate(start, end, keyword, stage=stage, why=why) for keyword in keywords
                ]
        return _TextMatch(
            words,
            named=tuple(candidates),
            taken=[is_taken and cue < 2 for is_taken, cue in zip(taken, words.cues, strict=True)],
            negated=words.negated([-is_taken for is_taken in taken]),
            plain=[False] * len(taken),
            ambiguous=tuple(dict.fromkeys(ambiguous)),
        )

    def _read(self, match: _TextMatch) -> _TextMatch:
        """Adds what the wording of driving scenes says to the names of a text."""
        concept_of = {name[:2]: self._concept_of.get(name.keyword) for name in match.named}
        reading = Reading(match.words, concept_of)
        names = [name for name in match.named if name[:2] in reading.names]
        taken = list(map(max, reading.known, match.taken))
        for start, end in concept_of.keys() - reading.names:
            taken[start:end] = reading.known[start:end]
        ambiguous = list(match.ambiguous)
        for concepts, start, end, negated, why in reading.senses:
            meant = tuple(
                keyword for concept in concepts for keyword in self._concepts.get(concept, ())
            )
            if len(concepts) == 1 or negated:
                names += [
                    _Candidate(start, end, keyword, why=why, negated=negated) for keyword in meant
                ]
            elif len(meant) > 1 and not {*meant} & {name.keyword for name in names}:
                ambiguous.append(Ambiguity(match.words.written(start, end), meant))
            if len(meant) < min(2, len(concepts)):
                taken[start:end] = [False] * (end - start)
        return match._replace(
            named=tuple(names),
            taken=taken,
            negated=reading.negated,
            plain=reading.plain,
            ambiguous=tuple(dict.fromkeys(ambiguous)),
        )

    def _best(self, span: Span, scores: Floats) -> _Candidate:
        """The best keyword of a span."""
        best, *following = np.argsort(-scores, kind="stable")[:2].tolist()
        keywords, runner_up, margin = self.vocabulary.entries, None, None
        if following:
            runner_up = keywords[following[0]].label
            margin = round(float(scores[best] - scores[following[0]]), 6)
        score = float(scores[best])
        return _Candidate(*span, keywords[best], score, runner_up, margin, "semantic", "similarity")

    def _names_enough(self, candidate: _Candidate, words: ClauseWords, scores: Floats) -> bool:
        """Whether a span has half the content words of its label or more, and is not part of other
        labels that are as near; what rules read needs their words.
        """
        if self._concept_of.get(candidate.keyword, "").startswith(("do.", "ego.", "place.")):
            return False
        places = slice(*candidate[:2])
        span = [token.word for token in compress(words.tokens[places], words.content[places])]
        label = self._label_words[self._position[candidate.keyword]]
        if 2 * len(span) < len(label):
            return False
        return not {*span} < label or all(
            candidate.score - score >= CLEAR
            for score, rival in zip(scores, self._label_words, strict=True)
            if {*span} < rival and rival != label
        )

    def _all_grams(self, match: _TextMatch, threshold: float) -> MappedText:
        """Algorithm 1: every keyword above the threshold once, with its best n-gram."""
        above = [span for span in match.spans if span.score > threshold]
        rows = self._rows(sorted(above, key=lambda span: -span.score), match.words)
        cues = tuple(compress(match.words.plain, match.words.cues))
        return MappedText(match.words.text, rows, unmapped=match.unmapped(above), unread_cues=cues)

    def _cover(self, match: _TextMatch, threshold: float) -> MappedText:
        """The names and the best cover of the spans between them; negated keywords are listed
        apart.
        """
        words, spans = match.words, match.spans
        gains = [
            (span.score - threshold) * sum(words.content[span.start : span.end]) for span in spans
        ]
        covering = best_cover([span[:2] for span in spans], gains, len(words.tokens))
        opened = words.negated([0] * len(words.plain), opened=True)
        candidates = [
            candidate
            for candidate in (*match.named, *(spans[position] for position in covering))
            if not opened[candidate.start]
        ]
        candidates_by_negation: dict[bool, list[_Candidate]] = {False: [], True: []}
        for candidate in candidates:
            is_negated = candidate.stage != "rule" and match.negated[candidate.start]
            candidates_by_negation[candidate.negated or is_negated].append(candidate)
        required, excluded = candidates_by_negation.values()
        in_order = sorted(
            required, key=lambda span: (*span[:2], span.keyword.group, self._position[span.keyword])
        )
        ambiguous, open_spans = list(match.ambiguous), set[_Candidate]()
        for joined in _alternatives(words, in_order):
            span = words.written(joined[0].start, max(candidate.end for candidate in joined))
            meant = tuple(dict.fromkeys(candidate.keyword for candidate in joined))
            ambiguous.append(Ambiguity(span, meant))
            open_spans.update(joined)
        required = [candidate for candidate in required if candidate not in open_spans]
        return MappedText(
            words.text,
            self._rows(required, words),
            self._rows(excluded, words),
            match.unmapped(candidates),
            tuple(dict.fromkeys(ambiguous)),
        )

    def _rows(self, candidates: Iterable[_Candidate], words: ClauseWords) -> tuple[Mapped, ...]:
        """The first candidate of each keyword, in the order of the text."""
        first: dict[Keyword, _Candidate] = {}
        for candidate in candidates:
            first.setdefault(candidate.keyword, candidate)
        return tuple(
            Mapped(
                words.written(span.start, span.end),
                *span[2:7],
                words.tokens[span.start].start,
                words.tokens[span.end - 1].end,
                span.why,
            )
            for span in sorted(
                first.values(), key=lambda span: (*span[:2], self._position[span.keyword])
            )
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


def findings_on_texts(mapped: Sequence[MappedText], options: MappingOptions) -> list[Finding]:
    """The findings on ambiguous, negated and unmapped words of texts."""
    is_short = options.encoder is None and any(text.unmapped for text in mapped)
    findings = [finding for text in mapped for finding in text.findings]
    return [*findings, no_encoder()] if is_short else findings


def concepts_of(vocabulary: Vocabulary) -> tuple[dict[str, Keywords], dict[Keyword, str]]:
    """Concept -> the keywords that it means, and keyword -> its concept, by the words of labels and
    aliases.

    A label of several concepts has the one whose kind other labels of its group have.
    """
    wording = load_wording()
    names = {keyword: [keyword.label] for keyword in vocabulary.entries}
    for alias, meant in vocabulary.aliases.items():
        if len(meant) == 1:
            names[meant[0]].append(alias)
    readings = {
        keyword: list(
            dict.fromkeys(
                concept
                for name in of_keyword
                for concept in wording.labels.get(wording.lemmas(name), ())
            )
        )
        for keyword, of_keyword in names.items()
    }
    kinds = {
        (keyword.group, concepts[0].split(".")[0])
        for keyword, concepts in readings.items()
        if len(concepts) == 1
    }
    bound: dict[str, Keywords] = {}
    concept_of: dict[Keyword, str] = {}
    for keyword in sorted(readings, key=lambda keyword: len(readings[keyword])):
        for concept in readings[keyword]:
            is_of_group = (keyword.group, concept.split(".")[0]) in kinds
            if is_of_group or len(vocabulary.groups) == 1:
                concept_of[keyword] = concept
                bound[concept] = (*bound.get(concept, ()), keyword)
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


_ADJECTIVES = (("other",), ("unknown",))
"""Labels that mean nothing before a noun: the other car."""


def best_cover(spans: Sequence[Span], gains: Sequence[float], size: int) -> list[int]:
    """The positions of non-overlapping spans with the largest sum of positive gains, in order of
    place.
    """
    covers: list[tuple[float, list[int]]] = [(0.0, [])]
    for word_place in range(1, size + 1):
        total, cover = covers[-1]
        for position, ((start, end), gain) in enumerate(zip(spans, gains, strict=True)):
            if end == word_place and gain > 0 and covers[start][0] + gain > total + 1e-9:
                total, cover = covers[start][0] + gain, [*covers[start][1], position]
        covers.append((total, cover))
    return covers[-1][1]


# Keywords of one group that `or` or a slash joins; a query cannot require one of several.

_ENDS = ("and", "but", "nor", "or")


def _alternatives(words: ClauseWords, spans: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """The spans that are alternatives to one another. spans: in the order of the text."""
    sets: list[set[int]] = []
    for *before_places, start, high in _joints(words):
        sides = [
            [
                position
                for position, span in enumerate(spans)
                if first <= span.start and span.end <= last
            ]
            for first, last in (before_places, (start, high))
        ]
        for group in dict.fromkeys(spans[position].keyword.group for position in sides[1]):
            before, after = (
                [position for position in side if spans[position].keyword.group == group]
                for side in sides
            )
            if not before:
                continue
            alternative = {after[0], before.pop()}
            while before and _is_listed(
                words, spans[before[-1]].end, min(spans[position].start for position in alternative)
            ):
                alternative.add(before.pop())
            overlapping = [positions for positions in sets if positions & alternative]
            sets = [positions for positions in sets if positions not in overlapping]
            sets.append(alternative.union(*overlapping))
    alternatives = [[spans[position] for position in sorted(positions)] for positions in sets]
    return [joined for joined in alternatives if len({span.keyword for span in joined}) > 1]


def _joints(words: ClauseWords) -> Iterator[tuple[int, int, int, int]]:
    """Of each `or` and slash: the first word and the end of what stands before it, and of what
    stands after it.
    """
    plain, size = words.plain, len(words.plain)
    for word_place in range(1, size):
        is_or = plain[word_place] == "or"
        if words.opens[word_place] or not (is_or or "/" in words.gaps[word_place]):
            continue
        end, start = word_place - (plain[word_place - 1] == "and"), word_place + is_or
        low = max(
            (
                first
                for first in range(1, end + 1)
                if plain[first - 1] in _ENDS[:3] or words.ends_at(first)
            ),
            default=0,
        )
        high = min(
            (
                last
                for last in range(start + 1, size)
                if plain[last] in _ENDS or not words.joined[last]
            ),
            default=size,
        )
        yield low, end, start, high


def _is_listed(words: ClauseWords, end: int, start: int) -> bool:
    """Whether a comma and articles alone stand between two spans."""
    return (
        end <= start
        and DETERMINERS.issuperset(words.plain[end:start])
        and any("," in gap for gap in words.gaps[end : start + 1])
    )
