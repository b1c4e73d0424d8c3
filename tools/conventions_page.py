"""The page docs/reference/conventions.md: every convention with what differs from the default."""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import getdoc
from typing import Any, NamedTuple

from page_parts import anchor, lead, table
from rankwell.conventions import CONVENTIONS, Convention
from rankwell.data.registry import parse_measure
from rankwell.errors import BadUsage
from rankwell.tasks.crossmodal.conventions import CaptionConvention
from rankwell.tasks.embeddings.conventions import AgreementConvention
from rankwell.tasks.images.conventions import InstanceConvention
from rankwell.tasks.keywords.conventions import ClipConvention
from rankwell.tasks.qa.conventions import AnswerConvention
from rankwell.tasks.rag.conventions import RagConvention

_GENERAL = (
    "ties",
    "single_precision",
    "average_over",
    "no_relevant",
    "exclude_self",
    "negative_grades",
    "unit",
    "population_sd",
    "averaged",
)


class _Task(NamedTuple):
    """A command with conventions. defaults: its own settings, or None."""

    title: str
    command: str
    defaults: Any = None


_TASKS: Mapping[str, _Task] = {
    "": _Task("Rankings with judgments", "evaluate QRELS RUN"),
    "beyond": _Task("Recommendations", "beyond RUN"),
    "crossmodal": _Task("Text, video and images", "crossmodal SCORES", CaptionConvention()),
    "embeddings": _Task(
        "Embedding models", "embeddings CANDIDATE --reference REFERENCE", AgreementConvention()
    ),
    "images": _Task("Photographs of the same object", "images IMAGES", InstanceConvention()),
    "keywords": _Task("Tagged clips", "keywords --annotations CLIPS", ClipConvention()),
    "qa": _Task("Question answering", "qa GOLD PREDICTIONS", AnswerConvention()),
    "rag": _Task("Retrieval-augmented generation", "rag GOLD RETRIEVED", RagConvention()),
}
_FOLDED = re.compile("<details><summary>(.*?)</summary>.*?</details>")
_COMMANDS = {"alce": "rag citations SUPPORTS"}
"""Conventions of another command of their task."""
_TOOLS = ("ranx", "trec_eval", "sentence-transformers", "chunking_evaluation")


def conventions_page() -> str:
    """The text of the page."""
    parts = [lead("Conventions", "conventions")]
    for task in _TASKS:
        parts.append(f"## {_TASKS[task].title}\n")
        parts += [_section(key, task) for key in _of_task(task)]
    parts += [
        "## What the settings mean { #settings }\n",
        table(("setting", "of", "meaning"), _settings()),
    ]
    return "\n".join(parts)


def _of_task(task: str) -> list[str]:
    """The keys of a task's conventions, its default first."""
    folder = f"rankwell.tasks.{task}.conventions." if task else "rankwell.conventions."
    keys = [key for key in CONVENTIONS if CONVENTIONS.home(key).startswith(folder)]
    return sorted(keys, key=lambda key: not key.startswith("rankwell"))


def _section(key: str, task: str) -> str:
    """A convention: its source, its command line, what differs, and notes."""
    convention, name = CONVENTIONS[key], CONVENTIONS[key].name
    own = f"rankwell/{task}"
    home = own if own in CONVENTIONS else "rankwell"
    default = CONVENTIONS[home]
    chosen = "" if convention is default else f" --convention {name}"
    parts = [
        f"### {name} {{ #{anchor(key)} }}",
        f"{_capital(convention.title)}.",
        f"`rankwell {_COMMANDS.get(name, _TASKS[task].command)}{chosen}`",
    ]
    if not convention.source.startswith("docs/"):
        parts.append(f"Source: {convention.source}.")
    ours, theirs = (dict(_rows(each, task)) for each in (default, convention))
    if convention is default:
        parts.append(table(("setting", "default"), _rows(default, task)))
    else:
        rows = [
            (row, _FOLDED.sub(rf"[\1](#{anchor(home)})", ours[row]), theirs[row])
            for row in ours
            if ours[row] != theirs[row]
        ]
        words = [
            (f"`{word}`", _reading(word, default.words), to) for word, to in _words(convention)
        ]
        rows += _shortened([row for row in words if row[1] != row[2]])
        parts.append(table(("setting or word", "default", name), rows))
    notes = "".join(f"* {_capital(note)}\n" for note in convention.notes)
    return "\n\n".join(map(str.strip, [*parts, notes])).strip() + "\n"


def _capital(text: str) -> str:
    """The text with a capital, unless it begins with a tool that has none."""
    return text if text.startswith(_TOOLS) else text[:1].upper() + text[1:]


def _rows(convention: Convention, task: str) -> Iterator[tuple[str, str]]:
    """The settings of a convention in a task, and the measures that it reports."""
    has_own = task in ("beyond", "embeddings", "rag") and convention.name == "rankwell"
    measures = ", ".join(f"`{word}`" for word in convention.defaults)
    yield "measures", "those of the command" if has_own else measures
    for name in _GENERAL:
        yield f"`{name.replace('_', '-')}`", _text(getattr(convention, name))
    if (defaults := _TASKS[task].defaults) is not None:
        for name, value in convention.rules_of(task, defaults)._asdict().items():
            yield f"`{name.replace('_', '-')}` of {task}", _text(value)


def _words(convention: Convention) -> Iterator[tuple[str, str]]:
    for word in convention.words:
        yield word, _reading(word, convention.words)
    for part, words in convention.words_of_parts.items():
        for word in words:
            yield f"{word} ({part})", _reading(word, words)


def _reading(word: str, words: Mapping[str, str]) -> str:
    """The measure that a word means, without a cut-off that it lacks."""
    word = word.partition(" (")[0]
    for text, added in ((word, ""), (f"{word}@10", "@10")):
        try:
            return f"`{str(parse_measure(text, words)).removesuffix(added)}`"
        except BadUsage:
            continue
    return "not a measure here"


def _shortened(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Rows of words that differ in a number alone, such as rbp.5 to rbp.95, as one."""
    short: dict[str, tuple[str, str, str]] = {}
    for word, default, meaning in rows:
        stem = re.sub(r"\.\d+`$", ".", word)
        first = short.setdefault(stem, (word, default, meaning))
        if first[0] != word:
            joined = zip(first, (word, default, meaning), strict=True)
            short[stem] = tuple(f"{a.partition(' … ')[0]} … {b}" for a, b in joined)  # pyright: ignore
    return list(short.values())


def _text(value: Any) -> str:
    """The value of a setting in words; lists of many lines are folded."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(each)}" for name, each in value.items()) or "none"
    if isinstance(value, tuple):
        members = ", ".join(map(_text, value)) or "none"
        if len(value) <= 8:
            return members
        return f"<details><summary>{len(value)} words</summary>{members}</details>"
    if value is None or value == "":
        return "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"`{value}`"


def _settings() -> Iterator[tuple[str, str, str]]:
    """Every setting with its command and the text of its class."""
    for task, (_, _, defaults) in _TASKS.items():
        kind = type(defaults) if task else Convention
        texts = re.split(r"\n(\w+(?:, \w+)*): ", f"\n{(getdoc(kind) or '')}".replace("\n    ", " "))
        for names, text in zip(texts[1::2], texts[2::2], strict=True):
            for name in names.split(", "):
                if task or name in _GENERAL:
                    meaning = _capital(" ".join(text.split()))
                    yield f"`{name.replace('_', '-')}`", task or "all", meaning
