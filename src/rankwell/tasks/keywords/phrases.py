"""Phrases of English texts: content words, conjunctions and negations, and the similarity of
phrases with labels.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import chain, compress, product
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.data.tables import Floats, positions_by_id, segment_offsets, unmasked
from rankwell.errors import BadInput, BadScore
from rankwell.tasks.keywords.annotations import Token, fold, words_of
from rankwell.vectors.encoders import Settings, Singles, load_encoder

Encode = Callable[[list[str]], Any]
ALIGNED = 0.35
"""The weight of single words beside the cosine of the whole phrases."""
RECALL = 0.75
"""Of that, the weight of the label's words; the phrase's have the rest. A label that claims more
than the text must lose.
"""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _sequences(phrases: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in phrases.split(","))


_FUNCTION_WORDS = _set(
    """a an the this that these those some any all every each both of in on at by to from for with
    into onto over under through across along around about as is are was were be been being
    am do does did has have had it its we us our ours i me my you your he him his she her
    they them their there here and or nor but so than then which who whom whose what where
    when while if very just also only too can could will would shall should may might must
    no not show find give clip clips scene scenes video videos anything everything something
    footage frame frames shot filmed recorded"""
)
DETERMINERS = _set("a an the this that these those some any all every each both")
"""Words that similarity never sees: `the ego lane` is `ego lane`."""
_VERB_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
_CONJUNCTIONS = _set("and or nor but plus while then with")
_CUES = _set(
    "no not cannot without except excepting excluding exclude excludes excluded never none "
    "neither nor non minus lacking sans "
    "zero 0 hardly unable absent"
)
_NOT = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should|must|ai)n'?t"
)
_ORDERS = _set("ignore ignoring avoid avoiding omit omitting skip skipping")
"""They negate as an order alone: a driver may ignore a cyclist."""
_OPEN = _sequences("with or without, with and without, with without, whether or not, regardless of")
"""The phrase after them is neither required nor negated."""
_LIGHT = _set("think believe see seeing notice spot know sign trace hint evidence one single")
"""Words after a cue that are not what it negates: no sign of pedestrians."""
_BEGINS = _set(
    "ahead behind beside near before after beyond between among past alongside opposite "
    "inside outside during"
)
"""Prepositions that begin another phrase: without a helmet behind a bus."""
_ANEW = _set("a an the one two three some several many")
_WEATHER = _set("rain raining snow snowing hail hailing drizzle drizzling pour pouring")
_DOUBLE_CUES = _sequences(
    "all but, anything but, everything but, apart from, other than, rather than, instead of, "
    "free of, free from, absence of, lack of, w o, devoid of"
)
_LATE_CUES, _PRESENT = _set("excluded absent"), _set("present visible there")
"""Words that negate what stands before them, and those that do so after `not`."""
_ENDS = _set("but only with yet however though")
_GOES_ON = _set("a an the any some and or nor")
_HARD, _SOFT = re.compile(r"[;.!?:()\n]"), re.compile(r"[,;.!?:()/|&+\n\"]")


def stem(word: str) -> str:
    """A word without a regular ending of English verbs: `entering`, `enters` and `entered` are
    `enter`.
    """
    bare = _VERB_ENDING.sub("", word)
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] else bare


def content_words(text: str) -> tuple[str, ...]:
    """The content words of a name, folded; all of its words where none is a content word."""
    words = fold(text)
    return tuple(word for word in words if word not in _FUNCTION_WORDS) or words


Span = tuple[int, int]
"""The first word of a phrase, and the one behind its last."""


@dataclass(frozen=True)
class ClauseWords:
    """The words of a text in order. Every attribute but the text has an entry for each word.

    text: the text as written.
    """

    text: str

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """As they are compared, with their places."""
        return tuple(words_of(self.text))

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """As written, without case."""
        return tuple(
            self.text[token.start : token.end].replace("’", "'").casefold() for token in self.tokens
        )

    @cached_property
    def content(self) -> tuple[bool, ...]:
        """Whether a word is a content word: not an article, a preposition, a pronoun or a word of
        the request itself.
        """
        return tuple(word not in _FUNCTION_WORDS for word in self.plain)

    @cached_property
    def joined(self) -> tuple[bool, ...]:
        """Whether a word may be in one phrase with the word before it: neither punctuation nor a
        conjunction separates them.
        """
        return tuple(
            number > 0
            and not _SOFT.search(gap)
            and not {*self.plain[number - 1 : number + 1]} & _CONJUNCTIONS
            for number, gap in enumerate(self.gaps)
        )

    def written(self, start: int, end: int) -> str:
        """The words from one place to another, end exclusive, as written."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def goes_on(self, word_place: int) -> bool:
        """Whether a content word at a place goes on with the phrase of the word before."""
        return word_place < len(self.plain) and self.content[word_place] and self.joined[word_place]

    def ends_at(self, word_place: int) -> bool:
        """Whether a sentence or clause ends before a word, more than a comma would end it."""
        return bool(_HARD.search(self.gaps[word_place]))

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """The characters between each word and the word before it."""
        ends = (0, *(token.end for token in self.tokens))
        return tuple(
            self.text[end : token.start] for end, token in zip(ends, self.tokens, strict=False)
        )

    @cached_property
    def cues(self) -> tuple[int, ...]:
        """Number of words of the negation cue that a word is part of: 1 for `without`, 2 for `apart
        from`; 0 for other words.
        """
        cue_sizes = [int(word in _CUES or _NOT.fullmatch(word) is not None) for word in self.plain]
        for number, pair in enumerate(zip(self.plain, self.plain[1:], strict=False)):
            if pair in _DOUBLE_CUES:
                cue_sizes[number] = cue_sizes[number + 1] = 2
            elif cue_sizes[number] and pair[1] == "only":
                cue_sizes[number] = 0
            elif self._orders(number) or (stem(pair[0]) == "stop" and pair[1] in _WEATHER):
                cue_sizes[number] = 1
        for number, is_open in enumerate(self.opens):
            if size := self._late_cue(number):
                cue_sizes[number : number + size] = [size] * size
            cue_sizes[number] *= not is_open
        return tuple(cue_sizes)

    def _orders(self, word_place: int) -> bool:
        """Whether a word is an order to leave something out: it begins a phrase, perhaps after
        `please`.
        """
        return self.plain[word_place] in _ORDERS and (
            not word_place
            or bool(_SOFT.search(self.gaps[word_place]))
            or self.plain[word_place - 1] == "please"
        )

    @cached_property
    def opens(self) -> tuple[bool, ...]:
        """Whether a word is part of `with or without` and the like."""
        is_open = [False] * len(self.plain)
        for number, cue in product(range(len(is_open)), _OPEN):
            if self.plain[number : number + len(cue)] == cue:
                is_open[number : number + len(cue)] = [True] * len(cue)
        return tuple(is_open)

    def _late_cue(self, word_place: int) -> int:
        """The number of words of a cue that stands behind what it negates, as in `pedestrian-free`
        and `cars not present`.
        """
        word, *after = self.plain[word_place : word_place + 2]
        if (word == "not" or _NOT.fullmatch(word)) and set(after) & _PRESENT:
            return 2
        late = word in _LATE_CUES and word_place > 0 and not _SOFT.search(self.gaps[word_place])
        late = late or (word == "free" and self.gaps[word_place] == "-")
        if word == "stopped":
            late = bool(_WEATHER & {*self.plain[max(0, word_place - 2) : word_place]}) and not after
        return int(late or (word == "no" and not after and ":" in self.gaps[word_place]))

    def negated(self, taken: Sequence[int], *, opened: bool = False) -> list[bool]:
        """Whether a word is negated: from a cue outside `taken` names to the end of the first
        phrase and what is joined to it.

        taken: 0, or a number of each name and of what a rule reads, negative for nouns. opened:
        whether it is left open instead.
        """
        is_negated = [False] * len(self.plain)
        cues = self.opens if opened else self.cues
        inside = said = False
        late = cue = 0
        for number, word in enumerate(self.plain):
            late = 0 if opened else max(self._late_cue(number), late - 1)
            if late and not taken[number]:
                # All of the clause before a late cue, back to another cue.
                for earlier in range(number - 1, -1, -1):
                    if cues[earlier] or self.plain[earlier] in _CONJUNCTIONS:
                        break
                    is_negated[earlier] = True
                    if self._breaks(earlier):
                        break
                inside = False
                continue
            if cues[number] and not taken[number]:
                # Not without: two negations are none.
                inside = opened or not (
                    inside and not said and cue == number - 1 and word in ("without", "excluding")
                )
                said, cue = False, number
                continue
            inside = inside and not self._ends(number, cue, taken, said=said)
            said = said and word not in ("or", "nor")
            is_negated[number] = inside
            said = said or (self.content[number] and word not in _LIGHT)
        return is_negated

    def _ends(self, number: int, cue: int, taken: Sequence[int], *, said: bool) -> bool:
        """Whether a word is outside what a cue negates. said: whether the cue has something that it
        negates.
        """
        word, before = self.plain[number], self.plain[number - 1]
        if self._breaks(number) or not said:
            return self._breaks(number) or (word in _ENDS and word not in ("with", "yet"))
        goes_on = bool(taken[number]) and taken[number] == taken[number - 1]
        if (
            word in _ENDS
            or (not self.content[number] and word not in _GOES_ON)
            or (word in _BEGINS and not goes_on)
        ):
            return True
        if word in _ANEW:
            is_second_noun = (
                self.cues[cue] == 2 and self.content[number - 1] and not before.endswith("ing")
            )
            return is_second_noun or (before == "and" and self.plain[cue] in ("no", "0", "zero"))
        # Who does not look crosses, a car without lights overtakes: the verb is that of the
        # sentence.
        relative = (
            bool({"who", "that", "which"} & {*self.plain[max(0, cue - 2) : cue]})
            and before not in DETERMINERS
        )
        lacking = self.plain[cue] == "without" or self.plain[max(0, cue - 1) : cue + 1] == (
            "with",
            "no",
        )
        begins_verb = taken[number] > 0 and not goes_on
        return begins_verb and (relative or (lacking and word.endswith("s")))

    def _breaks(self, number: int) -> bool:
        """Whether punctuation before a word ends the clause."""
        gap = self.gaps[number]
        if self.ends_at(number):
            return True
        if "," not in gap:
            return False
        for later in range(number, len(self.plain)):
            if self.plain[later] in ("or", "nor"):
                return False
            if self.plain[later] in _ENDS or self.cues[later] or self.ends_at(later):
                return True
        return True


