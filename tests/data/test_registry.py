"""The text of measures: one canonical form, and everybody else's words."""

import random
import subprocess
import sys

import pytest

from rankwell import evaluate
from rankwell.conventions import CONVENTIONS, find_convention
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import split_names
from rankwell.data.registry import MEASURES, Catalogue, measure, parse_measure
from rankwell.data.tables import Floats
from rankwell.errors import BadUsage, UnknownName


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        (" nDCG @10", None),
        ("nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg=exp-log2)@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(gains={1:3, 2:9})@5", "nDCG(gains={1:3,2:9})@5"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("AP(rel=1)", "AP"),
        ("P(judged_only=True)@5", "P(judged_only=True)@5"),
        ("RBP(p=0.5)", "RBP(p=0.5)"),
        ("IPrec@0.1", "IPrec@0.1"),
        # trec_eval
        ("map", "AP"),
        ("map_cut.100", "AP@100"),
        ("map_cut_100", "AP@100"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_1000", "R@1000"),
        ("success_5", "Success@5"),
        ("recip_rank", "RR"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("relative_P_10", "R(denom='min')@10"),
        ("bpref", "Bpref"),
        ("gm_map", "GMAP"),
        ("num_rel_ret", "NumRelRet"),
        ("Rprec_mult_0.20", "RprecMult@0.2"),
        # ranx
        ("ndcg@10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"),
        ("precision@5", "P@5"),
        ("hit_rate@5", "Success@5"),
        ("map@100-l2", "AP(rel=2)@100"),
        # MTEB
        ("ndcg_at_10", "nDCG@10"),
        ("mrr_at_10", "RR@10"),
        ("recall_at_100", "R@100"),
        # sentence-transformers
        ("cosine_ndcg@10", "nDCG@10"),
        ("dot_mrr@10", "RR@10"),
        ("cosine_accuracy@1", "Success@1"),
    ],
)
def test_every_spelling_leads_to_one_canonical_text(text: str, canonical: str | None):
    if canonical is None:
        with pytest.raises(BadUsage, match="is not a measure"):
            parse_measure(text)
        return
    parsed = parse_measure(text)

    assert str(parsed) == canonical
    assert parse_measure(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "did you mean 'nDCG@10'"),
        ("nDCG@0", "a positive integer"),
        ("nDCG@ten", "a positive integer"),
        ("P", "write it as P@5"),
        ("AP(level=2)", "AP has no parameter 'level'"),
        ("AP(denom='all')", "'relevant' or 'found' or 'min'"),
        ("AP(2)", "not of the form parameter=value"),
        ("NumQ@5", "takes no cut-off"),
        ("AP(rel=", "is not a measure"),
        ("P@1e999", "k=inf"),
        ("P@nan", "a positive integer"),
        ("P@1e300", "a positive integer"),
        ("AP(rel={[]:1})", "a number"),
        ("AP(rel={1:2,'a':3})", "rel={1:2,'a':3}"),
        ("AP(rel=1,rel=2)", "names the parameter 'rel' twice"),
        ("AP(rel=1j)", "a number"),
        ("AP(rel=1" + "0" * 400 + ")", "a number"),
        ("nDCG(gains={1:'a'})@5", "pairs as in {1:3,2:9}"),
        ("nDCG(gains=[1,2])@5", "pairs as in {1:3,2:9}"),
        ("nDCG(gains={1:True})", "pairs as in {1:3,2:9}"),
        ("nDCG(gains={1:1e400})", "pairs as in {1:3,2:9}"),
        ("nDCG(gains={1:3,1:9})", "pairs as in {1:3,2:9}"),
        ("nDCG(gains=((1,3),(1,9)))", "pairs as in {1:3,2:9}"),
        ("nDCG(dcg={1:2})", "'log2' or 'exp-log2'"),
    ],
)
def test_a_name_that_cannot_be_understood_says_what_would_be(text: str, message: str):
    with pytest.raises((UnknownName, BadUsage)) as caught:
        parse_measure(text)

    assert message in str(caught.value)
    assert text in str(caught.value)


def test_a_number_that_is_smaller_than_every_float_is_not_zero():
    with pytest.raises(BadUsage, match="'1e-400'"):
        parse_measure("RBP(p=1e-400)")
    assert str(parse_measure("RBP(p=0.0e5)")) == str(parse_measure("RBP(p=0)"))


@pytest.mark.parametrize(
    "measure", ["P@" + "-" * 5_000, "P@" + "-" * 2_900, "AP" + "-l1" * 5_000, "AP-l" + "9" * 5_000]
)
def test_a_long_text_that_is_not_a_measure_is_bad_usage(measure: str):
    with pytest.raises((BadUsage, UnknownName)):
        parse_measure(measure)


def test_gains_are_in_the_order_of_their_grades():
    assert str(parse_measure("nDCG(gains=((2,9),(1,3)))")) == str(
        parse_measure("nDCG(gains={2:9,1:3,})")
    )


