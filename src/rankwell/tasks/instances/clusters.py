"""Clusters of images, given or made by k-means, and how far they agree with the labels: NMI and
AMI.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwell._native.similarity import Metric
from rankwell.data.matrices import Scores
from rankwell.data.tables import Floats, sort_ids
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.formats import read_column
from rankwell.stats import SummaryRow
from rankwell.stats.partitions import k_means, partition_agreement
from rankwell.store import split_part
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.measures.clusters import AMI, NMI
from rankwell.tasks.instances.runs import InstanceRuns

KMEANS = "kmeans"
DEFINITIONS: dict[str, dict[str, str]] = {
    figure.name: {
        "definition": figure.text,
        "better": figure.better,
        "summary": "mean",
        "source": figure.source,
    }
    for figure in (NMI, AMI)
}


def cluster_rows(run: str, images: Images, clusters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of NMI and AMI of one run: of all images with a label. Raises BadInput for one
    without a cluster.

    They have no interval: copies of an image in a resample are always in one cluster, so that
    resamples agree better.
    """
    labelled = {
        name: label
        for name, label in zip(images.ids, images.instances, strict=True)
        if label is not None
    }
    if not labelled:
        raise BadUsage(
            "--clusters: no image has a label, so there is nothing that clusters could agree "
            "with; leave it out."
        )
    bare = next((name for name in labelled if clusters.get(name) is None), None)
    if bare is not None:
        raise BadInput(
            f"{run}: the image {bare!r} has no cluster; every image with a label needs one."
        )
    agreement = partition_agreement(list(labelled.values()), [clusters[name] for name in labelled])
    measured = {"NMI": (agreement.nmi, agreement.nmi_chance), "AMI": (agreement.ami, 0.0)}
    return [
        SummaryRow.of(run, name, name, value, None, None, None, len(labelled), "score")
        | {"ceiling": 1.0, "chance": chance}
        for name, (value, chance) in measured.items()
    ]


def unknown_images(run: str, images: Images, clusters: Mapping[str, Any]) -> list[str]:
    """The note on clustered images that are not among the images; none where all are."""
    unknown = sort_ids(set(clusters) - set(images.ids))
    if not unknown:
        return []
    example = (
        f"{run}: {len(unknown)} of {len(clusters)} images of {flag('--clusters')} are not among "
        "those evaluated"
    )
    return [f"{example} and are ignored, for example {unknown[0]!r}"]


def clusters_of(
    cluster_sources: Any, runs: InstanceRuns, images: Images, seed: int
) -> dict[str, Mapping[str, Any]]:
    """The clusters of images for each run. cluster_sources: `kmeans`, or for each run a file or a
    mapping image -> cluster.
    """
    sources: list[Any] = (
        list(cluster_sources) if isinstance(cluster_sources, (list, tuple)) else [cluster_sources]
    )
    if sources == [KMEANS]:
        return {run: _kmeans(run, runs, images, seed) for run in runs.tables}
    if len(sources) != len(runs.tables):
        raise BadUsage(
            f"--clusters: {len(sources)} files for {len(runs.tables)} runs; name one for each, "
            f"in their order, or {KMEANS}."
        )
    return {
        run: source if isinstance(source, Mapping) else _read(source)
        for run, source in zip(runs.tables, sources, strict=True)
    }


def _read(source: Any) -> dict[str, str]:
    """image -> cluster, from a table with a column `image` and a column `cluster`, or the one
    named, as in `found.csv:group`.
    """
    if not isinstance(source, (str, Path)):
        raise BadUsage(
            "--clusters: expected kmeans, the path of a table, or a mapping image -> cluster."
        )
    path, column = split_part(source)
    columns = [read_column(f"{path}:{name}") for name in ("image", column or "cluster")]
    clusters: dict[str, str] = {}
    for row, (image, cluster) in enumerate(zip(*columns, strict=True)):
        if not image or not cluster:
            raise BadInput(
                f"{path}: row {row + 1} has no {'cluster' if image else 'image'}; fill it in, "
                "or remove the row."
            )
        if clusters.setdefault(image, cluster) != cluster:
            raise BadInput(
                f"{path}: row {row + 1} puts {image!r} into the cluster {cluster!r}, an "
                f"earlier row into {clusters[image]!r}."
            )
    return clusters


def _kmeans(run: str, runs: InstanceRuns, images: Images, seed: int) -> dict[str, int]:
    """The clusters of a run's vectors by k-means from k-means++ seeds, as many as there are labels;
    under cosine, of length 1.
    """
    table = runs.tables[run]
    if isinstance(table, Scores):
        raise BadUsage(
            f"--clusters {KMEANS}: {run} has scores, and k-means clusters vectors; name a "
            "file of clusters."
        )
    if runs.transforms:
        raise BadUsage(
            f"--clusters {KMEANS} clusters vectors as they are given; leave --transform out, "
            "or name a file of clusters."
        )
    vectors = {
        name: vector
        for side in table
        for name, vector in zip(side.names(), side.vectors, strict=True)
    }
    labelled = [
        name
        for name, label in zip(images.ids, images.instances, strict=True)
        if label is not None and name in vectors
    ]
    if not labelled:
        raise BadInput(f"{run}: no image with a label has a vector.")
    points = _points([vectors[name] for name in labelled], runs.metric)
    n_clusters = len(
        {
            label
            for name, label in zip(images.ids, images.instances, strict=True)
            if name in vectors and label
        }
    )
    return dict(zip(labelled, k_means(points, n_clusters, seed=seed).tolist(), strict=True))


def _points(vectors: Sequence[Any], metric: Metric) -> Floats:
    points = np.array(vectors, dtype=np.float64)
    if metric != "cosine":
        return points
    return points / np.linalg.norm(points, axis=1, keepdims=True)
