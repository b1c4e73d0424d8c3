"""Every query at every setting, several rounds: who is asked when, what was answered, and when to
stop.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.similarity import Metric, score_pairs
from rankwell.data.code import code_files
from rankwell.data.columns import NOTHING, refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.options import NamedProgress
from rankwell.data.tables import Floats, grouped
from rankwell.engines import EngineFamily
from rankwell.errors import (
    BadInput,
    BadUsage,
    RankwellError,
    Unfinished,
    count_of,
    first_of,
    flag,
    sentence,
)
from rankwell.io.formats import read_ranking
from rankwell.io.line_files import append_rows, rows_in
from rankwell.processes import interrupts_held
from rankwell.store import Source
from rankwell.tasks.engine.findings import exact_lists_tied, other_items
from rankwell.tasks.engine.inputs import (
    MANY_REQUESTS,
    EngineSettings,
    RetrieveInputs,
    check_load,
    chosen_family,
    filter_option,
    given_parameters,
    read_settings,
)
from rankwell.tasks.engine.loops import (
    MOST_CLIENTS,
    BatchReport,
    EngineTask,
    EngineTraits,
    Host,
    LocalHost,
    ProcessHost,
    RequestBatch,
    SentRequest,
    ask_together,
    not_asked,
)
from rankwell.tasks.engine.options import EngineOptions
from rankwell.vectors.neighbours import search

Failure = RankwellError | OSError
IN_FLIGHT = 64
NAME = "asked.jsonl"
"""The file with the requests that were sent already, one line for each batch, so that a call that
failed goes on where it ended.
"""


class EngineFailed(RankwellError):
    """Queries failed, so that there is no figure; the message names them."""


class SentBatch(NamedTuple):
    """The requests of one setting in one round.

    setting: number of the setting.
    round: number of the round, from 1.
    requests: one request for each query, with the last outcome.
    reports: costs of the requests, one for each host and call.
    calls: number of calls that sent them; more than one after an interruption.
    """

    setting: int
    round: int
    requests: list[SentRequest]
    reports: list[BatchReport]
    calls: int = 1

    @property
    def unanswered_queries(self) -> set[int]:
        """The queries without an answer."""
        answered = {request.query for request in self.requests if request.status == "ok"}
        return {request.query for request in self.requests} - answered


class Journal:
    """The batches of a call, in a file and in memory.

    file: the file that keeps them; None for memory alone.
    key: everything that decides the requests; a file with another key is not read.
    batches: (setting, round) -> its batch.
    """

    def __init__(self, file: Path | None = None, key: str = "") -> None:
        self._file, self._key = file, key
        self.batches = {} if file is None else _read(file, key)
        self._is_kept = bool(self.batches)

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch with what is known of it: answers replace failures."""
        earlier = self.batches.get((batch.setting, batch.round))
        if earlier is not None:
            again = {request.query for request in batch.requests}
            requests = [request for request in earlier.requests if request.query not in again]
            batch = batch._replace(
                requests=[*requests, *batch.requests],
                reports=[*earlier.reports, *batch.reports],
                calls=earlier.calls + 1,
            )
        self.batches[batch.setting, batch.round] = batch
        if self._file is not None:
            if not self._is_kept:
                self._file.unlink(missing_ok=True)
            head = [] if self._is_kept else [{"key": self._key}]
            append_rows(self._file, [*head, batch._asdict()])
            self._is_kept = True

    def remove(self) -> None:
        """Removes the file: its figures are in the results."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


class JoinedJournal(Journal):
    """The journals of several calls as one.

    places: for each setting of all calls its journal, and its number in that journal.
    """

    def __init__(self, places: Sequence[tuple[Journal, int]]) -> None:
        super().__init__()
        self._places = places
        for number, (journal, own_number) in enumerate(places):
            for (setting, round_), batch in journal.batches.items():
                if setting == own_number:
                    self.batches[number, round_] = batch._replace(setting=number)

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch in the journal of its setting, too."""
        journal, own_number = self._places[batch.setting]
        journal.add(batch._replace(setting=own_number))
        super().add(batch)


