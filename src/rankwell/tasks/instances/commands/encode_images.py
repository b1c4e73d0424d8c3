"""Encode images to a file of embeddings: with a network of ONNX, torch or sentence-transformers, or without any."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rankwell
from rankwell import report
from rankwell.encoders import Channels, ImageEncoder, ImageSettings, load_image_encoder, parse_size
from rankwell.encoders.runs import EncodedImages, digests, encode_images
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import write_ids
from rankwell.media.images import list_media
from rankwell.report.present import Output, OutputPath, Progress
from rankwell.store import refuse_blocked, replacing, write_text
from rankwell.tasks.instances.formats import read_images


@dataclass(frozen=True, kw_only=True)
class ImageEncodingOptions:
    """The settings of an encoder of images.

    Parameters
    ----------
    size
        What images are scaled to, sides and all, as 224x224, or original; by default as the model expects.
    longest
        Pixels of the longer side at most, where images keep their size.
    mean
        Means of the channels for values from 0 to 1; by default those of ImageNet, 0.485,0.456,0.406.
    std
        Standard deviations of the channels; by default those of ImageNet, 0.229,0.224,0.225.
    channels
        Order of the channels.
    output_name
        Output of the network to take, where it has several.
    weights
        File of a state dict, for torch.
    normalize
        Vectors of length one; by default so for networks, while functions and sentence-transformers are left as they are.
    batch_size
        Images at a time, 16 by default.
    device
        Where to compute, cpu or cuda.
    """

    size: str | None = None
    longest: int | None = None
    mean: str | None = None
    std: str | None = None
    channels: Channels | None = None
    output_name: str | None = None
    weights: Path | None = None
    normalize: bool | None = None
    batch_size: int | None = None
    device: str | None = None

    def settings(self) -> ImageSettings:
        """The settings. Raises BadUsage for a size or numbers that cannot be read."""
        return ImageSettings(
            size=None if self.size is None else parse_size(self.size),
            longest=self.longest,
            mean=_three("mean", self.mean),
            std=_three("std", self.std),
            channels=self.channels,
            output=self.output_name,
            weights=self.weights,
            normalize=self.normalize,
            batch_size=self.batch_size,
            device=self.device,
        )


def images(
    images: str,
    /,
    *,
    output: OutputPath,
    model: str,
    root: str | None = None,
    options: ImageEncodingOptions,
    cache: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """Encode images to a file of embeddings: with a network of ONNX, torch or sentence-transformers, or without any.

    An image that cannot be read stops nothing. Beside NAME.npy lie NAME.ids.txt, NAME.manifest.json, which says how it was made,
    and NAME.images.csv, which says of every image how long it took, or why it has no vector.

    Parameters
    ----------
    images
        Folder of images (ids are paths below it), or a data set of `rankwell instances`: a table or a JSON of ground truth.
    output
        File to write, .npy.
    model
        resnet152-im:FILE.onnx, alexnet-im:FILE.onnx, gordo:FILE.onnx, any FILE.onnx, torch:module:object, module:object (a
        function of paths), a model of sentence-transformers such as CLIP by folder or name; or what needs no model:
        colour-histogram[:BINS], small-grey[:WIDTHxHEIGHT], colours-and-shapes.
    root
        Folder of the images that a table or a JSON lists.
    cache
        Folder in which vectors are kept by the content of each image, for other data sets as well. Without it they are kept
        until the file is whole, so that a killed run goes on.
    overwrite
        Replace a file that was made from other images or in another way.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    refuse_blocked(output)
    ids, paths = _listed(images, root)
    encoder = load_image_encoder(model, options.settings())
    manifest = {
        "schema_version": 1,
        "rankwell": rankwell.__version__,
        "images": {"count": len(paths), "hash": _hash(ids, paths)},
        "encoder": encoder.describe(),
    }
    beside = output.with_suffix(".manifest.json")
    notes = [f"{images}: {len(paths)} images"]
    if output.exists() and not overwrite:
        if not encoder.is_known or not _is_made_by(beside, manifest):
            raise BadUsage(
                f"{output} is there and was made from other images or in another way; name another file, or --overwrite."
            )
        return Output(notes=(*notes, f"{output} is there and was made from these images in this way; nothing to do"))
    kept = cache or output.with_name(output.name + ".part")
    is_new = not kept.exists()
    shown = None if progress is None else partial(progress, "encoding")
    try:
        found = encode_images(ids, paths, encoder, cache=kept, progress=shown)
    except BadUsage:
        # No picture would change this: there is nothing to go on with.
        if cache is None and is_new:
            _remove(kept)
        raise
    _write(found, ids, paths, output, manifest)
    if cache is None:
        _remove(kept)
    vectors = found.embeddings
    written = f"wrote {output} ({vectors.n} × {vectors.dimensions} float32)"
    return Output(notes=(*notes, *_notes(found, encoder, output), written))


