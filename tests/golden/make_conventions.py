"""Worlds whose judgments are not as a tool's own tests have them, and what each tool makes of them.

`tests/peers/peers_apart.py` runs the functions of libraries in their environments, 25 worlds a
case. Of programs that no registry has, this writes digests to `trec_eval_worlds.json`: `python
tests/golden/make_conventions.py 10.0/trec_eval 9.0.8/trec_eval`, run from the project root;
trec_eval is built by `make` from the commits in `COMMITS`.
"""

import hashlib
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SEED, WORLDS, AT_ONCE = 20261128, 1000, 25
OUT = Path(__file__).parent / "trec_eval_worlds.json"
COMMITS = {
    "10.0": "f4253652c8efd0d86ddffd0d163cc0a0f813111a",
    "9.0.8": "d95ca64e14a47d763ae349fb65e6d8cde4141dbd",
}
KS = (1, 3, 10, 100)
SCALES = (
    *((0, 1), (0, 0, 1, 2, 3), (0, 1, 12), (1,)),
    *((-2, -1, 0, 0, 1, 2), (-1, 1), (0, 0.5, 1, 1.5, 2.5), (-0.5, 0.4, 1, 2)),
    *((0,), (-1, 0), (-1,)),
)
Graded = dict[str, dict[str, float]]
World = dict[str, Any]
Values = dict[str, list[float]]


def scores(rng: random.Random, n: int) -> list[float]:
    """Scores of n items: all equal, of a few levels, equal in single precision alone, apart, or
    below 0.
    """
    kind = rng.randrange(5)
    if kind == 0:
        return [1.0] * n
    if kind == 1:
        return [float(rng.randrange(3)) for _ in range(n)]
    if kind == 2:
        return [1.0 + rng.randrange(4) * 1e-9 + rng.randrange(2) for _ in range(n)]
    return [rng.randrange(10**6) / 64 - (10**4 if kind == 4 else 0) for _ in range(n)]


def world(rng: random.Random) -> World:
    """Judgments and a run of a few queries, whose ids are those of items as well, or differ in
    case.
    """
    names = rng.sample(["q0", "q1", "q2", "q3", "Q1", "q10"], rng.randint(2, 5))
    items = [*(f"d{place}" for place in range(11)), "D1", "D2", *names]
    judgments: Graded = {}
    run: Graded = {}
    for name in names:
        scale = rng.choice(SCALES)
        judged = rng.sample(items, rng.choice((0, 1, 2, 4, 6, 9)))
        judgments[name] = {item: rng.choice(scale) for item in judged}
        if rng.random() < 0.3:
            judgments[name][name] = rng.choice((1, 2))
        listed = rng.sample(items, rng.choice((0, 1, 3, 6, 9, 12)))
        if rng.random() < 0.4:
            listed = list(dict.fromkeys([name, *listed]))
        if rng.random() < 0.88:
            run[name] = dict(zip(listed, scores(rng, len(listed)), strict=True))
    if rng.random() < 0.1:
        judgments["judged"] = {"d1": 1}
    if rng.random() < 0.2:
        run["unknown"] = {"d1": 1.0, "d2": 2.0}
    return {
        "judgments": judgments,
        "run": run,
        "level": rng.choice((1, 1, 2)),
        "judged_only": rng.random() < 0.3,
    }


def drawn(rng: random.Random) -> list[World]:
    """Some worlds."""
    return [world(rng) for _ in range(AT_ONCE)]


def whole(judgments: Graded) -> dict[str, dict[str, int]]:
    """The judgments with grades as tools for integers have them."""
    return {
        query: {item: int(grade) for item, grade in graded.items()}
        for query, graded in judgments.items()
    }


def survivable(judgments: Graded) -> Graded:
    """The judgments with a further item where all grades of a query are below 0: trec_eval stops
    there, or leaves its memory.
    """
    return {
        query: graded
        if not graded or any(int(grade) >= 0 for grade in graded.values())
        else graded | {"d99": 0}
        for query, graded in judgments.items()
    }


def pairs(
    each: World, *, judged: bool = True, relevant: bool = False
) -> Iterator[tuple[str, dict[str, float], dict[str, float]]]:
    """The queries of both sides with a list and judgments, or with something relevant."""
    for query, graded in sorted(each["judgments"].items()):
        listed = each["run"].get(query)
        if listed and graded and (not relevant or any(grade >= 1 for grade in graded.values())):
            yield query, graded, listed


