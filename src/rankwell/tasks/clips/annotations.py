"""Annotations: clips with their keywords by group, and the vocabulary of keywords with their
aliases.
"""

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Ints, sort_ids
from rankwell.errors import BadInput, BadUsage, DuplicateItem, UnknownName
from rankwell.store import encode_id

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = re.compile(r"[\s_-]+")
_LONG_PLURAL = re.compile(r".*(?:ch|sh|ss|x|zz|[^aeiou]us|[^aeiou]o)es")


class Keyword(NamedTuple):
    """A label of a group; the same label in another group is another keyword."""

    group: str
    label: str


def with_groups(keywords: Iterable[Keyword]) -> str:
    """The forms that distinguish keywords of one label, for messages: `object: other or scene:
    other`.
    """
    return " or ".join(f"{group}: {label}" for group, label in keywords)


class Name(NamedTuple):
    """The keywords of a literal text. entries: positions in the vocabulary. stage: whether it is a
    label or an alias.
    """

    entries: tuple[int, ...]
    stage: Literal["exact", "alias"]


@dataclass(frozen=True)
class Vocabulary:
    """Keywords in the order of their declaration, and their aliases.

    entries: every keyword once. aliases: text -> the keywords that it stands for, one or more; a
    label wins over an alias. Raises BadInput for an empty label, a keyword that is listed twice,
    labels of one group that differ in case, spaces or plural alone, and an alias of nothing or of
    an unknown keyword.
    """

    entries: tuple[Keyword, ...]
    aliases: Mapping[str, tuple[Keyword, ...]] = field(
        default_factory=dict[str, tuple[Keyword, ...]]
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(Keyword(*entry) for entry in self.entries))
        own = {
            alias: tuple(Keyword(*entry) for entry in meant)
            for alias, meant in self.aliases.items()
        }
        object.__setattr__(self, "aliases", own)
        seen: dict[tuple[str, tuple[str, ...]], str] = {}
        for group, label in self.entries:
            folded = fold(label)
            if not folded:
                raise BadInput(
                    f"group {group!r} has the label {label!r}, which has no word; give it a "
                    "name or leave it out."
                )
            if (group, folded) in seen:
                first = seen[group, folded]
                what = "twice" if first == label else f"and {first!r}, which reads the same"
                raise BadInput(f"group {group!r} has the label {label!r} {what}; keep one of them.")
            seen[group, folded] = label
        known = set(self.entries)
        for alias, meant in own.items():
            lost = next((entry for entry in meant if entry not in known), None)
            if not fold(alias) or not meant or lost is not None:
                missing = "nothing" if lost is None else f"{lost.group}: {lost.label}"
                what = (
                    "has no word"
                    if not fold(alias)
                    else f"stands for {missing}, which is not a keyword"
                )
                raise BadInput(
                    f"the alias {alias!r} {what}; let it stand for labels of the vocabulary."
                )

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Every group once, in the order of the entries."""
        return tuple(dict.fromkeys(group for group, _ in self.entries))

    def of_groups(self, groups: Collection[str]) -> "Vocabulary":
        """The keywords of some groups, with the aliases that stand for any of them; the whole
        vocabulary where none is named.
        """
        if not groups:
            return self
        aliases = {
            alias: tuple(entry for entry in meant if entry.group in groups)
            for alias, meant in self.aliases.items()
        }
        entries = tuple(entry for entry in self.entries if entry.group in groups)
        return Vocabulary(entries, {alias: meant for alias, meant in aliases.items() if meant})

    @cached_property
    def shadowing(self) -> tuple[str, ...]:
        """Aliases that read the same as a label of another keyword; the label wins."""
        own: dict[tuple[str, ...], set[Keyword]] = {}
        for entry in self.entries:
            own.setdefault(fold(entry.label), set()).add(entry)
        return tuple(
            alias
            for alias, meant in self.aliases.items()
            if own.get(fold(alias), set()) - set(meant)
        )

    @cached_property
    def names(self) -> dict[tuple[str, ...], Name]:
        """Every literal text of every keyword, folded: labels, `group:label`, aliases, parts of a
        slash; labels come first.
        """
        places = {entry: place for place, entry in enumerate(self.entries)}
        aliases = {fold(alias): meant for alias, meant in self.aliases.items()}
        kinds: tuple[
            tuple[Literal["exact", "alias"], list[tuple[tuple[str, ...], Keyword]]], ...
        ] = (
            (
                "exact",
                [
                    (form, each)
                    for each in places
                    for form in dict.fromkeys(map(fold, _alternatives(each.label)))
                ],
            ),
            ("alias", [(form, each) for form, meant in aliases.items() for each in meant]),
            ("exact", [(fold(f"{each.group} {each.label}"), each) for each in places]),
            ("exact", [(fold(each.label), each) for each in places]),
        )
        found: dict[tuple[str, ...], Name] = {}
        for stage, pairs in kinds:
            entries: dict[tuple[str, ...], list[int]] = {}
            for form, each in pairs:
                entries.setdefault(form, []).append(places[each])
            found |= {form: Name(tuple(own), stage) for form, own in entries.items()}
        return found


def _alternatives(label: str) -> list[str]:
    """The alternatives of a slash in a label: `parking lot/depot` is a parking lot, a depot, a
    parking depot.
    """
    if "/" not in label:
        return []
    chosen = product(*(word.split("/") for word in label.split()))
    return [
        form for form in (*(" ".join(words) for words in chosen), *label.split("/")) if fold(form)
    ]


class Token(NamedTuple):
    """A word of a text as it is compared, and its place in characters, end exclusive."""

    word: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Token]:
    """The words of a text as they are compared: without case, punctuation, hyphens and underscores,
    in the singular.
    """
    for found in _WORD.finditer(text):
        yield Token(
            singular(found.group().replace("’", "'").casefold()), found.start(), found.end()
        )


def fold(text: str) -> tuple[str, ...]:
    """The words of a text, equal for texts that differ in case, spaces, punctuation, hyphens or
    plural alone.
    """
    return tuple(token.word for token in words_of(text))


def group_key(name: str) -> str:
    """The key of a group, equal for names that differ in case, in separators, or in spelling
    (behaviour).
    """
    return _BETWEEN.sub("_", name.strip().casefold()).replace("behaviour", "behavior")


def singular(word: str) -> str:
    """A word without the ending of a regular English plural or possessive: `lorries` lorry, `buses`
    bus, `cars` car.
    """
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if _LONG_PLURAL.fullmatch(word):
        return word[:-2]
    return (
        word[:-1]
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        else word
    )


class QueryKeywords(NamedTuple):
    """The keywords that a query requires, and those that no clip may have that is relevant to it.

    >>> from rankwell.tasks.clips.annotations import Keyword
    >>> QueryKeywords(
    ...     (Keyword("scene", "highway"),), excluded=(Keyword("object", "large vehicle"),)
    ... ).excluded[0].label
    'large vehicle'
    """

    required: tuple[Keyword, ...]
    excluded: tuple[Keyword, ...] = ()


class Schema(NamedTuple):
    """The keywords of annotations. parents: a keyword -> the wider one that it implies, as `sedan`
    is a `small vehicle`.
    """

    vocabulary: Vocabulary
    parents: Mapping[Keyword, Keyword] = {}


class Row(NamedTuple):
    """A row of a table of clips. labels: group -> texts as written. attributes: other columns."""

    clip: str
    labels: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class Annotations:
    """Clips in the order of their bytes, keywords by group, and the keywords of each clip.

    clips: ids. keywords: (keywords,) declared keywords, then used keywords that are not declared.
    given: (clips, keywords) as annotated. attributes: clip -> other columns. notes: spellings that
    were read as another label, and unread columns. bare_groups: groups without a used or declared
    keyword.
    """

    clips: tuple[str, ...]
    keywords: tuple[Keyword, ...]
    given: Bools
    attributes: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    bare_groups: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls, rows: Sequence[Row], *, groups: Sequence[str] = (), schema: Schema | None = None
    ) -> "Annotations":
        """The table of rows in any order. groups: their order, also of those without a label.
        Raises DuplicateItem.

        Labels of one group that read the same are one keyword: the declared one, else the most
        frequent spelling.
        """
        seen: dict[str, int] = {}
        for number, row in enumerate(rows, 1):
            if seen.setdefault(row.clip, number) != number:
                raise DuplicateItem(
                    f"clip {row.clip!r} is listed in rows {seen[row.clip]} and {number}; keep "
                    "one of them."
                )
        known = schema or Schema(Vocabulary(()))
        read = _LabelReader(known.vocabulary, rows)
        members = {
            row.clip: {
                entry for group, texts in row.labels.items() for entry in read.meant(group, texts)
            }
            for row in rows
        }
        used = {entry for each in members.values() for entry in each}
        order = list(
            dict.fromkeys(
                (
                    *known.vocabulary.groups,
                    *groups,
                    *(group for row in rows for group in sorted(row.labels)),
                )
            )
        )
        declared = {entry: place for place, entry in enumerate(known.vocabulary.entries)}
        keywords = sorted(
            {*declared, *used},
            key=lambda entry: (
                order.index(entry.group),
                declared.get(entry, len(declared)),
                encode_id(entry.label),
            ),
        )
        clips = tuple(sort_ids(members))
        given = np.array(
            [[entry in members[clip] for entry in keywords] for clip in clips], dtype=np.bool_
        )
        attributes = {row.clip: dict(row.attributes) for row in rows}
        bare = tuple(group for group in order if group not in {entry.group for entry in keywords})
        given = given.reshape(len(clips), len(keywords))
        return cls(clips, tuple(keywords), given, attributes, schema, tuple(read.notes), bare)

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each clip in `clips`."""
        return {clip: position for position, clip in enumerate(self.clips)}

    @cached_property
    def column(self) -> dict[Keyword, int]:
        """The position of each keyword in `keywords`."""
        return {entry: position for position, entry in enumerate(self.keywords)}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Every group that has a keyword, in order."""
        return tuple(dict.fromkeys(entry.group for entry in self.keywords))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The keywords that a text may be mapped to: those that are declared, else those that are
        used.
        """
        return self.schema.vocabulary if self.schema is not None else Vocabulary(self.keywords)

    def vocabulary_of(self, names: Iterable[str]) -> Vocabulary:
        """The vocabulary of the groups of these names, the whole one where there is none."""
        return self.vocabulary.of_groups({self.find_group(name) for name in names})

    @cached_property
    def carried(self) -> Bools:
        """(clips, keywords) annotated keywords, and the wider ones that they imply."""
        parents = self.schema.parents if self.schema is not None else {}
        carried = self.given.copy()
        for entry in self.keywords:
            chain, wider = {entry}, parents.get(entry)
            while wider is not None and wider not in chain:
                carried[:, self.column[wider]] |= self.given[:, self.column[entry]]
                chain.add(wider)
                wider = parents.get(wider)
        return carried

    @property
    def undeclared(self) -> tuple[Keyword, ...]:
        """The keywords that are used and not declared; none without a schema."""
        declared = (
            set(self.schema.vocabulary.entries) if self.schema is not None else set(self.keywords)
        )
        return tuple(entry for entry in self.keywords if entry not in declared)

    @property
    def empty(self) -> tuple[str, ...]:
        """The clips without any keyword."""
        return tuple(
            self.clips[row] for row in np.flatnonzero(self.given.sum(axis=1) == 0).tolist()
        )

    @property
    def uses(self) -> Ints:
        """(keywords,) number of clips that are annotated with each keyword."""
        return self.given.sum(axis=0, dtype=np.int64)

    def find_group(self, name: str) -> str:
        """The group of a name in any case, spelling and prefix: `object type` is `pv_object_type`.
        Raises UnknownName.
        """
        plain, known = group_key(name), (*self.groups, *self.bare_groups)
        exact = [group for group in known if group_key(group) == plain]
        near = exact or [group for group in known if group_key(group).endswith(f"_{plain}")]
        if len(near) == 1:
            return near[0]
        if near:
            raise UnknownName(
                f"{name!r} may be the group {' or '.join(map(repr, near))}; write the whole name."
            )
        keys = {
            key: group
            for group in known
            for key in (group_key(group), group_key(group).removeprefix("pv_"))
        }
        like = difflib.get_close_matches(plain, keys, n=1)
        hint = f"; did you mean {keys[like[0]]!r}?" if like else ""
        raise UnknownName(
            f"unknown group {name!r}{hint or ';'} there are "
            f"{', '.join(known) or 'none, as no column is one'}."
        )

    def find(self, text: str) -> tuple[Keyword, ...]:
        """The keywords that a text names: `bicyclist`, or `group: label` where two groups have it.
        Raises UnknownName.
        """
        group, colon, label = text.partition(":")
        plain = group_key(group)
        named = (
            [
                each
                for each in self.groups
                if group_key(each) == plain or group_key(each).endswith(f"_{plain}")
            ]
            if colon
            else []
        )
        sought = (label if named else text).strip()
        found = tuple(
            each
            for each in self.keywords
            if fold(each.label) == fold(sought) and (not named or each.group in named)
        )
        if not found:
            where = f"the group {named[0]!r} has" if named else "there is"
            known = sorted(
                {each.label for each in self.keywords if not named or each.group in named}
            )
            near = difflib.get_close_matches(sought, known, cutoff=0.6)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else f"there are {', '.join(known) or 'none'}."
            )
            raise UnknownName(f"{where} no keyword {sought!r}; {hint}")
        return found

    def select(self, groups: Iterable[str] = (), keywords: Iterable[str] = ()) -> Bools:
        """(keywords,) whether each counts: named groups or all, of a group with named keywords
        these. Raises UnknownName.
        """
        chosen = {self.find_group(group) for group in groups}
        single: set[Keyword] = set()
        for text in keywords:
            found = self.find(text)
            mine = [entry for entry in found if not chosen or entry.group in chosen]
            if not mine:
                where = " and ".join(dict.fromkeys(entry.group for entry in found))
                what = f"the keyword {text!r} is one of {where}, which the chosen groups leave out"
                raise BadUsage(f"{what}; add the group to them.")
            single.update(mine)
        whole = (chosen or (set() if single else set(self.groups))) - {
            entry.group for entry in single
        }
        return np.array(
            [entry in single or entry.group in whole for entry in self.keywords], dtype=np.bool_
        )

    def named(self, row: Bools) -> dict[str, list[str]]:
        """group -> labels of a (keywords,) row, groups and labels in order."""
        found: dict[str, list[str]] = {}
        for position in np.flatnonzero(row).tolist():
            found.setdefault(self.keywords[position].group, []).append(
                self.keywords[position].label
            )
        return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


