"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = (
    "engine run sqlite-fts5 --documents docs.tsv --queries asked.tsv --qrels judged.txt "
    "-m RR --rounds 1"
)


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "docs.tsv").write_text(
        "a\tcommand line parsing\nb\tevent scheduler\nc\tparse a date\n", encoding="utf-8"
    )
    (folder / "asked.tsv").write_text("q1\tparse a command\nq2\tscheduler\n", encoding="utf-8")
    (folder / "judged.txt").write_text("q1 0 a 1\nq2 0 b 1\n", encoding="utf-8")
