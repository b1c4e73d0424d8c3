"""The documentation of Python's standard library, read from the interpreter that runs: a corpus
that everybody has.

Modules with source are parsed, never run (`antigravity` opens a browser); those written in C do
nothing on import. Questions about it with the modules that answer them, judged by hand.
"""

import ast
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import sysconfig
import tokenize
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

LEFT_OUT = frozenset(
    {
        # Not a library: programs, jokes, tests and the interpreter's own topics.
        *("antigravity", "idlelib", "pydoc_data", "test", "this", "turtledemo"),
        # Not in every installation of the same version, or gone from newer ones in bulk.
        *("distutils", "lib2to3", "tkinter", "turtle"),
        # Documented under another name: os, os.path and xml.parsers.expat.
        *("genericpath", "nt", "ntpath", "posix", "posixpath", "pyexpat"),
        # Written in C, and its import prints an escape sequence on some terminals.
        "readline",
    }
)
# Packages whose submodules are private in all but name.
FLAT = frozenset({"asyncio", "encodings", "ensurepip", "sqlite3"})
ALIASES = {"collections.abc": "_collections_abc", "os.path": "posixpath"}
MAX_DOTS = 2


class Entry(NamedTuple):
    """A document of the corpus.

    id: the dotted name of a module, function, class or method.
    title: the name, its words, and the first sentence about it.
    text: all of its documentation; for a module with that of its members.
    """

    id: str
    title: str
    text: str


class Member(NamedTuple):
    """A public function or class.

    name: the name without the module or class that has it.
    parameters: names of the parameters, separated by commas, without `self`; for a class those of
        `__init__`.
    doc: the docstring without its indentation; "" where there is none.
    methods: the public methods of a class; empty for a function.
    """

    name: str
    parameters: str
    doc: str
    methods: tuple["Member", ...] = ()


class Module(NamedTuple):
    """The documentation of one module, before names that it imports are looked up.

    doc: the docstring, else the opening comment; "" where there is neither.
    members: the public functions and classes that it defines.
    reexports: each `from module import name as alias` as (module, name -> alias); a star is the
        name `*`.
    declared: `__all__`; None where it is missing or computed.
    """

    doc: str
    members: tuple[Member, ...]
    reexports: tuple[tuple[str, dict[str, str]], ...] = ()
    declared: Set[str] | None = None


def modules() -> list[Entry]:
    """One entry per public module that can be read, sorted by name; the text holds its functions,
    classes and methods as well.
    """
    entries = list[Entry]()
    for name, (doc, members) in _library().items():
        texts = [
            f"{_named(path)}({member.parameters})\n{member.doc}".strip()
            for path, member in _walk(members)
        ]
        title = f"{_named(name)}: {first_sentence(doc, name)}".rstrip(": ")
        entries.append(Entry(name, title, "\n\n".join([doc, *texts]).strip()))
    return entries


def functions() -> list[Entry]:
    """One entry per public function, class and method with a docstring, sorted by dotted name."""
    entries = [
        Entry(
            path,
            f"{_named(path)}: {first_sentence(member.doc)}",
            f"{path.rpartition('.')[2]}({member.parameters})\n{member.doc}",
        )
        for module, (_, members) in _library().items()
        for path, member in _walk(members, f"{module}.")
        if member.doc
    ]
    return sorted(entries, key=lambda entry: entry.id)


