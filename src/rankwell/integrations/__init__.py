"""Adapters to the tools around retrieval, a file each: they pass results and measures on, and
compute nothing themselves.
"""

import importlib
from typing import Any

from rankwell.errors import MissingExtra


def imported(package: str, extra: str) -> Any:
    """The package of an extra. Raises MissingExtra, which names the extra, where it is not
    installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(
            f"{package} is not installed: pip install 'rankwell[{extra}]'."
        ) from error
