"""The rankings of a system: by a search over vectors, by a live engine, or from a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.products import Groups
from rankwell._native.similarity import RankTargets
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import odd_entries
from rankwell.data.matrices import Embeddings, as_real
from rankwell.data.rankings import Hits, Ranking, arrange, hits_of_ranking
from rankwell.data.tables import (
    Ints,
    Judgments,
    RankCounts,
    TieRule,
    columns_of,
    order_ids,
    position_in_segment,
    positions_by_id,
    segment_offsets,
    tie_rule,
    unmasked,
)
from rankwell.engines.objects import EngineObject
from rankwell.errors import BadInput, BadUsage, count_of, first_of, flag
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.io.formats import read_ranking
from rankwell.io.matrices import read_embeddings
from rankwell.store import Source, encode_id, sources_of, split_part
from rankwell.tasks.keywords.findings import distances_kept, engine_failures, ids_unmatched
from rankwell.tasks.keywords.inputs import ClipInputs, named
from rankwell.vectors.encoders import load_encoder
from rankwell.vectors.neighbours import SearchOptions, ranks_of, search

_PAIRS_AT_ONCE = 1 << 22


class ClipList(NamedTuple):
    """The results of one query, best first.

    items: ids of the clips.
    similarities: one for each item, higher is better; the negative of a distance; NaN where
        unknown.
    """

    items: list[str]
    similarities: list[float]


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedClips:
    """The rankings of a system for the queries of an evaluation.

    inputs: the annotations, the queries and the options.
    name: name of the system, from its file or its type.
    ties: the tie rule; `input` where the order of the lists is the ranking.
    findings: findings on clips and queries that are missing or unknown.
    sources: option -> the file that was read for it.
    unannotated_clips: clips without annotation that the system could have found; empty for engines
        and runs.
    failed: query -> error, where an engine failed; the list of such a query is empty.
    """

    inputs: ClipInputs
    name: str
    ties: TieRule
    findings: Sequence[Finding]
    sources: Mapping[str, Source]
    unannotated_clips: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def in_input_order(self) -> "RankedClips":
        """The rankings with tied items in the order of the input; itself where the order is
        definite.
        """
        return self

    @cached_property
    def first(self) -> dict[str, ClipList]:
        """query -> its first items, as many as a page shows."""
        lists = self.lists_to(max(DETAIL_DEPTH, self.inputs.k))
        return {query: lists.get(query, ClipList([], [])) for query in self.inputs.texts}

    def lists_to(self, depth: int) -> Mapping[str, ClipList]:
        """query -> its first items."""
        raise NotImplementedError

    def hits(self, judgments: Judgments) -> Hits:
        """Rank counts of the judged items of the least similarity or more."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipLists(RankedClips):
    """The lists of an engine or a run, in a definite order.

    lists: query -> its list, without repeated and excluded items; a query that failed or is missing
        in the run has none.
    """

    lists: Mapping[str, ClipList]

    def hits(self, judgments: Judgments) -> Hits:
        """Rank counts of the judged items of the least similarity or more."""
        least = self.inputs.options.min_similarity
        # The order is the ranking: similarities may be unknown, and need not descend.
        rows = [
            (query, item, -float(position))
            for query, results in self.lists.items()
            for position, item in enumerate(results.items)
        ]
        ranking = Ranking.from_rows(*columns_of(rows, 3), all_queries=self.lists)
        hits = hits_of_ranking(ranking, judgments, ties="input")
        similarities = [
            self.lists[judgments.queries[query]].similarities[int(-place_score)]
            for query, place_score in zip(hits.query.tolist(), hits.score.tolist(), strict=True)
        ]
        hits = replace(hits, score=np.array(similarities, dtype=np.float64))
        if least is None:
            return hits
        retrieved = np.zeros(len(judgments.queries), dtype=np.int64)
        for query, results in self.lists.items():
            if any(map(math.isnan, results.similarities)):
                raise BadInput(
                    f"query {query!r}: its results have no similarity, so that "
                    f"{flag('--min-similarity')} does not apply; leave it out."
                )
            retrieved[judgments.index[query]] = sum(
                similarity >= least for similarity in results.similarities
            )
        return _at_least(hits, least, retrieved)

    def lists_to(self, depth: int) -> Mapping[str, ClipList]:
        """query -> its first items."""
        return {
            query: ClipList(items[:depth], similarities[:depth])
            for query, (items, similarities) in self.lists.items()
        }


