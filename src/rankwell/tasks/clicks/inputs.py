"""Files of logs, policies and models -> rounds under one policy: rewards with importance weights,
and what a model of rewards expects of them -> estimates of the value of each policy.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankwell.conventions import (
    CONVENTIONS,
    LabelledMeasure,
    Measures,
    check_views,
    choose_measures,
)
from rankwell.data.columns import chosen_columns
from rankwell.data.findings import Finding
from rankwell.data.options import Table, takes_options
from rankwell.data.registry import measure_names
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    exact_mean,
    exact_sd,
    exact_sum,
    index_queries,
    positions_by_id,
    segment_offsets,
    sort_ids,
    sum_by,
)
from rankwell.errors import BadInput, BadUsage, DuplicateItem, flag, shown
from rankwell.evaluation.results import QUERIES_COUNTED, ResultsBuilder
from rankwell.io.records import Content, Range, load_columns
from rankwell.results import Results
from rankwell.stats import MIN_QUERIES
from rankwell.store import Source, exists, sources_of, split_name
from rankwell.tasks.clicks.findings import (
    few_effective_rows,
    mean_weight_off,
    model_unused,
    nothing_in_common,
    policy_incomplete,
    positions_differ,
    rows_of_users,
)
from rankwell.tasks.clicks.options import ClickOptions


class LoggedRows(NamedTuple):
    """Rows of a log. Every array is (rows,).

    rewards: reward for showing an item.
    weights: the policy's probability of the item over the propensity; 1 for the logging policy.
    slots: the slot within which weights are normalised, from 0.
    estimates: reward that a model expects for the shown item; None without a model.
    expected: mean of that reward over what the policy would show; None where that is unknown.
    """

    rewards: Floats
    weights: Floats
    slots: Ints
    estimates: Floats | None = None
    expected: Floats | None = None

    def of(self, rows: Ints | Bools) -> "LoggedRows":
        """Some of the rows, in the order of their numbers."""
        return LoggedRows(*(None if column is None else column[rows] for column in self))  # pyright: ignore[reportArgumentType]

    def model(self, measure: str) -> tuple[Floats, Floats]:
        """Estimates and expectations. Raises BadUsage without a model of rewards."""
        if self.estimates is None:
            raise BadUsage(
                f"{measure} needs a model of rewards; name a table or a column of its "
                f"estimates by {flag('--reward-model')}."
            )
        if self.expected is None:
            expectations = "what it expects under the policy, too"
            raise BadUsage(
                f"{measure} needs {expectations}; name a column by {flag('--expected')}, or give "
                "policy and model as tables."
            )
        return self.estimates, self.expected


class SelfNormalised(NamedTuple):
    """Means of each slot.

    weight: (slots,) mean weight; NaN where all weights are 0.
    centre: (slots,) weighted mean of a variable; NaN where all weights are 0.
    """

    weight: Floats
    centre: Floats

    @classmethod
    def of(cls, rows: LoggedRows, variable: Floats) -> "SelfNormalised":
        """Those of rows."""
        size = int(rows.slots.max(initial=0)) + 1
        n, weights, sums = (
            sum_by(rows.slots, weights, size)
            for weights in (np.ones(len(variable)), rows.weights, rows.weights * variable)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(np.where(weights > 0, weights / n, np.nan), sums / weights)


@dataclass(frozen=True, eq=False)
class LoggedRounds:
    """The rows of a log by query.

    queries: ids of the queries.
    offsets: (queries + 1,) where the rows of each query begin.
    rows: the rows of all queries, one query after the other.
    whole: the rows over which weights are normalised, which are those of the whole log also where
        the view is a part of it.
    sums: whether the value of a query is the sum of its rows, as for a slate, and not their mean.
    """

    needs: ClassVar[str] = "logged rewards"
    command: ClassVar[str] = "clicks"
    queries: tuple[str, ...]
    offsets: Ints
    rows: LoggedRows
    whole: LoggedRows
    sums: bool = False

    def at(self, slot: Ints, number: int) -> "LoggedRounds":
        """The rows of one position alone. slot: (rows,) the position of each. Queries without such
        a row are left out.
        """
        is_here = slot == number
        owners = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))[is_here]
        queries, counts = np.unique(owners, return_counts=True)
        rows = self.rows.of(is_here)
        names = tuple(self.queries[query] for query in queries.tolist())
        return LoggedRounds(names, segment_offsets(counts), rows, rows, self.sums)

    @property
    def counts(self) -> Ints:
        """The number of rows: (queries,)."""
        return np.diff(self.offsets)

    def by_query(self, values: Floats) -> Floats:
        """The mean, or the sum, of the values of rows, (queries,); NaN for a query without rows."""
        counts = self.counts
        owners = np.repeat(np.arange(len(self.queries)), counts)
        totals = sum_by(owners, values, len(self.queries))
        with np.errstate(invalid="ignore"):
            return np.where(
                counts > 0, totals / (1 if self.sums else np.maximum(counts, 1)), np.nan
            )


WORDS: dict[str, tuple[str, ...]] = {
    "query": (
        "query",
        "queryid",
        "qid",
        "round",
        "roundid",
        "slate",
        "slateid",
        "session",
        "sessionid",
        "impression",
        "impressionid",
    ),
    "user": (
        "user",
        "userid",
        "visitor",
        "visitorid",
        "customer",
        "customerid",
        "member",
        "memberid",
        "device",
        "deviceid",
    ),
    "list": ("list", "listid", "query", "queryid", "qid", "userid", "user"),
    "impression": ("impression", "impressionid"),
    "item": ("item", "itemid", "action", "arm", "docno", "docid", "doc"),
    "position": ("position", "slot", "rank"),
    "reward": ("reward", "click", "clicks", "clicked"),
    "propensity": ("propensity", "propensityscore", "pscore"),
    "probability": ("probability", "prob", "propensity", "propensityscore", "pscore"),
    "estimate": ("estimate", "estimatedreward", "expectedreward", "prediction", "reward"),
}
"""Content of a column -> the names that it goes by, in the order of preference."""

FINITE = Range()
PROPENSITY = Range(above=1e-300, most=1, words="a probability above 0, at most 1")
CLICKED = Range(
    least=0, most=1, words="1 for a clicked item or 0 for one that was only shown", is_integer=True
)
PROBABILITY = Range(least=0, most=1, words="a probability from 0 to 1")

LOGGING = "log"
"""The name of the logging policy."""
_ROUNDED = 1e-5
"""Probabilities of a context may add up to 1 with so much rounding."""
Key = tuple[str | None, str, str | None]
"""Query, item and position; None for a part by which a table does not distinguish."""
Context = tuple[str | None, str | None]
"""Query and position, likewise."""


@dataclass(frozen=True, eq=False)
class Log:
    """The rows of a log by query, in an order that does not depend on that of the file.

    name: name of the file in messages.
    queries: (rows,) ids of the queries; the number of the row where the log has none.
    items, positions: (rows,) the shown item and its position; None where the log has none.
    rewards: (rows,) the reward for showing the item, such as 1 for a click.
    propensities: (rows,) probability of showing the item; None where the log has none.
    others: further columns that options name, (rows,) each.
    columns: what a column holds -> its name, for the rules.
    findings: findings on what the rows lack.
    """

    name: str
    queries: list[str]
    items: list[str] | None
    positions: list[str] | None
    rewards: Floats
    propensities: Floats | None
    others: Mapping[str, Floats]
    columns: Mapping[str, str]
    findings: tuple[Finding, ...] = ()

    def column(self, place: Any) -> Floats | None:
        """The column that an option names, (rows,); None for a table."""
        return self.others.get(str(place)) if isinstance(place, (str, Path)) else None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rewards)


class Policy(NamedTuple):
    """A target policy on the rows of a log.

    probabilities: (rows,) probability that the policy shows the item of the row.
    expected: (rows,) reward that the model expects under the policy; None where that is unknown.
    problems: what its table lacks.
    """

    probabilities: Floats
    expected: Floats | None
    problems: tuple[str, ...] = ()


class Entries(NamedTuple):
    """The numbers of a table by query, item and position.

    name: name of the table in messages.
    values: (query, item, position) -> number; None in place of a query or position that it does not
        distinguish.
    by_query, by_position: whether the table distinguishes queries, and positions.
    """

    name: str
    values: dict[Key, float]
    by_query: bool
    by_position: bool


def pairs_of(given: Any, option: str) -> dict[str, str]:
    """The mapping that texts NAME=VALUE, or a mapping, stand for. Raises BadUsage."""
    if given is None or isinstance(given, Mapping):
        return {str(name): str(value) for name, value in (given or {}).items()}
    pairs: dict[str, str] = {}
    for text in _texts(given, option):
        name, equals, value = str(text).partition("=")
        if not equals or not name or not value:
            raise BadUsage(f"{option} {shown(text)}; expected NAME=COLUMN.")
        if name in pairs:
            raise BadUsage(f"{option} {shown(text)}: {name!r} is named twice; keep one of them.")
        pairs[name] = value
    return pairs


def _texts(given: Any, option: str) -> Sequence[Any]:
    """The texts of an option that may be given more than once. Raises BadUsage."""
    if isinstance(given, (str, Path)):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(word, (str, Path)) for word in given):
        raise BadUsage(
            f"{option}: {shown(given)}; expected a string, a list of them, or a mapping."
        )
    return given


def policies_of(given: Any) -> dict[str, Any]:
    """The policies by name: NAME=PLACE, or the place's own name."""
    option = flag("--policy", name="policies")
    if given is None or isinstance(given, Mapping):
        if LOGGING in (given or {}):
            raise BadUsage(
                f"{option}: {LOGGING!r} is the name of the logging policy; name it otherwise."
            )
        return dict(given or {})
    policies: dict[str, Any] = {}
    for place in _texts(given, option):
        text = str(place)
        name, source = split_name(text)
        if exists(text) or source == text:
            name, source = (Source(text).stem if exists(text) else text), text
        if not name or not source:
            raise BadUsage(f"{option} {shown(place)}; expected a column or a file, or NAME=COLUMN.")
        if name in policies or name == LOGGING:
            owner = "the logging policy" if name == LOGGING else "two policies"
            raise BadUsage(
                f"{option}: {name!r} is the name of {owner}; name it otherwise, as in "
                f"mine={source}."
            )
        policies[name] = source
    return policies


