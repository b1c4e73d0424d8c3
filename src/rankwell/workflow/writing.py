"""Writing from Python, where the options of the command line are arguments."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rankwell.core.options import overwriting
from rankwell.store import writing_to


@contextmanager
def writing(place: Path, *, overwrite: bool) -> Generator[None]:
    """As `writing_to` and `overwriting`, for an argument `overwrite`."""
    with writing_to(place), overwriting(overwrite):
        yield