def _at_least(hits: Hits, least: float, retrieved: Ints) -> Hits:
    """The hits of that similarity or more. retrieved: (queries,) number of such items."""
    is_kept = hits.score >= least
    columns = {
        name: getattr(hits, name)[is_kept]
        for name in ("query", "row", "score", "above", "tied", "before")
    }
    return replace(hits, **columns, n_retrieved=retrieved)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipVectors(RankedClips):
    """An exact search over vectors.

    queries: vectors of the queries by id; a query without a vector has no result.
    vectors: vectors of the clips by id, in the order of the input, including clips without
        annotation unless they are skipped.
    """

    queries: Embeddings
    vectors: Embeddings

    @cached_property
    def items(self) -> Embeddings:
        """The vectors of the clips in the order of the tie rule."""
        if self.ties == "input":
            return self.vectors
        rows = order_ids(self.vectors.names())
        return self.vectors.take(rows[::-1] if self.ties == "id-desc" else rows)

    @property
    def in_input_order(self) -> "ClipVectors":
        """The same with the items, and so tied ones, in the order of the input."""
        return replace(self, ties="input")

    def hits(self, judgments: Judgments) -> Hits:
        """Rank counts of the judged items of the least similarity or more, by counting and not by
        sorting.
        """
        row_of = positions_by_id(self.queries.names())
        place_of = positions_by_id(self.items.names())
        row_of_query = np.array(
            [row_of.get(query, -1) for query in judgments.queries], dtype=np.int64
        )
        item_rows = np.array([place_of.get(item, -1) for item in judgments.items], dtype=np.int64)
        owners, is_searched = judgments.query_of_row, row_of_query >= 0
        rows = np.flatnonzero((item_rows >= 0) & is_searched[owners])
        counts = self._rank_counts(row_of_query, owners[rows], item_rows[rows])
        excluded = [
            len(place_of.keys() & self.inputs.excluded.get(query, ()))
            for query in judgments.queries
        ]
        retrieved = np.where(is_searched, self.items.n - np.array(excluded, dtype=np.int64), 0)
        hits = Hits(owners[rows], rows, *counts, retrieved, is_searched)
        least = self.inputs.options.min_similarity
        if least is None:
            return hits
        queries = self.queries.take(row_of_query[is_searched])
        shape = queries.n, 1
        targets = RankTargets(np.full(shape, least), np.zeros(shape, dtype=np.int64))
        above = ranks_of(queries, self.items, targets, options=self._options(queries))
        retrieved[is_searched] = (above.above + above.tied)[:, 0]
        return _at_least(hits, least, retrieved)

    def lists_to(self, depth: int) -> Mapping[str, ClipList]:
        """query -> its first items; equal similarities in the order of the tie rule, by ascending
        id where it names none.
        """
        neighbours = search(self.queries, self.items, k=depth, options=self._options(self.queries))
        names, lists = list(self.items.names()), dict[str, ClipList]()
        for query, positions, scores in zip(
            self.queries.names(), neighbours.positions, neighbours.scores, strict=True
        ):
            positions = positions[positions >= 0].tolist()
            lists[query] = ClipList(
                [names[position] for position in positions], scores[: len(positions)].tolist()
            )
        return lists

    def _options(self, queries: Embeddings) -> SearchOptions:
        """The options of a search with some of the queries."""
        inputs, groups = self.inputs, None
        if inputs.drives is not None:
            groups = Groups(
                *(list(map(inputs.drives.get, side.names())) for side in (queries, self.items))
            )
        exclude = "self" if inputs.by_clips and not inputs.is_cut_first else "none"
        return SearchOptions(metric=inputs.metric or "cosine", exclude=exclude, groups=groups)

    def _rank_counts(self, row_of_query: Ints, query: Ints, item: Ints) -> RankCounts:
        """Rank counts of each pair of query and item, in blocks of queries of limited memory."""
        counts = np.bincount(query, minlength=len(row_of_query)).astype(np.int64)
        offsets = segment_offsets(counts)
        position, with_items = position_in_segment(offsets), np.flatnonzero(counts)
        columns = RankCounts(np.zeros(len(query)), *np.zeros((3, len(query)), dtype=np.int64))
        step = max(1, _PAIRS_AT_ONCE // max(int(counts.max(initial=1)), 1))
        for start in range(0, len(with_items), step):
            part = with_items[start : start + step]
            rows = slice(offsets[part[0]], offsets[part[-1] + 1])
            places = np.searchsorted(part, query[rows]), position[rows]
            targets = np.full((len(part), counts[part].max()), -1, dtype=np.int64)
            targets[places] = item[rows]
            queries = self.queries.take(row_of_query[part])
            ranked = ranks_of(
                queries,
                self.items,
                targets,
                options=self._options(queries),
                progress=self.inputs.progress,
            )
            for column, of_part in zip(columns, ranked, strict=True):
                column[rows] = of_part[places]
        return columns


def rank_clips(inputs: ClipInputs) -> RankedClips:
    """The rankings of the system. Raises BadUsage where the options do not name exactly one."""
    options, ranker = inputs.options, _Ranker(inputs)
    has_texts = options.query_vectors is not None or options.text_encoder is not None
    n_systems = (options.engine is not None) + (options.run is not None)
    if n_systems == 2 or (n_systems and has_texts):
        raise BadUsage(
            "an engine, a run and embeddings of texts are three systems; name one of them."
        )
    if options.run is not None:
        return ranker.of_run(options.run)
    refuse_unused_columns(options.columns, "run", flag("--run"))
    if options.engine is not None:
        return ranker.of_engine(options.engine)
    if options.item_vectors is None:
        raise BadUsage(
            f"nothing to rank with: name the clips' vectors ({flag('--item-vectors')}), an engine "
            f"({flag('--engine')}), or a run ({flag('--run')})."
        )
    return ranker.of_vectors()


class _Ranker:
    """Ranks the clips, and collects findings on what is missing or unknown."""

    def __init__(self, inputs: ClipInputs) -> None:
        self.inputs, self.options, self.findings = inputs, inputs.options, list[Finding]()

    def _count(
        self, counted: tuple[str, str], property_of: str, ids: Sequence[str], effect: str = ""
    ) -> None:
        """Finds how many have or lack something, which, and the effect. counted: one, several."""
        if ids:
            number = count_of(len(ids), *counted)
            self.findings.append(ids_unmatched(f"{number} {property_of}: {named(ids)}{effect}"))

    def of_vectors(self) -> ClipVectors:
        """A search over vectors."""
        inputs, options, least = self.inputs, self.options, self.options.min_similarity
        vectors = self._clip_vectors()
        if inputs.by_clips:
            names = enumerate(vectors.names())
            queries = vectors.take([row for row, name in names if name in inputs.texts])
        else:
            queries = self._text_vectors()
        ties = "expected" if inputs.ties is None else tie_rule(inputs.ties)
        if inputs.metric == "cosine" and least is not None and least > 1:
            raise BadUsage(
                f"{flag('--min-similarity')} {least:g}: no cosine is above 1; choose a smaller "
                "value, or another metric."
            )
        if inputs.metric == "l2" and least is not None:
            self._note_distances("similarities of l2 are")
        return ClipVectors(
            inputs=inputs,
            name=_stem(options.item_vectors, "embeddings"),
            ties=ties,
            findings=self.findings,
            sources=sources_of(
                {"item_vectors": options.item_vectors, "query_vectors": options.query_vectors}
            ),
            unannotated_clips=frozenset(vectors.names()) - inputs.annotations.index.keys(),
            queries=queries,
            vectors=vectors,
        )

    def _clip_vectors(self) -> Embeddings:
        """The vectors of the clips."""
        data, clips = self.options.item_vectors, self.inputs.annotations.clips
        table = read_embeddings(data, ids=self.options.item_ids)
        name = _name(data, "the embeddings")
        if table.ids is None:
            raise BadInput(
                f"{name} have no ids, by which clips are known; name a file of them "
                f"({flag('--item-ids')})."
            )
        ids = set(table.ids)
        annotated = ids & set(clips)
        if not annotated:
            examples = f"{table.ids[0]!r} there, {clips[0]!r} in the annotations"
            raise BadInput(
                f"{name}: no id is that of an annotated clip ({examples}); give both the same ids."
            )
        self._refuse_zero(table, name)
        as_queries = ", and as queries they have an empty result" if self.inputs.by_clips else ""
        self._count(
            ("annotated clip has", "annotated clips have"),
            "no embedding",
            [clip for clip in clips if clip not in ids],
            f"; they cannot be found{as_queries}",
        )
        effect = (
            f"; kept in the gallery, never relevant ({flag('--unjudged', 'skip')} leaves them out)"
        )
        if self.options.unjudged == "skip":
            table = table.take([row for row, clip in enumerate(table.ids) if clip in annotated])
            effect = "; left out"
        extra = sorted(ids - annotated)
        self._count(("embedding has", "embeddings have"), "no annotation", extra, effect)
        return table

    def _refuse_zero(self, table: Embeddings, name: Any) -> None:
        """Raises BadInput for a vector without direction, by its row in the file; later rows are
        those of a selection.
        """
        if self.inputs.metric != "cosine":
            return
        zero = np.flatnonzero(~np.asarray(table.vectors).any(axis=1))
        if len(zero):
            row = int(zero[0])
            item = "" if table.ids is None else f", id {table.ids[row]!r}"
            raise BadInput(
                f"{name}: row {row} (from 0{item}) is a zero vector, without direction; leave it "
                f"out, or choose {flag('--metric', 'dot')} or l2."
            )

    def _text_vectors(self) -> Embeddings:
        """The vectors of the text queries: of a file by id or in their order, or of an encoder."""
        data, names = self.options.query_vectors, list(self.inputs.texts)
        if data is None:
            if self.options.text_encoder is None:
                raise BadUsage(
                    "texts need vectors in the space of the clips: name them "
                    f"({flag('--query-vectors')}), or an encoder ({flag('--text-encoder')})."
                )
            texts = list(self.inputs.texts.values())
            return Embeddings(names, _encoded(self.options.text_encoder, texts))
        table = read_embeddings(data)
        name = _name(data, "the text embeddings")
        self._refuse_zero(table, name)
        if table.ids is None:
            if table.n != len(names):
                raise BadInput(
                    f"{name}: {table.n} vectors without ids for {len(names)} text queries; "
                    "give one each, in the order of the queries, or ids."
                )
            return Embeddings(names, table.vectors)
        row_of = positions_by_id(table.ids)
        missing = [self.inputs.title(query) for query in names if query not in row_of]
        if len(missing) == len(names):
            raise BadInput(
                f"{name}: no id is that of a query ({table.ids[0]!r} there, {names[0]!r} here)."
            )
        counted = "text query has", "text queries have"
        self._count(counted, "no embedding", missing, "; its result is empty")
        return table.take([row_of[query] for query in names if query in row_of])

    def _cleaned(self, lists: Mapping[str, ClipList]) -> dict[str, ClipList]:
        """The lists without repeated and excluded items, so that later ones move up."""
        annotated, is_skipped = self.inputs.annotations.index, self.options.unjudged == "skip"
        cleaned_lists: dict[str, ClipList] = {}
        unknown: dict[str, None] = {}
        n_repeated = 0
        for query, (items, similarities) in lists.items():
            once: dict[str, float] = {}
            for item, similarity in zip(items, similarities, strict=True):
                once.setdefault(item, similarity)
            n_repeated += len(items) - len(once)
            unknown |= dict.fromkeys(item for item in once if item not in annotated)
            out = {*self.inputs.excluded.get(query, ())}
            left = [
                item for item in once if item not in out and (item in annotated or not is_skipped)
            ]
            cleaned_lists[query] = ClipList(left, [once[item] for item in left])
        if n_repeated:
            count = count_of(n_repeated, "result repeats", "results repeat")
            problem = f"{count} a clip of the same list; the first one counts"
            self.findings.append(odd_entries(problem))
        if unknown:
            count = count_of(len(unknown), "id", "different ids")
            effect = "taken out"
            if not is_skipped:
                skip = flag("--unjudged", "skip")
                effect = f"they keep their places and are wrong ({skip} takes them out)"
            self.findings.append(
                ids_unmatched(
                    f"the results have {count} without annotation: {named(list(unknown))}; {effect}"
                )
            )
        return cleaned_lists

    def of_run(self, run: Any) -> ClipLists:
        """The lists of a run."""
        texts = self.inputs.texts
        ranking = read_ranking(run, columns=self.options.columns, findings=self.findings)
        rule = tie_rule(self.inputs.ties or "id-desc")
        if rule not in ("id-desc", "id-asc", "input"):
            raise BadUsage(
                f"{flag('--ties', rule)}: a list is in a definite order; choose id-desc, id-asc "
                "or input."
            )
        lists: dict[str, ClipList] = {}
        for query in ranking.queries:
            rows = ranking.rows_of(query)
            items, scores = list(ranking.items[rows]), ranking.scores[rows]
            order = arrange(scores, lambda row, items=items: encode_id(items[row]), rule)
            lists[query] = ClipList([items[row] for row in order.tolist()], scores[order].tolist())
        strange = [query for query in lists if query not in texts]
        known_lists = {query: lists[query] for query in lists if query in texts}
        if not known_lists:
            example = "it is empty"
            if strange:
                example = f"{strange[0]!r} there, {next(iter(texts))!r} here"
            raise BadInput(f"{run}: no query of the run is one of the queries ({example}).")
        self._refuse_distances(f"scores of {_name(run, 'the run')} look like", known_lists)
        cleaned_lists = self._cleaned(known_lists)
        missing = [self.inputs.title(query) for query in texts if query not in known_lists]
        self._count(("query is", "queries are"), "not in the run", missing, "; the result is empty")
        self._count(("query of the run is", "queries of the run are"), "unknown", strange)
        return ClipLists(
            inputs=self.inputs,
            name=_stem(run, "run"),
            ties=rule,
            findings=self.findings,
            sources=sources_of({"run": run}),
            lists=cleaned_lists,
        )

    def of_engine(self, system: Any) -> ClipLists:
        """The lists of a live engine."""
        inputs = self.inputs
        if inputs.ties is not None and inputs.ties != "input":
            raise BadUsage(
                f"{flag('--ties', inputs.ties)}: an engine's own order is its ranking; leave it "
                "out."
            )
        name = system if isinstance(system, str) else type(system).__name__
        engine = EngineObject.of(system, ("vector", "id") if inputs.by_clips else ("text",))
        arguments = self._arguments(engine)
        depth = len(inputs.annotations.clips) if inputs.depth is None else inputs.depth
        lists: dict[str, ClipList] = {}
        failed: dict[str, str] = {}
        by_distance = False
        for done, (query, argument) in enumerate(arguments.items()):
            if inputs.progress is not None:
                inputs.progress(done, len(arguments))
            try:
                results = engine.ask(argument, depth + len(inputs.excluded.get(query, ())))
            except BadInput as error:
                raise BadInput(f"query {inputs.title(query)!r}: {error}") from error
            except Exception as error:
                kind = type(error).__name__
                failed[query] = f"{kind}: {error}" if str(error) else kind
                continue
            lists[query] = ClipList(
                [result.item for result in results], [result.similarity for result in results]
            )
            by_distance = by_distance or any(result.is_distance for result in results)
        if by_distance:
            self._note_distances(f"similarities of {name} are", lists)
        problems = [f"{inputs.title(query)!r} ({problem})" for query, problem in failed.items()]
        if failed and not lists:
            raise BadInput(
                f"{name} failed for every query, first for {problems[0]}; correct the engine."
            )
        cleaned_lists = self._cleaned(lists)
        if failed:
            count = count_of(len(failed), "query", "queries")
            problem = f"it failed for {count}, whose result is empty: {first_of(problems, 3)}"
            self.findings.append(engine_failures(name, problem, list(failed)))
        return ClipLists(
            inputs=inputs,
            name=name,
            ties="input",
            findings=self.findings,
            sources=sources_of({"item_vectors": self.options.item_vectors}),
            failed=failed,
            lists=cleaned_lists,
        )

    def _arguments(self, engine: EngineObject) -> dict[str, Any]:
        """The argument of the engine for each query: the text, the clip's id, or the clip's
        vector.
        """
        texts, has_vectors = self.inputs.texts, self.options.item_vectors is not None
        if not self.inputs.by_clips:
            return dict(texts)
        if engine.caller.takes != "vector":
            if has_vectors:
                raise BadUsage(
                    f"{flag('--item-vectors')}: {engine.name} is queried by the clips' ids "
                    f"({engine.caller.by}) and reads no vectors; leave it out."
                )
            return {query: query for query in texts}
        if not has_vectors:
            raise BadUsage(
                f"{engine.name} takes vectors ({engine.caller.by}); give the clips' embeddings as "
                f"well ({flag('--item-vectors')})."
            )
        table = self._clip_vectors()
        rows = positions_by_id(table.names())
        return {query: np.asarray(table.vectors[rows[query]]) for query in texts if query in rows}

    def _refuse_distances(self, subject: str, lists: Mapping[str, ClipList] | None) -> None:
        """Raises BadUsage for a positive least similarity where distances with their signs turned,
        none above 0, are similarities.
        """
        least = self.options.min_similarity
        similarities = [
            number
            for results in (lists or {}).values()
            for number in results.similarities
            if not math.isnan(number)
        ]
        highest = max(similarities, default=0.0 if lists is None else 1.0)
        if least is not None and least > 0 and highest <= 0:
            option = flag("--min-similarity")
            raise BadUsage(
                f"{option} {least:g}: {subject} negated distances, and none is "
                f"above 0; {option} {-least:g} keeps distances up to {least:g}."
            )

    def _note_distances(self, subject: str, lists: Mapping[str, ClipList] | None = None) -> None:
        """Finds the direction of distances, and the greatest one that the least similarity
        keeps.
        """
        self._refuse_distances(subject, lists)
        least, effect = self.options.min_similarity, ""
        if least is not None:
            effect = f"; {flag('--min-similarity')} {least:g} keeps distances up to {0.0 - least:g}"
        self.findings.append(distances_kept(subject, effect))


def _stem(data: Any, otherwise: str) -> str:
    """The name of a system."""
    if not isinstance(data, (str, Path)):
        return otherwise
    path = Path(split_part(data)[0])
    return Source(path).stem if path.is_file() else path.name


def _name(data: Any, otherwise: str) -> str:
    """The name of a file, for messages."""
    return str(data) if isinstance(data, (str, Path)) else otherwise


def _encoded(encoder: Any, texts: list[str]) -> Any:
    if isinstance(encoder, str):
        return load_encoder(encoder).encode(texts)
    vectors = as_real(
        unmasked(getattr(encoder, "encode", encoder)(texts), "what the encoder gives")
    )
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise BadInput(
            f"the encoder gives an array of shape {vectors.shape} for {len(texts)} texts; "
            "expected one row per text."
        )
    return vectors
