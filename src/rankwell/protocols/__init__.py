"""Complete recipes, one file per command: `evaluate.py` is `rankwell evaluate`, `demo_clips.py` is `rankwell demo clips`.

A file holds a function of the command's last word; its docstring is the help, its typed parameters are the options. The first
line of the file's docstring is the command's line in `rankwell --help`, read without importing the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

Progress = Annotated[Callable[[str, int, int], None] | None, Parameter(parse=False)]


@dataclass(frozen=True)
class Output:
    """What a command has to say: `text` goes to standard output, `notes` to standard error, `exit_code` to the shell."""

    text: str = ""
    notes: tuple[str, ...] = ()
    exit_code: int = 0