def read_log(
    place: Any, options: ClickOptions, policies: Mapping[str, Any], expected: Mapping[str, str]
) -> Log:
    """The log. Raises BadInput and BadScore for bad rows, and for a column that is missing."""
    column_names = chosen_columns(options.columns, "log")
    table = load_columns(place, "the log", WORDS)
    needed_contents = ("reward", policies and "propensity", options.value_of)
    columns = dict[str, str]()
    for content in ("reward", "propensity", "query", "item", "position"):
        if content in needed_contents:
            columns[content] = table.need(
                content, flag("--columns", f"{content}=NAME"), **column_names
            )
        elif (
            content != "propensity" and (column := table.find(content, **column_names)) is not None
        ):
            columns[content] = column
    rewards = table.numbers(columns["reward"], FINITE)
    propensities = table.numbers(columns["propensity"], PROPENSITY) if policies else None
    texts = {
        content: table.ids(columns[content]) if content in columns else None
        for content in ("item", "position", "query")
    }
    others = {
        column: table.numbers(column, within)
        for column, within in _further(table, options, policies, expected).items()
    }
    queries = texts["query"] or [str(row) for row in range(1, len(rewards) + 1)]
    findings = _on_users(table, queries, columns)
    # By query, then by what a row holds, so that sums do not depend on the order of the file.
    numbers = [rewards, *([] if propensities is None else [propensities]), *others.values()]
    places = [index_queries(ids)[1] for ids in texts.values() if ids is not None]
    order = np.lexsort([*numbers[::-1], *places])
    row_order: list[int] = order.tolist()
    items, positions = (
        None if ids is None else [ids[row] for row in row_order]
        for ids in (texts["item"], texts["position"])
    )
    return Log(
        table.name,
        [queries[row] for row in row_order],
        items,
        positions,
        rewards[order],
        None if propensities is None else propensities[order],
        {column: values[order] for column, values in others.items()},
        columns,
        findings,
    )


