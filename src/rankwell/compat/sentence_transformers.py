"""sentence-transformers' evaluators: import them from `rankwell.compat.sentence_transformers`, and
change nothing else.

Arguments, names of figures, primary metrics and CSV files are those of sentence-transformers 6, and
so are similarities, with its precision; the figures are rankwell's. On purpose, a similarity that
is not finite and arguments that contradict each other are errors with a sentence, a CSV of other
columns is left alone, and an evaluator that names no similarity takes each model's own.
"""

import csv
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankwell._native.similarity import SIMILARITIES, similarity_name
from rankwell.conventions import CONVENTIONS
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import own_arithmetic
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments, positions_by_id, refuse_masked, without_none
from rankwell.errors import BadInput, BadScore, BadUsage, MissingExtra
from rankwell.evaluation.judged import JudgedRun
from rankwell.io.mapping import find_hits
from rankwell.stats.classification import classify
from rankwell.stats.correlation import pearson, spearman
from rankwell.store import write_text

__all__ = [
    "BinaryClassificationEvaluator",
    "EmbeddingSimilarityEvaluator",
    "InformationRetrievalEvaluator",
    "RerankingEvaluator",
    "TranslationEvaluator",
    "TripletEvaluator",
]


try:
    # The trainer takes nothing but subclasses of the library's own class.
    from sentence_transformers.base.evaluation import BaseEvaluator as _Base
except ImportError:
    _Base = object

_log = logging.getLogger(__name__)
Figures = dict[str, float]


class Evaluator(_Base):  # pyright: ignore[reportGeneralTypeIssues, reportUntypedBaseClass]
    """The work of every evaluator around its own figures.

    primary_metric: the figure by which the best model is chosen; None before the first call.
    name: text before the names of figures, and a part of the CSV's name; "" for none.
    batch_size: number of texts that the model encodes at once.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    """

    greater_is_better = True
    primary_metric: Any = None
    _line_end: ClassVar[str] = "\r\n"
    _file: ClassVar[str]
    _config: ClassVar = ("truncate_dim",)
    _folder: Path | None = None
    name: str
    batch_size: int
    show_progress_bar: bool
    write_csv: bool
    truncate_dim: int | None

    @own_arithmetic
    def __call__(
        self,
        model: Any,
        output_path: str | Path | None = None,
        epoch: float = -1,
        steps: float = -1,
    ) -> Figures:
        """The figures by name. output_path: a folder, made if need be, whose CSV gets one more
        line; a file of other columns is left alone, and `-2` is written.

        Raises BadScore for a similarity that is not finite.
        """
        self._folder = None if output_path is None else Path(output_path)
        figures = self._values(model)
        if self._folder is not None and self.write_csv:
            self._add_line(self._folder, {"epoch": epoch, "steps": steps, **self._columns(figures)})
        named_figures = {self._named(figure): float(value) for figure, value in figures.items()}
        if self.primary_metric not in named_figures:
            self.primary_metric = self._named(self._primary(figures))
        card = getattr(model, "model_card_data", None)
        if hasattr(card, "set_evaluation_metrics"):
            card.set_evaluation_metrics(self, named_figures, epoch, steps)  # pyright: ignore[reportOptionalMemberAccess]
        return named_figures

    def get_config_dict(self) -> dict[str, Any]:
        """The settings for the model card."""
        return {
            name: getattr(self, name) for name in self._config if getattr(self, name) is not None
        }

    @classmethod
    def from_input_examples(cls, examples: Sequence[Any], **options: Any) -> Any:
        """The evaluator of the library's `InputExample`s: three texts, or two with a label."""
        rows = ((*example.texts, example.label)[:3] for example in examples)
        return cls(*map(list, zip(*rows, strict=True)), **options)

    def _values(self, model: Any) -> Figures:
        raise NotImplementedError

    def _columns(self, figures: Figures) -> Figures:
        """The columns of the CSV, after epoch and steps."""
        return {name: value for name, value in figures.items() if not name.startswith("max_")}

    def _primary(self, figures: Figures) -> str:
        """The figure that chooses the best model: the last one."""
        return list(figures)[-1]

    @property
    def csv_file(self) -> str:
        """The name of the CSV."""
        parts = (self._file, self.name, getattr(self, "precision", None), "results.csv")
        return "_".join(filter(None, parts))

    def _named(self, figure: str) -> str:
        return f"{self.name}_{figure}" if self.name else figure

    def _encode(self, model: Any, texts: Any, side: str = "", **options: Any) -> Any:
        """The vectors; side: `query` or `document`, for models that encode these in ways of their
        own.
        """
        encode = getattr(model, f"encode_{side}", None) or model.encode
        options |= {"truncate_dim": self.truncate_dim, "batch_size": self.batch_size}
        options["show_progress_bar"] = bool(self.show_progress_bar)
        return encode(texts, **without_none(options))

    def _add_line(self, folder: Path, line: Figures) -> None:
        path = _file_with(folder, self.csv_file.removesuffix(".csv"), list(line))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator=self._line_end)
        if path.exists():
            before = path.read_bytes().decode()
            text.write(before if before.endswith("\n") else before + self._line_end)
        else:
            writer.writerow(line)
        writer.writerow(line.values())
        write_text(path, text.getvalue())


