"""Rankings of clips from embeddings of clips and texts, from a live engine, or from a run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.kernels.arrays import as_real
from rankwell.core.kernels.similarity import metric_name
from rankwell.core.tables import TieRule, arrange, tie_rule
from rankwell.core.tables.embeddings import Embeddings
from rankwell.encoders import load_encoder
from rankwell.engines.live_engine import LiveEngine
from rankwell.errors import BadInput, BadUsage
from rankwell.io import files as io
from rankwell.io.matrices import read_embeddings
from rankwell.store import STDIN, Source, split_part
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.formats import TextQuery
from rankwell.tasks.clips.rankings import ClipList, ClipLists, ClipRankings, ClipVectors, Progress


class ClipInputs(NamedTuple):
    """The embeddings, the engine or the run that ranks the clips; see `evaluate_clips`."""

    embeddings: Any = None
    ids: Any = None
    text_embeddings: Any = None
    text_encoder: Any = None
    engine: Any = None
    run: Any = None


@dataclass(frozen=True, eq=False)
class ClipQueries:
    """The queries of a system, and the rules of its rankings.

    queries: clips, or texts. excluded: query -> clips that are removed before any cut. labels: clip -> its drive. depth: the
    deepest rank that a measure reads, None for all. titles: query -> its name in messages.
    """

    annotations: Annotations
    queries: Sequence[TextQuery]
    mode: str
    excluded: Mapping[str, Collection[str]]
    labels: Mapping[str, str] | None
    exclude_self: bool
    skip_unknown: bool
    depth: int | None
    ties: str | None
    metric: str | None
    titles: Mapping[str, str]
    progress: Progress | None = None

    def named(self, queries: Sequence[str]) -> str:
        """The first queries, for notes."""
        return named([self.titles.get(query, query) for query in queries])


class RankedClips(NamedTuple):
    """The rankings of a system, its name, the clips without annotation that it could have found, failed queries, and notes."""

    name: str
    rankings: ClipRankings
    others: frozenset[str]
    failed: Mapping[str, str]
    notes: tuple[str, ...]
    sources: Mapping[str, Source]


def rank_clips(inputs: ClipInputs, search: ClipQueries) -> RankedClips:
    """The rankings of the system. Raises BadUsage where the inputs do not make one."""
    systems = [name for name in ("engine", "run") if getattr(inputs, name) is not None]
    texts = inputs.text_embeddings is not None or inputs.text_encoder is not None
    if len(systems) == 2 or (systems and texts):
        raise BadUsage("an engine, a run and embeddings of texts are three ways to rank; give one of them.")
    if inputs.run is not None:
        return _of_run(inputs, search)
    if inputs.engine is not None:
        return _of_engine(inputs, search)
    if inputs.embeddings is None:
        raise BadUsage("nothing to rank with: give embeddings of the clips, an engine, or a run.")
    return _of_vectors(inputs, search)


def named(ids: Sequence[str], most: int = 5) -> str:
    """The first ids, for notes."""
    return ", ".join(map(repr, ids[:most])) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def plural(count: int, one: str, several: str) -> str:
    """A count with its noun, for notes."""
    return f"{count} {one if count == 1 else several}"


def _stem(place: Any, otherwise: str) -> str:
    if not isinstance(place, (str, Path)):
        return otherwise
    path = Path(split_part(place)[0])
    return Source(path).stem if path.is_file() else path.name


def _sources(**places: Any) -> dict[str, Source]:
    found = {name: place for name, place in places.items() if isinstance(place, (str, Path)) and str(place) not in STDIN}
    return {name: Source(place) for name, place in found.items() if Path(place).is_file()}


def _clip_vectors(inputs: ClipInputs, search: ClipQueries) -> tuple[Embeddings, list[str]]:
    """The vectors of the clips, and notes on clips without a vector and on vectors without an annotation."""
    table = read_embeddings(inputs.embeddings, ids=inputs.ids)
    place = inputs.embeddings if isinstance(inputs.embeddings, (str, Path)) else "the embeddings"
    if table.ids is None:
        raise BadInput(f"{place} have no ids, by which clips are known; name a file of them (--ids).")
    known, clips = set(table.ids), search.annotations.clips
    both = known & set(clips)
    if not both:
        examples = f"{table.ids[0]!r} there, {clips[0]!r} in the annotations"
        raise BadInput(f"{place}: no id is that of an annotated clip ({examples}); give both the same ids.")
    _refuse_zero(table, search.metric, place)
    notes: list[str] = []
    missing = [clip for clip in clips if clip not in known]
    if missing:
        what = "they cannot be found" + (", and as queries they have an empty result" if search.mode == "video" else "")
        notes.append(
            f"{plural(len(missing), 'annotated clip has', 'annotated clips have')} no embedding: {named(missing)}; {what}"
        )
    extra = sorted(known - both)
    if extra:
        what = "left out" if search.skip_unknown else "kept in the gallery, never relevant (--unjudged skip leaves them out)"
        notes.append(f"{plural(len(extra), 'embedding has', 'embeddings have')} no annotation: {named(extra)}; {what}")
        if search.skip_unknown:
            table = _rows(table, [row for row, name in enumerate(table.ids) if name in both])
    return table, notes


def _refuse_zero(table: Embeddings, metric: str | None, place: Any) -> None:
    """Raises BadInput for a vector without direction, by its row in the file; later rows are those of a selection."""
    if metric != "cosine":
        return
    zero = np.flatnonzero(~np.asarray(table.vectors).any(axis=1))
    if len(zero):
        row = int(zero[0])
        who = "" if table.ids is None else f", id {table.ids[row]!r}"
        raise BadInput(
            f"{place}: row {row} (from 0{who}) is a zero vector, without direction; leave it out, or choose --metric dot or l2."
        )


def _rows(table: Embeddings, rows: Sequence[int]) -> Embeddings:
    names = table.names()
    return Embeddings([names[row] for row in rows], table.vectors[np.asarray(rows, dtype=np.int64)])


def _of_vectors(inputs: ClipInputs, search: ClipQueries) -> RankedClips:
    items, notes = _clip_vectors(inputs, search)
    if search.mode == "video":
        wanted = {query.id for query in search.queries}
        queries = _rows(items, [row for row, name in enumerate(items.names()) if name in wanted])
    else:
        queries, of_texts = _text_vectors(inputs, search)
        notes += of_texts
    rule: TieRule = "expected" if search.ties is None else tie_rule(search.ties)
    vectors = ClipVectors.ordered(
        queries,
        items,
        metric=metric_name(search.metric or "cosine"),
        ties=rule,
        exclude_self=search.exclude_self,
        labels=search.labels,
        progress=search.progress,
    )
    others = frozenset(items.names()) - set(search.annotations.clips)
    sources = _sources(embeddings=inputs.embeddings, text_embeddings=inputs.text_embeddings)
    return RankedClips(_stem(inputs.embeddings, "embeddings"), vectors, others, {}, tuple(notes), sources)


def _text_vectors(inputs: ClipInputs, search: ClipQueries) -> tuple[Embeddings, list[str]]:
    """The vectors of the text queries: of a file by id or in their order, or of an encoder."""
    names = [query.id for query in search.queries]
    if inputs.text_embeddings is None:
        if inputs.text_encoder is None:
            raise BadUsage(
                "texts need vectors in the space of the clips: give embeddings of them, or the encoder that makes them."
            )
        return Embeddings(names, _encoded(inputs.text_encoder, [query.text for query in search.queries])), []
    table = read_embeddings(inputs.text_embeddings)
    place = inputs.text_embeddings if isinstance(inputs.text_embeddings, (str, Path)) else "the text embeddings"
    _refuse_zero(table, search.metric, place)
    if table.ids is None:
        if table.n != len(names):
            what = f"{place}: {table.n} vectors without ids for {len(names)} text queries"
            raise BadInput(f"{what}; give one each, in the order of the queries, or ids.")
        return Embeddings(names, table.vectors), []
    row = {name: place for place, name in enumerate(table.ids)}
    missing = [name for name in names if name not in row]
    if len(missing) == len(names):
        raise BadInput(f"{place}: no id is that of a query ({table.ids[0]!r} there, {names[0]!r} here).")
    count = plural(len(missing), "text query has", "text queries have")
    notes = [f"{count} no embedding: {search.named(missing)}; its result is empty"]
    return _rows(table, [row[name] for name in names if name in row]), notes if missing else []


def _encoded(encoder: Any, texts: list[str]) -> Any:
    if isinstance(encoder, str):
        return load_encoder(encoder).encode(texts)
    encode: Callable[[list[str]], Any] = encoder.encode if hasattr(encoder, "encode") else encoder
    vectors = as_real(np.asarray(encode(texts)))
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise BadInput(f"the encoder gives an array of shape {vectors.shape} for {len(texts)} texts; expected one row per text.")
    return vectors


def _definite(ties: str | None) -> TieRule:
    rule = tie_rule(ties or "input")
    if rule not in ("id-desc", "id-asc", "input"):
        raise BadUsage(f"--ties {rule}: a list is in a definite order; choose id-desc, id-asc or input.")
    return rule


def _cleaned(lists: ClipLists, search: ClipQueries) -> tuple[ClipLists, list[str]]:
    cleaned = lists.cleaned(search.annotations.index, search.excluded, skip_unknown=search.skip_unknown)
    notes: list[str] = []
    if cleaned.doubled:
        notes.append(
            f"{plural(cleaned.doubled, 'result repeats', 'results repeat')} a clip of the same list; the first one counts"
        )
    if cleaned.unknown:
        what = "taken out" if search.skip_unknown else "they keep their places and are wrong (--unjudged skip takes them out)"
        count = plural(len(cleaned.unknown), "id", "different ids")
        notes.append(f"the results have {count} that nobody annotated: {named(cleaned.unknown)}; {what}")
    return cleaned, notes


def _of_run(inputs: ClipInputs, search: ClipQueries) -> RankedClips:
    ranking = io.read_ranking(inputs.run)
    rule = tie_rule("id-desc") if search.ties is None else _definite(search.ties)
    lists = ClipLists.of_ranking(ranking, lambda scores, names: arrange(scores, names, rule))
    known = {query.id for query in search.queries}
    strange = [query for query in lists.lists if query not in known]
    mine = ClipLists({query: listed for query, listed in lists.lists.items() if query in known}, ties=rule)
    if not mine.lists:
        example = f"{strange[0]!r} there, {search.queries[0].id!r} here" if strange else "it is empty"
        raise BadInput(f"{inputs.run}: no query of the run is one of the queries ({example}).")
    cleaned, notes = _cleaned(mine, search)
    missing = [query.id for query in search.queries if query.id not in mine.lists]
    if missing:
        notes.append(
            f"{plural(len(missing), 'query is', 'queries are')} not in the run: {search.named(missing)}; the result is empty"
        )
    if strange:
        notes.append(f"{plural(len(strange), 'query', 'queries')} of the run are not asked here: {named(strange)}")
    return RankedClips(_stem(inputs.run, "run"), cleaned, frozenset(), {}, tuple(notes), _sources(run=inputs.run))


def _of_engine(inputs: ClipInputs, search: ClipQueries) -> RankedClips:
    if search.ties is not None and search.ties != "input":
        raise BadUsage(f"--ties {search.ties}: an engine's own order is its ranking; leave it out.")
    name = inputs.engine if isinstance(inputs.engine, str) else type(inputs.engine).__name__
    load = LiveEngine.load if isinstance(inputs.engine, str) else LiveEngine.of
    engine = load(inputs.engine, mode=search.mode)
    prepared, notes = _prepared(engine, inputs, search)
    depth = len(search.annotations.clips) if search.depth is None else search.depth
    lists: dict[str, ClipList] = {}
    failed: dict[str, str] = {}
    for done, (query, question) in enumerate(prepared.items()):
        if search.progress is not None:
            search.progress(done, len(prepared))
        try:
            found = engine.ask(question, depth + len(search.excluded.get(query, ())))
        except BadInput as error:
            raise BadInput(f"query {search.titles.get(query, query)!r}: {error}") from error
        except Exception as error:
            failed[query] = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            continue
        lists[query] = ClipList([each.item for each in found], [each.similarity for each in found])
    if failed and not lists:
        query, what = next(iter(failed.items()))
        raise BadInput(
            f"{name} failed for every query, first for {search.titles.get(query, query)!r} ({what}); correct the engine."
        )
    cleaned, of_lists = _cleaned(ClipLists(lists, failed=failed), search)
    if failed:
        what = "; ".join(f"{search.titles.get(query, query)!r} ({said})" for query, said in list(failed.items())[:3])
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        of_lists.append(f"{name} failed for {plural(len(failed), 'query', 'queries')}, whose result is empty: {what}{more}")
    return RankedClips(name, cleaned, frozenset(), failed, (*notes, *of_lists), _sources(embeddings=inputs.embeddings))


def _prepared(engine: LiveEngine, inputs: ClipInputs, search: ClipQueries) -> tuple[dict[str, Any], list[str]]:
    """The argument of the engine for each query: the text, the clip's id, or the clip's vector."""
    if search.mode == "text":
        return {query.id: query.text for query in search.queries}, []
    if engine.by != "similarity_search":
        if inputs.embeddings is not None:
            raise BadUsage(
                f"--embeddings: {engine.name} is queried by the clips' ids ({engine.by}) and reads no vectors; leave it out."
            )
        return {query.id: query.id for query in search.queries}, []
    if inputs.embeddings is None:
        raise BadUsage(f"{engine.name} takes vectors (similarity_search); give the clips' embeddings as well.")
    table, notes = _clip_vectors(inputs, search)
    rows = {name: row for row, name in enumerate(table.names())}
    return {query.id: np.asarray(table.vectors[rows[query.id]]) for query in search.queries if query.id in rows}, notes
