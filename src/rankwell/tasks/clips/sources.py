"""Where rankings come from: embeddings of clips and texts, a live engine that is asked, or a run that somebody kept."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell import io
from rankwell.core.kernels.arrays import as_real
from rankwell.core.kernels.similarity import metric_name
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.tables.order import TieRule, arrange, tie_rule
from rankwell.encoders import load_encoder
from rankwell.engines.live_engine import LiveEngine
from rankwell.errors import BadInput, BadUsage
from rankwell.io.embeddings import read_embeddings, split_part
from rankwell.store import STDIN, Source
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.formats.annotations import TextQuery
from rankwell.tasks.clips.rankings import Listed, Lists, Progress, Ranked, Vectors


class Given(NamedTuple):
    """What the user gave to rank the clips with; see `evaluate_clips`."""

    embeddings: Any = None
    ids: Any = None
    text_embeddings: Any = None
    text_encoder: Any = None
    engine: Any = None
    run: Any = None


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a system.

    queries: clips, or texts. barred: query -> clips that are removed before any cut. labels: clip -> its drive. gallery: how many
    clips there are to be found. depth: the deepest place that a measure looks at, None for all. titles: query -> what it is
    called in messages.
    """

    annotations: Annotations
    queries: Sequence[TextQuery]
    mode: str
    barred: Mapping[str, Collection[str]]
    labels: Mapping[str, str] | None
    exclude_self: bool
    skip_unknown: bool
    depth: int | None
    ties: str | None
    metric: str | None
    titles: Mapping[str, str]
    progress: Progress | None = None

    def told(self, queries: Sequence[str]) -> str:
        """The first queries, for notes."""
        return named([self.titles.get(query, query) for query in queries])


class Answered(NamedTuple):
    """The rankings of a system, its name, the clips that it could have found besides those annotated, and what is to be said."""

    name: str
    ranked: Ranked
    others: frozenset[str]
    failed: Mapping[str, str]
    notes: tuple[str, ...]
    sources: Mapping[str, Source]


def answer(given: Given, asked: Asked) -> Answered:
    """The rankings that the given system makes. Raises BadUsage where what is given does not make one."""
    systems = [name for name in ("engine", "run") if getattr(given, name) is not None]
    texts = given.text_embeddings is not None or given.text_encoder is not None
    if len(systems) == 2 or (systems and texts):
        raise BadUsage("an engine, a run and embeddings of texts are three ways to rank; give one of them.")
    if given.run is not None:
        return _of_run(given, asked)
    if given.engine is not None:
        return _of_engine(given, asked)
    if given.embeddings is None:
        raise BadUsage("nothing to rank with: give embeddings of the clips, an engine, or a run.")
    return _of_vectors(given, asked)


def named(ids: Sequence[str], most: int = 5) -> str:
    """The first ids, for notes."""
    return ", ".join(map(repr, ids[:most])) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def plural(count: int, one: str, several: str) -> str:
    """A count with what is counted, for notes."""
    return f"{count} {one if count == 1 else several}"


def _stem(place: Any, otherwise: str) -> str:
    if not isinstance(place, (str, Path)):
        return otherwise
    path = Path(split_part(place)[0])
    return Source(path).stem if path.is_file() else path.name


def _sources(**places: Any) -> dict[str, Source]:
    found = {name: place for name, place in places.items() if isinstance(place, (str, Path)) and str(place) not in STDIN}
    return {name: Source(place) for name, place in found.items() if Path(place).is_file()}


def _clip_vectors(given: Given, asked: Asked) -> tuple[Embeddings, list[str]]:
    """The vectors of the clips, and what is to be said of those that have none, and of those that nobody annotated."""
    table = read_embeddings(given.embeddings, ids=given.ids)
    place = given.embeddings if isinstance(given.embeddings, (str, Path)) else "the embeddings"
    if table.ids is None:
        raise BadInput(f"{place} have no ids, by which clips are known; name a file of them (--ids).")
    known, clips = set(table.ids), asked.annotations.clips
    both = known & set(clips)
    if not both:
        examples = f"{table.ids[0]!r} there, {clips[0]!r} in the annotations"
        raise BadInput(f"{place}: no id is that of an annotated clip ({examples}); give both the same ids.")
    _refuse_zero(table, asked.metric, place)
    notes: list[str] = []
    missing = [clip for clip in clips if clip not in known]
    if missing:
        what = "they cannot be found" + (", and as queries they have an empty result" if asked.mode == "video" else "")
        notes.append(
            f"{plural(len(missing), 'annotated clip has', 'annotated clips have')} no embedding: {named(missing)}; {what}"
        )
    extra = sorted(known - both)
    if extra:
        what = "left out" if asked.skip_unknown else "kept in the gallery, never relevant (--unjudged skip leaves them out)"
        notes.append(f"{plural(len(extra), 'embedding has', 'embeddings have')} no annotation: {named(extra)}; {what}")
        if asked.skip_unknown:
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
            f"{place}: row {row} (from 0{who}) is a zero vector, which has no direction; drop it, or take --metric dot or l2."
        )


