"""Data sets of images: folders with one folder per instance or named by a pattern, tables, and
ground truth in JSON.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.options import own_arithmetic
from rankwell.data.registry import suggest
from rankwell.documents import read_json, unique_keys
from rankwell.errors import BadInput, BadUsage, flag, kind_of, shown
from rankwell.io.records import column, load
from rankwell.store import Source, split_name
from rankwell.tasks.instances.images import SPLITS, ImageEntry, Images, ListedIds, Marks, Split
from rankwell.vectors.media.images import PICTURE_SUFFIXES, list_media

_FIELDS = ("instance", "camera", "group", "split")
_CONTENTLESS = ("contentless", "no-content", "without-content")
"""Names of folders of images that show nothing to be recognised, in an instance's folder or beside
those.
"""
_YES, _NO = ("1", "true", "yes", "y"), ("", "0", "false", "no", "n")
_NOTHING = ("", "nan", "none", "null")
_KINDS = {"easy": "easy", "good": "easy", "hard": "hard", "ok": "hard", "junk": "junk"}
"""Lists of a ground truth and their meaning; `good` and `ok` are the words of the first Oxford and
Paris.
"""


class ImageSetRequest(NamedTuple):
    """A data set to read. queries: a folder beside the path. root: the folder of the ids. pattern:
    the form of file names.
    """

    path: Path
    queries: Path | None = None
    root: Path | None = None
    pattern: str | None = None


class ImageSet(NamedTuple):
    """The content of a data set: entries in any order, and the ground truth and own order where the
    form has them.
    """

    entries: list[ImageEntry]
    marks: Mapping[str, Marks] | None = None
    listed: ListedIds | None = None
    notes: tuple[str, ...] = ()


@own_arithmetic
def read_images(
    place: Any,
    *,
    queries: str | Path | None = None,
    root: str | Path | None = None,
    pattern: str | None = None,
    contentless: str | None = None,
) -> Images:
    """A data set of images.

    place: a folder with a folder per instance, on each side (`references/INSTANCE/a.jpg`,
    `queries/INSTANCE/b.jpg`; the sides' names are those of `SPLITS`), or of references where
    `queries` is a second folder of the kind; a table (CSV, TSV, JSON lines, Parquet) with the
    columns `image, instance, split` and perhaps `camera`, `group` and `contentless`; a JSON object
    with `imlist`, `qimlist` and `gnd`, a list of `{easy, hard, junk}` per query, as in revisitop;
    or Images as they are.
    root: the folder that a table's images are in; by default the table's own, where the first image
    is there.
    pattern: the form of file names, as `{instance}_{camera}_*.jpg`, with the fields instance,
    camera, group and split; folders then name the sides alone. contentless: a glob such as
    `*wall*`; images whose id it fits show nothing to be recognised.
    Ids are paths below the place, with `/`; below two folders each begins with its folder's name.
    A folder of one side that lies in that of the other is of its own side alone, with a note.
    Raises BadInput for a file that is missing, names an unknown side or fits no pattern, and for
    one that is on both sides, DuplicateItem for an image that is listed twice.
    """
    if isinstance(place, Images):
        return mark_contentless(place, contentless)
    path = Path(place)
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder; name a data set of images.")
    for folder in (queries, root):
        if folder is not None and not Path(folder).is_dir():
            raise BadInput(f"{folder}: no such folder.")
    queries, root = (None if folder is None else Path(folder) for folder in (queries, root))
    content = FORMS[_form(path)](ImageSetRequest(path, queries, root, pattern))
    if not content.entries:
        raise BadInput(
            f"{path} holds no image ({', '.join(PICTURE_SUFFIXES[:6])} …); name a folder or a "
            "table of images."
        )
    try:
        images = Images.from_entries(**content._asdict())
    except BadInput as error:
        raise type(error)(f"{path}: {error}") from error
    return mark_contentless(images, contentless)


def named_place(text: str) -> tuple[str, str]:
    """The name and the place of a data set: `NAME=PLACE`, or a place whose last part, without
    suffixes, is the name.
    """
    name, path = split_name(text)
    if name and not Path(text).exists():
        return name, path
    return (text if "://" in text else Path(text).resolve().name.partition(".")[0]), text


def mark_contentless(images: Images, glob: str | None) -> Images:
    """The images with those marked whose id fits a glob. Raises BadUsage where none does."""
    if glob is None:
        return images
    bare = np.array([fnmatch.fnmatchcase(name, glob) for name in images.ids], dtype=np.bool_)
    if not bare.any():
        raise BadUsage(
            f"{flag('--contentless-images', name='contentless')} {glob!r} matches no image, such "
            f"as {images.ids[0]!r}; correct the pattern or leave it out."
        )
    return replace(images, contentless=images.contentless | bare)


def _split(word: str, where: str) -> Split:
    """The side that a word means. Raises BadInput for an unknown word."""
    folded = word.strip().lower()
    if folded not in SPLITS:
        raise BadInput(f"{where}: {word!r} is not a split; {suggest(folded, SPLITS)}")
    return SPLITS[folded]


# Folders


def read_folders(request: ImageSetRequest) -> ImageSet:
    """Folders: one per side and in it one per instance; or files whose names give the instance by a
    pattern.
    """
    references, queries = request.path, request.queries
    pattern = None if request.pattern is None else _pattern(request.pattern)
    if queries is None:
        return ImageSet(
            [_image_file(path, references, pattern, None, "") for path in _files(references)]
        )
    if references.resolve() == queries.resolve():
        raise BadUsage(
            f"{references} is named for references and for queries; name two folders, or leave the "
            "second out."
        )
    # Files of both sides may have the same name: ids begin with a part that distinguishes the
    # folders.
    same_name = references.name == queries.name
    sides: tuple[tuple[Path, Path, Split, str], ...] = (
        (references, queries, "reference", "queries"),
        (queries, references, "query", "references"),
    )
    entries, notes = list[ImageEntry](), list[str]()
    for folder, inner, side, inner_side in sides:
        files = _files(folder)
        if inner.resolve().is_relative_to(folder.resolve()):
            inside = folder / inner.resolve().relative_to(folder.resolve())
            own_files = [path for path in files if not path.is_relative_to(inside)]
            notes.append(
                f"{inner} lies in {folder}: its {len(files) - len(own_files)} images are "
                f"{inner_side} only"
            )
            files = own_files
        head = folder.name
        if same_name:
            head = "queries" if side == "query" else "references"
        entries += [_image_file(path, folder, pattern, side, head) for path in files]
    return ImageSet(entries, notes=tuple(notes))


def _files(folder: Path) -> list[Path]:
    """The pictures below a folder; films of the objects are skipped."""
    return [path for path in list_media(folder) if path.name.lower().endswith(PICTURE_SUFFIXES)]


def _image_file(
    path: Path, folder: Path, pattern: re.Pattern[str] | None, side: Split | None, head: str
) -> ImageEntry:
    below = path.relative_to(folder)
    fields: dict[str, str] = {}
    if pattern is not None:
        fitting = pattern.fullmatch(below.name) or pattern.fullmatch(below.stem)
        if fitting is None:
            raise BadInput(
                f"{below.as_posix()}: the name does not match the pattern; correct the pattern, or "
                "move files that are not in the set."
            )
        fields = fitting.groupdict()
    parts = [part for part in below.parts[:-1] if part.lower() not in _CONTENTLESS]
    if side is None and "split" in fields:
        side = _split(fields["split"], str(path))
    if side is None and parts and parts[0].lower() in SPLITS:
        side = SPLITS[parts.pop(0).lower()]
    if side is None:
        raise BadInput(
            f"{path}: no folder says whether this is a reference or a query; expected "
            f"{folder}/references/INSTANCE/{path.name} and {folder}/queries/INSTANCE/…, or a "
            f"folder of queries as {flag('--query-images', name='queries')}."
        )
    if pattern is None and parts:
        fields["instance"] = parts[0]
    return ImageEntry(
        id="/".join(filter(None, (head, below.as_posix()))),
        instance=fields.get("instance"),
        split=side,
        path=path,
        camera=fields.get("camera"),
        group=fields.get("group"),
        contentless=any(part.lower() in _CONTENTLESS for part in below.parts[:-1]),
    )


def _pattern(text: str) -> re.Pattern[str]:
    """`{instance}_{camera}_*.jpg` as a regular expression: a field is as short as it can be, `*` is
    anything. Raises BadUsage.
    """
    written, fields = "", list[str]()
    for part in re.split(r"(\{[^{}]*\}|\*)", text):
        if part == "*":
            written += ".*"
        elif part.startswith("{"):
            field = part[1:-1]
            if field not in _FIELDS or field in fields:
                raise BadUsage(
                    f"{flag('--pattern')} {text!r}: {part} is not a field, or appears twice; "
                    f"known are {', '.join(_FIELDS)}."
                )
            fields.append(field)
            written += f"(?P<{field}>.+?)"
        else:
            written += re.escape(part)
    if "instance" not in fields:
        raise BadUsage(
            f"{flag('--pattern')} {text!r} has no instance; write it as {{instance}}_*.jpg."
        )
    return re.compile(written)


# Tables


@dataclass(frozen=True)
class ImageRow:
    """A row of a table of images."""

    image: str = column("file", "filename", "path", "id")
    instance: str = column("label", "class", "identity")
    split: str = column("side", "set")
    camera: str = column("cam", default="")
    group: str = column("session", "sequence", default="")
    contentless: str = column("no_content", "without_content", default="")


def read_table(request: ImageSetRequest) -> ImageSet:
    """Tables: a row per image with its instance and its side, and perhaps camera, group, and
    whether it shows nothing.
    """
    path = request.path
    entries = [
        _listed_image(record.place, row) for record, row in load(path, "images").rows(ImageRow)
    ]
    if not entries:
        raise BadInput(f"{path} lists no image; expected a row per image: image,instance,split.")
    folder = path.parent if request.root is None else request.root
    missing = [entry.id for entry in entries if not _is_file(folder / entry.id)]
    if request.root is None and len(missing) == len(entries):
        return ImageSet(entries)
    if missing:
        hint = (
            f"others are there: add it, or name the folder of images with {flag('--root')}"
            if request.root is None
            else "add it, or delete its row"
        )
        raise BadInput(f"{path}: the image {missing[0]!r} is not in {folder}; {hint}.")
    return ImageSet([entry._replace(path=folder / entry.id) for entry in entries])


def _listed_image(where: str, row: ImageRow) -> ImageEntry:
    texts = {name: text.strip() for name, text in vars(row).items()}
    cells = {name: text for name, text in texts.items() if text.casefold() not in _NOTHING}
    if "image" not in cells:
        raise BadInput(f"{where} names no image; fill its column.")
    name = cells.pop("image")
    if "\n" in name:
        raise BadInput(f"{where}: {name!r} is no image's name (is a quotation mark left open?).")
    where = f"{where}, image {name!r}"
    if "split" not in cells:
        raise BadInput(f"{where}: no split; write reference, query or both.")
    side, bare = _split(cells.pop("split"), where), cells.pop("contentless", "")
    if bare.casefold() not in (*_YES, *_NO):
        raise BadInput(
            f"{where}: {bare!r} does not say whether the image is without content; write yes or no."
        )
    return ImageEntry(
        id=name,
        instance=cells.pop("instance", None),
        split=side,
        contentless=bare.casefold() in _YES,
        **cells,
    )


def _is_file(path: Path) -> bool:
    """Whether a path is a file; a name that is too long for the system is none."""
    try:
        return path.is_file()
    except OSError:
        return False


# Ground truth in JSON


def read_revisitop(request: ImageSetRequest) -> ImageSet:
    """Ground truth with easy, hard and junk references per query, as in Revisited Oxford and Paris,
    in JSON.

    `imlist` and `qimlist` name the images, `gnd` has for name query lists of positions in `imlist`,
    from 0, or of names. A query may have the name of a reference: it is then on both sides, as in
    the first Oxford. `bbx` is ignored: crop queries first.
    """
    path = request.path
    content: Any = read_json(Source(path), pairs=unique_keys)
    for key in ("imlist", "qimlist", "gnd"):
        if not isinstance(content, dict) or not isinstance(content.get(key), list):
            raise BadInput(
                f"{path}: $.{key} is not a list; expected imlist, qimlist and gnd. Convert "
                "a pickle to JSON first."
            )
    references, queries, truth = (list[Any](content[key]) for key in ("imlist", "qimlist", "gnd"))
    if len(truth) != len(queries):
        raise BadInput(
            f"{path}: {len(truth)} entries of gnd for {len(queries)} queries; every query has one."
        )
    for key, names in (("imlist", references), ("qimlist", queries)):
        earlier = set[str]()
        for number, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise BadInput(
                    f"{path}: $.{key}[{number}] is {shown(name)}; expected the name of an "
                    "image, a string."
                )
            if name in earlier:
                raise BadInput(
                    f"{path}: $.{key}[{number}] lists {name!r} a second time; list every "
                    "image once."
                )
            earlier.add(name)
    sides: dict[str, Split] = dict.fromkeys(references, "reference")
    sides |= {name: "both" if name in sides else "query" for name in queries}
    known = dict(enumerate(references)) | dict(zip(references, references, strict=True))
    marks = {
        query: _marks(f"{path}: $.gnd[{number}]", entry, known)
        for number, (query, entry) in enumerate(zip(queries, truth, strict=True))
    }
    entries = [
        ImageEntry(name, None, side, _file(path, name, request.root))
        for name, side in sides.items()
    ]
    return ImageSet(entries, marks, ListedIds(tuple(queries), tuple(references)))


def _marks(where: str, entry: Any, names: Mapping[Any, str]) -> Marks:
    """The ground truth of a query. names: those of the references, by position and by name."""
    if not isinstance(entry, Mapping):
        raise BadInput(f"{where} is {kind_of(entry)}; expected an object with easy, hard and junk.")
    lists: Mapping[Any, Any] = entry
    if not set(lists) & set(_KINDS):
        raise BadInput(
            f"{where} has none of easy, hard and junk; expected at least one list of images."
        )
    by_kind: dict[str, list[str]] = {kind: [] for kind in Marks._fields}
    for key, kind in _KINDS.items():
        values: Any = [] if lists.get(key) is None else lists[key]
        if not isinstance(values, (list, tuple)):
            raise BadInput(f"{where}.{key} is {shown(values)}; expected a list of images.")
        for value in values:
            # True is not the position 1.
            if type(value) not in (int, str) or value not in names:
                raise BadInput(
                    f"{where}.{key}: {shown(value)} is none of the {len(names) // 2} images; give "
                    "a name or a position from 0."
                )
            by_kind[kind].append(names[value])
    return Marks(*map(tuple, by_kind.values()))


def _file(table: Path, name: str, root: Path | None) -> Path | None:
    if root is None:
        return None
    for suffix in ("", *PICTURE_SUFFIXES):
        if _is_file(root / f"{name}{suffix}"):
            return root / f"{name}{suffix}"
    raise BadInput(
        f"{table}: the image {name!r} is not in {root}, with or without a suffix; fetch it, "
        f"or name another {flag('--root')}."
    )


def _form(path: Path) -> str:
    if path.is_dir():
        return "folders"
    if not path.is_file():
        raise BadInput(f"{path} is not a data set of images; known are {', '.join(FORMS)}.")
    head = Source(path).head()
    is_truth = head.lstrip().startswith(b"{") and any(
        name in head for name in (b'"imlist"', b'"gnd"', b'"qimlist"')
    )
    return "revisitop" if is_truth else "tables"


FORMS: Mapping[str, Callable[[ImageSetRequest], ImageSet]] = {
    "folders": read_folders,
    "revisitop": read_revisitop,
    "tables": read_table,
}
