"""The content of an item as a judge sees it: texts of query and item, further columns, the picture;
never a run or a rank.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from rankwell.errors import RankwellError
from rankwell.tasks.study.asking import Ask
from rankwell.tasks.study.folder import Study
from rankwell.vectors.media.images import Thumbnails, data_uri
from rankwell.vectors.media.item_pictures import ItemPictures

LONGEST_SIDE, QUALITY = 1024, 85
"""Pixels of a picture's longer side, and the quality of its JPEG."""
_TEXTS = ("title", "text", "answer")


class ItemContents:
    """The contents of the items that are asked; texts are read at once, pictures on request."""

    def __init__(self, study: Study, asks: Iterable[Ask]) -> None:
        self._study, self._ids = study, list(dict.fromkeys(ask.item for ask in asks))
        self._queries = study.query_texts({ask.query for ask in asks})
        self._items = study.texts_of(self._ids)

    @cached_property
    def _pictures(self) -> Thumbnails | None:
        """The pictures of the items; none where the study has no pictures, or their folder is
        gone.
        """
        pattern = self._study.thumbnails
        if pattern is not None:
            with suppress(RankwellError):
                return ItemPictures(str(self._study.place / pattern), longest=LONGEST_SIDE).of(
                    self._ids
                )
        return None if pattern is None else Thumbnails({})

    def content(self, ask: Ask) -> dict[str, Any]:
        """The content of an item: `query` and `item`, each with its texts by name and `fields`,
        further columns in order.

        An item without a text and a picture has its `id`. `missing` is the reason why a picture is
        not there.
        """
        item = _texts(self._items.get(ask.item, {}))
        if self._pictures is not None:
            picture = self._pictures[ask.item]
            if picture.image is None:
                item["missing"] = picture.problem
            else:
                item["picture"] = data_uri(picture.image, longest=LONGEST_SIDE, quality=QUALITY)
        if not any(item.get(name) for name in ("title", "text", "picture")):
            item["id"] = ask.item
        return {"query": _texts(self._queries.get(ask.query, {"text": ask.query})), "item": item}


def _texts(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        [name, str(value)]
        for name, value in row.items()
        if name not in _TEXTS and value not in (None, "")
    ]
    return {name: str(row[name]) for name in _TEXTS if row.get(name)} | {"fields": fields}
