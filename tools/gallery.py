"""Writes the reports of the gallery, one per demo, to build/gallery: python tools/gallery.py [NAME
...]

A demo runs again where the package has changed since its report was written.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "gallery"
SOURCE = ROOT / "src" / "rankwell"
DEMOS = ("runs", "crossmodal", "qa", "keywords", "images", "embeddings", "engine", "judge")
AFTERWARDS = {
    "judge": (
        "judge pool demo/first_sentences.run demo/whole_docs.run -o mine --quiet "
        "--queries demo/queries.tsv --documents demo/documents.tsv",
        "judge label mine --judge me --export report.html --quiet",
    )
}
"""The commands that write the report of a demo which has none."""


def report_file(name: str) -> Path:
    """The report of a demo, which may not be written yet."""
    return REPORTS / f"{name}.html"


def write_report(name: str) -> None:
    """Runs a demo in a folder of its own and keeps its report."""
    with tempfile.TemporaryDirectory() as folder:
        demo = "demo" if name == "runs" else f"demo {name}"
        for command in (f"{demo} -o demo --quiet", *AFTERWARDS.get(name, ())):
            subprocess.run(
                [sys.executable, "-m", "rankwell", *command.split()],
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        written = min(Path(folder).rglob("report.html"), key=lambda file: (len(file.parts), file))
        REPORTS.mkdir(parents=True, exist_ok=True)
        shutil.copy(written, report_file(name))


def main() -> None:
    """Writes the reports that are missing or older than the package."""
    newest = max(
        file.stat().st_mtime for file in SOURCE.rglob("*.*") if "__pycache__" not in file.parts
    )
    for name in sys.argv[1:] or DEMOS:
        if not report_file(name).is_file() or report_file(name).stat().st_mtime < newest:
            sys.stderr.write(f"demo {name}\n")
            write_report(name)


if __name__ == "__main__":
    main()
