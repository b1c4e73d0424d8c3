"""Rank measures as metrics and scorers of scikit-learn: of multilabel rankings, and of samples in
groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import rankwell
from rankwell.conventions import CONVENTIONS, choose_measures
from rankwell.data.options import own_arithmetic
from rankwell.data.tables import unmasked
from rankwell.errors import BadInput
from rankwell.integrations import imported


@dataclass(frozen=True)
class RankingMetric:
    """A measure as a metric `(y_true, y_score, *, groups=None) -> float`, the mean over queries.

    measure: any name of a measure (`nDCG@10`).
    ties: `expected` averages over the orders of items with equal scores, as scikit-learn's
        `ndcg_score` does; any other tie rule by name.
    options: further fields of `EvaluateOptions` (`convention`, `no_relevant="skip"`).

    y_true holds grades, y_score scores. Two-dimensional: (n_queries, n_items), a row is a query,
    and every label an item. One-dimensional: (n_samples,), the samples of one group are the items
    of a query; groups (n_samples,) has their ids. Raises BadInput for arrays of other shapes,
    BadScore for a score or grade that is not finite, NothingToEvaluate.

    Equal to `sklearn.metrics.ndcg_score` where no grade is negative: linear gain, a query without
    relevant items counts as 0.

    >>> round(RankingMetric("nDCG@2")([[1, 0, 2]], [[0.5, 0.4, 0.3]]), 4)
    0.3801
    """

    measure: str
    ties: str = "expected"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def __name__(self) -> str:
        return self.measure

    @own_arithmetic
    def __call__(self, y_true: Any, y_score: Any, *, groups: Any = None) -> float:
        """The mean over queries."""
        grades = unmasked(y_true, "y_true")
        scores = unmasked(y_score, "y_score")
        rows = dict[str, list[int]]()
        for position, owner in enumerate(self._owners(grades, scores, groups).tolist()):
            rows.setdefault(str(owner), []).append(position)
        tables = [_table(rows, values.ravel()) for values in (grades, scores)]
        results = rankwell.evaluate(
            tables[0],
            {"y_score": tables[1]},
            self.measure,
            ties=self.ties,
            intervals="none",
            **self.options,
        )
        return float(results.summary[0]["mean"])

    def _owners(self, grades: Any, scores: Any, groups: Any) -> Any:
        """The query of each value in flat order. Raises BadInput."""
        if grades.shape != scores.shape or grades.ndim not in (1, 2):
            problem = f"y_true has the shape {grades.shape}, y_score {scores.shape}"
            raise BadInput(
                f"{self.measure}: {problem}; expected the same shape with one or two dimensions."
            )
        if grades.ndim == 2:
            if groups is not None:
                raise BadInput(
                    f"{self.measure}: groups belong to one-dimensional y; of two dimensions "
                    "every row is a query."
                )
            return np.repeat(np.arange(len(grades)), grades.shape[1])
        owners = unmasked(groups, "the array of groups")
        if groups is None or owners.shape != grades.shape:
            problem = "are missing" if groups is None else f"have the shape {owners.shape}"
            raise BadInput(
                f"{self.measure}: groups {problem}; expected one id for each of {len(grades)} "
                "samples."
            )
        return owners


def ranking_scorer(
    measure: str, *, response_method: Any = "predict", ties: str = "expected", **options: Any
) -> Any:
    """A scorer of `sklearn.metrics.make_scorer` for cross-validation and searches of parameters.

    response_method: what the estimator scores with, `predict` of rankers and regressors,
    `decision_function` or `predict_proba` of classifiers of several labels. For samples in groups:
    `.set_score_request(groups=True)` with `sklearn.set_config(enable_metadata_routing=True)`. ties,
    options: as for `RankingMetric`. Where lower values are better the sign is turned, as
    scikit-learn does. Raises MissingExtra without scikit-learn, UnknownName for an unknown measure.
    """
    metrics = imported("sklearn.metrics", "sklearn")
    entry = choose_measures([measure], CONVENTIONS[options.get("convention", "rankwell")])[
        0
    ].measure.entry
    return metrics.make_scorer(
        RankingMetric(measure, ties, options),
        response_method=response_method,
        greater_is_better=entry.better != "lower",
    )


def _table(rows: Mapping[str, list[int]], values: Any) -> dict[str, dict[str, Any]]:
    """The mapping query -> item -> number; an item is named by its place in the query."""
    numbers = values.tolist()
    return {
        query: {str(item): numbers[position] for item, position in enumerate(positions)}
        for query, positions in rows.items()
    }
