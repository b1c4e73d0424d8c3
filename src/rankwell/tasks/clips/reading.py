"""The meaning of a text on a driving scene: nouns, then rules over them, then for each actor its
kind, behaviour and position.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankwell.tasks.clips.nouns import Unit, find_units, is_a
from rankwell.tasks.clips.phrases import DETERMINERS, ClauseWords
from rankwell.tasks.clips.wording import Rule, Wording

_MANOEUVRES = ("do.turn-across", "do.enter", "do.cross")
_BEHAVIOURS = (*_MANOEUVRES, "do.still", "do.oncoming", "do.same")
"""The first that is said of an actor is its behaviour."""
_DEFINITE = DETERMINERS - {"a", "an"}
_OPPOSITE = {"front": "behind", "behind": "front", "left": "right", "right": "left"}


class Sense(NamedTuple):
    """The meaning of some words, end exclusive. concepts: one, or several where the words have as
    many readings.
    """

    concepts: tuple[str, ...]
    start: int
    end: int
    negated: bool
    why: str


class Understood(NamedTuple):
    """The senses of a text, the names that count, and of each word: known, negated, plain (of
    driving, without a label).
    """

    senses: tuple[Sense, ...]
    names: frozenset[tuple[int, int]]
    known: tuple[bool, ...]
    negated: tuple[bool, ...]
    plain: tuple[bool, ...]


class _Said(NamedTuple):
    """A rule that holds: its core, from unit `first` to unit `last`."""

    rule: Rule
    first: int
    last: int


@dataclass
class _Actor:
    """The behaviours and parts of the position of an actor, each with the rule that gives it."""

    unit: int | None
    does: list[tuple[str, _Said]] = field(default_factory=list[tuple[str, _Said]])
    parts: list[tuple[str, _Said]] = field(default_factory=list[tuple[str, _Said]])


def read_text(
    words: ClauseWords, names: Mapping[tuple[int, int], str | None], wording: Wording
) -> Understood:
    """Reads a text. names: the spans that are names of keywords -> their concepts, None for others;
    they are not found again.
    """
    return _SceneText(words, names, wording).read()


class _SceneText:
    """The state of reading one text."""

    def __init__(
        self, words: ClauseWords, names: Mapping[tuple[int, int], str | None], wording: Wording
    ) -> None:
        self.words, self.wording = words, wording
        self.units = find_units(words, names, wording)
        self.names = frozenset((unit.start, unit.end) for unit in self.units) & names.keys()
        self.clause = list(_clauses(self.units))
        self.said = self._matches()
        cores = {place: each for each in self.said for place in range(each.first, each.last + 1)}
        self.actors = {
            place: _Actor(place)
            for place, unit in enumerate(self.units)
            if is_a(unit, "actor")
            and not (
                place in cores
                and (cores[place].rule.says.get("drop") or unit.tag == "actor.someone")
            )
        }
        self.nouns = {
            place
            for place, unit in enumerate(self.units)
            if place in self.actors or is_a(unit, "ego.self", "ego.object")
        }
        self.nameless = _Actor(None)
        self.found: list[Sense] = []
        self.freed: set[tuple[int, int]] = set()
        self.known = [word in wording.small for word in words.plain]
        for place, unit in enumerate(self.units):
            if unit.tag not in ("-", "-head", "stop", "and") or any(
                each.first <= place <= each.last for each in self.said
            ):
                self.known[unit.start : unit.end] = [True] * (unit.end - unit.start)
        inside = [0] * len(words.plain)
        verbs = [self.span(each) for each in self.said if len(each.rule.says) > 1]
        nouns = [*self.names, *((unit.start, unit.end) for unit in self.units if "." in unit.tag)]
        for number, (start, end) in enumerate([*verbs, *nouns]):
            inside[start:end] = [number + 1 if number < len(verbs) else -number - 1] * (end - start)
        self.negated = words.negated(inside)

    def span(self, said: _Said) -> tuple[int, int]:
        """The words of a core."""
        return self.units[said.first].start, self.units[said.last].end

    def read(self) -> Understood:
        """Everything that is said, in the order of the text."""
        empty = [each for each in self.said if each.rule.says.get("drop") == "names"]
        dropped = {unit[:2] for each in empty for unit in self.units[each.first : each.last + 1]}
        for unit in self.units:
            if unit.tag.startswith(("scene.", "place.")) and (unit.start, unit.end) not in {
                *self.names,
                *dropped,
            }:
                self._add((unit.tag,), unit.start, unit.end, f"words of {unit.tag}")
        void = [each for each in self.said if self._is_void(each)]
        if void:
            self.said = self._matches({id(each.rule) for each in void})
        for each in self.said:
            self._place(each)
        for actor in (*self.actors.values(), self.nameless):
            self._close(actor)
        plain = [self.wording.lemma(word) in self.wording.plain for word in self.words.plain]
        for unit in self._mute():
            self.known[unit.start : unit.end] = [False] * (unit.end - unit.start)
            plain[unit.start : unit.end] = [True] * (unit.end - unit.start)
        ruled = {
            unit[:2]
            for each in self.said
            for unit in self.units[each.first : each.last + 1]
            if is_a(unit, "do", "ego", "place")
        }
        senses = tuple(sorted(self.found, key=lambda each: each[1:3]))
        return Understood(
            senses,
            self.names - ruled - dropped - self.freed,
            tuple(self.known),
            tuple(self.negated),
            tuple(plain),
        )

    def _mute(self) -> list[Unit]:
        """Nouns from which nothing follows: those of no keyword, as `truck stop`, and a driver
        without an act or a place.
        """
        read = {place for each in self.said for place in range(each.first, each.last + 1)}
        read |= {place for place, actor in self.actors.items() if actor.does or actor.parts}
        return [
            unit
            for place, unit in enumerate(self.units)
            if unit.tag in ("none", "actor.someone") and place not in read
        ]

    def _add(
        self,
        concepts: tuple[str, ...],
        start: int,
        end: int,
        why: str,
        *,
        negated: bool | None = None,
    ) -> None:
        several = self.wording.vague.get(concepts[0], concepts) if len(concepts) == 1 else concepts
        inside = self.negated[start:end]
        self.found.append(
            Sense(several, start, end, any(inside) if negated is None else negated, why)
        )

    def _matches(self, void: Collection[int] = ()) -> list[_Said]:
        """The rules that hold, the longest first; no word counts in two of them."""
        places = [0]
        for unit in self.units:
            places.append(places[-1] + len(_shown(unit)))
        line = "".join(map(_shown, self.units))
        named = [
            (unit.start, unit.end) in self.names and is_a(unit, "do", "ego", "place")
            for unit in self.units
        ]
        taken = [False] * len(self.units)
        found: list[tuple[int, int, _Said]] = []
        for order, rule in enumerate(self.wording.rules):
            for match in rule.pattern.finditer(line) if id(rule) not in void else ():
                first, last = (
                    bisect_right(places, at) - 1
                    for at in (match.start("core"), match.end("core") - 1)
                )
                ended = bool(rule.says.get("drop")) and {"a", "an", "the"} & {
                    *self.words.plain[self.units[last].end :][:1]
                }
                if (
                    last >= first
                    and not ended
                    and not (rule.says.get("bare") and self._is_noun(last))
                ):
                    found.append((first - last, order, _Said(rule, first, last)))
        kept: list[_Said] = []
        for _, _, each in sorted(found, key=lambda each: each[:2]):
            alone = (
                each.first == each.last
                and named[each.first]
                and not is_a(self.units[each.first], "place")
            )
            if not alone and not any(taken[each.first : each.last + 1]):
                taken[each.first : each.last + 1] = [True] * (each.last + 1 - each.first)
                kept.append(each)
        return sorted(kept, key=lambda each: each.first)

    def _is_noun(self, place: int) -> bool:
        """Whether a noun that may be a subject with its verb is surely one: a label, after `the`,
        or before another person.
        """
        start, end, *_ = self.units[place]
        definite = _DEFINITE & {*self.words.plain[max(0, start - 1) : start]}
        return (
            (start, end) in self.names
            or bool(definite)
            or any(is_a(unit, "actor.pedestrian") for unit in self.units[place:])
        )

    def _is_void(self, said: _Said) -> bool:
        """Whether a rule speaks of actors alone where the ego vehicle is the subject, or the other
        way round.
        """
        speaks = said.rule.says.keys() & {"actor", "ego"}
        return (
            len(speaks) == 1
            and ("ego" if self._subject(said) == "ego" else "actor") not in speaks
            and "object" not in said.rule.says
        )

    def _place(self, said: _Said) -> None:
        """Gives what a rule says to its actor, to the ego vehicle or to the scene."""
        says, (start, end) = said.rule.says, self.span(said)
        if "part" in says:
            side = self._side(said)
            other = _OPPOSITE.get(side, "")
            parts = [
                side if part == "side" else other if part == "other-side" else part
                for part in says["part"]
            ]
            actor = self._nearest(said, parts)
            if actor is not None:
                actor.parts += [(part, said) for part in parts]
            return
        why = f"rule: {said.rule.text}"
        subject = self._subject(said) if {"actor", "ego"} & says.keys() else None
        for scene in says.get("scene", ()):
            of = (
                isinstance(subject, _Actor)
                and subject.unit is not None
                and self._is_negated(self.units[subject.unit])
            )
            self._add((scene,), start, end, why, negated=True if of else None)
        if subject == "ego":
            for concept in says.get("ego", ()):
                self._add((concept,), start, end, why)
            following = next(
                (self.actors[place] for place in self._after(said) if place in self.actors), None
            )
            if following is not None:
                self._say(following, says.get("object", ()), said)
        elif isinstance(subject, _Actor):
            after = self._after(said)
            of_another = (
                "object" in says
                and bool(after)
                and self.actors.get(after[0], subject) is not subject
            )
            self._say(
                subject,
                [
                    each
                    for each in says.get("actor", ())
                    if each.startswith("do.") or not of_another
                ],
                said,
            )

    @staticmethod
    def _say(actor: _Actor, concepts: Iterable[str], said: _Said) -> None:
        for concept in concepts:
            (actor.does if concept.startswith("do.") else actor.parts).append((concept, said))

    def _side(self, said: _Said) -> str:
        return next(
            (
                unit.lemma
                for unit in self.units[said.first : said.last + 1]
                if unit.word in ("left", "right")
            ),
            "",
        )

    def _after(self, said: _Said) -> list[int]:
        """The nouns of the same clause after a core."""
        return [
            place
            for place in range(said.last + 1, len(self.units))
            if self.clause[place] == self.clause[said.last] and place in self.nouns
        ]

    def _is_subject(self, place: int) -> bool:
        """Whether a noun stands where a subject may: neither a preposition nor a verb has it as its
        object.
        """
        unit, before = self.units[place], self.units[place - 1] if place else None
        first = before is None or before.tag in ("stop", "and")
        if unit.tag == "ego.object":
            after = self.units[place + 1] if place + 1 < len(self.units) else None
            return first and after is not None and after.word.endswith("ing")
        if before is None or first:
            return True
        if self._without(place):
            return False
        verb = any(
            each.first <= place - 1 <= each.last and "part" not in each.rule.says
            for each in self.said
        )
        return before.lemma not in self.wording.classes["preposition"] and not (
            verb and is_a(unit, "ego")
        )

    def _subject(self, said: _Said) -> "_Actor | str":
        """The one that does it: the noun after a participle, the agent of a passive, else the
        subject of the clause.
        """
        clause, word = self.clause[said.first], self.units[said.last].word
        before = [
            place
            for place in sorted(self.nouns)
            if place < said.first and self.clause[place] == clause
        ]
        after = self._after(said)
        nearest = before[-1] if before else None
        direct = nearest is not None and all(map(self._links, self.units[nearest + 1 : said.first]))
        if after and self._is_agent(said, after[0], direct=direct):
            return self._noun(after[0])
        if (
            nearest is not None
            and direct
            and (
                (nearest in self.actors and not self._without(nearest)) or self._is_subject(nearest)
            )
        ):
            return self._noun(nearest)
        if subjects := list(filter(self._is_subject, before)):
            return self._noun(subjects[-1])
        inverted = bool(after) and (
            self.units[said.first].word.endswith("s")
            or (
                not said.rule.says.get("ego")
                and (not word.endswith("ing") or self.units[said.last + 1].lemma == "be")
            )
        )
        if inverted and after[0] in self.actors:
            return self.actors[after[0]]
        return self._subject_beyond(said, before, after)

    def _subject_beyond(
        self, said: _Said, before: Sequence[int], after: Sequence[int]
    ) -> "_Actor | str":
        """The subject where the clause has none: that of an earlier clause, the ego vehicle, or a
        noun that follows.
        """
        clause = self.clause[said.first]
        earlier = [
            place
            for place in sorted(self.nouns)
            if self.clause[place] < clause and self._is_subject(place)
        ]
        if earlier:
            return self._noun(
                next(place for place in earlier if self.clause[place] == self.clause[earlier[-1]])
            )
        if before and before[0] in self.actors:
            return self.actors[before[0]]
        if said.rule.says.get("ego") or (said.rule.says.get("object") and after):
            return "ego"
        return next(
            (actor for place, actor in self.actors.items() if place > said.last), self.nameless
        )

    def _is_agent(self, said: _Said, place: int, *, direct: bool) -> bool:
        """Whether a noun after a verb does it: `overtaken by a bus`, `parked cars`."""
        between = self.units[said.last + 1 : place]
        if any(unit.word == "by" for unit in between):
            return len(between) <= 3
        gap = self.words.plain[self.units[said.last].end : self.units[place].start]
        bare = all(
            unit.tag[0] == "-" and unit.lemma not in self.wording.classes["preposition"]
            for unit in between
        )
        last = self.units[said.last]
        participle = (
            last.word.endswith(("ing", "ed", "en"))
            and last.lemma not in self.wording.classes["preposition"]
        )
        return (
            bare
            and len(between) <= 2
            and participle
            and not DETERMINERS & set(gap)
            and place in self.actors
            and not direct
        )

    def _without(self, place: int) -> bool:
        before = [unit.word for unit in self.units[max(0, place - 2) : place]]
        return before[-1:] == ["without"] or before == ["with", "no"]

    def _links(self, unit: Unit) -> bool:
        return bool(
            {unit.lemma, unit.word} & self.wording.classes["linking"]
        ) or unit.word.endswith("ly")

    def _noun(self, place: int) -> "_Actor | str":
        return self.actors.get(place, self.nameless) if is_a(self.units[place], "actor") else "ego"

    def _nearest(self, said: _Said, parts: Sequence[str]) -> _Actor | None:
        """The actor whose place it is: the last one before in the clause, else the next one, else
        that of the clause before.
        """
        clause = self.clause[said.first]
        mine = [place for place in self.actors if self.clause[place] == clause]
        if parts == ["front-object"]:
            drives = self._subject(said) == "ego"
            following = [place for place in self._after(said) if place in self.actors]
            return self.actors[following[0]] if drives and following else None
        ego = any(
            is_a(self.units[place], "ego") and self._is_subject(place)
            for place in range(said.first)
            if self.clause[place] == clause
        )
        before = [place for place in mine if place < said.first]
        after = [place for place in mine if place > said.last]
        if before or after:
            return self.actors[before[-1] if before else after[0]]
        if ego:
            return None
        earlier = [place for place in self.actors if place < said.first]
        later = [place for place in self.actors if place > said.last]
        if earlier or later:
            return self.actors[earlier[-1] if earlier else later[0]]
        return None if "split" in parts else self.nameless

    def _is_negated(self, unit: Unit) -> bool:
        return unit.tag == "actor.nobody" or any(self.negated[unit.start : unit.end])

    def _close(self, actor: _Actor) -> None:
        """Adds the kind, the behaviour and the position of an actor; of one that must not be there,
        what is negated of it.

        That is what it does, unless it has a position; else it is what the actor is, with its
        position.
        """
        unit = None if actor.unit is None else self.units[actor.unit]
        none = unit is not None and self._is_negated(unit)
        denied = (
            []
            if none
            else [
                each for each in actor.does if each[0] in _BEHAVIOURS and self._has_negated(each[1])
            ]
        )
        actor.does = [each for each in actor.does if each not in denied]
        does, place = self._behaviours(actor), self._position(actor)
        holds = bool(does) and actor.unit is not None and self._holds(does[0][1], actor.unit)
        if (
            actor.unit is not None
            and unit is not None
            and unit.tag not in ("actor.someone", "actor.nobody")
        ):
            if none and not place and not holds and (does or self._shares_behaviour(actor.unit)):
                self.freed.add((unit.start, unit.end))
            elif (unit.start, unit.end) not in self.names:
                self._add((unit.tag,), unit.start, unit.end, f"words of {unit.tag}", negated=none)
            if none and place:
                return
        elif none and place:
            does = []
        elif (
            unit is not None
            and unit.tag == "actor.nobody"
            and not actor.does
            and unit.word not in ("nothing", "none")
        ):
            self._add(
                ("actor.pedestrian",), unit.start, unit.end, f"words of {unit.tag}", negated=True
            )
        none = none and not holds
        for concept, said in [*denied, *does]:
            # Where a street is part of the rule, it is excluded already.
            if not (none and "scene" in said.rule.says):
                meant = tuple(said.rule.says.get("none", ())) if none else ()
                self._add(
                    meant or (concept,),
                    *self.span(said),
                    f"rule: {said.rule.text}",
                    negated=True if none else None,
                )
        for concepts, parts in place:
            spans = [self.span(each) for each in (parts if len(concepts) > 1 else parts[:1])]
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            why = f"rule: {'; '.join(dict.fromkeys(said.rule.text for said in parts))}"
            self._add(concepts, start, end, why, negated=True if none else None)

    def _holds(self, said: _Said, place: int) -> bool:
        """Whether what is said before a negated actor holds all the same: overtaken, not by a
        car.
        """
        by = any(
            unit.word == "by" and not self._is_negated(unit)
            for unit in self.units[said.last + 1 : place]
        )
        return said.last < place and not by and not self._has_negated(said)

    def _has_negated(self, said: _Said) -> bool:
        return any(self.negated[slice(*self.span(said))])

    def _shares_behaviour(self, place: int) -> bool:
        """Whether an actor has the behaviour of the next, `no car or truck stops`, or one by its
        label, `no stationary cars`.
        """
        if (
            place + 2 in self.actors
            and self.units[place + 1].tag == "and"
            and self._is_negated(self.units[place + 2])
        ):
            return bool(self.actors[place + 2].does) or self._shares_behaviour(place + 2)
        named = [
            each
            for each, unit in enumerate(self.units)
            if is_a(unit, "do") and (unit.start, unit.end) in self.names
        ]
        return any(self.clause[each] == self.clause[place] for each in named)

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
        found = [(concept, saying[concept]) for concept in _BEHAVIOURS if concept in saying]
        return [
            each
            for each in found
            if each is found[0] or "or" in self._joint(found[0][1], each[1]).split()
        ]

    def _position(self, actor: _Actor) -> list[tuple[tuple[str, ...], list[_Said]]]:
        """The position that the parts make together: side, lane, and ahead or behind; with the
        parts.
        """
        started = min(
            (said.first for does, said in actor.does if does in (*_MANOEUVRES, "do.turn-in")),
            default=None,
        )
        parts: dict[str, _Said] = {}
        joints: set[str] = set()
        for part, said in actor.parts:
            if part in ("front", "own") and started is not None and said.first > started:
                continue
            part = "front" if part == "front-object" else part
            other = parts.get(_OPPOSITE.get(part, ""))
            joint = "" if other is None else self._joint(other, said)
            joints.add(joint)
            if other is None or joint in ("and", "or"):
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

    def _joint(self, one: _Said, other: _Said) -> str:
        """The words between two rules, in either order."""
        low, high = sorted((one, other), key=lambda each: each.first)
        return " ".join(unit.word for unit in self.units[low.last + 1 : high.first])


def _shown(unit: Unit) -> str:
    return f" {unit.lemma}={unit.word}:{unit.tag}"


def _clauses(units: Sequence[Unit]) -> Iterable[int]:
    """The number of the clause of each unit."""
    number = 0
    for unit in units:
        number += unit.tag in ("stop", "and")
        yield number