class _LabelReader:
    """The keywords that the texts of a table stand for, group by group."""

    def __init__(self, vocabulary: Vocabulary, rows: Sequence[Row]) -> None:
        self.notes: list[str] = []
        self._meant: dict[tuple[str, tuple[str, ...]], tuple[Keyword, ...]] = {}
        for alias, entries in vocabulary.aliases.items():
            for entry in entries:
                known = self._meant.get((entry.group, fold(alias)), ())
                self._meant[entry.group, fold(alias)] = (*known, entry)
        self._meant |= {(entry.group, fold(entry.label)): (entry,) for entry in vocabulary.entries}
        spelled: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
        for row in rows:
            for group, texts in row.labels.items():
                for text in texts:
                    spelled.setdefault((group, fold(text)), Counter())[
                        " ".join(text.casefold().split())
                    ] += 1
        for (group, words), counted in sorted(spelled.items()):
            self._add(group, words, counted)

    def _add(self, group: str, words: tuple[str, ...], counted: Counter[str]) -> None:
        if not words:
            what = ", ".join(map(repr, sorted(counted)))
            self.notes.append(
                f"{group}: {what} has no word and is ignored ({_times(counted.total())})"
            )
            return
        first = min(counted, key=lambda text: (-counted[text], encode_id(text)))
        meant = self._meant.setdefault((group, words), (Keyword(group, first),))
        labels = {entry.label for entry in meant}
        other = sorted(
            text for text in counted if text not in {label.casefold() for label in labels}
        )
        if other:
            times = sum(counted[text] for text in other)
            read = f"{', '.join(map(repr, other))} read as {' and '.join(sorted(labels))!r}"
            self.notes.append(f"{group}: {read} ({_times(times)})")

    def meant(self, group: str, texts: Sequence[str]) -> list[Keyword]:
        """The keywords that the texts of a cell stand for."""
        return [entry for text in texts if fold(text) for entry in self._meant[group, fold(text)]]
