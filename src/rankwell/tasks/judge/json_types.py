"""Rows of JSON output on judgments."""

from typing import Literal, NotRequired, TypedDict


class AgreementObject(TypedDict):
    """An agreement of raters, a cell of their confusion, or the drift, bias or sign of one."""

    kind: Literal["coefficient", "confusion", "drift", "quarter", "bias", "sign"]
    judge: str
    against: NotRequired[str | None]
    name: NotRequired[str | None]
    grade: NotRequired[float | None]
    against_grade: NotRequired[float | None]
    run: NotRequired[str | None]
    other_run: NotRequired[str | None]
    model_alone: NotRequired[str | None]
    corrected: NotRequired[str | None]
    value: NotRequired[float | None]
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    sample: NotRequired[float | None]
    above_others: NotRequired[float | None]
    seconds: NotRequired[float | None]
    items: NotRequired[int | None]
    queries: NotRequired[int | None]


class EstimateObject(TypedDict):
    """An estimated mean of a run, or the difference of two, with intervals for these queries and
    for queries like them.
    """

    run: str
    against: str | None
    measure: str
    mean: float | None
    these_low: float | None
    these_high: float | None
    like_low: float | None
    like_high: float | None
    level: float
    queries: int
    judged: int
    unknown: int
    better: str | None


class ForecastObject(TypedDict):
    """Half the width of the intervals of a difference after more judgments."""

    run: str
    against: str
    more: int
    judged: int
    these: float
    these_low: float
    these_high: float
    like: float
    like_low: float
    like_high: float
