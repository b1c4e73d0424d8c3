"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "pairs targets.txt similarities.txt"


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "targets.txt").write_text("1\n2\n3\n4\n5\n", encoding="utf-8")
    (folder / "similarities.txt").write_text("2\n3\n5\n4\n8\n", encoding="utf-8")
