"""What others printed about instance search: the statistics of their data sets and the figures of their systems."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PublishedDataset(NamedTuple):
    """A column of the source's table of data sets. Counts are over what its filters left, but for those called `total`.

    median, min, max: reference images of an instance. query_instances: instances that the queries show; likewise the others.
    """

    name: str
    objects: str
    instances: int
    references: int
    queries: int
    query_instances: int
    median: int
    min: int
    max: int
    total_references: int
    total_reference_instances: int
    total_queries: int
    total_query_instances: int


class PublishedFigure(NamedTuple):
    """One system on one data set. figure: as it was printed, in percent, trailing zeros and all."""

    system: str
    dataset: str
    figure: str


@dataclass(frozen=True)
class Published:
    """datasets: by name, in the order of print. figures: of `measure` (`label` in print), systems in the order of print."""

    datasets: Mapping[str, PublishedDataset]
    figures: tuple[PublishedFigure, ...]
    measure: str
    label: str

    @property
    def systems(self) -> tuple[str, ...]:
        """Their names, each once."""
        return tuple(dict.fromkeys(each.system for each in self.figures))

    def dataset(self, name: str) -> PublishedDataset | None:
        """The data set of this name in whatever case, None where the source has none."""
        return next((each for each in self.datasets.values() if each.name.casefold() == name.casefold()), None)


@cache
def published_instances() -> Published:
    """The published tables that ship with the package: CLICIDE and GaRoFou, with four baselines."""
    table = tomllib.loads((files("rankwell.tasks.instances") / "data" / "published_instances.toml").read_text(encoding="utf-8"))
    figures = [
        PublishedFigure(system, dataset, figure) for system, row in table["systems"].items() for dataset, figure in row.items()
    ]
    datasets = {name: PublishedDataset(name=name, **column) for name, column in table["datasets"].items()}
    return Published(datasets, tuple(figures), table["measure"]["measure"], table["measure"]["label"])
