"""Write the figures of chunking_evaluation, RAGAS and ALCE for seeded cases to `rag.json`.

Needs rapidfuzz and sources: `chunking_evaluation/evaluation_framework/base_evaluation.py` at
d451fc4 of brandonstarxel/chunking_evaluation; `eval.py` at 246c476 of princeton-nlp/ALCE, whose
language model is replaced by drawn entailments; and the folder `src/ragas/metrics` of
explodinggradients/ragas at v0.4.0, of which only the classes without a model are run. Run it from
the project root: `python tests/golden/make_rag.py base_evaluation.py eval.py metrics`.
"""

import ast
import asyncio
import copy
import importlib.util
import json
import logging
import random
import re
import sys
import typing
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

SEED = 20261125
OUT = Path(__file__).parent / "rag.json"
WORDS = (
    "the",
    "red",
    "blue",
    "car",
    "bridge",
    "rain",
    "waits",
    "night",
    "trains",
    "market",
    "two",
    "dog",
    "closed",
    "today",
)


def chunks(rng: random.Random) -> dict[str, Any]:
    """Questions with gold spans, the chunks of two documents, and those that are retrieved for each
    question.
    """
    every = [
        {"start_index": start, "end_index": start + rng.choice((60, 80)), "corpus_id": name}
        for name in ("a", "b")
        for start in range(0, 600, 60)
    ]
    rows, found = [], []
    for number in range(6):
        starts = [
            rng.choice((rng.randrange(500), 60 * rng.randrange(1, 9)))
            for _ in range(rng.randint(1, 3))
        ]
        spans = [
            {"content": "", "start_index": start, "end_index": start + rng.choice((20, 60, 130))}
            for start in starts
        ]
        rows.append({"question": f"q{number}", "references": spans, "corpus_id": rng.choice("ab")})
        found.append(rng.sample(every, 7))
    return {"every": every, "questions": rows, "retrieved": found}


