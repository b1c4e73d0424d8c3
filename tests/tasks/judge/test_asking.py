"""Items mixed into the batches of judges: shares, their places, and that a session that begins anew
goes on with the same.
"""

import json
import math
from pathlib import Path

import pytest

from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.judge.folder import (
    JournalLine,
    Study,
    StudyAnswers,
    append_lines,
    now,
    read_journals,
    read_study,
)
from rankwell.tasks.judge.judging_session import Ask, SittingItems, gold_items, next_asks
from rankwell.tasks.judge.options import JudgeOptions
from tasks.judge.judging import Client, lines_of, serving
from tasks.judge.studies import pool_study, write_world


@pytest.fixture
def study(tmp_path: Path) -> Study:
    write_world(tmp_path, queries=12)
    return read_study(pool_study(tmp_path, batch_size=40))


def asked(study: Study, judge: str, **options: float | str) -> SittingItems:
    """What a judge is asked. Raises AssertionError where nothing is left."""
    known = (
        [("q000", str(item)) for item in study.pool.item[study.pool.query == 0]]
        if options.pop("qrels", None)
        else []
    )
    found = next_asks(study, judge, JudgeOptions(**options), known)  # pyright: ignore[reportArgumentType]
    assert found is not None
    return found


def answer(study: Study, judge: str, *asks: Ask) -> None:
    append_lines(
        study,
        [JournalLine(now(), judge, ask.query, ask.item, 1.0, purpose=ask.purpose) for ask in asks],
    )


def own(study: Study, items: SittingItems) -> set[Ask]:
    assert items.lease is not None
    return {Ask(*pair) for pair in items.lease.pairs}


def test_without_options_a_batch_is_asked_as_it_is(study: Study):
    items = asked(study, "ann")

    assert items.lease is not None
    assert [(ask.query, ask.item) for ask in items.asks] == list(items.lease.pairs)


def test_a_share_of_one_judges_items_is_shown_to_a_second_one_and_no_third(study: Study):
    first = asked(study, "ann").asks
    answer(study, "ann", *first)
    items = asked(study, "ben", double=0.25)
    doubles = [ask for ask in items.asks if ask not in own(study, items)]

    assert doubles
    assert set(doubles) <= set(first)
    assert len(doubles) <= math.ceil(0.25 * 40)
    assert {ask.purpose for ask in doubles} == {""}
    assert [ask.query for ask in items.asks] == sorted(ask.query for ask in items.asks), (
        "arranged by query, so that none stands out"
    )

    answer(study, "ben", doubles[0])
    assert set(asked(study, "ben", double=0.25).asks) == set(items.asks) - {doubles[0]}, (
        "the session goes on with the others"
    )
    answer(study, "ben", *doubles[1:])
    later = asked(study, "cid", double=1.0)
    assert not set(doubles) & set(later.asks)


def test_all_doubles_follow_once_no_batch_is_left(study: Study):
    while (items := next_asks(study, "ann", JudgeOptions())) is not None:
        answer(study, "ann", *items.asks)
    items = next_asks(study, "ben", JudgeOptions(double=1.0))

    assert items is not None
    assert items.lease is None
    assert len(items.asks) == int((study.pool.sizes[:, 0] > 0).sum())
    answer(study, "ben", *items.asks)
    assert next_asks(study, "ben", JudgeOptions(double=1.0)) is None


def test_own_items_are_shown_again_at_the_end_and_never_twice(study: Study):
    items = asked(study, "ann", repeat=0.4)
    again = [ask for ask in items.asks if ask.purpose == "repeat"]

    assert again
    assert items.asks[-len(again) :] == tuple(again)
    assert {(ask.query, ask.item) for ask in again} <= {
        (ask.query, ask.item) for ask in items.asks[:20]
    }
    answer(study, "ann", *items.asks)
    following = asked(study, "ann", repeat=0.4)
    repeated = {ask for ask in following.asks if ask.purpose == "repeat"}
    assert not repeated & set(again)
    earlier = repeated & {Ask(ask.query, ask.item, "repeat") for ask in items.asks[20:40]}
    assert earlier, "items of the second half are shown again with the next batch"


def test_one_in_twenty_is_a_known_item_and_estimates_do_not_see_it(study: Study):
    items = asked(study, "ann", qrels="known")
    gold = [ask for ask in items.asks if ask.purpose == "gold"]

    assert len(gold) == math.ceil(0.05 * 40)
    assert {ask.query for ask in gold} == {"q000"}
    answer(study, "ann", *gold)
    assert not StudyAnswers.of(study, read_journals(study).lines).answered.any()
    assert {
        ask for ask in asked(study, "ann", qrels="known").asks if ask.purpose == "gold"
    } == set()


def test_the_page_does_not_show_what_an_item_is_for_and_the_journal_does(
    study: Study, tmp_path: Path
):
    gold = tmp_path / "gold.qrels"
    gold.write_text(
        "".join(f"q000 0 {item} 1\n" for item in study.pool.item[study.pool.query == 0])
        + "q000 0 elsewhere 1\n"
    )
    with serving(study.folder, qrels=str(gold), repeat=0.2) as server:
        client = Client(server)
        client.enter()
        asks = client.get("/state")["asks"]
        texts = json.dumps(
            [client.get("/state"), *(client.get(f"/items/1/{ask}") for ask in range(len(asks)))]
        )
        assert server.session.findings == (
            f"{gold}: 1 of its items is not in the pool, and is not shown",
        )
        for ask in range(len(asks)):
            assert client.act(ask, grade=1)[0] == 200

    assert len(asks) > 40
    assert not {"gold", "repeat", "purpose"} & set(texts.replace('"', " ").split())
    purposes = [line.get("purpose", "") for line in lines_of(study.folder)]
    assert purposes.count("") == 40
    assert purposes.count("gold") == 2
    assert purposes.count("repeat") == len(asks) - 42


def test_shares_and_known_items_of_elsewhere_are_refused(study: Study, tmp_path: Path):
    (tmp_path / "gold.qrels").write_text("q000 0 elsewhere 1\n")

    with pytest.raises(BadUsage, match="--double is 2; expected a share from 0 to 1"):
        JudgeOptions(double=2)
    with (
        pytest.raises(BadInput, match="none of its items is in the pool"),
        serving(study.folder, qrels=str(tmp_path / "gold.qrels")),
    ):
        pass


def test_the_note_of_the_reader_of_known_items_is_kept(study: Study, tmp_path: Path):
    item = study.pool.item[0]
    (tmp_path / "gold.qrels").write_text(f"\ufeff{study.queries[0]} 0 {item} 1\n", encoding="utf-8")

    assert (
        "byte order mark"
        in gold_items(study, JudgeOptions(qrels=str(tmp_path / "gold.qrels")))[1][0]
    )
