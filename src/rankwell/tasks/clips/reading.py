"""The meaning of a text on a driving scene: nouns, then rules over them, then for each actor its
kind, behaviour and position.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

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
    units: Sequence[Unit]

    @property
    def numbers(self) -> range:
        """The numbers of its units."""
        return range(self.first, self.last + 1)

    @property
    def span(self) -> tuple[int, int]:
        """The places of its words."""
        return self.units[0].start, self.units[-1].end

    @property
    def why(self) -> str:
        """The rule, as a reason."""
        return f"rule: {self.rule.text}"


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
        self.names = frozenset(unit.span for unit in self.units) & names.keys()
        self.clause = list(_clauses(self.units))
        self.said = self._matches()
        cores = self._cores()
        self.actors = {
            number: _Actor(number)
            for number, unit in enumerate(self.units)
            if is_a(unit, "actor")
            and not (
                number in cores
                and (cores[number].rule.says.get("drop") or unit.tag == "actor.someone")
            )
        }
        self.nouns = [
            number
            for number, unit in enumerate(self.units)
            if number in self.actors or is_a(unit, "ego.self", "ego.object")
        ]
        self.nameless = _Actor(None)
        self.senses: list[Sense] = []
        self.freed: set[tuple[int, int]] = set()
        self.known = [word in wording.small for word in words.plain]
        for number, unit in enumerate(self.units):
            if unit.tag not in ("-", "-head", "stop", "and") or number in cores:
                _mark(self.known, unit.span, True)
        inside = [0] * len(words.plain)
        verbs = [said.span for said in self.said if len(said.rule.says) > 1]
        nouns = [*self.names, *(unit.span for unit in self.units if "." in unit.tag)]
        for number, span in enumerate([*verbs, *nouns], 1):
            _mark(inside, span, number if number <= len(verbs) else -number)
        self.negated = words.negated(inside)

    def _cores(self) -> dict[int, _Said]:
        return {number: said for said in self.said for number in said.numbers}

    def read(self) -> Understood:
        """Everything that is said, in the order of the text."""
        dropped = {
            unit.span
            for said in self.said
            if said.rule.says.get("drop") == "names"
            for unit in said.units
        }
        for unit in self.units:
            is_scene = unit.tag.startswith(("scene.", "place."))
            if is_scene and unit.span not in self.names | dropped:
                self._add((unit.tag,), unit.span, f"words of {unit.tag}")
        void = {id(said.rule) for said in self.said if self._is_void(said)}
        if void:
            self.said = self._matches(void)
        for said in self.said:
            self._place(said)
        for actor in (*self.actors.values(), self.nameless):
            self._close(actor)
        plain = [self.wording.lemma(word) in self.wording.plain for word in self.words.plain]
        for unit in self._mute():
            _mark(self.known, unit.span, False)
            _mark(plain, unit.span, True)
        ruled = {
            unit.span
            for said in self.said
            for unit in said.units
            if is_a(unit, "do", "ego", "place")
        }
        return Understood(
            tuple(sorted(self.senses, key=lambda sense: sense[1:3])),
            self.names - ruled - dropped - self.freed,
            tuple(self.known),
            tuple(self.negated),
            tuple(plain),
        )

    def _mute(self) -> list[Unit]:
        """Nouns from which nothing follows: those of no keyword, as `truck stop`, and a driver
        without an act or a place.
        """
        read = self._cores().keys() | {
            number for number, actor in self.actors.items() if actor.does or actor.parts
        }
        return [
            unit
            for number, unit in enumerate(self.units)
            if unit.tag in ("none", "actor.someone") and number not in read
        ]

    def _add(
        self,
        concepts: tuple[str, ...],
        span: tuple[int, int],
        why: str,
        *,
        negated: bool | None = None,
    ) -> None:
        readings = self.wording.vague.get(concepts[0], concepts) if len(concepts) == 1 else concepts
        is_negated = any(self.negated[slice(*span)]) if negated is None else negated
        self.senses.append(Sense(readings, *span, is_negated, why))

    def _matches(self, void: Collection[int] = ()) -> list[_Said]:
        """The rules that hold, the longest first; no word counts in two of them."""
        shown = [f" {unit.lemma}={unit.word}:{unit.tag}" for unit in self.units]
        line, unit_starts = "".join(shown), [0, *accumulate(map(len, shown))]
        matches: list[tuple[int, int, _Said]] = []
        for order, rule in enumerate(self.wording.rules):
            for match in rule.pattern.finditer(line) if id(rule) not in void else ():
                first, last = (
                    bisect_right(unit_starts, at) - 1
                    for at in (match.start("core"), match.end("core") - 1)
                )
                if last < first or (rule.says.get("bare") and self._is_noun(last)):
                    continue
                following = self.words.plain[self.units[last].end :][:1]
                if not (rule.says.get("drop") and {"a", "an", "the"} & {*following}):
                    said = _Said(rule, first, last, self.units[first : last + 1])
                    matches.append((first - last, order, said))
        taken, disjoint = set[int](), list[_Said]()
        for _, _, said in sorted(matches, key=lambda row: row[:2]):
            # A name alone is no rule, but for a place.
            is_name = said.first == said.last and (
                said.units[0].span in self.names and is_a(said.units[0], "do", "ego")
            )
            if not is_name and taken.isdisjoint(said.numbers):
                taken.update(said.numbers)
                disjoint.append(said)
        return sorted(disjoint, key=lambda said: said.first)

    def _is_noun(self, number: int) -> bool:
        """Whether a noun that may be a subject with its verb is surely one: a label, after `the`,
        or before another person.
        """
        unit = self.units[number]
        return (
            unit.span in self.names
            or bool(_DEFINITE & {*self.words.plain[max(0, unit.start - 1) : unit.start]})
            or any(is_a(later, "actor.pedestrian") for later in self.units[number:])
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
        says = said.rule.says
        if "part" in says:
            side = next((unit.lemma for unit in said.units if unit.word in ("left", "right")), "")
            sides = {"side": side, "other-side": _OPPOSITE.get(side, "")}
            parts = [sides.get(part, part) for part in map(str, says["part"])]
            actor = self._nearest(said, parts)
            if actor is not None:
                actor.parts += [(part, said) for part in parts]
            return
        subject = self._subject(said) if {"actor", "ego"} & says.keys() else None
        is_nobody = (
            isinstance(subject, _Actor)
            and subject.unit is not None
            and self._is_negated(self.units[subject.unit])
        )
        for scene in says.get("scene", ()):
            self._add((scene,), said.span, said.why, negated=is_nobody or None)
        after = self._after(said)
        if subject == "ego":
            for concept in says.get("ego", ()):
                self._add((concept,), said.span, said.why)
            following = [self.actors[number] for number in after if number in self.actors]
            if following:
                self._say(following[0], says.get("object", ()), said)
        elif isinstance(subject, _Actor):
            is_of_another = (
                "object" in says
                and bool(after)
                and self.actors.get(after[0], subject) is not subject
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

    def _in_clause(self, numbers: Iterable[int], of: int) -> list[int]:
        """The numbers of units in the clause of one."""
        return [number for number in numbers if self.clause[number] == self.clause[of]]

    def _after(self, said: _Said) -> list[int]:
        """The nouns of the same clause after a core."""
        return [number for number in self._in_clause(self.nouns, said.last) if number > said.last]

    def _is_subject(self, number: int) -> bool:
        """Whether a noun stands where a subject may: neither a preposition nor a verb has it as its
        object.
        """
        unit, before = self.units[number], self.units[number - 1] if number else None
        first = before is None or before.tag in ("stop", "and")
        if unit.tag == "ego.object":
            after = self.units[number + 1] if number + 1 < len(self.units) else None
            return first and after is not None and after.word.endswith("ing")
        if before is None or first:
            return True
        if self._without(number):
            return False
        is_object = is_a(unit, "ego") and any(
            number - 1 in said.numbers and "part" not in said.rule.says for said in self.said
        )
        return before.lemma not in self.wording.classes["preposition"] and not is_object

    def _subject(self, said: _Said) -> "_Actor | str":
        """The one that does it: the noun after a participle, the agent of a passive, else the
        subject of the clause.
        """
        before = [
            number for number in self._in_clause(self.nouns, said.first) if number < said.first
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
        if after and after[0] in self.actors:
            is_inverted = said.units[0].word.endswith("s") or (
                not said.rule.says.get("ego")
                and (
                    not said.units[-1].word.endswith("ing")
                    or self.units[said.last + 1].lemma == "be"
                )
            )
            if is_inverted:
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
            number
            for number in self.nouns
            if self.clause[number] < clause and self._is_subject(number)
        ]
        if earlier:
            return self._noun(self._in_clause(earlier, earlier[-1])[0])
        if before and before[0] in self.actors:
            return self.actors[before[0]]
        if said.rule.says.get("ego") or (said.rule.says.get("object") and after):
            return "ego"
        return next(
            (actor for number, actor in self.actors.items() if number > said.last), self.nameless
        )

    def _is_agent(self, said: _Said, number: int, *, direct: bool) -> bool:
        """Whether a noun after a verb does it: `overtaken by a bus`, `parked cars`."""
        between, last = self.units[said.last + 1 : number], said.units[-1]
        if any(unit.word == "by" for unit in between):
            return len(between) <= 3
        prepositions = self.wording.classes["preposition"]
        is_bare = len(between) <= 2 and all(
            unit.tag[0] == "-" and unit.lemma not in prepositions for unit in between
        )
        is_participle = last.word.endswith(("ing", "ed", "en")) and last.lemma not in prepositions
        return (
            is_bare
            and is_participle
            and DETERMINERS.isdisjoint(self.words.plain[last.end : self.units[number].start])
            and number in self.actors
            and not direct
        )

    def _without(self, number: int) -> bool:
        before = [unit.word for unit in self.units[max(0, number - 2) : number]]
        return before[-1:] == ["without"] or before == ["with", "no"]

    def _links(self, unit: Unit) -> bool:
        return bool(
            {unit.lemma, unit.word} & self.wording.classes["linking"]
        ) or unit.word.endswith("ly")

    def _noun(self, number: int) -> "_Actor | str":
        return (
            self.actors.get(number, self.nameless) if is_a(self.units[number], "actor") else "ego"
        )

    def _nearest(self, said: _Said, parts: Sequence[str]) -> _Actor | None:
        """The actor whose place it is: the last one before in the clause, else the next one, else
        that of the clause before.
        """
        if parts == ["front-object"]:
            drives = self._subject(said) == "ego"
            following = [number for number in self._after(said) if number in self.actors]
            return self.actors[following[0]] if drives and following else None
        if near := _around(self._in_clause(self.actors, said.first), said):
            return self.actors[near[0]]
        if any(
            is_a(self.units[number], "ego") and self._is_subject(number)
            for number in self._in_clause(range(said.first), said.first)
        ):
            return None
        if near := _around(self.actors, said):
            return self.actors[near[0]]
        return None if "split" in parts else self.nameless

    def _is_negated(self, unit: Unit) -> bool:
        return unit.tag == "actor.nobody" or any(self.negated[slice(*unit.span)])

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
            else [act for act in actor.does if act[0] in _BEHAVIOURS and self._has_negated(act[1])]
        )
        actor.does = [act for act in actor.does if act not in denied]
        does, position = self._behaviours(actor), self._position(actor)
        holds = bool(does) and actor.unit is not None and self._holds(does[0][1], actor.unit)
        if (
            actor.unit is not None
            and unit is not None
            and unit.tag not in ("actor.someone", "actor.nobody")
        ):
            if none and not position and not holds and (does or self._shares_behaviour(actor.unit)):
                self.freed.add(unit.span)
            elif unit.span not in self.names:
                self._add((unit.tag,), unit.span, f"words of {unit.tag}", negated=none)
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
            self._add(("actor.pedestrian",), unit.span, f"words of {unit.tag}", negated=True)
        none = none and not holds
        for concept, said in [*denied, *does]:
            # Where a street is part of the rule, it is excluded already.
            if not (none and "scene" in said.rule.says):
                meant = tuple(said.rule.says.get("none", ())) if none else ()
                self._add(meant or (concept,), said.span, said.why, negated=none or None)
        for concepts, parts in position:
            starts, ends = zip(
                *(part.span for part in (parts if len(concepts) > 1 else parts[:1])), strict=True
            )
            why = f"rule: {'; '.join(dict.fromkeys(said.rule.text for said in parts))}"
            self._add(concepts, (min(starts), max(ends)), why, negated=none or None)

    def _holds(self, said: _Said, number: int) -> bool:
        """Whether what is said before a negated actor holds all the same: overtaken, not by a
        car.
        """
        by = any(
            unit.word == "by" and not self._is_negated(unit)
            for unit in self.units[said.last + 1 : number]
        )
        return said.last < number and not by and not self._has_negated(said)

    def _has_negated(self, said: _Said) -> bool:
        return any(self.negated[slice(*said.span)])

    def _shares_behaviour(self, number: int) -> bool:
        """Whether an actor has the behaviour of the next, `no car or truck stops`, or one by its
        label, `no stationary cars`.
        """
        if (
            number + 2 in self.actors
            and self.units[number + 1].tag == "and"
            and self._is_negated(self.units[number + 2])
        ):
            return bool(self.actors[number + 2].does) or self._shares_behaviour(number + 2)
        return any(
            is_a(self.units[near], "do") and self.units[near].span in self.names
            for near in self._in_clause(range(len(self.units)), number)
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


def _mark(flags: list[Any], span: tuple[int, int], flag: Any) -> None:
    start, end = span
    flags[start:end] = [flag] * (end - start)


def _around(numbers: Iterable[int], said: _Said) -> list[int]:
    """The last number before a core, else the first behind it, else none."""
    numbers = list(numbers)
    before = [number for number in numbers if number < said.first]
    return before[-1:] or [number for number in numbers if number > said.last][:1]


def _clauses(units: Sequence[Unit]) -> Iterable[int]:
    """The number of the clause of each unit."""
    number = 0
    for unit in units:
        number += unit.tag in ("stop", "and")
        yield number