def check_lengths(**columns: Sequence[Any]) -> None:
    """Raises BadInput for columns of different lengths or of none."""
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise BadInput(
            f"{', '.join(f'{n} {name}' for name, n in sizes.items())}; give one of each, in "
            "the same order."
        )
    if not all(sizes.values()):
        raise BadInput(f"no {next(iter(sizes))}; an evaluator needs at least one.")


def finite(scores: Any, noun: str = "a similarity") -> Any:
    """The numbers as an array of their precision. Raises BadScore for one that is not finite."""
    refuse_masked(scores, f"the array of {noun.partition(' ')[2]} values")
    numbers = np.asarray(scores.detach().cpu() if hasattr(scores, "detach") else scores)
    if not np.isfinite(numbers).all():
        index = tuple(np.argwhere(~np.isfinite(numbers))[0].tolist())
        location = f"row {index[0]} (from 0)" if len(index) == 1 else f"place {index} (from 0)"
        raise BadScore(f"{noun} in {location} is {numbers[index]}; expected finite numbers.")
    return numbers


def library_similarity(name: str, *, pairwise: bool = False) -> Callable[[Any, Any], Any]:
    """The library's function of a similarity, of all pairs or of pairs row by row. Raises
    MissingExtra without the library.
    """
    try:
        from sentence_transformers import SimilarityFunction
    except ImportError as error:
        raise MissingExtra(
            "similarities are those of sentence-transformers: pip install 'rankwell[text]'."
        ) from error
    if pairwise:
        return SimilarityFunction.to_similarity_pairwise_fn(name)
    return SimilarityFunction.to_similarity_fn(name)


def plain_name(similarity: Any) -> str:
    """The similarity's name, also where it is a member of the library's enumeration."""
    return str(getattr(similarity, "value", similarity))


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


Similarities = Mapping[str, Callable[[Any, Any], Any]]