def _read(file: Path, key: str) -> dict[tuple[int, int], SentBatch]:
    """The batches of a file with the key; none of any other file."""
    batches: dict[tuple[int, int], SentBatch] = {}
    with suppress(OSError, BadInput, ValueError, TypeError):
        (_, head), *rows = rows_in(file)[0]
        if head != {"key": key}:
            return {}
        for _, row in rows:
            batch = SentBatch(**row)
            batches[batch.setting, batch.round] = batch._replace(
                requests=[SentRequest(*request) for request in batch.requests],
                reports=[BatchReport(*report) for report in batch.reports],
            )
    return batches


@dataclass(frozen=True, eq=False)
class Measurement:
    """All requests to an engine with their outcomes.

    engine: the engine as the user names it.
    family: the kind of engine, with its parameters.
    settings: the fixed parameters and those that vary.
    traits: traits of the opened engine.
    inputs: the items and queries.
    options: the user's choices.
    journal: the requests of every setting and round.
    exact_lists: query -> the list of the engine's exact mode; empty where other exact results are
        used.
    """

    engine: str
    family: EngineFamily
    settings: EngineSettings
    traits: EngineTraits
    inputs: RetrieveInputs
    options: EngineOptions
    journal: Journal
    exact_lists: Mapping[int, Sequence[str]]

    @property
    def batches(self) -> Mapping[tuple[int, int], SentBatch]:
        """The requests of every setting and round."""
        return self.journal.batches

    @property
    def rounds(self) -> range:
        """The rounds, from 1."""
        return range(1, self.options.rounds + 1)

    @property
    def is_open_loop(self) -> bool:
        """Whether requests were sent at moments of their own."""
        return self.options.rate is not None

    @cached_property
    def by_setting(self) -> "list[AskedSetting]":
        """The requests of each setting."""
        return [AskedSetting(self, number) for number in range(len(self.settings.settings))]

    @cached_property
    def failures(self) -> list[tuple[int, int, SentRequest]]:
        """The requests without an answer: setting, round, request."""
        return [
            (setting, number, request)
            for (setting, number), batch in sorted(self.batches.items())
            for request in batch.requests
            if request.status != "ok"
        ]


class AskedSetting:
    """The requests of a setting. Methods read all rounds where none are named.

    measured: all requests to the engine.
    number: number of the setting.
    setting: the parameters of the setting.
    name: name of its run.
    """

    def __init__(self, measured: Measurement, number: int) -> None:
        self.measured, self.number = measured, number
        self.setting = measured.settings.settings[number]
        self.name = " ".join(filter(None, (measured.traits.name, self.setting.name)))

    def batches(self, rounds: range | None = None) -> list[SentBatch]:
        """The requests of each round."""
        rounds = self.measured.rounds if rounds is None else rounds
        return [self.measured.batches[self.number, number] for number in rounds]

    def reports(self, rounds: range | None = None) -> list[BatchReport]:
        """The reports of all batches."""
        return [report for batch in self.batches(rounds) for report in batch.reports]

    @property
    def described(self) -> Mapping[str, Any]:
        """The last description of its session."""
        reports = self.reports()
        return reports[-1].described if reports else {}

    def times(self, rounds: range | None = None, *, encoding: bool = False) -> Floats:
        """The seconds of the answered requests, (rounds, queries), NaN for none; of an open loop
        from the planned moment. encoding: those in which the texts of queries were encoded instead.
        """
        batches = self.batches(rounds)
        seconds = np.full((len(batches), len(self.measured.inputs.queries.ids)), np.nan)
        for row, batch in enumerate(batches):
            for request in batch.requests:
                time = request.encoding if encoding else request.seconds
                if time is not None:
                    seconds[row, request.query] = time
        return seconds

    @cached_property
    def answers(self) -> dict[int, SentRequest]:
        """The first answer of every query."""
        answers: dict[int, SentRequest] = {}
        for batch in self.batches():
            for request in batch.requests:
                if request.status == "ok":
                    answers.setdefault(request.query, request)
        return answers

    def differing(self) -> int:
        """Number of queries whose lists differ between rounds."""
        return len(
            {
                request.query
                for batch in self.batches()
                for request in batch.requests
                if request.status == "ok"
                and list(request.ids) != list(self.answers[request.query].ids)
            }
        )


