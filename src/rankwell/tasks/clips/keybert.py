"""Texts to vectors as KeyBERT makes them, from any model of sentence-transformers."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.encoders import Settings, Singles, load_encoder

_PACKAGE = "keybert"


@dataclass(frozen=True)
class KeyBertEncoder:
    """Texts -> (texts, dimensions) vectors. embed: what makes them. rules: what decides them, in words for a result."""

    embed: Callable[[list[str]], Any]
    rules: dict[str, str]

    def __call__(self, texts: list[str]) -> Singles:
        """(texts, dimensions) one vector per text, in order; bytes that are not UTF-8 are read as question marks."""
        return np.asarray(self.embed([text.encode("utf-8", "replace").decode() for text in texts]), dtype=np.float32)


def load_keybert(model: str, *, device: str | None = None) -> KeyBertEncoder:
    """A model of sentence-transformers, by folder or name, in a `keybert.KeyBERT`; the model alone where that is not installed.

    The vectors are the same. Raises MissingExtra without sentence-transformers, BadInput for a model that is not there.
    """
    encoder = load_encoder(model, Settings(device=device))
    name = Path(model).resolve().name if Path(model).is_dir() else model
    inner = getattr(encoder, "model", None)
    alone = KeyBertEncoder(encoder.encode, {"encoder": name})
    if inner is None:
        return alone
    try:
        from keybert import KeyBERT
    except ImportError:
        return alone
    return KeyBertEncoder(KeyBERT(inner).model.embed, {"encoder": name, "keybert": version(_PACKAGE)})