@dataclass(eq=False, repr=False)
class RerankingEvaluator(Evaluator):
    """MAP, MRR and nDCG of documents ordered by their similarity to a query.

    samples: mappings with the keys `query`, `positive` and `negative`, the latter two each a
        document or a list of documents; or a mapping whose values are such mappings. A sample
        without a positive or a negative document is left out.
    at_k: the cut-off of MRR and nDCG.
    name: text before the names of figures, and a part of the CSV's name.
    write_csv: whether a call with a folder adds a line to the CSV there.
    similarity_fct: a function of the vectors of a query and of documents; None for cosine.
    batch_size: number of texts that the model encodes at once.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    use_batched_encoding: whether all samples are encoded together, which is faster but holds all
        vectors in memory; otherwise one after the other.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    mrr_at_k: the library's older name of at_k; replaces at_k where it is given.

    Tied documents are treated as in the library: nDCG is the mean over their orders, AP takes them
    together, and for MRR positives come first. Raises BadInput where no sample is left.
    """

    samples: Any
    at_k: int = 10
    name: str = ""
    write_csv: bool = True
    similarity_fct: Any = None
    batch_size: int = 64
    show_progress_bar: bool = False
    use_batched_encoding: bool = True
    truncate_dim: int | None = None
    mrr_at_k: int | None = None
    _file: ClassVar = "RerankingEvaluator"
    _config: ClassVar = ("at_k", "truncate_dim")

    def __post_init__(self) -> None:
        self.at_k = self.at_k if self.mrr_at_k is None else self.mrr_at_k
        samples = list(self.samples.values() if isinstance(self.samples, Mapping) else self.samples)
        self.samples = []
        for sample in samples:
            positive, negative = (
                [texts] if isinstance(texts, str) else list(texts)
                for texts in (sample["positive"], sample["negative"])
            )
            if positive and negative:
                self.samples.append({**sample, "positive": positive, "negative": negative})
        if not self.samples:
            raise BadInput(
                f"none of the {len(samples)} samples has a positive and a negative document."
            )

    @property
    def csv_file(self) -> str:
        """The name of the CSV."""
        return super().csv_file.replace(".csv", f"_@{self.at_k}.csv")

    def _scores(self, model: Any) -> Iterator[Any]:
        """The similarities of each sample's documents, positive ones first."""
        similarity = self.similarity_fct or library_similarity("cosine")
        for part in (
            [self.samples] if self.use_batched_encoding else [[sample] for sample in self.samples]
        ):
            queries = [sample["query"] for sample in part]
            texts = [[*sample["positive"], *sample["negative"]] for sample in part]
            query_vectors, vectors = (
                self._encode(model, column, side, convert_to_tensor=True)
                for column, side in ((queries, "query"), (list(chain(*texts)), "document"))
            )
            ends = list(accumulate(map(len, texts), initial=0))
            for query, (start, end) in zip(query_vectors, pairwise(ends), strict=True):
                yield finite(similarity(query, vectors[start:end])).reshape(-1)

    def _values(self, model: Any) -> Figures:
        scores = list(self._scores(model))
        labels = [
            np.arange(len(sample_scores)) < len(sample["positive"])
            for sample, sample_scores in zip(self.samples, scores, strict=True)
        ]
        view = _view(
            *([dict(enumerate(row.tolist())) for row in rows] for rows in (labels, scores))
        )
        first, gain = (_measure(f"{word}@{self.at_k}") for word in ("mrr", "ndcg"))
        precisions = [classify(*columns).ap for columns in zip(labels, scores, strict=True)]
        gains = JudgedRun(name="", view=view, ties="expected").evaluate(gain).values
        return {
            "map": float(np.mean(precisions)),
            f"mrr@{self.at_k}": float(first(view.resolve("input")).mean()),
            f"ndcg@{self.at_k}": float(gains.mean()),
        }

    def _columns(self, figures: Figures) -> Figures:
        return {name.upper(): value for name, value in figures.items()}


