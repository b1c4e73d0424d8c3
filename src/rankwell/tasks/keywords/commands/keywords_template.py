"""Write an empty annotation table for a list of clips."""

import glob
from pathlib import Path

from rankwell.data.findings.kinds import odd_entries
from rankwell.data.matrices import item_ids
from rankwell.errors import BadInput, BadUsage, DuplicateItem, NothingToEvaluate, count_of
from rankwell.io.formats import read_column
from rankwell.reporting import render_rows
from rankwell.reporting.options import FileOption, Output, StatusNote, option_names
from rankwell.store import split_part, write_text
from rankwell.tasks.keywords.formats import read_schema
from rankwell.vectors.media.images import VIDEO_SUFFIXES, is_media, list_media

ID = "slice_id"
GROUPS = (
    "pv_object_type",
    "pv_actor_behavior",
    "pv_spatial_relation",
    "ego_behavior",
    "scene_type",
)


_Clip = tuple[str, str]
"""A clip's id and its source, for messages."""


def template(
    clips: str,
    /,
    *more: str,
    output: FileOption = None,
    schema: str | None = None,
    keyword_groups: str | None = None,
) -> Output:
    """Write an empty annotation table for a list of clips.

    Has a row for each clip and a column for each group of keywords.

    Write keywords into the cells, several of one group separated by commas: "bicyclist, small
    vehicle".

      rankwell keywords template clips.txt -o clips.csv

    Parameters
    ----------
    clips
        Folder of videos and pictures, a file of one clip, a pattern in quotes ("drive1/*.mp4"), or
        a list of ids: a text file with one a line, a column of a table (items.csv:slice_id).
    more
        Further folders, files, patterns and lists.
    output
        CSV file to write; without it the table is printed.
    schema
        JSON file {group: [label, ...]}: its groups are the columns, its labels are printed.
    keyword_groups
        Names of the groups separated by commas; by default pv_object_type, pv_actor_behavior,
        pv_spatial_relation, ego_behavior and scene_type.
    """
    if output is not None and output.suffix.lower() != ".csv":
        raise BadUsage(f"{output}: the table is written as CSV; name a file that ends in .csv.")
    declared = read_schema(schema).vocabulary if schema is not None else None
    if declared is not None and keyword_groups is not None:
        raise BadUsage(
            "--keyword-groups and --schema both name the columns; leave one of them out."
        )
    columns = declared.groups if declared is not None else _columns(keyword_groups)
    notes: list[str] = []
    clip_rows = [clip for pattern in (clips, *more) for clip in _clips(pattern, notes)]
    origin_of: dict[str, str] = {}
    for name, origin in clip_rows:
        if name in origin_of:
            origins = (
                f"twice by {origin}"
                if origin == origin_of[name]
                else f"by {origin_of[name]} and {origin}"
            )
            raise DuplicateItem(f"clip {name!r} is named {origins}; every clip has one row.")
        origin_of[name] = origin
    if not clip_rows:
        raise NothingToEvaluate(
            f"{clips}: there is no clip in it; name a folder of videos or pictures, or a list "
            "of ids."
        )
    if declared is not None:
        for group in columns:
            labels = [entry.label for entry in declared.entries if entry.group == group]
            notes.append(f"{group}: {', '.join(labels)}")
    rows = [{ID: name, **dict.fromkeys(columns, "")} for name, _ in clip_rows]
    text = render_rows(rows, "csv")
    if output is None:
        return Output.of(text, notes)
    write_text(output, text)
    notes.append(StatusNote(f"wrote {output} ({len(clip_rows)} clips, {len(columns)} groups)"))
    return Output.of("", notes)


def _columns(groups: str | None) -> tuple[str, ...]:
    if groups is None:
        return GROUPS
    names = tuple(option_names(groups, "--keyword-groups"))
    if len(set(names)) < len(names) or ID in names:
        raise BadUsage(
            f"--keyword-groups {groups!r}: expected different names separated by commas, none of "
            f"them {ID}."
        )
    return names


def _clips(pattern: str, notes: list[str]) -> list[_Clip]:
    """The clips of one argument: the files of a folder, a file, the files of a pattern, or a list
    of ids.
    """
    path = Path(pattern)
    if path.is_dir():
        media = list_media(path)
        # A still beside its video shows the same clip.
        videos = {file for file in media if file.name.lower().endswith(VIDEO_SUFFIXES)}
        filmed = {file.with_suffix("") for file in videos}
        rows = [file for file in media if file in videos or file.with_suffix("") not in filmed]
        if len(rows) < len(media):
            words = (
                "picture beside a video of the same name gets",
                "pictures beside videos of the same name get",
            )
            number = count_of(len(media) - len(rows), *words)
            notes.append(odd_entries(f"{number} no row", pattern))
        return [(file.relative_to(path).as_posix(), f"the folder {pattern}") for file in rows]
    if path.exists():
        return [(path.name, pattern)] if is_media(pattern) else _listed(pattern, notes)
    if Path(split_part(pattern)[0]).is_file():
        return _listed(pattern, notes)
    matching = sorted(glob.glob(pattern))  # noqa: PTH207 - a pattern may be absolute
    if not matching:
        raise BadInput(
            f"{pattern}: no such file or folder, and no file that matches it; name the clips' "
            "folder or a list of ids."
        )
    return [clip for match in matching for clip in _clips(match, notes)]


def _listed(file: str, notes: list[str]) -> list[_Clip]:
    """The ids of a list; empty rows are not clips, and a note counts those between others."""
    column = read_column(file)
    while column and not column[-1]:
        column.pop()
    rows = [row for row, name in enumerate(column) if name]
    empty = [row for row, name in enumerate(column, 1) if not name]
    if empty:
        problem = f"{count_of(len(empty), 'row')} without an id skipped (first {empty[0]})"
        notes.append(odd_entries(problem, file))
    names = item_ids(column[row] for row in rows)
    return [(name, f"{file}, row {row + 1}") for row, name in zip(rows, names, strict=True)]
