"""The inputs: scores or embeddings of each run, the right items, masks, transforms, and the texts of captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.kernels.products import Groups
from rankwell.core.kernels.similarity import Metric, metric_name
from rankwell.core.tables import Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.tables.names import Place, Positions, name_places, named_places
from rankwell.core.tables.scores import Matrix, Positives, Scores
from rankwell.errors import BadInput, BadUsage
from rankwell.io import files as io
from rankwell.io.columns import read_numbers
from rankwell.io.files import read_column
from rankwell.io.matrices import read_embeddings, read_scores
from rankwell.io.positives import Sides, read_mask, read_positives
from rankwell.neighbours.positive_counts import Compared, by_scores, by_vectors
from rankwell.store import Source, split_part
from rankwell.tasks.captions.options import CaptionOptions, Direction
from rankwell.tasks.captions.runs import Copies, has_copies
from rankwell.transforms import Transform, parse_transform


@dataclass
class CaptionInputs:
    """The inputs. runs: name -> scores, or both tables of embeddings. rows: the captions that take part, None for all."""

    runs: Mapping[str, Scores | tuple[Embeddings, Embeddings]]
    metric: Metric
    sources: dict[str, Source]
    rules: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    rows: Ints | None = None
    masked: int = 0
    said: Mapping[str, str] = field(default_factory=dict[str, str])

    _transform: Transform | None = None
    _bank: Matrix | None = None
    _texts: Sequence[str] | None = None
    _positives: Positives | None = None
    _copies: dict[str, Copies] = field(default_factory=dict[str, Copies])

    @classmethod
    def read(cls, scores: Any, positives: Any, options: CaptionOptions, directions: Sequence[str]) -> "CaptionInputs":
        """Reads the scores, or the embeddings, and what belongs to all runs.

        Raises BadUsage where both or half of either are given, BadInput for what does not fit the rows and columns.
        """
        queries, gallery, query_ids, item_ids = options.queries, options.gallery, _ids(options.query_ids), _ids(options.item_ids)
        if (scores is None) == (queries is None and gallery is None) or (queries is None) != (gallery is None):
            raise BadUsage("give scores, or the embeddings of queries and of the gallery (--queries with --gallery).")
        if scores is None:
            tables = read_embeddings(queries, ids=query_ids), read_embeddings(gallery, ids=item_ids)
            name, metric = name_places([_place(queries)], ["embeddings"])[0], options.metric or "cosine"
            inputs = cls({name: tables}, metric_name(metric), _sources({"queries": queries, "gallery": gallery}))
            inputs.rules["metric"] = metric
        elif options.metric is not None:
            raise BadUsage(f"the metric {options.metric} compares embeddings, and scores are given; leave it out.")
        else:
            named = _name(scores)
            runs = {name: read_scores(place, query_ids=query_ids, item_ids=item_ids) for name, place in named.items()}
            inputs = cls(runs, "cosine", _sources(named))
            inputs._refuse_other_sides()
        inputs._prepare(positives, options, directions)
        return inputs

    def called(self, run: str) -> str:
        """The beginning of an error about the scores of a run: their file, or the run's name where there are several."""
        place = self.sources.get(run)
        return f"{place.name}: " if place is not None else f"{run}: " if len(self.runs) > 1 else ""

    def _refuse_other_sides(self) -> None:
        first, sides = "", None
        for name in self.runs:
            captions, videos = self._names(name)
            mine = list(captions), list(videos)
            if sides is not None and mine != sides:
                what = f"{name} is of {len(mine[0])} × {len(mine[1])}, {first} of {len(sides[0])} × {len(sides[1])}"
                raise BadInput(f"{what} or of other ids; runs that are compared have the same rows and columns.")
            first, sides = first or name, mine

    def _names(self, run: str) -> tuple[Sequence[str], Sequence[str]]:
        given = self.runs[run]
        return (given.query_names, given.item_names) if isinstance(given, Scores) else (given[0].names(), given[1].names())

    def _prepare(self, positives: Any, options: CaptionOptions, directions: Sequence[str]) -> None:
        sides = Sides(*self._names(next(iter(self.runs))))
        further = {"positives": positives, "mask": options.mask, "bank": options.bank, "texts": options.texts}
        self.sources |= _sources(further)
        table = _positives(positives, sides)
        if options.mask is not None:
            self.rows = read_mask(options.mask, len(sides.queries))
            self.masked = len(sides.queries) - len(self.rows)
            table = table.only(self.rows)
        self._positives = table
        self._texts = None if options.texts is None else _texts(options.texts, sides.queries)
        if self._texts is not None:
            self.said = dict(zip(sides.queries, self._texts, strict=True))
        self.rules["positives"] = positives if isinstance(positives, str) else type(positives).__name__
        if options.transform is not None:
            self._read_transform(options.transform, options.bank, directions)
        elif options.bank is not None:
            raise BadUsage("a bank requires a transform that uses one; name it, as in --transform querybank.")

    def _read_transform(self, text: str, bank: Any, directions: Sequence[str]) -> None:
        self._transform = parse_transform(text)
        if not all(isinstance(given, Scores) for given in self.runs.values()):
            raise BadUsage(f"{text} changes a matrix of scores, and embeddings are compared without one; give the scores.")
        if bank is not None:
            if len({each == "t2v" for each in directions}) > 1:
                raise BadUsage("a bank holds queries of one direction; name it with --direction t2v or v2t.")
            self._bank = read_scores(bank).matrix
        rules = self._transform.describe()
        self.rules |= {name: rules[name] for name in ("transform", "transductive")}

    @property
    def positives(self) -> Positives:
        """The videos of each caption that takes part."""
        if self._positives is None:
            raise RuntimeError("positives are read before they are used")
        return self._positives

    def captions_of(self) -> dict[str, list[str]]:
        """video -> its captions that take part, in the order of the rows."""
        captions, videos = map(list, self._names(next(iter(self.runs))))
        rows = range(len(captions)) if self.rows is None else self.rows.tolist()
        of_video = self.positives.transposed
        return {
            videos[video]: [captions[rows[row]] for row in of_video.items[start:stop].tolist()]
            for video, (start, stop) in enumerate(pairwise(of_video.offsets.tolist()))
        }

    def compared(self, run: str, direction: Direction) -> Compared:
        """The scores of a run, transformed where that is requested, for one direction."""
        given = self.runs[run]
        if not isinstance(given, Scores):
            return by_vectors(*given, self.metric, self.rows)
        if self._transform is None:
            return by_scores(given, self.rows)
        matrix = given.matrix if self.rows is None else given.matrix[self.rows]
        changed = self._transform(matrix.T if direction.video_to_text else matrix, self._bank).whole()
        captions, _ = by_scores(given, self.rows).names
        return by_scores(Scores(changed.T if direction.video_to_text else changed, captions, given.item_ids))

    def copies(self, run: str) -> Copies:
        """Captions and videos of a run that are the same: by what captions say, else by their scores or vectors."""
        if run in self._copies:
            return self._copies[run]
        given = self.runs[run]
        plain = by_scores(given, self.rows) if isinstance(given, Scores) else by_vectors(*given, self.metric, self.rows)
        captions = plain.copies(transposed=False) if self._texts is None else _first_alike(self._texts, self.rows)
        found = self._copies[run] = Copies(captions, plain.copies(transposed=True))
        for what, first in (("captions", found.captions), ("videos", found.videos)):
            if first is not None and has_copies(first):
                number = int((np.bincount(first)[first] > 1).sum())
                scorer = "no scorer of the texts alone" if what == "captions" and self._texts is not None else "no scorer"
                same = f"{number} of {len(first)} {what} are the same as another"
                self.notes.append(f"{run}: {same}, so that {scorer} can distinguish them")
        if self._texts is not None and found.captions is not None:
            self._note_differing(run, plain, found.captions)
        return found

    def _note_differing(self, run: str, plain: Compared, first: Ints) -> None:
        """Notes captions of equal words with scores of their own: more than the words was seen, and ceilings do not hold."""
        said_before = np.flatnonzero(first != np.arange(len(first)))
        differing = sum(
            not plain.same(row, one) for row, one in zip(said_before.tolist(), first[said_before].tolist(), strict=True)
        )
        if differing:
            self.notes.append(
                f"{run}: {differing} captions have the words of an earlier one and other scores: the scorer saw more than these "
                "texts (or rounds), and its figures may pass the ceilings, which are of a scorer that sees the texts alone"
            )


