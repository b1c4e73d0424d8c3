"""Result folders while they are written: one process at a time, all files in a draft first, the
manifest last.
"""

import json
import os
import re
import shutil
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.data.catalogue import result_kind, result_kinds
from rankwell.data.options import may_overwrite, overwriting
from rankwell.errors import BadInput, BadUsage, RankwellWarning, first_of, flag, printable
from rankwell.io.result_folder import MANIFEST, digest_of, read_manifest
from rankwell.reporting import Rules, plain
from rankwell.store import (
    DESCRIPTORS,
    DRAFT_FOLDER,
    STDIN_NAME,
    Source,
    drafted,
    forget,
    refuse_blocked,
    replacing,
    write_bytes,
    write_text,
)
from rankwell.store.locks import locked
from rankwell.threads import in_threads

_PATIENCE = 30.0
"""Seconds to wait for another process that is writing a folder, which takes one or two."""

_PAGE_FILES = r"[^/]+\.html?|[^/]+_data/[0-9]{3}-[0-9a-f]{8}\.js"
_PAGE = re.compile(_PAGE_FILES)
_FILES = (
    r"(summary|groups|systems|orders)\.csv|summary\.json"
    r"|table\.(txt|csv|json|md|tex)|(per_query|details|queries|items)\.parquet|verdicts\.txt"
    rf"|[^/]+\.(png|svg)|{_PAGE_FILES}"
)
"""The names of files in folders of results, besides those that tasks declare."""


@cache
def _own_names() -> re.Pattern[str]:
    """The names of files that rankwell writes into folders of results; it removes no others."""
    names = {name for kind in result_kinds().values() for name in kind.files}
    return re.compile(
        "|".join([_FILES, *(re.escape(name).replace(r"\*", "[^/]+") for name in names)])
    )


_VALUES = ("per_query.parquet", "details.parquet")
_NOT_SETTINGS = ("version", "measurement_itself")
"""Rules that another run of the same command may state differently."""


Content = Mapping[str, Any]
"""The object in a manifest, or in an entry of it."""


class _Earlier(NamedTuple):
    """The result in a folder before it is written again.

    files: name of a file of the result -> digest of its content.
    result: the manifest of the result; None where no result was finished.
    """

    files: Mapping[str, str]
    result: Content | None = None


_OPEN: dict[Path, _Earlier] = {}
"""The folders that are being written, by the thread that has their lock, with the earlier result.
"""


@contextmanager
def holding(directory: Path) -> Generator[None]:
    """The lock of a folder, which is made if need be and goes again if it stays empty."""
    new_folders = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    refuse_blocked(directory, folder=True)
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with locked(directory, wait=_PATIENCE):
            yield
    finally:
        with suppress(OSError):
            for new_folder in new_folders:
                new_folder.rmdir()


@contextmanager
def keeping() -> Generator[None]:
    """Files written in a block, those of demos, replace none with another content, except with
    `--overwrite`.
    """
    # As a decorator this is called before the command is: what it may replace is read when the
    # block begins.
    with overwriting(may_overwrite(), keeping=True):
        yield


@contextmanager
def drafting(
    directory: Path, inputs: Iterable[Source] = (), *, growing: Sequence[str] = ()
) -> Generator[Path]:
    """A folder inside a result folder, to which its files are written before `publish` puts them in
    place.

    Blocks inside each other share it; one that fails leaves the folder as it was, after `publish`
    without the result. growing: files that the command itself has written in place. Raises BadUsage
    where one of the inputs may be replaced or removed; and, without `--overwrite`, where a file is
    not what its manifest states.
    """
    draft = directory / DRAFT_FOLDER
    with holding(directory):
        resolved = directory.resolve()
        if resolved in _OPEN:
            yield draft
            return
        for source in inputs:
            file = None if source.file is None else source.file.resolve()
            if (
                file
                and resolved in file.parents
                and _own_names().fullmatch(file.relative_to(resolved).as_posix())
            ):
                raise BadUsage(
                    f"{source.name} is an input of this command, and {directory} the folder to "
                    "write; name another."
                )
        refuse_unclaimed(directory, growing)
        manifest = directory / MANIFEST
        before = manifest.read_bytes() if manifest.exists() else b""
        files = _earlier(directory, growing)
        _OPEN[resolved] = earlier = _Earlier(files, _finished(directory) if files else None)
        marked = b""
        try:
            shutil.rmtree(draft, ignore_errors=True)
            write_manifest(directory, {"unfinished": True}, files)
            marked = manifest.read_bytes()
            draft.mkdir()
            with drafted(draft):
                yield draft
        except BaseException as error:
            if _OPEN[resolved] is not earlier:
                remove_result(directory)
            elif isinstance(error, Exception) and marked and manifest.read_bytes() == marked:
                write_bytes(manifest, before) if before else manifest.unlink()
            raise
        finally:
            del _OPEN[resolved]
            shutil.rmtree(draft, ignore_errors=True)


