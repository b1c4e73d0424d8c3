"""Requirements on results, such as nDCG@10 >= 0.38 or that no run is worse than a baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwell.comparison import requirements
from rankwell.comparison.data import ComparisonOptions, Origin
from rankwell.comparison.folders import Gathered, from_folders, run_names
from rankwell.comparison.pairwise import compare_values
from rankwell.comparison.requirements import (
    Gate,
    GateLine,
    GateOptions,
    SummaryFigures,
    Tolerance,
    check_requirement,
    counted_text,
    parse_requirement,
)
from rankwell.data.registry import suggest
from rankwell.data.tables import Unit, Values, figure
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


def check_requirements(
    results: ResultFolder, rows: Sequence[Mapping[str, Any]], options: GateOptions
) -> tuple[list[GateLine], list[str]]:
    """The outcome of every requirement, and notes. rows: the summary of the results.

    Raises BadUsage where nothing is required.
    """
    required = options.required()
    if not required.require and not required.no_regression:
        raise BadUsage(
            "nothing is required; add --require 'nDCG@10.ci_low >= 0.38' or --no-regression "
            "BASELINE."
        )
    for option, setting in (("--tolerance", required.tolerance), ("--measure", required.measures)):
        if setting and not required.no_regression:
            raise BadUsage(f"{option} belongs to --no-regression; name the baseline.")
    parsed = [parse_requirement(text) for text in required.require]
    known_figures = SummaryFigures(rows, results.values, results.row_attributes, results.rules)
    baseline_run = required.no_regression if required.no_regression in results.runs else None
    lines = [
        line
        for requirement in parsed
        for line in check_requirement(requirement, known_figures, besides=baseline_run)
    ]
    if not required.no_regression:
        return lines, []
    compared, notes = _against(results, required, options)
    measured_pairs = {(values.run, values.measure) for values in results.values}
    aggregate_labels = dict.fromkeys(
        row["label"]
        for row in known_figures.rows
        if row.get("against") is None and (row["run"], row["measure"]) not in measured_pairs
    )
    if aggregate_labels and not required.measures:
        notes.append(
            f"{', '.join(aggregate_labels)}: a figure of the whole has no values of queries, and "
            "is not compared with the baseline"
        )
    return [*lines, *compared], list(dict.fromkeys(notes))


_AttributedValues = tuple[Values, Mapping[str, Any]]
_TIMES: Unit = "ms"


def _against(
    results: ResultFolder, required: Gate, options: GateOptions
) -> tuple[list[GateLine], list[str]]:
    """A line for every run and measure that is compared with the baseline, and notes."""
    tolerance = Tolerance.of(required.tolerance) if required.tolerance else None
    folders = [("", results), *_other_folder(results, required.no_regression)]
    gathered = from_folders(folders, details=False)
    by_measure, times = _compared_measures(gathered, required.measures)
    names = run_names(folders)
    pairs, new = _pairs(results, required.no_regression, names)
    notes = [*gathered.origin.notes, *times]
    notes += [
        f"{run} has no run of its name in {required.no_regression}, and is not compared"
        for run in new
    ]
    keys = list(
        dict.fromkeys(name for attributes in gathered.row_attributes for name in attributes)
    )
    rows: list[Mapping[str, Any]] = []
    interval_settings = {
        name: getattr(options, name) for name in ("intervals", "level", "resamples", "seed")
    }
    for run, base in pairs:
        pair_values = [
            (values, attributes) for values, attributes in by_measure if values.run in (run, base)
        ]
        if not required.measures:
            pair_values, unshared_labels = _shared(pair_values, run, base)
            notes += (
                [
                    f"{', '.join(unshared_labels)}: {base} has no such values, and they are "
                    "not compared"
                ]
                if unshared_labels
                else []
            )
        result = compare_values(
            [values for values, _ in pair_values],
            ComparisonOptions(
                baseline=base,
                measures=required.measures or None,
                test="t",
                correction="none",
                **interval_settings,
            ),
            row_attributes=[attributes for _, attributes in pair_values],
            origin=Origin(better=gathered.origin.better),
        )
        for row in result.differences:
            _check_lost_queries(row, pair_values)
        notes += result.notes
        rows += result.differences
    judged = [row for row in rows if row["better"] != "neither"]
    if not judged:
        undirected = ", ".join(dict.fromkeys(row["of"] for row in rows))
        raise BadUsage(
            f"neither higher nor lower values of {undirected} are better; nothing can be worse."
        )
    if tolerance:
        tolerance.check_units(list(dict.fromkeys(row["unit"] for row in judged)))
    return [_compared(row, tolerance, keys, options.level) for row in judged], notes


def _compared_measures(
    gathered: Gathered, measures: Sequence[str]
) -> tuple[list[_AttributedValues], list[str]]:
    """The values to compare, and a note on those that are left out: times, which differ from call
    to call, unless they are named.

    Queries of one call share the load of the machine, so that a test over queries finds differences
    of an engine from itself.
    """
    attributed_values = list(zip(gathered.values, gathered.row_attributes, strict=True))
    if measures:
        return attributed_values, []
    untimed_values = [
        (values, attributes) for values, attributes in attributed_values if values.unit != _TIMES
    ]
    if not untimed_values:
        measure_flag = flag("--measure", attributed_values[0][0].measure, name="measures")
        raise BadUsage(
            f"the results have only times, which differ from call to call; {measure_flag} compares "
            "them."
        )
    time_labels = dict.fromkeys(
        values.label for values, _ in attributed_values if values.unit == _TIMES
    )
    how = f"compared only where {flag('--measure', name='measures')} names them"
    return untimed_values, [
        f"{', '.join(time_labels)}: times differ from call to call, and are {how}"
    ] if time_labels else []


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
        lacking = f"{results.place} has no run {baseline!r}, and there is no such folder"
        raise UnknownName(f"{lacking}; {suggest(baseline, results.runs)}")
    if results.has(PER_QUERY) and Path(baseline).resolve() == results.place.resolve():
        raise BadUsage(f"{baseline} is the folder itself; name the results to compare it with.")
    return [(baseline.rstrip("/"), read_results(baseline))]


def _pairs(
    results: ResultFolder, baseline: str, names: Sequence[Mapping[str, str]]
) -> tuple[list[tuple[str, str]], list[str]]:
    """The pairs of runs to compare, by their names here, and the runs that the baseline does not
    have.
    """
    if len(names) == 1:
        other_runs = [run for run in results.runs if run != baseline]
        if not other_runs:
            raise BadUsage(
                f"{baseline!r} is the only run of {results.place}; there is no other run to "
                "compare with it."
            )
        return [(run, baseline) for run in other_runs], []
    base = names[1]
    shared = [run for run in results.runs if run in base]
    if not shared and len(base) == 1:
        return [(run, baseline_run) for run in results.runs for baseline_run in base.values()], []
    lost = [run for run in base if run not in shared]
    if lost:
        raise BadInput(
            f"{results.place} has no run {lost[0]!r}, which {baseline} has (here are "
            f"{', '.join(results.runs)}); a run that is missing cannot be found worse."
        )
    return [(run, base[run]) for run in shared], [run for run in results.runs if run not in base]


def _shared(
    attributed_values: Sequence[_AttributedValues], run: str, base: str
) -> tuple[list[_AttributedValues], list[str]]:
    """The measures of both, and those of the run alone. Raises BadInput for a measure of the
    baseline that the run lacks.
    """
    measures_by_run = {
        name: [
            (values.measure, attributes)
            for values, attributes in attributed_values
            if values.run == name
        ]
        for name in (run, base)
    }
    lost = next(
        (
            values.label
            for values, attributes in attributed_values
            if values.run == base and (values.measure, attributes) not in measures_by_run[run]
        ),
        None,
    )
    if lost is not None:
        raise BadInput(
            f"{run} has no values of {lost}, which {base} has; evaluate it as well, or choose "
            "measures by --measure."
        )
    unshared_labels = dict.fromkeys(
        values.label
        for values, attributes in attributed_values
        if (values.measure, attributes) not in measures_by_run[base]
    )
    return [
        (values, attributes)
        for values, attributes in attributed_values
        if (values.measure, attributes) in measures_by_run[base]
    ], list(unshared_labels)


def _check_lost_queries(
    row: Mapping[str, Any], attributed_values: Sequence[_AttributedValues]
) -> None:
    """Raises BadInput where queries that count for the baseline do not count for the run: the hard
    ones may be missing.
    """
    counted = {
        values.run: [
            query
            for query, counts in zip(values.queries, values.counted.tolist(), strict=True)
            if counts
        ]
        for values, attributes in attributed_values
        if values.measure == row["of"]
        and all(row.get(name) == value for name, value in attributes.items())
    }
    run, base = row["run"], row["against"]
    lost = [query for query in counted[base] if query not in set(counted[run])]
    if lost:
        about = f"{requirements.about_row(run, difference_label(row), '')} against {base}"
        raise BadInput(
            f"{about}: {len(lost)} of {len(counted[base])} queries that count there do not "
            f"count for {run}, such as {lost[0]!r}, "
            "and cannot be compared. Evaluate both on the same queries, or choose measures by "
            "--measure."
        )


def _compared(
    row: Mapping[str, Any], tolerance: Tolerance | None, keys: Sequence[str], level: float
) -> GateLine:
    """The line of a paired difference. Raises BadInput where it has no interval."""
    measure = difference_label(row)
    part = ", ".join(row[name] for name in keys if isinstance(row.get(name), str))
    run, base, low, high = row["run"], row["against"], row["ci_low"], row["ci_high"]
    about = requirements.about_row(run, measure, part)
    if low is None or high is None:
        raise BadInput(
            f"{about} against {base}: {row['n']} queries count for both, too few for an "
            "interval of the difference ("
            f"{MIN_QUERIES} are needed); whether it is worse is unknown."
        )
    lower = row["better"] == "lower"
    # How much is lost at best, and at worst.
    least, most = (low, high) if lower else (-high, -low)
    passed = least <= 0 if tolerance is None else most <= tolerance.reach(row)
    # A passed check does not prove equality: with few queries a worse run is not shown to be worse.
    if tolerance is None:
        than, verdict_failed, verdict_passed = (
            f"than {base}",
            "is significantly worse",
            "is not shown to be worse",
        )
    else:
        than, verdict_failed, verdict_passed = (
            f"than {base} by more than {tolerance.text}",
            "may be worse",
            "is not worse",
        )
    unit = row["unit"] if row["unit"] != "count" else "rank"
    ends = (
        f"{100 * level:g} % interval [{figure(low, unit, signed=True)}, "
        f"{figure(high, unit, signed=True)}]"
    )
    numbers = (
        f"{figure(row['mean'], unit, signed=True)}, {ends} {counted_text(row['unit'], row['n'])}"
    )
    return GateLine(
        passed=passed,
        requirement=f"{measure} not {'' if tolerance else 'significantly '}worse {than}",
        measure=measure,
        part=part,
        found=row["mean"],
        **{name: row[name] for name in ("run", "ci_low", "ci_high", "unit", "n")},
        told=f"{about} {verdict_passed if passed else verdict_failed} {than}: "
        f"{numbers}{', lower is better' if lower else ''}",
    )