_PIECES = (
    "P@5",
    "nDCG(gains={1:3,2:9})@5",
    "AP(rel=2)",
    "map@100-l2",
    "1e999",
    "-",
    "{",
    "}",
    "[]",
    "(1,2)",
    "'",
    ",",
    "=",
    "\0",
    "\ud800",
    "9" * 400,
    "@",
)


@pytest.mark.parametrize("turns", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_no_mutated_name_breaks_the_parser(turns: int):
    draw = random.Random(18)
    for _ in range(turns):
        text = draw.choice(_PIECES[:4])
        for _ in range(draw.randint(1, 4)):
            start = draw.randint(0, len(text))
            text = (
                text[:start]
                + draw.choice(_PIECES) * draw.randint(1, 3)
                + text[start + draw.randint(0, 3) :]
            )
        try:
            parsed = parse_measure(text)
        except (BadUsage, UnknownName):
            continue
        assert parse_measure(str(parsed)) == parsed, text


@pytest.mark.parametrize("name", ["SDCG(max_rel=3)@1e15", "NERR8(max_rel=3)@1e15"])
def test_a_cutoff_no_memory_holds_is_bad_usage(name: str):
    with pytest.raises(BadUsage, match="at most 10000000"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measures=[name])


def test_names_are_separated_by_blanks_outside_brackets():
    assert split_names(" nDCG(gains={1:3, 2:9})@5  AP ") == ["nDCG(gains={1:3, 2:9})@5", "AP"]


def test_a_convention_gives_its_own_meaning_to_a_word():
    assert str(parse_measure("map@10", CONVENTIONS["st"].words)) == "AP(denom='min')@10"
    assert str(parse_measure("accuracy", CONVENTIONS["mteb"].words)) == "R@1"
    assert str(parse_measure("NDCG@10", CONVENTIONS["beir"].words)) == "nDCG@10"


def test_an_entry_is_found_without_importing_the_files_of_all_others():
    code = (
        "import sys\n"
        "from rankwell.data.registry import parse_measure\n"
        "from rankwell.conventions import CONVENTIONS\n"
        "print(parse_measure('nDCG@10'), CONVENTIONS['trec_eval9'].name)\n"
        "print(sorted(name for name in sys.modules if name in ('rankwell.measures.cwl', "
        "'rankwell.conventions.ranx')))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "nDCG@10 trec_eval9\n[]\n"


def test_a_measure_is_looked_for_where_it_is_declared_and_not_where_it_is_mentioned():
    code = (
        "import sys\n"
        "from rankwell.data.registry import MEASURES\n"
        "homes = {MEASURES[name].function.__module__ for name in ('nDCG', 'AP', 'RR')}\n"
        "print(homes ^ {name for name in sys.modules if name.startswith('rankwell.measures.')})\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", ["../cli", "__init__", "", "a\0b", "/etc/passwd", "rankwell.cli"])
def test_a_name_is_not_a_path(name):
    with pytest.raises(UnknownName, match="unknown convention"):
        CONVENTIONS[name]


@pytest.mark.parametrize(
    ("name", "task", "end"),
    [
        ("trec", "", "did you mean 'trec_eval9' or 'trec_eval10'?"),
        ("TREC_EVAL9", "", "did you mean 'trec_eval9'?"),
        ("mean", "", "known are beir, mteb, rankwell, ranx, st, trec_eval10, trec_eval9."),
        ("rank", "beyond", "did you mean 'rankwell'?"),
        ("thesis_code", "images", "did you mean 'thesis-code' or 'thesis'?"),
        ("rec", "embeddings", "known are rankwell, scholar-stream."),
    ],
)
def test_conventions_that_begin_with_the_word_are_offered_among_those_of_the_task(
    name: str, task: str, end: str
):
    with pytest.raises(UnknownName) as found:
        find_convention(name, task)
    assert str(found.value) == (
        f"unknown convention {name!r}; {end} Your own is a file, ./NAME.toml."
    )


def test_two_entries_of_one_name_are_refused():
    catalogue: Catalogue[int] = Catalogue("measures", "measure")
    catalogue.add("x", 1)

    with pytest.raises(ValueError, match="named 'x'"):
        catalogue.add("x", 2)


def test_the_decorator_returns_the_function_itself():
    def constant(judged: JudgedRankings) -> Floats:
        """Zero."""
        return judged.sum_rows(judged.grades) * 0.0

    name = "OnlyForThisTest"
    try:
        assert measure(name, source="this test")(constant) is constant
        assert MEASURES[name].function is constant
    finally:
        MEASURES._entries.pop(name, None)


def test_a_word_for_a_parameter_that_is_nearly_one_is_named():
    with pytest.raises(BadUsage, match=r"AnswerEM takes .*; did you mean 'french'\?"):
        parse_measure("AnswerEM(normalizer='frensh')")
    with pytest.raises(BadUsage, match=r"AnswerEM takes .* or None\.$"):
        parse_measure("AnswerEM(normalizer='zzz')")
