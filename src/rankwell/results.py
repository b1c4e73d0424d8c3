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
    RowAttributes,
    attribute_named,
)
from rankwell.data.options import overwriting, own_arithmetic, takes_options
from rankwell.data.tables import Values
from rankwell.errors import BadUsage, GateFailed, RankwellError, kind_of
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.results import DETAIL_DEPTH, ResultData
from rankwell.reporting import plain
from rankwell.reporting.notebook.display import Displayable, Rows, text
from rankwell.store import refuse_file_name, writing_to

if TYPE_CHECKING:
    from rankwell.io.result_folder import ResultFolder
    from rankwell.reporting.system_table import SystemTable

_ADVICE = "evaluate with texts of the queries that have it as a column, or with details=True"


class Results(ResultData, Displayable):
    """The values of every run and measure with the rules that decided them.

    The fields are those of `ResultData`. `summary` has the means with their intervals, `per_query`
    the value of each query, and `findings` what has to be said about the data.
    """

    @own_arithmetic
    def __repr__(self) -> str:
        """The table as on a terminal, without limit of width."""
        return text(self)

    @cached_property
    def summary(self) -> Rows:
        """One row per run and measure, which print as a table."""
        return Rows(super().summary)

    def per_query(self) -> Rows:
        """One row per run, query and measure, which print as a table; `value` is None where the
        query is not counted.
        """
        return Rows(super().per_query())

    @takes_options(ComparisonOptions)
    def compare(
        self, *, options: ComparisonOptions, group: str | None = None, cluster: str | None = None
    ) -> "ComparisonResults":
        """The comparison of the runs on the same queries; options: the fields of
        `ComparisonOptions`, as keywords or as one.

        group: an attribute of the queries, such as a further column of their texts: each of its
        values is judged alone, in `.groups`. cluster: such an attribute, too: queries with the same
        value are drawn and flipped together.
        Raises BadUsage where there is nothing to compare, UnknownName and BadInput for an attribute
        that the queries do not have, and as `compare_values`.

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
        """The scores as a table of runs by measures, which says which systems are significantly
        better than which; None where a run has several scores of one name.
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
        """The results themselves, where they meet the requirements: strings such as `nDCG@10 >=
        0.38`, and `baseline`.

        options: the fields of `GateOptions`. baseline: a run of the results, or a folder of
        results, than which no run may be worse; without any requirement the baseline of a
        comparison.
        Raises GateFailed with what does not hold, BadUsage and UnknownName for what cannot be
        required.

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
        """The results themselves, after writing them into a folder that every command reads, a
        comparison with its tables.

        The lists of single queries, `details.parquet` of `-o`, are in it after `details=True`.
        Raises BadUsage for a folder with files that are not of earlier results, and for one that
        cannot be written; without `overwrite`, for results that were changed, and for those of
        other inputs, runs, measures or settings.
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
        """The path of the page of the results, which is written, and which a notebook shows; both
        lists of a query are in it after `details=True`.

        path: a file, or a folder for `report.html`; by default a temporary one. documents: what the
        items say, as a file or by id. queries: likewise of the queries, where the results lack
        it. thumbnails: pictures of the items, as a folder or a pattern such as `img/{id}.jpg`.
        title: by default the names of the runs. seed: of the comparison, and of the queries that
        are drawn where not all can have lists. Raises BadUsage for a place that cannot be written;
        without `overwrite`, for another file there.
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
    """The results of a comparison; the fields are those of `ComparisonData`."""

    def compare(self, **_: object) -> NoReturn:
        """Raises BadUsage: these results are a comparison."""
        raise BadUsage(
            "these results are a comparison already; compare the results of an evaluation."
        )


@takes_options(ComparisonOptions)
def compare_values(
    values: Sequence[Values],
    *,
    options: ComparisonOptions,
    row_attributes: Sequence[RowAttributes] = (),
    pairs: Sequence[Pair] = (),
    group: Attribute | None = None,
    cluster: Attribute | None = None,
    origin: Origin | None = None,
) -> ComparisonResults:
    """Compares two systems or more on the queries that count for both of a pair.

    values: one element per run and measure. options: the fields of `ComparisonOptions`, as keywords
    or as one.
    row_attributes: for each element the columns that distinguish it from others of its measure
    (`direction`). pairs: those to compare; by default all, or all with the baseline. group: an
    attribute of queries, each of whose values is judged alone, all of them being one family of
    tests. cluster: queries with the same value are drawn and flipped together.
    The same values and seed give the same bytes, in any order of queries. Raises BadUsage,
    UnknownName and BadInput for what cannot be compared, NothingToEvaluate where no two runs share
    a counted query.
    """
    from rankwell.comparison import pairwise

    compared = pairwise.compare_values(
        values,
        options,
        row_attributes=row_attributes,
        pairs=pairs,
        group=group,
        cluster=cluster,
        origin=origin,
    )
    return ComparisonResults(**vars(compared))