@dataclass(frozen=True)
class KeyBertEncoder:
    """An encoder of KeyBERT: texts -> (texts, dimensions) vectors.

    embed: function that computes the vectors.
    rules: the model and the package, for the rules of a result.
    """

    embed: Callable[[list[str]], Any]
    rules: dict[str, str]

    def __call__(self, texts: list[str]) -> Singles:
        """One vector per text, in order, (texts, dimensions); bytes that are not UTF-8 are read as
        question marks.
        """
        return np.asarray(
            self.embed([text.encode("utf-8", "replace").decode() for text in texts]),
            dtype=np.float32,
        )


def load_keybert(model: str, *, device: str | None = None) -> KeyBertEncoder:
    """A model of sentence-transformers in a `keybert.KeyBERT`, or alone where that is missing.
    Raises MissingExtra, BadInput.
    """
    encoder = load_encoder(model, Settings(device=device))
    name = Path(model).resolve().name if Path(model).is_dir() else model
    inner = getattr(encoder, "model", None)
    alone = KeyBertEncoder(encoder.encode, {"encoder": name})
    if inner is None:
        return alone
    try:
        from keybert import KeyBERT
    except ImportError:
        return alone
    return KeyBertEncoder(
        KeyBERT(inner).model.embed, {"encoder": name, "keybert": version("keybert")}
    )


