"""The record of what only `make test-full` runs: real servers and frameworks, with versions,
counts, and a digest of the source.

`python tools/full_run.py` warns where the source has changed since; with --strict that fails.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rankwell
from rankwell.store.locks import locked

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "rankwell"
RECORD = ROOT / "tests" / "full_run.json"
_ENGINES = ("engines/__init__.py",)
_FRAMEWORKS = (*_ENGINES, "engines/objects.py", "engines/frameworks.py")
_TRACKERS = ("integrations/folders.py",)
COVERED: Mapping[str, tuple[str, ...]] = {
    "adapter mlflow": (*_TRACKERS, "integrations/mlflow.py"),
    "adapter mteb": (*_TRACKERS, "integrations/mteb.py"),
    "adapter pt_experiment": ("integrations/ir_measures.py",),
    "adapter ranx": ("integrations/ranx.py", "io/mapping.py"),
    "adapter wandb": (*_TRACKERS, "integrations/wandb.py"),
    "chroma": (*_ENGINES, "engines/chroma.py", "engines/conformance.py", "engines/http_client.py"),
    "haystack": _FRAMEWORKS,
    "langchain": _FRAMEWORKS,
    "llamaindex": _FRAMEWORKS,
    "lucene": (*_ENGINES, "engines/http_client.py", "engines/http_requests.py"),
    "pyterrier": _FRAMEWORKS,
    "slurm": (
        "runtime/executors/__init__.py",
        "runtime/executors/array.py",
        "runtime/parts",
        "cli/commands/knn.py",
        "cli/commands/worker.py",
    ),
}
"""Name of a run -> the files and folders of the package that it covers."""


def source_digest(name: str) -> str:
    """SHA-256 of the covered files, by name and content."""
    files = [
        file
        for place in COVERED[name]
        for file in (
            [SOURCE / place] if place.endswith(".py") else sorted((SOURCE / place).glob("*.py"))
        )
    ]
    if lacking := [place for place in COVERED[name] if not (SOURCE / place).exists()]:
        raise FileNotFoundError(f"{name} covers {lacking[0]}, which is not in src/rankwell")
    found = hashlib.sha256()
    for file in files:
        found.update(f"{file.relative_to(SOURCE).as_posix()}\n".encode() + file.read_bytes())
    return found.hexdigest()


def record(name: str, counts: Mapping[str, Any]) -> None:
    """Records a run that has passed: versions and counts, beside those of the other runs."""
    versions = {"python": sys.version.split()[0], "rankwell": rankwell.__version__}
    own = {
        **versions,
        **counts,
        "source": list(COVERED[name]),
        "sha256 of the source": source_digest(name),
    }
    with locked(RECORD, wait=60):
        every = dict(sorted({**_recorded(), name: own}.items()))
        RECORD.write_text(json.dumps(every, indent=2) + "\n", encoding="utf-8")


def problems() -> list[str]:
    """A sentence for each run that is missing, or whose source has changed since."""
    known = _recorded()
    found = [f"{name} is not recorded" for name in COVERED if name not in known]
    changed = (
        name
        for name in COVERED
        if name in known and known[name]["sha256 of the source"] != source_digest(name)
    )
    return found + [
        f"the source that {name} covers has changed since its last run" for name in changed
    ]


def _recorded() -> dict[str, Any]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def main() -> int:
    """Lists what has to run again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 where something has to run again"
    )
    found = problems()
    for each in found:
        sys.stderr.write(f"{RECORD.relative_to(ROOT)}: {each}; run `make test-full`.\n")
    return int(bool(found) and parser.parse_args().strict)


if __name__ == "__main__":
    sys.exit(main())
