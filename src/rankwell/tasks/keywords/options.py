"""The options of the commands: of search over annotated clips, and of the mapping of texts to
keywords.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell.data.options import (
    ConventionName,
    Cutoffs,
    DeviceOption,
    Doc,
    Input,
    MeasureNames,
    Option,
    Place,
    RunColumns,
    TableData,
    VectorData,
)
from rankwell.data.tables import without_none
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.options import EmbeddingIds, MeasureOptions, Similarity, StatisticsOptions
from rankwell.reporting.options import InputOption, InputPlace, option_names
from rankwell.tasks.keywords.annotations import Schema

Mode = Literal["video", "text"]
NoRelevant = Literal["skip", "empty", "error"]
Unjudged = Literal["nonrelevant", "skip", "error"]
Strategy = Literal["cover", "algorithm1"]
Kind = Literal["all", "any", "jaccard", "graded"]
_JACCARD = re.compile(r"jaccard\s*(?:>=|≥|=|:)\s*(\d*\.?\d+)", re.ASCII)
ANNOTATIONS = (
    "Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV, "
    "TSV, JSON lines, Parquet)."
)
AnnotationTable = Annotated[InputPlace, Doc(ANNOTATIONS)]
Names = Annotated[Sequence[str] | str | None, Option(kind=str)]
KeywordGroups = Annotated[
    Names,
    Doc(
        'Groups of keywords that count, separated by commas, such as "object type,actor'
        ' behavior". [default: all]'
    ),
]


class Relevance(NamedTuple):
    """A rule of relevance.

    kind: `all`, `any`, `jaccard` or `graded`, as `judge` defines them.
    least: the smallest Jaccard index of a relevant clip; 0 for other kinds.
    """

    kind: Kind
    least: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Relevance":
        """The rule that a text names: `all`, `any`, `graded`, or `jaccard>=0.5`. Raises
        BadUsage.
        """
        plain = text.strip().lower()
        if plain in ("all", "any", "graded"):
            return cls(plain)
        match = _JACCARD.fullmatch(plain)
        if match is None or not 0 < float(match[1]) <= 1:
            raise BadUsage(
                f"relevance {text!r}; write all, any, graded, or jaccard>=T with T above 0 "
                "and at most 1."
            )
        return cls("jaccard", float(match[1]))

    def __str__(self) -> str:
        return f"jaccard>={self.least:g}" if self.kind == "jaccard" else self.kind


@dataclass(frozen=True, kw_only=True)
class KeywordOptions(StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate_keywords`."""

    item_vectors: Annotated[
        VectorData,
        Doc(
            "Vectors of the clips, in any format of `rankwell knn`; ALFA's Parquet has "
            "slice_id and embedding.",
            is_common=True,
        ),
    ] = None
    keyword_groups: KeywordGroups = None
    keywords: Annotated[
        Names,
        Doc(
            'Single keywords that count in their group, separated by commas; "group: label" if '
            "two groups have it. [default: all]"
        ),
    ] = None
    query_ids: Annotated[
        Names,
        Doc(
            "Clips to use as queries when clips search, by id or by keyword. [default: all]",
            "Input",
        ),
    ] = None
    k: Cutoffs = "1,3,5"
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas. P is taken at every cut-off, P@10 at one. [default: "
            "the convention's]"
        ),
    ] = None
    relevance: Annotated[
        str,
        Doc(
            "all: relevant clips carry every keyword of the query; any: one of them; "
            '"jaccard>=T"; graded: matched / required.'
        ),
    ] = "all"
    min_similarity: Annotated[
        float | None,
        Doc(
            "Minimum similarity of a result; it depends on the model, so there is no default. "
            "Under l2, similarities are negative distances: -0.5 keeps distances up to 0.5."
        ),
    ] = None
    exclude_group: Annotated[
        str | None,
        Doc(
            "Column of the annotations, such as the drive, or id:TEXT, the part of the id "
            "before TEXT: clips with the query's value are excluded."
        ),
    ] = None
    queries: Annotated[
        TableData,
        Doc(
            "Text queries: a text per line, a table with text and optionally id and keywords, or "
            "the word keywords for one query per keyword. Without it, every clip is a query for "
            "similar clips.",
            is_common=True,
        ),
    ] = None
    query_vectors: Annotated[
        VectorData,
        Doc("Vectors of the text queries, by id or in order, in the space of the clips."),
    ] = None
    text_encoder: Annotated[
        str | object | None,
        Input(perhaps=True),
        Doc(
            "Model of sentence-transformers that encodes texts into the space of the clips. "
            "[default: the model of the clips]"
        ),
    ] = None
    engine: Annotated[
        str | object | None,
        Doc(
            "A live engine, ./FILE.py:OBJECT, with search_by_text(query, top_k), search(query, k) "
            "or, for clips, similarity_search(embedding, top_k). Results have ids and optionally "
            "a similarity, score or similarity_score, or a distance (lower is better)."
        ),
    ] = None
    run: Annotated[TableData, Doc("File of rankings instead of a search.")] = None
    schema: Annotated[
        Place | Schema | None,
        Input(),
        Doc(
            "JSON file {group: [label, ...]} of the declared keywords; without it, the keywords "
            "in use are the vocabulary.",
            "Input",
        ),
    ] = None
    item_ids: EmbeddingIds = None
    metric: Similarity = None
    columns: RunColumns = None
    ties: Annotated[
        str | None,
        Doc(
            "Order of clips with equal similarities. [default: the expected value over all "
            "orders, or the order of a given list]"
        ),
    ] = None
    no_relevant: Annotated[
        NoRelevant,
        Doc(
            "Queries for which no other clip is relevant: left out, counted as they are, "
            "or an error."
        ),
    ] = "skip"
    unjudged: Annotated[
        Unjudged,
        Doc("Results without annotation: wrong, removed before ranks are counted, or an error."),
    ] = "nonrelevant"
    convention: Annotated[
        ConventionName,
        Doc("Convention for names: rankwell, or alfa (Recall@K is P@K, Precision@K is R@K)."),
    ] = "rankwell"

    @property
    def mode(self) -> Mode:
        """What searches for clips: other clips (`video`), or texts."""
        return "video" if self.queries is None and self.query_vectors is None else "text"

    @property
    def has_texts(self) -> bool:
        """Whether queries are texts, and not every keyword by its name."""
        by_keyword = isinstance(self.queries, str) and self.queries == "keywords"
        return self.queries is not None and not by_keyword