@dataclass(eq=False)
class EngineWork:
    """An engine that is to answer every query at each of its settings.

    engine: the engine as the user names it, or a Python object.
    inputs: the items and queries.
    options: the user's choices.
    family: the kind of engine, with its parameters.
    settings: the fixed parameters and those that vary.
    journal: the requests so far, including those of an interrupted call.
    hosts: the hosts of the engine; empty until it is opened.
    done: number of finished rounds of settings.
    error: the reason why no more requests can be sent; None while they can.
    """

    engine: Any
    inputs: RetrieveInputs
    options: EngineOptions
    family: EngineFamily
    settings: EngineSettings
    journal: Journal = field(default_factory=Journal)
    hosts: list[Host] = field(default_factory=list[Host])
    done: int = 0
    error: Failure | None = None
    _traits: EngineTraits | None = None

    @property
    def label(self) -> str:
        """The engine as the user names it."""
        engine = self.engine
        if isinstance(engine, str):
            return engine
        return getattr(engine, "__name__", type(engine).__name__)

    @property
    def parts(self) -> int:
        """Number of rounds of all settings."""
        return len(self.settings.settings) * self.options.rounds

    def check(self) -> None:
        """Raises BadUsage for more requests than allowed, and for a load on another machine without
        permission.
        """
        options = self.options
        requests, clients = self.parts * len(self.inputs.queries.ids), options.clients or 1
        if requests > options.max_requests:
            raise BadUsage(
                f"{requests:,} requests are more than {flag('--max-requests')} "
                f"{options.max_requests:,}; ask fewer, or allow them."
            )
        reason = None
        if options.rate is not None:
            reason = f"{flag('--rate')} {options.rate:g}"
        elif clients > 1:
            reason = flag("--clients", clients)
        elif requests > MANY_REQUESTS:
            reason = f"{requests:,} requests"
        if reason is not None:
            check_load(self.engine, self.settings.fixed, reason, options.allow_load)

    def open(self) -> None:
        """Opens the engine and indexes; an engine in process once for each client of a closed
        loop.
        """
        options = self.options
        task = EngineTask(
            self.engine,
            self.settings,
            self.inputs.indexed(),
            self.inputs.listed,
            options.depth,
            options.request_timeout,
            options.retries,
            options.server_pid,
            options.encoder,
        )
        # A process for an engine that is named by a text; Python objects stay in this one.
        host = ProcessHost(task) if isinstance(self.engine, str) else LocalHost(task)
        self.hosts.append(host)
        self._traits = host.open()
        if self._traits.in_process and options.rate is None and isinstance(host, ProcessHost):
            for _ in range((options.clients or 1) - 1):
                self.hosts.append(ProcessHost(task))
                self.hosts[-1].open()

    def round(self, number: int) -> Iterator[None]:
        """Asks every query at every setting once, in an order of its own, and stops after each
        setting.
        """
        draw = np.random.Generator(np.random.PCG64([self.options.seed, number]))
        for setting in draw.permutation(len(self.settings.settings)).tolist():
            queries = draw.permutation(len(self.inputs.queries.ids)).tolist()
            if (batch := self.journal.batches.get((setting, number))) is not None:
                unanswered_queries = batch.unanswered_queries
                queries = [query for query in queries if query in unanswered_queries]
            if queries:
                self._ask(setting, number, queries)
                self._refuse_failures()
            self.done += 1
            yield

    def _ask(self, setting: int, number: int, queries: Sequence[int]) -> None:
        """One round of one setting, by all hosts at once."""
        options, answers, lock = self.options, list[SentRequest](), threading.Lock()

        def _emit(requests: Sequence[SentRequest]) -> None:
            with lock:
                answers.extend(requests)

        asked_queries = set(queries)
        warm_up = sorted(
            range(max(queries) + 1), key=lambda query: (query in asked_queries, query)
        )[: options.warm_up]
        n, moments, clients = len(self.hosts), None, options.clients or 1
        if options.rate is not None:
            draw = np.random.Generator(np.random.PCG64([options.seed, setting, number, 1]))
            moments = np.cumsum(draw.exponential(1 / options.rate, len(queries))).tolist()
            clients = options.clients or IN_FLIGHT
        batch = RequestBatch(
            self.settings.settings[setting].build,
            self.settings.settings[setting].search,
            queries,
            warm_up,
            moments,
            clients if n == 1 else 1,
        )
        batches = [batch._replace(queries=queries[host::n]) for host in range(n)]
        # A request without end in this process would hold an interruption, too.
        is_local, is_kept = isinstance(self.hosts[0], LocalHost), False
        try:
            with nullcontext() if is_local else interrupts_held():
                reports = ask_together(self.hosts, batches, _emit)
                self.journal.add(SentBatch(setting, number, answers, reports))
                is_kept = True
        except BaseException as error:
            if not is_kept:
                # The answers so far are kept, so that the same call asks the rest alone.
                answered = {request.query for request in answers}
                unanswered = [query for query in queries if query not in answered]
                why = str(error) or "the call was interrupted"
                requests = [*answers, *not_asked(unanswered, why)]
                self.journal.add(SentBatch(setting, number, requests, []))
            raise

    def _refuse_failures(self) -> None:
        """Raises EngineFailed for more failed queries than allowed, and Unfinished for queries that
        the time was too short for.
        """
        requests = [
            (setting, request)
            for (setting, _), batch in sorted(self.journal.batches.items())
            for request in batch.requests
        ]
        failed = [
            (setting, request)
            for setting, request in requests
            if request.status in ("failed", "timeout")
        ]
        left = [request for _, request in requests if request.status == "not_asked"]
        if len(failed) <= self.options.allow_failures:
            if left:
                count = count_of(len(left), "query was", "queries were")
                raise Unfinished(f"{count} not asked: {left[0].error}; call again for the rest.")
            return
        ids = list(dict.fromkeys(self.inputs.queries.ids[request.query] for _, request in failed))
        examples = first_of(map(repr, ids))
        setting, first = failed[0]
        name = self.settings.settings[setting].name
        remainder = f"; {count_of(len(left), 'was', 'were')} not asked" if left else ""
        raise EngineFailed(
            f"{count_of(len(failed), 'query', 'queries')} failed{f' at {name}' if name else ''}: "
            f"{examples}{remainder}. The first: {sentence(first.error)} "
            f"No figure is given; with -o the same call asks only the rest, {flag('--retries')} "
            f"asks again, {flag('--allow-failures')} counts them as empty."
        )

    def measurement(self) -> Measurement:
        """Everything that was asked."""
        assert self._traits is not None  # noqa: S101 - it is open
        return Measurement(
            self.label,
            self.family,
            self.settings,
            self._traits,
            self.inputs,
            self.options,
            self.journal,
            self._exact(self._traits),
        )

    def _exact(self, traits: EngineTraits) -> dict[int, Sequence[str]]:
        """The lists of the engine's exact mode, where they are the truth. Raises BadUsage where it
        has none, BadInput for gaps.
        """
        if self.options.truth_word != "engine":
            return {}
        if traits.exact_parameters is None:
            raise BadUsage(
                f"{flag('--truth', 'engine')}: {traits.name} has no exact mode; give "
                f"{flag('--item-vectors')}, or a run of `rankwell knn`."
            )
        ids, answers = self.inputs.queries.ids, list[SentRequest]()
        self.hosts[0].ask(
            RequestBatch(0, traits.exact_parameters, range(len(ids)), ()), answers.extend
        )
        for request in answers:
            if request.status != "ok":
                raise BadInput(
                    f"the exact results of query {ids[request.query]!r} are missing: "
                    f"{request.error}"
                )
        return {request.query: request.ids for request in answers}

    def close(self) -> None:
        """Ends the hosts."""
        for host in self.hosts:
            host.close()


