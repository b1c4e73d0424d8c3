"""The documentation of Python's standard library, read from the interpreter that runs: a corpus that everybody has.

Modules with source are parsed, never run, because importing some of them does things (`antigravity` opens a browser,
`this` prints). Modules written in C have no source and are imported; those that are read do nothing on import.
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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

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
    """A document of the corpus: a dotted name, one line about it, and all that its documentation says."""

    id: str
    title: str
    text: str


class Member(NamedTuple):
    """A public function or class, with the public methods of a class."""

    name: str
    parameters: str
    doc: str
    methods: tuple["Member", ...] = ()


class Reexport(NamedTuple):
    """A line `from module import names`; a star is the name `*`."""

    module: str
    names: dict[str, str]


@dataclass(frozen=True)
class Module:
    """The documentation of one module, before names that it takes from other modules are looked up."""

    doc: str
    members: tuple[Member, ...]
    reexports: tuple[Reexport, ...] = ()
    declared: frozenset[str] | None = None


def modules() -> list[Entry]:
    """One entry per public module, sorted by name; the text holds its functions, classes and their methods as well.

    A module that cannot be read is left out, so the list differs a little between versions and platforms.
    """
    return [_module_entry(name, doc, members) for name, (doc, members) in _library().items()]


def functions() -> list[Entry]:
    """One entry per public function, class and method with a docstring, sorted by dotted name."""
    entries = [
        _member_entry(f"{name}.{path}", member)
        for name, (_, members) in _library().items()
        for path, member in _walk(members)
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
    """The first sentence of a docstring on one line; paragraphs that only repeat `name` or a signature are skipped."""
    for paragraph in re.split(r"\n\s*\n", doc.strip()):
        line = " ".join(re.sub(r"^\W+$", "", paragraph, flags=re.MULTILINE).split())  # an underlined title loses its line
        if line != name and not re.fullmatch(r"[\w.]+\(.*\)(\s*->.*)?", line):
            return re.split(r"(?<=[.!?])\s+(?=[A-Z])", line, maxsplit=1)[0]
    return " ".join(doc.split())


@cache
def _library() -> dict[str, tuple[str, tuple[Member, ...]]]:
    """Documentation and members of every module that becomes an entry, by name in sorted order."""
    read: dict[str, Module] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old escapes in sources, deprecated modules
        for name in sorted({*_public_names(), *ALIASES}):
            module = _read(ALIASES.get(name, name))
            if module is not None:
                read[name] = module
        # A submodule that its own package re-exports is documented as a part of the package: json.decoder, unittest.case.
        parts = {line.module for name, module in read.items() for line in module.reexports if _owns(name, line.module)}
        entries = {name: module for name, module in read.items() if name not in parts or name in ALIASES}
        found = {name: _resolved(module, frozenset(entries), frozenset({name})) for name, module in entries.items()}
    return {name: (doc, members) for name, (doc, members) in found.items() if doc or members}


def _owns(package: str, module: str) -> bool:
    return module.startswith(f"{package}.")


def _public_names() -> Iterator[str]:
    for name in sys.stdlib_module_names - LEFT_OUT:
        if name.startswith("_"):
            continue
        yield name
        yield from _submodule_names(name)


def _submodule_names(package: str) -> Iterator[str]:
    spec = None if package in FLAT else _spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return
    for info in pkgutil.iter_modules(spec.submodule_search_locations):
        if not info.name.startswith("_") and info.name not in {"test", "tests"}:
            name = f"{package}.{info.name}"
            yield name
            if info.ispkg and name.count(".") < MAX_DOTS:
                yield from _submodule_names(name)


@cache
def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """The location of a module of the standard library, found without importing it or its package.

    Only the library's own folders are searched: a file `secrets.py` beside the user's script is not the library's.
    """
    package, _, _ = name.rpartition(".")
    if not package:
        return importlib.machinery.PathFinder.find_spec(name, _folders())
    parent = _spec(package)
    if parent is None or parent.submodule_search_locations is None:
        return None
    return importlib.machinery.PathFinder.find_spec(name, list(parent.submodule_search_locations))


@cache
def _folders() -> list[str]:
    pure = sysconfig.get_path("stdlib")
    platform = sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix})  # not the virtual environment's
    return [pure, platform, str(Path(platform, "lib-dynload")), str(Path(sys.base_prefix, "DLLs"))]


@cache
def _read(name: str) -> Module | None:
    """The module as its source or, where it is written in C, its objects describe it; None if it is not here."""
    if name in sys.builtin_module_names:
        return _imported(name)
    spec = _spec(name)
    if spec is None or spec.origin is None:
        return None
    if not spec.origin.endswith(".py"):
        return _imported(name) if spec.origin.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)) else None
    try:
        with tokenize.open(spec.origin) as file:
            source = file.read()
        return _parsed(source, package=name if spec.submodule_search_locations is not None else name.rpartition(".")[0])
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _resolved(module: Module, entries: frozenset[str], seen: frozenset[str]) -> tuple[str, tuple[Member, ...]]:
    """The module's documentation and members, with those that it takes from modules without an entry of their own."""
    doc, members = module.doc, {member.name: member for member in module.members}
    for line in module.reexports:
        origin = None if line.module in entries | seen else _read(line.module)
        if origin is None:
            continue
        origin_doc, taken = _resolved(origin, entries, seen | {line.module})
        doc = doc or (origin_doc if "*" in line.names else "")  # signal is _signal under its public name
        for member in taken:
            name = member.name if "*" in line.names else line.names.get(member.name, "_")
            if not name.startswith("_") and (module.declared is None or name in module.declared):
                members.setdefault(name, member._replace(name=name))
    return doc, tuple(members.values())


