"""The content of a contact sheet: a query and its results, each a tile."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

State = Literal["right", "wrong", "unjudged", "query"]


class Tile(NamedTuple):
    """One result, or the query itself.

    picture: RGB, of any size; None draws a placeholder with `problem`, a few words. rank: from 1; None was not retrieved.
    found, missing: keywords that the query asks for and the result has, or lacks. label: what it is, such as an instance.
    note: anything else, such as `below the threshold`.
    """

    item: str
    state: State
    picture: "Image | None" = None
    problem: str = "no file"
    rank: int | None = None
    score: float | None = None
    label: str = ""
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """A query with its results in order of rank; ranks may leave some out (the first five, then the first right one).

    name: the query's id, by which the file is called. title: what is asked, an id or a text. facts: lines below the title.
    query: its tile, where the query is a picture. score: what the tiles' scores are. empty: what to say where there are no tiles.
    """

    name: str
    title: str
    tiles: tuple[Tile, ...]
    lines: tuple[str, ...] = ()
    query: Tile | None = None
    score: str = "similarity"
    empty: str = "no results"
