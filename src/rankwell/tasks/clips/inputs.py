"""The inputs of an evaluation, read and validated: annotations, queries, measures and excluded
clips.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.core.kernels.similarity import Metric
from rankwell.core.options import cutoffs
from rankwell.core.registry import at_each_cutoff, measure_names
from rankwell.core.tables import Bools
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, UnknownName, count_of, flag
from rankwell.tasks.clips.annotations import Annotations, Keyword, QueryKeywords, with_groups
from rankwell.tasks.clips.formats import TextQuery, read_annotations, read_text_queries
from rankwell.tasks.clips.options import ClipOptions, names
from rankwell.tasks.clips.truth import Relevance

_WORDS = ("P", "R", "AP", "nDCG")


class ClipInputs:
    """The inputs of an evaluation. Raises BadUsage for options that contradict the annotations,
    BadInput for bad tables.

    selection: (keywords,) those that count. labelled: text query -> keywords, None where no file
    labels them. titles: query -> its name in messages. drives: clip -> its drive. excluded: query
    -> clips that are removed before any cut. ks: ascending.
    """

    def __init__(
        self,
        annotations: Any,
        options: ClipOptions,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        groups, self.keywords = (
            names(options.groups, flag("--groups")),
            names(options.keywords, flag("--keywords")),
        )
        self.options, self.progress = options, progress
        self.annotations = table = read_annotations(
            annotations, schema=options.schema, groups=groups
        )
        self.selection = table.select(groups, self.keywords)
        self.convention, self.ks = (
            _convention(options.convention),
            tuple(sorted(set(cutoffs(options.k)))),
        )
        self.measures = choose_clip_measures(
            measure_names(options.measures), self.ks, self.convention
        )
        self.drives = (
            None if options.exclude_group is None else _drives(table, options.exclude_group)
        )
        self.queries, self.labelled = _queries(table, self.selection, options)
        self.notes: list[str] = []
        if (
            bare := []
            if self.drives is None
            else [clip for clip in table.clips if clip not in self.drives]
        ):
            count = (
                f"{flag('--exclude-group', options.exclude_group)}: "
                f"{count_of(len(bare), 'clip has', 'clips have')} none"
            )
            self.notes.append(f"{count}: {named(bare)}; for them they alone are left out")
        self.notes += [
            f"{name!r} is a group without any keyword"
            for name in groups
            if table.find_group(name) in table.bare_groups
        ]
        # A text without an id of its own is named by its words.
        titles = {
            query.id: query.text if query.id == str(place) else query.id
            for place, query in enumerate(self.queries)
        }
        self.titles = titles if options.mode == "text" else {}
        self.relevance = Relevance.parse(options.relevance)
        self.excluded = _exclusions(table, self.drives, options.self_rule) if self.by_clips else {}

    @property
    def by_clips(self) -> bool:
        """Whether clips are the queries."""
        return self.options.mode == "video"

    @property
    def is_cut_first(self) -> bool:
        """Whether lists are cut before the query clip is removed, as in Algorithm 2."""
        return self.options.self_rule == "after"

    @property
    def metric(self) -> Metric | None:
        """The similarity of vectors, None where the ranking is not a search over vectors."""
        return (
            (self.options.metric or "cosine")
            if self.options.engine is None and self.options.run is None
            else None
        )

    @property
    def ties(self) -> str | None:
        """The tie rule, None for the system's own."""
        return self.options.ties or ("id-asc" if self.is_cut_first and self.metric else None)

    @property
    def k(self) -> int:
        """The largest cut-off."""
        return max(self.ks)

    @property
    def depth(self) -> int | None:
        """The deepest rank that a measure or a cut-off reads; None for all."""
        cuts = [each.measure.cutoff for each in self.measures]
        return None if None in cuts else max(each or 0 for each in (*cuts, *self.ks))

    @cached_property
    def texts(self) -> dict[str, str]:
        """query -> its text."""
        return {query.id: query.text for query in self.queries}

    def title(self, query: str) -> str:
        """The name of a query in messages."""
        return self.titles.get(query, query)


def _convention(name: str) -> Convention:
    """The convention of a name; that of ties and counted queries is said by the rules, as it is not
    that of runs.
    """
    found = find_convention(name, "clips")
    return (
        found._replace(
            title="the names of ir_measures; the rules below name ties and counted queries"
        )
        if name == "rankwell"
        else found
    )


def choose_clip_measures(
    texts: Sequence[str] | None, ks: Sequence[int], convention: Convention
) -> tuple[LabelledMeasure, ...]:
    """The measures of the texts, at each cut-off where they need one or the convention gives them
    one.
    """
    cut = {each.partition("@")[0].lower() for each in convention.defaults if "@" in each}
    words = (
        _WORDS
        if convention.name == "rankwell"
        else dict.fromkeys(each.partition("@")[0] for each in convention.defaults)
    )
    spelled: list[str] = []
    for text in texts or words:
        name = text.partition("(")[0].strip().lower()
        bare = "@" not in text and name in cut
        spelled += (
            [f"{text}@{k}" for k in ks] if bare else at_each_cutoff(text, ks, convention.words)
        )
    labelled = choose_measures(spelled, convention)
    check_views((each.measure for each in labelled), JudgedRankings)
    return labelled


