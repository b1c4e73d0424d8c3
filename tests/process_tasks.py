"""Tasks for processes of their own, which must be able to import them by a short name."""

import os
import time


def pid_after(seconds: float) -> int:
    """The process that this ran in."""
    time.sleep(seconds)
    return os.getpid()
