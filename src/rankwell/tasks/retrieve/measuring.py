"""Every query at every setting, several rounds: who is asked when, what was answered, and when to
stop.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.data.code import code_files
from rankwell.data.tables import Floats
from rankwell.engines import EngineFamily, EngineItems, family_of
from rankwell.errors import BadInput, BadUsage, RankwellError, Unfinished, count_of, flag, sentence
from rankwell.processes import interrupts_held
from rankwell.store import Source
from rankwell.tasks.retrieve.addresses import MANY_REQUESTS, check_load
from rankwell.tasks.retrieve.hosts import (
    MOST_CLIENTS,
    EngineTraits,
    Host,
    LocalHost,
    ProcessHost,
    Task,
    ask_together,
)
from rankwell.tasks.retrieve.inputs import RetrieveInputs
from rankwell.tasks.retrieve.journal import NAME, Journal, SentBatch
from rankwell.tasks.retrieve.loops import BatchReport, RequestBatch, SentRequest, Terms, clock
from rankwell.tasks.retrieve.options import RetrieveOptions
from rankwell.tasks.retrieve.settings import (
    EngineSettings,
    Setting,
    chosen_family,
    given_parameters,
    read_settings,
)

Progress = Callable[[str, int, int], None]
IN_FLIGHT = 64
_NAMED = 5


class EngineFailed(RankwellError):
    """Queries failed, so that there is no figure; the message names them."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Everything that was asked. batches: of every setting and round. is_server_known: whether its
    processor time is.
    """

    settings: EngineSettings
    traits: EngineTraits
    inputs: RetrieveInputs
    options: RetrieveOptions
    batches: Mapping[tuple[int, int], SentBatch]
    engine: str
    family: EngineFamily
    resumed: bool = False
    exact: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])

    @property
    def rounds(self) -> range:
        """The rounds, from 1."""
        return range(1, self.options.rounds + 1)

    @property
    def is_open_loop(self) -> bool:
        """Whether requests were sent at moments of their own."""
        return self.options.rate is not None

    def of(self, setting: int, rounds: Sequence[int]) -> list[SentRequest]:
        """The requests of a setting in some rounds."""
        return [request for number in rounds for request in self.batches[setting, number].requests]

    def reports(self, setting: int, rounds: Sequence[int]) -> list[BatchReport]:
        """The reports of a setting in some rounds."""
        return [report for number in rounds for report in self.batches[setting, number].reports]

    def times(self, setting: int, rounds: Sequence[int], *, encoding: bool = False) -> Floats:
        """(rounds, queries) seconds of the answered requests, NaN for none; of an open loop from
        the planned moment. encoding: those in which the texts of queries were encoded instead.
        """
        seconds = np.full((len(rounds), len(self.inputs.queries.ids)), np.nan)
        for row, number in enumerate(rounds):
            for request in self.batches[setting, number].requests:
                time = request.encoding if encoding else request.seconds
                if time is not None:
                    seconds[row, request.query] = time
        return seconds

    @cached_property
    def failures(self) -> list[tuple[int, int, SentRequest]]:
        """The requests without an answer: setting, round, request."""
        return [
            (setting, number, request)
            for (setting, number), batch in sorted(self.batches.items())
            for request in batch.requests
            if request.status != "ok"
        ]

    def lists(self, setting: int) -> dict[int, SentRequest]:
        """The first answer of every query at a setting."""
        answers: dict[int, SentRequest] = {}
        for request in self.of(setting, self.rounds):
            if request.status == "ok":
                answers.setdefault(request.query, request)
        return answers

    def differing(self, setting: int) -> int:
        """Number of queries whose lists differ between rounds."""
        first, differing = self.lists(setting), set[int]()
        for request in self.of(setting, self.rounds):
            if request.status == "ok" and list(request.ids) != list(first[request.query].ids):
                differing.add(request.query)
        return len(differing)


@dataclass(eq=False)
class EngineWork:
    """An engine that is to be asked every query at its settings. hosts: those that hold it.
    seconds: spent on asking so far.
    """

    engine: Any
    inputs: RetrieveInputs
    options: RetrieveOptions
    settings: EngineSettings
    journal: Journal
    hosts: list[Host] = field(default_factory=list[Host])
    seconds: float = 0.0
    done: int = 0
    _traits: EngineTraits | None = None

    @property
    def parts(self) -> int:
        """Number of rounds of all settings."""
        return len(self.settings.settings) * self.options.rounds

    def open(self) -> None:
        """Opens the engine and indexes; an engine in process once for each client of a closed
        loop.
        """
        options = self.options
        terms = Terms(
            k=options.k,
            timeout=options.timeout,
            retries=options.retries,
            server_pid=options.server_pid,
            encoder=options.encoder,
        )
        task = Task(
            self.engine,
            self.settings.fixed,
            self.settings.builds,
            self.inputs.indexed(),
            self.inputs.listed,
            terms,
        )
        self.hosts.append(_host(task))
        self._traits = self.hosts[0].open()
        if (
            self._traits.in_process
            and options.rate is None
            and isinstance(self.hosts[0], ProcessHost)
        ):
            for _ in range((options.clients or 1) - 1):
                self.hosts.append(ProcessHost(task))
                self.hosts[-1].open()

    def round(self, number: int) -> Iterator[None]:
        """Asks every query at every setting once, in an order of its own, and stops after each
        setting.
        """
        draw = np.random.Generator(np.random.PCG64([self.options.seed, number]))
        for setting in draw.permutation(len(self.settings.settings)).tolist():
            order, batch = (
                draw.permutation(len(self.inputs.queries.ids)).tolist(),
                self.journal.batches.get((setting, number)),
            )
            open_queries = (
                order if batch is None else [query for query in order if query in batch.open]
            )
            if open_queries:
                left = self.options.most_seconds - self.seconds
                if left <= 0:
                    over = f"{flag('--most-seconds')} {self.options.most_seconds:g} are over"
                    raise Unfinished(f"{over} after {self.done} of {self.parts} parts; call again.")
                started = clock()
                _ask_one(
                    self.hosts,
                    self.settings.settings[setting],
                    (setting, number),
                    open_queries,
                    self.options,
                    self.journal,
                    left,
                )
                self.seconds += clock() - started
                _refuse_failures(self.journal, self.inputs, self.settings.settings, self.options)
            self.done += 1
            yield

    def measurement(self) -> Measurement:
        """Everything that was asked."""
        assert self._traits is not None  # noqa: S101 - it is open
        return Measurement(
            self.settings,
            self._traits,
            self.inputs,
            self.options,
            self.journal.batches,
            _label(self.engine),
            family_of(self.engine, self.settings.fixed),
            self.journal.resumed,
            _exact(self.hosts[0], self._traits, self.inputs, self.options),
        )

    def close(self) -> None:
        """Ends the hosts."""
        for host in self.hosts:
            host.close()


def measure(
    engine: Any,
    inputs: RetrieveInputs,
    options: RetrieveOptions,
    folder: Path | None,
    progress: Progress | None = None,
) -> tuple[Measurement, Journal]:
    """Asks every query at every setting in every round; in a folder it goes on with what was asked
    there before.

    Raises EngineFailed where more queries failed than allowed, Unfinished where the time of the
    call is up.
    """
    work = plan_work(engine, inputs, options, folder)
    try:
        work.open()
        (error,) = ask_rounds([work], progress)
        if error is not None:
            raise error
        return work.measurement(), work.journal
    finally:
        work.close()


def plan_work(
    engine: Any, inputs: RetrieveInputs, options: RetrieveOptions, folder: Path | None
) -> EngineWork:
    """The work on an engine, of which nothing is done yet. Raises BadUsage, UnknownName for what
    cannot be asked.
    """
    check_options(options)
    settings = read_settings(
        chosen_family(engine, options), _parameters(engine, inputs, options), options.sweep
    )
    check_requests(engine, settings, inputs, options)
    journal = Journal(
        None if folder is None else folder / NAME,
        _key(engine, settings, inputs, inputs.indexed(), options),
    )
    return EngineWork(engine, inputs, options, settings, journal)


def check_requests(
    engine: Any, settings: EngineSettings, inputs: RetrieveInputs, options: RetrieveOptions
) -> None:
    """Raises BadUsage for more requests than allowed, and for a load on another machine without
    permission.
    """
    requests = len(settings.settings) * options.rounds * len(inputs.queries.ids)
    if requests > options.most_requests:
        raise BadUsage(
            f"{requests:,} requests are more than {flag('--most-requests')} "
            f"{options.most_requests:,}; ask fewer, or allow them."
        )
    loads = {
        f"{flag('--rate')} {options.rate or 0:g}": options.rate is not None,
        flag("--clients", options.clients or 1): (options.clients or 1) > 1,
        f"{requests:,} requests": requests > MANY_REQUESTS,
    }
    reason = next((name for name, holds in loads.items() if holds), None)
    if reason is not None:
        check_load(engine, settings.fixed, reason, options.allow_load)


def ask_rounds(
    works: Sequence[EngineWork], progress: Progress | None = None
) -> list[RankwellError | None]:
    """All rounds, interleaved over the settings of all engines; the error by which each engine
    ended early, None for none.
    """
    errors: list[RankwellError | None] = [None] * len(works)
    done, total = 0, sum(work.parts for work in works)
    for number in range(1, max((work.options.rounds for work in works), default=0) + 1):
        rounds = [work.round(number) for work in works]
        turns = np.repeat(
            np.arange(len(works)),
            [len(work.settings.settings) * (number <= work.options.rounds) for work in works],
        )
        for work in (
            np.random.Generator(np.random.PCG64([number, len(works)])).permutation(turns).tolist()
        ):
            try:
                if errors[work] is None:
                    next(rounds[work])
            except RankwellError as error:
                errors[work] = error
            done += 1
            if progress is not None:
                progress("ask", done, total)
    return errors


def _parameters(engine: Any, inputs: RetrieveInputs, options: RetrieveOptions) -> dict[str, Any]:
    """The fixed parameters of --option, --build and --url; a Python object gets the only kind of
    queries that there is.
    """
    parameters = given_parameters(options)
    has_texts, has_vectors = inputs.queries.texts is not None, inputs.queries.vectors is not None
    if chosen_family(engine, options).name == "object" and (
        has_texts != has_vectors or options.encoder is not None
    ):
        parameters.setdefault("takes", "vector" if has_vectors else "text")
    return parameters


def check_options(options: RetrieveOptions) -> None:
    """Raises BadUsage for numbers that cannot be."""
    least = {
        "k": 1,
        "rounds": 1,
        "warm_up": 0,
        "clients": 1,
        "retries": 0,
        "allow_failures": 0,
        "most_requests": 1,
    }
    for name, bound in least.items():
        value = getattr(options, name)
        if value is not None and value < bound:
            raise BadUsage(f"{flag(name, value)}: expected an integer from {bound}.")
    for name in ("timeout", "rate", "most_seconds"):
        value = getattr(options, name)
        if value is not None and not 0 < value < float("inf"):
            raise BadUsage(f"{flag(name, value)}: expected a positive number.")
    if options.clients is not None and options.clients > MOST_CLIENTS:
        raise BadUsage(f"{flag('--clients', options.clients)}: expected at most {MOST_CLIENTS}.")
    if options.recall is not None and not 0 < options.recall < 1:
        raise BadUsage(
            f"{flag('--recall', options.recall)}: expected a number between 0 and 1, such as 0.95."
        )


def _host(task: Task) -> Host:
    """A process for an engine that is named by a text; Python objects stay in this one."""
    return ProcessHost(task) if isinstance(task.spec, str) else LocalHost(task)


def _label(engine: Any) -> str:
    return engine if isinstance(engine, str) else getattr(engine, "__name__", type(engine).__name__)


def _key(
    engine: Any,
    settings: EngineSettings,
    inputs: RetrieveInputs,
    items: EngineItems | None,
    options: RetrieveOptions,
) -> str:
    """The digest of everything that decides which requests are sent; secrets are in it by their
    names alone.
    """
    settled = {
        name: getattr(options, name)
        for name in ("k", "rounds", "seed", "clients", "rate", "filters", "encoder")
    }
    digests = [
        None if inputs.items is None or items is None else inputs.items.digest(),
        inputs.queries.digest(),
    ]
    for text in (engine, options.encoder):
        if isinstance(text, str):
            files = [Path(text)] if text.endswith(".toml") else code_files(text)
            digests += [Source(file).digest() for file in files]
    content = [
        _label(engine),
        settings.fixed,
        [setting._asdict() for setting in settings.settings],
        list(settings.builds),
        settled,
        digests,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _ask_one(
    hosts: Sequence[Host],
    setting: Setting,
    where: tuple[int, int],
    queries: Sequence[int],
    options: RetrieveOptions,
    journal: Journal,
    seconds: float,
) -> None:
    """One round of one setting, by all hosts at once."""
    answers, lock = list[SentRequest](), threading.Lock()

    def _emit(requests: Sequence[SentRequest]) -> None:
        with lock:
            answers.extend(requests)

    warm_up = sorted(range(max(queries) + 1), key=lambda query: (query in queries, query))[
        : options.warm_up
    ]
    batches: list[RequestBatch] = []
    for host, _ in enumerate(hosts):
        host_queries = queries[host :: len(hosts)]
        moments = None
        if options.rate is not None:
            gaps = np.random.Generator(np.random.PCG64([options.seed, *where, 1])).exponential(
                1 / options.rate, len(host_queries)
            )
            moments = np.cumsum(gaps).tolist()
        clients = (
            (options.clients or (IN_FLIGHT if options.rate is not None else 1))
            if len(hosts) == 1
            else 1
        )
        batches.append(
            RequestBatch(
                setting.build, setting.search, host_queries, warm_up, moments, clients, seconds
            )
        )
    # A request without end in this process would hold an interruption, too.
    held, is_kept = nullcontext() if isinstance(hosts[0], LocalHost) else interrupts_held(), False
    try:
        with held:
            journal.add(SentBatch(*where, answers, ask_together(hosts, batches, _emit)))
            is_kept = True
    except BaseException as error:
        if is_kept:
            raise
        # The answers so far are kept, so that the same call asks the rest alone.
        answered, now = {request.query for request in answers}, clock()
        why = str(error) or "the call was interrupted"
        left = [
            SentRequest(query, None, now, now, "not_asked", why)
            for query in queries
            if query not in answered
        ]
        journal.add(SentBatch(*where, [*answers, *left], []))
        raise


def _refuse_failures(
    journal: Journal, inputs: RetrieveInputs, settings: Sequence[Setting], options: RetrieveOptions
) -> None:
    """Raises EngineFailed for more failed queries than allowed, and Unfinished for queries that the
    time was too short for.
    """
    failed = [
        (setting, request)
        for (setting, _), batch in sorted(journal.batches.items())
        for request in batch.requests
        if request.status in ("failed", "timeout")
    ]
    left = [
        request
        for batch in journal.batches.values()
        for request in batch.requests
        if request.status == "not_asked"
    ]
    if len(failed) <= options.allow_failures and left:
        count = count_of(len(left), "query was", "queries were")
        raise Unfinished(f"{count} not asked: {left[0].error}; call again for the rest.")
    if len(failed) <= options.allow_failures:
        return
    ids = list(dict.fromkeys(inputs.queries.ids[request.query] for _, request in failed))
    examples = ", ".join(map(repr, ids[:_NAMED])) + (
        f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    )
    setting, first = failed[0]
    at = f" at {settings[setting].name}" if settings[setting].name else ""
    remainder = f"; {count_of(len(left), 'was', 'were')} not asked" if left else ""
    raise EngineFailed(
        f"{count_of(len(failed), 'query', 'queries')} failed{at}: {examples}{remainder}. The "
        f"first: {sentence(first.error)} "
        f"No figure is given; with -o the same call asks only the rest, {flag('--retries')} "
        "asks again, "
        f"{flag('--allow-failures')} counts them as empty."
    )


def _exact(
    host: Host, traits: EngineTraits, inputs: RetrieveInputs, options: RetrieveOptions
) -> dict[int, Sequence[str]]:
    """The lists of the engine's exact mode, where they are the truth. Raises BadUsage where it has
    none, BadInput for gaps.
    """
    if not (isinstance(options.truth, str) and options.truth == "engine"):
        return {}
    if traits.exact is None:
        problem = f"{flag('--truth', 'engine')}: {traits.name} has no exact mode"
        raise BadUsage(f"{problem}; give {flag('--item-vectors')}, or a run of `rankwell search`.")
    answers: list[SentRequest] = []
    host.ask(RequestBatch(0, traits.exact, range(len(inputs.queries.ids)), ()), answers.extend)
    bad = next((request for request in answers if request.status != "ok"), None)
    if bad is not None:
        raise BadInput(
            f"the exact results of query {inputs.queries.ids[bad.query]!r} are missing: {bad.error}"
        )
    return {request.query: request.ids for request in answers}
