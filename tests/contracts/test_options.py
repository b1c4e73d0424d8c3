"""One name of an option has one meaning, one meaning has one name, and there are few names."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.options import Argument, Differs, arguments_of, texts_of

MOST_NAMES = 170


class Use(NamedTuple):
    """An option of one command."""

    command: str
    argument: Argument
    help: str

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What is the same in all commands."""
        argument = self.argument
        default = repr(argument.default)
        return argument.form, argument.kind, argument.choices, default, self.help


def uses() -> dict[str, list[Use]]:
    """All uses of each option, by its longest name."""
    found = defaultdict[str, list[Use]](list)
    for words in command_summaries():
        function = command_function(words)
        _, texts = texts_of(function)
        for argument in arguments_of(function):
            if argument.flags:
                name = max(argument.flags, key=len)
                found[name].append(Use(" ".join(words), argument, texts.get(argument.name, "")))
    return found


def differing(found: Mapping[str, list[Use]]) -> dict[str, list[str]]:
    """The options that differ between commands without a stated reason, and their commands."""
    odd = dict[str, list[str]]()
    for name, same_name in found.items():
        unexplained = [
            use
            for use in same_name
            if not any(isinstance(mark, Differs) and mark.reason for mark in use.argument.marks)
        ]
        if len({use.meaning for use in unexplained}) > 1:
            odd[name] = [use.command for use in unexplained]
    return odd


def test_an_option_has_one_type_one_default_and_one_help_in_all_commands() -> None:
    assert differing(uses()) == {}


def test_python_calls_an_option_as_the_command_line_does() -> None:
    other_names = {
        f"{use.command} {name}: {use.argument.name}"
        for name, same_name in uses().items()
        for use in same_name
        if use.argument.name not in _names_in_python(use.argument)
    }

    assert other_names == set(_OTHER_NAMES)


def test_there_are_few_names_of_options() -> None:
    names = {
        flag
        for same_name in uses().values()
        for use in same_name
        for flag in use.argument.flags
        if flag.startswith("--")
    }

    assert len(names) <= MOST_NAMES, sorted(names)


def test_two_uses_that_differ_without_a_reason_are_found() -> None:
    def first(*, depth: int = 1) -> None:
        """One.

        Parameters
        ----------
        depth
            How many are read.
        """

    def second(*, depth: int = 2) -> None:
        """Two.

        Parameters
        ----------
        depth
            How many are read.
        """

    found = {
        "--depth": [
            Use(function.__name__, arguments_of(function)[0], texts_of(function)[1]["depth"])
            for function in (first, second)
        ]
    }

    assert differing(found) == {"--depth": ["first", "second"]}


_OTHER_NAMES = {
    "judge label --import: import_": "Python reserves the word",
    "convert --from: source_format": "Python reserves the word",
    "convert --to: target_format": "as --from",
    "fuse --to: target_format": "as in convert",
}
"""Options that Python calls otherwise, and why."""


def _names_in_python(argument: Argument) -> set[str]:
    """The names that a parameter may have: that of a flag, or its plural of a list."""
    names = {re.sub("^-+", "", flag).replace("-", "_") for flag in argument.flags}
    plurals = {f"{name}s" for name in names} | {f"{name[:-1]}ies" for name in names}
    return names | (plurals if argument.form in ("each", "many") else set())
