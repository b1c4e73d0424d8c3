"""Requirements on results, such as nDCG@10 >= 0.38 or that no run is worse than a baseline."""

from collections.abc import Sequence
from itertools import compress
from pathlib import Path

from rankwell.comparison.data import ComparisonOptions, GateOptions, Origin
from rankwell.comparison.folders import Gathered, from_folders
from rankwell.comparison.pairwise import compare_values
from rankwell.comparison.requirements import (
    GateLine,
    Row,
    SummaryFigures,
    Tolerance,
    about_row,
    check_requirement,
    counted_text,
    parse_requirement,
    required_of,
)
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import not_compared
from rankwell.data.registry import measure_names, suggest
from rankwell.data.tables import Unit, Values, format_value
from rankwell.errors import BadInput, BadUsage, UnknownName, flag
from rankwell.io.result_folder import (
    PER_QUERY,
    ResultFolder,
    is_result_folder,
    other_place,
    read_results,
)
from rankwell.reporting.charts import difference_label
from rankwell.stats import MIN_QUERIES
from rankwell.store import remote_url

Outcome = tuple[list[GateLine], list[Finding]]
"""The outcome of every requirement, and findings."""


def check_requirements(results: ResultFolder, rows: Sequence[Row], options: GateOptions) -> Outcome:
    """The outcome of every requirement, and findings. rows: the summary of the results.

    Raises BadUsage where nothing is required.
    """
    required = required_of(options)
    if not required.stated() and not required.baseline:
        raise BadUsage(
            "nothing is required; add --require 'nDCG@10.ci_low >= 0.38' or --baseline BASELINE."
        )
    for option, name, setting in (
        ("--tolerance", "", required.tolerance),
        ("--measure", "measures", required.measures),
    ):
        if setting and not required.baseline:
            raise BadUsage(
                f"{flag(option, name=name)} belongs to {flag('--baseline')}; name the baseline."
            )
    parsed = [parse_requirement(text) for text in required.stated()]
    known_figures = SummaryFigures(rows, results.values, results.row_attributes, results.rules)
    baseline = required.baseline
    baseline_run = baseline if baseline in results.runs else None
    lines = [
        line
        for requirement in parsed
        for line in check_requirement(requirement, known_figures, besides=baseline_run)
    ]
    if not baseline:
        return lines, []
    compared, findings = _against(results, required, baseline)
    measured_pairs = {(values.run, values.measure) for values in results.values}
    aggregate_labels = dict.fromkeys(
        row["label"]
        for row in known_figures.rows
        if row.get("against") is None and (row["run"], row["measure"]) not in measured_pairs
    )
    if aggregate_labels and not required.measures:
        reason = (
            f"{', '.join(aggregate_labels)}: a figure of the whole has no values of queries, and "
            "is not compared with the baseline"
        )
        findings.append(not_compared(reason))
    return [*lines, *compared], list(dict.fromkeys(findings))


_AttributedValues = tuple[Values, Row]
_TIMES: Unit = "ms"


