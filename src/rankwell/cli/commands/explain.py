"""Explain what a measure, convention or finding means."""

import json
import sys
from typing import Annotated, Literal

from rankwell import reporting
from rankwell.data.json_types import AnyObject, JsonTables
from rankwell.data.registry import FIGURES, MEASURES
from rankwell.errors import BadUsage
from rankwell.files import explanations
from rankwell.reporting.options import Output, PrintedAs

ListFormat = Literal["table", "json"]


def explain(
    name: str | None = None,
    /,
    *,
    list: bool = False,
    schema: str | None = None,
    format: Annotated[PrintedAs[Literal["table", "json"]], JsonTables(rows=AnyObject)] = "table",
) -> Output:
    """Explain what a measure, convention or finding means.

    Shows every meaning that the name has anywhere, with formula, source and a worked example;
    --list shows every measure.

      rankwell explain nDCG@10
      rankwell explain --list

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), a word that means several
        things (Recall@5), a figure of a whole collection (nAUC), a convention (ranx), a finding
        (unjudged-in-top), or a function of your own (./my_measures.py:first).
    list
        List every measure with its definition and the words that other tools have for it.
    schema
        Print the JSON Schema of a command's `--format json`, or of `manifest`: --schema compare.
    format
        How to print the list: json has bounds, directions and sources as well.
    """
    terminal = reporting.terminal_of(sys.stdout)
    if list:
        if name is not None:
            raise BadUsage(f"--list shows all measures; leave it out, or {name}.")
        return _listed(format, terminal)
    if schema is not None:
        if name is not None:
            raise BadUsage(f"--schema has a name of its own; leave {name} out.")
        from rankwell.files.schemas import json_schema

        return Output(text=json.dumps(json_schema(schema), indent=2))
    if name is None:
        raise BadUsage("name a measure, convention or finding, or list all measures with --list.")
    if format != "table":
        raise BadUsage("--format is for --list; add that, or leave it out.")
    lines = [
        line if line.startswith("  >>>") else reporting.folded(line, terminal, "  ")
        for line in str(explanations.explain(name)).split("\n")
    ]
    return Output(text="\n".join(lines))


def _listed(format: ListFormat, terminal: reporting.Terminal) -> Output:
    """Every measure and every figure of a whole collection, a row each."""
    rows = [
        *(explanations.describe_entry(MEASURES[name]) for name in MEASURES),
        *(explanations.describe_figure(FIGURES[name]) for name in FIGURES),
    ]
    if format == "json":
        return Output(text=reporting.render_rows(rows, "json"))
    table_rows = [
        {
            "measure": row["form"],
            "value": row["says"],
            "aliases": ", ".join(row["aliases"]),
            "printed by": row["printed_by"],
        }
        for row in rows
    ]
    return Output(
        text=reporting.render_rows(table_rows, "table", terminal=terminal),
        messages=(reporting.StatusNote("`rankwell explain NAME` says more about each."),),
    )
