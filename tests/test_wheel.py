"""The files of a wheel: the modules, and every other file of the package."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_build_installs_every_file_of_the_package(tmp_path: Path):
    unbuilt = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=unbuilt)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)

    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_py", "--build-lib", "built"],
        cwd=tmp_path,
        check=True,
    )

    found = files_below(tmp_path / "built" / "rankwell")
    assert found == files_below(tmp_path / "src" / "rankwell")
    assert {
        "py.typed",
        "__init__.pyi",
        "reporting/charts/theme.json",
        "conventions/trec_eval.toml",
        "measures/index.txt",
    } <= found
