"""Goldens as files, and whether what a case leaves equals its golden but for what `permitted.py`
lists.
"""

import difflib
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Parts = dict[str, list[str]]
GOLDENS = Path(__file__).parent / "goldens"
_HEAD = "▶ "
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class Change:
    """A difference from the goldens that is meant. cases, parts: patterns of the names that it
    touches, searched for.
    """

    reason: str
    cases: str = ""
    parts: str = ""

    def touches(self, case: str, part: str = "") -> bool:
        return bool(re.search(self.cases, case) and (not part or re.search(self.parts, part)))

    def old(self, lines: list[str]) -> list[str]:
        """The golden's lines as they are now."""
        return lines

    def new(self, lines: list[str]) -> list[str]:
        """The found lines without what was not there before."""
        return lines

    def near(self, line: str) -> float | None:
        """How far the numbers of this golden line may be off, relative to the larger of 1 and their
        size.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Rewritten(Change):
    """Lines read otherwise: a regular expression and what stands in its place."""

    pattern: str
    by: str

    def old(self, lines: list[str]) -> list[str]:
        return [re.sub(self.pattern, self.by, line) for line in lines]


@dataclass(frozen=True, kw_only=True)
class Added(Change):
    """Lines that the goldens lack."""

    lines: str

    def new(self, lines: list[str]) -> list[str]:
        return [line for line in lines if not re.search(self.lines, line)]


@dataclass(frozen=True, kw_only=True)
class Dropped(Change):
    """Lines that only the goldens have."""

    lines: str

    def old(self, lines: list[str]) -> list[str]:
        return [line for line in lines if not re.search(self.lines, line)]


@dataclass(frozen=True, kw_only=True)
class Near(Change):
    """Numbers that may be off by a little."""

    lines: str = ""
    tolerance: float = 1e-12

    def near(self, line: str) -> float | None:
        return self.tolerance if re.search(self.lines, line) else None


@dataclass(frozen=True, kw_only=True)
class Anew(Change):
    """Cases that mean something else now: their goldens lie beside the old ones as
    NAME.anew.golden, which stay to be read.
    """


# ---- files
# --------------------------------------------------------------------------------------------------


def path_of(case: str, *, anew: bool = False) -> Path:
    return GOLDENS / f"{case}{'.anew' if anew else ''}.golden"


def write(path: Path, parts: Parts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"{_HEAD}{name}\n" + "".join(f"{line}\n" for line in lines) for name, lines in parts.items()
    )
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def read(path: Path) -> Parts:
    parts: Parts = {}
    lines: list[str] = []
    for line in path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:-1]:
        if line.startswith(_HEAD):
            lines = parts[line.removeprefix(_HEAD)] = []
        else:
            lines.append(line)
    return parts


# ---- environments
# --------------------------------------------------------------------------------------------------


@cache
def environment() -> dict[str, str]:
    """What last bits and packed bytes depend on."""
    import platform
    from importlib.metadata import version

    import numpy as np

    simd = np.show_config(mode="dicts")["SIMD Extensions"]  # pyright: ignore[reportArgumentType]
    # Processors with the same extensions differ in the last bits of approximate reciprocals, on
    # which logarithms are built.
    numbers = np.random.default_rng(0).random(4096) * 100
    last_bits = b"".join(
        function(numbers).tobytes()
        for function in (np.log, np.log2, np.exp, np.sqrt, np.sin, np.reciprocal)
    )
    packages = {name: version(name) for name in ("numpy", "duckdb", "pillow")}
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "simd": " ".join(simd.get("found", ())),
        "last bits": hashlib.sha256(last_bits).hexdigest()[:16],
        **packages,
    }


def same_environment() -> bool:
    """Whether the goldens were written where last bits are the same as here."""
    return json.loads((GOLDENS / "environment.json").read_text()) == environment()


# ---- comparison
# --------------------------------------------------------------------------------------------------


def differences(
    case: str, golden: Parts, found: Parts, permitted: Sequence[Change], *, exact: bool
) -> list[str]:
    """A readable account of every part that differs; empty where nothing does."""
    said = [f"part {name!r} is missing" for name in golden if name not in found]
    said += [f"part {name!r} is new" for name in found if name not in golden]
    for name in golden:
        changes = [change for change in permitted if change.touches(case, name)]
        old, new = golden[name], found.get(name)
        if new is None or old == new:
            continue
        for change in changes:
            old, new = change.old(old), change.new(new)
        if not _same(old, new, changes, exact):
            said += [
                f"part {name!r}:",
                *list(difflib.unified_diff(old, new, "golden", "found", lineterm="", n=1))[2:],
            ]
    return said


def _same(old: list[str], new: list[str], changes: Sequence[Change], exact: bool) -> bool:
    return len(old) == len(new) and all(
        _same_line(*pair, changes, exact) for pair in zip(old, new, strict=True)
    )


def _same_line(old: str, new: str, changes: Sequence[Change], exact: bool) -> bool:
    if old == new:
        return True
    allowed = [tolerance for change in changes if (tolerance := change.near(old)) is not None]
    if not exact:
        allowed.append(1e-12)
    if not allowed:
        return False
    return _close(_near_form(old), _near_form(new), max(allowed))


def _near_form(line: str) -> str:
    """The line without digests and lengths of exact values, whose last digits may be one more or
    less; digests of rounded ones stay.
    """
    return re.sub(r"(\d+ characters )?exact [0-9a-f]{16}", "", line)


def _close(old: str, new: str, tolerance: float) -> bool:
    if _NUMBER.split(old) != _NUMBER.split(new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(one == two or _within(one, two, tolerance) for one, two in pairs)


def _within(one: str, two: str, tolerance: float) -> bool:
    if not (set(".eE") & set(one) and set(".eE") & set(two)):
        return False
    return abs(float(one) - float(two)) <= tolerance * max(1.0, abs(float(one)))
