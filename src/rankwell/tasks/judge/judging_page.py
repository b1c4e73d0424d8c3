"""The page of a judge: frame, styles and scripts in one document, which its policy allows by their
hashes; its head, and the items as a judge sees them: never a run or a rank.
"""

import html
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from rankwell.errors import RankwellError
from rankwell.reporting.page.scripts import embeddable, join_modules, source_hash
from rankwell.tasks.judge.batches import Lease, progress
from rankwell.tasks.judge.folder import GUIDELINE, Pair, Study
from rankwell.tasks.judge.journal import read_journals
from rankwell.vectors.media.images import ItemPictures, Thumbnails, data_uri

_MARK = re.compile(r"\{\{(\w+)\}\}")
_STYLES = (
    "reporting/page/assets/base.css",
    "reporting/page/assets/header.css",
    "tasks/judge/assets/judging.css",
)
_FIXED = "base-uri 'none'; form-action 'none'"


class JudgingPage(NamedTuple):
    """The page of a judge.

    text: the HTML document.
    policy: the Content-Security-Policy, which allows only the page's own scripts and styles.
    """

    text: str
    policy: str


def judging_page(judge: str, batch: str = "null") -> JudgingPage:
    """The page. batch: JSON of all items for a page without a server, whose policy then allows no
    connections at all.
    """
    package, is_offline = files("rankwell"), batch != "null"
    style = "".join(
        package.joinpath(*name.split("/")).read_text(encoding="utf-8") for name in _STYLES
    )
    entry = f"tasks/judge/assets/{'offline' if is_offline else 'online'}.js"
    script = embeddable(f'(() => {{\n"use strict";\n{join_modules(package, [entry])}}})();\n')
    sources = "img-src data:" if is_offline else "connect-src 'self'; img-src 'self' data:"
    policy = (
        f"default-src 'none'; {sources}; script-src {source_hash(script)}; style-src "
        f"{source_hash(style)}; {_FIXED}"
    )
    filled = {
        "title": html.escape(f"Judging: {judge}"),
        "policy": html.escape(policy, quote=False),
        "style": style,
        "script": script,
        "batch": batch,
    }
    frame = (package / "tasks/judge/assets/judging.html").read_text(encoding="utf-8")
    return JudgingPage(_MARK.sub(lambda mark: filled[mark[1]], frame), policy)


def page_head(study: Study, judge: str) -> dict[str, Any]:
    """The head of every page of a judge: the judge, the grades, and the guideline."""
    grades = [{"grade": grade, "name": name} for grade, name in study.grades.items()]
    guideline = (study.folder / GUIDELINE).read_text(encoding="utf-8", errors="replace")
    return {
        "judge": judge,
        "study": study.folder.resolve().name,
        "grades": grades,
        "guideline": guideline,
    }


def batch_counts(study: Study, lease: Lease | None) -> dict[str, Any]:
    """The number of the batch, of all batches, and of those that are not finished; None where the
    study has no fixed ones.
    """
    if study.design == "reading":
        return dict.fromkeys(("batch", "batches", "left"))
    state = progress(study, read_journals(study).lines)
    number = None if lease is None else lease.batch + 1
    return {"batch": number, "batches": state.batches, "left": state.batches - state.finished}


LONGEST_SIDE, QUALITY = 1024, 85
"""Pixels of a picture's longer side, and the quality of its JPEG."""
_TEXTS = ("title", "text", "answer")


class ItemContents:
    """The contents of the items that are asked; texts are read at once, pictures on request."""

    def __init__(self, study: Study, pairs: Collection[Pair]) -> None:
        self._study, self._ids = study, list(dict.fromkeys(item for _, item in pairs))
        self._queries = study.query_texts({query for query, _ in pairs})
        self._items = study.texts_of(self._ids)

    @cached_property
    def _pictures(self) -> Thumbnails | None:
        """The pictures of the items; none where the study has no pictures, or their folder is
        gone.
        """
        if self._study.thumbnails is None:
            return None
        pattern = str(self._study.folder / self._study.thumbnails)
        with suppress(RankwellError):
            return ItemPictures(pattern, longest=LONGEST_SIDE).of(self._ids)
        return Thumbnails({})

    def content(self, query: str, item: str) -> dict[str, Any]:
        """The content of an item: `query` and `item`, each with its texts by name and `fields`,
        further columns in order.

        An item without a text and a picture has its `id`. `missing` is the reason why a picture is
        not there.
        """
        shown = _texts(self._items.get(item, {}))
        if self._pictures is not None:
            picture = self._pictures[item]
            if picture.image is None:
                shown["missing"] = picture.problem
            else:
                shown["picture"] = data_uri(picture.image, longest=LONGEST_SIDE, quality=QUALITY)
        if not any(shown.get(name) for name in ("title", "text", "picture")):
            shown["id"] = item
        return {"query": _texts(self._queries.get(query, {"text": query})), "item": shown}


def _texts(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        [name, str(value)]
        for name, value in row.items()
        if name not in _TEXTS and value not in (None, "")
    ]
    return {name: str(row[name]) for name in _TEXTS if row.get(name)} | {"fields": fields}
