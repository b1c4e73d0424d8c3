"""Contact sheets: a query and its results, picture by picture, with marks for right and wrong."""

import re
from collections.abc import Iterable
from pathlib import Path

from rankwell.media.contact_sheet.details import Sheet as Sheet
from rankwell.media.contact_sheet.details import Tile as Tile
from rankwell.media.contact_sheet.details import picture_columns as picture_columns
from rankwell.media.contact_sheet.details import pictured as pictured
from rankwell.media.contact_sheet.details import sheets_of as sheets_of
from rankwell.media.contact_sheet.drawing import draw_sheet as draw_sheet
from rankwell.store import write_bytes


def write_sheets(directory: Path, sheets: Iterable[Sheet]) -> list[Path]:
    """Draws each sheet into a PNG named by its place and the query's id; letters that not every file system takes become `_`."""
    paths: list[Path] = []
    for place, sheet in enumerate(sheets, 1):
        safe = re.sub(r"[^A-Za-z0-9.-]+", "_", sheet.name).strip("._-")[:80]
        paths.append(directory / f"{place:03d}{'_' if safe else ''}{safe}.png")
        write_bytes(paths[-1], draw_sheet(sheet))
    return paths