def words(name: str) -> str:
    """The words that a dotted, underscored or camel-case name is made of, in lower case.

    >>> words("concurrent.futures.ThreadPoolExecutor")
    'concurrent futures thread pool executor'
    """
    return " ".join(re.findall(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*|[0-9]+", name)).lower()


def first_sentence(doc: str, name: str = "") -> str:
    """The first sentence of a docstring on one line; paragraphs that only repeat `name` or a
    signature are skipped.
    """
    for paragraph in re.split(r"\n\s*\n", doc.strip()):
        # An underlined title loses its line.
        line = " ".join(re.sub(r"^\W+$", "", paragraph, flags=re.MULTILINE).split())
        if line != name and not re.fullmatch(r"[\w.]+\(.*\)(\s*->.*)?", line):
            return re.split(r"(?<=[.!?])\s+(?=[A-Z])", line, maxsplit=1)[0]
    return " ".join(doc.split())


@cache
def _library() -> dict[str, tuple[str, tuple[Member, ...]]]:
    """Documentation and members of every module that becomes an entry, by name in sorted order."""
    # Old escapes in sources, deprecated modules.
    with warnings.catch_warnings(action="ignore"):
        read = {
            name: module
            for name in sorted({*_public_names(), *ALIASES})
            if (module := _read(ALIASES.get(name, name))) is not None
        }
        # A submodule that its own package re-exports is documented as a part of the package:
        # json.decoder, unittest.case.
        parts = {
            part
            for name, module in read.items()
            for part, _ in module.reexports
            if part.startswith(f"{name}.")
        } - ALIASES.keys()
        entries = read.keys() - parts
        library = {
            name: _resolved(module, entries, {name})
            for name, module in read.items()
            if name in entries
        }
    return {name: content for name, content in library.items() if any(content)}


def _public_names(package: str = "") -> Iterator[str]:
    """The public modules of the library, or the submodules of a package."""
    is_open = package and package not in FLAT and package.count(".") < MAX_DOTS
    spec = _spec(package) if is_open else None
    locations = (spec and spec.submodule_search_locations) or []
    below = [info.name for info in pkgutil.iter_modules(locations)]
    for name in below if package else sys.stdlib_module_names - LEFT_OUT:
        if not name.startswith("_") and name not in {"test", "tests"}:
            full_name = f"{package}.{name}".lstrip(".")
            yield full_name
            yield from _public_names(full_name)


@cache
def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """The location of a module in the standard library's own folders, found without importing it or
    its package.
    """
    if package := name.rpartition(".")[0]:
        parent = _spec(package)
        folders = list((parent and parent.submodule_search_locations) or [])
    else:
        pure = sysconfig.get_path("stdlib")
        # Not the virtual environment's.
        platform = sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix})
        folders = [
            pure,
            platform,
            str(Path(platform, "lib-dynload")),
            str(Path(sys.base_prefix, "DLLs")),
        ]
    return importlib.machinery.PathFinder.find_spec(name, folders) if folders else None


@cache
def _read(name: str) -> Module | None:
    """The module as its source or, where it is written in C, its objects describe it; None if it is
    not here.
    """
    spec = None if name in sys.builtin_module_names else _spec(name)
    origin = "" if spec is None else spec.origin or ""
    if name in sys.builtin_module_names or origin.endswith(
        tuple(importlib.machinery.EXTENSION_SUFFIXES)
    ):
        return _imported(name)
    if spec is None or not origin.endswith(".py"):
        return None
    try:
        with tokenize.open(origin) as file:
            return _parsed(file.read(), spec.parent or "")
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _resolved(
    module: Module, entries: Set[str], visited: Set[str]
) -> tuple[str, tuple[Member, ...]]:
    """The module's documentation and members, with those that it takes from modules without an
    entry of their own.
    """
    doc, members = module.doc, {member.name: member for member in module.members}
    for source, names in module.reexports:
        origin = None if source in entries | visited else _read(source)
        if origin is None:
            continue
        origin_doc, taken = _resolved(origin, entries, visited | {source})
        doc = doc or (origin_doc if "*" in names else "")  # signal is _signal under its public name
        for member in taken:
            name = member.name if "*" in names else names.get(member.name, "_")
            if not name.startswith("_") and (module.declared is None or name in module.declared):
                members.setdefault(name, member._replace(name=name))
    return doc, tuple(members.values())


