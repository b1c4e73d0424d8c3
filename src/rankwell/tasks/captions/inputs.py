"""The inputs: scores or embeddings of each run, the right items, masks, transforms, and the texts
of captions.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankwell._native.matrix_counts import ComparedScores, refuse_non_finite_scores
from rankwell._native.products import Groups
from rankwell._native.similarity import Metric
from rankwell.data.matrices import Embeddings, Matrix, Positions, Positives, Scores, named_places
from rankwell.data.tables import Ints
from rankwell.errors import BadInput, BadScore, BadUsage, flag
from rankwell.io import formats as io
from rankwell.io.matrices import note_on_ranks, read_embeddings, read_scores
from rankwell.io.positives import Sides, read_mask, read_positives
from rankwell.io.records import read_numbers
from rankwell.runtime.parts.compared import Question, compare_in_parts
from rankwell.runtime.parts.options import PartOptions, PartOutcome
from rankwell.runtime.parts.tables import planned_embeddings
from rankwell.store import exists, sources_of, split_part
from rankwell.tasks.captions.options import CaptionOptions
from rankwell.tasks.captions.runs import Copies, Direction
from rankwell.vectors.neighbours.positive_counts import Compared, ComparedVectors, by_vectors
from rankwell.vectors.transforms import Transform, parse_transform


class CaptionInputs:
    """The inputs of all runs, each scores or two tables of embeddings. Raises BadUsage, and
    BadInput for what does not fit.

    names: of all captions and of the videos. rows: the captions that take part, None for all. said:
    caption -> its text.
    """

    def __init__(
        self,
        scores: Any,
        positives: Any,
        options: CaptionOptions,
        directions: Sequence[Direction],
        *,
        in_parts: bool = False,
    ) -> None:
        queries = options.queries
        gallery = options.gallery
        query_ids = _ids(options.query_ids)
        item_ids = _ids(options.item_ids)
        if (scores is None) == (queries is None and gallery is None) or (queries is None) != (
            gallery is None
        ):
            raise BadUsage(
                "give scores, or the embeddings of queries and of the gallery "
                f"({flag('--queries')} with {flag('--gallery')})."
            )
        if in_parts and scores is not None:
            raise BadUsage(
                f"parts compare embeddings ({flag('--queries')} with {flag('--gallery')}); scores "
                f"are counted in one piece: no {flag('--executor')}."
            )
        self.rules: dict[str, Any] = {}
        self.notes: list[str] = []
        self.metric: Metric = "cosine"
        self.runs: Mapping[str, Scores | tuple[Embeddings, Embeddings]]
        if scores is None:
            self.rules["metric"] = self.metric = options.metric or "cosine"
            # Parts look at every number themselves, except where some rows are left out.
            read = planned_embeddings if in_parts else read_embeddings
            tables = (
                (read if options.mask is None else read_embeddings)(queries, ids=query_ids),
                read(gallery, ids=item_ids),
            )
            self.runs = dict.fromkeys(named_places([("", queries)], ["embeddings"]), tables)
            self.names = tables[0].names(), tables[1].names()
            sources = {"queries": queries, "gallery": gallery}
        elif options.metric is not None:
            raise BadUsage(
                f"the metric {options.metric} compares embeddings, and scores are given; "
                "leave it out."
            )
        else:
            sources = _named(scores)
            matrices = {
                name: read_scores(path, query_ids=query_ids, item_ids=item_ids)
                for name, path in sources.items()
            }
            self.runs, self.names = matrices, _common_names(matrices)
            self.notes += [
                note for name, table in matrices.items() for note in note_on_ranks(name, table)
            ]
        self.sources = sources_of(
            sources,
            {
                "positives": positives,
                "mask": options.mask,
                "bank": options.bank,
                "texts": options.texts,
            },
        )
        self.positives, self.rows = _positives(positives, Sides(*self.names)), None
        if options.mask is not None:
            self.rows = read_mask(options.mask, len(self.names[0]))
            self.positives = self.positives.only(self.rows)
        self._texts = None if options.texts is None else _texts(options.texts, self.names[0])
        self.said = (
            {} if self._texts is None else dict(zip(self.names[0], self._texts, strict=True))
        )
        self.rules["positives"] = (
            positives if isinstance(positives, str) else type(positives).__name__
        )
        self._transform, self._bank = None, None
        if options.transform is not None:
            self._transform, self._bank = self._read_transform(
                options.transform, options.bank, directions
            )
        elif options.bank is not None:
            raise BadUsage(
                "a bank requires a transform that uses one; name it, as in "
                f"{flag('--transform', 'querybank')}."
            )
        self._copies: dict[str, Copies] = {}
        self._places = (queries, gallery)
        self._counted = dict[str, ComparedVectors]()

    def _read_transform(
        self, text: str, bank: Any, directions: Sequence[Direction]
    ) -> tuple[Transform, Matrix | None]:
        transform = parse_transform(text)
        if not all(
            isinstance(scores_or_vectors, Scores) for scores_or_vectors in self.runs.values()
        ):
            raise BadUsage(
                f"{text} changes a matrix of scores, and embeddings are compared without one; "
                "give the scores."
            )
        if bank is not None and len({direction.video_to_text for direction in directions}) > 1:
            raise BadUsage(
                "a bank holds queries of one direction; name it with "
                f"{flag('--direction', 't2v')} or v2t."
            )
        rules = transform.describe()
        self.rules |= {name: rules[name] for name in ("transform", "transductive")}
        return transform, None if bank is None else read_scores(bank).matrix

    def refuse_non_finite(self, run: str) -> None:
        """Raises BadScore naming file (or run, where there are several) and place of the first
        score that is NaN or infinite.
        """
        table_of_run, run_name = self.runs[run], run if len(self.runs) > 1 else ""
        tables = [
            (self.sources[run].name if run in self.sources else run_name, table_of_run, self.rows)
        ]
        if self._bank is not None:
            tables.append(
                (
                    self.sources["bank"].name if "bank" in self.sources else "bank",
                    Scores(self._bank),
                    None,
                )
            )
        for name, table, rows in tables:
            try:
                if isinstance(table, Scores):
                    refuse_non_finite_scores(table, rows)
            except BadScore as error:
                raise BadScore(f"{name}: {error}" if name else str(error)) from error

    def folds(self, n: int) -> list["CaptionInputs"]:
        """The inputs cut into n parts of as many consecutive videos, each with its own captions.

        Raises BadUsage for videos that cannot be divided so, and for a bank; BadInput for a caption
        without a video or of several folds, and for a fold without captions.
        """
        videos, positives = self.names[1], self.positives
        if n < 2 or len(videos) % n:
            raise BadUsage(
                f"{flag('--folds', n)}: {len(videos)} videos cannot be cut into so many equal "
                "parts, two or more."
            )
        if self._bank is not None:
            raise BadUsage(
                f"{flag('--bank')} has scores for the whole gallery, and {flag('--folds')} "
                "ranks parts of it; leave one out."
            )
        size = len(videos) // n
        rows = np.arange(positives.n_queries) if self.rows is None else self.rows
        of_pair, folds = positives.items // size, list[CaptionInputs]()
        if (bare := np.flatnonzero(positives.counts == 0)).size:
            name = self.names[0][int(rows[bare[0]])]
            raise BadInput(
                f"caption {name!r} has no positive, so that it is in no fold; name its video, "
                "or mask it."
            )
        fold, last = of_pair[positives.offsets[:-1]], of_pair[positives.offsets[1:] - 1]
        if (in_two_folds := np.flatnonzero(fold != last)).size:
            name = self.names[0][int(rows[in_two_folds[0]])]
            raise BadInput(
                f"caption {name!r} has positives in folds {fold[in_two_folds[0]] + 1} and "
                f"{last[in_two_folds[0]] + 1}; expected one fold."
            )
        for number in range(n):
            video_range = slice(number * size, (number + 1) * size)
            caption_rows = np.flatnonzero(fold == number)
            if not caption_rows.size:
                raise BadInput(
                    f"fold {number + 1} of {n}, videos {video_range.start} to "
                    f"{video_range.stop - 1}, has no caption."
                )
            part, fold_positives = copy(self), positives.only(caption_rows)
            part.rows = rows[caption_rows]
            part.positives = Positives(
                fold_positives.offsets, fold_positives.items - video_range.start, size
            )
            part.notes = []
            part.names = (
                self.names[0],
                Positions(range(video_range.start, video_range.stop))
                if isinstance(videos, Positions)
                else videos[video_range],
            )
            part.runs = {
                name: _part(table, part.names[1], video_range) for name, table in self.runs.items()
            }
            part._copies, part._counted = {}, {}
            folds.append(part)
        return folds

    def captions_of(self) -> dict[str, list[str]]:
        """video -> its captions that take part, in the order of the rows."""
        captions, videos = map(list, self.names)
        rows = range(len(captions)) if self.rows is None else self.rows.tolist()
        of_video = self.positives.transposed
        return {
            videos[video]: [captions[rows[row]] for row in of_video.items[start:stop].tolist()]
            for video, (start, stop) in enumerate(pairwise(of_video.offsets.tolist()))
        }

    def count_in_parts(
        self,
        questions: Mapping[str, Question],
        parts: PartOptions,
        progress: Callable[[str, int, int], None] | None,
    ) -> PartOutcome:
        """Answers the questions of all directions in parts; `compared` then has the answers."""
        ((run, tables),) = self.runs.items()
        compared = self._plain(run)
        if isinstance(tables, Scores) or isinstance(compared, ComparedScores):
            raise TypeError("scores are not counted in parts")
        # A table without masked rows is another one, and has no file.
        paths = {
            "queries": None if self.rows is not None else self._places[0],
            "gallery": self._places[1],
        }
        prints = (self._texts is None, True)
        command = "rankwell captions"
        outcome = compare_in_parts(
            compared,
            paths,
            self.positives,
            questions,
            prints=prints,
            parts=parts,
            command=command,
            progress=progress,
        )
        if outcome.result is not None:
            self._counted[run] = outcome.result
        return outcome

    def _plain(self, run: str) -> Compared:
        if run in self._counted:
            return self._counted[run]
        tables = self.runs[run]
        return (
            ComparedScores(tables, self.rows)
            if isinstance(tables, Scores)
            else by_vectors(*tables, self.metric, self.rows)
        )

    def compared(self, run: str, direction: Direction) -> Compared:
        """The scores of a run, transformed where that is requested, for one direction."""
        table, plain = self.runs[run], self._plain(run)
        if self._transform is None or not isinstance(table, Scores):
            return plain
        matrix = table.matrix if self.rows is None else table.matrix[self.rows]
        changed = self._transform(
            matrix.T if direction.video_to_text else matrix, self._bank
        ).whole()
        return ComparedScores(
            Scores(
                changed.T if direction.video_to_text else changed, plain.names[0], table.item_ids
            )
        )

    def copies(self, run: str) -> Copies:
        """Captions and videos of a run that are the same: by what captions say, else by their
        scores or vectors.
        """
        if run in self._copies:
            return self._copies[run]
        plain, first = self._plain(run), dict[str, Ints | None]()
        captions = (
            plain.copies(transposed=False)
            if self._texts is None
            else _first_alike(self._texts, self.rows)
        )
        for kind, first_copies in (
            ("captions", captions),
            ("videos", plain.copies(transposed=True)),
        ):
            number = (
                0
                if first_copies is None
                else int((np.bincount(first_copies)[first_copies] > 1).sum())
            )
            first[kind] = first_copies if number else None
            if first_copies is not None and number:
                scorer = (
                    "no scorer of the texts alone"
                    if kind == "captions" and self._texts is not None
                    else "no scorer"
                )
                self.notes.append(
                    f"{run}: {number} of {len(first_copies)} {kind} are the same as another, so "
                    f"that {scorer} can distinguish them"
                )
        if self._texts is not None and first["captions"] is not None:
            self._note_differing(run, plain, first["captions"])
        return self._copies.setdefault(run, Copies(first["captions"], first["videos"]))

    def _note_differing(self, run: str, plain: Compared, first: Ints) -> None:
        """Notes captions of equal words with scores of their own: more than the words was seen, and
        ceilings do not hold.
        """
        said_before = np.flatnonzero(first != np.arange(len(first)))
        pairs = zip(said_before.tolist(), first[said_before].tolist(), strict=True)
        differing = sum(not plain.same(row, earlier) for row, earlier in pairs)
        if differing:
            self.notes.append(
                f"{run}: {differing} captions have the words of an earlier one and other scores: "
                "the scorer saw more than these texts (or rounds), and its figures may pass the "
                "ceilings, which are of a scorer that sees the texts alone"
            )


def _part(
    table: Scores | tuple[Embeddings, Embeddings], names: Sequence[str], videos: slice
) -> Scores | tuple[Embeddings, Embeddings]:
    """The scores or embeddings of some consecutive videos."""
    if isinstance(table, Scores):
        return Scores(table.matrix[:, videos], table.query_ids, names)
    return table[0], Embeddings(names, table[1].vectors[videos])


def _common_names(runs: Mapping[str, Scores]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of rows and columns. Raises BadInput for runs that differ in them."""
    first, *other_runs = runs
    names = runs[first].query_names, runs[first].item_names
    sides = [list(names_of_side) for names_of_side in names]
    for run in other_runs:
        sides_of_run = [list(runs[run].query_names), list(runs[run].item_names)]
        if sides_of_run != sides:
            raise BadInput(
                f"{run} is of {len(sides_of_run[0])} × {len(sides_of_run[1])}, {first} of "
                f"{len(sides[0])} × {len(sides[1])} or of other ids; runs that are compared have "
                "the same rows and columns."
            )
    return names


