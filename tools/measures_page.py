"""The page docs/measures.md: every measure by family, and then the figures of whole collections."""

from collections.abc import Sequence

from rankwell.data.registry import FIGURES, MEASURES, CollectionFigure, MeasureEntry
from rankwell.files.explanations import describe_entry, family_of


def measures_page() -> str:
    """The text of the page."""
    entries = [MEASURES[name] for name in MEASURES]
    of_collections = [FIGURES[name] for name in FIGURES]
    families = sorted({entry.module for entry in entries})
    parts = [
        "# Measures\n\nWritten by `make docs` from the code; do not edit. "
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
    for family in sorted({family_of(figure) for figure in of_collections}):
        members = [figure for figure in of_collections if family_of(figure) == family]
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
