"""The docstrings of the Python reference: those of public functions, whose stub has none, and
examples as blocks of code,
parameters as a list.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

rankwell: Any = import_module("rankwell")
_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^(\*?\w+: .*)(?:\n    (.*))?$", re.MULTILINE)
_EXAMPLE = re.compile(r"^>>> .*?(?=^\s*$|\Z)", re.MULTILINE | re.DOTALL)


class PublicDocstrings(griffe.Extension):
    """Docstrings of the package as Markdown."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Adds the docstrings of functions in stubs, and fences the examples of all."""
        for name in (
            name for name in rankwell.__all__ if inspect.isfunction(getattr(rankwell, name))
        ):
            _document(pkg.members[name], getattr(rankwell, name))
        for name in ("compare", "gate"):
            _document(pkg["Results"].members[name], getattr(rankwell.Results, name))
        _fence(pkg)


def _document(member: griffe.Object | griffe.Alias, function: Any) -> None:
    """Gives a function of a stub the docstring of the function that it types."""
    if isinstance(member, griffe.Object) and member.docstring is None:
        member.docstring = griffe.Docstring(inspect.getdoc(function) or "", parent=member)


def _fence(parent: griffe.Object) -> None:
    for member in [parent, *parent.members.values()]:
        if isinstance(member, griffe.Alias):
            continue
        if member.docstring:
            member.docstring.value = _PARAMETERS.sub(
                lambda section: (
                    "**Parameters**\n\n" + _PARAMETER.sub(r"* `\1`\n\n    \2", section[1])
                ),
                member.docstring.value,
            )
            member.docstring.value = _EXAMPLE.sub(
                lambda example: f"```pycon\n{example[0].rstrip()}\n```\n", member.docstring.value
            )
        if member is not parent:
            _fence(member)
