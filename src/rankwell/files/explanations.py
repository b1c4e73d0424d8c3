"""What a name means: every measure that it stands for anywhere, a convention, and a finding."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from rankwell.conventions import CONVENTIONS, Convention
from rankwell.data.catalogue import Catalogue, command_summaries, everyday_meaning, suggest
from rankwell.data.findings import FINDINGS, FindingKind
from rankwell.data.options import own_arithmetic
from rankwell.data.registry import (
    FIGURES,
    CollectionFigure,
    IncompleteMeasure,
    Measure,
    MeasureEntry,
    at_each_cutoff,
    everyday_measure,
    find_figures,
    is_word,
    measure_names,
    parse_measure,
)
from rankwell.errors import BadUsage, UnknownName


@dataclass(frozen=True, repr=False)
class Explanation:
    """All that a name means, printed in words.

    name: the name that was looked up; for a function, its registered name.
    meanings: measure -> the places where the name stands for it, the plain reading first; empty for
        a name that only figures of whole collections have.
    collection_figures: figures of whole collections that commands print under this name.
    entries: what else has this name, such as `convention` -> its description.
    """

    name: str
    meanings: Mapping[Measure, Sequence[str]]
    collection_figures: Sequence[CollectionFigure] = ()
    entries: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        several = len(self.meanings) + len(self.collection_figures) + len(self.entries)
        first = (
            f"{self.name} means {f'{several} different things' if several > 1 else 'one thing'}:\n"
            if several > len(self.entries)
            else ""
        )
        measures_by_name = dict[str, dict[Measure, Sequence[str]]]()
        for measure, readings in self.meanings.items():
            measures_by_name.setdefault(measure.name, {})[measure] = readings
        descriptions = [
            *map(_describe, measures_by_name.values()),
            *map(_describe_figure, self.collection_figures),
            *self.entries.values(),
        ]
        return (first + "\n".join(descriptions)).lstrip("\n")

    __repr__ = __str__


@own_arithmetic
def explain(name: str | Measure | Callable[..., Any]) -> Explanation:
    """Explains a name: a measure with formula, source and example, a convention or a finding.

    Print the result to read it, as `rankwell explain` shows it.
    Raises UnknownName for an unknown name.

    Parameters
    ----------
    name
        A measure, another tool's word for one, a word that means several things, a convention, a
        finding, or a function of yours.

    >>> import rankwell as rw
    >>> [str(measure) for measure in rw.explain("ndcg_cut_10").meanings]
    ['nDCG@10']
    >>> print(str(rw.explain("RR")).splitlines()[0])
    RR means one thing:
    """
    is_function = callable(name) or ":" in str(name)
    word = "".join(measure_names(name) or ()) if is_function else str(name)
    figures = () if is_function else find_figures(word)
    entries = {
        kind: "\n".join(map(describe, entries_of_name))
        for kind, (catalogue, describe) in _ENTRIES.items()
        if not is_function and (entries_of_name := _named(catalogue, word))
    }
    try:
        return Explanation(word, meanings(word), figures, entries)
    except BadUsage as error:
        if not figures and not entries:
            is_command = tuple(word.split()) in command_summaries()
            command = repr(word) if is_command else everyday_meaning("commands", word)
            names = chain.from_iterable(
                catalogue.builtin_names for catalogue, _ in _ENTRIES.values()
            )
            advice = f"did you mean the command {command}?" if command else suggest(word, names)
            is_answered = not command and "did you mean" in str(error)
            if everyday_meaning("instead", word) or is_answered or not advice.startswith("did"):
                raise
            raise UnknownName(f"unknown name {word!r}; {advice}") from None
    return Explanation(word, {}, figures, entries)


def _named(catalogue: Catalogue[Any], word: str) -> list[Any]:
    """The entry of a name, and what it is in single tasks."""
    names = sorted(catalogue.builtin_names)
    return [catalogue[name] for name in names if word in (name, name.partition("/")[0])]


def meanings(name: str) -> dict[Measure, list[str]]:
    """The measures that a text stands for, and where, the plain reading first. Raises UnknownName
    where it stands for none.

    A measure may lack values of parameters that have no default, such as the highest grade.
    """
    readings = dict[Measure, list[str]]()
    problem: BadUsage | None = None
    # The name is understood without its cut-off, too.
    plain = name.strip().removesuffix("@k")
    meaning = everyday_measure(plain)
    if "@" not in plain:
        meaning = meaning.partition("@")[0]
    for reading, words in _readings(plain):
        text = plain if words or not meaning else meaning
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
    for key in CONVENTIONS:
        convention, _, task = key.partition("/")
        where = f"--convention {convention}" if not task else f"{task} by default"
        words = dict(CONVENTIONS[key].words)
        if is_word(name, words):
            yield where, words
        for part, part_words in CONVENTIONS[key].words_of_parts.items():
            if is_word(name, part_words):
                yield f"{where}, {part}", {**words, **part_words}


def _describe_figure(figure: CollectionFigure) -> str:
    """A figure: what prints it, its definition, its formula with an example, and its source."""
    lines = ["", f"{figure.name}   (printed by {figure.commands})", f"  {figure.title}"]
    lines += _indented(figure.details.split("\n\n"))
    return "\n".join(
        [
            *lines,
            "",
            f"  of {figure.covers}; {figure.better} is better",
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


def _indented(paragraphs: Iterable[str]) -> list[str]:
    """Paragraphs, each after an empty line."""
    return [
        line for text in paragraphs for line in ("", *(f"  {part}" for part in text.split("\n")))
    ]


def _describe(meanings: Mapping[Measure, Sequence[str]]) -> str:
    """The measures of one function, their parameters first, then what the function says."""
    entry = next(iter(meanings)).entry
    readings = [
        f"{measure}   ({', '.join(where)}{_lacks(measure)})" for measure, where in meanings.items()
    ]
    lines = ["", *readings, f"  {entry.form}"]
    lines += _indented(entry.paragraphs)
    low, high = entry.bounds
    empty = "is not counted" if entry.empty != entry.empty else f"gets {entry.empty:g}"
    lines += [
        "",
        f"  from {low:g} to {high:g}; {entry.better} is better; a query without a ranking {empty}",
    ]
    lines += [f"  source: {entry.source}"]
    return "\n".join(lines)


def _describe_convention(convention: Convention) -> str:
    """A convention: its source, the rules that differ from the default, and its words."""
    rules = {
        name.replace("_", "-"): value
        for name, value in convention._asdict().items()
        if name in _RULES and value != Convention._field_defaults[name]
    }
    lines = ["", f"{convention.name}   (--convention {convention.name})", f"  {convention.title}"]
    if rules:
        lines += ["", "  rules that differ from the default:"]
        lines += [f"    {name}: {_text_of(value)}" for name, value in rules.items()]
    for task, own_rules in convention.tasks.items():
        lines += ["", f"  rules of {task}:"]
        lines += [f"    {name}: {_text_of(value)}" for name, value in own_rules.items()]
    if convention.defaults:
        lines += ["", f"  measures by default: {', '.join(convention.defaults)}"]
    for part, words in {"": convention.words, **convention.words_of_parts}.items():
        if words:
            lines += ["", f"  words{part and f' in {part}'}:"]
            lines += [f"    {word}: {measure}" for word, measure in words.items()]
    notes = [f"  * {note}" for note in convention.notes]
    lines += ["", *notes] if notes else []
    return "\n".join([*lines, "", f"  source: {convention.source}"])


def _describe_finding(kind: FindingKind[...]) -> str:
    """A kind of findings: its level, its explanation, and what to do about it."""
    lines = ["", f"{kind.name}   ({kind.level})"]
    lines += _indented(kind.paragraphs)
    lines += ["", *([f"  What resolves it: {kind.resolves}"] if kind.resolves else [])]
    if kind.level == "error":
        return "\n".join([*lines, "  It stops every command that would print a number."])
    return "\n".join([*lines, f"  `--ignore {kind.name}` leaves it out."])


def _text_of(value: Any) -> str:
    """The value of a rule as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text_of(member)}" for name, member in value.items())
    if isinstance(value, tuple):
        return ", ".join(map(_text_of, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


_RULES = (
    "ties",
    "single_precision",
    "average_over",
    "no_relevant",
    "exclude_self",
    "negative_grades",
    "unit",
    "population_sd",
    "averaged",
)
_ENTRIES: Mapping[str, tuple[Catalogue[Any], Callable[[Any], str]]] = {
    "convention": (CONVENTIONS, _describe_convention),
    "finding": (FINDINGS, _describe_finding),
}
"""What is explained beside measures: kind -> its entries by name, and the description of one."""


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
        "family": family_of(figure),
        "better": figure.better,
        "source": figure.source,
        "aliases": sorted(figure.aliases),
        "printed_by": ", ".join(figure.printed_by),
    }


def family_of(figure: CollectionFigure) -> str:
    """The family of a figure: the file that has it."""
    return FIGURES.home(figure.name).rpartition(".")[2]


def _bound(value: float) -> float | str:
    if value == value and abs(value) != float("inf"):
        return value
    return {"inf": "∞", "-inf": "−∞"}.get(str(value), "not counted")
