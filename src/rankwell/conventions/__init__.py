"""Conventions, one file per source and data only: what its words mean, which rules it follows, in which unit it reports.

Here stands what a convention may say, and how a user's own choices go before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from rankwell.errors import BadUsage, UnknownName
from rankwell.registry import Catalogue, Measure, parse_measure
from rankwell.tables.order import TieRule, tie_rule
from rankwell.tables.values import Unit

QueryRule = Literal["truth", "run", "both"]
NoRelevantRule = Literal["empty", "skip", "error"]
UnjudgedRule = Literal["nonrelevant", "skip"]


@dataclass(frozen=True)
class Convention:
    """How one source evaluates.

    words: a word of the source -> the measure that it means; cut-offs are carried over (`Recall@5` is `P@5` if `Recall` is `P`).
    defaults: what is reported when no measure is named, in the source's words. unit: `percent` multiplies shares by 100.
    averaged: measures that the source averages though they are counts, which are added up elsewhere.
    no_relevant: what becomes of a query without anything relevant. gold_depth: where a reference's list is the truth, how many of
    its first items are relevant at a cut-off: as many as the `cut`, or as the greatest of all cut-offs (`max`).
    notes: what differs and cannot be reproduced, or is a trap.
    """

    name: str
    title: str
    source: str
    ties: TieRule = "id-desc"
    single_precision: bool = False
    queries: QueryRule = "truth"
    no_relevant: NoRelevantRule = "empty"
    exclude_self: bool = False
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    defaults: tuple[str, ...] = ()
    unit: Unit = "share"
    population_sd: bool = False
    averaged: tuple[str, ...] = ()
    gold_depth: Literal["cut", "max"] = "max"
    notes: tuple[str, ...] = ()


CONVENTIONS: Catalogue[Convention] = Catalogue("conventions", "convention")


def reference_convention(name: str) -> Convention:
    """The convention under which one model is compared with another. Raises BadUsage for one whose words are about judgments."""
    entry = CONVENTIONS[name]
    if name != "rankwell" and entry.gold_depth != "cut":
        known = [each for each in CONVENTIONS if CONVENTIONS[each].gold_depth == "cut"]
        raise BadUsage(f"the convention {name} judges runs; for agreement there are rankwell and {', '.join(known)}.")
    return entry


def convention(entry: Convention) -> Convention:
    """Files a convention under its name and returns it."""
    CONVENTIONS.add(entry.name, entry)
    return entry


class Asked(NamedTuple):
    """A measure and the word that the user or the convention has for it."""

    measure: Measure
    label: str


@dataclass(frozen=True)
class Rules:
    """Every choice that decides a value, resolved: what the user said, else what the convention says."""

    convention: Convention
    ties: TieRule
    queries: QueryRule
    no_relevant: NoRelevantRule
    unjudged: UnjudgedRule
    exclude_self: bool

    @classmethod
    def resolve(
        cls,
        convention: str,
        *,
        ties: str | None,
        queries: str | None,
        no_relevant: str | None,
        unjudged: str,
        exclude_self: bool | None,
    ) -> "Rules":
        """The rules of a convention with the user's own choices in their place. Raises UnknownName."""
        entry = CONVENTIONS[convention]
        return cls(
            convention=entry,
            ties=entry.ties if ties is None else tie_rule(ties),
            queries=entry.queries if queries is None else _choice("query rule", queries, QueryRule),
            no_relevant=entry.no_relevant if no_relevant is None else _choice("rule", no_relevant, NoRelevantRule),
            unjudged=_choice("rule for unjudged items", unjudged, UnjudgedRule),
            exclude_self=entry.exclude_self if exclude_self is None else exclude_self,
        )


def choose_measures(texts: Sequence[str] | None, convention: Convention, min_grade: float | None = None) -> tuple[Asked, ...]:
    """The measures that words name under a convention, its defaults where none are given; no measure twice.

    min_grade: the lowest grade that counts as relevant, for every measure that has such a grade and was not given one.
    """
    asked: dict[str, Asked] = {}
    for text in texts or convention.defaults:
        measure = parse_measure(text, convention.words)
        is_exact = measure == _plain(text)
        rel = measure.entry.parameters.get("rel")
        if min_grade is not None and rel is not None and rel.default is not None and "rel" not in dict(measure.given):
            measure = measure.with_parameters(rel=min_grade)
        asked.setdefault(str(measure), Asked(measure, str(measure) if is_exact else text.strip()))
    return tuple(asked.values())


def _plain(text: str) -> Measure | None:
    """The measure whose exact name a text is, if any."""
    try:
        measure = parse_measure(text)
    except (UnknownName, BadUsage):
        return None
    return measure if measure.name == text.strip().split("(")[0].split("@")[0] else None


def _choice(what: str, value: str, options: Any) -> Any:
    if value not in get_args(options):
        raise UnknownName(f"no {what} is called {value!r}; choose one of {', '.join(get_args(options))}.")
    return value
