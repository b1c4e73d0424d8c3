"""What a user may choose, and what follows from it: measures, queries, and the clips that are removed before any cut."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from rankwell.conventions import Asked, Convention, choose_measures
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.files.annotations import TextQuery, read_text_queries
from rankwell.registry import parse_measure
from rankwell.tables import Bools
from rankwell.tables.annotations import Annotations
from rankwell.tables.vocabulary import Keyword
from rankwell.views.judged import JudgedRankings

Mode = Literal["video", "text"]
SelfRule = Literal["before", "after"]
NoKeywords = Literal["skip", "empty", "vacuous", "error"]
NoRelevant = Literal["skip", "empty", "error"]
Unjudged = Literal["nonrelevant", "skip", "error"]
Weights = Literal["uniform", "relevant"]
_WORDS = ("P", "R", "AP", "nDCG")


def check(mode: str, k: Sequence[int], least: Any, self_rule: str, group: str | None, queries: Any, map_text: Any) -> None:
    """Raises BadUsage and UnknownName for options that cannot be, or do not go together."""
    if not k or any(each < 1 for each in k):
        raise BadUsage(f"k={tuple(k)!r}: cut-offs are whole numbers from 1, as 1,3,5.")
    if least is not None and not np.isfinite(least):
        raise BadUsage(f"the similarity {least} is no threshold; a finite number is wanted.")
    if mode not in ("video", "text"):
        raise UnknownName(f"no mode is called {mode!r}; there are video and text.")
    if mode == "video" and (queries is not None or map_text is not None):
        raise BadUsage("in the mode video every clip is a query; texts go with the mode text.")
    if mode == "text" and (self_rule == "after" or group is not None):
        raise BadUsage("a text is no clip, so that neither itself nor its drive can be left out; this goes with the mode video.")
    if self_rule == "after" and group is not None:
        raise BadUsage("--self after is Algorithm 2 to the letter, which knows no drives; leave --exclude-group out.")


def measures(texts: Sequence[str] | None, ks: Sequence[int], convention: Convention) -> tuple[Asked, ...]:
    """The measures that texts name, at each cut-off where they need one or the convention gives them one."""
    cut = {each.partition("@")[0].lower() for each in convention.defaults if "@" in each}
    bare = list(dict.fromkeys(each.partition("@")[0] for each in convention.defaults))
    spelled: list[str] = []
    for text in texts or (bare if convention.name != "rankwell" else _WORDS):
        name = text.partition("(")[0].strip().lower()
        spelled += [f"{text}@{k}" for k in ks] if "@" not in text and (name in cut or _needs_k(text, convention)) else [text]
    asked = choose_measures(spelled, convention)
    for each in asked:
        if each.measure.entry.view is not JudgedRankings:
            raise BadUsage(f"{each.measure} reads {each.measure.entry.view.__name__}; clips make judged rankings.")
    return asked


def _needs_k(text: str, convention: Convention) -> bool:
    try:
        parse_measure(text, convention.words)
    except UnknownName:
        raise
    except BadUsage:
        try:
            return parse_measure(f"{text}@1", convention.words).cutoff == 1
        except BadUsage:
            return False
    return False


def drives(table: Annotations, column: str) -> dict[str, str]:
    """clip -> the value of a column, or the part of its id before a text. Raises BadUsage where no clip has one."""
    kind, colon, text = column.partition(":")
    if colon and kind == "id" and text:
        return {clip: clip.rpartition(text)[0] for clip in table.clips if text in clip}
    found = {clip: told[column] for clip, told in table.attributes.items() if column in told}
    if not found:
        known = sorted({name for told in table.attributes.values() for name in told})
        listed = ", ".join(map(repr, known)) if known else "none beside the keywords"
        raise BadUsage(
            f"--exclude-group {column}: no such column in the annotations; there are {listed}. id:_clip takes it from ids."
        )
    return found


def barred(table: Annotations, labels: Mapping[str, str] | None, self_rule: str) -> dict[str, list[str]]:
    """query -> clips that are removed from its list before any cut."""
    same: dict[str, list[str]] = {}
    for clip, label in (labels or {}).items():
        same.setdefault(label, []).append(clip)
    own = [] if self_rule == "after" else list(table.clips)
    barred = {clip: [clip] for clip in own}
    return barred | {clip: same[label] for clip, label in (labels or {}).items()}


def queries(
    table: Annotations, selection: Bools, mode: str, queries: Any
) -> tuple[list[TextQuery], dict[str, tuple[Keyword, ...]] | None]:
    """The queries, and what those that are texts ask for by their file; None where no file says anything."""
    if mode == "video":
        return [TextQuery(clip, clip) for clip in table.clips], None
    if queries is None:
        chosen = [each for each, on in zip(table.keywords, selection.tolist(), strict=True) if on]
        twice = {each.label for each in chosen if [other.label for other in chosen].count(each.label) > 1}
        names = [f"{each.group}: {each.label}" if each.label in twice else each.label for each in chosen]
        return (
            [TextQuery(name, each.label) for name, each in zip(names, chosen, strict=True)],
            {name: (each,) for name, each in zip(names, chosen, strict=True)},
        )
    listed = read_text_queries(queries)
    if all(query.keywords is None for query in listed):
        return listed, None
    return listed, {query.id: _asked_for(table, selection, query) for query in listed}


def _asked_for(table: Annotations, selection: Bools, query: TextQuery) -> tuple[Keyword, ...]:
    found: list[Keyword] = []
    for text in query.keywords or ():
        try:
            meant = table.find(text)
        except UnknownName as error:
            raise BadInput(f"query {query.id!r}: {error}") from error
        chosen = [each for each in meant if selection[table.column[each]]]
        if len(chosen) > 1:
            where = " and ".join(each.group for each in chosen)
            raise BadInput(f"query {query.id!r}: {text!r} is a keyword of {where}; write group: label.")
        found += chosen
    return tuple(found)
