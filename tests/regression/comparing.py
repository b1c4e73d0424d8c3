"""Goldens as files, and what of a case's output differs from its golden."""

import difflib
import hashlib
import json
import re
from functools import cache
from pathlib import Path

Parts = dict[str, list[str]]
GOLDENS = Path(__file__).parent / "goldens"
_HEAD = "▶ "
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


# ---- files
# --------------------------------------------------------------------------------------------------


def path_of(case: str) -> Path:
    return GOLDENS / f"{case}.golden"


def names() -> list[str]:
    """The cases that have a golden."""
    return sorted(
        path.relative_to(GOLDENS).as_posix().removesuffix(".golden")
        for path in GOLDENS.rglob("*.golden")
    )


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
    """Whether goldens and figures were written where last bits are the same as here."""
    return json.loads((GOLDENS / "environment.json").read_text()) == environment()


# ---- comparison
# --------------------------------------------------------------------------------------------------


def differences(golden: Parts, found: Parts, *, exact: bool) -> list[str]:
    """A readable account of every part that differs; empty where nothing does.

    exact: whether last bits count.
    """
    said = [f"part {name!r} is missing" for name in golden if name not in found]
    said += [f"part {name!r} is new" for name in found if name not in golden]
    for name in golden:
        old, new = golden[name], found.get(name)
        if new is not None and old != new and (exact or not _nearly_same(old, new)):
            said += [
                f"part {name!r}:",
                *list(difflib.unified_diff(old, new, "golden", "found", lineterm="", n=1))[2:],
            ]
    return said


def _nearly_same(old: list[str], new: list[str]) -> bool:
    return len(old) == len(new) and all(_close(*pair) for pair in zip(old, new, strict=True))


def _close(old: str, new: str) -> bool:
    if _NUMBER.split(old) != _NUMBER.split(new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(one == two or _within(one, two) for one, two in pairs)


def _within(one: str, two: str) -> bool:
    """Whether two floats differ by no more than the last digits; whole numbers do not differ."""
    if not (set(".eE") & set(one) and set(".eE") & set(two)):
        return False
    return abs(float(one) - float(two)) <= 1e-12 * max(1.0, abs(float(one)))
