"""The contract of the public API: every module imports, every name is there, every function
runs.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from rankwell import Judgments, Ranking

TRUTH, RUN = {"q": {"a": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
ASPECTS = {"q": {"1": {"a": 1.0}}}
CLIPS = "slice_id,pv_object_type\na,bicyclist\nb,bicyclist\n"
SQUAD = [
    {"id": "q", "question": "?", "context": "a b c", "answers": [{"text": "b", "answer_start": 2}]}
]
MODULES = [
    each.name
    for each in pkgutil.walk_packages(rankwell.__path__, "rankwell.")
    if not each.name.endswith("__main__")
]
FUNCTIONS = [name for name in rankwell.__all__ if inspect.isfunction(getattr(rankwell, name))]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def clips(folder: Path) -> Any:
    return rankwell.read_annotations(written(folder / "clips.csv", CLIPS))


def squad(folder: Path) -> Path:
    import json

    return written(folder / "gold.jsonl", "".join(json.dumps(row) + "\n" for row in SQUAD))


def texts(folder: Path) -> Path:
    return written(folder / "texts.txt", "a red car\na red bus\n")


def images(folder: Path) -> Path:
    return written(folder / "images.csv", "image,instance,split\na1,x,reference\na2,x,query\n")


SPAN = {"document": "d", "start": 0, "end": 4}
CALLS: dict[str, Callable[[Path], Any]] = {
    "evaluate_embeddings": lambda _: rankwell.evaluate_embeddings(np.eye(4), {"m": np.eye(4)}, k=1),
    "answer_judge": lambda _: rankwell.answer_judge(len, name="judge"),
    "bench": lambda folder: rankwell.bench(bench_file(folder), folder / "results"),
    "evaluate_crossmodal": lambda _: rankwell.evaluate_crossmodal(np.eye(3)),
    "check": lambda _: rankwell.check(TRUTH, RUN),
    "compare_lists": lambda _: rankwell.compare_lists(["a", "b"], ["b", "a"], "RBO"),
    "compare_values": lambda _: rankwell.compare_values(evaluated()),
    "convert": lambda folder: rankwell.convert(
        written(folder / "run", "q Q0 a 1 2.0 r\n"), folder / "run.json"
    ),
    "encode": lambda folder: rankwell.encode(
        texts(folder), folder / "texts.npy", encoder="tfidf-svd:1", fit=str(folder / "texts.txt")
    ),
    "eval_q2m": lambda _: rankwell.eval_q2m(np.eye(3), [[0], [1], [2]]),
    "evaluate": lambda _: rankwell.evaluate(TRUTH, RUN),
    "evaluate_qa": lambda folder: rankwell.evaluate_qa(
        squad(folder), {"q": "b"}, convention="squad2"
    ),
    "evaluate_beyond": lambda _: rankwell.evaluate_beyond({"q": ["a"]}, "Entropy@1"),
    "evaluate_citations": lambda _: rankwell.evaluate_citations(
        [{"id": "q", "statement": "s", "citations": [], "entailed": False}]
    ),
    "evaluate_keywords": lambda folder: rankwell.evaluate_keywords(
        clips(folder), np.eye(2), item_ids=["a", "b"]
    ),
    "evaluate_images": lambda folder: rankwell.evaluate_images(
        images(folder), scores=np.ones((1, 1)), query_ids=["a2"], item_ids=["a1"]
    ),
    "evaluate_interleaving": lambda _: rankwell.evaluate_interleaving(
        rankwell.interleave({"q": ["a"]}, {"q": ["a"]}), {"query": ["q"], "item": ["a"]}
    ),
    "evaluate_clicks": lambda _: rankwell.evaluate_clicks({"click": [1, 0]}),
    "evaluate_rag": lambda _: rankwell.evaluate_rag(
        [{"id": "q", "passages": [SPAN]}], [{"id": "q", "chunks": [SPAN]}], measures="SpanR@1"
    ),
    "explain": lambda _: rankwell.explain("RR"),
    "find_hits": lambda folder: rankwell.find_hits(
        written(folder / "run", "q Q0 a 1 2.0 r\n"), Judgments.from_dict(TRUTH)
    ),
    "fuse": lambda _: rankwell.fuse([RUN, RUN]),
    "group_rankings": lambda _: rankwell.group_rankings(ASPECTS, RUN),
    "intent_rankings": lambda _: rankwell.intent_rankings(ASPECTS, RUN),
    "interleave": lambda _: rankwell.interleave({"q": ["a"]}, {"q": ["b"]}),
    "judged_rankings": lambda _: rankwell.judged_rankings(TRUTH, RUN),
    "measure": lambda _: rankwell.measure(
        lambda view: view.first_rank(view.relevant(1)), name="first_rank_of_mine"
    ),
    "parse_measure": lambda _: rankwell.parse_measure("nDCG@10"),
    "preference_rankings": lambda _: rankwell.preference_rankings(
        {"q": {"1": {"1": {"a": 1.0, "b": 2.0}}}}, RUN
    ),
    "ranking_pairs": lambda _: rankwell.ranking_pairs(RUN, RUN),
    "read_annotations": clips,
    "read_images": lambda folder: rankwell.read_images(images(folder)),
    "read_judgments": lambda _: rankwell.read_judgments(TRUTH),
    "read_predictions": lambda folder: rankwell.read_predictions(
        written(folder / "predictions.json", '{"q": "b"}')
    ),
    "read_questions": lambda folder: rankwell.read_questions(squad(folder)),
    "read_ranking": lambda _: rankwell.read_ranking(RUN),
    "read_schema": lambda folder: rankwell.read_schema(schema_file(folder)),
    "evaluate_engine": lambda _: rankwell.evaluate_engine(
        lambda query, k: ["a"][:k], {"q": "?"}, rounds=1
    ),
    "knn": lambda _: rankwell.knn(queries=np.eye(3), items=np.eye(3), neighbours=1),
    "tune_fusion": lambda _: rankwell.tune_fusion([two(RUN), two(RUN)], two(TRUTH)),
    "write_judgments": lambda folder: rankwell.write_judgments(
        Judgments.from_dict(TRUTH), folder / "qrels.csv"
    ),
    "write_run": lambda folder: rankwell.write_run(Ranking.from_dict(RUN), folder / "run.csv"),
}
"""The smallest valid call of every public function."""


def two(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {f"q{number}": rows["q"] for number in range(5)}


def evaluated() -> Any:
    return rankwell.evaluate(
        two(TRUTH), {"a": two(RUN), "b": two({"q": {"b": 1.0, "a": 0.5}})}, "RR"
    ).values


def schema_file(folder: Path) -> Path:
    data = Path(rankwell.__file__).parent / "tasks" / "keywords" / "data" / "clip_schema.json"
    return written(folder / "schema.json", data.read_text(encoding="utf-8"))


def bench_file(folder: Path) -> Path:
    written(folder / "qrels", "q 0 a 1\nq2 0 a 1\n")
    written(folder / "run", "q Q0 a 1 2.0 r\nq2 Q0 b 1 1.0 r\n")
    dataset = '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = "{system}"\n'
    return written(folder / "bench.toml", dataset + '[[system]]\nname = "run"\n')


@pytest.mark.parametrize("name", MODULES)
def test_every_module_can_be_imported(name: str):
    assert importlib.import_module(name).__name__ == name


@pytest.mark.parametrize("name", rankwell.__all__)
def test_a_public_name_is_defined_in_the_module_that_is_named(name: str):
    value = getattr(rankwell, name)

    assert value is not None
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__module__ == rankwell._homes()[name]


def test_no_two_folders_have_one_public_name():
    tasks = sorted(Path(rankwell.__file__).parent.glob("tasks/*/__init__.py"))
    folders = [
        rankwell._NAMES,
        *(
            importlib.import_module(f"rankwell.tasks.{file.parent.name}").PUBLIC_NAMES
            for file in tasks
        ),
    ]

    assert sorted(name for names in folders for name in names) == sorted(rankwell._homes())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_runs_on_the_smallest_input(name: str, tmp_path: Path):
    assert name in CALLS, f"{name} has no smallest call here"
    CALLS[name](tmp_path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_runs_whatever_numpy_does_with_floating_point_errors(
    name: str, tmp_path: Path
):
    with np.errstate(all="raise"):
        found = CALLS[name](tmp_path)
        if isinstance(found, rankwell.Results):
            assert str(found)
            assert found.summary is not None
            assert found.interval_notes is not None
            assert list(found.per_query()) is not None


def test_no_call_is_left_of_a_name_that_is_gone():
    assert sorted(set(CALLS) - set(FUNCTIONS)) == []


WITH_OPTIONS = {
    **{name: getattr(rankwell, name) for name in FUNCTIONS},
    **{
        f"Results.{name}": function
        for name, function in inspect.getmembers(rankwell.Results, inspect.isfunction)
    },
}
WITH_OPTIONS = {
    name: function
    for name, function in WITH_OPTIONS.items()
    if "options" in inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_help_has_every_parameter_with_its_type_and_default_and_speaks_of_no_command_line(
    name: str,
):
    function = WITH_OPTIONS[name]
    text = inspect.getdoc(function) or ""
    section = text.partition("\nParameters\n----------\n")[2].partition("\n\n>>> ")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    parameters = inspect.signature(function).parameters

    assert [line.partition(":")[0].lstrip("*") for line in lines] == [
        parameter for parameter in parameters if parameter != "self"
    ]
    for line, parameter in zip(
        lines, [each for each in parameters.values() if each.name != "self"], strict=True
    ):
        assert ": " in line
        if parameter.default is not inspect.Parameter.empty:
            assert line.endswith(f" = {parameter.default!r}")
    assert not re.search(r"(?<![\w-])--?[a-z]|[Rr]epeat it|Option\(|Injected|Annotated", text)
    assert not re.search(r"Option\(|Injected|Annotated", str(inspect.signature(function)))
