"""Writes the types of the public names: functions and methods have the fields of their options as
keywords.

python tools/public_stub.py            writes the stub src/rankwell/__init__.pyi
python tools/public_stub.py --check    exit 1 where it differs from what would be written
"""

import inspect
import subprocess
import sys
import types
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

rankwell: Any = import_module("rankwell")
PUBLIC = ROOT / "src" / "rankwell" / "__init__.pyi"


class Typed(NamedTuple):
    """A parameter as it is written; `*` for its star alone."""

    name: str
    type: str = ""
    default: str = ""

    def __str__(self) -> str:
        kind = f": {self.type}" if self.type else ""
        equals = " = " if kind else "="
        return f"{self.name}{kind}{equals + self.default if self.default else ''}"


class Stub:
    """The lines of a stub and what they import. exported: the names that it makes public."""

    def __init__(self, exported: Collection[str] = ()) -> None:
        self.imports, self.exported = set[str](), exported

    def text(self) -> str:
        """The whole stub, formatted."""
        names = [name for name in self.exported if name != "__version__"]
        definitions = "".join(self._definition(name, getattr(rankwell, name)) for name in names)
        title = "The public names of rankwell, with their types: written by tools/public_stub.py."
        imports = "\n".join(sorted(self.imports))
        text = f'"""{title}"""\n\n{imports}\n\n__version__: str\n\n{definitions}'
        for command in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PUBLIC), "-"],
                input=text,
                capture_output=True,
                text=True,
                check=True,
                cwd=ROOT,
            )
            text = done.stdout
        return text

    def _definition(self, name: str, value: Any) -> str:
        if _takes_options(value):
            return self._definition_of(name, value)
        if not self._is_typed_here(value):
            self.imports.add(f"from {rankwell._homes()[name]} import {name} as {name}")
            return ""
        self.imports.add(f"from {rankwell._homes()[name]} import {name} as _{name}")
        bases = [base.__name__ for base in value.__mro__[1:] if self._is_typed_here(base)]
        methods = [
            f"    {self._definition_of(method, function)}"
            for base in value.__mro__
            if base is value or not self._is_typed_here(base)
            for method, function in vars(base).items()
            if _takes_options(function)
        ]
        return (
            f"class {name}({', '.join([f'_{name}', *bases])}):\n{''.join(methods) or '    ...'}\n"
        )

    def _is_typed_here(self, value: Any) -> bool:
        """Whether a value is a public class with a method of options, its own or inherited."""
        return (
            isinstance(value, type)
            and value.__name__ in self.exported
            and any(
                _takes_options(function)
                for base in value.__mro__
                for function in vars(base).values()
            )
        )

    def _definition_of(self, name: str, function: Any) -> str:
        parameters, outcome = self.typed(function)
        return f"def {name}({', '.join(map(str, parameters))}) -> {self.type_text(outcome)}: ...\n"

    def typed(self, function: Any) -> tuple[list[Typed], Any]:
        """The parameters of a function or class, with the fields of its options where it has any,
        and the type that it returns.
        """
        try:
            hints = get_type_hints(inspect.unwrap(function))
        except NameError:  # A type that only pyright imports.
            hints = inspect.get_annotations(inspect.unwrap(function))
        if isinstance(function, type):
            hints = {**get_type_hints(function.__init__), **hints}
        if (options := hints.get("options")) is not None:
            hints = {**get_type_hints(options), **hints, "options": options | None}
        parts: list[Typed] = []
        for each in inspect.signature(function).parameters.values():
            if each.kind is each.KEYWORD_ONLY and not any(part.name[0] == "*" for part in parts):
                parts.append(Typed("*"))
            star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
            kind = self.type_text(hints[each.name]) if each.name in hints else ""
            parts.append(Typed(star + each.name, kind, _default(each)))
        return parts, hints.get("return", function)

    def type_text(self, hint: Any) -> str:
        """A type as a stub writes it, which imports what it names."""
        if isinstance(hint, str):
            return hint
        origin, inner = get_origin(hint), get_args(hint)
        if hint is None or hint is types.NoneType:
            return "None"
        if origin in (Union, types.UnionType):
            return " | ".join(map(self.type_text, inner))
        if origin is Literal:
            self.imports.add("from typing import Literal")
            return f"Literal[{', '.join(map(written, inner))}]"
        if origin is not None and inner and isinstance(inner[0], list):
            return (
                f"{self.type_text(Callable)}[[{', '.join(map(self.type_text, inner[0]))}], "
                f"{self.type_text(inner[1])}]"
            )
        if origin is not None:
            return f"{self.type_text(origin)}[{', '.join('...' if each is ... else self.type_text(each) for each in inner)}]"  # noqa: E501
        if isinstance(hint, TypeVar):
            raise TypeError(f"{hint} is a type variable; public functions of options have none")
        if self._is_typed_here(hint):
            return hint.__name__
        if hint is Any or hint.__module__ != "builtins":
            alias = f" as {hint.__name__}" if hint.__name__ in self.exported else ""
            self.imports.add(f"from {hint.__module__} import {hint.__name__}{alias}")
        return hint.__name__


def _default(parameter: inspect.Parameter) -> str:
    """The default as it is written, `{}` where a mapping is made; `...` in place of an object."""
    default = parameter.default
    if default is parameter.empty:
        return ""
    if repr(default) in ("<factory>", "{}"):
        return "{}"
    values = default if isinstance(default, tuple) else (default,)
    is_plain = all(isinstance(value, (str, int, float, types.NoneType)) for value in values)
    return written(default) if is_plain else "..."


def written(value: object) -> str:
    """A value as ruff writes it."""
    return repr(value).replace("'", '"')


def _takes_options(value: Any) -> bool:
    return inspect.isfunction(value) and "options" in inspect.signature(value).parameters


def main() -> int:
    """Writes or checks the stub."""
    text = Stub(rankwell.__all__).text()
    if "--check" not in sys.argv:
        PUBLIC.write_text(text, encoding="utf-8")
    elif not PUBLIC.is_file() or PUBLIC.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{PUBLIC.relative_to(ROOT)} is not what `make docs` writes.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