def _named(scores: Any) -> dict[str, Any]:
    if isinstance(scores, Mapping):
        matrices: dict[str, Any] = {str(name): matrix for name, matrix in scores.items()}
    else:
        matrix_list: list[Any] = list(scores) if _are_several(scores) else [scores]
        otherwise = [
            f"scores {number}" if len(matrix_list) > 1 else "scores"
            for number in range(1, len(matrix_list) + 1)
        ]
        named_pairs = [("", matrix) for matrix in matrix_list]
        matrices = named_places(
            named_pairs, otherwise, what="matrices of scores", example="dual=a/scores.npy"
        )
    if not matrices:
        raise BadUsage("no scores are given; name at least one matrix.")
    return matrices


def _are_several(scores: Any) -> bool:
    """Whether a list holds whole matrices, or places of them, and not the rows of one."""
    if not isinstance(scores, (list, tuple)) or not scores:
        return False
    first: Any = list[Any](scores)[0]
    if isinstance(first, (str, Path, Scores)) or getattr(first, "ndim", 0) == 2:
        return True
    return (
        isinstance(first, (list, tuple))
        and bool(first)
        and isinstance(first[0], (list, tuple, np.ndarray))
    )


def _ids(names: Any) -> Any:
    """Names in a list, or those in a file."""
    return io.read_column(names) if isinstance(names, (str, Path)) else names


