"""rankwell measures how well anything retrieves.

The public names stand in `public.py`, here and in the folder of each task; each is loaded on first
use. Their types are in `__init__.pyi`.
"""

__version__ = "0.1.0"

_homes: dict[str, str] = {}


def _public() -> dict[str, str]:
    """The public names with the modules that define them, as the files of public names import them;
    none of them is imported.
    """
    if not _homes:
        from pathlib import Path

        here = Path(__file__).parent
        for file in (here / "public.py", *sorted(here.glob("tasks/*/public.py"))):
            for words in map(str.split, file.read_text(encoding="utf-8").splitlines()):
                if words[:1] == ["from"]:
                    _homes[words[3]] = words[1]
    return _homes


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name.startswith("_") or name not in _public():
        raise AttributeError(f"module 'rankwell' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_public()[name]), name)


def __dir__() -> list[str]:
    return sorted([*_public(), "__version__"])
