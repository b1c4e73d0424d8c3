"""Ground truth with easy, hard and junk references per query, as Revisited Oxford and Paris have it, in JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput
from rankwell.media.images import PICTURE_SUFFIXES
from rankwell.store import Source
from rankwell.tasks.instances.formats import Found, Wanted, form
from rankwell.tasks.instances.images import Listed, Marks, Picture

_KINDS = {"easy": "easy", "good": "easy", "hard": "hard", "ok": "hard", "junk": "junk"}
"""Lists of a ground truth and what they are here; `good` and `ok` are the words of the first Oxford and Paris."""


def _fits(place: Path, wanted: Wanted) -> float:  # noqa: ARG001 - every form is asked alike
    if not place.is_file():
        return 0.0
    head = Source(place).head()
    return 1.0 if head.lstrip().startswith(b"{") and (b'"imlist"' in head or b'"gnd"' in head or b'"qimlist"' in head) else 0.0


@form("revisitop", fits=_fits)
def read_revisitop(place: Path, wanted: Wanted) -> Found:
    """`imlist` and `qimlist` name the images, `gnd` has for each query lists of positions in `imlist`, from 0, or of names.

    Images are looked for below `root` where it is named, with and without a suffix. A query that is no reference may be called
    like one: it then stands on both sides, as in the first Oxford. Scores without ids follow both lists. `bbx` is passed over:
    crop queries before they are encoded.
    """
    try:
        whole: Any = json.loads(Source(place).read())
    except ValueError as error:
        raise BadInput(f"{place}: {error}; is the file whole?") from error
    for name in ("imlist", "qimlist", "gnd"):
        if not isinstance(whole.get(name), list):
            raise BadInput(f"{place}: $.{name} is no list; imlist, qimlist and gnd are wanted, convert a pickle to JSON first.")
    references, queries, truth = (list[Any](whole[name]) for name in ("imlist", "qimlist", "gnd"))
    if len(truth) != len(queries):
        raise BadInput(f"{place}: {len(truth)} entries of gnd for {len(queries)} queries; every query has one.")
    for name, listed in (("imlist", references), ("qimlist", queries)):
        seen = set[str]()
        for number, each in enumerate(listed):
            if not isinstance(each, str) or not each:
                raise BadInput(f"{place}: $.{name}[{number}] is {each!r}; names of images are texts.")
            if each in seen:
                raise BadInput(f"{place}: $.{name}[{number}] lists {each!r} a second time; list every image once.")
            seen.add(each)
    known = set(references)
    marks = {
        query: _marks(f"{place}: $.gnd[{number}]", entry, references, known)
        for number, (query, entry) in enumerate(zip(queries, truth, strict=True))
    }
    both = known & set(queries)
    pictures = [
        Picture(name, None, "both" if name in both else "reference", _file(place, name, wanted.root)) for name in references
    ]
    pictures += [Picture(name, None, "query", _file(place, name, wanted.root)) for name in queries if name not in both]
    return Found(pictures, marks, Listed(tuple(queries), tuple(references)))


def _marks(where: str, entry: Any, references: Sequence[str], known: set[str]) -> Marks:
    if not isinstance(entry, Mapping):
        raise BadInput(f"{where} is a {type(entry).__name__}; an object with easy, hard and junk is wanted.")
    found: dict[str, list[str]] = {"easy": [], "hard": [], "junk": []}
    lists: Mapping[Any, Any] = entry
    if not set(lists) & set(_KINDS):
        raise BadInput(f"{where} has none of easy, hard and junk; one list of images at least is wanted.")
    for key, kind in _KINDS.items():
        for value in lists.get(key) or ():
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(references):
                found[kind].append(references[value])
            elif isinstance(value, str) and value in known:
                found[kind].append(value)
            else:
                raise BadInput(
                    f"{where}.{key}: {value!r} is none of the {len(references)} images; give a name or a position from 0."
                )
    return Marks(*(tuple(names) for names in found.values()))


def _file(table: Path, name: str, root: Path | None) -> Path | None:
    if root is None:
        return None
    for suffix in ("", *PICTURE_SUFFIXES):
        if (root / f"{name}{suffix}").is_file():
            return root / f"{name}{suffix}"
    raise BadInput(f"{table}: the image {name!r} is not in {root}, with or without a suffix; fetch it, or name another --root.")
