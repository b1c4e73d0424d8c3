"""Each check of `make check` fails on a planted fault; test_links.py plants dead links."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import public_stub
import reference
import release

ROOT = Path(__file__).parent.parent


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the pages, which the check reads instead."""
    shutil.copytree(
        ROOT / "docs", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.png", "*.svg")
    )
    monkeypatch.setattr(reference, "DOCS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check"])
    return tmp_path


def test_an_undocumented_command_measure_and_public_function_fail(docs, capsys):
    planted = {
        "reference/measures/discounted-gain.md": "## nDCG: ",
        "reference/commands/explain.md": "# rankwell explain\n",
        "reference/python/evaluate.md": "## Raises\n",
    }
    for page, heading in planted.items():
        text = (docs / page).read_text(encoding="utf-8")
        assert heading in text
        (docs / page).write_text(text.replace(heading, "", 1), encoding="utf-8")

    assert reference.main() == 1
    found = capsys.readouterr().err.splitlines()
    assert sorted(found) == [
        f"docs/{page} is not what the code says; run `make docs`." for page in sorted(planted)
    ]


def test_the_page_of_a_command_that_is_gone_fails(docs, capsys):
    shutil.copy(docs / "reference/commands/check.md", docs / "reference/commands/lint.md")

    assert reference.main() == 1
    assert capsys.readouterr().err == (
        "docs/reference/commands/lint.md is not what the code says; run `make docs`.\n"
    )


def test_a_public_function_without_types_or_a_docstring_fails(tmp_path, monkeypatch, capsys):
    stub = tmp_path / "__init__.pyi"
    text = public_stub.PUBLIC.read_text(encoding="utf-8")
    shown = next(
        line for line in text.splitlines(keepends=True) if line.startswith("def evaluate(")
    )
    stub.write_text(text.replace(shown, ""), encoding="utf-8")
    monkeypatch.setattr(public_stub, "PUBLIC", stub)
    monkeypatch.setattr(public_stub, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["public_stub.py", "--check"])

    assert public_stub.main() == 1
    assert capsys.readouterr().err.splitlines()[0] == "__init__.pyi is not what `make docs` writes."

    words = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--stdin-filename",
        "src/rankwell/files/planted.py",
        "-",
    ]
    planted = '"""A module."""\n\n\ndef measure_all(number: int) -> int:\n    return number\n'
    done = subprocess.run(
        words, input=planted, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "D103" in done.stdout


def test_a_release_needs_an_address_a_date_and_its_own_tag(tmp_path):
    with_address = [release.GATE_PAGE, "integrations/gitlab.yml"]
    for name in ("pyproject.toml", "CHANGELOG.md", *with_address):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog, project = tmp_path / "CHANGELOG.md", tmp_path / "pyproject.toml"

    changelog.write_text("# Changelog\n\n## 1.2.0 — unreleased\n", encoding="utf-8")
    assert [each.partition(":")[0] for each in release.problems(tmp_path, "1.2.0", "v1.2.1")] == [
        "pyproject.toml",
        "docs/guide/gate.md",  # OWNER
        "integrations/gitlab.yml",  # https://…
        "docs/guide/gate.md",  # the tag of another version
        "CHANGELOG.md",
        "the tag is v1.2.1, but src/rankwell/__init__.py has the version 1.2.0",
    ]

    changelog.write_text("# Changelog\n\n## 1.2.0 — 2026-12-01\n", encoding="utf-8")
    project.write_text(
        project.read_text(encoding="utf-8").replace("repository.invalid", "example.org"),
        encoding="utf-8",
    )
    for name in with_address:
        text = (
            (tmp_path / name)
            .read_text(encoding="utf-8")
            .replace("OWNER/rankwell@v0.1.0", "us/rankwell@v1.2.0")
        )
        (tmp_path / name).write_text(
            text.replace("https://…/", "https://example.org/us/"), encoding="utf-8"
        )
    assert list(release.problems(tmp_path, "1.2.0", "v1.2.0")) == []


def test_make_check_runs_each_of_these_checks():
    recipe = (
        (ROOT / "Makefile")
        .read_text(encoding="utf-8")
        .partition("\ncheck: ")[2]
        .partition("\n\n")[0]
    )

    for command in ("ruff check .", "public_stub.py --check", "reference.py --check", "links.py"):
        assert command in recipe


def test_the_page_for_maintainers_lists_every_action_with_its_tag():
    used = {
        action
        for file in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
        for action in re.findall(r"uses: ([^.\s]\S+)", file.read_text(encoding="utf-8"))
    }

    listed = (
        (ROOT / "docs" / "releasing.md")
        .read_text(encoding="utf-8")
        .partition("<!-- actions -->")[2]
        .partition("<!-- /actions -->")[0]
    )

    assert re.findall(r"`(.+?)`", listed) == sorted(used)


def test_the_conda_recipe_has_the_dependencies_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.findall(
        r"^    - (.+)$", recipe.partition("\n  run:\n")[2].partition("\n\n")[0], re.MULTILINE
    )

    names = {"duckdb": "python-duckdb"}
    expected = [
        re.sub(r"^[\w-]+", lambda found: f"{names.get(found[0], found[0])} ", each)
        for each in project["dependencies"]
    ]

    assert run == [f"python {project['requires-python']}", *expected]


def test_the_page_of_extras_lists_each_and_whether_all_has_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    inside = re.findall(r"[\w-]+", extras["all"][0].partition("[")[2])
    page = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| .* \| (`[^|]+) \|$", page, re.MULTILINE)
    above, below = (
        {name for row in part for name in re.findall(r"[\w-]+", row)}
        for part in (rows[: rows.index("`all`")], rows[rows.index("`all`") + 1 :])
    )

    assert above == set(inside)
    assert below == extras.keys() - above - {"all", "dev", "dev-all", "docs"}
