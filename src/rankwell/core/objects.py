"""Objects that users name as `module:object`: engines, networks, functions of their own."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from rankwell.core.registry import suggest
from rankwell.errors import BadUsage

_FORM = "write module:object, as in my_engine:search"


def load_object(text: str) -> Callable[..., Any]:
    """The function or class that `module:object` names; its module is imported, which runs it.

    The object may lie inside another (`module:Class.method`). Modules in the working folder are found after installed ones.
    Raises BadUsage where the text has another form, module or object do not exist, importing fails, or it cannot be called.

    >>> load_object("json:dumps")([1])
    '[1]'
    """
    found = load_anything(text)
    if not callable(found):
        raise BadUsage(f"{text!r} is a {type(found).__name__}, which cannot be called; name a function or a class.")
    return found


def load_anything(text: str) -> Any:
    """The object that `module:object` names, callable or not, such as a ready engine; see `load_object`."""
    name, _, path = text.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *path.split("."))):
        raise BadUsage(f"{text!r} names no function or class; {_FORM}.")
    found: Any = _imported(name, text)
    for part in path.split("."):
        if not hasattr(found, part):
            where = f"the module {name!r}" if isinstance(found, ModuleType) else f"{getattr(found, '__name__', found)!r}"
            near = suggest(part, [each for each in dir(found) if not each.startswith("_")])
            raise BadUsage(f"{text!r}: {where} has no {part!r}; {near if near.startswith('did') else 'name what it has.'}")
        found = getattr(found, part)
    return found


def _imported(name: str, text: str) -> ModuleType:
    # A console script does not look into the working folder, where a user's own engine mostly lies.
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise BadUsage(f"{text!r}: there is no module {missing!r} here or among the installed ones; {_FORM}.") from error
        raise BadUsage(f"{text!r}: the module {name!r} needs {missing!r}, which is not installed; install it.") from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise BadUsage(f"{text!r}: the module {name!r} cannot be imported ({what}); correct it.") from error