def is_plain(each: World) -> bool:
    """Whether no two scores of a query are equal in single precision and differ."""
    import struct

    for listed in each["run"].values():
        single = {struct.pack("f", score) for score in listed.values()}
        if len(single) < len(set(listed.values())):
            return False
    return True


def collected(found: Iterator[dict[str, float]]) -> Values:
    """The values of several dictionaries by name."""
    values: Values = {}
    for each in found:
        for name, value in each.items():
            values.setdefault(name, []).append(float(value))
    return values


def pytrec_eval(worlds: list[World]) -> Values:
    """Every measure of every query."""
    import pytrec_eval as library

    def _found() -> Iterator[dict[str, float]]:
        for each in worlds:
            options = {
                "relevance_level": each["level"],
                "judged_docs_only_flag": each["judged_only"],
            }
            judgments = whole(survivable(each["judgments"]))
            evaluator = library.RelevanceEvaluator(judgments, library.supported_measures, **options)
            # It ends the process for a query without results.
            run = {query: listed for query, listed in each["run"].items() if listed}
            yield from (rows for _, rows in sorted(evaluator.evaluate(run).items()))

    return {
        name: values
        for name, values in collected(_found()).items()
        if name not in ("runid", "relstring")
    }


def beir_names() -> list[str]:
    """The words of BEIR that its evaluator gives, and those of its further functions."""
    return [
        f"{word}@{k}"
        for word in ("NDCG", "MAP", "Recall", "P", "MRR", "Accuracy", "R_cap")
        for k in KS
    ]


def beir(worlds: list[World]) -> Values:
    """The means, NaN where BEIR divides by nothing. MRR and others sort in double precision, so
    `is_plain` decides on them.
    """
    from beir.retrieval.evaluation import EvaluateRetrieval

    def _means(each: World) -> dict[str, float]:
        means = dict.fromkeys(beir_names(), math.nan)
        judgments = whole(survivable(each["judgments"]))
        run = {query: dict(listed) for query, listed in each["run"].items()}
        try:
            for found in EvaluateRetrieval.evaluate(judgments, run, list(KS)):
                means |= found
        except ZeroDivisionError:
            return means
        known = {query: listed for query, listed in run.items() if query in judgments}
        if is_plain(each):
            for name in ("mrr", "accuracy"):
                means |= EvaluateRetrieval.evaluate_custom(judgments, known, list(KS), name)
            if all(any(grade > 0 for grade in judgments[query].values()) for query in known):
                means |= EvaluateRetrieval.evaluate_custom(judgments, known, list(KS), "r_cap")
        return means

    return collected(map(_means, worlds))


