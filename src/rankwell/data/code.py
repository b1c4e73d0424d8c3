"""Code that users name: an object of a file, `./my_judge.py:grade`, or of an installed module,
`package.module:name`.
"""

import hashlib
import importlib
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple

from rankwell.data.catalogue import suggest
from rankwell.errors import BadInput, BadUsage, CodeRefused, kind_of
from rankwell.store import refuse_irregular

FORM = "write ./FILE.py:OBJECT, or package.module:OBJECT of what is installed"
MEASURE = re.compile(
    r"(?P<place>(?:[^'\"()@]+\.py|[A-Za-z_][\w.]*):[A-Za-z_][\w.]*)(?P<rest>$|[(@].*)"
)
"""A measure that is code, with parameters or a cut-off behind it."""
_FILES = re.compile(r"([^'\"(),=]+\.py):[A-Za-z_]")
_ORIGIN = "__rankwell_origin__"
_LOADING = RLock()
_REFUSED: list[str] = []


class CodeName(NamedTuple):
    """The name of an object of code.

    module: dotted name of an installed module, or a file.
    path: the path of the object in the module.
    """

    module: str
    path: str

    @property
    def is_file(self) -> bool:
        """Whether the module is a file."""
        return self.module.endswith(".py")


def code_name(text: str) -> CodeName | None:
    """The name of code that a text is, None for any other text.

    >>> code_name(r"C:\\\\mine\\\\my_judge.py:grade")
    CodeName(module='C:\\\\\\\\mine\\\\\\\\my_judge.py', path='grade')
    >>> code_name("json:dumps")
    CodeName(module='json', path='dumps')
    >>> code_name("tfidf-svd:128")
    """
    module, colon, path = text.rpartition(":")
    is_file = module.endswith(".py") and len(module) > len(".py") and "://" not in module
    if not colon or not all(part.isidentifier() for part in path.split(".")):
        return None
    return (
        CodeName(module, path)
        if is_file or all(part.isidentifier() for part in module.split("."))
        else None
    )


def code_files(text: str) -> list[Path]:
    """The files of code in the text of an option, also where it is a parameter of a measure; those
    that exist.

    >>> code_files("AnswerJudge(judge='./no_judge.py:grade')")
    []
    """
    return [path for path in map(Path, _FILES.findall(text)) if path.is_file()]


def origin_of(code_object: Any) -> str:
    """The name and the digest of the file that a user named for an object; "" for an object of
    anything else.
    """
    return getattr(sys.modules.get(getattr(code_object, "__module__", None) or ""), _ORIGIN, "")


@contextmanager
def refusing_code(why: str) -> Generator[None]:
    """A block in which this process loads no code that is named; a name raises CodeRefused with the
    reason.
    """
    _REFUSED.append(why)
    try:
        yield
    finally:
        _REFUSED.pop()


def load_object(text: str) -> Callable[..., Any]:
    """The function or class that a text names; see `load_anything`. Raises BadUsage where it cannot
    be called.

    >>> load_object("json:dumps")([1])
    '[1]'
    """
    target = load_anything(text)
    if not callable(target):
        raise BadUsage(
            f"{text!r} is {kind_of(target)}, which cannot be called; name a function or a class."
        )
    return target


def load_anything(text: str) -> Any:
    """The object that `./FILE.py:OBJECT` or `package.module:OBJECT` names; its module is imported,
    which runs it.

    OBJECT may be `Class.method`. The folder of a file is not searched for what the file imports.
    Raises BadUsage where the text has another form, module or object do not exist, or importing
    fails; CodeRefused in a block of `refusing_code`.
    """
    name = code_name(text)
    if name is None:
        raise BadUsage(f"{text!r} names no function or class; {FORM}.")
    if _REFUSED:
        raise CodeRefused(f"{text!r} is code: {_REFUSED[-1]}.")
    target: Any = load_module(name, text)
    for part in name.path.split("."):
        if not hasattr(target, part):
            noun = "file" if name.is_file else "module"
            where = (
                f"the {noun} {name.module!r}"
                if isinstance(target, ModuleType)
                else repr(getattr(target, "__name__", target))
            )
            near = suggest(
                part, [attribute for attribute in dir(target) if not attribute.startswith("_")]
            )
            raise BadUsage(
                f"{text!r}: {where} has no {part!r}; "
                f"{near if near.startswith('did') else 'name what it has.'}"
            )
        target = getattr(target, part)
    return target


def load_module(name: CodeName, text: str) -> ModuleType:
    """The module of a name of code, which `text` is in messages. Raises BadUsage where it is not
    there, or fails.
    """
    noun = "file" if name.is_file else "module"
    try:
        return _of_file(Path(name.module)) if name.is_file else importlib.import_module(name.module)
    except ModuleNotFoundError as error:
        raise BadUsage(f"{text!r}: {_missing(name, error.name or '')}") from error
    except (BadInput, BadUsage):
        raise
    except OSError as error:
        raise BadUsage(
            f"{text!r}: {error.filename or name.module}: {error.strerror or error}."
        ) from error
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        alone = f" {_ALONE}." if name.is_file and isinstance(error, ImportError) else ""
        raise BadUsage(
            f"{text!r}: the {noun} {name.module!r} cannot be imported ({reason}); correct "
            f"it.{alone}"
        ) from error


_ALONE = (
    "The folder of a named file is not searched: install both as a package, or put the folder "
    "into PYTHONPATH"
)


def _missing(name: CodeName, missing: str) -> str:
    """The end of the message for a module that is not there: the one that is named, or one that it
    imports.
    """
    if name.is_file:
        folder, top = Path(name.module).parent, missing.partition(".")[0]
        if (folder / f"{top}.py").is_file() or (folder / top).is_dir():
            return f"the file imports {missing!r}, which lies beside it. {_ALONE}."
        return f"the file needs {missing!r}, which is not installed; install it."
    if name.module == missing or name.module.startswith(f"{missing}."):
        if Path(f"{missing}.py").is_file():
            return (
                f"no module {missing!r} is installed; name a file by its path, "
                f"./{missing}.py:{name.path}."
            )
        return f"no module {missing!r} is installed; {FORM}."
    return f"the module {name.module!r} needs {missing!r}, which is not installed; install it."


def _of_file(path: Path) -> ModuleType:
    """The module of a file, of a name of its own; one that has changed since is loaded anew."""
    path = path.absolute()
    if not path.exists():
        raise FileNotFoundError(2, "no such file; correct the path", str(path))
    refuse_irregular(path)
    content = path.read_bytes()
    # Files of one name in different folders are different modules.
    identity = hashlib.sha256(bytes(path) + b"\0" + content).hexdigest()
    name = f"{path.stem.replace('.', '_')}@{identity[:12]}"
    with _LOADING:
        if name in sys.modules:
            return sys.modules[name]
        module = sys.modules[name] = ModuleType(name)
        module.__file__, module.__package__ = str(path), ""
        setattr(module, _ORIGIN, f"{path.name} sha256:{hashlib.sha256(content).hexdigest()}")
        try:
            exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - the user names this file to run it
        except BaseException:
            del sys.modules[name]
            raise
        return module
