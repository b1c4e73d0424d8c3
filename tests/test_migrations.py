"""The guides to migration: rankwell's figures are those of the other tool, or the difference has a
reason on the page.
"""

import importlib.util
import json
import random
import re
from contextlib import chdir
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import migration_files
from migration_guides import (
    FIGURES,
    GOLDEN,
    PACKAGES,
    ROOT,
    Row,
    cases_of,
    differs,
    reasons_of,
    recorded,
    rows_of,
    tab_of,
    table_of,
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("migrations")
    migration_files.write(folder)
    return folder


@pytest.fixture(scope="module", params=PACKAGES)
def compared(request: pytest.FixtureRequest, drawn: Path) -> tuple[str, list[Row]]:
    with chdir(drawn):
        return request.param, rows_of(request.param, recorded()["scores"][request.param])


def test_every_figure_is_theirs_to_nine_decimals_or_has_a_reason(compared: tuple[str, list[Row]]):
    tool, rows = compared
    reasons = reasons_of(tool)

    assert {row.case for row in rows} == set(cases_of(tool))
    different = [row for row in rows if differs(row.theirs, row.ours)]
    assert [
        row
        for row in different
        if not {row.case, row.label, f"{row.case}/{row.label}"} & reasons.keys()
    ] == []
    # On plain files, rankwell's script gives their figures; where rounding interferes, the page
    # names the measure.
    assert [row for row in different if row.case == "plain" and row.label not in reasons] == []


def test_the_table_of_a_guide_is_that_of_the_recorded_figures(compared: tuple[str, list[Row]]):
    tool, rows = compared
    page = tab_of(tool)

    written = FIGURES.search(page)

    assert written is not None
    assert written[0] == table_of(tool, recorded()["about"]["tools"][tool], rows, reasons_of(tool))
    assert not re.search(r"\|  \|$", written[0], re.MULTILINE), "a difference without a reason"


def test_every_reason_is_about_a_difference(compared: tuple[str, list[Row]]):
    tool, rows = compared
    used = {
        name
        for row in rows
        if differs(row.theirs, row.ours) or differs(row.theirs, row.plain)
        for name in (row.case, row.label, f"{row.case}/{row.label}")
    }

    assert reasons_of(tool).keys() <= used


def test_every_environment_is_pinned_and_recorded():
    versions = recorded()["about"]["tools"]

    assert versions.keys() == PACKAGES.keys()
    for tool, packages in PACKAGES.items():
        for name, _, version in (
            package.partition("==") for package in packages if not package.startswith("torch")
        ):
            assert f"{name} {version}" in versions[tool]


@pytest.fixture(scope="module")
def tool_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "run_migrations", ROOT / "tests" / "peers" / "migrations.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_second_run_writes_the_same_whatever_the_order_of_the_tools_figures(
    tool_module: ModuleType,
):
    def shuffled(found: dict[str, Any], rng: random.Random) -> dict[str, Any]:
        return dict(rng.sample([*found.items()], len(found)))

    known = recorded()
    for seed in range(5):
        rng = random.Random(seed)
        scores = {
            tool: {
                name: each if isinstance(each, str) else shuffled(each, rng)
                for name, each in shuffled(cases, rng).items()
            }
            for tool, cases in shuffled(known["scores"], rng).items()
        }
        found = tool_module.in_order({"about": known["about"], "scores": scores})

        assert json.dumps(found, indent=1) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_the_record_depends_on_figures_and_versions_alone(
    tool_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    known, record = recorded(), tmp_path / "migrations.json"
    monkeypatch.setattr("sys.argv", ["migrations.py"])
    for name, each in {
        "GOLDEN": record,
        "program": lambda tool, _: tool,
        "theirs": lambda tool, *_: known["scores"][tool],
        "version_of": lambda tool, _: known["about"]["tools"][tool],
        "write_page": lambda *_: None,
    }.items():
        monkeypatch.setattr(tool_module, name, each)

    tool_module.main()

    assert record.read_bytes() == GOLDEN.read_bytes()


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("tool", [tool for tool in PACKAGES if tool != "trec_eval"])
def test_their_script_gives_the_recorded_figures_in_an_environment_of_its_own(
    tool: str, tool_module: ModuleType, tmp_path: Path
):
    migration_files.write(tmp_path)
    python = tool_module.program(tool, {})
    if python is None:
        pytest.skip(f"{tool} cannot be installed")

    found = tool_module.theirs(tool, python, tmp_path)

    assert found == recorded()["scores"][tool]