def _rows(table: Embeddings, rows: Sequence[int]) -> Embeddings:
    names = table.names()
    return Embeddings([names[row] for row in rows], table.vectors[np.asarray(rows, dtype=np.int64)])


def _of_vectors(given: Given, asked: Asked) -> Answered:
    items, notes = _clip_vectors(given, asked)
    if asked.mode == "video":
        wanted = {query.id for query in asked.queries}
        queries = _rows(items, [row for row, name in enumerate(items.names()) if name in wanted])
    else:
        queries, told = _text_vectors(given, asked)
        notes += told
    rule: TieRule = "expected" if asked.ties is None else tie_rule(asked.ties)
    vectors = Vectors.ordered(
        queries,
        items,
        metric=metric_name(asked.metric or "cosine"),
        ties=rule,
        exclude_self=asked.exclude_self,
        labels=asked.labels,
        progress=asked.progress,
    )
    others = frozenset(items.names()) - set(asked.annotations.clips)
    sources = _sources(embeddings=given.embeddings, text_embeddings=given.text_embeddings)
    return Answered(_stem(given.embeddings, "embeddings"), vectors, others, {}, tuple(notes), sources)


def _text_vectors(given: Given, asked: Asked) -> tuple[Embeddings, list[str]]:
    """The vectors of the text queries: of a file by id or in their order, or of an encoder."""
    names = [query.id for query in asked.queries]
    if given.text_embeddings is None:
        if given.text_encoder is None:
            raise BadUsage(
                "texts need vectors in the space of the clips: give embeddings of them, or the encoder that makes them."
            )
        return Embeddings(names, _encoded(given.text_encoder, [query.text for query in asked.queries])), []
    table = read_embeddings(given.text_embeddings)
    place = given.text_embeddings if isinstance(given.text_embeddings, (str, Path)) else "the text embeddings"
    _refuse_zero(table, asked.metric, place)
    if table.ids is None:
        if table.n != len(names):
            what = f"{place}: {table.n} vectors without ids for {len(names)} text queries"
            raise BadInput(f"{what}; give one each, in the order of the queries, or ids.")
        return Embeddings(names, table.vectors), []
    row = {name: place for place, name in enumerate(table.ids)}
    missing = [name for name in names if name not in row]
    if len(missing) == len(names):
        raise BadInput(f"{place}: no id is that of a query ({table.ids[0]!r} there, {names[0]!r} here).")
    notes = [
        f"{plural(len(missing), 'text query has', 'text queries have')} no embedding: {asked.told(missing)}; its result is empty"
    ]
    return _rows(table, [row[name] for name in names if name in row]), notes if missing else []


def _encoded(encoder: Any, texts: list[str]) -> Any:
    if isinstance(encoder, str):
        return load_encoder(encoder).encode(texts)
    encode: Callable[[list[str]], Any] = encoder.encode if hasattr(encoder, "encode") else encoder
    vectors = as_real(np.asarray(encode(texts)))
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise BadInput(f"the encoder gives an array of shape {vectors.shape} for {len(texts)} texts; a row per text is wanted.")
    return vectors


def _definite(ties: str | None) -> TieRule:
    rule = tie_rule(ties or "input")
    if rule not in ("id-desc", "id-asc", "input"):
        raise BadUsage(f"--ties {rule}: a list is in a definite order; choose id-desc, id-asc or input.")
    return rule


