"""Conventions of single tasks on a thousand worlds that no one draws on purpose, against the
recorded figures of their tools.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
import task_worlds
from answer_forms import answers_by_place, questions_by_place
from golden.make_task_worlds import CHUNKING, LEVELS, PIAF_ALL, SQUAD2
from make import own_convention
from rankwell.errors import NothingToEvaluate
from rankwell.tasks.images.images import ImageEntry, Images, Marks
from rankwell.tasks.images.task import evaluate_images

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "task_worlds.json"
VALUES = json.loads(GOLDEN.read_text(encoding="utf-8"))["values"]
BLOCK = 100
Values = list[float | None]


def means(result: rw.Results, direction: str | None = None) -> dict[str, float | None]:
    """label -> mean."""
    return {
        row["label"]: row["mean"]
        for row in result.summary
        if row.get("direction") in (direction, None)
    }


def captions(
    world: Any, positives: Any, convention: str, directions: tuple[str, str] = ("t2v", "v2t")
) -> Values:
    """The five figures of both directions."""
    found: Values = []
    for direction in directions:
        way: Any = direction[:3]
        given: dict[str, Any] = {
            "convention": convention,
            "direction": way,
            "k": [1, 5, 10],
            "intervals": "none",
        }
        figures = means(rw.evaluate_crossmodal(world["scores"], positives, **given), direction)
        found += [figures[name] for name in ("R@1", "R@5", "R@10", "MedR", "MnR")]
    return found


def hgr(world: Any) -> Values:
    return captions(world, [list(dict.fromkeys(own)) for own in world["positives"]], "hgr")


def eval_q2m(world: Any) -> Values:
    scores, positives = np.array(world["scores"]), world["positives"]
    turned = [
        [row for row, own in enumerate(positives) if item in own] for item in range(scores.shape[1])
    ]
    return [*rw.eval_q2m(scores, positives), *rw.eval_q2m(scores.T, turned)]


def clip4clip(world: Any) -> Values:
    return captions(world, "diagonal", "clip4clip", ("t2v", "v2t-videos"))


def clip4clip_multi(world: Any) -> Values:
    positives = [[video] for video, n in enumerate(world["counts"]) for _ in range(n)]
    return captions(world, positives, "clip4clip-multi", ("t2v", "v2t-videos"))


def revisitop(world: Any) -> Values:
    references, queries = (
        [f"r{n:02}" for n in range(len(world["kinds"][0]))],
        [f"q{n}" for n in range(len(world["kinds"]))],
    )
    entries = [
        *(ImageEntry(name, None, "reference") for name in references),
        *(ImageEntry(name, None, "query") for name in queries),
    ]
    marks = {
        query: Marks(
            *(
                tuple(name for name, one in zip(references, own, strict=True) if one == kind)
                for kind in ("easy", "hard", "junk")
            )
        )
        for query, own in zip(queries, world["kinds"], strict=True)
    }
    images, found = Images.from_entries(entries, marks=marks), list[float | None]()
    given: dict[str, Any] = {
        "scores": np.array(world["scores"]),
        "query_ids": queries,
        "item_ids": references,
    }
    for level in LEVELS:
        try:
            result = evaluate_images(
                images, convention=f"revisited-{level}", intervals="none", **given
            )
        except NothingToEvaluate:
            found += [None] * 4 * len(queries)
            continue
        values = {(row["query"], row["label"]): row["value"] for row in result.per_query()}
        percent = [
            values.get((query, label))
            for query in queries
            for label in ("mAP", "mP@1", "mP@5", "mP@10")
        ]
        found += [None if value is None else value / 100 for value in percent]
    return found


def squad(world: Any, folder: Path, version: str, **options: Any) -> dict[str, float | None]:
    qas = [
        {
            "id": f"q{n}",
            "question": "?",
            "answers": [{"text": text, "answer_start": 0} for text in own],
            "is_impossible": not own,
        }
        for n, own in enumerate(world["golds"])
    ]
    gold = folder / "gold.json"
    gold.write_text(
        json.dumps(
            {
                "version": version,
                "data": [{"title": "t", "paragraphs": [{"context": "", "qas": qas}]}],
            }
        )
    )
    given = {f"q{n}": text for n, text in enumerate(world["given"]) if text is not None}
    return means(rw.evaluate_qa(gold, given, intervals="none", **options))


def squad1(world: Any, folder: Path) -> Values:
    found = squad(world, folder, "1.1", convention="squad1")
    return [found["exact_match"], found["f1"]]


def squad2(world: Any, folder: Path) -> Values:
    na = {f"q{n}": value for n, value in enumerate(world["na"])}
    own = own_convention("squad2", na_threshold=world["threshold"], na_ties="official")
    found = squad(world, folder, "v2.0", convention=own, na_probs=na)
    return [found.get(name) for name in SQUAD2]


def piaf(world: Any) -> Values:
    named = {f"q{n}": each for n, each in enumerate(world["questions"])}
    gold = questions_by_place(
        {name: [tuple(span) for span in each["golds"]] for name, each in named.items()},
        {name: each["relevant"][0] for name, each in named.items()},
    )
    given = answers_by_place(
        {name: [span and tuple(span) for span in each["answers"]] for name, each in named.items()}
    )
    retrieved = {name: each["found"] for name, each in named.items()}
    result = rw.evaluate_qa(
        gold, given, retrieved=retrieved, convention="piaf", k=10, depth=10, intervals="none"
    )
    found = means(result)
    return [found.get(name, found.get(f"{name}@10")) for name in PIAF_ALL]


def chunking_evaluation(world: Any) -> Values:
    def passage(span: Any, document: str = "") -> Any:
        return {
            "document": span.get("corpus_id", document),
            "start": span["start_index"],
            "end": span["end_index"],
        }

    (question,), (chunks,) = world["questions"], world["retrieved"]
    gold = [
        {
            "id": "q",
            "passages": [passage(span, question["corpus_id"]) for span in question["references"]],
        }
    ]
    every = [passage(chunk) for chunk in world["every"]]
    given: dict[str, Any] = {
        "convention": "chunking_evaluation",
        "chunks": every,
        "intervals": "none",
    }
    result = rw.evaluate_rag(
        gold, [{"id": "q", "chunks": [passage(chunk) for chunk in chunks]}], [*CHUNKING], **given
    )
    return [row["value"] for row in result.per_query()]


def ragas(world: Any) -> Values:
    return [
        row.mean
        for row in rw.evaluate_rag([world], [world], convention="ragas", intervals="none").summary
    ]


OURS: dict[str, tuple[str, Callable[..., Values]]] = {
    each.__name__: (tool, each)
    for tool, each in (
        ("hgr", hgr),
        ("hgr", eval_q2m),
        ("clip4clip", clip4clip),
        ("clip4clip_multi", clip4clip_multi),
        ("revisitop", revisitop),
        ("squad1", squad1),
        ("squad2", squad2),
        ("piaf", piaf),
        ("chunking_evaluation", chunking_evaluation),
        ("ragas", ragas),
    )
}


DIVIDES = ("piaf", "chunking_evaluation")
"""Tools that have no figure where they divide by 0."""


def differing(name: str, numbers: range, folder: Path) -> list[str]:
    """What differs in some worlds of a tool."""
    tool, ours = OURS[name]
    found: list[str] = []
    for number in numbers:
        world = getattr(task_worlds, tool)(task_worlds.rng_of(tool, number))
        needed = (world, folder) if tool.startswith("squad") else (world,)
        for place, (mine, theirs) in enumerate(
            zip(ours(*needed), VALUES[tool][number], strict=True)
        ):
            if theirs is None and tool in DIVIDES:
                continue
            # CLIP4Clip counts in single precision.
            near = 1e-6 * max(1, abs(theirs or 0)) if tool == "clip4clip_multi" else 1e-9
            same = mine is theirs or (
                mine is not None and theirs is not None and abs(mine - theirs) <= near
            )
            if not same:
                found.append(f"world {number}, value {place}: {mine}, the tool {theirs}: {world}")
    return found


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, marks=[pytest.mark.slow] if block else [])
        for block in range(task_worlds.WORLDS // BLOCK)
    ],
)
@pytest.mark.parametrize("name", OURS)
def test_no_value_differs_from_the_tool(name: str, block: int, tmp_path: Path) -> None:
    if OURS[name][0] == "ragas":
        pytest.importorskip("rapidfuzz")

    assert differing(name, range(block * BLOCK, (block + 1) * BLOCK), tmp_path) == []


def test_every_world_of_every_tool_is_recorded() -> None:
    assert set(VALUES) == {tool for tool, _ in OURS.values()}
    assert {name: len(worlds) for name, worlds in VALUES.items()} == dict.fromkeys(
        VALUES, task_worlds.WORLDS
    )


ODD: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a query without positives in a gallery below K": (
        "hgr",
        lambda world: (
            len(world["scores"][0]) < 10 and [] in world["positives"] and any(world["positives"])
        ),
    ),
    "a positive twice": (
        "hgr",
        lambda world: any(len(own) > len(set(own)) for own in world["positives"]),
    ),
    "scores all equal": (
        "clip4clip",
        lambda world: len({each for row in world["scores"] for each in row}) == 1,
    ),
    "all junk": ("revisitop", lambda world: any(set(own) == {"junk"} for own in world["kinds"])),
    "no prediction": ("squad1", lambda world: None in world["given"]),
    "no right answer, and equal numbers": (
        "squad2",
        lambda world: [] in world["golds"] and len({*world["na"]}) < len(world["na"]),
    ),
    "an empty span": (
        "piaf",
        lambda world: any(
            span and span[1] == span[2] for each in world["questions"] for span in each["answers"]
        ),
    ),
    "a document twice": (
        "piaf",
        lambda world: any(
            len(each["found"]) > len({*each["found"]}) for each in world["questions"]
        ),
    ),
    "a chunk twice": (
        "chunking_evaluation",
        lambda world: any(world["retrieved"][0].count(each) > 1 for each in world["retrieved"][0]),
    ),
    "an empty chunk": ("ragas", lambda world: "" in world["retrieved_contexts"]),
}


@pytest.mark.parametrize("what", ODD)
def test_the_worlds_have_what_is_rarely_drawn(what: str) -> None:
    tool, is_odd = ODD[what]
    worlds = [getattr(task_worlds, tool)(task_worlds.rng_of(tool, number)) for number in range(200)]

    assert sum(bool(is_odd(world)) for world in worlds) >= 20
