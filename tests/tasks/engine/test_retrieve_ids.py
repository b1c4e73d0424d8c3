"""Ids of an engine that are not those of the exact results, in part or at all."""

import numpy as np
import pytest

import rankwell as rw
from rankwell.errors import BadInput
from rankwell.tasks.engine import measuring
from rankwell.tasks.engine.loops import LocalHost
from tasks.engine.test_retrieve import queries

FOREIGN = "tasks.engine.engines_here:FOREIGN"
VECTORS = np.eye(12, dtype=np.float32)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines work in this process."""
    monkeypatch.setattr(measuring, "ProcessHost", LocalHost)


def foreign(returned: str, **options: object) -> rw.Results:
    named = {
        "documents": {f"d{row}": "text" for row in range(12)},
        "item_vectors": VECTORS,
        "query_vectors": VECTORS[:2],
        "rounds": 1,
    }
    return rw.evaluate_engine(FOREIGN, depth=10, option={"returned": returned}, **named | options)


def test_ids_that_never_meet_give_no_recall_and_one_of_each_is_named() -> None:
    with pytest.raises(
        BadInput,
        match=r"foreign returned no item of the exact results \(exact search, cosine\): it "
        r"returned "
        r"'d0'",
    ) as e:
        foreign(" ".join(f"d{row}" for row in range(10)), documents=None)

    assert (
        "they have '0'. Give documents with the ids of the rows of item_vectors, or truth='none'."
        in str(e.value)
    )


def test_a_run_without_any_id_of_the_engine_gives_no_recall() -> None:
    asked = queries(12)
    run = {query: {"d17": 2.0, "d18": 1.0} for query in asked}

    with pytest.raises(
        BadInput,
        match=r"it returned 'x17', they have 'd17'\. Give them with the engine's ids, or "
        r"truth='none'\.",
    ):
        rw.evaluate_engine(
            lambda query, k: ["x17"], asked, truth=rw.read_ranking(run), depth=2, rounds=1
        )
    # The run holds the nearest alone: another item is wrong, and no mistake of the user.
    found = rw.evaluate_engine(
        lambda query, k: ["d18", "x17"], asked, truth=rw.read_ranking(run), depth=2, rounds=1
    )
    assert not any("unknown to the exact results" in note for note in found.findings)
    assert rw.evaluate_engine(
        lambda query, k: ["x17"], asked, truth="none", depth=2, rounds=1
    ).tables["settings"]


def test_some_unknown_ids_and_another_number_of_items_are_noted() -> None:
    result = foreign("d0 d1 d2 d3 x4")

    assert any(
        "foreign: 1 of the 5 items that it returned are unknown to the exact results, such as 'x4'"
        in note
        for note in result.findings
    )
    assert any(
        "foreign: it has 200 items, the exact results are those of 12;" in note
        for note in result.findings
    )
    assert not any("unknown to" in note for note in foreign("d0 d1 d2").findings)
