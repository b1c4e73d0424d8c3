"""Checks prose and names against the tables of docs/style.md, and that no two classes in src/ share a name.

python tools/style.py [FILE or FOLDER ...] [--summary [files]]; without paths the sources, documentation and names of tests.
Exit code 1 for findings.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GUIDE = "docs/style.md"
EVERYTHING = ("src", "tools", "benchmarks", "tests", "docs", "README.md", "CHANGELOG.md")
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
KEPT = frozenset((*DEFINITIONS, ast.Module, ast.arg, ast.Name, ast.Attribute, ast.Constant, ast.JoinedStr))
SECTIONS = ("Words", "Messages", "Docstrings", "Names")
SHARED = "two classes of one name"
EXEMPT = re.compile(r"(?:#|//|/\*|<!--) style: \S")
CODE = re.compile(r"(`+)(?!`).+?\1", re.DOTALL)
SCRIPT = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|'(?:\\.|[^'\\\n])*'"""
    r"""|(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/""",
    re.DOTALL,
)


class Rule(NamedTuple):
    """A row of a table.

    not_: its phrases as written, globs under Names. exceptions: phrases within which a pattern is good English.
    """

    section: str
    not_: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    exceptions: tuple[re.Pattern[str], ...]
    write: str
    wrong: str = ""
    right: str = ""

    @property
    def name(self) -> str:
        """The first phrase, with the section where it is not that of words in general."""
        return self.not_[0] if self.section == "Words" else f"{self.section.lower()}: {self.not_[0]}"


class Text(NamedTuple):
    """Prose in a file.

    kind: `prose`, `message` or `docstring`. line: of its beginning. last: another line whose exemption counts, 0 for none.
    exact: whether its lines are the file's.
    """

    kind: str
    text: str
    line: int
    last: int
    exact: bool = True


class Finding(NamedTuple):
    """A place that breaks a rule."""

    path: Path
    line: int
    found: str
    write: str
    rule: str

    def __str__(self) -> str:
        place = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{place}:{self.line}: found {' '.join(self.found.split())!r}; write {self.write!r}"


def compiled(phrase: str) -> re.Pattern[str]:
    """Regular expression of a phrase: `a/b` is either word, `…` one to four words of a sentence, any white space a space."""
    words = [
        r"[^\s.;:]+(?:\s+[^\s.;:]+){0,3}?" if word == "…" else "(?:" + "|".join(map(re.escape, word.split("/"))) + ")"
        for word in phrase.split()
    ]
    return re.compile(r"(?<![\w-])" + r"\s+".join(words) + r"(?!\w|-\w)", re.IGNORECASE)


def needed(phrase: str) -> list[str]:
    """The rarest word of a phrase, or its alternatives: a text without any of them needs no search."""
    words = [word.lower().split("/") for word in phrase.split() if word != "…"]
    return max(words, key=lambda each: (min(map(len, each)), -len(each)))


def read_rules(guide: str) -> list[Rule]:
    """The rules of the guide in its order. Raises ValueError for a section without a table, or a row without a pattern."""
    rules: list[Rule] = []
    for section in SECTIONS:
        _, _, below = guide.partition(f"\n## {section}\n")
        _, found, table = re.split(r"\n## ", below)[0].partition("| not |")
        if not found:
            raise ValueError(f"{GUIDE}: section {section!r} has no table that begins with | not |")
        for line in table.splitlines()[2:]:
            if not line.startswith("|"):
                break
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            phrases, _, exceptions = cells[0].partition(", but ")
            spans = tuple(re.findall(r"`([^`]+)`", phrases))
            if not spans:
                raise ValueError(f"{GUIDE}: {line!r} names nothing between backticks")
            allowed = tuple(map(compiled, re.findall(r"`([^`]+)`", exceptions)))
            patterns = () if section == "Names" else tuple(map(compiled, spans))
            rules.append(
                Rule(section, spans, patterns, allowed, *([cells[1].replace("`", "")] if section == "Names" else cells[1:4]))
            )
    return rules


# Texts of a file


def _prose_of(node: ast.expr) -> str | None:
    """A literal's text, `{}` for each value in an f-string; None for another expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _comments(lines: list[str], inside: set[int]) -> Iterator[Text]:
    """Blocks of comment lines, and comments after code; inside: lines within strings of several lines."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        bare = line.lstrip()
        if bare.startswith("#") and number not in inside:
            block.append(bare.lstrip("#"))
            continue
        if block:
            yield Text("prose", "\n".join(block), number - len(block), number - 1)
            block = []
        if "  # " in line and number not in inside:
            yield Text("prose", line.rpartition("  # ")[2], number, number)


