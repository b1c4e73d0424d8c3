"""Grid files: `gold`, `[systems.NAME]`, `[parameters]`, `[evaluation]` and `[chart]`."""

from collections.abc import Mapping
from typing import Any

from rankwell.experiments.files import FORMER_FILES, FormerFile


def _recognises(content: Mapping[str, Any]) -> bool:
    return isinstance(content.get("systems"), dict) or "gold" in content


def _convert(_: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """One data set, whose `vary` are the options of the evaluation; the systems keep their calls, files and parameters."""
    evaluation = {"vary": content["evaluation"]} if content.get("evaluation") else {}
    dataset = {"name": "questions", "command": "answers", "gold": content.get("gold", ""), **evaluation}
    shared = {name: content[name] for name in ("parameters", "chart") if name in content}
    systems = [{"name": name, **table} for name, table in content.get("systems", {}).items()]
    return {**shared, "dataset": [dataset], "system": systems}


FORMER_FILES.add("grid", FormerFile(_recognises, _convert))
