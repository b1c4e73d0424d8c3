"""A default convention is named and explained in a note, by every task."""

import numpy as np
import pytest

import rankwell as rw
from rankwell.conventions import CONVENTIONS

EYE = np.eye(12)


def runs(**named: str) -> rw.Results:
    return rw.evaluate({"q": {"d": 1}}, {"mine": {"q": ["d"]}}, "RR", **named)


def captions(**named: str) -> rw.Results:
    return rw.evaluate_crossmodal(EYE, **named)


def agreement(**named: str) -> rw.Results:
    return rw.evaluate_embeddings(EYE, {"b": EYE}, "Overlap@1", k=1, **named)


@pytest.mark.parametrize(
    ("evaluate", "name", "other"),
    [
        (runs, "rankwell", "trec_eval9"),
        (captions, "hgr", "mmt"),
        (agreement, "rankwell", "scholar-stream"),
    ],
)
def test_the_first_note_explains_a_default_convention(evaluate, name: str, other: str):
    title = (
        "the items that lists of neighbours share, and their order"
        if evaluate is agreement
        else CONVENTIONS[name].title
    )

    assert evaluate().notes[0] == f"convention {name}, the default: {title}"
    assert not any(note.startswith("convention ") for note in evaluate(convention=other).notes)


def test_a_single_query_is_singular():
    assert "rules: 1 query counted, 0 missing" in str(runs())


def test_every_explanation_is_a_clause():
    for convention in map(CONVENTIONS.__getitem__, CONVENTIONS.builtin_names):
        assert convention.title.strip(".") == convention.title != "", convention.name
