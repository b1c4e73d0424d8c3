"""The commands that evaluate cells, found by their words; options of a file become their arguments, and are checked as these."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rankwell.core.catalogue import command_function, command_summaries
from rankwell.core.options import Argument, arguments_of, bind
from rankwell.core.registry import suggest
from rankwell.errors import BadInput, BadUsage
from rankwell.experiments.files import Cell, OptionValue
from rankwell.report.present import Input, Progress

Work = Callable[[Path, Progress], Any]
"""A command with its arguments; it writes its results into a folder."""

_OWN = ("output", "format", "per_query")
"""Options that the runner sets itself."""


@dataclass(frozen=True)
class Command:
    """A command by the stem of its file and its words, with its options by the keys of an experiment file."""

    stem: str
    words: str
    function: Callable[..., Any]
    options: Mapping[str, Argument]

    def arguments(self, options: Mapping[str, OptionValue]) -> list[str]:
        """The command line of these options, without the command's words. Raises BadInput for a value of another type."""
        said = {key: _texts(option, options[key]) for key, option in self.options.items() if key in options}
        places = [key for key, option in self.options.items() if not option.flags]
        for before, key in pairwise(places):
            if key in options and before not in options:
                raise BadInput(f"{options[key].where}: requires `{before}`, which is missing; give it as well.")
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
        """The line that a user would type."""
        return f"rankwell {self.words} {shlex.join(arguments)}"


def _texts(option: Argument, given: OptionValue) -> list[str]:
    """An option with its value as words of a command line. Raises BadInput for a value of another type."""
    value = given.value
    if option.kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{given.where} is {value!r}; expected true or false.")
        denial = [option.denial] if option.form == "pair" else []
        return [_flag(option)] if value else denial
    parts: list[Any] = value if isinstance(value, list) else [value]
    if isinstance(value, list) and option.form == "one":
        # Cut-offs are a list to whoever writes them, and one text to the command.
        if option.kind is not str or not all(_fits(each, int) for each in parts):
            raise BadInput(f"{given.where} is {value!r}; expected one value.")
        parts = [",".join(map(str, parts))]
    wrong = next((each for each in parts if not _fits(each, option.kind)), None)
    if wrong is not None:
        expected = "an integer" if option.kind is int else "a number" if option.kind is float else "a string"
        raise BadInput(f"{given.where} is {wrong!r}; expected {expected}.")
    return [f"{_flag(option)}={part}" if option.flags else str(part) for part in parts]


def _flag(option: Argument) -> str:
    return next((flag for flag in option.flags if flag.startswith("--")), option.flags[0])


def _fits(value: Any, kind: Any) -> bool:
    wanted = {int: int, float: (int, float)}.get(kind, (str, int, float))
    return isinstance(value, wanted) and not isinstance(value, bool)


def command_of(cell: Cell) -> Command:
    """The command that a cell names. Raises BadInput for an unknown one, or one without files to evaluate."""
    text = str(cell.command.value)
    stem = _stem(text)
    found = None if stem is None else load_command(stem)
    if found is None:
        known = [each.words for each in map(load_command, _stems()) if each is not None]
        raise BadInput(f"{cell.command.where}: unknown command {text!r}; {suggest(text, known)}")
    return found


def _stems() -> list[str]:
    return ["_".join(words) for words in command_summaries() if words != ("bench",)]


def _stem(text: str) -> str | None:
    """The stem of a command's file; a first word alone is that with `evaluate`."""
    name = "_".join(text.replace("-", "_").split())
    return next((each for each in (name, f"{name}_evaluate") if each in _stems()), None)


@cache
def load_command(stem: str) -> Command | None:
    """The command of a file; None where it writes no results of its own, or names no files that it goes by."""
    first, _, last = stem.partition("_")
    function = command_function((first, last) if last else (first,))
    known = arguments_of(function)
    if "output" not in {each.name for each in known} or not any(map(input_mark, known)):
        return None
    options = {key: each for each in known if each.name not in _OWN for key in _keys(each)}
    return Command(stem, " ".join(filter(None, (first, last))).replace("_", "-"), function, options)


def input_mark(option: Argument) -> Input | None:
    """The mark of an option that names files, None of others."""
    return next((mark for mark in option.marks if isinstance(mark, Input)), None)


def _keys(option: Argument) -> list[str]:
    """The names of an option in an experiment file: its long names, or that of its parameter."""
    return [flag[2:].replace("-", "_") for flag in option.flags if flag.startswith("--")] or [option.name]


def reject_unknown(cells: Sequence[tuple[Cell, Command]]) -> None:
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


def _unknown(name: str, given: OptionValue, words: str, options: Iterable[str]) -> str:
    if name in _OWN:
        return f"{given.where}: `rankwell bench` decides how results are written and printed; leave it out."
    return f"{given.where}: `rankwell {words}` has no such option; {suggest(name, options)}"
