"""Search engines that are run and queried, one file each: by text, by vector or by both, they
return ids in their own order.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rankwell.data.catalogue import Catalogue, entry_points_of, load_entry_point, suggest
from rankwell.data.code import load_anything
from rankwell.data.secrets import Secrets, refuse_literal
from rankwell.engines.protocol import (
    METRICS,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineItems,
    EnginePlan,
    EngineQuery,
    FailureKind,
    IndexReport,
    Kind,
    MemoryEngine,
    Opening,
    Parameter,
    Session,
    processor_seconds,
)
from rankwell.errors import BadUsage, UnknownName

__all__ = [
    "ENGINES",
    "GROUP",
    "METRICS",
    "Engine",
    "EngineFailure",
    "EngineFamily",
    "EngineHits",
    "EngineItems",
    "EnginePlan",
    "EngineQuery",
    "FailureKind",
    "IndexReport",
    "Kind",
    "MemoryEngine",
    "Opening",
    "Parameter",
    "Session",
    "processor_seconds",
    "family_of",
    "find_engine",
    "open_engine",
]

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


def family_of(spec: Any, options: Mapping[str, Any] | None = None) -> EngineFamily:
    """The entry of the registry for a spec of `open_engine`, with the parameters that a file
    declares. Raises as that does.
    """
    return _resolve(spec, options or {})[0]


def open_engine(spec: Any, options: Mapping[str, Any] | None = None) -> Engine:
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
    search = {name: value for name, value in search.items() if value is not None}
    label = spec if isinstance(spec, str) else getattr(spec, "__name__", type(spec).__name__)
    opening = Opening(family, label, target, connect, build, search, parameters, secrets)
    try:
        return family.open(opening)
    except EngineFailure as error:
        raise EngineFailure(error.kind, secrets.redact(error.message)) from (
            None if secrets else error
        )


def _resolve(spec: Any, options: Mapping[str, Any]) -> tuple[EngineFamily, Any, str]:
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
