"""Models of sentence-transformers that take pictures, such as CLIP."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwell.core.kernels.workers import in_threads
from rankwell.encoders import ImageSettings, Settings, Singles, image_encoder, load_encoder, picture_vectors
from rankwell.errors import BadInput
from rankwell.media.images import read_picture


class SentenceTransformersImages:
    """A model with its own preparation of pictures; texts go through the same model with `load_encoder`."""

    is_known = True

    def __init__(self, model: str, settings: ImageSettings) -> None:
        settings.allow("a model of sentence-transformers", "normalize", "batch_size", "device", "longest")
        self.batch_size, self._longest = settings.batch_size or 16, settings.longest
        self._inner = load_encoder(model, Settings(None, settings.normalize, self.batch_size, settings.device))
        self._normalize = bool(settings.normalize)
        _refuse_texts_only(self._inner, model)

    def __call__(self, paths: Sequence[Path], /) -> Singles:
        """(paths, d) one vector per picture."""
        images = in_threads(lambda path: read_picture(path, longest=self._longest), paths)
        model: Any = getattr(self._inner, "model")  # noqa: B009 - the family of texts has it
        found = model.encode(images, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True)
        return picture_vectors(found, len(paths), "the model", normalize=self._normalize)

    def describe(self) -> dict[str, Any]:
        """As for texts, and how large pictures are handed over."""
        return {**self._inner.describe(), "reads": "pictures", "longest": self._longest}


@image_encoder("sentence-transformers")
def load(model: str, settings: ImageSettings) -> SentenceTransformersImages:
    """A model by folder or name. Raises MissingExtra without sentence-transformers, BadInput for a model of texts only."""
    return SentenceTransformersImages(model, settings)


def _refuse_texts_only(encoder: Any, name: str) -> None:
    known: list[str] | None = getattr(encoder.model, "modalities", None)
    if known is not None and "image" not in known:
        raise BadInput(f"{name} takes {' and '.join(known)}, no pictures; name a model that does, such as one of CLIP.")
