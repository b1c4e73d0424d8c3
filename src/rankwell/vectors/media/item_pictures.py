"""The pictures of items by a folder or a pattern of paths, as `data:` addresses that a page
displays without a file.
"""

from collections.abc import Sequence
from pathlib import Path

from rankwell.errors import BadUsage
from rankwell.vectors.media.images import Thumbnails, data_uri, locate


class ItemPictures:
    """The pictures of items as `data:` addresses. longest: pixels of the longer side. Raises
    BadUsage for a missing folder.
    """

    def __init__(self, template: str, *, longest: int = 160) -> None:
        if "{id}" not in template and not Path(template).is_dir():
            raise BadUsage(
                f"--thumbnails {template!r}: no such folder; name one, or the place of each item "
                f"as 'img/{{id}}.jpg'."
            )
        self._place, self._longest = template, longest
        self.notes: list[str] = []

    def __call__(self, items: Sequence[str]) -> dict[str, str]:
        """The pictures of those items that have one; `notes` lists the missing ones."""
        thumbnails = self.of(items)
        pictures = {item: image for item in items if (image := thumbnails[item].image) is not None}
        bare = [item for item in items if item not in pictures]
        if bare:
            self.notes.append(
                f"{len(bare)} of {len(items)} items have no picture: "
                f"{', '.join(map(repr, bare[:3]))}{' …' if len(bare) > 3 else ''}"
            )
        return {item: data_uri(image, longest=self._longest) for item, image in pictures.items()}

    def of(self, items: Sequence[str]) -> Thumbnails:
        """The pictures of some items, each read on request."""
        files = (
            {item: self._file(item) for item in items}
            if "{id}" in self._place
            else locate(items, Path(self._place))
        )
        return Thumbnails(
            {item: path for item, path in files.items() if path is not None}, longest=self._longest
        )

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
