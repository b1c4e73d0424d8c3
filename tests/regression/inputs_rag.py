"""Inputs of the cases of `rag`: those of its smallest command."""

from pathlib import Path

from tasks.rag import smallest


def write(folder: Path) -> None:
    """The inputs of the smallest command, and those of the other measures."""
    (folder / "rag").mkdir()
    smallest.write(folder / "rag")
