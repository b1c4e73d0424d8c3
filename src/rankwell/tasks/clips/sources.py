"""Rankings of clips by a search over vectors, by a live engine, or from a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.arrays import unmasked
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.matrices import Embeddings, as_real
from rankwell.data.tables import tie_rule
from rankwell.engines.objects import EngineObject
from rankwell.errors import BadInput, BadUsage, count_of, flag
from rankwell.io.formats import read_ranking
from rankwell.io.matrices import read_embeddings
from rankwell.store import Source, sources_of, split_part
from rankwell.tasks.clips.inputs import ClipInputs, named
from rankwell.tasks.clips.rankings import ClipList, ClipLists, ClipRankings, ClipVectors, lists_of
from rankwell.vectors.encoders import load_encoder


class RankedClips(NamedTuple):
    """The rankings of a system, its name, the clips without annotation that it could have found,
    failed queries, and notes.
    """

    name: str
    rankings: ClipRankings
    others: frozenset[str]
    failed: Mapping[str, str]
    notes: tuple[str, ...]
    sources: Mapping[str, Source]


def rank_clips(inputs: ClipInputs) -> RankedClips:
    """The rankings of the system. Raises BadUsage where the options do not name exactly one."""
    options = inputs.options
    texts = options.text_embeddings is not None or options.text_encoder is not None
    systems = [system for system in (options.engine, options.run) if system is not None]
    if len(systems) == 2 or (systems and texts):
        raise BadUsage(
            "an engine, a run and embeddings of texts are three systems; name one of them."
        )
    if options.run is not None:
        return _of_run(inputs, options.run)
    refuse_unused_columns(options.columns, "run", flag("--run"))
    if options.engine is not None:
        return _of_engine(inputs, options.engine)
    if options.embeddings is None:
        raise BadUsage("nothing to rank with: name embeddings of the clips, an engine, or a run.")
    return _of_vectors(inputs)


def _stem(data: Any, otherwise: str) -> str:
    if not isinstance(data, (str, Path)):
        return otherwise
    path = Path(split_part(data)[0])
    return Source(path).stem if path.is_file() else path.name


def _clip_vectors(inputs: ClipInputs) -> tuple[Embeddings, list[str]]:
    """The vectors of the clips, and notes on clips without a vector and on vectors without an
    annotation.
    """
    data = inputs.options.embeddings
    table = read_embeddings(data, ids=inputs.options.ids)
    name = data if isinstance(data, (str, Path)) else "the embeddings"
    if table.ids is None:
        raise BadInput(
            f"{name} have no ids, by which clips are known; name a file of them ({flag('--ids')})."
        )
    ids, clips = set(table.ids), inputs.annotations.clips
    annotated = ids & set(clips)
    if not annotated:
        examples = f"{table.ids[0]!r} there, {clips[0]!r} in the annotations"
        raise BadInput(
            f"{name}: no id is that of an annotated clip ({examples}); give both the same ids."
        )
    _refuse_zero(table, inputs.metric, name)
    notes: list[str] = []
    missing = [clip for clip in clips if clip not in ids]
    if missing:
        effect = "; they cannot be found" + (
            ", and as queries they have an empty result" if inputs.by_clips else ""
        )
        notes.append(
            _counted("annotated clip has", "annotated clips have", "no embedding", missing) + effect
        )
    extra = sorted(ids - annotated)
    if extra:
        is_skipped = inputs.options.unjudged == "skip"
        effect = (
            "left out"
            if is_skipped
            else f"kept in the gallery, never relevant ({flag('--unjudged', 'skip')} leaves them "
            "out)"
        )
        counted = _counted("embedding has", "embeddings have", "no annotation", extra)
        notes.append(f"{counted}; {effect}")
        if is_skipped:
            table = table.take([row for row, clip in enumerate(table.ids) if clip in annotated])
    return table, notes


def _counted(singular: str, plural: str, property_of: str, ids: Sequence[str]) -> str:
    """How many have or lack something, and which."""
    return f"{count_of(len(ids), singular, plural)} {property_of}: {named(ids)}"


def _refuse_zero(table: Embeddings, metric: str | None, name: Any) -> None:
    """Raises BadInput for a vector without direction, by its row in the file; later rows are those
    of a selection.
    """
    if metric != "cosine":
        return
    zero = np.flatnonzero(~np.asarray(table.vectors).any(axis=1))
    if len(zero):
        row = int(zero[0])
        item = "" if table.ids is None else f", id {table.ids[row]!r}"
        raise BadInput(
            f"{name}: row {row} (from 0{item}) is a zero vector, without direction; leave it out, "
            f"or choose {flag('--metric', 'dot')} or l2."
        )


def _of_vectors(inputs: ClipInputs) -> RankedClips:
    options = inputs.options
    items, notes = _clip_vectors(inputs)
    if inputs.by_clips:
        clips = {query.id for query in inputs.queries}
        queries = items.take([row for row, name in enumerate(items.names()) if name in clips])
    else:
        queries, of_texts = _text_vectors(inputs)
        notes += of_texts
    vectors = ClipVectors(
        queries,
        items,
        metric=inputs.metric or "cosine",
        ties="expected" if inputs.ties is None else tie_rule(inputs.ties),
        exclude_self=inputs.by_clips and not inputs.is_cut_first,
        labels=inputs.drives if inputs.by_clips else None,
        progress=inputs.progress,
    ).ordered()
    least = options.min_similarity
    if inputs.metric == "cosine" and least is not None and least > 1:
        raise BadUsage(
            f"{flag('--min-similarity')} {least:g}: no cosine is above 1; choose a smaller "
            "value, or another metric."
        )
    if inputs.metric == "l2" and least is not None:
        _refuse_distances(inputs, "similarities of l2 are")
        notes = [*notes, _distance_note("similarities of l2 are", inputs)]
    unannotated = frozenset(items.names()) - set(inputs.annotations.clips)
    sources = sources_of(
        {"embeddings": options.embeddings, "text_embeddings": options.text_embeddings}
    )
    name = _stem(options.embeddings, "embeddings")
    return RankedClips(name, vectors, unannotated, {}, tuple(notes), sources)


def _text_vectors(inputs: ClipInputs) -> tuple[Embeddings, list[str]]:
    """The vectors of the text queries: of a file by id or in their order, or of an encoder."""
    data, names = inputs.options.text_embeddings, [query.id for query in inputs.queries]
    if data is None:
        if inputs.options.text_encoder is None:
            raise BadUsage(
                "texts need vectors in the space of the clips: name embeddings of texts, or "
                "an encoder."
            )
        texts = [query.text for query in inputs.queries]
        return Embeddings(names, _encoded(inputs.options.text_encoder, texts)), []
    table = read_embeddings(data)
    name_of_data = data if isinstance(data, (str, Path)) else "the text embeddings"
    _refuse_zero(table, inputs.metric, name_of_data)
    if table.ids is None:
        if table.n != len(names):
            raise BadInput(
                f"{name_of_data}: {table.n} vectors without ids for {len(names)} text queries; "
                "give one each, in the order of the queries, or ids."
            )
        return Embeddings(names, table.vectors), []
    row_of = {name: row for row, name in enumerate(table.ids)}
    missing = [inputs.title(name) for name in names if name not in row_of]
    if len(missing) == len(names):
        raise BadInput(
            f"{name_of_data}: no id is that of a query ({table.ids[0]!r} there, {names[0]!r} here)."
        )
    counted = _counted("text query has", "text queries have", "no embedding", missing)
    vectors = table.take([row_of[name] for name in names if name in row_of])
    return vectors, [f"{counted}; its result is empty"] * bool(missing)


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


def _cleaned(lists: ClipLists, inputs: ClipInputs) -> tuple[ClipLists, list[str]]:
    is_skipped = inputs.options.unjudged == "skip"
    cleaned = lists.cleaned(inputs.annotations.index, inputs.excluded, skip_unknown=is_skipped)
    notes: list[str] = []
    if cleaned.doubled:
        count = count_of(cleaned.doubled, "result repeats", "results repeat")
        notes.append(f"{count} a clip of the same list; the first one counts")
    if cleaned.unknown:
        effect = (
            "taken out"
            if is_skipped
            else f"they keep their places and are wrong ({flag('--unjudged', 'skip')} takes them "
            "out)"
        )
        counted = _counted("id", "different ids", "without annotation", cleaned.unknown)
        notes.append(f"the results have {counted}; {effect}")
    return cleaned, notes


def _of_run(inputs: ClipInputs, run: Any) -> RankedClips:
    notes: list[str] = []
    ranking = read_ranking(run, columns=inputs.options.columns, notes=notes)
    rule = tie_rule(inputs.ties or "id-desc")
    if rule not in ("id-desc", "id-asc", "input"):
        raise BadUsage(
            f"{flag('--ties', rule)}: a list is in a definite order; choose id-desc, id-asc "
            "or input."
        )
    lists, queries = lists_of(ranking, rule), {query.id for query in inputs.queries}
    strange = [query for query in lists if query not in queries]
    known_lists = {query: lists[query] for query in lists if query in queries}
    if not known_lists:
        example = (
            f"{strange[0]!r} there, {inputs.queries[0].id!r} here" if strange else "it is empty"
        )
        raise BadInput(f"{run}: no query of the run is one of the queries ({example}).")
    name = run if isinstance(run, (str, Path)) else "the run"
    _refuse_distances(inputs, f"scores of {name} look like", known_lists)
    cleaned, on_lists = _cleaned(ClipLists(known_lists, ties=rule), inputs)
    notes += on_lists
    missing = [inputs.title(query.id) for query in inputs.queries if query.id not in known_lists]
    if missing:
        counted = _counted("query is", "queries are", "not in the run", missing)
        notes.append(f"{counted}; the result is empty")
    if strange:
        notes.append(_counted("query of the run is", "queries of the run are", "unknown", strange))
    sources = sources_of({"run": run})
    return RankedClips(_stem(run, "run"), cleaned, frozenset(), {}, tuple(notes), sources)


def _of_engine(inputs: ClipInputs, system: Any) -> RankedClips:
    if inputs.ties is not None and inputs.ties != "input":
        raise BadUsage(
            f"{flag('--ties', inputs.ties)}: an engine's own order is its ranking; leave it out."
        )
    name = system if isinstance(system, str) else type(system).__name__
    engine = EngineObject.of(system, ("vector", "id") if inputs.by_clips else ("text",))
    arguments, notes = _arguments(engine, inputs)
    lists, failed, by_distance = _answers(engine, arguments, inputs)
    if by_distance:
        _refuse_distances(inputs, f"similarities of {name} are", lists)
        notes.append(_distance_note(f"similarities of {name} are", inputs))
    problems = [f"{inputs.title(query)!r} ({problem})" for query, problem in failed.items()]
    if failed and not lists:
        raise BadInput(
            f"{name} failed for every query, first for {problems[0]}; correct the engine."
        )
    cleaned, on_lists = _cleaned(ClipLists(lists, failed=failed), inputs)
    notes += on_lists
    if failed:
        more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
        count = count_of(len(failed), "query", "queries")
        notes.append(
            f"{name} failed for {count}, whose result is empty: {'; '.join(problems[:3])}{more}"
        )
    sources = sources_of({"embeddings": inputs.options.embeddings})
    return RankedClips(name, cleaned, frozenset(), failed, tuple(notes), sources)


def _answers(
    engine: EngineObject, arguments: Mapping[str, Any], inputs: ClipInputs
) -> tuple[dict[str, ClipList], dict[str, str], bool]:
    """query -> the engine's list, query -> its error, and whether similarities are distances with
    their signs turned.
    """
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
    return lists, failed, by_distance


def _refuse_distances(
    inputs: ClipInputs, subject: str, lists: Mapping[str, ClipList] | None = None
) -> None:
    """Raises BadUsage for a positive least similarity where distances with their signs turned, none
    above 0, are similarities.
    """
    least = inputs.options.min_similarity
    similarities = [
        number
        for results in (lists or {}).values()
        for number in results.similarities
        if not np.isnan(number)
    ]
    highest = max(similarities, default=0.0 if lists is None else 1.0)
    if least is not None and least > 0 and highest <= 0:
        option = flag("--min-similarity")
        raise BadUsage(
            f"{option} {least:g}: {subject} distances with their signs turned, and none is above "
            f"0; {option} {-least:g} keeps distances up to {least:g}."
        )


def _distance_note(subject: str, inputs: ClipInputs) -> str:
    """The direction of distances, and the greatest distance that the least similarity keeps."""
    least = inputs.options.min_similarity
    effect = (
        ""
        if least is None
        else f"; {flag('--min-similarity')} {least:g} keeps distances up to {0.0 - least:g}"
    )
    return f"{subject} distances with their signs turned, so that the smallest ranks first{effect}"


def _arguments(engine: EngineObject, inputs: ClipInputs) -> tuple[dict[str, Any], list[str]]:
    """The argument of the engine for each query: the text, the clip's id, or the clip's vector."""
    if not inputs.by_clips:
        return dict(inputs.texts), []
    if engine.caller.takes != "vector":
        if inputs.options.embeddings is not None:
            raise BadUsage(
                f"{flag('--embeddings')}: {engine.name} is queried by the clips' ids "
                f"({engine.caller.by}) and reads no vectors; leave it out."
            )
        return {query.id: query.id for query in inputs.queries}, []
    if inputs.options.embeddings is None:
        raise BadUsage(
            f"{engine.name} takes vectors ({engine.caller.by}); give the clips' embeddings as well."
        )
    table, notes = _clip_vectors(inputs)
    rows = {name: row for row, name in enumerate(table.names())}
    return {
        query.id: np.asarray(table.vectors[rows[query.id]])
        for query in inputs.queries
        if query.id in rows
    }, notes
