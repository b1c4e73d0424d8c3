"""NumPy's handling of overflow, underflow and undefined values in all that Python calls, whatever
`np.seterr` said before.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Inputs = ParamSpec("Inputs")
Made = TypeVar("Made")


def own_arithmetic(function: Callable[Inputs, Made]) -> Callable[Inputs, Made]:
    """The function under NumPy's own choice: an underflow is 0, anything else a warning."""

    @wraps(function)
    def _call(*arguments: Inputs.args, **keywords: Inputs.kwargs) -> Made:
        # A command that computes nothing starts without NumPy.
        import numpy as np

        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*arguments, **keywords)

    return _call
