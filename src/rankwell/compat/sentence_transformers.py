"""An evaluator for sentence-transformers' trainer: the numbers of its EmbeddingSimilarityEvaluator, with p-values and MAE beside.

`EmbeddingSimilarityEvaluator` is made on first use, as a subclass of the library's own evaluator where the library
is installed: its trainer takes nothing else for a single evaluator. `PairEvaluator` is the same for any model with `encode`.
"""

import csv
import io
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwell.core.kernels.similarity import SIMILARITIES, Similarity, pair_similarities, similarity_name
from rankwell.core.tables import Floats
from rankwell.core.tables.pairs import Pairs, ScoredPairs
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import read_embeddings
from rankwell.stats.correlation import pearson, spearman
from rankwell.store import write_text

_log = logging.getLogger(__name__)


class Encoder(Protocol):
    """A model that turns texts into vectors."""

    def encode(self, sentences: list[str], *, batch_size: int, show_progress_bar: bool, convert_to_numpy: bool) -> Any:
        """(texts, dimensions) the vectors."""
        ...


class PairEvaluator:
    """Correlations between a model's similarities of sentence pairs and their scores, under each similarity.

    sentences1, sentences2, scores: one of each per pair. name: the prefix of every figure's name. similarities: of `cosine`,
    `dot`, `euclidean` and `manhattan` (negative distances); the model's own, else cosine, where none are named.
    main_similarity: whose Spearman correlation is the primary metric; else the only one's, else the largest.
    batch_size, show_progress_bar: handed to the model. write_csv: whether to add a line to the CSV when a folder is given.
    Raises BadUsage for arguments that exclude each other, BadInput for unequal lengths, BadScore for a score that is not finite.
    """

    greater_is_better = True
    description = "Semantic Similarity"

    def __init__(
        self,
        sentences1: Sequence[str],
        sentences2: Sequence[str],
        scores: Sequence[float],
        name: str = "",
        *,
        similarities: Sequence[str] = (),
        main_similarity: str | None = None,
        batch_size: int = 16,
        show_progress_bar: bool = False,
        write_csv: bool = True,
    ) -> None:
        super().__init__()
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadUsage(f"name={name!r}; the fourth argument is the name, what follows goes by keyword: batch_size={name!r}.")
        self.sentences1, self.sentences2 = list(sentences1), list(sentences2)
        self.scores = np.asarray(scores, dtype=np.float64)
        if not len(self.sentences1) == len(self.sentences2) == len(self.scores):
            what = f"{len(self.sentences1)} first sentences, {len(self.sentences2)} second ones, {len(self.scores)} scores"
            raise BadInput(f"{what}; a pair has one of each.")
        if not len(self.scores):
            raise BadInput("no pairs; an evaluator needs at least one.")
        ScoredPairs((), self.scores, self.scores)
        self.name, self.batch_size, self.show_progress_bar, self.write_csv = name, batch_size, show_progress_bar, write_csv
        self.main_similarity = None if main_similarity is None else similarity_name(_plain(main_similarity))
        named: list[Similarity] = [similarity_name(_plain(each)) for each in similarities]
        self.similarities = named or ([] if self.main_similarity is None else [self.main_similarity])
        if self.main_similarity and self.main_similarity not in self.similarities:
            raise BadUsage(f"the main similarity {self.main_similarity!r} is not among {', '.join(self.similarities)}; add it.")
        self.primary_metric: str | None = self._primary(self.similarities) if self.similarities else None

    def __call__(
        self, model: Encoder, output_path: str | Path | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """The figures by name: `pearson_*`, `spearman_*`, `spearman_p_*`, `mae_*` of each similarity; of several also `*_max`.

        A figure that does not exist, since all scores or similarities are equal or a vector is not finite, is NaN, with a
        warning in the log: a training run goes on. output_path: a folder, made if need be, whose
        `similarity_evaluation_NAME_results.csv` gets one more line; a file of other columns is left alone, and `-2` is written.
        """
        similarities = self.similarities or [_own_similarity(model)]
        how: Any = {"batch_size": self.batch_size, "show_progress_bar": self.show_progress_bar, "convert_to_numpy": True}
        sides = [model.encode(texts, **how) for texts in (self.sentences1, self.sentences2)]
        found: dict[str, float] = {}
        for similarity in similarities:
            found |= self._correlations(sides, similarity)
        if output_path is not None and self.write_csv:
            self._add_line(Path(output_path), similarities, {"epoch": epoch, "steps": steps, **found})
        if len(similarities) > 1:
            for figure in ("pearson", "spearman"):
                known = [found[f"{figure}_{similarity}"] for similarity in similarities]
                found[f"{figure}_max"] = max((value for value in known if not np.isnan(value)), default=np.nan)
        self.primary_metric = self._primary(similarities)
        named = {self._named(figure): value for figure, value in found.items()}
        card: Any = getattr(model, "model_card_data", None)
        if hasattr(card, "set_evaluation_metrics"):
            card.set_evaluation_metrics(self, named, epoch, steps)
        return named

    def get_config_dict(self) -> dict[str, Any]:
        """The evaluator's settings for the model card: none."""
        return {}

    def _named(self, figure: str) -> str:
        return f"{self.name}_{figure}" if self.name else figure

    def _primary(self, similarities: Sequence[str]) -> str:
        best = similarities[0] if len(similarities) == 1 else "max"
        return self._named(f"spearman_{self.main_similarity or best}")

    def _correlations(self, sides: Sequence[Any], similarity: Similarity) -> dict[str, float]:
        names = [f"{figure}_{similarity}" for figure in ("pearson", "spearman", "spearman_p", "mae")]
        try:
            one, two = (read_embeddings(side, check=False) for side in sides)
            scored: Floats = pair_similarities(one, two, Pairs.aligned(len(self.scores)), similarity)
        except BadInput as error:
            _log.warning("%s: %s", self._named(f"spearman_{similarity}"), error)
            return dict.fromkeys(names, np.nan)
        moment, ranks = pearson(self.scores, scored), spearman(self.scores, scored)
        if moment is None or ranks is None:
            _log.warning("%s: too few pairs, or all scores or similarities are equal", self._named(f"spearman_{similarity}"))
        values = (moment.value, ranks.value, ranks.p) if moment and ranks else (np.nan, np.nan, np.nan)
        return dict(zip(names, (*values, float(np.abs(scored - self.scores).mean())), strict=True))

    def _add_line(self, folder: Path, similarities: Sequence[Similarity], found: dict[str, float]) -> None:
        """Adds a line in the columns of the library's own evaluator: there `cosine_pearson` is what else is `pearson_cosine`."""
        columns = [(similarity, figure) for similarity in similarities for figure in ("pearson", "spearman")]
        header = ["epoch", "steps", *(f"{similarity}_{figure}" for similarity, figure in columns)]
        line = [found["epoch"], found["steps"], *(found[f"{figure}_{similarity}"] for similarity, figure in columns)]
        path = _file_with(folder, f"similarity_evaluation{'_' + self.name if self.name else ''}_results", header)
        text = io.StringIO()
        if path.exists():
            before = path.read_bytes().decode()
            text.write(before if before.endswith("\n") else before + "\r\n")
        else:
            csv.writer(text).writerow(header)
        csv.writer(text).writerow(line)
        write_text(path, text.getvalue())


def _file_with(folder: Path, stem: str, header: list[str]) -> Path:
    """The first of `stem.csv`, `stem-2.csv`, … that does not exist yet or has these columns."""
    number = 1
    while True:
        path = folder / (f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv")
        if not path.exists():
            return path
        with path.open(encoding="utf-8", newline="") as stream:
            if next(csv.reader(stream), None) == header:
                return path
        _log.warning("%s has other columns and is left as it is", path)
        number += 1


def _plain(similarity: Any) -> str:
    """The similarity's name, also where it is a member of the library's enumeration."""
    return str(getattr(similarity, "value", similarity))


def _own_similarity(model: Any) -> Similarity:
    own = _plain(getattr(model, "similarity_fn_name", None) or "cosine")
    return similarity_name(own) if own in SIMILARITIES else "cosine"


if TYPE_CHECKING:

    class EmbeddingSimilarityEvaluator(PairEvaluator):
        """`PairEvaluator` as an evaluator that sentence-transformers' trainer accepts."""


def __getattr__(name: str) -> Any:
    if name != "EmbeddingSimilarityEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = type(name, (PairEvaluator, *_library_base()), {"__module__": __name__, "__doc__": PairEvaluator.__doc__})
    globals()[name] = made
    return made


def _library_base() -> tuple[type, ...]:
    """The library's evaluator class, under its name since version 6 or before; nothing where the library is not installed."""
    try:
        from sentence_transformers.base.evaluation import BaseEvaluator as Base
    except ImportError:
        try:
            from sentence_transformers.evaluation import SentenceEvaluator as Base  # pyright: ignore[reportMissingImports]
        except ImportError:
            return ()
    return (Base,)
