"""Populations for the figures of docs/reference/simulations/judging.md: queries with their
pools, from a seed or of Robust03, and samples of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats, Ints
from rankwell.io.formats import read_judgments, read_ranking
from rankwell.stats.agreement import Ratings, coefficients
from rankwell.stats.samples import (
    SampledItems,
    SampleEstimate,
    cross_fitted,
    estimate,
    inclusion,
    prior_relevance,
    priorities,
    sampling_sizes,
)

K = 10
_WEIGHTS = 1 / np.log2(np.arange(1, K + 1) + 1)
WEIGHTS = np.concatenate([[0.0], _WEIGHTS / _WEIGHTS.sum()])


class QueryPopulation(NamedTuple):
    """A population of queries with a pool of equal width: (queries, items, runs) ranks, 0 for none;
    (queries, items) gains.
    """

    name: str
    ranks: Ints
    gain: Floats

    @property
    def weights(self) -> Floats:
        """(queries, items, runs) of SDCG@10."""
        return WEIGHTS[self.ranks]

    def truth(self, pair: tuple[int, int]) -> Floats:
        """(queries,) the difference of the second run less the first."""
        weights = self.weights
        return ((weights[..., pair[1]] - weights[..., pair[0]]) * self.gain).sum(axis=1)


def drawn_population(
    name: str, *, relevant: float, noise: Sequence[float], queries: int = 2000, seed: int = 0
) -> QueryPopulation:
    """Runs that see the grade of each of 30 candidates through noise, so that one is better; a
    share of them is relevant.
    """
    random = np.random.default_rng(seed)
    hardness = random.beta(2, 2, queries)[:, None] * 2 * relevant
    grade = np.where(
        random.random((queries, 30)) < hardness,
        random.choice([1, 2, 3], (queries, 30), p=[0.5, 0.3, 0.2]),
        0,
    )
    shared = random.normal(size=grade.shape)
    scores = [
        grade + each * (0.6 * shared + 0.8 * random.normal(size=grade.shape)) for each in noise
    ]
    places = np.stack(
        [np.argsort(np.argsort(-score, axis=1), axis=1) + 1 for score in scores], axis=2
    )
    return _pooled(name, np.where(places <= K, places, 0), grade / 3)


def _pooled(name: str, ranks: Ints, gain: Floats) -> QueryPopulation:
    """The population without items that no run has, to the width of the widest pool."""
    pooled = (ranks > 0).any(axis=2)
    order = np.argsort(~pooled, axis=1, kind="stable")[:, : int(pooled.sum(axis=1).max())]
    return QueryPopulation(
        name,
        np.take_along_axis(ranks, order[..., None], axis=1),
        np.take_along_axis(gain, order, axis=1),
    )


def robust_population(folder: Path) -> QueryPopulation:
    """The topics of Robust03 with the pools of its runs that have them all; unjudged items have
    grade 0.
    """
    judged = read_judgments(folder / "qrels.txt.gz").to_dict()
    runs = [read_ranking(path).to_dict() for path in sorted(folder.glob("*.run.gz"))]
    runs = [run for run in runs if len(set(judged) & set(run)) >= 0.9 * len(judged)]
    topics = sorted(query for query in judged if all(query in run for run in runs))
    lists = [
        [
            sorted(run[topic], key=lambda item, own=run[topic]: (-own[item], item))[:K]
            for run in runs
        ]
        for topic in topics
    ]
    width = max(len({item for own in each for item in own}) for each in lists)
    ranks, gain = (
        np.zeros((len(topics), width, len(runs)), dtype=np.int64),
        np.zeros((len(topics), width)),
    )
    for at, (topic, each) in enumerate(zip(topics, lists, strict=True)):
        for place, item in enumerate(dict.fromkeys(item for own in each for item in own)):
            ranks[at, place] = [own.index(item) + 1 if item in own else 0 for own in each]
            gain[at, place] = min(max(judged[topic].get(item, 0), 0), 2) / 2
    return QueryPopulation("Robust03", ranks, gain)


def model_gains(
    population: QueryPopulation, right: float, *, favours: float = 0.0, seed: int = 3
) -> Floats:
    """(queries, items) gains by a model that sees the grade with a chance, else draws one from all.

    favours: the chance that an item which weighs more in the first run has a grade more.
    """
    random = np.random.default_rng(seed)
    pooled = (population.ranks > 0).any(axis=2)
    grade = np.rint(population.gain * 3)
    found = grade.copy()
    found[pooled] = np.where(
        random.random(int(pooled.sum())) < right, grade[pooled], random.permutation(grade[pooled])
    )
    liked = pooled & (population.weights[..., 0] > population.weights[..., 1])
    return (
        np.where(liked & (random.random(grade.shape) < favours), np.minimum(found + 1, 3), found)
        / 3
    )


def kappa_of(population: QueryPopulation, gains: Floats) -> float:
    """Cohen's kappa of the grades of pooled items and those of a model."""
    pooled = (population.ranks > 0).any(axis=2)
    grades = np.column_stack([np.rint(3 * each[pooled]) for each in (population.gain, gains)])
    return float(coefficients(Ratings(grades=grades, scale=(0, 1, 2, 3)))["Cohen's kappa"] or 0.0)


