"""Writes types of functions with the fields of their options as keywords: of the public names, and
of the methods of results.

python tools/public_stub.py            writes the stubs src/rankwell/__init__.pyi and
src/rankwell/workflow/results.pyi
python tools/public_stub.py --check    exit 1 where one differs from what would be written
"""

import inspect
import subprocess
import sys
import types
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

rankwell: Any = import_module("rankwell")
STEPS: Any = import_module("rankwell.core.display").STEPS
PUBLIC = ROOT / "src" / "rankwell" / "__init__.pyi"
METHODS = ROOT / "src" / "rankwell" / "workflow" / "results.pyi"


class _Stub:
    """The lines of a stub and what they import. exported: the names that it makes public."""

    def __init__(self, exported: Collection[str] = ()) -> None:
        self.imports, self.exported = set[str](), exported

    def public(self) -> str:
        """The stub of the package."""
        names = [name for name in self.exported if name != "__version__"]
        definitions = "".join(self._definition(name, getattr(rankwell, name)) for name in names)
        return self._text(
            "The public names of rankwell, with their types", f"__version__: str\n\n{definitions}"
        )

    def methods(self) -> str:
        """The stub of the steps that are methods of results."""
        return self._text(
            "The methods of results, with their types",
            "".join(self._typed(name, STEPS[name]) for name in STEPS),
        )

    def _text(self, title: str, definitions: str) -> str:
        """The whole stub, formatted."""
        head = f'"""{title}: written by tools/public_stub.py."""\n\n'
        text = f"{head}{chr(10).join(sorted(self.imports))}\n\n{definitions}"
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
        if not (inspect.isfunction(value) and "options" in inspect.signature(value).parameters):
            self.imports.add(f"from {rankwell._homes()[name]} import {name} as {name}")
            return ""
        return self._typed(name, value)

    def _typed(self, name: str, function: Any) -> str:
        """The definition of a function with its types, and those of the fields of its options where
        it has any.
        """
        inner = inspect.unwrap(function)
        hints = get_type_hints(inner)
        if (options := hints.get("options")) is not None:
            hints = {**get_type_hints(options), **hints, "options": options | None}
        parts: list[str] = []
        for each in inspect.signature(function).parameters.values():
            if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
                parts.append("*")
            star = "*" if each.kind is each.VAR_POSITIONAL else ""
            parts.append(
                f"{star}{each.name}: "
                f"{self._type(hints[each.name])}{'' if each.default is each.empty else ' = ...'}"
            )
        return f"def {name}({', '.join(parts)}) -> {self._type(hints['return'])}: ...\n"

    def _type(self, hint: Any) -> str:
        origin, inner = get_origin(hint), get_args(hint)
        if hint is None or hint is types.NoneType:
            return "None"
        if origin in (Union, types.UnionType):
            return " | ".join(map(self._type, inner))
        if origin is Literal:
            self.imports.add("from typing import Literal")
            return f"Literal[{', '.join(map(repr, inner))}]"
        if origin is not None and inner and isinstance(inner[0], list):
            return (
                f"{self._type(Callable)}[[{', '.join(map(self._type, inner[0]))}], "
                f"{self._type(inner[1])}]"
            )
        if origin is not None:
            return f"{self._type(origin)}[{', '.join('...' if each is ... else self._type(each) for each in inner)}]"  # noqa: E501
        if isinstance(hint, TypeVar):
            raise TypeError(f"{hint} is a type variable; public functions of options have none")
        if hint is Any or hint.__module__ != "builtins":
            alias = f" as {hint.__name__}" if hint.__name__ in self.exported else ""
            self.imports.add(f"from {hint.__module__} import {hint.__name__}{alias}")
        return hint.__name__


def main() -> int:
    """Writes or checks the stubs."""
    code = 0
    for stub, text in ((PUBLIC, _Stub(rankwell.__all__).public()), (METHODS, _Stub().methods())):
        if "--check" not in sys.argv:
            stub.write_text(text, encoding="utf-8")
        elif not stub.is_file() or stub.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{stub.relative_to(ROOT)} is not what `make docs` writes.\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