def _against(results: ResultFolder, required: GateOptions, baseline: str) -> Outcome:
    """A line for every run and measure that is compared with the baseline, and findings."""
    tolerance = Tolerance.of(str(required.tolerance)) if required.tolerance else None
    folders = [("", results), *_other_folder(results, baseline)]
    gathered = from_folders(folders, details=False)
    measures = measure_names(required.measures)
    measured, times = _compared_measures(gathered, measures or ())
    pairs, new = _pairs(results, baseline, gathered)
    findings = [*gathered.origin.findings, *times]
    unnamed = f"has no run of its name in {baseline}, and is not compared"
    findings += [not_compared(f"{run} {unnamed}") for run in new]
    keys = list(dict.fromkeys(name for facts in gathered.row_attributes for name in facts))
    settings = {
        name: getattr(required, name) for name in ("intervals", "level", "resamples", "seed")
    }
    rows = list[Row]()
    for run, base in pairs:
        of_pair = [(values, facts) for values, facts in measured if values.run in (run, base)]
        if not measures:
            of_pair, labels = _shared(of_pair, run, base)
            if labels:
                reason = f"{base} has no such values, and they are not compared"
                findings.append(not_compared(f"{', '.join(labels)}: {reason}"))
        result = compare_values(
            [values for values, _ in of_pair],
            ComparisonOptions(
                baseline=base, measures=measures, test="t", correction="none", **settings
            ),
            row_attributes=[facts for _, facts in of_pair],
            origin=Origin(better=gathered.origin.better),
        )
        for row in result.differences:
            _check_lost_queries(row, of_pair)
        findings += result.data_findings
        rows += result.differences
    judged = [row for row in rows if row["better"] != "neither"]
    if not judged:
        undirected = ", ".join(dict.fromkeys(row["of"] for row in rows))
        raise BadUsage(
            f"neither higher nor lower values of {undirected} are better; nothing can be worse."
        )
    if tolerance:
        tolerance.check_units(list(dict.fromkeys(row["unit"] for row in judged)))
    return [_compared(row, tolerance, keys, required.level) for row in judged], findings


def _compared_measures(
    gathered: Gathered, measures: Sequence[str]
) -> tuple[list[_AttributedValues], list[Finding]]:
    """The values to compare, and a finding on those that are left out: times, which differ from
    call to call, unless they are named.

    Queries of one call share the load of the machine, so that a test over queries finds differences
    of an engine from itself.
    """
    measured = list(zip(gathered.values, gathered.row_attributes, strict=True))
    times = dict.fromkeys(values.label for values, _ in measured if values.unit == _TIMES)
    if measures or not times:
        return measured, []
    untimed = [(values, facts) for values, facts in measured if values.unit != _TIMES]
    if not untimed:
        measure_flag = flag("--measure", measured[0][0].measure, name="measures")
        raise BadUsage(
            f"the results have only times, which differ from call to call; {measure_flag} compares "
            "them."
        )
    how = f"compared only where {flag('--measure', name='measures')} names them"
    reason = f"{', '.join(times)}: times differ from call to call, and are {how}"
    return untimed, [not_compared(reason)]


def _other_folder(results: ResultFolder, baseline: str) -> list[tuple[str, ResultFolder]]:
    """The folder that the baseline names; none where it names a run. Raises BadUsage where it is
    both or neither, or this one.
    """
    if baseline in results.runs:
        if is_result_folder(baseline):
            raise BadUsage(
                f"{baseline} is a run of {results.place} and a folder as well; write "
                f"./{baseline} for the folder."
            )
        return []
    if remote_url(baseline) is not None:
        raise BadInput(other_place(baseline))
    if not Path(baseline).is_dir():
        raise UnknownName(
            f"{results.place} has no run {baseline!r}, and there is no such folder; "
            f"{suggest(baseline, results.runs)}"
        )
    if results.has(PER_QUERY) and Path(baseline).resolve() == results.place.resolve():
        raise BadUsage(f"{baseline} is the folder itself; name the results to compare it with.")
    return [(baseline.rstrip("/"), read_results(baseline))]


def _pairs(
    results: ResultFolder, baseline: str, gathered: Gathered
) -> tuple[list[tuple[str, str]], list[str]]:
    """The pairs of runs to compare, by their names here, and the runs that the baseline does not
    have.
    """
    if len(gathered.folders) == 1:
        other_runs = [run for run in results.runs if run != baseline]
        if not other_runs:
            raise BadUsage(
                f"{baseline!r} is the only run of {results.place}; there is no other run to "
                "compare with it."
            )
        return [(run, baseline) for run in other_runs], []
    base = gathered.folders[1].runs
    shared = [run for run in results.runs if run in base]
    if not shared and len(base) == 1:
        return [(run, baseline_run) for run in results.runs for baseline_run in base.values()], []
    if lost := [run for run in base if run not in shared]:
        raise BadInput(
            f"{results.place} has no run {lost[0]!r}, which {baseline} has (here are "
            f"{', '.join(results.runs)}); a run that is missing cannot be found worse."
        )
    return [(run, base[run]) for run in shared], [run for run in results.runs if run not in base]


