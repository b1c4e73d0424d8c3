"""Chosen columns of a file that is not given are an error in every task."""

import re
from typing import Any

import numpy as np
import pytest

import rankwell as rw

RUN = {"q": {"a": 1.0}}
VECTORS = {str(row): vector for row, vector in enumerate(np.eye(12))}
CLIPS = {"c1": {"object": ["car"]}, "c2": {"object": ["car"]}}
CALLS: dict[str, tuple[Any, str]] = {
    "retrieve, a run": (
        lambda: rw.retrieve(lambda *_: ["a"], ["text"], columns="query=1"),
        "columns='query=1' has no effect without truth",
    ),
    "retrieve, judgments": (
        lambda: rw.retrieve(lambda *_: ["a"], ["text"], qrels_columns={"grade": 3}),
        "qrels_columns={'grade': 3} has no effect without qrels",
    ),
    "beyond, judgments": (
        lambda: rw.evaluate_beyond(RUN, qrels_columns="grade=3"),
        "qrels_columns='grade=3' has no effect without judgments",
    ),
    "beyond, format": (
        lambda: rw.evaluate_beyond(RUN, judgments_format="trec"),
        "judgments_format='trec' has no effect without judgments",
    ),
    "clips, a run": (
        lambda: rw.evaluate_clips(CLIPS, VECTORS, columns="query=1"),
        "columns: nothing reads it, for there is no run",
    ),
    "agree, runs": (lambda: rw.agree(VECTORS, VECTORS, columns="query=1"), "columns='query=1' applies to runs"),
    "agree, labels": (
        lambda: rw.agree(VECTORS, VECTORS, qrels_columns="grade=3"),
        "qrels_columns='grade=3' has no effect without labels",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_columns_of_no_file_are_refused(call: str):
    function, message = CALLS[call]
    with pytest.raises(rw.BadUsage, match=re.escape(message)):
        function()
