"""The choices of a user, and the measures, queries and excluded clips that follow from them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure, choose_measures
from rankwell.core.registry import parse_measure
from rankwell.core.tables import Bools
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.formats import TextQuery, read_text_queries
from rankwell.tasks.clips.vocabulary import Keyword

Mode = Literal["video", "text"]
SelfRule = Literal["before", "after"]
NoKeywords = Literal["skip", "empty", "vacuous", "error"]
NoRelevant = Literal["skip", "empty", "error"]
Unjudged = Literal["nonrelevant", "skip", "error"]
Weights = Literal["uniform", "relevant"]
_WORDS = ("P", "R", "AP", "nDCG")


def check(mode: str, least: Any, self_rule: str, group: str | None, queries: Any, map_text: Any) -> None:
    """Raises BadUsage and UnknownName for options that cannot be, or do not go together."""
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


def names(given: str | Sequence[str]) -> list[str]:
    """Names that are given as a list, or as one text with commas between them."""
    return [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)


def cutoffs(k: int | Sequence[int]) -> tuple[int, ...]:
    """Cut-offs, ascending, each once. Raises BadUsage for what is no whole number from 1."""
    given: list[Any] = list(k) if isinstance(k, Sequence) else [k]
    if not given or not all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) and each >= 1 for each in given):
        raise BadUsage(f"k={k!r}: cut-offs are whole numbers from 1, as 1,3,5.")
    return tuple(sorted({int(each) for each in given}))


def reject_unused_options(
    mode: str, embeddings: Any, ids: Any, text_embeddings: Any, text_encoder: Any, engine: Any, run: Any, metric: str | None
) -> None:
    """Raises BadUsage for something given that nothing would read."""
    clips = {"--embeddings": embeddings, "--ids": ids, "--metric": metric}
    texts = {"--text-embeddings": text_embeddings, "--text-encoder": text_encoder}
    unused: dict[str, Any] = {}
    why = ""
    if run is not None and engine is None:
        unused, why = {**clips, **texts}, "the run is the ranking already"
    elif engine is not None and run is None:
        why = "the engine is what ranks"
        unused = {**texts, "--metric": metric, **(clips if mode == "text" else {"--ids": ids if embeddings is None else None})}
    elif embeddings is None:
        unused, why = {"--ids": ids}, "there are no embeddings that they would belong to"
    elif mode == "video":
        unused, why = texts, "in the mode video clips search, and no text"
    found = [name for name, value in unused.items() if value is not None]
    if found:
        them = "it" if len(found) == 1 else "them"
        raise BadUsage(f"{', '.join(found)}: nothing reads {them}, for {why}; leave {them} out.")
    if text_embeddings is not None and text_encoder is not None:
        raise BadUsage("--text-embeddings and --text-encoder both say what the texts' vectors are; leave one of them out.")


def drive_notes(table: Annotations, labels: Mapping[str, str], column: str) -> list[str]:
    """Notes on clips without a value, for which only they themselves are left out."""
    bare = [clip for clip in table.clips if clip not in labels]
    if not bare:
        return []
    have = "1 clip has" if len(bare) == 1 else f"{len(bare)} clips have"
    more = f" and {len(bare) - 5} more" if len(bare) > 5 else ""
    listed = ", ".join(map(repr, bare[:5])) + more
    return [f"--exclude-group {column}: {have} none: {listed}; for them they alone are left out"]


def titles(listed: Sequence[TextQuery]) -> dict[str, str]:
    """query -> what it is called in messages: its id, or its text where the id is only its place in the list."""
    return {query.id: query.text if query.id == str(place) else query.id for place, query in enumerate(listed)}


def measures(texts: Sequence[str] | None, ks: Sequence[int], convention: Convention) -> tuple[LabelledMeasure, ...]:
    """The measures that texts name, at each cut-off where they need one or the convention gives them one."""
    cut = {each.partition("@")[0].lower() for each in convention.defaults if "@" in each}
    bare = list(dict.fromkeys(each.partition("@")[0] for each in convention.defaults))
    spelled: list[str] = []
    for text in texts or (bare if convention.name != "rankwell" else _WORDS):
        name = text.partition("(")[0].strip().lower()
        spelled += [f"{text}@{k}" for k in ks] if "@" not in text and (name in cut or _needs_k(text, convention)) else [text]
    labelled = choose_measures(spelled, convention)
    for each in labelled:
        if each.measure.entry.view is not JudgedRankings:
            raise BadUsage(f"{each.measure} reads {each.measure.entry.view.__name__}; clips make judged rankings.")
    return labelled


def depth(measures: Sequence[LabelledMeasure], ks: Sequence[int]) -> int | None:
    """The deepest place that a measure or a cut-off looks at; None where a measure looks at all."""
    cuts = [each.measure.cutoff for each in measures]
    return None if None in cuts else max(each or 0 for each in (*cuts, *ks))


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
        parts = {clip: clip.rpartition(text)[0] for clip in table.clips if text in clip}
        if not parts:
            example = table.clips[0]
            raise BadUsage(
                f"--exclude-group {column}: no clip's id holds {text!r}; an id is {example!r}, name what follows its drive."
            )
        return parts
    found = {clip: own[column] for clip, own in table.attributes.items() if column in own}
    if not found:
        known = sorted({name for own in table.attributes.values() for name in own})
        listed = ", ".join(map(repr, known)) if known else "none beside the keywords"
        raise BadUsage(
            f"--exclude-group {column}: no such column in the annotations; there are {listed}. id:_clip takes it from ids."
        )
    return found


def exclusions(table: Annotations, labels: Mapping[str, str] | None, self_rule: str) -> dict[str, list[str]]:
    """query -> clips that are removed from its list before any cut."""
    same: dict[str, list[str]] = {}
    for clip, label in (labels or {}).items():
        same.setdefault(label, []).append(clip)
    own = [] if self_rule == "after" else list(table.clips)
    return {clip: [clip] for clip in own} | {clip: same[label] for clip, label in (labels or {}).items()}


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
    return listed, {query.id: _given_keywords(table, selection, query) for query in listed}


def _given_keywords(table: Annotations, selection: Bools, query: TextQuery) -> tuple[Keyword, ...]:
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
