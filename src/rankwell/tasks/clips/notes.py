"""Notes beside the values: queries that do not count and why, and the effect of mapping texts to keywords."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankwell.core.tables import Bools, Values
from rankwell.errors import NothingToEvaluate
from rankwell.stats.summaries import summarise
from rankwell.tasks.clips.sources import named, plural
from rankwell.tasks.clips.variant import ClipVariant, MeasuredVariant

_MOST = 5


def refuse_empty(variant: ClipVariant, notes: Sequence[str]) -> None:
    """Raises NothingToEvaluate, with the notes that may explain it, where no query counts."""
    if variant.counted.any():
        return
    status = variant.status
    bare, alone = status.count("no keywords"), status.count("no relevant clip")
    other = "other " if variant.task.mode == "video" else ""
    why = f"{bare} ask for no keyword of the selection, {alone} for what no {other}clip has"
    reasons = "".join(f"; {note.rstrip('.')}" for note in notes[:_MOST])
    raise NothingToEvaluate(f"{variant.name}: none of {plural(len(status), 'query', 'queries')} counts: {why}{reasons}.")


def variant_notes(measured: MeasuredVariant) -> list[str]:
    """The queries that are left out, by all or by some measures, and the lists that the rules do not expect."""
    variant = measured.variant
    run, total = variant.run, len(variant.status)
    out: list[str] = []
    for status, one, several in (
        (
            "no keywords",
            "asks for no keyword of the selection and is left out",
            "ask for no keyword of the selection and are left out",
        ),
        ("no relevant clip", "has no relevant clip and is left out", "have no relevant clip and are left out"),
    ):
        mine = _where(variant, np.array([each == status for each in variant.status]))
        if mine:
            out.append(f"{variant.name}: {len(mine)} of {total} queries {one if len(mine) == 1 else several}: {named(mine)}")
    out += _without_match(measured)
    below = variant.counted & variant.view.present & (variant.view.retrieved == 0)
    if variant.task.least is not None and below.any():
        mine = _where(variant, below)
        what = f"of {len(mine)} of {total} queries every result is below the similarity {variant.task.least:g}"
        out.append(
            f"{variant.name}: {what}; they count, with an empty result (the evaluator of ALFA leaves them out): {named(mine)}"
        )
    without = run.without_query
    if without.any():
        mine = _where(variant, without)
        what = f"{plural(len(mine), 'list does', 'lists do')} not hold the query itself, so that nothing is removed after the cut"
        out.append(f"{variant.name}: {what}: {named(mine)}")
    return out


def _where(variant: ClipVariant, chosen: Bools) -> list[str]:
    queries = variant.required.queries
    return [variant.title(queries[row]) for row in np.flatnonzero(chosen).tolist()]


def _without_match(measured: MeasuredVariant) -> list[str]:
    """The measures that leave out queries for which no clip has all keywords."""
    variant, without = measured.variant, measured.variant.run.without_match
    if variant.task.relevance.kind != "graded" or not without.any():
        return []
    short = [values.label for values in measured.values if (without & ~values.counted).any()]
    mine = _where(variant, without)
    what = f"{variant.name}: for {plural(len(mine), 'counted query', 'counted queries')} no clip has all the keywords"
    so = f", and {', '.join(short)}, for which a clip is relevant or not, leave them out" if short else ""
    return [f"{what}{so}: {named(mine)}"]


def mapping_notes(readings: Sequence[MeasuredVariant]) -> list[str]:
    """The queries whose text is mapped to other keywords than their file gives, so that the mapping is wrong and not the search;
    and the means of both readings over the queries that count in both."""
    found = {each.variant.how: each for each in readings}
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
    return out + _common(given.values, mapped.values)


def _common(given: Sequence[Values], mapped: Sequence[Values]) -> list[str]:
    """The means over the queries that count in both readings, of the measures for which these are not all."""
    means_of: dict[int, list[str]] = {}
    for one, two in zip(given, mapped, strict=True):
        both = one.counted & two.counted
        if not both.any() or (np.array_equal(one.counted, both) and np.array_equal(two.counted, both)):
            continue
        pair = [replace(each, values=np.where(both, each.values, np.nan)) for each in (one, two)]
        means = [row.mean for row in summarise(pair, intervals="none")]
        if None not in means:
            means_of.setdefault(int(both.sum()), []).append(f"{one.label} {means[0]:.4f} given, {means[1]:.4f} mapped")
    return [
        f"over the {plural(count, 'query that counts', 'queries that count')} in both readings: {'; '.join(each)}"
        for count, each in means_of.items()
    ]


def empty_groups(bare: Sequence[str], chosen: Mapping[str, str]) -> list[str]:
    """The chosen groups without a keyword."""
    return [f"{name!r} is a group without any keyword" for name, group in chosen.items() if group in bare]
