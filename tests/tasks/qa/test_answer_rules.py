"""The rules of results record every option that decides a figure."""

from dataclasses import fields
from typing import Any

import pytest

import rankwell as rw
from make import own_convention
from rankwell.tasks.qa.options import QaOptions

CONTEXT = "Paris is the capital of France and Lyon is not"
GOLD = {
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "q1",
                            "question": "which?",
                            "answers": [{"text": "Paris", "answer_start": 0}],
                        },
                        {
                            "id": "q2",
                            "question": "which not?",
                            "answers": [{"text": "Lyon", "answer_start": 33}],
                        },
                    ],
                }
            ],
        }
    ]
}
CORPUS = {"d1": "Paris is the capital of France", "d2": "Oslo is not in France"}
RETRIEVED = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}}
SAID = {"q1": "Paris", "q2": "the Lyon"}
NUMBERS = {"na_probs": {"q1": 0.5, "q2": 0.5}, "convention": "squad2"}
CONTEXTS = {"relevance": "context"}
CHOICES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "k": (1, 2, {}),
    "depth": (1, 2, {}),
    "convention": ("squad1", "squad2", {}),
    "measures": ("AnswerEM@1", "AnswerF1@1", {}),
    "relevance": ("dpr", "raw", {}),
    "ties": ("id-asc", "id-desc", {}),
    "duplicates": ("first", "keep", {}),
    "intervals": ("none", "t", {}),
    "seed": (0, 1, {}),
}
"""Two values of an option, and the options that it needs."""
RULES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "normalizer": ("squad", "none", {"measures": ["AnswerF1@1"]}),
    "language": ("en", "de", {"base": "mlqa"}),
    "na_threshold": (0.25, 0.75, NUMBERS),
    "na_ties": ("whole", "official", NUMBERS),
    "context_share": (0.1, 0.9, CONTEXTS),
    "context_similarity": ("words", "jaro", CONTEXTS),
    "context_threshold": (0.1, 0.9, CONTEXTS | {"rules": {"context_similarity": "words"}}),
    "extra": ("ignore", "error", {}),
    "missing": ("zero", "empty", {}),
}
"""Two values of a rule in a convention file, and what it needs."""
INPUTS = {"retrieved", "isolated", "na_probs", "documents"}
"""The manifest has digests of their files; `formats` names what they were read as."""
FORMATS = {"qrels_format", "predictions_format", "run_format", "columns"}


def rules(**options: Any) -> dict[str, Any]:
    """The rules of results, without what the inputs alone decide."""
    usual = {
        "convention": "squad1",
        "relevance": "raw",
        "retrieved": RETRIEVED,
        "documents": CORPUS,
    }
    return rw.evaluate_qa(GOLD, SAID, **(usual | options)).describe()


def test_every_option_is_a_choice_an_input_or_a_format():
    assert {each.name for each in fields(QaOptions)} == CHOICES.keys() | INPUTS | FORMATS


@pytest.mark.parametrize("name", CHOICES)
def test_the_rules_of_two_values_of_an_option_differ(name: str):
    one, other, further = CHOICES[name]

    assert rules(**{name: one}, **further) != rules(**{name: other}, **further)


@pytest.mark.parametrize("name", RULES)
def test_the_rules_of_two_conventions_that_differ_in_a_rule_differ(name: str):
    one, other, further = RULES[name]
    options = {
        key: value for key, value in further.items() if key not in ("base", "rules", "convention")
    }
    base, further_rules = (
        further.get("base") or further.get("convention", "squad1"),
        further.get("rules", {}),
    )

    first, second = (
        rules(**options, convention=own_convention(base, **further_rules, **{name: value}))
        for value in (one, other)
    )

    assert first | {"convention": ""} != second | {"convention": ""}