def refuse_unclaimed(directory: Path, growing: Sequence[str] = ()) -> None:
    """Raises BadUsage where no folder of results can be made, and, except with `--overwrite`, where
    files lie and no manifest.

    Folders and hidden files do not count; growing: as in `drafting`.
    """
    refuse_blocked(directory, folder=True)
    if may_overwrite() or not directory.is_dir() or (directory / MANIFEST).exists():
        return
    names = sorted(
        path.name for path in directory.iterdir() if path.is_file() and path.name not in growing
    )
    if foreign := [name for name in names if not name.startswith(".")]:
        problem = f"{directory} holds files, and no results of rankwell ({first_of(foreign, 1)})"
        replace = f"{flag('--overwrite', True)}, which replaces files of the same names alone"
        raise BadUsage(f"{problem}; name a new or empty folder, or {replace}.")


def refuse_foreign(directory: Path, names: Iterable[str]) -> None:
    """Raises BadUsage, except with `--overwrite`, for a file of these names that no earlier result
    wrote.
    """
    earlier = _earlier(directory)
    for path in (directory / name for name in names if name not in earlier):
        if path.exists():
            _refuse(path)


def publish(directory: Path, manifest: Content, paths: Sequence[Path]) -> list[Path]:
    """Puts files of the draft in place, removes those of the earlier result that are not among
    them, and writes the manifest.

    Returns the paths of all files. Raises BadUsage, without `--overwrite`, for a file in their
    place that another program wrote.
    """
    earlier, draft = _OPEN[directory.resolve()], directory / DRAFT_FOLDER
    names = {path.relative_to(draft).as_posix(): path for path in paths}
    written = dict(zip(names, in_threads(digest_of, list(names.values())), strict=True))
    if earlier.result is not None and not may_overwrite():
        refuse_other_result(directory, earlier.result, plain(manifest))
        _refuse_other_objects(directory, earlier, plain(manifest), written)
    looks_alike = (earlier.result or {}).get("digits") == manifest.get("digits")
    _keep_pages(directory, earlier.files, names, written, looks_alike=looks_alike)
    targets = {name: directory / name for name in names}
    for name, target in targets.items():
        refuse_blocked(target)
        if name not in earlier.files and target.is_file() and digest_of(target) != written[name]:
            _refuse(target)
    write_manifest(directory, {"unfinished": True, "written": written}, earlier.files)
    for name, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():
            with replacing(target) as copy:
                shutil.copyfile(names[name], copy)
        else:
            names[name].replace(target)
        forget(target)
    _remove(
        directory, {name: digest for name, digest in earlier.files.items() if name not in written}
    )
    write_manifest(directory, manifest, written)
    _OPEN[directory.resolve()] = _Earlier(written)
    return [*targets.values(), directory / MANIFEST]


def _keep_pages(
    directory: Path,
    before: Mapping[str, str],
    names: Iterable[str],
    written: dict[str, str],
    *,
    looks_alike: bool,
) -> None:
    """Adds the pages of the earlier result to what is written, where they show what is written
    again; else warns of their end. looks_alike: whether figures have as many decimals as before.
    """
    pages = {
        name: digest
        for name, digest in before.items()
        if _PAGE.fullmatch(name) and name not in names
    }
    if looks_alike and all(before.get(name) == digest for name, digest in written.items()):
        written |= pages
    elif pages_removed := [name for name in pages if "/" not in name]:
        warning = (
            f"{directory / pages_removed[0]} showed the earlier results, and is removed; `rankwell "
            "report` writes it again"
        )
        warnings.warn(warning, RankwellWarning, stacklevel=2)


def _refuse_other_objects(
    directory: Path, earlier: _Earlier, manifest: Content, written: Mapping[str, str]
) -> None:
    """Raises BadUsage where inputs that have no place, the objects of Python, give other values
    than those in a folder.

    Where the manifest states all inputs, or what it states has changed, the same command has other
    values of its own.
    """
    before = earlier.result or {}
    inputs, rules = _digests(manifest), manifest.get("rules") or {}
    kind = result_kind(manifest.get("protocol", "runs"))
    is_known = (
        {*kind.inputs, *(rules.get("counts") or {})} <= inputs.keys()
        if kind.inputs
        else bool(inputs)
    )
    is_same = inputs == _digests(before) and rules.get("version") == (
        before.get("rules") or {}
    ).get("version")
    values = set(_VALUES) - set(kind.timed)
    changed = [
        name
        for name, digest in written.items()
        if name in values and earlier.files.get(name, digest) != digest
    ]
    if changed and is_same and not is_known:
        problem = f"{directory} holds results of other objects ({changed[0]} has other values)"
        raise BadUsage(f"{problem}; name another folder, or {flag('--overwrite', True)}.")


def _finished(directory: Path) -> Content | None:
    """The manifest of a folder whose last result was finished."""
    manifest = read_manifest(directory)
    return None if manifest is None or "unfinished" in manifest.content else manifest.content


