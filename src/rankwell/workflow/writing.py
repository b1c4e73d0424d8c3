"""Writing from Python, where the options of the command line are arguments."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rankwell.core.options import overwriting
from rankwell.errors import BadUsage
from rankwell.store import writing_to


@contextmanager
def writing(place: Path, *, overwrite: bool) -> Generator[None]:
    """As `writing_to` and `overwriting`; errors name the argument in place of `--overwrite`."""
    try:
        with writing_to(place), overwriting(overwrite):
            yield
    except BadUsage as error:
        words = re.sub(r"(?:pass )?--overwrite\b", "pass overwrite=True", str(error)).replace(" with -o", "")
        if words == str(error):
            raise
        raise type(error)(words) from error
