"""Calls of the public functions with what the command line cannot say: arrays, dictionaries,
frames, callables, live engines.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rankwell as rw

Found = Mapping[str, Any]
Call = Callable[[], Found]


def shown(result: Any, *tables: str) -> Found:
    """What every result says of itself, and further tables by name."""
    said = {
        "describe": result.describe(),
        "summary": result.summary,
        "per query": list(result.per_query()),
        "notes": result.findings,
    }
    return said | {name: getattr(result, name) for name in tables}


def _runs() -> tuple[dict[str, Any], dict[str, Any]]:
    judgments = json.loads(Path("qrels.json").read_text(encoding="utf-8"))
    return judgments, {
        "first": json.loads(Path("runs/a.json").read_text(encoding="utf-8")),
        "second": _trec("b.run"),
    }


def _trec(path: str) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        query, _, item, _, score, _ = line.split(" ")
        run.setdefault(query, {})[item] = float(score)
    return run


def _evaluate(**options: Any) -> Found:
    judgments, runs = _runs()
    return shown(rw.evaluate(judgments, runs, ["nDCG@5", "AP", "RR", "P@5"], **options))


def _frames(**options: Any) -> Found:
    import pandas as pd

    judgments, runs = _runs()
    frame = pd.DataFrame(
        [(q, d, s) for q, each in runs["first"].items() for d, s in each.items()],
        columns=["query", "item", "score"],
    )
    result = rw.evaluate(
        judgments, frame, "nDCG@5 AP", details=True, queries={"q1": "first"}, **options
    )
    return {
        **shown(result),
        "frame": result.to_pandas().to_csv(),
        "values": result.to_polars("per_query").write_csv(),
    }


def _captions(name: str = "tied", **options: Any) -> Found:
    positives = json.loads(Path("captions/several.json").read_text())
    options = {"convention": "hgr"} | options
    return shown(rw.evaluate_crossmodal(np.load(f"captions/{name}.npy"), positives, **options))


def _captions_of_vectors(**options: Any) -> Found:
    queries, gallery = np.load("captions/queries.npy"), np.load("captions/gallery.npy")
    options = {"convention": "hgr"} | options
    return shown(
        rw.evaluate_crossmodal(
            query_vectors=queries, item_vectors=gallery, qrels="counts:3", **options
        )
    )


def _captions_masked() -> Found:
    mask = np.array(json.loads(Path("captions/mask.json").read_text()), dtype=bool)
    texts = Path("captions/texts.txt").read_text().splitlines()
    return shown(
        rw.evaluate_crossmodal(
            np.load("captions/tied.npy"),
            "counts:3",
            mask=mask,
            queries=texts,
            details=True,
            convention="clip4clip-multi",
        )
    )


def _q2m() -> Found:
    scores = np.load("captions/tied.npy")
    positives = {
        name: json.loads(Path(f"captions/{name}.json").read_text())
        for name in ("positives", "several", "gaps")
    }
    return {
        name: [float(each) for each in rw.eval_q2m(scores, lists)]
        for name, lists in positives.items()
    }


def _clips(**options: Any) -> Found:
    names = Path("clips/ids.txt").read_text().split()
    options = {"measures": None if "convention" in options else "P R AP nDCG"} | options
    result = rw.evaluate_keywords(
        "clips/table.csv", np.load("clips/vectors.npy"), item_ids=names, details=True, **options
    )
    return shown(result, "by_group", "by_keyword")


def _clips_by_text(**options: Any) -> Found:
    schema = rw.read_schema("clips/schema.json")
    mapper = rw.KeywordMapper(schema.vocabulary)
    result = rw.evaluate_keywords(
        "clips/table.csv",
        "clips/vectors.npy",
        measures="P R AP nDCG",
        queries="clips/queries.csv",
        schema=schema,
        query_vectors="clips/texts.npy",
        map_text=lambda text: mapper.map_text(text).query_keywords,
        **options,
    )
    return shown(result, "by_group", "by_keyword")


class _Engine:
    """Answers the same clips to everybody, the nearer the shorter the text."""

    def search_by_text(self, query: str, top_k: int = 10) -> list[str]:
        names = Path("clips/ids.txt").read_text().split()
        return sorted(names, key=lambda name: (len(query) + names.index(name) * 7) % 23)[:top_k]


def _clips_live() -> Found:
    result = rw.evaluate_keywords(
        "clips/table.csv", queries="clips/queries.csv", engine=_Engine(), convention="alfa"
    )
    return shown(result, "by_group", "by_keyword")


def _instances(name: str = "scores", **options: Any) -> Found:
    ids = {
        each: Path(f"images/{each}.ids.txt").read_text().split()
        for each in ("queries", "references")
    }
    options = {"convention": "thesis"} | options
    result = rw.evaluate_images(
        "images/table.csv",
        scores=np.load(f"images/{name}.npy"),
        query_ids=ids["queries"],
        item_ids=ids["references"],
        **options,
    )
    return shown(result, "by_instance")


def _instances_of_vectors(**options: Any) -> Found:
    names = Path("images/all.ids.txt").read_text().split()
    options = {"convention": "thesis"} | options
    return shown(
        rw.evaluate_images(
            "images/table.csv", item_vectors=np.load("images/all.npy"), item_ids=names, **options
        ),
        "by_instance",
    )


def _agree(**options: Any) -> Found:
    vectors = {name: np.load(f"vectors/{name}.npy") for name in ("teacher", "near", "far")}
    reference = vectors.pop("teacher")
    plain = not {"measures", "convention"} & options.keys()
    options = {"seed": 42, "k": (1, 5)} | ({"measures": "all"} if plain else {}) | options
    return shown(rw.evaluate_embeddings(reference, vectors, samples="all", **options))


def _agree_measures() -> Found:
    names = Path("vectors/ids.txt").read_text().split()
    return _agree(
        measures=["Overlap", "RBO", "nDCG(gains='similarity')@5", "MnR_first"],
        item_ids=names,
        exclude_group=[name[-1] for name in names],
        ceiling=True,
        metric="dot",
    )


def _by_rules(case: Callable[..., Found], base: str, task: str, rule: str, **options: Any) -> Found:
    """A case under a convention of its own: the base, and one other rule of its task."""
    Path("own.toml").write_text(f'base = "{base}"\n[tasks.{task}]\n{rule}\n')
    return case(convention="./own.toml", **options)


def _answers(**options: Any) -> Found:
    predictions = json.loads(Path("answers/texts.json").read_text())
    options = {"convention": "squad2"} | options
    return shown(rw.evaluate_qa("answers/gold.json", predictions, **options))


def _answers_and_lists() -> Found:
    questions = rw.read_questions("answers/gold.json")
    predictions = rw.read_predictions("answers/ranked.jsonl", questions=questions.table)
    retrieved = rw.read_ranking("answers/found.run")
    result = rw.evaluate_qa(
        questions.table,
        predictions.table,
        retrieved=retrieved,
        ties="optimistic",
        convention="piaf",
        details=True,
    )
    return {**shown(result), "notes of files": [*questions.findings, *predictions.findings]}


def _lists() -> Found:
    reference, candidate = [7, 23, 156, 89, 42, 3], [7, 89, 12, 23, 99, 156]
    graded = {7: 0.9, 23: 0.8, 156: 0.8, 89: 0.1}
    measures = ["Recall@5", "NDCG@5", "MRR@5", "MAP@5"]
    pairs = [
        "Overlap@5",
        "Jaccard@5",
        "RBO@6",
        "AO@6",
        "TauAP@6",
        "Spearman@6",
        "SpearmanUnion@6",
        "MnR_first",
    ]
    found = {
        f"{each} {depth}": rw.compare_lists(reference, candidate, each, gold_depth=depth)
        for each in measures
        for depth in (None, 3)
    }
    found |= {
        f"{each} rankwell": rw.compare_lists(reference, candidate, each, convention="rankwell")
        for each in pairs
    }
    found |= {f"{each} graded": rw.compare_lists(graded, candidate, each) for each in measures}
    return {name: float(value) for name, value in found.items()}


def _compare(**options: Any) -> Found:
    judgments, runs = _runs()
    runs["third"] = _trec("c.run")
    result = rw.compare_values(rw.evaluate(judgments, runs, "AP nDCG@5").values, **options)
    found = shown(result)
    return {
        **found,
        "differences": rows_of(result.differences),
        "verdicts": result.verdicts,
        "chart": _chart(result.chart("deltas")),
    }


def rows_of(rows: Iterable[Any]) -> list[Any]:
    """Rows as mappings where they are named tuples or data classes: what they are called changes,
    their fields do not.
    """
    return [
        row._asdict() if hasattr(row, "_asdict") else vars(row) if hasattr(row, "__dict__") else row
        for row in rows
    ]


def _chart(spec: Any) -> str:
    return json.dumps(spec, default=str)


def _tune() -> Found:
    judgments, runs = _runs()
    runs["third"] = _trec("c.run")
    tuned = rw.tune_fusion(
        runs,
        judgments,
        measure="AP",
        methods=("rrf", "combsum"),
        normalization=("min-max", "rank"),
        step=0.25,
        folds=3,
    )
    return {
        "describe": tuned.describe(),
        "rows": rows_of(tuned.rows),
        "scores": tuned.ranking.scores.tolist(),
        "items": list(tuned.ranking.items),
    }


def _retrieve() -> Found:
    """A function that finds words, of which one query fails and one is without judgments."""
    items = {
        "a": "command line parsing",
        "b": "event scheduler",
        "c": "parse a date",
        "d": "scheduler of a command",
    }

    def search(query: str, k: int) -> list[tuple[str, float]]:
        if query == "out of order":
            raise RuntimeError("out of order")
        shared = {
            item: sum(word in text.split() for word in query.split())
            for item, text in items.items()
        }
        return sorted(
            ((item, float(n)) for item, n in shared.items() if n),
            key=lambda pair: (-pair[1], pair[0]),
        )[:k]

    queries = {"q1": "parse a command", "q2": "scheduler", "q3": "out of order", "q4": "date"}
    judged = {"q1": {"a": 2, "c": 1}, "q2": {"b": 1}, "q3": {"d": 1}}
    result = rw.evaluate_engine(
        search,
        queries,
        documents=items,
        qrels=judged,
        measures="nDCG@3 RR R@3",
        depth=3,
        rounds=2,
        warm_up=1,
        allow_failures=2,
        seed=3,
    )
    result.save("live_out")
    return shown(result, "tables")


def _bench() -> Found:
    results = rw.bench("bench.toml", "out", only=["runs/*", "videos/*"])
    return {
        "describe": results.describe(),
        "summary": results.summary,
        "notes": results.findings,
        "failed": len(results.failed),
        **{
            name: results.render(name)
            for name in ("table", "md", "csv", "tsv", "json", "jsonl", "latex", "html")
        },
        "frame": results.to_pandas().to_csv(),
        "chart": _chart(results.chart()),
    }


def _views() -> Found:
    judgments, runs = _runs()
    found: dict[str, Any] = {}
    for ties in ("id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic"):
        view = rw.judged_rankings(judgments, runs["first"], ties=ties)
        counts = {name: getattr(view, name).tolist() for name in ("above", "tied", "before")}
        counts["retrieved"] = view.n_retrieved.tolist()
        found[ties] = {"queries": list(view.queries), "items": list(view.items), **counts}
    return found


def _pytrec_eval() -> Found:
    from rankwell.compat import pytrec_eval

    judgments, runs = _runs()
    whole = {
        query: {item: max(grade, 0) for item, grade in graded.items()}
        for query, graded in judgments.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(whole, pytrec_eval.supported_measures)
    found = evaluator.evaluate(runs["first"])
    return {query: dict(sorted(values.items())) for query, values in sorted(found.items())}


CASES: dict[str, Call] = {
    "evaluate": _evaluate,
    "evaluate-t": partial(_evaluate, intervals="t"),
    "evaluate-expected": partial(_evaluate, ties="expected", intervals="none"),
    "evaluate-trec_eval9": partial(_evaluate, convention="trec_eval9"),
    "evaluate-skip": partial(
        _evaluate,
        no_relevant="skip",
        unjudged="skip",
        average_over="both",
        exclude_self=True,
        min_grade=2,
    ),
    "evaluate-frame": _frames,
    "crossmodal": _captions,
    "crossmodal-clear": partial(_captions, "clear", convention="mmt", intervals="t"),
    "crossmodal-expected": partial(
        _captions, ties="expected", measures="R@1 AP nDCG@5 ERR@3", details=True
    ),
    "crossmodal-string": partial(_captions, convention="vse", k="1,2"),
    "crossmodal-vectors": _captions_of_vectors,
    "crossmodal-vectors-l2": partial(
        _captions_of_vectors, metric="l2", convention="frozen", direction="t2v,v2t,v2t-videos"
    ),
    "crossmodal-mask": _captions_masked,
    "eval_q2m": _q2m,
    "keywords": _clips,
    "keywords-graded": partial(
        _by_rules,
        _clips,
        "rankwell",
        "keywords",
        'weight_by = "relevant"',
        measures="P R AP nDCG",
        relevance="graded",
        keyword_groups=["object type"],
        k=(2, 3),
    ),
    "keywords-expected": partial(_clips, ties="expected", measures=["ERR@3", "AP"]),
    "keywords-after": partial(_by_rules, _clips, "alfa", "keywords", 'self_rule = "after"'),
    "keywords-text": _clips_by_text,
    "keywords-text-any": partial(_clips_by_text, relevance="any", ties="optimistic"),
    "keywords-live": _clips_live,
    "images": _instances,
    "images-market": partial(_instances, convention="market1501", details=True),
    "images-expected": partial(
        _instances, ties="expected", measures="AP P@1 cmc@2 ERR@3", exclude_group="camera"
    ),
    "images-vectors": _instances_of_vectors,
    "images-oxford": partial(
        _instances_of_vectors,
        convention="oxford",
        no_relevant="skip",
        transforms="query-expansion(k=2,alpha=1)",
    ),
    "embeddings": _agree,
    "embeddings-measures": _agree_measures,
    "embeddings-scholar": partial(_agree, convention="scholar-stream"),
    "qa": _answers,
    "qa-none": partial(
        _by_rules,
        _answers,
        "squad2",
        "qa",
        'normalizer = "french"\nmissing = "skip"',
        intervals="none",
    ),
    "qa-lists": _answers_and_lists,
    "compare_lists": _lists,
    "compare_values": _compare,
    "compare_values-t": partial(
        _compare, test="t", correction="bh", intervals="t", baseline="first"
    ),
    "engine": _retrieve,
    "tune_fusion": _tune,
    "bench": _bench,
    "judged_rankings": _views,
    "pytrec_eval": _pytrec_eval,
}
