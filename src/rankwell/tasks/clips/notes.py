"""What is to be said beside the figures: which queries do not count and why, and what the mapping of texts changes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Bools
from rankwell.core.tables.values import Values
from rankwell.errors import NothingToEvaluate
from rankwell.stats.summaries import summarise
from rankwell.tasks.clips.levels import Levels
from rankwell.tasks.clips.sources import named, plural
from rankwell.tasks.clips.variant import Variant

_MOST = 5


class Reading(NamedTuple):
    """One reading of what the queries ask for, with its figures. how: `given`, `mapped`, or nothing where there is one only."""

    how: str
    variant: Variant
    measured: Sequence[tuple[Values, Levels]]

    def facts(self) -> list[dict[str, Any]]:
        """The further columns of each measure's summary row."""
        how = {"keywords": self.how} if self.how else {}
        return [{**self.variant.facts(each), **how} for each in self.measured]


def refuse_empty(variant: Variant, notes: Sequence[str]) -> None:
    """Raises NothingToEvaluate, with the notes that may explain it, where no query counts."""
    if variant.counted.any():
        return
    told = variant.status
    bare, alone = told.count("no keywords"), told.count("no relevant clip")
    other = "other " if variant.task.mode == "video" else ""
    why = f"{bare} ask for no keyword of the selection, {alone} for what no {other}clip has"
    said = "".join(f"; {note.rstrip('.')}" for note in notes[:_MOST])
    raise NothingToEvaluate(f"{variant.run}: none of {plural(len(told), 'query', 'queries')} counts: {why}{said}.")


def variant_notes(variant: Variant, measured: Sequence[tuple[Values, Levels]]) -> list[str]:
    """Which queries are left out, by which measures, and which lists are not what the rules expect."""
    told, total = variant.status, len(variant.status)
    out: list[str] = []
    for status, one, several in (
        (
            "no keywords",
            "asks for no keyword of the selection and is left out",
            "ask for no keyword of the selection and are left out",
        ),
        ("no relevant clip", "has no relevant clip and is left out", "have no relevant clip and are left out"),
    ):
        mine = _where(variant, np.array([each == status for each in told]))
        if mine:
            out.append(f"{variant.run}: {len(mine)} of {total} queries {one if len(mine) == 1 else several}: {named(mine)}")
    out += _without_match(variant, measured)
    below = variant.counted & variant.bench.view.present & (variant.bench.view.retrieved == 0)
    if variant.task.least is not None and below.any():
        mine = _where(variant, below)
        what = f"of {len(mine)} of {total} queries every result is below the similarity {variant.task.least:g}"
        out.append(
            f"{variant.run}: {what}; they count, with an empty result (the evaluator of ALFA leaves them out): {named(mine)}"
        )
    without = variant.bench.without_query
    if without.any():
        mine = _where(variant, without)
        what = f"{plural(len(mine), 'list does', 'lists do')} not hold the query itself, so that nothing is removed after the cut"
        out.append(f"{variant.run}: {what}: {named(mine)}")
    return out


def _where(variant: Variant, chosen: Bools) -> list[str]:
    queries = variant.required.queries
    return [variant.title(queries[row]) for row in np.flatnonzero(chosen).tolist()]


def _without_match(variant: Variant, measured: Sequence[tuple[Values, Levels]]) -> list[str]:
    """Which measures leave out queries that no clip answers wholly."""
    if variant.task.relevance.kind != "graded" or not variant.without_match.any():
        return []
    short = [values.label for values, _ in measured if (variant.without_match & ~values.counted).any()]
    mine = _where(variant, variant.without_match)
    what = f"{variant.run}: for {plural(len(mine), 'counted query', 'counted queries')} no clip has all the keywords"
    so = f", and {', '.join(short)}, for which a clip is relevant or not, leave them out" if short else ""
    return [f"{what}{so}: {named(mine)}"]


def mapping_notes(readings: Sequence[Reading]) -> list[str]:
    """Which queries ask for something else by their text than by their file, for there the mapping is wrong, not the search; and
    the figures of both readings over the queries that count in both."""
    found = {each.how: each for each in readings}
    if set(found) != {"given", "mapped"}:
        return []
    given, mapped = found["given"], found["mapped"]
    one, two = given.variant.required, mapped.variant.required
    other = (one.wanted != two.wanted).any(axis=1)
    out: list[str] = []
    if other.any():
        mine, total = _where(given.variant, other), len(one.queries)
        is_ = "is" if len(mine) == 1 else "are"
        out.append(f"{len(mine)} of {total} texts {is_} mapped to other than the given keywords: {named(mine)}")
    return out + _common(given.measured, mapped.measured)


def _common(given: Sequence[tuple[Values, Levels]], mapped: Sequence[tuple[Values, Levels]]) -> list[str]:
    """The means over the queries that count in both readings, of the measures for which these are not all."""
    told: dict[int, list[str]] = {}
    for (one, _), (two, _) in zip(given, mapped, strict=True):
        both = one.counted & two.counted
        if not both.any() or (np.array_equal(one.counted, both) and np.array_equal(two.counted, both)):
            continue
        pair = [replace(each, values=np.where(both, each.values, np.nan)) for each in (one, two)]
        means = [row.mean for row in summarise(pair, intervals="none")]
        if None not in means:
            told.setdefault(int(both.sum()), []).append(f"{one.label} {means[0]:.4f} given, {means[1]:.4f} mapped")
    return [
        f"over the {plural(count, 'query that counts', 'queries that count')} in both readings: {'; '.join(each)}"
        for count, each in told.items()
    ]


def empty_groups(bare: Sequence[str], chosen: Mapping[str, str]) -> list[str]:
    """Which of the chosen groups hold no keyword."""
    return [f"{name!r} is a group without any keyword" for name, group in chosen.items() if group in bare]
