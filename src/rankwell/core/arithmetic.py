"""How NumPy treats overflow, underflow and what has no value, in all that Python calls, whatever `np.seterr` said before."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def own_arithmetic(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """The function under NumPy's own choice: an underflow is 0, anything else a warning."""

    @wraps(function)
    def _call(*given: Given.args, **named: Given.kwargs) -> Made:
        # A command that computes nothing starts without NumPy.
        import numpy as np

        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*given, **named)

    return _call
