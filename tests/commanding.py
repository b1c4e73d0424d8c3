"""Calls of commands from tests: fields of options are keywords."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_type_hints

from rankwell.data.options import arguments_of
from rankwell.errors import at_the_command_line

Result = TypeVar("Result")


def with_fields(command: Callable[..., Result]) -> Callable[..., Result]:
    """The command as a function that takes the fields of its options as keywords."""
    owners = {each.name: each.owner for each in arguments_of(command)}
    kinds: dict[str, Any] = {
        name: hint for name, hint in get_type_hints(command).items() if is_dataclass(hint)
    }

    def _call(*places: Any, **named: Any) -> Result:
        given: dict[str, dict[str, Any]] = {name: {} for name in ("", *kinds)}
        for name, value in named.items():
            given[owners.get(name, "")][name] = value
        options: dict[str, Any] = {name: kind(**given[name]) for name, kind in kinds.items()}
        with at_the_command_line():
            return command(*places, **given[""], **options)

    return _call
