"""Networks in ONNX files, run by onnxruntime: any with one picture as input, and presets for the
known ones.

Sources of the presets: Krizhevsky, Sutskever and Hinton 2012 (AlexNet); He et al. 2016
(ResNet-152); Gordo et al. 2017.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.matrices import map_array
from rankwell.data.registry import suggest
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName, needing
from rankwell.store import Source
from rankwell.vectors.encoders import ImageEncoder, ImageSettings, Pixels, Singles, image_encoder

_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}


_PRESETS: dict[str, tuple[tuple[int, int] | None, int]] = {
    # The 1,000 outputs for the classes of ImageNet, of the whole picture: its sides are scaled,
    # nothing is cropped.
    "alexnet-im": ((224, 224), 1000),
    "resnet152-im": ((224, 224), 1000),
    "gordo": (None, 2048),
}
"""Known networks: width and height that pictures are scaled to, None for their own; the dimensions
of the vectors.
"""


def _load(model: str, settings: ImageSettings, *, preset: str | None = None) -> ImageEncoder:
    """A network `(n, 3, height, width) -> (n, d)`, or `(n, height, width, 3)` where its file says
    so.

    Where the file fixes height and width, pictures are scaled to that and go in together; where it
    leaves them free and no size is given, every picture goes in alone as large as it is. Vectors
    have length one, unless `normalize` is False.
    Raises MissingExtra without onnxruntime; BadInput for a file without such a network, or with
    another one than the preset's.
    """
    name = preset or "onnx"
    if not model:
        raise BadUsage(f"{name} is a network in a file; name it, as in {name}:network.onnx.")
    settings.allow(name, *Pixels.SETTINGS, "output", "normalize", "batch_size", "device")
    path, session = Path(model), _session(model, settings.device)
    taken, output = _Input.of(session, path), settings.output
    names = [output.name for output in session.get_outputs()]
    if output is not None and output not in names:
        raise UnknownName(f"{path} has no output {output!r}; {suggest(output, names)}")
    if output is None and len(names) > 1:
        raise BadUsage(
            f"{path} has the outputs {', '.join(names)}; name the one to take as "
            "output in the encoder's file."
        )
    output = output or names[0]
    size, dimensions = (taken.size, 0) if preset is None else _PRESETS[preset]
    pixels = Pixels.of(settings, size)
    if taken.size is not None and pixels.size != taken.size:
        taken_size, asked_size = (
            "pictures as large as they are" if size is None else f"{size[0]} x {size[1]}"
            for size in (taken.size, pixels.size)
        )
        raise BadUsage(
            f"{path} takes {taken_size} pixels, not {asked_size}; export it with free sides, or "
            "ask for its size."
        )
    expected = dimensions if settings.output is None else 0
    normalize, batch_size = settings.normalize is not False, settings.batch_size or 16

    def _run(pictures: Singles) -> Any:
        # A batch of fixed size is filled with the last picture, whose copies are dropped.
        batch = np.concatenate([pictures, *[pictures[-1:]] * (taken.batch - len(pictures))])
        ready = batch.transpose(0, 2, 3, 1) if taken.channels_last else batch
        return np.asarray(
            session.run([output], {taken.name: np.ascontiguousarray(ready, dtype=taken.dtype)})[0]
        )[: len(pictures)]

    def _encode(paths: Sequence[Path]) -> Any:
        vectors = pixels.through(_run, paths, taken.batch)
        if expected and vectors.ndim > 1 and vectors.shape[1] != expected:
            raise BadUsage(
                f"{path} gives {vectors.shape[1]} numbers for a picture, {name} has {expected}; "
                f"give the file of {name}, or say onnx:{path} for another network."
            )
        return vectors

    import onnxruntime

    description = {
        "family": name,
        "model": path.name,
        "model_hash": _hash(path),
        "output": output,
        "pixels": pixels.describe(),
        "normalize": normalize,
        "batch_size": batch_size,
        "device": session.get_providers()[0],
        "versions": {"onnxruntime": onnxruntime.__version__},
    }
    return ImageEncoder(str(path), _encode, description, batch_size, normalize)


image_encoder("onnx")(_load)
for _name in _PRESETS:
    image_encoder(_name)(partial(_load, preset=_name))


class _Input(NamedTuple):
    """The input of a network.

    name: the name in the network's file.
    dtype: type of the numbers that it takes: half, single or double precision.
    channels_last: whether a picture is (height, width, 3), not (3, height, width).
    size: (width, height); None where any size will do.
    batch: number of pictures that it takes at once; 0 where any number will do.
    """

    name: str
    dtype: Any
    channels_last: bool
    size: tuple[int, int] | None
    batch: int

    @classmethod
    def of(cls, session: Any, path: Path) -> "_Input":
        """The only input. Raises BadInput where there are several, or it is not a picture in three
        channels.
        """
        inputs = session.get_inputs()
        if len(inputs) != 1:
            raise BadInput(
                f"{path} takes {', '.join(network_input.name for network_input in inputs)}; "
                "expected a network with one input."
            )
        picture_input = inputs[0]
        shape = list(picture_input.shape)
        sides = [side if isinstance(side, int) and side > 0 else 0 for side in shape]
        if (
            len(shape) != 4
            or picture_input.type not in _TYPES
            or 3 not in (sides[1] or 3, sides[3])
        ):
            raise BadInput(
                f"{path} takes {picture_input.type} of shape {shape}; expected floats of shape "
                "(n, 3, height, width) or (n, height, width, 3)."
            )
        last = sides[1] != 3 and sides[3] == 3
        height, width = sides[1:3] if last else sides[2:]
        if bool(height) != bool(width):
            raise BadInput(
                f"{path} fixes one side of a picture ({shape}); export it with both sides "
                "fixed, or both free."
            )
        return cls(
            picture_input.name,
            _TYPES[picture_input.type],
            last,
            (width, height) if width else None,
            sides[0],
        )


def _session(path: str, device: str | None) -> Any:
    with needing("networks in ONNX files are run by onnxruntime: pip install 'rankwell[vision]'."):
        import onnxruntime
    runtime: Any = onnxruntime
    if device not in (None, "cpu", "cuda"):
        raise UnknownName(f"device {device!r}; onnxruntime computes on 'cpu' or 'cuda'.")
    provider = f"{(device or 'cpu').upper()}ExecutionProvider"
    if provider not in runtime.get_available_providers():
        raise MissingExtra(
            f"this onnxruntime does not compute on {device}; install onnxruntime-gpu in its "
            "place, or take cpu."
        )
    if Source(path).file is None:
        raise BadInput(f"{path}: a network is read in place; save it to a file and name that.")
    options = runtime.SessionOptions()
    # Errors are raised; the runtime's other messages would appear among the notes.
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(path, options, providers=[provider])
    except Exception as error:
        message = " ".join(str(error).split())[:200]
        raise BadInput(
            f"{path} is not a readable ONNX network ({message}); export it again."
        ) from error


def _hash(path: Path) -> str:
    """The SHA-256 of the file and of those files with weights that it names."""
    total = hashlib.sha256(Source(path).digest().encode())
    # The files with weights outside a network's own: protocol buffers have (1, 8 bytes,
    # "location"), (2, length, name).
    raw = np.asarray(map_array(path, np.dtype("u1"), (path.stat().st_size,))).data
    matches = re.finditer(rb"\x0a\x08location\x12([\x01-\x7f])", raw)
    names = {bytes(raw[match.end() : match.end() + match[1][0]]) for match in matches}
    for name in sorted(name.decode("utf-8", "replace") for name in names):
        weights = path.parent / name
        if weights.is_file():
            total.update(f"{name}\0{Source(weights).digest()}\n".encode())
    return "sha256:" + total.hexdigest()
