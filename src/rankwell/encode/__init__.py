"""Encoders: texts to vectors, one file per family. What every family has in common stands here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwell.errors import BadUsage
from rankwell.registry import Catalogue

Singles = NDArray[np.float32]
DEFAULT = "sentence-transformers"


class Encoder(Protocol):
    """What turns texts into vectors; the same text gives the same vector whenever it is asked for with the same others."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        ...

    def fit(self, texts: Sequence[str]) -> Self:
        """The encoder adapted to a corpus; itself where it was trained elsewhere."""
        ...

    def encode(self, texts: Sequence[str]) -> Singles:
        """(texts, dimensions) one vector per text, in order."""
        ...

    def describe(self) -> dict[str, Any]:
        """What decides the vectors, for the manifest: model, its hash or revision, settings, versions."""
        ...


@dataclass(frozen=True)
class Settings:
    """How an encoder is to work; a family looks at what concerns it.

    dimensions: how many numbers of each vector to keep, the first ones; None keeps all. normalize: vectors of length one; False
    leaves out a model's own last step that makes them so, None leaves that to the model. batch_size: texts at a time.
    device: where to compute, `cpu` or `cuda`; None lets the family choose. seed: of what a family draws; None is 0.
    Raises BadUsage for numbers below 1; a family raises it for what it has no use for.
    """

    dimensions: int | None = None
    normalize: bool | None = None
    batch_size: int = 32
    device: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("dimensions", self.dimensions), ("batch_size", self.batch_size)):
            if value is not None and value < 1:
                raise BadUsage(f"{name.replace('_', ' ')} {value}; a whole number from 1 is wanted.")


Load = Callable[[str, Settings], Encoder]
Loads = TypeVar("Loads", bound=Callable[..., Any])
ENCODERS: Catalogue[Load] = Catalogue("encode", "family of encoders")


def encoder(name: str) -> Callable[[Loads], Loads]:
    """Registers a function `(model, settings) -> Encoder` as the family of this name; `name:model` asks for it."""

    def register(load: Loads) -> Loads:
        ENCODERS.add(name, load)
        return load

    return register


def load_encoder(model: str, settings: Settings = Settings()) -> Encoder:
    """The encoder that a text names: `tfidf-svd:128`, else a model of sentence-transformers, by folder or name."""
    family, colon, rest = model.partition(":")
    return ENCODERS[family](rest, settings) if colon and family in ENCODERS else ENCODERS[DEFAULT](model, settings)


def unit_length(vectors: NDArray[Any]) -> Singles:
    """The vectors divided by their lengths; zero stays zero."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return (wide / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)
