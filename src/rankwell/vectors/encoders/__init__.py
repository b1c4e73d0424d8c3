"""Encoders: texts and pictures to vectors, one file per family. What every family has in common
stands here.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.data.code import code_name
from rankwell.data.options import DeviceOption, Doc
from rankwell.data.registry import Catalogue, suggest
from rankwell.data.tables import unmasked
from rankwell.documents import read_toml
from rankwell.errors import BadInput, BadUsage, UnknownName, shown
from rankwell.store import Source
from rankwell.threads import in_threads
from rankwell.vectors.media.images import read_picture

Singles = NDArray[np.float32]
DEFAULT = "sentence-transformers"


class TextEncoder(Protocol):
    """Turns texts into vectors; the same texts always give the same vectors."""

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        ...

    def fit(self, texts: Sequence[str]) -> Self:  # noqa: ARG002 - trained elsewhere
        """The encoder adapted to a corpus; itself where it was trained elsewhere."""
        return self

    def encode(self, texts: Sequence[str]) -> Singles:
        """One vector per text, in order."""
        ...

    def describe(self) -> dict[str, Any]:
        """Everything that determines the vectors, for the manifest: model, its hash or revision,
        settings, versions.
        """
        ...


def of_no_machine(described: Mapping[str, Any]) -> dict[str, Any]:
    """The description of an encoder without what depends on the machine: its device, and the
    versions of packages.
    """
    return {name: value for name, value in described.items() if name not in ("device", "versions")}


@dataclass(frozen=True)
class Settings:
    """Settings of an encoder. A family uses those that apply to it.

    dimensions: number of leading dimensions of each vector to keep; None keeps all.
    normalize: whether vectors have length one. False leaves out the model's last step where that
        normalises them; None leaves the choice to the model.
    batch_size: number of texts that are encoded at once.
    device: `cpu` or `cuda`; None leaves the choice to the family.
    seed: seed of random numbers; None is 0.

    Raises BadUsage for numbers below 1; a family raises it for settings that it does not use.
    """

    dimensions: int | None = None
    normalize: bool | None = None
    batch_size: int = 32
    device: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("dimensions", self.dimensions), ("batch_size", self.batch_size)):
            if value is not None and value < 1:
                raise BadUsage(f"{name.replace('_', ' ')} {value}; expected a positive integer.")


Load = Callable[[str, Settings], TextEncoder]
ENCODERS: Catalogue[Load] = Catalogue("vectors.encoders", "family of encoders")
encoder = ENCODERS.register
"""Registers a function `(model, settings) -> TextEncoder` as the family of this name; `name:model`
requests it.
"""


def load_encoder(model: str, settings: Settings = Settings()) -> TextEncoder:
    """The encoder that a text names: `tfidf-svd:128`, else a model of sentence-transformers, by
    folder or name.
    """
    family, argument = _family(model)
    return ENCODERS[family](argument, settings)


def _family(model: str) -> tuple[str, str]:
    family, colon, argument = model.partition(":")
    return (family, argument) if colon and family in ENCODERS else (DEFAULT, model)


def is_trained(model: str) -> bool:
    """Whether a text names a model of sentence-transformers, which was trained elsewhere and takes
    its time to load.
    """
    return _family(model)[0] == DEFAULT


def hash_all(texts: Iterable[str], kind: bytes = b"") -> str:
    """The SHA-256 over a word for texts and all texts, in order; where one ends is part of it."""
    total = hashlib.sha256(kind)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return "sha256:" + total.hexdigest()


def unit_length(vectors: NDArray[Any]) -> Singles:
    """The vectors divided by their lengths; zero stays zero."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return (wide / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)


