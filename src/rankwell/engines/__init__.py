"""Search engines that are run and queried, one file each: by text, by vector or by both, they
return ids in their own order. Their interface: items to index, queries, hits, and the two classes
that each engine completes.
"""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from rankwell._native.similarity import Metric
from rankwell.data.catalogue import Catalogue, entry_points_of, load_entry_point, suggest
from rankwell.data.code import load_anything
from rankwell.data.secrets import Secrets, refuse_literal
from rankwell.data.tables import first_repeated, without_none
from rankwell.errors import (
    BadInput,
    BadUsage,
    RankwellError,
    UnknownName,
    flag,
    is_offered,
    needing,
    shown,
)

Kind = Literal["lexical", "vector", "hybrid"]
METRICS: tuple[Metric, ...] = get_args(Metric)
SPACES: Mapping[str, str] = {"cosine": "cosine", "dot": "ip", "l2": "l2"}
"""The names of metrics in indexes of the family of hnswlib."""
Built = TypeVar("Built")
FailureKind = Literal["timeout", "refused", "disconnected", "status", "malformed", "panic", "error"]


class EngineFailure(RankwellError):
    """The failure of an engine: it was too slow, refused, died, answered with an error or with
    something that cannot be read.
    """

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(kind, message)
        self.kind: FailureKind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


