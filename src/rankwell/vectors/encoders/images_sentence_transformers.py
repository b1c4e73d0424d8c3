"""Models of sentence-transformers that take pictures, such as CLIP."""

from typing import Any

from rankwell.errors import BadInput
from rankwell.threads import in_threads
from rankwell.vectors.encoders import (
    ImageEncoder,
    ImageSettings,
    Settings,
    image_encoder,
    load_encoder,
)
from rankwell.vectors.media.images import read_picture


@image_encoder("sentence-transformers")
def load(model: str, settings: ImageSettings) -> ImageEncoder:
    """A model by folder or name, with its own preparation of pictures; texts go through the same
    model with `load_encoder`.

    Raises MissingExtra without sentence-transformers, BadInput for a model of texts only.
    """
    settings.allow(
        "a model of sentence-transformers", "normalize", "batch_size", "device", "longest"
    )
    batch_size, longest = settings.batch_size or 16, settings.longest
    texts = load_encoder(model, Settings(None, settings.normalize, batch_size, settings.device))
    inner: Any = getattr(texts, "model")  # noqa: B009 - the family of texts has it
    modalities: list[str] | None = getattr(inner, "modalities", None)
    if modalities is not None and "image" not in modalities:
        raise BadInput(
            f"{model} takes {' and '.join(modalities)}, no pictures; name a model that does, such "
            "as one of CLIP."
        )
    return ImageEncoder(
        "the model",
        lambda paths: inner.encode(
            in_threads(lambda path: read_picture(path, longest=longest), paths),
            batch_size=batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        ),
        {**texts.describe(), "reads": "pictures", "longest": longest},
        batch_size,
        bool(settings.normalize),
    )
