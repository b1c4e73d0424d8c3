"""The protocol of engines: what is checked before anything is sent, what becomes of errors, and
what is read back.
"""

import math
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankwell.engines import (
    ENGINES,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    Parameter,
    Session,
    checked_rows,
    family_of,
    open_engine,
    processor_seconds,
)
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName


class ScriptedSession(Session):
    forgets = False
    depth = 1

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        return self.engine.answer(query, k)

    def _configure(self, values: Any) -> None:
        self.depth = values["depth"] + self.forgets

    def _parameters(self) -> dict[str, Any]:
        return {"depth": self.depth}


class ScriptedEngine(Engine):
    metric = "cosine"
    answer: Callable[[EngineQuery, int], EngineHits] = staticmethod(
        lambda query, k: EngineHits(["a"])
    )

    def _index(self, items: EngineItems) -> int:
        return len(items.ids)

    def _session(self) -> Session:
        return ScriptedSession(self)


FAMILY = EngineFamily(
    "scripted",
    "A test's own",
    ("vector",),
    ScriptedEngine,
    connect=(Parameter("url", str, "", "address"),),
    search=(Parameter("depth", int, 3, "a number"), Parameter("share", float, None, "a share")),
    most_k=5,
)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    monkeypatch.setitem(ENGINES._entries, "scripted", FAMILY)
    opened = open_engine("scripted")
    opened.index(EngineItems(["a", "b"], vectors=np.eye(2)))
    return opened


def failing(error: BaseException) -> Callable[[EngineQuery, int], EngineHits]:
    def answer(query: EngineQuery, k: int) -> EngineHits:
        raise error

    return answer


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (None, "'q1' has no vector"),
        (np.zeros(2), "'q1' is zero"),
        (np.array([np.nan, 1]), "'q1' has NaN"),
        (np.array([np.inf, 1]), "'q1' has NaN or infinity"),
        (np.ones(3), "'q1' has 3 dimensions; the index of scripted has 2"),
        (np.array(["a", "b"]), "expected vectors of real numbers"),
        (np.ones((1, 2)), "expected vectors of real numbers"),
    ],
)
def test_a_vector_that_cannot_be_searched_by_is_refused_before_it_is_sent(
    engine: ScriptedEngine, vector: Any, message: str
):
    sent: list[EngineQuery] = []
    engine.answer = lambda query, k: sent.append(query) or EngineHits([])

    with pytest.raises(BadInput, match=message):
        engine.session().search(EngineQuery("q1", vector=vector), 1)
    assert sent == []


def test_k_beyond_the_limit_names_both_and_zero_asks_nothing(engine: ScriptedEngine):
    session, query = engine.session(), EngineQuery("q", vector=np.ones(2))
    engine.answer = failing(RuntimeError("asked"))

    with pytest.raises(BadUsage, match=r"k is 6; the engine's limit is 5"):
        session.search(query, 6)
    with pytest.raises(BadUsage, match="k is -1"):
        session.search(query, -1)
    assert session.search(query, 0) == EngineHits((), ())


def test_a_filter_that_the_engine_does_not_have_is_refused(engine: ScriptedEngine):
    with pytest.raises(BadInput, match="has a filter, which scripted does not support"):
        engine.session().search(EngineQuery("q", vector=np.ones(2), filter={"colour": "red"}), 1)


