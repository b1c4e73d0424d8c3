"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "judge pool one.run two.run --queries queries.tsv --documents documents.tsv -o study"


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "one.run").write_text("q1 Q0 d1 1 2.0 r\nq1 Q0 d2 2 1.0 r\n", encoding="utf-8")
    (folder / "two.run").write_text("q1 Q0 d2 1 2.0 r\nq1 Q0 d1 2 1.0 r\n", encoding="utf-8")
    (folder / "queries.tsv").write_text("q1\thow to read a file\n", encoding="utf-8")
    (folder / "documents.tsv").write_text("d1\topen a file\nd2\tclose a file\n", encoding="utf-8")