def plan_work(
    engine: Any, inputs: RetrieveInputs, options: EngineOptions, folder: Path | None
) -> EngineWork:
    """The work on an engine, of which nothing is done yet. Raises BadUsage, UnknownName for what
    cannot be asked.

    folder: where a call that was interrupted goes on.
    """
    check_options(options)
    family, parameters = chosen_family(engine, options), given_parameters(options)
    has_texts, has_vectors = inputs.queries.texts is not None, inputs.queries.vectors is not None
    # A Python object gets the only kind of queries that there is.
    if family.name == "object" and (has_texts != has_vectors or options.encoder is not None):
        parameters.setdefault("takes", "vector" if has_vectors else "text")
    settings = read_settings(family, parameters, options.sweep)
    work = EngineWork(engine, inputs, options, family, settings)
    work.check()
    if folder is not None:
        work.journal = Journal(folder / NAME, _key(work))
    return work


def join_works(works: Sequence[EngineWork]) -> EngineWork:
    """The works of calls that differ in their sweeps alone as one, with one index for each build;
    their journals have all that is asked.
    """
    first = works[0]
    settings = [setting.values for work in works for setting in work.settings.settings]
    journals = [
        (work.journal, number) for work in works for number in range(len(work.settings.settings))
    ]
    return replace(
        first,
        settings=EngineSettings.of(first.family, first.settings.fixed, settings),
        journal=JoinedJournal(journals),
        hosts=[],
    )