def _cleaned(lists: Lists, asked: Asked) -> tuple[Lists, list[str]]:
    cleaned = lists.cleaned(asked.annotations.index, asked.barred, skip_unknown=asked.skip_unknown)
    notes: list[str] = []
    if cleaned.doubled:
        notes.append(
            f"{plural(cleaned.doubled, 'result repeats', 'results repeat')} a clip of the same list; the first one counts"
        )
    if cleaned.unknown:
        what = "taken out" if asked.skip_unknown else "they keep their places and are wrong (--unjudged skip takes them out)"
        count = plural(len(cleaned.unknown), "id", "different ids")
        notes.append(f"the results have {count} that nobody annotated: {named(cleaned.unknown)}; {what}")
    return cleaned, notes


def _of_run(given: Given, asked: Asked) -> Answered:
    ranking = io.read_ranking(given.run)
    rule = tie_rule("id-desc") if asked.ties is None else _definite(asked.ties)
    lists = Lists.of_ranking(ranking, lambda scores, names: arrange(scores, names, rule))
    known = {query.id for query in asked.queries}
    strange = [query for query in lists.lists if query not in known]
    mine = Lists({query: listed for query, listed in lists.lists.items() if query in known}, ties=rule)
    if not mine.lists:
        example = f"{strange[0]!r} there, {asked.queries[0].id!r} here" if strange else "it is empty"
        raise BadInput(f"{given.run}: no query of the run is asked here ({example}).")
    cleaned, notes = _cleaned(mine, asked)
    missing = [query.id for query in asked.queries if query.id not in mine.lists]
    if missing:
        notes.append(
            f"{plural(len(missing), 'query is', 'queries are')} not in the run: {asked.told(missing)}; the result is empty"
        )
    if strange:
        notes.append(f"{plural(len(strange), 'query', 'queries')} of the run are not asked here: {named(strange)}")
    return Answered(_stem(given.run, "run"), cleaned, frozenset(), {}, tuple(notes), _sources(run=given.run))


def _of_engine(given: Given, asked: Asked) -> Answered:
    if asked.ties is not None and asked.ties != "input":
        raise BadUsage(f"--ties {asked.ties}: an engine's own order is its ranking; leave it out.")
    name = given.engine if isinstance(given.engine, str) else type(given.engine).__name__
    load = LiveEngine.load if isinstance(given.engine, str) else LiveEngine.of
    engine = load(given.engine, mode=asked.mode)
    prepared, notes = _prepared(engine, given, asked)
    depth = len(asked.annotations.clips) if asked.depth is None else asked.depth
    lists: dict[str, Listed] = {}
    failed: dict[str, str] = {}
    for done, (query, question) in enumerate(prepared.items()):
        if asked.progress is not None:
            asked.progress(done, len(prepared))
        try:
            found = engine.ask(question, depth + len(asked.barred.get(query, ())))
        except BadInput as error:
            raise BadInput(f"query {asked.titles.get(query, query)!r}: {error}") from error
        except Exception as error:
            failed[query] = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            continue
        lists[query] = Listed([each.item for each in found], [each.similarity for each in found])
    if failed and not lists:
        query, what = next(iter(failed.items()))
        raise BadInput(f"{name} failed for every query, first for {asked.titles.get(query, query)!r} ({what}); mend the engine.")
    cleaned, told = _cleaned(Lists(lists, failed=failed), asked)
    if failed:
        what = "; ".join(f"{asked.titles.get(query, query)!r} ({said})" for query, said in list(failed.items())[:3])
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        told.append(f"{name} failed for {plural(len(failed), 'query', 'queries')}, whose result is empty: {what}{more}")
    return Answered(name, cleaned, frozenset(), failed, (*notes, *told), _sources(embeddings=given.embeddings))


def _prepared(engine: LiveEngine, given: Given, asked: Asked) -> tuple[dict[str, Any], list[str]]:
    """What the engine is asked with for each query: the text, the clip's id, or the clip's vector."""
    if asked.mode == "text":
        return {query.id: query.text for query in asked.queries}, []
    if engine.by != "similarity_search":
        if given.embeddings is not None:
            raise BadUsage(
                f"--embeddings: {engine.name} is asked by the clips' ids ({engine.by}) and reads no vectors; leave it out."
            )
        return {query.id: query.id for query in asked.queries}, []
    if given.embeddings is None:
        raise BadUsage(f"{engine.name} takes vectors (similarity_search); give the clips' embeddings as well.")
    table, notes = _clip_vectors(given, asked)
    rows = {name: row for row, name in enumerate(table.names())}
    return {query.id: np.asarray(table.vectors[rows[query.id]]) for query in asked.queries if query.id in rows}, notes
