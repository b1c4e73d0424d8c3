"""Items and queries of a call: texts and vectors joined by id, filters, what replaces an id, and
the encoder of the queries; the settings of an engine, of which some need an index of their own; and
the permission that a load on another machine needs.
"""

import hashlib
import ipaddress
import os
import re
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, align
from rankwell.data.options import Lists
from rankwell.data.secrets import Secrets
from rankwell.documents import read_toml
from rankwell.engines import EngineFamily, EngineItems, EngineQuery, ParameterValues, family_of
from rankwell.errors import BadInput, BadUsage, flag, missing_column, shown
from rankwell.io.formats import read_texts
from rankwell.io.matrices import read_embeddings
from rankwell.store import Source
from rankwell.tasks.engine.options import EngineOptions
from rankwell.vectors.encoders import Singles, TextEncoder, load_encoder

MANY_REQUESTS = 10_000
_LIBPQ = {"host": "PGHOST", "hostaddr": "PGHOSTADDR", "service": "PGSERVICE"}
"""Parameters of an address of PostgreSQL that name its machine, and the variables that replace
them.
"""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def check_load(spec: Any, options: ParameterValues, reason: str, allowed: str | None) -> None:
    """Raises BadUsage where an engine is on another machine, and its host is not the allowed one.

    reason: why this is a load. The host is resolved, and every address that it has must be a
    loopback address.
    """
    for host in sorted(hosts_of(spec, options)):
        if host != allowed and not _is_loopback(host):
            raise BadUsage(
                f"{reason} would load {host}, which is not this machine; if that is "
                f"permitted, {flag('--allow-load', host)}."
            )


def hosts_of(spec: Any, options: ParameterValues) -> set[str]:
    """The hosts in the addresses of an engine: in its name, in its parameters, and in a file of a
    request.

    Variables are expanded first. An address of PostgreSQL may name hosts in its parameters, or
    leave them to the environment.
    """
    texts = [str(text) for text in (spec if isinstance(spec, str) else "", *options.values())]
    if isinstance(spec, str) and spec.endswith(".toml"):
        texts += [
            str(value) for value in read_toml(Source(spec))[1].values() if isinstance(value, str)
        ]
    hosts: set[str] = set()
    for text in texts:
        with suppress(
            BadUsage
        ):  # a variable that is not set ends the call when the engine is opened
            if (match := _ADDRESS.search(Secrets().expand(text))) is not None:
                hosts |= _hosts_in(match[0])
    host = options.get("host")
    return hosts | ({str(host)} if host else set())


def _hosts_in(address: str) -> set[str]:
    try:
        parts = urlsplit(address)
        addressed = [
            urlsplit(f"//{machine}").hostname
            for machine in parts.netloc.rpartition("@")[2].split(",")
        ]
    except ValueError:  # the engine refuses it
        return set()
    if not parts.scheme.startswith("postgres"):
        return {*filter(None, addressed)}
    settings = {name: os.environ.get(variable, "") for name, variable in _LIBPQ.items()}
    settings |= {"host": ",".join(filter(None, addressed))} if any(addressed) else {}
    settings |= {name: value for name, value in parse_qsl(parts.query) if name in _LIBPQ}
    hosts = (settings["hostaddr"] or settings["host"]).split(",")
    # A path is a socket of this machine; a service may name any host.
    remote_hosts = {host for host in hosts if host and not host.startswith(("/", "@"))}
    return remote_hosts | ({f"service={settings['service']}"} if settings["service"] else set())


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(information[4][0]) for information in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)


_SNIPPET = 500


def clock() -> float:
    """The one clock of all times, in seconds: monotonic, and on Linux the same in all processes."""
    return time.perf_counter()


