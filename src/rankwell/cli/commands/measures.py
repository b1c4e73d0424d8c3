"""List every measure."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from rankwell import reporting
from rankwell.data.options import Option
from rankwell.data.registry import FIGURES, MEASURES, CollectionFigure, MeasureEntry
from rankwell.reporting.options import Output


def measures(
    *, format: Annotated[Literal["table", "json", "md"], Option(("--format", "-f"))] = "table"
) -> Output:
    """List every measure.

    With a definition, its bounds, its direction and the words that other tools have for it.

      rankwell measures

    Parameters
    ----------
    format
        table for reading, json for programs, md for the page docs/measures.md with every formula,
        source and example.
    """
    entries = [MEASURES[name] for name in MEASURES]
    of_collections = [FIGURES[name] for name in FIGURES]
    if format == "md":
        return Output(text=page(entries, of_collections))
    rows = [*map(describe_entry, entries), *map(describe_figure, of_collections)]
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
        text=reporting.render_rows(table_rows, "table", terminal=reporting.terminal_of(sys.stdout)),
        notes=(reporting.StatusNote("`rankwell explain NAME` says more about each."),),
    )


def describe_entry(entry: MeasureEntry) -> dict[str, Any]:
    """The registry's entry of a measure, for tables and JSON."""
    return {
        "name": entry.name,
        "form": entry.form,
        "says": entry.definition["definition"],
        "family": entry.module,
        "bounds": [_bound(bound) for bound in entry.bounds],
        "better": entry.better,
        "empty": _bound(entry.empty),
        "summary": entry.summary,
        "unit": entry.unit,
        "needs": entry.view.needs,
        "printed_by": entry.command,
        "expected_under_ties": entry.expected is not None,
        "source": entry.source,
        "aliases": sorted(entry.aliases),
    }


def describe_figure(figure: CollectionFigure) -> dict[str, Any]:
    """The entry of a figure of a whole collection, with the keys of a measure that it has."""
    return {
        "name": figure.name,
        "form": figure.name,
        "says": figure.title,
        "family": _family(figure),
        "better": figure.better,
        "source": figure.source,
        "aliases": sorted(figure.aliases),
        "printed_by": ", ".join(figure.printed_by),
    }


def _family(figure: CollectionFigure) -> str:
    return FIGURES.home(figure.name).rpartition(".")[2]


def page(entries: list[MeasureEntry], of_collections: list[CollectionFigure]) -> str:
    """The page docs/measures.md: every measure by family, and then the figures of whole
    collections.
    """
    families = sorted({entry.module for entry in entries})
    parts = [
        "# Measures\n\nWritten by `rankwell measures --format md` from the code; do not edit. "
        "`@k` cuts the ranking after k "
        "items, `[@k]` may be left out. A grade of `rel` or more is relevant. "
        "Under `--ties expected` measures marked *exact under ties* have a closed form.\n"
    ]
    for family in families:
        members = [entry for entry in entries if entry.module == family]
        parts.append(f"## {family.replace('_', ' ').capitalize()}\n")
        parts.extend(_section(entry) for entry in members)
    parts.append(
        "# Figures of whole collections\n\nOne number of all queries, vectors or clicks, "
        "which a command prints beside its "
        "measures. Commands other than those that print it do not know it as a measure.\n"
    )
    for family in sorted({_family(figure) for figure in of_collections}):
        members = [figure for figure in of_collections if _family(figure) == family]
        parts.append(f"## {family.replace('_', ' ').capitalize()}\n")
        parts.extend(_figure_section(figure) for figure in members if figure.example)
        if bare := [figure for figure in members if not figure.example]:
            parts += ["| figure | definition | better | printed by |", "|---|---|---|---|"]
            parts += [
                f"| `{figure.name}` | {figure.title} | {figure.better} | {figure.commands} |"
                for figure in bare
            ]
            parts.append("")
    return "\n".join(parts)


def _figure_section(figure: CollectionFigure) -> str:
    lines = [f"### {figure.name}", "", figure.title, "", "```python", figure.example, "```", ""]
    facts = [f"{figure.better} is better", f"printed by {figure.commands}"]
    return _listed(lines, facts, figure)


def _section(entry: MeasureEntry) -> str:
    description = describe_entry(entry)
    low, high = description["bounds"]
    lines = [f"### {entry.name}", "", f"`{entry.form}`", ""]
    for text in entry.paragraphs:
        lines += ["```python", text, "```", ""] if text.startswith(">>>") else [text, ""]
    empty = "is not counted" if entry.empty != entry.empty else f"gets {description['empty']}"
    traits = [
        f"from {low} to {high}",
        f"{entry.better} is better",
        f"a query without a ranking {empty}",
    ]
    if entry.summary != "mean":
        traits.append(f"summary: {entry.summary}")
    if entry.expected is not None:
        traits.append("exact under ties")
    return _listed(lines, ["; ".join(traits)], entry)


def _listed(
    lines: Sequence[str], facts: Sequence[str], entry: MeasureEntry | CollectionFigure
) -> str:
    """The section of an entry: its lines, then the list of facts on it."""
    facts = [*facts, f"source: {entry.source}"]
    if entry.aliases:
        facts.append(f"also called: {', '.join(f'`{alias}`' for alias in sorted(entry.aliases))}")
    return "\n".join([*lines, *(f"* {fact}" for fact in facts), ""])


def _bound(value: float) -> float | str:
    if value == value and abs(value) != float("inf"):
        return value
    return {"inf": "∞", "-inf": "−∞"}.get(str(value), "not counted")
