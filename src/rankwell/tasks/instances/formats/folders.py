"""Folders: one per side and in it one per instance; or files whose names tell the instance by a pattern."""

import re
from pathlib import Path

from rankwell.errors import BadInput, BadUsage
from rankwell.media.images import PICTURE_SUFFIXES, list_media
from rankwell.tasks.instances.formats import Found, Wanted, form, split_of
from rankwell.tasks.instances.images import SPLITS, Picture, Split

_FIELDS = ("instance", "camera", "group", "split")
_CONTENTLESS = ("contentless", "no-content", "without-content")
"""What a folder of images is called that show nothing to be recognised; it stands inside an instance's folder, or beside them."""


def _fits(place: Path, wanted: Wanted) -> float:  # noqa: ARG001 - every form is asked alike
    return 1.0 if place.is_dir() else 0.0


@form("folders", fits=_fits)
def read_folders(place: Path, wanted: Wanted) -> Found:
    """Every picture below a folder, or below two: references and queries."""
    name = None if wanted.pattern is None else _pattern(wanted.pattern)
    if wanted.queries is None:
        return Found([_picture(path, place, name, None, "") for path in _files(place)])
    sides: list[tuple[Path, Split]] = [(place, "reference"), (wanted.queries, "query")]
    if place.resolve() == wanted.queries.resolve():
        raise BadUsage(f"{place} is named for references and for queries; name two folders, or leave the second out.")
    # Both sides may have files of one name, so that ids begin with what tells the folders apart.
    heads = [path.name for path, _ in sides] if place.name != wanted.queries.name else ["references", "queries"]
    return Found(
        [
            _picture(path, folder, name, side, head)
            for (folder, side), head in zip(sides, heads, strict=True)
            for path in _files(folder)
        ]
    )


def _files(folder: Path) -> list[Path]:
    """The pictures below a folder; films of the objects are passed over."""
    return [path for path in list_media(folder) if path.name.lower().endswith(PICTURE_SUFFIXES)]


def _picture(path: Path, folder: Path, name: re.Pattern[str] | None, side: Split | None, head: str) -> Picture:
    below = path.relative_to(folder)
    parts = list(below.parts[:-1])
    told = {} if name is None else _told(below, name)
    bare = any(part.lower() in _CONTENTLESS for part in parts)
    parts = [part for part in parts if part.lower() not in _CONTENTLESS]
    if side is None and "split" in told:
        side = split_of(told["split"], str(path))
    if side is None and parts and parts[0].lower() in SPLITS:
        side = SPLITS[parts.pop(0).lower()]
    if side is None:
        wanted = f"{folder}/references/INSTANCE/{path.name} and {folder}/queries/INSTANCE/…, or a second folder of queries"
        raise BadInput(f"{path}: no folder says whether this is a reference or a query; {wanted} is wanted.")
    instance = told.get("instance") or (parts[0] if parts and name is None else None)
    return Picture(
        id="/".join(filter(None, (head, below.as_posix()))),
        instance=instance,
        split=side,
        path=path,
        camera=told.get("camera"),
        group=told.get("group"),
        contentless=bare,
    )


def _told(below: Path, name: re.Pattern[str]) -> dict[str, str]:
    found = name.fullmatch(below.name) or name.fullmatch(below.stem)
    if found is None:
        raise BadInput(
            f"{below.as_posix()}: the name does not fit the pattern; mend the pattern, or move what is no picture of the set."
        )
    return found.groupdict()


def _pattern(text: str) -> re.Pattern[str]:
    """What `{instance}_{camera}_*.jpg` fits: a field is as short as it can be, `*` is anything. Raises BadUsage."""
    written, fields = "", list[str]()
    for part in re.split(r"(\{[^{}]*\}|\*)", text):
        if part == "*":
            written += ".*"
        elif part.startswith("{"):
            field = part[1:-1]
            if field not in _FIELDS or field in fields:
                raise BadUsage(f"--pattern {text!r}: {part} is no field, or comes twice; the fields are {', '.join(_FIELDS)}.")
            fields.append(field)
            written += f"(?P<{field}>.+?)"
        else:
            written += re.escape(part)
    if "instance" not in fields:
        raise BadUsage(f"--pattern {text!r} does not tell the instance; write it as {{instance}}_*.jpg.")
    return re.compile(written)