def _name(scores: Any) -> dict[str, Any]:
    if isinstance(scores, Mapping):
        named: dict[str, Any] = {str(name): each for name, each in scores.items()}
    else:
        listed: list[Any] = list(scores) if _are_several(scores) else [scores]
        otherwise = [f"scores {number}" if len(listed) > 1 else "scores" for number in range(1, len(listed) + 1)]
        things = [("", each) for each in listed]
        named = named_places(things, otherwise, what="matrices of scores", example="dual=a/scores.npy")
    if not named:
        raise BadUsage("no scores are given; name at least one matrix.")
    return named


def _are_several(scores: Any) -> bool:
    """Whether a list holds whole matrices, or places of them, and not the rows of one."""
    if not isinstance(scores, (list, tuple)) or not scores:
        return False
    first: Any = list[Any](scores)[0]
    if isinstance(first, (str, Path, Scores)) or getattr(first, "ndim", 0) == 2:
        return True
    return isinstance(first, (list, tuple)) and bool(first) and isinstance(first[0], (list, tuple, np.ndarray))


def _ids(place: Any) -> Any:
    """Names in a list, or those in a file."""
    return read_column(place) if isinstance(place, (str, Path)) else place


def _place(thing: Any) -> Place:
    if not isinstance(thing, (str, Path)):
        return Place("", None)
    path, part = split_part(thing)
    return Place("", Path(path), part)


