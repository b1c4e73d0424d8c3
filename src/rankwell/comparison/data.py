"""The options of a comparison, what it is about, and what it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from rankwell.data.findings import Finding
from rankwell.data.options import Doc, MeasureNames, Option
from rankwell.data.registry import Better, parse_measure, suggest
from rankwell.errors import BadInput, BadUsage, UnknownName, flag
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.options import Level, Seed
from rankwell.evaluation.results import ResultData
from rankwell.stats import Intervals, check_level
from rankwell.store import Source

Test = Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap"]
Correction = Literal["holm", "bh", "max-t", "tukey", "none"]
TestFamily = Literal["primary", "all"]
Row = dict[str, Any]


_CORRECTIONS = {
    "holm": "Holm",
    "bh": "Benjamini and Hochberg",
    "max-t": "max-T",
    "tukey": "Tukey's HSD",
    "none": "no correction",
}


class Pair(NamedTuple):
    """Two runs to compare. The values of the second are subtracted from those of the first.

    run: the first run.
    against: the second run, which is the baseline where there is one.
    """

    run: str
    against: str


Kind = TypeVar("Kind")
DifferenceIntervals = Annotated[
    Kind,
    Doc(
        "Confidence intervals of differences: `bootstrap-t` (studentised bootstrap, never "
        "narrower than Student's t; Bonett and Price's interval for differences of 0/1 values), "
        "`bootstrap` (percentile), or Student's `t`."
    ),
]


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions:
    """The intervals of differences."""

    help_group = "Statistics"

    intervals: DifferenceIntervals[Intervals] = "bootstrap-t"
    level: Level = 0.95
    resamples: Annotated[
        int, Doc("Number of resamples in the bootstrap and in randomisation tests.")
    ] = 10_000
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(DifferenceOptions):
    """The choices of a comparison. Raises BadUsage for choices that exclude each other, and for
    numbers out of range.
    """

    help_group = "Statistics"

    baseline: Annotated[
        str | None,
        Doc(
            "The run that all others are compared with. [default: the first of two runs, or all "
            "pairs of more]",
            is_common=True,
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures to compare, separated by commas. The first is the primary measure, which "
            "decides the verdicts. [default: all]"
        ),
    ] = None
    test: Annotated[
        Test,
        Doc(
            "Two-sided test: random sign flips (exact for few queries), Student's t, Wilcoxon's "
            "signed-rank test, the sign test, or the studentised bootstrap.",
            is_common=True,
        ),
    ] = "randomisation"
    family: Annotated[
        TestFamily,
        Doc(
            "Family of tests to correct together: all pairs on one measure, where measures other "
            "than the primary one are secondary; or all pairs on all measures."
        ),
    ] = "primary"
    correction: Annotated[
        Correction,
        Doc(
            "Correction for multiple tests: Holm, Benjamini and Hochberg's false discovery rate, "
            "the largest t under shared sign flips, randomised Tukey HSD over all systems on each "
            "measure, or none.",
            is_common=True,
        ),
    ] = "holm"
    power: Annotated[
        float,
        Doc(
            "Power: the probability that a test finds a difference of the size reported as "
            "detectable."
        ),
    ] = 0.8

    def __post_init__(self) -> None:
        check_level(self.level)
        if not self.alpha < self.power < 1:
            raise BadUsage(
                f"the power is {self.power}; expected a number between {self.alpha:g} and 1, "
                "such as 0.8."
            )
        if self.resamples < 1 or self.seed < 0:
            raise BadUsage(
                f"resamples={self.resamples}, seed={self.seed}: expected a positive integer "
                "and a non-negative one."
            )
        if self.correction == "max-t" and self.test != "randomisation":
            raise BadUsage(
                f"max-T comes from sign flips; choose {flag('--test', 'randomisation')}, or "
                f"holm or bh for the {self.test} test."
            )

    def check_clusters(self) -> None:
        """Raises BadUsage for a test that assumes independent queries."""
        if self.test in ("wilcoxon", "sign") or self.correction == "tukey":
            test_name = "Tukey's test" if self.correction == "tukey" else f"the {self.test} test"
            raise BadUsage(
                f"{test_name} assumes independent queries; with clusters choose randomisation, t "
                "or bootstrap, with holm."
            )

    def rules_of_tests(
        self, pairs: str, of: str = "", *, secondary: bool = False
    ) -> dict[str, Any]:
        """The test behind marks in a table, as rules. pairs: what is compared; empty for a single
        pair. of: where. secondary: whether there are measures besides the primary one.
        """
        text = f"{self.test}, two-sided"
        if pairs:
            scope = "and the measures" if self.family == "all" else "by each measure"
            text += f"; {_CORRECTIONS[self.correction]} over {pairs} {scope}{of}"
        if secondary and self.family == "primary":
            text += "; the first measure is primary, others are secondary"
        return {"test": text, "alpha": self.alpha}

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return round(1 - self.level, 12)


@dataclass(frozen=True, kw_only=True)
class GateOptions(DifferenceOptions):
    """The requirements of a gate, and the intervals of differences from a baseline."""

    require: Annotated[
        Sequence[str] | str | None,
        Option(("--require", "-r"), kind=list[str]),
        Doc(
            "[RUN:]MEASURE.FIGURE, then >=, >, <=, < or == and a number, as in 'nDCG@10.ci_low >= "
            "0.38'; repeat it for more. 'Difference(Recall@5) against main >= -0.02' allows a "
            "loss of 2 points, in results of rankwell compare. 'AP within 1% of 0.747' also fails "
            "above that range. FIGURE is mean (the default), sd, ci_low, ci_high, n or another "
            "column of summary.csv, or the median, min or max over queries. Without a run, it "
            "applies to every run except that of --baseline; R@1[direction=t2v] selects rows. "
            "Numbers are in the unit of the results; 38% is 0.38 for shares and 38 for "
            "percentages. FILE.toml has require = [...], baseline, tolerance and measures = "
            "[...]; options override it.",
            "Measures and rules",
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Doc(
            "A run of the folder, or another folder of results, whose runs are compared with "
            "those of the same name (a single run with all). Fails if a run is significantly "
            "worse: the interval of the paired difference, as in rankwell compare, lies entirely "
            "on the worse side of 0. With few queries, a worse run may pass because the test has "
            "little power. Query times (latency) are compared only if --measure names them.",
            is_common=True,
        ),
    ] = None
    tolerance: Annotated[
        float | str | None,
        Option(kind=str),
        Doc(
            "Fail instead if a run may be worse by more than this margin (non-inferiority): if "
            "the interval extends beyond it. In the measure's unit, or in percent of the "
            "baseline's mean (1%).",
            "Measures and rules",
            is_common=True,
        ),
    ] = None
    measures: Annotated[
        MeasureNames, Doc("Measures to check for a loss, separated by commas. [default: all]")
    ] = None
    intervals: DifferenceIntervals[Literal["bootstrap-t", "bootstrap", "t"]] = "bootstrap-t"

    def requiring(self, stated: Sequence[str], baseline: str | None) -> "GateOptions":
        """The options with further requirements; where nothing else is required, no run may be
        worse than the baseline.
        """
        require = [*stated, *self.stated()]
        is_named = bool(require or self.baseline)
        return replace(self, require=require, baseline=self.baseline if is_named else baseline)

    def stated(self) -> Sequence[str]:
        """The requirements of the options; a string is one."""
        return [self.require] if isinstance(self.require, str) else self.require or ()


def known_better(measure: str) -> Better | None:
    """The better direction of a measure; None of another tool's, or a figure of a whole collection,
    such as rsum.
    """
    try:
        return parse_measure(measure).entry.better
    except BadUsage:
        return None


def exact_name(name: str) -> str:
    """The exact name of a measure; the name itself where it is not one of rankwell's."""
    try:
        return str(parse_measure(name))
    except BadUsage:
        return name


