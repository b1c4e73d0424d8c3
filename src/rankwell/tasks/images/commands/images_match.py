"""Match SIFT or RootSIFT features of queries and references."""

import json

import numpy as np

import rankwell
from rankwell.errors import BadInput, BadUsage, typed
from rankwell.evaluation.options import Seed
from rankwell.reporting.options import FilePath, Output, Progress, StatusNote
from rankwell.store import Source, refuse_blocked, replacing, write_lines, write_text
from rankwell.store.locks import locked
from rankwell.tasks.images.findings import images_unreadable
from rankwell.tasks.images.images import filter_images
from rankwell.tasks.images.local_features import LocalFeatures, match_images
from rankwell.tasks.images.options import ImageFileOptions, LocalFeaturesText, MatchExecutor
from rankwell.vectors.encoders import ImageCache


def match(
    images: str,
    /,
    *,
    output: FilePath,
    options: ImageFileOptions,
    local_features: LocalFeaturesText = "rootsift",
    seed: Seed = 0,
    executor: MatchExecutor = None,
    cache: ImageCache = None,
    progress: Progress = None,
) -> Output:
    """Match SIFT or RootSIFT features of queries and references.

    Writes scores for `rankwell images`.

    Beside NAME.npy, a row per query and a column per reference, are NAME.queries.txt and
    NAME.references.txt with their ids, which `--scores NAME.npy` reads, too, and
    NAME.manifest.json, which records how it was made.

      rankwell images match museum -o scores.npy

    Parameters
    ----------
    images
        Data set, as for `rankwell images`.
    output
        File to write, .npy.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: scores are written as .npy; name the file so.")
    refuse_blocked(output)
    features = LocalFeatures.parse(
        local_features or "rootsift", seed=seed, cache=cache, executor=executor
    )
    table = options.read(images)
    if table.paths is None:
        raise BadInput(f"{images}: its images are not there; name their folder with --root.")
    matches, scores = match_images(table, features, progress)
    ids = {"queries": scores.query_names, "references": scores.item_names}
    paths = {side: output.with_suffix(f".{side}.txt") for side in ids}
    output.parent.mkdir(parents=True, exist_ok=True)
    # The scores come last, once earlier ones are removed: where they are, the others are theirs.
    with locked(output), replacing(output) as draft:
        np.save(draft, scores.matrix, allow_pickle=False)
        output.unlink(missing_ok=True)
        for side, path in paths.items():
            write_lines(path, ids[side])
        manifest = {
            "schema_version": 1,
            "rankwell": rankwell.__version__,
            "system": features.describe(),
            "scores": Source(draft).digest(),
        }
        write_text(
            output.with_suffix(".manifest.json"),
            json.dumps(manifest, indent=2, sort_keys=True) + "\n",
        )
    seconds = list(matches.feature_seconds.values())
    cached = f" ({matches.cached} of {len(seconds)} from the cache)" if matches.cached else ""
    notes: list[str] = [
        *table.findings,
        f"{len(ids['queries'])} queries × {len(ids['references'])} references; "
        f"{1000 * sum(seconds) / max(1, len(seconds)):.3g} ms per image for its features"
        f"{cached}, {matches.matching_seconds.mean():.3g} s per query for matching",
    ]
    if matches.problems:
        number = f"{len(matches.problems)} of {len(table)} images"
        notes.append(images_unreadable(number, next(iter(matches.problems.values()))))
    notes.append(StatusNote(f"wrote {output}"))
    filtered = filter_images(table).images
    queries = filtered.queries()
    is_judged = filtered.marks is not None or any(label is not None for label in queries.instances)
    if not (queries and filtered.references() and is_judged):
        notes.append(
            "to evaluate them, say what is right: the images have no instance that both sides "
            "show; name --qrels"
        )
        return Output.of("", notes)
    words: list[object] = ["rankwell", "images", images]
    for name, value in {**vars(options), "scores": output}.items():
        words += [] if value is None else [f"--{name.replace('_', '-')}", value]
    return Output.of(typed(*words) + "\n", notes)