@dataclass(eq=False, repr=False)
class InformationRetrievalEvaluator(Evaluator):
    """Accuracy, precision, recall, MRR, nDCG and MAP of a search through a corpus, as under the
    convention `st`.

    queries: query id -> text.
    corpus: document id -> text.
    relevant_docs: query id -> ids of the relevant documents. Queries without any are left out.
    corpus_chunk_size: number of documents that are encoded and compared at once.
    mrr_at_k, ndcg_at_k, accuracy_at_k, precision_recall_at_k, map_at_k: the cut-offs of each
        measure.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    batch_size: number of texts that the model encodes at once.
    name: text before the names of figures, and a part of the CSV's name.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    score_functions: name -> similarity of the vectors of queries and of documents.
    main_score_function: the similarity whose nDCG at the largest cut-off chooses the best model;
        None for the similarity with the highest nDCG.
    query_prompt, query_prompt_name: a text to put before queries, or the name of one of the model's
        prompts; None for no prompt.
    corpus_prompt, corpus_prompt_name: the same for documents.
    write_predictions: whether a call with a folder also writes the lists of all queries there.
    similarity_fn_names: names of similarities, among `cosine`, `dot`, `euclidean` and `manhattan`,
        in place of score_functions; the model's own where neither is given.

    Documents of equal scores are in the order of their ids. Raises BadInput where no query is left
    or the corpus is empty, UnknownName, BadUsage.
    """

    queries: Any
    corpus: Mapping[Any, Any]
    relevant_docs: Mapping[Any, Any]
    corpus_chunk_size: int = 50000
    mrr_at_k: Sequence[int] = (10,)
    ndcg_at_k: Sequence[int] = (10,)
    accuracy_at_k: Sequence[int] = (1, 3, 5, 10)
    precision_recall_at_k: Sequence[int] = (1, 3, 5, 10)
    map_at_k: Sequence[int] = (100,)
    show_progress_bar: bool = False
    batch_size: int = 32
    name: str = ""
    write_csv: bool = True
    truncate_dim: int | None = None
    score_functions: Similarities | None = None
    main_score_function: Any = None
    query_prompt: str | None = None
    query_prompt_name: str | None = None
    corpus_prompt: str | None = None
    corpus_prompt_name: str | None = None
    write_predictions: bool = False
    similarity_fn_names: Any = None
    _line_end: ClassVar = "\n"
    _config: ClassVar = (
        "truncate_dim",
        "query_prompt",
        "query_prompt_name",
        "corpus_prompt",
        "corpus_prompt_name",
    )
    _file: ClassVar = "Information-Retrieval_evaluation"

    def __post_init__(self) -> None:
        if self.score_functions and self.similarity_fn_names:
            raise BadUsage(
                "score_functions and similarity_fn_names both name the similarities; leave "
                "one of them out."
            )
        names = [similarity_name(plain_name(name)) for name in self.similarity_fn_names or ()]
        if names:
            self.score_functions = {name: library_similarity(name) for name in names}
        self.score_functions = self.score_functions or None
        self.queries_ids = [query for query in self.queries if self.relevant_docs.get(query)]
        self.corpus_ids = sorted(self.corpus)
        if not self.queries_ids or not self.corpus_ids:
            raise BadInput(
                f"{len(self.queries_ids)} queries with relevant documents, {len(self.corpus_ids)} "
                "documents; expected at least one of each."
            )

    def _measures(self) -> list[str]:
        """The words of all measures, such as `ndcg@10`."""
        cutoffs = {
            "accuracy": self.accuracy_at_k,
            "precision": self.precision_recall_at_k,
            "recall": self.precision_recall_at_k,
            "ndcg": self.ndcg_at_k,
            "mrr": self.mrr_at_k,
            "map": self.map_at_k,
        }
        return [f"{word}@{k}" for word, ks in cutoffs.items() for k in ks]

    def _values(self, model: Any) -> Figures:
        functions = self.score_functions or {plain_name(model.similarity_fn_name): model.similarity}
        row_of_document = positions_by_id(self.corpus_ids)
        truth = [
            {row_of_document.get(item, f"other {item}"): 1 for item in self.relevant_docs[query]}
            for query in self.queries_ids
        ]
        figures: Figures = {}
        for name, (scores, rows) in self._search(model, functions, row_of_document).items():
            if self.write_predictions and self._folder is not None:
                self._write_predictions(self._folder, name, scores, rows)
            # The lists are in their order already.
            view = _view(
                truth, [{row: -rank for rank, row in enumerate(ranked)} for ranked in rows.tolist()]
            )
            for word in self._measures():
                figures[f"{name}_{word}"] = float(_measure(word)(view).mean())
        return figures

    def _search(
        self, model: Any, functions: Similarities, row_of_document: Mapping[Any, int]
    ) -> dict[str, tuple[Any, Any]]:
        """name of the similarity -> (queries, depth) scores and rows in `corpus_ids` of the first
        documents.
        """
        texts = [self.queries[query] for query in self.queries_ids]
        of_queries = {"prompt_name": self.query_prompt_name, "prompt": self.query_prompt}
        of_corpus = {"prompt_name": self.corpus_prompt_name, "prompt": self.corpus_prompt}
        queries = self._encode(model, texts, "query", convert_to_tensor=True, **of_queries)
        depth = max(int(word.partition("@")[2]) for word in self._measures())
        best = dict[str, tuple[Any, Any]]()
        # In the corpus's own order, on which the rounding of products depends.
        corpus = list(self.corpus)
        for start in range(0, len(corpus), self.corpus_chunk_size):
            part = corpus[start : start + self.corpus_chunk_size]
            texts = [self.corpus[document] for document in part]
            vectors = self._encode(model, texts, "document", convert_to_tensor=True, **of_corpus)
            for name, function in functions.items():
                scores = finite(function(queries, vectors))
                rows = np.broadcast_to([row_of_document[item] for item in part], scores.shape)
                if name in best:
                    scores = np.hstack([best[name][0], scores])
                    rows = np.hstack([best[name][1], rows])
                best[name] = _first(scores, rows, depth)
        return best

    def _write_predictions(self, folder: Path, name: str, scores: Any, rows: Any) -> None:
        lines: list[dict[str, Any]] = []
        predictions = zip(self.queries_ids, rows.tolist(), scores.tolist(), strict=True)
        for query, *columns in predictions:
            results = [
                {"corpus_id": self.corpus_ids[row], "score": score}
                for row, score in zip(*columns, strict=True)
            ]
            lines.append({"query_id": query, "query": self.queries[query], "results": results})
        path = folder / self.csv_file.replace("_results.csv", f"_predictions_{name}.jsonl")
        write_text(path, "".join(json.dumps(line) + "\n" for line in lines))

    def _columns(self, figures: Figures) -> Figures:
        groups = (
            (("Accuracy",), self.accuracy_at_k),
            (("Precision", "Recall"), self.precision_recall_at_k),
            (("MRR",), self.mrr_at_k),
            (("NDCG",), self.ndcg_at_k),
            (("MAP",), self.map_at_k),
        )
        words = [f"{word}@{k}" for group, cutoffs in groups for k in cutoffs for word in group]
        names = sorted({name.rpartition("_")[0] for name in figures})
        return {
            f"{name}-{word}": figures[f"{name}_{word.lower()}"] for name in names for word in words
        }

    def _primary(self, figures: Figures) -> str:
        ending = f"_ndcg@{max(self.ndcg_at_k)}"
        main = plain_name(self.main_score_function) if self.main_score_function else None
        ranked = sorted(name for name in figures if name.endswith(ending))
        return main + ending if main else max(ranked, key=lambda name: figures[name])


