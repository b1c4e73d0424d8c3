"""The optional compiled kernel; everything else about the package stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

# Fused multiplication would give other last digits than NumPy.
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-math-errno"]
FOLDER = Path("src/rankwell/core/kernels")

setup(
    ext_modules=[
        Extension(
            "rankwell.core.kernels._native",
            sorted(str(path) for path in FOLDER.glob("_*.c")),
            depends=sorted(str(path) for path in FOLDER.glob("_*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
