"""What the contracts of measures try: every measure with many settings of its parameters, on the
worlds that its view needs.
"""

import itertools
from collections.abc import Mapping
from functools import cache
from inspect import Parameter
from random import Random
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from make import MAKERS, Maker, World
from rankwell import judged_rankings
from rankwell.data.registry import MEASURES, Measure, MeasureEntry
from rankwell.errors import BadUsage

NAMES = list(MEASURES)
SEEDS = range(10)
"""The worlds that the contracts try; a variant is one that all of them allow."""
JUDGED = [name for name in NAMES if MEASURES[name].view.__name__ == "JudgedRankings"]

# What to try for parameters that have a usual name; others are tried by their type.
CHOICES: dict[str, tuple[Any, ...]] = {
    "k": (3, 1, 10, 100, None),
    "rel": (1.0, 0.5, 2.0),
    "recall": (0.5, 0.0, 0.1, 0.35, 1.0),
    "x": (0.3, 1.0, 2.0),
    "max_rel": (3.0, 4.0),
    "min_rel": (0.0, 1.0),
    "p": (0.5, 0.95),
    "gains": (((0.0, 0.5), (1.0, 3.0), (2.0, 2.0)),),
    "recalls": ((0.0, 0.35, 1.0),),
    "n_items": (1000,),
    "alpha": (0.01, 0.3),
    "clip": (0.4, 1.5, None),
    "head": (2, 30, None),
    "encoder": ("oracles.answer_texts:letters",),
    "judge": ("oracles.answer_texts:same_length",),
}


def entry_of(name: str) -> MeasureEntry:
    return MEASURES[name]


def maker_of(name: str) -> Maker:
    view = MEASURES[name].view.__name__
    assert view in MAKERS, f"tests/make.py has no maker for {view}, which {name} reads"
    return MAKERS[view]


@cache
def world_of(name: str, seed: int) -> tuple[World, Any]:
    """The world of this seed for the view that the measure reads, and the view; made once for all
    measures of that view.
    """
    return _world(MEASURES[name].view.__name__, seed)


@cache
def _world(view: str, seed: int) -> tuple[World, Any]:
    world = MAKERS[view].world(seed)
    return world, MAKERS[view].join(world.truth, world.run)


def options(parameter: Parameter) -> list[Any]:
    """Values to try for a parameter."""
    kinds = (
        get_args(parameter.annotation)
        if get_origin(parameter.annotation) not in (Literal, tuple)
        else (parameter.annotation,)
    )
    kinds = kinds or (parameter.annotation,)
    if parameter.name in CHOICES:
        return [
            value for value in CHOICES[parameter.name] if value is not None or NoneType in kinds
        ]
    found: list[Any] = [None] if NoneType in kinds else []
    for kind in kinds:
        if get_origin(kind) is Literal:
            found += get_args(kind)
        elif kind is bool:
            found += [False, True]
        elif kind is int:
            found += [1, 2, 5]
        elif kind is float:
            found += [0.5, 2.0]
    return found


def simplest(entry: MeasureEntry) -> Measure:
    """The measure with what it must be given and nothing else."""
    given = {
        each.name: options(each)[0]
        for each in entry.parameters.values()
        if each.default is each.empty
    }
    return Measure(entry.name, tuple(given.items()))


@cache
def variants(name: str) -> tuple[Measure, ...]:
    """The simplest measure, each parameter varied alone, and some that vary several; without those
    that the measure refuses.

    A value that is refused alone is tried in the company of others, so that none which the measure
    has a use for goes untried.
    """
    entry, base = MEASURES[name], simplest(MEASURES[name])
    random, views = Random(name), [world_of(name, seed)[1] for seed in SEEDS]
    varied = [each for each in entry.parameters.values() if options(each)]

    def _drawn() -> dict[str, Any]:
        some = random.sample(varied, random.randint(0, len(varied)))
        return {each.name: random.choice(options(each)) for each in some}

    def _accepted(measure: Measure) -> bool:
        return all(accepted(measure, view) for view in views)

    found = [
        measure
        for measure in (base.with_parameters(**_drawn()) for _ in range(8))
        if _accepted(measure)
    ]
    for key, value in ((each.name, value) for each in varied for value in options(each)):
        alone = base.with_parameters(**{key: value})
        tried = itertools.chain(
            [alone], (base.with_parameters(**_drawn() | {key: value}) for _ in range(40))
        )
        found += itertools.islice(filter(_accepted, tried), 1)
    return tuple(dict.fromkeys([base, *found]))


def accepted(measure: Measure, view: Any) -> bool:
    try:
        measure(view)
    except BadUsage:
        return False
    return True


def by_query(view: Any, values: Any) -> dict[str, bytes]:
    """The bytes of each query's value."""
    return {query: value.tobytes() for query, value in zip(view.queries, values, strict=True)}


Pairs = Mapping[str, tuple[dict[str, float], dict[str, float] | None]]


def join(pairs: Pairs, ties: Any = "id-desc") -> Any:
    """The view of queries with their grades and, where there is one, their ranking."""
    truth = {query: graded for query, (graded, _) in pairs.items()}
    run = {query: scored for query, (_, scored) in pairs.items() if scored is not None}
    return judged_rankings(truth, run, ties=ties)
