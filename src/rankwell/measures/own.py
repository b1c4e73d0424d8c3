"""Measures of users: any function from judged rankings to a value per query, decorated or passed in
a list of measures.
"""

import inspect
import traceback
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from rankwell.data.code import origin_of
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import MEASURES, OWN_MEASURES, Better, MeasureEntry, Scale
from rankwell.data.tables import Floats, Summary, Unit, unmasked
from rankwell.errors import BadUsage, RankwellError, kind_of

Own = Callable[..., Any]
_OWN: dict[str, MeasureEntry] = {}


def measure(
    function: Own | None = None,
    *,
    name: str | None = None,
    better: Better = "higher",
    unit: Unit = "share",
    bounds: tuple[float, float] = (0.0, 1.0),
    empty: float = 0.0,
    summary: Summary = "mean",
) -> Any:
    """Registers your function as a measure that every command and function knows by name.

    The function takes `JudgedRankings` and returns a number for each query. Its other parameters
    need defaults, and are written in brackets, `k` after `@`: `hits(rel=2)@5`. A function with the
    same name replaces the earlier one.
    Returns the function; without one, a decorator.
    Raises BadUsage for a name that is not one, or belongs to a measure of rankwell.

    Parameters
    ----------
    function
        The function; leave it out to decorate with options.
    name
        Name of the measure. By default the name of the function.
    better
        Which values are better.
    unit
        Unit of the values.
    bounds
        The lowest and the highest value.
    empty
        Value of a query without a ranking.
    summary
        How the queries become one figure.

    >>> import rankwell as rw
    >>> @rw.measure
    ... def top_is_relevant(view, rel=1):
    ...     "Whether the first item is relevant."
    ...     return view.first_rank(view.relevant(rel)) == 1
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate(qrels, run, "top_is_relevant")["top_is_relevant"]
    1.0
    """
    if function is None:
        return partial(
            measure,
            name=name,
            better=better,
            unit=unit,
            bounds=bounds,
            empty=empty,
            summary=summary,
        )
    called = name or function.__name__
    if not called.isidentifier() or (called in MEASURES and called not in _OWN):
        taken = "is a measure of rankwell" if called.isidentifier() else "is not a name"
        raise BadUsage(f"a measure of your own: {called!r} {taken}; pass another as name=.")
    _OWN[called] = _entry(function, called, Scale(bounds, better, unit, empty), summary)
    MEASURES.replace(called, _OWN[called])
    return function


def _entry(function: Own, name: str, scale: Scale, summary: Summary) -> MeasureEntry:
    """The entry of a user's function, whose values are checked. Raises BadUsage for parameters that
    no name can give.
    """
    try:
        view, *other_parameters = inspect.signature(function, eval_str=True).parameters.values()
    except (ValueError, NameError, TypeError) as error:
        raise BadUsage(
            f"{name}: expected a function whose first parameter is a JudgedRankings."
        ) from error
    parameters: dict[str, inspect.Parameter] = {}
    for parameter in other_parameters:
        if parameter.default is parameter.empty:
            raise BadUsage(f"{name}: its parameter {parameter.name!r} has no default; give it one.")
        if parameter.annotation is parameter.empty:
            parameter = parameter.replace(annotation=type(parameter.default))
        parameters[parameter.name] = parameter

    @wraps(function)
    def _checked(judged: Any, **arguments: Any) -> Floats:
        n = len(judged.queries)
        try:
            returned = function(judged, **arguments)
            values = unmasked(returned, f"{name}: the array of values")
        except RankwellError:
            raise
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            raise BadUsage(
                f"the measure {name} failed: {type(error).__name__}: {error} "
                f"({frame.filename}:{frame.lineno}); correct the function."
            ) from error
        if values.shape != (n,) or values.dtype.kind not in "fiub":
            raise BadUsage(
                f"{name}: the function returned {_seen(returned, values)}; expected a number "
                f"for each of {n} queries."
            )
        if (infinite := np.flatnonzero(np.isinf(values))).size:
            raise BadUsage(
                f"{name}: the value of the query {judged.queries[infinite[0]]!r} is "
                f"{values[infinite[0]]}; expected a finite number, or NaN where the measure is "
                "undefined."
            )
        return values.astype(np.float64)

    return MeasureEntry(
        name=name,
        function=_checked,
        view=view.annotation
        if isinstance(view.annotation, type) and view.annotation is not view.empty
        else JudgedRankings,
        parameters=parameters,
        cutoff_parameter="k" if "k" in parameters else None,
        source=", ".join(filter(None, ["own", origin_of(function)])),
        summary=summary,
        **scale._asdict(),
        aliases={},
        expected=None,
        exempt={},
    )


def _seen(returned: Any, values: np.ndarray[Any, Any]) -> str:
    """The words for the values of a function in place of numbers."""
    if values.ndim == 0:
        return kind_of(returned)
    kinds = dict.fromkeys("fiu", "number") | {"b": "boolean", "U": "string"}
    kind = kinds.get(values.dtype.kind, "object")
    return f"{' x '.join(map(str, values.shape))} {kind}{'' if values.size == 1 else 's'}"


@OWN_MEASURES.register("function")
def name_of(function: Own) -> str:
    """The name of a function as a measure; one that is not decorated is registered under its
    own.
    """
    for name, entry in _OWN.items():
        if getattr(entry.function, "__wrapped__", None) is function:
            return name
    measure(function)
    return function.__name__