class Attribute(NamedTuple):
    """An attribute of queries, such as their type.

    name: the name of the attribute, a column of the queries.
    query_values: query -> text; queries without a value are absent.
    """

    name: str
    query_values: Mapping[str, str]


def attribute_named(
    name: str | None, attributes: Mapping[str, Mapping[str, str]], advice: str
) -> Attribute | None:
    """An attribute of the queries, None for none. Raises UnknownName; BadInput with the advice
    where they have none at all.
    """
    if name is None:
        return None
    if not attributes:
        raise BadInput(f"the queries have no attributes to take {name!r} from; {advice}.")
    if name not in attributes:
        raise UnknownName(f"no query has a column {name!r}; {suggest(name, attributes)}")
    return Attribute(name, attributes[name])


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The origin of values, for the rules and the folder of a comparison.

    rules: every choice that decided the values, by name; the comparison adds its own.
    findings: findings on the values; those of the comparison follow them.
    sources: the file behind the values, by the name of the input or of the run.
    details, items, queries: the columns of the files of these names, which the folder of the
        comparison also has; None where there is no such file.
    better: exact name of a measure -> the direction of better values; a measure that is absent has
        its registered direction.
    task: the kind of result, which decides the word for a query.
    unjudged: function that returns the unjudged items among the first of each query, called when
        they are needed; its result is None where they are not known.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    details: Mapping[str, Sequence[Any]] | None = None
    items: Mapping[str, Sequence[Any]] | None = None
    queries: Mapping[str, Sequence[Any]] | None = None
    better: Mapping[str, Better] = field(default_factory=dict)
    task: str = "runs"
    unjudged: Callable[[], UnjudgedItems | None] = lambda: None


INHERITED = ("sources", "details", "items", "queries", "task")
"""What a comparison has of the results that it compares."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonData(ResultData):
    """A comparison of systems.

    method: the options of the comparison.
    baseline: the run that all others are compared with, None where there are several.
    differences: a row for each measure and pair of runs.
    verdicts: sentences, one for each pair, or a single one about the leader of many.
    headlines: the verdicts in short, on the first measure only.
    groups: the differences in each group of queries; empty where queries are not grouped.
    systems: for three systems or more, the mean and rank of each by each measure, and the systems
        that it is significantly better than.
    orders: the correlations between two orders of systems: by two measures, or over all queries and
        over a group.
    borda: the Borda points of each system over the measures that all systems have.
    mean_ranks: for each measure the mean ranks of the systems over queries, with Friedman's test.
    """

    method: ComparisonOptions
    baseline: str | None
    differences: tuple[Row, ...]
    verdicts: tuple[str, ...]
    headlines: tuple[str, ...]
    groups: tuple[Row, ...]
    systems: tuple[Row, ...]
    orders: tuple[Row, ...]
    borda: tuple[Row, ...]
    mean_ranks: tuple[Row, ...]
