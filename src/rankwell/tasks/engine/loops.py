"""Asking an engine and taking the time: closed loops of clients that wait, and an open loop of
requests at given moments; in a worker process under a watchdog that ends and replaces it, or in
this process.
"""

import gc
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from rankwell.engines import (
    Engine,
    EngineFailure,
    EngineHits,
    EngineItems,
    EngineQuery,
    IndexReport,
    ParameterValues,
    Session,
    open_engine,
    processor_seconds,
)
from rankwell.errors import RankwellError
from rankwell.processes import begin_child, exit_text, is_interrupted, start_function
from rankwell.tasks.engine.inputs import EngineSettings, QueryEncoder, clock, needless_encoder

Status = Literal["ok", "failed", "timeout", "not_asked"]
MOST_IN_A_ROW = 20
"""Failures in a row after which a client asks no further query."""
FAILED_IN_A_ROW = f"{MOST_IN_A_ROW} queries in a row failed before"
_FLUSH, _SLOW = 0.5, 0.005
_FLOOR = 2000
_NO_HITS = EngineHits(())


class SentRequest(NamedTuple):
    """One request, with times by `clock`.

    query: index of the query.
    planned: when an open loop was to send it; None in closed loops.
    sent: when it was sent; for several attempts the last.
    done: when its outcome was known.
    status: `ok` for an answer; `failed`, `timeout` or `not_asked` without one.
    error: the reason why there is no answer; empty for an answer.
    ids: ids of the answer, best first; empty without one.
    scores: scores of the answer, higher is better; None where the engine gives none.
    encoding: seconds that encoding its text took, before it was sent; None where nothing was
        encoded.
    """

    query: int
    planned: float | None
    sent: float
    done: float
    status: Status
    error: str = ""
    ids: Sequence[str] = ()
    scores: Sequence[int | float] | None = None
    encoding: float | None = None

    @property
    def seconds(self) -> float | None:
        """The time until the answer, of an open loop from the planned moment; None without one."""
        start = self.sent if self.planned is None else self.planned
        return self.done - start if self.status == "ok" else None


class RequestBatch(NamedTuple):
    """Queries to send at one setting.

    build: number of the index.
    search: search parameters of the sessions.
    queries: indices of the queries, in the order of the requests.
    warm_up: indices of queries that each new session answers first, whose times do not count.
    moments: (queries,) seconds after the start at which each query is sent; None in closed loops.
    clients: number of threads that send requests.
    prompt: whether every outcome is handed over at once, which takes time between requests;
        otherwise several are handed over together.
    """

    build: int
    search: ParameterValues
    queries: Sequence[int]
    warm_up: Sequence[int]
    moments: Sequence[float] | None = None
    clients: int = 1
    prompt: bool = False


class BatchReport(NamedTuple):
    """The cost of a batch.

    first: seconds of the first request of each new session.
    client: seconds of processor time of this process.
    server: seconds of processor time of the server; None where unknown.
    other_processes: seconds of processor time of all others on this machine; None where unknown.
    elapsed: seconds on the clock.
    described: the session's description, or the `error` in its place.
    """

    first: Sequence[float]
    client: float
    server: float | None
    other_processes: float | None
    elapsed: float
    described: Mapping[str, Any]


@dataclass(frozen=True)
class EngineTask:
    """The work on an engine, which has an index for each build.

    spec: the engine as the user names it, or a Python object.
    settings: the fixed parameters and those that vary.
    items: the items to index; None where the engine has an index already.
    queries: the queries in the form that engines take.
    k: number of results to request.
    timeout: seconds after which a request counts as failed.
    retries: number of times that a failed request is sent again.
    server_pid: process id of a server that the engine does not know itself; None for none.
    encoder: the model that encodes queries before they are sent; None for none.
    """

    spec: Any
    settings: EngineSettings
    items: EngineItems | None
    queries: Sequence[EngineQuery]
    k: int
    timeout: float
    retries: int
    server_pid: int | None
    encoder: str | None


@dataclass
class Watch:
    """The requests that clients wait for, shared with a watchdog.

    since: (clients,) when each client sent its request; 0 for none.
    query: (clients,) index of each client's query.
    ended: its `value` is 1 where no further request is to be sent.
    """

    since: Any
    query: Any
    ended: Any

    def begin(self, slot: int, query: int) -> None:
        """Notes a request."""
        self.query[slot] = query
        self.since[slot] = clock()

    def end(self, slot: int) -> None:
        """Notes that the client has its answer."""
        self.since[slot] = 0.0