def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Nodes that define a name or hold text, parents first."""
    queue: list[ast.AST] = [tree]
    kept: list[ast.AST] = []
    for node in queue:  # `ast.walk` takes twice as long
        if node.__class__ in KEPT and node.__dict__.get("ctx").__class__ is not ast.Load:
            kept.append(node)
        for value in node.__dict__.values():
            if value.__class__ is list:
                queue.extend(each for each in value if isinstance(each, ast.AST))
            elif isinstance(value, ast.AST) and value.__class__ not in (ast.Load, ast.Store):
                queue.append(value)
    return kept


def python_texts(nodes: list[ast.AST], lines: list[str]) -> Iterator[Text]:
    """Docstrings, comments, and literals of several words."""
    docstrings: set[int] = set()
    inside: set[int] = set()
    parts: set[int] = set()
    for node in nodes:
        if isinstance(node, (ast.Module, *DEFINITIONS)):
            # The line below a constant is a docstring, too.
            docstrings.update(id(each.value) for each in node.body if isinstance(each, ast.Expr) and _prose_of(each.value))
        elif isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
        if not isinstance(node, (ast.Constant, ast.JoinedStr)) or id(node) in parts:
            continue
        text, last = _prose_of(node), node.end_lineno or node.lineno
        if text is None:
            continue
        kind = "docstring" if id(node) in docstrings else "message"
        if last > node.lineno and '"""' in lines[node.lineno - 1]:
            inside.update(range(node.lineno, last + 1))
        if kind == "docstring" or " " in text.strip():
            yield Text(kind, text, node.lineno, last, exact=kind == "docstring" or last == node.lineno)
    yield from _comments(lines, inside)


def script_texts(content: str) -> Iterator[Text]:
    """Comments and string literals of JavaScript and C."""
    for match in SCRIPT.finditer(content):
        text = match[0]
        line = content.count("\n", 0, match.start()) + 1
        if match.lastgroup in ("line", "block"):
            yield Text("prose", text, line, line + text.count("\n"))
        elif match.lastgroup == "text" and " " in text:
            filled = re.sub(r"\$\{[^{}]*\}|%[a-z]+", "{}", text[1:-1])
            yield Text("message", filled.replace("`", "'"), line, line + text.count("\n"))


def page_texts(content: str) -> Iterator[Text]:
    """A page of Markdown or HTML; of a changelog the sections that are not released yet."""
    if content.startswith("# Changelog\n"):
        content = re.split(r"\n## (?!.*unreleased)", content)[0]
    yield Text("message", content, 1, 0)


def names_of_tests(content: str) -> Iterator[Text]:
    """The names of tests as sentences."""
    for number, line in enumerate(content.split("\n"), start=1):
        if match := re.match(r"\s*(?:async )?def (test_\w+)", line):
            yield Text("prose", match[1].replace("_", " "), number, number)


