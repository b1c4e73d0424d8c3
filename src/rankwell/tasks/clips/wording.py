"""The words of driving scenes: lemmas, concepts and rules of `data/wording.toml`, made ready for
reading.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
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
        return _lemmas(text, self.small, self.irregular)


@cache
def load_wording() -> Wording:
    """The wording of driving scenes."""
    raw = tomllib.loads(
        files("rankwell.tasks.clips").joinpath("data/wording.toml").read_text(encoding="utf-8")
    )
    small = frozenset(raw["small"].split())
    irregular = {
        form: lemma for lemma, forms in raw["irregular"].items() for form in (lemma, *forms.split())
    }
    lemma_of = partial(_lemma, irregular=irregular)
    lemmas_of = partial(_lemmas, small=small, irregular=irregular)

    def _key(text: str) -> tuple[str, ...]:
        """The words of a noun phrase: as written after `=`, else their lemmas."""
        return tuple(text.split()) if text.strip().startswith("=") else lemmas_of(text)

    words: dict[tuple[str, ...], str] = {}
    labels: dict[tuple[str, ...], list[str]] = {}
    for name, concept in raw["concept"].items():
        for label in concept["labels"]:
            labels.setdefault(lemmas_of(label), []).append(name)
        # A position by its name is that position, whether the vocabulary has it or not.
        phrases = (
            concept["labels"][:1]
            if name.startswith("place.")
            else concept.get("words", "").split(",")
        )
        for phrase in filter(str.strip, phrases):
            words.setdefault(_key(phrase), name)
    classes = {name: _split(text) for name, text in raw["class"].items()}
    rules = tuple(
        Rule(_compile(text.split(), classes, irregular), text, says)
        for says in raw["rule"]
        for text in says["say"].strip().splitlines()
    )
    plain = frozenset(map(lemma_of, raw["plain"].split()))
    of_rules = (word for rule in rules for word in re.findall(r"[\w']+", rule.text))
    return Wording(
        small=small,
        plain=plain,
        irregular=irregular,
        words=words,
        labels={key: tuple(concepts) for key, concepts in labels.items()},
        unless={
            _key(text): frozenset(map(lemma_of, near.split()))
            for text, near in raw["unless"].items()
        },
        known=plain.union(map(lemma_of, chain(of_rules, *classes.values()))),
        wider={
            name: concept["wider"] for name, concept in raw["concept"].items() if "wider" in concept
        },
        vague={name: tuple(concepts) for name, concepts in raw["vague"].items()},
        rules=rules,
        classes={name: frozenset(members) for name, members in classes.items()},
    )


def _lemmas(text: str, small: Collection[str], irregular: Mapping[str, str]) -> tuple[str, ...]:
    plain = [token.word for token in words_of(text)]
    return tuple(
        _lemma(word, irregular) for word in [word for word in plain if word not in small] or plain
    )


def _lemma(word: str, irregular: Mapping[str, str]) -> str:
    if word in irregular:
        return irregular[word]
    bare = singular(word)
    return irregular.get(bare) or stem(re.sub(r"i(es|ed|e)$", "y", bare))


def _split(text: str) -> list[str]:
    return [word for word in re.split(r"[|\s]+", text) if word]


def _compile(
    parts: Iterable[str], classes: Mapping[str, list[str]], irregular: Mapping[str, str]
) -> re.Pattern[str]:
    """The regular expression of a pattern; the group `core` is what is read."""
    pattern, is_marked, is_optional = "", False, False
    for part in parts:
        if part in _GAPS:
            gap = _GAPS[part]
            pattern = f"{pattern[:-2]}{gap})?" if is_optional else pattern + gap
            continue
        if part in _EDGES:
            pattern += _EDGES[part]
            continue
        if part.startswith("["):
            pattern, is_marked = pattern + "(?P<core>", True
        bare = part.strip("[]")
        words = [word for name in bare.rstrip("?").split("|") for word in _members(name, classes)]
        forms = "|".join(dict.fromkeys(_form(word, irregular) for word in words))
        is_optional = bare.endswith("?")
        pattern += f"(?:(?:{forms}))?" if is_optional else f"(?:{forms})"
        if part.endswith("]"):
            pattern += ")"
    return re.compile(pattern if is_marked else f"(?P<core>{pattern})")


def _members(word: str, classes: Mapping[str, list[str]]) -> list[str]:
    if not word.startswith("<"):
        return [word]
    return [member for name in classes[word[1:-1]] for member in _members(name, classes)]


def _form(word: str, irregular: Mapping[str, str]) -> str:
    if word.startswith("@"):
        return rf" [^ :]*:{re.escape(word[1:])}{_ANY}"
    if word.startswith("="):
        return rf" [^ =]*={re.escape(word[1:])}:{_ANY}"
    return rf" {re.escape(_lemma(word, irregular))}={_ANY}"