def _first(scores: Any, rows: Any, depth: int) -> tuple[Any, Any]:
    """The highest scores of each query and their rows, ties by row, both (queries, depth)."""
    depth = min(depth, scores.shape[1])
    least = np.partition(scores, -depth, axis=1)[:, -depth]
    best_rows = np.empty((len(scores), depth), dtype=np.int64)
    for query, (query_scores, lowest) in enumerate(zip(scores, least, strict=True)):
        candidates = np.flatnonzero(query_scores >= lowest)
        best_rows[query] = candidates[
            np.lexsort((rows[query, candidates], -query_scores[candidates]))[:depth]
        ]
    return np.take_along_axis(scores, best_rows, axis=1), np.take_along_axis(
        rows, best_rows, axis=1
    )


def _view(
    truth: Sequence[Mapping[Any, float]], run: Sequence[Mapping[Any, float]]
) -> JudgedRankings:
    """The view of the grades and the scores of each query's items."""
    grades, scores = (
        {
            str(row): {str(item): float(number) for item, number in numbers.items()}
            for row, numbers in enumerate(table)
        }
        for table in (truth, run)
    )
    judgments = Judgments.from_dict(grades)
    return JudgedRankings.join(judgments, find_hits(scores, judgments, ties="input"))


def _measure(text: str) -> Any:
    """The measure that the library means by a word."""
    return parse_measure(text, CONVENTIONS["st"].words)


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
                f"batch_size={self.batch_size!r}; expected an integer. Pass the name by "
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
