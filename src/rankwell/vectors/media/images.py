"""Pictures: an image file or the middle frame of a GIF or video as oriented RGB, thumbnails, the
files that belong to ids, and `data:` addresses that a page displays without a file.
"""

import base64
import io
import os
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.errors import BadInput, BadUsage, MissingExtra, flag, needing
from rankwell.store import refuse_irregular

if TYPE_CHECKING:
    from collections.abc import Generator

    from PIL.Image import Image

PICTURE_SUFFIXES = (
    ".avif",
    ".bmp",
    ".gif",
    ".jp2",
    ".jpeg",
    ".jpg",
    ".pgm",
    ".png",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)
VIDEO_SUFFIXES = (
    ".avi",
    ".flv",
    ".m2ts",
    ".m4v",
    ".mkv",
    ".mov",
    ".mp4",
    ".mpeg",
    ".mpg",
    ".ogv",
    ".ts",
    ".webm",
    ".wmv",
)

# Named one by one: Pillow also knows formats that start another program (EPS) or cannot be decoded
# (the stubs).
_FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
_MOVING = ("AVIF", "GIF", "PNG", "WEBP")
_STILL_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"heif", b"mif1", b"msf1", b"jp2 ")
_VIDEO_MARKS = (
    b"\x1aE\xdf\xa3",
    b"\0\0\1\xba",
    b"\0\0\1\xb3",
    b"\0\0\0\1",
    b"FLV\1",
    b"OggS",
    b"0&\xb2u",
)
_OLD_ATOMS = (b"moov", b"mdat", b"wide", b"free", b"skip")


def read_picture(path: str | Path, *, longest: int | None = None, grey: bool = False) -> "Image":
    """The picture in a file as RGB, the right way up; of a GIF, another moving picture or a video
    frame n // 2 of n.

    longest: pixels of the longer side at most; large JPEGs then never unpack in full. grey:
    brightness alone (mode L). Turned as EXIF says; what is transparent is put on white; of 16 bits
    the upper 8 remain; more bits and floats are stretched from their least to their largest value.
    The content determines the kind. Videos need OpenCV (`rankwell[vision]`). Raises BadInput that
    names the file where it is missing, damaged, no picture, or has more pixels than Pillow opens
    (twice `PIL.Image.MAX_IMAGE_PIXELS`); MissingExtra for a video without OpenCV.
    """
    picture_path = Path(path)
    head = _head(picture_path)
    if _is_video(head):
        frame = _reduced(_video_frame(picture_path), longest)
        return frame.convert("L") if grey else frame
    from PIL import Image, UnidentifiedImageError

    try:
        with _silence():
            return _still(picture_path, longest, grey=grey)
    except Image.DecompressionBombError as error:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise BadInput(
            f"{path}: more than {most:,} pixels; a small file can unpack to that and fill the "
            "memory. Scale the picture down, or raise PIL.Image.MAX_IMAGE_PIXELS."
        ) from error
    except UnidentifiedImageError as error:
        raise BadInput(
            f"{path} begins with {head[:16]!r}: not a complete picture or video. Save it as "
            "JPEG, PNG, GIF or MP4."
        ) from error
    except (BadInput, MemoryError):
        raise
    except Exception as error:
        raise BadInput(
            f"{path}: the picture is damaged ({str(error) or type(error).__name__}); fetch or "
            "save it again."
        ) from error


def _head(path: Path) -> bytes:
    refuse_irregular(path)
    try:
        with path.open("rb") as stream:
            head = stream.read(512)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be opened ({error.strerror}); check who may read it."
        ) from error
    if not head:
        raise BadInput(f"{path} is empty; expected a picture or a video.")
    if head.startswith(b"version https://git-lfs"):
        raise BadInput(
            f"{path} is a pointer of Git LFS and not the picture; fetch the file itself (git "
            "lfs pull)."
        )
    if head[4:8] == b"ftyp" and head[8:11] in (b"hei", b"mif", b"msf"):
        raise BadInput(
            f"{path} is a HEIF picture, which Pillow does not read; save it as JPEG or PNG."
        )
    return head


def _is_video(head: bytes) -> bool:
    if head[4:8] == b"ftyp":
        return head[8:12] not in _STILL_BRANDS
    riff = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    stream = head[:1] == b"\x47" and head[188:189] == b"\x47" and head[376:377] == b"\x47"
    return riff or stream or head.startswith(_VIDEO_MARKS) or head[4:8] in _OLD_ATOMS


_INSIDE: "list[warnings.catch_warnings[None]]" = []
_LOCK = threading.Lock()


@contextmanager
def _silence() -> "Generator[None]":
    """No warnings while any thread decodes: the first one in changes the filters, the last one out
    restores them.
    """
    with _LOCK:
        filters = _INSIDE[0] if _INSIDE else warnings.catch_warnings(action="ignore")
        if not _INSIDE:
            filters.__enter__()
        _INSIDE.append(filters)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                filters.__exit__(None, None, None)


