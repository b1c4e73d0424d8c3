"""Adapters to the tools around retrieval, a file each: they pass results and measures on, and
compute nothing themselves.
"""

import importlib
from typing import Any

from rankwell.errors import needing


def imported(package: str, extra: str) -> Any:
    """The package of an extra. Raises MissingExtra, which names the extra, where it is not
    installed.
    """
    with needing(f"{package} is not installed: pip install 'rankwell[{extra}]'."):
        return importlib.import_module(package)