def _shared(
    measured: Sequence[_AttributedValues], run: str, base: str
) -> tuple[list[_AttributedValues], list[str]]:
    """The measures of both, and those of the run alone. Raises BadInput for a measure of the
    baseline that the run lacks.
    """
    in_run, in_base = (
        [(values.measure, facts) for values, facts in measured if values.run == name]
        for name in (run, base)
    )
    for values, facts in measured:
        if values.run == base and (values.measure, facts) not in in_run:
            raise BadInput(
                f"{run} has no values of {values.label}, which {base} has; evaluate it as well, or "
                f"choose measures by {flag('--measure', name='measures')}."
            )
    is_shared = [(values.measure, facts) in in_base for values, facts in measured]
    labels = dict.fromkeys(
        values.label for (values, _), shared in zip(measured, is_shared, strict=True) if not shared
    )
    return list(compress(measured, is_shared)), list(labels)


def _check_lost_queries(row: Row, measured: Sequence[_AttributedValues]) -> None:
    """Raises BadInput where queries that count for the baseline do not count for the run: the hard
    ones may be missing.
    """
    counted = {
        values.run: list(compress(values.queries, values.counted))
        for values, facts in measured
        if values.measure == row["of"]
        and all(row.get(name) == value for name, value in facts.items())
    }
    run, base = row["run"], row["against"]
    run_queries = set(counted[run])
    lost = [query for query in counted[base] if query not in run_queries]
    if lost:
        raise BadInput(
            f"{about_row(run, difference_label(row), '')} against {base}: {len(lost)} of "
            f"{len(counted[base])} queries that count there do not count for {run}, such as "
            f"{lost[0]!r}, and cannot be compared. Evaluate both on the same queries, or choose "
            f"measures by {flag('--measure', name='measures')}."
        )


def _compared(row: Row, tolerance: Tolerance | None, keys: Sequence[str], level: float) -> GateLine:
    """The line of a paired difference. Raises BadInput where it has no interval."""
    measure = difference_label(row)
    base = row["against"]
    low = row["ci_low"]
    high = row["ci_high"]
    part = ", ".join(row[name] for name in keys if isinstance(row.get(name), str))
    about = about_row(row["run"], measure, part)
    if low is None or high is None:
        raise BadInput(
            f"{about} against {base}: {row['n']} queries count for both, too few for an "
            "interval of the difference ("
            f"{MIN_QUERIES} are needed); whether it is worse is unknown."
        )
    lower = row["better"] == "lower"
    # How much is lost at best, and at worst.
    least, most = (low, high) if lower else (-high, -low)
    # A passed check does not prove equality: with few queries a worse run is not shown to be worse.
    passed = least <= 0
    than = f"than {base}"
    significantly = "significantly "
    verdict = "is not shown to be worse" if passed else "is significantly worse"
    if tolerance is not None:
        passed, significantly = most <= tolerance.reach(row), ""
        than += f" by more than {tolerance.text}"
        verdict = "is not worse" if passed else "may be worse"
    unit = row["unit"] if row["unit"] != "count" else "rank"
    mean, low_text, high_text = (
        format_value(end, unit, signed=True) for end in (row["mean"], low, high)
    )
    return GateLine(
        result="passed" if passed else "failed",
        requirement=f"{measure} not {significantly}worse {than}",
        measure=measure,
        part=part,
        found=row["mean"],
        **{name: row[name] for name in ("run", "ci_low", "ci_high", "unit", "n")},
        explanation=f"{about} {verdict} {than}: {mean}, {100 * level:g} % interval [{low_text}, "
        f"{high_text}] {counted_text(row['unit'], row['n'])}{', lower is better' if lower else ''}",
    )