def _parsed(source: str, package: str) -> Module:
    tree = ast.parse(source)
    statements = list(_statements(tree.body))
    lines = (_reexport(node, package) for node in statements if isinstance(node, ast.ImportFrom))
    return Module(
        doc=ast.get_docstring(tree) or _assigned_doc(statements) or _leading_comment(source),
        members=_defined(statements),
        reexports=tuple(line for line in lines if line is not None),
        declared=_declared(statements) if source.count("__all__") == 1 else None,
    )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run on import, those inside `if` and `try` included."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *(line for handler in node.handlers for line in handler.body)])
            yield from _statements([*node.orelse, *node.finalbody])
        else:
            yield node


def _assigned(name: str, statements: Iterable[ast.stmt]) -> ast.expr | None:
    """The expression in the first `name = ...` of a module."""
    for node in statements:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return node.value
    return None


def _assigned_doc(statements: Iterable[ast.stmt]) -> str:
    value = _assigned("__doc__", statements)
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _declared(statements: Iterable[ast.stmt]) -> frozenset[str] | None:
    """The names in a plain `__all__ = [...]`; None where it is computed."""
    value = _assigned("__all__", statements)
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    return frozenset(str(item.value) for item in value.elts if isinstance(item, ast.Constant))


def _reexport(node: ast.ImportFrom, package: str) -> Reexport | None:
    """The import as a re-export; None for `from . import name`, and where every name gets a private alias."""
    if node.module is None:
        return None
    above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
    names = {alias.name: alias.asname or alias.name for alias in node.names}
    if all(name.startswith("_") for name in names.values()):
        return None
    return Reexport(".".join([*above, node.module]), names)


def _leading_comment(source: str) -> str:
    """The first paragraph of the comment that opens a file without a docstring, as pydoc shows it."""
    lines: list[str] = []
    for line in source.splitlines():
        text = line.lstrip("#").strip()
        if not line.startswith("#") or (lines and not text):
            break
        if re.match(r"[^\W\d_]", text) and not re.match(r"copyright|spdx|licensed", text, re.IGNORECASE):
            lines.append(text)
    return "\n".join(lines)


