"""Conventions of other tools: the meaning of their words, their rules and units, and the user's
choices that precede them.

A TOML file for each family of sources; those of a single task are in its folder,
`tasks/<task>/conventions/`, where `["NAME/TASK"]` is what a convention means in that task. A file
of the user's own begins with `base = "NAME"`, a convention of ours, and has the rules that differ.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from rankwell.data.registry import MEASURES, Catalogue, Measure, parse_measure, suggest
from rankwell.data.tables import TieRule, Unit, is_number, tie_rule, without_none
from rankwell.documents import read_toml
from rankwell.errors import BadInput, BadUsage, UnknownName, shown
from rankwell.store import Source

AverageOver = Literal["judged", "run", "both"]
NoRelevantRule = Literal["empty", "skip", "error"]
UnjudgedRule = Literal["nonrelevant", "skip"]
NegativeGrades = Literal["judged", "unjudged"]
OwnRules = TypeVar("OwnRules", bound=tuple[Any, ...])


class Convention(NamedTuple):
    """The words, rules and units of one source.

    name: the name by which `--convention` chooses it.
    title: one clause that describes it.
    source: the publication or program whose words and rules these are.
    ties: the order of items with equal scores.
    single_precision: whether scores are rounded to 32 bits before they are compared.
    average_over: the queries that a mean is taken over: the judged ones, those of the run, or
        those in both.
    no_relevant: whether a query without relevant items counts as an empty ranking, is skipped, or
        is an error.
    exclude_self: whether the item that has the query's id is removed from rankings.
    negative_grades: whether items with a negative grade count as judged.
    words: a word of the source -> the measure that it means; cut-offs are carried over (`Recall@5`
        is `P@5` if `Recall` is `P`).
    words_of_parts: part of the results, such as a direction -> words that override the others in
        that part.
    defaults: the measures that are reported when none is named, in the source's words.
    unit: `percent` multiplies shares by 100.
    population_sd: whether standard deviations divide by n instead of n - 1.
    averaged: counts that the source averages over queries instead of adding them up.
    tasks: task -> its own options under this convention.
    notes: differences that cannot be reproduced, and traps.
    base: our convention with which a user's file begins, whose path is the name; "" for one of
        ours.
    """

    name: str
    title: str
    source: str
    ties: TieRule = "id-desc"
    single_precision: bool = False
    average_over: AverageOver = "judged"
    no_relevant: NoRelevantRule = "empty"
    exclude_self: bool = False
    negative_grades: NegativeGrades = "judged"
    words: Mapping[str, str] = {}
    words_of_parts: Mapping[str, Mapping[str, str]] = {}
    defaults: tuple[str, ...] = ()
    unit: Unit = "share"
    population_sd: bool = False
    averaged: tuple[str, ...] = ()
    tasks: Mapping[str, Mapping[str, Any]] = {}
    notes: tuple[str, ...] = ()
    base: str = ""

    @property
    def origin(self) -> str:
        """The name of our convention that it is, or begins with."""
        return self.base or self.name

    def shows(self, unit: Unit) -> tuple[float, Unit]:
        """The factor and the unit with which it reports values of a unit."""
        return (100.0, "percent") if self.unit == "percent" and unit == "share" else (1.0, unit)

    def rules_of(self, task: str, defaults: OwnRules) -> OwnRules:
        """A task's own options under this convention, of the type of the defaults; the defaults
        where it has none. Raises BadInput for a rule of the user's file that does not exist.
        """
        if task not in self.tasks:
            return defaults
        if self.base:
            _check_rules(type(defaults), self.tasks[task], f"{self.name}: [tasks.{task}]")
        return type(defaults)(**self.tasks[task])


def _frozen(value: Any) -> Any:
    """Tuples in place of a file's lists."""
    if isinstance(value, dict):
        return {name: _frozen(member) for name, member in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def read_conventions(file: Path) -> dict[str, Convention]:
    """The conventions in a file: a table for each, under its name."""
    _, tables = read_toml(Source(file))
    return {
        name: Convention(name.partition("/")[0], **_frozen(table)) for name, table in tables.items()
    }


CONVENTIONS: Catalogue[Convention] = Catalogue("conventions", "convention", read=read_conventions)


def convention_names() -> list[str]:
    """The names that `--convention` takes, in alphabetical order."""
    return list(dict.fromkeys(name.partition("/")[0] for name in CONVENTIONS))


def find_convention(name: str | Path, task: str = "") -> Convention:
    """The convention of this name, or of a user's file, `FILE.toml`. task: one with a folder of
    conventions; without, rankings with judgments are judged.

    Raises BadInput for a file that is no convention, and UnknownName, which offers the conventions
    in that folder (or those of rankings) and the plain one, none of other tasks.
    """
    name = str(name)
    if name in convention_names():
        return _convention_in(name, task)
    if name.endswith(".toml"):
        return _convention_of_file(name, task)
    folder = f"rankwell.tasks.{task}.conventions." if task else "rankwell.conventions."
    taken = {
        convention.partition("/")[0]
        for convention in CONVENTIONS
        if convention == "rankwell" or CONVENTIONS.home(convention).startswith(folder)
    }
    raise UnknownName(
        f"unknown convention {name!r}; {suggest(name, taken)} Your own is a file, ./NAME.toml."
    )


def _convention_in(name: str, task: str) -> Convention:
    """The convention of this name, as the task means it."""
    own = f"{name}/{task}"
    return CONVENTIONS[own if own in CONVENTIONS else name]


def _convention_of_file(place: str, task: str) -> Convention:
    """The convention of a user's file in a task: the base with the rules that differ."""
    _, table = read_toml(Source(place))
    base_name = table.pop("base", None)
    if not isinstance(base_name, str):
        raise BadInput(
            f'{place}: name the convention that it changes, as in base = "rankwell" in its first '
            "line."
        )
    if base_name not in convention_names():
        raise BadInput(
            f"{place}: base = {shown(base_name)}: {suggest(base_name, convention_names())}"
        )
    base, rules = _convention_in(base_name, task), _frozen(table)
    _check_rules(Convention, rules, place, ("name", "base"))
    known_tasks = {task for name in CONVENTIONS for task in CONVENTIONS[name].tasks}
    for name in rules.get("tasks", {}):
        if name not in known_tasks:
            raise BadInput(
                f"{place}: there is no task {shown(name)} with rules of its own; "
                f"{suggest(name, sorted(known_tasks))}"
            )
    task_rules = {
        task: {**base.tasks.get(task, {}), **own} for task, own in rules.get("tasks", {}).items()
    }
    merged = {"words": {**base.words, **rules.get("words", {})}}
    merged["tasks"] = {**base.tasks, **task_rules}
    title = f"{base.title}, with the rules of {place}"
    return base._replace(**({"title": title} | rules | merged | {"name": place, "base": base_name}))


def _check_rules(
    kind: type[Any], rules: Mapping[str, Any], place: str, ours: Sequence[str] = ()
) -> None:
    """Raises BadInput for a rule that a kind of rules does not have, and for a wrong value. ours:
    fields that are no rules.
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in ours}
    for name, value in rules.items():
        if name not in hints:
            raise BadInput(f"{place}: there is no rule {shown(name)}; {suggest(name, hints)}")
        if not _is_of(value, hints[name]):
            raise BadInput(f"{place}: {name} = {shown(value)}; expected {_expected(hints[name])}.")


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of a type: a Literal, a union, a mapping, a tuple, or a plain type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is UnionType or type(hint).__name__ == "_UnionGenericAlias":
        return any(_is_of(value, choice) for choice in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_is_of(element, inner[0]) for element in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_is_of(each, inner[1]) for each in value.values())
    if hint is float:
        return is_number(value) and math.isfinite(value)
    if hint is Any:
        return True
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def _expected(hint: Any) -> str:
    """The values of a type, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(inner)
    if origin is tuple:
        return "a list"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a table"
    plain = {bool: "true or false", str: "a text", int: "an integer", float: "a number"}
    choices = [choice for choice in inner if choice is not type(None)] or [hint]
    return " or ".join(plain.get(choice) or _expected(choice) for choice in choices)


class LabelledMeasure(NamedTuple):
    """A measure with the heading under which it is shown.

    measure: the measure with all its parameters.
    label: the word of the user or the convention for it (`Recall@5`), or the exact name where the
        user gave that.
    """

    measure: Measure
    label: str


Measures = Sequence[LabelledMeasure]


class Rules(NamedTuple):
    """Every choice that decides a value: the user's where there is one, else the convention's.

    convention: the source of the measures' words, and of every rule that the user has not chosen.
    ties: the order of items with equal scores.
    average_over: the queries that a mean is taken over: the judged ones, those of the run, or
        those in both.
    no_relevant: whether a query without relevant items counts as an empty ranking, is skipped, or
        is an error.
    unjudged: whether unjudged items count as not relevant or are taken out of rankings.
    exclude_self: whether the item that has the query's id is removed from rankings.
    """

    convention: Convention
    ties: TieRule
    average_over: AverageOver
    no_relevant: NoRelevantRule
    unjudged: UnjudgedRule
    exclude_self: bool

    @classmethod
    def resolve(cls, convention: str | Path, **choices: Any) -> "Rules":
        """The rules of a convention with the user's own choices in their place, None for none.
        Raises UnknownName.
        """
        entry = find_convention(convention)
        replaced = without_none(choices)
        if "ties" in replaced:
            tie_rule(replaced["ties"])
        convention_rules = {
            name: getattr(entry, name)
            for name in cls._fields
            if name not in ("convention", *replaced)
        }
        return cls(convention=entry, **convention_rules, **replaced)


def choose_measures(
    texts: Sequence[str] | None, convention: Convention, min_grade: float | None = None
) -> tuple[LabelledMeasure, ...]:
    """The measures that words name under a convention, its defaults where none are given; no
    measure twice.

    min_grade: the lowest grade that counts as relevant, for every measure that has such a grade and
    was not given one.
    """
    labelled_measures: dict[str, LabelledMeasure] = {}
    for text in texts or convention.defaults:
        measure = parse_measure(text, convention.words)
        is_exact = _is_name(text, measure)
        rel = measure.entry.parameters.get("rel")
        if (
            min_grade is not None
            and rel is not None
            and rel.default is not None
            and "rel" not in dict(measure.arguments)
        ):
            measure = measure.with_parameters(rel=min_grade)
        labelled_measures.setdefault(
            str(measure), LabelledMeasure(measure, str(measure) if is_exact else text.strip())
        )
    return tuple(labelled_measures.values())


def check_views(measures: Iterable[Measure], *views: type) -> None:
    """Raises BadUsage for a measure that reads no view of these, with what it needs and near names
    of measures that do.
    """
    for measure in measures:
        if measure.entry.view not in views:
            advice = suggest(
                measure.name, [name for name in MEASURES if MEASURES[name].view in views]
            )
            near_names = f" Or {advice}" if advice.startswith("did") else ""
            raise BadUsage(f"{measure} needs {measure.entry.needs}.{near_names}")


def _is_name(text: str, measure: Measure) -> bool:
    """Whether a text is the measure's exact name, whatever a convention's words are."""
    if measure.name != text.strip().split("(")[0].split("@")[0]:
        return False
    try:
        return measure == parse_measure(text)
    except (UnknownName, BadUsage):
        return False
