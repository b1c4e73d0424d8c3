"""Evaluators of sentence-transformers that read texts side by side: their similarities, classes,
triplets and translations.
"""

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwell._native.similarity import SIMILARITIES, similarity_name
from rankwell.compat.st_evaluator import (
    Evaluator,
    Figures,
    check_lengths,
    finite,
    library_similarity,
    plain_name,
)
from rankwell.errors import BadInput, BadScore, BadUsage
from rankwell.stats.classification import classify
from rankwell.stats.correlation import pearson, spearman

_log = logging.getLogger(__name__)


class SimilarityEvaluator(Evaluator):
    """Figures of pairs under each of several similarities, and the largest figure where there are
    several.

    similarity_fn_names: names of the similarities; none for the model's own.
    """

    similarity_fn_names: Any

    def _similarities(self, model: Any) -> list[str]:
        """The named similarities, or the model's own, else cosine."""
        of_model = plain_name(getattr(model, "similarity_fn_name", None))
        return self.similarity_fn_names or [of_model if of_model in SIMILARITIES else "cosine"]

    def _pairwise(self, name: str, first: Any, second: Any) -> Any:
        """The similarity of each pair of rows. Raises BadScore for one that is not finite."""
        return finite(library_similarity(name, pairwise=True)(first, second))

    def _check_names(self, main: Any = None) -> str | None:
        """Reads the names of the similarities, and returns that of the main one. Raises
        UnknownName, BadUsage.
        """
        names = [similarity_name(plain_name(name)) for name in self.similarity_fn_names or ()]
        main_name = similarity_name(plain_name(main)) if main else None
        if main_name and names and main_name not in names:
            raise BadUsage(
                f"the main similarity {main_name!r} is not among {', '.join(names)}; add it."
            )
        self.similarity_fn_names = names or ([main_name] if main_name else [])
        return main_name


