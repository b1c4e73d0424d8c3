"""Texts to embeddings in parts: whole chunks of texts, so that batches, and with them the bytes,
are those of one run.

Parts of different processors, devices or versions make a file that no one machine can make again: a
mixture.
"""

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import chosen_columns
from rankwell.data.matrices import read_npy
from rankwell.data.options import ColumnChoice, DeviceOption, Doc, Option
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, flag
from rankwell.io import formats as io
from rankwell.io.formats import read_column
from rankwell.runtime.executors import joined_ranges
from rankwell.runtime.parts import (
    KINDS,
    Amounts,
    Cut,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    PlanOptions,
    WorkPlace,
)
from rankwell.runtime.parts.vectors import write_array
from rankwell.store import file_states
from rankwell.vectors.encoders import (
    Settings,
    Singles,
    TextEncoder,
    is_trained,
    load_encoder,
    of_no_machine,
)
from rankwell.vectors.encoders.runs import encoded_rows

_CHUNK_BATCHES = 32
_MOST_TEXTS = 1 << 17
"""Texts of a part at most, whose vectors are in memory at once."""
_PROBES = 16
_LEAST_COSINE = 0.99
"""Of two vectors of one text by two machines: rounding moves it by far less, in half precision too.
"""


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """The texts of a file, and the settings of their encoder."""

    columns: Annotated[
        ColumnChoice | None,
        Option(kind=str),
        Doc(
            "Columns of the texts: text=body,id=key; without id, rows are identified by position, "
            "from 0. With title=title, that column precedes each text, as in BEIR."
        ),
    ] = None
    fit: Annotated[
        str | None, Doc("File of texts to fit the encoder to first (tfidf-svd).", "Input")
    ] = None
    normalize: Annotated[
        bool, Doc("Scale vectors to length one. Without it, they are as the encoder returns them.")
    ] = False
    dimensions: Annotated[
        int | None, Doc("Keep only the first dimensions of each vector, this many. [default: all]")
    ] = None
    dtype: Annotated[Literal["float32", "float16"], Doc("Number type to store.")] = "float32"
    batch_size: Annotated[int, Doc("Number of texts per batch.", "Scaling")] = 32
    device: DeviceOption = None
    seed: Annotated[int | None, Doc("Seed for the decomposition (tfidf-svd). [default: 0]")] = None


EncoderTexts = tuple[list[str] | None, list[str]]
"""The ids, if there are any, and the texts."""


def chunk_of(batch_size: int) -> int:
    """Number of texts that an encoder gets at once: of so many begin the batches anew."""
    return _CHUNK_BATCHES * batch_size


def _settings(options: EncodeOptions) -> Settings:
    return Settings(
        options.dimensions,
        options.normalize or None,
        options.batch_size,
        options.device,
        options.seed,
    )


def encoder_of(model: str, options: EncodeOptions) -> TextEncoder:
    """The encoder, fitted to texts where there are any. Raises BadUsage for one that is not fitted
    to texts.
    """
    encoder = load_encoder(model, _settings(options))
    if options.fit is None:
        return encoder
    # The ids of these texts do not matter.
    columns = chosen_columns(options.columns, "texts")
    columns.pop("id", None)
    text_options = replace(options, columns=columns or None, fit=None)
    fitted = encoder.fit(encoder_texts(options.fit, text_options)[1])
    if fitted is encoder:
        raise BadUsage(
            f"{flag('--fit')}: {model} was trained elsewhere and is not fitted to texts; leave it "
            "out."
        )
    return fitted


def encoder_texts(path: str, options: EncodeOptions) -> EncoderTexts:
    """The ids, if any, and the texts of a file. Raises BadInput for a row without an id,
    NothingToEvaluate without texts.
    """
    columns, ids = chosen_columns(options.columns, "texts"), None
    if "text" not in columns:
        if "id" in columns:
            raise BadUsage(f"{flag('--columns', 'id=' + columns['id'])} needs text=, too.")
        table = io.read_texts(path)
        ids = None if table.format == "lines" else list(table.texts)
        texts = list(table.texts.values())
        title = columns.get("title", "")
        titles = [table.attributes[name].get(title, "") for name in table.texts]
        # Queries need no titles where an encoder is fitted to documents that have some.
        if title and options.fit is None and not any(titles):
            read_column(f"{path}:{title}")  # refuses a column that is not there
    else:
        texts = _cells(path, columns["text"])
        titles = _cells(path, columns["title"]) if "title" in columns else []
        if "id" in columns:
            ids = [name for name in read_column(f"{path}:{columns['id']}") if name]
            if len(ids) < len(texts) or len(set(ids)) < len(ids):
                raise BadInput(
                    f"{path}: column {columns['id']!r} lacks an id or has one twice; "
                    "every text needs its own."
                )
    if "title" in columns:
        texts = [f"{title} {text}".strip() for title, text in zip(titles, texts, strict=True)]
    if not texts:
        raise NothingToEvaluate(f"{path} has no texts.")
    return ids, texts


