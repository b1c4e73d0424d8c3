"""Annotations: clips with their keywords by group, and the vocabulary of keywords with their
aliases.
"""

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, product
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import Bools, Ints, grouped, positions_by_id, sort_ids
from rankwell.errors import BadInput, BadUsage, DuplicateItem, UnknownName
from rankwell.store import encode_id

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_BETWEEN = re.compile(r"[\s_-]+")
_LONG_PLURAL = re.compile(r".*(?:ch|sh|ss|x|zz|[^aeiou]us|[^aeiou]o)es")


Words = tuple[str, ...]
"""The words of a text as they are compared."""


class Keyword(NamedTuple):
    """A label of a group; the same label in another group is another keyword.

    group: the name in the schema, else the name in the column or the cell.
    label: the label in the schema, else its most frequent spelling in lower case.
    """

    group: str
    label: str


Keywords = tuple[Keyword, ...]


def with_groups(keywords: Iterable[Keyword]) -> str:
    """The forms that distinguish keywords of one label, for messages: `object: other or scene:
    other`.
    """
    return " or ".join(f"{group}: {label}" for group, label in keywords)


class Name(NamedTuple):
    """The meaning of a text that names keywords literally.

    keywords: the keywords that the text names, several where it is ambiguous.
    stage: whether the text is a label (`exact`) or an alias.
    """

    keywords: Keywords
    stage: Literal["exact", "alias"]


@dataclass(frozen=True)
class Vocabulary:
    """Keywords in the order of their declaration, and their aliases.

    entries: every keyword once.
    aliases: text -> the keywords that it stands for, one or more; a label wins over an alias.

    Raises BadInput for an empty label, a keyword that is listed twice, labels of one group that
    differ in case, spaces or plural alone, and an alias of nothing or of an unknown keyword.
    """

    entries: Keywords
    aliases: Mapping[str, Keywords] = field(default_factory=dict[str, Keywords])

    def __post_init__(self) -> None:
        first_labels: dict[tuple[str, Words], str] = {}
        for group, label in self.entries:
            folded = fold(label)
            if not folded:
                raise BadInput(
                    f"group {group!r} has the label {label!r}, which has no word; give it a "
                    "name or leave it out."
                )
            if (group, folded) in first_labels:
                first = first_labels[group, folded]
                problem = "twice" if first == label else f"and {first!r}, which reads the same"
                raise BadInput(
                    f"group {group!r} has the label {label!r} {problem}; keep one of them."
                )
            first_labels[group, folded] = label
        keywords = set(self.entries)
        for alias, meant in self.aliases.items():
            lost = [f"{group}: {label}" for group, label in meant if (group, label) not in keywords]
            problem = f"stands for {lost[0] if lost else 'nothing'}, which is not a keyword"
            if not fold(alias):
                problem = "has no word"
            elif meant and not lost:
                continue
            raise BadInput(
                f"the alias {alias!r} {problem}; let it stand for labels of the vocabulary."
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
        of_words: dict[Words, set[Keyword]] = {}
        for entry in self.entries:
            of_words.setdefault(fold(entry.label), set()).add(entry)
        return tuple(
            alias
            for alias, meant in self.aliases.items()
            if not of_words.get(fold(alias), set()).issubset(meant)
        )

    @cached_property
    def names(self) -> dict[Words, Name]:
        """Every literal text of every keyword, folded: labels, `group:label`, aliases, parts of a
        slash; labels come first.
        """
        aliases = {fold(alias): meant for alias, meant in self.aliases.items()}
        kinds: list[tuple[Literal["exact", "alias"], list[tuple[Words, Keyword]]]] = [
            (
                "exact",
                [
                    (form, entry)
                    for entry in self.entries
                    for form in dict.fromkeys(map(fold, _alternatives(entry.label)))
                ],
            ),
            ("alias", [(form, entry) for form, meant in aliases.items() for entry in meant]),
            ("exact", [(fold(f"{entry.group} {entry.label}"), entry) for entry in self.entries]),
            ("exact", [(fold(entry.label), entry) for entry in self.entries]),
        ]
        names: dict[Words, Name] = {}
        for stage, pairs in kinds:
            keywords: dict[Words, Keywords] = {}
            for form, entry in pairs:
                keywords[form] = (*keywords.get(form, ()), entry)
            names |= {form: Name(meant, stage) for form, meant in keywords.items()}
        return names


def _alternatives(label: str) -> list[str]:
    """The alternatives of a slash in a label: `parking lot/depot` is a parking lot, a depot, a
    parking depot.
    """
    if "/" not in label:
        return []
    variants = product(*(word.split("/") for word in label.split()))
    return [
        form for form in (*(" ".join(words) for words in variants), *label.split("/")) if fold(form)
    ]


class Token(NamedTuple):
    """A word of a text in the form that is compared, and its position.

    word: the word without case, punctuation and plural ending.
    start, end: positions in the characters of the text, end exclusive.
    """

    word: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Token]:
    """The words of a text as they are compared: without case, punctuation, hyphens and underscores,
    in the singular.
    """
    for match in _WORD.finditer(text):
        yield Token(
            singular(match.group().replace("’", "'").casefold()), match.start(), match.end()
        )


