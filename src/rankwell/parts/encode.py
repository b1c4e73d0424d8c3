"""Texts to embeddings in parts: whole chunks of texts, so that batches, and with them the bytes, are those of one run."""

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np

from rankwell.core.tables.arrays import read_npy
from rankwell.encoders import Settings, Singles, TextEncoder, load_encoder
from rankwell.errors import BadInput, BadScore, BadUsage, NothingToEvaluate
from rankwell.io import files as io
from rankwell.io.files import read_column
from rankwell.parts import KINDS, MAX_SHARDS, Amounts, Cut, Json, Limits, PartContent, PartInputs, PartKind
from rankwell.parts.places import WorkPlace
from rankwell.store import file_states

_CHUNK_BATCHES = 32
_MOST_TEXTS = 1 << 17
"""Texts of a part at most, whose vectors are in memory at once."""


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


EncoderTexts = tuple[list[str] | None, list[str]]
"""The ids, if there are any, and the texts."""


def chunk_of(batch_size: int) -> int:
    """Number of texts that an encoder gets at once: of so many begin the batches anew."""
    return _CHUNK_BATCHES * batch_size


def encoder_of(model: str, options: EncodeOptions) -> TextEncoder:
    """The encoder, fitted to texts where there are any. Raises BadUsage for one that is not fitted to texts."""
    settings = Settings(options.dimensions, options.normalize, options.batch_size, options.device, options.seed)
    encoder = load_encoder(model, settings)
    if options.fit is None:
        return encoder
    fitted = encoder.fit(encoder_texts(options.fit, replace(options, id_column=None))[1])
    if fitted is encoder:
        raise BadUsage(f"--fit: {model} was trained elsewhere and is not fitted to texts; leave it out.")
    return fitted


def encoder_texts(place: str, options: EncodeOptions) -> EncoderTexts:
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


def _chosen(options: Mapping[str, Json]) -> EncodeOptions:
    return EncodeOptions(**{each.name: options[each.name] for each in fields(EncodeOptions)})


def _files(options: Mapping[str, Json]) -> dict[str, Path]:
    """The files that encoding reads; a folder with a model is known by its hash, which every part records."""
    return {name: Path(options[name]) for name in ("texts", "fit") if options[name] is not None}


def _cut(options: Mapping[str, Json], limits: Limits) -> Cut:
    """Ranges of whole chunks; two for each worker, where there are as many."""
    if options["batch_size"] < 1:
        raise BadUsage(f"batch size {options['batch_size']}; expected a positive integer.")
    if limits.shards is not None and not 0 < limits.shards <= MAX_SHARDS:
        raise BadUsage(f"--shards {limits.shards}; expected an integer from 1 to {MAX_SHARDS}.")
    chunk = chunk_of(options["batch_size"])
    n = len(encoder_texts(options["texts"], _chosen(options))[1])
    chunks = -(-n // chunk)
    least = -(-n // max(chunk, _MOST_TEXTS // chunk * chunk))
    parts = min(chunks, max(least, limits.shards or 2 * limits.workers))
    bounds = [min(n, chunk * (chunks * part // parts)) for part in range(parts + 1)]
    costs: dict[str, int | str] = {"parts": parts, "texts": n, "chunks": chunks, "texts per part": -(-chunks // parts) * chunk}
    return Cut(parts, bounds, costs)


@lru_cache(1)
def _loaded(options: str, _: object) -> tuple[Sequence[str], TextEncoder]:
    """The texts and the encoder, which a process that makes several parts loads once."""
    given = json.loads(options)
    return encoder_texts(given["texts"], _chosen(given))[1], encoder_of(given["model"], _chosen(given))


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The vectors of a range of texts, behind the description of the encoder: two arrays, one after the other."""
    options = inputs.options
    texts, encoder = _loaded(json.dumps(options, sort_keys=True), file_states(*_files(options).values(), options["model"]))
    start, stop = inputs.boundaries[index : index + 2]
    digest, chunk, vectors = sha256(), chunk_of(options["batch_size"]), list[Any]()
    for begin in range(start, stop, chunk):
        some = texts[begin : min(begin + chunk, stop)]
        digest.update(json.dumps(some).encode())
        with np.errstate(over="ignore"):
            vectors.append(encoder.encode(some).astype(options["dtype"]))
        wrong = np.flatnonzero(~np.isfinite(vectors[-1]).all(axis=1))
        if len(wrong):
            row = begin + int(wrong[0])
            what = f"{options['texts']}: text {row} (from 0): {texts[row][:60]!r}"
            raise BadScore(f"{what} has a vector with a number that is not finite in {options['dtype']}.")
    described = encoder.describe()
    description = json.dumps(described, sort_keys=True).encode()

    def _write(stream: BinaryIO) -> None:
        for array in (np.frombuffer(description, dtype=np.uint8), np.concatenate(vectors)):
            np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)

    alike = {"model": sha256(description).hexdigest()[:32], "processor": _instructions()}
    device = str(described.get("device", "cpu"))
    return PartContent(".arrays", _write, {f"texts {start}-{stop}": digest.hexdigest()[:32]}, device, alike)


def _instructions() -> str:
    """The instruction set that NumPy has found: with another, the last bits of a sum may differ."""
    found: Any = np.show_config(mode="dicts")
    return f"{platform.machine()} {' '.join(found['SIMD Extensions'].get('found', ()))}"[:200]


class EncodedParts:
    """An encoder that returns what parts hold, chunk by chunk in order."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._description, self._first = _read_part(files[0])
        self._blocks = self._all(files)
        self._left = self._first[:0]

    def _all(self, files: Sequence[Path]) -> Iterator[Singles]:
        yield self._first
        for file in files[1:]:
            yield _read_part(file)[1]

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return int(self._first.shape[1])

    def fit(self, texts: Sequence[str]) -> Self:  # noqa: ARG002 - the parts were made by a fitted encoder
        """Itself."""
        return self

    def encode(self, texts: Sequence[str]) -> Singles:
        """(texts, dimensions) the next vectors; parts end with chunks. Raises BadInput where there are too few."""
        if not len(self._left):
            self._left = next(self._blocks, self._left)
        if len(self._left) < len(texts):
            raise BadInput(f"the parts have {len(self._left)} vectors for {len(texts)} texts; name another work folder.")
        found, self._left = self._left[: len(texts)], self._left[len(texts) :]
        return found

    def describe(self) -> dict[str, Any]:
        """The description of the encoder that made the parts."""
        return self._description


def _read_part(file: Path) -> tuple[dict[str, Any], Singles]:
    with file.open("rb") as stream:
        description = read_npy(stream)
        return json.loads(description.tobytes()), read_npy(stream)


def _merge(_: PartInputs, files: Sequence[Path], __: WorkPlace) -> EncodedParts:
    return EncodedParts(files)


def _amounts(inputs: PartInputs) -> Amounts:
    return Amounts("texts", [stop - start for start, stop in pairwise(inputs.boundaries)])


KINDS.add("encode", PartKind("encode", "Texts to embeddings", _files, _cut, _part, _merge, amounts=_amounts))
