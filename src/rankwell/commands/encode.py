"""Encode texts to a file of embeddings with any model of sentence-transformers; a killed run goes on where it was."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import rankwell
from rankwell.encoders import Settings, TextEncoder, load_encoder
from rankwell.encoders.runs import check_made_by, write_manifest, write_vectors
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.io import files as io
from rankwell.io.files import read_column
from rankwell.io.matrices import write_ids
from rankwell.locks import locked
from rankwell.report.present import Aside, Output, OutputPath, Progress
from rankwell.store import refuse_blocked

_CHUNK_BATCHES = 32


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """The texts of a file, and the settings of their encoder.

    Parameters
    ----------
    column
        Column of the texts, where its name does not determine it.
    id_column
        Column of the ids, with --column; without it rows are known by their position, from 0.
    title
        Put the column title before each text, as BEIR does.
    fit
        File of texts that the encoder is fitted to first (tfidf-svd).
    normalize
        Vectors of length one; with --no-normalize also without a model's own normalisation. By default as the model does.
    dimensions
        Keep only the first numbers of each vector.
    dtype
        Kind of number to store.
    batch_size
        Texts that the model sees at a time.
    device
        Where to compute, such as cpu or cuda; by default what the model's library chooses.
    seed
        Seed of the decomposition (tfidf-svd).
    """

    column: str | None = None
    id_column: str | None = None
    title: bool = False
    fit: str | None = None
    normalize: bool | None = None
    dimensions: int | None = None
    dtype: Literal["float32", "float16"] = "float32"
    batch_size: int = 32
    device: str | None = None
    seed: int | None = None


def encode(
    texts: str, /, *, output: OutputPath, model: str, options: EncodeOptions, overwrite: bool = False, progress: Progress = None
) -> Output:
    """Encode texts to a file of embeddings with any model of sentence-transformers; a killed run goes on where it was.

    Beside NAME.npy lie NAME.ids.txt (where the texts have ids) and NAME.manifest.json, which says how it was made.

    Parameters
    ----------
    texts
        File of texts: JSON lines, CSV, TSV or Parquet with columns for id and text, or .txt with a text per line.
    output
        File to write, .npy; a folder on the way is made.
    model
        Folder or name of a model of sentence-transformers, or tfidf-svd:DIMENSIONS, which needs --fit.
    overwrite
        Replace a file that was made from other texts or in another way.
    """
    if output.suffix != ".npy":
        raise BadUsage(f"{output}: embeddings are written as .npy; name the file so.")
    ids, found = _read(texts, options)
    encoder = _encoder(model, options)
    manifest = {
        "schema_version": 1,
        "rankwell": rankwell.__version__,
        "texts": {"count": len(found), "hash": hash_texts(ids, found)},
        "encoder": encoder.describe(),
        "dtype": options.dtype,
    }
    refuse_blocked(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    notes = [f"{texts}: {len(found)} texts{'' if ids is None else ' with ids'}"]
    with locked(output):
        if output.exists() and not overwrite:
            check_made_by(output, manifest, "texts")
            return Output(notes=(*notes, f"{output} is there and was made from these texts in this way; nothing to do"))

        def _finish(digest: str) -> None:
            write_ids(output, ids)
            write_manifest(output, manifest, digest)

        resumed = write_vectors(
            encoder,
            found,
            output,
            identity=manifest,
            dtype=options.dtype,
            chunk=_CHUNK_BATCHES * options.batch_size,
            before=_finish,
            progress=None if progress is None else lambda part, whole: progress("encoding", part, whole),
        )
    if resumed:
        notes.append(f"{resumed} vectors were there from a run that had not ended")
    return Output(notes=(*notes, Aside(f"wrote {output} ({len(found)} × {encoder.dimensions} {options.dtype})")))


def _encoder(model: str, options: EncodeOptions) -> TextEncoder:
    """The encoder, fitted to texts where there are any. Raises BadUsage for one that is not fitted to texts."""
    settings = Settings(options.dimensions, options.normalize, options.batch_size, options.device, options.seed)
    encoder = load_encoder(model, settings)
    if options.fit is None:
        return encoder
    fitted = encoder.fit(_read(options.fit, replace(options, id_column=None))[1])
    if fitted is encoder:
        raise BadUsage(f"--fit: {model} was trained elsewhere and is not fitted to texts; leave it out.")
    return fitted


def _read(place: str, options: EncodeOptions) -> tuple[list[str] | None, list[str]]:
    """The ids, if any, and the texts of a file. Raises BadInput for a row without an id, NothingToEvaluate without texts."""
    ids: list[str] | None = None
    if options.column is None:
        if options.id_column is not None:
            raise BadUsage("--id-column requires --column; name the column of the texts as well.")
        found = io.read_texts(place)
        ids = None if found.format == "lines" else list(found.texts)
        texts = list(found.texts.values())
        if options.title:
            titles = [found.attributes[name].get("title", "") for name in found.texts]
            texts = [f"{title} {text}".strip() for title, text in zip(titles, texts, strict=True)]
    elif options.title:
        raise BadUsage("--title cannot be combined with --column, which holds the whole text.")
    else:
        cells = read_column(f"{place}:{options.column}")
        texts = [text for text in cells if text is not None]
        if len(texts) < len(cells):
            what = f"row {cells.index(None) + 1} has no text in the column {options.column!r}"
            raise BadInput(f"{place}: {what}; expected a string in every row. Correct or drop the row.")
        if options.id_column is not None:
            ids = [name for name in read_column(f"{place}:{options.id_column}") if name]
            if len(ids) < len(texts) or len(set(ids)) < len(ids):
                raise BadInput(f"{place}: column {options.id_column!r} lacks an id or has one twice; every text needs its own.")
    if not texts:
        raise NothingToEvaluate(f"{place} has no texts.")
    return ids, texts


def hash_texts(ids: Sequence[str] | None, texts: Sequence[str]) -> str:
    """The SHA-256 over all texts and their ids, in order; where one ends is part of it."""
    total = hashlib.sha256(b"positions" if ids is None else b"ids")
    for each in (*(ids or ()), *texts):
        raw = each.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return "sha256:" + total.hexdigest()
