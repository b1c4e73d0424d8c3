"""The style checker finds the bad example of every rule in docs/style.md, and nothing in the good one."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("style_checker", ROOT / "tools" / "style.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


style = _tool()
RULES = style.read_rules((ROOT / "docs" / "style.md").read_text(encoding="utf-8"))
CHECKER = style.Checker(RULES)
PROSE = [rule for rule in RULES if rule.section != "Names"]
KINDS = {"Words": "prose", "Messages": "message", "Docstrings": "docstring"}


def rules_broken(text: str, kind: str = "prose") -> list[str]:
    return [rule.name for _, _, rule in CHECKER.in_text(style.Text(kind, text, 1, 0))]


def written(folder: Path, content: str, name: str = "module.py") -> list[tuple[int, str]]:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return [(finding.line, finding.found) for finding in CHECKER.in_file(path)]


def test_every_section_of_the_guide_has_rules():
    assert {rule.section for rule in RULES} == set(style.SECTIONS)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", PROSE, ids=lambda rule: rule.name)
def test_the_wrong_example_of_a_rule_is_found_and_the_right_one_passes(rule):
    kind = KINDS[rule.section]

    assert rule.name in rules_broken(rule.wrong, kind)
    assert rules_broken(rule.right, "docstring" if kind == "docstring" else "message") == []


@pytest.mark.parametrize("rule", PROSE, ids=lambda rule: rule.name)
def test_every_phrase_of_a_rule_is_found_in_each_of_its_forms(rule):
    for phrase in rule.not_:
        for place in range(max(word.count("/") for word in phrase.split()) + 1):
            words = [word.split("/")[min(place, word.count("/"))].replace("…", "two words") for word in phrase.split()]

            found = rules_broken(" ".join(words), KINDS[rule.section])

            assert found, words


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.section == "Names"], ids=lambda rule: rule.name)
def test_an_old_name_is_found_and_the_new_one_passes(rule):
    for glob in rule.not_:
        assert CHECKER.in_name(glob.replace("*", "some")) == rule
    for name in style.re.findall(r"[\w./]+", rule.write.partition(" of ")[0]):
        assert CHECKER.in_name(name.rpartition("/")[2] or name) is None


@pytest.mark.parametrize(
    ("good", "kind"),
    [
        ("There is no default; it is no longer an error and no worse.", "prose"),
        ("Whether the query is judged.", "docstring"),
        ("NAME stands for a run; one run stands out.", "message"),
        ("As far as the file has them.", "prose"),
        ("`told` and `barred` are old names.", "prose"),
        ("A story retold, an unwanted word, a barred-owl.", "prose"),
    ],
)
def test_good_english_that_resembles_a_rule_passes(good, kind):
    assert rules_broken(good, kind) == []


def test_of_two_rules_for_the_same_words_the_first_is_reported():
    assert rules_broken("They are not told apart, and told so.") == ["not told apart", "told"]


def test_docstrings_literals_comments_and_names_are_read_with_their_lines(tmp_path):
    content = '''"""What a module holds.

Items are told once.
"""

def f(barred, *, told=1):  # nobody needs it
    # a text
    # is wanted
    self.world = "told"
    return (
        f"{barred} is "
        f"wanted here"
    )
'''

    assert sorted(written(tmp_path, content)) == [
        (1, "What"),
        (3, "told"),
        (6, "barred"),
        (6, "nobody"),
        (6, "told"),
        (8, "is wanted"),
        (9, "world"),
        (11, "is wanted"),
    ]
    assert written(tmp_path, 'LIMIT = 3\n"""How many items are kept."""\n') == [(2, "How")]


def test_scripts_and_pages_are_read(tmp_path):
    script = 'const told = 1;  // nobody\nconst text = `a ${told} is wanted`, pattern = /"/;\nconst last = "is no run";\n'

    assert written(tmp_path, script, "page.js") == [(1, "nobody"), (2, "is wanted"), (3, "is no")]
    assert written(tmp_path, "# Title\n\nItems are `told`, not\nbarred.\n", "page.md") == [(4, "barred")]


def test_released_sections_of_the_changelog_are_left_alone(tmp_path):
    content = "# Changelog\n\n## 0.2.0 — unreleased\n\n* told\n\n## 0.1.0 — 2026-01-01\n\n* told\n"

    assert written(tmp_path, content, "CHANGELOG.md") == [(5, "told")]


def test_a_name_of_a_test_is_read_as_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()

    assert written(tmp_path / "tests", "def test_a_text_is_wanted(told):\n    x = 'is no run'\n") == [(1, "is wanted")]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("module.py", 'x = "this is wanted"  # style: trec_eval\'s own words\n'),
        ("module.py", "class World:  # style: alias\n    x = 1\n"),
        ("page.js", 'x = "this is wanted";  // style: a quotation\n'),
        ("page.md", "this is wanted <!-- style: a quotation -->\n"),
    ],
)
def test_a_line_with_a_reason_is_exempt(name, line, tmp_path):
    bare = style.re.sub(r"(#|//|<!--) style:.*", "", line)

    assert written(tmp_path, line, name) == []
    assert len(written(tmp_path, bare, name)) == 1


def test_an_exemption_without_a_reason_does_not_count(tmp_path):
    assert len(written(tmp_path, 'x = "this is wanted"  # style: \n')) == 1


def test_two_classes_of_one_name_are_found_also_when_one_file_is_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    for name in "abc":
        (tmp_path / "src" / f"{name}.py").write_text(f"class Alike:\n    pass\n\n\nclass Only{name}(Alike):\n    pass\n")

    found = list(style.shared_names([tmp_path / "src" / "c.py"]))

    assert [str(each) for each in found] == ["src/c.py:1: found 'class Alike'; write 'another name; src/a.py:1 has this one'"]
    assert len(list(style.shared_names((tmp_path / "src").rglob("*.py")))) == 2


def test_findings_are_printed_with_their_place_and_counted(tmp_path, monkeypatch, capsys):
    path = tmp_path / "module.py"
    path.write_text('x = "a text is wanted, and it is told"\n')

    monkeypatch.setattr("sys.argv", ["style.py", str(path)])
    assert style.main() == 1
    assert capsys.readouterr().out.splitlines()[0].startswith(f"{path}:1: found 'is wanted'; write 'expected")

    monkeypatch.setattr("sys.argv", ["style.py", str(path), "--summary", "files"])
    assert style.main() == 1
    assert "      2  in all" in capsys.readouterr().out

    path.write_text('x = "expected a string"\n')
    monkeypatch.setattr("sys.argv", ["style.py", str(path)])
    assert style.main() == 0
    assert capsys.readouterr().out == ""


def test_the_guide_without_a_table_is_an_error():
    with pytest.raises(ValueError, match="section 'Words' has no table"):
        style.read_rules("# Style\n\n## Words\n\nNone.\n")
