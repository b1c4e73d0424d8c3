"""The keywords of annotations by group, their aliases, and the comparison of words without case, punctuation and plural."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

from rankwell.errors import BadInput

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = re.compile(r"[\s_-]+")
_LONG_PLURAL = re.compile(r".*(?:ch|sh|ss|x|zz|[^aeiou]us|[^aeiou]o)es")


class Keyword(NamedTuple):
    """A label of a group; the same label in another group is another keyword."""

    group: str
    label: str


class Name(NamedTuple):
    """The keywords of a literal text. entries: positions in the vocabulary. stage: whether it is a label or an alias."""

    entries: tuple[int, ...]
    stage: Literal["exact", "alias"]


@dataclass(frozen=True)
class Vocabulary:
    """Keywords in the order of their declaration, and their aliases.

    entries: every keyword once. aliases: text -> the keywords that it stands for, one or more; a label wins over an alias.
    Raises BadInput for an empty label, a keyword that is listed twice, labels of one group that differ in case, spaces or plural
    alone, and an alias of nothing or of an unknown keyword.
    """

    entries: tuple[Keyword, ...]
    aliases: Mapping[str, tuple[Keyword, ...]] = field(default_factory=dict[str, tuple[Keyword, ...]])

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(Keyword(*entry) for entry in self.entries))
        own = {alias: tuple(Keyword(*entry) for entry in meant) for alias, meant in self.aliases.items()}
        object.__setattr__(self, "aliases", own)
        seen: dict[tuple[str, tuple[str, ...]], str] = {}
        for group, label in self.entries:
            folded = fold(label)
            if not folded:
                raise BadInput(f"group {group!r} has the label {label!r}, which has no word; give it a name or leave it out.")
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
                what = "has no word" if not fold(alias) else f"stands for {missing}, which is not a keyword"
                raise BadInput(f"the alias {alias!r} {what}; let it stand for labels of the vocabulary.")

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Every group once, in the order of the entries."""
        return tuple(dict.fromkeys(group for group, _ in self.entries))

    @cached_property
    def shadowing(self) -> tuple[str, ...]:
        """Aliases that read the same as a label of another keyword; the label wins."""
        own: dict[tuple[str, ...], set[Keyword]] = {}
        for entry in self.entries:
            own.setdefault(fold(entry.label), set()).add(entry)
        return tuple(alias for alias, meant in self.aliases.items() if own.get(fold(alias), set()) - set(meant))

    @cached_property
    def names(self) -> dict[tuple[str, ...], Name]:
        """Every literal text of every keyword, folded: labels, `group:label`, aliases, and the alternatives of a slash.

        An earlier kind wins: no alias hides a label. A label that several groups have is a name of all of them.
        """
        labels: dict[tuple[str, ...], list[int]] = {}
        whole: dict[tuple[str, ...], list[int]] = {}
        parts: dict[tuple[str, ...], list[int]] = {}
        for place, (group, label) in enumerate(self.entries):
            labels.setdefault(fold(label), []).append(place)
            whole.setdefault(fold(f"{group} {label}"), []).append(place)
            for form in dict.fromkeys(map(fold, _alternatives(label))):
                parts.setdefault(form, []).append(place)
        number = {entry: place for place, entry in enumerate(self.entries)}
        aliases = {fold(alias): [number[entry] for entry in meant] for alias, meant in self.aliases.items()}
        found = {form: Name(tuple(places), "exact") for form, places in parts.items()}
        found |= {form: Name(tuple(places), "alias") for form, places in aliases.items()}
        for forms in (whole, labels):
            found |= {form: Name(tuple(places), "exact") for form, places in forms.items()}
        return found


def _alternatives(label: str) -> list[str]:
    """The alternatives of a slash in a label: `parking lot/depot` is a parking lot, a depot, a parking depot."""
    if "/" not in label:
        return []
    chosen = product(*(word.split("/") for word in label.split()))
    return [form for form in (*(" ".join(words) for words in chosen), *label.split("/")) if fold(form)]


class Token(NamedTuple):
    """A word of a text as it is compared, and its place in characters, end exclusive."""

    word: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Token]:
    """The words of a text as they are compared: without case, punctuation, hyphens and underscores, in the singular."""
    for found in _WORD.finditer(text):
        yield Token(singular(found.group().replace("’", "'").casefold()), found.start(), found.end())


def fold(text: str) -> tuple[str, ...]:
    """The words of a text, equal for texts that differ in case, spaces, punctuation, hyphens or plural alone."""
    return tuple(token.word for token in words_of(text))


def group_key(name: str) -> str:
    """The key of a group, equal for names that differ in case, in separators, or in spelling (behaviour)."""
    return _BETWEEN.sub("_", name.strip().casefold()).replace("behaviour", "behavior")


def singular(word: str) -> str:
    """A word without the ending of a regular English plural or possessive: `lorries` lorry, `buses` bus, `cars` car."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if _LONG_PLURAL.fullmatch(word):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
