"""A log and target policies -> results: estimates of each policy's value with intervals, and
diagnostics of the weights.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.conventions import CONVENTIONS, LabelledMeasure, check_views, choose_measures
from rankwell.data.findings import Finding
from rankwell.data.options import takes_options
from rankwell.data.registry import measure_names
from rankwell.data.tables import Floats, exact_mean, exact_sd, exact_sum
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.results import QUERIES_COUNTED, ResultsBuilder
from rankwell.results import Results
from rankwell.stats import MIN_QUERIES, check_intervals
from rankwell.store import sources_of
from rankwell.tasks.clicks.findings import (
    few_effective_rows,
    mean_weight_off,
    model_unused,
    nothing_in_common,
    policy_incomplete,
    positions_differ,
)
from rankwell.tasks.clicks.inputs import (
    FINITE,
    LOGGING,
    Entries,
    Log,
    LoggedRounds,
    LoggedRows,
    Policy,
    model_estimates,
    pairs_of,
    policies_of,
    query_rows,
    read_entries,
    read_log,
    read_policy,
    slots_of,
)
from rankwell.tasks.clicks.options import ClickOptions

_PLAIN = ("CTR", "MeanReward")
"""Measures of the log, which no policy changes."""
_MODELLED = ("DM", "DR", "SNDR")
_ALL = "all"
"""The position of rows of the summary that are about all positions."""
_FEW = 0.1
"""Below this share of the rows an effective sample is called small."""


class WeightFigures(NamedTuple):
    """The diagnostics of importance weights; None for the logging policy, which has none.

    ess: the effective sample size, (Σ w)² / Σ w² (Kish 1965).
    largest_weight: the largest weight; where it is large, one row decides the estimate.
    mean_weight: the mean weight, 1 on average where propensities are right.
    """

    ess: float | None = None
    largest_weight: float | None = None
    mean_weight: float | None = None

    @classmethod
    def of(cls, weights: Floats) -> "WeightFigures":
        """Those of weights that are not all 0."""
        squares = exact_sum(weights * weights)
        ess = exact_sum(weights) ** 2 / squares if squares else 0.0
        return cls(ess, float(weights.max()), exact_mean(weights))


@takes_options(ClickOptions, "policies", "measures")
def evaluate_clicks(log: Any, *, options: ClickOptions) -> Results:
    """The value of target policies, estimated from what a logging policy showed and how users
    reacted to it.

    log: a table with a row for each thing that was shown (CSV, TSV, Parquet, JSON lines, or a
    mapping column -> values): reward, propensity, and perhaps query, item and position. options:
    the fields of `ClickOptions`; in Python `policies` may be a mapping name -> column, file or
    mapping, and `model` a mapping. The logging policy is among the results as `log`, whose
    estimates are its mean reward, so that `compare` says whether a policy is better than it.
    Raises BadInput and BadScore for bad rows, BadUsage for measures that the inputs do not allow.

    >>> import rankwell as rw
    >>> log = {
    ...     "click": [1, 0, 1, 0],
    ...     "propensity": [0.5, 0.5, 0.25, 0.25],
    ...     "mine": [0.25, 0.5, 0.5, 0.5],
    ... }
    >>> rw.evaluate_clicks(log, ["mine"], ["IPS"])["IPS"]
    {'log': 0.5, 'mine': 0.625}
    """
    check_intervals(options.intervals, options.seed)
    policy_sources = policies_of(options.policies)
    expected = pairs_of(options.expected, flag("--expected"))
    table = read_log(log, options, policy_sources, expected)
    by_query, by_position = options.value_of == "query", options.value_of == "position"
    model, estimates = None, table.column(options.reward_model)
    if options.reward_model is not None and estimates is None:
        model = read_entries(options.reward_model, "estimate", FINITE, flag("--reward-model"))
        estimates = model_estimates(model, table)
    policies = {
        name: _policy(name, source, table, model, expected)
        for name, source in policy_sources.items()
    }
    measures = _measures(options, table, policies, has_model=estimates is not None)
    builder = ResultsBuilder(CONVENTIONS["rankwell"])
    builder.findings += table.findings if options.intervals != "none" else ()
    if estimates is not None and not any(
        labelled.measure.name in _MODELLED for labelled in measures
    ):
        builder.findings.append(model_unused(_unused_model(options, policies)))
    positions, slots = slots_of(table)
    if by_position and _ALL in positions:
        raise BadUsage(
            f"{flag('--value-of', 'position')}: {table.name} has a position {_ALL!r}, which "
            "stands for all of them; rename it."
        )
    propensities = np.ones(table.n) if table.propensities is None else table.propensities
    for name, policy in {LOGGING: Policy(propensities, estimates), **policies}.items():
        rows = LoggedRows(
            table.rewards,
            policy.probabilities / propensities,
            slots if by_query else np.zeros_like(slots),
            estimates,
            policy.expected,
        )
        policy_measures = [
            labelled
            for labelled in measures
            if name == LOGGING or labelled.measure.name not in _PLAIN
        ]
        view = LoggedRounds(*query_rows(table), rows, rows, by_query)
        builder.counts[name] = {QUERIES_COUNTED: len(view.queries), "rows": table.n}
        if by_position:
            _keep(builder, name, policy_measures, view, {"position": _ALL})
            for number, position in enumerate(positions):
                part = view.at(slots, number)
                _keep(builder, name, policy_measures, part, {"position": position})
        else:
            _keep(builder, name, policy_measures, view, {})
        builder.findings += [policy_incomplete(name, problem) for problem in policy.problems]
        if name != LOGGING:
            builder.findings += _on_weights(name, rows.weights, policy_measures)
    if by_position:
        builder.findings.append(positions_differ())
    rules = {
        "columns": ",".join(f"{content}={column}" for content, column in table.columns.items()),
        "value": f"of a {options.value_of}",
        **builder.rules(measures, options),
    }
    # There is one.
    del rules["convention"]
    files = {
        name: source for name, source in policy_sources.items() if table.column(source) is None
    }
    return builder.results(
        Results,
        rules=rules,
        measures=measures,
        findings=builder.findings,
        sources=sources_of(
            {"log": log} | ({} if model is None else {"reward model": options.reward_model}), files
        ),
        intervals=options.intervals,
        seed=options.seed,
        query_columns=("position",) if by_position else (),
    )


def _policy(
    name: str, source: Any, log: Log, model: Entries | None, expected: Mapping[str, str]
) -> Policy:
    """A policy from its column or its table."""
    column = log.column(source)
    expectations = log.others[expected[name]] if name in expected else None
    if column is not None:
        return Policy(column, expectations)
    if expectations is None:
        return read_policy(source, log, model)
    return read_policy(source, log, None)._replace(expected=expectations)


def _measures(
    options: ClickOptions, log: Log, policies: Mapping[str, Policy], *, has_model: bool
) -> tuple[LabelledMeasure, ...]:
    """The measures that are named, else those that the inputs allow. Raises BadUsage for those that
    they do not.
    """
    names = measure_names(options.measures)
    if names is None:
        names = [
            "CTR"
            if np.isin(log.rewards, (0, 1)).all() and options.value_of != "query"
            else "MeanReward"
        ]
        names += ["IPS", "SNIPS"] if policies else []
        complete = has_model and all(policy.expected is not None for policy in policies.values())
        names += _MODELLED if policies and complete else []
    measures = choose_measures(names, CONVENTIONS["rankwell"])
    check_views((labelled.measure for labelled in measures), LoggedRounds)
    for labelled in measures:
        if labelled.measure.name not in _PLAIN and not policies:
            raise BadUsage(
                f"{labelled.label} is of a target policy; name one by "
                f"{flag('--policy', name='policies')}."
            )
    return measures


def _unused_model(options: ClickOptions, policies: Mapping[str, Policy]) -> str:
    """The note on a model that no measure reads."""
    lacking = [name for name, policy in policies.items() if policy.expected is None]
    if options.measures is not None or not lacking:
        return (
            f"{flag('--reward-model')} is unused: {', '.join(_MODELLED)} read it, of a policy, and "
            "none of them is computed"
        )
    return (
        f"no {', '.join(_MODELLED)}: what the model expects under {', '.join(lacking)} is unknown; "
        f"name its column by {flag('--expected')}, or give policy and model as tables"
    )


def _keep(
    builder: ResultsBuilder,
    name: str,
    measures: Sequence[LabelledMeasure],
    view: LoggedRounds,
    columns: Mapping[str, Any],
) -> None:
    """Adds the values of one policy. columns: of the rows of the summary."""
    counts = view.counts.astype(np.float64)
    weights = None if view.sums or (counts == 1).all() else counts
    if any(labelled.measure.name not in _PLAIN for labelled in measures):
        figures = WeightFigures() if name == LOGGING else WeightFigures.of(view.rows.weights)
        columns = {**columns, **figures._asdict()}
    for labelled in measures:
        values = labelled.measure(view)
        builder.keep(name, labelled.measure, labelled.label, view.queries, values, weights=weights)
        builder.row_attributes.append(columns)


def _on_weights(
    name: str, weights: Floats, measures: Sequence[LabelledMeasure]
) -> Iterator[Finding]:
    """Findings on weights that make estimates unreliable."""
    if all(labelled.measure.name in ("DM", *_PLAIN) for labelled in measures):
        return
    (ess, largest, mean), n = WeightFigures.of(weights), len(weights)
    if not largest:
        yield nothing_in_common(name)
        return
    error = exact_sd(weights) / n**0.5 if n > 1 else 0.0
    if n >= MIN_QUERIES and abs((mean or 0) - 1) > 3 * error + 1e-9:
        yield mean_weight_off(name, mean or 0)
    if (ess or 0) < max(_FEW * n, MIN_QUERIES):
        yield few_effective_rows(name, n, ess or 0, largest)
