"""The inputs: scores or embeddings of each run, the right items, masks, transforms, and the texts
of captions; the directions in which they are searched; and hgr_v2t's `eval_q2m`.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.matrix_counts import ComparedScores, names_of, refuse_non_finite_scores
from rankwell._native.products import Groups
from rankwell._native.similarity import Metric
from rankwell.conventions import LabelledMeasure
from rankwell.data.findings import Finding
from rankwell.data.matrices import (
    MAGIC,
    Embeddings,
    Matrix,
    Positions,
    Positives,
    Scores,
    members,
    named_places,
    read_only_npy,
)
from rankwell.data.options import (
    Array,
    Lists,
    NamedProgress,
    PartOptions,
    PartOutcome,
    Vectors,
    own_arithmetic,
)
from rankwell.data.tables import Ints, refuse_masked, tie_order
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadScore, BadUsage, flag, shown
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.io import formats
from rankwell.io.matrices import like_ranks, read_embeddings, read_scores
from rankwell.io.positives import Sides, read_positives
from rankwell.io.records import read_numbers
from rankwell.measures.first_rank import reads_best_only
from rankwell.runtime.parts.compared import Question, compare_in_parts
from rankwell.runtime.parts.tables import planned_embeddings
from rankwell.store import Head, Source, exists, naming, sources_of, split_part
from rankwell.tasks.crossmodal.conventions import CaptionTies
from rankwell.tasks.crossmodal.findings import identical_inputs
from rankwell.tasks.crossmodal.options import CrossmodalChoices
from rankwell.vectors.neighbours.positive_counts import Compared, by_vectors
from rankwell.vectors.transforms import Transform, parse_transform


class Direction(NamedTuple):
    """A direction of retrieval with its rules.

    name: `t2v`, `v2t` (the best caption among all captions) or `v2t-videos` (captions collapsed,
        among videos).
    ties: the tie rule in this direction.
    measures: the measures that are reported for it.
    hits_after_last: as in `CaptionConvention`.
    findings: findings on the names of its measures.
    """

    name: str
    ties: CaptionTies
    measures: tuple[LabelledMeasure, ...]
    hits_after_last: bool
    findings: tuple[Finding, ...]

    @property
    def video_to_text(self) -> bool:
        """Whether videos are the queries."""
        return self.name != "t2v"

    @property
    def collapsed(self) -> bool:
        """Whether the captions of each video are collapsed to the one of the highest score. Source:
        Luo and others 2021, CLIP4Clip, multi-sentence.
        """
        return self.name == "v2t-videos"

    def question(
        self,
        names: tuple[Sequence[str], Sequence[str]],
        positives: Positives,
        *,
        details: bool,
        sized: bool = False,
    ) -> Question:
        """The question about captions and videos with these names. details: the first items, and
        every positive, whatever measures read. sized: for a forecast, without the order of items.
        """
        items = names[0] if self.video_to_text and not self.collapsed else names[1]
        n_items = len(np.unique(positives.items)) if self.collapsed else len(items)
        return Question(
            transposed=self.video_to_text,
            grouped=self.collapsed,
            order=tie_order(self.ties, () if sized else items),
            best=not details
            and all(reads_best_only(labelled.measure) for labelled in self.measures),
            depth=min(DETAIL_DEPTH, n_items) if details else 0,
        )


class Copies(NamedTuple):
    """Captions and videos of a run that are the same.

    captions: (captions,) for each caption the first one that is the same; None where all differ, or
        where that is unknown.
    videos: (videos,) for each video the first one that is the same; None where all differ, or where
        that is unknown.
    """

    captions: Ints | None
    videos: Ints | None


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
        options: CrossmodalChoices,
        directions: Sequence[Direction],
        *,
        in_parts: bool = False,
    ) -> None:
        queries, gallery = options.query_vectors, options.item_vectors
        query_ids, item_ids = (
            formats.read_column(ids) if isinstance(ids, (str, Path)) else ids
            for ids in (options.query_ids, options.item_ids)
        )
        if (scores is None) == (queries is None and gallery is None) or (queries is None) != (
            gallery is None
        ):
            raise BadUsage(
                "give scores, or the embeddings of queries and of the gallery "
                f"({flag('--query-vectors')} with {flag('--item-vectors')})."
            )
        if in_parts and scores is not None:
            raise BadUsage(
                f"parts compare embeddings ({flag('--query-vectors')} with "
                f"{flag('--item-vectors')}); scores are counted in one piece: no "
                f"{flag('--executor')}."
            )
        self.rules: dict[str, Any] = {}
        self.findings: list[Finding] = []
        metric: Metric = options.metric or "cosine"
        matrices: dict[str, Scores] = {}
        tables: list[Any] = []
        if scores is None:
            self.rules["metric"] = metric
            # Parts look at every number themselves, except where some rows are left out.
            read = planned_embeddings if in_parts else read_embeddings
            tables = [
                (read if options.mask is None else read_embeddings)(queries, ids=query_ids),
                read(gallery, ids=item_ids),
            ]
            names = tables[0].names(), tables[1].names()
            sources = {"query_vectors": queries, "item_vectors": gallery}
        elif options.metric is not None:
            raise BadUsage(
                f"the metric {options.metric} compares embeddings, and scores are given; "
                "leave it out."
            )
        else:
            sources = _named(scores)
            for name, path in sources.items():
                matrices[name] = read_scores(path, query_ids=query_ids, item_ids=item_ids)
                self.findings += like_ranks(name, matrices[name])
            names = _common_names(matrices)
        self.sources = sources_of(
            sources,
            {
                "qrels": positives,
                "mask": options.mask,
                "bank": options.bank,
                "queries": options.queries,
                "query_ids": options.query_ids,
                "item_ids": options.item_ids,
            },
        )
        self.names, self.rows = names, None
        self.positives = _positives(positives, Sides(*names))
        if options.mask is not None:
            self.rows = read_mask(options.mask, len(names[0]))
            self.positives = self.positives.only(self.rows)
        self.runs: dict[str, Compared] = {
            name: ComparedScores(table, self.rows) for name, table in matrices.items()
        }
        if scores is None:
            (run,) = named_places([("", queries)], ["embeddings"])
            self.runs[run] = by_vectors(tables[0], tables[1], metric, self.rows)
        self._texts = None if options.queries is None else _texts(options.queries, self.names[0])
        self.said = dict(zip(self.names[0], self._texts or (), strict=False))
        self.rules["qrels"] = positives if isinstance(positives, str) else type(positives).__name__
        self._transform: Transform | None = None
        self._bank: Matrix | None = None
        if options.transform is not None:
            self._transform = parse_transform(options.transform)
            if scores is None:
                raise BadUsage(
                    f"{options.transform} changes a matrix of scores, and embeddings are compared "
                    "without one; give the scores."
                )
            rules = self._transform.describe()
            self.rules |= {name: rules[name] for name in ("transform", "transductive")}
        if options.bank is not None:
            if self._transform is None:
                raise BadUsage(
                    "a bank requires a transform that uses one; name it, as in "
                    f"{flag('--transform', 'querybank')}."
                )
            if len({direction.video_to_text for direction in directions}) > 1:
                raise BadUsage(
                    "a bank holds queries of one direction; name it with "
                    f"{flag('--direction', 't2v')} or v2t."
                )
            self._bank = read_scores(options.bank).matrix
        self._copies: dict[str, Copies] = {}
        self._places = {"queries": queries, "gallery": gallery}

    def refuse_non_finite(self, run: str) -> None:
        """Raises BadScore naming file (or run, where there are several) and place of the first
        score that is NaN or infinite.
        """
        bank = None if self._bank is None else ComparedScores(Scores(self._bank))
        for name, otherwise, table in (
            (run, run if len(self.runs) > 1 else "", self.runs[run]),
            ("bank", "bank", bank),
        ):
            place = self.sources[name].name if name in self.sources else otherwise
            try:
                if isinstance(table, ComparedScores):
                    refuse_non_finite_scores(table.scores, table.rows)
            except BadScore as error:
                raise BadScore(f"{place}: {error}" if place else str(error)) from error

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
            start, stop = number * size, (number + 1) * size
            caption_rows = np.flatnonzero(fold == number)
            if not caption_rows.size:
                raise BadInput(
                    f"fold {number + 1} of {n}, videos {start} to {stop - 1}, has no caption."
                )
            part, fold_positives = copy(self), positives.only(caption_rows)
            part.rows = rows[caption_rows]
            part.positives = Positives(fold_positives.offsets, fold_positives.items - start, size)
            part.findings = []
            names = names_of(videos, np.arange(start, stop))
            part.names = self.names[0], names
            part._copies, part.runs = {}, {}
            for run, table in self.runs.items():
                if isinstance(table, ComparedScores):
                    matrix = table.scores.matrix[:, start:stop]
                    part_scores = Scores(matrix, table.scores.query_ids, names)
                    part.runs[run] = ComparedScores(part_scores, part.rows)
                else:
                    part_videos = Embeddings(names, table.items.vectors[start:stop])
                    part.runs[run] = by_vectors(
                        table.queries, part_videos, table.metric, caption_rows
                    )
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
        directions: Sequence[Direction],
        parts: PartOptions,
        *,
        details: bool,
        progress: NamedProgress | None,
    ) -> PartOutcome:
        """Answers the questions of all directions in parts; `compared` then has the answers."""
        ((run, compared),) = self.runs.items()
        if isinstance(compared, ComparedScores):
            raise TypeError("scores are not counted in parts")
        # A table without masked rows is another one, and has no file.
        outcome = compare_in_parts(
            compared,
            self._places if self.rows is None else self._places | {"queries": None},
            self.positives,
            {
                direction.name: direction.question(
                    compared.names, self.positives, details=details, sized=parts.dry_run
                )
                for direction in directions
            },
            prints=(self._texts is None, True),
            parts=parts,
            command="rankwell crossmodal",
            progress=progress,
        )
        if outcome.result is not None:
            self.runs[run] = outcome.result
        return outcome

    def compared(self, run: str, direction: Direction) -> Compared:
        """The scores of a run, transformed where that is requested, for one direction."""
        table = self.runs[run]
        if self._transform is None or not isinstance(table, ComparedScores):
            return table
        matrix, (captions, _) = table.scores.matrix, table.names
        matrix = matrix if table.rows is None else matrix[table.rows]
        changed = self._transform(
            matrix.T if direction.video_to_text else matrix, self._bank
        ).whole()
        changed = changed.T if direction.video_to_text else changed
        return ComparedScores(Scores(changed, captions, table.scores.item_ids))

    def copies(self, run: str) -> Copies:
        """Captions and videos of a run that are the same: by what captions say, else by their
        scores or vectors.
        """
        if run in self._copies:
            return self._copies[run]
        plain, firsts = self.runs[run], list[Ints | None]()
        if self._texts is None:
            captions, by_text = plain.copies(transposed=False), ""
        else:
            captions = _first_alike(names_of(self._texts, self.rows))
            by_text = " of the texts alone"
        for kind, first, scorer in (
            ("captions", captions, f"no scorer{by_text}"),
            ("videos", plain.copies(transposed=True), "no scorer"),
        ):
            number = 0 if first is None else int((np.bincount(first)[first] > 1).sum())
            firsts.append(first if number else None)
            if first is not None and number:
                problem = (
                    f"{number} of {len(first)} {kind} are the same as another, so that {scorer} "
                    "can distinguish them"
                )
                self.findings.append(identical_inputs(run, problem))
        if self._texts is not None and firsts[0] is not None:
            # More than the words was seen, and ceilings do not hold.
            repeated = np.flatnonzero(firsts[0] != np.arange(len(firsts[0])))
            pairs = zip(repeated.tolist(), firsts[0][repeated].tolist(), strict=True)
            differing = sum(not plain.same(row, earlier) for row, earlier in pairs)
            if differing:
                problem = (
                    f"{differing} captions have the words of an earlier one and other scores: the "
                    "scorer saw more than these texts (or rounds), and its figures may pass the "
                    "ceilings, which are of a scorer that sees the texts alone"
                )
                self.findings.append(identical_inputs(run, problem))
        return self._copies.setdefault(run, Copies(*firsts))


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


def _positives(positives: Any, sides: Sides) -> Positives:
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
        Groups(formats.read_column(queries), formats.read_column(items) if comma else sides.items),
        sides,
    )


def _counts(path_and_column: str) -> list[int]:
    path, column = split_part(path_and_column)
    numbers = read_numbers(path, column=column)
    wrong = np.flatnonzero((numbers < 0) | (numbers > 2**53) | (numbers != np.floor(numbers)))
    if wrong.size:
        raise BadInput(
            f"{path_and_column}: row {int(wrong[0])} (from 0) is {numbers[wrong[0]]}; expected an "
            "integer, the number of captions of a video."
        )
    return numbers.astype(np.int64).tolist()


def _texts(texts: Any, names: Sequence[str]) -> list[str]:
    """The text of each caption, in the order of the rows."""
    is_file = isinstance(texts, (str, Path, Mapping)) or hasattr(texts, "columns")
    if is_file or (isinstance(texts, list) and isinstance(next(iter(texts), None), Mapping)):
        text_of = formats.read_texts(texts).texts
        missing = next((name for name in names if name not in text_of), None)
        if missing is None:
            return [text_of[name] for name in names]
        if not isinstance(names, Positions):
            place = texts if isinstance(texts, (str, Path)) else "texts"
            raise BadInput(f"{place}: no text for the caption {missing!r}.")
        texts = list(text_of.values())
    text_list = list(map(str, members(texts, "texts")))
    if len(text_list) != len(names):
        raise BadInput(
            f"{len(text_list)} texts for {len(names)} rows (captions); every row has one."
        )
    return text_list


def _first_alike(texts: Sequence[str]) -> Ints:
    first_rows: dict[str, int] = {}
    rows = [first_rows.setdefault(" ".join(text.split()), row) for row, text in enumerate(texts)]
    return np.array(rows, dtype=np.int64)


def read_mask(place: Any, n: int) -> Ints:
    """The rows that are there, of n: those where a mask is not 0.

    place: an `.npy` file, a JSON list or an array, (n,) or (items, queries per item) read row by
    row. Raises BadInput for another number of entries, for what is neither 0 nor 1, and where
    nothing is left.
    """
    name = f"{place}: " if isinstance(place, (str, Path)) else ""
    refuse_masked(place, "the mask of rows")
    try:
        mask = np.asarray(_mask(Source(place)) if isinstance(place, (str, Path)) else place).ravel()
    except ValueError as error:
        raise BadInput(
            f"{name}the mask is ragged; expected one entry, 0 or 1, for each of {n} rows "
            "(captions)."
        ) from error
    if len(mask) != n:
        raise BadInput(
            f"{name}the mask has {len(mask)} entries, the scores have {n} rows; every row "
            "(caption) has one."
        )
    if not np.isin(mask, (0, 1)).all():
        row = int(np.flatnonzero(~np.isin(mask, (0, 1)))[0])
        problem = f"{name}entry {row} of the mask is {shown(mask[row].item())}"
        raise BadInput(f"{problem}; a mask holds 1 for a caption that is there, 0 for none.")
    if not mask.any():
        raise BadInput(f"{name}the mask leaves no row; it holds 1 for a caption that is there.")
    return np.flatnonzero(mask)


def _mask(source: Source) -> Any:
    with naming(source.name):
        if source.head(6) == MAGIC:
            with source.open() as stream:
                return read_only_npy(stream)
        Head.of(source).refuse_foreign()
        entries = read_json(source, "an .npy array or a JSON list of 0 and 1")
        try:
            return np.array(entries, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise BadInput(
                f"{str(error).splitlines()[0]}; a mask is an .npy array or a JSON list of 0 and 1."
            ) from error


@own_arithmetic
def eval_q2m(scores: Vectors, q2m_gts: Lists | Array) -> tuple[float, float, float, float, float]:
    """Computes R@1, R@5, R@10, median and mean rank, as the function of this name in hgr_v2t does.

    Recall is in percent; ranks are those of each query's best positive, from 1. A query without
    positives has the rank n + 1 of n items. Among equal scores, the lower position comes first; the
    source's unstable sort leaves that open.
    Returns R@1, R@5, R@10, the median rank and the mean rank.
    Raises BadInput and BadScore where the source would crash or miscount.
    Source: Chen and others 2020, hgr_v2t, t2vretrieval/models/evaluation.py.

    Parameters
    ----------
    scores
        Scores (queries, memory): a NumPy array, a tensor of any device, or lists.
    q2m_gts
        The positives of each query, by position: lists, arrays, or a mapping from the query's
        position. A single position may stand for its list.

    >>> import rankwell as rw
    >>> rw.eval_q2m([[0.9, 0.1], [0.8, 0.3]], [[0], [1]])
    (50.0, 100.0, 100.0, 1.5, 1.5)
    """
    table = read_scores(scores)
    positives = read_positives(_lists(q2m_gts), Sides(table.query_names, table.item_names))
    counts = ComparedScores(table).count(positives, transposed=False, best=True)
    ranks = np.full(positives.n_queries, table.matrix.shape[1] + 1, dtype=np.int64)
    np.minimum.at(ranks, positives.owner[counts.positions], counts.above + counts.before + 1)
    r1, r5, r10 = (100.0 * int(np.count_nonzero(ranks <= k)) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, float(np.median(ranks)), float(ranks.mean())


def _lists(q2m_gts: Any) -> Any:
    """The positives of each query, none twice: a list may name one twice, which changes no rank."""
    if isinstance(q2m_gts, Mapping):
        mapping: Mapping[Any, Any] = q2m_gts
        return {query: _once(positives) for query, positives in mapping.items()}
    return [
        _once(positives)
        for positives in (q2m_gts.tolist() if hasattr(q2m_gts, "tolist") else q2m_gts)
    ]


def _once(positives: Any) -> list[Any]:
    values: Any = positives.tolist() if hasattr(positives, "tolist") else positives
    return (
        list(dict.fromkeys(values))
        if isinstance(values, Iterable) and not isinstance(values, str)
        else [values]
    )
