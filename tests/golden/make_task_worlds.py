"""Write the figures of other tools for the worlds of `tests/task_worlds.py` to `task_worlds.json`.

No registry has most of these tools. Their files lie in one folder, each from the commit in
`SOURCES`; they are run as they are, except that NumPy's and torch's sorts are made stable, as they
leave the order of equal scores open. Needs numpy, pandas, rapidfuzz and torch. Run it from the
project root: `python tests/golden/make_task_worlds.py FOLDER [TOOL ...]`.
"""

import contextlib
import importlib.util
import io
import json
import sys
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).parent)]

import make_rag  # noqa: E402

import task_worlds  # noqa: E402

OUT = Path(__file__).parent / "task_worlds.json"
SOURCES = {
    "hgr": "hgr_evaluation.py: cshizhe/hgr_v2t 13d2d746, t2vretrieval/models/evaluation.py",
    "clip4clip": "clip4clip_metrics.py: ArrowLuo/CLIP4Clip 508ffa3d, metrics.py",
    "clip4clip_multi": "clip4clip_metrics.py, with the padding of main_task_retrieval.py",
    "revisitop": "revisitop_evaluate.py: filipradenovic/revisitop be398328, python/evaluate.py",
    "squad1": "squad1_score.py: huggingface/evaluate a7dd3383, metrics/squad/compute_score.py "
    "(SQuAD's "
    "own script of 1.1)",
    "squad2": "evaluate_v2.py: rajpurkar/SQuAD-explorer eee5fdbf, evaluate-v2.0.py",
    "piaf": "piaf_utils_eval.py: etalab-ia/piaf-ml 9c9abca0, src/evaluation/utils/utils_eval.py; "
    "haystack_eval.py: eval.py of "
    "farm-haystack 0.9.0 on PyPI",
    "chunking_evaluation": "base_evaluation.py: brandonstarxel/chunking_evaluation d451fc4c",
    "ragas": "ragas_metrics: the folder ragas/metrics of ragas 0.4.0 on PyPI",
}
Values = list[float | None]


