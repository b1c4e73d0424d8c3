"""The contract: every measure in the registry, whoever wrote it, is held to the same laws by
reading what its file declares.

A measure that breaks a law says so beside itself, `exempt={law: reason}`; nothing here knows the
name of a measure.
"""

import importlib
import inspect
import itertools
import math
import pkgutil
import re
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import oracles
from make import shuffled, taken
from rankwell.data.registry import MEASURES, parse_measure
from variants import NAMES, by_query, entry_of, maker_of, options, simplest, variants, world_of

LAWS = ("bounds", "empty", "unjudged tail", "swap for the better")


@cache
def oracles_by_name() -> dict[str, Any]:
    """The functions of every oracle file, each under its own name."""
    modules = [
        importlib.import_module(f"oracles.{each.name}")
        for each in pkgutil.iter_modules(oracles.__path__)
    ]
    found = [
        (name, each)
        for module in modules
        for name, each in inspect.getmembers(module, inspect.isfunction)
    ]
    return {name: each for name, each in found if name in MEASURES}


def plainly(value: Any) -> Any:
    """A parameter as an oracle takes it: pairs as a dict."""
    is_pairs = isinstance(value, tuple) and value and all(isinstance(each, tuple) for each in value)
    return dict(value) if is_pairs else value


# ---- what each measure declares
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_says_where_it_comes_from_and_shows_a_worked_example(name: str) -> None:
    entry = entry_of(name)
    text = inspect.getdoc(entry.function) or ""

    assert re.search(r"\b(19|20)\d\d\b", entry.source), "the source has no year"
    assert ">>>" in text, "the docstring has no example that runs"
    summary = text.split("\n\n")[0]
    assert summary.endswith((".", ":")), "the first paragraph is not a sentence"
    assert not re.search(r"[\w)`]\.\s+[A-Z]", summary), "the first paragraph is two sentences"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_typed_and_given_by_name(name: str) -> None:
    entry = entry_of(name)
    signature = list(inspect.signature(entry.function).parameters.values())

    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in signature[1:])
    assert all(
        each.kind not in (inspect.Parameter.empty, Any) for each in entry.parameters.values()
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_exemption_names_a_law_and_a_reason(name: str) -> None:
    exempt = entry_of(name).exempt

    assert set(exempt) <= set(LAWS)
    assert all(len(reason.split()) >= 4 for reason in exempt.values())


def test_no_word_stands_for_two_measures() -> None:
    words = [alias for name in NAMES for alias in MEASURES[name].aliases]

    assert sorted({word for word in words if words.count(word) > 1}) == []
    assert sorted(set(words) & set(NAMES)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_other_word_for_a_measure_is_understood(name: str) -> None:
    entry = entry_of(name)
    needed = [each for each in entry.parameters.values() if each.default is each.empty]
    for word, implied in entry.aliases.items():
        inner = [
            f"{each.name}={options(each)[0]}"
            for each in needed
            if each.name != entry.cutoff_parameter
        ]
        at = [f"@{options(each)[0]}" for each in needed if each.name == entry.cutoff_parameter]

        found = parse_measure(word + (f"({','.join(inner)})" if inner else "") + "".join(at))

        assert found.name == name
        assert implied == "" or implied.split("=")[0] in dict(found.arguments)


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_measure_is_read_back_as_the_same_measure(name: str) -> None:
    for measure in variants(name):
        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_that_a_parameter_offers_is_tried(name: str) -> None:
    tried = [dict(measure.arguments) for measure in variants(name)]
    choices = [
        (each, value) for each in entry_of(name).parameters.values() for value in options(each)
    ]

    untried = [
        (each.name, value)
        for each, value in choices
        if isinstance(value, str | bool)
        and not any(given.get(each.name, each.default) == value for given in tried)
    ]

    assert untried == []


# ---- its values
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_agrees_with_its_oracle(name: str) -> None:
    maker = maker_of(name)
    assert name in oracles_by_name(), f"no file of tests/oracles has a function {name}"
    oracle, wrong = oracles_by_name()[name], []
    for seed, measure in itertools.product((0, 1), variants(name)):
        world, view = world_of(name, seed)
        given_ = {parameter: plainly(value) for parameter, value in measure.arguments}
        rankings = maker.rankings(world)

        for query, value in zip(view.queries, measure(view).tolist(), strict=True):
            expected = oracle(rankings[query], world.truth[query], **given_)
            if not (
                math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-9)
                or (math.isnan(value) and math.isnan(expected))
            ):
                wrong.append((seed, str(measure), query, value, expected))

    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_there_is_one_float_per_query_and_it_lies_in_its_bounds(name: str) -> None:
    entry, (low, high) = entry_of(name), entry_of(name).bounds
    _, view = world_of(name, 2)
    for measure in variants(name):
        values = measure(view)

        assert values.shape == (len(view.queries),)
        assert values.dtype == np.float64
        if "bounds" not in entry.exempt and "gains" not in dict(measure.arguments):
            inside = np.isnan(values) | ((values >= low - 1e-12) & (values <= high + 1e-12))
            assert inside.all(), (str(measure), values[~inside])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_without_a_ranking_has_the_declared_value(name: str) -> None:
    entry = entry_of(name)
    world, view = world_of(name, 3)
    values = dict(zip(view.queries, simplest(entry)(view).tolist(), strict=True))
    bare = [query for query in world.truth if not world.run.get(query)]

    assert len(bare) >= 2
    if "empty" in entry.exempt:
        assert any(values[query] != entry.empty for query in bare), "the exemption is not needed"
    else:
        assert all(
            values[query] == entry.empty
            or math.isnan(entry.empty) == math.isnan(values[query]) == 1
            for query in bare
        )


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_input_rows_changes_nothing(name: str) -> None:
    world, view = world_of(name, 4)
    random = Random(4)
    other = maker_of(name).join(shuffled(world.truth, random), shuffled(world.run, random))
    for measure in variants(name):
        assert by_query(other, measure(other)) == by_query(view, measure(view)), str(measure)


@pytest.mark.parametrize("name", NAMES)
def test_renaming_queries_changes_nothing_else(name: str) -> None:
    world, view = world_of(name, 5)
    names = sorted(world.truth)
    renamed = dict(zip(names, reversed([f"x{query}" for query in names]), strict=True))
    other = maker_of(name).join(
        {renamed[query]: truth for query, truth in world.truth.items()},
        {renamed[query]: scored for query, scored in world.run.items()},
    )
    for measure in variants(name):
        values = by_query(view, measure(view))
        assert by_query(other, measure(other)) == {
            renamed[query]: value for query, value in values.items()
        }, str(measure)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_of_queries_give_the_same_bytes_as_the_whole(name: str) -> None:
    _, view = world_of(name, 6)
    random = Random(6)
    edges = sorted(random.sample(range(1, len(view.queries)), 4))
    blocks = [np.arange(*pair) for pair in itertools.pairwise([0, *edges, len(view.queries)])]
    for measure in variants(name):
        whole = measure(view)
        assert (
            np.concatenate([measure(taken(view, block)) for block in blocks]).tobytes()
            == whole.tobytes()
        ), str(measure)


@pytest.mark.parametrize("name", NAMES)
def test_an_unjudged_tail_changes_nothing(name: str) -> None:
    entry = entry_of(name)
    world, view = world_of(name, 7)
    run = {
        query: {**scored, **{f"new{tail}": -1.0 - tail for tail in range(5)}}
        for query, scored in world.run.items()
    }
    other = maker_of(name).join(world.truth, run)
    measure = simplest(entry)
    changed = [
        query
        for query, value in by_query(other, measure(other)).items()
        if value != by_query(view, measure(view))[query]
    ]

    if "unjudged tail" in entry.exempt:
        assert any(each(other).tobytes() != each(view).tobytes() for each in variants(name)), (
            "the exemption is not needed"
        )
    else:
        assert changed == []