@dataclass(frozen=True, eq=False)
class Entries:
    """Items or queries with their texts, vectors and attributes.

    ids: ids, all different.
    texts: one for each; None where only vectors are known.
    vectors: (n, d) a row for each; None where there are none.
    attributes: id -> column -> value, for further columns of the texts.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    vectors: NDArray[Any] | None
    attributes: Mapping[str, Mapping[str, str]]

    def cells(self, name: str) -> list[str | None]:
        """The value of a column for each; None where one has none."""
        return [self.attributes.get(row_id, {}).get(name) for row_id in self.ids]

    def names(self) -> dict[str, None]:
        """The columns."""
        return dict.fromkeys(name for cells in self.attributes.values() for name in cells)

    def column(self, name: str, option: str) -> list[str]:
        """The value of a column for each. Raises BadInput where one has none."""
        cells, names = self.cells(name), self.names()
        if name not in names:
            raise missing_column(name, names, place=option)
        if None in cells:
            raise BadInput(
                f"{option}: {self.ids[cells.index(None)]!r} has nothing in column {name!r}; add it."
            )
        return [str(cell) for cell in cells]

    def digest(self) -> str:
        """The SHA-256 of ids, texts and vectors."""
        total = hashlib.sha256(
            repr((list(self.ids), self.texts)).encode("utf-8", "backslashreplace")
        )
        if self.vectors is not None:
            total.update(np.ascontiguousarray(self.vectors).tobytes())
        return total.hexdigest()


@dataclass(frozen=True, eq=False)
class RetrieveInputs:
    """The items and queries of a call.

    items: the items; None where the call names none.
    queries: the queries, with a text, a vector or both.
    filters: field -> (queries,) the value that each query requires; empty without filters.
    collapse: item -> the id that stands for it in results; empty where items stand for themselves.
    """

    items: Entries | None
    queries: Entries
    filters: Mapping[str, Sequence[str]]
    collapse: Mapping[str, str]

    @cached_property
    def listed(self) -> list[EngineQuery]:
        """The queries as engines take them."""
        texts, vectors = self.queries.texts, self.queries.vectors
        return [
            EngineQuery(
                query,
                None if texts is None else texts[row],
                None if vectors is None else vectors[row],
                {name: values[row] for name, values in self.filters.items()} or None,
            )
            for row, query in enumerate(self.queries.ids)
        ]

    def indexed(self) -> EngineItems | None:
        """The items as engines take them, with the fields that filters name."""
        items = self.items
        if items is None:
            return None
        fields = {name: items.column(name, filter_option(name)) for name in self.filters}
        return EngineItems(list(items.ids), items.texts, items.vectors, fields)

    def query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: every query with its text and the other columns of the
        file.
        """
        ids, texts = list(self.queries.ids), self.queries.texts
        columns: dict[str, list[Any]] = {
            "query": ids,
            "text": [None] * len(ids) if texts is None else list(texts),
        }
        for name in self.queries.names():
            if name not in columns:
                columns[name] = self.queries.cells(name)
        return columns

    def item_columns(self) -> dict[str, list[Any]] | None:
        """The columns of the items with the beginnings of their texts; None where they have no
        texts.
        """
        items = self.items
        if items is None or items.texts is None:
            return None
        return {
            "item": list(items.ids),
            "of": [None] * len(items.ids),
            "text": [text[:_SNIPPET] for text in items.texts],
        }


def filter_option(name: str) -> str:
    """The option of a filter, for messages."""
    return f"{flag('--filter', name='filters')} {name}"


def read_inputs(options: EngineOptions) -> RetrieveInputs:
    """Reads items, queries and filters. Raises BadInput and BadUsage for what is missing or does
    not fit.
    """
    if options.encoder is not None:
        reason = ""
        if options.queries is None:
            reason = f"needs the texts of the queries; give {flag('--queries')}"
        elif options.query_vectors is not None:
            reason = f"replaces {flag('--query-vectors')}"
        if reason:
            raise BadUsage(f"{flag('--encoder', options.encoder)} {reason}.")
    queries = _entries(options.queries, options.query_vectors, "queries")
    if queries is None:
        raise BadUsage(
            f"no queries; give {flag('--queries')} with their texts, "
            f"{flag('--query-vectors')}, or both."
        )
    items = _entries(options.documents, options.item_vectors, "items")
    if options.encoder is not None:
        encoder = QueryEncoder(options.encoder, None if items is None else items.texts)
        if items is not None and items.texts is not None and items.vectors is None:
            items = replace(items, vectors=encoder.items(items.texts))
        queries = replace(queries, vectors=encoder.queries(queries.texts or ()))
    filters: dict[str, Sequence[str]] = {}
    for text in options.filters or ():
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or name in filters:
            raise BadUsage(
                f"{filter_option(repr(text))}: expected FIELD=VALUE or FIELD, each field once."
            )
        filters[name] = (
            [value] * len(queries.ids) if equals else queries.column(name, filter_option(name))
        )
    collapse: dict[str, str] = {}
    if options.collapse is not None:
        if items is None:
            raise BadUsage(
                f"{flag('--collapse')} takes the ids from a column of the items; give "
                f"{flag('--documents')}."
            )
        names = items.column(options.collapse, flag("--collapse"))
        collapse = dict(zip(items.ids, names, strict=True))
    return RetrieveInputs(items, queries, filters, collapse)


