"""Any function of Python that turns the paths of pictures into vectors, by itself or by its
name.
"""

import inspect
from typing import Any

from rankwell.data.code import load_object, origin_of
from rankwell.errors import BadUsage, kind_of
from rankwell.vectors.encoders import ImageEncoder, ImageSettings, image_encoder


@image_encoder("callable")
def load(model: Any, settings: ImageSettings) -> ImageEncoder:
    """The function that `./FILE.py:OBJECT` names, or the thing itself; a class is called without
    arguments first.

    Vectors are kept for the next time only where it has a method `describe`, which says as a dict
    for JSON all that decides them: what a function computes cannot be seen from its name. Raises
    BadUsage for what cannot be called.
    """
    encoder = load_object(model) if isinstance(model, str) else model
    of_object = (
        f"{encoder.__module__}:{encoder.__qualname__}"
        if inspect.isroutine(encoder)
        else type(encoder).__name__
    )
    name = model if isinstance(model, str) else of_object
    if inspect.isclass(encoder):
        try:
            encoder = encoder()
        except Exception as error:
            raise BadUsage(
                f"{name}: the encoder cannot be made without arguments ({error}); name a "
                "function of paths."
            ) from error
    if not callable(encoder):
        raise BadUsage(
            f"{name}: {kind_of(encoder)} cannot be called; expected a function of paths that "
            "returns vectors."
        )
    settings.allow(name, "normalize", "batch_size")
    function: Any = encoder
    is_known = callable(getattr(function, "describe", None))
    normalize, batch_size = bool(settings.normalize), settings.batch_size or 16
    description = {
        "family": "callable",
        "model": name,
        "normalize": normalize,
        "batch_size": batch_size,
    }
    if code := origin_of(encoder):
        description["code"] = code
    if is_known and (own_description := function.describe()):
        description["says"] = own_description
    return ImageEncoder(
        name, lambda paths: function(list(paths)), description, batch_size, normalize, is_known
    )