KIND_NAMES: Mapping[type, str] = {
    int: "an integer",
    float: "a number",
    str: "a string",
    bool: "true or false",
    dict: "a table",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an engine.

    name: the name by which users set it, and lists show it.
    kind: the type of its values, into which text is converted.
    default: the value where none is given; None to leave it to the engine.
    text: a phrase that says what it sets, for lists of parameters.
    choices: all possible values where they are few; empty where any value of the type will do.
    """

    name: str
    kind: type[int] | type[float] | type[str] | type[bool]
    default: Any
    text: str
    choices: tuple[str, ...] = ()

    def read(self, value: Any, engine: str) -> Any:
        """The value of a text, as on a command line, or of Python or TOML. Raises BadUsage where it
        is not one of its kind.
        """
        typed = self._typed(value)
        if typed is None or (self.choices and typed not in self.choices):
            expected = " or ".join(self.choices) or KIND_NAMES[self.kind]
            raise BadUsage(f"{engine}: {self.name} is {shown(value)}; expected {expected}.")
        return typed

    def _typed(self, value: Any) -> Any:
        if isinstance(value, str) and self.kind is bool:
            return {"true": True, "false": False}.get(value.lower())
        if isinstance(value, str) or (self.kind is float and type(value) is int):
            with suppress(ValueError):
                return self.kind(value)
            return None
        return value if type(value) is self.kind else None


ParameterValues = Mapping[str, Any]
"""The values of parameters, by name."""


@dataclass(frozen=True)
class EngineFamily:
    """An engine of the registry.

    name: the name by which it is chosen (`faiss`).
    title: a phrase that describes it, for the list of engines.
    kinds: the kinds of search that it offers, the default first.
    open: function that opens an engine with the arguments.
    connect: the parameters that say where the engine is and what its columns are.
    build: the parameters of an index.
    search: the parameters of a session.
    package: the package to install; empty where none is missing.
    extra: the extra of rankwell that installs the package; empty where there is none.
    most_k: its largest k; None for no limit.
    own_version: the version of an engine that is part of Python.
    adapt: (family, target, options) -> the family with the parameters of a file or an object; None
        where they are always the same.
    """

    name: str
    title: str
    kinds: tuple[Kind, ...]
    open: "Callable[[Opening], Engine]"
    connect: tuple[Parameter, ...] = ()
    build: tuple[Parameter, ...] = ()
    search: tuple[Parameter, ...] = ()
    package: str = ""
    extra: str = ""
    most_k: int | None = None
    own_version: str = ""
    adapt: "Callable[[EngineFamily, Any, ParameterValues], EngineFamily] | None" = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters."""
        return (*self.connect, *self.build, *self.search)

    @property
    def version(self) -> str | None:
        """The installed version; None where the package is missing."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(self.package) if self.package else self.own_version
        except PackageNotFoundError:
            return None

    @property
    def install(self) -> str:
        """The command that installs what is missing."""
        return f"pip install 'rankwell[{self.extra}]'"

    def need(self, module: str, package: str = "") -> Any:
        """A module of the engine's package, or of another one of its extra. Raises MissingExtra
        where it is not installed.
        """
        import importlib

        with needing(
            f"the engine {self.name} needs the package {package or self.package}: {self.install}."
        ):
            return importlib.import_module(module)

    def read(
        self, values: ParameterValues, declared: Sequence[Parameter] | None = None
    ) -> dict[str, Any]:
        """Parameters with their values in their types. Raises UnknownName, BadUsage."""
        declared = self.parameters if declared is None else declared
        table = {parameter.name: parameter for parameter in declared}
        for name in values:
            if name not in table:
                hint = f"; {suggest(name, table)}" if table else "; it has none."
                raise UnknownName(f"{self.name}: unknown parameter {name!r}{hint}")
        return {name: table[name].read(value, self.name) for name, value in values.items()}


@dataclass(frozen=True)
class Opening:
    """The arguments with which an engine is opened.

    family: its entry in the registry.
    label: the engine as the user wrote it, for messages.
    target: the file or the object to open; None where the parameters suffice.
    connect, build: values of all connection and index parameters, defaults included.
    search: values of the search parameters that are given or have a default.
    redacted_parameters: the given parameters as they were written, with `${NAME}` in place of
        secrets.
    secrets: values of environment variables in the parameters, which no message may show.
    """

    family: EngineFamily
    label: str
    target: Any
    connect: ParameterValues
    build: ParameterValues
    search: ParameterValues
    redacted_parameters: ParameterValues
    secrets: Secrets


class EngineHits(NamedTuple):
    """The results of a query in the engine's order, which is the ranking.

    ids: ids of the items, best first.
    scores: scores as the engine computes them, higher is better; integers keep all digits; None
        where it returns none.
    """

    ids: Sequence[str]
    scores: Sequence[int | float] | None = None


class IndexReport(NamedTuple):
    """The cost of an index.

    seconds: time on the clock to build it.
    processor_seconds: processor time of this process and of the server; None where it cannot be
        read.
    bytes: size of the index; None where that is unknown.
    items: number of items in it.
    """

    seconds: float
    processor_seconds: float | None
    bytes: int | None
    items: int


class EnginePlan(NamedTuple):
    """The plan of a search.

    text: the plan as the engine words it, or a sentence in its place.
    uses_index: whether it reads every index that the search needs; None where that is unknown.
    scanned: the names of what it reads without an index.
    """

    text: str
    uses_index: bool | None = None
    scanned: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class EngineItems:
    """The items to index.

    ids: ids of the items, all different.
    texts: one for each item; None where no search reads them.
    vectors: (items, d), finite; None where no search reads them.
    fields: name -> a value for each item, by which queries filter.

    Raises BadInput for another number of texts, vectors or values, for repeated ids, and for
    vectors that are not finite.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None = None
    vectors: NDArray[Any] | None = None
    fields: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = {"texts": self.texts, "vectors": self.vectors, **self.fields}
        for name, cells in parts.items():
            if cells is not None and len(cells) != len(self.ids):
                raise BadInput(
                    f"{len(cells)} {name} for {len(self.ids)} items; expected one for each."
                )
        if twice := first_repeated(self.ids):
            raise BadInput(f"the item {twice[0]!r} appears twice; keep one of the two.")
        if self.vectors is not None:
            bad = np.flatnonzero(~np.isfinite(checked_rows(self.vectors)).all(axis=1))
            if bad.size:
                raise BadInput(
                    f"the vector of the item {self.ids[bad[0]]!r} has NaN or infinity; "
                    "correct or remove it."
                )

    def batches(self, size: int) -> Iterator[tuple[range, list[Any], list[dict[str, Any]]]]:
        """The rows of some items at a time, their vectors, and their values by field."""
        vectors = np.asarray(self.vectors)
        for start in range(0, len(vectors), size):
            rows = range(start, min(start + size, len(vectors)))
            yield (
                rows,
                vectors[start : rows.stop].tolist(),
                [{name: values[row] for name, values in self.fields.items()} for row in rows],
            )

    def matching(self, fields: Mapping[str, Any]) -> list[int]:
        """The rows of the items that have all values. Raises BadInput for an unknown field."""
        for name in fields:
            if name not in self.fields:
                raise BadInput(
                    f"the items have no field {name!r}; "
                    f"{suggest(name, self.fields) if self.fields else 'they have none.'}"
                )
        return [
            row
            for row in range(len(self.ids))
            if all(self.fields[name][row] == value for name, value in fields.items())
        ]


@dataclass(slots=True, eq=False)
class EngineQuery:
    """A query.

    id: the id of the query in messages and results.
    text: the text that a lexical or hybrid engine searches for; None for a vector engine.
    vector: (d,) the vector that a vector or hybrid engine searches for; None for a lexical engine.
    filter: field -> value; hits have all of them.
    checked_by: the engine that has checked the query; None until then.
    """

    id: str
    text: str | None = None
    vector: NDArray[Any] | None = None
    filter: Mapping[str, Any] | None = None
    checked_by: "Engine | None" = field(default=None, init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return (EngineQuery, (self.id, self.text, self.vector, self.filter))


class Closing:
    """What is closed at the end of a `with` statement."""

    def close(self) -> None:
        """Frees what it holds, and removes an index that is the engine's own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Engine(Closing, ABC):
    """An engine that is open. A file of this folder completes it with `_session`, and `_index`
    where it can index.

    kind: the kind of search; the default of its family unless the engine sets another.
    metric: the similarity of its vectors; None where it has no vectors or the similarity is
        unknown.
    in_process: whether it works in this process.
    server_pid: process id of its server, where it is known and local.
    distances: whether its searches give distances, which `scored` turns into scores.
    filters: whether it filters by fields.
    needs_items: whether indexing no items is an error.
    exact_parameters: the search parameters that make it exact; None where there are none.
    can_index: whether `index` builds an index; an engine over a foreign index only reads it.
    most_k: its largest k; None for no limit.
    dimensions: number of dimensions of its vectors; None until it is known.
    """

    kind: Kind
    metric: Metric | None = None
    in_process = True
    server_pid: int | None = None
    distances = False
    filters = False
    needs_items = False
    exact_parameters: ParameterValues | None = None
    can_index = True

    def __init__(self, opening: Opening) -> None:
        self.opening, self.family = opening, opening.family
        self.name, self.label = opening.family.name, opening.label
        self.kind = opening.family.kinds[0]
        self.most_k: int | None = opening.family.most_k
        self._unstated = list[str]()
        self.dimensions: int | None = None

    @property
    def needs_text(self) -> bool:
        """Whether queries and items have texts."""
        return self.kind != "vector"

    @property
    def needs_vector(self) -> bool:
        """Whether queries and items have vectors."""
        return self.kind != "lexical"

    def scored(self, hits: EngineHits) -> EngineHits:
        """The result of `Session.ask` with scores, of which higher is better."""
        if not self.distances or not hits.scores:
            return hits
        return hits._replace(scores=[0.0 - score for score in hits.scores])

    def index(self, items: EngineItems) -> IndexReport:
        """Builds the engine's own index of the items, in place of an earlier one. Raises BadUsage,
        BadInput, EngineFailure.
        """
        if not self.can_index:
            raise BadUsage(f"{self.label}: this index is only read; leave the items out.")
        for is_needed, name, value, option in (
            (self.needs_text, "texts", items.texts, "items"),
            (self.needs_vector, "vectors", items.vectors, "item_vectors"),
        ):
            if is_needed and value is None:
                given = f" ({flag(option)})" if is_offered(option) else ""
                raise BadUsage(
                    f"{self.label}: a {self.kind} engine indexes {name}; give the items' "
                    f"{name}{given}."
                )
        if items.vectors is not None and self.needs_vector:
            is_zero = ~items.vectors.any(axis=1)
            if self.metric == "cosine" and is_zero.any():
                item = items.ids[int(is_zero.argmax())]
                raise BadInput(
                    f"the vector of the item {item!r} is zero, which has no cosine; remove the "
                    "item."
                )
            self.dimensions = items.vectors.shape[1]
        if self.needs_items and not items.ids:
            raise BadInput(f"{self.name}: there are no items to index.")
        started, before = time.perf_counter(), self._processor_seconds()
        with self.guarding():
            size = self._index(items)
        seconds, after = time.perf_counter() - started, self._processor_seconds()
        return IndexReport(
            seconds,
            None if before is None or after is None else after - before,
            size,
            len(items.ids),
        )

    def _processor_seconds(self) -> float | None:
        """Processor time of this process, and of the server; None where that is unknown."""
        seconds = time.process_time()
        if self.server_pid is None:
            return seconds if self.in_process else None
        of_server = processor_seconds(self.server_pid)
        return None if of_server is None else seconds + of_server

    def session(self) -> "Session":
        """A session with the search parameters that the engine was opened with; each thread has one
        of its own.
        """
        with self.guarding():
            session = self._session()
        try:
            session.configure(self.opening.search)
        except BaseException:
            session.close()
            raise
        return session

    def describe(self) -> dict[str, Any]:
        """Version, size and parameters, as JSON types and without secrets."""
        self._unstated.clear()
        with self.guarding():
            description = self._describe()
        notes = [*description.get("notes", ()), *self._unstated]
        connect = {
            parameter.name: self.opening.redacted_parameters.get(parameter.name, parameter.default)
            for parameter in self.family.connect
        }
        return (
            {
                "engine": self.name,
                "kind": self.kind,
                "version": self.family.version,
                "items": None,
                "index_bytes": None,
                "dimensions": self.dimensions,
                "metric": self.metric,
                "connect": connect,
                "build": dict(self.opening.build),
            }
            | description
            | ({"notes": notes} if notes else {})
        )

    def stated(self, name: str, ask: Callable[[], Any]) -> Any:
        """A part of the description that a server states, or None and a note, as for a key that may
        only search one index.
        """
        try:
            return ask()
        except EngineFailure as error:
            if error.kind in ("timeout", "refused", "disconnected"):
                raise
            self._unstated.append(
                f"the {name} of the server is unknown: {self.opening.secrets.redact(error.message)}"
            )
            return None

    def check(self, queries: Iterable[EngineQuery], k: int) -> None:
        """Checks queries and k before anything is sent, and marks the queries. Raises BadInput,
        BadUsage that name the query.
        """
        if k < 0 or (self.most_k is not None and k > self.most_k):
            limit = "expected 0 or more" if k < 0 else f"the engine's limit is {self.most_k}"
            raise BadUsage(f"{self.label}: k is {k}; {limit}.")
        for query in queries:
            if query.checked_by is not self:
                self._check(query)
                query.checked_by = self

    def _check(self, query: EngineQuery) -> None:
        where = f"query {query.id!r}"
        if self.needs_text and query.text is None:
            raise BadInput(f"{where} has no text; {self.label} is a {self.kind} engine.")
        if query.filter and not self.filters:
            raise BadInput(
                f"{where} has a filter, which {self.label} does not support; leave it out."
            )
        if not self.needs_vector:
            return
        if query.vector is None:
            raise BadInput(f"{where} has no vector; {self.label} is a {self.kind} engine.")
        vector = checked_rows(np.asarray(query.vector)[None], where)[0]
        if self.dimensions is not None and vector.size != self.dimensions:
            raise BadInput(
                f"{where} has {vector.size} dimensions; the index of {self.label} has "
                f"{self.dimensions}."
            )
        if not np.isfinite(vector).all():
            raise BadInput(f"the vector of {where} has NaN or infinity; correct or remove it.")
        if self.metric == "cosine" and not vector.any():
            raise BadInput(f"the vector of {where} is zero, which has no cosine; remove the query.")
        query.vector = vector

    @contextmanager
    def guarding(self) -> Generator[None]:
        """Turns whatever the engine raises into an EngineFailure; interrupts and rankwell's own
        errors pass.
        """
        try:
            yield
        except BaseException as error:
            raise self.failure(error) from (None if self.opening.secrets else error)

    def failure(self, error: BaseException) -> BaseException:
        """The failure that an exception of the engine is; interrupts and rankwell's own errors are
        themselves.
        """
        if isinstance(error, EngineFailure):
            kind, message = error.kind, error.message
        elif isinstance(error, (KeyboardInterrupt, GeneratorExit, RankwellError)):
            return error
        else:
            kind = self._failure_kind(error)
            message = f"{type(error).__name__}: {error}".removesuffix(": ")
        message = self.opening.secrets.redact(" ".join(message.split()))
        if not message.startswith(self.label):
            message = f"{self.label}: {message}"
        return EngineFailure(kind, message)

    def _failure_kind(self, error: BaseException) -> FailureKind:
        """The kind of an exception; engines add those of their packages."""
        if not isinstance(error, Exception):
            return "panic"
        if isinstance(error, TimeoutError):
            return "timeout"
        if isinstance(error, ConnectionRefusedError):
            return "refused"
        return "disconnected" if isinstance(error, (ConnectionError, EOFError)) else "error"

    def built(self, index: Built | None) -> Built:
        """The index that the engine has built. Raises BadUsage where there is none yet."""
        if index is None:
            raise BadUsage(f"{self.label}: nothing is indexed yet; give the items.")
        return index

    def _index(self, items: EngineItems) -> int | None:
        """Builds the index; its size in bytes, or None where that is unknown."""
        raise NotImplementedError

    @abstractmethod
    def _session(self) -> "Session":
        """A session, not configured yet."""

    def _describe(self) -> dict[str, Any]:
        """The parts of the description that differ from the common one."""
        return {}


class MemoryEngine(Engine):
    """An engine of a library, which keeps its index and the items in this process.

    module: the module of the library.
    sessions: the class of its sessions.
    """

    module: str
    sessions: "type[Session]"
    filters = True
    needs_items = True

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.library = opening.family.need(self.module)
        self.metric = opening.connect.get("metric")
        self.loaded_index: Any = None
        self.items = EngineItems(list[str]())

    @abstractmethod
    def _size(self) -> int:
        """Bytes of the index."""

    def _session(self) -> "Session":
        self.built(self.loaded_index)
        return self.sessions(self)

    def _describe(self) -> dict[str, Any]:
        size = None if self.loaded_index is None else self._size()
        return {"items": len(self.items.ids), "index_bytes": size}

    def close(self) -> None:
        """Frees the index and the items."""
        self.loaded_index, self.items = None, EngineItems(list[str]())


class Session(Closing, ABC):
    """One client of an engine, for one thread.

    server_pid: as of the engine, or a process of its own. settings: the search parameters, where it
    keeps them itself.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine: Any = engine
        self.settings: dict[str, Any] = {}
        self.server_pid = engine.server_pid
        self._most_k = sys.maxsize if engine.most_k is None else engine.most_k

    def search(self, query: EngineQuery, k: int) -> EngineHits:
        """The engine's first k results, or fewer; none for k = 0. Raises EngineFailure, and the
        errors of `Engine.check`.
        """
        return self.engine.scored(self.ask(query, k))

    def ask(self, query: EngineQuery, k: int) -> EngineHits:
        """As `search`, but with distances where the engine gives them: what is timed is the
        engine's own work.
        """
        if query.checked_by is not self.engine or not 0 < k <= self._most_k:
            self.engine.check((query,), k)
            if not k:
                return EngineHits((), ())
        try:
            hits = self._search(query, k)
        except BaseException as error:
            raise self.engine.failure(error) from (None if self.engine.opening.secrets else error)
        n, label = len(hits.ids), self.engine.label
        if n > k:
            raise EngineFailure(
                "malformed", f"{label}: {n} results for k = {k}; expected at most {k}."
            )
        if hits.scores is not None and len(hits.scores) != n:
            raise EngineFailure(
                "malformed", f"{label}: {n} ids and {len(hits.scores)} scores; expected as many."
            )
        return hits

    def configure(self, parameters: ParameterValues) -> dict[str, Any]:
        """Sets search parameters; all of them, read back. Raises BadInput for one that differs,
        UnknownName, BadUsage.
        """
        values = self.engine.family.read(parameters, self.engine.family.search)
        with self.engine.guarding():
            if values:
                self._configure(values)
        read_back = self.parameters()
        for name, value in values.items():
            if read_back.get(name) != value:
                raise BadInput(
                    f"{self.engine.label}: {name} was set to {value!r} and reads back as "
                    f"{read_back.get(name)!r}."
                )
        return read_back

    def parameters(self) -> dict[str, Any]:
        """All search parameters with their current values, read back."""
        with self.engine.guarding():
            return self._parameters()

    def plan(self) -> EnginePlan | None:
        """The plan of the last search; None where the engine has no plans."""
        with self.engine.guarding():
            return self._plan()

    def describe(self) -> dict[str, Any]:
        """The engine's description with the session's parameters and the plan of its last
        search.
        """
        plan = self.plan()
        read: dict[str, Any] = {
            "search": self.parameters(),
            "plan": plan and plan.text,
            "uses_index": plan and plan.uses_index,
        }
        if plan and plan.scanned:
            read["scanned"] = [*plan.scanned]
        return self.engine.describe() | read

    @abstractmethod
    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        """At most k results of a checked query, with distances where the engine has those; it
        raises whatever it likes.
        """

    def _configure(self, values: ParameterValues) -> None:
        self.settings |= values

    def _parameters(self) -> dict[str, Any]:
        return dict(self.settings)

    def _plan(self) -> EnginePlan | None:
        return None


class MemorySession(Session):
    """A session of the index, and of its items, that an engine has in memory at its start."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self._index, self._items = engine.loaded_index, engine.items
        self._ids: Sequence[str] = engine.items.ids


def checked_rows(vectors: NDArray[Any], where: str = "the vectors of the items") -> NDArray[Any]:
    """The vectors as a contiguous array of float32 or float64.

    Raises BadInput for another shape, and for anything but real numbers.
    """
    if vectors.ndim != 2 or not vectors.shape[1] or vectors.dtype.kind not in "fiu":
        raise BadInput(
            f"{where}: an array of {vectors.dtype} with {vectors.ndim} dimensions; expected "
            "vectors of real numbers."
        )
    is_float = vectors.dtype.kind == "f" and vectors.dtype.itemsize in (4, 8)
    return np.ascontiguousarray(vectors if is_float else vectors.astype(np.float32))


def processor_seconds(pid: int) -> float | None:
    """Processor time that a process and its ended children have used, in user and system mode; None
    where it cannot be read.
    """
    import os

    try:
        content = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = content.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


GROUP = "rankwell.engines"
"""The entry points by which other packages add engines under a name: an `EngineFamily`, or any
object that `object` takes.
"""

ENGINES: Catalogue[EngineFamily] = Catalogue("engines", "engine")
_SCHEMES = {"postgresql": "pgvector", "postgres": "pgvector", "http": "http", "https": "http"}


def find_engine(text: str) -> Any:
    """The object that a name of code stands for, or the engine that another package adds under this
    name; see `load_anything`.
    """
    if ":" not in text and text in entry_points_of(GROUP):
        return load_entry_point(GROUP, text)
    return load_anything(text)


def family_of(spec: Any, options: ParameterValues | None = None) -> EngineFamily:
    """The entry of the registry for a spec of `open_engine`, with the parameters that a file
    declares. Raises as that does.
    """
    return _resolve(spec, options or {})[0]


def open_engine(spec: Any, options: ParameterValues | None = None) -> Engine:
    """The engine that a name, an address, a file or an object stands for, with its parameters.

    spec: a name of the registry, `NAME:ADDRESS` (`qdrant:http://…`), `postgresql://…`, `http://…`
    (which needs `preset`), `FILE.toml` of a request, `./FILE.py:OBJECT`, `module:object` of what is
    installed, an entry point's name, or an object. options: parameters of any sort, as text or in
    their type; `${NAME}` in them and in the address is taken from the environment. Raises
    UnknownName, BadUsage for a secret that is written out, MissingExtra, and EngineFailure where a
    server does not answer.
    """
    parameters = dict(options or {})
    if isinstance(spec, str):
        refuse_literal("", spec)
        refuse_literal("", spec.partition(":")[2])
    family, target, address = _resolve(spec, parameters)
    if address:
        if "url" not in {parameter.name for parameter in family.connect}:
            raise BadUsage(f"{spec}: {family.name} takes no address; leave {address!r} out.")
        if parameters.setdefault("url", address) != address:
            raise BadUsage(f"{spec}: the address is given twice; leave out the parameter url.")
    secrets, expanded = Secrets(), dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, str):
            refuse_literal(name, value)
            expanded[name] = secrets.expand(value)
    values = family.read(expanded)
    if isinstance(url := values.get("url"), str):
        try:
            urlsplit(url).port  # noqa: B018 - libraries would fail at a broken address
        except ValueError as error:
            raise BadUsage(
                f"url: {error}; expected http://HOST:PORT or https://HOST:PORT."
            ) from error
    connect, build, search = (
        {parameter.name: values.get(parameter.name, parameter.default) for parameter in declared}
        for declared in (family.connect, family.build, family.search)
    )
    search = without_none(search)
    label = spec if isinstance(spec, str) else getattr(spec, "__name__", type(spec).__name__)
    opening = Opening(family, label, target, connect, build, search, parameters, secrets)
    try:
        return family.open(opening)
    except EngineFailure as error:
        raise EngineFailure(error.kind, secrets.redact(error.message)) from (
            None if secrets else error
        )


def _resolve(spec: Any, options: ParameterValues) -> tuple[EngineFamily, Any, str]:
    """The family, the object or file that it opens, and an address."""
    family, target, address = _locate(spec)
    if family.adapt is not None:
        family = family.adapt(family, target, options)
    return family, target, address


def _locate(spec: Any) -> tuple[EngineFamily, Any, str]:
    if not isinstance(spec, str):
        return ENGINES["object"], spec, ""
    refuse_literal("", spec)
    if spec in ENGINES:
        return ENGINES[spec], None, ""
    name, colon, address = spec.partition(":")
    if address.startswith("//") and name.lower() in _SCHEMES:
        return ENGINES[_SCHEMES[name.lower()]], None, spec
    if colon and name in ENGINES:
        return ENGINES[name], None, address
    if spec.endswith(".toml"):
        return ENGINES["http"], spec, ""
    if not colon and spec not in entry_points_of(GROUP):
        raise UnknownName(
            f"unknown engine {spec!r}; {suggest(spec, ENGINES)} Name your own by its file, "
            "./FILE.py:OBJECT."
        )
    engine = find_engine(spec)
    if isinstance(engine, EngineFamily):
        return engine, None, ""
    return ENGINES["object"], engine, ""