def _entries(texts: Any, vectors: Any, noun: str) -> Entries | None:
    if (
        isinstance(texts, Sequence)
        and not isinstance(texts, (str, bytes))
        and not isinstance(next(iter(texts), None), Mapping)
    ):
        texts = {str(row): text for row, text in enumerate(texts)}
    content = None if texts is None else read_texts(texts)
    table = None if vectors is None else read_embeddings(vectors)
    if content is None:
        return table and Entries(list(table.names()), None, np.asarray(table.vectors), {})
    ids, rows = list(content.texts), None
    if table is not None:
        text_ids = Embeddings(ids, np.zeros((len(ids), 1), dtype=np.float32))
        names = f"the texts of the {noun}", f"the vectors of the {noun}"
        rows = np.asarray(align(text_ids, table, *names).vectors)
    if not ids:
        raise BadInput(f"there are no {noun}; expected at least one.")
    return Entries(ids, list(content.texts.values()), rows, content.attributes)


class QueryEncoder:
    """The encoder of the queries. Each query is encoded alone, as in practice, so that its vector
    is the same in every process.

    model: a model, as in `rankwell encode`.
    items: texts of the items, on which an encoder without training of its own is fitted.

    Raises BadUsage for such an encoder without items.
    """

    def __init__(self, model: str, items: Sequence[str] | None) -> None:
        loaded = load_encoder(model)
        self._encoder: TextEncoder = loaded if items is None else loaded.fit(items)
        if items is None:
            try:
                loaded.describe()
            except BadUsage as error:
                raise BadUsage(
                    f"{flag('--encoder', model)} is fitted to the texts of the items; give "
                    f"{flag('--documents')}."
                ) from error
        self._lock = threading.Lock()

    def items(self, texts: Sequence[str]) -> Singles:
        """The vectors of items: (items, d)."""
        return self._encoder.encode(texts)

    def queries(self, texts: Sequence[str]) -> Singles:
        """The vectors of queries: (queries, d)."""
        return np.concatenate([self._encoder.encode([text]) for text in texts])

    def encode(self, query: EngineQuery) -> float:
        """Encodes a query again; the seconds that it took. Clients take turns."""
        with self._lock:
            started = clock()
            query.vector = self._encoder.encode([query.text or ""])[0]
            return clock() - started


def check_encoder(family: EngineFamily, model: str | None) -> None:
    """Raises BadUsage for an encoder of queries that an engine takes as texts."""
    if model is not None and family.kinds == ("lexical",):
        raise needless_encoder(family.name, model)


def needless_encoder(engine: str, model: str) -> BadUsage:
    """The refusal of an encoder whose vectors the engine does not take."""
    return BadUsage(f"{flag('--encoder', model)}: {engine} takes texts, not vectors; leave it out.")


MOST_SETTINGS = 500


class Setting(NamedTuple):
    """One combination of parameters.

    name: a name such as `ef_search=40`; empty for the only setting where no parameters vary.
    build: number of its index among all indexes.
    search: parameters of its sessions.
    values: values of all tried parameters.
    """

    name: str
    build: int
    search: ParameterValues
    values: ParameterValues