def load(folder: Path, name: str) -> Any:
    """A module of a file of the folder."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _numpy(**changed: Any) -> Any:
    return SimpleNamespace(
        **{name: getattr(np, name) for name in dir(np) if not name.startswith("__")} | changed
    )


def hgr(folder: Path) -> Callable[[Any], Values]:
    """The five figures from queries to items, and from items to queries."""
    module = load(folder, "hgr_evaluation")
    module.np = _numpy(argsort=partial(np.argsort, kind="stable"))

    def _values(world: Any) -> Values:
        scores, positives = np.array(world["scores"]), world["positives"]
        turned = [
            [row for row, own in enumerate(positives) if item in own]
            for item in range(scores.shape[1])
        ]
        return [
            *map(float, module.eval_q2m(scores, positives)),
            *map(float, module.eval_q2m(scores.T, turned)),
        ]

    return _values


CLIP4CLIP = ("R1", "R5", "R10", "MedianR", "MeanR")


def clip4clip(folder: Path) -> Callable[[Any], Values]:
    """The five figures from captions to videos, and back."""
    module = load(folder, "clip4clip_metrics")

    def _values(world: Any) -> Values:
        scores = np.array(world["scores"])
        return [
            float(module.compute_metrics(each)[name])
            for each in (scores, scores.T)
            for name in CLIP4CLIP
        ]

    return _values


def clip4clip_multi(folder: Path) -> Callable[[Any], Values]:
    """The same with several captions for each video."""
    import torch

    module = load(folder, "clip4clip_metrics")
    module.torch = SimpleNamespace(
        **{
            name: getattr(torch, name)
            for name in (
                "is_tensor",
                "tensor",
                "diagonal",
                "flatten",
                "logical_or",
                "isinf",
                "isnan",
            )
        },
        **{name: getattr(torch, name) for name in ("sum", "median", "max", "squeeze")},
        argsort=partial(torch.argsort, stable=True),
    )

    def _values(world: Any) -> Values:
        scores, ends = np.array(world["scores"]), [*accumulate(world["counts"])]
        longest = max(world["counts"])
        parts = [scores[start:end] for start, end in pairwise([0, *ends])]
        padded = [
            np.vstack([part, np.full((longest - len(part), scores.shape[1]), -np.inf)])
            for part in parts
        ]
        stacked = np.stack(padded)
        found = (
            module.tensor_text_to_video_metrics(stacked),
            module.compute_metrics(module.tensor_video_to_text_sim(stacked)),
        )
        return [float(each[name]) for each in found for name in CLIP4CLIP]

    return _values


LEVELS = {
    "E": (("easy",), ("hard", "junk")),
    "M": (("easy", "hard"), ("junk",)),
    "H": (("hard",), ("easy", "junk")),
}


def revisitop(folder: Path) -> Callable[[Any], Values]:
    """AP and precision at 1, 5 and 10 of each query, for each level; None for a query without a
    right reference.
    """
    module = load(folder, "revisitop_evaluate")
    module.np = _numpy(in1d=np.isin)

    def _values(world: Any) -> Values:
        ranks, found = (
            np.argsort(-np.array(world["scores"]), axis=1, kind="stable").T,
            list[float | None](),
        )
        for right, junk in LEVELS.values():
            lists = [
                {
                    name: [n for n, kind in enumerate(own) if kind in among]
                    for name, among in (("ok", right), ("junk", junk))
                }
                for own in world["kinds"]
            ]
            with np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError):
                _, aps, _, precisions = module.compute_map(ranks, lists, [1, 5, 10])
                for ap, own in zip(aps.tolist(), precisions.tolist(), strict=True):
                    found += [None if value != value else value for value in (ap, *own)]
                continue
            found += [None] * 4 * len(lists)
        return found

    return _values


def _article(golds: list[list[str]]) -> list[dict[str, Any]]:
    qas = [
        {"id": f"q{n}", "question": "?", "answers": [{"text": text} for text in own]}
        for n, own in enumerate(golds)
    ]
    return [{"title": "t", "paragraphs": [{"context": "", "qas": qas}]}]


def squad1(folder: Path) -> Callable[[Any], Values]:
    """Exact match and F1."""
    module = load(folder, "squad1_score")

    def _values(world: Any) -> Values:
        given = {f"q{n}": text for n, text in enumerate(world["given"]) if text is not None}
        with contextlib.redirect_stderr(io.StringIO()):
            found = module.compute_score(_article(world["golds"]), given)
        return [found["exact_match"], found["f1"]]

    return _values


SQUAD2 = (
    "exact",
    "f1",
    "HasAns_exact",
    "HasAns_f1",
    "NoAns_exact",
    "NoAns_f1",
    "best_exact",
    "best_f1",
)


def squad2(folder: Path) -> Callable[[Any], Values]:
    """The figures of the official script, and its best ones; None for those of a group without a
    question.
    """
    module = load(folder, "evaluate_v2")

    def _values(world: Any) -> Values:
        article, names = _article(world["golds"]), [f"q{n}" for n in range(len(world["golds"]))]
        given, na = (
            dict(zip(names, world["given"], strict=True)),
            dict(zip(names, world["na"], strict=True)),
        )
        has = module.make_qid_to_has_ans(article)
        raw = module.get_raw_scores(article, given)
        cut = [module.apply_no_ans_threshold(scores, na, has, world["threshold"]) for scores in raw]
        found = module.make_eval_dict(*cut)
        for prefix, side in (("HasAns", True), ("NoAns", False)):
            if own := [name for name in names if has[name] is side]:
                module.merge_eval(found, module.make_eval_dict(*cut, qid_list=own), prefix)
        module.find_all_best_thresh(found, given, *raw, na, has)
        return [found.get(name) for name in SQUAD2]

    return _values


PIAF = tuple(
    f"reader_top{k}_{name}{group}"
    for name in ("accuracy", "em", "f1")
    for k in ("1", "k")
    for group in ("", "_has_answer")
)
PIAF_ALL = (
    *PIAF,
    "reader_top1_no_answer_accuracy",
    "reader_topk_no_answer_accuracy",
    "recall",
    "map",
    "mrr",
)


STAND_INS = (
    *(
        "haystack",
        "haystack.schema",
        "haystack.document_store",
        "haystack.document_store.base",
        "haystack.pipeline",
    ),
    *("farm", "farm.evaluation", "farm.evaluation.squad_evaluation", "tqdm"),
)
"""Modules that PIAF's files import and these figures do not need."""


