"""The public names of rankwell, with their types: written by tools/public_stub.py."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from rankwell.comparison.bench.results import BenchOptions as BenchOptions
from rankwell.comparison.bench.results import BenchResults as BenchResults
from rankwell.comparison.data import Attribute, GateOptions, Origin, Pair
from rankwell.comparison.data import ComparisonOptions as ComparisonOptions
from rankwell.comparison.fusion.runs import FusionOptions as FusionOptions
from rankwell.comparison.fusion.runs import FusionTuningOptions as FusionTuningOptions
from rankwell.comparison.fusion.runs import TunedFusion as TunedFusion
from rankwell.data.judged_rankings import JudgedRankings as JudgedRankings
from rankwell.data.matrices import Embeddings
from rankwell.data.rankings import Ranking as Ranking
from rankwell.data.registry import Measure as Measure
from rankwell.data.registry import parse_measure as parse_measure
from rankwell.data.tables import Judgments as Judgments
from rankwell.data.tables import Values as Values
from rankwell.errors import BadInput as BadInput
from rankwell.errors import BadLine as BadLine
from rankwell.errors import BadScore as BadScore
from rankwell.errors import BadUsage as BadUsage
from rankwell.errors import DuplicateItem as DuplicateItem
from rankwell.errors import GateFailed as GateFailed
from rankwell.errors import MissingExtra as MissingExtra
from rankwell.errors import NothingToEvaluate as NothingToEvaluate
from rankwell.errors import RankwellError as RankwellError
from rankwell.errors import TieRefused as TieRefused
from rankwell.errors import Unfinished as Unfinished
from rankwell.errors import UnknownName as UnknownName
from rankwell.files.checks import CheckOptions, Findings
from rankwell.files.conversion import Conversion, ConvertOptions
from rankwell.files.encoding import EncodeFileOptions as EncodeFileOptions
from rankwell.files.explanations import explain as explain
from rankwell.files.neighbours import KnnOptions as KnnOptions
from rankwell.files.writing import write_judgments as write_judgments
from rankwell.files.writing import write_run as write_run
from rankwell.io.formats import find_hits as find_hits
from rankwell.io.formats import read_judgments as read_judgments
from rankwell.io.formats import read_ranking as read_ranking
from rankwell.io.mapping import group_rankings as group_rankings
from rankwell.io.mapping import intent_rankings as intent_rankings
from rankwell.io.mapping import judged_rankings as judged_rankings
from rankwell.io.mapping import preference_rankings as preference_rankings
from rankwell.measures.own import measure as measure
from rankwell.results import ComparisonResults as _ComparisonResults
from rankwell.results import Results as _Results
from rankwell.tasks.beyond.options import BeyondOptions as BeyondOptions
from rankwell.tasks.clicks.interleaving import InterleavedList
from rankwell.tasks.clicks.interleaving import InterleavingOptions as InterleavingOptions
from rankwell.tasks.clicks.options import ClickOptions as ClickOptions
from rankwell.tasks.clicks.preference import InterleavingTestOptions as InterleavingTestOptions
from rankwell.tasks.crossmodal.evaluation import CaptionResults
from rankwell.tasks.crossmodal.hgr import eval_q2m as eval_q2m
from rankwell.tasks.crossmodal.options import CrossmodalOptions as CrossmodalOptions
from rankwell.tasks.crossmodal.options import CrossmodalPartOptions
from rankwell.tasks.embeddings.evaluation import AgreementResults
from rankwell.tasks.embeddings.evaluation import compare_lists as compare_lists
from rankwell.tasks.embeddings.options import EmbeddingOptions as EmbeddingOptions
from rankwell.tasks.embeddings.options import EmbeddingPartOptions
from rankwell.tasks.embeddings.ranking_pairs import ranking_pairs as ranking_pairs
from rankwell.tasks.engine.evaluation import EngineResults
from rankwell.tasks.engine.options import EngineOptions as EngineOptions
from rankwell.tasks.images.evaluation import InstanceResults
from rankwell.tasks.images.images import Images as Images
from rankwell.tasks.images.images import read_images as read_images
from rankwell.tasks.images.options import ImageOptions as ImageOptions
from rankwell.tasks.keywords.annotations import Annotations as Annotations
from rankwell.tasks.keywords.annotations import QueryKeywords as QueryKeywords
from rankwell.tasks.keywords.evaluation import ClipResults
from rankwell.tasks.keywords.formats import read_annotations as read_annotations
from rankwell.tasks.keywords.formats import read_schema as read_schema
from rankwell.tasks.keywords.mapping import KeywordMapper as KeywordMapper
from rankwell.tasks.keywords.options import KeywordOptions as KeywordOptions
from rankwell.tasks.qa.answer_pairs import Predictions as Predictions
from rankwell.tasks.qa.answer_pairs import Questions as Questions
from rankwell.tasks.qa.evaluation import AnswerResults
from rankwell.tasks.qa.formats import read_predictions as read_predictions
from rankwell.tasks.qa.formats import read_questions as read_questions
from rankwell.tasks.qa.judges import answer_judge as answer_judge
from rankwell.tasks.qa.options import QaOptions as QaOptions
from rankwell.tasks.rag.task import CitationOptions
from rankwell.tasks.rag.task import RagOptions as RagOptions
from rankwell.tasks.runs.options import EvaluateOptions
from rankwell.tasks.runs.options import RunOptions as RunOptions
from rankwell.vectors.neighbours import TopK

__version__: str

class ComparisonResults(_ComparisonResults, Results): ...

class Results(_Results):
    def compare(
        self,
        *,
        baseline: str | None = ...,
        measures: Sequence[str] | str | None = ...,
        test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] = ...,
        family: Literal["primary", "all"] = ...,
        correction: Literal["holm", "bh", "max-t", "tukey", "none"] = ...,
        power: float = ...,
        intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
        level: float = ...,
        resamples: int = ...,
        seed: int = ...,
        group: str | None = ...,
        cluster: str | None = ...,
        options: ComparisonOptions | None = ...,
    ) -> ComparisonResults: ...
    def gate(
        self,
        *required: str,
        require: Sequence[str] | str | None = ...,
        no_regression: str | None = ...,
        tolerance: float | str | None = ...,
        measures: Sequence[str] | str | None = ...,
        intervals: Literal["bootstrap-t", "bootstrap", "t"] = ...,
        level: float = ...,
        resamples: int = ...,
        seed: int = ...,
        options: GateOptions | None = ...,
    ) -> Self: ...

def bench(
    file: str | Path,
    output: str | Path | None = ...,
    *,
    measures: Sequence[str] | str | None = ...,
    baseline: str | None = ...,
    only: Sequence[str] = ...,
    pages: bool = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    overwrite: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: BenchOptions | None = ...,
) -> BenchResults: ...
def check(
    judgments: Any,
    runs: Any = ...,
    *,
    documents: Any = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    qrels_format: str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    options: CheckOptions | None = ...,
) -> Findings: ...
def compare_values(
    values: Sequence[Values],
    *,
    baseline: str | None = ...,
    measures: Sequence[str] | str | None = ...,
    test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] = ...,
    family: Literal["primary", "all"] = ...,
    correction: Literal["holm", "bh", "max-t", "tukey", "none"] = ...,
    power: float = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    level: float = ...,
    resamples: int = ...,
    seed: int = ...,
    row_attributes: Sequence[Mapping[str, Any]] = ...,
    pairs: Sequence[Pair] = ...,
    group: Attribute | None = ...,
    cluster: Attribute | None = ...,
    origin: Origin | None = ...,
    options: ComparisonOptions | None = ...,
) -> ComparisonResults: ...
def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = ...,
    target_format: str | None = ...,
    holds: Literal["run", "judgments"] | None = ...,
    queries: Any = ...,
    graded_by: Literal["people", "model"] = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    overwrite: bool = ...,
    options: ConvertOptions | None = ...,
) -> Conversion: ...
def encode(
    texts: str | Path,
    output: str | Path,
    *,
    mixed: bool = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    fit: str | None = ...,
    normalize: bool | None = ...,
    dimensions: int | None = ...,
    dtype: Literal["float32", "float16"] = ...,
    batch_size: int = ...,
    device: str | None = ...,
    seed: int | None = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    shards: int | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    dry_run: bool = ...,
    encoder: str,
    overwrite: bool = ...,
    progress: Callable[[int, int], None] | None = ...,
    options: EncodeFileOptions | None = ...,
) -> Embeddings: ...
def evaluate(
    judgments: Any,
    runs: Any,
    measures: Sequence[str] | str | None = ...,
    *,
    convention: str = ...,
    average_over: Literal["judged", "run", "both"] | None = ...,
    unjudged: Literal["nonrelevant", "skip"] = ...,
    exclude_self: bool | None = ...,
    min_grade: float | None = ...,
    queries: Any = ...,
    split: str | None = ...,
    other_qrels: Any = ...,
    sessions: Any = ...,
    confidence: list[Literal["max", "std", "diff1"]] | None = ...,
    ties: str | None = ...,
    no_relevant: Literal["empty", "skip", "error"] | None = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    qrels_format: str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    shards: int | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    dry_run: bool = ...,
    details: bool | Literal["unjudged"] = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: EvaluateOptions | None = ...,
) -> Results: ...
def evaluate_beyond(
    runs: Any,
    measures: Sequence[str] | str | None = ...,
    *,
    convention: str = ...,
    k: int | None = ...,
    documents: Any = ...,
    interactions: Any = ...,
    item_categories: Any = ...,
    item_groups: Any = ...,
    item_vectors: Any = ...,
    qrels: Any = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    qrels_format: str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    options: BeyondOptions | None = ...,
) -> Results: ...
def evaluate_citations(
    supports: Any,
    measures: Sequence[str] | str | None = ...,
    *,
    convention: str = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    details: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: CitationOptions | None = ...,
) -> Results: ...
def evaluate_clicks(
    log: Any,
    policies: Any = ...,
    measures: Sequence[str] | str | None = ...,
    *,
    reward_model: Any = ...,
    expected: Any = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    value_of: Literal["row", "query"] = ...,
    by_position: bool = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    seed: int = ...,
    options: ClickOptions | None = ...,
) -> Results: ...
def evaluate_crossmodal(
    scores: Any = ...,
    qrels: Any = ...,
    *,
    query_vectors: Any = ...,
    item_vectors: Any = ...,
    metric: Literal["cosine", "dot", "l2"] | None = ...,
    direction: Literal["both", "t2v", "v2t"] = ...,
    protocol: Literal["among-captions", "among-videos", "both"] | None = ...,
    folds: int | None = ...,
    k: Sequence[int] | int | str | None = ...,
    measures: Sequence[str] | str | None = ...,
    convention: str = ...,
    ties: str | None = ...,
    mask: Any = ...,
    transform: str | None = ...,
    bank: Any = ...,
    query_ids: Any = ...,
    item_ids: Any = ...,
    queries: Any = ...,
    no_relevant: Literal["empty", "skip", "error"] | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    shards: int | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    dry_run: bool = ...,
    details: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: CrossmodalPartOptions | None = ...,
) -> CaptionResults: ...
def evaluate_embeddings(
    reference: Any,
    candidates: Any,
    measures: Sequence[str] | str | None = ...,
    *,
    k: Sequence[int] | int | str = ...,
    samples: int | str = ...,
    seed: int | None = ...,
    gold_depth: int | None = ...,
    metric: Literal["cosine", "dot", "l2"] = ...,
    item_ids: Any = ...,
    exclude_group: Any = ...,
    qrels: Any = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    ceiling: bool = ...,
    eps: float = ...,
    convention: str = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    shards: int | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    dry_run: bool = ...,
    spectrum: bool | None = ...,
    details: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: EmbeddingPartOptions | None = ...,
) -> AgreementResults: ...
def evaluate_engine(
    engine: Any,
    queries: Any = ...,
    *,
    documents: Any = ...,
    item_vectors: Any = ...,
    query_vectors: Any = ...,
    encoder: str | None = ...,
    qrels: Any = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    measures: Sequence[str] | str | None = ...,
    convention: str = ...,
    depth: int = ...,
    option: Any = ...,
    url: str | None = ...,
    sweep: Any = ...,
    filters: list[str] | None = ...,
    truth: Any = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first"] = ...,
    collapse: str | None = ...,
    recall: float | None = ...,
    cost: Literal["p50", "p95", "p99", "throughput", "processor", "build", "size"] = ...,
    rounds: int = ...,
    warm_up: int = ...,
    clients: int | None = ...,
    rate: float | None = ...,
    query_timeout: float = ...,
    retries: int = ...,
    allow_failures: int = ...,
    max_requests: int = ...,
    max_seconds: float = ...,
    server_pid: int | None = ...,
    allow_load: str | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: EngineOptions | None = ...,
) -> EngineResults: ...
def evaluate_images(
    images: Any = ...,
    *,
    item_vectors: Any = ...,
    query_vectors: Any = ...,
    scores: Any = ...,
    qrels: Any = ...,
    metric: Literal["cosine", "dot", "l2"] | None = ...,
    item_ids: Any = ...,
    query_ids: Any = ...,
    exclude_self: bool | None = ...,
    exclude_group: str | None = ...,
    measures: Sequence[str] | str | None = ...,
    k: Sequence[int] | int | str | None = ...,
    depth: int | None = ...,
    convention: str = ...,
    transforms: Sequence[str] | str | None = ...,
    learn: Any = ...,
    confidence: list[Literal["max", "diff1"]] | None = ...,
    clusters: Any = ...,
    ties: str | None = ...,
    no_relevant: Literal["empty", "skip", "error"] | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    details: bool = ...,
    rules: Mapping[str, Any] | None = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: ImageOptions | None = ...,
) -> InstanceResults: ...
def evaluate_interleaving(
    lists: Any,
    clicks: Any,
    *,
    test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] | None = ...,
    cluster: bool = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    level: float = ...,
    resamples: int = ...,
    seed: int = ...,
    options: InterleavingTestOptions | None = ...,
) -> ComparisonResults: ...
def evaluate_keywords(
    annotations: Any,
    item_vectors: Any = ...,
    *,
    keyword_groups: Sequence[str] | str | None = ...,
    keywords: Sequence[str] | str | None = ...,
    query_clips: Sequence[str] | str | None = ...,
    k: Sequence[int] | int | str = ...,
    measures: Sequence[str] | str | None = ...,
    relevance: str = ...,
    min_similarity: float | None = ...,
    exclude_group: str | None = ...,
    queries: Any = ...,
    query_vectors: Any = ...,
    text_encoder: Any = ...,
    engine: Any = ...,
    run: Any = ...,
    schema: Any = ...,
    item_ids: Any = ...,
    metric: Literal["cosine", "dot", "l2"] | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    ties: str | None = ...,
    no_relevant: Literal["skip", "empty", "error"] = ...,
    unjudged: Literal["nonrelevant", "skip", "error"] = ...,
    weight_by: Literal["uniform", "relevant"] = ...,
    convention: str = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    map_text: Callable[[str], QueryKeywords] | None = ...,
    details: bool = ...,
    rules: Mapping[str, Any] | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    options: KeywordOptions | None = ...,
) -> ClipResults: ...
def evaluate_qa(
    gold: Any,
    predictions: Any = ...,
    *,
    retrieved: Any = ...,
    k: int | None = ...,
    depth: int | None = ...,
    convention: str | None = ...,
    measures: Sequence[str] | str | None = ...,
    isolated: Any = ...,
    na_probs: Any = ...,
    relevance: Literal["document", "dpr", "kilt", "lower", "raw", "context"] | None = ...,
    documents: Any = ...,
    ties: Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"] | None = ...,
    duplicates: Literal["error", "first", "best", "keep"] | None = ...,
    missing: Literal["zero", "empty", "skip", "error"] | None = ...,
    primary: str | None = ...,
    qrels_format: str | None = ...,
    predictions_format: str | None = ...,
    retrieved_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    details: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: QaOptions | None = ...,
) -> AnswerResults: ...
def evaluate_rag(
    gold: Any,
    retrieved: Any,
    measures: Sequence[str] | str | None = ...,
    *,
    convention: str = ...,
    k: int | None = ...,
    documents: Any = ...,
    chunks: Any = ...,
    seed: int = ...,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = ...,
    details: bool = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: RagOptions | None = ...,
) -> Results: ...
def fuse(
    runs: Sequence[Any] | Mapping[str, Any],
    *,
    method: str = ...,
    weights: Sequence[float] | None = ...,
    normalization: str | None = ...,
    absent: str | None = ...,
    depth: int | None = ...,
    top: int | None = ...,
    train_qrels: Any = ...,
    train_runs: Sequence[Any] | Mapping[str, Any] | None = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    qrels_format: str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: FusionOptions | None = ...,
) -> Ranking: ...
def interleave(
    first: Any,
    second: Any,
    *,
    method: Literal["balanced", "team-draft", "probabilistic", "optimised"] = ...,
    depth: int = ...,
    lists: int = ...,
    tau: float | None = ...,
    credit: Literal["inverse", "linear"] | None = ...,
    seed: int = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    names: tuple[str, str] = ...,
    options: InterleavingOptions | None = ...,
) -> list[InterleavedList]: ...
def knn(
    *,
    neighbours: int = ...,
    metric: Literal["cosine", "dot", "l2"] = ...,
    exclude_self: bool = ...,
    item_ids: str | None = ...,
    query_ids: str | None = ...,
    exclude_group: str | None = ...,
    query_groups: str | None = ...,
    backend: Literal["numpy", "torch", "faiss"] = ...,
    device: str | None = ...,
    executor: str | None = ...,
    work: str | None = ...,
    memory: str | None = ...,
    shards: int | None = ...,
    gpus: int | None = ...,
    part_timeout: float | None = ...,
    dry_run: bool = ...,
    items: Any,
    queries: Any,
    progress: Callable[[int, int], None] | None = ...,
    options: KnnOptions | None = ...,
) -> TopK: ...
def tune_fusion(
    runs: Sequence[Any] | Mapping[str, Any],
    judgments: Any,
    *,
    measure: str = ...,
    methods: Sequence[str] = ...,
    normalization: Sequence[str] = ...,
    absent: str | None = ...,
    step: float = ...,
    folds: int = ...,
    seed: int = ...,
    depth: int | None = ...,
    top: int | None = ...,
    run_format: str | None = ...,
    columns: Mapping[str, str | int] | str | None = ...,
    duplicates: Literal["error", "first", "best"] = ...,
    qrels_format: str | None = ...,
    qrels_columns: Mapping[str, str | int] | str | None = ...,
    progress: Callable[[str, int, int], None] | None = ...,
    options: FusionTuningOptions | None = ...,
) -> TunedFusion: ...
