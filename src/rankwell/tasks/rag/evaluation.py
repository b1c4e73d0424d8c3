"""Chunks against gold passages, and citations against supports -> results."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.core.options import takes_options
from rankwell.core.registry import measure_names
from rankwell.core.tables import sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate, count_of, flag
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    Results,
    ResultsBuilder,
)
from rankwell.io.files import read_texts
from rankwell.stats import check_intervals
from rankwell.store import sources_of
from rankwell.tasks.rag.citations import CitedStatements
from rankwell.tasks.rag.conventions import RagConvention
from rankwell.tasks.rag.inputs import (
    QuestionPassages,
    read_chunks,
    read_gold,
    read_passages,
    read_supports,
)
from rankwell.tasks.rag.measures.contexts import DEFAULT_THRESHOLD
from rankwell.tasks.rag.options import CitationOptions, RagOptions
from rankwell.tasks.rag.passages import (
    DocumentPassage,
    RetrievedPassages,
    are_nested,
    folded,
    shared,
)
from rankwell.tasks.rag.tokens import tokenizer_of


@takes_options(RagOptions, "measures")
def evaluate_rag(
    gold: Any, retrieved: Any, *, options: RagOptions, details: bool = False
) -> Results:
    """The values of retrieved chunks against gold passages.

    gold: a file of JSON lines `{id, question, passages: [{document, start, end, text}]}` or a list
    of such mappings. retrieved: the same with `chunks` in place of `passages`, best first; a list
    of files, or a mapping name -> either, for several runs. RAGAS' rows are read as both. options:
    the fields of `RagOptions`. details: keep the chunks of each question for a page.
    A question without a line in a run has an empty list. Raises BadInput for bad rows,
    NothingToEvaluate where a run has none of the questions, BadUsage for measures that the inputs
    do not allow.

    >>> import rankwell as rw
    >>> gold = [{"id": "q", "passages": [{"document": "doc", "start": 0, "end": 6}]}]
    >>> found = [{"id": "q", "chunks": [{"document": "doc", "start": 3, "end": 9}]}]
    >>> rw.evaluate_rag(gold, found, "SpanR@1")["SpanR@1"]
    0.5
    """
    check_intervals(options.intervals, options.seed)
    if options.k is not None and options.k < 1:
        raise BadUsage(f"-k {options.k}; expected a positive integer.")
    convention = find_convention(options.convention, "rag")
    documents = {} if options.documents is None else read_texts(options.documents).texts
    questions = read_gold(gold, documents)
    named = _runs(retrieved)
    runs = {name: read_chunks(place, documents) for name, place in named.items()}
    every = () if options.every_chunk is None else read_passages(options.every_chunk, documents)
    queries = tuple(sort_ids(questions))
    truth = tuple(questions[query].passages for query in queries)
    measures = _measures(
        options, convention, truth, [each for own in runs.values() for each in own.values()]
    )
    builder, columns = ResultsBuilder(convention), list[tuple[str, Details, None]]()
    texts: dict[str, str] = {}
    for name, own in runs.items():
        _count(builder, name, queries, own)
        chunks = tuple(own[query].passages if query in own else () for query in queries)
        view = RetrievedPassages(queries, truth, chunks, documents, every)
        _keep(builder, name, measures, view)
        _note_longer_chunks(builder, name, measures, view)
        _note_repeated(
            builder, f"{name}: ", "chunk", measures, dict(zip(queries, chunks, strict=True))
        )
        if details:
            columns.append((name, _details(view), None))
            texts |= {
                _name(each): each.text for each in chain(*chunks, *truth) if each.text is not None
            }
    _note_repeated(builder, "", "gold passage", measures, dict(zip(queries, truth, strict=True)))
    _note_uncovered(builder, measures, queries, truth, every)
    texts_of_queries = [questions[query].text for query in queries]
    return builder.results(
        rules=_rules(builder, convention, measures, options),
        measures=measures,
        notes=[*convention.notes, *builder.notes],
        sources=sources_of(
            {"gold": gold, "documents": options.documents, "chunks": options.every_chunk}, named
        ),
        details=detail_columns(columns, states=COMPLETE) if details else None,
        queries={"query": list(queries), "text": texts_of_queries},
        items={"item": sort_ids(texts), "text": [texts[item] for item in sort_ids(texts)]}
        if details
        else None,
        intervals=options.intervals,
        seed=options.seed,
    )


@takes_options(CitationOptions, "measures")
def evaluate_citations(supports: Any, *, options: CitationOptions) -> Results:
    """The values of the citations of generated statements, whose entailments are given.

    supports: files of JSON lines `{id, statement, citations: [], entailed: true}` (a list of such
    mappings for one system; a list of files or a mapping name -> either for several), one for each
    set of citations that was judged. options: the fields of `CitationOptions`. Raises BadInput
    where a set that decides a measure is not judged.

    >>> import rankwell as rw
    >>> rows = [{"id": "q", "statement": "s", "citations": ["a"], "entailed": True}]
    >>> rw.evaluate_citations(rows, "CitationP")["CitationP"]
    1.0
    """
    check_intervals(options.intervals, options.seed)
    convention = find_convention(options.convention, "rag")
    named, builder = _runs(supports), ResultsBuilder(convention)
    names = measure_names(options.measures) or (
        ["CitationR", "CitationP"] if convention.name == "rankwell" else None
    )
    measures = choose_measures(names, convention)
    check_views((each.measure for each in measures), CitedStatements)
    views = {name: read_supports(place) for name, place in named.items()}
    of_all = sort_ids({query for view in views.values() for query in view.queries})
    for name, view in views.items():
        builder.counts[name] = {
            QUERIES_COUNTED: len(view.queries),
            "statements": sum(map(len, view.statements)),
        }
        lacking = sort_ids(set(of_all) - set(view.queries))
        if lacking:
            what = (
                f"{name}: {len(lacking)} of the {len(of_all)} questions have no statement, as "
                f"{lacking[0]!r}"
            )
            builder.notes.append(f"{what}, and do not count")
        _keep(builder, name, measures, view)
    return builder.results(
        rules=_rules(builder, convention, measures, options),
        measures=measures,
        notes=[*convention.notes, *builder.notes],
        sources=sources_of({}, named),
        intervals=options.intervals,
        seed=options.seed,
    )


def _runs(places: Any) -> dict[str, Any]:
    """Files and rows by name; a list of mappings is the rows of one run."""
    if isinstance(places, Mapping):
        if not places:
            raise BadUsage(
                "no system is given; expected a mapping of names to files or lists of mappings."
            )
        return dict(places)
    is_rows = (
        isinstance(places, Sequence)
        and not isinstance(places, str)
        and all(isinstance(each, Mapping) for each in places)
    )
    return {"run": places} if is_rows else name_runs(places)


def _measures(
    options: RagOptions,
    convention: Convention,
    truth: Sequence[Sequence[DocumentPassage]],
    found: Sequence[QuestionPassages],
) -> tuple[LabelledMeasure, ...]:
    """The measures that are named, else those of the convention, else those that the passages
    allow.
    """
    names = measure_names(options.measures)
    if names and options.k is not None:
        raise BadUsage(
            f"-k {options.k} is unused beside named measures; write the cut-off into their "
            f"names, as in SpanR@{options.k}."
        )
    if names is None and convention.name == "rankwell":
        passages = chain(*truth, *(each.passages for each in found))
        placed = all(each.start >= 0 for each in passages)
        names = ["SpanP", "SpanR", "SpanIoU"] if placed else ["ContextP", "ContextR"]
        names = [f"{name}@{options.k or 5}" for name in names]
        names += ["SpanPOmega"] if placed and options.every_chunk is not None else []
    elif names is None:
        extra = (
            convention.rules_of("rag", RagConvention()).of_chunks
            if options.every_chunk is not None
            else ()
        )
        names = [
            name if options.k is None else f"{name.partition('@')[0]}@{options.k}"
            for name in convention.defaults
        ]
        names += extra
    measures = choose_measures(names, convention)
    check_views((each.measure for each in measures), RetrievedPassages)
    return measures


def _note_uncovered(
    builder: ResultsBuilder,
    measures: Sequence[LabelledMeasure],
    queries: Sequence[str],
    truth: Sequence[Sequence[DocumentPassage]],
    every: Sequence[DocumentPassage],
) -> None:
    """Notes questions whose gold documents have no chunk, for which SpanPOmega is 0, as in
    chunking_evaluation.
    """
    labels = [each.label for each in measures if each.measure.name == "SpanPOmega"]
    cut = {each.document for each in every}
    bare = [
        query
        for query, gold in zip(queries, truth, strict=True)
        if gold and cut.isdisjoint(each.document for each in gold)
    ]
    if labels and bare:
        what = (
            f"{len(bare)} of {len(queries)} questions have gold passages in documents without a "
            "chunk in"
        )
        builder.notes.append(
            f"{what} {flag('--chunks', name='every_chunk')}, as {bare[0]!r}; their {labels[0]} is 0"
        )


def _note_repeated(
    builder: ResultsBuilder,
    run: str,
    noun: str,
    measures: Sequence[LabelledMeasure],
    passages: Mapping[str, Sequence[DocumentPassage]],
) -> None:
    """Notes questions that list a passage twice, for measures that count every text."""
    labels = [each.label for each in measures if each.measure.accepts("similarity")]
    twice = [query for query, own in passages.items() if len(set(own)) < len(own)]
    if labels and twice:
        number = count_of(len(twice), "question lists", "questions list")
        builder.notes.append(
            f"{run}{number} a {noun} twice, as {twice[0]!r}; every copy counts in "
            f"{', '.join(labels)}"
        )


def _note_longer_chunks(
    builder: ResultsBuilder, name: str, measures: Sequence[LabelledMeasure], view: RetrievedPassages
) -> None:
    """Notes what measures of texts make of chunks that are at least twice as long as the gold
    passages, by their medians.
    """
    chunks, gold = (
        [len(each.text) for each in chain(*of) if each.text] for of in (view.chunks, view.gold)
    )
    if not chunks or not gold or float(np.median(chunks)) < 2 * float(np.median(gold)):
        return
    lengths = (
        f"{name}: its chunks are {np.median(chunks) / np.median(gold):.1f} times as long as the "
        "gold passages (medians)"
    )
    by_match: dict[bool, list[str]] = {}
    for each in measures:
        if each.measure.accepts("similarity"):
            by_match.setdefault(each.measure.parameters["similarity"] == "containment", []).append(
                each.label
            )
    for is_containment, labels in by_match.items():
        what = (
            f"what else a chunk holds does not count in {', '.join(labels)}: SpanP and SpanIoU, "
            "which need positions, see it"
        )
        if not is_containment:
            why = (
                f"{', '.join(labels)} compare whole texts, by which a chunk that holds a passage "
                "may be unlike it"
            )
            what = f"{why}; similarity='containment', the rule of the convention rankwell, finds it"
        builder.notes.append(f"{lengths}; {what}")


def _count(
    builder: ResultsBuilder, name: str, queries: Sequence[str], own: Mapping[str, QuestionPassages]
) -> None:
    unknown = sort_ids(set(own) - set(queries))
    missing = [query for query in queries if query not in own]
    if len(missing) == len(queries):
        what = (
            f"{name}: none of its {len(own)} questions is one of the {len(queries)} with gold "
            "passages"
        )
        raise NothingToEvaluate(
            f"{what} ({next(iter(own))!r}, {queries[0]!r}); are ids written in two ways?"
        )
    builder.counts[name] = {
        QUERIES_COUNTED: len(queries),
        QUERIES_MISSING: len(missing),
        QUERIES_UNKNOWN: len(unknown),
    }
    if missing:
        number = count_of(len(missing), "question has", "questions have")
        them = "it" if len(missing) == 1 else "them"
        builder.notes.append(
            f"{name}: {number} no line, as {missing[0]!r}; nothing was retrieved for {them}"
        )
    if unknown:
        builder.notes.append(
            f"{name}: {len(unknown)} questions have no gold passages, as {unknown[0]!r}, and "
            "are ignored"
        )


def _keep(
    builder: ResultsBuilder,
    name: str,
    measures: Sequence[LabelledMeasure],
    view: RetrievedPassages | CitedStatements,
) -> None:
    for each in measures:
        values = each.measure(view)
        builder.keep(name, each.measure, each.label, view.queries, values)
        builder.note_undefined(name, each.label, np.isnan(values))


def _rules(
    builder: ResultsBuilder,
    convention: Convention,
    measures: Sequence[LabelledMeasure],
    options: RagOptions | CitationOptions,
) -> dict[str, Any]:
    return {
        "convention": convention.name,
        "intervals": options.intervals,
        "seed": options.seed,
        "sd": "population" if convention.population_sd else "sample",
        "counts": builder.counts,
        "measures": {str(each.measure): builder.definition(each.measure) for each in measures},
        **_similarities(measures),
        **_tokenizers(measures),
    }


def _similarities(measures: Sequence[LabelledMeasure]) -> dict[str, str]:
    """The similarities of texts with their thresholds, and the library's version, where a measure
    compares texts.
    """
    given = [each.measure.parameters for each in measures if each.measure.accepts("similarity")]
    found = {_similarity_of(own): own["similarity"] for own in given}
    if not found:
        return {}
    library = (
        {}
        if set(found.values()) <= {"words", "containment"}
        else {"rapidfuzz": version("rapidfuzz")}
    )
    return {"similarity": ", ".join(sorted(found)), **library}


def _similarity_of(parameters: Mapping[str, Any]) -> str:
    name, threshold = parameters["similarity"], parameters["threshold"]
    return (
        name
        if name == "containment"
        else f"{name} threshold {DEFAULT_THRESHOLD if threshold is None else threshold:g}"
    )


def _tokenizers(measures: Sequence[LabelledMeasure]) -> dict[str, str]:
    """The named tokenizers with the versions of their libraries, where there are any."""
    units = sorted({each.measure.parameters.get("unit", "") for each in measures})
    found = [f"{unit} ({tokenizer_of(unit).about})" for unit in units if ":" in unit]
    return {"tokenizer": ", ".join(found)} if found else {}


def _name(passage: DocumentPassage) -> str:
    """A passage as an item: its document and position, or the beginning of its text."""
    if passage.start < 0:
        return passage.document or (passage.text or "")[:60]
    return f"{passage.document}:{passage.start}-{passage.end}"


def _details(view: RetrievedPassages) -> Details:
    """A row per chunk, and per gold passage that was not retrieved as such; relevant are chunks
    that hold gold text.
    """
    rows: list[tuple[str, str, float, float]] = []
    for query, gold, chunks in zip(view.queries, view.gold, view.chunks, strict=True):
        seen = {_name(each) for each in chunks}
        listed = {_name(each): (rank, each) for rank, each in reversed(list(enumerate(chunks, 1)))}
        found = sorted(listed.items(), key=lambda each: each[1][0])
        rows += [
            (query, name, float(rank), float(_holds(each, gold))) for name, (rank, each) in found
        ]
        rows += [
            (query, name, np.nan, 1.0)
            for name in dict.fromkeys(map(_name, gold))
            if name not in seen
        ]
    queries, items, ranks, grades = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    states = ["relevant" if grade else "unjudged" for grade in grades]
    grade = np.array([one if one else np.nan for one in grades])
    return Details(queries, items, np.array(ranks), np.full(len(rows), np.nan), grade, states)


def _holds(chunk: DocumentPassage, gold: Sequence[DocumentPassage]) -> bool:
    """Whether a chunk holds gold text: of a position in common, or a passage's whole text, or is a
    part of it.
    """
    if chunk.start < 0:
        texts = [folded(each.text) for each in gold if each.text is not None]
        return any(are_nested(folded(chunk.text or ""), text) for text in texts)
    return any(
        shared([chunk.span], [each.span])
        for each in gold
        if each.document == chunk.document and each.start >= 0
    )
