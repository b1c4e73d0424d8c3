"""The page written: data, style, charts' script and own script in one file, and lists beside it
where they are many.
"""

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from rankwell.data.options import may_overwrite
from rankwell.errors import BadUsage, flag
from rankwell.io.result_folder import digest_of, is_result_folder, read_manifest
from rankwell.reporting import escaped
from rankwell.reporting.drafts import write_manifest
from rankwell.reporting.page import PageSource
from rankwell.reporting.page.data import PageData, item_data, page_data
from rankwell.reporting.page.scripts import (
    asset,
    embeddable,
    join_modules,
    source_hash,
    task_views,
    vega_bundle,
)
from rankwell.store import refuse_blocked, write_text

MOST_BYTES, PART_BYTES = 10_000_000, 1_500_000
"""Above the first the lists leave the page; of about the second are the files that they go to."""

_TASK_VIEWS = "tasks/*/page.js"
_MARK = re.compile(r"\{\{(\w+)(?:: ([^}]*))?\}\}")
_CALL = "rankwellPart("


def write_page(path: Path, source: PageSource, *, most_bytes: int = MOST_BYTES) -> list[Path]:
    """Writes the page, and returns its path and those of the files of lists beside it; the same
    source gives the same bytes.

    most_bytes: above this size of the data the lists go to files, for report.html in report_data/,
    each whole or not at all. A manifest in the folder lists them all. Raises BadUsage, without
    `--overwrite`, for another file in their place.
    """
    refuse_blocked(path)
    folder, parts_folder = path.parent, f"{path.stem}_data"
    page = page_data(source)
    text, parts = embedded_json(page.complete()), list[tuple[str, int, int, str]]()
    if len(text.encode()) > most_bytes and page.lists:
        parts = list(_parts(page, parts_folder))
        text = embedded_json(page.head() | {"parts": [part[:3] for part in parts]})
    html_text = render_page(text, source.title, parted=bool(parts))
    files = {path.name: html_text, **{name: lists for name, *_, lists in parts}}
    digests = {
        name: f"sha256:{hashlib.sha256(content.encode('utf-8', 'surrogateescape')).hexdigest()}"
        for name, content in files.items()
    }
    manifest = read_manifest(folder) if is_result_folder(folder) else None
    states = [] if manifest is None else [manifest.files, manifest.pending_files]
    for name, digest in {} if may_overwrite() else digests.items():
        accepted_digests = [digest, *(state.get(name) for state in states)]
        if (folder / name).is_file() and digest_of(folder / name) not in accepted_digests:
            raise BadUsage(
                f"{folder / name} exists with different content; name another file, or "
                f"{flag('--overwrite', True)}."
            )
    listed = manifest if manifest is not None and manifest.files else None
    others = {
        name: digest
        for name, digest in (listed.files if listed else {}).items()
        if name not in digests and not name.startswith(f"{parts_folder}/")
    }
    if listed:
        # They leave the manifest until they are written, so that it never lists what is not there.
        pending_files = {**listed.pending_files, **digests}
        write_manifest(folder, {**listed.content, "written": pending_files}, others)
    for name, content in reversed(files.items()):  # the page last
        write_text(folder / name, content)
    _remove_parts(folder / parts_folder, {Path(name).name for name in files})
    if listed:
        content = {name: entry for name, entry in listed.content.items() if name != "written"}
        write_manifest(folder, content, others | digests)
    return [folder / name for name in digests]


def render_page(data: str, title: str, *, parted: bool) -> str:
    """The template with its marks filled in. data: the JSON text. parted: whether scripts beside
    the page may run.

    The policy lets run and style what stands in the page, by its hash, and nothing else.
    """
    template = asset("page.html")
    names = {kind: file_names or "" for kind, file_names in _MARK.findall(template)}
    style = "".join(map(asset, names["style"].split()))
    entries: list[str] = []
    for name in names["script"].split():
        entries += task_views() if name == _TASK_VIEWS else [f"reporting/page/assets/{name}"]
    modules = join_modules(files("rankwell"), entries)
    script, vega = embeddable(f'(() => {{\n"use strict";\n{modules}}})();\n'), vega_bundle()
    scripts = " ".join([source_hash(vega), source_hash(script), *(["'self'"] if parted else [])])
    allowed = f"script-src {scripts}; style-src {source_hash(style)}; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    filled = {
        "title": escaped(title),
        "policy": html.escape(policy, quote=False),
        "style": style,
        "script": script,
        "data": data,
        "vega": vega,
        "licences": html.escape(asset("licences.txt"), quote=False),
    }
    return _MARK.sub(lambda mark: filled[mark[1]], template)


def embedded_json(data: Mapping[str, Any]) -> str:
    """The data as JSON that may stand inside a script element, and inside a script."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _parts(page: PageData, folder: str) -> Iterator[tuple[str, int, int, str]]:
    """The lists in files of some 1.5 MB, each with its items: name with a digest, first and last
    query, text.
    """
    lists: dict[int, str] = {}
    size = number = 0
    for query in sorted(page.lists):
        lists[query] = embedded_json(page.lists[query])  # pyright: ignore[reportArgumentType]
        size += len(lists[query]) + page.weight(query)
        if size >= PART_BYTES:
            yield _part(page, lists, f"{folder}/{number:03}")
            lists, size, number = {}, 0, number + 1
    if lists:
        yield _part(page, lists, f"{folder}/{number:03}")


def _part(page: PageData, lists: Mapping[int, str], name: str) -> tuple[str, int, int, str]:
    items = item_data(page.items, {item for query in lists for item in page.items_in(query)})
    texts = ",".join(f'"{query}":{text}' for query, text in lists.items())
    text = f'{_CALL}{{"lists":{{{texts}}},"items":{embedded_json(items)}}});\n'
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{name}-{digest}.js", min(lists), max(lists), text


def _remove_parts(folder: Path, used_names: set[str]) -> None:
    """Removes the files of lists that no page needs any more, and the folder where nothing is
    left.
    """
    for path in sorted(folder.glob("*.js")):
        if path.name not in used_names and path.read_bytes().startswith(_CALL.encode()):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()
