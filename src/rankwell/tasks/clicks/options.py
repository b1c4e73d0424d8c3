"""The options of logged data."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankwell.data.options import ColumnChoice, Doc, Input, InputData, MeasureNames, Option
from rankwell.evaluation.options import StatisticsOptions
from rankwell.stats import Intervals

ValueOf = Literal["row", "query", "position"]


@dataclass(frozen=True, kw_only=True)
class ClickOptions(StatisticsOptions):
    """The choices that decide the values of `evaluate_clicks`."""

    policies: Annotated[
        Any,
        Input(perhaps=True),
        Option(("--policy",), kind=list[str]),
        Doc(
            "A target policy: a column of the log with its probability of what was shown, "
            "or a table of its probabilities by item (and query, and position). NAME=… "
            "names it; repeat it for more.",
            is_common=True,
        ),
    ] = None
    reward_model: Annotated[
        InputData,
        Input(perhaps=True),
        Doc(
            "A model of rewards, for DM, DR and SNDR: a column of the log with its "
            "estimate for what was shown, or a table of estimates by item (and query, and "
            "position)."
        ),
    ] = None
    expected: Annotated[
        Any,
        Option(("--expected",), kind=list[str]),
        Doc(
            "Where policy or reward model is a column: NAME=COLUMN, the log's column with what "
            "the model expects under the policy NAME; repeat it for more."
        ),
    ] = None
    columns: Annotated[
        ColumnChoice | None,
        Option(kind=str),
        Doc(
            "Columns of the log by name: reward=dwell_time, or query=, item=, position= or "
            "propensity=. [default: they go by their usual names]",
            "Input",
            is_common=True,
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "CTR, MeanReward, IPS, SNIPS, DM, DR or SNDR; also IPS(clip=10), ipw or "
            "snipw. Repeat it for more. Without it: those that the inputs allow."
        ),
    ] = None
    value_of: Annotated[
        ValueOf,
        Doc(
            "The value of a policy: the mean over rows, or over queries of the sum of "
            "their rows, as of slates; then weights are normalised position by position. "
            "With `position` also the mean over the rows of each position alone."
        ),
    ] = "row"
    intervals: Annotated[
        Intervals,
        Doc(
            "95 % intervals over queries (rows, where the log has no column of queries): "
            "`bootstrap-t` (exact for a rate of single clicks, else the studentised "
            "bootstrap, at least as wide as Student's t), `bootstrap` (percentiles), "
            "Student's `t`, or none.",
            "Statistics",
        ),
    ] = "bootstrap-t"