def _still(path: Path, longest: int | None, *, grey: bool) -> "Image":
    from PIL import Image

    Image.init()
    with Image.open(path, formats=[name for name in _FORMATS if name in Image.OPEN]) as image:
        if image.format in _MOVING and getattr(image, "n_frames", 1) > 1:
            image.seek(image.n_frames // 2)  # pyright: ignore[reportAttributeAccessIssue]
        if longest is not None or grey:
            image.draft(
                "L" if grey else None, image.size if longest is None else (3 * longest, 3 * longest)
            )
        try:
            turn = _TURNS.get(image.getexif().get(0x0112))
        except (SyntaxError, ValueError, TypeError, KeyError, OSError):
            turn = None  # unreadable metadata turn nothing, as in every browser
        picture = _as_rgb(image)
        flat = _reduced(picture.convert("L") if grey else picture, longest)
    return flat if turn is None else flat.transpose(Image.Transpose[turn])


_TURNS: Mapping[Any, str] = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
"""The rotation that turns a picture upright, by the number in its metadata."""


def _as_rgb(image: "Image") -> "Image":
    """The decoded picture as RGB."""
    from PIL import Image

    image.load()
    if image.mode == "F" or image.mode.startswith("I"):
        return _eight_bits(image).convert("RGB")
    if image.mode in ("RGBA", "LA", "La", "RGBa", "PA") or "transparency" in image.info:
        overlay = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", overlay.size, "white"), overlay).convert(
            "RGB"
        )
    return image.convert("RGB")


def _eight_bits(image: "Image") -> "Image":
    """Grey of more than 8 bits as grey of 8, which Pillow would cut off at 255."""
    import numpy as np
    from PIL import Image

    values = np.asarray(image)
    is_integer = image.mode.startswith("I")
    if is_integer and int(values.min()) >= 0 and int(values.max()) <= 65535:
        return Image.fromarray((values.astype(np.uint32) >> 8).astype(np.uint8))
    wide = np.where(np.isfinite(values), values.astype(np.float64), np.nan)
    low, high = (np.nanmin(wide), np.nanmax(wide)) if not np.isnan(wide).all() else (0.0, 0.0)
    grey = np.nan_to_num((wide - low) * (255 / ((high - low) or 1.0)))
    return Image.fromarray(np.rint(grey).astype(np.uint8))


def _reduced(image: "Image", longest: int | None) -> "Image":
    if longest is not None and max(image.size) > longest:
        from PIL.Image import Resampling

        image.thumbnail((longest, longest), Resampling.LANCZOS, reducing_gap=3.0)
    return image


