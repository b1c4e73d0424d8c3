"""Earlier revisions of this project, built in build/versions/REV, for benchmarks that compare with one."""

import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def source_of(revision: str) -> Path:
    """The source of an earlier revision, its reader compiled."""
    place = ROOT / "build" / "versions" / revision
    if not place.exists():
        archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(place, filter="data")
    return built(place)


def built(place: Path) -> Path:
    """The folder of the package in a tree, its reader and its bytecode compiled."""
    for words in (["setup.py", "-q", "build_ext", "--inplace"], ["-m", "compileall", "-q", "src"]):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run([sys.executable, *words], cwd=place, env=environment, check=True, capture_output=True)
    return place / "src"
