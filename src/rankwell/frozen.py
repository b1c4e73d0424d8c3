"""Frozen dataclasses of the two kinds that are usual here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform, overload

Kind = TypeVar("Kind", bound=type[Any])


@overload
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(kind: Kind, /) -> Kind: ...
@overload
def record(*, kw_only: bool = False, repr: bool = True) -> Callable[[Kind], Kind]: ...
def record(kind: Any = None, /, **choices: bool) -> Any:
    """A frozen dataclass that equals nothing but itself, as arrays in it could not be compared.
    choices: further ones of `dataclass`.
    """
    return dataclass(kind, frozen=True, eq=False, **choices)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def by_name(kind: Kind) -> Kind:
    """A frozen dataclass whose fields are given by name, as options are."""
    return dataclass(kind, frozen=True, kw_only=True)


def no_entries() -> Any:
    """The default of a field that is a mapping: an empty one of its own."""
    return field(default_factory=dict)
