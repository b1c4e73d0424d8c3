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

import numpy as np

from rankwell import reporting
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import IDS_BESIDE, ids_content
from rankwell.reporting.options import Output, OutputPath, Progress, StatusNote
from rankwell.store import Source, refuse_blocked, replacing
from rankwell.tasks.images.images import read_images
from rankwell.vectors.encoders import ImageSettings, NetworkSettings, load_image_encoder
from rankwell.vectors.encoders.runs import VectorFile, digests, encode_images, manifest_of
from rankwell.vectors.media.images import list_media

_TABLE = ".images.csv"


def images(
    images: str,
    /,
    *,
    output: OutputPath,
    encoder: str,
    root: str | None = None,
    normalize: bool | None = None,
    settings: NetworkSettings,
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
        Folder of images (ids are paths below it), or a data set of `rankwell images`: a table or
        a JSON of ground truth.
    output
        File to write, .npy.
    encoder
        resnet152-im:FILE.onnx, alexnet-im:FILE.onnx, gordo:FILE.onnx, any FILE.onnx,
        torch:./FILE.py:OBJECT, ./FILE.py:OBJECT (a function of paths), a model of
        sentence-transformers such as CLIP by folder or name; or what needs no model:
        colour-histogram[:BINS], small-grey[:WIDTHxHEIGHT], colours-and-shapes;
        FILE.toml names one as `model`, with size, mean, std, channels, output, weights, max_size
        and normalize.
    root
        Folder of the images that a table or a JSON lists.
    normalize
        Vectors of length one; with --no-normalize also without a model's own normalisation. By
        default as the model does.
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
    file = VectorFile(output, "images", (_TABLE, *IDS_BESIDE))
    file.refuse_foreign([images], overwrite=overwrite)
    ids, paths = _listed(images, root)
    picture_encoder = load_image_encoder(
        encoder,
        ImageSettings(normalize=normalize, batch_size=settings.batch_size, device=settings.device),
    )
    # The SHA-256 over every image's id and content, in order.
    pairs = zip(ids, digests(paths), strict=True)
    total = hashlib.sha256("".join(map(json.dumps, pairs)).encode()).hexdigest()
    manifest = manifest_of("images", len(paths), f"sha256:{total}", picture_encoder.description)
    notes = [f"{images}: {len(paths)} images"]
    # Nothing says that vectors of an encoder that is not known were made in this way.
    expected = manifest if picture_encoder.is_known else {}
    with file.making(expected, overwrite=overwrite) as done:
        if done:
            return Output(notes=(*notes, *done))
        cache_folder = cache or output.with_name(output.name + ".part")
        is_new = not cache_folder.exists()
        try:
            encoded = encode_images(
                ids,
                paths,
                picture_encoder,
                cache=cache_folder,
                progress=None if progress is None else partial(progress, "encoding"),
            )
        except BadUsage:
            # No picture would change this: there is nothing to go on with.
            if cache is None and is_new:
                shutil.rmtree(cache_folder, ignore_errors=True)
            raise
        vectors, seconds = encoded.embeddings, encoded.seconds
        took = dict(zip(vectors.names(), seconds.tolist(), strict=True))
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
        # Vectors come last, once an earlier file is removed: where they are, the rest is theirs.
        with replacing(output) as draft:
            np.save(draft, vectors.vectors, allow_pickle=False)
            output.unlink(missing_ok=True)
            contents = {_TABLE: reporting.render_rows(rows, "csv"), **ids_content(vectors.ids)}
            file.write_beside(manifest, Source(draft).digest(), contents)
        if cache is None:
            shutil.rmtree(cache_folder, ignore_errors=True)
    if encoded.cached:
        notes.append(f"{encoded.cached} vectors were there from an earlier run")
    if encoded.computed and not picture_encoder.is_known:
        notes.append(
            "nothing says all that decides these vectors, so that none is kept for a run that "
            "goes on"
        )
    if failed:
        notes.append(
            f"without a vector: {len(failed)} of {vectors.n + len(failed)} images (see "
            f"{output.with_suffix(_TABLE)}); first {encoded.failures[0].message}"
        )
    median = float(np.median(seconds))
    if math.isfinite(median):
        notes.append(f"{1000 * median:.3g} ms per image (median), {seconds.sum():.3g} s in all")
    notes.append(StatusNote(f"wrote {output} ({vectors.n} × {vectors.dimensions} float32)"))
    return Output(notes=tuple(notes))


def _listed(place: str, root: str | None) -> tuple[Sequence[str], Sequence[Path]]:
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
    return table.ids, table.paths