class EngineSettings(NamedTuple):
    """The settings of an engine.

    fixed: parameters that all settings share.
    builds: tried parameters of each index.
    settings: the settings in the order of the sweep.
    varying: names of the tried parameters with several values.
    """

    fixed: ParameterValues
    builds: Sequence[ParameterValues]
    settings: Sequence[Setting]
    varying: Sequence[str]

    @classmethod
    def of(
        cls, family: EngineFamily, fixed: ParameterValues, combinations: Sequence[ParameterValues]
    ) -> "EngineSettings":
        """The settings of combinations of tried parameters, with one index for each build."""
        shaping = {parameter.name for parameter in family.build}
        builds: list[ParameterValues] = []
        settings: list[Setting] = []
        for values in combinations:
            build = {name: value for name, value in values.items() if name in shaping}
            search = {name: value for name, value in values.items() if name not in shaping}
            if build not in builds:
                builds.append(build)
            settings.append(Setting(_written(values), builds.index(build), search, values))
        names = dict.fromkeys(name for values in combinations for name in values)
        varying = [
            name for name in names if len({str(values.get(name)) for values in combinations}) > 1
        ]
        return cls(fixed, builds, settings, varying)

    def label(self, setting: Setting) -> str:
        """The parameters of a setting that vary, as `k1=1.2 b=0.75`; "" where none do."""
        return _written({name: setting.values[name] for name in self.varying})


def read_settings(
    family: EngineFamily, fixed: ParameterValues, sweep: Lists | None
) -> EngineSettings:
    """The settings that options and sweeps name. Raises BadUsage and UnknownName for what the
    engine does not have.
    """
    option = flag("--sweep")
    tried = {name: _values(value) for name, value in read_pairs(sweep, option).items()}
    # Places that an environment variable completes are read when the engine is opened.
    family.read({name: value for name, value in fixed.items() if "${" not in str(value)})
    for name in tried:
        if name in fixed:
            raise BadUsage(
                f"{name} has a value by {flag('--option')} and several by {option}; keep one."
            )
    typed = {
        name: [family.read({name: value})[name] for value in values]
        for name, values in tried.items()
    }
    for name, values in typed.items():
        if len(set(values)) < len(values):
            raise BadUsage(f"{option} {name} lists a value twice: {', '.join(map(str, values))}.")
    for parameter in family.connect:
        if parameter.name in tried:
            raise BadUsage(
                f"{option} {parameter.name}: it names the place of an index and cannot be "
                "tried; make a call for each."
            )
    number = prod(map(len, typed.values()))
    if not 0 < number <= MOST_SETTINGS:
        raise BadUsage(f"{number} settings; expected 1 to {MOST_SETTINGS}: try fewer values.")
    combinations = [dict(zip(typed, values, strict=True)) for values in product(*typed.values())]
    return EngineSettings.of(family, fixed, combinations)


def read_pairs(pairs: Lists | None, option: str) -> dict[str, Any]:
    """NAME=VALUE texts as a mapping, each name once."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    texts = () if pairs is None else pairs
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise BadUsage(f"{option} is {shown(pairs)}; expected a mapping or a list of NAME=VALUE.")
    values: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not name or not value:
            raise BadUsage(
                f"{option} {name or text!r}: expected NAME=VALUE, as in {option} ef_search=40."
            )
        if name in values:
            raise BadUsage(f"{option} {name} is given twice; once is enough.")
        values[name] = value
    return values


def given_parameters(options: EngineOptions) -> dict[str, Any]:
    """The parameters that options name, each once. Raises BadUsage."""
    parameters = read_pairs(options.option, flag("--option"))
    return parameters | ({} if options.url is None else {"url": options.url})


def chosen_family(engine: Any, options: EngineOptions) -> EngineFamily:
    """The family of an engine, with the parameters that its file or its preset declares."""
    return family_of(engine, given_parameters(options))


def _values(values: Any) -> list[Any]:
    if isinstance(values, str):
        values = values.split(",")
    elif not isinstance(values, Sequence):
        values = [values]
    return [value.strip() if isinstance(value, str) else value for value in values]


def _written(values: ParameterValues) -> str:
    texts: list[str] = []
    for name, value in values.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        texts.append(f"{name}={text.lower() if isinstance(value, bool) else text}")
    return " ".join(texts)