@dataclass(eq=False, repr=False)
class EmbeddingSimilarityEvaluator(SimilarityEvaluator):
    """Correlations between a model's similarities of sentence pairs and their scores, under each
    similarity.

    sentences1, sentences2: the first and the second sentence of each pair.
    scores: a score for each pair, higher for more similar ones; `mae_*` needs the scale of the
        similarities.
    batch_size: number of sentences that the model encodes at once.
    main_similarity: the similarity whose Spearman correlation chooses the best model; None for the
        largest correlation of all.
    similarity_fn_names: names of similarities, among `cosine`, `dot`, `euclidean` and `manhattan`;
        None for the main one, or the model's own without a main one.
    name: text before the names of figures, and a part of the CSV's name.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    write_csv: whether a call with a folder adds a line to the CSV there.
    precision: the type to which vectors are quantised: `float32`, `int8`, `uint8`, `binary` or
        `ubinary`; None for vectors as the model gives them.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.

    Beside the library's `pearson_*` and `spearman_*` there are `spearman_p_*`, the p-value, and
    `mae_*`. A figure is undefined where all scores or similarities are equal or a similarity is not
    finite. It is NaN then, with a warning in the log, so that a training run goes on. Raises
    BadInput for unequal lengths and for no pairs, BadScore for a score that is not finite.
    """

    sentences1: Sequence[Any]
    sentences2: Sequence[Any]
    scores: Sequence[float]
    batch_size: int = 16
    main_similarity: Any = None
    similarity_fn_names: Any = None
    name: str = ""
    show_progress_bar: bool = False
    write_csv: bool = True
    precision: Any = None
    truncate_dim: int | None = None
    description: ClassVar = "Semantic Similarity"
    _file: ClassVar = "similarity_evaluation"
    _config: ClassVar = ("truncate_dim", "precision")

    def __post_init__(self) -> None:
        if not isinstance(self.batch_size, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadUsage(
                f"batch_size={self.batch_size!r}; expected an integer. The name goes by "
                "keyword: name=…."
            )
        check_lengths(sentences1=self.sentences1, sentences2=self.sentences2, scores=self.scores)
        self.scores = finite(self.scores, "the score").astype(np.float64)
        self.main_similarity = self._check_names(self.main_similarity)

    def _values(self, model: Any) -> Figures:
        options = {
            "precision": self.precision,
            "normalize_embeddings": bool(self.precision) or None,
            "convert_to_numpy": True,
        }
        sides = [list(self.sentences1), list(self.sentences2)]
        # Of vectors in 8 bits both sides have one calibration.
        parts = [sides[0] + sides[1]] if self.precision in ("int8", "uint8") else sides
        vectors = np.concatenate([self._encode(model, texts, "", **options) for texts in parts])
        if self.precision in ("binary", "ubinary"):
            shift = 128 if self.precision == "binary" else 0
            vectors = np.unpackbits((vectors.astype(np.int16) + shift).astype(np.uint8), axis=1)
        sides = np.split(
            vectors if self.precision in (None, "float32") else vectors.astype(np.float32), 2
        )
        figures: Figures = {}
        for similarity in self._similarities(model):
            figures |= self._correlations(sides, similarity)
        for figure in ("pearson", "spearman") if len(self.similarity_fn_names) > 1 else ():
            values = [figures[f"{figure}_{similarity}"] for similarity in self.similarity_fn_names]
            figures[f"{figure}_max"] = max(
                (value for value in values if not np.isnan(value)), default=np.nan
            )
        return figures

    def _correlations(self, sides: Sequence[Any], similarity: str) -> Figures:
        names = [
            f"{figure}_{similarity}" for figure in ("pearson", "spearman", "spearman_p", "mae")
        ]
        try:
            scored = self._pairwise(similarity, *sides).astype(np.float64)
        except BadScore as error:
            _log.warning("%s: %s", self._named(f"spearman_{similarity}"), error)
            return dict.fromkeys(names, np.nan)
        targets: Any = self.scores
        moment, ranks = pearson(targets, scored), spearman(targets, scored)
        if moment is None or ranks is None:
            _log.warning(
                "%s: too few pairs, or all scores or similarities are equal",
                self._named(f"spearman_{similarity}"),
            )
        values = (moment.value, ranks.value, ranks.p) if moment and ranks else [np.nan] * 3
        return dict(zip(names, (*values, float(np.abs(scored - targets).mean())), strict=True))

    def _columns(self, figures: Figures) -> Figures:
        columns: Figures = {}
        for name, value in figures.items():
            figure, _, similarity = name.partition("_")
            if figure != "mae" and similarity != "max" and not similarity.startswith("p_"):
                columns[f"{similarity}_{figure}"] = value
        return columns

    def _primary(self, figures: Figures) -> str:
        if self.main_similarity:
            return f"spearman_{self.main_similarity}"
        names = [name.partition("_")[2] for name in figures]
        return f"spearman_{'max' if 'max' in names else names[0]}"


@dataclass(eq=False, repr=False)
class BinaryClassificationEvaluator(SimilarityEvaluator):
    """Accuracy and F1 at their best thresholds, average precision and Matthews' correlation of
    pairs with labels 0 and 1.

    sentences1, sentences2: the first and the second sentence of each pair.
    labels: 1 for a similar pair, 0 for any other.
    name: text before the names of figures, and a part of the CSV's name.
    batch_size: number of sentences that the model encodes at once.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    similarity_fn_names: names of similarities, among `cosine`, `dot`, `euclidean` and `manhattan`;
        None for the model's own.

    Thresholds of `euclidean` and `manhattan` are distances: a pair is similar up to the threshold.
    Raises BadInput for unequal lengths, for no pairs and for other labels.
    """

    sentences1: Sequence[Any]
    sentences2: Sequence[Any]
    labels: Sequence[int]
    name: str = ""
    batch_size: int = 32
    show_progress_bar: bool = False
    write_csv: bool = True
    truncate_dim: int | None = None
    similarity_fn_names: Any = None
    _file: ClassVar = "binary_classification_evaluation"

    def __post_init__(self) -> None:
        check_lengths(sentences1=self.sentences1, sentences2=self.sentences2, labels=self.labels)
        if odd := [label for label in self.labels if label not in (0, 1)]:
            raise BadInput(f"the label {odd[0]!r}; a pair is 0, dissimilar, or 1, similar.")
        self._check_names()

    def _values(self, model: Any) -> Figures:
        sides = [
            self._encode(model, list(side), convert_to_numpy=True)
            for side in (self.sentences1, self.sentences2)
        ]
        labels, by_name = np.asarray(self.labels) == 1, dict[str, Figures]()
        for similarity in self._similarities(model):
            scores = self._pairwise(similarity, *sides)
            figures = classify(labels, scores)._asdict()
            if similarity in ("euclidean", "manhattan"):
                for name in ("accuracy_threshold", "f1_threshold"):
                    figures[name] = 0.0 - figures[name]
            by_name[similarity] = figures
        if len(by_name) > 1:
            by_name["max"] = {
                name: max(figures[name] for figures in by_name.values())
                for name in next(iter(by_name.values()))
            }
        return {
            f"{similarity}_{name}": value
            for similarity, figures in by_name.items()
            for name, value in figures.items()
        }

    def _primary(self, figures: Figures) -> str:
        names = [name for name in figures if name.endswith("_ap")]
        return "max_ap" if "max_ap" in names else names[0]


@dataclass(eq=False, repr=False)
class TripletEvaluator(SimilarityEvaluator):
    """The share of triplets whose anchor is more similar to the positive than to the negative text
    by more than a margin.

    anchors: the texts that both others are compared with, encoded as queries.
    positives, negatives: for each anchor the text that should be more similar, and the one that
        should be less similar; encoded as documents.
    main_similarity_function: the similarity whose accuracy chooses the best model; None for the
        largest accuracy of several.
    margin: a number, or a mapping of similarities to numbers, by which the positive has to lead; 0
        where a similarity has none.
    name: text before the names of figures, and a part of the CSV's name.
    batch_size: number of texts that the model encodes at once.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    similarity_fn_names: names of similarities, among `cosine`, `dot`, `euclidean` and `manhattan`;
        None for the main one, or the model's own without a main one.
    main_distance_function: the library's older name of main_similarity_function, used where that is
        None.

    Raises BadInput for unequal lengths, UnknownName, BadUsage.
    """

    anchors: Sequence[Any]
    positives: Sequence[Any]
    negatives: Sequence[Any]
    main_similarity_function: Any = None
    margin: Any = None
    name: str = ""
    batch_size: int = 16
    show_progress_bar: bool = False
    write_csv: bool = True
    truncate_dim: int | None = None
    similarity_fn_names: Any = None
    main_distance_function: Any = "deprecated"
    _file: ClassVar = "triplet_evaluation"

    def __post_init__(self) -> None:
        check_lengths(anchors=self.anchors, positives=self.positives, negatives=self.negatives)
        older = None if self.main_distance_function == "deprecated" else self.main_distance_function
        self.main_similarity_function = self._check_names(self.main_similarity_function or older)
        margins, margin = self.margin, 0
        if not isinstance(margins, Mapping):
            margins, margin = {}, margins or 0
        self.margin = dict.fromkeys(SIMILARITIES, margin)
        self.margin |= {similarity_name(name): number for name, number in margins.items()}

    def get_config_dict(self) -> dict[str, Any]:
        """The settings for the model card."""
        margin = {"margin": self.margin} if any(self.margin.values()) else {}
        return margin | super().get_config_dict()

    def _values(self, model: Any) -> Figures:
        columns = (self.anchors, self.positives, self.negatives)
        anchors, positives, negatives = (
            self._encode(model, texts, side, convert_to_numpy=True)
            for texts, side in zip(columns, ("query", "document", "document"), strict=True)
        )
        figures: Figures = {}
        for name in self._similarities(model):
            right, wrong = (self._pairwise(name, anchors, side) for side in (positives, negatives))
            figures[f"{name}_accuracy"] = float((right > wrong + self.margin[name]).mean())
        return figures | ({"max_accuracy": max(figures.values())} if len(figures) > 1 else {})

    def _columns(self, figures: Figures) -> Figures:
        return {
            f"accuracy_{name.partition('_')[0]}": value
            for name, value in figures.items()
            if name != "max_accuracy"
        }

    def _primary(self, figures: Figures) -> str:
        main = self.main_similarity_function or ("max" if "max_accuracy" in figures else "")
        return f"{main}_accuracy" if main else next(iter(figures))


@dataclass(eq=False, repr=False)
class TranslationEvaluator(Evaluator):
    """The share of sentences whose most similar one in the other language, by cosine, is their
    translation, in both directions.

    source_sentences: sentences in one language.
    target_sentences: the translation of each, in the same order.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    batch_size: number of sentences that the model encodes at once.
    name: text before the names of figures, and a part of the CSV's name.
    print_wrong_matches: whether each source sentence with a wrong match is printed with its five
        most similar targets.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.

    Raises BadInput for unequal lengths and for no sentences.
    """

    source_sentences: Sequence[str]
    target_sentences: Sequence[str]
    show_progress_bar: bool = False
    batch_size: int = 16
    name: str = ""
    print_wrong_matches: bool = False
    write_csv: bool = True
    truncate_dim: int | None = None
    _file: ClassVar = "translation_evaluation"

    def __post_init__(self) -> None:
        check_lengths(
            source_sentences=self.source_sentences, target_sentences=self.target_sentences
        )

    def _values(self, model: Any) -> Figures:
        sides = self.source_sentences, self.target_sentences
        vectors = [self._encode(model, side, convert_to_numpy=False) for side in sides]
        scores = finite(library_similarity("cosine")(*vectors))
        if self.print_wrong_matches:
            self._print_wrong(scores)
        to_target, to_source = (
            float(np.mean([side[row] == side[best] for row, best in enumerate(nearest.tolist())]))
            for side, nearest in zip(
                reversed(sides), (scores.argmax(axis=1), scores.argmax(axis=0)), strict=True
            )
        )
        return {
            "src2trg_accuracy": to_target,
            "trg2src_accuracy": to_source,
            "mean_accuracy": (to_target + to_source) / 2,
        }

    def _print_wrong(self, scores: Any) -> None:
        sources, targets = self.source_sentences, self.target_sentences
        for row, best in enumerate(scores.argmax(axis=1).tolist()):
            if targets[row] != targets[best]:
                first = np.argsort(-scores[row], kind="stable")[:5].tolist()
                score_texts = {
                    target: f"(Score: {scores[row, target]:.4f})" for target in (row, *first)
                }
                lines = [
                    f"\nIncorrect  : Source {row} is most similar to target {best} instead of "
                    f"target {row}",
                    f"Source     : {sources[row]}",
                    *(
                        f"{kind} Target: {targets[target]} {score_texts[target]}"
                        for kind, target in (("Pred", best), ("True", row))
                    ),
                    *(f"\t {target} {score_texts[target]} {targets[target]}" for target in first),
                ]
                sys.stdout.write("\n".join(lines) + "\n")

    def _columns(self, figures: Figures) -> Figures:
        return {side: figures[f"{side}_accuracy"] for side in ("src2trg", "trg2src")}
