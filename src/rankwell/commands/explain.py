"""Explain a measure's name: every meaning that it has anywhere, each with formula, source and a worked example."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankwell.commands.measures import form
from rankwell.conventions import CONVENTIONS
from rankwell.core.registry import Measure, is_word, parse_measure
from rankwell.errors import BadUsage, UnknownName
from rankwell.report.present import Output


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
    first = f"{name} means {f'{len(found)} different things' if len(found) > 1 else 'one thing'}:\n"
    described: dict[str, list[Meaning]] = {}
    for meaning in found:
        described.setdefault(meaning.measure.name, []).append(meaning)
    return Output(text=first + "\n".join(_describe(same) for same in described.values()))


def meanings(name: str) -> list[Meaning]:
    """The measures that a text stands for, the plain reading first. Raises UnknownName where it stands for none."""
    places: dict[Measure, list[str]] = {}
    problem: UnknownName | BadUsage | None = None
    # The name is understood without its cut-off, too.
    plain = name.strip().removesuffix("@k")
    for where, words in _readings(plain):
        try:
            measure = _with_any_cutoff(plain, words)
        except (UnknownName, BadUsage) as error:
            problem = problem or error
            continue
        places.setdefault(measure, []).append(where)
    if problem is not None and not places:
        raise problem
    return [Meaning(measure, tuple(where)) for measure, where in places.items()]


def _with_any_cutoff(name: str, words: dict[str, str]) -> Measure:
    try:
        return parse_measure(name, words)
    except BadUsage:
        if "@" in name:
            raise
        return parse_measure(f"{name}@10", words)


def _readings(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The plain reading, then every convention that has a word of its own for the name."""
    yield "by itself", {}
    for each in CONVENTIONS:
        words = dict(CONVENTIONS[each].words)
        if is_word(name, words):
            yield f"--convention {each}", words
        for part, own in CONVENTIONS[each].words_of_parts.items():
            if is_word(name, own):
                yield f"--convention {each}, {part}", {**words, **own}


def _describe(meanings: Sequence[Meaning]) -> str:
    """The measures of one function, their parameters first, then what the function says."""
    entry = meanings[0].measure.entry
    lines = ["", *(f"{meaning.measure}   ({', '.join(meaning.where)})" for meaning in meanings), f"  {form(entry)}"]
    for text in entry.paragraphs:
        lines += ["", *(f"  {line}" for line in text.split("\n"))]
    low, high = entry.bounds
    lines += ["", f"  from {low:g} to {high:g}; {entry.better} is better; a query without a ranking gets {entry.empty:g}"]
    lines += [f"  source: {entry.source}"]
    return "\n".join(lines)