def _on_users(
    table: Content, queries: Sequence[str], columns: Mapping[str, str]
) -> tuple[Finding, ...]:
    """The finding on a column of users of whom the log has several queries: intervals take these
    for independent.

    columns: those with a meaning already.
    """
    column = table.find("user")
    if column is None or column in columns.values():
        return ()
    n_queries = len(set(queries))
    n_users = len({user for user in table.all_ids(column) if user is not None})
    if not n_users or n_users >= n_queries:
        return ()
    unit = "queries" if "query" in columns else "rows"
    advice = flag("--columns", f"query={column}")
    return (rows_of_users(table.name, n_queries, unit, n_users, column, advice),)


def _further(
    table: Content, options: ClickOptions, policies: Mapping[str, Any], expected: Mapping[str, str]
) -> dict[str, Range]:
    """The columns of the log that the options name, with the numbers that each may hold."""
    kinds = {source: PROBABILITY for source in policies.values() if is_column(source, table.names)}
    if is_column(options.reward_model, table.names):
        kinds[options.reward_model] = FINITE
    for name, column in expected.items():
        if name not in policies:
            raise BadUsage(f"{flag('--expected')} {name}={column}: there is no policy {name!r}.")
    return kinds | {table.existing_column(column): FINITE for column in expected.values()}


