"""The words of driving scenes: lemmas, concepts and rules of `data/wording.toml`, made ready for
reading.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from rankwell.tasks.clips.annotations import singular, words_of
from rankwell.tasks.clips.phrases import stem

_ANY = r"[^ ]*"
_GAPS = {"..": rf"(?: {_ANY}:-[^ ]*){{0,3}}", ".": rf"(?: {_ANY}:-[^ ]*)?"}
"""Up to three words, or one, that are neither nouns of the wording nor the end of a clause."""
_EDGES = {"^": "(?:^|(?<=:stop)|(?<=:and))", "$": "(?= [^ ]*:(?:stop|and)|$)"}
"""The beginning and the end of a clause."""


class Rule(NamedTuple):
    """A pattern over the words of a text, and what it says: of an actor, of the ego vehicle, of its
    object, of the scene.
    """

    pattern: re.Pattern[str]
    text: str
    says: Mapping[str, Any]


@dataclass(frozen=True)
class Wording:
    """The file. words: lemmas, or words as written after `=` -> their concept. labels: the lemmas
    of a label -> its concepts.
    """

    small: frozenset[str]
    plain: frozenset[str]
    irregular: Mapping[str, str]
    words: Mapping[tuple[str, ...], str]
    labels: Mapping[tuple[str, ...], tuple[str, ...]]
    unless: Mapping[tuple[str, ...], frozenset[str]]
    known: frozenset[str]
    wider: Mapping[str, str]
    vague: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]
    classes: Mapping[str, frozenset[str]]

    def lemma(self, word: str) -> str:
        """The form under which all forms of a word are compared."""
        return _lemma(word, self.irregular)

    def lemmas(self, text: str) -> tuple[str, ...]:
        """The lemmas of a text, without small words."""
        plain = [token.word for token in words_of(text)]
        return tuple(self.lemma(word) for word in plain if word not in self.small) or tuple(
            map(self.lemma, plain)
        )


@cache
def load_wording() -> Wording:
    """The wording of driving scenes."""
    raw = tomllib.loads(
        files("rankwell.tasks.clips").joinpath("data/wording.toml").read_text(encoding="utf-8")
    )
    irregular = {
        form: lemma for lemma, forms in raw["irregular"].items() for form in (lemma, *forms.split())
    }
    empty = Wording(
        frozenset(raw["small"].split()),
        frozenset(),
        irregular,
        {},
        {},
        {},
        frozenset(),
        {},
        {},
        (),
        {},
    )
    words: dict[tuple[str, ...], str] = {}
    labels: dict[tuple[str, ...], list[str]] = {}
    for name, concept in raw["concept"].items():
        for label in concept["labels"]:
            labels.setdefault(empty.lemmas(label), []).append(name)
        # A position by its name is that position, whether the vocabulary has it or not.
        own = (
            concept["labels"][:1]
            if name.startswith("place.")
            else concept.get("words", "").split(",")
        )
        for text in filter(str.strip, own):
            words.setdefault(_key(text, empty), name)
    classes = {name: _split(text) for name, text in raw["class"].items()}
    rules = tuple(
        Rule(_compile(text.split(), classes, irregular), text, says)
        for says in raw["rule"]
        for text in says["say"].strip().splitlines()
    )
    known = {name: frozenset(own) for name, own in classes.items()}
    wider = {
        name: concept["wider"] for name, concept in raw["concept"].items() if "wider" in concept
    }
    vague = {name: tuple(concepts) for name, concepts in raw["vague"].items()}
    plain = frozenset(map(empty.lemma, raw["plain"].split()))
    unless = {
        _key(text, empty): frozenset(map(empty.lemma, near.split()))
        for text, near in raw["unless"].items()
    }
    said = (word for rule in rules for word in re.findall(r"[\w']+", rule.text))
    every = {*map(empty.lemma, chain(said, *known.values())), *plain}
    own = {key: tuple(concepts) for key, concepts in labels.items()}
    return Wording(
        empty.small,
        plain,
        irregular,
        words,
        own,
        unless,
        frozenset(every),
        wider,
        vague,
        rules,
        known,
    )


def _key(text: str, wording: Wording) -> tuple[str, ...]:
    """The words of a noun phrase: as written after `=`, else their lemmas."""
    return tuple(text.split()) if text.strip().startswith("=") else wording.lemmas(text)


def _lemma(word: str, irregular: Mapping[str, str]) -> str:
    if word in irregular:
        return irregular[word]
    one = singular(word)
    return irregular.get(one) or stem(re.sub(r"i(es|ed|e)$", "y", one))


def _split(text: str) -> list[str]:
    return [word for word in re.split(r"[|\s]+", text) if word]


def _compile(
    parts: Iterable[str], classes: Mapping[str, list[str]], irregular: Mapping[str, str]
) -> re.Pattern[str]:
    """The regular expression of a pattern; the group `core` is what is read."""
    found, marked, optional = "", False, False
    for part in parts:
        if part in _GAPS:
            found = f"{found[:-2]}{_GAPS[part]})?" if optional else found + _GAPS[part]
            continue
        if part in _EDGES:
            found += _EDGES[part]
            continue
        if part.startswith("["):
            found, marked = found + "(?P<core>", True
        bare = part.strip("[]")
        either = [word for each in bare.rstrip("?").split("|") for word in _members(each, classes)]
        forms = "|".join(dict.fromkeys(_form(word, irregular) for word in either))
        optional = bare.endswith("?")
        found += f"(?:(?:{forms}))?" if optional else f"(?:{forms})"
        if part.endswith("]"):
            found += ")"
    return re.compile(found if marked else f"(?P<core>{found})")


def _members(word: str, classes: Mapping[str, list[str]]) -> list[str]:
    if not word.startswith("<"):
        return [word]
    return [other for each in classes[word[1:-1]] for other in _members(each, classes)]


def _form(word: str, irregular: Mapping[str, str]) -> str:
    if word.startswith("@"):
        return rf" [^ :]*:{re.escape(word[1:])}{_ANY}"
    if word.startswith("="):
        return rf" [^ =]*={re.escape(word[1:])}:{_ANY}"
    return rf" {re.escape(_lemma(word, irregular))}={_ANY}"
