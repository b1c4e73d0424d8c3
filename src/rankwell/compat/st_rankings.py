"""Evaluators of sentence-transformers that rank documents for queries: re-ranking and information
retrieval.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankwell._native.similarity import similarity_name
from rankwell.compat.st_evaluator import Evaluator, Figures, finite, library_similarity, plain_name
from rankwell.conventions import CONVENTIONS
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.judged import JudgedRun
from rankwell.io.mapping import find_hits
from rankwell.stats.classification import classify
from rankwell.store import write_text

Similarities = Mapping[str, Callable[[Any, Any], Any]]


@dataclass(eq=False, repr=False)
class RerankingEvaluator(Evaluator):
    """MAP, MRR and nDCG of documents ordered by their similarity to a query: `positive` and
    `negative` of each sample.

    nDCG is the mean over orders of tied documents, AP takes them together, and for MRR positives
    come first, as in the library. similarity_fct: cosine where None. Samples without a positive or
    a negative document are left out.
    Raises BadInput where no sample is left.
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
        texts = ("positive", "negative")
        lists = [
            {
                key: [sample[key]] if isinstance(sample[key], str) else list(sample[key])
                for key in texts
            }
            for sample in samples
        ]
        self.samples = [
            {**sample, **texts_of_sample}
            for sample, texts_of_sample in zip(samples, lists, strict=True)
        ]
        self.samples = [
            sample for sample in self.samples if sample["positive"] and sample["negative"]
        ]
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
            queries = self._encode(
                model, [sample["query"] for sample in part], "query", convert_to_tensor=True
            )
            texts_of_samples = [[*sample["positive"], *sample["negative"]] for sample in part]
            vectors = self._encode(
                model,
                [text for document_texts in texts_of_samples for text in document_texts],
                "document",
                convert_to_tensor=True,
            )
            start = 0
            for query, texts in zip(queries, texts_of_samples, strict=True):
                yield finite(similarity(query, vectors[start : start + len(texts)])).reshape(-1)
                start += len(texts)

    def _values(self, model: Any) -> Figures:
        scores = dict(enumerate(self._scores(model)))
        labels = {
            row: np.arange(len(sample_scores)) < len(self.samples[row]["positive"])
            for row, sample_scores in scores.items()
        }
        truth, run = (
            {
                str(row): {
                    str(position): float(value) for position, value in enumerate(numbers.tolist())
                }
                for row, numbers in columns.items()
            }
            for columns in (labels, scores)
        )
        view = _view(truth, run)
        first, gain = (_measure(f"{word}@{self.at_k}") for word in ("mrr", "ndcg"))
        return {
            "map": float(
                np.mean(
                    [
                        classify(labels[row], sample_scores).ap
                        for row, sample_scores in scores.items()
                    ]
                )
            ),
            f"mrr@{self.at_k}": float(first(view.resolve("input")).mean()),
            f"ndcg@{self.at_k}": float(
                JudgedRun(name="", view=view, ties="expected").evaluate(gain).values.mean()
            ),
        }

    def _columns(self, figures: Figures) -> Figures:
        return {name.upper(): value for name, value in figures.items()}