Encode = Callable[[EngineQuery], float]
"""Encodes the text of a query; the seconds that it took."""


class Client:
    """A thread's client of an engine. A session that failed is replaced before the next request."""

    def __init__(
        self,
        engine: Engine,
        task: EngineTask,
        watch: Watch,
        slot: int,
        encode: Encode | None = None,
    ) -> None:
        self.engine, self.task, self._encode = engine, task, encode
        self._watch, self._slot = watch, slot
        self._session: Session | None = None
        self._broken = False
        self.first: list[float] = []

    def session(self, batch: RequestBatch) -> Session:
        """A session with the parameters of a batch, warm. Raises EngineFailure where there is
        none.
        """
        if self._session is None or self._broken:
            self.close()
            self._session = self.engine.session()
            self._session.configure(batch.search)
            self._warm(self._session, batch.warm_up)
            self._broken = False
        return self._session

    def _warm(self, session: Session, warm_up: Sequence[int]) -> None:
        """Asks queries whose times do not count; one that fails does so again, when it is asked in
        its turn.
        """
        for position, query in enumerate(warm_up):
            self._watch.begin(self._slot, query)
            sent = clock()
            try:
                session.ask(self.task.queries[query], self.task.k)
                if not position:
                    self.first.append(clock() - sent)
            except EngineFailure:
                return
            finally:
                self._watch.end(self._slot)

    @property
    def is_ended(self) -> bool:
        """Whether nothing more is to be asked, as the call was interrupted."""
        return bool(self._watch.ended.value)

    def encode(self, query: int) -> float | None:
        """Encodes the text of a query; the seconds that it took, None where queries have vectors
        already.
        """
        return None if self._encode is None else self._encode(self.task.queries[query])

    def ask(
        self, query: int, planned: float | None, batch: RequestBatch, encoding: float | None
    ) -> SentRequest:
        """The outcome of a query, asked again as often as allowed; the time is that of the last
        attempt.
        """
        engine_query, k = self.task.queries[query], self.task.k
        attempts_left = self.task.retries
        while True:
            status: Status = "ok"
            error, hits = "", _NO_HITS
            self._watch.begin(self._slot, query)
            sent = clock()
            try:
                session = self._session
                if session is None or self._broken:
                    session = self.session(batch)
                sent = clock()
                hits = session.ask(engine_query, k)
                done = clock()
            except EngineFailure as failure:
                done, self._broken = clock(), True
                status, error = "timeout" if failure.kind == "timeout" else "failed", str(failure)
            finally:
                self._watch.end(self._slot)
            if status == "ok" and done - sent > self.task.timeout:
                status, error = "timeout", f"answered after {done - sent:.3g} s"
                hits = _NO_HITS
            if status == "ok" or not attempts_left:
                return SentRequest(
                    query, planned, sent, done, status, error, hits.ids, hits.scores, encoding
                )
            attempts_left -= 1

    def scored(self, requests: Sequence[SentRequest]) -> list[SentRequest]:
        """The outcomes with scores in place of distances. Between two requests this would slow the
        second one.
        """
        if not self.engine.distances:
            return list(requests)
        return [
            request._replace(
                scores=self.engine.scored(EngineHits(request.ids, request.scores)).scores
            )
            for request in requests
        ]

    def close(self) -> None:
        """Ends the session; of a broken one that may fail, too."""
        if self._session is not None:
            session, self._session = self._session, None
            try:
                session.close()
            except EngineFailure:
                return


Emit = Callable[[list[SentRequest]], None]