def _parsed(source: str, package: str) -> Module:
    tree = ast.parse(source)
    statements = list(_statements(tree.body))
    # The expressions in the first `name = ...` of a module.
    assigned = {
        node.targets[0].id: node.value
        for node in reversed(statements)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    doc, names = assigned.get("__doc__"), assigned.get("__all__")
    written = doc.value if isinstance(doc, ast.Constant) else ""
    declared = None  # also where it is computed
    if isinstance(names, ast.List | ast.Tuple) and source.count("__all__") == 1:
        declared = {str(item.value) for item in names.elts if isinstance(item, ast.Constant)}
    return Module(
        ast.get_docstring(tree)
        or (isinstance(written, str) and inspect.cleandoc(written))
        or _leading_comment(source),
        _defined(statements),
        tuple(_reexports(statements, package)),
        declared,
    )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run on import, those inside `if` and `try` included."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handled = (line for handler in node.handlers for line in handler.body)
            yield from _statements([*node.body, *handled, *node.orelse, *node.finalbody])
        else:
            yield node


def _reexports(
    statements: Iterable[ast.stmt], package: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """The imports but `from . import name`, and those where every name gets a private alias."""
    for node in statements:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            names = {alias.name: alias.asname or alias.name for alias in node.names}
            if not all(name.startswith("_") for name in names.values()):
                yield ".".join([*above, node.module]), names


def _leading_comment(source: str) -> str:
    """The first paragraph of the comment that opens a file without a docstring, as pydoc shows
    it.
    """
    lines = list[str]()
    for line in source.splitlines():
        text = line.lstrip("#").strip()
        if not line.startswith("#") or (lines and not text):
            break
        if re.match(r"[^\W\d_]", text) and not re.match(
            r"copyright|spdx|licensed", text, re.IGNORECASE
        ):
            lines.append(text)
    return "\n".join(lines)


def _defined(statements: Iterable[ast.stmt]) -> tuple[Member, ...]:
    statements = list(statements)
    classes = {node.name: node for node in statements if isinstance(node, ast.ClassDef)}
    members = dict[str, Member]()
    for node in statements:
        if not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ) or node.name.startswith("_"):
            continue
        doc = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            methods = (method for method in node.body if isinstance(method, ast.FunctionDef))
            signatures = (
                _parameters(method.args) for method in methods if method.name == "__init__"
            )
            member = Member(node.name, next(signatures, ""), doc, _defined(_body(node, classes)))
        else:
            member = Member(node.name, _parameters(node.args), doc)
        members.setdefault(node.name, member)  # the getter of a property comes first
    return tuple(members.values())


def _body(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.stmt]:
    """The statements of a class and, after them, of its private bases: where argparse keeps
    `add_argument`.
    """
    yield from _statements(node.body)
    for base in node.bases:
        name = base.id if isinstance(base, ast.Name) else ""
        if name.startswith("_") and name in classes and name != node.name:
            yield from _body(classes[name], classes)


def _parameters(arguments: ast.arguments) -> str:
    stars = {arguments.vararg: "*", arguments.kwarg: "**"}
    parameters = (node for node in ast.iter_child_nodes(arguments) if isinstance(node, ast.arg))
    names = [stars.get(parameter, "") + parameter.arg for parameter in parameters]
    return ", ".join(name for name in names if name not in {"self", "cls"})


def _imported(name: str) -> Module | None:
    """A module written in C, read from its objects; None if something else of this name would be
    imported.
    """
    try:
        actual = importlib.util.find_spec(name)
        specs = actual, _spec(name) or actual
        if len({os.path.realpath((spec and spec.origin) or "") for spec in specs}) > 1:
            return None
        module = importlib.import_module(name)
    except (ImportError, ValueError):
        return None
    return Module(
        inspect.getdoc(module) or "", tuple(_objects(vars(module), of_builtins=name == "builtins"))
    )


def _objects(
    namespace: Mapping[str, object], *, of_builtins: bool = False, in_class: bool = False
) -> Iterator[Member]:
    """The functions and classes of a module, or the methods of a class."""
    for name, value in sorted(namespace.items()):
        # A program may have its own hooks; `sys.__excepthook__` and its like are Python's.
        value = namespace.get(f"__{name}__", value) if name.endswith("hook") else value
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        methods: tuple[Member, ...] = ()
        if in_class:
            is_member = inspect.isroutine(function)
        elif isinstance(function, type):
            # zlib.error is its own, posix.error is OSError.
            is_member = (function.__module__ == "builtins") == of_builtins
            methods = tuple(_objects(vars(function), in_class=True))
        else:
            is_member = isinstance(function, types.BuiltinFunctionType)
        if is_member and not name.startswith("_"):
            doc = inspect.cleandoc(function.__doc__) if isinstance(function.__doc__, str) else ""
            yield Member(name, _signature(function), doc, methods)


def _signature(value: object) -> str:
    # inspect.signature would evaluate the defaults and fails on some; only the names of the
    # parameters are needed.
    # Many functions in C have theirs in the first line of the docstring.
    text = getattr(value, "__text_signature__", None) or "()"
    plain = re.sub(r"[$]\w+(, /)?(, )?", "", text)  # $ marks the argument that is bound
    try:
        function: Any = ast.parse(f"def function{plain}: pass").body[0]
    except SyntaxError:
        return ""
    return _parameters(function.args)


def _walk(members: Iterable[Member], prefix: str = "") -> Iterator[tuple[str, Member]]:
    for member in members:
        yield prefix + member.name, member
        yield from _walk(member.methods, f"{prefix}{member.name}.")


def _named(name: str) -> str:
    """A name followed by its words, unless the words are the name."""
    spelled = words(name)
    return name if spelled == name else f"{name} {spelled}"


class Need(NamedTuple):
    """A question about the standard library.

    id: the id that judgments use.
    text: the question as a person asks it.
    """

    id: str
    text: str


class Judgment(NamedTuple):
    """The grade of a module for a need.

    need: the id of the question.
    module: dotted name of the module.
    grade: 3 for the module that answers the question, 2 for one that does so well or in part, 1 for
        a related one, 0 for one that does not help.
    """

    need: str
    module: str
    grade: int


def read_needs() -> list[Need]:
    """The hand-written questions, in the order of their ids."""
    return [Need(*line.split("\t")) for line in _data("needs.tsv").splitlines()]


def read_judgments() -> list[Judgment]:
    """All judgments that ship with the package, those of modules that this interpreter does not
    have included.
    """
    rows = (line.split() for line in _data("qrels.txt").splitlines())
    return [Judgment(need, module, int(grade)) for need, _, module, grade in rows]


def _data(name: str) -> str:
    return (files("rankwell.vectors.media") / "data" / name).read_text(encoding="utf-8")