class _Queries(dict[str, Any]):
    """A data set of queries: a column of ids, of which some rows can be selected."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__(id=ids)

    def select(self, rows: list[int]) -> "_Queries":
        """Some of the rows."""
        return _Queries([self["id"][row] for row in rows])


def mteb(worlds: list[World]) -> Values:
    """The means of a task, NaN where there is none; tasks ignore identical ids or do not, here by
    the world's `judged_only`.
    """
    from mteb._evaluators.retrieval_evaluator import RetrievalEvaluator
    from mteb.abstasks.retrieval import _filter_queries_without_positives as kept

    names = [f"{word}_at_{k}" for word in _MTEB.values() for k in KS]

    def _means(each: World) -> dict[str, float]:
        judgments = whole(survivable(each["judgments"]))
        judgments, queries = kept(judgments, _Queries(list(judgments)))
        run = {query: dict(each["run"][query]) for query in queries["id"] if query in each["run"]}
        try:
            found = RetrievalEvaluator.evaluate(
                None, judgments, run, list(KS), ignore_identical_ids=each["judged_only"]
            )
        except (ZeroDivisionError, IndexError, ValueError):
            return dict.fromkeys(names, math.nan)
        means: dict[str, float] = {}
        for part in (
            found.ndcg,
            found.map,
            found.recall,
            found.precision,
            found.mrr,
            found.hit_rate,
        ):
            means |= {_mteb_name(name): value for name, value in part.items()}
        # MRR alone sorts in double precision.
        return {
            name: means[name] if is_plain(each) or "mrr" not in name else math.nan for name in names
        }

    return collected(map(_means, worlds))


_MTEB = {
    "NDCG": "ndcg",
    "MAP": "map",
    "Recall": "recall",
    "P": "precision",
    "MRR": "mrr",
    "HitRate": "hit_rate",
}


def _mteb_name(name: str) -> str:
    word, _, k = name.partition("@")
    return f"{_MTEB[word]}_at_{k}"


def sentence_transformers(worlds: list[World]) -> Values:
    """The figures of the InformationRetrievalEvaluator for rankings that it is handed."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    def _figures(each: World) -> dict[str, float]:
        relevant = {
            query: {item for item, grade in graded.items() if grade >= 1}
            for query, graded in each["judgments"].items()
        }
        ks = list(KS)
        options: dict[str, Any] = {
            f"{name}_at_k": ks for name in ("mrr", "ndcg", "accuracy", "precision_recall", "map")
        }
        evaluator = InformationRetrievalEvaluator(
            dict.fromkeys(relevant, ""), {"d1": ""}, relevant, **options
        )
        lists: list[Any] = [
            [
                {"corpus_id": item, "score": score}
                for item, score in each["run"].get(query, {}).items()
            ]
            for query in evaluator.queries_ids
        ]
        names = [
            f"{word}@{k}"
            for word in ("accuracy", "precision", "recall", "ndcg", "mrr", "map")
            for k in KS
        ]
        if (
            not lists or not each["run"].keys() & each["judgments"].keys()
        ):  # where rankwell has nothing to evaluate
            return dict.fromkeys(names, math.nan)
        found: Any = evaluator.compute_metrics(lists)
        return {
            f"{word.removesuffix('@k')}@{k}": value
            for word, values in found.items()
            for k, value in values.items()
        }

    return collected(map(_figures, worlds))


RANX = (
    *(
        f"{word}@{k}"
        for word in ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "ndcg")
        for k in KS
    ),
    *(
        "r-precision",
        "bpref",
        "rbp.80",
        "ndcg_burges@3",
        "dcg@3",
        "dcg_burges@10",
        "precision@3-l2",
        "recall@10-l2",
    ),
)


def untied(each: World) -> World:
    """The world with scores that no two items of a query share."""
    lists = {
        query: listed if len({*listed.values()}) == len(listed) else _apart(listed)
        for query, listed in each["run"].items()
    }
    return each | {"run": lists}


def _apart(listed: dict[str, float]) -> dict[str, float]:
    return {item: float(len(listed) - place) for place, item in enumerate(listed)}


def ranx(worlds: list[World]) -> Values:
    """The measures of queries that both sides have, by integer grades; ranx sorts ties without an
    order, so there are none.
    """
    import ranx as library

    def _found() -> Iterator[dict[str, float]]:
        for each in map(untied, worlds):
            for query, graded, listed in pairs(each):
                qrels = library.Qrels({query: whole({query: graded})[query]})
                values = library.evaluate(
                    qrels, library.Run({query: listed}), list(RANX), return_mean=False
                )
                yield {name: float(value[0]) for name, value in values.items()}

    return collected(_found())


def positive(each: World) -> World:
    """The world with scores from 1 up, none of them twice: to torchmetrics an item that scores 0 or
    less is not relevant.
    """
    return each | {"run": {query: _apart(listed) for query, listed in each["run"].items()}}


TORCHMETRICS = {
    "reciprocal_rank": "RR@{k}",
    "precision": "P@{k}",
    "precision adaptive": "P(denom='retrieved')@{k}",
    "recall": "R@{k}",
    "hit_rate": "Success@{k}",
    "average_precision": "AP(denom='found')@{k}",
    "normalized_dcg": "nDCG@{k}",
}


def candidates(graded: dict[str, float], listed: dict[str, float]) -> dict[str, float]:
    """The grades of the items in a list alone, those below 0 as 0: what a library sees that is
    handed arrays.
    """
    return {item: max(0.0, graded.get(item, 0)) for item in listed}


