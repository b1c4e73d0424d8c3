"""Match local features (SIFT) of queries to those of references, as scores for `rankwell instances
evaluate`.
"""

import json
import shlex

import numpy as np

import rankwell
from rankwell.errors import BadInput, BadUsage
from rankwell.locks import locked
from rankwell.report.options import Aside, FilePath, Output, Progress
from rankwell.store import Source, refuse_blocked, replacing, write_text
from rankwell.tasks.instances.computed_runs import matched
from rankwell.tasks.instances.formats import read_images
from rankwell.tasks.instances.images import filter_images
from rankwell.tasks.instances.local_features import LocalFeatures

_MADE_BY = {"schema_version": 1, "rankwell": rankwell.__version__}


def match(
    images: str,
    /,
    *,
    output: FilePath,
    query_images: str | None = None,
    root: str | None = None,
    pattern: str | None = None,
    system: LocalFeatures,
    progress: Progress = None,
) -> Output:
    """Match local features (SIFT) of queries to those of references, as scores for `rankwell
    instances evaluate`.

    Beside NAME.npy, a row per query and a column per reference, are NAME.queries.txt and
    NAME.references.txt with their ids, and NAME.manifest.json, which records how it was made.

    Parameters
    ----------
    images
        Data set, as for `rankwell instances evaluate`.
    output
        File to write, .npy.
    query_images
        Folder of the queries, where the data set is a folder of references; inside that folder,
        they are queries only.
    root
        Folder of the images that a table or a JSON lists.
    pattern
        Form of file names, such as "{instance}_{camera}_*.jpg".
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: scores are written as .npy; name the file so.")
    refuse_blocked(output)
    table = read_images(images, queries=query_images, root=root, pattern=pattern)
    if table.paths is None:
        raise BadInput(f"{images}: its images are not there; name their folder with --root.")
    found, scores = matched(table, system, progress)
    sides = {"queries": scores.query_names, "references": scores.item_names}
    places = {side: output.with_suffix(f".{side}.txt") for side in sides}
    output.parent.mkdir(parents=True, exist_ok=True)
    # The scores come last, once earlier ones are removed: where they are, the rest is that of
    # theirs.
    with locked(output), replacing(output) as draft:
        np.save(draft, scores.matrix, allow_pickle=False)
        output.unlink(missing_ok=True)
        for side, ids in sides.items():
            write_text(places[side], "".join(f"{name}\n" for name in ids))
        manifest = {**_MADE_BY, "system": system.describe(), "scores": Source(draft).digest()}
        write_text(
            output.with_suffix(".manifest.json"),
            json.dumps(manifest, indent=2, sort_keys=True) + "\n",
        )
    seconds = list(found.feature_seconds.values())
    cached = f" ({found.cached} of {len(seconds)} from the cache)" if found.cached else ""
    each = 1000 * sum(seconds) / max(1, len(seconds))
    notes = [
        *table.notes,
        f"{len(scores.query_names)} queries × {len(scores.item_names)} references; {each:.3g} "
        "ms per image for its features"
        f"{cached}, {found.matching_seconds.mean():.3g} s per query for matching",
    ]
    if found.problems:
        first = next(iter(found.problems.values()))
        notes.append(
            f"left out, as they cannot be read: {len(found.problems)} of {len(table)} images; "
            f"first {first}"
        )
    named = {
        "--query-images": query_images,
        "--root": root,
        "--pattern": pattern,
        "--scores": str(output),
    }
    named |= {"--query-ids": str(places["queries"]), "--reference-ids": str(places["references"])}
    options = [part for name, value in named.items() if value is not None for part in (name, value)]
    notes.append(Aside(f"wrote {output}"))
    left = filter_images(table).images
    labelled = left.marks is not None or any(
        label is not None for label in left.queries().instances
    )
    if not (left.queries() and left.references() and labelled):
        notes.append(
            "to evaluate them, say what is right: the images have no instance that both sides "
            "show; name --positives"
        )
        return Output(notes=tuple(notes))
    return Output(
        text=shlex.join(["rankwell", "instances", "evaluate", images, *options]) + "\n",
        notes=tuple(notes),
    )