@dataclass(frozen=True, kw_only=True)
class MappingOptions:
    """The choices that decide which keywords a text means."""

    encoder: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Folder or name of a sentence-transformers model that finds similar words; without "
            "it, only names and rules are used.",
            is_common=True,
        ),
    ] = None
    strategy: Annotated[
        Strategy | None,
        Doc(
            "How texts are read: cover reads actors, positions and scenes, every word once, and "
            "keeps negated keywords apart; algorithm1, as in ALFA, adds the best keyword of every "
            "1-, 2- and 3-gram. [default: cover]"
        ),
    ] = None
    keyword_threshold: Annotated[
        float | None,
        Doc(
            "Score that a keyword must exceed; by default 0.75 for driving labels or 0.57 for "
            "others, calibrated with all-MiniLM-L6-v2, and 0.5 for algorithm1. Needs --encoder."
        ),
    ] = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that are not left to their defaults, as written."""
        values = {
            "--encoder": self.encoder,
            "--keyword-threshold": self.keyword_threshold,
            "--strategy": self.strategy,
        }
        return without_none(values)


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions:
    """The keywords that texts may mean."""

    schema: Annotated[
        str | None,
        Doc(
            "JSON file {group: [label, ...]} of the declared keywords; without it, the keywords "
            "in use are the vocabulary."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Where a model runs."""

    device: DeviceOption = None


@dataclass(frozen=True, kw_only=True)
class KeywordCommandOptions(MappingOptions, KeywordOptions):
    """The options of `keywords`."""

    annotations: AnnotationTable
    thumbnails: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Folder with a picture, GIF or video per clip, or a pattern such as frames/{id}.jpg, "
            "for contact sheets of the worst queries. Needs -o."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MapOptions(MappingOptions, VocabularyOptions, DeviceOptions):
    """The options of `keywords map`."""

    annotations: AnnotationTable
    keyword_groups: KeywordGroups = None


