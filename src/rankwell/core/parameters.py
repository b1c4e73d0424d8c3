"""The parameters of a measure as text and as values: `name=value,…`, cut-offs, and the types that
values are checked against.
"""

import ast
import math
import re
from inspect import Parameter
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from rankwell.errors import BadUsage


def given_parameters(inner: str, text: str) -> dict[str, Any]:
    """The values of `name=value,…` in the brackets of a text. Raises BadUsage."""
    values: dict[str, Any] = {}
    for part in _split(inner):
        key, equals, value = (text.strip() for text in part.partition("="))
        if not equals:
            raise BadUsage(f"{part!r} in {text!r} is not of the form parameter=value.")
        if key in values:
            raise BadUsage(f"{text!r} names the parameter {key!r} twice; keep one of the two.")
        values[key] = read_value(value)
    return values


_LARGEST = 2**53 - 1


_WORDS = {
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "a string",
    NoneType: "None",
}


def check_value(measure: str, parameter: Parameter, value: Any, text: str) -> Any:
    """The value converted to the parameter's type. Raises BadUsage."""
    options = (
        ()
        if get_origin(parameter.annotation) in (Literal, tuple)
        else get_args(parameter.annotation)
    )
    options = options or (parameter.annotation,)
    for kind in options:
        if kind is NoneType and value is None:
            return None
        if get_origin(kind) is Literal and isinstance(value, str) and value in get_args(kind):
            return value
        if (kind is bool and isinstance(value, bool)) or (kind is str and isinstance(value, str)):
            return value
        number = _number(value)
        if kind is int and number is not None and number.is_integer() and abs(number) <= _LARGEST:
            if parameter.name != "k" or number >= 1:
                return int(number)
        elif kind is float and number is not None:
            return number
        elif (
            get_origin(kind) is tuple
            and isinstance(value, tuple)
            and _has_elements(value, get_args(kind)[0])
        ):
            return tuple(sorted(value)) if get_args(kind)[0] is not float else value
    expected = (
        "a positive integer"
        if parameter.name == "k"
        else " or ".join(
            " or ".join(map(repr, get_args(kind)))
            if get_origin(kind) is Literal
            else _WORDS.get(kind, "pairs as in {1:3,2:9}")
            for kind in options
        )
    )
    value_text = write_value(value) if isinstance(value, tuple) else repr(value)
    import difflib

    words = [word for kind in options if get_origin(kind) is Literal for word in get_args(kind)]
    near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise BadUsage(f"{parameter.name}={value_text} in {text!r}: {measure} takes {expected}{hint}")


def _number(value: Any) -> float | None:
    """The value as a finite float64, or None."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _has_elements(values: tuple[Any, ...], kind: Any) -> bool:
    """Whether all are finite numbers, or pairs of them, of which no two begin alike."""
    if kind is float:
        return all(_number(number) is not None for number in values)
    pairs = all(
        isinstance(pair, tuple) and len(pair) == 2 and _has_elements(pair, float) for pair in values
    )
    return pairs and len(dict(values)) == len(values)


def split_names(text: str) -> list[str]:
    """The measures in a text that separates them by blanks; blanks inside brackets separate
    nothing.
    """
    return [part.strip() for part in _split(text, " ")]


def _split(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand outside brackets and quotes."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "{[(") - (letter in ")]}")
            if letter == separator and depth == 0:
                parts.append(text[start:position])
                start = position + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


_LONGEST = 3_000


def read_value(text: str) -> Any:
    """A parameter's value from its text: a number, True, False, None, a quoted or bare word, a
    mapping or a list as a tuple.
    """
    if len(text) > _LONGEST:
        raise BadUsage(
            f"a parameter's value has {len(text)} characters, {text[:20]!r}…; at most "
            f"{_LONGEST} are read."
        )
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    if isinstance(value, float) and not value and re.search(r"[1-9]", re.split("[eE]", text)[0]):
        return text  # 1e-400 is not 0
    if isinstance(value, dict):
        # A key that is there twice has no single meaning.
        return text if len(value) < len(_split(text[1:-1])) else tuple(value.items())
    return tuple(value) if isinstance(value, (list, tuple)) else value


def write_value(value: Any) -> str:
    """The text of a value, from which `read_value` gives it again."""
    if isinstance(value, tuple):
        pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
        inner = ",".join(
            f"{write_value(element[0])}:{write_value(element[1])}"
            if pairs
            else write_value(element)
            for element in value
        )
        return f"{{{inner}}}" if pairs else f"[{inner}]"
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)
