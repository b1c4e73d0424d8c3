"""Runs the other tools' scripts of the guides to migration, each in a pinned environment, and
writes their figures and tables.

python tests/peers/migrations.py [TOOL ...] [--python TOOL=PROGRAM]; trec_eval is the program on the
PATH. A tool that is not available keeps its recorded figures.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import migration_guides as guides  # noqa: E402
from engines.environments import environment  # noqa: E402
from migration_files import renamed, write  # noqa: E402
from migration_guides import GOLDEN, PACKAGES, Scores, page_of, recorded, script_of  # noqa: E402

COMMAND = "python tests/peers/migrations.py"
SECONDS = 1800
EVERY = """
import json, runpy, sys
found = {}
for name in sys.argv[1:]:
    try:
        scores = runpy.run_path(f"{name}.py")["scores"]
        found[name] = {label: float(value) for label, value in scores.items()}
    except Exception as error:
        found[name] = f"stops: {type(error).__name__}: {error}"[:80]
open("scores.json", "w").write(json.dumps(found))
"""
"""Runs the script of every case in one process, since some tools compile themselves first."""
MODEL = """
import json
import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
words = [*json.load(open("queries.json")), *json.load(open("corpus.json"))]
tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token=words[0]))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
vectors = np.concatenate([np.load("queries.npy"), np.load("corpus.npy")])
SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=vectors)], device="cpu").save("model")
"""  # noqa: E501
"""Writes a model whose vector of each text is that of the files."""
VERSIONS = (
    "import sys; from importlib.metadata import version; print(' '.join(f'{n} {version(n)}' "
    "for n in sys.argv[1:]))"
)


def theirs(tool: str, python: str, folder: Path) -> dict[str, Scores | str]:
    """The figures of the tool's script for every case, or the error with which it stops."""
    cases = guides.cases_of(tool)
    scripts = {name: renamed(script_of(tool, "theirs"), case) for name, case in cases.items()}
    if tool == "trec_eval":
        return {name: trec_eval(python, script, folder) for name, script in scripts.items()}
    if tool == "sentence-transformers":
        subprocess.run([python, "-c", MODEL], cwd=folder, check=True, timeout=SECONDS)
    for name, script in scripts.items():
        (folder / f"{name}.py").write_text(script, encoding="utf-8")
    subprocess.run(
        [python, "-c", EVERY, *cases], cwd=folder, check=True, timeout=SECONDS, capture_output=True
    )
    return json.loads((folder / "scores.json").read_text(encoding="utf-8"))


def trec_eval(program: str, script: str, folder: Path) -> Scores | str:
    """The figures over all queries that trec_eval prints."""
    words = [program, *shlex.split(script)[1:]]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    if done.returncode:
        return "stops: " + done.stderr.strip().splitlines()[-1][:80]
    return {
        label: float(value)
        for label, value in re.findall(r"^(\S+)\s+all\s+(\S+)$", done.stdout, re.M)
    }


def program(tool: str, given: dict[str, str]) -> str | None:
    """The interpreter that has the tool, or trec_eval itself; None where it is not available."""
    if tool in given or tool == "trec_eval":
        return given.get(tool) or shutil.which("trec_eval")
    try:
        return str(environment(f"migrate-{tool}", PACKAGES[tool], with_rankwell=False) / "python")
    except pytest.skip.Exception as error:
        sys.stderr.write(f"{tool}: {error}\n")
        return None


def version_of(tool: str, python: str) -> str:
    """The tool's version, with those of the packages that compute its figures."""
    names = [
        package.split("==")[0] for package in PACKAGES[tool] if not package.startswith("torch")
    ]
    words = [python, "--version"] if tool == "trec_eval" else [python, "-c", VERSIONS, *names]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    return (done.stdout + done.stderr).strip()


def in_order(golden: dict[str, Any]) -> dict[str, Any]:
    """The record with tools and cases in the order of this repository, and figures by name, in
    whatever order tools give them.
    """
    scores = {
        tool: {
            name: each if isinstance(each := found[name], str) else dict(sorted(each.items()))
            for name in guides.cases_of(tool)
            if name in found
        }
        for tool in PACKAGES
        if (found := golden["scores"].get(tool)) is not None
    }
    tools = {tool: golden["about"]["tools"][tool] for tool in scores}
    return {**golden, "about": {**golden["about"], "tools": tools}, "scores": scores}


def write_page(tool: str, golden: dict[str, Any]) -> None:
    """Writes the table of figures into the tool's tab."""
    path, tab = page_of(tool), guides.tab_of(tool)
    table = guides.table_of(
        tool,
        golden["about"]["tools"][tool],
        guides.rows_of(tool, in_order(golden)["scores"][tool]),
        guides.reasons_of(tool),
    )
    written = guides.FIGURES.sub(lambda _: table, tab)
    path.write_text(path.read_text(encoding="utf-8").replace(tab, written), encoding="utf-8")


def main() -> int:
    """Runs the named tools, all by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(PACKAGES))
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="TOOL=PROGRAM",
        help="an interpreter that has the tool",
    )
    given = parser.parse_args()
    if unknown := set(given.tools) - set(PACKAGES):
        parser.error(f"unknown tool {min(unknown)!r}; the tools are {', '.join(PACKAGES)}.")
    pythons = {
        name: str(Path(place).absolute())
        for name, place in (each.split("=", 1) for each in given.python)
    }
    golden: dict[str, Any] = (
        recorded() if GOLDEN.exists() else {"about": {"tools": {}}, "scores": {}}
    )
    with tempfile.TemporaryDirectory() as name, chdir(name):
        write(Path(name))
        for tool in given.tools or PACKAGES:
            if python := program(tool, pythons):
                golden["scores"][tool] = theirs(tool, python, Path(name))
                golden["about"]["tools"][tool] = version_of(tool, python)
            else:
                sys.stderr.write(f"{tool} is not available and keeps its recorded figures.\n")
            write_page(tool, golden)
            golden["about"]["command"] = COMMAND
            GOLDEN.write_text(json.dumps(in_order(golden), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
