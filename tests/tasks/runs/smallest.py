"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "evaluate qrels run"


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    (folder / "run").write_text("q1 Q0 d1 1 2.0 r\nq2 Q0 d3 1 1.0 r\n", encoding="utf-8")
