"""The commands that a bench can hold, found by their words; what a file says becomes their arguments, checked as theirs are."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rankwell.core import commands
from rankwell.core.options import Argument, arguments_of, bind
from rankwell.core.registry import suggest
from rankwell.errors import BadInput, BadUsage
from rankwell.experiments.bench_toml import Cell, Given
from rankwell.report.present import Input, Progress

Work = Callable[[Path, Progress], Any]
"""A command with its arguments; it writes its results into a folder."""

_OWN = ("output", "format", "per_query")
"""Options that a bench sets itself."""


@dataclass(frozen=True)
class Command:
    """A command by its words, as `clips evaluate`, with its options by the keys of a bench file."""

    words: str
    function: Callable[..., Any]
    options: Mapping[str, Argument]

    def arguments(self, given: Mapping[str, Given]) -> list[str]:
        """The command line that says what is given, without the command's words. Raises BadInput for a value of another type."""
        said = {key: _texts(option, given[key]) for key, option in self.options.items() if key in given}
        places = [key for key, option in self.options.items() if not option.flags]
        for before, key in pairwise(places):
            if key in given and before not in given:
                raise BadInput(f"{given[key].where}: `{before}` is missing, which stands before {key!r}; give it as well.")
        bare = [text for key in places for text in said.get(key, [])]
        return [text for key, texts in said.items() if key not in places for text in texts] + (["--", *bare] if bare else [])

    def read(self, arguments: Sequence[str], where: str) -> Work:
        """The command with its arguments, ready to run. Raises BadInput for what it does not understand."""
        try:
            places, named = bind(self.function, arguments)
        except BadUsage as error:
            raise BadInput(f"{where}: {error}") from error

        def _work(output: Path, progress: Progress) -> Any:
            own = {"progress": progress} if "progress" in self.function.__annotations__ else {}
            return self.function(*places, **{**named, **own, "output": output})

        return _work

    def line(self, arguments: Sequence[str]) -> str:
        """What a user would type."""
        return f"rankwell {self.words} {shlex.join(arguments)}"


def _texts(option: Argument, given: Given) -> list[str]:
    """What says a value on a command line, the option with it. Raises BadInput for a value of another type."""
    value = given.value
    if option.kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{given.where} is {value!r}; true or false is wanted.")
        denial = [option.denial] if option.form == "pair" else []
        return [_flag(option)] if value else denial
    parts: list[Any] = value if isinstance(value, list) else [value]
    if isinstance(value, list) and option.form == "one":
        # Cut-offs are a list to whoever writes them, and one text to the command.
        if option.kind is not str or not all(_fits(each, int) for each in parts):
            raise BadInput(f"{given.where} is {value!r}; one value is wanted.")
        parts = [",".join(map(str, parts))]
    wrong = next((each for each in parts if not _fits(each, option.kind)), None)
    if wrong is not None:
        wanted = "a whole number" if option.kind is int else "a number" if option.kind is float else "a text"
        raise BadInput(f"{given.where} is {wrong!r}; {wanted} is wanted.")
    return [f"{_flag(option)}={part}" if option.flags else str(part) for part in parts]


def _flag(option: Argument) -> str:
    return next((flag for flag in option.flags if flag.startswith("--")), option.flags[0])


def _fits(value: Any, kind: Any) -> bool:
    wanted = {int: int, float: (int, float)}.get(kind, (str, int, float))
    return isinstance(value, wanted) and not isinstance(value, bool)


def command_of(cell: Cell) -> Command:
    """The command that a cell names. Raises BadInput for one that there is not, or that takes no files to evaluate."""
    text = str(cell.command.value)
    stem = _stem(text)
    found = None if stem is None else load_command(stem)
    if found is None:
        known = [each.words for each in map(load_command, _stems()) if each is not None]
        raise BadInput(f"{cell.command.where}: a bench knows no command {text!r}; {suggest(text, known)}")
    return found


def _stems() -> list[str]:
    return ["_".join(words) for words in commands.summaries() if words != ("bench",)]


def _stem(text: str) -> str | None:
    """The file of a command; `clips` is `clips evaluate`."""
    name = "_".join(text.replace("-", "_").split())
    return next((each for each in (name, f"{name}_evaluate") if each in _stems()), None)


@cache
def load_command(stem: str) -> Command | None:
    """The command of a file; None where it writes no results of its own, or names no files that it goes by."""
    first, _, last = stem.partition("_")
    function = commands.load((first, last) if last else (first,))
    known = arguments_of(function)
    if "output" not in {each.name for each in known} or not any(map(input_mark, known)):
        return None
    options = {key: each for each in known if each.name not in _OWN for key in _keys(each)}
    return Command(" ".join(filter(None, (first, last))).replace("_", "-"), function, options)


def input_mark(option: Argument) -> Input | None:
    """How an option names files, None where it does not."""
    return next((mark for mark in option.marks if isinstance(mark, Input)), None)


def _keys(option: Argument) -> list[str]:
    """What a bench file may call an option: its long names, or that of its parameter."""
    return [flag[2:].replace("-", "_") for flag in option.flags if flag.startswith("--")] or [option.name]


def refuse_unknown(cells: Sequence[tuple[Cell, Command]]) -> None:
    """Raises BadInput for an option that its command does not have; options of all need one command that has them."""
    known: dict[str, set[str]] = {}
    for cell, command in cells:
        for name, given in cell.options.items():
            wide = given.scope in ("options", "system")
            if name not in command.options and not wide:
                raise BadInput(_unknown(name, given, command.words, command.options))
            if wide:
                known.setdefault(given.where, set()).update(command.options)
    for cell, command in cells:
        for name, given in cell.options.items():
            if given.where in known and name not in known[given.where]:
                raise BadInput(_unknown(name, given, command.words, known[given.where]))


def _unknown(name: str, given: Given, words: str, options: Iterable[str]) -> str:
    if name in _OWN:
        return f"{given.where}: results are written and printed as `rankwell bench` is told to; leave it out."
    return f"{given.where}: `rankwell {words}` has no such option; {suggest(name, options)}"
