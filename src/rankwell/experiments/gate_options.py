"""The requirements of a gate, as options and as a file states them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from rankwell.core.options import Doc, MeasureNames, Option
from rankwell.core.registry import measure_names


class Gate(NamedTuple):
    """The content of a gate file. require: requirements as text. no_regression: a run or a folder,
    "" where there is none.

    tolerance: the tolerated loss as text, "" where none is given. measures: those that must not be
    worse.
    """

    require: tuple[str, ...] = ()
    no_regression: str = ""
    tolerance: str = ""
    measures: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """The requirements of a gate, and the intervals of differences from a baseline."""

    require: Annotated[
        Sequence[str] | str | None,
        Option(("--require", "-r"), kind=list[str]),
        Doc(
            "[RUN:]MEASURE.FIGURE, then >=, >, <=, < or == and a number, as in "
            "'nDCG@10.ci_low >= 0.38'; repeat it for more. 'AP within 1% of 0.747' fails "
            "above as well. FIGURE is mean (where none is named), sd, ci_low, ci_high, n, "
            "or another column of summary.csv; or median, min or max of the queries. "
            "Without a run it is required of every run but the baseline; "
            "R@1[direction=t2v] chooses rows. Numbers are in the unit of the results; 38% "
            "is 0.38 of shares and 38 of percentages."
        ),
    ] = None
    no_regression: Annotated[
        str | None,
        Doc(
            "The baseline: a run of the folder, or another folder of results, whose runs "
            "are compared with those of the same name (a single one with all). Fails "
            "where a run is significantly worse: the interval of the paired difference, "
            "as in rankwell compare, lies wholly on the worse side of 0. With few queries "
            "a worse run may pass: the test has little power. Times of queries are "
            "compared only where --measure names them (-m latency)."
        ),
    ] = None
    tolerance: Annotated[
        float | str | None,
        Option(kind=str),
        Doc(
            "Fail instead where a run may be worse by more than this (non-inferiority): "
            "where that interval reaches further on the worse side. In the measure's "
            "unit, or in percent of the baseline's mean (1%)."
        ),
    ] = None
    measures: Annotated[
        MeasureNames, Doc("Only this measure must not be worse; repeat it for more.")
    ] = None
    requirements: Annotated[
        Path | None,
        Doc(
            "TOML file with require = [...], no_regression, tolerance and measures = "
            "[...]; options go before it, --require adds to it."
        ),
    ] = None
    intervals: Annotated[
        Literal["bootstrap-t", "bootstrap", "t"],
        Doc(
            "Intervals of the differences: `bootstrap-t` (the studentised bootstrap, at "
            "least as wide as Student's t; for differences of 0/1 values Bonett and "
            "Price's), `bootstrap` (percentiles), or Student's `t`."
        ),
    ] = "bootstrap-t"
    level: Annotated[float, Doc("Level of those two-sided intervals.")] = 0.95
    resamples: Annotated[int, Doc("Of the bootstrap.")] = 10_000
    seed: Annotated[int, Doc("Of the bootstrap.")] = 0

    def requiring(self, stated: Sequence[str], baseline: str | None) -> "GateOptions":
        """The options with further requirements; where nothing else is required, no run may be
        worse than the baseline.
        """
        require = [*stated, *self._stated()]
        is_named = bool(require or self.requirements or self.no_regression)
        return replace(
            self, require=require, no_regression=self.no_regression if is_named else baseline
        )

    def _stated(self) -> Sequence[str]:
        """The requirements of the options; a string is one."""
        return [self.require] if isinstance(self.require, str) else self.require or ()

    def required(self) -> Gate:
        """The requirements of the options and of their file together. Raises BadInput for a file
        that is not a gate.
        """
        file_gate = Gate()
        if self.requirements is not None:
            from rankwell.experiments.requirements import read_gate

            file_gate = read_gate(self.requirements)
        return Gate(
            require=(*file_gate.require, *self._stated()),
            no_regression=file_gate.no_regression
            if self.no_regression is None
            else self.no_regression,
            tolerance=file_gate.tolerance if self.tolerance is None else str(self.tolerance),
            measures=tuple(measure_names(self.measures) or measure_names(file_gate.measures) or ()),
        )
