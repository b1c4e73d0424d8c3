"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "images stats images.csv"


def write(folder: Path) -> None:
    """Writes the inputs."""
    rows = "a1,x,reference\na2,x,query\nb1,y,reference\nb2,y,query\n"
    (folder / "images.csv").write_text("image,instance,split\n" + rows, encoding="utf-8")