def names_of(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Every name where it is defined: classes, functions, parameters, variables, attributes."""
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


# Rules applied


class Checker:
    """The rules, and what they find in files."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        rules = list(rules)
        self._messages = [rule for rule in rules if rule.section in ("Words", "Messages")]
        self._first_words = [rule for rule in rules if rule.section == "Docstrings"]
        self._names = [(glob, rule) for rule in rules if rule.section == "Names" for glob in rule.not_]
        self._needing: dict[str, set[int]] = {}
        for place, rule in enumerate(self._messages):
            for word in (word for phrase in rule.not_ for word in needed(phrase)):
                self._needing.setdefault(word, set()).add(place)
        self._seen: dict[str, Rule | None] = {}

    def in_text(self, text: Text) -> list[tuple[int, str, Rule]]:
        """(position, words, rule) of what prose must not say; of two rules for the same words the first counts."""
        plain = CODE.sub(lambda code: re.sub(r"\S", "·", code[0]), text.text) if "`" in text.text else text.text
        found: list[tuple[int, str, Rule]] = []
        if text.kind == "docstring":
            start = len(plain) - len(plain.lstrip())
            for rule in self._first_words:
                match = next((hit for each in rule.patterns if (hit := each.match(plain, start))), None)
                if match:
                    found.append((start, match[0], rule))
        claimed: list[tuple[int, int]] = []
        words = self._needing.keys() & re.findall(r"\w+", plain.lower())
        for rule in (self._messages[place] for place in sorted({place for word in words for place in self._needing[word]})):
            if rule.section == "Messages" and text.kind != "message":
                continue
            for begin, end in _places(rule, plain):
                if not any(begin < stop and start < end for start, stop in claimed):
                    claimed.append((begin, end))
                    found.append((begin, plain[begin:end], rule))
        return sorted(found, key=lambda each: each[0])

    def in_name(self, name: str) -> Rule | None:
        """The rule that a name breaks; `world.py` and `faces/` are names of a file and a folder."""
        if name not in self._seen:
            plain = name.lstrip("_")
            self._seen[name] = next((rule for glob, rule in self._names if fnmatchcase(plain, glob)), None)
        return self._seen[name]

    def in_python(self, path: Path, content: str) -> Iterator[Finding]:
        """Prose and names of a module."""
        lines, nodes = content.split("\n"), nodes_of(ast.parse(content))
        yield from self._findings(path, lines, python_texts(nodes, lines))
        names = [(path.name, 1), (f"{path.parent.name}/", 1)] if path.name == "__init__.py" else [(path.name, 1)]
        for name, line in (*names, *names_of(nodes)):
            rule = self.in_name(name)
            if rule and not EXEMPT.search(lines[line - 1]):
                yield Finding(path, line, name, rule.write, rule.name)

    def in_file(self, path: Path) -> Iterator[Finding]:
        """Findings of one file, except for names of classes that another file has too."""
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".py" and not path.is_relative_to(ROOT / "tests"):
            yield from self.in_python(path, content)
            return
        scripts = dict.fromkeys((".js", ".c", ".h", ".toml"), script_texts)
        texts = {".py": names_of_tests, **scripts}.get(path.suffix, page_texts)
        yield from self._findings(path, content.split("\n"), texts(content))

    def _findings(self, path: Path, lines: list[str], texts: Iterable[Text]) -> Iterator[Finding]:
        for text in texts:
            for position, words, rule in self.in_text(text):
                line = text.line + text.text.count("\n", 0, position) if text.exact else _line_of(words, lines, text)
                if not any(EXEMPT.search(lines[number - 1]) for number in (line, text.last) if number):
                    yield Finding(path, line, words, rule.write, rule.name)


def _places(rule: Rule, text: str) -> list[tuple[int, int]]:
    """Spans of a text that break a rule of words."""
    found = [match.span() for each in rule.patterns for match in each.finditer(text)]
    allowed = [match.span() for each in rule.exceptions for match in each.finditer(text)] if found else []
    return [(begin, end) for begin, end in found if not any(start <= begin and end <= stop for start, stop in allowed)]


def _line_of(words: str, lines: list[str], text: Text) -> int:
    """The line of a literal that holds the words, or the first word, or else the literal's first line."""
    for part in (words, words.split()[0]):
        for number in range(text.line, text.last + 1):
            if part in lines[number - 1]:
                return number
    return text.line


def shared_names(paths: Iterable[Path]) -> Iterator[Finding]:
    """Classes of src/ whose name an earlier file has too; paths: files to report, all of src/ is read."""
    chosen, first = set(paths), dict[str, str]()
    for path in sorted((ROOT / "src").rglob("*.py")):
        content = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^[ \t]*class (\w+)[(:\[][^\n]*", content, re.MULTILINE):
            line = content.count("\n", 0, match.start(1)) + 1
            place = f"{path.relative_to(ROOT)}:{line}"
            other = first.setdefault(match[1], place)
            if other != place and path in chosen and not EXEMPT.search(match[0]):
                yield Finding(path, line, f"class {match[1]}", f"another name; {other} has this one", SHARED)


def files_of(paths: Iterable[Path]) -> list[Path]:
    """The files below the paths that are checked, of every kind of text; not the guide, nor npm's packages."""
    found = {
        file.resolve()
        for path in paths
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.suffix in (".py", ".js", ".c", ".h", ".toml", ".md", ".html")
        and file.resolve() != ROOT / GUIDE
        and "node_modules" not in file.parts
    }
    return sorted(found)


def summary(findings: list[Finding], *, files: bool) -> str:
    """Counts per rule and per folder, files: also per file."""

    def place(finding: Finding, depth: int) -> str:
        parts = finding.path.relative_to(ROOT).parts if finding.path.is_relative_to(ROOT) else finding.path.parts
        return "/".join(parts[:depth])

    tables = {
        "rule": Counter(each.rule for each in findings),
        "folder": Counter(place(each, 3) if place(each, 1) == "src" else place(each, 1) for each in findings),
    }
    if files:
        tables["file"] = Counter(place(each, 99) for each in findings)
    blocks = [
        "\n".join([f"  count  {title}", *(f"{n:7}  {name}" for name, n in counts.most_common())])
        for title, counts in tables.items()
    ]
    return "\n\n".join([*blocks, f"{len(findings):7}  in all"])


def main() -> int:
    """Prints every finding, or their counts."""
    parser = argparse.ArgumentParser(description="Checks prose and names against docs/style.md.")
    parser.add_argument(
        "paths", nargs="*", type=Path, default=[ROOT / each for each in EVERYTHING], help="files and folders; default: all"
    )
    parser.add_argument(
        "--summary", nargs="?", const="rules", choices=["rules", "files"], help="counts per rule and folder, or also per file"
    )
    arguments = parser.parse_args()
    missing = [path for path in arguments.paths if not path.exists()]
    if missing:
        parser.error(f"{missing[0]}: no such file or folder")
    checker = Checker(read_rules((ROOT / GUIDE).read_text(encoding="utf-8")))
    files = files_of(arguments.paths)
    findings = sorted([*(each for file in files for each in checker.in_file(file)), *shared_names(files)])
    if arguments.summary:
        sys.stdout.write(summary(findings, files=arguments.summary == "files") + "\n")
    else:
        sys.stdout.writelines(f"{each}\n" for each in findings)
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
