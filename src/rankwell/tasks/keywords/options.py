"""The options of the commands: of search over annotated clips, and of the mapping of texts to
keywords.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell.data.options import (
    ConventionName,
    Cutoffs,
    DeviceOption,
    Doc,
    Input,
    InputData,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.options import EmbeddingIds, MeasureOptions, Similarity, StatisticsOptions
from rankwell.reporting.options import InputOption, InputPlace

Mode = Literal["video", "text"]
SelfRule = Literal["before", "after"]
NoKeywords = Literal["skip", "empty", "vacuous", "error"]
NoRelevant = Literal["skip", "empty", "error"]
NoResults = Literal["skip", "empty"]
Unjudged = Literal["nonrelevant", "skip", "error"]
Weights = Literal["uniform", "relevant"]
Strategy = Literal["cover", "algorithm1"]
Kind = Literal["all", "any", "jaccard", "graded"]
_JACCARD = re.compile(r"jaccard\s*(?:>=|≥|=|:)\s*(\d*\.?\d+)", re.ASCII)
_LEAST_STEP = 0.001
ANNOTATIONS = (
    "Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV, "
    "TSV, JSON lines, Parquet)."
)
AnnotationTable = Annotated[InputPlace, Doc(ANNOTATIONS)]
Names = Annotated[Sequence[str] | str | None, Option(kind=str)]


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

    embeddings: Annotated[
        InputData,
        Doc(
            "Vectors of the clips, in any format of `rankwell knn`; ALFA's Parquet has "
            "slice_id and embedding."
        ),
    ] = None
    mode: Annotated[
        Mode,
        Doc(
            "The queries: every clip searches for similar clips (video), or texts search "
            "for clips (text)."
        ),
    ] = "video"
    groups: Annotated[
        Names,
        Doc(
            'Groups of keywords that count, separated by commas, such as "object '
            'type,actor behavior"; all by default.'
        ),
    ] = None
    keywords: Annotated[
        Names,
        Doc(
            'Single keywords that count in their group, likewise; "group: label" where '
            "two groups have it."
        ),
    ] = None
    query_clips: Annotated[
        Names,
        Doc(
            "Clips that are queries in the mode video, by id or by keyword, likewise; all "
            "by default."
        ),
    ] = None
    k: Cutoffs = "1,3,5"
    measures: Annotated[
        MeasureNames,
        Doc(
            "A measure, at every cut-off where it needs one (P), or at one (P@10); repeat "
            "it for more, or separate names by blanks."
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
            "Results of a lower similarity are not found; it depends on the model, so "
            "that there is no default. With distances: -D keeps those up to D."
        ),
    ] = None
    self_rule: Annotated[
        SelfRule,
        Option(("--self",)),
        Doc(
            "The query clip is removed before the list is cut to K, or after it (ALFA's "
            "Algorithm 2, which still divides by K)."
        ),
    ] = "before"
    exclude_group: Annotated[
        str | None,
        Doc(
            "Column of the annotations, such as the drive, or id:TEXT, the part of the id "
            "before TEXT: clips with the query's value are excluded."
        ),
    ] = None
    queries: Annotated[
        InputData,
        Doc(
            "Text queries: a text per line, or a table with text, and perhaps id and "
            "keywords; without it, one query per keyword."
        ),
    ] = None
    text_embeddings: Annotated[
        InputData,
        Doc(
            "Vectors of the text queries, by their ids or in their order, in the space of "
            "the clips."
        ),
    ] = None
    text_encoder: Annotated[
        Any,
        Input(perhaps=True),
        Doc(
            "Model of sentence-transformers that encodes texts in the space of the clips; "
            "by default that of --encoder."
        ),
    ] = None
    engine: Annotated[
        Any,
        Doc(
            "A live engine, ./FILE.py:OBJECT, with search_by_text(query, top_k), "
            "search(query, k) or, for clips, similarity_search( embedding, top_k). "
            "Results have ids and perhaps a similarity, score or similarity_score, or a "
            "distance, lower is better."
        ),
    ] = None
    run: Annotated[InputData, Doc("File of rankings instead of a search.")] = None
    schema: Annotated[
        InputData,
        Doc(
            "JSON file {group: [label, ...]} of the declared keywords; without it those "
            "in use are the vocabulary."
        ),
    ] = None
    ids: EmbeddingIds = None
    metric: Similarity = None
    columns: RunColumns = None
    ties: Annotated[
        str | None,
        Doc(
            "Order of clips with equal similarities; by default the expected value over "
            "all orders (of lists their own order)."
        ),
    ] = None
    no_keywords: Annotated[
        NoKeywords,
        Doc(
            "Queries without a keyword of the selection: left out, counted as they are, "
            "everything right (vacuous), or an error."
        ),
    ] = "skip"
    no_relevant: Annotated[
        NoRelevant,
        Doc(
            "Queries for which no other clip is relevant: left out, counted as they are, "
            "or an error."
        ),
    ] = "skip"
    no_results: Annotated[
        NoResults,
        Doc(
            "Queries whose best result is below --min-similarity: counted, with an empty "
            "result, or left out (skip), as ALFA's evaluator does."
        ),
    ] = "empty"
    unjudged: Annotated[
        Unjudged,
        Doc("Results without annotation: wrong, taken out before places are counted, or an error."),
    ] = "nonrelevant"
    weights: Annotated[
        Weights, Doc("Every query alike, or weighted by its number of relevant clips.")
    ] = "uniform"
    convention: Annotated[
        ConventionName, Doc("Whose words: rankwell, or alfa (Recall@K is P@K, Precision@K is R@K).")
    ] = "rankwell"


@dataclass(frozen=True, kw_only=True)
class MappingOptions:
    """The choices that decide which keywords a text means."""

    encoder: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Folder or name of a model of sentence-transformers that finds similar words; "
            "without it names and rules alone do."
        ),
    ] = None
    strategy: Annotated[
        Strategy | None,
        Doc(
            "cover (the default): reads actors, positions and scenes, every word once, "
            "negated keywords apart; algorithm1, as in ALFA: every 1-, 2- and 3-gram adds "
            "its best keyword."
        ),
    ] = None
    keyword_threshold: Annotated[
        float | None,
        Doc(
            "A score must exceed it; by default 0.75 for labels of driving, else 0.57, "
            "calibrated with all-MiniLM-L6-v2, for algorithm1 0.5. Needs --encoder."
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
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class VocabularyOptions:
    """The keywords that texts may mean."""

    schema: Annotated[
        str | None,
        Doc(
            "Declared labels per group, JSON {group: [label, …]}; without it the labels in use are "
            "the vocabulary."
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
    sheets: Annotated[
        int | None,
        Doc(
            "Number of contact sheets, worst queries first; 10 with --thumbnails, else none. "
            "Needs -o."
        ),
    ] = None
    thumbnails: Annotated[
        str | None,
        Input(perhaps=True),
        Doc("Folder with a picture, GIF or video per clip, or a pattern such as frames/{id}.jpg."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MapOptions(MappingOptions, VocabularyOptions, DeviceOptions):
    """The options of `keywords map`."""

    annotations: AnnotationTable
    groups: Annotated[
        Names,
        Doc(
            'Groups of keywords that texts may mean, separated by commas, such as "object '
            'type,actor behavior"; all by default.'
        ),
    ] = None
    why: Annotated[
        bool,
        Doc(
            "Print for each keyword the reason: the name, the words of the concept, the rule, or "
            "the similarity. JSON always has it."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class LintOptions(MappingOptions, VocabularyOptions):
    """The options of `keywords check`."""

    groups: Annotated[
        str | None, Doc("Further columns that hold keywords, separated by commas.")
    ] = None
    queries: Annotated[
        InputOption,
        Doc(
            "Text queries, as in rankwell keywords: a text per line, or a table with text. "
            "Those that have no word, mean no keyword, only exclude keywords, have no relevant "
            "clip or words that may mean several keywords are listed, each once."
        ),
    ] = None
    strict: Annotated[
        bool,
        Doc("Exit code 1 where anything is found but labels that are unused or in two groups."),
    ] = False


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(VocabularyOptions, DeviceOptions):
    """The options of `keywords calibrate`."""

    annotations: AnnotationTable
    encoder: Annotated[str, Doc("Folder or name of a model of sentence-transformers.")]
    strategy: Annotated[Strategy, Doc("cover or algorithm1; see rankwell keywords map.")] = "cover"
    low: Annotated[float, Doc("Lowest threshold.")] = 0.3
    high: Annotated[float, Doc("Highest threshold.")] = 0.9
    step: Annotated[float, Doc("From one threshold to the next.")] = 0.05
    held_back: Annotated[
        int,
        Doc(
            "Hold back one query of so many, to test the chosen threshold: 3 holds back "
            "every third, 0 none."
        ),
    ] = 3

    @property
    def thresholds(self) -> list[float]:
        """The thresholds from the lowest to the highest. Raises BadUsage for bad numbers."""
        low, high, step = self.low, self.high, self.step
        if self.held_back < 0 or self.held_back == 1:
            raise BadUsage(
                f"--held-back {self.held_back}; expected 2 or more to hold back one query of so "
                "many, or 0 for none."
            )
        if not -1 <= low <= high <= 1:
            raise BadUsage(
                f"--low {low} --high {high}; expected numbers from -1 to 1, the lower one first."
            )
        if not step >= _LEAST_STEP:
            raise BadUsage(f"--step {step}; expected {_LEAST_STEP} or more.")
        n_steps = int((high - low) / step + 1e-9)
        return [round(low + number * step, 6) for number in range(n_steps + 1)]


def check_options(options: KeywordOptions, *, is_mapped: bool) -> None:
    """Raises BadUsage for options that contradict each other or are unused. is_mapped: whether
    texts are mapped to keywords.
    """
    if options.min_similarity is not None and not np.isfinite(options.min_similarity):
        raise BadUsage(
            f"the least similarity is {options.min_similarity}; expected a finite number."
        )
    if options.mode == "video" and (options.queries is not None or is_mapped):
        raise BadUsage("in the mode video every clip is a query; texts require the mode text.")
    if options.mode == "text" and options.query_clips is not None:
        raise BadUsage(
            f"{flag('--query-clips')} requires the mode video; in the mode text queries are texts."
        )
    if options.no_results == "skip" and options.min_similarity is None:
        raise BadUsage(
            f"{flag('--no-results', 'skip')} requires {flag('--min-similarity')}; without it "
            "every result counts."
        )
    after, drives = flag("--self", "after", name="self_rule"), flag("--exclude-group")
    is_after, has_drives = options.self_rule == "after", options.exclude_group is not None
    if options.mode == "text" and (is_after or has_drives):
        raise BadUsage(
            f"{after} and {drives} require the mode video; a text has no drive, and is not a clip."
        )
    if is_after and has_drives:
        raise BadUsage(
            f"{after} is Algorithm 2 of ALFA, which removes the query clip alone; leave {drives} "
            "out."
        )
    unused, why = _unused(options)
    unused_flags = [flag(name) for name in unused if getattr(options, name) is not None]
    if unused_flags:
        them = "it" if len(unused_flags) == 1 else "them"
        raise BadUsage(
            f"{', '.join(unused_flags)}: nothing reads {them}, for {why}; leave {them} out."
        )
    if options.text_embeddings is not None and options.text_encoder is not None:
        raise BadUsage(
            f"{flag('--text-embeddings')} and {flag('--text-encoder')} both determine the texts' "
            "vectors; leave one of them out."
        )


def _unused(options: KeywordOptions) -> tuple[list[str], str]:
    """The options that the chosen system does not use, and the reason."""
    texts = ["text_embeddings", "text_encoder"]
    if options.run is not None and options.engine is None:
        return ["embeddings", "ids", "metric", *texts], "the run is the ranking already"
    if options.engine is not None and options.run is None:
        clips = ["ids"] if options.embeddings is None else []
        if options.mode == "text":
            clips = ["embeddings", "ids"]
        return [*texts, "metric", *clips], "the engine is what ranks"
    if options.embeddings is None:
        return ["ids"], "there are no embeddings that they would belong to"
    return texts if options.mode == "video" else [], "in the mode video clips search, and no text"


def names(text: Sequence[str] | str | None, option: str) -> list[str]:
    """Names in a list, or in a text separated by commas. Raises BadUsage for an empty name."""
    listed_names = (
        [part.strip() for part in text.split(",")] if isinstance(text, str) else list(text or ())
    )
    if not all(listed_names):
        raise BadUsage(f"{option} {text!r} has an empty name; expected names separated by commas.")
    return listed_names