def _cells(path: str, column: str) -> list[str]:
    """The cells of a column. Raises BadInput for a row without one."""
    cells = read_column(f"{path}:{column}")
    texts = [text for text in cells if text is not None]
    if len(texts) < len(cells):
        raise BadInput(
            f"{path}: row {cells.index(None) + 1} has no text in the column {column!r}; expected a "
            "string in every row. Correct or drop the row."
        )
    return texts


def _encode_options(options: PlanOptions) -> EncodeOptions:
    return EncodeOptions(**{option.name: options[option.name] for option in fields(EncodeOptions)})


def _files(options: PlanOptions) -> dict[str, Path]:
    """The files that encoding reads; a folder with a model is known by its hash, which every part
    records.
    """
    return {name: Path(options[name]) for name in ("texts", "fit") if options[name] is not None}


def _cut(options: PlanOptions, limits: Limits) -> Cut:
    """Ranges of whole chunks; two for each worker, where there are as many."""
    if options["batch_size"] < 1:
        raise BadUsage(f"batch size {options['batch_size']}; expected a positive integer.")
    requested = limits.shards_or(2 * limits.workers)
    encode_options = _encode_options(options)
    # What every part would refuse; a trained model may be one that only their machines can load.
    settings = _settings(encode_options)
    if not is_trained(options["encoder"]):
        encoder = load_encoder(options["encoder"], settings)
        if encode_options.fit is None:
            encoder.describe()
    chunk = chunk_of(options["batch_size"])
    n = len(encoder_texts(options["texts"], encode_options)[1])
    chunks = -(-n // chunk)
    least = -(-n // max(chunk, _MOST_TEXTS // chunk * chunk))
    parts = min(chunks, max(least, requested))
    bounds = [min(n, chunk * (chunks * part // parts)) for part in range(parts + 1)]
    return Cut(
        parts,
        bounds,
        {
            "parts": parts,
            "texts": n,
            "chunks": chunks,
            "texts per part": -(-chunks // parts) * chunk,
        },
    )


@lru_cache(1)
def _loaded(options: str, _: object) -> tuple[Sequence[str], TextEncoder]:
    """The texts and the encoder, which a process that makes several parts loads once."""
    plan_options = json.loads(options)
    encode_options = _encode_options(plan_options)
    _, texts = encoder_texts(plan_options["texts"], encode_options)
    return texts, encoder_of(plan_options["encoder"], encode_options)


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The vectors of a range of texts, behind the description of the encoder: two arrays, one after
    the other.
    """
    options = inputs.options
    texts, encoder = _loaded(
        json.dumps(options, sort_keys=True),
        file_states(*_files(options).values(), options["encoder"]),
    )
    start, stop = inputs.boundaries[index : index + 2]
    digest = sha256()
    chunk = chunk_of(options["batch_size"])
    vectors = list[Any]()
    for begin in range(start, stop, chunk):
        rows = range(begin, min(begin + chunk, stop))
        digest.update(json.dumps(texts[begin : rows.stop]).encode())
        place = f"{options['texts']}: "
        vectors.append(encoded_rows(encoder, texts, rows, options["dtype"], place))
    description = encoder.describe()
    # Every part encodes some texts of the whole, so that those of different machines are seen to be
    # of one model.
    probes = encoder.encode(texts[:: -(-len(texts) // _PROBES)])
    content = (
        np.frombuffer(json.dumps(description).encode(), dtype=np.uint8),
        probes,
        np.concatenate(vectors),
    )

    def _write(stream: BinaryIO) -> None:
        for array in content:
            write_array(np.ascontiguousarray(array), stream)

    model, machine = of_no_machine(description), _machine(description)
    alike = {"model": sha256(json.dumps(model, sort_keys=True).encode()).hexdigest()[:32]}
    return PartContent(
        ".arrays",
        _write,
        {f"texts {start}-{stop}": digest.hexdigest()[:32]},
        machine["device"],
        alike=alike,
        machine=machine,
    )


def _machine(described: Mapping[str, Any]) -> dict[str, str]:
    """The traits of this machine on which the last bits of a vector depend."""
    device = str(described.get("device", "cpu"))
    torch = sys.modules.get("torch")
    if device.startswith("cuda") and torch is not None:
        device = f"{device} {torch.cuda.get_device_name(device)}"
    versions = " ".join(
        f"{name} {version}" for name, version in sorted(described.get("versions", {}).items())
    )
    # The instruction set that NumPy has found: with another, the last bits of a sum may differ.
    numpy_config: Any = np.show_config(mode="dicts")
    instructions = " ".join(numpy_config["SIMD Extensions"].get("found", ()))
    return {
        "device": _short(device, 64),
        "processor": _short(f"{platform.machine()} {instructions}", 200),
        "versions": _short(versions, 120),
    }


def _short(text: str, size: int) -> str:
    """A text of so many characters at most; texts that differ stay different."""
    return (
        text if len(text) <= size else f"{text[: size - 9]}#{sha256(text.encode()).hexdigest()[:8]}"
    )


class EncodedParts(TextEncoder):
    """An encoder that returns what parts hold, chunk by chunk in order.

    mixture: the kinds of machine that computed them, where there are several. Raises BadInput for
    kinds whose vectors of the same texts differ by more than rounding.
    """

    def __init__(self, inputs: PartInputs, files: Sequence[Path], _: WorkPlace) -> None:
        self._description, probes, self._first = _read_part(files[0])
        self._blocks = chain([self._first], (_read_part(file)[2] for file in files[1:]))
        self._left = self._first[:0]
        self._bounds = inputs.boundaries
        self.mixture = inputs.machines if len(inputs.machines) > 1 else ()
        for machine in self.mixture:
            _refuse_strange(
                inputs, probes, _read_part(files[machine.parts[0]])[1], machine.parts[0]
            )

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return int(self._first.shape[1])

    def encode(self, texts: Sequence[str]) -> Singles:
        """The next vectors; parts end with chunks. Raises BadInput where there are too few."""
        if not len(self._left):
            self._left = next(self._blocks, self._left)
        if len(self._left) < len(texts):
            raise BadInput(
                f"the parts have {len(self._left)} vectors for {len(texts)} texts; name "
                "another work folder."
            )
        vectors = self._left[: len(texts)]
        self._left = self._left[len(texts) :]
        return vectors

    def describe(self) -> dict[str, Any]:
        """The description of the encoder that made the parts; of a mixture without device and
        versions.
        """
        return of_no_machine(self._description) if self.mixture else self._description

    def machines(self) -> list[dict[str, Any]]:
        """The kinds of machine of a mixture, for a manifest: traits, number of parts, and rows of
        vectors from 0.
        """
        bounds = list(pairwise(self._bounds))
        return [
            {
                **machine.traits,
                "parts": len(machine.parts),
                "rows": ",".join(
                    f"{start}-{stop - 1}"
                    for start, stop in joined_ranges(bounds[part] for part in machine.parts)
                ),
            }
            for machine in self.mixture
        ]


def _refuse_strange(
    inputs: PartInputs, first_probes: NDArray[Any], other_probes: NDArray[Any], part: int
) -> None:
    """Raises BadInput where the vectors of the probes by another machine are not those of part 0,
    except for rounding.
    """
    first_probes = first_probes.astype(np.float64)
    other_probes = other_probes.astype(np.float64)
    lengths = np.linalg.norm(first_probes, axis=1) * np.linalg.norm(other_probes, axis=1)
    cosines = np.einsum("ij,ij->i", first_probes, other_probes) / np.where(lengths > 0, lengths, 1)
    same = (cosines >= _LEAST_COSINE) | ~(first_probes.any(axis=1) | other_probes.any(axis=1))
    if not same.all():
        probe = int(np.argmin(same))
        row = probe * -(-inputs.boundaries[-1] // _PROBES)
        raise BadInput(
            f"{inputs.options['texts']}: the vectors of text {row} (from 0) by the machines of "
            f"parts 0 and {part} have a cosine of {cosines[probe]:.4f}; rounding alone differs "
            "less. Compute the parts of one as the other."
        )


def _read_part(file: Path) -> tuple[dict[str, Any], Singles, Singles]:
    """The description of the encoder, the vectors of the probes, and those of the part."""
    with file.open("rb") as stream:
        description = read_npy(stream)
        return json.loads(description.tobytes()), read_npy(stream), read_npy(stream)


KINDS.add(
    "encode",
    PartKind(
        "encode",
        _files,
        _cut,
        _part,
        EncodedParts,
        amounts=lambda inputs: Amounts("texts", np.diff(inputs.boundaries).tolist()),
        is_sized=False,
    ),
)