class LabelVectors:
    """Labels that phrases are compared with; each is encoded once, when it is first needed. Raises
    BadInput, BadScore.
    """

    def __init__(self, labels: Sequence[str], encode: Encode) -> None:
        self._labels, self._encode = list(labels), encode
        self._known: dict[str, Floats] = {}
        words = [content_words(label) for label in labels]
        # How many labels have each word.
        having = Counter(word for of_label in words for word in dict.fromkeys(of_label))
        self._column = positions_by_id(having)
        self._forms = {stem(word): word for word in reversed(self._column)}
        # The columns of all labels' words one after the other, where each label starts, and the
        # inverse document frequencies of its words, normalised to the sum 1.
        self._columns = [self._column[word] for word in chain.from_iterable(words)]
        self._starts = segment_offsets(np.array([len(of_label) for of_label in words]))[:-1]
        raw = [
            np.array([math.log(1 + len(labels) / having[word]) for word in of_label])
            for of_label in words
        ]
        self._weights = np.concatenate([weights / weights.sum() for weights in raw])

    def cosines(self, phrases: Sequence[str]) -> Floats:
        """The cosine similarity of each phrase with each label, (phrases, labels); 0 where a vector
        is zero.
        """
        return (self._vectors(phrases) @ self._whole.T).round(6)

    def scores(self, words: ClauseWords, spans: Sequence[Span]) -> Floats:
        """The similarities of spans with labels, (spans, labels): of whole phrases, and the
        weighted mean of their single words with the best counterparts.
        """
        texts, of_spans = self._wanted(words, spans)
        row = positions_by_id(dict.fromkeys(chain(*of_spans)))
        whole_texts, near = np.split(self._vectors([*texts, *row]), [len(texts)])
        near = near @ self._single.T
        for word in row.keys() & self._column.keys():
            near[row[word], self._column[word]] = 1.0
        near = near[:, self._columns]
        aligned = np.zeros((len(spans), len(self._labels)))
        for number, span in enumerate(of_spans):
            of_span = near[[row[word] for word in span]]
            recall = np.add.reduceat(of_span.max(axis=0) * self._weights, self._starts)
            precision = np.maximum.reduceat(of_span, self._starts, axis=1).mean(axis=0)
            aligned[number] = RECALL * recall + (1 - RECALL) * precision
        # The last bits of a vector depend on which texts the encoder was given together.
        return ((1 - ALIGNED) * (whole_texts @ self._whole.T) + ALIGNED * aligned).round(6)

    def prepare(self, wanted: Iterable[tuple[ClauseWords, Sequence[Span]]]) -> None:
        """Encodes all spans and their words at once."""
        texts = list[str]()
        for words, spans in wanted:
            of_spans, of_words = self._wanted(words, spans)
            texts += chain(of_spans, *of_words)
        self._vectors(texts)

    def _wanted(
        self, words: ClauseWords, spans: Sequence[Span]
    ) -> tuple[list[str], list[list[str]]]:
        """The texts of spans without determiners, and the content words of each."""
        forms = [self._form(token.word) for token in words.tokens]
        is_read = [word not in DETERMINERS for word in words.plain]
        return (
            [" ".join(compress(forms[start:end], is_read[start:end])) for start, end in spans],
            [list(compress(forms[start:end], words.content[start:end])) for start, end in spans],
        )

    def _form(self, word: str) -> str:
        """The word of a label that differs in its ending alone, else the word itself."""
        return word if word in self._column else self._forms.get(stem(word), word)

    @cached_property
    def _whole(self) -> Floats:
        return self._encoded(self._labels)

    @cached_property
    def _single(self) -> Floats:
        return self._encoded(list(self._column))

    def _vectors(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts, (texts, dimensions); each text is encoded once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._encoded(new)
            if vectors.shape[1] != self._whole.shape[1]:
                raise BadInput(
                    f"the encoder returned {vectors.shape[1]} dimensions for texts, "
                    f"{self._whole.shape[1]} for labels; expected the same number."
                )
            self._known.update(zip(new, vectors, strict=True))
        return np.array([self._known[text] for text in texts])

    def _encoded(self, texts: list[str]) -> Floats:
        """Vectors of length one, (texts, dimensions); zero stays zero."""
        try:
            vectors = unmasked(self._encode(texts), "what the encoder gives", np.float64)
        except (TypeError, ValueError) as error:
            raise BadInput(
                f"the encoder's result for {len(texts)} texts is not a table of numbers ({error})."
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.shape[1] == 0:
            raise BadInput(
                f"the encoder returned an array of shape {vectors.shape} for {len(texts)} texts; "
                "expected (texts, dimensions), a row per text."
            )
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise BadScore(
                f"the encoder's vector of {texts[int(bad[0])]!r} has NaN or infinity; "
                "expected finite numbers."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1.0)
