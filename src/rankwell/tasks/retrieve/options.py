"""The options of `rankwell retrieve`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankwell.core.options import (
    ConventionName,
    Input,
    InputData,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.stats import Intervals

Cost = Literal["p50", "p95", "p99", "throughput", "processor", "build", "size"]


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions:
    """The choices that decide the figures of `rankwell retrieve`.

    Parameters
    ----------
    items
        Texts of the items to index (BEIR corpus.jsonl, a table with an id column); a foreign index
        needs none.
    item_vectors
        Vectors of the items, by id, or in the order of the texts; also for the exact results.
    queries
        Texts of the queries.
    query_vectors
        Vectors of the queries, by id, or in the order of the texts.
    encoder
        Encoder of the queries for an engine of vectors: a model of sentence-transformers, or
        tfidf-svd:128, fitted to the items. A query is encoded before it is sent, in a time of its
        own; items without --item-vectors are encoded once.
    qrels
        Judgments, for measures of quality.
    measures
        A measure of quality such as nDCG@10; repeat it for more, or separate names by blanks.
    convention
        Whose words for measures: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st.
    k
        Number of results per query.
    option
        A parameter of the engine, NAME=VALUE; repeat it for more. `rankwell engines` lists them.
    url
        Address of the engine, with ${NAME} for a password in the environment; the same as --option
        url=URL.
    build
        A parameter that shapes the index, NAME=VALUE; the same as --option.
    sweep
        Values of a parameter to try, NAME=V1,V2, from the cheapest to the most expensive; of
        several every combination.
    filters
        FIELD=VALUE that every result must have, or FIELD alone: each query's own value in the
        column of this name.
    truth
        Exact results for Recall@k: a run, `engine` for the engine's exact mode, or none. By default
        the nearest vectors.
    duplicates
        An item that is returned twice for a query: an error, or keep the first.
    collapse
        Column of the items' texts whose value replaces the id, as of the document of a chunk; the
        first of each counts.
    recall
        Recall@k that the cheapest setting must reach, by its lower confidence bound, one-sided at
        97.5 %.
    cost
        The cost by which settings are cheap, and the axis of the frontier.
    rounds
        Number of times that every query is asked at every setting; the first stands apart as first
        time asked.
    warm_up
        Number of queries that are asked in every session before any time is taken.
    clients
        Clients that ask at once; each waits for its answer. With --rate the largest number of
        requests in flight.
    rate
        Requests a second at random moments, whether answers have come or not; without, clients wait
        for their answers.
    timeout
        Seconds after which a query is given up.
    retries
        Number of times that a failed query is asked again.
    allow_failures
        Number of failed queries, of all settings, that count as empty results; with more there are
        no figures.
    most_requests
        Largest number of requests of the whole call.
    most_seconds
        Largest number of seconds of the whole call.
    server_pid
        Process of the server, for its processor time.
    allow_load
        Host that may be put under load though it is not this machine.
    intervals
        95 % intervals of quality: `bootstrap-t`, `bootstrap`, Student's `t`, or none.
    seed
        Seed of the order of requests, of their moments, and of intervals.
    """

    items: InputData = None
    item_vectors: InputData = None
    queries: InputData = None
    query_vectors: InputData = None
    encoder: Annotated[str | None, Input(perhaps=True)] = None
    qrels: InputData = None
    qrels_columns: JudgmentColumns = None
    measures: MeasureNames = None
    convention: ConventionName = "rankwell"
    k: int = 10
    option: Annotated[Any, Option(kind=list[str])] = None
    url: str | None = None
    build: Annotated[Any, Option(kind=list[str])] = None
    sweep: Annotated[Any, Option(kind=list[str])] = None
    filters: Annotated[list[str] | None, Option(("--filter",))] = None
    truth: Annotated[Any, Input(perhaps=True)] = None
    columns: RunColumns = None
    duplicates: Literal["error", "first"] = "error"
    collapse: str | None = None
    recall: float | None = None
    cost: Cost = "p50"
    rounds: int = 5
    warm_up: int = 10
    clients: int | None = None
    rate: float | None = None
    timeout: float = 30.0
    retries: int = 0
    allow_failures: int = 0
    most_requests: int = 1_000_000
    most_seconds: float = 3600.0
    server_pid: int | None = None
    allow_load: str | None = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0
