"""Declared keywords in JSON: `{group: [label, …]}`, and the same with aliases and wider keywords."""

import json
from typing import Any

from rankwell.errors import BadInput, BadUsage
from rankwell.io import Place
from rankwell.store import Source, decode_id
from rankwell.tasks.clips.annotations import Schema
from rankwell.tasks.clips.vocabulary import Keyword, Vocabulary

_FORM = '{"group": ["label", {"label": "sedan", "aliases": ["saloon"], "parent": "small vehicle"}]} is wanted'


def read_schema(place: Place) -> Schema:
    """The declared keywords of a JSON file `{group: [label, …]}`.

    A label may be an object with `label`, `aliases` (a list of other texts for it) and `parent` (the wider label of its group
    that it implies). Raises BadInput that names the place for another form, a label that comes twice, a parent that is no label
    of the group, and parents in a circle; an alias that reads like another label is told by `rankwell clips lint`.
    """
    source = Source(place)
    try:
        found: Any = json.loads(decode_id(source.read()), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise BadInput(f"{source.name}:{error.lineno}: {error.msg} at column {error.colno}; {_FORM}.") from error
    except (BadUsage, RecursionError) as error:
        raise BadInput(f"{source.name}: {error}; {_FORM}.") from error
    if not isinstance(found, dict) or not found:
        raise BadInput(f"{source.name}: $ is {_seen(found)}; {_FORM}.")
    declared: dict[str, Any] = found
    try:
        return _schema(declared)
    except BadInput as error:
        raise type(error)(f"{source.name}: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        double = next(key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1)
        raise BadUsage(f"the key {double!r} stands twice in one object")
    return whole


def _schema(declared: dict[str, Any]) -> Schema:
    entries: list[Keyword] = []
    aliases: dict[str, list[Keyword]] = {}
    wider: dict[Keyword, str] = {}
    for group, labels in declared.items():
        if not isinstance(labels, list):
            raise BadInput(f"$[{group!r}] is {_seen(labels)}; {_FORM}.")
        for place, each in enumerate(labels):
            label, others, parent = _label(each, f"$[{group!r}][{place}]")
            entry = Keyword(group, label)
            entries.append(entry)
            for alias in others:
                aliases.setdefault(alias, []).append(entry)
            if parent is not None:
                wider[entry] = parent
    vocabulary = Vocabulary(tuple(entries), {alias: tuple(meant) for alias, meant in aliases.items()})
    return Schema(vocabulary, _parents(wider, set(entries)))


def _label(each: Any, place: str) -> tuple[str, list[str], str | None]:
    """A label with its aliases and its parent."""
    if isinstance(each, str):
        return each.strip(), [], None
    if not isinstance(each, dict) or not isinstance(each.get("label"), str) or set(each) - {"label", "aliases", "parent"}:
        raise BadInput(f"{place} is {_seen(each)}; {_FORM}.")
    entry: dict[str, Any] = each
    aliases, parent = entry.get("aliases", []), entry.get("parent")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise BadInput(f"{place}['aliases'] is {_seen(aliases)}; a list of texts is wanted.")
    if parent is not None and not isinstance(parent, str):
        raise BadInput(f"{place}['parent'] is {_seen(parent)}; a label of the same group is wanted.")
    others: list[str] = aliases
    return entry["label"].strip(), others, parent


def _parents(wider: dict[Keyword, str], known: set[Keyword]) -> dict[Keyword, Keyword]:
    parents: dict[Keyword, Keyword] = {}
    for entry, label in wider.items():
        parents[entry] = Keyword(entry.group, label.strip())
        if parents[entry] not in known:
            raise BadInput(f"the parent {label!r} of {entry.label!r} is no label of the group {entry.group!r}; declare it there.")
    for entry in parents:
        seen, above = {entry}, parents.get(entry)
        while above is not None:
            if above in seen:
                raise BadInput(f"the parents of {entry.label!r} in the group {entry.group!r} go in a circle; break it.")
            seen.add(above)
            above = parents.get(above)
    return parents


def _seen(thing: Any) -> str:
    text = repr(thing)
    return f"{text[:40]}{'…' if len(text) > 40 else ''} ({type(thing).__name__})"