@dataclass(eq=False, repr=False)
class InformationRetrievalEvaluator(Evaluator):
    """Accuracy, precision, recall, MRR, nDCG and MAP of a search through a corpus, as under the
    convention `st`.

    similarity_fn_names: of `cosine`, `dot`, `euclidean` and `manhattan`, in place of
    score_functions; the model's own where neither is given. Documents of equal scores are in the
    order of their ids. Queries without relevant documents are left out. Raises BadInput where no
    query is left or the corpus is empty, UnknownName, BadUsage.
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
        similarities = {
            similarity_name(plain_name(similarity)): None
            for similarity in self.similarity_fn_names or ()
        }
        self.score_functions = (
            self.score_functions
            or {similarity: library_similarity(similarity) for similarity in similarities}
            or None
        )
        self.queries_ids = [query for query in self.queries if self.relevant_docs.get(query)]
        self.corpus_ids = sorted(self.corpus)
        if not self.queries_ids or not self.corpus_ids:
            raise BadInput(
                f"{len(self.queries_ids)} queries with relevant documents, {len(self.corpus_ids)} "
                "documents; expected at least one of each."
            )

    def _cutoffs(self) -> list[tuple[str, Sequence[int]]]:
        cutoffs = self.precision_recall_at_k
        words = [("accuracy", self.accuracy_at_k), ("precision", cutoffs), ("recall", cutoffs)]
        return [*words, ("ndcg", self.ndcg_at_k), ("mrr", self.mrr_at_k), ("map", self.map_at_k)]

    def _values(self, model: Any) -> Figures:
        functions = self.score_functions or {plain_name(model.similarity_fn_name): model.similarity}
        row_of_document = {document: str(row) for row, document in enumerate(self.corpus_ids)}
        judgments = {
            str(row): {
                row_of_document.get(document, f"other {document}"): 1
                for document in self.relevant_docs[query]
            }
            for row, query in enumerate(self.queries_ids)
        }
        figures: Figures = {}
        for name, (scores, rows) in self._search(model, functions).items():
            if self.write_predictions and self._folder is not None:
                self._write_predictions(self._folder, name, scores, rows)
            # The lists are in their order already.
            run = {
                str(row): {
                    str(document_row): -float(rank)
                    for rank, document_row in enumerate(document_rows)
                }
                for row, document_rows in enumerate(rows.tolist())
            }
            view = _view(judgments, run)
            for word, cutoffs in self._cutoffs():
                figures |= {
                    f"{name}_{word}@{k}": float(_measure(f"{word}@{k}")(view).mean())
                    for k in cutoffs
                }
        return figures

    def _search(self, model: Any, functions: Similarities) -> dict[str, tuple[Any, Any]]:
        """name of the similarity -> (queries, depth) scores and rows in `corpus_ids` of the first
        documents.
        """
        texts = [self.queries[query] for query in self.queries_ids]
        of_queries = {"prompt_name": self.query_prompt_name, "prompt": self.query_prompt}
        queries = self._encode(model, texts, "query", convert_to_tensor=True, **of_queries)
        depth = max(k for _, cutoffs in self._cutoffs() for k in cutoffs)
        best = {
            name: (
                np.zeros((len(texts), 0), dtype=np.float32),
                np.zeros((len(texts), 0), dtype=np.int64),
            )
            for name in functions
        }
        # In the corpus's own order, on which the rounding of products depends.
        corpus = list(self.corpus)
        row_of_document = {document: row for row, document in enumerate(self.corpus_ids)}
        for start in range(0, len(corpus), self.corpus_chunk_size):
            part = corpus[start : start + self.corpus_chunk_size]
            of_corpus = {"prompt_name": self.corpus_prompt_name, "prompt": self.corpus_prompt}
            vectors = self._encode(
                model,
                [self.corpus[document] for document in part],
                "document",
                convert_to_tensor=True,
                **of_corpus,
            )
            for name, function in functions.items():
                chunk_scores = finite(function(queries, vectors))
                rows = np.broadcast_to(
                    [row_of_document[document] for document in part], chunk_scores.shape
                )
                best[name] = _first(
                    np.hstack([best[name][0], chunk_scores]),
                    np.hstack([best[name][1], rows]),
                    depth,
                )
        return best

    def _write_predictions(self, folder: Path, name: str, scores: Any, rows: Any) -> None:
        lines: list[dict[str, Any]] = []
        for query, *predictions in zip(
            self.queries_ids, rows.tolist(), scores.tolist(), strict=True
        ):
            results = [
                {"corpus_id": self.corpus_ids[row], "score": score}
                for row, score in zip(*predictions, strict=True)
            ]
            lines.append({"query_id": query, "query": self.queries[query], "results": results})
        path = folder / self.csv_file.replace("_results.csv", f"_predictions_{name}.jsonl")
        write_text(path, "".join(json.dumps(line) + "\n" for line in lines))

    def _columns(self, figures: Figures) -> Figures:
        precision_and_recall = [
            word for k in self.precision_recall_at_k for word in (f"Precision@{k}", f"Recall@{k}")
        ]
        words = [
            *(f"Accuracy@{k}" for k in self.accuracy_at_k),
            *precision_and_recall,
            *(f"MRR@{k}" for k in self.mrr_at_k),
        ]
        words += [*(f"NDCG@{k}" for k in self.ndcg_at_k), *(f"MAP@{k}" for k in self.map_at_k)]
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
    judgments: Mapping[str, Mapping[str, float]], run: Mapping[str, Mapping[str, float]]
) -> JudgedRankings:
    truth = Judgments.from_dict(judgments)
    return JudgedRankings.join(truth, find_hits(run, truth, ties="input"))


def _measure(text: str) -> Any:
    """The measure that the library means by a word."""
    return parse_measure(text, CONVENTIONS["st"].words)
