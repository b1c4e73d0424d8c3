"""The public names of rankwell, with their types: written by tools/public_stub.py."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from rankwell.comparison.bench.results import BenchOptions as BenchOptions
from rankwell.comparison.bench.results import BenchResults as _BenchResults
from rankwell.comparison.data import ComparisonOptions as ComparisonOptions
from rankwell.comparison.data import GateOptions as GateOptions
from rankwell.comparison.data import Origin
from rankwell.comparison.fusion.runs import FusionOptions as FusionOptions
from rankwell.comparison.fusion.runs import FusionTuningOptions as FusionTuningOptions
from rankwell.comparison.fusion.runs import TunedFusion as TunedFusion
from rankwell.data.judged_rankings import JudgedRankings as JudgedRankings
from rankwell.data.matrices import Embeddings
from rankwell.data.options import Array, DataFrame
from rankwell.data.preferences import Preferences as Preferences
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
from rankwell.files.conversion import Conversion
from rankwell.files.conversion import ConvertOptions as ConvertOptions
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
from rankwell.reporting import TableStyle as TableStyle
from rankwell.results import ComparisonResults as _ComparisonResults
from rankwell.results import Results as _Results
from rankwell.tasks.beyond.options import BeyondOptions as BeyondOptions
from rankwell.tasks.clicks.options import ClickOptions as ClickOptions
from rankwell.tasks.clicks.preference import InterleavedList as InterleavedList
from rankwell.tasks.clicks.preference import InterleavingOptions as InterleavingOptions
from rankwell.tasks.clicks.preference import InterleavingTestOptions as InterleavingTestOptions
from rankwell.tasks.crossmodal.inputs import eval_q2m as eval_q2m
from rankwell.tasks.crossmodal.options import CrossmodalOptions as CrossmodalOptions
from rankwell.tasks.crossmodal.task import CaptionResults
from rankwell.tasks.embeddings.evaluation import AgreementResults
from rankwell.tasks.embeddings.evaluation import compare_lists as compare_lists
from rankwell.tasks.embeddings.options import EmbeddingOptions as EmbeddingOptions
from rankwell.tasks.embeddings.ranking_pairs import ranking_pairs as ranking_pairs
from rankwell.tasks.engine.evaluation import EngineResults
from rankwell.tasks.engine.options import EngineOptions as EngineOptions
from rankwell.tasks.images.images import Images as Images
from rankwell.tasks.images.images import read_images as read_images
from rankwell.tasks.images.options import ImageOptions as ImageOptions
from rankwell.tasks.images.task import InstanceResults
from rankwell.tasks.keywords.annotations import Annotations as Annotations
from rankwell.tasks.keywords.annotations import QueryKeywords as QueryKeywords
from rankwell.tasks.keywords.annotations import Schema as Schema
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
from rankwell.tasks.rag.task import CitationOptions as CitationOptions
from rankwell.tasks.rag.task import RagOptions as RagOptions
from rankwell.tasks.runs.checks import Check
from rankwell.tasks.runs.checks import CheckOptions as CheckOptions
from rankwell.tasks.runs.options import EvaluateOptions as EvaluateOptions
from rankwell.vectors.neighbours import TopK

__version__: str

class BenchResults(_BenchResults):
    def to_latex(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_html(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_markdown(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...

class ComparisonResults(_ComparisonResults, Results):
    def to_latex(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_html(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_markdown(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...

class Results(_Results):
    def compare(
        self,
        *,
        baseline: str | None = None,
        measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
        test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] = "randomisation",
        family: Literal["primary", "all"] = "primary",
        correction: Literal["holm", "bh", "max-t", "tukey", "none"] = "holm",
        power: float = 0.8,
        intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
        level: float = 0.95,
        resamples: int = 10000,
        seed: int = 0,
        group: str | None = None,
        cluster: str | None = None,
        options: ComparisonOptions | None = None,
    ) -> ComparisonResults: ...
    def gate(
        self,
        *required: str,
        require: Sequence[str] | str | None = None,
        baseline: str | None = None,
        tolerance: float | str | None = None,
        measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
        intervals: Literal["bootstrap-t", "bootstrap", "t"] = "bootstrap-t",
        level: float = 0.95,
        resamples: int = 10000,
        seed: int = 0,
        options: GateOptions | None = None,
    ) -> Self: ...
    def to_latex(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_html(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...
    def to_markdown(
        self,
        table: str = "summary",
        *,
        digits: int | None = None,
        caption: str | None = None,
        label: str = "tab:scores",
        underline_second: bool = False,
        options: TableStyle | None = None,
    ) -> str: ...

def bench(
    file: str | Path,
    output: str | Path | None = None,
    *,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    baseline: str | None = None,
    only: Sequence[str] = (),
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    overwrite: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: BenchOptions | None = None,
) -> BenchResults: ...
def check(
    judgments: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments,
    runs: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Ranking = (),
    *,
    documents: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    qrels_format: str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    options: CheckOptions | None = None,
) -> Check: ...
def compare_values(
    values: Sequence[Values],
    *,
    baseline: str | None = None,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] = "randomisation",
    family: Literal["primary", "all"] = "primary",
    correction: Literal["holm", "bh", "max-t", "tukey", "none"] = "holm",
    power: float = 0.8,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    level: float = 0.95,
    resamples: int = 10000,
    seed: int = 0,
    row_attributes: Sequence[Mapping[str, Any]] = (),
    pairs: Sequence[tuple[str, str]] = (),
    group: tuple[str, Mapping[str, str]] | None = None,
    cluster: tuple[str, Mapping[str, str]] | None = None,
    origin: Origin | None = None,
    options: ComparisonOptions | None = None,
) -> ComparisonResults: ...
def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    holds: Literal["run", "judgments"] | None = None,
    queries: str | Path | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    overwrite: bool = False,
    options: ConvertOptions | None = None,
) -> Conversion: ...
def encode(
    texts: str | Path,
    output: str | Path,
    *,
    encoder: str,
    mixed: bool = False,
    columns: Mapping[str, str | int] | str | None = None,
    fit: str | None = None,
    normalize: bool = False,
    dimensions: int | None = None,
    dtype: Literal["float32", "float16"] = "float32",
    batch_size: int = 32,
    device: str | None = None,
    seed: int | None = None,
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    shards: int | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
    options: EncodeFileOptions | None = None,
) -> Embeddings: ...
def evaluate(
    judgments: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments,
    runs: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Ranking,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    queries: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    other_qrels: str
    | Path
    | Sequence[Any]
    | Mapping[Any, Any]
    | DataFrame
    | Judgments
    | None = None,
    sessions: str | Path | Mapping[Any, Any] | None = None,
    confidence: list[Literal["max", "std", "diff1"]] | Literal["max", "std", "diff1"] | None = None,
    convention: str | Path = "rankwell",
    average_over: Literal["judged", "run", "both"] | None = None,
    unjudged: Literal["nonrelevant", "skip"] = "nonrelevant",
    exclude_self: bool = False,
    min_grade: float | None = None,
    ties: str | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    qrels_format: str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    shards: int | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    dry_run: bool = False,
    details: bool | Literal["unjudged"] = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: EvaluateOptions | None = None,
) -> Results: ...
def evaluate_beyond(
    runs: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Ranking,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    convention: str | Path = "rankwell",
    k: Sequence[int] | int | str | None = None,
    documents: str | Path | Sequence[Any] | Array | None = None,
    interactions: str
    | Path
    | Sequence[Any]
    | Mapping[Any, Any]
    | DataFrame
    | Judgments
    | None = None,
    item_categories: str | Path | Mapping[Any, Any] | None = None,
    item_groups: str | Path | Mapping[Any, Any] | None = None,
    item_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    qrels: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    qrels_format: str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    options: BeyondOptions | None = None,
) -> Results: ...
def evaluate_citations(
    supports: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    convention: str | Path = "rankwell",
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: CitationOptions | None = None,
) -> Results: ...
def evaluate_clicks(
    log: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame,
    policies: str | Path | Sequence[Any] | Mapping[Any, Any] | None = None,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    reward_model: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    expected: str | Sequence[Any] | Mapping[Any, Any] | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    value_of: Literal["row", "query", "position"] = "row",
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    seed: int = 0,
    options: ClickOptions | None = None,
) -> Results: ...
def evaluate_crossmodal(
    scores: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    qrels: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments = "diagonal",
    *,
    query_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    item_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    direction: str = "both",
    folds: int | None = None,
    k: Sequence[int] | int | str | None = None,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    convention: str | Path = "rankwell",
    ties: str | None = None,
    mask: str | Path | Sequence[Any] | Array | None = None,
    transform: str | None = None,
    bank: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    query_ids: str | Path | Sequence[Any] | Array | None = None,
    item_ids: str | Path | Sequence[Any] | Array | None = None,
    queries: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    shards: int | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    dry_run: bool = False,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: CrossmodalOptions | None = None,
) -> CaptionResults: ...
def evaluate_embeddings(
    reference: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | Ranking,
    candidates: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | Ranking,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    k: Sequence[int] | int | str = "1,3,5,10",
    samples: int | str = 500,
    seed: int | None = None,
    metric: Literal["cosine", "dot", "l2"] = "cosine",
    item_ids: str | Path | Sequence[Any] | Array | None = None,
    exclude_group: str | Path | Sequence[Any] | Array | None = None,
    qrels: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    ceiling: bool = False,
    convention: str | Path = "rankwell",
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    shards: int | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    dry_run: bool = False,
    spectrum: bool | None = None,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: EmbeddingOptions | None = None,
) -> AgreementResults: ...
def evaluate_engine(
    engine: str | object,
    queries: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    *,
    documents: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    item_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    query_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    encoder: str | None = None,
    qrels: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    convention: str | Path = "rankwell",
    depth: int = 10,
    option: Sequence[Any] | Mapping[Any, Any] | None = None,
    url: str | None = None,
    sweep: Sequence[Any] | Mapping[Any, Any] | None = None,
    filters: list[str] | None = None,
    truth: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first"] = "error",
    collapse: str | None = None,
    recall: float | None = None,
    cost: Literal["p50", "p95", "p99", "throughput", "processor", "build", "size"] = "p50",
    rounds: int = 5,
    warm_up: int = 10,
    clients: int | None = None,
    rate: float | None = None,
    request_timeout: float = 30.0,
    retries: int = 0,
    allow_failures: int = 0,
    max_requests: int = 1000000,
    server_pid: int | None = None,
    allow_load: str | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    progress: Callable[[str, int, int], None] | None = None,
    options: EngineOptions | None = None,
) -> EngineResults: ...
def evaluate_images(
    images: str | Path | Sequence[Any] | DataFrame | Images | None = None,
    *,
    item_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    query_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    scores: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    qrels: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments | None = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    item_ids: str | Path | Sequence[Any] | Array | None = None,
    query_ids: str | Path | Sequence[Any] | Array | None = None,
    exclude_self: bool = False,
    exclude_group: str | None = None,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    k: Sequence[int] | int | str | None = None,
    depth: int | None = None,
    convention: str | Path = "rankwell",
    transforms: Sequence[str] | str | None = None,
    bank: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    confidence: list[Literal["max", "diff1"]] | Literal["max", "diff1"] | None = None,
    clusters: str | Path | Sequence[Any] | Mapping[Any, Any] | None = None,
    ties: str | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    options: ImageOptions | None = None,
) -> InstanceResults: ...
def evaluate_interleaving(
    lists: str | Path | Sequence[InterleavedList],
    clicks: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame,
    *,
    test: Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"] | None = None,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    level: float = 0.95,
    resamples: int = 10000,
    seed: int = 0,
    options: InterleavingTestOptions | None = None,
) -> ComparisonResults: ...
def evaluate_keywords(
    annotations: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Annotations,
    item_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    *,
    keyword_groups: Sequence[str] | str | None = None,
    keywords: Sequence[str] | str | None = None,
    query_ids: Sequence[str] | str | None = None,
    k: Sequence[int] | int | str = "1,3,5",
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    relevance: str = "all",
    min_similarity: float | None = None,
    exclude_group: str | None = None,
    queries: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    query_vectors: str | Path | Sequence[Any] | Mapping[Any, Any] | Array | None = None,
    text_encoder: str | object | None = None,
    engine: str | object | None = None,
    run: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    schema: str | Path | Schema | None = None,
    item_ids: str | Path | Sequence[Any] | Array | None = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    ties: str | None = None,
    no_relevant: Literal["skip", "empty", "error"] = "skip",
    unjudged: Literal["nonrelevant", "skip", "error"] = "nonrelevant",
    convention: str | Path = "rankwell",
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    map_text: Callable[[str], QueryKeywords] | None = None,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    options: KeywordOptions | None = None,
) -> ClipResults: ...
def evaluate_qa(
    gold: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Questions,
    predictions: str
    | Path
    | Sequence[Any]
    | Mapping[Any, Any]
    | DataFrame
    | Predictions
    | None = None,
    *,
    retrieved: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    k: Sequence[int] | int | str | None = None,
    depth: int | None = None,
    convention: str | Path = "rankwell",
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    isolated: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    na_probs: str | Path | Mapping[Any, Any] | None = None,
    relevance: Literal["document", "dpr", "kilt", "lower", "raw", "context"] | None = None,
    documents: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    ties: Literal["id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"] | None = None,
    duplicates: Literal["error", "first", "best", "keep"] | None = None,
    qrels_format: str | None = None,
    predictions_format: str | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: QaOptions | None = None,
) -> AnswerResults: ...
def evaluate_rag(
    gold: str | Path | Sequence[Any] | DataFrame,
    retrieved: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame,
    measures: Sequence[str | Callable[..., Any]] | str | Callable[..., Any] | None = None,
    *,
    convention: str | Path = "rankwell",
    k: Sequence[int] | int | str | None = None,
    documents: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | None = None,
    chunks: str | Path | Sequence[Any] | DataFrame | None = None,
    seed: int = 0,
    intervals: Literal["bootstrap-t", "bootstrap", "t", "none"] = "bootstrap-t",
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    options: RagOptions | None = None,
) -> Results: ...
def fuse(
    runs: Sequence[Any] | Mapping[Any, Any],
    *,
    method: str = "rrf",
    weights: Sequence[float] | None = None,
    normalization: str | None = None,
    absent: str | None = None,
    depth: int | None = None,
    top: int | None = None,
    train_qrels: str
    | Path
    | Sequence[Any]
    | Mapping[Any, Any]
    | DataFrame
    | Judgments
    | None = None,
    train_runs: Sequence[Any] | Mapping[Any, Any] | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    qrels_format: str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    options: FusionOptions | None = None,
) -> Ranking: ...
def interleave(
    first: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Ranking,
    second: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Ranking,
    *,
    method: str = "team-draft",
    depth: int = 10,
    samples: int = 1,
    seed: int = 0,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    names: tuple[str, str] = ("first", "second"),
    options: InterleavingOptions | None = None,
) -> list[InterleavedList]: ...
def knn(
    *,
    items: str | Path | Sequence[Any] | Mapping[Any, Any] | Array,
    queries: str | Path | Sequence[Any] | Mapping[Any, Any] | Array,
    neighbours: int = 100,
    metric: Literal["cosine", "dot", "l2"] = "cosine",
    exclude_self: bool = False,
    item_ids: str | Path | Sequence[Any] | Array | None = None,
    query_ids: str | Path | Sequence[Any] | Array | None = None,
    exclude_group: str | Path | Sequence[Any] | Array | None = None,
    query_groups: str | Path | Sequence[Any] | Array | None = None,
    backend: Literal["numpy", "torch", "faiss"] = "numpy",
    device: str | None = None,
    executor: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    shards: int | None = None,
    gpus: int | None = None,
    part_timeout: float | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
    options: KnnOptions | None = None,
) -> TopK: ...
def tune_fusion(
    runs: Sequence[Any] | Mapping[Any, Any],
    judgments: str | Path | Sequence[Any] | Mapping[Any, Any] | DataFrame | Judgments,
    *,
    measure: str = "nDCG@10",
    methods: Sequence[str] = ("rrf",),
    normalization: Sequence[str] = (),
    absent: str | None = None,
    step: float = 0.1,
    folds: int = 5,
    seed: int = 0,
    depth: int | None = None,
    top: int | None = None,
    run_format: str | None = None,
    columns: Mapping[str, str | int] | str | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    qrels_format: str | None = None,
    qrels_columns: Mapping[str, str | int] | str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    options: FusionTuningOptions | None = None,
) -> TunedFusion: ...
