"""Inputs of the cases of `beyond`: those of its smallest command."""

from pathlib import Path

from tasks.beyond import smallest


def write(folder: Path) -> None:
    """The inputs of the smallest command."""
    (folder / "beyond").mkdir()
    smallest.write(folder / "beyond")
