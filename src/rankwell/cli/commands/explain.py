"""Explain what a measure, convention or finding means."""

import json
import sys
from typing import Annotated, Literal

from rankwell import reporting
from rankwell.data.json_types import AnyObject, JsonTables
from rankwell.data.options import Doc
from rankwell.data.registry import FIGURES, MEASURES
from rankwell.errors import BadUsage
from rankwell.files import explanations
from rankwell.reporting.options import Output, PrintedAs

ListFormat = Literal["table", "json"]


def explain(
    name: str | None = None,
    /,
    *,
    schema: Annotated[
        bool,
        Doc(
            "Print the JSON Schema of a command's `--format json`, or of `manifest`: "
            "explain compare --schema. Without a name, list those that have one.",
            is_common=True,
        ),
    ] = False,
    format: Annotated[PrintedAs[Literal["table", "json"]], JsonTables(rows=AnyObject)] = "table",
) -> Output:
    """Explain what a measure, convention or finding means.

    Shows every meaning that the name has anywhere, with formula, source and a worked example;
    without a name, every measure with its definition and the words that other tools have for it.

      rankwell explain nDCG@10
      rankwell explain

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), a word that means several
        things (Recall@5), a figure of a whole collection (nAUC), a convention (ranx), a finding
        (unjudged-in-top), or a function of your own (./my_measures.py:first).
    format
        How to print the list: json has bounds, directions and sources as well.
    """
    terminal = reporting.terminal_of(sys.stdout)
    if schema:
        from rankwell.files.schemas import json_schema, schema_names

        if name is None:
            names = f"There is a JSON Schema of: {', '.join(schema_names())}."
            return Output(text=reporting.folded(names, terminal, "  "))
        return Output(text=json.dumps(json_schema(name), indent=2))
    if name is None:
        return _listed(format, terminal)
    if format != "table":
        raise BadUsage(f"--format is for the list of measures; leave it out, or {name}.")
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
