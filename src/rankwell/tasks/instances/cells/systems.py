"""Systems of `rankwell instances table`: cells that `rankwell instances evaluate` evaluates."""

from collections.abc import Mapping
from typing import Any

from rankwell.experiments.files import CELL_KINDS
from rankwell.experiments.runner.planning import CommandCells


class SystemCells(CommandCells):
    """Systems of `rankwell instances table`; earlier files have `name`, `notes` and `[training]` of
    a single one.
    """

    @classmethod
    def convert(cls, stem: str, content: Mapping[str, Any], /) -> dict[str, Any] | None:
        """One system; its name in tables becomes the title."""
        if not content or not set(content) <= {"name", "notes", "training"}:
            return None
        title = {"title": content["name"]} if content.get("name") else {}
        return {
            "system": [
                {
                    "name": stem,
                    **title,
                    **{name: content[name] for name in ("notes", "training") if name in content},
                }
            ]
        }


CELL_KINDS.add("systems", SystemCells)