@cache
def source_evaluation(path: str) -> Any:
    """The evaluation of a source file, whose imports of a vector store are not needed for its
    figures.
    """
    for name in (
        "chromadb",
        "chromadb.utils",
        "chromadb.utils.embedding_functions",
        "chunking_evaluation",
    ):
        sys.modules[name] = ModuleType(name)
    helpers: Any = ModuleType("chunking_evaluation.utils")
    helpers.rigorous_document_search = helpers.get_openai_embedding_function = None
    sys.modules["chunking_evaluation.utils"] = helpers
    spec = importlib.util.spec_from_file_location("base_evaluation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BaseEvaluation.__new__(module.BaseEvaluation)


def chunking_evaluation(case: dict[str, Any], path: str) -> dict[str, list[float]]:
    """The values of each question. path: of base_evaluation.py."""
    import pandas as pd

    evaluation, found, rows = source_evaluation(path), case["retrieved"], case["questions"]
    evaluation.questions_df = pd.DataFrame(rows)
    omega, counts = evaluation._full_precision_score(case["every"])
    figures = {"precision_omega": omega}
    for k in (None, 3, 7):
        cuts = [min(count, 20) for count in counts] if k is None else [k] * len(rows)
        values = evaluation._scores_from_dataset_and_retrievals(found, cuts)
        at = "" if k is None else f"@{k}"
        figures |= {
            f"{name}{at}": each
            for name, each in zip(("iou", "recall", "precision"), values, strict=True)
        }
    return {name: [float(value) for value in each] for name, each in figures.items()}


def ragas_metrics(folder: str) -> tuple[Any, Any]:
    """RAGAS' two metrics, of which the base class only calls `_single_turn_ascore`."""

    class SingleTurnMetric:
        async def single_turn_ascore(self, sample: Any, callbacks: Any = None) -> float:
            return await self._single_turn_ascore(sample, callbacks)  # pyright: ignore

    names: dict[str, Any] = {
        **dict.fromkeys(
            ("Callbacks", "MetricType", "RunConfig", "MetricWithLLM", "SingleTurnSample"),
            SimpleNamespace,
        ),
        **{
            "t": typing,
            "dataclass": dataclass,
            "field": field,
            "Enum": Enum,
            "np": np,
            "SingleTurnMetric": SingleTurnMetric,
        },
        "MetricType": SimpleNamespace(SINGLE_TURN=1),
        "MetricOutputType": SimpleNamespace(CONTINUOUS=1),
    }
    for file, classes in {
        "_string": ("DistanceMeasure", "NonLLMStringSimilarity"),
        "_context_precision": ("NonLLMContextPrecisionWithReference",),
        "_context_recall": ("NonLLMContextRecall",),
    }.items():
        tree = ast.parse((Path(folder) / f"{file}.py").read_text(encoding="utf-8"))
        chosen = [
            each for each in tree.body if isinstance(each, ast.ClassDef) and each.name in classes
        ]
        exec(compile(ast.Module(body=list(chosen), type_ignores=[]), file, "exec"), names)
    return names["NonLLMContextPrecisionWithReference"](), names["NonLLMContextRecall"]()


def contexts(rng: random.Random) -> dict[str, Any]:
    """Gold passages, and retrieved ones of which some are like them."""
    references = [
        " ".join(rng.choices(WORDS, k=rng.randint(2, 6))) for _ in range(rng.randint(1, 3))
    ]
    retrieved = [
        " ".join(rng.choices(WORDS, k=rng.randint(2, 6))) for _ in range(rng.randint(1, 4))
    ]
    retrieved += [
        reference + rng.choice(("", " today", " and more"))
        for reference in references
        if rng.random() < 0.5
    ]
    rng.shuffle(retrieved)
    return {"retrieved_contexts": retrieved, "reference_contexts": references}


def from_source(case: dict[str, Any], metrics: tuple[Any, Any]) -> dict[str, float]:
    """The values of RAGAS' two metrics as classes of its source."""
    sample = SimpleNamespace(**case)
    return {each.name: float(asyncio.run(each.single_turn_ascore(sample))) for each in metrics}


def ragas(case: dict[str, Any]) -> dict[str, float]:
    """The values of the installed RAGAS' metrics without a language model, by every distance."""
    from ragas import SingleTurnSample
    from ragas.metrics import (
        DistanceMeasure,
        NonLLMContextPrecisionWithReference,
        NonLLMContextRecall,
        NonLLMStringSimilarity,
    )

    sample, found = SingleTurnSample(**case), dict[str, float]()
    for distance in DistanceMeasure:
        compare = NonLLMStringSimilarity(distance_measure=distance)
        precision, recall = (
            NonLLMContextPrecisionWithReference(distance_measure=compare),
            NonLLMContextRecall(_distance_measure=compare),
        )
        for metric in (precision, recall):
            found[f"{metric.name} {distance.value}"] = float(
                asyncio.run(metric.single_turn_ascore(sample))
            )
    return found


def alce(rng: random.Random, path: str) -> list[dict[str, Any]]:
    """Cases of ALCE's citation recall and precision in percent, each the mean of some answers."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    chosen = [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name == "compute_autoais"
    ]
    judged: dict[tuple[str, str], bool] = {}
    names: dict[str, Any] = {
        "re": re,
        "copy": copy,
        "np": np,
        "tqdm": list,
        "logger": logging.getLogger("alce"),
        "autoais_model": SimpleNamespace(),
        "autoais_tokenizer": None,
        "sent_tokenize": lambda text: text.split("\n"),
        "remove_citations": lambda text: re.sub(r" ?\[\d+\]", "", text),
        "_run_nli_autoais": lambda passage, claim: judged[passage, claim],
    }
    exec(compile(ast.Module(body=list(chosen), type_ignores=[]), path, "exec"), names)
    cases = []
    for _ in range(8):
        rows, data = [], []
        for query in range(5):
            documents = [{"title": str(number), "text": f"text {number}"} for number in range(1, 5)]
            lines = []
            for place in range(rng.randint(1, 4)):
                cited = sorted(rng.sample(range(1, 5), rng.randint(0, 3)))
                claim = f"claim {query} {place}"
                lines.append(claim + "".join(f" [{number}]" for number in cited))
                rows += (
                    []
                    if cited
                    else [
                        {"id": f"q{query}", "statement": claim, "citations": [], "entailed": False}
                    ]
                )
                for each in (one for size in range(1, 4) for one in combinations(cited, size)):
                    entailed = rng.random() < 0.3 + 0.2 * len(each)
                    judged[
                        "\n".join(f"Title: {number}\ntext {number}" for number in each), claim
                    ] = entailed
                    names_of = [str(number) for number in each]
                    rows.append(
                        {
                            "id": f"q{query}",
                            "statement": claim,
                            "citations": names_of,
                            "entailed": entailed,
                        }
                    )
            data.append({"question": str(query), "output": "\n".join(lines), "docs": documents})
        found = names["compute_autoais"](data)
        cases.append(
            {"rows": rows, "figures": {name: float(value) for name, value in found.items()}}
        )
    return cases


def about() -> dict[str, Any]:
    """The sources of the figures."""
    return {
        "tools": {
            "ragas": "v0.4.0",
            "rapidfuzz": version("rapidfuzz"),
            "chunking_evaluation": "d451fc4cf56e417b755994b4ca5212fd5057c0d2",
            "ALCE": "246c476a4edfc564266b7346b6e29ef4861ae937",
        },
        "command": "python tests/golden/make_rag.py base_evaluation.py eval.py metrics",
        "date": "2026-11-25",
        "seed": SEED,
    }


def main() -> None:
    """Writes the file."""
    rng = random.Random(SEED)
    drawn, metrics = [chunks(rng) for _ in range(4)], ragas_metrics(sys.argv[3])
    chunked = [case | {"figures": chunking_evaluation(case, sys.argv[1])} for case in drawn]
    found = [
        case | {"figures": from_source(case, metrics)}
        for case in (contexts(rng) for _ in range(24))
    ]
    found = {
        "about": about(),
        "chunking_evaluation": chunked,
        "ragas": found,
        "alce": alce(rng, sys.argv[2]),
    }
    OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