def _listed(place: str, root: str | None) -> tuple[list[str], list[Path]]:
    """The ids and files of all images. Raises BadInput where there are none."""
    if Path(place).is_dir():
        if root is not None:
            raise BadUsage("--root is for tables and JSON; a folder holds its images.")
        found = list_media(Path(place))
        if not found:
            raise BadInput(f"{place} holds no image; name a folder of images.")
        return [path.relative_to(place).as_posix() for path in found], found
    table = read_images(place, root=root)
    if table.paths is None:
        raise BadInput(f"{place}: its images are not beside it; name their folder with --root.")
    return list(table.ids), list(table.paths)


def _three(name: str, text: str | None) -> tuple[float, ...] | None:
    try:
        return None if text is None else tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise BadUsage(f"--{name} {text!r}: expected three numbers, as 0.485,0.456,0.406.") from error


def _hash(ids: Sequence[str], paths: Sequence[Path]) -> str:
    """The SHA-256 over every image's id and content, in order."""
    total = hashlib.sha256()
    for name, digest in zip(ids, digests(paths), strict=True):
        total.update(json.dumps([name, digest]).encode())
    return "sha256:" + total.hexdigest()


def _is_made_by(path: Path, manifest: dict[str, Any]) -> bool:
    try:
        return path.is_file() and json.loads(path.read_bytes()) == json.loads(json.dumps(manifest))
    except ValueError:
        return False


def _write(found: EncodedImages, ids: Sequence[str], paths: Sequence[Path], output: Path, manifest: dict[str, Any]) -> None:
    """Writes what is beside the vectors first: where they are, the rest is."""
    rows = report_rows(found, ids, paths)
    write_text(output.with_suffix(".images.csv"), report.render_rows(rows, "csv"))
    write_ids(output, found.embeddings.ids)
    write_text(output.with_suffix(".manifest.json"), json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    with replacing(output) as draft:
        np.save(draft, found.embeddings.vectors, allow_pickle=False)


def report_rows(found: EncodedImages, ids: Sequence[str], paths: Sequence[Path]) -> list[report.Row]:
    """A row per image: its id and file, the seconds it took, or the problem."""
    took = dict(zip(found.embeddings.names(), found.report.seconds.tolist(), strict=True))
    failed = {each.id: each.message for each in found.report.failures}
    return [
        {"image": name, "file": str(path), "seconds": took.get(name), "problem": failed.get(name, "")}
        for name, path in zip(ids, paths, strict=True)
    ]


def _notes(found: EncodedImages, encoder: ImageEncoder, output: Path) -> list[str]:
    report, notes = found.report, list[str]()
    if report.cached:
        notes.append(f"{report.cached} vectors were there from an earlier run")
    if report.computed and not encoder.is_known:
        notes.append("nothing says all that decides these vectors, so that none is kept for a run that goes on")
    if report.failures:
        first = report.failures[0]
        where = output.with_suffix(".images.csv")
        total = found.embeddings.n + len(report.failures)
        notes.append(f"without a vector: {len(report.failures)} of {total} images (see {where}); first {first.message}")
    median = float(np.median(report.seconds))
    if math.isfinite(median):
        notes.append(f"{1000 * median:.3g} ms per image (median), {report.seconds.sum():.3g} s in all")
    return notes


def _remove(folder: Path) -> None:
    """Takes away the folder of vectors of a run that has ended."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
