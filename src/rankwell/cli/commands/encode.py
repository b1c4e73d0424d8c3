"""Encode texts or images to a file of embeddings."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from rankwell.data.options import Doc, refuse_options
from rankwell.files.encoding import EncodeFileOptions, encode_file
from rankwell.files.image_encoding import ImagePlaces, encode_image_files, holds_images
from rankwell.reporting.options import Output, OutputPath, Progress
from rankwell.vectors.encoders import ImageSettings


@dataclass(frozen=True, kw_only=True)
class EncodeCommandOptions(ImagePlaces, EncodeFileOptions):
    """The options of texts, and those of images."""

    batch_size: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        int | None, Doc("Number of texts or images per batch. [default: 32 texts, 16 images]")
    ] = None


_OF_BOTH = ("normalize", "batch_size", "device")
"""The options that texts and images have."""


def encode(
    source: str,
    /,
    *,
    output: OutputPath,
    encoder: str,
    options: EncodeCommandOptions,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """Encode texts or images to a file of embeddings.

    Uses any model, or none for images; an interrupted run resumes.

    A folder or a table with a column split holds images; any other file holds texts. Beside
    NAME.npy, it writes NAME.ids.txt (if the texts have ids), NAME.manifest.json, which records how
    it was made, and, for images, NAME.images.csv with the time of each, or the reason why it has no
    vector.

      rankwell encode documents.jsonl --encoder all-MiniLM-L6-v2 -o documents.npy
      rankwell encode photos --encoder clip-ViT-B-32 -o photos.npy

    Parameters
    ----------
    source
        File of texts: JSON lines, CSV, TSV or Parquet with columns for id and text, or .txt with a
        text per line. Or images: a folder (ids are paths below it), or a data set of `rankwell
        images`, a table or a JSON of ground truth.
    output
        File to write, .npy; a folder on the way is made.
    encoder
        Folder or name of a sentence-transformers model, such as CLIP for images. Texts:
        tfidf-svd:DIMENSIONS, which needs --fit. Images: resnet152-im:FILE.onnx,
        alexnet-im:FILE.onnx, gordo:FILE.onnx, any FILE.onnx, torch:./FILE.py:OBJECT,
        ./FILE.py:OBJECT (a function of paths), or, without a model, colour-histogram[:BINS],
        small-grey[:WIDTHxHEIGHT], colours-and-shapes; FILE.toml names one as `model`, with size,
        mean, std, channels, output, weights, max_size and normalize.
    overwrite
        Replace vectors made from other texts or images or in another way, and other files with
        these names.
    """
    both: dict[str, Any] = {name: getattr(options, name) for name in _OF_BOTH}
    both["normalize"] = options.normalize or None
    if options.root is not None or (options.columns is None and holds_images(source)):
        places = ImagePlaces(root=options.root, cache=options.cache)
        refuse_options(options, (*_OF_BOTH, *vars(places)), "is not for images")
        return encode_image_files(
            source,
            output,
            encoder,
            ImageSettings(**both),
            places,
            overwrite=overwrite,
            progress=progress,
        )
    names = [field.name for field in fields(EncodeFileOptions)]
    refuse_options(options, names, "is not for texts")
    settings: dict[str, Any] = {name: getattr(options, name) for name in names}
    if options.batch_size is None:
        settings["batch_size"] = EncodeFileOptions.batch_size
    text_options = EncodeFileOptions(**settings)
    outcome = encode_file(
        source, output, encoder, text_options, overwrite=overwrite, progress=progress
    )
    if outcome.result is None:
        return Output(outcome.text, outcome.messages, outcome.exit_code)
    return outcome.result