def ask_all(
    works: Sequence[EngineWork], progress: NamedProgress | None
) -> list[Measurement | Failure]:
    """Opens all engines, asks them, and closes them: what was asked of each, or the error by which
    it failed.

    EngineFailed where more queries failed than allowed, Unfinished where the time of the call is
    up.
    """
    outcomes: list[Measurement | Failure] = []
    try:
        for work in works:
            try:
                work.check()
                work.open()
            except (RankwellError, OSError) as error:
                work.error = error
        ask_rounds([work for work in works if work.error is None], progress)
        for work in works:
            try:
                outcomes.append(work.error or work.measurement())
            except (RankwellError, OSError) as error:
                outcomes.append(error)
        return outcomes
    finally:
        for work in works:
            with suppress(RankwellError, OSError):
                work.close()


def ask_rounds(works: Sequence[EngineWork], progress: NamedProgress | None = None) -> None:
    """All rounds, interleaved over the settings of all engines; an engine ends early by its
    `error`.
    """
    done, total = 0, sum(work.parts for work in works)
    for number in range(1, max((work.options.rounds for work in works), default=0) + 1):
        rounds = [work.round(number) for work in works]
        turns = np.repeat(
            np.arange(len(works)),
            [len(work.settings.settings) * (number <= work.options.rounds) for work in works],
        )
        draw = np.random.Generator(np.random.PCG64([number, len(works)]))
        for turn in draw.permutation(turns).tolist():
            try:
                if works[turn].error is None:
                    next(rounds[turn])
            except RankwellError as error:
                works[turn].error = error
            done += 1
            if progress is not None:
                progress("ask", done, total)


def check_options(options: EngineOptions) -> None:
    """Raises BadUsage for numbers that cannot be."""
    least = {
        "depth": 1,
        "rounds": 1,
        "warm_up": 0,
        "clients": 1,
        "retries": 0,
        "allow_failures": 0,
        "max_requests": 1,
    }
    for name, bound in least.items():
        value = getattr(options, name)
        if value is not None and value < bound:
            raise BadUsage(f"{flag(name, value)}: expected an integer from {bound}.")
    for name in ("request_timeout", "rate"):
        value = getattr(options, name)
        if value is not None and not 0 < value < float("inf"):
            raise BadUsage(f"{flag(name, value)}: expected a positive number.")
    if options.clients is not None and options.clients > MOST_CLIENTS:
        raise BadUsage(f"{flag('--clients', options.clients)}: expected at most {MOST_CLIENTS}.")
    if options.recall is not None and not 0 < options.recall < 1:
        raise BadUsage(
            f"{flag('--recall', options.recall)}: expected a number between 0 and 1, such as 0.95."
        )


