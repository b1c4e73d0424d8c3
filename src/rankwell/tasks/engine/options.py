"""The options of `rankwell engine run`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import (
    ConventionName,
    Doc,
    Input,
    JudgmentColumns,
    Lists,
    MeasureNames,
    Option,
    RunColumns,
    TableData,
    VectorData,
)
from rankwell.evaluation.options import JudgmentData, MeasureOptions, StatisticsOptions

Cost = Literal["p50", "p95", "p99", "throughput", "processor", "build", "size"]


EngineParameters = Annotated[
    Lists | None,
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
        TableData,
        Doc(
            "Texts of the items to index (BEIR corpus.jsonl, a table with an id column); an "
            "existing index needs none.",
            is_common=True,
        ),
    ] = None
    item_vectors: Annotated[
        VectorData,
        Doc("Item vectors, by id or in the order of the texts; also for the exact results."),
    ] = None
    queries: Annotated[TableData, Doc("Texts of the queries.", is_common=True)] = None
    query_vectors: Annotated[
        VectorData, Doc("Query vectors, by id or in the order of the texts.")
    ] = None
    encoder: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Query encoder for a vector engine: a sentence-transformers model, or tfidf-svd:128, "
            "fitted to the items. A query is encoded before it is sent, and that is timed "
            "separately; items without --item-vectors are encoded once."
        ),
    ] = None
    qrels: Annotated[JudgmentData, Doc("Judgments, for quality measures.", is_common=True)] = None
    qrels_columns: JudgmentColumns = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "Quality measures, separated by commas, such as nDCG@10,RR. [default: the "
            "convention's, if there are judgments]"
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Convention for measure names: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st."
        ),
    ] = "rankwell"
    depth: Annotated[int, Doc("Number of results per query.")] = 10
    option: EngineParameters = None
    url: Annotated[
        str | None,
        Doc(
            "Address of the engine, with ${NAME} for a password in an environment variable; the "
            "same as --option url=URL.",
            "Input",
        ),
    ] = None
    sweep: Annotated[
        Lists | None,
        Option(kind=list[str]),
        Doc(
            "Values of a parameter to try, NAME=V1,V2, from the cheapest to the most expensive; "
            "several parameters are tried in every combination.",
            is_common=True,
        ),
    ] = None
    filters: Annotated[
        list[str] | None,
        Option(("--filter",)),
        Doc(
            "Filter: FIELD=VALUE that every result must have, or FIELD alone for each query's own "
            "value in the column of that name.",
            "Input",
        ),
    ] = None
    truth: Annotated[
        TableData,
        Input(perhaps=True),
        Doc(
            "Exact results for Recall@k: a run, `engine` for the engine's exact mode, or none. "
            "[default: the nearest vectors]"
        ),
    ] = None
    columns: RunColumns = None
    duplicates: Annotated[
        Literal["error", "first"],
        Doc("Item returned twice for a query: an error, or keep the first.", "Input"),
    ] = "error"
    collapse: Annotated[
        str | None,
        Doc(
            "Column of the item texts whose value replaces the id, such as the document of a "
            "chunk; the first of each counts.",
            "Input",
        ),
    ] = None
    recall: Annotated[
        float | None,
        Doc(
            "Recall@k that the lower confidence bound (one-sided, 97.5 %) of the cheapest setting "
            "must reach. [default: no target]"
        ),
    ] = None
    cost: Annotated[
        Cost, Doc("Cost that decides which setting is cheapest, and the axis of the frontier.")
    ] = "p50"
    rounds: Annotated[
        int,
        Doc(
            "Number of times to ask every query at every setting; the first time is reported "
            "separately.",
            "Scaling",
        ),
    ] = 5
    warm_up: Annotated[
        int, Doc("Number of warm-up queries in every session, before timing starts.", "Scaling")
    ] = 10
    clients: Annotated[
        int | None,
        Doc(
            "Number of concurrent clients; each waits for its answer. With --rate, the maximum "
            "number of requests in flight. [default: 1]",
            "Scaling",
        ),
    ] = None
    rate: Annotated[
        float | None,
        Doc(
            "Requests per second at random times, whether or not answers have arrived; without "
            "it, clients wait for their answers.",
            "Scaling",
        ),
    ] = None
    request_timeout: Annotated[float, Doc("Seconds to wait for an answer.", "Scaling")] = 30.0
    retries: Annotated[int, Doc("Number of retries of a failed query.", "Scaling")] = 0
    allow_failures: Annotated[
        int,
        Doc(
            "Number of failed queries, over all settings, that may count as empty results; with "
            "more, there are no figures.",
            "Scaling",
        ),
    ] = 0
    max_requests: Annotated[
        int, Doc("Maximum number of requests of the whole call.", "Scaling")
    ] = 1_000_000
    server_pid: Annotated[
        int | None, Doc("Process id of the server, for its processor time.", "Scaling")
    ] = None
    allow_load: Annotated[
        str | None, Doc("Host other than this machine that may be put under load.", "Scaling")
    ] = None

    @property
    def truth_word(self) -> str:
        """The word of `truth`, "" for a run or none of both."""
        return (
            self.truth if isinstance(self.truth, str) and self.truth in ("none", "engine") else ""
        )
