"""The distributions behind intervals and tests: Student's t, the binomial and the beta distribution."""

import importlib
import math
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from rankwell.errors import BadUsage


@cache
def special_functions() -> Any:
    """SciPy's compiled special functions, without the packages around them, which take 0.3 s more to import (ADR 4)."""
    if "scipy.special" in sys.modules:
        return importlib.import_module("scipy.special")
    scipy = find_spec("scipy")
    folder = Path(scipy.origin or "").parent if scipy else Path()
    passed = [name for name in ("scipy", "scipy._lib", "scipy.special") if name not in sys.modules]
    for name in passed:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
    try:
        return importlib.import_module("scipy.special._ufuncs")
    except ImportError:  # A later SciPy may name the file differently.
        pass
    finally:
        # Whoever imports the packages gets the true ones.
        for name in passed:
            del sys.modules[name]
    return importlib.import_module("scipy.special")


def student_quantile(level: float, freedom: int) -> float:
    """The t with P(-t < T < t) = level under Student's t distribution. Raises BadUsage for a level outside (0, 1)."""
    check_level(level)
    return float(special_functions().stdtrit(freedom, (1 + level) / 2))


def student_p(t: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic; 0 below the smallest float64. freedom: degrees of freedom, above 0."""
    square = t * t
    if math.isinf(square):
        return 0.0
    special = special_functions()
    # One and the same function; each form keeps its digits where its argument is not near 1.
    if square > freedom:
        return float(special.betainc(freedom / 2, 0.5, freedom / (freedom + square)))
    return float(special.betaincc(0.5, freedom / 2, square / (freedom + square)))


def binomial_p(n: int, up: int) -> float:
    """The two-sided probability of a split of n coins at least as uneven as `up` of them; 1 where it is even."""
    low = min(up, n - up)
    if 2 * low == n:
        return 1.0
    # Integers all the way: the quotient is rounded once.
    coefficient, total = 1, 1
    for place in range(low):
        coefficient = coefficient * (n - place) // (place + 1)
        total += coefficient
    return 2 * total / (1 << n)


def check_level(level: float) -> None:
    """Raises BadUsage for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise BadUsage(f"the confidence level is {level}; expected a number between 0 and 1, such as 0.95.")