def is_column(place: Any, names: Collection[str]) -> bool:
    """Whether a place is a column of the log. Raises BadInput for a text that is neither a column
    nor a file.
    """
    if not isinstance(place, (str, Path)):
        return False
    if str(place) in names:
        return True
    if not exists(str(place)):
        raise BadInput(
            f"{place}: neither a column of the log nor a file; the log's columns are "
            f"{', '.join(map(repr, names))}."
        )
    return False


def read_entries(place: Any, noun: str, within: Range, option: str) -> Entries:
    """The numbers of a table by item, and by query and position where it has such columns. Raises
    DuplicateItem.
    """
    table = load_columns(place, option, WORDS)
    column, item = (table.need(content) for content in (noun, "item"))
    query, position = (table.find(content) for content in ("query", "position"))
    items = table.ids(item)
    queries, positions = (
        [None] * len(items) if name is None else table.ids(name) for name in (query, position)
    )
    keys: list[Key] = list(zip(queries, items, positions, strict=True))
    values: dict[Key, float] = {}
    for row, (key, value) in enumerate(
        zip(keys, table.numbers(column, within).tolist(), strict=True), 1
    ):
        if key in values:
            raise DuplicateItem(
                f"{table.name}: row {row}: item {key[1]!r}{_of((key[0], None))} has a number "
                "already; keep one of them."
            )
        values[key] = value
    return Entries(table.name, values, query is not None, position is not None)


def read_policy(place: Any, log: Log, model: Entries | None) -> Policy:
    """The probabilities of a policy's table for what the log shows, and what a model's table
    expects under it.

    Raises BadInput for a query that the table lacks, and for probabilities of a context that add up
    to more than 1; with a model, also to less.
    """
    option = flag("--policy", name="policies")
    table = read_entries(place, "probability", PROBABILITY, option)
    rows = log_keys(log, table)
    contexts: dict[Context, list[Key]] = defaultdict(list)
    for key in table.values:
        contexts[key[0], key[2]].append(key)
    sums = {
        context: math.fsum(table.values[key] for key in keys) for context, keys in contexts.items()
    }
    for context, total in sums.items():
        if total > 1 + _ROUNDED or (model is not None and total < 1 - _ROUNDED):
            hint = "" if total > 1 else "; what a model expects needs all items"
            raise BadInput(
                f"{table.name}: the probabilities{_of(context)} add up to {total:.6g}; "
                f"expected 1{hint}."
            )
    for query, _, position in rows:
        if (query, position) not in sums:
            raise BadInput(
                f"{table.name}: no probabilities{_of((query, position))}, which the log has; add "
                "them."
            )
    probabilities = np.array([table.values.get(key, 0.0) for key in rows], dtype=np.float64)
    problems = _problems(table, sums, set(log.items or ()))
    expected = None if model is None else _expected(table, contexts, rows, model, log)
    return Policy(probabilities, expected, tuple(problems))


def _problems(
    table: Entries, sums: Mapping[Context, float], logged: Collection[str]
) -> Iterator[str]:
    """Probabilities that do not add up to 1, and items that the log never shows."""
    short = sorted((context for context, total in sums.items() if total < 1 - _ROUNDED), key=str)
    if short:
        yield (
            f"the probabilities of {len(short)} of {len(sums)} contexts add up to less than 1, as "
            f"{sums[short[0]]:.4g}{_of(short[0])}; items that are not listed have probability 0"
        )
    unlogged = {key: value for key, value in table.values.items() if key[1] not in logged}
    never = sorted({key[1] for key, value in unlogged.items() if value > 0})
    if never:
        lost = math.fsum(unlogged.values()) / len(sums)
        yield (
            f"with probability {lost:.4g} it shows items that are nowhere in the log "
            f"({len(never)}, as {never[0]!r}); their rewards are unknown, and no estimate by "
            "weights has them"
        )


