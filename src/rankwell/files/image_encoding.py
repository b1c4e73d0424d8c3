"""Encoding of images as a function: a folder of them, or those that a table lists."""

import hashlib
import json
import math
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import numpy as np

from rankwell import reporting
from rankwell.data.catalogue import result_kinds
from rankwell.data.columns import TEXT
from rankwell.data.options import Doc
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import ids_content
from rankwell.io.result_folder import column_types
from rankwell.reporting.options import Output, Progress, StatusNote
from rankwell.store import IDS_BESIDE, Source, refuse_blocked, replacing
from rankwell.vectors.encoders import ImageCache, ImageSettings, load_image_encoder
from rankwell.vectors.encoders.runs import VectorFile, digests, encode_images, manifest_of
from rankwell.vectors.media.images import list_media

_TABLE = ".images.csv"


@dataclass(frozen=True, kw_only=True)
class ImagePlaces:
    """Where the images of a table are, and where their vectors are kept."""

    root: Annotated[str | None, Doc("Folder of the images listed in a table or a JSON file.")] = (
        None
    )
    cache: ImageCache = None


def holds_images(place: str) -> bool:
    """Whether a place is a folder, or a table or JSON of images rather than of texts. Raises
    BadUsage for a table of both.
    """
    path = Path(place)
    if path.is_dir():
        return True
    if ".txt" in path.suffixes:
        return False
    is_parquet = path.suffix == ".parquet" and path.is_file()
    head = "" if is_parquet else Source(place).head().decode("utf-8", "replace").lstrip()
    if head.startswith("{") and re.search('"(?:imlist|gnd|qimlist)"', head):
        return True
    first = head.partition("\n")[0]
    is_json = first.startswith(("{", "["))
    names = re.findall(r'"([^"]+)"\s*:', first) if is_json else re.split("[,;\t|]", first)
    names += column_types(path) if is_parquet else ()
    columns = {name.strip(' "\r').lower() for name in names}
    image_columns, text_columns = columns & {"split", "side", "set"}, columns & {*TEXT}
    if image_columns and text_columns:
        raise BadUsage(
            f"{place} has columns of images ({', '.join(image_columns)}) and of texts "
            f"({', '.join(text_columns)}); name the folder of the images with --root, or the "
            "column of the texts with --columns text=NAME."
        )
    return bool(image_columns)


def encode_image_files(
    images: str,
    output: Path,
    encoder: str,
    settings: ImageSettings,
    places: ImagePlaces,
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """The encoding of a folder, a table or a JSON of images, which resumes; an image that cannot be
    read stops nothing. Arguments as those of the command.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    refuse_blocked(output)
    file = VectorFile(output, "images", (_TABLE, *IDS_BESIDE))
    file.refuse_foreign([images], overwrite=overwrite)
    ids, paths = _listed(images, places.root)
    picture_encoder = load_image_encoder(encoder, settings)
    # The SHA-256 over every image's id and content, in order.
    pairs = zip(ids, digests(paths), strict=True)
    total = hashlib.sha256("".join(map(json.dumps, pairs)).encode()).hexdigest()
    manifest = manifest_of("images", len(paths), f"sha256:{total}", picture_encoder.description)
    notes = [f"{images}: {len(paths)} images"]
    # Nothing says that vectors of an encoder that is not known were made in this way.
    expected = manifest if picture_encoder.is_known else {}
    with file.making(expected, overwrite=overwrite) as done:
        if done:
            return Output(messages=(*notes, *done))
        cache_folder = places.cache or output.with_name(output.name + ".part")
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
            if places.cache is None and is_new:
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
        if places.cache is None:
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
    return Output(messages=tuple(notes))


def _listed(place: str, root: str | None) -> tuple[Sequence[str], Sequence[Path]]:
    """The ids and files of all images. Raises BadInput where there are none."""
    if Path(place).is_dir():
        if root is not None:
            raise BadUsage("--root is for tables and JSON; a folder holds its images.")
        paths = list_media(Path(place))
        if not paths:
            raise BadInput(f"{place} holds no image; name a folder of images.")
        return [path.relative_to(place).as_posix() for path in paths], paths
    module, _, name = next(
        kind.pictures for kind in result_kinds().values() if kind.pictures
    ).partition(":")
    table = getattr(import_module(module), name)(place, root=root)
    if table.paths is None:
        raise BadInput(f"{place}: its images are not beside it; name their folder with --root.")
    return table.ids, table.paths