def _positives(positives: Any, sides: Sides) -> Positives:
    if isinstance(positives, str) and positives == "diagonal":
        return Positives.diagonal(*map(len, sides))
    kind, colon, argument = (
        positives.partition(":")
        if isinstance(positives, str) and not exists(positives)
        else ("", "", "")
    )
    if not colon or kind not in ("counts", "groups"):
        return read_positives(positives, sides)
    if kind == "counts":
        return read_positives(
            int(argument) if argument.isdecimal() and len(argument) <= 18 else _counts(argument),
            sides,
        )
    queries, comma, items = argument.partition(",")
    return read_positives(
        Groups(io.read_column(queries), io.read_column(items) if comma else sides.items), sides
    )


def _counts(path_and_column: str) -> list[int]:
    path, column = split_part(path_and_column)
    numbers = read_numbers(path, column=column)
    wrong = np.flatnonzero((numbers < 0) | (numbers > 2**53) | (numbers != np.floor(numbers)))
    if wrong.size:
        raise BadInput(
            f"{path_and_column}: row {int(wrong[0])} (from 0) is {numbers[wrong[0]]}; expected an "
            "integer, captions of a video."
        )
    return numbers.astype(np.int64).tolist()


def _texts(texts: Any, names: Sequence[str]) -> list[str]:
    """The text of each caption, in the order of the rows."""
    if not isinstance(texts, (str, Path, Mapping)):
        text_list = list(map(str, texts))
        if len(text_list) != len(names):
            raise BadInput(
                f"{len(text_list)} texts for {len(names)} rows (captions); every row has one."
            )
        return text_list
    text_of = io.read_texts(texts).texts
    missing = next((name for name in names if name not in text_of), None)
    if isinstance(names, Positions) and missing is not None:
        return _texts(list(text_of.values()), names)
    if missing is not None:
        raise BadInput(
            f"{texts if isinstance(texts, (str, Path)) else 'texts'}: no text for the caption "
            f"{missing!r}."
        )
    return [text_of[name] for name in names]


def _first_alike(texts: Sequence[str], rows: Ints | None) -> Ints:
    counted_texts = texts if rows is None else [texts[row] for row in map(int, rows)]
    first_rows: dict[str, int] = {}
    return np.array(
        [
            first_rows.setdefault(" ".join(text.split()), row)
            for row, text in enumerate(counted_texts)
        ],
        dtype=np.int64,
    )
