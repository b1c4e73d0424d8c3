"""Retrieval for generation: chunks against gold passages, and citations against given supports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import Annotated, Any

import numpy as np

from rankwell.conventions import Convention, Measures
from rankwell.data.findings import Finding
from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    DocumentTexts,
    Input,
    MeasureNames,
    Rows,
    Table,
    takes_options,
)
from rankwell.data.registry import at_cutoffs, cutoffs_of_defaults
from rankwell.data.tables import columns_of, grouped, sort_ids
from rankwell.errors import BadUsage
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.options import MeasureOptions, StatisticsOptions
from rankwell.evaluation.results import QUERIES_COUNTED, ResultsBuilder
from rankwell.io.formats import read_texts
from rankwell.reporting.options import Progress
from rankwell.results import Results
from rankwell.store import sources_of
from rankwell.task import MeasuringTask, Noun, TaskInput, Views
from rankwell.tasks.rag.conventions import RagConvention
from rankwell.tasks.rag.findings import (
    chunks_longer_than_gold,
    gold_without_chunks,
    passages_repeated,
    questions_without_statements,
)
from rankwell.tasks.rag.measures.contexts import DEFAULT_THRESHOLD
from rankwell.tasks.rag.passages import (
    CitedStatements,
    DocumentPassage,
    RetrievedPassages,
    are_nested,
    folded,
    read_chunks,
    read_gold,
    read_passages,
    read_supports,
    shared,
    tokenizer_of,
)

QUESTIONS = Noun("question", "questions")


@dataclass(frozen=True, kw_only=True)
class RagOptions(StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate_rag`."""

    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas, such as "
            "SpanR@5,ContextP(similarity='words',threshold=0.6), or a convention's names for them. "
            "[default: SpanP, SpanR and SpanIoU if gold passages and chunks have positions, "
            "otherwise ContextP and ContextR]"
        ),
    ] = None
    convention: Annotated[
        ConventionName, Doc("Convention for names and rules: rankwell, chunking_evaluation, ragas.")
    ] = "rankwell"
    k: Annotated[
        CutoffNumbers, Doc("Cut-offs of the measures reported without -m. [default: 5]")
    ] = None
    documents: DocumentTexts = None
    chunks: Annotated[
        Rows | None,
        Input(),
        Doc(
            "File of all chunks of the collection: for SpanPOmega, and for chunking_evaluation "
            "without a cut-off."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CitationOptions(StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate_citations`."""

    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas: CitationR, CitationP or a convention's names for "
            "them. [default: both]"
        ),
    ] = None
    convention: Annotated[
        ConventionName, Doc("Convention for names and units: rankwell or alce.")
    ] = "rankwell"


def passage_views(gold: Any, retrieved: Any, options: RagOptions) -> Views:
    """The passages of each question beside the chunks of each run; shared: the questions' texts."""
    _ = cutoffs_of_defaults(options.k, options.measures, "SpanR")
    documents = {} if options.documents is None else read_texts(options.documents).texts
    questions = read_gold(gold, documents)
    files = _files_by_run(retrieved)
    chunks = {run: read_chunks(file, documents) for run, file in files.items()}
    every_chunk = options.chunks
    collection = () if every_chunk is None else read_passages(every_chunk, documents)
    queries = tuple(sort_ids(questions))
    passages = tuple(questions[query].passages for query in queries)
    runs = {
        run: RetrievedPassages(
            queries,
            passages,
            tuple(lines[query].passages if query in lines else () for query in queries),
            documents,
            collection,
        )
        for run, lines in chunks.items()
    }
    inputs = {"gold": gold, "documents": options.documents, "chunks": every_chunk}
    texts = [questions[query].text for query in queries]
    return Views(runs, queries, chunks, sources_of(inputs, files), texts)


def statement_views(supports: Any, _: CitationOptions) -> Views:
    """The cited statements of each run, over the questions of all."""
    files = _files_by_run(supports)
    runs = {run: read_supports(file) for run, file in files.items()}
    queries_of_run = {run: view.queries for run, view in runs.items()}
    return Views(
        runs, sort_ids(set(chain(*queries_of_run.values()))), queries_of_run, sources_of({}, files)
    )


def _files_by_run(files: Any) -> dict[str, Any]:
    """Files and rows by name; a list of mappings is the rows of one run."""
    if isinstance(files, Mapping):
        if not files:
            raise BadUsage(
                "no system is given; expected a mapping of names to files or lists of mappings."
            )
        return dict(files)
    is_sequence = isinstance(files, Sequence) and not isinstance(files, str)
    if is_sequence and all(isinstance(row, Mapping) for row in files):
        return {"run": files}
    return name_runs(files)


def default_passage_measures(
    views: Views, options: RagOptions, convention: Convention
) -> list[str]:
    """The measures of the convention, else those that the passages allow."""
    has_collection = options.chunks is not None
    ks = cutoffs_of_defaults(options.k, options.measures, "SpanR")
    if convention.origin != "rankwell":
        rules = convention.rules_of("rag", RagConvention())
        names = at_cutoffs(convention.defaults, ks) if ks else [*convention.defaults]
        return names + [*rules.of_chunks] * has_collection
    passages = chain.from_iterable(chain(*view.gold, *view.chunks) for view in views.runs.values())
    has_positions = all(passage.start >= 0 for passage in passages)
    names = ["SpanP", "SpanR", "SpanIoU"] if has_positions else ["ContextP", "ContextR"]
    return at_cutoffs(names, ks or (5,)) + ["SpanPOmega"] * (has_positions and has_collection)


def count_statements(views: Views, run: str, builder: ResultsBuilder) -> None:
    """Counts questions and statements; reports the questions that other runs have."""
    cited: CitedStatements = views.runs[run]
    builder.counts[run] = {
        QUERIES_COUNTED: len(cited.queries),
        "statements": sum(map(len, cited.statements)),
    }
    missing = sort_ids(set(views.queries) - set(cited.queries))
    if missing:
        builder.findings.append(questions_without_statements(run, missing, len(views.queries)))


def run_findings(run: str, view: RetrievedPassages, measures: Measures) -> Iterator[Finding]:
    """What texts that are longer or repeated do to measures that compare texts."""
    yield from _on_longer_chunks(run, view, measures)
    yield from _on_repeats(run, "chunk", view.queries, view.chunks, measures)


def findings(views: Views, measures: Measures) -> Iterator[Finding]:
    """Repeated gold passages, and questions whose gold documents have no chunk, for which
    SpanPOmega is 0, as in chunking_evaluation.
    """
    view: RetrievedPassages = next(iter(views.runs.values()))
    yield from _on_repeats("", "gold passage", view.queries, view.gold, measures)
    labels = [labelled.label for labelled in measures if labelled.measure.name == "SpanPOmega"]
    documents = {chunk.document for chunk in view.every_chunk}
    uncovered = [
        query
        for query, passages in zip(view.queries, view.gold, strict=True)
        if passages and documents.isdisjoint(passage.document for passage in passages)
    ]
    if labels and uncovered:
        yield gold_without_chunks(uncovered, len(view.queries), labels[0])


def _on_repeats(
    run: str,
    noun: str,
    queries: Sequence[str],
    passages: Sequence[Sequence[DocumentPassage]],
    measures: Measures,
) -> Iterator[Finding]:
    """Questions that list a passage twice, for measures that count every text."""
    labels = [labelled.label for labelled in measures if labelled.measure.accepts("similarity")]
    repeating = [
        query
        for query, passages_of_query in zip(queries, passages, strict=True)
        if len(set(passages_of_query)) < len(passages_of_query)
    ]
    if labels and repeating:
        yield passages_repeated(noun, repeating, labels, run)


def _on_longer_chunks(run: str, view: RetrievedPassages, measures: Measures) -> Iterator[Finding]:
    """What measures of texts make of chunks that are at least twice as long as the gold passages,
    by their medians.
    """
    chunks, gold = (_median_length(chain(*passages)) for passages in (view.chunks, view.gold))
    if not chunks or not gold or chunks < 2 * gold:
        return
    by_match = grouped(
        (labelled.measure.parameters["similarity"] == "containment", labelled.label)
        for labelled in measures
        if labelled.measure.accepts("similarity")
    )
    for is_containment, labels in by_match.items():
        effect = (
            f"what else a chunk holds does not count in {', '.join(labels)}: SpanP and SpanIoU, "
            "which need positions, see it"
            if is_containment
            else f"{', '.join(labels)} compare whole texts, by which a chunk that holds a passage "
            "may be unlike it; similarity='containment', the rule of the convention rankwell, "
            "finds it"
        )
        yield chunks_longer_than_gold(run, chunks / gold, effect)


def _median_length(passages: Iterable[DocumentPassage]) -> float:
    lengths = [len(passage.text) for passage in passages if passage.text]
    return float(np.median(lengths)) if lengths else 0.0


def text_rules(measures: Measures) -> dict[str, str]:
    """The similarities of texts with their thresholds, and the tokenizers, with the versions of the
    libraries that compute them.
    """
    similarities, rules = dict[str, str](), dict[str, str]()
    units = set[str]()
    for labelled in measures:
        parameters = labelled.measure.parameters
        name, threshold = parameters.get("similarity"), parameters.get("threshold")
        if name == "containment":
            similarities[name] = name
        elif name is not None:
            limit = DEFAULT_THRESHOLD if threshold is None else threshold
            similarities[f"{name} threshold {limit:g}"] = name
        units.add(parameters.get("unit", ""))
    if similarities:
        rules["similarity"] = ", ".join(sorted(similarities))
    if not {"words", "containment"}.issuperset(similarities.values()):
        rules["rapidfuzz"] = version("rapidfuzz")
    tokenizers = [f"{unit} ({tokenizer_of(unit).about})" for unit in sorted(units) if ":" in unit]
    return rules | ({"tokenizer": ", ".join(tokenizers)} if tokenizers else {})


def tables(views: Views, details: bool) -> dict[str, Any]:
    """The texts of questions, and for a page the chunks and passages of each, with their texts."""
    queries = {"queries": {"query": list(views.queries), "text": views.shared}}
    if not details:
        return queries
    texts = {
        _item_id(passage): passage.text
        for view in views.runs.values()
        for passage in chain(*view.chunks, *view.gold)
        if passage.text is not None
    }
    run_details = [(run, *_details(view)) for run, view in views.runs.items()]
    items = sort_ids(texts)
    return queries | {
        "details": detail_columns(run_details, states=COMPLETE),
        "items": {"item": items, "text": [texts[item] for item in items]},
    }


def _item_id(passage: DocumentPassage) -> str:
    """A passage as an item: its document and position, or the beginning of its text."""
    if passage.start < 0:
        return passage.document or (passage.text or "")[:60]
    return f"{passage.document}:{passage.start}-{passage.end}"


def _details(view: RetrievedPassages) -> tuple[Details, list[str | None]]:
    """A row per chunk, and per gold passage that was not retrieved as such; relevant are chunks
    that hold gold text. Beside them where in the text of each chunk gold text begins, as JSON.
    """
    rows: list[tuple[str, str, float, int | None]] = []
    for query, gold, chunks in zip(view.queries, view.gold, view.chunks, strict=True):
        cells: dict[str, tuple[float, int | None]] = {}
        for rank, chunk in enumerate(chunks, 1):
            if _item_id(chunk) not in cells:
                cells[_item_id(chunk)] = rank, _gold_at(chunk, gold)
        for passage in gold:
            cells.setdefault(_item_id(passage), (np.nan, 0))
        rows += [(query, item, *of_item) for item, of_item in cells.items()]
    queries, items, ranks, starts = columns_of(rows, 4)
    is_relevant = [start is not None for start in starts]
    details = Details(
        queries,
        items,
        rank=np.array(ranks, dtype=np.float64),
        score=np.full(len(rows), np.nan),
        grade=np.where(is_relevant, 1.0, np.nan),
        state=["relevant" if relevant else "unjudged" for relevant in is_relevant],
    )
    return details, [f'{{"at":{start}}}' if start else None for start in starts]


def _gold_at(chunk: DocumentPassage, gold: Sequence[DocumentPassage]) -> int | None:
    """Where in a chunk gold text begins: of a position in common, or a passage's whole text, or 0
    for a part of one; None where the chunk holds none.
    """
    text = chunk.text or ""
    for passage in gold:
        if chunk.start < 0:
            if passage.text is not None and are_nested(folded(text), folded(passage.text)):
                return max(text.find(passage.text), 0)
        elif (
            passage.document == chunk.document
            and passage.start >= 0
            and shared([chunk.span], [passage.span])
        ):
            return max(passage.start - chunk.start, 0)
    return None


rag = MeasuringTask(
    name="rag",
    about="""Evaluate the chunks that a RAG system retrieves.

Matches chunks with gold passages by position or by the similarity of texts, without a model.

Both files hold a JSON object per question, {"id": "q1", "passages": [{"document": "d", "start": \
0, "end": 9}]} and {"id": "q1", "chunks": [{"document": "d", "start": 0, "end": 40}]}, best first. \
docs/guide/rag.md explains them.

If documents are judged instead of passages, `rankwell evaluate questions.jsonl retrieved.jsonl` \
reads questions with "gold_docs" and chunks with "doc_id".""",
    command_lines="""
rankwell rag gold.jsonl chunks.jsonl
rankwell rag gold.jsonl small=a.jsonl large=b.jsonl -m SpanR@5
""",
    options=RagOptions,
    inputs=(
        TaskInput(
            "gold",
            "Questions with gold passages, JSON lines (those with relevant documents: rankwell "
            "evaluate); `passages` have a position, a text or both. "
            "RAGAS' rows are read, too.",
            missing="name a file of gold passages",
        ),
        TaskInput(
            "retrieved",
            "The chunks of each retriever for the same questions; name more files to compare "
            "retrievers.",
            many=True,
            missing="name at least one file of chunks after the gold passages",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "items.parquet and charts",
    noun=QUESTIONS,
    truth="gold passages",
    view=RetrievedPassages,
    views=passage_views,
    default_measures=default_passage_measures,
    run_findings=run_findings,
    findings=findings,
    rules=text_rules,
    tables=tables,
)
citations = MeasuringTask(
    name="rag citations",
    about="""Evaluate the citations in generated answers (ALCE).

Computes citation recall and precision from given entailments.

The file has a JSON object per judged set of citations: {"id": "q1", "statement": "s1", \
"citations": ["a", "b"], "entailed": true}. An unjudged set that a measure needs is an error. \
docs/guide/rag.md explains it.""",
    command_lines="""
rankwell rag citations gold.jsonl
""",
    options=CitationOptions,
    inputs=(
        TaskInput(
            "supports",
            "Files of judged supports, JSON lines, one for each system.",
            many=True,
            missing="name at least one file of supports",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, queries.parquet and charts",
    noun=QUESTIONS,
    truth="statements",
    view=CitedStatements,
    views=statement_views,
    default_measures=lambda _, __, convention: (
        ["CitationR", "CitationP"] if convention.origin == "rankwell" else None
    ),
    count=count_statements,
)


@takes_options(RagOptions, "measures")
def evaluate_rag(
    gold: Rows,
    retrieved: Table,
    *,
    options: RagOptions,
    details: bool = False,
    progress: Progress = None,
) -> Results:
    """Evaluates the chunks that a RAG system retrieves.

    Matches chunks with gold passages by position or by the similarity of texts, without a model.
    Raises BadInput and DuplicateItem for rows that cannot be read, UnknownName for a measure or
    convention that does not exist, BadUsage for options that do not go together, NothingToEvaluate
    where nothing is left to average over.

    Parameters
    ----------
    gold
        Questions with gold passages, `{"id": "q1", "passages": [{"document": "d", "start": 0,
        "end": 9}]}`: a file of JSON lines, a list of such rows, or a data frame. A passage has a
        position, a text or both. RAGAS' rows are read, too. For questions with relevant documents,
        use `evaluate`.
    retrieved
        The chunks of a retriever for the same questions, best first, `{"id": "q1", "chunks":
        [{"document": "d", "start": 0, "end": 40}]}`: a file, a list of such rows, or a data frame.
        A list of files, or a mapping name -> file or rows, compares retrievers.
    documents
        Texts of the documents, in which passages have positions: a file (BEIR corpus.jsonl, or any
        table with an id column), a mapping id -> text, a list of rows such as `[{"id": "d", "text":
        "words"}]`, or a data frame. By default, passages and chunks are compared as they are.
    chunks
        All chunks of the collection, for SpanPOmega, and for chunking_evaluation without a cut-off:
        a file, or a list of rows such as `[{"document": "d", "start": 0, "end": 40}]`.

    >>> import rankwell as rw
    >>> gold = [{"id": "q", "passages": [{"document": "doc", "start": 0, "end": 6}]}]
    >>> chunks = [{"id": "q", "chunks": [{"document": "doc", "start": 3, "end": 9}]}]
    >>> rw.evaluate_rag(gold, chunks, "SpanR@1")["SpanR@1"]
    0.5
    """
    return rag.evaluate(gold, retrieved, options=options, details=details, progress=progress)


@takes_options(CitationOptions, "measures")
def evaluate_citations(
    supports: Table, *, options: CitationOptions, details: bool = False, progress: Progress = None
) -> Results:
    """Evaluates the citations in generated answers (ALCE).

    Computes citation recall and precision from given entailments. An unjudged set that a measure
    needs is an error.
    Raises BadInput and DuplicateItem for rows that cannot be read, UnknownName for a measure or
    convention that does not exist, BadUsage for options that do not go together, NothingToEvaluate
    where nothing is left to average over.

    Parameters
    ----------
    supports
        A row for each judged set of citations, `{"id": "q1", "statement": "s1", "citations": ["a",
        "b"], "entailed": true}`: JSON lines, or the rows; a list of files, or a mapping name ->
        file or rows, compares systems.

    >>> import rankwell as rw
    >>> rows = [{"id": "q", "statement": "s", "citations": ["a"], "entailed": True}]
    >>> rw.evaluate_citations(rows, "CitationP")["CitationP"]
    1.0
    """
    return citations.evaluate(supports, options=options, details=details, progress=progress)
