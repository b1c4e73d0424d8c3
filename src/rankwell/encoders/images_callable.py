"""Any function of Python that turns the paths of pictures into vectors, by itself or as `module:object`."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rankwell.core.catalogue import load_object
from rankwell.encoders import ImageSettings, Singles, image_encoder, picture_vectors
from rankwell.errors import BadUsage


class CallableEncoder:
    """A function `paths -> (paths, d)` as an encoder.

    Vectors are kept for the next time only where it has a method `describe`, which says as a dict for JSON all that decides
    them: what a function computes cannot be seen from its name.
    """

    def __init__(self, function: Callable[..., Any], name: str, settings: ImageSettings) -> None:
        settings.allow(name, "normalize", "batch_size")
        self._function, self._name = function, name
        self._normalize = bool(settings.normalize)
        self.batch_size = settings.batch_size or 16
        self.is_known = callable(getattr(function, "describe", None))

    def __call__(self, paths: Sequence[Path], /) -> Singles:
        """(paths, d) what the function gives. Raises BadUsage where that is not a vector per picture."""
        return picture_vectors(self._function(list(paths)), len(paths), self._name, normalize=self._normalize)

    def describe(self) -> dict[str, Any]:
        """Its name, and its own description."""
        own: dict[str, Any] = getattr(self._function, "describe")() if self.is_known else {}  # noqa: B009 - checked by is_known
        described = {"family": "callable", "model": self._name, "normalize": self._normalize, "batch_size": self.batch_size}
        return {**described, "says": own} if own else described


@image_encoder("callable")
def load(model: Any, settings: ImageSettings) -> CallableEncoder:
    """The function that `module:object` names, or the thing itself; a class is called without arguments first.

    Raises BadUsage for what cannot be called.
    """
    found = load_object(model) if isinstance(model, str) else model
    name = model if isinstance(model, str) else f"{type(found).__name__}"
    if inspect.isroutine(found):
        name = model if isinstance(model, str) else f"{found.__module__}:{found.__qualname__}"
    if inspect.isclass(found):
        try:
            found = found()
        except Exception as error:
            raise BadUsage(
                f"{name}: the encoder cannot be made without arguments ({error}); name a function of paths."
            ) from error
    if not callable(found):
        raise BadUsage(f"{name}: a {type(found).__name__} cannot be called; expected a function of paths that returns vectors.")
    return CallableEncoder(found, name, settings)
