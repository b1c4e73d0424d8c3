"""The commands: one per file of `commands/` and of the tasks' `commands/`, found by their words and imported when called."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from rankwell.core.catalogue import IndexRow, folders_of, index_of, modules_of, suggest
from rankwell.errors import BadUsage

Words = tuple[str, ...]

DROP_IN = "trec-eval"
"""The command of `compat/`, which reads its own words."""
HELP = frozenset({"--help", "-h"})


@cache
def _known() -> Mapping[Words, IndexRow]:
    rows: list[IndexRow] = []
    for package in folders_of("commands"):
        found = index_of(package)
        rows += [_row(module) for module in modules_of(package)] if found is None else found
    return {tuple(row.name.split()): row for row in sorted(rows, key=lambda row: row.module.rpartition(".")[2])}


def _row(module: str) -> IndexRow:
    line = (importlib.import_module(module).__doc__ or "").partition("\n")[0]
    return IndexRow("command", module.rpartition(".")[2].replace("_", " ", 1), module, line)


@cache
def summaries() -> Mapping[Words, str]:
    """The line that says what each command does, by the command's words, in alphabetical order; no command is imported."""
    return MappingProxyType({words: row.text for words, row in _known().items()})


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
    return getattr(importlib.import_module(_known()[words].module), words[-1])
