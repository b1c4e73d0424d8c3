"""Writes the types of the public names: src/rankwell/__init__.pyi, where functions have the fields of their options as keywords.

python tools/public_stub.py            writes the stub
python tools/public_stub.py --check    exit 1 where it differs from what would be written
"""

import inspect
import subprocess
import sys
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

rankwell: Any = import_module("rankwell")
STUB = ROOT / "src" / "rankwell" / "__init__.pyi"
HEAD = '"""The public names of rankwell, with their types: written by tools/public_stub.py."""\n\n'


class _Stub:
    """The lines of the stub and what they import."""

    def __init__(self) -> None:
        self.imports = set[str]()

    def text(self) -> str:
        """The whole stub, formatted."""
        names = [name for name in rankwell.__all__ if name != "__version__"]
        definitions = "".join(self._definition(name, getattr(rankwell, name)) for name in names)
        text = f"{HEAD}{chr(10).join(sorted(self.imports))}\n\n__version__: str\n\n{definitions}"
        for command in (["check", "--quiet", "--fix", "--select", "I"], ["format", "--quiet"]):
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"],
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
            self.imports.add(f"from {rankwell._public()[name]} import {name} as {name}")
            return ""
        inner = inspect.unwrap(value)
        options = get_type_hints(inner)["options"]
        hints = {**get_type_hints(options), **get_type_hints(inner), "options": options | None}
        parts: list[str] = []
        for each in inspect.signature(value).parameters.values():
            if each.kind is each.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            parts.append(f"{each.name}: {self._type(hints[each.name])}{'' if each.default is each.empty else ' = ...'}")
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
            return f"{self._type(Callable)}[[{', '.join(map(self._type, inner[0]))}], {self._type(inner[1])}]"
        if origin is not None:
            return f"{self._type(origin)}[{', '.join('...' if each is ... else self._type(each) for each in inner)}]"
        if isinstance(hint, TypeVar):
            raise TypeError(f"{hint} is a type variable; public functions of options have none")
        if hint is Any or hint.__module__ != "builtins":
            alias = f" as {hint.__name__}" if hint.__name__ in rankwell.__all__ else ""
            self.imports.add(f"from {hint.__module__} import {hint.__name__}{alias}")
        return hint.__name__


def main() -> int:
    """Writes or checks the stub."""
    text = _Stub().text()
    if "--check" not in sys.argv:
        STUB.write_text(text, encoding="utf-8")
    elif not STUB.is_file() or STUB.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{STUB.relative_to(ROOT)} is not what `make docs` writes.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
