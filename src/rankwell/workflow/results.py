"""The steps that follow results: comparison, gate, folder, page. They are methods of results;
`results.pyi` has their types.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from rankwell.commands.compare import write_tables
from rankwell.commands.gate import GateOptions, check_requirements
from rankwell.core.display import STEPS
from rankwell.core.options import takes_options
from rankwell.errors import BadUsage, GateFailed, kind_of
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.results import DETAIL_DEPTH, Results
from rankwell.experiments.comparison import Origin, attribute_named, compare_values
from rankwell.experiments.comparison.judging import ComparisonOptions
from rankwell.experiments.pages import write_report
from rankwell.io.result_folder import read_results, stated_directions
from rankwell.report.drafts import drafting
from rankwell.report.folder import write_result
from rankwell.report.page import NAME
from rankwell.store import refuse_file_name
from rankwell.workflow.writing import writing


@STEPS.register("compare")
@takes_options(ComparisonOptions)
def compare(
    result: Results,
    *,
    options: ComparisonOptions,
    group: str | None = None,
    cluster: str | None = None,
) -> Results:
    """The comparison of the runs on the same queries; options: the fields of `ComparisonOptions`,
    as keywords or as one.

    group: an attribute of the queries, such as a further column of their texts: each of its values
    is judged alone, in `.groups`. cluster: such an attribute, too: queries with the same value are
    drawn and flipped together.
    Raises BadUsage where there is nothing to compare, UnknownName and BadInput for an attribute
    that the queries do not have, and as `compare_values`.

    >>> import rankwell as rw
    >>> qrels = {f"q{number}": {"a": 1} for number in range(12)}
    >>> old, new = ({query: {"a": score, "b": 1.0} for query in qrels} for score in (0.5, 2.0))
    >>> comparison = rw.evaluate(qrels, {"old": old, "new": new}, "RR").compare(baseline="old")
    >>> [(row["run"], row["mean"], row["decisive"]) for row in comparison.differences]
    [('new', 0.5, True)]
    """
    if "differences" in result.objects:
        raise BadUsage(
            "these results are a comparison already; compare the results of an evaluation."
        )
    kept = ("notes", "sources", "details", "items", "queries")
    rules = {
        name: rule for name, rule in result.describe().items() if name not in ("seed", "intervals")
    }

    def _unjudged() -> UnjudgedItems | None:
        if result.details is None:
            return result.objects.get("unjudged")
        return UnjudgedItems.of(DETAIL_DEPTH, result.details)

    own = {name: getattr(result, name) for name in kept}
    origin = Origin(
        rules=rules,
        protocol=result.task,
        unjudged=_unjudged,
        better=stated_directions(rules),
        **own,
    )
    known = _attributes(result) if group is not None or cluster is not None else {}
    advice = "evaluate with texts of the queries that have it as a column, or with details=True"
    return compare_values(
        result.values,
        row_attributes=result.query_attributes,
        group=attribute_named(group, known, advice),
        cluster=attribute_named(cluster, known, advice),
        origin=origin,
        options=options,
    )


def _attributes(result: Results) -> Mapping[str, Mapping[str, str]]:
    """The attributes of the queries, as a folder of the results has them."""
    with TemporaryDirectory() as folder:
        save(result, folder, charts=False)
        return read_results(folder).attributes


@STEPS.register("gate")
@takes_options(GateOptions)
def gate(result: Results, *required: str, options: GateOptions) -> Results:
    """The results themselves, where they meet the requirements: strings such as `nDCG@10 >= 0.38`,
    and `no_regression`.

    options: the fields of `GateOptions`. no_regression: a run of the results, or a folder of
    results, than which no run may be worse; without any requirement the baseline of a comparison.
    Raises GateFailed with what does not hold, BadUsage and UnknownName for what cannot be required.

    >>> import rankwell as rw
    >>> result = rw.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR")
    >>> result.gate("RR >= 0.5") is result
    True
    >>> result.gate("RR >= 0.6")
    Traceback (most recent call last):
    rankwell.errors.GateFailed: run RR: mean is 0.5000 (n = 1), required >= 0.6: 0.1000 too low
    """
    if odd := [each for each in required if not isinstance(each, str)]:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"a requirement is {kind_of(odd[0])}; expected strings, as in gate('nDCG@10 >= "
            "0.38', 'RR >= 0.5')."
        )
    chosen = options.requiring(required, result.objects.get("baseline"))
    with TemporaryDirectory() as folder:
        save(result, folder, charts=False)
        lines, _ = check_requirements(Path(folder), chosen.required(), chosen)
    if failed := [each.told for each in lines if not each.passed]:
        raise GateFailed("; ".join(failed))
    return result


@STEPS.register("save")
def save(
    result: Results, directory: str | Path, *, overwrite: bool = False, charts: bool = True
) -> Results:
    """The results themselves, after writing them into a folder that every command reads, a
    comparison with its tables.

    The lists of single queries, `details.parquet` of `-o`, are in it after `details=True`.
    Raises BadUsage for a folder with files that are not of earlier results, and for one that cannot
    be written; without `overwrite`, for results that were changed, and for those of other inputs,
    runs, measures or settings.
    """
    folder = Path(directory)
    refuse_file_name(folder)
    with writing(folder, overwrite=overwrite), drafting(folder, result.sources.values()) as draft:
        others = write_tables(result, draft) if "differences" in result.objects else []
        write_result(result, folder, tables=result.tables, charts=charts, others=others)
    return result


@STEPS.register("report")
def report(
    result: Results,
    path: str | Path = "report.html",
    *,
    documents: str | Path | Mapping[str, str] | None = None,
    query_texts: str | Path | Mapping[str, str] | None = None,
    thumbnails: str | None = None,
    title: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> Path:
    """The path of the page of the results, which is written; both lists of a query are in it after
    `details=True`.

    path: a file, or a folder for `report.html`. documents: what the items say, as a file or by id.
    query_texts: likewise of the queries, where the results lack it. thumbnails: pictures of the
    items, as a folder or a pattern such as `img/{id}.jpg`. title: by default the names of the runs.
    seed: of the comparison, and of the queries that are drawn where not all can have lists. Raises
    BadUsage for a place that cannot be written; without `overwrite`, for another file there.
    """
    target = Path(path)
    items, queries = (
        str(each) if isinstance(each, Path) else each for each in (documents, query_texts)
    )
    with writing(target, overwrite=overwrite), TemporaryDirectory() as folder:
        target = (
            target
            if target.suffix.lower() in (".html", ".htm") and not target.is_dir()
            else target / NAME
        )
        save(result, folder, charts=False)
        texts = {"documents": items, "query_texts": queries}
        return write_report(
            [folder], target, **texts, thumbnails=thumbnails, title=title, seed=seed
        )[0][0]
