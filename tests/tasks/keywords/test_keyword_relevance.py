"""What is relevant to a query that asks for keywords, against plain sets."""

from random import Random

import pytest

from oracles import keywords as oracle
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.keywords.annotations import (
    Annotations,
    Keyword,
    QueryKeywords,
    Schema,
    Vocabulary,
)
from rankwell.tasks.keywords.formats import read_annotations
from rankwell.tasks.keywords.options import Relevance
from rankwell.tasks.keywords.runs import KeywordMasks, judge

RULES = ("all", "any", "graded", "jaccard>=0.5")


def world(seed: int, clips: int = 25) -> dict[str, dict[str, list[str]]]:
    random = Random(seed)
    labels = {"object": ["car", "bus", "other"], "scene": ["day", "rain", "other"]}
    return {
        f"c{number}": {
            group: random.sample(known, random.randint(0, len(known)))
            for group, known in labels.items()
        }
        for number in random.sample(range(clips), clips)
    }


def sets_of(
    table: dict[str, dict[str, list[str]]], groups: tuple[str, ...]
) -> dict[str, oracle.Keywords]:
    return {
        clip: frozenset((group, label) for group in groups for label in labels[group])
        for clip, labels in table.items()
    }


def as_dict(judgments: Judgments) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {query: {} for query in judgments.queries}
    for query, item, grade in zip(
        judgments.query_of_row.tolist(), judgments.items, judgments.grades.tolist(), strict=True
    ):
        found[judgments.queries[query]][item] = grade
    return found


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("groups", [("object", "scene"), ("object",)])
@pytest.mark.parametrize("seed", range(3))
def test_every_rule_agrees_with_sets(rule: str, groups: tuple[str, ...], seed: int):
    raw = world(seed)
    table = read_annotations(raw)
    keywords = KeywordMasks.of_clips(table, table.select(groups))
    found = as_dict(
        judge(
            keywords,
            table,
            relevance=Relevance.parse(rule),
            excluded={clip: [clip] for clip in raw},
        )
    )

    sets = sets_of(raw, groups)
    kind, _, least = rule.partition(">=")
    assert found == {
        clip: oracle.truth(sets, clip, sets[clip], kind, float(least or 0)) for clip in raw
    }


def test_all_is_not_symmetric_and_the_same_label_of_two_groups_is_two_keywords():
    table = read_annotations({"a": {"g": ["x"]}, "b": {"g": ["x", "y"]}, "c": {"h": ["x"]}})
    found = as_dict(
        judge(KeywordMasks.of_clips(table), table, excluded={clip: [clip] for clip in "abc"})
    )

    assert found == {"a": {"b": 1.0}, "b": {}, "c": {}}


def test_a_query_that_asks_for_nothing_has_nothing_or_under_vacuous_everything():
    table = read_annotations({"a": {"g": []}, "b": {"g": ["x"]}})
    keywords = KeywordMasks.of_clips(table)

    assert as_dict(judge(keywords, table))["a"] == {}
    assert as_dict(judge(keywords, table, vacuous=True))["a"] == {"a": 1.0, "b": 1.0}


def test_texts_ask_for_what_they_are_given_and_only_in_the_selection():
    table: Annotations = read_annotations({"a": {"g": ["x"], "h": ["z"]}, "b": {"g": ["x"]}})
    asked = {"q": QueryKeywords((Keyword("g", "x"), Keyword("h", "z")))}

    assert as_dict(judge(KeywordMasks.of_texts(table, asked), table)) == {"q": {"a": 1.0}}
    assert as_dict(judge(KeywordMasks.of_texts(table, asked, table.select(["g"])), table)) == {
        "q": {"a": 1.0, "b": 1.0}
    }
    with pytest.raises(BadInput, match="neither declared nor used"):
        KeywordMasks.of_texts(table, {"q": QueryKeywords((Keyword("g", "nothing"),))})
    with pytest.raises(BadInput, match=r"query 'q' excludes .*neither declared nor used"):
        KeywordMasks.of_texts(table, {"q": QueryKeywords((), (Keyword("g", "nothing"),))})


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_a_clip_with_an_excluded_keyword_is_relevant_by_no_rule(rule: str, seed: int):
    raw = world(seed)
    table, random = read_annotations(raw), Random(seed)
    asked = {
        f"q{number}": QueryKeywords(
            *(tuple(random.sample(table.keywords, random.randint(1, 2))) for _ in range(2))
        )
        for number in range(12)
    }
    found = as_dict(
        judge(KeywordMasks.of_texts(table, asked), table, relevance=Relevance.parse(rule))
    )

    sets, (kind, _, least) = sets_of(raw, ("object", "scene")), rule.partition(">=")
    plain = {
        query: oracle.truth(sets, "", frozenset(each.required), kind, float(least or 0))
        for query, each in asked.items()
    }
    free = {
        query: {clip for clip in raw if not sets[clip] & set(each.excluded)}
        for query, each in asked.items()
    }
    assert found == {
        query: {clip: value for clip, value in plain[query].items() if clip in free[query]}
        for query in asked
    }
    assert any(plain[query].keys() - free[query] for query in asked)


def test_an_excluded_keyword_excludes_narrower_ones_and_what_is_left_is_all_that_a_vacuous_query_has():  # noqa: E501
    bus, car, sedan = (Keyword("g", label) for label in ("bus", "car", "sedan"))
    schema = Schema(Vocabulary((sedan, car, bus)), {sedan: car})
    table = read_annotations(
        {"a": {"g": ["sedan"]}, "b": {"g": ["bus"]}, "c": {"g": ["bus", "sedan"]}}, schema=schema
    )
    keywords = KeywordMasks.of_texts(
        table, {"bus": QueryKeywords((bus,), (car,)), "none": QueryKeywords((), (car,))}
    )

    assert as_dict(judge(keywords, table)) == {"bus": {"b": 1.0}, "none": {}}
    assert as_dict(judge(keywords, table, vacuous=True)) == {"bus": {"b": 1.0}, "none": {"b": 1.0}}


@pytest.mark.parametrize("text", ["some", "jaccard", "jaccard>=0", "jaccard>=1.5"])
def test_an_unknown_rule_says_what_there_is(text: str):
    with pytest.raises(BadUsage, match="all, any, graded, or jaccard"):
        Relevance.parse(text)
