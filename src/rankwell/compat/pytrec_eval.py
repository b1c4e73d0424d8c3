"""pytrec_eval's interface: change `import pytrec_eval` to `from rankwell.compat import
pytrec_eval`.

The rules are those of pytrec-eval-terrier 0.5.11, and so of trec_eval 9: scores in single
precision, ties by item id descending, a value for each query that both sides have. What differs on
purpose: a score that is NaN or infinite, and parameters that a measure does not take (`ndcg.5`),
are errors here, where pytrec_eval gives a meaningless figure or ends the process; and the
coefficients of `utility` stay in the order given, where pytrec_eval sorts them as texts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.compat.trec_command import GROUPS, MEASURES, Line, Options, lines_of
from rankwell.compat.trec_views import values_of
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import own_arithmetic
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadScore, RankwellError
from rankwell.io.mapping import find_hits

__all__ = [
    "RelevanceEvaluator",
    "aggregate",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

Grades = Mapping[str, Mapping[str, int]]
Scores = Mapping[str, Mapping[str, float]]

_NEW = {trec.name for trec in MEASURES if trec.since > 9}
supported_measures: set[str] = set(GROUPS["all_trec"]) - _NEW
supported_nicknames: dict[str, set[str]] = {
    name: set(names) - _NEW for name, names in GROUPS.items()
}
_PARAMETRISED = re.compile(r"(?P<name>\w+?)[._](?P<text>\d+(\.\d+)?(,\d+(\.\d+)?)*)")


class RelevanceEvaluator:
    """Evaluates runs against judgments, both as mappings query -> item -> number.

    query_relevance: query -> item -> integer grade; queries without items are left out.
    measures: trec_eval's names and nicknames, with parameters as in `ndcg_cut.5,10` or `P_5`.
    relevance_level: the lowest relevant grade.
    judged_docs_only_flag: whether unjudged items are taken out of runs.

    Raises TypeError for keys, grades or levels of the wrong type, ValueError for measures that
    pytrec_eval does not have.
    """

    def __init__(
        self,
        query_relevance: Grades,
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not isinstance(relevance_level, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("Expected object_relevance_per_qid dictionary and measures set.")
        if relevance_level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        self._lines = _lines(measures, relevance_level)
        self._level = relevance_level
        judged = {query: grades for query, grades in query_relevance.items() if len(grades) > 0}
        _check_grades(judged)
        self._judgments = Judgments.from_dict(judged)
        self._judged_only = judged_docs_only_flag

    @own_arithmetic
    def evaluate(self, scores: Scores) -> dict[str, dict[str, float]]:
        """query -> measure -> value, for the queries of the run that are judged, in the run's
        order.

        Raises TypeError for a run that is not a mapping of ids to numbers, BadScore for a score
        that is NaN or infinite.
        """
        if not scores:
            return {}
        _check_run(scores)
        try:
            hits = find_hits(scores, self._judgments, single_precision=True)
        except BadInput as error:
            numbers: list[Any] = [n for scored in scores.values() for n in scored.values()]
            if isinstance(error, BadScore) and all(isinstance(n, (float, int)) for n in numbers):
                raise
            raise TypeError("Unable to extract query/object scores.") from error
        view = JudgedRankings.join(self._judgments, hits).with_unjudged_pool
        view = view.condensed if self._judged_only else view
        table = values_of(self._lines, view, self._level).T.tolist()
        names = [
            line.measure.name if line.measure.kind in ("plain", "pairs", "numbers") else line.name
            for line in self._lines
        ]
        index = self._judgments.index
        return {
            query: dict(zip(names, table[index[query]], strict=True))
            for query in scores
            if query in index
        }


def _lines(measures: Iterable[str], level: int) -> list[Line]:
    """The lines of the measures, in trec_eval's order; parameters of one measure are joined and
    replace its defaults.
    """
    requested: dict[str, dict[str, None]] = {}
    for measure in measures:
        for text in sorted(supported_nicknames.get(measure, {measure})):
            name, parameters = _parse(text)
            requested.setdefault(name, {}).update(dict.fromkeys(parameters))
    parameters = tuple((name, ",".join(values)) for name, values in requested.items() if values)
    options = Options(is_v9=True, rel=level, parameters=parameters)
    try:
        return [
            line for trec in MEASURES if trec.name in requested for line in lines_of(trec, options)
        ]
    except RankwellError as error:
        raise ValueError(str(error)) from error


def _parse(text: str) -> tuple[str, list[str]]:
    if text in supported_measures:
        return text, []
    match = _PARAMETRISED.fullmatch(text)
    if match is None or match["name"] not in supported_measures:
        raise ValueError(f"unsupported measure {text}")
    return match["name"], match["text"].split(",")


def _check_grades(judged: Mapping[Any, Any]) -> None:
    for query, grades in judged.items():
        if not isinstance(query, str):
            raise TypeError("Expected string as key.")
        if not isinstance(grades, dict):
            raise TypeError("Expected dictionary as value.")
        if not all(isinstance(item, str) for item in grades):
            raise TypeError("Expected mapping of document id to query relevance or matching score.")
        if not all(isinstance(grade, int) for grade in grades.values()):
            raise TypeError("Expected relevance to be integer.")


def _check_run(scores: Any) -> None:
    if not isinstance(scores, Mapping):
        raise TypeError("Argument object scores should be of type dictionary.")
    for query, scored in scores.items():
        # Only the first item is checked here: checking the type of each would take longer than the
        # evaluation.
        if (
            not isinstance(query, str)
            or not isinstance(scored, Mapping)
            or not isinstance(next(iter(scored), ""), str)
        ):
            raise TypeError("Unable to extract query/object scores.")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """query -> item -> score from the lines of a TREC run; an item that appears twice in a query is
    an AssertionError.
    """
    rows = (line.split() for line in f_run)
    return _table((query, item, float(score)) for query, _, item, _, score, _ in rows)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """query -> item -> grade from the lines of a qrels file; an item that appears twice in a query
    is an AssertionError.
    """
    rows = (line.split() for line in f_qrel)
    return _table((query, item, int(grade)) for query, _, item, grade in rows)


def _table(rows: Iterable[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = defaultdict(dict)
    for query, item, number in rows:
        if item in table[query]:
            raise AssertionError(f"query {query!r} lists item {item!r} twice; keep one of them.")
        table[query][item] = number
    return table


@own_arithmetic
def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The figure over queries: a sum for `num_…`, exp of the mean for `gm_…` (whose values are
    logarithms), else the mean.
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


@own_arithmetic
def aggregate(results: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """measure -> its figure over all queries of what `evaluate` returned; empty where there is
    none.
    """
    measures = next(iter(results.values()), {})
    return {
        name: compute_aggregated_measure(name, [values[name] for values in results.values()])
        for name in measures
    }
