"""The contract of everything that can be named: each entry is documented, and a test names it; a
missing piece fails by name.

Stricter contracts of one kind stand with its tests: measures (tests/measures/test_measures.py),
round trips of formats that can be written (tests/io/test_files.py) and options of commands
(tests/cli/test_options.py). They read the same registries.
"""

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

import rankwell
from rankwell.data.catalogue import Catalogue, command_summaries
from registries import REGISTRIES, description

ROOT = Path(__file__).parents[2]
ENTRIES = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]
COMMANDS = list(command_summaries())
NOT_FOR_USERS = {"kinds of own measures"}
"""Registries that only the package looks into; tests/reporting/test_notebooks.py shows every result
by all of their entries, and tests/files/test_workflow.py passes functions as measures.
"""

INTERNAL = {"kinds of parts", "kinds of own measures"}
"""Registries that no user names."""
PAGES = {
    "measures": "measures/*.md",
    "figures": "measures/*.md",
    "formats": "formats.md",
    "formats of questions, answers and passages": "formats.md",
    "forms of image sets": "formats.md",
    "conventions": "conventions.md",
    "findings": "findings.md",
}
"""The pages of registries; all others are on methods.md."""


@cache
def text_of_tests() -> str:
    """The text of all tests, contracts aside."""
    files = (ROOT / "tests").rglob("*.py")
    return "\n".join(
        file.read_text(encoding="utf-8")
        for file in sorted(files)
        if file.parent.name != "contracts"
    )


@cache
def page(name: str) -> str:
    """The text of a page, or of all pages of a folder, of the reference."""
    places = sorted((ROOT / "docs" / "reference").glob(name))
    return "\n".join(place.read_text(encoding="utf-8") for place in places)


def named_in_tests(name: str) -> bool:
    """Whether a test has the name in quotes, as a value, behind an option of a command line, or as
    the ending of a file.
    """
    before, behind = (
        r"""(?:(?<=["'`=.:,])|(?<=[\w)] )(?=\w+[(@])|-[a-z][a-z-]* )""",
        r"""(?=["'`@(:=.,) ])""",
    )
    return re.search(before + re.escape(name) + behind, text_of_tests()) is not None


def test_every_registry_of_the_package_is_under_contract():
    found: dict[int, str] = {}
    for module in pkgutil.walk_packages(rankwell.__path__, "rankwell."):
        if not module.name.endswith("__main__"):
            for name, each in vars(importlib.import_module(module.name)).items():
                if isinstance(each, Catalogue):
                    found[id(each)] = f"{module.name}.{name}"

    assert [
        name for key, name in found.items() if key not in {id(each) for each in REGISTRIES.values()}
    ] == []


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_an_entry_says_what_it_is_and_is_documented(kind: str, name: str):
    assert description(REGISTRIES[kind][name]), f"{name}: its function has no docstring"
    if kind not in INTERNAL:
        shown = (
            name.removeprefix("python ").rpartition(" ")[0] or name if "format" in kind else name
        )
        assert shown.partition("/")[0] in page(PAGES.get(kind, "methods.md")), (
            f"{PAGES.get(kind, 'methods.md')} has no {name}: run `make docs`"
        )


@pytest.mark.parametrize(
    ("kind", "name"), [each for each in ENTRIES if each[0] not in NOT_FOR_USERS]
)
def test_a_test_names_the_entry(kind: str, name: str):
    # Formats and what they hold make up one name; the test of a format says what it holds in its
    # own way.
    assert named_in_tests(name.split()[0]), f"no test names {name}, one of the {kind}"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_documented_and_run_by_a_test(words: tuple[str, ...]):
    text = page(f"commands/{'-'.join(words)}.md")

    assert text.startswith(f"# rankwell {' '.join(words)}\n"), "run `make docs`"
    assert runs_in_tests(words), f"no test runs `rankwell {' '.join(words)}`"


def runs_in_tests(words: tuple[str, ...]) -> bool:
    """Whether a test has the words in quotes, together or one by one, or imports the command;
    helpers may add the first word.
    """
    one_by_one, helper = '", "'.join(words), f'"{words[0]}", *'
    forms = (
        rf"""["'](rankwell )?{" ".join(words)}["' ]""",
        re.escape(one_by_one) + '"',
        rf"import {'_'.join(words)}\b",
    )
    forms += (rf"commands\.{'_'.join(words)} import",)
    text = text_of_tests()
    return any(re.search(each, text) for each in forms) or (
        len(words) == 2 and helper in text and f'"{words[1]}", ' in text
    )