@dataclass(frozen=True)
class ImageEncoder:
    """Turns pictures into vectors: a call with paths returns (paths, d) float32, a vector per
    picture, in order.

    name: the name of the encoder in messages.
    encode: paths -> an array, or anything else, of that shape.
    description: everything that determines the vectors, for the manifest: model and its hash,
        preparation of pictures, versions.
    batch_size: number of pictures per call; the pictures that share a call may change the last bits
        of a number.
    normalize: whether the vectors that `encode` gives are divided by their lengths.
    is_known: whether the description states everything that decides the vectors, so that they may
        be kept for later calls.

    A call raises BadInput or any other exception for a picture, BadUsage where the encoder gives
    anything but vectors.
    """

    name: str
    encode: Callable[[Sequence[Path]], Any]
    description: Mapping[str, Any]
    batch_size: int = 16
    normalize: bool = False
    is_known: bool = True

    def __call__(self, paths: Sequence[Path], /) -> Singles:
        """The vectors of some pictures, a row each."""
        vectors, n = unmasked(self.encode(paths), f"what {self.name} gives"), len(paths)
        is_of_numbers = vectors.dtype.kind in "fiu" and vectors.ndim > 1
        if (
            not is_of_numbers
            or len(vectors) != n
            or math.prod(vectors.shape[2:]) != 1
            or not vectors.shape[1]
        ):
            raise BadUsage(
                f"{self.name} gives {vectors.dtype} of shape {vectors.shape} from {n} pictures; "
                f"expected ({n}, dimensions). Name another."
            )
        flat = vectors.reshape(n, -1)
        with np.errstate(over="ignore", invalid="ignore"):
            return unit_length(flat) if self.normalize else flat.astype(np.float32)


Channels = Literal["RGB", "BGR"]


_OF_COMMAND = ("batch_size", "device")
_SETTINGS: Mapping[str, Any] = {
    "size": str,
    "output": str,
    "weights": str,
    "mean": list,
    "std": list,
    "channels": str,
    "max_size": int,
    "normalize": bool,
}
"""The settings of an encoder's file, and the types of their values."""


ImageCache = Annotated[
    Path | None,
    Doc(
        "Cache folder for what is computed from each image, by its content, shared by data sets; "
        "an interrupted run resumes.",
        "Scaling",
    ),
]


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """The settings of an encoder of pictures that all commands share which encode pictures."""

    batch_size: Annotated[
        int | None,
        Doc("Number of texts or images per batch. [default: 32 texts, 16 images]", "Scaling"),
    ] = None
    device: DeviceOption = None