def _key(work: EngineWork) -> str:
    """The digest of everything that decides which requests are sent; secrets are in it by their
    names alone.
    """
    inputs, settings = work.inputs, work.settings
    names = ("depth", "rounds", "seed", "clients", "rate", "filters", "encoder")
    digests = [None if inputs.items is None else inputs.items.digest(), inputs.queries.digest()]
    for text in (work.engine, work.options.encoder):
        if isinstance(text, str):
            files = [Path(text)] if text.endswith(".toml") else code_files(text)
            digests += [Source(file).digest() for file in files]
    content = [
        work.label,
        settings.fixed,
        settings.settings,
        settings.builds,
        {name: getattr(work.options, name) for name in names},
        digests,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


_FEW = 0.01
"""The share of unknown ids above which there is a finding."""


class ExactList(NamedTuple):
    """The exact results of a query.

    items: the first k items; fewer where a filter admits fewer.
    tied: other items with the score of the last, where the exact results come from a run.
    least: score of the last item, where scores of other items can be computed; None elsewhere.
    """

    items: tuple[str, ...]
    tied: frozenset[str] = frozenset()
    least: float | None = None


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact results of every query.

    source: the origin of the exact results, for findings and rules.
    lists: (queries,) exact results of each query.
    scorer: function that returns the scores of items for a query, -inf for an item that cannot be a
        result; None where unknown.
    run_items: ids of all results of a run, also beyond k; empty for other sources.
    findings: findings of the reader of a run.
    """

    source: str
    lists: Sequence[ExactList]
    scorer: Callable[[int, Sequence[str]], Floats] | None = None
    run_items: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def recalls(self, lists: Mapping[int, Sequence[str]]) -> dict[str, Floats]:
        """The shares of the exact results that the lists have, (queries,), by `distance` and by
        `ids`; NaN for a query without any.
        """
        by_distance, by_ids = (np.full(len(self.lists), np.nan) for _ in range(2))
        for query, exact in enumerate(self.lists):
            if exact.items:
                returned = dict.fromkeys(lists.get(query, ()))
                other_items = [item for item in returned if item not in exact.items]
                hits, most = len(returned) - len(other_items), len(exact.items)
                by_ids[query] = min(hits, most) / most
                by_distance[query] = min(hits + self._tied(query, exact, other_items), most) / most
        return {"distance": by_distance, "ids": by_ids}

    def _tied(self, query: int, exact: ExactList, other_items: Sequence[str]) -> int:
        """Number of other items that are as near as the last of the exact results."""
        if self.scorer is None or exact.least is None:
            return sum(item in exact.tied for item in other_items)
        return int(np.count_nonzero(self.scorer(query, other_items) >= exact.least))


def check_truth(options: EngineOptions) -> None:
    """Raises BadUsage for columns of a run where no run is the truth."""
    if options.truth is None or options.truth_word:
        refuse_unused_columns(options.columns, "run", f"a run as {flag('--truth')}")


def read_truth(measured: Measurement) -> Truth | None:
    """The exact results that a call names, or those of its vectors; None where there are none."""
    inputs, options, traits = measured.inputs, measured.options, measured.traits
    if options.truth_word == "none":
        return None
    if options.truth_word == "engine":
        lists = [
            ExactList(tuple(measured.exact_lists[query]))
            for query in range(len(inputs.queries.ids))
        ]
        _check_length(lists, inputs, options.depth, "the engine's exact mode")
        return Truth("the engine's exact mode", lists)
    if options.truth is not None:
        return _from_run(options.truth, inputs, options)
    has_vectors = (
        inputs.queries.vectors is not None
        and inputs.items is not None
        and inputs.items.vectors is not None
    )
    # An object has no metric. Vectors that an encoder made are not the user's wish for exact
    # results.
    unknown = traits.metric is None and options.item_vectors is None
    if traits.kind != "vector" or not has_vectors or unknown:
        if options.recall is not None:
            raise BadUsage(
                f"{flag('--recall')} needs exact results: give {flag('--item-vectors')} and "
                f"{flag('--query-vectors')}, or {flag('--truth')}."
            )
        return None
    if traits.metric is None:
        raise BadUsage(
            f"{traits.name} does not state its metric; give {flag('--truth')}, a run of "
            "`rankwell knn --metric …`, or none."
        )
    return _from_vectors(inputs, options.depth, traits.metric)  # pyright: ignore[reportArgumentType]


def _from_vectors(inputs: RetrieveInputs, k: int, metric: Metric) -> Truth:
    """The nearest vectors, among the items that a query's filter admits."""
    queries, items = inputs.queries, inputs.items
    assert items is not None  # noqa: S101 - the caller has looked
    query_vectors, item_vectors = np.asarray(queries.vectors), np.asarray(items.vectors)
    columns = [
        np.array(items.column(field, filter_option(field)), dtype=object)
        for field in inputs.filters
    ]
    groups = grouped(
        (tuple(values[query] for values in inputs.filters.values()), query)
        for query in range(len(queries.ids))
    )
    lists: dict[int, ExactList] = {}
    rows_of_query: dict[int, Mapping[str, int]] = {}
    for values, group_queries in groups.items():
        is_admitted = np.ones(len(items.ids), dtype=np.bool_)
        for column, value in zip(columns, values, strict=True):
            is_admitted &= column == value
        rows = np.flatnonzero(is_admitted)
        row_of_item = {items.ids[row]: row for row in map(int, rows)}
        for query in group_queries:
            rows_of_query[query] = row_of_item
        if not len(rows):
            lists |= dict.fromkeys(group_queries, ExactList(()))
            continue
        neighbours = search(query_vectors[group_queries], item_vectors[rows], k=k, metric=metric)
        for query, positions, scores in zip(
            group_queries, neighbours.positions, neighbours.scores, strict=True
        ):
            nearest = positions[positions >= 0]
            names = tuple(items.ids[row] for row in map(int, rows[nearest]))
            lists[query] = ExactList(names, least=float(scores[len(names) - 1]))

    def _scores(query: int, names: Sequence[str]) -> Floats:
        rows = rows_of_query[query]
        scores = np.full(len(names), -np.inf)
        known_places = [position for position, field in enumerate(names) if field in rows]
        if known_places:
            item_rows = np.array([rows[names[position]] for position in known_places])
            query_rows = np.full(len(item_rows), query)
            scores[known_places] = score_pairs(
                query_vectors, item_vectors, query_rows, item_rows, metric
            )
        return scores

    ordered = [lists[query] for query in range(len(queries.ids))]
    return Truth(f"exact search, {metric}", ordered, _scores)


def _from_run(run: Any, inputs: RetrieveInputs, options: EngineOptions) -> Truth:
    """The first k of a run, by its scores; items tied with the last of them count as well."""
    findings, k = list[Finding](), options.depth
    ranking = read_ranking(run, columns=options.columns, findings=findings)
    lists, n_cut = list[ExactList](), 0
    for query in inputs.queries.ids:
        query_rows = ranking.rows_of(query)
        items, scores = list(ranking.items[query_rows]), ranking.scores[query_rows]
        if NOTHING in items:
            raise BadInput(
                f"{run}: query {query!r} has the item {NOTHING}, which stands for none; "
                "search for fewer items."
            )
        order = np.argsort(-scores, kind="stable").tolist()
        least = float(scores[order[k - 1]]) if len(order) >= k else None
        tied = frozenset(
            items[row] for row in order[k:] if least is not None and scores[row] == least
        )
        n_cut += len(order) == k > 1 and scores[order[-2]] == least
        lists.append(ExactList(tuple(items[row] for row in order[:k]), tied))
    if n_cut:
        findings.append(exact_lists_tied(str(run), n_cut, k))
    _check_length(lists, inputs, k, str(run))
    return Truth(str(run), lists, run_items=frozenset(ranking.items), findings=tuple(findings))


def findings_on_ids(
    truth: Truth, lists: Sequence[Mapping[int, Sequence[str]]], measured: Measurement
) -> Iterator[Finding]:
    """The findings on ids that the exact results do not know, and on an index of another number of
    items.

    lists: by setting those of every query. Raises BadInput where the engine's ids and those of the
    exact results never meet.
    """
    items, name = measured.inputs.items, measured.traits.name
    if measured.options.truth_word == "engine":
        return
    exact_items = truth.run_items if items is None else frozenset(items.ids)
    returned = dict.fromkeys(
        item for setting in lists for items_of_query in setting.values() for item in items_of_query
    )
    unknown = [item for item in returned if item not in exact_items]
    if returned and len(unknown) == len(returned):
        first = (exact.items[0] for exact in truth.lists if exact.items)
        example = next(first, next(iter(exact_items), None))
        correction = "them with the engine's ids"
        if items is not None and items.texts is None:
            correction = (
                f"{flag('--documents')} with the ids of the rows of {flag('--item-vectors')}"
            )
        raise BadInput(
            f"{name} returned no item of the exact results ({truth.source}): it returned "
            f"{unknown[0]!r}, they have {example!r}. Give {correction}, or "
            f"{flag('--truth', 'none')}."
        )
    if items is None:
        # A run holds the nearest items alone, so that an item beyond them is only wrong.
        return
    if len(unknown) > _FEW * len(returned):
        yield other_items(
            name,
            f"{len(unknown)} of the {len(returned)} items that it returned are unknown to the "
            f"exact results, such as {unknown[0]!r}; each of them lowers the recall",
        )
    for number in dict.fromkeys(index.get("items") for index in measured.traits.described):
        if isinstance(number, int) and number != len(items.ids):
            yield other_items(
                name,
                f"it has {number:,} items, the exact results are those of {len(items.ids):,}; the "
                "recall compares both",
            )


def _check_length(lists: Sequence[ExactList], inputs: RetrieveInputs, k: int, source: str) -> None:
    """Raises BadInput where a query has fewer exact results than there can be."""
    most = k if inputs.items is None else min(k, len(inputs.items.ids))
    for query, exact in zip(inputs.queries.ids, lists, strict=True):
        if len(exact.items) < most and not inputs.filters:
            raise BadInput(
                f"{source}: query {query!r} has {len(exact.items)} exact results for k = {k}; "
                f"expected {most}: search for at least as many, over all queries."
            )