def _sources(places: Mapping[str, Any]) -> dict[str, Source]:
    paths = {name: split_part(place)[0] for name, place in places.items() if isinstance(place, (str, Path))}
    return {name: Source(path) for name, path in paths.items() if Path(path).is_file()}


def _positives(place: Any, sides: Sides) -> Positives:
    kind, colon, rest = place.partition(":") if isinstance(place, str) and not Path(place).exists() else ("", "", "")
    if not colon or kind not in ("counts", "groups"):
        return read_positives(place, sides)
    if kind == "counts":
        return read_positives(int(rest) if rest.isdecimal() else _counts(rest), sides)
    queries, comma, items = rest.partition(",")
    return read_positives(Groups(read_column(queries), read_column(items) if comma else sides.items), sides)


def _counts(place: str) -> list[int]:
    numbers = read_numbers(*split_part(place)[:1], column=split_part(place)[1])
    wrong = np.flatnonzero((numbers < 0) | (numbers != np.floor(numbers)))
    if wrong.size:
        raise BadInput(f"{place}: row {int(wrong[0])} (from 0) is {numbers[wrong[0]]}; expected an integer, captions of a video.")
    return numbers.astype(np.int64).tolist()


def _texts(place: Any, names: Sequence[str]) -> list[str]:
    """The text of each caption, in the order of the rows."""
    if not isinstance(place, (str, Path, Mapping)):
        listed = list(map(str, place))
        if len(listed) != len(names):
            raise BadInput(f"{len(listed)} texts for {len(names)} rows (captions); every row has one.")
        return listed
    found = io.read_texts(place).texts
    if isinstance(names, Positions) and not all(name in found for name in names):
        return _texts(list(found.values()), names)
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        raise BadInput(f"{place if isinstance(place, (str, Path)) else 'texts'}: no text for the caption {missing!r}.")
    return [found[name] for name in names]


def _first_alike(texts: Sequence[str], rows: Ints | None) -> Ints:
    chosen = texts if rows is None else [texts[row] for row in map(int, rows)]
    known: dict[str, int] = {}
    return np.array([known.setdefault(" ".join(text.split()), row) for row, text in enumerate(chosen)], dtype=np.int64)
