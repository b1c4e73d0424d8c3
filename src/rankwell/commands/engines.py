"""List every search engine with its searches, its parameters and defaults, and the installed
version or how to install it.
"""

import json
import sys
from typing import Annotated, Any, Literal

from rankwell import reporting
from rankwell.data.options import Option
from rankwell.engines import ENGINES, EngineFamily, Parameter
from rankwell.reporting.options import Aside, Output


def engines(
    *, format: Annotated[Literal["table", "json"], Option(("--format", "-f"))] = "table"
) -> Output:
    """List every search engine with its searches, its parameters and defaults, and the installed
    version or how to install it.

    Parameters
    ----------
    format
        table for reading, json for programs.
    """
    families = [ENGINES[name] for name in ENGINES]
    if format == "json":
        return Output(text=json.dumps([describe_family(family) for family in families], indent=2))
    terminal = reporting.terminal_of(sys.stdout)
    heads = [
        {
            "engine": family.name,
            "searches": ", ".join(family.kinds),
            "installed": _installed(family),
            "about": family.title,
        }
        for family in families
    ]
    rows = [
        {
            "engine": family.name,
            "set": group,
            "parameter": parameter.name,
            "default": _default(parameter),
            "about": _about(parameter),
        }
        for family in families
        for group, parameters in (
            ("connect", family.connect),
            ("build", family.build),
            ("search", family.search),
        )
        for parameter in parameters
    ]
    tables = [reporting.render_rows(part, "table", terminal=terminal) for part in (heads, rows)]
    return Output("\n".join(tables), (Aside("`rankwell engines check SPEC` tries an engine."),))


def describe_family(family: EngineFamily) -> dict[str, Any]:
    """An engine of the registry, for JSON."""
    groups = {"connect": family.connect, "build": family.build, "search": family.search}
    return {
        "name": family.name,
        "title": family.title,
        "kinds": list(family.kinds),
        "version": family.version,
        "install": family.install if family.package else None,
        "parameters": {
            group: [_parameter(parameter) for parameter in parameters]
            for group, parameters in groups.items()
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    kind, choices = parameter.kind.__name__, list(parameter.choices)
    return {
        "name": parameter.name,
        "type": kind,
        "default": parameter.default,
        "choices": choices,
        "about": parameter.text,
    }


def _installed(family: EngineFamily) -> str:
    version = family.version
    return family.install if version is None else version or "built in"


def _default(parameter: Parameter) -> str:
    value = parameter.default
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _about(parameter: Parameter) -> str:
    return (
        f"{parameter.text} ({', '.join(parameter.choices)})"
        if parameter.choices
        else parameter.text
    )
