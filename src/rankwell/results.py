"""The results of an evaluation, and what follows from them: comparison, gate, folder, page."""

# Only what every evaluation needs is imported here: comparison, folders and pages come with the
# methods that need them.
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from rankwell.comparison.data import (
    INHERITED,
    Attribute,
    ComparisonData,
    ComparisonOptions,
    GateOptions,
    Origin,
    Pair,
    attribute_named,
)
from rankwell.data.options import overwriting, own_arithmetic, takes_options
from rankwell.data.tables import Values
from rankwell.errors import BadUsage, GateFailed, RankwellError, kind_of
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.results import DETAIL_DEPTH, ResultData, RowAttributes
from rankwell.reporting import plain
from rankwell.reporting.notebook.display import Displayable, Rows, text
from rankwell.store import refuse_file_name, writing_to

if TYPE_CHECKING:
    from rankwell.io.result_folder import ResultFolder
    from rankwell.reporting.system_table import SystemTable

_ADVICE = "evaluate with texts of the queries that have it as a column, or with details=True"


class Results(ResultData, Displayable):
    """The scores of one or several runs: what every evaluation returns.

    Print it, or end a notebook cell with it, to see the table of means. `result["nDCG@10"]` is a
    mean; of several runs, a dictionary with the mean of each.

    summary: the means, a row per run and measure.
    findings: findings on the data.
    counts: how many queries counted.
    values: the value of each query, an element for each run and measure.
    rules: every choice that decided a number, by name.
    measures: the measures, with their labels.
    sources: the file that each input was read from; inputs from memory are absent.
    details: the top items and every judged item of each query, with rank, score and grade; None
        without `details=True`.
    queries: the texts of the queries and their further columns; None for tasks without them.
    items: the texts of the items, where the task reads them; otherwise None.
    tables: further tables of the task, by name.
    intervals: the kind of interval around means.
    seed: seed of the bootstrap.

    >>> import rankwell as rw
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> result = rw.evaluate(qrels, {"mine": run}, ["RR", "P@1"])
    >>> result["RR"]
    0.75
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "RR"]
    [('q1', 1.0), ('q2', 0.5)]
    """

    @own_arithmetic
    def __repr__(self) -> str:
        """The table as on a terminal, without limit of width."""
        return text(self)

    @cached_property
    def summary(self) -> Rows:
        """The means: a row per run and measure, which print as a table."""
        return Rows(super().summary)

    def per_query(self) -> Rows:
        """The value of each query: a row per run, query and measure, which print as a table.

        `value` is None for a query that does not count.
        """
        return Rows(super().per_query())

    @takes_options(ComparisonOptions)
    def compare(
        self, *, options: ComparisonOptions, group: str | None = None, cluster: str | None = None
    ) -> "ComparisonResults":
        """Compares the runs on the same queries: which is better, by how much, and how certain that
        is.

        Returns the differences with intervals and corrected tests; printed, it says which run is
        better.
        Raises BadUsage for fewer than two runs, and for a baseline that is not among them,
        UnknownName and BadInput for an attribute that the queries do not have, NothingToEvaluate
        where no two runs share a counted query.

        Parameters
        ----------
        group
            Attribute of the queries, such as a further column of their texts. Each of its values is
            compared separately, in `groups`.
        cluster
            Attribute of the queries. Queries with the same value are resampled together, because
            they are not independent.

        >>> import rankwell as rw
        >>> qrels = {f"q{number}": {"a": 1} for number in range(12)}
        >>> old, new = ({query: {"a": score, "b": 1.0} for query in qrels} for score in (0.5, 2.0))
        >>> comparison = rw.evaluate(qrels, {"old": old, "new": new}, "RR").compare(baseline="old")
        >>> [(row["run"], row["mean"], row["decisive"]) for row in comparison.differences]
        [('new', 0.5, True)]
        """
        from rankwell.io.result_folder import query_attributes

        attributes = query_attributes(self.queries or {})
        return compare_values(
            self.values,
            options=options,
            row_attributes=self.query_attributes,
            group=attribute_named(group, attributes, _ADVICE),
            cluster=attribute_named(cluster, attributes, _ADVICE),
            origin=self.origin(),
        )

    def origin(self) -> Origin:
        """The origin of the values, for a comparison of them."""
        from rankwell.io.result_folder import stated_directions

        rules = {
            name: rule
            for name, rule in self.describe().items()
            if name not in ("seed", "intervals")
        }
        return Origin(
            rules=rules,
            findings=self.data_findings,
            **{name: getattr(self, name) for name in INHERITED},
            unjudged=self._unjudged_items,
            better=stated_directions(rules),
        )

    @own_arithmetic
    def score_table(self) -> "SystemTable | None":
        """The scores as a table of runs by measures, with marks for significant differences.

        Returns the table, with a row for each run; None where a run has several scores of one name.
        """
        from rankwell.io.result_folder import result_kind, stated_directions
        from rankwell.reporting.system_table import score_table

        rows = [row for row in self.summary if row.get("against") is None]
        runs, rules, directions = {row["run"] for row in rows}, self.describe(), {}
        comparison = self if isinstance(self, ComparisonResults) else None
        if comparison is None and len(runs) > 1:
            with suppress(RankwellError):
                comparison = self.compare(intervals="none")
        if comparison is not None:
            directions = {row["of"]: row["better"] for row in comparison.differences}
            baseline = comparison.baseline
            pairs = "all pairs" if baseline is None else f"every system against {baseline}"
            rules |= comparison.method.rules_of_tests(
                pairs if len(runs) > 2 else "", secondary=len(directions) > 1
            )
        return score_table(
            rows,
            stated_directions(rules) | directions,
            rules,
            differences=() if comparison is None else comparison.differences,
            attributes=[name for name in self.query_columns if name != "against"],
            noun=result_kind(self.task).noun[1],
        )

    def _unjudged_items(self) -> UnjudgedItems | None:
        if self.details is None:
            return self.unjudged
        return UnjudgedItems.of(DETAIL_DEPTH, self.details)

    @takes_options(GateOptions)
    def gate(self, *required: str, options: GateOptions) -> Self:
        """Checks the results against your requirements, for tests and pipelines.

        Without any requirement, a comparison is checked against its own baseline.
        Returns the results themselves, so that calls can be chained.
        Raises GateFailed with a sentence for each requirement that is not met, BadUsage and
        UnknownName for a requirement that cannot be read, or names a measure that is not there.

        Parameters
        ----------
        required
            Requirements such as `"nDCG@10 >= 0.38"`.
        baseline
            A run of these results, or a folder of results, than which no run may be significantly
            worse.

        >>> import rankwell as rw
        >>> result = rw.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR")
        >>> result.gate("RR >= 0.5") is result
        True
        >>> result.gate("RR >= 0.6")
        Traceback (most recent call last):
        rankwell.errors.GateFailed: run RR: mean is 0.5000 (n = 1), required >= 0.6: 0.1000 too low
        """
        from rankwell.comparison.gate import check_requirements

        if odd := [text for text in required if not isinstance(text, str)]:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadUsage(
                f"a requirement is {kind_of(odd[0])}; expected strings, as in gate('nDCG@10 >= "
                "0.38', 'RR >= 0.5')."
            )
        baseline = self.baseline if isinstance(self, ComparisonResults) else None
        lines, _ = check_requirements(
            self.as_folder(), plain(self.summary), options.requiring(required, baseline)
        )
        if failures := [line.explanation for line in lines if not line.passed]:
            raise GateFailed("; ".join(failures))
        return self

    def as_folder(self) -> "ResultFolder":
        """The content that a folder of the results would have, without their lists."""
        from rankwell.io.result_folder import ResultFolder, query_attributes, stated_directions

        attributes = [dict(row) for row in self.query_attributes]
        evaluated = [
            index for index, row in enumerate(attributes) if row.pop("against", None) is None
        ]
        rules = self.describe()
        return ResultFolder(
            place=Path("the result"),
            values=tuple(self.values[index] for index in evaluated),
            row_attributes=tuple(attributes[index] for index in evaluated),
            rules=rules,
            better=stated_directions(rules),
            inputs={},
            attributes=query_attributes(self.queries or {}),
            protocol=self.task,
            files={},
        )

    @own_arithmetic
    def save(self, directory: str | Path, *, overwrite: bool = False, charts: bool = True) -> Self:
        """Writes the results to a folder that every command can read.

        Call it on a comparison to save its tables, too. Evaluate with `details=True` first if the
        folder should hold the lists of individual queries.
        Returns the results themselves, so that calls can be chained.
        Raises BadUsage for a folder that cannot be written, one that holds other files, and,
        without `overwrite`, one with other results.

        Parameters
        ----------
        directory
            The folder; it is made if it does not exist.
        overwrite
            Replace other results that are there.
        charts
            Draw the charts, too.

        >>> import tempfile
        >>> from pathlib import Path
        >>> import rankwell as rw
        >>> result = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = result.save(folder, charts=False)
        ...     print((Path(folder) / "summary.csv").read_text().splitlines()[0][:25])
        run,measure,label,mean,sd
        """
        from rankwell.reporting.difference_tables import write_comparison
        from rankwell.reporting.drafts import drafting
        from rankwell.reporting.folder import write_result

        folder = Path(directory)
        refuse_file_name(folder)
        with (
            writing_to(folder),
            overwriting(overwrite),
            drafting(folder, self.sources.values()) as draft,
        ):
            table_paths = (
                write_comparison(self.tables, draft) if isinstance(self, ComparisonResults) else []
            )
            write_result(self, folder, tables=self.tables, charts=charts, others=table_paths)
        return self

    @own_arithmetic
    def report(
        self,
        path: str | Path | None = None,
        *,
        documents: str | Path | Mapping[str, str] | None = None,
        queries: str | Path | Mapping[str, str] | None = None,
        thumbnails: str | None = None,
        title: str | None = None,
        seed: int = 0,
        overwrite: bool = False,
    ) -> "ReportPath":
        """Writes the page of the results: one HTML file that opens anywhere.

        A notebook shows the page. Evaluate with `details=True` first to see the lists of individual
        queries on it.
        Returns the path of the page.
        Raises BadUsage for a place that cannot be written, and, without `overwrite`, for another
        file there.

        Parameters
        ----------
        path
            The file, or a folder for `report.html`. By default a temporary file.
        documents
            Texts of the items: a file, or a mapping from id to text.
        queries
            Texts of the queries, in the same form, if the results do not have them.
        thumbnails
            Pictures of the items: a folder, or a pattern such as `img/{id}.jpg`.
        title
            Title of the page. By default the names of the runs.
        seed
            Seed for the comparison, and for the choice of queries if not all can be shown.
        overwrite
            Replace another file.

        >>> import tempfile
        >>> import rankwell as rw
        >>> result = rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", details=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(folder).name
        'report.html'
        """
        from tempfile import TemporaryDirectory, mkdtemp

        from rankwell.comparison.pages import write_report
        from rankwell.reporting.page import NAME

        target = Path(mkdtemp(prefix="rankwell-") if path is None else path)
        items, queries = (
            str(texts) if isinstance(texts, Path) else texts for texts in (documents, queries)
        )
        with writing_to(target), overwriting(overwrite), TemporaryDirectory() as folder:
            if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
                target /= NAME
            self.save(folder, charts=False)
            pages, _ = write_report(
                [folder],
                target,
                documents=items,
                queries=queries,
                thumbnails=thumbnails,
                title=title,
                seed=seed,
            )
        return ReportPath(pages[0])


