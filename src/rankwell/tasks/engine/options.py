"""The options of `rankwell engine run`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankwell.data.options import (
    ConventionName,
    Doc,
    Input,
    InputData,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.evaluation.options import MeasureOptions, StatisticsOptions

Cost = Literal["p50", "p95", "p99", "throughput", "processor", "build", "size"]


EngineParameters = Annotated[
    Any,
    Option(kind=list[str]),
    Doc(
        "A parameter of the engine, NAME=VALUE; repeat it for more. `rankwell engine list` lists "
        "them.",
        "Input",
        is_common=True,
    ),
]


@dataclass(frozen=True, kw_only=True)
class EngineOptions(StatisticsOptions, MeasureOptions):
    """The choices that decide the figures of `rankwell engine run`."""

    documents: Annotated[
        InputData,
        Doc(
            "Texts of the items to index (BEIR corpus.jsonl, a table with an id column); "
            "a foreign index needs none.",
            is_common=True,
        ),
    ] = None
    item_vectors: Annotated[
        InputData,
        Doc(
            "Vectors of the items, by id, or in the order of the texts; also for the exact results."
        ),
    ] = None
    queries: Annotated[InputData, Doc("Texts of the queries.", is_common=True)] = None
    query_vectors: Annotated[
        InputData, Doc("Vectors of the queries, by id, or in the order of the texts.")
    ] = None
    encoder: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Encoder of the queries for an engine of vectors: a model of "
            "sentence-transformers, or tfidf-svd:128, fitted to the items. A query is "
            "encoded before it is sent, in a time of its own; items without "
            "--item-vectors are encoded once."
        ),
    ] = None
    qrels: Annotated[InputData, Doc("Judgments, for measures of quality.", is_common=True)] = None
    qrels_columns: JudgmentColumns = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "A measure of quality such as nDCG@10; repeat it for more, or separate names by blanks."
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc("Whose words for measures: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st."),
    ] = "rankwell"
    depth: Annotated[int, Doc("Number of results per query.")] = 10
    option: EngineParameters = None
    url: Annotated[
        str | None,
        Doc(
            "Address of the engine, with ${NAME} for a password in the environment; the "
            "same as --option url=URL.",
            "Input",
        ),
    ] = None
    sweep: Annotated[
        Any,
        Option(kind=list[str]),
        Doc(
            "Values of a parameter to try, NAME=V1,V2, from the cheapest to the most "
            "expensive; of several every combination.",
            is_common=True,
        ),
    ] = None
    filters: Annotated[
        list[str] | None,
        Option(("--filter",)),
        Doc(
            "FIELD=VALUE that every result must have, or FIELD alone: each query's own "
            "value in the column of this name.",
            "Input",
        ),
    ] = None
    truth: Annotated[
        Any,
        Input(perhaps=True),
        Doc(
            "Exact results for Recall@k: a run, `engine` for the engine's exact mode, or none. "
            "[default: the nearest vectors]"
        ),
    ] = None
    columns: RunColumns = None
    duplicates: Annotated[
        Literal["error", "first"],
        Doc("An item that is returned twice for a query: an error, or keep the first.", "Input"),
    ] = "error"
    collapse: Annotated[
        str | None,
        Doc(
            "Column of the items' texts whose value replaces the id, as of the document "
            "of a chunk; the first of each counts.",
            "Input",
        ),
    ] = None
    recall: Annotated[
        float | None,
        Doc(
            "Recall@k that the cheapest setting must reach, by its lower confidence "
            "bound, one-sided at 97.5 %."
        ),
    ] = None
    cost: Annotated[
        Cost, Doc("The cost by which settings are cheap, and the axis of the frontier.")
    ] = "p50"
    rounds: Annotated[
        int,
        Doc(
            "Number of times that every query is asked at every setting; the first stands "
            "apart as first time asked.",
            "Scaling",
        ),
    ] = 5
    warm_up: Annotated[
        int,
        Doc(
            "Number of queries that are asked in every session before any time is taken.", "Scaling"
        ),
    ] = 10
    clients: Annotated[
        int | None,
        Doc(
            "Clients that ask at once; each waits for its answer. With --rate the largest "
            "number of requests in flight.",
            "Scaling",
        ),
    ] = None
    rate: Annotated[
        float | None,
        Doc(
            "Requests a second at random moments, whether answers have come or not; "
            "without, clients wait for their answers.",
            "Scaling",
        ),
    ] = None
    request_timeout: Annotated[float, Doc("Seconds to wait for an answer.", "Scaling")] = 30.0
    retries: Annotated[
        int, Doc("Number of times that a failed query is asked again.", "Scaling")
    ] = 0
    allow_failures: Annotated[
        int,
        Doc(
            "Number of failed queries, of all settings, that count as empty results; with "
            "more there are no figures.",
            "Scaling",
        ),
    ] = 0
    max_requests: Annotated[
        int, Doc("Largest number of requests of the whole call.", "Scaling")
    ] = 1_000_000
    server_pid: Annotated[
        int | None, Doc("Process of the server, for its processor time.", "Scaling")
    ] = None
    allow_load: Annotated[
        str | None, Doc("Host that may be put under load though it is not this machine.", "Scaling")
    ] = None

    @property
    def truth_word(self) -> str:
        """The word of `truth`, "" for a run or none of both."""
        return (
            self.truth if isinstance(self.truth, str) and self.truth in ("none", "engine") else ""
        )
