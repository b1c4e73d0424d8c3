"""The tables of JSON output as types, and the JSON Schema of types."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from rankwell.data.findings import Level

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


class FindingObject(TypedDict):
    """A finding: its name and level, its sentence, and what it is about."""

    name: str
    level: Level
    message: str
    run: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]
    queries: NotRequired[Sequence[str]]
    figures: NotRequired[Sequence[float]]


class ScoreObject(TypedDict):
    """The figure of one run and measure over all counted queries; null where it is undefined. A
    task may have further columns, such as the direction.
    """

    run: str
    measure: str
    label: str
    mean: float | None
    sd: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    unit: str
    ceiling: NotRequired[float | None]
    chance: NotRequired[float | None]
    against: NotRequired[str | None]


class DifferenceObject(ScoreObject):
    """A score, or, where `against` names another run, the difference of two runs by a measure; the
    columns of differences are null or absent in scores.
    """

    of: NotRequired[str | None]
    mean_run: NotRequired[float | None]
    mean_against: NotRequired[float | None]
    p: NotRequired[float | None]
    p_adjusted: NotRequired[float | None]
    decisive: NotRequired[bool | None]
    better: NotRequired[str | None]
    role: NotRequired[str | None]
    effect_size: NotRequired[float | None]
    wins: NotRequired[int | None]
    ties: NotRequired[int | None]
    losses: NotRequired[int | None]
    detectable: NotRequired[float | None]
    queries_needed: NotRequired[int | None]


class ValueObject(TypedDict):
    """The value of one run, query and measure; null where the query is not counted."""

    run: str
    query: str
    measure: str
    label: str
    value: float | None
    unit: str


class TextObject(TypedDict):
    """A sentence, such as a verdict."""

    text: str


class AnyObject(TypedDict):
    """A row whose columns depend on the input."""


class InputObject(TypedDict):
    """An input of a folder of results, with the digest of its content."""

    file: str
    digest: str


class ManifestObject(TypedDict):
    """The file `manifest.json` of a folder of results: the rules, the inputs and the files."""

    schema_version: int
    protocol: NotRequired[str]
    rules: Mapping[str, Any]
    inputs: Mapping[str, InputObject]
    left_out: NotRequired[Mapping[str, Any]]
    digits: NotRequired[int]
    findings: Sequence[FindingObject]
    files: Mapping[str, str]


class JsonTables(dict[str, Any]):
    """A mark in `Annotated` of `--format`: the types of the rows of each table that a command
    prints as JSON.
    """


def schema_of_type(declared: Any, definitions: Schema) -> Schema:
    """The JSON Schema of a type. definitions: gets the schema of each `TypedDict` by its name."""
    origin, arguments = get_origin(declared), get_args(declared)
    simple = {str: "string", float: "number", int: "integer", bool: "boolean", NoneType: "null"}
    if declared is Any:
        return {}
    if declared in simple:
        return {"type": simple[declared]}
    if origin is NotRequired or origin is Annotated:
        return schema_of_type(arguments[0], definitions)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is Union or origin is UnionType:
        return {"anyOf": [schema_of_type(argument, definitions) for argument in arguments]}
    if is_typeddict(declared) or is_dataclass(declared) or hasattr(declared, "_fields"):
        name = str(getattr(declared, "__name__", "")).removesuffix("Object")
        if name not in definitions:
            definitions[name] = {}
            hints = get_type_hints(declared, include_extras=True)
            required = getattr(declared, "__required_keys__", hints)
            definitions[name] = {
                "type": "object",
                "description": " ".join((declared.__doc__ or "").partition("\n\n")[0].split()),
                "properties": {
                    field: schema_of_type(hint, definitions) for field, hint in hints.items()
                },
                "required": [field for field in hints if field in required],
            }
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of_type(arguments[1], definitions)}
    return {"type": "array", "items": schema_of_type(arguments[0], definitions)}
