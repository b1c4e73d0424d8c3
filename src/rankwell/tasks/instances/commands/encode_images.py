"""Encode images to a file of embeddings: with a network of ONNX, torch or sentence-transformers, or
without any.
"""

import hashlib
import json
import math
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rankwell
from rankwell import reporting
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import IDS_BESIDE, ids_content
from rankwell.reporting.options import Aside, Output, OutputPath, Progress
from rankwell.store import Source, refuse_blocked, replacing
from rankwell.store.locks import locked
from rankwell.tasks.instances.formats import read_images
from rankwell.vectors.encoders import ImageEncoder, ImageSettings, load_image_encoder
from rankwell.vectors.encoders.runs import (
    EncodedImages,
    check_made_by,
    digests,
    encode_images,
    refuse_foreign,
    write_beside,
)
from rankwell.vectors.media.images import list_media

_TABLE = ".images.csv"


def images(
    images: str,
    /,
    *,
    output: OutputPath,
    model: str,
    root: str | None = None,
    settings: ImageSettings,
    cache: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """Encode images to a file of embeddings: with a network of ONNX, torch or
    sentence-transformers, or without any.

    An image that cannot be read stops nothing. Beside NAME.npy are NAME.ids.txt,
    NAME.manifest.json, which records how it was made, and NAME.images.csv, which has the time of
    every image, or the reason why it has no vector.

    Parameters
    ----------
    images
        Folder of images (ids are paths below it), or a data set of `rankwell instances`: a table or
        a JSON of ground truth.
    output
        File to write, .npy.
    model
        resnet152-im:FILE.onnx, alexnet-im:FILE.onnx, gordo:FILE.onnx, any FILE.onnx,
        torch:./FILE.py:OBJECT,
        ./FILE.py:OBJECT (a function of paths), a model of sentence-transformers such as CLIP by
        folder or name; or what needs no model: colour-histogram[:BINS], small-grey[:WIDTHxHEIGHT],
        colours-and-shapes.
    root
        Folder of the images that a table or a JSON lists.
    cache
        Folder in which vectors are kept by the content of each image, for other data sets as well.
        Without it they are kept until the file is whole, so that an interrupted run resumes.
    overwrite
        Replace vectors that were made from other images or in another way, and other files of these
        names.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    refuse_blocked(output)
    refuse_foreign(output, (_TABLE, *IDS_BESIDE), [images], overwrite=overwrite or output.exists())
    ids, paths = _listed(images, root)
    encoder = load_image_encoder(model, settings)
    # The SHA-256 over every image's id and content, in order.
    total = hashlib.sha256(
        "".join(json.dumps(row) for row in zip(ids, digests(paths), strict=True)).encode()
    )
    manifest = {
        "schema_version": 1,
        "rankwell": rankwell.__version__,
        "images": {"count": len(paths), "hash": f"sha256:{total.hexdigest()}"},
        "encoder": dict(encoder.description),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    notes = [f"{images}: {len(paths)} images"]
    with locked(output):
        if output.exists() and not overwrite:
            check_made_by(output, manifest if encoder.is_known else {}, "images")
            return Output(
                notes=(
                    *notes,
                    f"{output} is there and was made from these images in this way; nothing to do",
                )
            )
        cache_folder = cache or output.with_name(output.name + ".part")
        is_new = not cache_folder.exists()
        encoding_progress = None if progress is None else partial(progress, "encoding")
        try:
            encoded = encode_images(
                ids, paths, encoder, cache=cache_folder, progress=encoding_progress
            )
        except BadUsage:
            # No picture would change this: there is nothing to go on with.
            if cache is None and is_new:
                shutil.rmtree(cache_folder, ignore_errors=True)
            raise
        _write(encoded, ids, paths, output, manifest)
        if cache is None:
            shutil.rmtree(cache_folder, ignore_errors=True)
    vectors = encoded.embeddings
    written = Aside(f"wrote {output} ({vectors.n} × {vectors.dimensions} float32)")
    return Output(notes=(*notes, *_notes(encoded, encoder, output), written))


def _listed(place: str, root: str | None) -> tuple[list[str], list[Path]]:
    """The ids and files of all images. Raises BadInput where there are none."""
    if Path(place).is_dir():
        if root is not None:
            raise BadUsage("--root is for tables and JSON; a folder holds its images.")
        paths = list_media(Path(place))
        if not paths:
            raise BadInput(f"{place} holds no image; name a folder of images.")
        return [path.relative_to(place).as_posix() for path in paths], paths
    table = read_images(place, root=root)
    if table.paths is None:
        raise BadInput(f"{place}: its images are not beside it; name their folder with --root.")
    return list(table.ids), list(table.paths)


def _write(
    encoded: EncodedImages,
    ids: Sequence[str],
    paths: Sequence[Path],
    output: Path,
    manifest: dict[str, Any],
) -> None:
    """Writes the vectors last, once an earlier file is removed: where they are, the rest is that of
    theirs.
    """
    took = dict(zip(encoded.embeddings.names(), encoded.seconds.tolist(), strict=True))
    failed = {failure.id: failure.message for failure in encoded.failures}
    rows = [
        {
            "image": name,
            "file": str(path),
            "seconds": took.get(name),
            "problem": failed.get(name, ""),
        }
        for name, path in zip(ids, paths, strict=True)
    ]
    with replacing(output) as draft:
        np.save(draft, encoded.embeddings.vectors, allow_pickle=False)
        output.unlink(missing_ok=True)
        contents = {
            _TABLE: reporting.render_rows(rows, "csv"),
            **ids_content(encoded.embeddings.ids),
        }
        write_beside(output, manifest, Source(draft).digest(), contents, (_TABLE, *IDS_BESIDE))


def _notes(encoded: EncodedImages, encoder: ImageEncoder, output: Path) -> list[str]:
    notes: list[str] = []
    if encoded.cached:
        notes.append(f"{encoded.cached} vectors were there from an earlier run")
    if encoded.computed and not encoder.is_known:
        notes.append(
            "nothing says all that decides these vectors, so that none is kept for a run that "
            "goes on"
        )
    if encoded.failures:
        first = encoded.failures[0]
        where = output.with_suffix(_TABLE)
        total = encoded.embeddings.n + len(encoded.failures)
        notes.append(
            f"without a vector: {len(encoded.failures)} of {total} images (see {where}); first "
            f"{first.message}"
        )
    median = float(np.median(encoded.seconds))
    if math.isfinite(median):
        notes.append(
            f"{1000 * median:.3g} ms per image (median), {encoded.seconds.sum():.3g} s in all"
        )
    return notes
