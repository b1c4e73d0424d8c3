"""The charts of a result, by name."""

from rankwell.core.display import Chart, face
from rankwell.errors import BadUsage
from rankwell.report import CHARTS, ChartData, plain
from rankwell.report.notebook import Result

_MAIN = ("differences", "intervals", "per_query")


@face("chart")
def chart(result: Result, name: str | None) -> Chart:
    """A result's chart of a name, the main one for None. Raises UnknownName, and BadUsage where there is nothing to draw."""
    if name is None:
        found = main_chart(result)
        if found is None:
            raise BadUsage("there is nothing to draw: no query is counted.")
        return found
    found = _made(result, name)
    if found is None:
        others = [each for each in CHARTS if each != name and _made(result, each) is not None]
        raise BadUsage(f"there is nothing to draw as {name!r} here; what can be drawn is {', '.join(others) or 'nothing'}.")
    return found


@face("main chart")
def main_chart(result: Result) -> Chart | None:
    """The chart that says most of a result: differences where it has some, else means; None where nothing is counted."""
    return next((found for found in (_made(result, name) for name in _MAIN) if found is not None), None)


@face("svg")
def svg(spec: Chart) -> str:
    """A chart drawn in lines, without the pixels that `draw` makes as well."""
    import vl_convert

    return vl_convert.vegalite_to_svg(dict(spec))


def _made(result: Result, name: str) -> Chart | None:
    spec = CHARTS[name](ChartData(result.summary, result.values, result.describe(), result.query_attributes))
    # Checkers of a specification do not accept a tuple as an array.
    return None if spec is None else Chart(plain(spec))