def torchmetrics(worlds: list[World]) -> Values:
    """Its functions for the lists of queries: each knows the items of the list alone, and binary
    grades except for nDCG.
    """
    import torch
    from torchmetrics.functional import retrieval

    def _found() -> Iterator[dict[str, float]]:
        for each in map(positive, worlds):
            for _, graded, listed in pairs(each, relevant=True):
                grades = candidates(graded, listed)
                preds = torch.tensor(list(listed.values()))
                target = torch.tensor([int(grades[item]) for item in listed])
                values: dict[str, float] = {
                    "r_precision": float(retrieval.retrieval_r_precision(preds, target > 0))
                }
                for word in TORCHMETRICS:
                    name, _, adaptive = word.partition(" ")
                    call: Callable[..., Any] = getattr(retrieval, f"retrieval_{name}")
                    options = {"adaptive_k": True} if adaptive else {}
                    for k in KS:
                        values[f"{word}@{k}"] = float(
                            call(preds, target if "dcg" in name else target > 0, top_k=k, **options)
                        )
                yield values

    return collected(_found())


def scikit_learn(worlds: list[World]) -> Values:
    """nDCG and DCG of the lists of queries, tied items at the mean over their orders; it knows the
    items of the list alone.
    """
    from sklearn.metrics import dcg_score, ndcg_score

    def _found() -> Iterator[dict[str, float]]:
        for each in worlds:
            for _, graded, listed in pairs(each):
                if len(listed) > 1:
                    grades = [[candidates(graded, listed)[item] for item in listed]]
                    given = [list(listed.values())]
                    yield {f"nDCG@{k}": ndcg_score(grades, given, k=k) for k in KS} | {
                        f"DCG@{k}": dcg_score(grades, given, k=k) for k in KS
                    }

    return collected(_found())


TREC_COMMANDS = (
    "-q -c -m all_trec",
    "-q -c -J -m all_trec",
    "-q -c -l2 -M4 -m official -m set -m infAP -m relstring.20",
)


def trec_files(worlds: list[World], *, comments: bool) -> dict[str, str]:
    """The worlds as one file of judgments and one run; queries are named after their worlds.

    Version 10 loses its place after two comments in a row.
    """
    qrels, run = list[str](), list[str]()
    for number, each in enumerate(worlds):
        rng = random.Random(number)
        if comments:
            qrels.append(f"# world {number}")
            run += [f"# world {number}", "", "# of many"]
        for query, graded in survivable(each["judgments"]).items():
            blank = rng.choice((" ", "\t", "  "))
            qrels += [
                blank.join((f"w{number}-{query}", "0", item, str(grade)))
                for item, grade in graded.items()
            ]
        qrels.append(f"w{number}-end 0 d1 1")
        for query, listed in each["run"].items():
            run += [
                f"w{number}-{query} Q0 {item} x {score!r} a tag" for item, score in listed.items()
            ]
        run += [f"w{number}-end Q0 d1 1 1e0 tag"]
    return {"qrels": "\n".join(qrels) + "\n", "run": "\n".join(run)}


def digests(printed: str) -> list[str]:
    """A digest of the lines of each world, and of the lines that are of no query."""
    lines: dict[str, list[str]] = {str(number): [] for number in range(WORLDS)}
    for line in printed.splitlines():
        query = line.split("\t")[1]
        lines.setdefault(query.partition("-")[0].removeprefix("w"), []).append(line)
    return [hashlib.sha256("\n".join(own).encode()).hexdigest()[:8] for own in lines.values()]


def all_worlds() -> list[World]:
    """The worlds of the file."""
    rng = random.Random(SEED)
    return [world(rng) for _ in range(WORLDS)]


def main() -> None:
    """Writes the file from the two programs."""
    programs = dict(zip(COMMITS, sys.argv[1:], strict=True))
    recorded: dict[str, dict[str, list[str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for version, program in programs.items():
            for name, text in trec_files(all_worlds(), comments=version == "10.0").items():
                Path(folder, name).write_text(text, encoding="utf-8")
            for command in TREC_COMMANDS:
                words = [str(Path(program).resolve()), *command.split(), "qrels", "run"]
                done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
                recorded.setdefault(version, {})[command] = digests(done.stdout)
    about = {
        "tools": COMMITS,
        "command": "python tests/golden/make_conventions.py 10.0/trec_eval 9.0.8/trec_eval",
        "date": "2026-11-28",
    }
    rows = {
        version: {command: "".join(own) for command, own in commands.items()}
        for version, commands in recorded.items()
    }
    OUT.write_text(
        json.dumps({"about": about | {"seed": SEED}, "digests": rows}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
