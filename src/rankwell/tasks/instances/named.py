"""What the best reference names each query: TP / PRED, by query and by instance; ties in the first place as their rule says."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import TieRefused
from rankwell.tasks.instances.judged import InstanceRun
from rankwell.tasks.instances.truth import InstanceTruth


class Named:
    """How often a query is named, and how often rightly, by its best reference.

    shares: per query, label -> the share of its best references that have it; the rest have no label, or nothing was found. Of
    references with the same score all are the best (`expected`), the first that the rule places, or that which is right
    (`optimistic`) or wrong (`pessimistic`). named, right: (queries,) PRED and TP of each query.
    Raises TieRefused under `error` where they have different labels.
    """

    def __init__(self, ranked: InstanceRun) -> None:
        truth = ranked.truth
        references = truth.reference_instances or ()
        self.own = list(truth.query_instances or [None] * len(truth.queries))
        self.shares: list[dict[str, float]] = []
        for query, best in enumerate(ranked.best()):
            labels = [references[item] for item in best]
            if ranked.ties == "error" and len(set(labels)) > 1:
                raise TieRefused(
                    f"query {truth.queries[query]!r}: {len(labels)} references of different labels share the first place; "
                    "name a tie rule, or break the tie."
                )
            if ranked.ties in ("optimistic", "pessimistic"):
                labels = _chosen(labels, self.own[query], best=ranked.ties == "optimistic")
            self.shares.append({label: labels.count(label) / len(labels) for label in dict.fromkeys(labels) if label is not None})
        self.named: Floats = np.array([sum(each.values()) for each in self.shares], dtype=np.float64)
        self.right: Floats = np.array(
            [0.0 if own is None else each.get(own, 0.0) for own, each in zip(self.own, self.shares, strict=True)],
            dtype=np.float64,
        )

    @property
    def values(self) -> Floats:
        """(queries,) the share of the names that is right, NaN without a name; weighed by `weights`, their mean is TP / PRED."""
        return np.divide(self.right, self.named, out=np.full(len(self.named), np.nan), where=self.named > 0)

    @property
    def weights(self) -> Floats | None:
        """(queries,) the share of the best references that have a label, None where that is all or none of every query."""
        return None if np.isin(self.named, (0.0, 1.0)).all() else self.named

    def by_instance(self, run: str, truth: InstanceTruth) -> list[dict[str, Any]]:
        """A row per instance: its references and queries, how many queries were named so (PRED), and how many rightly (TP).

        Queries whose first place is shared count in parts.
        """
        sides = {"references": _counts(truth.reference_instances or ()), "queries": _counts(truth.query_instances or ())}
        pairs = list(zip(self.own, self.shares, strict=True))
        named = _sums((label, share) for _, each in pairs for label, share in each.items())
        right = _sums((own, each[own]) for own, each in pairs if own is not None and own in each)
        rows: list[dict[str, Any]] = []
        for name in sorted({*sides["references"], *sides["queries"]}):
            one = {what: counts.get(name, 0) for what, counts in {**sides, "named": named, "right": right}.items()}
            share = one["right"] / one["named"] if one["named"] else None
            rows.append({"run": run, "instance": name, **one, "precision": share})
        return rows


def _chosen(labels: Sequence[str | None], own: str | None, *, best: bool) -> list[str | None]:
    """The label that helps most, or least: a right one, none, a wrong one, in that order or the other way round."""

    def _worth(label: str | None) -> int:
        return 1 if label is None else 2 if label == own else 0

    return sorted(labels, key=_worth, reverse=best)[:1]


def _counts(labels: Iterable[str | None]) -> dict[str, int]:
    found: dict[str, int] = {}
    for label in labels:
        if label is not None:
            found[label] = found.get(label, 0) + 1
    return found


def _sums(shares: Iterable[tuple[str, float]]) -> dict[str, float | int]:
    """The sum of each label's shares, a whole number where it is one."""
    found: dict[str, list[float]] = {}
    for label, share in shares:
        found.setdefault(label, []).append(share)
    sums = {label: float(np.sum(np.sort(each))) for label, each in found.items()}
    return {label: int(value) if value.is_integer() else value for label, value in sums.items()}
