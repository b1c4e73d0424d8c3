"""Figures of whole collections are explained, and a measure that a command does not compute names
what does.
"""

import re
from importlib import import_module

import pytest

import rankwell as rw
from rankwell.cli import main
from rankwell.data.catalogue import command_function
from rankwell.data.options import arguments_of
from rankwell.data.registry import FIGURES, MEASURES, find_figures, parse_measure
from rankwell.errors import BadUsage, UnknownName

OF_TABLES = [
    *(
        "nAUC",
        "AURC",
        "AUROC",
        "AUPRC",
        "EP",
        "NMI",
        "AMI",
        "Wins",
        "Credit",
        "rsum",
        "gmean",
        "r_mean",
        "Best",
        "BestThreshold",
    ),
    *(
        "AnswerAP",
        "CKA",
        "CKA(kind='debiased')",
        "Hubness",
        "Hubness(kind='largest')",
        "Hubness(kind='never')",
        "Change",
    ),
    *(
        "Spearman",
        "Pearson",
        "Kendall",
        "MAE",
        "MSE",
        "MAE(fit='affine')",
        "AP",
        "F1",
        "Threshold",
        "MCC",
        "p50",
        "p95",
        "p99",
    ),
    *(
        "first p50",
        "first request",
        "encoding",
        "throughput",
        "processor",
        "build",
        "size",
        "latency",
        "Recall",
    ),
    "Recall(by='ids')",
    "TP/PRED",
]
OF_QUERIES = ["Recall", "Recall(by='ids')", "latency", "TP/PRED"]
VIEWS = sorted({each.view.__name__ for each in map(MEASURES.__getitem__, MEASURES)})
OTHERS = {
    "rag": "nDCG@1",
    "embeddings": "SpanP@1",
    "beyond": "SpanP@1",
    "crossmodal": "SpanP@1",
    "keywords": "AnswerEM",
    "clicks": "AO",
}
OTHERS |= {"engine": "SessionDCG", "runs": "Gini@1"}
"""A measure that the smallest command of a task does not compute."""


def test_every_figure_of_a_table_is_in_the_list_of_measures():
    assert sorted(FIGURES) == sorted(OF_TABLES)


def test_what_prints_a_figure_is_a_command_with_that_option():
    for printed in {each for name in FIGURES for each in FIGURES[name].printed_by}:
        words, _, option = printed.partition(" --")
        known = [
            flag
            for each in arguments_of(command_function(tuple(words.split())))
            for flag in each.flags
        ]
        assert not option or f"--{option}" in known, printed


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_figure_is_explained_with_its_definition_its_source_and_what_prints_it(name: str):
    figure, text = FIGURES[name], str(rw.explain(name))

    covers = "each query" if figure.name in OF_QUERIES else "a whole collection"
    assert figure.title in text
    assert f"\n  of {covers}; " in text
    assert f"source: {figure.source}" in text
    assert f"printed by {figure.commands}" in text


@pytest.mark.parametrize(
    ("label", "name"),
    {
        "nAUC nDCG@10 max": "nAUC",
        "nAUC(of='AP',confidence='std')": "nAUC",
        "nauc": "nAUC",
        "p95 latency": "p95",
        "first p50 service time": "first p50",
        "best_exact": "Best",
        "spearman_cosine": "Spearman",
    }.items(),
)
def test_the_label_of_a_table_names_its_figure(label: str, name: str):
    assert [each.name for each in find_figures(label)] == [name]


@pytest.mark.parametrize(
    ("name", "printed_by"), [("NMI", "images --clusters"), ("nAUC", "evaluate --confidence")]
)
def test_a_figure_that_is_requested_as_a_measure_names_the_option_that_prints_it(
    name: str, printed_by: str
):
    with pytest.raises(
        UnknownName,
        match=rf"{name} .* figure of a whole collection.*`rankwell {printed_by}`.* prints? it\.",
    ):
        parse_measure(name)


def test_a_figure_of_single_queries_is_not_said_to_be_one_of_the_collection():
    with pytest.raises(
        UnknownName, match=r"is a figure of each query, .*`rankwell engine run` prints"
    ):
        parse_measure("latency")


def test_a_misspelt_measure_is_found_in_other_capitals():
    with pytest.raises(UnknownName, match=r"did you mean 'SessionDCG@10'"):
        parse_measure("sesiondcg@10")


def test_the_fields_own_word_for_dcg_of_sessions_names_it():
    assert str(parse_measure("sDCG@10")) == "SessionDCG@10"
    with pytest.raises(BadUsage, match=r"SDCG needs max_rel.*did you mean SessionDCG\?"):
        parse_measure("sdcg@10")


@pytest.mark.parametrize(("task", "wrong"), OTHERS.items())
def test_a_measure_of_other_inputs_says_what_it_needs_and_what_computes_it(
    task: str, wrong: str, tmp_path, monkeypatch, capsys
):
    inputs = import_module(f"tasks.{task}.smallest")
    inputs.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["rankwell", *inputs.COMMAND.split(), "-m", wrong])

    code, error = main(), capsys.readouterr().err

    assert code == 2
    assert f"{wrong} needs {MEASURES[parse_measure(wrong).name].view.needs}; `rankwell " in error
    assert not re.search("|".join(VIEWS), error)


def test_every_measure_is_explained_by_its_name_alone():
    for name in MEASURES.builtin_names:
        assert rw.explain(name).meanings, name
    for text, lacking in (
        ("IFT", "max_rel"),
        ("fallout", "n_items"),
        ("SessionRBP@5", "b"),
        ("IFT(by='goal')", "max_rel"),
    ):
        assert f"give {lacking}, as in" in str(rw.explain(text))
    assert "give" not in str(rw.explain("IFT(max_rel=3)")).splitlines()[2]
    assert {each.name for each in rw.explain("sdcg").meanings} == {"SDCG", "SessionDCG"}


def test_expected_exposure_goes_by_the_names_of_its_paper():
    assert [parse_measure(f"EE-{letter}@5").name for letter in "DRL"] == ["EED", "EER", "EEL"]
