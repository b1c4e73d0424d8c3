"""The numbers of data sets before and after filtering, the table of them, and those that others published."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from rankwell.tasks.instances.images import FilteredImages, Images, Switch, filter_images


class ImageStatistics(NamedTuple):
    """The numbers of a data set, counted after filtering except for those named `total`.

    objects: the kind of objects. query_instances: instances that the queries show; likewise the others. median, min, max:
    reference images per instance, None where no reference has a label. Numbers of instances are None where no image has a label.
    """

    name: str
    objects: str
    instances: int | None
    references: int
    queries: int
    query_instances: int | None
    median: float | None
    min: int | None
    max: int | None
    total_references: int
    total_reference_instances: int | None
    total_queries: int
    total_query_instances: int | None


def image_statistics(
    images: Images, *, name: str = "images", objects: str = "images", contentless: Switch = "filter", absent: Switch = "filter"
) -> tuple[ImageStatistics, FilteredImages]:
    """The statistics of a data set, and the images after `filter_images`."""
    filtered = filter_images(images, contentless=contentless, absent=absent)
    references, queries = filtered.images.references(), filtered.images.queries()
    all_references, all_queries = images.references(), images.queries()
    sizes = np.unique([label for label in references.instances if label is not None], return_counts=True)[1]
    labelled = any(label is not None for label in images.instances)
    statistics = ImageStatistics(
        name=name,
        objects=objects,
        instances=_instances(references, labelled),
        references=len(references),
        queries=len(queries),
        query_instances=_instances(queries, labelled),
        median=float(np.median(sizes)) if len(sizes) else None,
        min=int(sizes.min()) if len(sizes) else None,
        max=int(sizes.max()) if len(sizes) else None,
        total_references=len(all_references),
        total_reference_instances=_instances(all_references, labelled),
        total_queries=len(all_queries),
        total_query_instances=_instances(all_queries, labelled),
    )
    return statistics, filtered


def _instances(images: Images, labelled: bool) -> int | None:
    return len({label for label in images.instances if label is not None}) if labelled else None


def statistics_rows(columns: Mapping[str, ImageStatistics]) -> list[dict[str, Any]]:
    """The printed table: a row per number, a column per data set. columns: heading -> numbers."""
    rows: Sequence[tuple[str, str, str]] = (
        ("Type of objects", "objects", ""),
        ("#Instances", "instances", ""),
        ("#Reference images", "references", ""),
        ("#Query images (#instances)", "queries", "query_instances"),
        ("Median #images per instance", "median", ""),
        ("Min #images per instance", "min", ""),
        ("Max #images per instance", "max", ""),
        ("Total reference images (#instances)", "total_references", "total_reference_instances"),
        ("Total query images (#instances)", "total_queries", "total_query_instances"),
    )
    return [
        {"statistic": label} | {heading: _cell(numbers, field, beside) for heading, numbers in columns.items()}
        for label, field, beside in rows
    ]


def _cell(numbers: ImageStatistics, field: str, beside: str) -> str:
    value = getattr(numbers, field)
    shown = "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    second = getattr(numbers, beside) if beside else None
    return f"{shown} ({second})" if second is not None else shown


class PublishedFigure(NamedTuple):
    """One system on one data set. figure: as printed, in percent, with its trailing zeros."""

    system: str
    dataset: str
    figure: str


@dataclass(frozen=True)
class PublishedTables:
    """datasets: by name, in the order of print. systems: figures of `measure` (`label` in print), in the order of print."""

    datasets: Mapping[str, ImageStatistics]
    systems: tuple[PublishedFigure, ...]
    measure: str
    label: str


@cache
def published_instances() -> PublishedTables:
    """The published tables that ship with the package: CLICIDE and GaRoFou, with four baselines."""
    table = tomllib.loads((files("rankwell.tasks.instances") / "data" / "published_instances.toml").read_text(encoding="utf-8"))
    systems = [
        PublishedFigure(system, dataset, figure) for system, row in table["systems"].items() for dataset, figure in row.items()
    ]
    datasets = {name: ImageStatistics(name=name, **column) for name, column in table["datasets"].items()}
    return PublishedTables(datasets, tuple(systems), table["measure"]["measure"], table["measure"]["label"])
