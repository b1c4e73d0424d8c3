"""The meaning of a text on a driving scene: nouns, then rules over them, then for each actor its
kind, behaviour and position.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate, chain
from typing import Any, NamedTuple

from rankwell.tasks.keywords.annotations import Words, fold, singular
from rankwell.tasks.keywords.phrases import DETERMINERS, ClauseWords, Span, stem

_MANOEUVRES = ("do.turn-across", "do.enter", "do.cross")
_BEHAVIOURS = (*_MANOEUVRES, "do.still", "do.oncoming", "do.same")
"""The first that is said of an actor is its behaviour."""
_DEFINITE = DETERMINERS - {"a", "an"}
_OPPOSITE = {"front": "behind", "behind": "front", "left": "right", "right": "left"}


# The words of driving scenes

_ANY = r"[^ ]*"
_GAPS = {"..": rf"(?: {_ANY}:-[^ ]*){{0,3}}", ".": rf"(?: {_ANY}:-[^ ]*)?"}
"""Up to three words, or one, that are neither nouns of the wording nor the end of a clause."""
_EDGES = {"^": "(?:^|(?<=:stop)|(?<=:and))", "$": "(?= [^ ]*:(?:stop|and)|$)"}
"""The beginning and the end of a clause."""


class Rule(NamedTuple):
    """A pattern over the words of a text, and its meaning.

    pattern: pattern over the units of a text, written one after the other; its group `core` is the
        part that is read.
    text: the line of the file of words that it is compiled from.
    says: its table in that file: under `actor`, `ego`, `object` and `scene` the concepts for each,
        under `worker` those of a position; `none`, `drop` and `bare` limit the rule.
    """

    pattern: re.Pattern[str]
    text: str
    says: Mapping[str, Any]


class Wording:
    """The content of the file of words.

    small: words that mean nothing.
    plain: lemmas about driving that belong to no label.
    words: the lemmas of a phrase, or after `=` its words as written -> its concept.
    labels: the lemmas of a label -> its concepts.
    unless: words of a concept -> lemmas that give them another meaning when beside them.
    known: lemmas of plain words and of the words in rules and classes.
    wider: concept -> the narrower one that stands for it.
    vague: concept -> its readings.
    classes: name -> the words that it stands for in rules.
    rules: the rules in the order of the file.
    """

    def __init__(self) -> None:
        file = files("rankwell.tasks.keywords").joinpath("data/wording.toml")
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        self.small = frozenset(raw["small"].split())
        self._irregular = {
            form: lemma
            for lemma, forms in raw["irregular"].items()
            for form in (lemma, *forms.split())
        }
        self.words: dict[Words, str] = {}
        self.labels: dict[Words, tuple[str, ...]] = {}
        for name, concept in raw["concept"].items():
            for label in map(self.lemmas, concept["labels"]):
                self.labels[label] = (*self.labels.get(label, ()), name)
            # A position by its name is that position, whether the vocabulary has it or not.
            phrases = concept.get("words", "").split(",")
            if name.startswith("place."):
                phrases = concept["labels"][:1]
            for phrase in filter(str.strip, phrases):
                self.words.setdefault(self._key(phrase), name)
        self.unless = {
            self._key(text): frozenset(map(self.lemma, near.split()))
            for text, near in raw["unless"].items()
        }
        self.wider: dict[str, str] = {
            name: concept["wider"] for name, concept in raw["concept"].items() if "wider" in concept
        }
        self.vague = {name: tuple(concepts) for name, concepts in raw["vague"].items()}
        # In the order of the file, by which rules list their forms.
        self.classes = {
            name: dict.fromkeys(filter(None, re.split(r"[|\s]+", text)))
            for name, text in raw["class"].items()
        }
        self.rules = [
            Rule(self._compile(text), text, says)
            for says in raw["rule"]
            for text in says["say"].strip().splitlines()
        ]
        self.plain = frozenset(map(self.lemma, raw["plain"].split()))
        of_rules = (word for rule in self.rules for word in re.findall(r"[\w']+", rule.text))
        self.known = self.plain.union(map(self.lemma, chain(of_rules, *self.classes.values())))

    def lemma(self, word: str) -> str:
        """The form under which all forms of a word are compared."""
        if word in self._irregular:
            return self._irregular[word]
        bare = singular(word)
        return self._irregular.get(bare) or stem(re.sub(r"i(es|ed|e)$", "y", bare))

    def lemmas(self, text: str) -> Words:
        """The lemmas of a text, without small words."""
        plain = fold(text)
        return tuple(map(self.lemma, [word for word in plain if word not in self.small] or plain))

    def _key(self, text: str) -> Words:
        """The words of a noun phrase: as written after `=`, else their lemmas."""
        return tuple(text.split()) if text.strip().startswith("=") else self.lemmas(text)

    def _compile(self, text: str) -> re.Pattern[str]:
        """The regular expression of a rule; the group `core` is what is read."""
        pattern, is_optional = "", False
        for part in text.split():
            if part in _GAPS:
                gap = _GAPS[part]
                pattern = f"{pattern[:-2]}{gap})?" if is_optional else pattern + gap
                continue
            if part in _EDGES:
                pattern += _EDGES[part]
                continue
            bare = part.strip("[]")
            words = chain.from_iterable(map(self._members, bare.rstrip("?").split("|")))
            forms = "|".join(dict.fromkeys(map(self._form, words)))
            is_optional = bare.endswith("?")
            pattern += "(?P<core>" * part.startswith("[")
            pattern += f"(?:(?:{forms}))?" if is_optional else f"(?:{forms})"
            pattern += ")" * part.endswith("]")
        return re.compile(pattern if "(?P<core>" in pattern else f"(?P<core>{pattern})")

    def _members(self, word: str) -> list[str]:
        if not word.startswith("<"):
            return [word]
        return [member for name in self.classes[word[1:-1]] for member in self._members(name)]

    def _form(self, word: str) -> str:
        if word.startswith("@"):
            return rf" [^ :]*:{re.escape(word[1:])}{_ANY}"
        if word.startswith("="):
            return rf" [^ =]*={re.escape(word[1:])}:{_ANY}"
        return rf" {re.escape(self.lemma(word))}={_ANY}"


@cache
def load_wording() -> Wording:
    """The wording of driving scenes."""
    return Wording()


# The meaning of a text


class Sense(NamedTuple):
    """The meaning of some words.

    concepts: one concept, or several where the words are ambiguous.
    start, end: positions of words, end exclusive.
    negated: whether the text excludes the meaning.
    why: the rule or the words that it was read from.
    """

    concepts: tuple[str, ...]
    start: int
    end: int
    negated: bool
    why: str


_PUNCTUATION = re.compile(r"[,;.!?:()/|&+\n\"–—]")
_LONGEST = 6
"""Words of a noun phrase of the wording."""
_NO_NOUN = ("ing", "ed", "ly", "ble", "ful")


class Unit(NamedTuple):
    """A word, a noun phrase that counts as one word, or a mark that ends a clause.

    number: its position among the units of the text.
    clause: number of its clause, from 0.
    start, end: positions of its words, end exclusive; equal for a punctuation mark.
    lemma: lemmas of its words without small words, joined by `_`.
    word: its words in lower case, joined by `_`.
    tag: its concept; `name` for a name without a concept, `stop` and `and` for separators of
        clauses, `-head` for the unknown head of a compound, `-` for other words.
    """

    number: int
    clause: int
    start: int
    end: int
    lemma: str
    word: str
    tag: str

    @property
    def span(self) -> Span:
        """The places of its words."""
        return self.start, self.end

    @property
    def why(self) -> str:
        """The concept, as a reason."""
        return f"words of {self.tag}"

    def is_a(self, *tags: str) -> bool:
        """Whether it has one of some concepts, or of their kinds, such as `actor`."""
        return self.tag.split(".")[0] in tags or self.tag in tags


class _Said(NamedTuple):
    """A rule that applies at some place of a text.

    rule: the rule with its text and meaning.
    units: units of its core, at least one.
    """

    rule: Rule
    units: Sequence[Unit]

    @property
    def first(self) -> int:
        """The number of its first unit."""
        return self.units[0].number

    @property
    def last(self) -> int:
        """The number of its last unit."""
        return self.units[-1].number

    @property
    def says(self) -> Mapping[str, Any]:
        """What it says, by whom it is about."""
        return self.rule.says

    @property
    def span(self) -> Span:
        """The places of its words."""
        return self.units[0].start, self.units[-1].end

    @property
    def why(self) -> str:
        """The rule, as a reason."""
        return f"rule: {self.rule.text}"


@dataclass
class _Actor:
    """What a text says about an actor.

    unit: the noun; None for the ego vehicle, and for an actor without a noun.
    does: its behaviours, concepts that begin with `do.`, each with the rule that gives it.
    parts: the parts of its position, such as `left` and `front`, each with the rule that gives it.
    """

    unit: Unit | None = None
    does: list[tuple[str, _Said]] = field(default_factory=list[tuple[str, _Said]])
    parts: list[tuple[str, _Said]] = field(default_factory=list[tuple[str, _Said]])


class Reading:
    """The meaning of a text.

    words: the words of the text.
    wording: the file of words.
    units: words and noun phrases, in the order of the text.
    names: the spans that are names of keywords and count as such.
    cores: number of a unit -> the rule that applies there.
    said: the rules that apply, in the order of the text.
    actors: number of a unit -> what the text says about this actor.
    nouns: the units of the actors and of the ego vehicle.
    nameless, ego: what the text says about an actor without a noun, and about the ego vehicle.
    senses: the meanings of words, in the order of the text.
    freed: spans of names that are no keywords here, such as the subject of a negated behaviour.
    known: (words,) whether the word is understood.
    negated: (words,) whether the word is negated.
    plain: (words,) whether the word is about driving and belongs to no label.

    Names are passed as a mapping of spans to their concepts, None for other names. They are not
    searched for again.
    """

    def __init__(self, words: ClauseWords, names: Mapping[Span, str | None]) -> None:
        self.words, self.wording = words, load_wording()
        self.units = self._find_units(names)
        self.names = frozenset(unit.span for unit in self.units) & names.keys()
        self.cores, self.said = self._matches()
        self.actors = {
            unit.number: _Actor(unit)
            for unit in self.units
            if unit.is_a("actor")
            and not (
                unit.number in self.cores
                and (self.cores[unit.number].says.get("drop") or unit.tag == "actor.someone")
            )
        }
        self.nouns = [
            unit
            for unit in self.units
            if unit.number in self.actors or unit.is_a("ego.self", "ego.object")
        ]
        self.nameless, self.ego = _Actor(), _Actor()
        self.senses: list[Sense] = []
        self.freed: set[Span] = set()
        self.known = [word in self.wording.small for word in words.plain]
        for unit in self.units:
            if unit.tag not in ("-", "-head", "stop", "and") or unit.number in self.cores:
                _mark(self.known, unit.span, True)
        inside = [0] * len(words.plain)
        verbs = [said.span for said in self.said if len(said.says) > 1]
        nouns = [*self.names, *(unit.span for unit in self.units if "." in unit.tag)]
        for number, span in enumerate([*verbs, *nouns], 1):
            _mark(inside, span, number if number <= len(verbs) else -number)
        self.negated = words.negated(inside)
        self.plain = [self.wording.lemma(word) in self.wording.plain for word in words.plain]
        self._read()

    def _read(self) -> None:
        dropped = {
            unit.span
            for said in self.said
            if said.says.get("drop") == "names"
            for unit in said.units
        }
        for unit in self.units:
            if unit.is_a("scene", "place") and unit.span not in self.names | dropped:
                self._add((unit.tag,), unit.span, unit.why)
        void = {id(said.rule) for said in self.said if self._is_void(said)}
        if void:
            self.cores, self.said = self._matches(void)
        for said in self.said:
            self._place(said)
        for actor in (*self.actors.values(), self.nameless):
            self._close(actor)
        read = self.cores.keys() | {
            unit_number for unit_number, actor in self.actors.items() if actor.does or actor.parts
        }
        for unit in self.units:
            # Nothing follows from nouns of no keyword, as `truck stop`, and from a driver without
            # an act or a place.
            if unit.tag in ("none", "actor.someone") and unit.number not in read:
                _mark(self.known, unit.span, False)
                _mark(self.plain, unit.span, True)
        ruled = {
            unit.span
            for said in self.said
            for unit in said.units
            if unit.is_a("do", "ego", "place")
        }
        self.senses.sort(key=lambda sense: sense[1:3])
        self.names -= ruled | dropped | self.freed

    def _add(
        self, concepts: tuple[str, ...], span: Span, why: str, *, negated: bool | None = None
    ) -> None:
        if len(concepts) == 1:
            concepts = self.wording.vague.get(concepts[0], concepts)
        is_negated = self._has_negated(span) if negated is None else negated
        self.senses.append(Sense(concepts, *span, is_negated, why))

    def _matches(self, void: Collection[int] = ()) -> tuple[dict[int, _Said], list[_Said]]:
        """The rules that hold, the longest first, by the numbers of their units, and in the order
        of the text; no word counts in two of them.
        """
        shown = [f" {unit.lemma}={unit.word}:{unit.tag}" for unit in self.units]
        line, unit_starts = "".join(shown), [0, *accumulate(map(len, shown))]
        matches: list[_Said] = []
        for rule in self.wording.rules:
            for match in rule.pattern.finditer(line) if id(rule) not in void else ():
                first = bisect_right(unit_starts, match.start("core")) - 1
                units = self.units[first : bisect_right(unit_starts, match.end("core") - 1)]
                if not units or (rule.says.get("bare") and self._is_noun(units[-1])):
                    continue
                following = self.words.plain[units[-1].end :][:1]
                if not (rule.says.get("drop") and {"a", "an", "the"} & {*following}):
                    matches.append(_Said(rule, units))
        cores: dict[int, _Said] = {}
        for said in sorted(matches, key=lambda said: -len(said.units)):
            # A name alone is no rule, but for a place.
            first, *following = said.units
            is_name = not following and first.span in self.names and first.is_a("do", "ego")
            numbers = range(said.first, said.last + 1)
            if not is_name and cores.keys().isdisjoint(numbers):
                cores |= dict.fromkeys(numbers, said)
        return cores, [said for number, said in sorted(cores.items()) if said.first == number]

    def _is_noun(self, unit: Unit) -> bool:
        """Whether a noun that may be a subject with its verb is surely one: a label, after `the`,
        or before another person.
        """
        return (
            unit.span in self.names
            or bool(_DEFINITE & {*self.words.plain[max(0, unit.start - 1) : unit.start]})
            or any(later.is_a("actor.pedestrian") for later in self.units[unit.number :])
        )

    def _is_void(self, said: _Said) -> bool:
        """Whether a rule speaks of actors alone where the ego vehicle is the subject, or the other
        way round.
        """
        speaks = said.says.keys() & {"actor", "ego"}
        return (
            len(speaks) == 1
            and ("ego" if self._subject(said) is self.ego else "actor") not in speaks
            and "object" not in said.says
        )

    def _place(self, said: _Said) -> None:
        """Gives what a rule says to its actor, to the ego vehicle or to the scene."""
        says = said.says
        if "part" in says:
            side = next((unit.lemma for unit in said.units if unit.word in ("left", "right")), "")
            sides = {"side": side, "other-side": _OPPOSITE.get(side, "")}
            parts = [sides.get(part, part) for part in map(str, says["part"])]
            actor = self._nearest(said, parts)
            if actor is not None:
                actor.parts += [(part, said) for part in parts]
            return
        subject = self._subject(said) if {"actor", "ego"} & says.keys() else None
        is_nobody = subject is not None and self._is_negated(subject.unit)
        for scene in says.get("scene", ()):
            self._add((scene,), said.span, said.why, negated=is_nobody or None)
        after = self._after(said)
        if subject is self.ego:
            for concept in says.get("ego", ()):
                self._add((concept,), said.span, said.why)
            for actor in self._actors_of(after)[:1]:
                self._say(actor, says.get("object", ()), said)
        elif subject is not None:
            is_of_another = "object" in says and any(
                actor is not subject for actor in self._actors_of(after[:1])
            )
            concepts = [
                concept
                for concept in says.get("actor", ())
                if concept.startswith("do.") or not is_of_another
            ]
            self._say(subject, concepts, said)

    @staticmethod
    def _say(actor: _Actor, concepts: Iterable[str], said: _Said) -> None:
        for concept in concepts:
            (actor.does if concept.startswith("do.") else actor.parts).append((concept, said))

    def _actors_of(self, nouns: Iterable[Unit]) -> list[_Actor]:
        return [self.actors[noun.number] for noun in nouns if noun.number in self.actors]

    def _after(self, said: _Said) -> list[Unit]:
        """The nouns of the same clause after a core."""
        last = said.units[-1]
        return [
            noun for noun in self.nouns if noun.clause == last.clause and noun.number > last.number
        ]

    def _is_subject(self, noun: Unit) -> bool:
        """Whether a noun stands where a subject may: neither a preposition nor a verb has it as its
        object.
        """
        before = self.units[noun.number - 1] if noun.number else None
        first = before is None or before.tag in ("stop", "and")
        if noun.tag == "ego.object":
            after = self.units[noun.number + 1 : noun.number + 2]
            return first and any(unit.word.endswith("ing") for unit in after)
        if before is None or first:
            return True
        if self._without(noun):
            return False
        is_object = noun.is_a("ego") and any(
            before in said.units and "part" not in said.says for said in self.said
        )
        return before.lemma not in self.wording.classes["preposition"] and not is_object

    def _subject(self, said: _Said) -> _Actor:
        """The one that does it: the noun after a participle, the agent of a passive, else the
        subject of the clause.
        """
        clause = said.units[0].clause
        before = [noun for noun in self.nouns if noun.clause == clause and noun.number < said.first]
        after = self._after(said)
        linking = self.wording.classes["linking"].keys()
        direct = bool(before) and all(
            linking & {unit.lemma, unit.word} or unit.word.endswith("ly")
            for unit in self.units[before[-1].number + 1 : said.first]
        )
        if after and self._is_agent(said, after[0], direct=direct):
            return self._noun(after[0])
        if direct and (
            (before[-1].number in self.actors and not self._without(before[-1]))
            or self._is_subject(before[-1])
        ):
            return self._noun(before[-1])
        if subjects := list(filter(self._is_subject, before)):
            return self._noun(subjects[-1])
        if after and after[0].number in self.actors:
            is_finite = not said.units[-1].word.endswith("ing")
            is_inverted = is_finite or self.units[said.last + 1].lemma == "be"
            if said.units[0].word.endswith("s") or (not said.says.get("ego") and is_inverted):
                return self._noun(after[0])
        # Where the clause has none: that of an earlier clause, the ego vehicle, or a noun that
        # follows.
        earlier = [noun for noun in self.nouns if noun.clause < clause and self._is_subject(noun)]
        if earlier:
            return self._noun(next(noun for noun in earlier if noun.clause == earlier[-1].clause))
        if before and before[0].number in self.actors:
            return self._noun(before[0])
        if said.says.get("ego") or (said.says.get("object") and after):
            return self.ego
        return next(
            (actor for number, actor in self.actors.items() if number > said.last), self.nameless
        )

    def _is_agent(self, said: _Said, noun: Unit, *, direct: bool) -> bool:
        """Whether a noun after a verb does it: `overtaken by a bus`, `parked cars`."""
        between, last = self.units[said.last + 1 : noun.number], said.units[-1]
        if any(unit.word == "by" for unit in between):
            return len(between) <= 3
        prepositions = self.wording.classes["preposition"]
        return (
            len(between) <= 2
            and all(unit.tag[0] == "-" and unit.lemma not in prepositions for unit in between)
            and last.word.endswith(("ing", "ed", "en"))
            and last.lemma not in prepositions
            and DETERMINERS.isdisjoint(self.words.plain[last.end : noun.start])
            and noun.number in self.actors
            and not direct
        )

    def _without(self, noun: Unit) -> bool:
        before = [unit.word for unit in self.units[max(0, noun.number - 2) : noun.number]]
        return before[-1:] == ["without"] or before == ["with", "no"]

    def _noun(self, noun: Unit) -> _Actor:
        return self.actors.get(noun.number, self.nameless) if noun.is_a("actor") else self.ego

    def _nearest(self, said: _Said, position_parts: Sequence[str]) -> _Actor | None:
        """The actor whose place it is: the last one before in the clause, else the next one, else
        that of the clause before.
        """
        if position_parts == ["front-object"]:
            drives = self._subject(said) is self.ego
            return next(iter(self._actors_of(self._after(said))), None) if drives else None
        clause = [unit for unit in self.units if unit.clause == said.units[0].clause]
        if near := self._around(clause, said):
            return near
        if any(
            unit.number < said.first and unit.is_a("ego") and self._is_subject(unit)
            for unit in clause
        ):
            return None
        return self._around(self.units, said) or (
            None if "split" in position_parts else self.nameless
        )

    def _around(self, units: Iterable[Unit], said: _Said) -> _Actor | None:
        """The last actor before a core, else the first behind it, else none."""
        numbers = [unit.number for unit in units if unit.number in self.actors]
        before = [number for number in numbers if number < said.first]
        near = before[-1:] or [number for number in numbers if number > said.last]
        return self.actors[near[0]] if near else None

    def _is_negated(self, unit: Unit | None) -> bool:
        return unit is not None and (unit.tag == "actor.nobody" or self._has_negated(unit.span))

    def _has_negated(self, span: Span) -> bool:
        return any(self.negated[slice(*span)])

    def _close(self, actor: _Actor) -> None:
        """Adds the kind, the behaviour and the position of an actor; of one that must not be there,
        what is negated of it.

        That is what it does, unless it has a position; else it is what the actor is, with its
        position.
        """
        unit, none = actor.unit, self._is_negated(actor.unit)
        denied = [
            (act, said)
            for act, said in actor.does
            if not none and act in _BEHAVIOURS and self._has_negated(said.span)
        ]
        actor.does = [act for act in actor.does if act not in denied]
        does, position = self._behaviours(actor), self._position(actor)
        holds = bool(does) and unit is not None and self._holds(does[0][1], unit)
        if unit is not None and unit.tag not in ("actor.someone", "actor.nobody"):
            if none and not (position or holds) and (does or self._shares_behaviour(unit)):
                self.freed.add(unit.span)
            elif unit.span not in self.names:
                self._add((unit.tag,), unit.span, unit.why, negated=none)
            if none and position:
                return
        elif none and position:
            does = []
        elif (
            unit is not None
            and unit.tag == "actor.nobody"
            and not actor.does
            and unit.word not in ("nothing", "none")
        ):
            self._add(("actor.pedestrian",), unit.span, unit.why, negated=True)
        none = none and not holds
        for concept, said in [*denied, *does]:
            # Where a street is part of the rule, it is excluded already.
            if not (none and "scene" in said.says):
                meant = tuple(said.says.get("none", ())) if none else ()
                self._add(meant or (concept,), said.span, said.why, negated=none or None)
        for concepts, parts in position:
            spanning = parts if len(concepts) > 1 else parts[:1]
            starts, ends = zip(*(part.span for part in spanning), strict=True)
            why = f"rule: {'; '.join(dict.fromkeys(said.rule.text for said in parts))}"
            self._add(concepts, (min(starts), max(ends)), why, negated=none or None)

    def _holds(self, said: _Said, noun: Unit) -> bool:
        """Whether what is said before a negated actor holds all the same: overtaken, not by a
        car.
        """
        by = any(
            unit.word == "by" and not self._is_negated(unit)
            for unit in self.units[said.last + 1 : noun.number]
        )
        return said.last < noun.number and not by and not self._has_negated(said.span)

    def _shares_behaviour(self, noun: Unit) -> bool:
        """Whether an actor has the behaviour of the next, `no car or truck stops`, or one by its
        label, `no stationary cars`.
        """
        following = self.actors.get(noun.number + 2)
        if (
            following is not None
            and following.unit is not None
            and self.units[noun.number + 1].tag == "and"
            and self._is_negated(following.unit)
        ):
            return bool(following.does) or self._shares_behaviour(following.unit)
        return any(
            unit.clause == noun.clause and unit.is_a("do") and unit.span in self.names
            for unit in self.units
        )

    def _behaviours(self, actor: _Actor) -> list[tuple[str, _Said]]:
        """The first behaviour that is said of an actor, with others where `or` stands between
        them.
        """
        oncoming = any(does == "do.oncoming" for does, _ in actor.does)
        ours = any(part in ("front", "behind", "next") for part, _ in actor.parts)
        meant = {
            "do.turn-in": "do.turn-across" if oncoming else "do.enter",
            "do.move": "do.same" if ours else "do.move",
        }
        saying = {meant.get(does, does): said for does, said in reversed(actor.does)}
        acts = [(concept, saying[concept]) for concept in _BEHAVIOURS if concept in saying]
        return [
            act for act in acts if act is acts[0] or "or" in self._joint(acts[0][1], act[1]).split()
        ]

    def _position(self, actor: _Actor) -> list[tuple[tuple[str, ...], list[_Said]]]:
        """The position that the parts make together: side, lane, and ahead or behind; with the
        parts.
        """
        manoeuvres = (*_MANOEUVRES, "do.turn-in")
        started = min(
            (said.first for does, said in actor.does if does in manoeuvres), default=len(self.units)
        )
        parts: dict[str, _Said] = {}
        joints: set[str] = set()
        for part, said in actor.parts:
            if part in ("front", "own") and said.first > started:
                continue
            part = "front" if part == "front-object" else part
            opposite = parts.get(_OPPOSITE.get(part, ""))
            joint = "" if opposite is None else self._joint(opposite, said)
            joints.add(joint)
            if opposite is None or joint in ("and", "or"):
                parts.setdefault(part, said)
        if not parts:
            return []
        of = list(parts.values())
        sides = [side for side in ("left", "right") if {side, "both"} & parts.keys()]
        ends = [f"-{end}" for end in ("front", "behind") if end in parts] or [""]
        lane = "split" if "split" in parts else "next" if "next" in parts or sides else "own"
        names = [f"place.{side}-{lane}{end}" for side in sides or ("left", "right") for end in ends]
        if lane == "own":
            names = [f"place.{end[1:] or 'front'}" for end in ends]
        return (
            [((name,), of) for name in names]
            if "both" in parts or "and" in joints
            else [(tuple(names), of)]
        )

    def _joint(self, first_said: _Said, second_said: _Said) -> str:
        """The words between two rules, in either order."""
        low, high = sorted((first_said, second_said), key=lambda said: said.first)
        return " ".join(unit.word for unit in self.units[low.last + 1 : high.first])

    # Units

    def _find_units(self, names: Mapping[Span, str | None]) -> list[Unit]:
        """The words of a text with nouns as one, without small words, with punctuation and
        conjunctions between clauses.
        """
        words, wording = self.words, self.wording
        plain = words.plain
        stops = [bool(number and _PUNCTUATION.search(gap)) for number, gap in enumerate(words.gaps)]
        places = [
            word_place
            for word_place, (word, after) in enumerate(zip(plain, (*plain[1:], ""), strict=True))
            if word not in wording.small
            or (word in wording.classes["its"] and after in wording.classes["end"])
            or any(start <= word_place < end for start, end in names)
        ]
        lemmas = [
            "leave" if self._is_leaving(word_place) else wording.lemma(plain[word_place])
            for word_place in places
        ]
        units: list[Unit] = []
        at = done = clause = 0
        while at < len(places):
            first = places[at]
            if any(stops[done : first + 1]):
                clause += 1
                units.append(Unit(len(units), clause, first, first, ",", ",", "stop"))
            size, tag = 1, ""
            for longer in range(_LONGEST, 0, -1):
                phrase = places[at : at + longer]
                if len(phrase) < longer or any(stops[first + 1 : phrase[-1] + 1]):
                    continue
                near = {*lemmas[at + longer : at + longer + 1]}
                near |= {f"<{word}" for word in plain[max(0, first - 1) : first]}
                written = (f"={plain[first]}", *(plain[word_place] for word_place in phrase[1:]))
                keys = [
                    key
                    for key in (tuple(lemmas[at : at + longer]), written)
                    if key in wording.words and not near & wording.unless.get(key, frozenset())
                ]
                if keys:
                    size, tag = longer, wording.words[keys[0]]
                    break
            end = places[at + size - 1] + 1
            n_named = sum(stop - start for start, stop in names if first <= start and stop <= end)
            name = next((name for name in names if name[0] == first), None)
            if name and (name[1] >= end or n_named == end - first):
                end, tag = name[1], names[name] or "name"
                size = sum(first <= word_place < end for word_place in places)
            elif not tag and plain[first] in wording.classes["break"]:
                tag = "and"
                clause += 1
            elif not tag:
                is_head = bool(units) and self._heads(units[-1], first, lemmas[at])
                tag = "-head" if is_head else "-"
            lemma, word = "_".join(lemmas[at : at + size]), "_".join(plain[first:end])
            units.append(Unit(len(units), clause, first, end, lemma, word, tag))
            at, done = at + size, end
        return units

    def _is_leaving(self, word_place: int) -> bool:
        """Whether a word is the verb of `a car left the lane`."""
        plain, wording = self.words.plain, self.wording
        if plain[word_place] != "left" or DETERMINERS.isdisjoint(
            plain[word_place + 1 : word_place + 2]
        ):
            return False
        no_subjects = {*wording.small, *wording.classes["preposition"], "our", "my"}
        return no_subjects.isdisjoint(plain[max(0, word_place - 1) : word_place])

    def _heads(self, before: Unit, word_place: int, lemma: str) -> bool:
        """Whether an unknown word after a noun is the head of a compound, neither a verb nor an
        adverb.
        """
        words = self.words
        word, noun = words.plain[word_place], words.plain[word_place - 1]
        return (
            before.end == word_place
            and before.is_a("actor", "scene")
            and words.content[word_place]
            and not words.cues[word_place]
            and lemma not in self.wording.known
            and word.isalpha()
            and not word.endswith(_NO_NOUN)
            and not (before.is_a("actor") and word.endswith("s"))
            and singular(noun) == noun
            and not words.gaps[word_place].strip(" -")
        )


def _mark(flags: list[Any], span: Span, flag: Any) -> None:
    start, end = span
    flags[start:end] = [flag] * (end - start)