def fold(text: str) -> Words:
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
    """The keywords that a query requires, and those that no relevant clip may have.

    required: keywords of a relevant clip, all or some of them, by the rule of relevance.
    excluded: a clip with any of them is not relevant.

    >>> import rankwell as rw
    >>> from rankwell.tasks.keywords.annotations import Keyword
    >>> query = rw.QueryKeywords(
    ...     (Keyword("scene", "highway"),), (Keyword("object", "large vehicle"),)
    ... )
    >>> query.excluded[0].label
    'large vehicle'
    """

    required: Keywords
    excluded: Keywords = ()


class Schema(NamedTuple):
    """The declared keywords, as `read_schema` reads them.

    vocabulary: the keywords with their aliases.
    parents: a keyword -> the wider one that it implies, as `sedan` is a `small vehicle`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "schema.json")
    ...     _ = file.write_text('{"weather": ["rain", {"label": "drizzle", "parent": "rain"}]}')
    ...     schema = rw.read_schema(file)
    >>> {narrow.label: wide.label for narrow, wide in schema.parents.items()}
    {'drizzle': 'rain'}
    """

    vocabulary: Vocabulary
    parents: Mapping[Keyword, Keyword] = {}


class Row(NamedTuple):
    """A row of a table of clips.

    clip: id of the clip.
    labels: group -> texts as written, each a label or an alias.
    attributes: column -> text, for columns without keywords; empty cells are left out.
    """

    clip: str
    labels: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotated clips with their keywords by group, as `read_annotations` reads them.

    clips: ids in the order of their bytes.
    keywords: (keywords,) the keywords by group; in each group first the declared ones, then others
        that are used.
    is_annotated: (clips, keywords) whether the clip is annotated with the keyword, apart from the
        wider keywords that its keywords imply.
    attributes: clip -> column -> text, for columns without keywords.
    schema: the declared keywords; None where none are declared and the used keywords are the
        vocabulary.
    findings: findings on spellings that were read as another label, and on unread columns.
    bare_groups: groups without a used or declared keyword.

    >>> import rankwell as rw
    >>> clips = rw.read_annotations(
    ...     {"c1": {"weather": ["rain", "fog"]}, "c2": {"weather": ["fog"]}}
    ... )
    >>> clips.is_annotated.tolist()
    [[True, True], [True, False]]
    """

    clips: tuple[str, ...]
    keywords: Keywords
    is_annotated: Bools
    attributes: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )
    schema: Schema | None = None
    findings: tuple[Finding, ...] = ()
    bare_groups: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls, rows: Sequence[Row], *, groups: Sequence[str] = (), schema: Schema | None = None
    ) -> "Annotations":
        """The table of rows in any order. groups: the order of the groups, including those without
        a label.
        Raises DuplicateItem.

        Labels of one group that read the same are one keyword: the declared one, else the most
        frequent spelling.
        """
        row_of: dict[str, int] = {}
        for number, row in enumerate(rows, 1):
            if row_of.setdefault(row.clip, number) != number:
                raise DuplicateItem(
                    f"clip {row.clip!r} is listed in rows {row_of[row.clip]} and {number}; keep "
                    "one of them."
                )
        vocabulary = Vocabulary(()) if schema is None else schema.vocabulary
        meant, findings = _read_labels(vocabulary, rows)
        members = {
            row.clip: {
                entry
                for group, texts in row.labels.items()
                for text in texts
                for entry in meant.get((group, fold(text)), ())
            }
            for row in rows
        }
        of_rows = (name for row in rows for name in sorted(row.labels))
        order = positions_by_id(dict.fromkeys((*vocabulary.groups, *groups, *of_rows)))
        declared = positions_by_id(vocabulary.entries)
        keywords = sorted(
            declared.keys() | set().union(*members.values()),
            key=lambda entry: (
                order[entry.group],
                declared.get(entry, len(declared)),
                encode_id(entry.label),
            ),
        )
        clips = tuple(sort_ids(members))
        cells = [[entry in members[clip] for entry in keywords] for clip in clips]
        return cls(
            clips,
            tuple(keywords),
            np.array(cells, dtype=np.bool_).reshape(len(clips), len(keywords)),
            {row.clip: dict(row.attributes) for row in rows},
            schema,
            tuple(findings),
            tuple(group for group in order if group not in {entry.group for entry in keywords}),
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each clip in `clips`."""
        return positions_by_id(self.clips)

    @cached_property
    def column(self) -> dict[Keyword, int]:
        """The position of each keyword in `keywords`."""
        return positions_by_id(self.keywords)

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
        """The vocabulary of the groups with these names; the whole vocabulary without names."""
        return self.vocabulary.of_groups({self.find_group(name) for name in names})

    @cached_property
    def carried(self) -> Bools:
        """The annotated keywords, and the wider ones that they imply: (clips, keywords)."""
        parents = self.schema.parents if self.schema is not None else {}
        carried = self.is_annotated.copy()
        for entry in self.keywords:
            chain, wider = {entry}, parents.get(entry)
            while wider is not None and wider not in chain:
                carried[:, self.column[wider]] |= self.is_annotated[:, self.column[entry]]
                chain.add(wider)
                wider = parents.get(wider)
        return carried

    @property
    def undeclared(self) -> Keywords:
        """The keywords that are used and not declared; none without a schema."""
        declared = {*(self.keywords if self.schema is None else self.schema.vocabulary.entries)}
        return tuple(entry for entry in self.keywords if entry not in declared)

    @property
    def empty(self) -> tuple[str, ...]:
        """The clips without any keyword."""
        rows = np.flatnonzero(self.is_annotated.sum(axis=1) == 0).tolist()
        return tuple(self.clips[row] for row in rows)

    @property
    def uses(self) -> Ints:
        """The number of clips that are annotated with each keyword: (keywords,)."""
        return self.is_annotated.sum(axis=0, dtype=np.int64)

    def find_group(self, name: str) -> str:
        """The group with this name, in any case, spelling and prefix: `object type` is
        `pv_object_type`.
        Raises UnknownName.
        """
        groups, key = (*self.groups, *self.bare_groups), group_key(name)
        near = [group for group in groups if group_key(group) == key] or _with_ending(groups, name)
        if len(near) == 1:
            return near[0]
        if near:
            raise UnknownName(
                f"{name!r} may be the group {' or '.join(map(repr, near))}; write the whole name."
            )
        keys = {
            spelling: group
            for group in groups
            for spelling in (group_key(group), group_key(group).removeprefix("pv_"))
        }
        like = difflib.get_close_matches(key, keys, n=1)
        hint = f"; did you mean {keys[like[0]]!r}?" if like else ";"
        raise UnknownName(
            f"unknown group {name!r}{hint} there are "
            f"{', '.join(groups) or 'none, as no column is one'}."
        )

    def find(self, text: str) -> Keywords:
        """The keywords that a text names: `bicyclist`, or `group: label` where two groups have it.
        Raises UnknownName.
        """
        group, colon, label = text.partition(":")
        groups = _with_ending(self.groups, group) if colon else []
        sought = (label if groups else text).strip()
        candidates = [keyword for keyword in self.keywords if not groups or keyword.group in groups]
        keywords = tuple(keyword for keyword in candidates if fold(keyword.label) == fold(sought))
        if not keywords:
            where = f"the group {groups[0]!r} has" if groups else "there is"
            labels = sorted({keyword.label for keyword in candidates})
            near = difflib.get_close_matches(sought, labels, cutoff=0.6)
            hint = f"there are {', '.join(labels) or 'none'}."
            if near:
                hint = f"did you mean {' or '.join(map(repr, near))}?"
            raise UnknownName(f"{where} no keyword {sought!r}; {hint}")
        return keywords

    def select(self, groups: Iterable[str] = (), keywords: Iterable[str] = ()) -> Bools:
        """Whether each keyword counts, (keywords,): those of the named groups or all, and only the
        named keywords of a group that has any. Raises UnknownName.
        """
        chosen_groups = {self.find_group(group) for group in groups}
        single: set[Keyword] = set()
        for text in keywords:
            named_keywords = self.find(text)
            selected = {
                entry
                for entry in named_keywords
                if not chosen_groups or entry.group in chosen_groups
            }
            if not selected:
                where = " and ".join(dict.fromkeys(entry.group for entry in named_keywords))
                raise BadUsage(
                    f"the keyword {text!r} is one of {where}, which the chosen groups leave out; "
                    "add the group to them."
                )
            single |= selected
        if not chosen_groups and not single:
            chosen_groups = {*self.groups}
        chosen_groups -= {entry.group for entry in single}
        cells = [entry in single or entry.group in chosen_groups for entry in self.keywords]
        return np.array(cells, dtype=np.bool_)

    def named(self, row: Bools) -> dict[str, list[str]]:
        """group -> labels of a (keywords,) row, groups and labels in order."""
        return grouped(compress(self.keywords, row.tolist()))


