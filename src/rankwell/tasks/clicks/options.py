"""The options of logged data."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import (
    ColumnChoice,
    Doc,
    Input,
    Lists,
    MeasureNames,
    Option,
    Place,
    TableData,
)
from rankwell.evaluation.options import StatisticsOptions
from rankwell.stats import Intervals

ValueOf = Literal["row", "query", "position"]


@dataclass(frozen=True, kw_only=True)
class ClickOptions(StatisticsOptions):
    """The choices that decide the values of `evaluate_clicks`."""

    policies: Annotated[
        Place | Lists | None,
        Input(perhaps=True),
        Option(("--policy",), kind=list[str]),
        Doc(
            "Target policy: a log column with its probability of showing what was shown, or a "
            "table of its probabilities by item (and query and position). NAME=… names it; repeat "
            "it for more.",
            is_common=True,
        ),
    ] = None
    reward_model: Annotated[
        TableData,
        Input(perhaps=True),
        Doc(
            "Reward model, for DM, DR and SNDR: a log column with its estimate for what was "
            "shown, or a table of estimates by item (and query and position)."
        ),
    ] = None
    expected: Annotated[
        str | Lists | None,
        Option(("--expected",), kind=list[str]),
        Doc(
            "If the policy or reward model is a column: NAME=COLUMN, the log column with the "
            "reward that the model expects under policy NAME; repeat it for more."
        ),
    ] = None
    columns: Annotated[
        ColumnChoice | None,
        Option(kind=str),
        Doc(
            "Column names of the log: reward=dwell_time, or query=, item=, position= or "
            "propensity=. [default: the usual names]",
            "Input",
            is_common=True,
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas: CTR, MeanReward, IPS, SNIPS, DM, DR or SNDR; also "
            "IPS(clip=10), ipw or snipw. [default: all that the inputs allow]"
        ),
    ] = None
    value_of: Annotated[
        ValueOf,
        Doc(
            "Value of a policy: the mean over rows, or the mean over queries of the sum of their "
            "rows, as for slates; weights are then normalised position by position. `position` "
            "adds the mean over the rows of each position."
        ),
    ] = "row"
    intervals: Annotated[
        Intervals,
        Doc(
            "95 % confidence intervals over queries (over rows if the log has no query column): "
            "`bootstrap-t` (exact for a rate of single clicks, otherwise the studentised "
            "bootstrap, never narrower than Student's t), `bootstrap` (percentile), Student's "
            "`t`, or none.",
            "Statistics",
        ),
    ] = "bootstrap-t"
