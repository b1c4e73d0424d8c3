"""Every meaning that a measure's name has anywhere, and what findings and conventions mean."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rankwell.conventions import CONVENTIONS, Convention
from rankwell.data.findings import FINDINGS, FindingKind
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
    text: the explanation of a finding or a convention; "" for a measure.
    """

    name: str
    meanings: Mapping[Measure, Sequence[str]]
    collection_figures: Sequence[CollectionFigure] = ()
    text: str = ""

    def __str__(self) -> str:
        if self.text:
            return self.text
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
    """Every meaning of a measure's name, with formula, source and a worked example, or what a
    finding or a convention means, as `rankwell explain` prints them.

    name: a measure, another tool's word for one, a word that means several things, a function of
    your own, or the name of a finding or a convention. `meanings` has the measures, each with the
    places where the name means it. Raises UnknownName where it means nothing.

    >>> import rankwell as rw
    >>> [str(measure) for measure in rw.explain("ndcg_cut_10").meanings]
    ['nDCG@10']
    >>> print(str(rw.explain("RR")).splitlines()[0])
    RR means one thing:
    """
    is_function = callable(name) or ":" in str(name)
    word = "".join(measure_names(name) or ()) if is_function else str(name)
    figures = () if is_function else find_figures(word)
    if word in FINDINGS.builtin_names:
        return Explanation(word, {}, text=_describe_finding(FINDINGS[word]))
    if word in CONVENTIONS.builtin_names:
        return Explanation(word, {}, text=_describe_convention(CONVENTIONS[word]))
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
    for reading, words in _readings(plain):
        try:
            readings.setdefault(
                parse_measure(at_each_cutoff(plain, [10], words)[0], words), []
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


def _describe_finding(kind: FindingKind[...]) -> str:
    """A kind of findings: its level, its explanation, and what to do about it."""
    ends = ["It stops every command that would print a number."]
    if kind.level != "error":
        ends = [f"`--ignore {kind.name}` leaves it out."]
    if kind.resolves:
        ends.insert(0, f"What resolves it: {kind.resolves}")
    return f"{kind.name} ({kind.level})\n\n" + _indented([*kind.paragraphs, "\n".join(ends)])


def _describe_convention(convention: Convention) -> str:
    """A convention: its source, its rules where they are not the usual ones, its words, and where
    it differs from the source.
    """
    usual = Convention("", "", "")
    rules = [
        f"{name.replace('_', ' ')}: {value}"
        for name, value in convention._asdict().items()
        if name in _RULES and value != getattr(usual, name)
    ]
    words = [f"{word} = {measure}" for word, measure in convention.words.items()]
    defaults = [f"measures by default: {', '.join(convention.defaults)}"] * bool(
        convention.defaults
    )
    notes = [*convention.notes, *chain.from_iterable(convention.rule_notes.values())]
    parts = [f"source: {convention.source}", *map("\n".join, (rules, words, defaults)), *notes]
    title = f"{convention.name} (convention): {convention.title}"
    return f"{title}\n\n{_indented(filter(None, parts))}"


_RULES = ("ties", "single_precision", "queries", "no_relevant", "exclude_self", "negative_grades")


def _indented(paragraphs: Iterable[str]) -> str:
    lines = "\n\n".join(paragraphs).split("\n")
    return "\n".join(f"  {line}".rstrip() for line in lines)


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