def piaf(folder: Path) -> Callable[[Any], Values]:
    """The figures of reader and retriever; None where the code divides by 0 and for those of no
    impossible question.
    """
    for name in STAND_INS:
        sys.modules[name] = ModuleType(name)
    base = type("Base", (), {"set_config": lambda self, **_: None})
    for module, names in {
        "haystack": {"MultiLabel": base, "Label": base},
        "haystack.schema": {"BaseComponent": base},
        "haystack.document_store.base": {"BaseDocumentStore": base},
        "haystack.pipeline": {"Pipeline": base},
        "farm.evaluation.squad_evaluation": {"compute_f1": None, "compute_exact": None},
        "tqdm": {"tqdm": iter},
    }.items():
        vars(sys.modules[module]).update(names)
    sys.modules["haystack.eval"] = load(folder, "haystack_eval")
    source = load(folder, "piaf_utils_eval")

    def _values(world: Any) -> Values:
        reader, retriever = source.PiafEvalReader(), source.PiafEvalRetriever()
        for each in world["questions"]:
            golds = each["golds"]
            label = SimpleNamespace(
                no_answer=not golds,
                multiple_answers=["x" * (end - start) for _, start, end in golds],
                multiple_document_ids=[document for document, _, _ in golds],
                multiple_offset_start_in_docs=[start for _, start, _ in golds],
            )
            spans = [each or (None, 0, 0) for each in each["answers"]]
            answers = [
                {
                    "answer": None if document is None else "y",
                    "document_id": document,
                    "offset_start": start,
                    "offset_end": end,
                }
                for document, start, end in spans
            ]
            reader.run(labels={"reader": label}, answers=answers)
            documents = [SimpleNamespace(id=name) for name in each["found"]]
            asked = SimpleNamespace(no_answer=False, multiple_document_ids=each["relevant"])
            retriever.run(documents, {"retriever": asked})
        try:
            found = reader.get_metrics() | retriever.get_metrics()
        except ZeroDivisionError:
            found = retriever.get_metrics()
        return [found.get(name) for name in PIAF_ALL]

    return _values


CHUNKING = (
    "precision_omega",
    *(f"{name}{at}" for at in ("", "@3", "@7") for name in ("iou", "recall", "precision")),
)


def chunking_evaluation(folder: Path) -> Callable[[Any], Values]:
    """The figures of the question; None for those at a cut-off at which the code divides by 0."""
    import pandas as pd

    evaluation = make_rag.source_evaluation(str(folder / "base_evaluation.py"))

    def _values(world: Any) -> Values:
        evaluation.questions_df = pd.DataFrame(world["questions"])
        omega, counts = evaluation._full_precision_score(world["every"])
        found: Values = [float(omega[0])]
        for k in (min(counts[0], 20), 3, 7):
            try:
                values = evaluation._scores_from_dataset_and_retrievals(world["retrieved"], [k])
                found += [float(each[0]) for each in values]
            except ZeroDivisionError:
                found += [None] * 3
        return found

    return _values


def ragas(folder: Path) -> Callable[[Any], Values]:
    """Context precision and recall without a model."""
    metrics = make_rag.ragas_metrics(str(folder / "ragas_metrics"))
    return lambda world: [*make_rag.from_source(world, metrics).values()]


TOOLS: dict[str, Callable[[Path], Callable[[Any], Values]]] = {
    each.__name__: each
    for each in (
        hgr,
        clip4clip,
        clip4clip_multi,
        revisitop,
        squad1,
        squad2,
        chunking_evaluation,
        ragas,
        piaf,
    )
}


def _short(value: float | None) -> float | int | None:
    """A number in ten digits, an integer where it is one."""
    rounded = None if value is None else round(float(value), 10)
    return int(rounded) if rounded is not None and rounded == int(rounded) else rounded


def main() -> None:
    """Writes the file; with tools, their values alone beside those that are there."""
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or [*TOOLS]
    found: dict[str, Any] = (
        json.loads(OUT.read_text(encoding="utf-8"))["values"] if OUT.exists() else {}
    )
    for name in chosen:
        values = TOOLS[name](folder)
        worlds = (
            getattr(task_worlds, name)(task_worlds.rng_of(name, number))
            for number in range(task_worlds.WORLDS)
        )
        found[name] = [[_short(value) for value in values(world)] for world in worlds]
    about = {
        "sources": SOURCES,
        "command": "python tests/golden/make_task_worlds.py FOLDER",
        "seed": task_worlds.SEED,
    }
    rows = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(found[name], separators=(',', ':'))}"
        for name in sorted(found)
    )
    OUT.write_text(f'{{"about":{json.dumps(about)},\n"values":{{{rows}}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
