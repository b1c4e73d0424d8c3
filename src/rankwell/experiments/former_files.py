"""Files of earlier versions that became experiment files: each is recognised by its keys, and converted once."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rankwell.core.catalogue import Catalogue
from rankwell.errors import BadInput
from rankwell.store import Source, read_toml


class FormerFile(NamedTuple):
    """A kind of file of earlier versions. recognises: its content, by the keys. convert: stem and content -> tables of now."""

    recognises: Callable[[Mapping[str, Any]], bool]
    convert: Callable[[str, Mapping[str, Any]], dict[str, Any]]


FORMER_FILES: Catalogue[FormerFile] = Catalogue("former_files", "kind of earlier files")


def is_former(content: Mapping[str, Any]) -> bool:
    """Whether the content of a TOML file is of an earlier version."""
    return any(FORMER_FILES[name].recognises(content) for name in FORMER_FILES)


def convert_former(source: Source) -> str:
    """The text of the experiment file that stands for a file of an earlier version; its comments are lost.

    Raises BadInput where no earlier version wrote such files.
    """
    _, content = read_toml(source)
    for name in FORMER_FILES:
        if FORMER_FILES[name].recognises(content):
            return "\n".join(_lines("", FORMER_FILES[name].convert(source.stem, content))).strip() + "\n"
    raise BadInput(f"{source.name} is not a file of an earlier version; an experiment file needs no conversion.")


def _lines(path: str, content: Mapping[str, Any]) -> list[str]:
    """A table with those below it; values come first, as TOML demands."""
    lines = [f"{_key(name)} = {_value(value)}" for name, value in content.items() if not _is_table(value)]
    for name, value in content.items():
        if _is_table(value):
            inner = f"{path}.{_key(name)}" if path else _key(name)
            for table in value if isinstance(value, list) else [value]:
                lines += ["", f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]", *_lines(inner, table)]
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value))


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("-", "").replace("_", "").isalnum() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # JSON leaves one control character as it is, which TOML does not allow.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else str(value)
