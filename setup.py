"""The optional compiled kernel, and the metadata that holds the project's address; everything else
stands in pyproject.toml.
"""

import os
import re
import sys
import sysconfig
import tomllib
from pathlib import Path

from setuptools import Extension, setup

# Fused multiplication would give other last digits than NumPy.
FLAGS = ["/O2"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-math-errno"]
FOLDER = Path("src/rankwell/_native")
REPOSITORY = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["rankwell"][
    "repository"
]
VERSION = re.findall(
    r'^__version__ = "(.+)"',
    Path("src/rankwell/__init__.py").read_text(encoding="utf-8"),
    re.MULTILINE,
)[0]
FILES = f"{REPOSITORY}/blob/v{VERSION}"
# Builds without the lock have no stable ABI, and use the fallback.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")


def description() -> str:
    """The README, whose links and pictures would lead nowhere outside the repository."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(
        r'(!\[[^\]]*\]\(|<img[^>]* src=")(?!https?:)', rf"\1{REPOSITORY}/raw/v{VERSION}/", text
    )
    return re.sub(r"(\]\()(?!https?:|#)", rf"\1{FILES}/", text)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    project_urls={
        "Source": REPOSITORY,
        "Documentation": f"{FILES}/docs",
        "Changelog": f"{FILES}/CHANGELOG.md",
        "Issues": f"{REPOSITORY}/issues",
    },
    ext_modules=[
        Extension(
            "rankwell._native._native",
            sorted(str(path) for path in FOLDER.glob("_*.c")),
            depends=sorted(str(path) for path in FOLDER.glob("_*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=FLAGS,
            py_limited_api=STABLE,
            # Where no compiler works, NumPy does the same; a wheel for others must not come out so.
            optional=os.environ.get("RANKWELL_REQUIRE_KERNEL") != "1",
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