def _video_frame(path: Path) -> "Image":
    """The middle frame of a video; where the file does not tell its length, or cannot jump, its
    frames are counted.
    """
    # What FFmpeg says of a broken file on standard error would stand among the notes; it looks
    # once, when it is first used.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    with needing(
        f"{path} is a video; frames are read with OpenCV: pip install 'rankwell[vision]'."
    ):
        import cv2
    from PIL import Image

    opencv: Any = cv2
    level = opencv.utils.logging.setLogLevel(0)
    try:
        frame = _jump(opencv, path)
        if frame is None and (total := _walk(opencv, path)[0]):
            frame = _walk(opencv, path, total // 2)[1]
    except opencv.error as error:
        raise BadInput(
            f"{path}: the video is damaged ({str(error).splitlines()[0]}); fetch or save it again."
        ) from error
    finally:
        opencv.utils.logging.setLogLevel(level)
    if frame is None:
        raise BadInput(
            f"{path}: no frame of this video can be read; fetch it again, or save it as MP4 "
            "(H.264)."
        )
    return Image.fromarray(opencv.cvtColor(frame, opencv.COLOR_BGR2RGB))


def _jump(opencv: Any, path: Path) -> Any:
    """The middle frame by the length that the file states; None where it does not, or cannot
    jump.
    """
    film = opencv.VideoCapture(str(path), opencv.CAP_FFMPEG)
    total = int(film.get(opencv.CAP_PROP_FRAME_COUNT)) if film.isOpened() else 0
    if total < 1 or (total > 1 and not film.set(opencv.CAP_PROP_POS_FRAMES, total // 2)):
        return None
    return film.read()[1]


def _walk(opencv: Any, path: Path, number: int | None = None) -> tuple[int, Any]:
    """The number of frames of a video, gone through one by one, or the frame of that number."""
    film, passed = opencv.VideoCapture(str(path), opencv.CAP_FFMPEG), 0
    while film.isOpened() and film.grab():
        if passed == number:
            return passed, film.retrieve()[1]
        passed += 1
    return passed, None


def data_uri(image: "Image", *, longest: int, quality: int = 70) -> str:
    """The picture as a JPEG in a `data:` address, at most so many pixels on its longer side: what a
    page shows without a file.
    """
    stream = io.BytesIO()
    _reduced(image.copy(), longest).save(stream, "JPEG", quality=quality, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def list_media(folder: Path) -> list[Path]:
    """Every picture and video below a folder, by the end of its name, without hidden ones, in the
    order of their paths' bytes.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; name the folder of the pictures or videos.")
    paths = list[Path]()
    for directory, folders, names in os.walk(folder):
        folders[:], names = (
            [name for name in group if not name.startswith(".")] for group in (folders, names)
        )
        paths += [Path(directory, name) for name in names if is_media(name)]
    return sorted(paths, key=os.fsencode)


def is_media(name: str | Path) -> bool:
    """Whether a file's name ends as that of a picture or a video."""
    return str(name).lower().endswith(PICTURE_SUFFIXES + VIDEO_SUFFIXES)


def locate(ids: Iterable[str], folder: Path) -> dict[str, Path]:
    """The picture or video of each id among the files below a folder; an id without a file is not
    in the result.

    An id is a path within the folder or a file's name, with or without the ending; a file with the
    same ending comes first, then pictures before videos. Raises BadInput where files of two folders
    answer to one id.
    """
    paths_of_name = dict[str, list[Path]]()
    for path in list_media(folder):
        inner = path.relative_to(folder)
        for name in {inner.as_posix(), inner.name, inner.with_suffix("").as_posix(), inner.stem}:
            paths_of_name.setdefault(name, []).append(path)
    return {item: path for item in ids if (path := _of_id(item, folder, paths_of_name)) is not None}


def _of_id(name: str, folder: Path, paths_of_name: Mapping[str, list[Path]]) -> Path | None:
    bare = name.rpartition(".")[0] if is_media(name) else name
    candidates = paths_of_name.get(name) or paths_of_name.get(bare, [])
    exact = [path for path in candidates if path.relative_to(folder).as_posix() == name]
    if not exact and len({path.parent for path in candidates}) > 1:
        first, second = sorted(map(str, candidates))[:2]
        raise BadInput(
            f"{name!r} may be {first} or {second}; begin the ids with their folder to "
            "distinguish them."
        )
    return min(
        exact or candidates,
        key=lambda path: (path.name.lower().endswith(VIDEO_SUFFIXES), path.name),
        default=None,
    )


class Thumbnail(NamedTuple):
    """A small picture, or the reason why there is none.

    image: the picture; None where there is none.
    problem: the reason in a few words for a tile; "" beside an image.
    """

    image: "Image | None"
    problem: str = ""


class Thumbnails:
    """Small pictures by id, read on request. One that cannot be read is reported and stops nothing.

    longest: number of pixels of the longer side.
    keep: number of pictures kept in memory.
    problems: id -> the reason why it has no picture.
    """

    def __init__(self, files: Mapping[str, Path], *, longest: int = 480, keep: int = 64) -> None:
        self._files, self._longest, self._kept = files, longest, lru_cache(keep)(self._read)
        self.problems = dict[str, str]()

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> Thumbnail:
        return self._kept(name)

    def _read(self, name: str) -> Thumbnail:
        file = self._files.get(name)
        problem, message = "no file", f"{name}: no picture or video has this name."
        try:
            if file is not None:
                return Thumbnail(read_picture(file, longest=self._longest))
        except MissingExtra as error:
            problem, message = "a video, not read", str(error)
        except BadInput as error:
            problem, message = "cannot be read" if file and file.exists() else problem, str(error)
        self.problems[name] = message
        return Thumbnail(None, problem)


class ItemPictures:
    """The pictures of items as `data:` addresses.

    longest: number of pixels of the longer side.

    Raises BadUsage for a missing folder.
    """

    def __init__(self, template: str, *, longest: int = 160) -> None:
        if "{id}" not in template and not Path(template).is_dir():
            raise BadUsage(
                f"{flag('--thumbnails')} {template!r}: no such folder; name one, or the place of "
                "each item "
                f"as 'img/{{id}}.jpg'."
            )
        self._place, self._longest = template, longest
        self.missing = list[str]()

    def __call__(self, items: Sequence[str]) -> dict[str, str]:
        """The pictures of those items that have one; `missing` says which are missing."""
        thumbnails = self.of(items)
        pictures = {item: image for item in items if (image := thumbnails[item].image) is not None}
        if bare := [item for item in items if item not in pictures]:
            self.missing.append(
                f"{len(bare)} of {len(items)} items have no picture: "
                f"{', '.join(map(repr, bare[:3]))}{' …' if len(bare) > 3 else ''}"
            )
        return {item: data_uri(image, longest=self._longest) for item, image in pictures.items()}

    def of(self, items: Sequence[str]) -> Thumbnails:
        """The pictures of some items, each read on request."""
        if "{id}" in self._place:
            paths = {item: path for item in items if (path := self._file(item)) is not None}
        else:
            paths = locate(items, Path(self._place))
        return Thumbnails(paths, longest=self._longest)

    def _file(self, item: str) -> Path | None:
        """The file of an item by the pattern; None for one outside the pattern's folder, and for no
        path at all.
        """
        fixed = Path(self._place.partition("{id}")[0] + "x").parent.resolve()
        try:
            path = Path(self._place.replace("{id}", item)).resolve()
        except (OSError, ValueError):
            return None
        return path if fixed in path.parents else None