def _defined(statements: Iterable[ast.stmt]) -> tuple[Member, ...]:
    statements = list(statements)
    classes = {node.name: node for node in statements if isinstance(node, ast.ClassDef)}
    members: dict[str, Member] = {}
    for node in statements:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        doc = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            member = Member(node.name, _constructor(node), doc, _defined(_body(node, classes)))
        else:
            member = Member(node.name, _parameters(node.args), doc)
        members.setdefault(node.name, member)  # the getter of a property comes first
    return tuple(members.values())


def _body(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.stmt]:
    """The statements of a class and, after them, of its private bases: where argparse keeps `add_argument`."""
    yield from _statements(node.body)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id.startswith("_") and base.id in classes and base.id != node.name:
            yield from _body(classes[base.id], classes)


def _constructor(node: ast.ClassDef) -> str:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return _parameters(item.args)
    return ""


def _parameters(arguments: ast.arguments) -> str:
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(f"*{arguments.vararg.arg}")
    names += [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        names.append(f"**{arguments.kwarg.arg}")
    return ", ".join(name for name in names if name not in {"self", "cls"})


def _imported(name: str) -> Module | None:
    """A module written in C, read from its objects; None if something else of this name would be imported."""
    expected = _spec(name)
    try:
        found = importlib.util.find_spec(name)
        if found is None or (expected is not None and not _same_file(found, expected)):
            return None
        module = importlib.import_module(name)
    except (ImportError, ValueError):
        return None
    return Module(inspect.getdoc(module) or "", tuple(_objects(vars(module), of_builtins=name == "builtins")))


def _same_file(one: importlib.machinery.ModuleSpec, other: importlib.machinery.ModuleSpec) -> bool:
    return os.path.realpath(one.origin or "") == os.path.realpath(other.origin or "")


def _objects(namespace: dict[str, object], *, of_builtins: bool) -> Iterator[Member]:
    for name, value in sorted(namespace.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, type):
            if (value.__module__ == "builtins") == of_builtins:  # zlib.error is its own, posix.error is OSError
                yield Member(name, _signature(value), _doc(value), tuple(_methods(value)))
        elif isinstance(value, types.BuiltinFunctionType):
            yield Member(name, _signature(value), _doc(value))


def _methods(owner: type) -> Iterator[Member]:
    for name, value in sorted(vars(owner).items()):
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not name.startswith("_") and inspect.isroutine(function):
            yield Member(name, _signature(function), _doc(function))


def _doc(value: object) -> str:
    doc = value.__doc__
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def _signature(value: object) -> str:
    # inspect.signature would evaluate the defaults and fails on some; only the names of the parameters are needed.
    text = getattr(value, "__text_signature__", None)
    if not isinstance(text, str):
        return ""  # many functions in C have theirs in the first line of the docstring
    plain = re.sub(r"[$]\w+(, /)?(, )?", "", text)  # $ marks the argument that is bound
    try:
        function = ast.parse(f"def function{plain}: pass").body[0]
    except SyntaxError:
        return ""
    return _parameters(function.args) if isinstance(function, ast.FunctionDef) else ""


def _walk(members: Iterable[Member], prefix: str = "") -> Iterator[tuple[str, Member]]:
    for member in members:
        yield prefix + member.name, member
        yield from _walk(member.methods, f"{prefix}{member.name}.")


def _named(name: str) -> str:
    """A name followed by its words, unless the words are the name."""
    spelled = words(name)
    return name if spelled == name else f"{name} {spelled}"


def _module_entry(name: str, doc: str, members: tuple[Member, ...]) -> Entry:
    parts = [doc, *(f"{_named(path)}({member.parameters})\n{member.doc}".strip() for path, member in _walk(members))]
    return Entry(name, f"{_named(name)}: {first_sentence(doc, name)}".rstrip(": "), "\n\n".join(parts).strip())


def _member_entry(name: str, member: Member) -> Entry:
    short = name.rpartition(".")[2]
    return Entry(name, f"{_named(name)}: {first_sentence(member.doc)}", f"{short}({member.parameters})\n{member.doc}")
