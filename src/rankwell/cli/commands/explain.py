"""Explain what a measure, convention or finding means."""

import json
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
            "Print the JSON Schema of a command's `--format json` output, or of `manifest`: "
            "explain compare --schema. Without a name, list what has a schema.",
            "Output",
            is_common=True,
        ),
    ] = False,
    format: Annotated[PrintedAs[Literal["table", "json"]], JsonTables(rows=AnyObject)] = "table",
) -> Output:
    """Explain what a measure, convention or finding means.

    Shows every meaning of the name, with formula, source and a worked example; without a name,
    every measure with its definition and its names in other tools.

      rankwell explain nDCG@10
      rankwell explain

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), a word that means several
        things (Recall@5), a figure of a whole collection (nAUC), a convention (ranx), a finding
        (unjudged-in-top), or a function of your own (./my_measures.py:first).
    format
        Output format of the list; json also has bounds, directions and sources.
    """
    terminal = reporting.terminal_of()
    if schema and format != "table":
        raise BadUsage("--format is for the list of measures; leave it out with --schema.")
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
    text = str(explanations.explain(name))
    if terminal.width is None:
        return Output(text=text)
    lines = [
        line if line.startswith(_CODE) else reporting.folded(line, terminal, "  ")
        for line in _paragraphs(text)
    ]
    return Output(text="\n".join(lines))


_CODE = ("  >>>", "  ...")
_WIDTH = 90
"""Columns that a line of a docstring fills before it goes on; the first has three quotes more."""


def _paragraphs(text: str) -> list[str]:
    """The lines of an explanation, with those of a paragraph joined: a line goes on where the first
    word of the next one had no room and is not a parameter.
    """
    paragraphs, end = [""], 0
    for line in text.split("\n"):
        word = line.strip().partition(" ")[0]
        is_prose = all(
            each[:2] == "  " and each[2:3] not in (" ", "") and not each.startswith(_CODE)
            for each in (paragraphs[-1], line)
        )
        is_parameter = word.endswith(":") and word != line.strip()
        if is_prose and not is_parameter and end + 1 + len(word) > _WIDTH:
            paragraphs[-1] += f" {line.strip()}"
        else:
            paragraphs.append(line)
        end = len(line)
    return paragraphs[1:]


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
