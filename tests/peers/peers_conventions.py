"""Rankwell's values for the cases of tests/golden/make_conventions.py, by the names of each library
there.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

Case = dict[str, Any]
Values = dict[str, list[float]]


def _made() -> Any:
    return import_module("make_conventions")


def _judged(case: Case) -> dict[str, dict[str, int]]:
    return _made().whole(_made().survivable(case["judgments"]))


def pytrec_eval(cases: Sequence[Case]) -> Values:
    """The drop-in for pytrec_eval."""
    from rankwell.compat.pytrec_eval import RelevanceEvaluator, supported_measures

    rows: list[Mapping[str, float]] = []
    for case in cases:
        options = {"relevance_level": case["level"], "judged_docs_only_flag": case["judged_only"]}
        evaluator = RelevanceEvaluator(_judged(case), supported_measures, **options)
        run = {query: listed for query, listed in case["run"].items() if listed}
        rows += [values for _, values in sorted(evaluator.evaluate(run).items())]
    return {
        name: values
        for name, values in _made().collected(iter(rows)).items()
        if name not in ("runid", "relstring")
    }


def _means(judgments: Any, run: Any, words: Iterable[str], **rules: Any) -> dict[str, float]:
    """The means by words of a convention, NaN where no query is left."""
    from rankwell import evaluate
    from rankwell.errors import NothingToEvaluate

    names = list(words)
    try:
        found = evaluate(judgments, run, names, intervals="none", **rules)
    except NothingToEvaluate:
        return dict.fromkeys(names, math.nan)
    return {name: math.nan if found[name] is None else float(found[name]) for name in names}


def beir(cases: Sequence[Case]) -> Values:
    """The convention beir; its further words with the choices that docs/switch/beir.md
    gives for them.
    """
    rows: list[dict[str, float]] = []
    for case in cases:
        judgments, run = _judged(case), case["run"]
        names = _made().beir_names()
        means = dict.fromkeys(names, math.nan) | _means(
            judgments, run, names[:16], convention="beir"
        )
        known = [query for query in run if query in judgments]
        if not math.isnan(means[names[0]]) and _made().is_plain(case):
            all_relevant = all(
                any(grade > 0 for grade in judgments[query].values()) for query in known
            )
            further = names[16:] if all_relevant else names[16:24]
            means |= _means(
                judgments, run, further, convention="beir", ties="input", average_over="judged"
            )
        rows.append(means)
    return _made().collected(iter(rows))


def mteb(cases: Sequence[Case]) -> Values:
    """The convention mteb."""
    words = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")
    names = [f"{word}_at_{k}" for word in words for k in _made().KS]
    rows: list[dict[str, float]] = []
    for case in cases:
        means = _means(
            _judged(case), case["run"], names, convention="mteb", exclude_self=case["judged_only"]
        )
        rows.append(
            {
                name: means[name] if _made().is_plain(case) or "mrr" not in name else math.nan
                for name in names
            }
        )
    return _made().collected(iter(rows))


def sentence_transformers(cases: Sequence[Case]) -> Values:
    """The convention st."""
    names = [
        f"{word}@{k}"
        for word in ("accuracy", "precision", "recall", "ndcg", "mrr", "map")
        for k in _made().KS
    ]
    return _made().collected(
        _means(case["judgments"], case["run"], names, convention="st") for case in cases
    )


def _per_query(
    lists: Sequence[tuple[dict[str, float], dict[str, float]]],
    words: Mapping[str, str],
    **rules: Any,
) -> Values:
    """The values of every query by the names of a library. lists: the grades and the scores of
    each. words: name -> measure.
    """
    from rankwell import evaluate

    names = [f"{number:06}" for number in range(len(lists))]
    judgments = dict(zip(names, (graded for graded, _ in lists), strict=True))
    run = dict(zip(names, (scored for _, scored in lists), strict=True))
    found = evaluate(judgments, run, list(dict.fromkeys(words.values())), intervals="none", **rules)
    columns = {
        values.label: dict(zip(values.queries, values.values.tolist(), strict=True))
        for values in found.values
    }
    return {name: [columns[word][query] for query in names] for name, word in words.items()}


def ranx(cases: Sequence[Case]) -> Values:
    """The convention ranx."""
    made = _made()
    lists = [
        (made.whole({"q": graded})["q"], listed)
        for each in map(made.untied, cases)
        for _, graded, listed in made.pairs(each)
    ]
    words = {name: name for name in made.RANX if "-l" not in name}
    words |= {"precision@3-l2": "P(rel=2)@3", "recall@10-l2": "R(rel=2)@10", "rbp.80": "rbp.80"}
    values = _per_query(lists, words, convention="ranx")
    defined = [_has_bpref(graded, listed) for graded, listed in lists]
    return values | {
        "bpref": [
            value if there else math.nan
            for value, there in zip(values["bpref"], defined, strict=True)
        ]
    }


def _has_bpref(graded: Mapping[str, float], listed: Mapping[str, float]) -> bool:
    """Whether ranx does not divide by 0: it does where all judged items are relevant and one of
    them is found.
    """
    relevant = {item for item, grade in graded.items() if grade >= 1}
    return len(relevant) < len(graded) or not relevant & listed.keys()


def torchmetrics(cases: Sequence[Case]) -> Values:
    """The measures of torchmetrics' retrieval."""
    made = _made()
    lists = [
        (made.candidates(graded, listed), listed)
        for each in map(made.positive, cases)
        for _, graded, listed in made.pairs(each, relevant=True)
    ]
    lists = [
        ({item: float(int(grade)) for item, grade in grades.items()}, listed)
        for grades, listed in lists
    ]
    words = {
        f"{word}@{k}": measure.format(k=k)
        for word, measure in made.TORCHMETRICS.items()
        for k in made.KS
    }
    return _per_query(lists, words | {"r_precision": "Rprec"})


def scikit_learn(cases: Sequence[Case]) -> Values:
    """nDCG and DCG with tied items at their expected value."""
    made = _made()
    lists = [
        (made.candidates(graded, listed), listed)
        for each in cases
        for _, graded, listed in made.pairs(each)
        if len(listed) > 1
    ]
    names = [f"{word}@{k}" for word in ("nDCG", "DCG") for k in made.KS]
    return _per_query(lists, {name: name for name in names}, ties="expected")