def _with_ending(groups: Iterable[str], name: str) -> list[str]:
    """The groups of a name, whatever is before it."""
    key = group_key(name)
    return [group for group in groups if f"_{group_key(group)}".endswith(f"_{key}")]


def _read_labels(
    vocabulary: Vocabulary, rows: Sequence[Row]
) -> tuple[dict[tuple[str, Words], Keywords], list[Finding]]:
    """The keywords that texts of a table stand for, by (group, words), and findings on texts that
    are ignored or read as another label.
    """
    meant: dict[tuple[str, Words], Keywords] = {}
    for alias, entries in vocabulary.aliases.items():
        for entry in entries:
            key = entry.group, fold(alias)
            meant[key] = (*meant.get(key, ()), entry)
    meant |= {(entry.group, fold(entry.label)): (entry,) for entry in vocabulary.entries}
    spelled: dict[tuple[str, Words], Counter[str]] = {}
    for row in rows:
        for group, texts in row.labels.items():
            for text in texts:
                counts = spelled.setdefault((group, fold(text)), Counter())
                counts[" ".join(text.casefold().split())] += 1
    findings: list[Finding] = []
    for (group, words), counts in sorted(spelled.items()):
        spellings, effect = sorted(counts), " has no word and is ignored"
        if words:
            first = min(counts, key=lambda text: (-counts[text], encode_id(text)))
            labels = {
                entry.label for entry in meant.setdefault((group, words), (Keyword(group, first),))
            }
            spellings = sorted(counts.keys() - {label.casefold() for label in labels})
            effect = f" read as {' and '.join(sorted(labels))!r}"
        if spellings:
            n_rows = sum(counts[text] for text in spellings)
            times = "once" if n_rows == 1 else f"{n_rows} times"
            texts = ", ".join(map(repr, spellings))
            findings.append(reading_choice(f"{group}: {texts}{effect} ({times})"))
    return meant, findings
