"""The numbers of data sets before and after filtering, the table of them, and those that others
published.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any, NamedTuple

from rankwell.tasks.images.images import FilteredImages, Images, filter_images


class ImageStatistics(NamedTuple):
    """The numbers of a data set after filtering; those named `total` are before it. Numbers of
    instances are None where no image has a label.

    name: name of the data set.
    objects: what its images show, a word for the table.
    instances: number of instances among the references.
    references: number of references.
    queries: number of queries.
    query_instances: number of instances among the queries.
    median, min, max: number of references per instance; None without labels.
    total_references: number of references before filtering.
    total_reference_instances: number of instances among these references.
    total_queries: number of queries before filtering.
    total_query_instances: number of instances among these queries.
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
    images: Images, *, name: str, objects: str = "images"
) -> tuple[ImageStatistics, FilteredImages]:
    """The statistics of a data set, and the images after `filter_images`."""
    filtered = filter_images(images)
    references, queries = filtered.images.references(), filtered.images.queries()
    all_references, all_queries = images.references(), images.queries()
    n_instances = [
        len({*side.labels.values()}) if images.labels else None
        for side in (references, queries, all_references, all_queries)
    ]
    sizes = list(Counter(references.labels.values()).values())
    statistics = ImageStatistics(
        name=name,
        objects=objects,
        instances=n_instances[0],
        references=len(references),
        queries=len(queries),
        query_instances=n_instances[1],
        median=float(median(sizes)) if sizes else None,
        min=min(sizes, default=None),
        max=max(sizes, default=None),
        total_references=len(all_references),
        total_reference_instances=n_instances[2],
        total_queries=len(all_queries),
        total_query_instances=n_instances[3],
    )
    return statistics, filtered


def statistics_rows(columns: Mapping[str, ImageStatistics]) -> list[dict[str, Any]]:
    """The printed table: a row per number, a column per data set. columns: heading -> numbers."""
    rows: dict[str, tuple[str, ...]] = {
        "Type of objects": ("objects",),
        "#Instances": ("instances",),
        "#Reference images": ("references",),
        "#Query images (#instances)": ("queries", "query_instances"),
        "Median #images per instance": ("median",),
        "Min #images per instance": ("min",),
        "Max #images per instance": ("max",),
        "Total reference images (#instances)": ("total_references", "total_reference_instances"),
        "Total query images (#instances)": ("total_queries", "total_query_instances"),
    }

    def _cell(numbers: ImageStatistics, fields: Sequence[str]) -> str:
        value, *in_brackets = (getattr(numbers, field) for field in fields)
        number = "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        return number if in_brackets in ([], [None]) else f"{number} ({in_brackets[0]})"

    return [
        {"statistic": label}
        | {heading: _cell(numbers, fields) for heading, numbers in columns.items()}
        for label, fields in rows.items()
    ]


class PublishedTables(NamedTuple):
    """The tables of a publication.

    datasets: name of a data set -> its numbers.
    systems: (system, data set, figure as printed), in the printed order.
    measure: exact name of the measure.
    label: the printed name of the measure.
    """

    datasets: Mapping[str, ImageStatistics]
    systems: Sequence[tuple[str, str, str]]
    measure: str
    label: str


@cache
def published_instances() -> PublishedTables:
    """The published tables that ship with the package: CLICIDE and GaRoFou, with four baselines."""
    file = files("rankwell.tasks.images") / "data" / "published_instances.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    systems = [
        (system, dataset, figure)
        for system, row in table["systems"].items()
        for dataset, figure in row.items()
    ]
    datasets = {
        name: ImageStatistics(name=name, **column) for name, column in table["datasets"].items()
    }
    measure = table["measure"]
    return PublishedTables(datasets, systems, measure["measure"], measure["label"])