def run_batch(clients: Sequence[Client], batch: RequestBatch, emit: Emit) -> None:
    """Asks all queries of a batch, and hands their outcomes over between requests, those that were
    not asked too.
    """
    lock, stop = threading.Lock(), threading.Event()
    positions, errors = deque(range(len(batch.queries))), list[BaseException]()
    # Requests of an open loop have moments, which encoding would delay.
    encoded: Mapping[int, float | None] = {}
    if batch.moments is not None:
        encoded = {query: clients[0].encode(query) for query in batch.queries}
    start = clock() + (0.05 if batch.moments is not None else 0.0)

    def _positions() -> Iterator[int]:
        while not (stop.is_set() or clients[0].is_ended):
            try:
                yield positions.popleft()
            except IndexError:
                return

    def _emit(requests: list[SentRequest]) -> None:
        with lock:
            emit(requests)

    def _client(client: Client) -> None:
        try:
            _loop(client, batch, start, encoded, _positions(), _emit, stop)
        except BaseException as error:
            errors.append(error)
            stop.set()

    gc.disable()
    try:
        threads = [
            threading.Thread(target=_client, args=(client,), daemon=True)
            for client in clients[1 : batch.clients]
        ]
        for thread in threads:
            thread.start()
        _client(clients[0])
        for thread in threads:
            thread.join()
    finally:
        gc.enable()
    if errors:
        raise errors[0]
    why = "the call was interrupted" if clients[0].is_ended else FAILED_IN_A_ROW
    emit(not_asked([batch.queries[position] for position in positions], why))


def not_asked(queries: Iterable[int], why: str) -> list[SentRequest]:
    """The outcomes of queries that are not asked any more."""
    now = clock()
    return [SentRequest(query, None, now, now, "not_asked", why) for query in queries]


def _loop(
    client: Client,
    batch: RequestBatch,
    start: float,
    encoded: Mapping[int, float | None],
    positions: Iterator[int],
    emit: Emit,
    stop: threading.Event,
) -> None:
    """One client: the next query, until there is none or too many failed in a row."""
    requests, failures, flushed = list[SentRequest](), 0, clock()
    try:
        for position in positions:
            query, planned = batch.queries[position], None
            encoding = encoded[query] if query in encoded else client.encode(query)
            if batch.moments is not None:
                planned = start + batch.moments[position]
                if (wait := planned - clock()) > 0:
                    time.sleep(wait)
            request = client.ask(query, planned, batch, encoding)
            requests.append(request)
            failures = 0 if request.status == "ok" else failures + 1
            if failures >= MOST_IN_A_ROW:
                stop.set()
            # Handing over takes a hundredth of what a slow query does, and the next one may be
            # interrupted.
            is_slow = request.done - request.sent > _SLOW
            if batch.prompt or is_slow or request.done - flushed > _FLUSH:
                emit(client.scored(requests))
                requests, flushed = [], clock()
    finally:
        emit(client.scored(requests))


def measure_batch(clients: Sequence[Client], batch: RequestBatch, emit: Emit) -> BatchReport:
    """Runs a batch with warm sessions, and reports what it cost."""
    clients = clients[: batch.clients]
    for client in clients:
        client.first.clear()
        try:
            client.session(batch).configure(batch.search)
        except EngineFailure:
            # The first query of the client meets the same failure, which then is an outcome.
            client.close()
    pid = clients[0].task.server_pid or clients[0].engine.server_pid
    started = clock()
    seconds, server, busy = time.process_time(), _server_seconds(pid), _busy_seconds()
    run_batch(clients, batch, emit)
    seconds, elapsed = time.process_time() - seconds, clock() - started
    server = _since(server, _server_seconds(pid))
    other_processes = _since(busy, _busy_seconds())
    if other_processes is not None:
        other_processes = max(0.0, other_processes - seconds - (server or 0.0))
    try:
        described = clients[0].session(batch._replace(warm_up=())).describe()
    except EngineFailure as error:
        described = {"error": str(error)}
    first = [first_seconds for client in clients for first_seconds in client.first]
    return BatchReport(first, seconds, server, other_processes, elapsed, described)


def _server_seconds(pid: int | None) -> float | None:
    return None if pid is None else processor_seconds(pid)


def _since(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else now - before


def _busy_seconds() -> float | None:
    """Processor time of all processes of the machine since it started; None where the system does
    not tell.
    """
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()
    except OSError:
        return None
    import os

    # user, nice, system, irq, softirq and steal; not idle and iowait.
    return sum(int(fields[column]) for column in (1, 2, 3, 6, 7, 8)) / os.sysconf("SC_CLK_TCK")


def floor_seconds(task: EngineTask) -> float:
    """The median time of a request to an engine that does nothing: what the measurement itself
    takes.
    """
    times: list[float] = []

    def _nothing(query: EngineQuery, k: int) -> EngineHits:
        del query, k
        return _NO_HITS

    for number in range(_FLOOR):
        sent = clock()
        _nothing(task.queries[number % len(task.queries)], task.k)
        times.append(clock() - sent)
    return sorted(times)[_FLOOR // 2]


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
    exact_parameters: ParameterValues | None
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