def _drives(table: Annotations, column: str) -> dict[str, str]:
    """clip -> the value of a column, or the part of its id before a text. Raises BadUsage where no
    clip has one.
    """
    kind, colon, text = column.partition(":")
    if colon and kind == "id" and text:
        parts = {clip: clip.rpartition(text)[0] for clip in table.clips if text in clip}
        if not parts:
            what = f"{flag('--exclude-group', column)}: no clip id contains {text!r}"
            raise BadUsage(f"{what}; an id is {table.clips[0]!r}, name the text after its drive.")
        return parts
    found = {clip: own[column] for clip, own in table.attributes.items() if column in own}
    if not found:
        known = ", ".join(
            map(repr, sorted({name for own in table.attributes.values() for name in own}))
        )
        what = f"{flag('--exclude-group', column)}: no such column in the annotations"
        raise BadUsage(
            f"{what}; there are {known or 'none beside the keywords'}. id:_clip takes it from ids."
        )
    return found


def named(ids: Sequence[str], most: int = 5) -> str:
    """The first ids, for notes."""
    return ", ".join(map(repr, ids[:most])) + (
        f" and {len(ids) - most} more" if len(ids) > most else ""
    )


def _exclusions(
    table: Annotations, drives: Mapping[str, str] | None, self_rule: str
) -> dict[str, list[str]]:
    """query -> clips that are removed from its list before any cut."""
    same: dict[str, list[str]] = {}
    for clip, drive in (drives or {}).items():
        same.setdefault(drive, []).append(clip)
    own: dict[str, list[str]] = (
        {} if self_rule == "after" else {clip: [clip] for clip in table.clips}
    )
    return own | {clip: same[drive] for clip, drive in (drives or {}).items()}


def _queries(
    table: Annotations, selection: Bools, options: ClipOptions
) -> tuple[list[TextQuery], dict[str, QueryKeywords] | None]:
    """The queries, and the keywords of text queries by their file; None where it labels none."""
    if options.mode == "video":
        chosen = _query_clips(table, names(options.query_clips, flag("--query-clips")))
        return [TextQuery(clip, clip) for clip in chosen], None
    if options.queries is None:
        chosen = [each for each, on in zip(table.keywords, selection.tolist(), strict=True) if on]
        labels = [each.label for each in chosen]
        ids = [
            f"{each.group}: {each.label}" if labels.count(each.label) > 1 else each.label
            for each in chosen
        ]
        queries = [TextQuery(key, each.label) for key, each in zip(ids, chosen, strict=True)]
        return queries, {key: QueryKeywords((each,)) for key, each in zip(ids, chosen, strict=True)}
    listed = read_text_queries(options.queries)
    if all(query.keywords is None and not query.excluded for query in listed):
        return listed, None
    sides = {query.id: (query.keywords or (), query.excluded) for query in listed}
    return listed, {
        query: QueryKeywords(*(_keywords_of(table, selection, query, each) for each in texts))
        for query, texts in sides.items()
    }


def _query_clips(table: Annotations, texts: Sequence[str]) -> Sequence[str]:
    """The clips of the ids and those that carry one of the keywords, in the order of the table; all
    where nothing is named.
    """
    chosen = np.full(len(table.clips), not texts)
    for text in texts:
        if text in table.index:
            chosen[table.index[text]] = True
            continue
        try:
            chosen |= table.carried[:, [table.column[each] for each in table.find(text)]].any(
                axis=1
            )
        except UnknownName as error:
            near = difflib.get_close_matches(text, table.clips, n=1)
            what = f"{flag('--query-clips')}: {text!r} is neither a clip nor a keyword"
            raise UnknownName(
                f"{what}; did you mean the clip {near[0]!r}?" if near else f"{what}: {error}"
            ) from error
    if not chosen.any():
        raise NothingToEvaluate(
            f"{flag('--query-clips')} {', '.join(texts)}: no clip has such a keyword; name "
            "another one."
        )
    return [clip for clip, on in zip(table.clips, chosen.tolist(), strict=True) if on]


def _keywords_of(
    table: Annotations, selection: Bools, query: str, texts: Sequence[str]
) -> tuple[Keyword, ...]:
    found: list[Keyword] = []
    for text in texts:
        try:
            meant = table.find(text)
        except UnknownName as error:
            raise BadInput(f"query {query!r}: {error}") from error
        chosen = [each for each in meant if selection[table.column[each]]]
        if len(chosen) > 1:
            raise BadInput(
                f"query {query!r}: {text!r} is a keyword of several groups; write "
                f"{with_groups(chosen)}."
            )
        found += chosen
    return tuple(found)