class PanicError(BaseException):
    """What a panic of Rust becomes."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("slow"), "timeout"),
        (ConnectionRefusedError("no one there"), "refused"),
        (ConnectionResetError("gone"), "disconnected"),
        (EOFError(), "disconnected"),
        (ValueError("bad"), "error"),
        (MemoryError(), "error"),
        (PanicError("index out of bounds"), "panic"),
        (SystemExit(3), "panic"),
        (EngineFailure("status", "HTTP 500"), "status"),
    ],
)
def test_whatever_an_engine_raises_is_a_failure_with_kind_and_message(
    engine: ScriptedEngine, error: BaseException, kind: str
):
    engine.answer = failing(error)

    with pytest.raises(EngineFailure) as caught:
        engine.session().search(EngineQuery("q", vector=np.ones(2)), 1)

    assert caught.value.kind == kind
    assert str(caught.value).startswith("scripted: ")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.kind, str(again)) == (kind, str(caught.value))


def test_an_interrupt_is_not_a_failure(engine: ScriptedEngine):
    engine.answer = failing(KeyboardInterrupt())

    with pytest.raises(KeyboardInterrupt):
        engine.session().search(EngineQuery("q", vector=np.ones(2)), 1)


def test_distances_are_turned_into_scores_after_the_search(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
):
    engine.answer = lambda query, k: EngineHits(["a", "b"], [0.0, 2.5])
    monkeypatch.setattr(ScriptedEngine, "distances", True)
    session, query = engine.session(), EngineQuery("q", vector=np.ones(2))

    asked, found = session.ask(query, 2), session.search(query, 2)

    assert (asked.scores, found) == ([0.0, 2.5], (["a", "b"], [0.0, -2.5]))
    assert math.copysign(1, (found.scores or [-1.0])[0]) == 1


def test_more_results_than_k_are_malformed(engine: ScriptedEngine):
    engine.answer = lambda query, k: EngineHits(["a", "b", "c"])

    with pytest.raises(EngineFailure, match="3 results for k = 2"):
        engine.session().search(EngineQuery("q", vector=np.ones(2)), 2)


def test_a_session_starts_with_the_parameters_and_one_that_reads_back_differently_is_an_error(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
):
    session = engine.session()
    assert session.parameters() == {"depth": 3}
    assert session.configure({"depth": "7"}) == {"depth": 7}

    monkeypatch.setattr(ScriptedSession, "forgets", True)
    with pytest.raises(BadInput, match="depth was set to 8 and reads back as 9"):
        session.configure({"depth": 8})


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"dept": 3}, UnknownName, "unknown parameter 'dept'; did you mean 'depth'"),
        ({"depth": "three"}, BadUsage, "depth is 'three'; expected an integer"),
        ({"depth": 3.0}, BadUsage, "depth is 3.0; expected an integer"),
        ({"depth": True}, BadUsage, "depth is True; expected an integer"),
        ({"share": "half"}, BadUsage, "share is 'half'; expected a number"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_named(
    engine: ScriptedEngine, parameters: Any, kind: type, message: str
):
    with pytest.raises(kind, match=message):
        open_engine("scripted", parameters)


def test_values_of_parameters_are_read_from_text_and_from_their_types():
    words = Parameter("words", str, "any", "", ("any", "all"))

    assert Parameter("on", bool, False, "").read("True", "x") is True
    assert Parameter("share", float, 0.5, "").read(1, "x") == 1.0
    assert words.read("all", "x") == "all"
    with pytest.raises(BadUsage, match="words is 'some'; expected any or all"):
        words.read("some", "x")
    with pytest.raises(BadUsage, match="on is 'yes'; expected true or false"):
        Parameter("on", bool, False, "").read("yes", "x")


def test_a_secret_is_in_no_error_and_no_description(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    opened = open_engine("scripted", {"url": "http://me:${MY_TOKEN}@host/"})
    opened.answer = failing(ValueError(f"cannot reach {opened.opening.connect['url']}"))

    with pytest.raises(EngineFailure) as caught:
        opened.session().search(EngineQuery("q", vector=np.ones(2)), 1)

    assert opened.opening.connect["url"] == "http://me:hunter2@host/"
    assert "http://me:${MY_TOKEN}@host/" in str(caught.value)
    assert opened.describe()["connect"] == {"url": "http://me:${MY_TOKEN}@host/"}
    assert caught.value.__suppress_context__
    with pytest.raises(BadUsage, match="contains a password or a token"):
        open_engine("scripted", {"url": "http://me:hunter2@host/"})


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ({"ids": ["a", "a"]}, "'a' appears twice"),
        ({"ids": ["a"], "texts": ["x", "y"]}, "2 texts for 1 items"),
        ({"ids": ["a"], "fields": {"colour": []}}, "0 colour for 1 items"),
        ({"ids": ["a", "b"], "vectors": np.array([[1.0], [np.nan]])}, "'b' has NaN"),
        ({"ids": ["a"], "vectors": np.ones(1)}, "expected vectors of real numbers"),
    ],
)
def test_items_that_cannot_be_indexed_are_refused(items: Any, message: str):
    with pytest.raises(BadInput, match=message):
        EngineItems(**items)


def test_a_zero_vector_is_not_indexed_under_cosine(engine: ScriptedEngine):
    with pytest.raises(BadInput, match="'b' is zero"):
        engine.index(EngineItems(["a", "b"], vectors=np.array([[1.0], [0.0]])))
    with pytest.raises(BadUsage, match="indexes vectors"):
        engine.index(EngineItems(["a"], texts=["x"]))


def test_the_report_of_an_index_has_size_and_time(engine: ScriptedEngine):
    report = engine.index(EngineItems(["a", "b", "c"], vectors=np.eye(3)))

    assert (report.items, report.bytes, engine.dimensions) == (3, 3, 3)
    assert report.seconds >= 0
    assert report.processor_seconds is not None


def test_a_query_travels_without_its_engine(engine: ScriptedEngine):
    query = EngineQuery("q", vector=np.ones(2))
    engine.check([query], 1)

    again = pickle.loads(pickle.dumps(query))

    assert (again.id, again.checked_by, again.vector.tolist()) == ("q", None, [1.0, 1.0])


def test_vectors_keep_their_precision_and_integers_become_numbers():
    assert checked_rows(np.ones((1, 2), dtype=np.float64)).dtype == np.float64
    assert checked_rows(np.ones((1, 2), dtype=np.int8)).dtype == np.float32


def test_a_spec_names_a_family_by_name_address_file_or_object():
    assert family_of("sqlite-fts5").name == "sqlite-fts5"
    assert family_of("json:dumps").name == family_of(len).name == "object"
    with pytest.raises(UnknownName, match="did you mean 'sqlite-fts5'"):
        family_of("sqlite-fts")
    with pytest.raises(BadUsage, match="takes no address"):
        open_engine("sqlite-fts5:somewhere")


def test_a_missing_package_says_how_to_install_it():
    family = EngineFamily(
        "x", "x", ("lexical",), ScriptedEngine, package="no-such-package", extra="engines"
    )

    assert family.version is None
    with pytest.raises(
        MissingExtra, match=r"needs the package no-such-package: pip install 'rankwell\[engines\]'"
    ):
        family.need("no_such_module")


def test_processor_time_of_a_process_is_read_where_there_is_one():
    assert processor_seconds(2**22 + 1) is None
    assert processor_seconds(os.getpid()) > 0
