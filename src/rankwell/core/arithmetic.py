"""NumPy's rules for overflow, underflow and undefined results, the same whatever the caller chose with `np.seterr`."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def own_arithmetic(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """The function under NumPy's own choice: an underflow is 0, anything else a warning."""

    @wraps(function)
    def _call(*given: Parameters.args, **named: Parameters.kwargs) -> Returned:
        # A command that computes nothing starts without NumPy.
        import numpy as np

        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*given, **named)

    return _call
