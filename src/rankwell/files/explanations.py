"""Every meaning that a measure's name has anywhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankwell.conventions import CONVENTIONS
from rankwell.data.catalogue import everyday_meaning
from rankwell.data.options import own_arithmetic
from rankwell.data.registry import (
    CollectionFigure,
    IncompleteMeasure,
    Measure,
    at_each_cutoff,
    find_figures,
    is_word,
    measure_names,
    parse_measure,
)
from rankwell.errors import BadUsage


@dataclass(frozen=True, repr=False)
class Explanation:
    """All that a name means, printed in words.

    name: the name that was looked up; for a function, its registered name.
    meanings: measure -> the places where the name stands for it, the plain reading first; empty for
        a name that only figures of whole collections have.
    collection_figures: figures of whole collections that commands print under this name.
    """

    name: str
    meanings: Mapping[Measure, Sequence[str]]
    collection_figures: Sequence[CollectionFigure] = ()

    def __str__(self) -> str:
        several = len(self.meanings) + len(self.collection_figures)
        first = (
            f"{self.name} means {f'{several} different things' if several > 1 else 'one thing'}:\n"
        )
        measures_by_name = dict[str, dict[Measure, Sequence[str]]]()
        for measure, readings in self.meanings.items():
            measures_by_name.setdefault(measure.name, {})[measure] = readings
        return first + "\n".join(
            [
                *map(_describe, measures_by_name.values()),
                *map(_describe_figure, self.collection_figures),
            ]
        )

    __repr__ = __str__


@own_arithmetic
def explain(name: str | Measure | Callable[..., Any]) -> Explanation:
    """Every meaning of a measure's name, with formula, source and a worked example, as `rankwell
    explain` prints them.

    name: a measure, another tool's word for one, a word that means several things, or a function of
    your own. `meanings` has the measures, each with the places where the name means it. Raises
    UnknownName where it means nothing.

    >>> import rankwell as rw
    >>> [str(measure) for measure in rw.explain("ndcg_cut_10").meanings]
    ['nDCG@10']
    >>> print(str(rw.explain("RR")).splitlines()[0])
    RR means one thing:
    """
    is_function = callable(name) or ":" in str(name)
    word = "".join(measure_names(name) or ()) if is_function else str(name)
    figures = () if is_function else find_figures(word)
    try:
        return Explanation(word, meanings(word), figures)
    except BadUsage:
        if not figures:
            raise
    return Explanation(word, {}, figures)


def meanings(name: str) -> dict[Measure, list[str]]:
    """The measures that a text stands for, and where, the plain reading first. Raises UnknownName
    where it stands for none.

    A measure may lack values of parameters that have no default, such as the highest grade.
    """
    readings = dict[Measure, list[str]]()
    problem: BadUsage | None = None
    # The name is understood without its cut-off, too.
    plain = name.strip().removesuffix("@k")
    word, at, cutoff = plain.partition("@")
    meaning = everyday_meaning("measures", word)
    for reading, words in _readings(plain):
        text = plain if words or not meaning else f"{meaning}{at}{cutoff}"
        try:
            readings.setdefault(
                parse_measure(at_each_cutoff(text, [10], words)[0], words), []
            ).append(reading)
        except IncompleteMeasure as error:
            for measure in (error.measure, *map(parse_measure, error.alternatives)):
                if measure is not None:
                    readings.setdefault(measure, []).append(reading)
        except BadUsage as error:
            problem = problem or error
    if problem is not None and not readings:
        raise problem
    return readings


def _readings(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The plain reading, then every convention that has a word of its own for the name."""
    yield "default", {}
    for convention in CONVENTIONS:
        words = dict(CONVENTIONS[convention].words)
        if is_word(name, words):
            yield f"--convention {convention}", words
        for part, part_words in CONVENTIONS[convention].words_of_parts.items():
            if is_word(name, part_words):
                yield f"--convention {convention}, {part}", {**words, **part_words}


def _describe_figure(figure: CollectionFigure) -> str:
    """A figure: what prints it, its definition, its example and its source."""
    lines = ["", f"{figure.name}   (printed by {figure.commands})", f"  {figure.title}"]
    if figure.example:
        lines += ["", *(f"  {line}" for line in figure.example.splitlines())]
    return "\n".join(
        [
            *lines,
            "",
            f"  of a whole collection; {figure.better} is better",
            f"  source: {figure.source}",
        ]
    )


def _lacks(measure: Measure) -> str:
    """The parameters that a name has to give, and does not."""
    entry, arguments = measure.entry, dict(measure.arguments)
    required = [
        name
        for name, parameter in entry.parameters.items()
        if parameter.default is parameter.empty and name != entry.cutoff_parameter
    ]
    lacking = [name for name in required if name not in arguments]
    return f"; give {', '.join(lacking)}, as in {measure.name}({lacking[0]}=…)" if lacking else ""


def _describe(meanings: Mapping[Measure, Sequence[str]]) -> str:
    """The measures of one function, their parameters first, then what the function says."""
    entry = next(iter(meanings)).entry
    readings = [
        f"{measure}   ({', '.join(where)}{_lacks(measure)})" for measure, where in meanings.items()
    ]
    lines = ["", *readings, f"  {entry.form}"]
    for text in entry.paragraphs:
        lines += ["", *(f"  {line}" for line in text.split("\n"))]
    low, high = entry.bounds
    empty = "is not counted" if entry.empty != entry.empty else f"gets {entry.empty:g}"
    lines += [
        "",
        f"  from {low:g} to {high:g}; {entry.better} is better; a query without a ranking {empty}",
    ]
    lines += [f"  source: {entry.source}"]
    return "\n".join(lines)