def refuse_other_result(directory: Path, before: Content, after: Content) -> None:
    """Raises BadUsage where a manifest is of other inputs, by place and content, or other settings
    than the one to be written.
    """
    old, new = _identity(before), _identity(after)
    # From another working directory the same file has another name.
    same = {
        f"input {name}"
        for name, digest in _digests(before).items()
        if digest and digest == _digests(after).get(name)
    }
    changed = [
        name for name in {**old, **new} if old.get(name) != new.get(name) and name not in same
    ]
    if changed:
        setting_there, now = (
            _setting_text(changed[0], settings.get(changed[0], "none")) for settings in (old, new)
        )
        problem = (
            f"{directory} holds other results ({changed[0]}: {setting_there} there, {now} now)"
        )
        raise BadUsage(f"{problem}; name another folder, or {flag('--overwrite', True)}.")


def _identity(manifest: Content) -> dict[str, str]:
    """The part that the same command writes again, whatever its inputs hold: their places, runs,
    measures and settings.
    """
    rules: Rules = manifest.get("rules") or {}
    files = {
        f"input {name}": _input_location(recorded) for name, recorded in _inputs(manifest).items()
    }
    mappings = {"runs": rules.get("counts"), "measures": rules.get("measures")}
    names = {
        name: ", ".join(mapping)
        for name, mapping in mappings.items()
        if isinstance(mapping, Mapping)
    }
    settings = {
        name: str(setting)
        for name, setting in rules.items()
        if name not in _NOT_SETTINGS and isinstance(setting, str | int | float)
    }
    return {"kind of result": str(manifest.get("protocol", "runs")), **files, **names, **settings}


def _inputs(manifest: Content) -> dict[str, Content]:
    inputs: Content = manifest.get("inputs") or {}
    return {name: recorded for name, recorded in inputs.items() if isinstance(recorded, Mapping)}


def _digests(manifest: Content) -> dict[str, str]:
    return {name: recorded.get("digest", "") for name, recorded in _inputs(manifest).items()}


def _setting_text(name: str, value: str) -> str:
    is_here = name.startswith("input ") and Path.cwd() in Path(value).parents
    return printable(os.path.relpath(value) if is_here else value)[:80]


def _input_location(recorded: Content) -> str:
    """The place of an input; of one that is gone once it has been read, its digest."""
    name = recorded.get("file", "")
    if name == STDIN_NAME or name.startswith(DESCRIPTORS):
        return recorded.get("digest", "")
    return name if "://" in name else os.path.abspath(name)  # noqa: PTH100 - a link is the place that was named


def write_manifest(directory: Path, manifest: Content, files: Mapping[str, str]) -> None:
    """Writes the manifest of a folder. files: all that it lists, with their digests."""
    content = json.dumps(plain({**manifest, "files": files}), indent=2, allow_nan=False)
    write_text(directory / MANIFEST, content + "\n")


def remove_result(directory: Path) -> None:
    """Removes the files of a result with its manifest, except for those that are not as they were
    written.
    """
    if directory.is_dir():
        with holding(directory):
            _remove(directory, _earlier(directory, changed=True))
            (directory / MANIFEST).unlink(missing_ok=True)


def _remove(directory: Path, files: Mapping[str, str]) -> None:
    """Removes files of a result that have these digests."""
    for name, digest in files.items():
        path = directory / name
        if (
            path.is_file()
            and directory.resolve() in path.resolve().parents
            and digest_of(path) == digest
        ):
            path.unlink()


def _earlier(
    directory: Path, growing: Sequence[str] = (), *, changed: bool = False
) -> dict[str, str]:
    """The files of an earlier result that are there, with their digests: those listed, or written
    before a process was killed.

    changed: whether files that are neither are left out; else BadUsage is raised for them, except
    with `--overwrite`.
    """
    try:
        manifest = read_manifest(directory)
    except BadInput:
        manifest = None
    if manifest is None or not manifest.is_own:
        if (directory / MANIFEST).exists() and not changed:
            _refuse(directory / MANIFEST)
        return {}
    states = [manifest.files, manifest.pending_files]
    names = [
        name
        for name in dict.fromkeys(chain(*states))
        if _own_names().fullmatch(name) and (directory / name).is_file()
    ]
    digests: dict[str, str] = {}
    for name, digest in zip(
        names, in_threads(digest_of, [directory / name for name in names]), strict=True
    ):
        if digest in [state.get(name) for state in states]:
            digests[name] = digest
        elif not changed and name not in growing:
            _refuse(directory / name)
    return digests


def _refuse(path: Path) -> None:
    """Raises BadUsage for a file that would be replaced, except with `--overwrite`."""
    if not may_overwrite():
        problem = f"{path} was not written by rankwell, or was changed since"
        raise BadUsage(
            f"{problem}; move it to another place, name another folder, or "
            f"{flag('--overwrite', True)}."
        )
