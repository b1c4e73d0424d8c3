"""Temporary files of this process."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory


@cache
def _scratch() -> "TemporaryDirectory[str]":
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="rankwell-")


def scratch() -> Path:
    """A folder for files of this process alone, in the system's folder of temporary files; removed
    when the process ends.
    """
    return Path(_scratch().name)
