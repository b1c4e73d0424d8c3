"""Hosts of engines: a worker process that holds them, under a watchdog that ends and replaces it,
or this process.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from rankwell.engines import Engine, IndexReport, open_engine
from rankwell.errors import RankwellError
from rankwell.processes import begin_child, exit_text, is_interrupted, start_function
from rankwell.tasks.engine.inputs import QueryEncoder, needless_encoder
from rankwell.tasks.engine.loops import (
    FAILED_IN_A_ROW,
    MOST_IN_A_ROW,
    BatchReport,
    Client,
    Emit,
    Encode,
    EngineTask,
    RequestBatch,
    SentRequest,
    Watch,
    clock,
    floor_seconds,
    measure_batch,
    not_asked,
)

MOST_CLIENTS = 256
_POLL = 0.25
_GRACE = 1.0
_CLOSING = 10.0
"""Seconds in which a process may close its engines."""
_PATIENCE = 5.0
"""Seconds in which a process may end its query after an interruption."""
_WARM_UP = 10
"""Queries that are encoded before any of these times is taken."""


class EngineTraits(NamedTuple):
    """Traits of an engine that another process may hold.

    name: name of the engine in results.
    kind: its kind of search: `vector`, `lexical` or `hybrid`.
    metric: the metric by which it compares vectors; None where it states none, or has none.
    in_process: whether it works in the process that queries it, without a server.
    is_server_known: whether all of its processor time can be measured.
    exact_parameters: the parameters of its exact mode; None where it has none.
    floor: seconds that measuring a request takes by itself.
    indexes: for each build the cost of its index; None where nothing was indexed.
    described: for each build the engine's description of itself and its index.
    """

    name: str
    kind: str
    metric: str | None
    in_process: bool
    is_server_known: bool
    exact_parameters: Mapping[str, Any] | None
    floor: float
    indexes: Sequence[IndexReport | None]
    described: Sequence[Mapping[str, Any]]


class WorkerLost(Exception):
    """A worker process that was ended because a request never returned, or that ended itself.

    requests: the requests that it was working on, each as a failure.
    retries: number of times that each request may be sent again.
    """

    def __init__(self, requests: Sequence[SentRequest], retries: int) -> None:
        super().__init__(requests, retries)
        self.requests, self.retries = requests, retries


class LocalHost:
    """Engines in this process: those that are Python objects. A request without end cannot be
    ended.
    """

    def __init__(self, task: EngineTask) -> None:
        self._task = task
        self._engines: list[Engine] = []
        self._clients: dict[int, list[Client]] = {}
        self._encode: Encode | None = None
        self.watch = Watch([0.0] * MOST_CLIENTS, [0] * MOST_CLIENTS, SimpleNamespace(value=0))

    def open(self) -> EngineTraits:
        """Opens an engine for every build, indexes, and checks the queries."""
        task, reports = self._task, list[IndexReport | None]()
        for build in task.settings.builds:
            engine = open_engine(task.spec, {**task.settings.fixed, **build})
            self._engines.append(engine)
            self._load_encoder(engine)
            reports.append(
                None if task.items is None or not engine.can_index else engine.index(task.items)
            )
            engine.check(task.queries, task.k)
        first = self._engines[0]
        return EngineTraits(
            first.name,
            first.kind,
            first.metric,
            first.in_process,
            first.in_process or (task.server_pid or first.server_pid) is not None,
            first.exact_parameters,
            floor_seconds(task),
            reports,
            [engine.describe() for engine in self._engines],
        )

    def _load_encoder(self, engine: Engine) -> None:
        """Loads the encoder of the queries, once. Raises BadUsage for an engine that takes no
        vectors.
        """
        task = self._task
        if task.encoder is None:
            return
        if not engine.needs_vector:
            raise needless_encoder(engine.label, task.encoder)
        if self._encode is None:
            self._encode = QueryEncoder(task.encoder, task.items and task.items.texts).encode
            for query in task.queries[:_WARM_UP]:
                self._encode(query)

    def ask(self, batch: RequestBatch, emit: Emit) -> BatchReport:
        """Asks a batch with clients of their own for every index."""
        task, engine = self._task, self._engines[batch.build]
        clients = self._clients.setdefault(batch.build, [])
        engine.check((task.queries[query] for query in batch.queries), task.k)
        while len(clients) < batch.clients:
            clients.append(Client(engine, task, self.watch, len(clients), self._encode))
        return measure_batch(clients, batch, emit)

    def close(self) -> None:
        """Closes sessions and engines."""
        for clients in self._clients.values():
            for client in clients:
                client.close()
        for engine in self._engines:
            with suppress(RankwellError):
                engine.close()
        self._engines, self._clients = [], {}


class ProcessHost:
    """Engines in a process of their own, which ends when this one does. Scripts keep their work
    below `__main__`.
    """

    def __init__(self, task: EngineTask) -> None:
        self._task = task
        self._begin()

    def _begin(self) -> None:
        from multiprocessing.sharedctypes import RawArray, RawValue

        self._watch = Watch(
            RawArray("d", MOST_CLIENTS), RawArray("l", MOST_CLIENTS), RawValue("b", 0)
        )
        self._process, self._pipe = start_function(_serve, self._watch, daemon=True)

    def open(self) -> EngineTraits:
        """Sends the task to the process, a new one where the earlier one was ended."""
        if not self._process.is_alive():
            self._begin()
        return self._reply(("open", self._task), None)

    def ask(self, batch: RequestBatch, emit: Emit) -> BatchReport:
        """Asks a batch; the outcomes come as the process sends them."""
        return self._reply(("ask", batch), emit)

    def _reply(self, request: tuple[str, Any], emit: Emit | None) -> Any:
        patience = float("inf")
        try:
            self._pipe.send(request)
        except OSError as error:
            raise self._ended() from error
        while True:
            try:
                if emit is not None and is_interrupted():
                    # The process hands over its answers and ends the batch, unless a query keeps
                    # it.
                    patience = patience if self._watch.ended.value else clock() + _PATIENCE
                    self._watch.ended.value = 1
                    if clock() > patience:
                        self._kill()
                        raise KeyboardInterrupt
                if not self._pipe.poll(_POLL):
                    if emit is not None:
                        self._refuse_hung()
                    continue
                kind, content = self._pipe.recv()
            except (EOFError, OSError) as error:
                raise self._ended() from error
            if kind == "rows" and emit is not None:
                emit(content)
            elif kind == "error":
                raise content
            else:
                return content

    def _refuse_hung(self) -> None:
        now, seconds = clock(), self._task.timeout
        limit = seconds * (self._task.retries + 1) + _GRACE
        for query, since in zip(self._watch.query, self._watch.since, strict=True):
            if since and now - since > limit:
                self._kill()
                error = f"no answer within {seconds:g} s"
                raise WorkerLost(
                    [SentRequest(query, None, now - seconds, now, "timeout", error)], 0
                )

    def _ended(self) -> Exception:
        """The error of a worker that ended: WorkerLost with the requests that it worked on, which
        one of them ended.
        """
        self._process.join(_GRACE)
        self._kill()
        now = clock()
        message = f"the worker process of the engine ended ({exit_text(self._process.exitcode)})"
        failed = [
            SentRequest(query, None, since, now, "failed", message)
            for query, since in zip(self._watch.query, self._watch.since, strict=True)
            if since
        ]
        if not failed:
            return RankwellError(f"{message}; more memory or fewer settings may help.")
        return WorkerLost(failed, self._task.retries)

    def _kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def close(self) -> None:
        """Lets the process close its engines, and ends it where that takes too long."""
        if self._process.is_alive():
            with suppress(OSError, EOFError):
                self._pipe.send(("close", None))
                self._pipe.poll(_CLOSING)
            self._process.join(2.0)
            self._kill()


Host = LocalHost | ProcessHost


def _serve(pipe: Any, watch: Watch) -> None:
    """The worker process: opens, asks and closes on request, until the pipe ends."""
    begin_child(grace=_CLOSING)
    host: LocalHost | None = None
    while True:
        try:
            word, content = pipe.recv()
        except EOFError:
            break
        try:
            if word == "open":
                host = LocalHost(content)
                host.watch = watch
                pipe.send(("done", host.open()))
            elif word == "ask" and host is not None:
                pipe.send(("done", host.ask(content, lambda rows: pipe.send(("rows", rows)))))
            else:
                break
        except (RankwellError, OSError) as error:
            pipe.send(
                ("error", error if isinstance(error, RankwellError) else RankwellError(str(error)))
            )
    if host is not None:
        host.close()
    with suppress(OSError):
        pipe.send(("done", None))


def ask_watched(host: Host, batch: RequestBatch, emit: Emit) -> BatchReport:
    """Asks a batch; where a query loses the worker, that one has failed, the host is opened again,
    and the rest is asked.
    """
    outstanding, lost, in_a_row = dict.fromkeys(batch.queries), dict[int, int](), 0

    def _emit(requests: list[SentRequest]) -> None:
        nonlocal in_a_row
        for request in requests:
            outstanding.pop(request.query, None)
            in_a_row = 0 if request.status == "ok" else in_a_row
        emit(requests)

    while True:
        try:
            return host.ask(batch._replace(queries=list(outstanding)), _emit)
        except WorkerLost as error:
            if is_interrupted():
                raise KeyboardInterrupt from error
            in_a_row += 1
            for lost_request in error.requests:
                query = lost_request.query
                lost[query] = lost.get(query, 0) + 1
                if query in outstanding and lost[query] > error.retries:
                    _emit([lost_request])
            # Answers that the worker had not handed over are asked again; those of the next one are
            # kept at once.
            queries = {request.query for request in error.requests}
            batch = batch._replace(
                warm_up=[query for query in batch.warm_up if query not in queries], prompt=True
            )
            if batch.moments is not None:
                _emit(not_asked(outstanding, "another request ended the worker process"))
                batch = batch._replace(moments=None)
            if in_a_row >= MOST_IN_A_ROW:
                _emit(not_asked(outstanding, FAILED_IN_A_ROW))
            host.open()


def ask_together(
    hosts: Sequence[Host], batches: Sequence[RequestBatch], emit: Emit
) -> list[BatchReport]:
    """Asks a batch of each host at once; processes end theirs early where `is_interrupted`."""
    if isinstance(hosts[0], LocalHost):
        return [ask_watched(hosts[0], batches[0], emit)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(hosts)) as pool:
        return list(pool.map(partial(ask_watched, emit=emit), hosts, batches))
