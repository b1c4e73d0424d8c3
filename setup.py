"""The optional compiled kernel; everything else about the package stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

# Fused multiplication would give other last digits than NumPy.
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-math-errno"]
SOURCE = Path("src/rankwell/kernels/_native.c")

setup(
    ext_modules=[
        Extension(
            "rankwell.kernels._native",
            [str(SOURCE)],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
