"""The commands: one per file of `protocols/`, found by their words, none of them imported before it is called."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rankwell.catalogue import suggest
from rankwell.errors import BadUsage

Words = tuple[str, ...]

DROP_IN = "trec-eval"
"""The command of `compat/`, which reads its own words."""
HELP = frozenset({"--help", "-h"})


@cache
def summaries() -> Mapping[Words, str]:
    """The line that says what each command does, by the command's words, in alphabetical order; no command is imported."""
    found: dict[Words, str] = {}
    for path in sorted((Path(__file__).parent / "protocols").glob("[a-z]*.py")):
        with path.open(encoding="utf-8") as file:
            line = file.readline().strip().removeprefix('"""').removesuffix('"""')
        found[tuple(path.stem.split("_", 1))] = line
    return MappingProxyType(found)


def below(word: str) -> dict[Words, str]:
    """The second words of the commands of two words that begin with this one, each with its line."""
    return {words[1:]: line for words, line in summaries().items() if len(words) == 2 and words[0] == word}


def find(arguments: Sequence[str]) -> Words:
    """The words of a command line that name a command, the longer one of two, or what several begin with; none for the program.

    The latter two only where nothing follows but a wish for help. Raises BadUsage, with what comes near, where there is no such
    command.
    """
    known = summaries()
    for length in (2, 1):
        if tuple(arguments[:length]) in known:
            return tuple(arguments[:length])
    words = tuple(word for word in arguments[:1] if below(word))
    if HELP.issuperset(arguments[len(words) :]):
        return words
    wrong = arguments[len(words)]
    if not words and wrong.startswith("-"):
        raise BadUsage(f"there is no option {wrong} before a command; a command's options stand after it.")
    near = {each[0] for each in (below(words[0]) if words else {**known, (DROP_IN,): ""})}
    raise BadUsage(f"there is no command {' '.join([*words, wrong])!r}; {suggest(wrong, near)}")


def load(words: Words) -> Callable[..., Any]:
    """The function of a command."""
    return getattr(importlib.import_module(f"rankwell.protocols.{'_'.join(words)}"), words[-1])