def prior_of(ranks: Ints) -> Floats:
    """(items,) the prior chance of relevance. ranks: (items, runs) of pooled items."""
    return prior_relevance(np.where(ranks > 0, ranks, K + 1).min(axis=1), ranks.min(axis=1) > 0)


class Sample(NamedTuple):
    """Queries drawn from a population: of each item its query, ranks (items, runs), gain, prior,
    permanent number and size.
    """

    n: int
    query: Ints
    ranks: Ints
    gain: Floats
    prior: Floats
    u: Floats
    sizes: Floats

    @classmethod
    def of(
        cls,
        population: QueryPopulation,
        n: int,
        random: np.random.Generator,
        *,
        swapped: bool = False,
    ) -> "Sample":
        """n queries with replacement. swapped: whether the runs change places at random in each, so
        that none is better.
        """
        chosen = random.integers(0, len(population.gain), n)
        ranks = population.ranks[chosen]
        if swapped:
            ranks = _permuted(ranks, random)
        kept = (ranks > 0).any(axis=2)
        query, flat = np.repeat(np.arange(n), kept.sum(axis=1)), ranks[kept]
        prior, u = prior_of(flat), random.random(int(kept.sum()))
        return cls(
            n,
            query,
            flat,
            population.gain[chosen][kept],
            prior,
            u,
            sampling_sizes(WEIGHTS[flat], prior),
        )

    @property
    def deciding(self) -> int:
        """The number of items that decide."""
        return int((self.sizes > 0).sum())

    def drawn(self, judged: int, sizes: Floats | None = None) -> tuple[Bools, Floats]:
        """(items,) which are judged first, and the probability of each. sizes: others than our
        own.
        """
        own = self.sizes if sizes is None else sizes
        ranked = priorities(self.u, own)
        order = np.sort(ranked)
        tau = float(order[judged]) if judged < len(order) else np.inf
        return ranked < tau, inclusion(own, tau)

    def items(
        self, pair: tuple[int, int], judged: int, sizes: Floats | None = None
    ) -> SampledItems:
        """The sample for the difference of the second run of a pair less the first."""
        sampled, pi = self.drawn(judged, sizes)
        weight = WEIGHTS[self.ranks[:, pair[1]]] - WEIGHTS[self.ranks[:, pair[0]]]
        gain = np.where(sampled, self.gain, np.nan)
        return SampledItems(
            n_queries=self.n,
            query=self.query,
            weight=weight,
            prediction=self.prior,
            inclusion=pi,
            sampled=sampled,
            gain=gain,
        )

    def truth(self, pair: tuple[int, int]) -> float:
        """The difference of these queries."""
        weight = WEIGHTS[self.ranks[:, pair[1]]] - WEIGHTS[self.ranks[:, pair[0]]]
        return float((weight * self.gain).sum()) / self.n


def _permuted(ranks: Ints, random: np.random.Generator) -> Ints:
    order = np.argsort(random.random((ranks.shape[0], 1, ranks.shape[2])), axis=2)
    return np.take_along_axis(ranks, np.broadcast_to(order, ranks.shape), axis=2)


def whole(population: QueryPopulation) -> Sample:
    """All queries of a population, once."""
    kept = (population.ranks > 0).any(axis=2)
    flat = population.ranks[kept]
    prior = prior_of(flat)
    sizes = sampling_sizes(WEIGHTS[flat], prior)
    query = np.repeat(np.arange(len(population.gain)), kept.sum(axis=1))
    return Sample(
        len(population.gain), query, flat, population.gain[kept], prior, np.zeros(len(flat)), sizes
    )


def ours(sample: Sample, pair: tuple[int, int], judged: int) -> SampleEstimate:
    """The estimate of a study; halves of the queries at random."""
    items = sample.items(pair, judged)
    return estimate(items, cross_fitted(items, np.arange(sample.n) % 2 == 0))