def log_keys(log: Log, table: Entries) -> list[Key]:
    """The key of each row of the log in a table: (rows,). Raises BadInput where the log lacks a
    column of it.
    """
    lacks = {
        "item": not log.items,
        "query": table.by_query and "query" not in log.columns,
        "position": table.by_position and not log.positions,
    }
    for content, is_lacking in lacks.items():
        if is_lacking:
            raise BadInput(
                f"{table.name} lists numbers by {content}, and {log.name} has no column for it; "
                "name the log's column."
            )
    nothing = [None] * log.n
    return list(
        zip(
            log.queries if table.by_query else nothing,
            log.items or (),
            (table.by_position and log.positions) or nothing,
            strict=True,
        )
    )


def model_estimates(model: Entries, log: Log) -> Floats:
    """A model's estimate for what was shown: (rows,). Raises BadInput for what it lacks."""
    return np.array([_estimate(model, key) for key in log_keys(log, model)], dtype=np.float64)


def _estimate(model: Entries, key: Key) -> float:
    if key not in model.values:
        raise BadInput(
            f"{model.name}: no estimate of item {key[1]!r}{_of((key[0], key[2]))}; add it."
        )
    return model.values[key]


def _expected(
    table: Entries,
    contexts: Mapping[Context, Sequence[Key]],
    rows: Sequence[Key],
    model: Entries,
    log: Log,
) -> Floats:
    """The mean of a model's estimates over what the policy would show: (rows,)."""
    expectations: dict[tuple[Context, Context], float] = {}
    values: list[float] = []
    for key, logged in zip(rows, log_keys(log, model), strict=True):
        context, of_model = (key[0], key[2]), (logged[0], logged[2])
        if (context, of_model) not in expectations:
            expectations[context, of_model] = math.fsum(
                table.values[possible] * _estimate(model, (of_model[0], possible[1], of_model[1]))
                for possible in sorted(contexts[context])
                if table.values[possible]
            )
        values.append(expectations[context, of_model])
    return np.array(values, dtype=np.float64)


def _of(context: Context) -> str:
    """The words for a query and a position."""
    words = zip((" of query", " at position"), context, strict=True)
    return "".join(f"{word} {name!r}" for word, name in words if name is not None)


def slots_of(log: Log) -> tuple[list[str], Ints]:
    """The positions, numbers by size and other texts by their bytes, and (rows,) the number of each
    row's.
    """
    if log.positions is None:
        return [], np.zeros(log.n, dtype=np.int64)
    names = sort_ids(set(log.positions))
    if all(name.isdecimal() and name.isascii() for name in names):
        names.sort(key=lambda name: (len(name.lstrip("0")), name.lstrip("0")))
    number_of = positions_by_id(names)
    return names, np.array([number_of[position] for position in log.positions], dtype=np.int64)


def query_rows(log: Log) -> tuple[tuple[str, ...], Ints]:
    """The queries in the order of the rows, and where the rows of each begin."""
    starts = [row for row in range(log.n) if row == 0 or log.queries[row] != log.queries[row - 1]]
    return tuple(log.queries[row] for row in starts), np.array([*starts, log.n], dtype=np.int64)


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
def evaluate_clicks(log: Table, *, options: ClickOptions) -> Results:
    """Estimates the value of new policies from what a logging policy showed and how users reacted.

    The logging policy is among the results as `log`, with its mean reward, so that `compare` says
    whether a policy is better than it. In Python, `policies` may be a mapping name -> column, file
    or mapping, and `reward_model` a mapping.
    Raises BadInput and BadScore for bad rows, BadUsage for measures that the inputs do not allow,
    UnknownName for a measure that does not exist.

    Parameters
    ----------
    log
        A table with a row for each item that was shown (CSV, TSV, Parquet, JSON lines, or a mapping
        column -> values): reward, propensity, and optionally query, item and position.

    >>> import rankwell as rw
    >>> log = {
    ...     "click": [1, 0, 1, 0],
    ...     "propensity": [0.5, 0.5, 0.25, 0.25],
    ...     "mine": [0.25, 0.5, 0.5, 0.5],
    ... }
    >>> rw.evaluate_clicks(log, ["mine"], ["IPS"])["IPS"]
    {'log': 0.5, 'mine': 0.625}
    """
    options.check_intervals()
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
    measures: Measures,
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


def _on_weights(name: str, weights: Floats, measures: Measures) -> Iterator[Finding]:
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