@dataclass(frozen=True, kw_only=True)
class LintOptions(MappingOptions, VocabularyOptions):
    """The options of `keywords check`."""

    keyword_groups: Annotated[
        str | None, Doc("Further columns that hold keywords, separated by commas.")
    ] = None
    queries: Annotated[
        InputOption,
        Doc(
            "Text queries, as in rankwell keywords: a text per line, or a table with text. Lists "
            "each query once that has no word, means no keyword, only excludes keywords, has no "
            "relevant clip, or has words that may mean several keywords."
        ),
    ] = None
    strict: Annotated[
        bool,
        Doc(
            "Exit with 1 if anything is found other than labels that are unused or in two groups.",
            is_common=True,
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(VocabularyOptions, DeviceOptions):
    """The options of `keywords calibrate`."""

    annotations: AnnotationTable
    encoder: Annotated[str, Doc("Folder or name of a sentence-transformers model.")]
    strategy: Annotated[Strategy, Doc("cover or algorithm1; see rankwell keywords map.")] = "cover"
    thresholds: Annotated[
        Sequence[float] | str, Option(kind=str), Doc("Thresholds to try, separated by commas.")
    ] = "0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9"

    @property
    def tried(self) -> list[float]:
        """The thresholds in ascending order. Raises BadUsage for bad numbers."""
        texts = self.thresholds.split(",") if isinstance(self.thresholds, str) else self.thresholds
        try:
            numbers = sorted({float(text) for text in texts})
        except ValueError:
            numbers = []
        if not numbers or not all(-1 <= number <= 1 for number in numbers):
            raise BadUsage(
                f"--thresholds {self.thresholds}: expected numbers from -1 to 1, "
                "separated by commas."
            )
        return numbers


def check_options(options: KeywordOptions, *, is_mapped: bool) -> None:
    """Raises BadUsage for options that contradict each other or are unused. is_mapped: whether
    texts are mapped to keywords.
    """
    if options.min_similarity is not None and not np.isfinite(options.min_similarity):
        raise BadUsage(
            f"the least similarity is {options.min_similarity}; expected a finite number."
        )
    if options.mode == "video" and is_mapped:
        raise BadUsage(f"without {flag('--queries')} every clip is a query, and no text is read.")
    for unused, why in _unused(options):
        unused_flags = [flag(name) for name in unused if getattr(options, name) is not None]
        if unused_flags:
            them = "it" if len(unused_flags) == 1 else "them"
            raise BadUsage(
                f"{', '.join(unused_flags)}: nothing reads {them}, for {why}; leave {them} out."
            )
    if options.query_vectors is not None and options.text_encoder is not None:
        raise BadUsage(
            f"{flag('--query-vectors')} and {flag('--text-encoder')} both determine the texts' "
            "vectors; leave one of them out."
        )


def _unused(options: KeywordOptions) -> Iterator[tuple[Sequence[str], str]]:
    """The options that texts and the chosen system do not use, and the reason."""
    texts, is_text = ["query_vectors", "text_encoder"], options.mode == "text"
    if is_text:
        yield ["query_ids", "exclude_group"], "texts are the queries, not clips"
    if options.run is not None and options.engine is None:
        yield ["item_vectors", "item_ids", "metric", *texts], "the run is the ranking already"
    elif options.engine is not None and options.run is None:
        clips = ["item_vectors", "item_ids"] if is_text else []
        yield [*texts, "metric", *clips], "the engine is what ranks"
    if options.item_vectors is None:
        yield ["item_ids"], "there are no vectors that they would belong to"
    if not is_text:
        yield texts, "clips search, and no text"


def names(text: Sequence[str] | str | None, option: str) -> list[str]:
    """Names in a list, or in a text separated by commas. Raises BadUsage for an empty name."""
    return option_names(text, option) if isinstance(text, str) else list(text or ())
