"""Models of sentence-transformers, of texts and of pictures: any folder that holds one, or any name
that its cache or the Hub knows.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.errors import BadInput, BadUsage, needing
from rankwell.store import Source
from rankwell.threads import in_threads
from rankwell.vectors.encoders import (
    ImageEncoder,
    ImageSettings,
    Settings,
    Singles,
    TextEncoder,
    encoder,
    hub,
    image_encoder,
)
from rankwell.vectors.media.images import read_picture

_PACKAGES = ("sentence-transformers", "transformers", "torch")


@encoder("sentence-transformers")
class SentenceTransformers(TextEncoder):
    """A model of sentence-transformers, by folder or name, with its own pooling and prompts;
    nothing is fitted.

    model: the `SentenceTransformer` itself, for libraries that take one. Raises MissingExtra
    without sentence-transformers, BadInput for a model that is not there.
    """

    def __init__(self, model: str, settings: Settings) -> None:
        if settings.seed is not None:
            raise BadUsage(
                "a model of sentence-transformers draws nothing at random; leave the seed out."
            )
        self._name, self._settings = model, settings
        self.model = _load(model, settings.device)
        for name, module in list(self.model.named_children()):
            # A model's own last step that makes vectors of length one.
            if settings.normalize is False and type(module).__name__ == "Normalize":
                delattr(self.model, name)

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector, after cutting."""
        requested, full_width = self._settings.dimensions, self.model.get_embedding_dimension()
        if full_width is None:
            full_width = self.model.encode(["a"], show_progress_bar=False).shape[1]
        if requested is not None and requested > full_width:
            raise BadInput(
                f"{self._name} gives {full_width} dimensions, fewer than the {requested} "
                f"requested; request at most {full_width}."
            )
        return int(requested or full_width)

    def encode(self, texts: Sequence[str]) -> Singles:
        """One vector per text; which texts share a batch may move the last bits of a number."""
        vectors = self.model.encode(
            # Bytes that are not UTF-8 are lone surrogates here, which no tokeniser takes.
            [text.encode("utf-8", "replace").decode() for text in texts],
            batch_size=self._settings.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            truncate_dim=self.dimensions,
            normalize_embeddings=bool(self._settings.normalize),
        )
        return np.asarray(vectors, dtype=np.float32)

    def describe(self) -> dict[str, Any]:
        """The model's name and revision or the hash of its folder, what it cuts texts and vectors
        to, and the versions.
        """
        folder = Path(self._name)
        config = getattr(getattr(self.model[0], "auto_model", None), "config", None)
        return {
            "family": "sentence-transformers",
            "model": folder.resolve().name if folder.is_dir() else self._name,
            "model_hash": hash_folder(folder) if folder.is_dir() else None,
            "revision": None if folder.is_dir() else getattr(config, "_commit_hash", None),
            "dimensions": self.dimensions,
            "max_tokens": self.model.max_seq_length,
            "normalize": self._settings.normalize,
            "batch_size": self._settings.batch_size,
            "device": str(self.model.device),
            "versions": {name: version(name) for name in _PACKAGES},
        }


def _load(model: str, device: str | None) -> Any:
    with needing("models are run by sentence-transformers: pip install 'rankwell[text]'."):
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    # Transformers would draw a bar while it loads weights.
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return SentenceTransformer(model, device=device, local_files_only=hub.is_local(model))
    except (OSError, ValueError, ImportError) as error:
        reason = hub.why_not_loaded(model, error)
        raise BadInput(
            f"{model}: no model of sentence-transformers can be loaded ({reason}); name a folder "
            "that holds one."
        ) from error
    finally:
        if drawn:
            logging.enable_progress_bar()


@image_encoder("sentence-transformers")
def load_pictures(model: str, settings: ImageSettings) -> ImageEncoder:
    """A model that takes pictures, such as CLIP, by folder or name, with its own preparation of
    pictures; texts go through the same model with `load_encoder`.

    Raises MissingExtra without sentence-transformers, BadInput for a model of texts only.
    """
    settings.allow(
        "a model of sentence-transformers", "normalize", "batch_size", "device", "max_size"
    )
    batch_size, longest = settings.batch_size or 16, settings.max_size
    texts = SentenceTransformers(
        model, Settings(None, settings.normalize, batch_size, settings.device)
    )
    modalities: list[str] | None = getattr(texts.model, "modalities", None)
    if modalities is not None and "image" not in modalities:
        raise BadInput(
            f"{model} takes {' and '.join(modalities)}, no pictures; name a model that does, such "
            "as one of CLIP."
        )
    return ImageEncoder(
        "the model",
        lambda paths: texts.model.encode(
            in_threads(lambda path: read_picture(path, longest=longest), paths),
            batch_size=batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        ),
        {**texts.describe(), "reads": "pictures", "longest": longest},
        batch_size,
        bool(settings.normalize),
    )


def hash_folder(folder: Path) -> str:
    """The SHA-256 over names and content of all files of a folder, hidden ones left out."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in inside.parts):
            total.update(f"{inside.as_posix()}\0{Source(path).digest()}\n".encode())
    return "sha256:" + total.hexdigest()
