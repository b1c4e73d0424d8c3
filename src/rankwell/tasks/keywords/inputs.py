"""The inputs of an evaluation, read and validated: annotations, queries, measures and excluded
clips.
"""

import difflib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from rankwell._native.similarity import Metric
from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import odd_entries
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import CountProgress, cutoffs
from rankwell.data.registry import at_each_cutoff, measure_names
from rankwell.data.tables import grouped
from rankwell.errors import (
    BadInput,
    BadUsage,
    NothingToEvaluate,
    UnknownName,
    count_of,
    first_of,
    flag,
)
from rankwell.tasks.keywords.annotations import Keyword, Keywords, QueryKeywords, with_groups
from rankwell.tasks.keywords.conventions import ClipConvention
from rankwell.tasks.keywords.formats import read_annotations, read_text_queries
from rankwell.tasks.keywords.options import KeywordOptions, Relevance, names


class ClipInputs:
    """The inputs of an evaluation.

    options, progress: the arguments of the evaluation.
    annotations: the clips with their keywords.
    keywords, query_ids: the names given in the options; empty for all.
    selection: (keywords,) whether the keyword counts.
    convention: the convention whose names and units the measures have.
    ks: the cut-offs, ascending.
    measures: the measures with the words for them in outputs.
    drives: clip -> its drive, for clips that have one; None where no drives are excluded.
    texts: query -> its text; for a query clip its id.
    labelled: text query -> its keywords; None where no file labels the queries with keywords.
    findings: findings on groups and drives.
    relevance: the rule of relevance.
    excluded: query -> clips that are removed before any cut; empty for text queries.

    Raises BadUsage for options that contradict the annotations, BadInput for bad tables.
    """

    def __init__(
        self, annotations: Any, options: KeywordOptions, progress: CountProgress | None = None
    ) -> None:
        groups = names(options.keyword_groups, flag("--keyword-groups"))
        self.keywords = names(options.keywords, flag("--keywords"))
        self.options, self.progress = options, progress
        self.annotations = table = read_annotations(
            annotations, schema=options.schema, groups=groups
        )
        self.selection = table.select(groups, self.keywords)
        self.convention = find_convention(options.convention, "keywords")
        self.rules = self.convention.rules_of("keywords", ClipConvention())
        self._check_rules()
        self.ks = cutoffs(options.k)
        self.measures = choose_clip_measures(
            measure_names(options.measures), self.ks, self.convention
        )
        self.drives = None if options.exclude_group is None else self._drives(options.exclude_group)
        self.query_ids = names(options.query_ids, flag("--query-ids"))
        self.texts, self.labelled = self._queries()
        self.findings: list[Finding] = []
        drives = self.drives or {}
        bare = [clip for clip in table.clips if clip not in drives]
        if bare and drives:
            number = count_of(len(bare), "clip has", "clips have")
            self.findings.append(
                odd_entries(
                    f"{flag('--exclude-group', options.exclude_group)}: {number} none: "
                    f"{named(bare)}; for them they alone are left out"
                )
            )
        self.findings += [
            odd_entries(f"{name!r} is a group without any keyword")
            for name in groups
            if table.find_group(name) in table.bare_groups
        ]
        self.relevance = Relevance.parse(options.relevance)
        clips_of = grouped((drive, clip) for clip, drive in drives.items())
        alone = {} if self.is_cut_first else {clip: [clip] for clip in table.clips}
        excluded = alone | {clip: clips_of[drive] for clip, drive in drives.items()}
        self.excluded = excluded if self.by_clips else {}

    def _check_rules(self) -> None:
        """Raises BadUsage for rules of the convention that contradict the options."""
        name = self.convention.name
        if self.rules.no_results == "skip" and self.options.min_similarity is None:
            raise BadUsage(
                f"{name}: no_results = 'skip' needs {flag('--min-similarity')}; without it every "
                "result counts."
            )
        if self.is_cut_first and self.options.exclude_group is not None:
            raise BadUsage(
                f"{name}: self_rule = 'after' is Algorithm 2 of ALFA, which removes the query clip "
                f"alone; leave {flag('--exclude-group')} out."
            )

    @property
    def by_clips(self) -> bool:
        """Whether clips are the queries."""
        return self.options.mode == "video"

    @property
    def is_cut_first(self) -> bool:
        """Whether lists are cut before the query clip is removed, as in Algorithm 2."""
        return self.by_clips and self.rules.self_rule == "after"

    @property
    def metric(self) -> Metric | None:
        """The similarity of vectors, None where the ranking is not a search over vectors."""
        is_search = self.options.engine is None and self.options.run is None
        return (self.options.metric or "cosine") if is_search else None

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
        cuts = [labelled_measure.measure.cutoff for labelled_measure in self.measures]
        return None if None in cuts else max(cut or 0 for cut in (*cuts, *self.ks))

    @cached_property
    def _titles(self) -> dict[str, str]:
        # A text without an id of its own is named by its words.
        numbered = enumerate(self.texts.items())
        return {query: text for number, (query, text) in numbered if query == str(number)}

    def title(self, query: str) -> str:
        """The name of a query in messages."""
        return self._titles.get(query, query)

    def _drives(self, column: str) -> dict[str, str]:
        """clip -> the value of a column, or the part of its id before a text. Raises BadUsage where
        no clip has one.
        """
        table = self.annotations
        kind, colon, text = column.partition(":")
        if colon and kind == "id" and text:
            parts = {clip: clip.rpartition(text)[0] for clip in table.clips if text in clip}
            if not parts:
                raise BadUsage(
                    f"{flag('--exclude-group', column)}: no clip id contains {text!r}; an id is "
                    f"{table.clips[0]!r}, name the text after its drive."
                )
            return parts
        attributes = table.attributes
        drives = {
            clip: of_clip[column] for clip, of_clip in attributes.items() if column in of_clip
        }
        if not drives:
            columns = ", ".join(map(repr, sorted(set().union(*attributes.values()))))
            others = f"other columns are {columns}" if columns else "all columns are keywords"
            raise BadUsage(
                f"{flag('--exclude-group', column)}: no such column in the annotations; {others}. "
                "Add the column, or write id:_clip to group clips by what their ids have before "
                "'_clip'."
            )
        return drives

    def _queries(self) -> tuple[dict[str, str], dict[str, QueryKeywords] | None]:
        """The texts of the queries, and the keywords of text queries by their file; None where it
        labels none.
        """
        if self.by_clips:
            return {clip: clip for clip in self._clips_that_search()}, None
        if not self.options.has_texts:
            keywords = list(compress(self.annotations.keywords, self.selection.tolist()))
            counts = Counter(label for _, label in keywords)
            keyword_of = {
                f"{group}: {label}" if counts[label] > 1 else label: Keyword(group, label)
                for group, label in keywords
            }
            return {name: keyword.label for name, keyword in keyword_of.items()}, {
                name: QueryKeywords((keyword,)) for name, keyword in keyword_of.items()
            }
        text_queries = read_text_queries(self.options.queries)
        texts = {query.id: query.text for query in text_queries}
        if all(query.keywords is None and not query.excluded for query in text_queries):
            return texts, None
        return texts, {
            query.id: QueryKeywords(
                self._keywords_of(query.id, query.keywords or ()),
                self._keywords_of(query.id, query.excluded),
            )
            for query in text_queries
        }

    def _clips_that_search(self) -> Sequence[str]:
        """The clips of the ids and those that carry one of the keywords, in the order of the table;
        all where nothing is named.
        """
        table, texts = self.annotations, self.query_ids
        is_query = np.full(len(table.clips), not texts)
        for text in texts:
            if text in table.index:
                is_query[table.index[text]] = True
                continue
            try:
                columns = [table.column[keyword] for keyword in table.find(text)]
            except UnknownName as error:
                near = difflib.get_close_matches(text, table.clips, n=1)
                hint = f"; did you mean the clip {near[0]!r}?" if near else f": {error}"
                raise UnknownName(
                    f"{flag('--query-ids')}: {text!r} is neither a clip nor a keyword{hint}"
                ) from error
            is_query |= table.carried[:, columns].any(axis=1)
        if not is_query.any():
            raise NothingToEvaluate(
                f"{flag('--query-ids')} {', '.join(texts)}: no clip has such a keyword; name "
                "another one."
            )
        return list(compress(table.clips, is_query.tolist()))

    def _keywords_of(self, query: str, texts: Sequence[str]) -> Keywords:
        table, keywords = self.annotations, list[Keyword]()
        for text in texts:
            try:
                meant = table.find(text)
            except UnknownName as error:
                raise BadInput(f"query {query!r}: {error}") from error
            selected = [keyword for keyword in meant if self.selection[table.column[keyword]]]
            if len(selected) > 1:
                raise BadInput(
                    f"query {query!r}: {text!r} is a keyword of several groups; write "
                    f"{with_groups(selected)}."
                )
            keywords += selected
        return tuple(keywords)


def choose_clip_measures(
    texts: Sequence[str] | None, ks: Sequence[int], convention: Convention
) -> tuple[LabelledMeasure, ...]:
    """The measures of the texts, at each cut-off where they need one or the convention gives them
    one.
    """
    bare = {default: default.partition("@")[0] for default in convention.defaults}
    is_cut = {word.lower() for default, word in bare.items() if "@" in default}
    spelled: list[str] = []
    for text in texts or dict.fromkeys(bare.values()):
        name = text.partition("(")[0].strip().lower()
        if "@" not in text and name in is_cut:
            spelled += [f"{text}@{k}" for k in ks]
        else:
            spelled += at_each_cutoff(text, ks, convention.words)
    measures = choose_measures(spelled, convention)
    check_views((labelled.measure for labelled in measures), JudgedRankings)
    return measures


def named(ids: Sequence[str]) -> str:
    """The first ids, for findings."""
    return first_of(map(repr, ids))
