"""Explain a measure's name: every meaning that it has anywhere, each with formula, source and a worked example."""

from collections.abc import Iterator
from typing import NamedTuple

from rankwell.conventions import CONVENTIONS
from rankwell.errors import BadUsage, UnknownName
from rankwell.protocols import Output
from rankwell.protocols.measures import form, paragraphs
from rankwell.registry import Measure, parse_measure


class Meaning(NamedTuple):
    """One exact measure that a word stands for, and where it does."""

    measure: Measure
    where: tuple[str, ...]


def explain(name: str, /) -> Output:
    """Explain a measure's name: every meaning that it has anywhere, each with formula, source and a worked example.

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), or a word that means several things (Recall@5).
    """
    found = meanings(name)
    first = f"{name} means {len(found)} different things:\n" if len(found) > 1 else ""
    return Output(text=first + "\n".join(_describe(meaning) for meaning in found))


def meanings(name: str) -> list[Meaning]:
    """The measures that a text stands for, the plain reading first. Raises UnknownName where it stands for none."""
    places: dict[Measure, list[str]] = {}
    problem: UnknownName | BadUsage | None = None
    for where, words in _readings():
        try:
            measure = parse_measure(name, words)
        except (UnknownName, BadUsage) as error:
            problem = problem or error
            continue
        places.setdefault(measure, []).append(where)
    if problem is not None and not places:
        raise problem
    return [Meaning(measure, tuple(where)) for measure, where in places.items()]


def _readings() -> Iterator[tuple[str, dict[str, str]]]:
    yield "by itself", {}
    for each in CONVENTIONS:
        if each != "rankwell":
            yield f"--convention {each}", dict(CONVENTIONS[each].words)


def _describe(meaning: Meaning) -> str:
    entry = meaning.measure.entry
    lines = [f"\n{meaning.measure}   ({', '.join(meaning.where)})", f"  {form(entry)}"]
    for text in paragraphs(entry):
        lines += ["", *(f"  {line}" for line in text.split("\n"))]
    low, high = entry.bounds
    lines += ["", f"  from {low:g} to {high:g}; {entry.better} is better; a query without a ranking gets {entry.empty:g}"]
    lines += [f"  source: {entry.source}"]
    return "\n".join(lines)
