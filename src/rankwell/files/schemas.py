"""The JSON Schema of what commands print as JSON and of the manifest."""

from rankwell.data.catalogue import command_function, command_summaries, suggest
from rankwell.data.json_types import (
    DIALECT,
    FindingObject,
    JsonTables,
    ManifestObject,
    Schema,
    schema_of_type,
)
from rankwell.data.options import arguments_of
from rankwell.errors import UnknownName
from rankwell.evaluation.results import SCHEMA_VERSION

MANIFEST = "manifest"


def schema_names() -> list[str]:
    """The commands that print JSON, and `manifest`."""
    commands = [" ".join(words) for words in command_summaries() if _tables(words)]
    return [*commands, MANIFEST]


def json_schema(name: str) -> Schema:
    """The JSON Schema of `--format json` of a command, such as `judge plan`, or of `manifest`.

    Rows may have further columns, which depend on the task and its options. Raises UnknownName for
    another name.

    >>> sorted(json_schema("check")["properties"])
    ['findings', 'rows', 'rules', 'schema_version']
    """
    definitions: Schema = {}
    if name == MANIFEST:
        schema = schema_of_type(ManifestObject, definitions)
        return _head(name) | schema | {"$defs": definitions}
    tables = _tables(tuple(name.split()))
    if not tables:
        names = schema_names()
        raise UnknownName(f"no command {name!r} prints JSON; {suggest(name, names)}")
    arrays = {
        table: {"type": "array", "items": schema_of_type(row, definitions)}
        for table, row in tables.items()
    }
    findings = {"type": "array", "items": schema_of_type(FindingObject, definitions)}
    return _head(name) | {
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            **arrays,
            "rules": {"type": "object"},
            "findings": findings,
        },
        "required": ["schema_version", "rows", "rules", "findings"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _head(name: str) -> Schema:
    return {"$schema": DIALECT, "$id": f"urn:rankwell:{name.replace(' ', '-')}:{SCHEMA_VERSION}"}


def _tables(words: tuple[str, ...]) -> JsonTables:
    """The tables that a command prints as JSON; empty where it prints none."""
    if words not in command_summaries():
        return JsonTables()
    return next(
        (
            mark
            for argument in arguments_of(command_function(words))
            for mark in argument.marks
            if isinstance(mark, JsonTables)
        ),
        JsonTables(),
    )