@dataclass(frozen=True, kw_only=True)
class ImageSettings(NetworkSettings):
    """Settings of an encoder of pictures; None leaves a choice to the family, which refuses
    settings that it does not use.

    size: (width, height) or `224x224` to which images are scaled, or `original`; None for what the
        model expects.
    output: output of the network to take, where it has several.
    weights: file of a state dict, for torch.
    mean, std: means and standard deviations of the channels for values from 0 to 1; None for those
        of ImageNet.
    channels: order of the channels.
    max_size: pixels of the longer side at most, where images keep their size.
    normalize: vectors of length one; None does so for networks alone.

    Raises BadUsage for other numbers.
    """

    size: Any = None
    output: str | None = None
    weights: Path | None = None
    mean: Any = None
    std: Any = None
    channels: Channels | None = None
    max_size: int | None = None
    normalize: bool | None = None

    def __post_init__(self) -> None:
        for name in ("size", "mean", "std"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        sides = self.size if isinstance(self.size, tuple) else ()
        for name, value in (
            ("batch size", self.batch_size),
            ("max_size", self.max_size),
            *(("size", side) for side in sides),
        ):
            if value is not None and value < 1:
                raise BadUsage(f"{name} {value}; expected a positive integer.")
        for name, three in (("mean", self.mean), ("std", self.std)):
            if three is not None and (
                len(three) != 3
                or not all(map(math.isfinite, three))
                or (name == "std" and 0 in three)
            ):
                raise BadUsage(
                    f"{name} {three}; expected three numbers, one for each "
                    f"channel{', none of them 0' * (name == 'std')}."
                )
        if self.max_size is not None and isinstance(self.size, tuple):
            raise BadUsage(
                "a longest side is for pictures that keep their own size; leave it or the size out."
            )

    def allow(self, family: str, *names: str) -> None:
        """Raises BadUsage for a setting that is given and not among those that the family looks
        at.
        """
        for setting in fields(self):
            if setting.name not in names and getattr(self, setting.name) is not None:
                raise BadUsage(
                    f"{family} does not use {setting.name.replace('_', ' ')}; leave it out."
                )


def _numbers(name: str, text: str) -> str | tuple[float, ...]:
    """The numbers in the text of a setting. Raises BadUsage for any other text."""
    if name != "size":
        try:
            return tuple(float(part) for part in text.split(","))
        except ValueError as error:
            raise BadUsage(
                f"{name} {text!r}: expected three numbers, such as 0.485,0.456,0.406."
            ) from error
    width, times, height = text.partition("x")
    if text == "original":
        return text
    if not times or not width.isdecimal() or not height.isdecimal():
        raise BadUsage(
            f"size {text!r}; expected width and height in pixels, such as 224x224, or original."
        )
    return int(width), int(height)


@dataclass(frozen=True)
class Pixels:
    """How a picture is converted to numbers.

    size: (width, height); None keeps the size of the picture; see `ImageSettings`.
    max_size: largest number of pixels of the longer side, for pictures that keep their size; None
        for no limit.
    mean, std: mean and deviation of each channel, for values from 0 to 1, in the order of
        `channels`. The mean is subtracted, then the difference is divided by the deviation.
    channels: order of the channels in the numbers.
    """

    size: tuple[int, int] | None
    max_size: int | None = None
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    std: tuple[float, ...] = (0.229, 0.224, 0.225)
    channels: Channels = "RGB"

    SETTINGS = ("size", "max_size", "mean", "std", "channels")

    @classmethod
    def of(cls, settings: ImageSettings, size: tuple[int, int] | None) -> Self:
        """As the settings say, else scaled to `size` and with mean and deviation of ImageNet, which
        are those of the field.
        """
        if settings.size is not None:
            size = None if settings.size == "original" else settings.size
        if settings.max_size is not None and size is not None:
            raise BadUsage(
                f"pictures are scaled to {size[0]} x {size[1]}; a longest side is "
                "for those that keep their size."
            )
        channels = settings.channels or "RGB"
        step = 1 if channels == "RGB" else -1
        mean, std = settings.mean or cls.mean[::step], settings.std or cls.std[::step]
        return cls(size, settings.max_size, mean, std, channels)

    def read(self, path: Path) -> Singles:
        """The picture in a file, scaled with a bilinear filter as wide as a pixel of the smaller
        picture. Returns (3, height, width).
        """
        from PIL.Image import Resampling

        image = read_picture(path, longest=self.max_size)
        if self.size is not None and image.size != self.size:
            image = image.resize(self.size, Resampling.BILINEAR)
        values = np.asarray(image, dtype=np.float32)
        values = (values if self.channels == "RGB" else values[..., ::-1]) / np.float32(255)
        mean, std = np.array([self.mean, self.std], dtype=np.float32)
        return np.ascontiguousarray(((values - mean) / std).transpose(2, 0, 1))

    def through(
        self, run: Callable[[Singles], Any], paths: Sequence[Path], batch: int = 0
    ) -> NDArray[Any]:
        """The outputs of a network, a row for each path; one that keeps the size of pictures gets
        each alone, others so many at a time.
        """
        pictures = in_threads(self.read, paths)
        step = 1 if self.size is None else batch or len(paths)
        return np.concatenate(
            [run(np.stack(pictures[start : start + step])) for start in range(0, len(paths), step)]
        )

    def describe(self) -> dict[str, Any]:
        """Everything that determines the numbers, with Pillow's version."""
        from PIL import __version__

        return asdict(self) | {
            "size": self.size or "original",
            "filter": "bilinear",
            "pillow": __version__,
        }


ImageLoad = Callable[[Any, ImageSettings], ImageEncoder]
IMAGE_ENCODERS: Catalogue[ImageLoad] = Catalogue("vectors.encoders", "family of image encoders")
image_encoder = IMAGE_ENCODERS.register
"""Registers a function `(model, settings) -> ImageEncoder` as the family of this name; `name:model`
requests it.
"""


def _of_file(place: str, settings: ImageSettings) -> tuple[str, ImageSettings]:
    """The model that a TOML file names, and the settings with those of the file. Files that it
    names are beside it. Raises BadInput.
    """
    _, table = read_toml(Source(place))
    model = table.pop("model", None)
    if not isinstance(model, str) or model.endswith(".toml"):
        raise BadInput(f'{place}: name the model, as in model = "alexnet-im:alexnet.onnx".')
    known = [field.name for field in fields(ImageSettings) if field.name not in _OF_COMMAND]
    for name, value in table.items():
        if name not in known:
            raise BadInput(f"{place}: there is no setting {shown(name)}; {suggest(name, known)}")
        expected = _SETTINGS[name]
        if isinstance(value, bool) != (expected is bool) or not isinstance(value, expected):
            raise BadInput(f"{place}: {name} = {shown(value)} is of another type; correct it.")
        table[name] = tuple(value) if isinstance(value, list) else value
    if not set(map(type, (*table.get("mean", ()), *table.get("std", ())))) <= {int, float}:
        raise BadInput(f"{place}: mean and std are three numbers each.")
    if table.get("channels", "RGB") not in get_args(Channels):
        raise BadInput(f"{place}: channels = {shown(table['channels'])}; expected RGB or BGR.")
    folder = Path(place).parent
    if "weights" in table:
        table["weights"] = folder / table["weights"]
    family, colon, file = model.rpartition(":")
    if (folder / file).is_file():
        model = f"{family}{colon}{folder / file}"
    return model, replace(settings, **table)


_NO_SETTINGS = ImageSettings()


def load_image_encoder(model: Any, settings: ImageSettings = _NO_SETTINGS) -> ImageEncoder:
    """The encoder of pictures that a text names, or that a network of torch or any function `paths
    -> (n, d)` is.

    `resnet152-im:FILE.onnx`, `small-grey:32x32`, `torch:./FILE.py:OBJECT` … name a family and a
    model of it; a file `.onnx` alone is a network, `./FILE.py:OBJECT` a function, and a folder or
    owner/name a model of sentence-transformers; `FILE.toml` names one of these as `model`, with its
    settings.
    Raises UnknownName for a family that does not exist, BadInput or BadUsage for a model that is
    not available.
    """
    if isinstance(model, str) and model.endswith(".toml"):
        model, settings = _of_file(model, settings)
    if not isinstance(model, str):
        is_network = all(callable(getattr(model, name, None)) for name in ("state_dict", "forward"))
        return IMAGE_ENCODERS["torch" if is_network else "callable"](model, settings)
    family, colon, argument = model.partition(":")
    if family in IMAGE_ENCODERS:
        return IMAGE_ENCODERS[family](argument, settings)
    if model.endswith(".onnx") and (not colon or Path(model).exists()):
        return IMAGE_ENCODERS["onnx"](model, settings)
    if code_name(model) is not None:
        return IMAGE_ENCODERS["callable"](model, settings)
    if colon and not Path(model).exists():
        return IMAGE_ENCODERS[family](argument, settings)
    if "/" not in model and not Path(model).is_dir():
        # A mistyped name must not go to the network.
        raise UnknownName(
            f"unknown encoder of images {model!r}; {suggest(model, IMAGE_ENCODERS)} A model of "
            f"sentence-transformers is named by its folder, as owner/name, or as {DEFAULT}:{model}."
        )
    return IMAGE_ENCODERS[DEFAULT](model, settings)
