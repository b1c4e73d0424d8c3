"""Fuzzers: what writes a small valid file for each reader, what changes it, and the plain parser
that the reader is held against.

`tests/fuzz/fuzz.py` runs them. A format has a fuzzer when one of the modules beside this one
registers what writes a file of it; the contract in tests/contracts/test_fuzzers.py names a format
without one.
"""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

FORMATS, ANSWERS = "formats", "formats of questions, answers and passages"
IMAGES = "forms of image sets"
KINDS = (FORMATS, ANSWERS, IMAGES)
"""The registries whose entries read files, by their names in `tools/registries.py`."""

PACKAGES = {
    "arrow": "pyarrow",
    "hdf5": "h5py",
    "ir_datasets": "ir_datasets",
    "safetensors": "safetensors",
}
"""The optional package that files of a format need."""


class Refused(Exception):
    """The plain parser does not take the content: nothing may read it."""


class Undecided(Exception):
    """The plain parser does not know the content: a reader may take it or not."""


class Fuzzer(NamedTuple):
    """The cases of one reader.

    write: (random numbers, folder) -> a small valid file, or an object of Python. mutate: (random
    numbers, that) -> the same, changed in place, or another object. read: that -> plain values by
    rankwell. plain: that -> the same values by a parser that shares no code with it; raises Refused
    or Undecided; None where only errors and crashes are looked for.
    """

    write: Callable[[Random, Path], Any]
    mutate: Callable[[Random, Any], Any]
    read: Callable[[Any], Any]
    plain: Callable[[Any], Any] | None = None


FUZZERS: dict[str, Fuzzer] = {}
"""The fuzzers by the kind and the name of a reader, `formats: trec run`; others by a name of their
own.
"""


def load() -> dict[str, Fuzzer]:
    """Every fuzzer: each module beside this one registers its own."""
    for module in pkgutil.iter_modules(__path__):
        # It registers nothing and needs pyarrow; `compiled` imports it when it runs.
        if module.name != "compiled_columns":
            importlib.import_module(f"{__name__}.{module.name}")
    return FUZZERS
