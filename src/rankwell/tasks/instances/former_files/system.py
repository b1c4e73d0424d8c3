"""System files: `name`, `notes` and `[training]` of the one system for which the file is named."""

from collections.abc import Mapping
from typing import Any

from rankwell.experiments.files import FORMER_FILES, FormerFile

_KEYS = {"name", "notes", "training"}


def _recognises(content: Mapping[str, Any]) -> bool:
    return bool(content) and set(content) <= _KEYS


def _convert(stem: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """One system; its name in tables becomes the title."""
    title = {"title": content["name"]} if content.get("name") else {}
    return {"system": [{"name": stem, **title, **{name: content[name] for name in ("notes", "training") if name in content}}]}


FORMER_FILES.add("system", FormerFile(_recognises, _convert))
