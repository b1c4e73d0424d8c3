"""List the search engines and how to install them."""

from typing import Annotated, Any, Literal

from rankwell import reporting
from rankwell.data.json_types import JsonTables
from rankwell.data.options import Option
from rankwell.engines import ENGINES, EngineFamily
from rankwell.reporting.options import Output
from rankwell.task import printed_rows
from rankwell.tasks.engine.task import FamilyObject

Rows = list[dict[str, Any]]
TableOrJson = Annotated[Literal["table", "json"], Option(("--format", "-f"))]
GROUPS = ("connect", "build", "search")
"""The parameters of an engine: where it is, the shape of its index, the settings of a session."""


def list(*, format: Annotated[TableOrJson, JsonTables(rows=FamilyObject)] = "table") -> Output:  # noqa: A001
    """List the search engines and how to install them.

    Shows their searches, parameters, defaults and installed versions.

      rankwell engine list

    Parameters
    ----------
    format
        table for reading, json for programs.
    """
    families = [ENGINES[name] for name in ENGINES]
    if format == "json":
        return Output(text=printed_rows([*map(describe_family, families)], format))
    terminal = reporting.terminal_of()
    heads: Rows = []
    tables = [heads]
    for family in families:
        version = family.version
        heads.append(
            {
                "engine": family.name,
                "searches": ", ".join(family.kinds),
                "installed": family.install if version is None else version or "built in",
                "about": family.title,
            }
        )
        tables.append(rows := [])
        for group in GROUPS:
            for parameter in getattr(family, group):
                value = parameter.default
                text = "" if value is None else str(value)
                text = text.lower() if isinstance(value, bool) else text
                choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
                default = f"; {text} by default" if text else ""
                rows.append(
                    {
                        family.name: group,
                        "parameter": parameter.name,
                        "about": f"{parameter.text}{choices}{default}",
                    }
                )
    texts = [reporting.render_rows(rows, "table", terminal=terminal) for rows in tables if rows]
    return Output("\n".join(texts), next_step="rankwell engine check sqlite-fts5")


def describe_family(family: EngineFamily) -> dict[str, Any]:
    """An engine of the registry, for JSON."""
    return {
        "name": family.name,
        "title": family.title,
        "kinds": [*family.kinds],
        "version": family.version,
        "install": family.install if family.package else None,
        "parameters": {
            group: [
                {
                    "name": parameter.name,
                    "type": parameter.kind.__name__,
                    "default": parameter.default,
                    "choices": [*parameter.choices],
                    "about": parameter.text,
                }
                for parameter in getattr(family, group)
            ]
            for group in GROUPS
        },
    }