class ReportPath(type(Path())):
    """The path of a page, which a notebook shows."""

    def _repr_html_(self) -> str:
        from html import escape

        page = escape(self.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" width="100%" height="700"></iframe>'


class ComparisonResults(ComparisonData, Results):
    """A comparison of runs: what `Results.compare` and `compare_values` return.

    Print it to see which run is better. It has the means of the runs as well, in `summary`.

    method: the options of the comparison.
    baseline: the run that all others are compared with; None where all pairs are compared.
    differences: a row for each measure and pair of runs: the difference, its interval, the p-value
        and whether it is decisive.
    verdicts: a sentence for each pair.
    headlines: the verdicts in short, on the first measure only.
    groups: the differences in each group of queries.
    systems: for three or more runs, the mean and rank of each by each measure, and the runs that it
        is significantly better than.
    orders: correlations between two orders of the runs: by two measures, or over all queries and
        over a group.
    borda: Borda points of each run over the measures that all runs have.
    mean_ranks: mean ranks of the runs over queries by each measure, with Friedman's test.

    >>> import rankwell as rw
    >>> qrels = {f"q{number}": {"a": 1} for number in range(12)}
    >>> old, new = ({query: {"a": score, "b": 1.0} for query in qrels} for score in (0.5, 2.0))
    >>> comparison = rw.evaluate(qrels, {"old": old, "new": new}, "RR").compare(baseline="old")
    >>> comparison.baseline, comparison.differences[0]["mean"]
    ('old', 0.5)
    """

    def compare(self, **_: object) -> NoReturn:
        """Refuses: these results are a comparison already.

        Raises BadUsage always.
        """
        raise BadUsage(
            "these results are a comparison already; compare the results of an evaluation."
        )


@takes_options(ComparisonOptions)
def compare_values(
    values: Sequence[Values],
    *,
    options: ComparisonOptions,
    row_attributes: Sequence[RowAttributes] = (),
    pairs: Sequence[tuple[str, str]] = (),
    group: tuple[str, Mapping[str, str]] | None = None,
    cluster: tuple[str, Mapping[str, str]] | None = None,
    origin: Origin | None = None,
) -> ComparisonResults:
    """Compares two or more systems by per-query values that you already have.

    Use `Results.compare` for runs that you evaluate here. Each pair is compared on the queries that
    count for both. The same values and seed give the same figures, whatever the order of the
    queries.
    Raises BadUsage, UnknownName and BadInput for values that cannot be compared, NothingToEvaluate
    where no two runs share a counted query.

    Parameters
    ----------
    values
        A list of Values, one for each run and measure.
    row_attributes
        A mapping for each element of `values`: columns that distinguish it from others with the
        same run and measure, such as `{"direction": "t2v"}`.
    pairs
        The pairs to compare: a run, and the run that its values are compared with. By default all
        pairs, or all with the baseline.
    group
        Attribute of the queries: its name, and a mapping query -> text. Each of its values is
        compared separately. By default none.
    cluster
        Attribute of the queries in the same form. Queries with the same value are resampled
        together. By default none.
    origin
        Where the values come from, for the rules of the result.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> queries = tuple(f"q{number:02}" for number in range(10))
    >>> values = [
    ...     rw.Values(run, "RR", "RR", "share", "mean", queries, np.full(10, value))
    ...     for run, value in {"old": 0.5, "new": 1.0}.items()
    ... ]
    >>> rw.compare_values(values, baseline="old").differences[0]["mean"]
    0.5
    """
    from rankwell.comparison import pairwise

    compared = pairwise.compare_values(
        values,
        options,
        row_attributes=row_attributes,
        pairs=[Pair(*pair) for pair in pairs],
        group=group and Attribute(*group),
        cluster=cluster and Attribute(*cluster),
        origin=origin,
    )
    return ComparisonResults(**vars(compared))
