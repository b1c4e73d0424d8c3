"""Data sets that are folders, as BEIR, the Hugging Face Hub and `save_to_disk` lay them out, and
those that are ids.
"""

import re
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput
from rankwell.store.places import exists, remote_url, split_part

Splits = dict[str, list[Path]]

_ID = "irds:"
_FILE = re.compile(r"(.+?)(?:-\d{5}-of-\d{5})?\.(tsv|jsonl|parquet)(?:\.gz|\.zst)?")
_TEXTS = ("jsonl", "parquet", "arrow")
_TABLES = (".parquet", ".arrow")
# A folder of other files has tables as well: without a name that says what it holds, only
# `save_to_disk` writes Arrow files.
_QRELS = {
    "qrels": ("tsv", "jsonl", "parquet", "arrow"),
    "default": ("parquet", "arrow"),
    "data": ("parquet", "arrow"),
    "": ("arrow",),
}
_EXPECTED_FILES = (
    "name a file of judgments, or a BEIR folder (corpus.jsonl, queries.jsonl, qrels/test.tsv)"
)


def is_data_set_id(place: Any) -> bool:
    """Whether a place is the id of a data set of ir_datasets: `irds:beir/scifact/test`."""
    return isinstance(place, (str, Path)) and str(place).startswith(_ID) and not exists(str(place))


def qrels_splits(folder: Path) -> Splits:
    """The files of judgments of each split in the folder of a data set; empty where there are
    none.
    """
    for name in _QRELS:
        if splits := _splits(folder / name, _QRELS[name]):
            return splits
    return {}


def qrels_file(folder: str, split: str | None) -> Path:
    """The judgments of a split in the folder of a data set: the one named, else `test`; those of a
    folder without splits.

    Raises BadInput without judgments, for a split that is not there, listing those that are, and
    for one in several files.
    """
    splits = qrels_splits(Path(folder))
    if not splits:
        raise BadInput(f"{folder} is a folder without qrels/*.tsv; {_EXPECTED_FILES}.")
    split_name = split or ("" if list(splits) == [""] else "test")
    if split_name not in splits:
        example = f"{folder}:{next(iter(splits))}" if next(iter(splits)) else f"{folder} alone"
        problem = (
            f"{folder} has no split {split_name!r}; its splits are "
            f"{', '.join(filter(None, splits)) or 'without a name'}"
        )
        raise BadInput(f"{problem}; name one as {example}.")
    if len(splits[split_name]) > 1:
        problem = (
            f"{folder}: the judgments of the split {split_name!r} are {len(splits[split_name])} "
            "files; "
            "expected one"
        )
        raise BadInput(f"{problem}. Save them as one (num_shards=1), or join the files.")
    return splits[split_name][0]


def text_files(place: Any) -> list[Path]:
    """The files of a folder of texts (`scifact/queries`, `scifact/corpus:test`), in order; none for
    another place.

    Raises BadInput for a folder without texts, of several splits without a name, and for an unknown
    split.
    """
    if not isinstance(place, (str, Path)) or remote_url(place) is not None:
        return []
    path, part = split_part(place)
    if not Path(path).is_dir():
        return []
    splits = _splits(Path(path), _TEXTS)
    if not splits or {"corpus", "queries"} <= splits.keys():
        inside = [
            name
            for name in ("queries", "corpus")
            if _splits(Path(path, name), ("parquet", "arrow"))
        ]
        inside += [
            f"{name}.jsonl"
            for name in ("queries", "corpus")
            if Path(path, f"{name}.jsonl").is_file()
        ]
        hint = (
            f"name {' or '.join(f'{path}/{name}' for name in inside)}" if inside else "name a file"
        )
        raise BadInput(f"{path} is a folder without texts of its own; {hint}.")
    if part not in splits and (part or len(splits) > 1):
        problem = f"has no split {part!r}" if part else "has several splits"
        raise BadInput(
            f"{path} {problem}; name one of {', '.join(f'{path}:{split}' for split in splits)}."
        )
    return splits[part] if part in splits else next(iter(splits.values()))


def queries_beside(place: Any, split: str | None) -> Path | str | None:
    """The queries in a folder whose judgments are named (`FOLDER`, `FOLDER:dev`), of their split
    where they have several.
    """
    folder, part = split_part(place)
    if (texts := Path(folder, "queries.jsonl")).is_file():
        return texts
    splits = _splits(Path(folder, "queries"), _TEXTS)
    split_name = split or part or "test"
    return (
        f"{folder}/queries:{split_name}"
        if split_name in splits
        else f"{folder}/queries"
        if len(splits) == 1
        else None
    )


def _splits(folder: Path, kinds: tuple[str, ...]) -> Splits:
    """The files of each split in the folder of one table, whose splits are files or folders; its
    own Arrow files are ``.
    """
    splits: Splits = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            if inside := [
                file
                for file in sorted(path.iterdir())
                if file.suffix[1:] in kinds and file.suffix in _TABLES
            ]:
                splits[path.name] = inside
        elif path.suffix == ".arrow" and "arrow" in kinds:
            splits.setdefault("", []).append(path)
        elif (name := _FILE.fullmatch(path.name)) and name[2] in kinds:
            splits.setdefault(name[1], []).append(path)
    return splits
