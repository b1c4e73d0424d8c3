"""Any search server that answers JSON over HTTP: a TOML file says what to send, and where ids,
scores and time are.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from rankwell.data.catalogue import suggest
from rankwell.data.secrets import refuse_literal
from rankwell.data.tables import is_number
from rankwell.documents import read_toml
from rankwell.engines import (
    ENGINES,
    KIND_NAMES,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineQuery,
    Kind,
    Opening,
    Parameter,
    Session,
)
from rankwell.engines.http_client import (
    ABSENT,
    FailureRules,
    HttpClient,
    basic_credentials,
    known_rules,
    part_at,
    read_rules,
    refuse_flagged,
)
from rankwell.errors import BadInput, BadUsage, UnknownName, shown
from rankwell.store import Source

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_KINDS: tuple[Kind, ...] = ("lexical", "vector", "hybrid")
_OF_ONE_KIND: Mapping[str, type] = {
    "method": object,
    "path": str,
    "headers": dict,
    "body": object,
    "results": dict,
    "fail_if": object,
    "fail_reason": object,
}
_KEYS: Mapping[str, type] = {
    **_OF_ONE_KIND,
    "url": str,
    "parameters": dict,
    "most_k": int,
    "metric": str,
    "version": dict,
    "count": dict,
    "kind": str,
    **dict.fromkeys(_KINDS, dict),
}
"""The keys of a file with the types of their values; object where another place checks them."""
_ASK_KEYS: Mapping[str, type] = {"method": str, "path": str, "body": object, "value": str}
_RESULT_KEYS: Mapping[str, type] = {
    "list": str,
    "id": str,
    "score": str,
    "ids": str,
    "scores": str,
    "distance": bool,
    "optional": bool,
}
_METHODS = ("GET", "POST", "PUT")


_PRESETS = Path(__file__).with_name("presets")


@cache
def presets() -> tuple[str, ...]:
    """The names of the requests that come with rankwell."""
    return tuple(sorted(file.stem for file in _PRESETS.glob("*.toml")))


def _table(target: Any, preset: str | None) -> tuple[str, dict[str, Any]]:
    """The name and the table of a request: a file, or a preset. Raises BadUsage, BadInput,
    UnknownName.
    """
    if (target is None) == (preset is None):
        raise BadUsage(
            "http: name FILE.toml, or an address and the option preset=NAME; presets are "
            f"{', '.join(presets())}."
        )
    if preset is not None and preset not in presets():
        raise UnknownName(f"http: unknown preset {preset!r}; {suggest(preset, presets())}")
    path = _PRESETS / f"{preset}.toml" if target is None else Path(target)
    name = str(target or preset)
    if not path.is_file():
        raise BadUsage(f"{name}: there is no such file; expected a TOML file with the request.")
    _, table = read_toml(Source(path))
    _refuse_odd(name, "", table, _KEYS)
    for kind in _KINDS:
        _refuse_odd(name, f"{kind}.", table.get(kind, {}), _OF_ONE_KIND)
    for ask in ("version", "count"):
        _refuse_odd(name, f"{ask}.", table.get(ask, {}), _ASK_KEYS)
        if ask in table and not {"path", "value"} <= table[ask].keys():
            raise BadInput(
                f"{name}: {ask} is {shown(table[ask])}; expected the path to ask, and that of "
                "the value."
            )
    return name, table


def _refuse_odd(
    name: str, prefix: str, table: Mapping[str, Any], types: Mapping[str, type]
) -> None:
    """Raises BadInput for a key of a table of the file that is not one of those known, and for a
    value of another type.
    """
    for key, value in table.items():
        if key not in types:
            raise BadInput(f"{name}: unknown key {prefix + key!r}; {suggest(key, types)}")
        if types[key] not in (object, type(value)):
            raise BadInput(
                f"{name}: {prefix}{key} is {shown(value)}; expected {KIND_NAMES[types[key]]}."
            )


@cache
def _preset_rules() -> FailureRules:
    """All rules of the presets: for files without their own, whose server may be one of theirs."""
    tables = {name: read_toml(Source(_PRESETS / f"{name}.toml"))[1] for name in presets()}
    rules = [_own_rules(name, table) for name, table in tables.items()]
    return FailureRules(
        [flag for preset_rules in rules for flag in preset_rules.flags],
        [path for preset_rules in rules for path in preset_rules.reasons],
    )


def _own_rules(name: str, table: Mapping[str, Any]) -> FailureRules:
    return read_rules(table.get("fail_if", []), table.get("fail_reason", []), name)


def _adapt(family: EngineFamily, target: Any, options: Mapping[str, Any]) -> EngineFamily:
    """The family with the parameters that the file declares: those of a text or a number are search
    parameters.
    """
    name, table = _table(target, options.get("preset"))
    declared = list[Parameter]()
    for key, default in table.get("parameters", {}).items():
        if type(default) not in (int, float, str, bool):
            raise BadInput(
                f"{name}: parameters.{key} is {shown(default)}; expected a string, a number, "
                "true or false."
            )
        declared.append(Parameter(key, type(default), default, f"{{{key}}} in the request"))
    return replace(
        family,
        connect=(*family.connect, *(parameter for parameter in declared if parameter.kind is str)),
        search=tuple(parameter for parameter in declared if parameter.kind is not str),
        most_k=table.get("most_k"),
    )


class _HttpEngine(Engine):
    in_process = False
    can_index = False

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        name, table = _table(opening.target, opening.connect["preset"])
        self.request, self.kind = _request(name, table, opening.connect["kind"])
        self.metric = table.get("metric")
        self.rules = _rules(name, self.request)
        connect, secrets, url = opening.connect, opening.secrets, table.get("url", "")
        headers = self.request["headers"]
        for key, value in [*headers.items(), ("url", url)]:
            refuse_literal(key, value)
        self.url = connect["url"] or secrets.expand(url)
        if not self.url:
            raise BadUsage(
                f'{name}: no address; write url = "http://HOST:PORT", or the option '
                "url=http://HOST:PORT."
            )
        if not connect["url"]:
            # The description has the address of the file, secrets by their names.
            self.opening = replace(
                opening, redacted_parameters={**opening.redacted_parameters, "url": url}
            )
        # The password of the address is kept out of messages, also as the header in which it is
        # sent. A broken address the client refuses.
        with suppress(ValueError):
            address = urlsplit(self.url)
            if address.password:
                secrets.hide(address.password, "${…}")
                secrets.hide(basic_credentials(address), "${…}")
        self.headers = {key: secrets.expand(value) for key, value in headers.items()}
        if connect["authorization"]:
            self.headers["Authorization"] = connect["authorization"]

    def client(self) -> HttpClient:
        """A new connection to the server."""
        return HttpClient(self.url, self.opening.connect["timeout"])

    def values(self) -> dict[str, Any]:
        """The values of the placeholders that are texts."""
        return {key: value for key, value in self.opening.connect.items() if isinstance(value, str)}

    def _session(self) -> Session:
        return _HttpSession(self)

    def _describe(self) -> dict[str, Any]:
        description = dict[str, Any]()
        client = self.client()
        try:
            for key, name in (("version", "version"), ("count", "items")):
                if key in self.request:
                    description[name] = self.stated(
                        key, partial(self._stated, client, self.request[key])
                    )
        finally:
            client.close()
        return description

    def _stated(self, client: HttpClient, request: Mapping[str, Any]) -> Any:
        return part_at(self.ask(client, request, self.values()), request["value"])

    def ask(self, client: HttpClient, request: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
        """The answer to a request with its placeholders filled, unless it says that it is not
        whole.
        """
        answer = client.json(
            _method(request),
            _text(request["path"], values, quoted=True),
            _filled(request.get("body"), values),
            self.headers,
        )
        refuse_flagged(answer, self.rules)
        return answer


def _request(name: str, table: Mapping[str, Any], kind: Kind | None) -> tuple[dict[str, Any], Kind]:
    """The request of one kind of search with all its keys, and the kind. Raises BadInput."""
    stated = kind or table.get("kind")
    if stated not in (None, *_KINDS):
        raise BadInput(f"{name}: kind is {shown(stated)}; expected {', '.join(_KINDS)}.")
    kinds = [candidate for candidate in _KINDS if candidate in table]
    search_kind = stated or next(iter(kinds), None)
    if kinds and search_kind not in kinds:
        raise BadUsage(f"{name}: there is no {search_kind} search; it has {', '.join(kinds)}.")
    merged: dict[str, Any] = {
        "path": "/",
        "headers": {},
        **table,
        **table.get(str(search_kind), {}),
    }
    merged["method"] = _method(merged)
    if merged["method"] not in _METHODS:
        raise BadInput(
            f"{name}: method is {shown(merged['method'])}; expected {', '.join(_METHODS)}."
        )
    for key, value in merged["headers"].items():
        if not isinstance(value, str):
            raise BadInput(f"{name}: headers.{key} is {shown(value)}; expected a string.")
    texts = json.dumps([merged["path"], merged.get("body")])
    vector, query = "{vector}" in texts, "{query}" in texts
    if not vector and not query:
        raise BadInput(
            f"{name}: neither path nor body has {{query}} or {{vector}}; write one of them "
            "where the query belongs."
        )
    results = merged.get("results", {})
    _refuse_odd(name, "results.", results, _RESULT_KEYS)
    if ("list" in results) == ("ids" in results) or ("list" in results and "id" not in results):
        raise BadInput(
            f"{name}: results needs list and id (a path to the hits, and one in each hit), or "
            "ids (a path to a list)."
        )
    query_kind: Kind = "hybrid" if vector and query else "vector" if vector else "lexical"
    if stated not in (None, query_kind):
        raise BadUsage(f"{name}: there is no {stated} search; it has {query_kind}.")
    return merged, query_kind


def _method(request: Mapping[str, Any]) -> Any:
    """The method of a request: as it is written, else GET without a body, which some servers take
    in no other way.
    """
    return request.get("method", "GET" if request.get("body") is None else "POST")


def _rules(name: str, request: Mapping[str, Any]) -> FailureRules:
    """The rules of a request, by default the known ones. Raises BadInput."""
    results = request["results"]
    default_rules = known_rules(_preset_rules(), results.get("list") or results["ids"])
    file_rules = _own_rules(name, request)
    return FailureRules(
        (file_rules if "fail_if" in request else default_rules).flags,
        (file_rules if "fail_reason" in request else default_rules).reasons,
    )


class _HttpSession(Session):
    def __init__(self, engine: _HttpEngine) -> None:
        super().__init__(engine)
        self._client, self._request = engine.client(), engine.request
        self._values = engine.values()
        self._results = _filled(engine.request["results"], self._values)

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        values = {
            **self._values,
            **self.settings,
            "query": query.text or "",
            "vector": [] if query.vector is None else query.vector.tolist(),
            "k": k,
        }
        return _hits(self.engine.ask(self._client, self._request, values), self._results)

    def close(self) -> None:
        """Ends the connection of this session."""
        self._client.close()


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """A part of the body with its placeholders filled; a text that is nothing but one takes the
    type of its value.
    """
    if isinstance(part, Mapping):
        return {_text(key, values): _filled(child, values) for key, child in part.items()}
    if isinstance(part, list):
        return [_filled(child, values) for child in part]
    if not isinstance(part, str):
        return part
    placeholder = _PLACEHOLDER.fullmatch(part)
    return (
        values[placeholder[1]] if placeholder and placeholder[1] in values else _text(part, values)
    )


def _text(text: str, values: Mapping[str, Any], *, quoted: bool = False) -> str:
    """A text with its placeholders filled; other braces stay. quoted: as parts of a URL."""

    def _value(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        value = values[match[1]]
        plain = ",".join(map(repr, value)) if isinstance(value, list) else str(value)
        return quote(plain, safe="") if quoted else plain

    return _PLACEHOLDER.sub(_value, text)


def _hits(answer: Any, results: Mapping[str, Any]) -> EngineHits:
    """The hits in an answer. Raises EngineFailure for one of another form."""
    scores: list[Any] | None = None
    if "ids" in results:
        ids = _list_at(answer, results["ids"])
        if "scores" in results:
            scores = _list_at(answer, results["scores"])
    else:
        above, point, _ = results["list"].rpartition(".")
        # Where an answer lacks more than the list, it is not one without hits.
        may_lack = results.get("optional") and isinstance(
            part_at(answer, above) if point else answer, Mapping
        )
        rows = _list_at(answer, results["list"], [] if may_lack else ABSENT)
        ids = [part_at(row, results["id"]) for row in rows]
        if "score" in results:
            scores = [part_at(row, results["score"], None) for row in rows]
            scores = None if None in scores else scores
    for item_id in ids:
        if not isinstance(item_id, (str, int)) or isinstance(item_id, bool) or item_id == "":
            raise EngineFailure(
                "malformed", f"a hit has the id {shown(item_id)}; expected a string or an integer."
            )
    for score in scores or ():
        if not is_number(score):
            raise EngineFailure(
                "malformed", f"a hit has the score {shown(score)}; expected a number."
            )
    if scores is not None and results.get("distance"):
        scores = [0 - score for score in scores]
    return EngineHits([str(item_id) for item_id in ids], scores)


def _list_at(answer: Any, path: str, otherwise: Any = ABSENT) -> list[Any]:
    value = part_at(answer, path, otherwise)
    if not isinstance(value, list):
        raise EngineFailure(
            "malformed", f"{path} in the answer is {shown(value)}; expected a list."
        )
    return value


ENGINES.add(
    "http",
    EngineFamily(
        "http",
        "Any search server that answers JSON over HTTP: a TOML file of the request, or a preset",
        _KINDS,
        _HttpEngine,
        connect=(
            Parameter("url", str, "", "address of the server"),
            Parameter("preset", str, None, "request that comes with rankwell, in place of a file"),
            Parameter("kind", str, None, "search, where the request has several", _KINDS),
            Parameter("authorization", str, "", "the header of this name, as in 'Bearer ${TOKEN}'"),
            Parameter("timeout", float, 30.0, "seconds for an answer"),
        ),
        adapt=_adapt,
    ),
)
