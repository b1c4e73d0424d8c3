"""Normalisers: exact steps by name, idempotent, and in the open ones no answer vanishes."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import answers
from rankwell.errors import UnknownName
from rankwell.vectors.media.texts import (
    CONTAINMENTS,
    NORMALIZERS,
    containment,
    normalize_all,
    normalizer,
)

WORDS = [
    *(
        "the",
        "The",
        "a",
        "An",
        "le",
        "LES",
        "l'eau",
        "L’Ouganda",
        "l'",
        "d'",
        "aujourd'hui",
        "des",
        "U.S.",
        "A+",
        "---",
        "_x_",
    ),
    *(
        "well-known",
        "Café",
        "Cafe\u0301",
        "«mot»",
        "ÉTÉ",
        "İ",
        "ΑΣ",
        "die",
        "Katze",
        "las",
        "của",
        "الكتاب",
        "北京大学",
        "हिंदी",
    ),
    *(
        "a\u00a0b",
        "x\u202fy",
        "1,5",
        "$",
        "²",
        "’",
        "‘",
        "ʼ",
        "\u0301",
        "\udce9",
        "a\x00b",
        "\t",
        "\n",
        "ﬁ",
        "the.",
        "a’b",
    ),
]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=6).flatmap(
    lambda words: st.sampled_from(["", " ", "  "]).map(lambda blank: blank.join(words))
)
EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)


@EXAMPLES
@given(TEXTS)
def test_every_normaliser_does_what_the_official_script_does(text: str):
    for name, how in NORMALIZERS.items():
        assert how(text) == answers.NORMALISERS[name](text), name


@EXAMPLES
@given(TEXTS)
def test_a_normal_form_is_its_own_normal_form(text: str):
    for name, how in NORMALIZERS.items():
        assert how(how(text)) == how(text), name


@EXAMPLES
@given(TEXTS)
def test_outside_frozen_conventions_no_answer_vanishes(text: str):
    open_rules = [how for how in NORMALIZERS.values() if not how.frozen]

    assert {how.name for how in open_rules} == {"english", "french"}
    for how in open_rules:
        assert bool(how(text)) == bool(text.strip()), how.name


@pytest.mark.parametrize("vanishing", ["The", ".", "A+", "---", "*"])
def test_in_frozen_conventions_such_answers_vanish_as_they_do_in_the_script(vanishing: str):
    assert NORMALIZERS["squad"](vanishing) == ""
    assert NORMALIZERS["english"](vanishing) != ""


@EXAMPLES
@given(st.lists(TEXTS, max_size=5))
def test_many_texts_at_once_have_the_same_forms_as_one_by_one(texts: list[str]):
    for name in ("squad", "french"):
        how = NORMALIZERS[name]
        assert normalize_all(texts, how) == {text: how(text) for text in texts}


@EXAMPLES
@given(
    st.lists(st.sampled_from(["the", "a", "an", "A,", "-", "Then", "ban", " "]), max_size=9).map(
        " ".join
    )
)
def test_rows_of_articles_are_all_removed_at_once(text: str):
    assert normalize_all([text, "the", text + " end"], NORMALIZERS["squad"])[text] == answers.squad(
        text
    )


@EXAMPLES
@given(TEXTS)
def test_the_fast_way_of_squad_is_its_steps_one_after_the_other(text: str):
    form = text
    for step in NORMALIZERS["squad"].functions:
        form = step(form)

    assert NORMALIZERS["squad"](text) == form


def test_elision_and_typographic_apostrophe_make_no_difference_in_french_and_do_in_squad():
    three = ["L'Ouganda", "L’Ouganda", "Ouganda"]

    assert {NORMALIZERS["french"](text) for text in three} == {"ouganda"}
    assert [NORMALIZERS["squad"](text) for text in three] == ["louganda", "l’ouganda", "ouganda"]


def test_english_articles_are_removed_from_french_by_squad():
    assert NORMALIZERS["squad"]("il y a un an") == NORMALIZERS["squad"]("il y un") == "il y un"
    assert NORMALIZERS["french"]("il y a un an") == "il y a an"


def test_punctuation_is_joined_over_or_becomes_a_blank():
    assert NORMALIZERS["squad"]("U.S. well-known") == "us wellknown"
    assert NORMALIZERS["triviaqa"]("U.S. well-known_x ‘y’") == "u s well known x y"


def test_mlqa_has_a_rule_for_each_of_its_languages():
    forms = {
        "en": ("The «cat»", "cat"),
        "es": ("Las casas", "casas"),
        "de": ("Die Katze, der Hund", "katze hund"),
        "vi": ("cái nhà", "nhà"),
        "ar": ("الكتاب", "كتاب"),
        "hi": ("हिंदी।", "हिंदी"),
        "zh": ("北京 2008年。", "北 京 2008 年"),
    }

    assert {each: NORMALIZERS[f"mlqa-{each}"](text) for each, (text, _) in forms.items()} == {
        each: form for each, (_, form) in forms.items()
    }


def test_an_unknown_normaliser_names_the_known_ones():
    with pytest.raises(UnknownName, match=r"'squad3'.*french"):
        normalizer("squad3")


def test_accents_are_kept_apart_or_brought_together():
    one, two = "Café", "Cafe\u0301"

    assert NORMALIZERS["squad"](one) != NORMALIZERS["squad"](two)
    assert NORMALIZERS["nq-open"](one) == NORMALIZERS["nq-open"](two)
    assert NORMALIZERS["french"](one) == NORMALIZERS["french"](two)


@pytest.mark.parametrize(
    ("text", "answer", "holds"),
    [
        ("focus on this", "us", "kilt lower raw"),
        ("Give it to us.", "US", "dpr kilt lower"),
        ("costs 6,5 million", "6,5", "dpr kilt lower raw"),
        ("costs 6,5 million", "65", "kilt"),
        ("in the United States", "united  states", "dpr kilt"),
        ("a Café", "Cafe\u0301", "dpr"),
        ("a Café", "cafe", ""),
        ("anything", "", "dpr kilt lower raw"),
    ],
)
def test_a_text_holds_an_answer_by_the_rule_that_is_named(text: str, answer: str, holds: str):
    found = [
        name
        for name, rule in CONTAINMENTS.items()
        if rule.holds(rule.prepare(text), rule.prepare(answer))
    ]

    assert found == holds.split()


def test_an_unknown_rule_of_containment_names_the_known_ones():
    with pytest.raises(UnknownName, match=r"'fuzzy'.*dpr"):
        containment("fuzzy")


def test_the_steps_of_a_normaliser_can_be_read():
    assert NORMALIZERS["squad"].steps[:2] == ("lower case", "delete ASCII punctuation")
    assert NORMALIZERS["none"].steps == ()
    assert all(how.source for how in NORMALIZERS.values())


def test_every_mark_of_ascii_punctuation_is_deleted():
    assert NORMALIZERS["squad"](f"x{string.punctuation}y") == "xy"
